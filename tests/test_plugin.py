"""The Claude Code plugin and its marketplace: they say what the program says, and the real client takes them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from skills_ref import validate

from learnloop_md import __version__, claude
from learnloop_md.commands import BY_NAME

ROOT = Path(__file__).parent.parent
PLUGIN = ROOT / "plugin"
SKILL = PLUGIN / "skills" / "learnloop" / "SKILL.md"
COMMANDS = sorted((PLUGIN / "commands").glob("*.md"))
TEXTS = [SKILL, *COMMANDS]


def _json(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def _head(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text("utf-8").split("---\n")[1])
    assert isinstance(found, dict)
    return found


def _entry() -> dict[str, Any]:
    (entry,) = _json(ROOT / ".claude-plugin" / "marketplace.json")["plugins"]
    assert isinstance(entry, dict)
    return entry


# --- what stands in the files ---------------------------------------------------------------------------------------


def test_the_marketplace_names_the_plugin_that_is_here() -> None:
    """design §7: the repository is a plugin and its marketplace."""
    manifest = _json(PLUGIN / ".claude-plugin" / "plugin.json")
    assert (ROOT / _entry()["source"]).resolve() == PLUGIN
    assert {key: _entry()[key] for key in ("name", "description", "license", "keywords")} == {
        key: manifest[key] for key in ("name", "description", "license", "keywords")
    }


def test_the_plugin_has_the_program_s_version_everywhere() -> None:
    """An installed plugin is renewed only when its version changes."""
    said = {
        "plugin.json": _json(PLUGIN / ".claude-plugin" / "plugin.json")["version"],
        "marketplace.json": _entry()["version"],
        "SKILL.md": _head(SKILL)["metadata"]["version"],
    }
    assert set(said.values()) == {__version__}


def test_the_plugin_s_hooks_are_those_that_install_writes() -> None:
    """design §7: one list of events, matchers, command and timeout."""
    hook = {"type": "command", "command": claude.COMMAND, "timeout": claude.TIMEOUT_S}
    wanted = {
        event: [{"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}]
        for event, matcher in claude.HOOKS.items()
    }
    assert _json(PLUGIN / "hooks" / "hooks.json")["hooks"] == wanted


def test_the_plugin_s_mcp_server_is_the_command() -> None:
    """design §11: `learnloop mcp`."""
    (server,) = _json(PLUGIN / ".mcp.json")["mcpServers"].values()
    assert server["command"] == "learnloop"
    assert server["args"][0] in BY_NAME


def test_the_plugin_s_skill_is_valid_for_the_specification() -> None:
    """R001-90, R002-53: any agent can load it."""
    assert validate(SKILL.parent) == []


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_slash_command_says_what_it_is_and_may_run_learnloop_alone(path: Path) -> None:
    head = _head(path)
    assert set(head) <= {"description", "argument-hint", "allowed-tools"}
    assert head["description"]
    assert head["allowed-tools"] == "Bash(learnloop:*)"
    assert isinstance(head.get("argument-hint", ""), str)


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_person_s_words_never_reach_a_shell(path: Path) -> None:
    """The client puts them into the text as they are: they must not stand in code, nor in what it runs by itself."""
    body = path.read_text("utf-8")
    assert "!`" not in body
    assert "```!" not in body
    code = re.findall(r"```.*?```|`[^`\n]*`", body, re.DOTALL)
    assert [span for span in code if "$" in span] == []


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_every_command_that_the_texts_name_exists(path: Path) -> None:
    spans = re.findall(r"(?:^|`)learnloop ([a-z-]+)([^`\n]*)", path.read_text("utf-8"), re.MULTILINE)
    assert spans
    for name, rest in spans:
        assert set(re.findall(r"--[a-z-]+", rest)) <= {option.flag for option in BY_NAME[name].options}, name


@pytest.mark.parametrize("path", [SKILL, PLUGIN / "commands" / "note.md"], ids=lambda path: path.stem)
def test_the_recipe_for_a_note_keeps_every_character(path: Path, memory: Path, tmp_path: Path) -> None:
    """R001-70: what an agent pastes between the lines is the lesson; the shell reads none of it."""
    recipe = re.search(r"```sh\n(learnloop note - .*?)```", path.read_text("utf-8"), re.DOTALL)
    assert recipe
    first, *_, last = recipe[1].strip().split("\n")
    rule = f'Quote "$HOME" and `touch {tmp_path}/ran`; never $(touch {tmp_path}/ran) it\'s said.'
    script = "\n".join([first, rule, "", "Why: $(touch ran) was run.", last]) + "\n"
    program = tmp_path / "bin" / "learnloop"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nexec "$PYTHON" -m learnloop_md "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=memory.parent.parent,
        env=_environment(tmp_path, f"{program.parent}:{os.environ['PATH']}"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[LearnLoop] Saving as feedback: ")
    (lesson,) = [path for path in memory.glob("*.md") if path.name != "MEMORY.md"]
    assert rule in lesson.read_text("utf-8")
    assert "$(touch ran) was run." in lesson.read_text("utf-8")
    assert not (tmp_path / "ran").exists()
    assert not (memory.parent.parent / "ran").exists()


# --- the real client ------------------------------------------------------------------------------------------------


def _environment(home: Path, path: str) -> dict[str, str]:
    return {
        "PATH": path,
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_GLOBAL": os.environ["GIT_CONFIG_GLOBAL"],
        "GIT_CONFIG_NOSYSTEM": "1",
    }


CLIENT = os.environ.get("LEARNLOOP_TEST_CLAUDE") or shutil.which("claude")


@pytest.fixture
def client(tmp_path: Path) -> Any:
    """The real client in a HOME of its own, which reaches nobody; skipped, and said so, where there is none."""
    if not CLIENT:
        pytest.skip("NOT TESTED with the real client: put claude on PATH, or name it in LEARNLOOP_TEST_CLAUDE")
    home = tmp_path / "client-home"
    home.mkdir()
    nowhere = {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }

    def run(*words: str, cwd: Path) -> str:
        env = _environment(home, os.environ["PATH"]) | nowhere
        done = subprocess.run(
            [str(CLIENT), *words], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("folder", [ROOT, PLUGIN], ids=["marketplace", "plugin"])
def test_the_client_finds_nothing_against_it(folder: Path, client: Any) -> None:
    """Warnings count as errors."""
    assert "Validation passed" in client("plugin", "validate", "--strict", str(folder), cwd=ROOT)


def test_the_client_installs_it_from_this_repository(repo: Path, client: Any) -> None:
    """As docs/plugin.md says; nothing is asked."""
    client("plugin", "marketplace", "add", str(ROOT), cwd=repo)
    client("plugin", "install", "learnloop@learnloop-md", "--scope", "project", cwd=repo)
    assert _json(repo / ".claude" / "settings.json")["enabledPlugins"] == {"learnloop@learnloop-md": True}
    (found,) = [row for row in json.loads(client("plugin", "list", "--json", cwd=repo)) if "learnloop" in row["id"]]
    assert (found["version"], found["enabled"]) == (__version__, True)
    told = client("plugin", "details", "learnloop@learnloop-md", cwd=repo)
    assert "cleanup, learnloop, note, review" in told
    assert ", ".join(claude.HOOKS) in told
