"""What in a SKILL.md works in Claude Code alone; other agents follow the instructions instead (R004-85); pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from learnloop_md import head
from learnloop_md.lines import split_lines
from learnloop_md.tree import HeadError, Tree

# Keys beyond the specification's that Claude Code reads in a skill's head; other agents pass over them.
CLAUDE_KEYS = frozenset(
    "agent argument-hint arguments background context disable-model-invocation disallowed-tools effort hooks model "
    "paths shell user-invocable when_to_use".split()
)
_FILLED_IN = re.compile(r"(?<!\\)(?:\$\{CLAUDE_[A-Z_]+\}|\$ARGUMENTS\b)")
_RUN = re.compile(r"(?:(?<=\s)|^)!`[^`\n]+`")


class Only(NamedTuple):
    """One thing that works in Claude Code alone: its line (from 1), and what becomes of it elsewhere."""

    line: int
    message: str


def claude_only(text: str) -> list[Only]:
    """What a SKILL.md leaves to Claude Code, each thing once, where it first stands."""
    try:
        parts = head.split(text) or head.Parts("", "", (), "", text)
        tree = head.read(parts).tree
    except HeadError:  # told as an invalid skill
        return []
    return sorted([*_in_head(parts, tree), *_in_body(parts)])


def _in_head(parts: head.Parts, tree: Mapping[str, Tree]) -> Iterator[Only]:
    lines = dict(head.blocks([line.rstrip("\r\n") for line in parts.lines]))
    for key in tree:
        line = parts.first_line + lines.get(key, (0, 0))[0]
        if key in CLAUDE_KEYS:
            yield Only(
                line, f"{key!r} in the head works in Claude Code alone; other agents follow the instructions instead"
            )
        elif key == "allowed-tools":
            yield Only(line, f"{key!r} names tools as Claude Code does; other agents may pass over it and ask")


def _in_body(parts: head.Parts) -> Iterator[Only]:
    seen: set[str] = set()
    above = head.join(parts._replace(body="")).count("\n")
    for n, line in enumerate(split_lines(parts.body), above + 1):
        named = {match[0]: f"{match[0]} is filled in by Claude Code alone" for match in _FILLED_IN.finditer(line)}
        if _RUN.search(line):
            named["!"] = "!`command` is run by Claude Code alone"
        for what in named.keys() - seen:
            yield Only(n, f"{named[what]}; other agents read it as it stands")
        seen |= named.keys()
