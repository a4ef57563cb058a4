"""Codify: a proven lesson becomes a rule of a skill, a guide or CLAUDE.md, and is archived, in one commit."""

from __future__ import annotations

import re
from typing import NamedTuple

from learnloop_md import head, outline
from learnloop_md.errors import RefusedError, UsageError
from learnloop_md.lesson import Lesson, fold
from learnloop_md.life import Outcome, unchanged
from learnloop_md.lines import line_end_at, scan, split_lines
from learnloop_md.neutral import safe
from learnloop_md.plan import Draft
from learnloop_md.portability import CLAUDE_KEYS
from learnloop_md.tree import HeadError

SECTION = "Learned rules"
_CONTRACT = re.compile(r"(#+)\s.*\bcontract\b", re.IGNORECASE)
SKILL_LINES = 500  # the Agent Skills limit for SKILL.md
SKILL_KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}


class Target(NamedTuple):
    """The file a rule goes into: its path from the memory's folder, its name, its text ("" when new)."""

    path: str
    name: str
    text: str
    exists: bool


class Standing(NamedTuple):
    """A marked rule: whose it is, its file from the memory's folder and as a person names it, and the line."""

    slug: str
    path: str
    name: str
    line: int


def marker(slug: str, day: str) -> str:
    """The provenance comment that ends a codified rule."""
    return f"<!-- learnloop: {slug} {day} -->"


def codified_slugs(text: str) -> list[tuple[str, int]]:
    """The slugs whose rules stand in a text, with their lines (from 1)."""
    found = []
    for n, line in enumerate(split_lines(text), 1):
        found += [(match[1], n) for match in re.finditer(r"<!-- learnloop: (\S+) \d{4}-\d\d-\d\d -->", line)]
    return found


def codified_rules(text: str) -> dict[str, tuple[str, str]]:
    """The rules that stand in a text by slug: the words in front of the marker, and its day."""
    pattern = re.compile(r"(.*?)<!-- learnloop: (\S+) (\d{4}-\d\d-\d\d) -->")
    rows = [match for line in split_lines(text) for match in pattern.finditer(line)]
    return {match[2]: (match[1].strip(" \t-*+"), match[3]) for match in rows}


def codify(draft: Draft, slug: str, target: Target, heading: str = SECTION) -> Outcome:
    """Add the rule to the target and archive the lesson, in one commit (R002-40, R002-41, R004-40).

    Raises RefusedError where the target would no longer be a valid skill. Codifying twice changes nothing.
    """
    lesson = draft.lesson(slug)
    if lesson.codified_in:
        return unchanged(draft, slug, f"{slug} is codified in {lesson.codified_in} already")
    if not lesson.is_active:
        raise UsageError(f"{slug} is archived", f"restore it first: learnloop restore {slug}", code="archived")
    heading = fold(heading).lstrip("#").strip() or SECTION
    where = target.name if _is_list(target) else f'{target.name} under "{heading}"'
    new = _with_rule(target, lesson, heading, draft.today)
    if target.name.rpartition("/")[2] == "SKILL.md":
        check_skill(target.text, new)
    draft.edit(target.path, target.text if target.exists else None, new)
    draft.set(slug, state="archived", archive_note=f"Codified in {where}", codified_in=target.name)
    draft.cut("codify", [slug], f"the rule now stands in {where}")
    return Outcome("codified", slug, "archived", (), {"target": target.name}, headline=f"codified {slug} in {where}")


def _is_list(target: Target) -> bool:
    """Whether the file is one list of rules, without sections."""
    return target.name.rpartition("/")[2] == "learnings.md"


def _with_rule(target: Target, lesson: Lesson, heading: str, day: str) -> str:
    """The target's text with the rule; unchanged where it stands there already (a restored lesson)."""
    if any(found == lesson.slug for found, _ in codified_slugs(target.text)):
        return target.text
    bullet = f"- {_one_line(lesson)} {marker(lesson.slug, day)}"
    if not _is_list(target):
        return outline.with_bullet(target.text, heading, bullet)
    rows = split_lines(target.text)
    text, eol = target.text or outline.LEARNINGS, line_end_at(rows, len(rows))
    return text + ("" if text.endswith("\n") else eol) + bullet + eol


def without_rule(text: str, lesson: Lesson, before: str) -> str | None:
    """A text without a lesson's rule, and without the heading above it alone that was not there before.

    None where the rule does not stand as codify wrote it.
    """
    rows = [n - 1 for slug, n in codified_slugs(text) if slug == lesson.slug]
    if not rows:
        return text
    lines, at = split_lines(text), rows[0]
    day = codified_rules(lines[at])[lesson.slug][1]
    if len(rows) > 1 or lines[at].strip() != f"- {_one_line(lesson)} {marker(lesson.slug, day)}":
        return None
    filled = [n for n, line in enumerate(lines) if line.strip() and n != at]
    above = max((n for n in filled if n < at), default=at)
    below = min((n for n in filled if n > at), default=len(lines))
    known = {line.strip() for line in split_lines(before)}
    is_alone = below == len(lines) or lines[below].startswith("#")
    made = lines[above].startswith("#") and is_alone and lines[above].strip() not in known
    kept, rest = lines[: above if made else at], lines[at + 1 :]
    if kept and not kept[-1].strip() and not "".join(rest[:1]).strip():
        del (rest or kept)[0 if rest else -1]
    return "".join(kept + rest)


def _one_line(lesson: Lesson) -> str:
    """The rule as it may stand in what Claude loads: no comment, tag, turn, import or command in force."""
    return safe(lesson.rule).replace("-->", "--&gt;")


def check_skill(before: str, after: str) -> None:
    """Raises RefusedError where an edit would make SKILL.md invalid: head, name, keys, 500 lines."""
    faults = [fault for fault in skill_faults(after) if fault not in skill_faults(before)]
    if _name(before) != _name(after):
        faults.append("the skill's name would change")
    if faults:
        raise RefusedError(
            f"SKILL.md would not be a valid skill: {faults[0]}",
            "codify into a guide instead: --into",
            code="invalid-skill",
        )


def skill_faults(text: str) -> list[str]:
    """What the Agent Skills specification has against a SKILL.md, but for keys that Claude Code knows (R004-85)."""
    try:
        parts = head.split(text)
        tree = head.read(parts).tree if parts else {}
    except HeadError as error:
        return [f"its head cannot be read ({error.message})"]
    faults = []
    if not tree.get("name") or not tree.get("description"):
        faults.append("its head lacks name or description")
    strange = sorted(set(tree) - SKILL_KEYS - CLAUDE_KEYS)
    if strange:
        faults.append(f"unknown keys in its head: {', '.join(strange)}")
    lines = len(split_lines(text))
    if lines >= SKILL_LINES:
        faults.append(f"it has {SKILL_LINES} lines or more")
    return faults


def _name(text: str) -> object:
    try:
        parts = head.split(text)
        return head.read(parts).tree.get("name") if parts else None
    except HeadError:
        return None


def prose_and_contract(text: str) -> tuple[str, str]:
    """What a SKILL.md says outside the section with the contract, and that section.

    The contract names the memory's file too, but it does not tell anybody to read it.
    """
    parts: dict[bool, list[str]] = {False: [], True: []}
    level = 0  # of the contract's heading while inside it
    for line in scan(text):
        heading = re.match(r"(#+)\s", line.text) if line.place == "text" else None
        if heading and (not level or len(heading[1]) <= level):
            level = len(heading[1]) if _CONTRACT.match(line.text) else 0
        if line.place == "text":
            parts[level > 0].append(line.text + "\n")
    return "".join(parts[False]), "".join(parts[True])
