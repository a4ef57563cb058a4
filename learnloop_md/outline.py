"""Headings and sections of a SKILL.md, a guide, a CLAUDE.md; mistune lives here alone and never writes."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from learnloop_md.errors import UnableError
from learnloop_md.lines import line_end, split_lines

SIZE_LIMIT = 256 << 10  # bytes: above it a markdown parser may take seconds on hostile text


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
            self._note(state, m.start(), m.start())
            return end

        def parse_setex_heading(self, m: re.Match[str], state: Any) -> int | None:
            end = super().parse_setex_heading(m, state)
            if end and state.tokens and state.tokens[-1]["type"] == "heading":
                raw = state.tokens[-1]["text"]
                self._note(state, state.src.rfind(raw.split("\n")[0], 0, m.start()), m.start())
            return end

        def _note(self, state: Any, start: int, last: int) -> None:
            if state.parent is not None:
                return
            token = state.tokens[-1]
            first, end = (skipped + state.src.count("\n", 0, at) for at in (start, last))
            found.append(Heading(token["attrs"]["level"], token["text"].strip(), first, end + 1))

    # Block structure only: nobody needs the inline marks, which cost seconds on hostile text.
    parser = Parser()
    state = parser.state_cls()
    state.process(re.sub(r"[ \t]{200,}", lambda m: m[0][:200], plain))  # long gaps take mistune minutes
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
    eol = line_end(text)
    found = section(text, title)
    if found is None:
        if text and not text.endswith("\n"):
            text += eol
        gap = eol if text.strip() and not text.endswith(eol * 2) else ""
        return f"{text}{gap}## {title.strip().lstrip('#').strip()}{eol}{eol}{bullet}{eol}"
    lines = split_lines(text)
    _, first, end = found
    deeper = next((row.line for row in headings(text) if first <= row.line < end), end)
    at = deeper
    while at > first and not lines[at - 1].strip():
        at -= 1
    if not lines[at - 1].endswith("\n"):
        lines[at - 1] += eol
    in_list = at > first and re.match(r"\s*[-*+] |\s{2,}\S", lines[at - 1])
    block = ("" if in_list else eol) + bullet + eol
    if at < len(lines) and lines[at].strip():
        block += eol
    lines[at:at] = [block]
    return "".join(lines)
