"""memory.md, the notebook of a skill: full entries in three zones; read what people write, change single fields.

What is not understood stays where it is; a heading inside a code fence is never structure (design §4).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from learnloop_md.lesson import Lesson, fold, slugify
from learnloop_md.lines import line_end, scan, split_lines

ZONES = ("candidate", "current", "archived")
NEW = "# Review memory\n\n## Candidate Patterns\n\n## Current Patterns\n\n## Archived Patterns\n"
FIELDS = {
    "why": "Context",
    "rule": "Lesson",
    "how": "Next pass",
    "state": "State",
    "tags": "Tags",
    "file": "File",
    "archive_note": "Archive note",
}  # in the order of R002-02
_NAMES = {label.lower(): name for name, label in FIELDS.items()}
_ZONE = re.compile(r"##\s+(candidate|current|archived)(?:\s+\w+)?\s+patterns\s*#*\s*", re.IGNORECASE)
_HEADING = re.compile(r"###\s+(?:(?P<date>\d{4}-\d\d-\d\d)(?P<sep>\s*[|–—-]\s*|\s+))?(?P<title>.*?)\s*#*\s*")
_FIELD = re.compile(r"[-*+]\s+(?:\*\*)?(?P<label>[A-Za-z][A-Za-z ]*?)(?:\*\*)?:(?:\*\*)?[ \t]*(?P<value>.*)")


class Entry(NamedTuple):
    """One entry: its claims about a lesson (field name to one-line text) and the lines it stands on."""

    zone: str  # "" outside the zones
    claims: dict[str, str]  # created, title and the fields of FIELDS that are there
    lines: tuple[str, ...]  # heading and all up to the next structure, without trailing blank lines
    start: int
    spans: dict[str, tuple[int, int]]  # field name to lines, relative to start

    @property
    def path(self) -> str:
        """The lesson file that the entry names, "" where it names none."""
        return self.claims.get("file", "").strip("`<> ")

    @property
    def slug(self) -> str:
        """The slug that the entry stands for: of its file, else of its title."""
        return self.path.rpartition("/")[2].removesuffix(".md") or slugify(self.claims["title"])

    @property
    def raw(self) -> str:
        return "".join(self.lines)


def has_zones(text: str) -> bool:
    """Whether any of the three zone headings stands in text."""
    return any(line.place == "text" and _ZONE.fullmatch(line.text) for line in scan(text))


def zone_heading(line: str) -> re.Match[str] | None:
    """The zone heading that a line is; its first group names the zone."""
    return _ZONE.fullmatch(line)


def strange_fields(entry: Entry) -> list[tuple[int, str]]:
    """Lines (from 1) that look like fields of the entry but are none of the contract's."""
    found = []
    for n, line in enumerate(entry.lines):
        match = _FIELD.fullmatch(line.rstrip("\r\n")) if n else None
        if match and match["label"].strip().lower() not in _NAMES and len(match["label"]) < 24:
            found.append((entry.start + n + 1, match["label"]))
    return found


def entries(text: str) -> list[Entry]:
    """Every entry of the notebook, in order; outside the zones only those with a date and a lesson."""
    found: list[Entry] = []
    zone, start, block = "", -1, list[str]()

    def close() -> None:
        if start >= 0:
            entry = _entry(zone, block, start)
            dated = "created" in entry.claims
            if ("rule" in entry.claims or "state" in entry.claims) if not (zone and dated) else True:
                found.append(entry)

    for line in scan(text):
        heading = line.place == "text" and re.match(r"#{1,3}(?:\s|$)", line.text)
        if heading:
            close()
            start = -1
            opens = _ZONE.fullmatch(line.text)
            if line.text.startswith("###"):
                start, block = line.number, [line.raw]
            elif opens or not line.text.startswith("###"):
                zone = opens[1].lower() if opens else ""
        elif start >= 0:
            block.append(line.raw)
    close()
    return found


def _entry(zone: str, block: list[str], start: int) -> Entry:
    while block and not block[-1].strip():
        block.pop()
    match = _HEADING.fullmatch(block[0].rstrip("\r\n"))
    assert match, "a heading of level three always matches"
    claims = {"title": match["title"]}
    if match["date"]:
        claims["created"] = match["date"]
    spans: dict[str, tuple[int, int]] = {}
    name = ""
    for n, line in enumerate(scan("\n" + "".join(block[1:]))):  # a leading line, so that no head is seen
        if n == 0:
            continue
        field = _FIELD.fullmatch(line.text) if line.place == "text" else None
        if field:
            name = _NAMES.get(field["label"].strip().lower(), "")
            if name and name not in claims:
                claims[name], spans[name] = field["value"].strip(), (n, n + 1)
            else:
                name = ""
        elif name and line.text.strip() and line.place == "text" and not line.text.startswith(("#", "- ", "* ")):
            claims[name] = f"{claims[name]} {line.text.strip()}".strip()
            spans[name] = (spans[name][0], n + 1)
        else:
            name = ""
    if "state" in claims:
        claims["state"] = claims["state"].strip("`* ").lower()
    return Entry(zone, claims, tuple(block), start, spans)


def claims_of(lesson: Lesson) -> dict[str, str]:
    """What the lesson's entry says, field by field; an empty text stands for a field that is left out."""
    return {
        "created": lesson.created,
        "title": fold(lesson.shown_title),
        "why": fold(lesson.why),
        "rule": fold(lesson.rule),
        "how": fold(lesson.how),
        "state": lesson.state,
        "tags": ", ".join(lesson.tags),
        "file": lesson.path,
        "archive_note": fold(lesson.archive_note) if lesson.state == "archived" else "",
    }


def render(lesson: Lesson, eol: str = "\n") -> str:
    """The lesson's entry in the form of design §4 (R002-01 to R002-04)."""
    claims = claims_of(lesson)
    lines = [f"### {lesson.created} | {claims['title']}" if lesson.created else f"### {claims['title']}"]
    lines += [f"- {FIELDS[name]}: {_written(name, claims[name])}" for name in FIELDS if claims[name]]
    return "".join(line + eol for line in lines)


def _written(name: str, value: str) -> str:
    return value.upper() if name == "state" else value


def in_step(
    text: str,
    lessons: Mapping[str, Lesson],
    before: Mapping[str, Lesson],
    *,
    hidden: Collection[str] = (),
    skip: Collection[str] = (),
) -> str:
    """text with one entry per lesson, each in the zone of its state; a field is rewritten only where it must change.

    before holds the lessons as the notebook last knew them: a field that says what they said is ours. hidden slugs lose
    their entries, skipped ones stay as they are.
    """
    found = {}
    for entry in entries(text):
        found.setdefault(_owner(entry, lessons, before), entry)
    for slug in sorted({*lessons, *before} - set(skip)):
        lesson, entry = lessons.get(slug), found.get(slug)
        if lesson is None or slug in hidden:
            text = _without(text, entry) if entry else text
        elif entry is None:
            if not lesson.is_note:
                text = _insert(text, lesson.state, slug, render(lesson, line_end(text)))
        else:
            new = _updated(entry, lesson, before.get(slug), line_end(text))
            if entry.zone != lesson.state:
                text = _insert(_without(text, entry), lesson.state, slug, new)
            elif new == entry.raw:
                continue
            else:
                lines = split_lines(text)
                lines[entry.start : entry.start + len(entry.lines)] = [new]
                text = "".join(lines)
        found = {}
        for other in entries(text):
            found.setdefault(_owner(other, lessons, before), other)
    return text


def _owner(entry: Entry, lessons: Mapping[str, Lesson], before: Mapping[str, Lesson]) -> str:
    """The slug of the lesson that an entry belongs to: by its file, also the one it had before a rename."""
    for slug, old in before.items():
        if entry.path and old.path == entry.path and slug in lessons:
            return slug
    return entry.slug


def _updated(entry: Entry, lesson: Lesson, before: Lesson | None, eol: str) -> str:
    """The entry's text with the fields that the lesson changed."""
    claims, known = claims_of(lesson), claims_of(before) if before else {}
    for name in FIELDS:
        current = entry.claims.get(name, "")
        if current == claims[name] or (name not in ("state", "file") and before and current != known.get(name, "")):
            continue
        if name in ("why", "rule", "how") and fold(current) == claims[name]:
            continue
        entry = _with_field(entry, name, claims[name], eol)
    title, created = claims["title"], claims["created"]
    if before and entry.claims["title"] == known["title"] != title:
        entry = _with_heading(entry, entry.claims.get("created", ""), title)
    if before and entry.claims.get("created", "") == known["created"] != created:
        entry = _with_heading(entry, created, entry.claims["title"])
    return entry.raw


def _with_heading(entry: Entry, created: str, title: str) -> Entry:
    bare = entry.lines[0].rstrip("\r\n")
    match = _HEADING.fullmatch(bare)
    separator = match["sep"] if match and match["sep"] else " | "
    first = f"### {created}{separator}{title}" if created else f"### {title}"
    return entry._replace(lines=(first + entry.lines[0][len(bare) :], *entry.lines[1:]))


def _with_field(entry: Entry, name: str, value: str, eol: str) -> Entry:
    lines = list(entry.lines)
    if not lines[-1].endswith("\n"):
        lines[-1] += eol
    new = [f"- {FIELDS[name]}: {_written(name, value)}{eol}"] if value else []
    if name in entry.spans:
        start, end = entry.spans[name]
        lines[start:end] = new
    else:
        order = list(FIELDS)
        earlier = [entry.spans[n][1] for n in order[: order.index(name)] if n in entry.spans]
        at = max(earlier, default=1)
        lines[at:at] = new
    return _entry(entry.zone, lines, entry.start)


def _without(text: str, entry: Entry) -> str:
    lines = split_lines(text)
    end = entry.start + len(entry.lines)
    while end < len(lines) and not lines[end].strip():
        end += 1
    del lines[entry.start : end]
    while end >= len(lines) and lines and not lines[-1].strip():
        lines.pop()
    return "".join(lines)


def _insert(text: str, zone: str, slug: str, block: str) -> str:
    """text with an entry put into a zone, before the first entry of a greater slug."""
    eol = line_end(text)
    if not block.endswith("\n"):
        block += eol
    if not any(line.place == "text" and (m := _ZONE.fullmatch(line.text)) and m[1].lower() == zone for line in scan(text)):
        text = _with_zone(text, zone, eol)
    lines = split_lines(text)
    inside = [entry for entry in entries(text) if entry.zone == zone]
    later = next((entry for entry in inside if entry.slug > slug), None)
    if later:
        lines[later.start : later.start] = [block + eol]
        return "".join(lines)
    if inside:
        at = inside[-1].start + len(inside[-1].lines)
    else:
        heads = (line.number for line in scan(text) if line.place == "text" and (m := _ZONE.fullmatch(line.text)) and m[1].lower() == zone)
        at = next(heads) + 1
    if not lines[at - 1].endswith("\n"):
        lines[at - 1] += eol
    rest_starts_blank = at >= len(lines) or not lines[at].strip()
    lines[at:at] = [eol + block + ("" if rest_starts_blank else eol)]
    return "".join(lines)


def _with_zone(text: str, zone: str, eol: str) -> str:
    title = f"## {zone.capitalize()} Patterns{eol}"
    later = ZONES[ZONES.index(zone) + 1 :]
    for line in scan(text):
        match = _ZONE.fullmatch(line.text) if line.place == "text" else None
        if match and match[1].lower() in later:
            lines = split_lines(text)
            lines[line.number : line.number] = [title + eol]
            return "".join(lines)
    if text and not text.endswith("\n"):
        text += eol
    return text + (eol if text.strip() and not text.endswith((eol * 2)) else "") + title
