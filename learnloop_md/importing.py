"""Bring lessons and records of other tools into a memory, each once, as one commit (R000-73). No IO here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from learnloop_md import absorb, capture, guard, incoming, lessonfile, life, notebook, poison, repeats, trust
from learnloop_md import lesson as lessons
from learnloop_md.errors import LearnloopError, RefusedError
from learnloop_md.incoming import Fault, Item
from learnloop_md.lesson import Lesson, merged_events
from learnloop_md.plan import Draft


class Report(NamedTuple):
    """What became of each item: where it stood, and the lesson it is in or the reason why it is in none."""

    added: tuple[tuple[str, str], ...]
    joined: tuple[tuple[str, str], ...]
    known: tuple[tuple[str, str], ...]
    refused: tuple[Fault, ...]


def of_notebook(text: str, name: str, today: str) -> tuple[list[Item], list[Fault]]:
    """The entries of a notebook (memory.md, review-patterns.md): a current one was seen twice on its day.

    What an entry says besides its fields goes to its Why; what stands in a zone and is no entry is a fault.
    """
    items: list[Item] = []
    faults: list[Fault] = []
    for row in notebook.sections(text):
        where = f"{name}:{row.start + 1}"
        try:
            if notebook.is_entry(row):
                items.append(Item(where, _of_entry(row, name, today), name=row.slug))
            elif row.zone:
                faults.append(Fault(where, "no entry: it has neither a day nor a lesson"))
        except RefusedError as error:
            faults.append(Fault(where, error.message))
    return items, faults


def _of_entry(row: notebook.Entry, name: str, today: str) -> Lesson:
    incoming.refuse_controls(*row.lines)
    made = absorb.adopted_entry(row, "", "", today, "")
    key = f"notebook-{made.created}-{row.slug}"
    rule = incoming.lesson(key, made.created, made.rule, why=f"{made.why} {row.rest}", how=made.how)
    seen = tuple(event._replace(run=key + "-again" * n, evidence=name) for n, event in enumerate(made.seen))
    return made._replace(rule=rule.rule, why=rule.why, how=rule.how, description=rule.description, seen=seen)


def _there(draft: Draft, runs: Mapping[str, str], ids: Iterable[str]) -> set[str]:
    """The lessons that some of the ids stand for: by a run, by their own name, or as a record's."""
    kept = capture.by_id(draft.lessons.values())
    named = {one: one for one in draft.lessons} | {one: row.slug for one, row in kept.items()}
    return {slug for one in ids for slug in (runs.get(one), named.get(one)) if slug}


def bring(draft: Draft, items: Iterable[Item], faults: Iterable[Fault], source: str, *, strict: bool = False) -> Report:
    """Every item that can come in, in one commit; one that is here already changes nothing.

    strict: raises RefusedError that names all faults where there is one, and nothing comes in.
    """
    added: list[tuple[str, str]] = []
    joined: list[tuple[str, str]] = []
    known: list[tuple[str, str]] = []
    refused = list(faults)
    runs = {event.run: slug for slug, row in draft.lessons.items() for event in (*row.seen, *row.confirmed)}
    draft.gathering = True
    rows = _older_first(items)
    is_export = any(row.told and (row.state or row.told.record.task_type in lessons.KINDS) for row in rows)
    # Lessons of one memory are told from each other there.
    apart = _there(draft, runs, [row.told.record.id for row in rows if row.told]) if is_export else set[str]()
    try:
        for item in rows:
            mark = draft.mark()
            try:
                action, slug = _brought(draft, item, runs, apart)
            except LearnloopError as error:
                draft.back(mark)
                refused.append(Fault(item.where, error.message))
                continue
            {"added": added, "joined": joined}.get(action, known).append((item.where, slug))
            apart |= {slug} if is_export and action == "added" else set()
    finally:
        draft.gathering = False
    if strict and refused:
        _refuse(refused, source)
    changed = [slug for _, slug in (*added, *joined)]
    count = f"{len(added)} came in, {len(joined)} joined" + (f", {len(refused)} refused" if refused else "")
    draft.cut("import", list(dict.fromkeys(changed)), count, subject=f"learnloop: import {source}")
    return Report(tuple(added), tuple(joined), tuple(known), tuple(refused))


def _refuse(refused: list[Fault], source: str) -> None:
    told = sorted((int(row.where.rpartition(":")[2]), row.why) for row in refused)
    lines = "; ".join(f"line {number}: {why}" for number, why in told)
    hint = "mend them, or bring in the others: --partial"
    raise RefusedError(f"nothing was imported from {source}: {lines}", hint, code="bad-lines")


def _older_first(items: Iterable[Item]) -> list[Item]:
    """The items, each record behind the one that it supersedes, whatever the order of the lines."""
    rows = list(items)
    by_id = {row.told.record.id: row for row in reversed(rows) if row.told}
    done: set[int] = set()
    ordered: list[Item] = []
    for start in rows:
        chain: list[Item] = []
        row: Item | None = start
        while row is not None and id(row) not in done:
            done.add(id(row))
            chain.append(row)
            row = by_id.get(row.told.supersedes) if row.told else None
        ordered += reversed(chain)
    return ordered


def _brought(draft: Draft, item: Item, runs: dict[str, str], apart: Collection[str]) -> tuple[str, str]:
    if item.told:
        known = runs.get(item.told.record.id, "")
        if item.told.record.id in draft.lessons:
            return "known", item.told.record.id  # a lesson of this memory that was exported
        if known and item.told.record.id not in capture.by_id(draft.lessons.values()):
            return "known", known  # it joined another lesson
        outcome = capture.capture(draft, item.told, own_run=True, state=item.state, apart=apart)
        action = {"added": "added", "unchanged": "known"}.get(outcome.action, "joined")
        slug = outcome.slug
    else:
        assert item.lesson is not None, "an item is a lesson or a record"
        key = item.lesson.seen[0].run
        if key in runs:
            return "known", runs[key]
        action, slug = _lesson(draft, item, item.lesson)
    if action == "added" and draft.lesson(slug).state == "candidate":
        draft.set(slug, reviewed=draft.today)  # old days must not make it stale before anybody has seen it
    runs.update({event.run: slug for event in draft.lesson(slug).seen})
    return action, slug


def _lesson(draft: Draft, item: Item, lesson: Lesson) -> tuple[str, str]:
    from learnloop_md import matching  # lazy: as for a note

    _check(lesson)
    others = [row for row in draft.lessons.values() if not row.is_note]
    alike = [row for row in matching.compare(lesson, others) if row.verdict == "same"]
    if alike:
        slug = life.stands_for(draft, alike[0].slug)
        return ("joined", slug) if _joined(draft, slug, lesson) else ("known", slug)
    slug = life.new_slug(draft, item.name or lesson.title or lessons.first_sentence(lesson.rule))
    made = lesson._replace(slug=slug, path=draft.memory.place.path_of(slug), name=slug)
    if made.title and lessons.fold(made.title) == lessons.title_of(slug):
        made = made._replace(title="")
    draft.put(slug, lessonfile.render(made))
    life.graduate_if_repeated(draft, slug)
    return "added", slug


def _joined(draft: Draft, slug: str, lesson: Lesson) -> bool:
    """Add the sightings to a lesson that says the same, and the reasons that it lacks.

    One that is out of force in its source says nothing new.
    """
    if lesson.state == "archived":
        return False
    repeats.take_in(draft, draft.lesson(slug), lesson._asdict())
    for event in lesson.seen:
        life.see(draft, slug, event=event)
    there = draft.lesson(slug)
    for name in ("confirmed", "disputed"):
        if events := getattr(lesson, name):
            draft.set(slug, **{name: merged_events(getattr(there, name), events)})
    return True


def _check(lesson: Lesson) -> None:
    """Raises RefusedError for a secret in any field, for what would steer a model, for what no file may hold."""
    text = lessonfile.render(lesson)
    guard.refuse_secrets({"it": text})
    trust.refuse("it", poison.find(text))
    if isinstance(found := lessonfile.decode("it", text.encode("utf-8", "surrogatepass")), lessonfile.Quarantined):
        raise RefusedError(found.message, code=found.reason)
    if len(text.encode("utf-8", "surrogatepass")) > lessonfile.SIZE_WARNING:
        raise RefusedError("it would be larger than 64 KiB", code="too-long")
