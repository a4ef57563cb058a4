"""A memory with its past, as figures and rows: what `report` shows in every form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from learnloop_md import chronicle, guard, history, index, textconv
from learnloop_md.chronicle import Version
from learnloop_md.fence import tokens
from learnloop_md.history import Step
from learnloop_md.lesson import STATES, Lesson, confidence, days_between, runs, shorten
from learnloop_md.lessonfile import stem
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.relapse import ReadOther, relapses
from learnloop_md.stats import median

REMOVED = "removed"
_POINTS = 60  # of the curve of tokens
_DIFF_LINES, _DIFF_WIDTH = 12, 160


class Stage(NamedTuple):
    """A time in one state; until is "" where it goes on."""

    state: str
    since: str
    until: str


class Change(NamedTuple):
    """What one commit did to a lesson: its verb and reason, and the lines of its head and text that changed."""

    commit: str
    day: str
    author: str
    change: str
    why: str
    lines: tuple[str, ...]  # each with "+" or "-" in front


class Row(NamedTuple):
    """A lesson with its past; lesson is the newest text, also of one that was removed."""

    lesson: Lesson
    state: str
    stages: tuple[Stage, ...]
    changes: tuple[Change, ...]  # newest first
    graduated_after: int | None  # days
    relapses: tuple[str, ...]

    @property
    def last(self) -> str:
        """The day of the newest commit that touched it."""
        return self.changes[0].day if self.changes else self.lesson.created


class Overview(NamedTuple):
    """A memory as it stands and as it came to be."""

    name: str
    kind: str
    day: str
    commit: str
    rows: tuple[Row, ...]  # current, candidate, archived, removed; by slug
    tokens: tuple[tuple[str, int], ...]  # day and what a session loads from then on
    quarantined: int
    private: int
    is_cut: bool = False  # a shallow clone: its oldest commit stands for all before it

    @property
    def counts(self) -> dict[str, int]:
        """How many lessons each zone has."""
        found = Counter(row.state for row in self.rows)
        return {state: found[state] for state in (*STATES, REMOVED)}

    @property
    def median_days(self) -> float | None:
        """How long lessons were candidates before they graduated."""
        found = [row.graduated_after for row in self.rows if row.graduated_after is not None]
        return median(found) if found else None

    @property
    def outcomes(self) -> tuple[int, int]:
        """Confirmations and disputes of the lessons that are there."""
        there = [row.lesson for row in self.rows if row.state != REMOVED]
        return sum(len(x.confirmed) for x in there), sum(len(x.disputed) for x in there)

    @property
    def relapsed(self) -> list[Row]:
        return [row for row in self.rows if row.relapses]


def overview(memory: Memory, today: str, read_other: ReadOther) -> Overview:
    """The overview of a memory. Private lessons and quarantined files are counted and not told (design §2, §10)."""
    place, lessons = memory.place, memory.lessons
    told = {slug: x for slug, x in lessons.items() if slug not in memory.private and not x.is_note}
    steps = history.steps(place, full=True) if place.repo else []
    hurt = {stem(q.path) for q in memory.quarantined}
    hidden = hurt | memory.private | {slug for slug, x in lessons.items() if x.is_note}
    traces = chronicle.joined(chronicle.traced(place, steps), {slug: x.text for slug, x in told.items()})
    traces = {slug: rows for slug, rows in traces.items() if slug not in hidden and not guard.in_name(slug)}
    versions = chronicle.versions(place, traces)
    fallen: dict[str, list[str]] = {}
    for found in relapses(memory, read_other):
        fallen.setdefault(found.slug, []).append(found.message)
    rows = [
        row
        for slug in {*told, *versions}
        if (row := _row(told.get(slug), versions.get(slug, []), tuple(fallen.get(slug, ()))))
    ]
    order = {state: n for n, state in enumerate(("current", "candidate", "archived", REMOVED))}
    rows.sort(key=lambda row: (order[row.state], row.lesson.slug))
    name = place.folder.parent.name if place.kind == "skill" else place.repo.root.name if place.repo else ""
    return Overview(
        name or place.folder.name,
        place.kind,
        today,
        steps[0].commit if steps else "",
        tuple(rows),
        tuple(_tokens(memory, steps, today)),
        len(memory.quarantined),
        len(memory.private),
        any(step.is_cut for step in steps),
    )


def _row(now: Lesson | None, found: Sequence[Version], fallen: tuple[str, ...]) -> Row | None:
    newest = now or chronicle.newest(found)
    if newest is None or newest.is_note or (now is None and guard.find_secrets(newest.text)):
        return None
    state = now.state if now else REMOVED
    changes = _without_secrets([_change(version) for version in reversed(found)], newest)
    return Row(newest, state, tuple(_stages(found, state, newest)), changes, _graduated_after(found, newest), fallen)


def _stages(found: Sequence[Version], state: str, newest: Lesson) -> Iterable[Stage]:
    """The states it was in, one after the other; what is not committed counts from the last commit on."""
    marks: list[tuple[str, str]] = []
    for version in found:
        after = REMOVED if version.gone else version.after.state if version.after else ""
        if after and (not marks or marks[-1][0] != after):
            marks.append((after, version.step.date))
    if not marks:
        marks.append((state, newest.created))
    elif marks[-1][0] != state:
        marks.append((state, found[-1].step.date))
    for n, (name, since) in enumerate(marks):
        if name != REMOVED:
            yield Stage(name, since, marks[n + 1][1] if n + 1 < len(marks) else "")


def _graduated_after(found: Sequence[Version], newest: Lesson) -> int | None:
    """Days from the first sighting to the one that made it current, None where it was never seen to graduate."""
    for version in found:
        before, after = version.before, version.after
        if before and after and (before.state, after.state) == ("candidate", "current"):
            days = sorted(event.on for event in after.seen if event.on)
            begun = min([day for day in (after.created, *days[:1]) if day], default="")
            done = days[-1] if len(runs(after)) > 1 and days else version.step.date
            return max(days_between(begun, done), 0) if begun else None
    return None


def _change(version: Version) -> Change:
    step = version.step
    lines = _changed(version.before, version.after) if version.before and version.after else ()
    return Change(step.commit, step.date, step.author, version.change, step.why, lines)


def _without_secrets(changes: Sequence[Change], newest: Lesson) -> tuple[Change, ...]:
    """The changes; what they tell beyond the newest text, which was looked at when it was read, is looked at here."""

    def is_clean(*rows: Change) -> bool:
        return not guard.find_secrets(
            "\n".join(line for row in rows for line in (row.why, *row.lines) if line[2:] not in newest.text)
        )

    if is_clean(*changes):
        return tuple(changes)
    withheld = ("- withheld: it holds what looks like a secret",)
    return tuple(row if is_clean(row) else row._replace(lines=withheld, why="") for row in changes)


def _changed(before: Lesson, after: Lesson) -> tuple[str, ...]:
    """The lines that only one of the two has, as `git diff` would show them through the driver."""
    old, new = _readable(before), _readable(after)
    lines = [f"- {line}" for line in _only(old, new)] + [f"+ {line}" for line in _only(new, old)]
    more = [f"  … {len(lines) - _DIFF_LINES} more lines"] if len(lines) > _DIFF_LINES else []
    return tuple([shorten(line, _DIFF_WIDTH) for line in lines[:_DIFF_LINES]] + more)


@lru_cache(maxsize=8)  # what one commit left is what the next one found
def _readable(lesson: Lesson) -> Counter[str]:
    return Counter(textconv.readable(lesson).split("\n"))


def _only(lines: Counter[str], others: Counter[str]) -> list[str]:
    """The lines that stand there more often, in their order."""
    return [line for line, count in lines.items() if count > others.get(line, 0) and line.strip()]


def _tokens(memory: Memory, steps: Sequence[Step], today: str) -> Iterable[tuple[str, int]]:
    """For each day on which the document changed what a session loads of it, at most 60 of them, and today."""
    place = memory.place
    path = place.in_repo(place.document)
    days: dict[str, str] = {}
    for step in reversed(steps):
        if path in step.changes and not step.is_merge:
            days[step.date] = step.changes[path][1]
    chosen = _spread(sorted(days), _POINTS)
    texts = history.contents(place, [days[day] for day in chosen]) if chosen else []
    for day, data in zip(chosen, texts, strict=True):
        yield day, _loaded(place, (data or b"").decode("utf-8", "replace"))
    yield max(today, chosen[-1] if chosen else ""), _loaded(place, memory.document)


def _spread(days: Sequence[str], most: int) -> list[str]:
    """At most so many of the days, evenly, the first and the last among them."""
    if len(days) <= most:
        return list(days)
    return [days[round(n * (len(days) - 1) / (most - 1))] for n in range(most)]


def _loaded(place: Place, text: str) -> int:
    """The tokens that a session loads of a document: Claude Code cuts an index, an agent reads a notebook whole."""
    return tokens(text if place.kind == "skill" else index.loaded_part(text))


def as_data(found: Overview) -> dict[str, object]:
    """The overview for programs."""
    confirmed, disputed = found.outcomes
    return {
        "memory": found.name,
        "kind": found.kind,
        "day": found.day,
        "commit": found.commit,
        "lessons": found.counts,
        "quarantined": found.quarantined,
        "private": found.private,
        "median_days_to_graduate": found.median_days,
        "outcomes": {"confirmed": confirmed, "disputed": disputed},
        "relapses": [{"slug": row.lesson.slug, "why": list(row.relapses)} for row in found.relapsed],
        "tokens": [{"day": day, "tokens": count} for day, count in found.tokens],
        "rows": [_row_data(row) for row in found.rows],
    }


def _row_data(row: Row) -> Mapping[str, object]:
    lesson = row.lesson
    return {
        "slug": lesson.slug,
        "title": lesson.shown_title,
        "state": row.state,
        "type": lesson.type,
        "rule": lesson.rule,
        "pinned": lesson.pinned,
        "confidence": confidence(lesson),
        "seen": len(lesson.seen),
        "confirmed": len(lesson.confirmed),
        "disputed": len(lesson.disputed),
        "graduated_after": row.graduated_after,
        "stages": [stage._asdict() for stage in row.stages],
        "changes": [{**change._asdict(), "lines": list(change.lines)} for change in row.changes],
    }
