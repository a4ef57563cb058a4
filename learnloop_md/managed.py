"""A block of ours in a file of the person's: put in, renewed, taken out; every byte outside it stays. Pure.

The opening marker carries the hash of the block's text: so an edit by hand inside it is seen, and never overwritten.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from learnloop_md.errors import RefusedError
from learnloop_md.lines import Line, conflict_line, line_end_at, room_at_end, scan, split_lines

_BEGIN = re.compile(r"<!-- learnloop:begin v1 sha256=([0-9a-f]{12}) -->")
_END = "<!-- learnloop:end -->"
_LIKE = re.compile(r"\s*<!--\s*learnloop:(?:begin|end)\b")


class Block(NamedTuple):
    """The block as it stands: its first line and the one behind its last (from 0), its text, what its marker says."""

    start: int
    end: int
    text: str
    sha256: str
    eol: str

    @property
    def is_ours(self) -> bool:
        """Whether nobody has edited it since it was written."""
        return _hash(self.text) == self.sha256


def find(text: str, name: str) -> Block | None:
    """The block in the text of the file that is called name, or None.

    Raises RefusedError naming the line where markers are doubled or broken, or a merge is in conflict.
    """
    if line := conflict_line(text):
        raise RefusedError(f"{name}:{line}: a merge is in conflict there", "resolve it first", code="conflict")
    marks = [line for line in _loose(text) if _LIKE.match(line.text)]
    if not marks:
        return None
    begin, end = marks[0], marks[1] if len(marks) > 1 else None
    opened = _BEGIN.fullmatch(begin.text)
    if not opened:
        raise _broken(name, begin, "this line of a block of ours stands without its beginning, or was edited")
    if end is None or end.text != _END:
        raise _broken(name, end or begin, "the block of ours that begins above never ends" if end else "no end follows")
    if len(marks) > 2:
        raise _broken(name, marks[2], f"a second block of ours; the first is in line {begin.number + 1}")
    inside = "".join(split_lines(text)[begin.number + 1 : end.number])
    return Block(begin.number, end.number + 1, inside, opened[1], begin.end)


def _loose(text: str) -> list[Line]:
    """The lines that are not shown as code; a fence that is never closed shows none."""
    room = room_at_end(text)
    return [line for line in scan(text) if line.place != "fence" or line.number >= room]


def _broken(name: str, line: Line, why: str) -> RefusedError:
    hint = "take the lines <!-- learnloop:… --> out by hand, or export elsewhere: --to FILE"
    return RefusedError(f"{name}:{line.number + 1}: {why}", hint, code="broken-markers")


def with_block(text: str, block: Block | None, inside: str, *, keep: str = "") -> str:
    """text with this block in the place of the one it has, else at its end; keep is text that then follows it.

    Where text has no last line end the block has none either: so taking it out gives the very bytes back.
    """
    lines = split_lines(text)
    at = room_at_end(text) if text and not block else 0
    eol = block.eol if block else line_end_at(lines, at)
    shown = f"<!-- learnloop:begin v1 sha256={_hash(inside)} -->\n{inside}{_END}".replace("\n", eol)
    if block:
        last = lines[block.end - 1]
        tail = last[len(last.rstrip("\r\n")) :]
        kept = f"{eol}{eol}{keep.removesuffix(eol)}" if keep else ""
        return "".join([*lines[: block.start], shown, kept, tail, *lines[block.end :]])
    before = "".join(lines[:at])
    ends = before.endswith("\n") or at < len(lines)
    lead = "" if not before else eol if ends else eol + eol
    return "".join([before, lead, shown, eol if ends else "", *lines[at:]])


def without_block(text: str, block: Block, *, keep: str = "") -> str:
    """text without the block and the blank line above it; keep is text that takes its place."""
    lines = split_lines(text)
    before, behind = "".join(lines[: block.start]), "".join(lines[block.end :])
    if keep:
        return before + keep + behind
    if before.endswith(f"\n{block.eol}"):
        before = before.removesuffix(block.eol)
        if not lines[block.end - 1].endswith("\n"):
            before = before.removesuffix(block.eol)
    return before + behind


UNSEALED = "sha256=" + "0" * 12  # what stands in the mark of a file that is ours as a whole, before it is sealed


def sealed(text: str, mark: str) -> str:
    """A file that is ours as a whole, its mark carrying the hash of all of it."""
    return text.replace(mark, mark.replace(UNSEALED, f"sha256={_hash(text)}"), 1)


def is_sealed(text: str, mark: str) -> bool | None:
    """Whether nobody has edited a file of ours since it was written; None for a file without the mark."""
    begin, end = map(re.escape, mark.split(UNSEALED))
    found = re.search(f"{begin}sha256=([0-9a-f]{{12}}){end}", text)
    return found and _hash(text[: found.start()] + mark + text[found.end() :]) == found[1]


def _hash(text: str) -> str:
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()[:12]
