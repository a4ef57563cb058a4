"""A .learnings folder: LEARNINGS.md and ERRORS.md to lessons; samples in comments and fences are none. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from learnloop_md import incoming
from learnloop_md.errors import RefusedError
from learnloop_md.incoming import Fault, Item
from learnloop_md.lines import scan

FILES = ("LEARNINGS.md", "ERRORS.md", "FEATURE_REQUESTS.md")
_HEADING = re.compile(r"##\s+\[(?P<id>(?P<of>LRN|ERR|FEAT)-(?P<day>\d{8})-\w{1,12})\]\s*(?P<category>\S*)")
_MEANT = re.compile(r"#{1,6}\s+(?:\[?(?:LRN|ERR|FEAT)\b|\[)", re.IGNORECASE)  # a header, if a wrong one
_FIELD = re.compile(r"\*\*(?P<name>[\w -]+)\*\*:\s*(?P<value>.*)")
_META = re.compile(r"\s*[-*]\s+(?:\*\*)?(?P<name>[\w -]+?)(?:\*\*)?:\s*(?P<value>.*)")
_KINDS = {"correction": "correction", "best_practice": "success", "insight": "note", "knowledge_gap": "note"}
_GONE = {"promoted", "promoted_to_skill", "wont_fix"}


class _Entry(NamedTuple):
    id: str
    of: str
    day: str
    category: str
    line: int
    fields: dict[str, str]
    parts: dict[str, list[str]]


def read(text: str, name: str) -> tuple[list[Item], list[Fault]]:
    """The entries of one file."""
    items: list[Item] = []
    meant = (line for line in scan(text) if line.place == "text" and _MEANT.match(line.text))
    wrong = [line.number + 1 for line in meant if not _HEADING.match(line.text)]
    faults = [Fault(f"{name}:{number}", "its header is not ## [LRN-YYYYMMDD-XXX] category") for number in wrong]
    for entry in _entries(text):
        where = f"{name}:{entry.line} {entry.id}"
        if entry.of == "FEAT":
            faults.append(Fault(where, "a feature request is no lesson"))
        else:
            try:
                items.append(_item(entry, name, where))
            except RefusedError as error:
                faults.append(Fault(where, error.message))
    return items, faults


def _entries(text: str) -> list[_Entry]:
    found: list[_Entry] = []
    part, open_ = "", False
    for line in scan(text):
        bare = line.text.strip(" \t\r")  # a control character is told, not dropped as white space
        heading = _HEADING.match(line.text) if line.place == "text" else None
        if heading:
            day = f"{heading['day'][:4]}-{heading['day'][4:6]}-{heading['day'][6:]}"
            found.append(_Entry(heading["id"], heading["of"], day, heading["category"], line.number + 1, {}, {}))
            part, open_ = "", True
        elif line.place == "text" and (re.match(r"#{1,2}\s", line.text) or bare == "---"):
            open_ = False
        elif open_ and line.place == "text" and (title := re.match(r"###\s+(.+)", line.text)):
            part = title[1].strip().lower()
        elif open_ and line.place == "text":
            _take(found[-1], part, bare)
    return found


def _take(entry: _Entry, part: str, bare: str) -> None:
    field = _META.match(bare) if part in ("metadata", "resolution") else _FIELD.match(bare) if not part else None
    if field:
        entry.fields.setdefault(field["name"].strip().lower(), field["value"].strip())
    elif part and bare:
        entry.parts.setdefault(part, []).append(bare)


def _said(entry: _Entry, *names: str) -> str:
    return next((" ".join(entry.parts[name]) for name in names if entry.parts.get(name)), "")


def _item(entry: _Entry, name: str, where: str) -> Item:
    """An entry as a lesson: of an error the fix is the rule and what happened is the reason; its output is not kept.

    Raises RefusedError where it says nothing, or holds a control character.
    """
    summary, details = _said(entry, "summary"), _said(entry, "details", "context")
    action = _said(entry, "suggested action", "suggested fix")
    if not summary.strip():
        raise RefusedError("it has no Summary")
    is_error = entry.of == "ERR"
    day = incoming.day_of(entry.fields.get("logged", ""), entry.day)
    first, last = (incoming.day_of(entry.fields.get(f"{key}-seen", ""), day) for key in ("first", "last"))
    count = re.match(r"\d+", entry.fields.get("recurrence-count", ""))
    again = last if count and int(count[0]) > 1 and last > first else ""
    files = entry.fields.get("related files", "")
    status = entry.fields.get("status", "").split("|")[0].strip().lower()
    tags = incoming.words(f"{entry.fields.get('tags', '')},{entry.fields.get('area', '')}")
    lesson = incoming.lesson(
        entry.id,
        first if again else day,
        (action or summary) if is_error else summary,
        why=" ".join(filter(None, [summary if is_error and action else "", details])),
        how="" if is_error else action,
        evidence=", ".join(filter(None, [f"{name} {entry.id}", files])),
        again=again,
        kind="failure" if is_error else _KINDS.get(entry.category, "note"),
        type="project" if is_error else "feedback",
        tags=tags,
        state="archived" if status in _GONE else "candidate",
        archive_note=f"{status.replace('_', ' ')} in {name}" if status in _GONE else "",
    )
    return Item(where, lesson)
