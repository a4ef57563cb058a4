"""The person's own commit hooks see our commits where their settings ask for it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from learnloop_md import githooks
from tests.conftest import Run, git
from tests.test_hooks import wait_for

pytestmark = pytest.mark.usefixtures("memory")


@pytest.fixture(autouse=True)
def asked() -> None:
    """The setting, in the person's own file."""
    path = Path(os.environ["HOME"]) / ".config" / "learnloop" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[commit]\nrun_hooks = true\n")


def hook(repo: Path, name: str, body: str, folder: str = ".git/hooks") -> None:
    path = repo / folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_a_hook_that_refuses_lets_the_change_wait(repo: Path, learnloop: Run) -> None:
    """Reliability §5: the file is written and queued, with what the hook said; the next command commits it."""
    hook(repo, "pre-commit", "echo 'MEMORY.md is too long' >&2; exit 1")
    head = git(repo, "rev-parse", "HEAD")
    ran = learnloop("note", "Read the log first.", cwd=repo)
    assert ran.code == 0
    assert "written, not committed yet: the pre-commit hook refuses it: MEMORY.md is too long" in ran.err
    assert (git(repo, "rev-parse", "HEAD"), git(repo, "diff", "--cached", "--name-only")) == (head, "")
    hook(repo, "pre-commit", "exit 0")
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s") == "learnloop: note read-the-log-first"
    assert git(repo, "status", "--porcelain") == ""


def test_a_hook_sees_the_commit_to_be_and_nothing_of_the_person_s_work(
    repo: Path, learnloop: Run, tmp_path: Path
) -> None:
    """What is staged, edited or untracked here is not in that checkout, and stands as it stood."""
    (repo / "staged.py").write_text("x = 1\n")
    git(repo, "add", "staged.py")
    (repo / "app.py").write_text("open = 'work'\n")
    before = git(repo, "ls-files", "-s", "staged.py"), git(repo, "status", "--short")
    seen = tmp_path / "seen"
    hook(repo, "pre-commit", f"(git diff --cached --name-only; git diff; ls; cat app.py) >'{seen}'; rm -rf *")
    learnloop("note", "Read the log first.", cwd=repo)
    lines = seen.read_text().splitlines()
    assert lines[:2] == [".claude/memory/MEMORY.md", ".claude/memory/read-the-log-first.md"]
    assert lines[2] == "app.py"
    assert "staged.py" not in lines
    assert "open = 'work'" not in lines
    assert (git(repo, "ls-files", "-s", "staged.py"), git(repo, "status", "--short")) == before
    assert git(repo, "show", "--format=", "--name-only", "HEAD").splitlines() == lines[:2]


def test_the_message_is_as_commit_msg_leaves_it(repo: Path, learnloop: Run) -> None:
    hook(repo, "commit-msg", 'echo "Change-Id: I1" >>"$1"')
    learnloop("note", "Read the log first.", cwd=repo)
    body = git(repo, "log", "-1", "--format=%B")
    assert "Lesson: read-the-log-first" in body
    assert "Change-Id: I1" in body


KEY = "".join(("ghp_", "Zk3vQ9xT7mL2pR8wY5nB4cD6fG1hJ0aSqW2e"))


@pytest.mark.parametrize(
    ("body", "told"), [(f'echo "key {KEY}" >>"$1"', "left what looks like a secret"), (': >"$1"', "left no message")]
)
def test_a_message_that_git_must_not_get_makes_no_commit(repo: Path, learnloop: Run, body: str, told: str) -> None:
    """R004-20; an empty message is how a hook tells git no."""
    hook(repo, "commit-msg", body)
    head = git(repo, "rev-parse", "HEAD")
    ran = learnloop("note", "Read the log first.", cwd=repo)
    assert (ran.code, git(repo, "rev-parse", "HEAD"), told in ran.err, KEY in ran.err) == (0, head, True, False)
    assert "Zk3vQ9xT7mL2" not in git(repo, "log", "--all", "--format=%B")


def test_what_a_hook_says_of_a_secret_is_not_repeated(repo: Path, learnloop: Run) -> None:
    hook(repo, "pre-commit", f'echo "found {KEY}" >&2; exit 1')
    ran = learnloop("note", "Read the log first.", cwd=repo)
    assert "refuses it: (a line that looks like a secret)" in ran.err
    assert KEY not in ran.out + ran.err


def test_a_hook_that_takes_too_long_ends_with_all_it_started(
    repo: Path, learnloop: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(githooks, "LIMIT_S", 2.0)
    begun, left, seconds = tmp_path / "begun", tmp_path / "left", f"60.{os.getpid()}"

    def sleeps() -> bool:
        return any(f"sleep\0{seconds}\0".encode() in words for words in command_lines())

    hook(repo, "pre-commit", f"(touch '{begun}'; sleep {seconds}; touch '{left}') & wait")
    assert "the pre-commit hook took more than 1 s" in learnloop("note", "Read the log first.", cwd=repo).err
    assert begun.exists()
    assert wait_for(lambda: not sleeps(), 20)
    assert not left.exists()


def command_lines() -> Iterator[bytes]:
    """How every process of the machine was called."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            yield file.read_bytes()


def test_hooks_in_a_folder_of_the_person_s_choice_are_found(repo: Path, learnloop: Run) -> None:
    """A relative core.hooksPath that git does not track is the person's checkout's."""
    (repo / ".git" / "info" / "exclude").write_text("hooks/\n")
    git(repo, "config", "core.hooksPath", "hooks")
    hook(repo, "pre-commit", "exit 1", "hooks")
    assert "the pre-commit hook refuses it: exit 1" in learnloop("note", "Read the log first.", cwd=repo).err


def test_a_hook_that_calls_the_tool_waits_for_no_lock_of_its_own(repo: Path, learnloop: Run) -> None:
    """Our own cleanup hook passes; a command that would write is refused at once."""
    program = f"'{sys.executable}' -m learnloop_md"
    hook(repo, "pre-commit", f"{program} cleanup --hook && {program} check --hook && ! {program} note 'From inside.'")
    for number in range(5):
        ran = learnloop("note", f"Rule number {number}.", "--new", cwd=repo)
        assert (ran.code, ran.err) == (0, "")
    assert not (repo / ".claude" / "memory" / "from-inside.md").exists()


def test_no_repository_may_ask_for_it(repo: Path, learnloop: Run) -> None:
    """A clone must not choose what is run here."""
    (repo / ".learnloop.toml").write_text("commit.run_hooks = true\n")
    ran = learnloop("status", cwd=repo)
    assert (ran.code, "commit_run_hooks is no setting of a repository" in ran.err) == (2, True)
