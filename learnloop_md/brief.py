"""What the last command recorded for Claude's hooks: which lessons may be served, and what there is to say.

A hook judges no text: it serves a bullet that a command made, while the lesson's file is still the one that was judged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from learnloop_md.digest import GUIDANCE, tokens
from learnloop_md.place import Place

FILE = "brief.json"
OPEN, CLOSE = "<learnloop-memory>", "</learnloop-memory>"


class Row(NamedTuple):
    """One active lesson as it may be served."""

    path: str
    stamp: tuple[int, int, int]  # size, time of change in ns, inode
    slug: str
    state: str
    private: bool
    text: str  # the bullet, made safe for a model's context


class Brief(NamedTuple):
    """What a memory's hooks need to know, in the order of the digest."""

    rows: tuple[Row, ...] = ()
    quarantined: tuple[str, ...] = ()
    waiting: int = 0  # queued changes
    due: tuple[str, ...] = ()  # why cleanup is due
    due_on: str = ""  # from which day on
    plan: str = ""  # what a cleanup would do, in a line


def stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells that a file is still the same, None where it is no regular file."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return (info.st_size, info.st_mtime_ns, info.st_ino) if info.st_mode & 0o170000 == 0o100000 else None


def load(place: Place) -> Brief | None:
    """What was recorded, None where nothing was or it cannot be read."""
    try:
        raw = json.loads((place.state / FILE).read_bytes())
        rows = tuple(Row(path, (size, time, inode), *rest) for path, (size, time, inode), *rest in raw["rows"])
        lists = {"rows": rows, "quarantined": tuple(raw["quarantined"]), "due": tuple(raw["due"])}
        return Brief(**{**raw, **lists})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def dump(brief: Brief) -> bytes:
    """The brief as it is stored."""
    return json.dumps(brief._asdict(), separators=(",", ":")).encode()


def served(place: Place, brief: Brief, wanted: Callable[[Row], bool]) -> list[str]:
    """The bullets of the wanted lessons whose files are as they were recorded."""
    return [row.text for row in brief.rows if wanted(row) and stamp(place.folder / row.path) == row.stamp]


def is_stale(place: Place, brief: Brief | None) -> bool:
    """Whether a file that was recorded is another one now, or nothing was recorded."""
    return brief is None or any(stamp(place.folder / row.path) != row.stamp for row in brief.rows)


def block(title: str, bullets: Sequence[str], *, budget: int, most: int) -> str:
    """Whole bullets in a fenced, labelled block within a budget of tokens and characters; "" where none finds room."""
    for count in range(len(bullets), 0, -1):
        left = len(bullets) - count
        rest = [f"- …and {left} more: `learnloop show`"] if left else []
        text = "\n".join([OPEN, f"# {title}", GUIDANCE, "", *bullets[:count], *rest, CLOSE])
        if len(text) <= most and tokens(text) <= budget:
            return text
    return ""
