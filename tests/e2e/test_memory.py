"""Claude Code reads and writes a memory that learnloop keeps: no hook is involved here (design §2, §4)."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import git
from tests.e2e.client import Client
from tests.e2e.fake_api import tool
from tests.e2e.hooked import NEW

LINE = "- [Pin the base image](pin-the-base-image.md) — before a rebuild"


def sightings(text: str) -> set[str]:
    """The runs that a lesson was seen in; a name that YAML would take for a number stands in quotes."""
    return set(re.findall(r'(?m)^    - on: \d{4}-\d\d-\d\d\n      run: "?(\w+)"?$', text))


def test_the_client_is_told_what_is_in_force_and_nothing_archived(client: Client, project: Path) -> None:
    """The Archived block is a comment, which the client strips."""
    first = client.run("hi", cwd=project).turns[0].text
    assert f"Contents of {project}/.claude/memory/MEMORY.md" in first
    assert "(use-uv-never-pip.md)" in first
    assert "(run-the-linter-before-each-commit.md)" in first
    assert "old formatter" not in first
    assert "Archived" not in first


def test_what_the_model_wrote_is_absorbed_and_keeps_its_words(client: Client, project: Path) -> None:
    """The client rewrites the head of whatever the model writes (design §4, Absorbing)."""
    folder = project / ".claude" / "memory"
    index, new, old = (
        folder / "MEMORY.md",
        folder / "pin-the-base-image.md",
        folder / "run-the-linter-before-each-commit.md",
    )
    session = client.run(
        "Remember that",
        tool("Write", file_path=str(new), content=NEW),
        tool("Read", file_path=str(index)),
        tool("Edit", file_path=str(index), old_string="# Memory\n", new_string=f"# Memory\n\n{LINE}\n"),
        tool("Read", file_path=str(old)),
        tool("Edit", file_path=str(old), old_string="each commit.\n", new_string="each commit, and before a push.\n"),
        cwd=project,
    )
    assert f"originSessionId: {session.id}" in new.read_text()  # the client did rewrite
    client.learnloop("sync", cwd=project)

    run, text = session.id[:8], new.read_text()
    assert "\n  state: candidate\n" in text
    assert sightings(text) == {run}
    assert text.endswith(NEW.partition("---\n\n")[2])
    assert index.read_text().count(LINE) == 1
    assert LINE in index.read_text().partition("## Candidate")[2]
    text = old.read_text()
    assert "Run the linter before each commit, and before a push.\n" in text
    assert sightings(text) == {"r1", run}
    assert git(project, "status", "--porcelain") == ""
    assert git(project, "log", "-1", "--format=%(trailers:key=Learnloop-Change,valueonly)").strip() == "absorb"


def test_metadata_that_a_rewrite_dropped_comes_back_and_the_rewritten_body_stays(client: Client, project: Path) -> None:
    """A whole Write by the model keeps nothing of the head that it did not send (design §4, Absorbing)."""
    lesson = project / ".claude" / "memory" / "use-uv-never-pip.md"
    head = "---\nname: use-uv-never-pip\ndescription: uv installs, pip does not\ntype: feedback\n---\n"
    body = "\nUse uv.\n\n**Why:** Pins.\n"
    session = client.run(
        "Say it shorter",
        tool("Read", file_path=str(lesson)),
        tool("Write", file_path=str(lesson), content=head + body),
        cwd=project,
    )
    assert "state:" not in lesson.read_text()
    client.learnloop("sync", cwd=project)

    text = lesson.read_text()
    assert "\n  state: current\n" in text
    assert sightings(text) == {"r1", "r2", session.id[:8]}
    assert 'description: "uv installs, pip does not"\n' in text  # the client's quotes
    assert text.endswith("---\n" + body)
    assert "(use-uv-never-pip.md)" in (lesson.parent / "MEMORY.md").read_text().partition("## Candidate")[0]
    assert git(project, "status", "--porcelain") == ""


def test_a_subfolder_and_a_linked_worktree_share_the_memory(client: Client, project: Path) -> None:
    """One memory for all checkouts: the settings file of the main checkout names it by its absolute path."""
    folder = project / ".claude" / "memory"
    (project / "src" / "deep").mkdir(parents=True)
    git(project, "worktree", "add", "-q", "../other")
    for name, where in (("from-below", project / "src" / "deep"), ("from-beside", project.parent / "other")):
        text = NEW.replace("pin-the-base-image", name)
        session = client.run(
            "Remember that", tool("Write", file_path=str(folder / f"{name}.md"), content=text), cwd=where
        )
        assert "(use-uv-never-pip.md)" in session.turns[0].text
        assert session.id in (folder / f"{name}.md").read_text()
    client.learnloop("sync", cwd=project.parent / "other")
    assert "from-beside.md" in git(project, "status", "--porcelain")  # queued: nobody's checkout moves
    assert git(project.parent / "other", "status", "--porcelain") == ""
    client.learnloop("sync", cwd=project)
    assert git(project, "status", "--porcelain") == ""
    assert {"(from-below.md)", "(from-beside.md)"} <= set(
        re.findall(r"\([a-z-]+\.md\)", (folder / "MEMORY.md").read_text())
    )


def test_a_native_memory_is_the_one_that_the_client_loads(client: Client, repo: Path) -> None:
    """`init --native` keeps Claude's own folder and gives it a history of its own (design §2)."""
    client.learnloop("init", "--native", "--yes", cwd=repo)
    client.learnloop("note", "Use uv, never pip.", cwd=repo)
    (memory,) = client.home.glob(".claude/projects/*/memory")
    session = client.run("hi", tool("Write", file_path=str(memory / "pin-the-base-image.md"), content=NEW), cwd=repo)
    assert "(use-uv-never-pip.md)" in session.turns[0].text
    client.learnloop("sync", cwd=repo)
    assert git(memory, "ls-files", "*.md").splitlines() == ["MEMORY.md", "pin-the-base-image.md", "use-uv-never-pip.md"]
    assert git(repo, "status", "--porcelain") == ""
