"""Walking a history by git's plumbing: what each commit says and changed, in two processes however long it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from learnloop_md import git

_FORMAT = "%x01%H%x00%P%x00%cI%x00%an%x00%B"
_HEAD = 5  # fields


class Visited(NamedTuple):
    """A commit, with what it changed against its first parent."""

    commit: str
    parents: tuple[str, ...]
    day: str
    author: str
    message: str
    changes: dict[str, tuple[str, str]]  # path: blob ids before and after, "" where there was none
    renames: dict[str, str]  # new path: old path, as git finds them; both stand in changes too
    is_cut: bool = False  # the history was cut off here (a shallow clone, a graft): its changes are all that it holds


def commits(
    repo: git.Repo,
    revision: str,
    paths: Sequence[str],
    limit: int = 0,
    *,
    full: bool = False,
    extra: Mapping[str, str] | None = None,
) -> list[Visited]:
    """The commits of a revision or range that touch one of the paths, newest first; 0 is no limit.

    full visits every merged branch, also where a merge left nothing of it, and each commit before those it was made on.
    Raises GitError for no such revision.
    """
    args = [*([f"--max-count={limit}"] if limit else []), *(["--full-history", "--date-order"] if full else [])]
    listed = git.call(repo.root, "rev-list", *args, "--end-of-options", revision, "--", *paths, extra=extra).stdout
    shown = ["-r", "-m", "-z", "-M", "--root", "--raw", "--no-abbrev", "--always", f"--format={_FORMAT}"]
    raw = git.call(repo.root, "diff-tree", "--stdin", *shown, given=listed, extra=extra).stdout
    found = list(_read(raw.decode(errors="surrogateescape").split("\0")))
    cut = git.cut_off(repo)
    return [row._replace(is_cut=True) if row.commit in cut else row for row in found] if cut else found


def _read(words: list[str]) -> Iterator[Visited]:
    at, last = 0, ""
    while at < len(words):
        if not words[at].lstrip("\n").startswith("\x01"):
            at += 1
            continue
        commit, parents, date, author, message = words[at : at + _HEAD]
        at += _HEAD
        row = Visited(commit.lstrip("\n")[1:], tuple(parents.split()), date[:10], _text(author), _text(message), {}, {})
        while at < len(words) and words[at].lstrip("\n").startswith(":"):
            at += _change(row, words[at : at + 3])
        if row.commit != last:  # a merge stands here once for each parent: the first counts
            last = row.commit
            yield row


def _change(row: Visited, words: list[str]) -> int:
    """Take one changed file in; gives how many words it took."""
    old_mode, new_mode, old, new, status = words[0].lstrip("\n")[1:].split(" ")
    before, after = ("" if mode in ("000000", "160000") else blob for mode, blob in ((old_mode, old), (new_mode, new)))
    if status[0] != "R":
        row.changes[words[1]] = (before, after)
        return 2
    row.renames[words[2]] = words[1]
    row.changes[words[1]] = (before, "")
    row.changes[words[2]] = ("", after)
    return 3


def _text(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
