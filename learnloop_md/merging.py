"""A stand-in: three-way merges of lines, and of a lesson's events."""

from __future__ import annotations

from typing import NamedTuple

from learnloop_md import git, lessonfile
from learnloop_md.errors import LearnloopError
from learnloop_md.lesson import merged_events
from learnloop_md.lessonfile import Reading
from learnloop_md.tree import Field


class Merged(NamedTuple):
    """A merged file, and whether it is without conflict."""

    content: bytes | None
    clean: bool


class UnreadableSideError(LearnloopError):
    """A side cannot be read as what it should be."""


def merge(kind: str, path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> Merged:
    """One file's three-way merge; kind is "lesson", "index" or "notebook"."""
    if theirs in (ours, base):
        return Merged(ours, True)
    if base == ours:
        return Merged(theirs, True)
    if ours is None or theirs is None:
        return Merged(ours or theirs, False)
    if kind == "lesson" and (found := _events_joined(path, base, ours, theirs)) is not None:
        return Merged(found, True)
    return Merged(*git.merge_file(base or b"", ours, theirs))


def _events_joined(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> bytes | None:
    readings = [lessonfile.read(path, data) for data in (base or b"", ours, theirs)]
    old, mine, other = readings
    if not isinstance(mine, Reading) or not isinstance(other, Reading):
        return None
    parts = ("rule", "why", "how", "title", "description", "type")
    if any(getattr(mine.lesson, part) != getattr(other.lesson, part) for part in parts):
        return None
    changes: dict[str, Field] = {}
    if mine.lesson.state != other.lesson.state and isinstance(old, Reading):
        changes["state"] = other.lesson.state if mine.lesson.state == old.lesson.state else mine.lesson.state
    for name in ("seen", "confirmed", "disputed"):
        both = merged_events(getattr(mine.lesson, name), getattr(other.lesson, name))
        if both != getattr(other.lesson, name):
            changes[name] = both
    return lessonfile.with_fields(other.lesson.text, changes).encode()
