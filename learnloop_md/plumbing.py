"""Commits by plumbing: a tree from a private index, then HEAD by compare-and-swap and our own entries of the index.

Of eleven ways measured under load, this one alone lost no lesson and swept no staged file. The index changes while HEAD
is locked, before it moves: a person's commit that comes between never has our commit as its parent and the index of
before, which would take the lesson out again; it finds HEAD moved, and nothing of theirs is lost.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from learnloop_md import locks, references
from learnloop_md.git import GitError, Repo, call, head

_LOCK_WAIT_S = 2.0
_SIGN_LIMIT_S = 5.0


class MovedError(GitError):
    """HEAD moved while a commit was made: somebody else committed."""

    code = "moved"


class Commit(NamedTuple):
    """A commit to be: exactly these paths ("mode blob", or None for a removal), its message, by whom, signed or not."""

    files: Mapping[str, str | None]
    message: str
    who: Mapping[str, str] | None = None
    sign: bool = False


def commit(repo: Repo, parent: str, work: Commit) -> str:
    """Make a commit on top of HEAD, which is parent.

    The person's staged work stays: only our own entries of the index change, and only while its lock is ours.
    Raises MovedError where HEAD is another commit by now, GitError where the index stays locked or signing fails.
    """
    with locks.held(repo.folder / "lock"):
        new = commit_of(repo, parent, work)
        _move(repo, new, parent, work.files, f"commit: {work.message.partition(chr(10))[0]}", work.who)
        return new


def commit_of(repo: Repo, parent: str, work: Commit) -> str:
    """A commit on top of parent that no reference names yet. Raises GitError as commit()."""
    args = ["commit-tree", tree_with(repo, parent, work.files), *(["-p", parent] if parent else []), "-F", "-"]
    words = work.message.encode(errors="surrogateescape")
    made = _signed(repo, args, words, work.who) if work.sign else call(repo.root, *args, given=words, extra=work.who)
    return made.stdout.decode().strip()


def land(repo: Repo, new: str, parent: str, files: Mapping[str, str | None], words: str) -> None:
    """Move HEAD from parent to a commit that is made, and the entries of these paths in the index with it.

    Raises MovedError and GitError as commit() does; nothing is changed then.
    """
    with locks.held(repo.folder / "lock"):
        _move(repo, new, parent, files, words)


def _move(
    repo: Repo,
    new: str,
    parent: str,
    files: Mapping[str, str | None],
    words: str,
    who: Mapping[str, str] | None = None,
) -> None:
    """Move HEAD and our entries of the index: both, or neither."""
    moved = False
    try:
        with _own_entries(repo, files, len(new)) as own:
            env = {**own.extra, **(who or {})}
            with references.locked(repo, new, parent, words, env) as move:
                own.put(new)
                move()
            own.moved = moved = True
    except GitError as error:
        if moved:  # only something of ours could not be removed: the next command does
            return
        if error.code == GitError.code and head(repo) != parent:
            raise MovedError(error.message) from error
        raise


def _signed(
    repo: Repo, args: list[str], words: bytes, who: Mapping[str, str] | None
) -> subprocess.CompletedProcess[bytes]:
    """A signed commit; a key that asks for a passphrase gets no terminal and little time."""
    try:
        return call(repo.root, args[0], "-S", *args[1:], given=words, extra=who, limit_s=_SIGN_LIMIT_S)
    except GitError as error:
        raise GitError(f"signing failed ({error.message})", error.hint) from error


def restage(repo: Repo, files: Mapping[str, str | None]) -> None:
    """Bring our own entries of the index to these, and nothing else. Raises GitError where it stays locked."""
    with locks.held(repo.folder / "lock"), _own_entries(repo, files, len(head(repo))) as own:
        os.replace(own.copy, own.place)


class _Own:
    """The index as it is to be, under the lock of git's."""

    def __init__(self, place: Path, copy: Path) -> None:
        self.place, self.copy = place, copy
        self.extra = {"GIT_INDEX_FILE": str(copy)}
        self.kept: Path | None = None  # the old one, empty where there was none
        self.moved = False  # HEAD is where this one belongs

    def put(self, commit: str) -> None:
        """Put it in the place of git's; the old one is kept until HEAD is at this commit."""
        for stale in self.copy.parent.glob(f"was-{os.getpid()}.*"):  # it could not be removed in its time
            stale.unlink()
        kept = self.copy.with_name(f"was-{os.getpid()}.{commit}")
        if self.place.exists():
            os.link(self.place, kept)
        else:
            kept.touch()
        try:
            os.replace(self.copy, self.place)
        except OSError:
            kept.unlink(missing_ok=True)
            raise
        self.kept = kept


@contextmanager
def _own_entries(repo: Repo, files: Mapping[str, str | None], width: int) -> Iterator[_Own]:
    """Hold the index's lock, for an index that differs from git's in these entries alone.

    What was put in its place is taken back where the body fails.
    """
    index, lock = repo.git_dir / "index", repo.git_dir / "index.lock"
    try:
        with _private_index(repo) as copy:
            own = _Own(index, copy)
            _take_lock(repo, lock, copy.with_name(f"marker-{os.getpid()}"))
            try:
                if index.exists():
                    shutil.copy2(index, copy)  # with its time: git tells by it which entries may hide an edit
                given = _index_lines(files, width)
                call(repo.root, "update-index", "-z", "--index-info", given=given, extra=own.extra)
                call(repo.root, "update-index", "-q", "--refresh", extra=own.extra, check=False)
                yield own
            finally:
                try:
                    if own.kept:
                        _settle(repo, own.kept, moved=own.moved)
                finally:
                    lock.unlink(missing_ok=True)
    except OSError as error:
        raise GitError(f"git's index cannot be written: {error.strerror}") from error


def _settle(repo: Repo, old: Path, *, moved: bool = False) -> bool:
    """Whether HEAD never got to the commit that an old index was kept for: git's index is that one again then."""
    unmoved = not moved and head(repo) != old.suffix[1:]
    if unmoved and old.stat().st_size:
        os.replace(old, repo.git_dir / "index")
    elif unmoved:
        (repo.git_dir / "index").unlink(missing_ok=True)
    old.unlink(missing_ok=True)  # still there where index and old one are the same file: a rename leaves both then
    return unmoved


def _index_lines(files: Mapping[str, str | None], width: int) -> bytes:
    none = f"0 {'0' * width}"
    rows = [f"{entry or none}\t{path}\0" for path, entry in files.items()]
    return "".join(rows).encode(errors="surrogateescape")


def tree_with(repo: Repo, parent: str, files: Mapping[str, str | None]) -> str:
    """The tree of a commit with these paths changed ("mode blob", or None for a removal)."""
    with index_of(repo, parent, files) as extra:
        return call(repo.root, "write-tree", extra=extra).stdout.decode().strip()


@contextmanager
def index_of(repo: Repo, parent: str, files: Mapping[str, str | None]) -> Iterator[dict[str, str]]:
    """An index of our own that holds a commit with these paths changed, and the environment that makes git use it."""
    with _private_index(repo) as path:
        extra = {"GIT_INDEX_FILE": str(path)}
        call(repo.root, "read-tree", *([parent] if parent else ["--empty"]), extra=extra)
        given = _index_lines(files, len(parent) or 40)
        call(repo.root, "update-index", "-z", "--index-info", given=given, extra=extra)
        yield extra


@contextmanager
def _private_index(repo: Repo) -> Iterator[Path]:
    """An index file of our own, gone afterwards."""
    repo.folder.mkdir(parents=True, exist_ok=True)
    path = repo.folder / f"index-{os.getpid()}"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


_MARK = "learnloop-lock pid={}\n"


def _take_lock(repo: Repo, lock: Path, marker: Path) -> None:
    """Take the index's lock as git does, with our mark in it from its first moment.

    A lock that bears our mark is a dead process's: a living one would hold the repository's lock of ours.
    """
    deadline = time.monotonic() + _LOCK_WAIT_S
    marker.write_text(_MARK.format(os.getpid()))
    try:
        while True:
            try:
                os.link(marker, lock)
                return
            except FileExistsError as error:
                if _free(repo, lock) is not None:
                    continue
                if time.monotonic() > deadline:
                    hint = "wait for the other git command, or remove the lock if none is running"
                    raise GitError(f"git's index is locked ({lock})", hint, code="index-locked") from error
                time.sleep(0.02)
    finally:
        marker.unlink(missing_ok=True)


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""


def clear_scraps(repo: Repo) -> bool:
    """Remove the private files of dead processes of ours, and the index's lock where it is a dead one's of ours.

    An index that was put in place for a commit that HEAD never got is taken back, while that lock proves that nobody
    has touched it since; whether there was one.
    """
    lock = repo.git_dir / "index.lock"
    left = [path for kind in ("index", "marker", "was") for path in repo.folder.glob(f"{kind}-*") if _is_scrap(path)]
    if not left and not lock.exists():
        return False
    with locks.held(repo.folder / "lock"):
        taken_back = bool(_free(repo, lock))
        for path in left:
            path.unlink(missing_ok=True)
    return taken_back


def _free(repo: Repo, lock: Path) -> bool | None:
    """Remove the index's lock where a dead process of ours left it: whether its index was taken back; else None.

    Its number may be another process's by now, ours even: a container begins anew at 1.
    """
    mark = re.fullmatch(_MARK.format(r"(\d+)"), _read(lock))
    if not mark:
        return None
    taken_back = any(_settle(repo, path) for path in repo.folder.glob(f"was-{mark[1]}.*"))  # one at most
    lock.unlink(missing_ok=True)
    return taken_back


def _is_scrap(path: Path) -> bool:
    pid = path.name.partition("-")[2].partition(".")[0]
    return pid.isdigit() and not locks.is_alive(int(pid))


def clear_ref_locks(repo: Repo, branch: str, command: str, since: float) -> None:
    """Remove the locks of the branch that a killed command of ours left, each with proof that it is ours.

    It is when the commit it names is the command or bears its id, or when it is empty, younger than the journal
    (since) and unchanged for a second. Everybody else's stays.
    """
    for lock in (repo.git_dir / "HEAD.lock", repo.common_dir / "refs" / "heads" / f"{branch}.lock"):
        if lock.exists() and _is_ours(repo, lock, command, since):
            lock.unlink(missing_ok=True)


def _is_ours(repo: Repo, lock: Path, command: str, since: float) -> bool:
    try:
        named = lock.read_text("ascii", "replace").strip()
        if named:
            said = call(repo.root, "cat-file", "commit", named, check=False).stdout
            return named == command or f"\nLearnloop-Command: {command}\n".encode() in said
        begun = lock.stat().st_mtime
        time.sleep(1)
        return begun >= since and lock.stat().st_size == 0 and lock.stat().st_mtime == begun
    except OSError:  # it has gone
        return False
