"""The witness: which commit of a memory was last seen, kept outside its repository (docs/commands.md, Witness).

A repository that was rolled back as a whole cannot tell: only what stands outside it can.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from learnloop_md import git, guard, store, walk
from learnloop_md.errors import UnableError
from learnloop_md.place import Place

BRANCHES = 10  # the longest unseen ones beyond are forgotten
# Neither replaced objects nor grafts nor a cached graph may lend a rolled-back history what it does not hold.
_PLAIN = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.commitGraph",
    "GIT_CONFIG_VALUE_0": "false",
}

_REPOSITORY = "160000"  # the mode of a repository that is held as one commit

Tree = dict[str, str]  # blob ids by path, as the repository names them
Touched = set[tuple[str, str]]  # (path, blob id before or after a commit; "" where it was not there)


class Seen(NamedTuple):
    """A branch as it was last seen: the newest commit that touches the memory, the day, the memory's files."""

    commit: str
    when: str
    tree: Tree


def file_of(folder: Path) -> Path:
    """Where the witness of the memory in a folder is kept."""
    key = hashlib.sha256(str(folder).encode(errors="surrogateescape")).hexdigest()[:16]
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "learnloop" / "witness" / f"{key}.json"


def load(place: Place) -> dict[str, Seen]:
    """What was seen, by branch; nothing where no witness was taken. Raises UnableError for a damaged one."""
    file = file_of(place.folder)
    data = store.read_bytes(file)
    try:
        raw = json.loads(data) if data is not None else {}
        return {branch: _seen(row["commit"], row["when"], row["tree"]) for branch, row in raw.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "look at the memory's log, then: learnloop verify --witness --accept"
        raise UnableError(f"the witness {file} is damaged", hint, code="witness-damaged") from error


def _seen(commit: str, when: str, tree: Tree) -> Seen:
    """A row of the witness. Raises ValueError or TypeError for what was never written there."""
    for name in (commit, *tree.values()):
        if not re.fullmatch(r"[0-9a-f]{40,64}", name):
            raise ValueError(f"{name!r} is no object id")
    if not isinstance(when, str):
        raise TypeError("a day is a text")
    return Seen(commit, when, {path: blob for path, blob in tree.items() if not _is_withheld(path)})


def save(place: Place, seen: Mapping[str, Seen]) -> None:
    """Keep what was seen; the branch seen last stands last."""
    rows = {branch: row._asdict() for branch, row in list(seen.items())[-BRANCHES:]}
    store.write(file_of(place.folder), json.dumps(rows, separators=(",", ":")).encode())


def moved(
    place: Place, before: str, now: git.Status, today: str, entries: Mapping[str, str | None] | None = None
) -> tuple[str, ...]:
    """Take HEAD as seen after a command of ours, where it holds what was seen before; what to say where it does not.

    before is HEAD as the command found it; entries is what HEAD has of the memory, where a commit of ours made it so. A
    witness that cannot be kept stops no command: `verify` tells.
    """
    if place.repo is None or not now.head or not now.branch:
        return ()
    try:
        seen = load(place)
        old = seen.pop(now.branch, None)
        if old and old.commit != before and lost(place, old, now.head):
            return (f"the history is not the one seen on {old.when}: run learnloop verify --witness",)
        newest = now.head if now.head != before else ""  # what moved HEAD since is a commit of ours
        save(place, {**seen, now.branch: present(place, now.head, today, newest, entries)})
    except UnableError:
        pass
    return ()


def followed(place: Place, old: str, now: git.Status, today: str) -> None:
    """Take a commit as seen that was put in the place of an old one, where what was seen is in that one's history.

    For commits of ours that were written anew on top of others': nothing that was seen is lost, though a name may be
    another one. A witness that cannot be kept stops no command.
    """
    try:
        seen = load(place)
        row = seen.pop(now.branch, None)
        if row and old and _contains(place, old, row.commit):
            save(place, {**seen, now.branch: present(place, now.head, today)})
    except UnableError:
        pass


def _contains(place: Place, goal: str, commit: str) -> bool:
    assert place.repo is not None, "only asked inside a repository"
    return git.is_ancestor(place.repo, commit, goal, _PLAIN)


def present(
    place: Place, head: str, today: str, newest: str = "", entries: Mapping[str, str | None] | None = None
) -> Seen:
    """A commit as it is seen today; newest, the newest commit that touches the memory, and its entries where known."""
    commit = newest or _out(place, "rev-list", "-1", head, "--", *_where(place)).strip()
    return Seen(commit or head, today, tree_at(place, head) if entries is None else _files(place, entries))


# --- the history ----------------------------------------------------------------------------------------------------


def lost(place: Place, seen: Seen, goal: str) -> list[str]:
    """The files of which a commit's history does not hold what was seen; none where it contains the commit itself.

    A rewritten history (amend, squash, rebase) still holds a file when it stands as seen, or stood so in a commit that
    came since, or when all its lines went into one that came since. The document follows the lessons.
    """
    if not goal:
        return sorted(seen.tree)
    if _contains(place, goal, seen.commit):
        return []
    now, since = tree_at(place, goal), _since(place, seen.commit, goal)
    paths = {path for path, _ in since}
    found = []
    for path in sorted({*seen.tree, *now}):
        was, is_ = seen.tree.get(path, ""), now.get(path, "")
        if was == is_ or (path, was) in since:
            continue
        follows = path in paths and (path == place.followed(place.document) or _went_into(place, was, is_))
        if not follows:
            found.append(path)
    return found


def _went_into(place: Place, was: str, is_: str) -> bool:
    """Whether every line of a blob stands in another."""
    assert place.repo is not None, "only asked inside a repository"
    old, new = (Counter(data.splitlines()) for data in git.blobs(place.repo, [was or "-", is_ or "-"]))
    return bool(old) and not old - new


def _since(place: Place, commit: str, goal: str) -> Touched:
    """What the commits of a goal that an older commit does not have changed; nothing where that one is unknown."""
    assert place.repo is not None, "only asked inside a repository"
    try:
        rows = walk.commits(place.repo, f"{commit}..{goal}", _where(place), full=True, extra=_PLAIN)
    except git.GitError:
        return set()
    return {(path, blob) for row in rows for path, blobs in row.changes.items() for blob in blobs}


def is_held(place: Place, commit: str) -> bool:
    """Whether any reference (a renamed branch, a remote's, a tag) contains a commit."""
    assert place.repo is not None, "only asked inside a repository"
    words = ["for-each-ref", "--count=1", "--format=%(refname)", f"--contains={commit}"]
    return git.has(place.repo, [commit]) and bool(_out(place, *words).strip())


def tip(place: Place, branch: str) -> str:
    """The commit of a branch, "" where there is no such branch."""
    assert place.repo is not None, "only asked inside a repository"
    words = ("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}")
    return git.asked(place.repo.root, *words, extra=_PLAIN).stdout.decode(errors="surrogateescape").strip()


def tree_at(place: Place, revision: str) -> Tree:
    """The memory's files in a commit."""
    assert place.repo is not None, "only asked inside a repository"
    return _files(place, git.entries(place.repo, revision, _where(place), extra=_PLAIN, check=True))


def _files(place: Place, entries: Mapping[str, str | None]) -> Tree:
    rows = {path: entry.split() for path, entry in entries.items() if entry and is_ours(place, path)}
    return {path: blob for path, (mode, blob) in rows.items() if mode != _REPOSITORY}


def _where(place: Place) -> list[str]:
    """The paths of the repository in which the memory's files stand."""
    inside, read = place.inside or ".", place.followed(place.document)
    return [inside] if inside == "." or read.startswith(f"{inside}/") else [inside, read]


def _is_withheld(path: str) -> bool:
    return bool(guard.in_name(path.rpartition("/")[2]))


def is_ours(place: Place, path: str) -> bool:
    """Whether a path of the repository is a file of the memory, by a name that may be told and stored."""
    if _is_withheld(path):
        return False
    documents = (place.followed(place.document), place.in_repo(place.document))
    return place.is_lesson(place.inner(path)) or path in documents


def _out(place: Place, *args: str) -> str:
    assert place.repo is not None, "only asked inside a repository"
    return git.call(place.repo.root, *args, extra=_PLAIN).stdout.decode(errors="surrogateescape")
