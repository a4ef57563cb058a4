"""Recording for Claude's hooks what a command has seen of a memory: the one place where a brief is made."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

from learnloop_md import brief, digest, guard, lessonfile, skill, store
from learnloop_md import lesson as lessons
from learnloop_md.brief import Brief, Row
from learnloop_md.lesson import Lesson
from learnloop_md.memory import Memory
from learnloop_md.neutral import safe
from learnloop_md.place import Place

_SETTLED_S = 2  # a file changed later than that before the look may have changed after it too


def record(memory: Memory, today: str, *, waiting: int) -> None:
    """Keep for the hooks what may be served of this memory. Raises UnableError where it cannot be written."""
    known = brief.load(memory.place)
    doubts = {(row.slug, row.stamp): row.doubt for row in known.rows} if known else {}
    made = _made(memory, today, waiting)
    rows = (row._replace(doubt=doubts.get((row.slug, row.stamp), "")) for row in made.rows)
    _save(memory.place, made._replace(rows=tuple(rows)))
    if memory.place.settings.recall_on_prompt:
        from learnloop_md import recall  # lazy: 30 ms, and few want it

        index = recall.stored(row for row in memory.lessons.values() if not row.is_note)
        data = json.dumps(index, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        _keep(memory.place.state / brief.WORDS, data)


def complete(place: Place, plan: str, doubts: Mapping[str, Sequence[str]]) -> None:
    """Add to what was recorded what a cleanup would do, and what is to be verified first (design §9)."""
    if known := brief.load(place):
        rows = (row._replace(doubt=safe(digest.doubt(row.slug, doubts))) for row in known.rows)
        _save(place, known._replace(plan=plan, rows=tuple(rows)))


def _save(place: Place, made: Brief) -> None:
    _keep(place.state / brief.FILE, brief.dump(made))


def _keep(file: Path, data: bytes) -> None:
    if store.read_bytes(file) != data:
        store.write(file, data, durable=False)


def _made(memory: Memory, today: str, waiting: int) -> Brief:
    place, lessons = memory.place, memory.lessons
    version = skill.version(place)
    found = [row for one in digest.order(lessons.values()) if (row := _row(place, one, memory.private, version))]
    hurt = [q.path for q in memory.quarantined]
    idle = [lesson.path for lesson in lessons.values() if not lesson.is_active]
    doubled = [path for path, _ in memory.doubled]
    crowd, oldest, due_on = _due(memory, today)
    others = tuple(brief.spelled(p) if guard.in_name(p) else p for p in sorted({*hurt, *idle, *doubled}))
    trust = place.settings.trust
    return Brief(tuple(found), others, len(hurt), waiting, crowd, oldest, due_on, trust=trust)


def _row(place: Place, lesson: Lesson, private: Iterable[str], version: str) -> Row | None:
    """A lesson's row, None where its file is not surely the text that was judged."""
    path = place.folder / lesson.path
    stamp = brief.stamp(path)
    if stamp is None:
        return None
    if stamp[1] > (time.time() - _SETTLED_S) * 1e9:
        data = store.read_bytes(path)
        if data is None or lessonfile.decode(lesson.path, data) != lesson.text:
            return None
    bullet = digest.line(lesson, version)
    return Row(lesson.path, stamp, lesson.slug, lesson.state, lesson.slug in private, bullet)


def _due(memory: Memory, today: str) -> tuple[int, str, str]:
    """How many candidates make cleanup due now, the one that makes it due by its age, and from which day on."""
    settings = memory.place.settings
    waiting = [one for one in memory.lessons.values() if lessons.awaits(one, today, settings.stale_days)]
    crowd = len(waiting) if len(waiting) >= settings.candidates_due else 0
    oldest = min(waiting, key=lambda one: (lessons.newest_sighting(one), one.slug), default=None)
    try:
        since = date.fromisoformat(lessons.newest_sighting(oldest)) if oldest else None
        due_on = (since + timedelta(settings.stale_days + 1)).isoformat() if since else ""
    except (ValueError, OverflowError):  # no day, or one after the end of the calendar: never
        due_on = ""
    return crowd, oldest.slug if oldest and due_on else "", due_on
