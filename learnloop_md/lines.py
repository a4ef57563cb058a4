"""Which lines of a markdown text are structure: not inside a code fence, a block comment or a head."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FENCE = re.compile(r"[ ]*(?:[-*+]\s+|\d+[.)]\s+)?(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")


class Line(NamedTuple):
    """One line with its end, its number from 0, and where it stands."""

    number: int
    text: str  # without the line end
    end: str
    place: str  # "text", "fence", "comment" or "head"

    @property
    def raw(self) -> str:
        return self.text + self.end


def split_lines(text: str) -> list[str]:
    """text cut after each line feed; nothing else ends a line (form feeds and U+2028 do not)."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def scan(text: str) -> Iterator[Line]:
    """The lines of text with their place. A comment counts where it starts its line, as Claude Code strips it."""
    fence, comment = "", False
    rows = split_lines(text)
    head_end = _head_end(rows)
    for n, raw in enumerate(rows):
        bare = raw.rstrip("\r\n")
        end = raw[len(bare) :]
        if n <= head_end:
            yield Line(n, bare, end, "head")
            continue
        if comment:
            comment = "-->" not in bare
            yield Line(n, bare, end, "comment")
            continue
        mark = _FENCE.match(bare)
        if fence:
            same = mark and mark["mark"][0] == fence[0] and len(mark["mark"]) >= len(fence)
            fence = "" if mark and same and not mark["info"].strip() else fence
            yield Line(n, bare, end, "fence")
        elif mark:
            fence = mark["mark"]
            yield Line(n, bare, end, "fence")
        elif bare.lstrip().startswith("<!--"):
            comment = "-->" not in bare
            yield Line(n, bare, end, "comment")
        else:
            yield Line(n, bare, end, "text")


def _head_end(rows: list[str]) -> int:
    """The line that closes the head, -1 where there is none; a `---` that is never closed is a rule, not a head."""
    if not rows or rows[0].lstrip("\ufeff").rstrip() != "---":
        return -1
    return next((n for n, row in enumerate(rows) if n and row.rstrip() == "---"), -1)


def room_at_end(text: str) -> int:
    """The line in front of which text can be added at the end: a fence or comment that is never closed stays last."""
    rows = list(scan(with_final_newline(text, "\n") + "x"))
    at = len(rows) - 1
    while at and rows[-1].place != "text" and rows[at - 1].place == rows[-1].place:
        at -= 1
    return at


def open_at_end(text: str) -> int:
    """The line (from 1) of the fence or comment that is never closed, 0 where all are."""
    return 0 if list(scan(with_final_newline(text, "\n") + "x"))[-1].place == "text" else room_at_end(text) + 1


def closing_mark(text: str) -> str:
    """The line that closes the fence or comment in which text ends, "" where none is open."""
    whole = with_final_newline(text, "\n")
    marks = ["", "-->\n", *(f"{mark}\n" for mark in re.findall("`{3,}|~{3,}", text))]
    return next(mark.rstrip("\n") for mark in marks if list(scan(f"{whole}{mark}x"))[-1].place == "text")


def with_final_newline(text: str, eol: str) -> str:
    """text ending in a line end, so that something can follow it."""
    return text + eol if text and not text.endswith("\n") else text


def line_end(text: str) -> str:
    """The line end that text uses: CRLF where its first line has it, else LF."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def line_end_at(rows: Sequence[str], at: int) -> str:
    """The line end of what is put in front of a line: that of the nearest line above, else of the next, else LF."""
    beside = next((row for row in (*rows[:at][::-1], *rows[at:]) if row.endswith("\n")), "")
    return "\r\n" if beside.endswith("\r\n") else "\n"


_MARKER = re.compile(r"(<{7,}|={7,}|>{7,}|\|{7}(?!.*\|$))(?: |$)")  # a row of a table ends in a bar


def conflict_line(text: str) -> int:
    """The number (from 1) of the first line of a merge conflict outside code, 0 where there is none.

    git writes longer markers in a file that two sides renamed, and where `conflict-marker-size` says so; a line of
    that look counts where another kind of marker has its length. The bars in front of a base count at git's own length.
    """
    if not any(mark in text for mark in ("<<<<<<<", ">>>>>>>", "|||||||")):
        return 0
    found = [(line, _MARKER.match(line.text)) for line in scan(text) if line.place != "fence"]
    marks = [(line.number + 1, match[1]) for line, match in found if match]
    kinds = {mark for _, mark in marks}
    for number, mark in marks:
        if mark[0] in "<>|" and (len(mark) == 7 or sum(len(kind) == len(mark) for kind in kinds) > 1):
            return number
    return 0
