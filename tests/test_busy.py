"""Who else is at work: a person's git command that moves HEAD, seen among the processes of the machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from learnloop_md import busy
from learnloop_md import git as door
from tests.conftest import Run, git

NO_PROCESSES = Path("/nowhere")


def at_work(repo: Path, **more: object) -> str:
    found = door.find(repo)
    assert found is not None
    return busy.at_work(found.root, found.git_dir, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["commit", "-m", "x"], "commit"),
        (["-c", "core.editor=vi", "-C", "merge", "--no-pager", "rebase", "-i"], "rebase"),
        (["--git-dir=x", "status"], "status"),
        (["--version"], ""),
        ([], ""),
        (["-c"], ""),
    ],
)
def test_the_command_stands_behind_git_s_own_options(words: list[str], command: str) -> None:
    assert busy.command_of(words) == command


def writing(repo: Path, *words: str) -> subprocess.Popen[bytes]:
    """A person's commit with an editor open, until a file `go` stands in the repository."""
    editor = repo.parent / "editor.sh"
    editor.write_text(
        f'#!/bin/sh\ntouch "{repo.parent}/open"\n'
        f'while [ ! -e "{repo.parent}/go" ]; do sleep 0.02; done\necho Mine > "$1"\n'
    )
    editor.chmod(0o755)
    person = subprocess.Popen(["git", *words], cwd=repo, env={**os.environ, "GIT_EDITOR": str(editor)})
    deadline = time.monotonic() + 60
    while not (repo.parent / "open").exists():
        assert time.monotonic() < deadline, "the editor did not open"
        time.sleep(0.01)
    return person


@pytest.mark.parametrize("words", [["commit"], ["commit", "-a"], ["commit", "--amend"]])
def test_an_open_editor_keeps_its_commit_and_ours_comes_later(
    repo: Path, memory: Path, learnloop: Run, words: list[str]
) -> None:
    """Design §6, reliability row 22: a commit of ours now would make theirs fail."""
    (repo / "app.py").write_text("x = 2\n")
    git(repo, "add", "app.py")
    person = writing(repo, *words)
    try:
        assert at_work(repo) == "git commit is running here"
        ran = learnloop("note", "Stage files by name.", "--json", cwd=repo)
        assert (ran.code, ran.json["queued"], ran.json["commits"]) == (0, True, [])
        assert "git commit is running here" in ran.err
    finally:
        (repo.parent / "go").touch()
    assert person.wait(timeout=60) == 0
    assert git(repo, "log", "-1", "--format=%s") == "Mine"
    assert learnloop("sync", cwd=repo).code == 0
    assert git(repo, "log", "-1", "--format=%s") == "learnloop: note stage-files-by-name"
    assert git(repo, "status", "--porcelain") == ""


def test_work_in_another_repository_is_none_of_ours(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "other"
    git(tmp_path, "init", "-q", str(other))
    (other / "a").write_text("a")
    git(other, "add", "a")
    person = writing(other, "commit")
    try:
        assert (at_work(repo), at_work(other)) == ("", "git commit is running here")
    finally:
        (other.parent / "go").touch()
    assert person.wait(timeout=60) == 0


HOOKED = {
    "pre-commit": ["commit", "-q", "--allow-empty", "-m", "x"],
    "post-checkout": ["switch", "-q", "-c", "side"],
    "pre-push": ["push", "-q", "../bare.git", "HEAD:refs/heads/x"],
    "post-rewrite": ["commit", "-q", "--amend", "-m", "x"],
}


@pytest.mark.parametrize("hook", HOOKED)
def test_inside_a_hook_of_git_a_change_is_queued(repo: Path, memory: Path, learnloop: Run, hook: str) -> None:
    """Reliability row 20: the person's command succeeds, ours waits."""
    git(repo, "init", "-q", "--bare", "../bare.git")
    file = repo / ".git" / "hooks" / hook
    note = f'"{sys.executable}" -m learnloop_md note "Stage files by name."'
    file.write_text(f"#!/bin/sh\n{note} >../said 2>&1 </dev/null\n")
    file.chmod(0o755)
    commits = set(git(repo, "rev-list", "HEAD").split())
    git(repo, *HOOKED[hook])
    said = (repo.parent / "said").read_text()
    assert "written, not committed yet: a " in said
    assert "hook" in said
    ours = [s for s in git(repo, "log", "--format=%s").splitlines() if s.startswith("learnloop: note")]
    assert (ours, len(commits) >= 2) == ([], True)
    file.unlink()
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s") == "learnloop: note stage-files-by-name"


def test_before_a_rebase_no_tracked_file_is_touched(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability row 20: a changed MEMORY.md would make the rebase refuse; the lesson is written afterwards."""
    git(repo, "checkout", "-q", "-b", "side", "HEAD~1")
    git(repo, "commit", "-q", "--allow-empty", "-m", "Side")
    git(repo, "checkout", "-q", "main")
    (memory / "MEMORY.md").write_text((memory / "MEMORY.md").read_text() + "\nProse.\n")
    git(repo, "commit", "-qam", "Prose")
    hook = repo / ".git" / "hooks" / "pre-rebase"
    note = f'"{sys.executable}" -m learnloop_md note "Stage files by name."'
    hook.write_text(f"#!/bin/sh\n{note} >../said 2>&1 </dev/null\n")
    hook.chmod(0o755)
    git(repo, "rebase", "-q", "side")
    assert "neither written nor committed yet: git rebase" in (repo.parent / "said").read_text()
    assert git(repo, "status", "--porcelain") == ""
    hook.unlink()
    assert learnloop("status", "--json", cwd=repo).json["queued"] == 2
    assert learnloop("sync", cwd=repo).code == 0
    assert "learnloop: note stage-files-by-name" in git(repo, "log", "--format=%s").splitlines()
    assert "(stage-files-by-name.md)" in git(repo, "show", "HEAD:.claude/memory/MEMORY.md")
    assert git(repo, "status", "--porcelain") == ""


def test_the_post_commit_hook_commits_what_waited(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §6: nothing is absorbed on the way, and the hook calls itself no second time."""
    git(repo, "checkout", "-q", "--detach")
    learnloop("note", "Stage files by name.", cwd=repo)
    git(repo, "checkout", "-q", "main")
    (memory / "MEMORY.md").write_text((memory / "MEMORY.md").read_text() + "\nA thought in the making.\n")
    hook = repo / ".git" / "hooks" / "post-commit"
    hook.write_text(f'#!/bin/sh\n"{sys.executable}" -m learnloop_md sync --after-commit\n')
    hook.chmod(0o755)
    git(repo, "commit", "-q", "--allow-empty", "-m", "Mine")
    assert git(repo, "log", "-2", "--format=%s").splitlines() == ["learnloop: note stage-files-by-name", "Mine"]
    assert git(repo, "status", "--porcelain") == " M .claude/memory/MEMORY.md"
    assert "A thought" not in git(repo, "show", "HEAD:.claude/memory/MEMORY.md")
    assert learnloop("status", "--json", cwd=repo).json["queued"] == 1


# --- where processes cannot be looked at ---------------------------------------------------------------------------


def test_without_a_process_table_a_young_message_says_that_somebody_writes(repo: Path) -> None:
    message, moved = repo / ".git" / "COMMIT_EDITMSG", repo / ".git" / "logs" / "HEAD"
    os.utime(moved, (time.time() - 50, time.time() - 50))
    message.write_text("Half a\n")
    assert at_work(repo, processes=NO_PROCESSES) == "a commit is being written"
    os.utime(message, (time.time() - 700, time.time() - 700))  # given up long ago
    os.utime(moved, (time.time() - 900, time.time() - 900))
    assert at_work(repo, processes=NO_PROCESSES) == ""


def test_without_a_process_table_what_git_exports_tells_of_a_hook(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_EXEC_PATH", "/usr/lib/git-core")
    monkeypatch.setenv("GIT_PREFIX", "")
    assert at_work(repo, processes=NO_PROCESSES) == "a git hook is running"
    assert at_work(repo, processes=NO_PROCESSES, after_commit=True) == ""
