"""Changes that wait for their commit: every sync says that they do, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run, git
from tests.test_busy import writing

SLUG = "stage-files-by-name"
NOTE = "Stage files by name."
LOCKS = {"index.lock": "git's index is locked", "refs/heads/main.lock": "main.lock': File exists"}


def locked(repo: Path, lock: str) -> Path:
    """A lock that another git left."""
    file = repo / ".git" / lock
    file.touch()
    return file


@pytest.mark.parametrize("lock", LOCKS)
def test_every_sync_says_why_a_queued_change_still_waits(repo: Path, memory: Path, learnloop: Run, lock: str) -> None:
    """Design §6: what is not committed is told each time, also where the command before has queued it."""
    file = locked(repo, lock)
    assert LOCKS[lock] in learnloop("note", NOTE, cwd=repo).err
    for _ in range(2):
        done = learnloop("sync", cwd=repo)
        assert (done.code, done.out) == (0, "everything else is in step\n")
        assert done.err.startswith("learnloop: 1 queued change waits: ")
        assert LOCKS[lock] in done.err
    told = learnloop("sync", "--json", cwd=repo).json
    assert (told["action"], told["queued"], told["commits"]) == ("unchanged", True, [])
    assert LOCKS[lock] in told["waiting"]
    assert "1 queued change waits" in learnloop("status", cwd=repo).out
    file.unlink()
    told = learnloop("sync", "--json", cwd=repo).json
    assert (len(told["commits"]), told["queued"], told["waiting"]) == (1, False, "")
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: note {SLUG}"
    assert git(repo, "status", "--short") == ""


@pytest.mark.parametrize("lock", LOCKS)
def test_a_hand_edit_joins_the_queue_and_no_step_is_claimed(
    repo: Path, memory: Path, learnloop: Run, lock: str
) -> None:
    """What waits already is queued no second time; what is new is."""
    file = locked(repo, lock)
    learnloop("note", NOTE, cwd=repo)
    document = memory / "MEMORY.md"
    document.write_text(document.read_text() + "\nProse of a person.\n")
    done = learnloop("sync", cwd=repo)
    assert "brought in step" not in done.out
    assert "written, not committed yet" in done.err
    assert learnloop("sync", "--json", cwd=repo).json["waiting"].startswith("2 queued changes wait: ")
    file.unlink()
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-2", "--format=%s").splitlines() == ["learnloop: absorb", f"learnloop: note {SLUG}"]
    assert git(repo, "status", "--short") == ""


def test_while_an_editor_is_open_sync_claims_no_step(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability row 22."""
    (repo / "app.py").write_text("x = 2\n")
    git(repo, "add", "app.py")
    person = writing(repo, "commit")
    try:
        learnloop("note", NOTE, cwd=repo)
        done = learnloop("sync", cwd=repo)
        told = learnloop("sync", "--json", cwd=repo).json
    finally:
        (repo.parent / "go").touch()
    assert person.wait(timeout=60) == 0
    assert (done.out, told["queued"]) == ("everything else is in step\n", True)
    assert "1 queued change waits: git commit is running here" in done.err


def test_in_a_rebase_sync_claims_no_step(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability row 20."""
    (repo / ".git" / "rebase-merge").mkdir()
    learnloop("note", NOTE, cwd=repo)
    document = memory / "MEMORY.md"
    document.write_text(document.read_text() + "\nProse of a person.\n")
    outs = [learnloop("sync", cwd=repo) for _ in range(2)]
    assert [("brought in step" in done.out, "rebase" in done.err) for done in outs] == [(False, True)] * 2
    assert learnloop("sync", "--json", cwd=repo).json["queued"] is True


def test_what_is_committed_beside_a_staged_lesson_is_not_everything(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §6: a staged lesson waits for its person."""
    learnloop("note", NOTE, cwd=repo)
    lesson, document = memory / f"{SLUG}.md", memory / "MEMORY.md"
    lesson.write_text(lesson.read_text() + "\n**Why:** A person's words.\n")
    git(repo, "add", str(lesson))
    learnloop("sync", cwd=repo)
    document.write_text(document.read_text() + "\nProse of a person.\n")
    told = learnloop("sync", cwd=repo)
    assert "; everything else is in step (" in told.out
    assert "A person's words" not in git(repo, "show", f"HEAD:.claude/memory/{SLUG}.md")


BAD_STATES = {
    "comma": '{"a":1,}',
    "twice": '{"a": 1, "a": 2}',
    "NaN": '{"a": NaN}',
    "list": "[1]",
    "surrogate": '{"a": "' + "\\ud800" + '"}',
}


@pytest.mark.parametrize("text", BAD_STATES.values(), ids=BAD_STATES)
def test_a_state_that_nobody_can_read_is_no_state_in_step(repo: Path, memory: Path, learnloop: Run, text: str) -> None:
    """Design §6: it is left as it is, and every answer says that HEAD has another."""
    learnloop("state", "set", "a", "1", cwd=repo)
    (memory / "memory.json").write_text(text)
    done, told = learnloop("sync", cwd=repo), learnloop("sync", "--json", cwd=repo).json
    assert done.out.startswith("1 of our files differs from HEAD: memory.json:1: ")
    assert done.out.endswith("; left as it is, not committed; everything else is in step\n")
    assert told["waiting"] in done.out
    assert "git       1 of our files differs from HEAD: memory.json:1: " in learnloop("status", cwd=repo).out
    assert learnloop("status", "--json", cwd=repo).json["queued"] == 1
    assert (memory / "memory.json").read_text() == text


MANGLED = {
    "markers": b"<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n",
    "bytes": b"\xff\n",
    "secret": b"".join((b"key AKIA", b"IOSFODNN7EXAMPLQ\n")),
}


@pytest.mark.parametrize("more", MANGLED.values(), ids=MANGLED)
def test_a_quarantined_lesson_is_not_in_step(repo: Path, memory: Path, learnloop: Run, more: bytes) -> None:
    """The same of a lesson file that no commit may have."""
    learnloop("note", NOTE, cwd=repo)
    lesson = memory / f"{SLUG}.md"
    lesson.write_bytes(lesson.read_bytes() + more)
    first = learnloop("sync", cwd=repo)  # its line is for the readable ones
    done = learnloop("sync", cwd=repo)
    for out in (first.out, done.out):
        assert out.startswith(f"1 of our files differs from HEAD: {SLUG}.md:")
        assert "; left as it is, not committed; everything else is in step" in out
    assert f"git       1 of our files differs from HEAD: {SLUG}.md:" in learnloop("status", cwd=repo).out
    assert git(repo, "status", "--short") == f" M .claude/memory/{SLUG}.md"
