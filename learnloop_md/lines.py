"""Which lines of a markdown text are structure: not inside a code fence, a block comment or a head."""

import re
from collections.abc import Iterator
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
    fence, comment, head = "", False, False
    for n, raw in enumerate(split_lines(text)):
        bare = raw.rstrip("\r\n")
        end = raw[len(bare) :]
        if n == 0 and bare.lstrip("\ufeff").rstrip() == "---":
            head = True
            yield Line(n, bare, end, "head")
            continue
        if head:
            head = bare.rstrip() != "---"
            yield Line(n, bare, end, "head")
            continue
        if comment:
            comment = "-->" not in bare
            yield Line(n, bare, end, "comment")
            continue
        mark = _FENCE.match(bare)
        if fence:
            closes = mark and mark["mark"][0] == fence[0] and len(mark["mark"]) >= len(fence) and not mark["info"].strip()
            fence = "" if closes else fence
            yield Line(n, bare, end, "fence")
        elif mark:
            fence = mark["mark"]
            yield Line(n, bare, end, "fence")
        elif bare.lstrip().startswith("<!--"):
            comment = "-->" not in bare
            yield Line(n, bare, end, "comment")
        else:
            yield Line(n, bare, end, "text")


def line_end(text: str) -> str:
    """The line end that text uses: CRLF where its first line has it, else LF."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def conflict_line(text: str) -> int:
    """The number (from 1) of the first line of a merge conflict outside code, 0 where there is none."""
    for line in scan(text):
        if line.place != "fence" and re.match(r"<{7} |>{7} |<{7}$|>{7}$", line.text):
            return line.number + 1
    return 0
