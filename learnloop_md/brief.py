"""What the last command recorded for Claude's hooks: which lessons may be served, and what there is to say.

A hook judges no text: it serves a bullet that a command made, while the lesson's file is still the one that was judged.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md.place import Place

FILE = "brief.json"
WORDS = "words.json"  # the index of the lessons' words, for prompts


class Row(NamedTuple):
    """One active lesson as it may be served."""

    path: str
    stamp: tuple[int, int, int]  # size, time of change in ns, inode
    slug: str
    state: str
    private: bool
    text: str  # the bullet, made safe for a model's context
    doubt: str = ""  # what is to be verified first

    @property
    def bullet(self) -> str:
        return f"{self.text} {self.doubt}" if self.doubt else self.text


class Brief(NamedTuple):
    """What a memory's hooks need to know, in the order of the digest."""

    rows: tuple[Row, ...] = ()
    others: tuple[str, ...] = ()  # what is known and not served (archived, quarantined, notes), as it may be stored
    quarantined: int = 0
    waiting: int = 0  # queued changes
    crowd: int = 0  # candidates, where they are so many that cleanup is due
    oldest: str = ""  # the candidate that makes cleanup due by its age, and from which day on
    due_on: str = ""
    plan: str = ""  # what a cleanup would do, in a line
    trust: str = "merged"  # the setting by which it was judged what may be served


def stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells that a file is still the same, None where it is no regular file."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return (info.st_size, info.st_mtime_ns, info.st_ino) if info.st_mode & 0o170000 == 0o100000 else None


def load(place: Place) -> Brief | None:
    """What was recorded, None where nothing was, it cannot be read, or another trust was set then."""
    try:
        raw = json.loads((place.state / FILE).read_bytes())
        rows = tuple(Row(path, (size, time, inode), *rest) for path, (size, time, inode), *rest in raw["rows"])
        found = Brief(**{**raw, "rows": rows, "others": tuple(raw["others"])})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return found if found.trust == place.settings.trust else None


def dump(brief: Brief) -> bytes:
    """The brief as it is stored."""
    return json.dumps(brief._asdict(), separators=(",", ":")).encode()


def words(place: Place) -> dict[str, Any] | None:
    """The index of the lessons' words, None where there is none or it cannot be read."""
    try:
        raw = json.loads((place.state / WORDS).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def is_served(place: Place, row: Row) -> bool:
    """Whether the lesson's file is as it was recorded."""
    return stamp(place.folder / row.path) == row.stamp


def served(place: Place, brief: Brief, wanted: Callable[[Row], bool]) -> list[str]:
    """The bullets of the wanted lessons whose files are as they were recorded."""
    return [row.bullet for row in brief.rows if wanted(row) and is_served(place, row)]


def spelled(path: str) -> str:
    """A path as it is stored: of one that was found to hold a secret its hash alone."""
    return f"sha256:{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()}"


def is_stale(place: Place, brief: Brief | None) -> bool:
    """Whether a file is another one than was recorded, or a new one, or nothing was recorded."""
    if brief is None or not all(is_served(place, row) for row in brief.rows):
        return True
    known = {place.document, *brief.others, *(row.path for row in brief.rows)}
    inside = f"{place.lessons}/" if place.lessons else ""
    try:
        names = os.listdir(place.folder / place.lessons)
    except OSError:
        return False
    new = [inside + name for name in names if name.endswith(".md") and inside + name not in known]
    return any(spelled(path) not in known for path in new)
