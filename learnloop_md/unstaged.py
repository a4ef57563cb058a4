"""What of a memory is not as a hook's commit will have it: a hook leaves that alone."""

from __future__ import annotations

import os

from learnloop_md import git
from learnloop_md.place import Place


def not_as_staged(place: Place) -> tuple[set[str], set[str]]:
    """The memory's files that differ from the index of the hook's commit, and those that are not in it."""
    if place.repo is None:
        return set(), set()
    # `git commit -a` builds its index in index.lock, and only this variable says so.
    index = os.environ.get("GIT_INDEX_FILE")
    extra = {"GIT_INDEX_FILE": str((place.repo.root / index).resolve())} if index else None

    def listed(*words: str) -> set[str]:
        raw = git.call(place.folder, *words, "-z", "--", ".", extra=extra).stdout
        rows = raw.decode(errors="surrogateescape").split("\0")
        return {place.inner(path) for path in rows if path}

    unstaged = listed("diff", "--name-only", "--no-ext-diff", "--no-textconv")
    return unstaged, listed("ls-files", "--others", "--full-name")
