"""A three-way merge of prose by lines; what is no prose (entries, headings of zones) hangs on to the line before it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from learnloop_md.lines import scan, split_lines, with_final_newline
from learnloop_md.tree import HeadError

OURS, MIDDLE, THEIRS = "<<<<<<< ours", "=======", ">>>>>>> theirs"

MOST_PAIRS = 100_000  # of equal lines between the first change and the last: within a second even at worst


class Piece(NamedTuple):
    """A line of prose with the blank lines behind it, and what hangs on to it."""

    text: str  # without its line end: what is compared
    raw: str
    rest: str = ""  # what stands behind it and is no prose; it is never merged here
    behind: bool = False  # whether something that is no prose stands between it and the piece before

    @property
    def ends_paragraph(self) -> bool:
        return self.raw.count("\n") > 1


class Woven(NamedTuple):
    """The merged text; not clean where it holds the markers of a conflict."""

    text: str
    clean: bool


def with_line_ends(text: str, eol: str) -> str:
    """text with every line ended by eol."""
    return re.sub(r"\r?\n", eol, text)


def cut(text: str) -> tuple[str, list[Piece]]:
    """The blank lines that text begins with, and its pieces."""
    lead, pieces = "", list[Piece]()
    for line in split_lines(text):
        if line.strip():
            pieces.append(Piece(line.rstrip("\r\n"), line))
        elif pieces:
            pieces[-1] = pieces[-1]._replace(raw=pieces[-1].raw + line)
        else:
            lead += line
    return lead, pieces


def weave(
    base: Sequence[Piece], ours: Sequence[Piece], theirs: Sequence[Piece], eol: str, first: str = "", rest: str = ""
) -> Woven:
    """The pieces of both sides; first stands in front of them, rest too, but behind what theirs put there.

    Lines that both sides changed differently stand between markers; where a marker would be hidden in a code fence,
    everything does. Raises HeadError where too many lines changed to be told apart in a short time.
    """
    woven = _woven(_regions(base, ours, theirs), eol, first, rest)
    if not woven.clean and _hides_marker(woven.text):
        whole = _Region(tuple(base), tuple(ours), tuple(theirs), "both")
        return _woven([whole], eol, first, rest)
    return woven


def _hides_marker(text: str) -> bool:
    return any(row.place == "fence" and row.text == OURS for row in scan("\n" + text))


class _Region(NamedTuple):
    """A stretch of both sides and who changed it: "", "ours", "theirs" or "both"."""

    base: tuple[Piece, ...]
    ours: tuple[Piece, ...]
    theirs: tuple[Piece, ...]
    changed: str


class _Edit(NamedTuple):
    """One side's change: the lines of the base that it replaces, by how many more, and what it adds."""

    lo: int
    hi: int
    grown: int
    added: frozenset[str]


class _Group:
    """Changes that overlap: lines lo to hi of the base."""

    def __init__(self, lo: int, hi: int) -> None:
        self.lo, self.hi = lo, hi
        self.grown = {"ours": 0, "theirs": 0}  # by how many lines each side is longer here
        self.sides: set[str] = set()
        self.added: set[str] = set()

    def add(self, side: str, edit: _Edit) -> None:
        self.hi = max(self.hi, edit.hi)
        self.grown[side] += edit.grown
        self.sides.add(side)
        self.added |= edit.added


def _regions(base: Sequence[Piece], ours: Sequence[Piece], theirs: Sequence[Piece]) -> list[_Region]:
    found: list[_Region] = []
    at, mine, other = 0, 0, 0
    for group in [*_groups(base, ours, theirs), _Group(len(base), len(base))]:
        same = group.lo - at
        kept = tuple(ours[mine : mine + same])
        found.append(_Region(kept, kept, kept, ""))
        mine, other = mine + same, other + same
        size = group.hi - group.lo
        next_mine, next_other = mine + size + group.grown["ours"], other + size + group.grown["theirs"]
        changed = "both" if len(group.sides) == 2 else "".join(group.sides)
        there = tuple(ours[mine:next_mine]), tuple(theirs[other:next_other])
        found.append(_Region(tuple(base[group.lo : group.hi]), *there, changed))
        at, mine, other = group.hi, next_mine, next_other
    return [_decided(region) for region in found if region.ours or region.theirs]


def _groups(base: Sequence[Piece], ours: Sequence[Piece], theirs: Sequence[Piece]) -> list[_Group]:
    edits = [(side, edit) for side, rows in (("ours", ours), ("theirs", theirs)) for edit in _edits(base, rows)]
    groups: list[_Group] = []
    for side, edit in sorted(edits, key=lambda pair: (pair[1].lo, pair[1].hi)):
        if not groups or not _meet(groups[-1], edit, base):
            groups.append(_Group(edit.lo, edit.hi))
        groups[-1].add(side, edit)
    return groups


def _edits(base: Sequence[Piece], side: Sequence[Piece]) -> list[_Edit]:
    was, texts = [piece.text for piece in base], [piece.text for piece in side]
    head = _alike(was, texts)
    tail = _alike(was[head:][::-1], texts[head:][::-1])
    rows = _changes(was[head : len(was) - tail], texts[head : len(texts) - tail])
    return [_Edit(a + head, b + head, (d - c) - (b - a), frozenset(texts[c + head : d + head])) for a, b, c, d in rows]


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _changes(was: list[str], now: list[str]) -> list[tuple[int, int, int, int]]:
    """The stretches that differ; difflib looks at every pair of equal lines, several times over."""
    where = Counter(was)
    pairs = sum(where[line] for line in now)
    if pairs > MOST_PAIRS:
        raise HeadError("too-long", 1, "too many lines changed to be merged by what they say")
    rows = SequenceMatcher(None, was, now, autojunk=False).get_opcodes()
    return [(a, b, c, d) for tag, a, b, c, d in rows if tag != "equal"]


def _meet(group: _Group, edit: _Edit, base: Sequence[Piece]) -> bool:
    """Whether a change belongs to the group: it overlaps, stands in its place or paragraph, or adds the same line."""
    if edit.lo != group.hi:
        return edit.lo < group.hi
    same_place = group.lo == group.hi == edit.hi
    return same_place or bool(group.added & edit.added) or (edit.lo > 0 and not base[edit.lo - 1].ends_paragraph)


def _decided(region: _Region) -> _Region:
    """A stretch that both changed is no conflict where both say the same, or one has all of the other's changes."""
    if region.changed != "both":
        return region
    was, mine, other = ([piece.text for piece in side] for side in (region.base, region.ours, region.theirs))
    if mine == other:
        return region._replace(changed="ours")
    mine_has, other_has = _has(mine, other, was), _has(other, mine, was)
    if mine_has != other_has:
        return region._replace(changed="ours" if mine_has else "theirs")
    return region


def _has(one: list[str], other: list[str], was: list[str]) -> bool:
    """Whether one has every change that other made: the lines it added, none that it took away, in its order."""
    before, mine, yours = Counter(was), Counter(one), Counter(other)
    if (yours - before) - (mine - before) or (before - yours) - (before - mine):
        return False
    rest = iter(one)
    return all(line in rest for line in other if line in mine)


def _woven(regions: Sequence[_Region], eol: str, first: str, rest: str) -> Woven:
    out, waiting, clean = [first], rest, True

    def put(text: str) -> None:
        if text:
            out[-1] = with_final_newline(out[-1], eol)
            out.append(text)

    for region in regions:
        if region.changed == "both":
            clean = False
            put(waiting)
            for mark, pieces in ((OURS, region.ours), (MIDDLE, region.theirs)):
                put(mark + eol + _closed("".join(with_final_newline(piece.raw, eol) for piece in pieces), eol))
            put(THEIRS + eol + (eol if any(s and s[-1].ends_paragraph for s in (region.ours, region.theirs)) else ""))
            waiting = "".join(piece.rest for piece in region.ours)
        elif region.changed == "theirs":
            hung = [piece.rest for piece in region.ours]  # it stays behind the piece that took the place of its own
            for n, piece in enumerate(region.theirs):
                if piece.behind:
                    put(waiting)
                    waiting = ""
                put(piece.raw)
                waiting += hung[n] if n < len(hung) else ""
            waiting += "".join(hung[len(region.theirs) :])
        else:
            for piece in region.ours:
                put(waiting)
                put(piece.raw)
                waiting = piece.rest
    put(waiting)
    return Woven("".join(out), clean)


def _closed(text: str, eol: str) -> str:
    """text without the blank lines at its end."""
    return text.rstrip("\r\n") + eol if text else ""
