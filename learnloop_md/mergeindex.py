"""A three-way merge of MEMORY.md: a line for each file, everything else by lines."""

from __future__ import annotations

from collections.abc import Iterator

from learnloop_md import index
from learnloop_md.lines import line_end
from learnloop_md.mergeframe import Token, merged_prose
from learnloop_md.mergelines import Woven, with_line_ends
from learnloop_md.mergerules import longer, settled, stronger


def merge(base: str, ours: str, theirs: str) -> Woven:
    """The index that holds what both sides changed: each file once, in one zone."""
    eol = line_end(ours or theirs)
    base, theirs = with_line_ends(base, eol), with_line_ends(theirs, eol)
    prose = merged_prose(_tokens, index.with_zone, base, ours, theirs)
    wanted, order = _entries(base, ours, theirs)
    return Woven(index.with_lines(prose.text, wanted, order), prose.clean)


def _tokens(text: str) -> Iterator[Token]:
    """MEMORY.md in tokens."""
    for place in index.places(text):
        if place.opens and place.opens != "-":
            yield Token("frame", place.raw, place.opens)
        elif place.entry:
            yield Token("entry", place.raw)
        else:
            yield Token("prose" if place.raw.strip() else "blank", place.raw, place.opens)


def _entries(base: str, ours: str, theirs: str) -> tuple[dict[str, tuple[str, str] | None], list[str]]:
    """For each file that our index or theirs names, the zone and the line it gets, None for none; and their order."""
    was, mine, other = (_lines_of(text) for text in (base, ours, theirs))
    wanted: dict[str, tuple[str, str] | None] = {}
    for target in dict.fromkeys([*mine, *other]):
        a, b, c = was.get(target), mine.get(target), other.get(target)
        if b is None or c is None:
            kept = b or c
            wanted[target] = None if kept == a else kept
            continue
        zone = settled(a and a[0], b[0], c[0], stronger)
        wanted[target] = zone, settled(a and a[1], b[1], c[1], longer)
    return wanted, list(other)


def _lines_of(text: str) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for place in index.places(text):
        if place.entry:
            words = place.entry.raw.replace("--&gt;", "-->").rstrip()
            found.setdefault(place.entry.target, (place.entry.zone, words))
    return found
