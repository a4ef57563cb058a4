"""What became of each lesson, told from its file in every commit: squashed, amended, hand-made ones too (design §6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from learnloop_md import head, history, lessonfile
from learnloop_md.history import Step
from learnloop_md.lesson import Event, Lesson
from learnloop_md.place import Place
from learnloop_md.tree import HeadError, field_of


class Trace(NamedTuple):
    """A commit that touched a lesson's file: where it stood, and its blobs before and after."""

    step: Step
    path: str  # as the repository names it
    blobs: tuple[str, str]


class Version(NamedTuple):
    """A lesson before and after a commit; None where there was no file, or one that cannot be read."""

    step: Step
    path: str
    before: Lesson | None
    after: Lesson | None
    change: str  # the verb of what it did to this lesson
    gone: bool = False  # whether the commit took the file away


class Record(NamedTuple):
    """An event of a lesson: who brought it in which commit, where it stands now, which commit took it away."""

    event: Event
    step: Step | None  # None: not committed yet
    line: int  # in the newest text, 0 where it no longer stands there
    removed: Step | None = None


# --- which commits touched which lesson -------------------------------------------------------------------------------


def traces(place: Place) -> dict[str, list[Trace]]:
    """For each lesson, by its newest name, the commits that touched its file, newest first."""
    return traced(place, history.steps(place, full=True)) if place.repo else {}


def traced(place: Place, steps: Iterable[Step]) -> dict[str, list[Trace]]:
    """The traces of lessons in commits that are given newest first; a renamed lesson keeps its earlier ones."""
    found: dict[str, list[Trace]] = {}
    newest: dict[str, str] = {}  # a lesson's name at this point of the walk: its newest name
    for step in steps:
        here = {slug: path for path in step.changes if (slug := history.lesson_of(place, path))}
        old_names = set(step.renames.values())
        for slug, path in here.items():
            before, after = step.changes[path]
            if slug in old_names and not after:
                continue  # it stands under its new name in this commit
            if slug in step.renames and step.renames[slug] in here:
                before = step.changes[here[step.renames[slug]]][0]
            found.setdefault(newest.get(slug, slug), []).append(Trace(step, path, (before, after)))
        for slug, path in here.items():
            if not step.changes[path][
                0
            ]:  # the file began here: what bore the name before is another lesson, or it left
                owner = newest.pop(slug, slug)
                if slug in step.renames:
                    newest[step.renames[slug]] = owner
    return {slug: _own(rows) for slug, rows in found.items()}


def _own(rows: list[Trace]) -> list[Trace]:
    """Without the merges that brought only what a commit of a branch had made."""
    made = {row.blobs[1] for row in rows if not row.step.is_merge}
    return [row for row in rows if not row.step.is_merge or row.blobs[1] not in made]


def versions(place: Place, rows: Mapping[str, Sequence[Trace]]) -> dict[str, list[Version]]:
    """What each commit made of each lesson, oldest first; every blob is read once."""
    wanted = list(dict.fromkeys(blob for found in rows.values() for row in found for blob in row.blobs if blob))
    contents = dict(zip(wanted, history.contents(place, wanted) if wanted else [], strict=True))
    read: dict[tuple[str, str], Lesson | None] = {}

    def lesson(path: str, blob: str) -> Lesson | None:
        if (path, blob) not in read:
            read[path, blob] = history.lesson_in(place, path, contents[blob]) if blob else None
        return read[path, blob]

    def version(slug: str, row: Trace) -> Version:
        before, after = (lesson(row.path, blob) for blob in row.blobs)
        said = row.step.change if row.step.change and row.step.is_whole and slug in row.step.named else ""
        change = said or history.kind_of(before, after)
        return Version(row.step, row.path, before, after, change, gone=not row.blobs[1])

    return {slug: [version(slug, row) for row in reversed(found)] for slug, found in rows.items()}


def newest(found: Sequence[Version]) -> Lesson | None:
    """The lesson as it was last, None where no version can be read."""
    return next((v.after or v.before for v in reversed(found) if v.after or v.before), None)


def joined(rows: dict[str, list[Trace]], texts: Mapping[str, str]) -> dict[str, list[Trace]]:
    """The traces with those of earlier names that only a lesson's own head tells (`renamed_from`)."""
    for slug, text in texts.items():
        old = _renamed_from(text)
        if old in rows and old not in texts and old != slug:
            own = rows.get(slug, [])
            begins = own[-1].step.commit if own else ""
            rows[slug] = [*own, *(row for row in rows[old] if row.step.commit != begins)]
    return rows


def _renamed_from(text: str) -> str:
    try:
        parts = head.split(text)
        said = field_of(head.read(parts).tree, "renamed_from") if parts else ""
    except HeadError:
        return ""
    return said if isinstance(said, str) else ""


# --- events -----------------------------------------------------------------------------------------------------------


def records(found: Sequence[Version], now: Lesson | None, field: str) -> list[Record]:
    """The events of a field (seen, confirmed, disputed), oldest first, each with the commit that brought it."""
    brought: dict[Event, Step] = {}
    removed: dict[Event, Step] = {}
    for version in found:
        before, after = _events(version.before, field), _events(version.after, field)
        for event in after - before:
            brought.setdefault(event, version.step)
            removed.pop(event, None)
        if version.after or version.gone:  # of a file that cannot be read nobody knows what it lost
            removed |= dict.fromkeys(before - after, version.step)
    last = now or newest(found)
    lines = event_lines(last.text, field) if last else {}
    there = _events(now, field)
    if now is None:
        removed = {event: step for event, step in removed.items() if event not in lines}
    rows = [
        Record(event, brought.get(event), lines.get(event, 0), None if event in there else removed.get(event))
        for event in there | set(brought)
    ]
    return sorted(rows, key=lambda row: (row.event.on, row.event.run, row.event.evidence))


def _events(lesson: Lesson | None, field: str) -> set[Event]:
    return set(getattr(lesson, field)) if lesson else set()


def event_lines(text: str, field: str) -> dict[Event, int]:
    """The line (from 1) in which each event of a field begins."""
    reading = lessonfile.read("x.md", text)
    if isinstance(reading, lessonfile.Quarantined):
        return {}
    events: Sequence[Event] = getattr(reading.lesson, field)
    key, indent, items = 0, 0, list[int]()
    for number, line in enumerate(text.split("\n"), 1):
        if not key:
            match = re.match(rf"\ufeff?([ ]*){field}[ ]*:", line)
            key, indent = (number, len(match[1])) if match else (0, 0)
        elif re.match(rf"[ ]{{{indent},}}-[ ]", line):
            items.append(number)
        elif not re.match(rf"[ ]{{{indent + 1},}}|\s*$|\s*#", line):
            break
    if len(items) != len(events):
        items = [key] * len(events)
    return dict(zip(reversed(events), reversed(items), strict=True))
