"""Who else is at work in a repository: a person's git command that would fail if we moved HEAD under it.

Measured: a commit of ours while an editor is open on a person's makes theirs end with "cannot lock ref 'HEAD'".
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

# Commands that move HEAD or write the index in several steps, and those that run hooks on the way.
_STEPS = frozenset(
    "am bisect checkout cherry-pick citool commit gui merge pull rebase reset revert stash switch".split()
)
_WITH_HOOKS = _STEPS | frozenset("clone fetch gc push receive-pack tag update-ref worktree".split())
_TAKES_VALUE = frozenset(("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"))
_EDITING_S = 600.0  # an older message was left by a commit that somebody gave up


def at_work(root: Path, git_dir: Path, *, after_commit: bool = False, processes: Path = Path("/proc")) -> str:
    """What keeps us from moving HEAD in the work tree at root, "" for nothing.

    after_commit: we are that repository's post-commit hook; the commit that called us is done.
    """
    if not (processes / "self").exists():
        return _guess(git_dir, after_commit)
    above = set(_ancestors(processes))
    for pid in filter(str.isdigit, os.listdir(processes)):
        command = _git_command(processes / pid, root)
        if command in _WITH_HOOKS and int(pid) in above:
            if not after_commit:
                return f"a hook of git {command} is running"
        elif command in _STEPS:
            return f"git {command} is running here"
    return ""


def before_rebase(root: Path, git_dir: Path, processes: Path = Path("/proc")) -> bool:
    """Whether we are the pre-rebase hook of the work tree at root: a file changed now makes the rebase refuse."""
    if any((git_dir / name).exists() for name in ("rebase-merge", "rebase-apply")):
        return False
    return any(_git_command(processes / str(pid), root) == "rebase" for pid in _ancestors(processes))


def _git_command(process: Path, root: Path) -> str:
    """The command of a git that works at root (git goes to the root of its work tree), "" for any other process."""
    try:
        if (process / "comm").read_bytes() != b"git\n" or os.readlink(process / "cwd") != str(root):
            return ""
        return command_of((process / "cmdline").read_bytes().decode(errors="replace").split("\0")[1:])
    except OSError:  # it has ended, or is somebody else's
        return ""


def command_of(words: Sequence[str]) -> str:
    """The command among the words after `git`."""
    rest = iter(words)
    for word in rest:
        if word in _TAKES_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def _ancestors(processes: Path) -> Iterator[int]:
    pid = os.getpid()
    while pid > 1:
        try:
            stat = (processes / str(pid) / "stat").read_bytes()
        except OSError:
            return
        pid = int(stat.rpartition(b")")[2].split()[1])
        yield pid


def _guess(git_dir: Path, after_commit: bool) -> str:
    """The same where processes cannot be looked at: by what git exports to hooks, and by the age of the message."""
    if "GIT_EXEC_PATH" in os.environ and "GIT_PREFIX" in os.environ:
        return "" if after_commit else "a git hook is running"
    try:
        written = (git_dir / "COMMIT_EDITMSG").stat().st_mtime
        moved = (git_dir / "logs" / "HEAD").stat().st_mtime
    except OSError:
        return ""
    return "a commit is being written" if written > moved and time.time() - written < _EDITING_S else ""
