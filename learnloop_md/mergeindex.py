"""A three-way merge of MEMORY.md: a line for each file, everything else by lines."""

from __future__ import annotations

from collections.abc import Iterator

from learnloop_md import index
from learnloop_md.index import Name
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


def _entries(base: str, ours: str, theirs: str) -> tuple[dict[Name, tuple[str, str] | None], list[Name]]:
    """For each line that our index or theirs has, the zone and the words it gets, None for none; and their order."""
    was, mine, other = (_lines_of(text) for text in (base, ours, theirs))
    wanted: dict[Name, tuple[str, str] | None] = {}
    for name in dict.fromkeys([*mine, *other]):
        a, b, c = was.get(name), mine.get(name), other.get(name)
        if b is None or c is None:
            kept = b or c
            wanted[name] = None if kept == a else kept
            continue
        zone = settled(a and a[0], b[0], c[0], stronger)
        wanted[name] = zone, settled(a and a[1], b[1], c[1], longer)
    return wanted, list(other)


def _lines_of(text: str) -> dict[Name, tuple[str, str]]:
    named = index.named(text)
    return {name: (entry.zone, entry.raw.replace("--&gt;", "-->").rstrip()) for name, entry in named.items()}
