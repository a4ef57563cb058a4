"""Lesson files: bytes to Lesson and back, one field or paragraph at a time, every other byte kept."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from learnloop_md import head, headedit, lines
from learnloop_md.lesson import Event, Lesson, Record, first_sentence, fold, shorten
from learnloop_md.tree import Fault, Field, HeadError, Tree, event_of, fields_of

SIZE_LIMIT = 1 << 20  # bytes; above it a file is quarantined unread (design §3)
SIZE_WARNING = 64 << 10  # bytes


class Quarantined(NamedTuple):
    """A file that is left as it is and never injected: where, why, and in which line."""

    path: str
    reason: str
    line: int = 1
    message: str = ""


class Reading(NamedTuple):
    """A lesson and what a person should mend in its file."""

    lesson: Lesson
    faults: tuple[Fault, ...]


# C0 other than tab, LF, CR of CRLF, form feed, vertical tab; DEL; C1 other than NEL (design §3).
_CONTROL = re.compile("[\x01-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f]|\r(?!\n)")


def decode(path: str, data: bytes) -> str | Quarantined:
    """The file's text, or why it is not one we read (judged on the raw bytes)."""
    if len(data) > SIZE_LIMIT:
        return Quarantined(path, "too-large", 1, "larger than 1 MiB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Quarantined(path, "not-utf8", line, "not UTF-8 text")
    if not text.strip("\ufeff \t\r\n\x0b\x0c\x85\xa0"):
        return Quarantined(path, "empty", 1, "the file is empty")
    if "\0" in text:
        return Quarantined(path, "nul-byte", text.count("\n", 0, text.index("\0")) + 1, "holds a NUL byte")
    control = _CONTROL.search(text)
    if control:
        return Quarantined(path, "control-char", text.count("\n", 0, control.start()) + 1, "holds a control character")
    at = lines.conflict_line(text)
    if at:
        return Quarantined(path, "conflict-markers", at, "holds the markers of a merge conflict")
    return text


def read(path: str, data: bytes | str) -> Reading | Quarantined:
    """The lesson in a file, or why the file is quarantined. path is relative to the memory's folder."""
    text = decode(path, data) if isinstance(data, bytes) else data
    if isinstance(text, Quarantined):
        return text
    try:
        reading = _read(text)
    except HeadError as error:
        return Quarantined(path, error.code, error.line, error.message)
    return Reading(reading.lesson._replace(slug=stem(path), path=path), reading.faults)


@lru_cache(maxsize=4_096)  # one text is read as the file's, as the newest commit's, as what was agreed on
def _read(text: str) -> Reading:
    """The lesson that a text says, without a name."""
    parts = head.split(text)
    if parts is None:
        return Reading(_lesson(text, {}, text, has_head=False), ())
    tree, faults = head.read(parts)
    fields = fields_of(tree)
    _check_shape(fields, parts.first_line)
    return Reading(_lesson(text, fields, parts.body, has_head=True), faults)


def stem(path: str) -> str:
    """The slug that a path stands for."""
    return path.rpartition("/")[2].removesuffix(".md")


_TEXTS = (
    "name description type state title kind created reviewed revived archive_note codified_in supersedes "
    "superseded_by renamed_from context skill_version"
).split()
_RECORD = Record._fields[:8]  # the texts of a record
_DAYS = ("created", "reviewed", "revived")
# The texts that a lesson holds as the head has them; state and days are made plain.
_AS_WRITTEN = frozenset({*_TEXTS, *_RECORD} - {"state", "renamed_from", *_DAYS})
_EVENTS = ("seen", "confirmed", "disputed")


def _check_shape(fields: Mapping[str, Tree], line: int) -> None:
    """Fields of ours must be what they are; keys that are not ours are never judged."""
    for key in _TEXTS:
        if key in fields and not isinstance(fields[key], (str, type(None))):
            raise HeadError(f"bad-type:{key}", line, f"{key} is not a text")
    for key in _EVENTS:
        value = fields.get(key)
        if value and (not isinstance(value, list) or not all(event_of(item) for item in value)):
            raise HeadError(f"bad-type:{key}", line, f"{key} is not a list of events (on, run, evidence)")
    number = fields.get("confidence")
    if number not in (None, ""):
        try:
            good = isinstance(number, str) and math.isfinite(float(number))
        except ValueError:
            good = False
        if not good:
            raise HeadError("bad-number", line, "confidence is not a number")


def _text(fields: Mapping[str, Tree], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _is_true(fields: Mapping[str, Tree], key: str) -> bool:
    return _text(fields, key).lower() in {"true", "yes", "on"}


def _lines(fields: Mapping[str, Tree], key: str) -> tuple[str, ...]:
    """A list of sentences; a text alone is one."""
    value = fields.get(key)
    return (value,) if isinstance(value, str) and value else _words(fields, key)


def _words(fields: Mapping[str, Tree], key: str) -> tuple[str, ...]:
    value = fields.get(key)
    if isinstance(value, str):
        value = [word.strip() for word in value.split(",")]
    return tuple(word for word in value or () if isinstance(word, str) and word)


def _anchors(fields: Mapping[str, Tree]) -> tuple[str, ...]:
    """Entries `path hash`; a mapping of path (or symbol) and blob says the same."""
    value = fields.get("anchors")
    found = []
    for item in [value] if isinstance(value, str) else value if isinstance(value, list) else []:
        if isinstance(item, dict):
            said = [str(item[key]) for key in ("path", "symbol", "blob", "hash") if isinstance(item.get(key), str)]
            found.append(" ".join(said))
        elif isinstance(item, str):
            found.append(item)
    return tuple(filter(None, found))


def _events(fields: Mapping[str, Tree], key: str) -> tuple[Event, ...]:
    value = fields.get(key)
    return tuple(event for item in (value if isinstance(value, list) else ()) if (event := event_of(item)))


def _lesson(text: str, fields: Mapping[str, Tree], body: str, *, has_head: bool) -> Lesson:
    said = parse_body(body)
    state = _text(fields, "state").strip().lower()
    number, took = _text(fields, "confidence"), _text(fields, "run_duration_ms")
    texts: dict[str, Any] = {
        key: value for key, value in fields.items() if key in _AS_WRITTEN and isinstance(value, str)
    }
    days: dict[str, Any] = {key: _text(fields, key)[:10] for key in _DAYS if key in fields}
    events: dict[str, Any] = {key: _events(fields, key) for key in _EVENTS if key in fields}
    return Lesson(
        slug="",
        path="",
        text=text,
        state=state,
        stated=bool(state),
        tags=_words(fields, "tags"),
        pinned=_is_true(fields, "pinned"),
        session=_text(fields, "originSessionId"),
        confidence=float(number) if number else None,
        edge_cases=_lines(fields, "edge_cases"),
        stack_tags=_words(fields, "stack_tags"),
        run_duration_ms=int(took) if re.fullmatch(r"[0-9]{1,15}", took) else None,
        anchors=_anchors(fields),
        human_confirmed=_truth(_text(fields, "human_confirmed")),
        has_head=has_head,
        rule=said.rule,
        why=said.why,
        how=said.how,
        **texts,
        **days,
        **events,
    )


def _truth(word: str) -> bool | None:
    lower = word.lower()
    return True if lower in {"true", "yes", "on"} else False if lower in {"false", "no", "off"} else None


# --- the body ---------------------------------------------------------------------------------------------------------


class Body(NamedTuple):
    """A body's three parts, each with the span of its text in the body."""

    rule: str
    why: str
    how: str
    spans: dict[str, tuple[int, int]]  # of the text alone, behind its label


_LABEL = re.compile(
    r"^(?:\*\*(?P<bold>why|how to apply|next pass)(?::\*\*|\*\*:)|(?P<bare>why|how to apply|next pass):)[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)


def parse_body(body: str) -> Body:
    """The rule, the Why and the How to apply of a body; labels inside code fences are text."""
    cuts = _cuts(body)
    spans = {"rule": _trimmed(body, 0, cuts[0][1] if cuts else len(body))}
    for n, (part, _, begins) in enumerate(cuts):
        spans[part] = _trimmed(body, begins, cuts[n + 1][1] if n + 1 < len(cuts) else len(body))
    said = {part: body[a:b] for part, (a, b) in spans.items()}
    return Body(said["rule"], said.get("why", ""), said.get("how", ""), spans)


def body_parts(body: str) -> dict[str, str]:
    """The body cut into its parts (rule, why, how), labels and white space included; joined they are the body."""
    cuts = [("rule", 0, 0), *_cuts(body)]
    ends = [start for _, start, _ in cuts[1:]] + [len(body)]
    return {part: body[start:end] for (part, start, _), end in zip(cuts, ends, strict=True)}


def _cuts(body: str) -> list[tuple[str, int, int]]:
    """Where the labelled parts begin: part, start of its label, start of its text."""
    cuts: list[tuple[str, int, int]] = []
    for match in _labels(body):
        part = "why" if (match["bold"] or match["bare"]).lower() == "why" else "how"
        if all(part != seen for seen, _, _ in cuts):
            cuts.append((part, match.start(), match.end()))
    return cuts


def _labels(body: str) -> Iterator[re.Match[str]]:
    """The labels that begin a line of text."""
    if not any(mark in body for mark in ("```", "~~~", "<!--")):
        yield from _LABEL.finditer(body)  # as most bodies are: every line is one of text
        return
    at = -1
    for line in lines.scan("\n" + body):  # the blank first line keeps a leading --- from being read as a head
        if line.place == "text" and at >= 0 and (match := _LABEL.match(body, at)):
            yield match
        at += len(line.raw)


def _trimmed(body: str, start: int, end: int) -> tuple[int, int]:
    while start < end and body[start].isspace():
        start += 1
    while end > start and body[end - 1].isspace():
        end -= 1
    return start, end


_LABEL_OF = {"why": "**Why:** ", "how": "**How to apply:** "}


def with_part(text: str, part: str, value: str) -> str:
    """text with its rule, why or how set to value; the rest of the body stays."""
    parts = head.split(text)
    body = parts.body if parts else text
    said = parse_body(body)
    eol = lines.line_end(text)
    value = value.strip()
    if part in said.spans:
        start, end = said.spans[part]
        if not value and part != "rule":
            start = body.rindex("\n", 0, start) + 1 if "\n" in body[:start] else 0
            start = len(body[:start].rstrip())
        new = body[:start] + value + body[end:]
        if part == "rule" and start == end:  # there was no rule in front of the labels
            new = body[:start] + value + (eol * 2 if body[end:] else eol) + body[end:]
    elif not value:
        return text
    else:
        after = max((end for name, (_, end) in said.spans.items() if name != "how" or part != "why"), default=0)
        lead = eol * 2 if body[:after].strip() else eol
        new = body[:after] + lead + _LABEL_OF[part] + value + (body[after:] or eol)
    return head.join(parts._replace(body=new)) if parts else new


def with_fields(text: str, changes: Mapping[str, Field]) -> str:
    """text with fields of its head set; only their lines change (R002-05).

    Raises HeadError where the head cannot take the change safely.
    """
    return headedit.with_fields(text, changes)


def is_editable(lesson: Lesson) -> bool:
    """Whether the head can take a change of state without touching anything else."""
    try:
        with_fields(lesson.text, {"state": "archived" if lesson.state != "archived" else "current"})
    except HeadError:
        return False
    return True


def render(lesson: Lesson) -> str:
    """A new lesson file in the form of design §3."""
    fields: list[tuple[str, Field]] = [
        ("type", lesson.type),
        ("state", lesson.state),
        ("title", lesson.title),
        ("created", lesson.created),
        ("kind", lesson.kind),
        ("tags", lesson.tags),
        ("context", lesson.context),
        ("supersedes", lesson.supersedes),
        ("skill_version", lesson.skill_version),
        *((key, getattr(lesson, key)) for key in _RECORD),
        ("confidence", lesson.confidence),
        *((key, getattr(lesson, key)) for key in ("edge_cases", "stack_tags", "run_duration_ms")),
        ("human_confirmed", lesson.human_confirmed),
        ("pinned", lesson.pinned or None),
        ("reviewed", lesson.reviewed),
        ("seen", lesson.seen),
        ("confirmed", lesson.confirmed),
        ("disputed", lesson.disputed),
        ("archive_note", lesson.archive_note),
        ("codified_in", lesson.codified_in),
    ]
    given = [(key, value) for key, value in fields if value is not None and value not in ("", ())]
    meta = [line for key, value in given for line in headedit.render_field(key, value, 2)]
    top = headedit.render_field("name", lesson.name or lesson.slug, 0) + headedit.render_field(
        "description", lesson.description, 0
    )
    body = [lesson.rule.strip()]
    body += [
        f"{_LABEL_OF[part]}{text.strip()}" for part, text in (("why", lesson.why), ("how", lesson.how)) if text.strip()
    ]
    return "".join(["---\n", *top, "metadata:\n", *meta, "---\n\n"]) + "\n\n".join(body) + "\n"


def describe(rule: str) -> str:
    """A one-line description for a rule: its first sentence, shortened at a word."""
    return shorten(first_sentence(fold(rule)), 120)
