"""Keep what a run teaches: a run record becomes a lesson, whatever its outcome (R000-20, ruling C1). No IO here."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from learnloop_md import guard, incoming, lessonfile, life, poison, repeats, trust
from learnloop_md import lesson as lessons
from learnloop_md import record as records
from learnloop_md.errors import RefusedError
from learnloop_md.lesson import Event, Lesson
from learnloop_md.life import Outcome
from learnloop_md.memory import Memory
from learnloop_md.plan import Draft
from learnloop_md.record import Teaching, Told

# A record that joins a lesson is one no more: it must say the same in nearly the same words. Cleanup finds the others.
_SURE = 0.8


def by_id(rows: Iterable[Lesson]) -> dict[str, Lesson]:
    """The lessons that come from a run, by the record's id."""
    return {lesson.record.id: lesson for lesson in rows if lesson.record and lesson.record.id}


def check(told: Told) -> None:
    """Raises RefusedError for a secret in any field (R004-20), and for what would steer a model."""
    record = told.record
    fields = {name: value for name, value in record._asdict().items() if isinstance(value, str)}
    more = {"edge_cases": "\n".join(record.edge_cases), "stack_tags": "\n".join(record.stack_tags)}
    fields |= {**more, "tags": "\n".join(told.tags)}
    guard.refuse_secrets(fields)
    trust.refuse("the record", poison.find("\n\n".join(fields.values())))


def capture(
    draft: Draft,
    told: Told,
    *,
    skill_version: str = "",
    own_run: bool = False,
    state: str = "",
    apart: Collection[str] = (),
) -> Outcome:
    """Keep a record: a new candidate, or one more sighting of the lesson that says the same (R000-23, R004-30).

    own_run: the record's id stands for the run (import); else it is the command's. state: what it is in its source,
    current or archived. apart: the lessons that it is told from there. Raises RefusedError where the id belongs to
    another record.
    """
    check(told)
    known = by_id(draft.lessons.values())
    if told.record.id in known:
        return _known(draft, told, known[told.record.id].slug)
    told = _completed(told, draft.today, known)
    teaching = records.teaching(told.record, exported=own_run)
    exported = own_run and told.record.task_type == teaching.kind  # a lesson's: its texts are no run's, its id a name
    event = Event(incoming.day_of(told.record.timestamp, draft.today), told.record.id if own_run else draft.run)
    if same := _repeated(draft, told, teaching.rule, apart):
        if state == "archived":
            return life.unchanged(draft, same, f"{told.record.id} is archived in its source")
        if exported:
            given = {"why": teaching.why, "how": teaching.how, "context": "", "tags": told.tags}
            repeats.take_in(draft, draft.lesson(same), given)
        return _seen(draft, same, event, told)
    words = told.record.id if exported and not told.record.id.startswith("learn_") else ""
    slug = _add(draft, told, teaching, event, skill_version, words or lessons.first_sentence(teaching.rule))
    if state == "archived":
        draft.set(slug, state="archived", archive_note="archived in its source")
    elif state == "current":  # as an entry of a notebook: seen twice on its day
        draft.set(slug, state="current", seen=(event, event._replace(run=f"{event.run}-again")))
    named = told.supersedes
    old = known[named].slug if named in known else named
    is_here = old in draft.lessons
    if named and not is_here:  # it is named all the same
        draft.set(slug, supersedes=named)
    life.cut_new(draft, "capture", slug, teaching.why or teaching.rule, old if is_here else "")
    said = f"it supersedes {named}, which is not in this memory"
    if is_here:
        said = f"takes the place of {old}, which is archived"
    return Outcome("added", slug, draft.lesson(slug).state, (said,) if named else (), _more(told), captures=True)


def _more(told: Told) -> dict[str, Any]:
    return {"id": told.record.id, "outcome": told.record.outcome}


def _known(draft: Draft, told: Told, slug: str) -> Outcome:
    """The same record again changes nothing; another one under its id is refused."""
    there = draft.lesson(slug).record
    given = told.record._replace(timestamp=told.record.timestamp or (there.timestamp if there else ""))
    if given != there:
        message = f"the id {given.id} belongs to another record, {slug}"
        raise RefusedError(message, "leave the id out, and it gets the next one of its day", code="exists")
    return life.unchanged(draft, slug, f"{given.id} is stored already as {slug}")._replace(
        more=_more(told), captures=True
    )


def _completed(told: Told, today: str, known: Iterable[str]) -> Told:
    """The record with the id and the time that it did not bring."""
    record = told.record
    time = record.timestamp or f"{today}T00:00:00Z"
    run = record.id or records.next_id(incoming.day_of(time, today), known)
    return told._replace(record=record._replace(timestamp=time, id=run))


def _repeated(draft: Draft, told: Told, rule: str, apart: Collection[str]) -> str:
    """The lesson that says the same and did not end otherwise, "" for none."""
    from learnloop_md import sameness  # lazy: only a capture asks what is alike (20 ms)

    good = told.record.outcome == "success"
    others = [
        (slug, row.rule)
        for slug, row in draft.lessons.items()
        if slug not in apart and not row.is_note and (not row.outcome or (row.outcome == "success") == good)
    ]
    found = [row for row in sameness.rank(rule, others) if row.verdict == "same" and row.score >= _SURE]
    found.sort(key=lambda row: (not draft.lesson(row.slug).is_active, -row.score, row.slug))
    return life.stands_for(draft, found[0].slug) if found else ""


def _seen(draft: Draft, slug: str, event: Event, told: Told) -> Outcome:
    summary = lessons.fold(told.record.input_summary)
    evidence = f"{told.record.id}, {told.record.outcome}: {summary}"
    seen = life.see(draft, slug, event=event._replace(evidence=evidence))
    return seen._replace(more={**seen.more, **_more(told)})


def _add(draft: Draft, told: Told, teaching: Teaching, event: Event, skill_version: str, words: str) -> str:
    record = told.record
    rule, fold = teaching.rule, lessons.fold
    slug = life.new_slug(draft, words)
    lesson = Lesson(
        slug=slug,
        path=draft.memory.place.path_of(slug),
        text="",
        name=slug,
        description=lessonfile.describe(rule),
        type="project" if record.outcome == "failure" else "feedback",
        state="candidate",
        kind=teaching.kind,
        created=event.on,
        tags=told.tags,
        seen=(event,),
        confidence=told.confidence,
        skill_version=skill_version,
        rule=fold(rule),
        why=fold(teaching.why),
        how=fold(teaching.how),
        human_confirmed=told.human_confirmed,
        **record._asdict(),
    )
    draft.put(slug, lessonfile.render(lesson))
    return slug


def supersedes_id(memory: Memory, lesson: Lesson) -> str:
    """What a record names as superseded: the older one's id where it has one."""
    old = memory.lessons.get(lesson.supersedes)
    return old.record.id if old and old.record and old.record.id else lesson.supersedes
