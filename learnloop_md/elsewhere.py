"""Queued changes of another branch: HEAD has not what they change as their commands found it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from learnloop_md import git, guard, witness
from learnloop_md.place import Place

Item = dict[str, Any]


def split(place: Place, head: str, queue: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """The changes that wait for a commit's branch, and those that wait for another; the document follows the lessons.

    A change is committed as a whole or not at all: each of its files is as the command found it, or as it left it.
    """
    items = list(queue)
    if place.repo is None or not head or all(item["head"] in ("", head) for item in items):
        return items, []
    state = _at(place, head, items)
    here, others = [], []
    for item in items:
        if item["head"] in ("", head) or not _misfits(place, item, state):
            here.append(item)
            state.update(item["files"])
        else:
            others.append(item)
    return here, others


def _at(place: Place, commit: str, items: Iterable[Item]) -> dict[str, str | None]:
    assert place.repo is not None, "only asked inside a repository"
    paths = sorted({path for item in items for path in item["files"]})
    return {**dict.fromkeys(paths), **git.entries(place.repo, commit, paths)}


def _misfits(place: Place, item: Item, state: dict[str, str | None]) -> list[str]:
    document = place.followed(place.document)
    paths = [path for path in item["files"] if path != document] or list(item["files"])
    if all(state[path] == item["files"][path] for path in paths):
        return []
    # That a file is gone is no sign of the command: the lesson it renamed may have been removed here.
    left = {path: entry for path, entry in item["files"].items() if entry}
    known = (item["was"], left, item["below"])
    return [path for path in paths if not any(path in row and row[path] == state[path] for row in known)]


def lost(place: Place, head: str, others: list[Item]) -> list[tuple[Item, str]]:
    """What no branch can take any more of the changes that wait for another one than HEAD's, and why."""
    repo = place.repo
    assert repo is not None, "only asked inside a repository"
    over = [item for item in others if git.is_ancestor(repo, item["head"], head)]  # somebody committed over it here
    words = ["for-each-ref", "--sort=-committerdate", "--format=%(objectname)", "refs/heads"]
    for tip in git.out(repo.root, *words).splitlines() if over else []:
        if tip != head and over:
            fitting = split(place, tip, others)[0]
            over = [item for item in over if item not in fitting]
    state = _at(place, head, over)
    found = []
    for item in others:
        if not _is_held(place, item):
            found.append((item, "no branch has the commit any more that it was made on; say it again"))
        elif item in over:
            path = guard.unsecret_path(next(iter(_misfits(place, item, state) or item["files"])))
            found.append((item, f"{path} is another since; what it holds now counts"))
    return found


def _is_held(place: Place, item: Item) -> bool:
    """Whether a branch, tag or remote has the history that a change was made on, and its text is there."""
    assert place.repo is not None, "only asked inside a repository"
    blobs = [entry.split()[1] for entry in item["files"].values() if entry]
    return witness.is_held(place, item["head"]) and git.has(place.repo, blobs)


def subject(item: Item) -> str:
    """What a queued change is, as its commit would say."""
    return str(item["message"]).partition("\n")[0].removeprefix("learnloop: ")
