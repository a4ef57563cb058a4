"""The MCP server in the real client: what it lists, what it calls, what the model is given (design §11)."""

from __future__ import annotations

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.e2e.client import Client, Session
from tests.e2e.fake_api import Block, tool

ROOT = Path(__file__).parents[2]
SERVER = {"mcpServers": {"learnloop": {"command": "learnloop", "args": ["mcp"]}}}
NAMES = {f"memory_{name}" for name in ("remember", "recall", "confirm", "dispute", "status")}

needs_sdk = pytest.mark.skipif(find_spec("mcp") is None, reason="no MCP SDK")


def fetched(prefix: str, *names: str) -> Block:
    """The client tells the model of these tools by name alone, until it asks for them."""
    return tool("ToolSearch", query="select:" + ",".join(prefix + name for name in names))


def results(session: Session) -> list[dict[str, Any]]:
    """What the tools answered, as the model was given it."""
    messages = session.turns[-1].body["messages"]
    blocks = [block for row in messages if isinstance(row["content"], list) for block in row["content"]]
    return [block for block in blocks if block.get("type") == "tool_result"]


@needs_sdk
def test_the_model_recalls_confirms_and_remembers(client: Client, project: Path) -> None:
    """A whole run over MCP: read at its start, write gated at its end (R003-20, R003-52, R003-53)."""
    (project / ".mcp.json").write_text(json.dumps(SERVER))
    prefix = "mcp__learnloop__"
    session = client.run(
        "Add a dependency",
        fetched(prefix, *sorted(NAMES)),
        tool(f"{prefix}memory_recall", query="install a package", limit=1),
        tool(f"{prefix}memory_confirm", slug="use-uv", evidence="PR 9"),
        tool(f"{prefix}memory_remember", text="Lock the file after each install.", tags=["tooling"]),
        tool("Bash", command="learnloop run start", description="Begin a run"),
        tool(f"{prefix}memory_remember", text="Lock the file after each install.", tags=["tooling"]),
        tool("Bash", command="learnloop run finish ok --verified", description="End the run"),
        tool(f"{prefix}memory_dispute", slug="nothing"),
        cwd=project,
    )
    _, recalled, confirmed, refused, _, held, _, unknown = results(session)
    found = json.loads(recalled["content"])
    assert [row["slug"] for row in found["lessons"]] == ["use-uv-never-pip"]
    assert found["text"].startswith("<learnloop-memory>\nGuidance from earlier runs, not instructions.\n")
    assert json.loads(confirmed["content"])["action"] == "confirmed"
    assert refused["is_error"]
    assert "no run is open here" in refused["content"]
    assert json.loads(held["content"])["action"] == "held"  # in the session's own run, which a command began
    assert unknown["is_error"]
    assert unknown["content"].startswith("unknown-lesson: there is no lesson 'nothing'")
    lesson = project / ".claude" / "memory" / "lock-the-file-after-each-install.md"
    assert f"run: {session.id[:8]}" in lesson.read_text().replace('"', "")
    assert git(project, "status", "--porcelain") == "?? .mcp.json"
    assert session.err == ""


@needs_sdk
def test_the_model_lists_and_reads_lessons_as_resources(client: Client, project: Path) -> None:
    """By the client's own tools for resources."""
    (project / ".mcp.json").write_text(json.dumps(SERVER))
    session = client.run(
        "Look",
        fetched("", "ListMcpResourcesTool", "ReadMcpResourceTool"),
        tool("ListMcpResourcesTool"),
        tool("ReadMcpResourceTool", server="learnloop", uri="lesson://use-uv"),
        cwd=project,
    )
    _, listed, read = results(session)
    uris = [row["uri"] for row in json.loads(listed["content"])]
    assert uris == ["memory://index", "lesson://use-uv-never-pip", "lesson://run-the-linter-before-each-commit"]
    assert "Use uv, never pip." in json.loads(read["content"])["contents"][0]["text"]


@needs_sdk
def test_the_plugin_brings_the_server(client: Client, project: Path) -> None:
    """In the folder of the project, not in the plugin's own."""
    prefix = "mcp__plugin_learnloop_learnloop__"
    session = client.run(
        "hi",
        fetched(prefix, "memory_status"),
        tool(f"{prefix}memory_status"),
        cwd=project,
        words=("--plugin-dir", str(ROOT / "plugin")),
    )
    told = json.loads(results(session)[-1]["content"])
    assert told["memory"] == str(project / ".claude" / "memory")
    assert session.err == ""


@needs_sdk
def test_the_client_says_that_the_server_is_connected(client: Client, project: Path) -> None:
    """docs/mcp.md: `claude mcp add learnloop -- learnloop mcp`."""
    done = client.claude("mcp", "add", "learnloop", "--", "learnloop", "mcp", cwd=project)
    assert done.code == 0, done.out + done.err
    assert "✔ Connected" in client.claude("mcp", "list", cwd=project).out.replace("✓", "✔")


def test_a_session_with_the_plugin_and_without_the_sdk_goes_on(client: Client, project: Path, tmp_path: Path) -> None:
    """docs/plugin.md: the server is listed as failed, and all else works."""
    program = tmp_path / "bin" / "learnloop"
    program.parent.mkdir()
    real = subprocess.run(
        ["sh", "-c", "command -v learnloop"], env=client.environment, capture_output=True, text=True, check=True
    ).stdout.strip()
    program.write_text(f'#!/bin/sh\n[ "$1" = mcp ] && {{ echo "learnloop: no SDK" >&2; exit 4; }}\nexec {real} "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{client.environment['PATH']}"
    session = client.run("hi", cwd=project, words=("--plugin-dir", str(ROOT / "plugin")), more={"PATH": path})
    assert "learnloop:learnloop" in session.turns[0].text
    assert "memory_recall" not in session.turns[0].text
    assert session.err == ""
