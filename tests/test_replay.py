"""`replay`: what an agent was given at a commit, from git's objects alone (design §6)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CopyOf, Run, git
from tests.homes import Home, make_home
from tests.reading import every_byte


@pytest.fixture(params=["project", "skill"])
def home(request: pytest.FixtureRequest, tmp_path: Path, copy_of: CopyOf, learnloop: Run) -> Home:
    def build(root: Path) -> Home:
        made = make_home(request.param, root, learnloop)
        made.note("Read the failing log first.", "r1")
        git(made.root, "tag", "before")
        made.note("Read the failing log first.", "r2")
        made.note("Stage files by name.", "r1")
        assert made.run("archive", "read", "--note", "too narrow").code == 0
        return made

    return copy_of(f"replayed {request.param}", build, tmp_path / "repo")


def told(home: Home, *words: str) -> Any:
    done = home.run("replay", *words, "--json")
    assert done.code == 0, done.out
    return done.json


def test_it_tells_the_document_and_the_digest_as_they_were(home: Home) -> None:
    data = told(home, "before")
    assert data["commit"] == git(home.root, "rev-parse", "before")
    assert "Read the failing log first" in data["document"]["text"]
    assert data["digest"]["lessons"] == ["read-the-failing-log-first"]
    assert "(candidate)" in data["digest"]["text"]
    assert data["digest"]["tokens"] > 0
    now = told(home)
    assert now["digest"]["lessons"] == ["stage-files-by-name"]
    assert now["commit"] == git(home.root, "rev-parse", "HEAD")


def test_what_claude_does_not_load_is_left_out(home: Home) -> None:
    """R001-42: the archive stands in a comment, and an agent reads a notebook whole."""
    assert ("Read the failing log" in told(home)["document"]["text"]) == (home.kind == "skill")


def test_it_says_the_same_as_show_did(home: Home) -> None:
    assert told(home)["digest"]["text"].rstrip() == home.run("show").out.rstrip()


def test_a_task_recalls_what_it_would_have_recalled(home: Home) -> None:
    """Design §8."""
    task = "the build failed, look at the log"
    assert [row["slug"] for row in told(home, "before", "--task", task)["recall"]["lessons"]] == [
        "read-the-failing-log-first"
    ]
    now = [row["slug"] for row in told(home, "HEAD", "--task", task)["recall"]["lessons"]]
    assert now == ["stage-files-by-name"], "the other is archived now"
    assert "recall" not in told(home)


def test_it_reads_git_alone_and_writes_nothing(home: Home) -> None:
    data = told(home, "before")
    home.document.write_text("# Other\n")
    home.file("stage-files-by-name").unlink()
    before = every_byte(home.root)
    assert told(home, "before") == data
    assert every_byte(home.root) == before


def test_a_branch_that_is_not_checked_out_is_replayed(home: Home) -> None:
    git(home.root, "checkout", "-q", "--orphan", "other")
    git(home.root, "reset", "-q", "--hard", "before")
    assert told(home, "main")["digest"]["lessons"] == ["stage-files-by-name"]


def test_settings_are_those_of_the_commit(home: Home) -> None:
    (home.root / ".learnloop.toml").write_text("show_characters = 1\n")
    home.commit_all("Settings")
    assert told(home)["digest"]["text"] == ""
    assert told(home, "before")["digest"]["text"] != ""


def test_a_memory_that_stood_elsewhere_is_found(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("project", tmp_path / "repo", learnloop)
    home.note("Read it.", "r1")
    git(home.root, "tag", "before")
    shutil.move(home.folder, home.root / "notes")
    home.commit_all("Move")
    done = learnloop("replay", "before", "--memory", "notes", cwd=home.root)
    assert (done.code, "`read-it`" in done.out) == (0, True)
    assert "the memory stood in .claude/memory then" in done.err


@pytest.mark.parametrize(("revision", "code"), [("nowhere", 2), ("--all", 2), ("main~9", 2)])
def test_an_unknown_commit_is_told_in_one_line(home: Home, revision: str, code: int) -> None:
    done = home.run("replay", "--", revision) if revision.startswith("-") else home.run("replay", revision)
    assert (done.code, done.err.count("\n")) == (code, 1)


def test_before_there_was_a_memory_it_says_so(home: Home) -> None:
    first = git(home.root, "rev-list", "--max-parents=0", "HEAD")
    done = home.run("replay", first)
    assert (done.code, "there was no memory in" in done.err) == (4, True)


def test_a_secret_of_the_past_is_not_told(home: Home) -> None:
    """R004-20: git still has it, and nobody is shown it."""
    token = "".join(("gh", "p_", "A1b2C3d4E5f6", "G7h8I9j0K1l2", "M3n4O5p6Q7r8"))
    path = home.file("stage-files-by-name")
    path.write_text(path.read_text() + f"\nUse {token}.\n")
    git(home.root, "commit", "-qam", "A slip")
    done = home.run("replay", "HEAD", "--task", "stage files")
    assert (done.code, token in done.out, "quarantined and not served" in done.err) == (0, False, True)


def test_control_characters_are_written_out(home: Home) -> None:
    path = home.file("stage-files-by-name")
    text = path.read_text()
    path.write_text(text.replace("Stage files by name.", "Stage files by \u202ename."))
    git(home.root, "commit", "-qam", "A slip")
    out = home.run("replay").out
    assert ("\u202e" in out, "\x1b" in out) == (False, False)
