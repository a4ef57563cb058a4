"""The prose of a document (MEMORY.md, memory.md) in a three-way merge: by lines, under the heading it stands under.

The frame of zones is ours, and entries stay as they stand in ours: they are merged by themselves afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from learnloop_md.lines import line_end
from learnloop_md.mergelines import Piece, Woven, weave

ZONES = ("current", "candidate", "archived", "quarantined")


class Token(NamedTuple):
    """A stretch of a document: "frame" (a zone's heading, an end of our comment), "entry", "blank" or "prose"."""

    kind: str
    raw: str
    opens: str = ""  # what begins here: a zone, "block", "after", or "-" for another heading


class Section(NamedTuple):
    """What stands between two headings that matter: prose, and what hangs on to it."""

    key: str
    first: str  # the frame and the blank lines behind it
    rest: str  # entries in front of the first prose
    pieces: list[Piece]


def sections(tokens: Iterator[Token]) -> dict[str, Section]:
    """A document cut at the headings of its zones, the ends of our comment, and the headings behind a zone."""
    found: dict[str, Section] = {}
    here = Section("", "", "", [])
    for token in tokens:
        if token.kind == "frame" or (token.opens and here.key):
            _keep(found, here)
            here = Section(token.opens if token.kind == "frame" else f"- {token.raw.strip()}", "", "", [])
        pieces = here.pieces
        if token.kind == "frame" or (token.kind == "blank" and not pieces and not here.rest):
            here = here._replace(first=here.first + token.raw)
        elif token.kind == "prose":
            behind = bool(pieces[-1].rest.strip() if pieces else here.rest.strip())
            pieces.append(Piece(token.raw.rstrip("\r\n"), token.raw, "", behind))
        elif not pieces:
            here = here._replace(rest=here.rest + token.raw)
        elif token.kind == "blank" and not pieces[-1].rest:
            pieces[-1] = pieces[-1]._replace(raw=pieces[-1].raw + token.raw)
        else:
            pieces[-1] = pieces[-1]._replace(rest=pieces[-1].rest + token.raw)
    _keep(found, here)
    return found


def _keep(found: dict[str, Section], section: Section) -> None:
    """Note a section; the second one of the same heading has a key of its own."""
    key, n = section.key, 1
    while key in found:
        n += 1
        key = f"{section.key} {n}"
    found[key] = section._replace(key=key)


def merged_prose(
    tokens: Callable[[str], Iterator[Token]], with_zone: Callable[[str, str], str], base: str, ours: str, theirs: str
) -> Woven:
    """Our document with the prose of both sides, and with the zones that are new in theirs; all have our line ends."""
    was, other = sections(tokens(base)), sections(tokens(theirs))
    for key, section in other.items():
        is_new = key not in was or _texts(section) != _texts(was[key])
        if key in ZONES and is_new and key not in sections(tokens(ours)):
            ours = with_zone(ours, key)
    return _with_prose(was, sections(tokens(ours)), other, line_end(ours or theirs))


def _texts(section: Section) -> list[str]:
    return [piece.text for piece in section.pieces]


def _with_prose(
    was: Mapping[str, Section], mine: Mapping[str, Section], other: Mapping[str, Section], eol: str
) -> Woven:
    """Our document with the prose of both sides; entries stay as they stand in ours."""
    none = Section("", "", "", [])
    made: dict[str, str] = {}
    clean = True
    for key, section in mine.items():
        a, c = was.get(key, none), other.get(key, none)
        woven = weave(a.pieces, section.pieces, c.pieces, eol, section.first, section.rest)
        made[key], clean = woven.text, clean and woven.clean
    keys = list(other)
    for n, key in enumerate(keys):
        if key in mine or not key.startswith("- ") or (key in was and _texts(was[key]) == _texts(other[key])):
            continue
        made = _put_behind(made, keys[n - 1] if n else "", key, "".join(p.raw for p in other[key].pieces))
    parts = [text for text in made.values() if text]
    out = ""
    for key, text in made.items():
        gap = eol if key not in mine and out and not out.endswith(eol * 2) else ""
        if out and not out.endswith("\n"):
            gap = eol + gap
        tail = eol if key not in mine and text is not parts[-1] and not text.endswith(eol * 2) else ""
        out += gap + text + tail if text else ""
    return Woven(out, clean)


def _put_behind(made: dict[str, str], neighbour: str, key: str, text: str) -> dict[str, str]:
    """The sections with one more, behind its neighbour; never inside our comment."""
    keys = list(made)
    outside = [k for n, k in enumerate(keys) if "block" not in keys[: n + 1] or "after" in keys[: n + 1]]
    if neighbour not in outside:
        neighbour = keys[-1]
    at = keys.index(neighbour) + 1
    items = list(made.items())
    return dict([*items[:at], (key, text), *items[at:]])
