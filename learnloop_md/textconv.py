"""The command that git calls to show a lesson file in `git diff` and `git log -p`: one field a line, in one order."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from learnloop_md import head, lessonfile
from learnloop_md.answer import Answer, visible, visible_lines
from learnloop_md.calls import Call
from learnloop_md.lesson import EVENTS, Lesson, fold
from learnloop_md.lessonfile import Quarantined
from learnloop_md.tree import Tree

_TEXTS = (
    "name description title type state kind created tags context reviewed pinned revived confidence skill_version "
    "supersedes superseded_by renamed_from codified_in archive_note"
).split()


def textconv(call: Call) -> Answer:
    """A lesson file for people; any other file, and one that is not read, as it is."""
    data = (call.cwd / call.text("file")).read_bytes()
    reading = lessonfile.read("x.md", data)
    if isinstance(reading, Quarantined) or not reading.lesson.has_head:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return Answer()
    return Answer(readable(reading.lesson), {"text": readable(reading.lesson)})


def readable(lesson: Lesson) -> str:
    """A lesson's head as one line for each field and event, then its body line by line.

    Two files that say the same read the same: order, quotes and style of the head do not count.
    """
    parts = head.split(lesson.text)
    tree = head.read(parts).tree if parts else {}
    body = parts.body if parts else lesson.text
    lines = [visible(line) for line in _head_lines(lesson, tree)]
    return "\n".join([*lines, "", visible_lines(body.replace("\r\n", "\n").strip("\n"))])


def _head_lines(lesson: Lesson, tree: Mapping[str, Tree]) -> Iterator[str]:
    inner = tree.get("metadata")
    rows = {key: value for key, value in tree.items() if not isinstance(inner, dict) or key != "metadata"}
    rows |= inner if isinstance(inner, dict) else {}
    rows |= {key: tree[key] for key in ("name", "description") if key in tree}
    for key in _TEXTS:
        if key in rows:
            yield from _row(key, rows.pop(key))
    for field in EVENTS:
        rows.pop(field, None)
        for event in sorted(set(getattr(lesson, field)), key=lambda e: (e.on, e.run, e.evidence)):
            yield from _row(field, f"{event.on or 'no day'} {event.run or 'no run'} {event.evidence}")
    for key in sorted(rows):
        yield from _row(key, rows[key])


def _row(key: str, value: Tree) -> Iterator[str]:
    """A field as `key value`; one that holds fields or items as one row for each."""
    if isinstance(value, dict):
        for inner in sorted(value):
            yield from _row(f"{key}.{inner}", value[inner])
    elif isinstance(value, list) and any(not isinstance(item, str) for item in value):
        for number, item in enumerate(value, 1):
            yield from _row(f"{key}.{number}", item)
    else:
        words = ", ".join(map(str, value)) if isinstance(value, list) else fold(value)
        yield f"{key + ':':<13} {words}".rstrip()
