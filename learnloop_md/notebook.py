"""memory.md, the notebook of a skill: full entries in three zones; read what people write, change single fields.

What is not understood stays where it is; a heading inside a code fence is never structure (design §4).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from learnloop_md.lesson import Lesson, fold, is_day, slugify
from learnloop_md.lines import closing_mark, line_end, room_at_end, scan, split_lines, with_final_newline

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
_ZONE = re.compile(r"##\s+(candidate|current|archived)(?:\s+\w+)?\s+patterns\s*(?:#+\s*)?", re.IGNORECASE)
_HEADING = re.compile(r"###(?:\s+|$)(?:(?P<date>\d{4}-\d\d-\d\d)(?P<sep>\s*[|–—-]\s*|\s+))?(?P<title>.*)")
_FIELD = re.compile(r"[ ]{0,3}[-*+]\s+(?:\*\*)?(?P<label>[A-Za-z][A-Za-z ]*?)(?:\*\*)?:(?:\*\*)?[ \t]*(?P<value>.*)")
# A line that goes on with the field above: text, not a bullet, heading, quote, table, rule or tag.
_MORE = re.compile(r"[ \t]*(?![#>|<]|[-*_=]{3,}[ \t]*$)(?![-*+] )\S.*|[ \t]+[-*+] .*")
_ONE_LINE = ("state", "file")  # what stands below or behind these is the person's, never a part of them
_INDENTED = ("tags", "archive_note")  # these go on in an indented line only
_STATE = re.compile(r"[`*_]*(?P<word>candidate|current|archived)\b(?P<rest>.*)", re.IGNORECASE)
_FILE = re.compile(r"[^\s`<>()\[\]]+\.md")


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
        return self.claims.get("file", "")

    @property
    def slug(self) -> str:
        """The slug that the entry stands for: of its file, else of its title."""
        return self.path.rpartition("/")[2].removesuffix(".md") or slugify(self.claims["title"])

    @property
    def raw(self) -> str:
        return "".join(self.lines)

    @property
    def rest(self) -> str:
        """What the entry says besides its fields."""
        told = {n for start, end in self.spans.values() for n in range(start, end)}
        return "".join(line for n, line in enumerate(self.lines) if n and n not in told).strip()


def has_zones(text: str) -> bool:
    """Whether any of the three zone headings stands in text."""
    return any(line.place == "text" and _ZONE.fullmatch(line.text) for line in scan(text))


def zones(text: str) -> set[str]:
    """The zones whose headings stand in text."""
    rows = (line.text for line in scan(text) if line.place == "text")
    return {match[1].lower() for row in rows if (match := _ZONE.fullmatch(row))}


def zone_heading(line: str) -> re.Match[str] | None:
    """The zone heading that a line is; its first group names the zone."""
    return _ZONE.fullmatch(line)


def strange_fields(entry: Entry) -> list[tuple[int, str]]:
    """Lines (from 1) that look like fields of the entry but are none of the contract's."""
    rows = _labels(entry)
    return [(n, label) for n, label in rows if label.strip().lower() not in _NAMES and len(label) < 24]


def doubled_fields(entry: Entry) -> list[tuple[int, str]]:
    """Lines (from 1) with a field of the contract that an earlier line of the entry has: only that one counts."""
    found, seen = [], set[str]()
    for n, label in _labels(entry):
        name = _NAMES.get(label.strip().lower(), "")
        if name in seen:
            found.append((n, label.strip()))
        seen |= {name} - {""}
    return found


def _labels(entry: Entry) -> list[tuple[int, str]]:
    below = enumerate(scan("\n" + "".join(entry.lines[1:])))  # a leading line, so that no head is seen
    rows = ((n, _FIELD.fullmatch(line.text)) for n, line in below if n and line.place == "text")
    return [(entry.start + n + 1, match["label"]) for n, match in rows if match]


def strange_labels(raw: str) -> set[str]:
    """The labels in an entry's text that are none of the contract's: one of them may be a renamed field."""
    return {label.strip().lower() for _, label in strange_fields(_entry("", split_lines(raw), 0))}


def entries(text: str) -> list[Entry]:
    """Every entry of the notebook, in order; outside the zones only those with a date and a lesson."""
    return [entry for entry in sections(text) if is_entry(entry)]


def is_entry(entry: Entry) -> bool:
    """Whether what stands below a heading is one: in a zone with a day, or with a lesson."""
    return bool(entry.zone and "created" in entry.claims) or "rule" in entry.claims or "state" in entry.claims


def sections(text: str) -> list[Entry]:
    """Whatever stands below a heading of level three, entry or not."""
    found: list[Entry] = []
    zone, start, block = "", -1, list[str]()

    def close() -> None:
        if start >= 0:
            found.append(_entry(zone, block, start))

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
    claims = {"title": _title(match)}
    if match["date"] and is_day(match["date"]):
        claims["created"] = match["date"]
    spans: dict[str, tuple[int, int]] = {}
    name, gap = "", False  # the field that is open, and whether a blank line stands behind it
    for n, line in enumerate(scan("\n" + "".join(block[1:]))):  # a leading line, so that no head is seen
        if n == 0:
            continue
        if name and not line.text.strip():
            gap = True
            continue
        field = _FIELD.fullmatch(line.text) if line.place == "text" else None
        if field:
            name, gap = _NAMES.get(field["label"].strip().lower(), ""), False
            if name and name not in claims:
                claims[name], spans[name] = field["value"].strip(), (n, n + 1)
            else:
                name = ""
        elif name and line.place == "text" and _goes_on(name, line.text, gap=gap):
            claims[name] = f"{claims[name]} {line.text.strip()}".strip()
            spans[name] = (spans[name][0], n + 1)
        else:
            name = ""
    if "state" in claims:
        said = _STATE.fullmatch(claims["state"])
        claims["state"] = (said["word"] if said else claims["state"].strip("`* ")).lower()
    if path := _FILE.search(claims.get("file", "")):
        claims["file"] = path[0]
    return Entry(zone, claims, tuple(block), start, spans)


def _goes_on(name: str, line: str, *, gap: bool = False) -> bool:
    """Whether a line is the rest of the field above it; behind a blank line only one that is indented is."""
    needs_indent = name in _INDENTED or gap
    return name not in _ONE_LINE and bool(_MORE.fullmatch(line)) and (not needs_indent or line.startswith("  "))


def _title(match: re.Match[str]) -> str:
    """The words of a heading, without the `#` that may close it."""
    words = match["title"].strip()
    bare = words.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else words


def claims_of(lesson: Lesson) -> dict[str, str]:
    """What the lesson's entry says, field by field; an empty text stands for a field that is left out."""
    return {
        "created": lesson.created if is_day(lesson.created) else "",
        "title": fold(lesson.shown_title),
        "why": fold(lesson.why),
        "rule": fold(lesson.rule),
        "how": fold(lesson.how),
        "state": lesson.state,
        "tags": ", ".join(map(fold, lesson.tags)),
        "file": lesson.path,
        "archive_note": fold(lesson.archive_note) if lesson.state == "archived" else "",
    }


def render(lesson: Lesson, eol: str = "\n") -> str:
    """The lesson's entry in the form of design §4 (R002-01 to R002-04)."""
    claims = claims_of(lesson)
    lines = [f"### {claims['created']} | {claims['title']}" if claims["created"] else f"### {claims['title']}"]
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
    found = _owned(entries(text), lessons, before)
    eol, lines = line_end(text), split_lines(text)
    changed: list[tuple[Entry, str]] = []  # "" for an entry that leaves its place
    new: list[tuple[str, str, str]] = []  # zone, slug, entry
    for slug in sorted({*lessons, *before} - set(skip)):
        lesson, old = lessons.get(slug), found.get(slug)
        if lesson is None or slug in hidden:
            changed += [(old, "")] if old else []
        elif old is None:
            new += [] if lesson.is_note else [(lesson.state, slug, render(lesson, eol))]
        else:
            words = _updated(old, lesson, before.get(slug), eol)
            stays = old.zone == lesson.state
            changed += [(old, words if stays else "")] if words != old.raw or not stays else []
            new += [] if stays else [(lesson.state, slug, _closed(words, eol))]
    for entry, words in sorted(changed, key=lambda pair: pair[0].start, reverse=True):
        _replace(lines, entry, words)
    return _with_new("".join(lines), new, eol)


def with_entries(text: str, wanted: Mapping[int, tuple[str, str]], new: Sequence[tuple[str, str, str]]) -> str:
    """text with other words, or another zone, for the entries that start on these lines ("" takes one away).

    new holds zone, slug and words of entries that are not there yet.
    """
    eol, lines = line_end(text), split_lines(text)
    added = list(new)
    for entry in reversed(entries(text)):
        zone, words = wanted.get(entry.start, (entry.zone, entry.raw))
        if words and zone != entry.zone:
            added.append((zone, entry.slug, _closed(words, eol)))
            words = ""
        if words != entry.raw:
            _replace(lines, entry, words)
    text = _with_new("".join(lines), added, eol)
    for zone, _, words in added:
        text = _with_loose(text, words, eol) if not zone else text
    return text


def _with_loose(text: str, words: str, eol: str) -> str:
    """text with an entry outside the zones: in front of the first one, else at the end."""
    rows = list(scan(text))
    at = next((row.number for row in rows if row.place == "text" and _ZONE.fullmatch(row.text)), room_at_end(text))
    lines = split_lines(with_final_newline(text, eol))
    lead = eol if at and lines[at - 1].strip() else ""
    return "".join([*lines[:at], lead, with_final_newline(words, eol), eol if at < len(lines) else "", *lines[at:]])


def with_zone(text: str, zone: str) -> str:
    """text with the heading of a zone where it belongs."""
    return text if _heading_of(text, zone) >= 0 else _with_zone(text, zone, line_end(text))


def with_field(entry: Entry, name: str, value: str, eol: str) -> Entry:
    """The entry with one field set; "" takes it away."""
    if name in ("created", "title"):
        created, title = entry.claims.get("created", ""), entry.claims["title"]
        return _read_again(_with_heading(entry, *((value, title) if name == "created" else (created, value))))
    return _with_field(entry, name, value, eol)


def with_words(entry: Entry, lines: Sequence[str]) -> Entry:
    """The entry with other lines, read again."""
    return _read_again(entry._replace(lines=tuple(lines)))


def _read_again(entry: Entry) -> Entry:
    return _entry(entry.zone, list(entry.lines), entry.start)


def _owned(rows: list[Entry], lessons: Mapping[str, Lesson], before: Mapping[str, Lesson]) -> dict[str, Entry]:
    """Each lesson's entry: of several the one that names its file, else the one in its zone, else the first."""
    owners = {old.path: slug for slug, old in before.items() if slug in lessons}
    found: dict[str, list[Entry]] = {}
    for entry in rows:
        found.setdefault(owners.get(entry.path) or entry.slug, []).append(entry)
    state = {slug: lesson.state for slug, lesson in lessons.items()}
    return {
        slug: min(several, key=lambda entry: (not entry.path, entry.zone != state.get(slug, entry.zone)))
        for slug, several in found.items()
    }


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
    separator = (match and match["sep"]) or " | "
    first = f"### {created}{separator}{title}" if created else f"### {title}"
    return entry._replace(lines=(first + entry.lines[0][len(bare) :], *entry.lines[1:]))


def _with_field(entry: Entry, name: str, value: str, eol: str) -> Entry:
    lines = list(entry.lines)
    if not lines[-1].endswith("\n"):
        lines[-1] += eol
    new = [f"- {FIELDS[name]}: {_written(name, value)}{eol}"] if value else []
    if name in entry.spans:
        start, end = entry.spans[name]
        lines[start:end] = [_rewritten(lines[start], name, value)] if value else []
    else:
        order = list(FIELDS)
        earlier = [entry.spans[n][1] for n in order[: order.index(name)] if n in entry.spans]
        at = max(earlier, default=1)
        if new and at < len(lines) and _goes_on(name, lines[at].rstrip("\r\n")):
            new.append(eol)  # else the line behind would be read as the rest of the new one
        lines[at:at] = new
    return _entry(entry.zone, lines, entry.start)


def _rewritten(line: str, name: str, value: str) -> str:
    """A field's first line with another value; its bullet, its label and a person's words behind the value stay."""
    bare = line.rstrip("\r\n")
    match = _FIELD.fullmatch(bare)
    assert match, "a span begins with its field"
    old, value = match["value"], _written(name, value)
    if name == "state" and (said := _STATE.fullmatch(old)):
        value += said["rest"].lstrip("`*_")
    elif name == "file" and (path := _FILE.search(old)):
        value = old[: path.start()] + value + old[path.end() :]
    lead = bare[: match.start("value")]
    return f"{lead}{'' if lead[-1:].isspace() else ' '}{value}{line[len(bare) :]}"


def _closed(words: str, eol: str) -> str:
    """An entry's text with its last fence closed, so that it can stand in front of others."""
    mark = closing_mark(words)
    return f"{with_final_newline(words, eol)}{mark}{eol}" if mark else words


def _replace(lines: list[str], entry: Entry, words: str) -> None:
    """Give an entry's lines other words; with none it goes, and the blank lines behind it."""
    end = entry.start + len(entry.lines)
    if words:
        lines[entry.start : end] = [words]
        return
    while end < len(lines) and not lines[end].strip():
        end += 1
    was_last = end == len(lines)
    del lines[entry.start : end]
    while was_last and lines and not lines[-1].strip():
        lines.pop()


def _with_new(text: str, new: list[tuple[str, str, str]], eol: str) -> str:
    """text with entries put into their zones, each before the first one there with a greater slug."""
    for zone in ZONES:
        wanted = sorted((slug, with_final_newline(words, eol)) for at, slug, words in new if at == zone)
        if not wanted:
            continue
        if _heading_of(text, zone) < 0:
            text = _with_zone(text, zone, eol)
        inside = [entry for entry in entries(text) if entry.zone == zone]
        end = _end_of(text, zone, inside)
        lines = split_lines(text)
        blocks: dict[int, str] = {}
        for slug, words in wanted:
            at = next((entry.start for entry in inside if entry.slug > slug), end)
            blocks[at] = blocks.get(at, "") + (eol + words if at == end else words + eol)
        if end in blocks and end < len(lines) and lines[end].strip():
            blocks[end] += eol
        lines[end - 1] = with_final_newline(lines[end - 1], eol)
        text = "".join(blocks.get(n, "") + line for n, line in enumerate([*lines, ""]))
    return text


def _heading_of(text: str, zone: str) -> int:
    """The line of a zone's heading, -1 without one."""
    rows = (line for line in scan(text) if line.place == "text")
    return next((line.number for line in rows if (m := _ZONE.fullmatch(line.text)) and m[1].lower() == zone), -1)


def _end_of(text: str, zone: str, inside: list[Entry]) -> int:
    """The line behind all that stands in a zone, blank lines aside."""
    first = _heading_of(text, zone) + 1
    rows = list(scan(text))
    end = next(
        (row.number for row in rows[first:] if row.place == "text" and re.match(r"#{1,2}(?:\s|$)", row.text)), len(rows)
    )
    if end > (room := room_at_end(text)):  # a fence that is never closed stays last, with the entry that holds it
        end = max([first, *(entry.start for entry in inside if entry.start <= room)])
    while end > first and not rows[end - 1].text.strip():
        end -= 1
    return end


def _with_zone(text: str, zone: str, eol: str) -> str:
    """text with the heading of a zone, in front of the zones that come later."""
    later = [at for name in ZONES[ZONES.index(zone) + 1 :] if (at := _heading_of(text, name)) >= 0]
    at = min([*later, room_at_end(text)])
    lines = split_lines(with_final_newline(text, eol))
    lead = eol if at and lines[at - 1].strip() else ""
    tail = eol if at < len(lines) and lines[at].strip() else ""
    return "".join([*lines[:at], lead, f"## {zone.capitalize()} Patterns{eol}", tail, *lines[at:]])
