"""A three-way merge of memory.md: entries by the file they name and field by field, everything else by lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from learnloop_md import notebook
from learnloop_md.lesson import fold
from learnloop_md.lines import line_end, scan, split_lines, with_final_newline
from learnloop_md.mergeframe import Token, merged_prose
from learnloop_md.mergelines import MIDDLE, OURS, THEIRS, Piece, Woven, weave, with_line_ends
from learnloop_md.mergerules import longer, settled, stronger
from learnloop_md.notebook import Entry


def merge(base: str, ours: str, theirs: str) -> Woven:
    """The notebook that holds what both sides changed: each entry once, in one zone."""
    eol = line_end(ours or theirs)
    base, theirs = with_line_ends(base, eol), with_line_ends(theirs, eol)
    # Entries first: a marker in the prose behind an entry would be read as a line of that entry.
    found = _with_entries(base, ours, theirs, eol)
    prose = merged_prose(_tokens, notebook.with_zone, base, found.text, theirs)
    return Woven(prose.text, prose.clean and found.clean)


def _tokens(text: str) -> Iterator[Token]:
    """memory.md in tokens."""
    entries = {entry.start: entry for entry in notebook.entries(text)}
    skip = 0
    for line in scan(text):
        if line.number < skip:
            continue
        if line.number in entries:
            skip = line.number + len(entries[line.number].lines)
            yield Token("entry", entries[line.number].raw)
            continue
        zone = notebook.zone_heading(line.text) if line.place == "text" else None
        if zone:
            yield Token("frame", line.raw, zone[1].lower())
        elif not line.text.strip():
            yield Token("blank", line.raw)
        else:
            other = line.place == "text" and line.text.startswith(("# ", "## "))
            yield Token("prose", line.raw, "-" if other else "")


_Name = tuple[str, int]  # the slug, and which entry of that slug it is


class _Found(NamedTuple):
    zone: str
    words: str
    clean: bool = True


def _with_entries(base: str, ours: str, theirs: str, eol: str) -> Woven:
    """Our notebook with the entries that both sides mean."""
    was, mine, other = (_named(side) for side in (base, ours, theirs))
    found: dict[_Name, _Found | None] = {}
    for name in dict.fromkeys([*mine, *other]):
        a, b, c = was.get(name), mine.get(name), other.get(name)
        if b and c:
            found[name] = _merged(a, b, c, eol)
        else:
            kept = b or c
            assert kept, "a name stands on one side"
            found[name] = None if a and _is_same(kept, a) else _Found(kept.zone, kept.raw)
    changed: dict[int, tuple[str, str]] = {}
    for name, entry in mine.items():
        want = found[name]
        changed[entry.start] = (want.zone, want.words) if want else (entry.zone, "")
    new = [(want.zone, name[0], want.words) for name, want in found.items() if want and name not in mine]
    clean = all(want.clean for want in found.values() if want)
    return Woven(notebook.with_entries(ours, changed, new), clean)


def _named(text: str) -> dict[_Name, Entry]:
    found: dict[_Name, Entry] = {}
    for entry in notebook.entries(text):
        n = sum(1 for slug, _ in found if slug == entry.slug)
        found[entry.slug, n] = entry
    return found


def _is_same(one: Entry, other: Entry) -> bool:
    return one.zone == other.zone and one.raw.rstrip() == other.raw.rstrip()


def _merged(was: Entry | None, mine: Entry, other: Entry, eol: str) -> _Found:
    """Our entry with what theirs changed: its fields one by one, the lines between them, its zone."""
    zone = settled(was.zone if was else None, mine.zone, other.zone, stronger)
    raws = [entry.raw.rstrip() if entry else None for entry in (was, mine, other)]
    if raws[1] == raws[2] or raws[0] == raws[2]:
        return _Found(zone, mine.raw)
    if raws[0] == raws[1]:
        return _Found(zone, with_final_newline(other.raw, eol))
    prose = _with_prose(was, mine, other, eol)
    entry, clean = notebook.with_words(mine, split_lines(prose.text)), prose.clean
    clashes: list[str] = []
    for name in ("created", "title", *notebook.FIELDS):
        a = fold(was.claims.get(name, "")) if was else None
        b, c = (fold(side.claims.get(name, "")) for side in (mine, other))
        value = c if a == b else b if c in (a, b) else _chosen(name, a, b, c)
        if name == "archive_note" and zone != "archived" and mine.zone != other.zone:
            value = c if mine.zone == "archived" else b
        if value is None:
            clashes.append(name)
        elif value != b:
            entry = _with_field(entry, other, name, value, eol)
    words = _with_clashes(entry, other, clashes, eol) if clashes else entry.raw
    return _Found(zone, words, clean and not clashes)


def _chosen(name: str, was: str | None, mine: str, other: str) -> str | None:
    """One of two values that both sides wrote, None where a person must choose."""
    if name == "tags":
        before, one, two = ([word.strip() for word in (tags or "").split(",")] for tags in (was, mine, other))
        kept = [tag for tag in dict.fromkeys([*one, *two]) if tag not in before or (tag in one and tag in two)]
        return mine if set(kept) == set(one) else ", ".join(sorted(tag for tag in kept if tag))
    if not mine or not other:
        return mine or other
    if name in ("why", "rule", "how"):
        return None
    if name == "state":
        return stronger(mine, other)
    if name == "created":
        return min(mine, other)
    return longer(mine, other)


def _with_field(entry: Entry, other: Entry, name: str, value: str, eol: str) -> Entry:
    """The entry with a field, in the other side's own lines where its value is the one."""
    changed = notebook.with_field(entry, name, value, eol)
    if name not in changed.spans or name not in other.spans or fold(other.claims[name]) != value:
        return changed
    (start, end), (first, last) = changed.spans[name], other.spans[name]
    theirs = [with_final_newline(line, eol) for line in other.lines[first:last]]
    carried = notebook.with_words(changed, [*changed.lines[:start], *theirs, *changed.lines[end:]])
    return carried if carried.claims == {**changed.claims, name: other.claims[name]} else changed


def _with_clashes(entry: Entry, other: Entry, names: list[str], eol: str) -> str:
    """The entry's text with both sides' lines of some fields between markers."""
    lines = list(entry.lines)
    for name in sorted(names, key=lambda name: entry.spans[name][0], reverse=True):
        (start, end), (first, last) = entry.spans[name], other.spans[name]
        mine, theirs = lines[start:end], list(other.lines[first:last])
        rows = [OURS + eol, *mine, MIDDLE + eol, *theirs, THEIRS + eol]
        lines[start:end] = [with_final_newline(row, eol) for row in rows]
    return "".join(lines)


def _with_prose(was: Entry | None, mine: Entry, other: Entry, eol: str) -> Woven:
    """Our entry with the lines of both sides that are none of its fields."""
    first, rest, pieces = _pieces(mine)
    _, _, before = _pieces(was) if was else ("", "", list[Piece]())
    return weave(before, pieces, _pieces(other)[2], eol, first, rest)


def _pieces(entry: Entry) -> tuple[str, str, list[Piece]]:
    """The heading, the fields in front of the first other line, and the other lines with what hangs on to them."""
    fields = {n for start, end in entry.spans.values() for n in range(start, end)}
    rest, pieces = "", list[Piece]()
    for n, line in enumerate(entry.lines[1:], 1):
        if n in fields or (not line.strip() and (not pieces or pieces[-1].rest)):
            if pieces:
                pieces[-1] = pieces[-1]._replace(rest=pieces[-1].rest + line)
            else:
                rest += line
        elif not line.strip():
            pieces[-1] = pieces[-1]._replace(raw=pieces[-1].raw + line)
        else:
            behind = bool(pieces[-1].rest if pieces else rest)
            pieces.append(Piece(line.rstrip("\r\n"), line, "", behind))
    return entry.lines[0], rest, pieces
