"""Headings and sections of a SKILL.md, a guide, a CLAUDE.md; mistune lives here alone and never writes."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from learnloop_md.errors import UnableError
from learnloop_md.lines import line_end_at, room_at_end, scan, split_lines, with_final_newline

SIZE_LIMIT = 256 << 10  # bytes: above it a markdown parser may take seconds on hostile text

LEARNINGS = "# Learnings\n\nRules proven in earlier runs. Read them before the main instructions.\n\n"


class Heading(NamedTuple):
    """A heading: its level, its words, its line (from 0) and the line after it."""

    level: int
    title: str
    line: int
    after: int


def headings(text: str) -> list[Heading]:
    """The headings of a markdown text at its top level: not those in fences, quotes, lists or a head.

    Raises UnableError for a text above 256 KiB.
    """
    if len(text.encode("utf-8", "surrogatepass")) > SIZE_LIMIT:
        raise UnableError("the file is larger than 256 KiB", "split it into guides first", code="too-large")
    import mistune  # lazy: start-up (40 ms)

    plain, skipped = _without_head(text)
    found: list[Heading] = []

    class Parser(mistune.BlockParser):
        """mistune's block parser, noting where each top-level heading stands."""

        def parse_atx_heading(self, m: re.Match[str], state: Any) -> int:
            end = super().parse_atx_heading(m, state)
            self._note(state, m.start(), 0)
            return end

        def parse_setex_heading(self, m: re.Match[str], state: Any) -> int | None:
            end = super().parse_setex_heading(m, state)
            if end and state.tokens and state.tokens[-1]["type"] == "heading":
                self._note(state, m.start(), state.tokens[-1]["text"].strip("\n").count("\n") + 1)
            return end

        def _note(self, state: Any, at: int, lines_above: int) -> None:
            """Note the newest token, whose last line begins at this place of the source."""
            if state.parent is None:
                token, last = state.tokens[-1], skipped + state.src.count("\n", 0, at)
                found.append(Heading(token["attrs"]["level"], token["text"].strip(), last - lines_above, last + 1))

    # Block structure only: nobody needs the inline marks, which cost seconds on hostile text.
    parser = Parser()
    state = parser.state_cls()
    plain = re.sub(r"[ \t]{200,}", lambda m: m[0][:200], plain)  # long gaps take mistune minutes
    state.process(with_final_newline(plain.replace("\r\n", "\n"), "\n"))
    parser.parse(state)
    return found


def _without_head(text: str) -> tuple[str, int]:
    """text without its YAML head, and how many lines that took."""
    lines = split_lines(text)
    if lines and lines[0].lstrip("\ufeff").rstrip() == "---":
        for n, line in enumerate(lines[1:], 1):
            if line.rstrip() == "---":
                return "".join(lines[n + 1 :]), n + 1
    return text, 0


def section(text: str, title: str) -> tuple[int, int, int] | None:
    """The section under a heading: its heading's line, its first and the line behind its last; None without it."""
    wanted = title.strip().lstrip("#").strip().casefold()
    rows = headings(text)
    for n, row in enumerate(rows):
        if row.title.casefold() == wanted:
            end = next((other.line for other in rows[n + 1 :] if other.level <= row.level), len(split_lines(text)))
            return row.line, row.after, end
    return None


def with_bullet(text: str, title: str, bullet: str) -> str:
    """text with a bullet added at the end of a section's own list; the section is made at the end if missing."""
    found = section(text, title)
    lines = split_lines(text)
    text = with_final_newline(text, line_end_at(lines, len(lines)))
    lines = split_lines(text)
    room = room_at_end(text)  # never in a fence that was left open
    if found is None:
        eol = line_end_at(lines, room)
        lead = eol if room and lines[room - 1].strip() else ""
        block = f"{lead}## {title.strip().lstrip('#').strip()}{eol}{eol}{bullet}{eol}"
        return "".join([*lines[:room], block, eol if room < len(lines) else "", *lines[room:]])
    _, first, end = found
    deeper = next((row.line for row in headings(text) if first <= row.line < end), end)
    at = _end_of_list(text, first, max(first, min(deeper, room)))
    eol = line_end_at(lines, at)  # the section's own: a file may have both
    in_list = at > first and re.match(r"\s*[-*+] |\s{2,}\S", lines[at - 1])
    tail = eol if at < len(lines) and lines[at].strip() else ""
    return "".join([*lines[:at], "" if in_list else eol, bullet, eol, tail, *lines[at:]])


def _end_of_list(text: str, first: int, end: int) -> int:
    """The line behind the last list item between two lines, else behind the last line that is not blank."""
    rows = list(scan(text))[first:end]
    filled = [n for n, row in enumerate(rows) if row.raw.strip()]
    items = [n for n in filled if rows[n].place == "text" and re.match(r"[-*+] ", rows[n].text)]
    at = items[-1] if items else filled[-1] if filled else -1
    for n in filled:  # what goes on with the item: the next line, or an indented one behind a gap
        if n > at and (n == at + 1 or rows[n].text[:2].isspace()):
            at = n
    return first + at + 1
