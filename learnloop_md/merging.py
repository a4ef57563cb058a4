"""Three-way merges of the four file forms: what both sides meant is kept, whichever of them is ours."""

from __future__ import annotations

from typing import NamedTuple

from learnloop_md import lessonfile
from learnloop_md.errors import LearnloopError
from learnloop_md.lessonfile import Quarantined
from learnloop_md.mergelines import Woven
from learnloop_md.tree import HeadError

KINDS = ("lesson", "index", "notebook", "state")


class Merged(NamedTuple):
    """What a merge gave."""

    content: bytes | None  # None: the file is gone on the merged side
    clean: bool  # False: content holds git's conflict markers around the one part that both sides changed


class UnreadableSideError(LearnloopError):
    """A side cannot be read or take the other's changes: the caller leaves an ordinary conflict."""

    code = "unreadable-side"


def merge(kind: str, path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> Merged:
    """Both sides' changes of a file since its base, None standing for no file; line ends and comments are ours.

    A file that one side deleted and the other changed stays. Raises UnreadableSideError.
    """
    if theirs in (ours, base):
        return Merged(ours, clean=True)
    if ours == base:
        return Merged(theirs, clean=True)
    if ours is None or theirs is None:
        return Merged(theirs if ours is None else ours, clean=True)
    if kind in ("lesson", "state") and not (ours.strip() and theirs.strip()):
        raise UnreadableSideError(f"{path}: the file is empty on one side", "settle the conflict by hand", code="empty")
    if kind == "state":
        return _state(path, base, ours, theirs)
    texts = [_text(path, side) for side in (base or b"", ours, theirs)]
    try:
        text, clean = _merged(kind, path, *texts)
    except HeadError as error:
        raise UnreadableSideError(f"{path}: {error.message}", "settle the conflict by hand", code=error.code) from error
    return Merged(text.encode("utf-8"), clean)


def _merged(kind: str, path: str, base: str, ours: str, theirs: str) -> Woven:
    """The merge of one kind; each is imported where it is used: a merge driver is started once a file."""
    if kind == "lesson":
        from learnloop_md import mergelesson

        return mergelesson.merge(path, base, ours, theirs)
    if kind == "index":
        from learnloop_md import mergeindex

        return mergeindex.merge(base, ours, theirs)
    from learnloop_md import mergenotes

    return mergenotes.merge(base, ours, theirs)


def _state(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> Merged:
    """The state by its keys, with markers around each key that both sides set otherwise."""
    from learnloop_md import mergestate  # lazy: as the others

    if found := mergestate.marked(base, ours, theirs):
        return Merged(found[0], clean=not found[1])
    line, code, message = next(filter(None, (mergestate.fault(side or b"") for side in (ours, theirs, base))))
    raise UnreadableSideError(f"{path}:{line}: {message}", "settle the conflict by hand", code=code)


def parted(path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> tuple[bytes, bytes] | None:
    """The lesson that is new on one side, and the older one, changed on the other, for which git took it; else None."""
    from learnloop_md import mergelesson  # lazy: as the others

    if base is None or ours is None or theirs is None:
        return None
    try:
        new = mergelesson.newcomer(path, *(_text(path, side) for side in (base, ours, theirs)))
    except (HeadError, UnreadableSideError):
        return None
    return {"": None, "ours": (ours, theirs), "theirs": (theirs, ours)}[new]


def _text(path: str, data: bytes) -> str:
    text = lessonfile.decode(path, data)
    if isinstance(text, Quarantined):
        if text.reason == "empty":
            return data.decode("utf-8")
        raise UnreadableSideError(
            f"{path}:{text.line}: {text.message}", "settle the conflict by hand", code=text.reason
        )
    return text
