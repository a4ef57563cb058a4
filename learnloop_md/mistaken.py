"""Lessons that git took for one another: a new one for an old one that its side removed and the other side changed.

Without our merge driver such a merge is clean: the change goes to the new lesson, and the old one is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from learnloop_md import git, lessonfile, merging, store
from learnloop_md.carry import tree_of
from learnloop_md.git import Repo
from learnloop_md.history import lesson_in, lesson_of
from learnloop_md.place import Place
from learnloop_md.tree import field_of

_LOOK_BACK = 200  # commits
_NONE = "000000"  # the mode of no file


class Mistaken(NamedTuple):
    """Two lessons of which a merge made one, by their paths in the memory."""

    path: str  # of the new one, as the merge has it
    gone: str  # of the older one
    merged: bytes
    new: bytes  # as each was on its side
    old: bytes

    @property
    def told(self) -> str:
        """What git did, for people, and both ways out."""
        new, old = lessonfile.stem(self.path), lessonfile.stem(self.gone)
        did = f"git took {new} for {old} renamed: what was changed in {old} stands there, and {old} is gone"
        return (
            f"{did}; learnloop sync --resolve parts them; if they are the same, write renamed_from: {old} in its head"
        )


def mistaken(place: Place) -> list[Mistaken]:
    """What the newest merges took for one another, where nobody has touched the older lesson since."""
    repo = place.repo
    if repo is None or not git.head(repo):
        return []
    rows = git.out(repo.root, "rev-list", "--parents", f"--max-count={_LOOK_BACK}", "HEAD").splitlines()
    merges = {merge: sides for merge, *sides in map(str.split, rows) if len(sides) == 2}
    found = []
    for merge, path, blob, n in _of_one_side(place, repo, list(merges)):
        sides = merges[merge][n], merges[merge][1 - n]
        if row := _taken_for(place, repo, merge, path, blob, sides):
            found.append(row)
    return found


def _of_one_side(place: Place, repo: Repo, merges: list[str]) -> Iterator[tuple[str, str, str, int]]:
    """The lessons that a merge has otherwise than the only side that knows them: merge, path, blob, which side."""
    if not merges:
        return
    shown = ("-c", "-r", "-z", "--raw", "--no-abbrev", "--format=%x01%H", "--", place.inside or ".")
    given = "".join(f"{merge}\n" for merge in merges).encode()
    raw = git.call(repo.root, "diff-tree", "--stdin", *shown, given=given).stdout
    merge, words = "", iter(raw.decode(errors="surrogateescape").split("\0"))
    for word in words:
        if word.startswith("\x01"):
            merge = word[1:]
        elif word.startswith("::"):  # three modes, three blobs, what became of it; its path
            first, second, mode, _, _, blob, _ = word[2:].split()
            path = next(words)
            if (first == _NONE) != (second == _NONE) and mode.startswith("100") and lesson_of(place, path):
                yield merge, path, blob, int(first == _NONE)


def _taken_for(place: Place, repo: Repo, merge: str, path: str, blob: str, sides: tuple[str, str]) -> Mistaken | None:
    """The older lesson whose changes the merge gave to a new one; sides are the new one's and the other."""
    base = git.asked(repo.root, "merge-base", *sides).stdout.decode().split()[:1]
    if not base:
        return None
    removed, changed = (git.deltas(repo, base[0], side, place.inside or ".") for side in sides)
    came, new_entry = removed.get(path, ("", None))
    if came is not None or new_entry is None:  # it is no new one
        return None
    for gone, (_, stays) in sorted(removed.items()):
        was, after = changed.get(gone, (None, None))
        if stays or not (was and after and lesson_of(place, gone)):
            continue
        merged, new, first, old = git.blobs(repo, [blob, *(row.split()[1] for row in (new_entry, was, after))])
        if git.merge_file(first, new, old) != (merged, True) or not merging.parted(place.inner(gone), first, new, old):
            continue
        found = Mistaken(place.inner(path), place.inner(gone), merged, new, old)
        return None if _is_settled(place, repo, merge, found) else found
    return None


def _is_settled(place: Place, repo: Repo, merge: str, found: Mistaken) -> bool:
    """Whether the older lesson is back or was touched since the merge, or is said to be the new one."""
    gone = place.in_repo(found.gone)
    since = git.out(repo.root, "rev-list", "--max-count=1", f"{merge}..HEAD", "--", gone)
    here = lesson_in(place, found.path, store.read_bytes(place.folder / found.path))
    same = here is not None and field_of(tree_of(here.text), "renamed_from") == lessonfile.stem(found.gone)
    return bool(since.strip()) or same or (place.folder / found.gone).exists()
