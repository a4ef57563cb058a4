"""Queued changes of another branch: HEAD is not the history they were made on, and has not what they change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from learnloop_md import git, witness
from learnloop_md.place import Place

Item = dict[str, Any]


def split(place: Place, head: str, queue: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """The changes that wait for HEAD, and those that wait for another branch; the document follows the lessons."""
    items = list(queue)
    strange = {item["head"] for item in items if item["head"] not in ("", head)}
    repo = place.repo
    if repo is None or not head or not strange:
        return items, []
    strange = {commit for commit in strange if not git.is_ancestor(repo, commit, head)}
    state = git.at_head(repo, sorted({path for item in items for path in item["files"]})) if strange else {}
    here, others = [], []
    for item in items:
        if item["head"] in strange and not _fits(place, item, state):
            others.append(item)
        else:
            here.append(item)
            state.update(item["files"])
    return here, others


def _fits(place: Place, item: Item, state: dict[str, str | None]) -> bool:
    document = place.followed(place.document)
    paths = [path for path in item["files"] if path != document] or list(item["files"])
    known = (item["was"], item["files"], item["below"])
    return all(any(path in row and row[path] == state[path] for row in known) for path in paths)


def is_lost(place: Place, item: Item) -> bool:
    """Whether no branch, tag or remote has the history any more that a change was made on, or its text is gone."""
    assert place.repo is not None, "only asked inside a repository"
    blobs = [entry.split()[1] for entry in item["files"].values() if entry]
    return not (witness.is_held(place, item["head"]) and git.has(place.repo, blobs))


def subject(item: Item) -> str:
    """What a queued change is, as its commit would say."""
    return str(item["message"]).partition("\n")[0].removeprefix("learnloop: ")
