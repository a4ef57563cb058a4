"""Edits of files that are not ours: a skill's SKILL.md, the .gitattributes, a settings file; pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from learnloop_md import outline
from learnloop_md.codify import prose_and_contract
from learnloop_md.errors import UsageError
from learnloop_md.lines import line_end, line_end_at, split_lines
from learnloop_md.skillhook import with_stop_hook

LOAD = (
    "Read [references/{name}](references/{name}) before you begin: apply its Current Patterns, "
    "keep its Candidate Patterns in mind."
)
CONTRACT = """## Memory contract

- Do not remove the instruction to read `references/{name}` unless what replaces it loads the memory as well.
- Do not rename the zones (Candidate Patterns, Current Patterns, Archived Patterns) or the fields (Context, Lesson,
  Next pass, State, Tags, File, Archive note) without changing what reads them.
- Whoever changes the form moves every entry in the same change; entries are never reset.
- Note a lesson the moment it happens: `learnloop note "rule" --why "…" --how "…"`. `learnloop check` looks after these
  rules. The command must be on `PATH`; where it is not, tell the person the lesson instead.
"""
ON_PATH = "- `learnloop` must be on `PATH`, for the Stop hook too; an agent without hooks keeps to these rules alone."


def with_contract(text: str, name: str) -> str:
    """A SKILL.md that tells the agent to read its memory and states the contract (R002-60, R002-63)."""
    prose, contract = prose_and_contract(text)
    if f"references/{name}" not in prose:
        lines = split_lines(text)
        rows = outline.headings(text)
        at = rows[0].after if rows and rows[0].level == 1 else _behind_head(lines)
        eol = line_end_at(lines, at)
        if at and not lines[at - 1].endswith("\n"):
            lines[at - 1] += eol
        lines[at:at] = [eol, LOAD.format(name=name) + eol]
        text = "".join(lines)
    if not contract:
        lines = split_lines(text)
        eol = line_end_at(lines, len(lines))
        text += "" if text.endswith("\n") else eol
        text += eol + CONTRACT.format(name=name).replace("\n", eol)
    return text


def with_auto_learn(text: str) -> str:
    """A SKILL.md with contract whose Stop hook asks what was learned; it says that the command must be on PATH.

    Raises RefusedError where the head cannot be edited surely (R004-80, R004-86).
    """
    text = with_stop_hook(text)
    if "PATH" in prose_and_contract(text)[1]:
        return text
    titles = (row.title for row in outline.headings(text))
    contract = next((title for title in titles if re.search(r"\bcontract\b", title, re.IGNORECASE)), "")
    return outline.with_bullet(text, contract, ON_PATH) if contract else text


def _behind_head(lines: list[str]) -> int:
    if lines and lines[0].rstrip() == "---":
        return next((n + 1 for n, line in enumerate(lines) if n and line.rstrip() == "---"), 0)
    return 0


def with_line(text: str, line: str) -> str:
    """text with a line at its end, unless it is there."""
    if line in (row.strip() for row in text.split("\n")):
        return text
    rows = split_lines(text)
    eol = line_end_at(rows, len(rows))
    return text + ("" if not text or text.endswith("\n") else eol) + line + eol


def with_attributes(text: str, upgrades: Mapping[str, Sequence[str]], lines: Sequence[str]) -> str:
    """.gitattributes with these lines in this order; lines of old give way to theirs, the rest keeps every byte."""
    rows = split_lines(text)
    for old, new in upgrades.items():
        bare = [row.strip() for row in rows]
        if old in bare:
            at = bare.index(old)
            eol = line_end_at(rows, at + 1)
            rows[at : at + 1] = [line + eol for line in new if line not in bare]
    text = "".join(rows)
    bare = [row.strip() for row in rows]
    missing = [line for line in lines if line not in bare]
    if missing and lines[-1] not in missing:  # the last line that matches wins: what is new stands in front of it
        at = bare.index(lines[-1])
        return "".join([*rows[:at], *(line + line_end_at(rows, at) for line in missing), *rows[at:]])
    for line in missing:
        text = with_line(text, line)
    return text


def with_settings(text: str, values: dict[str, object], path: Path) -> str:
    """A settings file's text with these keys set; the rest stays."""
    eol = line_end(text)
    for key, value in values.items():
        if isinstance(value, list):
            said = f"[{eol}" + "".join(f"  {json.dumps(item, ensure_ascii=False)},{eol}" for item in value) + "]"
        else:
            said = json.dumps(value, ensure_ascii=False)
        line = f"{key} = {said}{eol}"
        found = re.search(rf"(?m)^{key}[ \t]*=[ \t]*(\[[^\]]*\]|.*)(\r?\n|$)", text)
        text = text[: found.start()] + line + text[found.end() :] if found else line + text
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        table = {}
    if any(table.get(key) != value for key, value in values.items()):
        raise UsageError(f"{path} cannot be edited safely", "set the keys by hand: " + ", ".join(values))
    return text
