"""Lessons for programs and people elsewhere: JSON lines, a readable mirror, a list that ships with a skill. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from learnloop_md import capture, digest, record
from learnloop_md import lesson as lessons
from learnloop_md.fence import GUIDANCE
from learnloop_md.lesson import Lesson, fold, shorten
from learnloop_md.managed import UNSEALED, sealed
from learnloop_md.memory import Memory
from learnloop_md.neutral import safe

MIRROR_MARK = f"<!-- made by `learnloop export mirror` {UNSEALED}: change the lessons, not this file -->"
_RECENT = 10  # of what is out of force


def shared(memory: Memory) -> list[Lesson]:
    """The lessons that may leave the memory: none of the private types, with a remote or without."""
    private = memory.place.settings.private_types
    rows = (memory.lessons[slug] for slug in sorted(memory.lessons))
    return [lesson for lesson in rows if not lesson.is_note and lesson.type.lower() not in private]


def jsonl(memory: Memory, rows: Iterable[Lesson], *, with_states: bool = False) -> str:
    """One run record a line (R000-73): those that were captured as they came, other lessons in the same form.

    with_states: what is no candidate says so, for an import to make the same of it; else each line is a record alone.
    """
    told = (
        _record(memory, lesson) | ({"state": lesson.state} if with_states and lesson.state != "candidate" else {})
        for lesson in rows
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in told)


def is_ours(memory: Memory, text: str) -> bool:
    """Whether each line of a file is a record that this memory gives now: else renewing it would lose something."""
    known = {json.dumps(_record(memory, lesson), sort_keys=True) for lesson in memory.lessons.values()}
    try:
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
        return all(json.dumps({k: v for k, v in row.items() if k != "state"}, sort_keys=True) in known for row in rows)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False


def _record(memory: Memory, lesson: Lesson) -> dict[str, Any]:
    if lesson.record:
        return record.to_json(lesson, capture.supersedes_id(memory, lesson))

    def short(text: str) -> str | None:
        return shorten(fold(text), record.TEXT_LIMIT - 1) or None

    told = {
        "id": lesson.slug,
        "timestamp": f"{lesson.created or lessons.newest_sighting(lesson) or '1970-01-01'}T00:00:00Z",
        "task_type": lesson.kind or "note",
        **{key: short(text) for key, text in record.of_lesson(lesson).items()},
        "outcome": "failure" if lesson.kind == "failure" else "success",
        "confidence": lessons.confidence(lesson),
        "edge_cases": [],
        "tags": [shorten(tag, record.TEXT_LIMIT - 1) for tag in lesson.tags],
    }
    told |= {} if lesson.human_confirmed is None else {"human_confirmed": lesson.human_confirmed}
    told |= {"supersedes_id": capture.supersedes_id(memory, lesson)} if lesson.supersedes else {}
    return {key: told[key] for key in record.KEYS if key in told}


def mirror(rows: Sequence[Lesson], title: str, today: str, ended: dict[str, Any]) -> str:
    """LEARNINGS.md: every lesson on one line, by status, with what it was worth (R004-50)."""
    zones = {
        "Pinned": [x for x in rows if x.is_active and x.pinned],
        "Active": [x for x in rows if x.is_active and not x.pinned],
        "Promoted": [x for x in rows if not x.is_active and x.codified_in],
        "Archived": [x for x in rows if not x.is_active and not x.codified_in],
    }
    rate = "no runs yet" if ended["success_percent"] is None else f"{ended['success_percent']}% ok"
    counts = " · ".join(f"{len(found)} {name.lower()}" for name, found in zones.items())
    lines = [f"# Learnings: {safe(title)}", "", MIRROR_MARK, ""]
    lines.append(f"Updated: {today} · runs: {ended['runs']['total']} ({rate}) · {counts}")
    for name, found in zones.items():
        active = name in ("Pinned", "Active")
        order = digest.order(found) if active else sorted(found, key=lessons.newest_sighting, reverse=True)
        shown = order if active else order[:_RECENT]
        lines += ["", f"## {name}", "", *map(_line, shown)] if found else []
        lines += [f"- …and {len(found) - len(shown)} more"] if len(shown) < len(found) else []
    return sealed("\n".join(lines) + "\n", MIRROR_MARK)


def _line(lesson: Lesson) -> str:
    score = len(lesson.seen) + len(lesson.confirmed) - len(lesson.disputed)
    marks = [lesson.kind or "note", f"{score:+d}", f"when: {lesson.context}" if lesson.context else ""]
    marks += ["candidate" if lesson.state == "candidate" else "", f"last: {lessons.newest_sighting(lesson)}"]
    evidence = "; ".join(dict.fromkeys(event.evidence for event in lesson.seen if event.evidence))
    said = f"- [{lesson.slug}] {fold(lesson.rule)} ({', '.join(filter(None, marks))})"
    return safe(said + (f"; evidence: {shorten(evidence, 200)}" if evidence else ""))


def bundle(rows: Sequence[Lesson]) -> str:
    """What ships with a skill: the current lessons, no candidates, no counts, no evidence (R004-21, ruling C14)."""
    current = [lesson for lesson in digest.order(rows) if lesson.state == "current"]
    bullets = [_bullet(lesson) for lesson in current]
    return "\n".join(["## Lessons from earlier runs", "", GUIDANCE, "", *bullets]) + "\n"


def _bullet(lesson: Lesson) -> str:
    when = f" (when: {lesson.context})" if lesson.context else ""
    how = f" {lesson.how}" if lesson.how else ""
    return safe(f"- {lesson.rule}{when}{how}")
