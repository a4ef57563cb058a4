"""Cleanup: what is due, the plan, and the plan carried out, one commit per kind of change (design §5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from learnloop_md import lesson as lessons
from learnloop_md import lessonfile
from learnloop_md.lesson import Lesson
from learnloop_md.memory import Memory
from learnloop_md.plan import Draft, diff

BY_HAND = ("codify", "decide")  # what a cleanup proposes and a person does


class Item(NamedTuple):
    """One proposal of a cleanup."""

    change: str  # merge, graduate, archive (done by --apply), or one of BY_HAND
    slugs: tuple[str, ...]
    why: str


def reasons(memory: Memory, today: str, lesson_list: Iterable[Lesson] | None = None) -> list[str]:
    """Why cleanup is due, empty when it is not."""
    settings = memory.place.settings
    rows = memory.lessons.values() if lesson_list is None else lesson_list
    return lessons.cleanup_reasons(rows, today, due_at=settings.candidates_due, stale_days=settings.stale_days)


def plan(memory: Memory, today: str) -> list[Item]:
    """What a cleanup would do and propose, in the order in which it is done; no rule ever deletes."""
    settings = memory.place.settings
    active = {
        slug: lesson for slug, lesson in sorted(memory.lessons.items()) if lesson.is_active and not lesson.is_note
    }
    merges, clashes = _pairs(active)
    clashing = {slug for item in clashes for slug in item.slugs}
    left = {slug: lesson for slug, lesson in _merged(active, merges).items() if slug not in clashing}
    fates = [item for lesson in left.values() if (item := _fate(memory, lesson, today))]
    archived = [item for item in fates if item.change == "archive"]
    gone = {item.slugs[0] for item in archived}
    stays = [lesson for slug, lesson in left.items() if slug not in gone]
    archived += _over_cap(stays, settings.active_cap - len(clashing))
    gone |= {item.slugs[0] for item in archived}
    graduates = [item for item in fates if item.change == "graduate" and item.slugs[0] not in gone]
    codify = [
        Item(
            "codify",
            (slug,),
            f"proven in {len(_good_runs(lesson))} runs without dispute: learnloop codify {slug}",
        )
        for slug, lesson in left.items()
        if slug not in gone and lessons.is_reliable(lesson, settings.sightings_to_codify)
    ]
    return [
        *(_possible(memory, item) for item in (*merges, *graduates, *archived)),
        *codify,
        *clashes,
        *(item for item in fates if item.change == "decide"),
    ]


def summary(items: Iterable[Item]) -> str:
    """A plan in a few words: merge 1, archive 2."""
    counts = Counter(item.change for item in items)
    return ", ".join(f"{change} {count}" for change, count in counts.items())


def _good_runs(lesson: Lesson) -> set[str]:
    return {event.run for event in (*lesson.seen, *lesson.confirmed)}


def _merged(active: dict[str, Lesson], merges: list[Item]) -> dict[str, Lesson]:
    """The active lessons as they will be after the merges, done in their order."""
    after = dict(active)
    for item in merges:
        source, target = (after[slug] for slug in item.slugs)
        after[target.slug] = target._replace(
            seen=lessons.merged_events(source.seen, target.seen),
            confirmed=lessons.merged_events(source.confirmed, target.confirmed),
            disputed=lessons.merged_events(source.disputed, target.disputed),
            pinned=source.pinned or target.pinned,
        )
        del after[source.slug]
    return after


def _pairs(active: dict[str, Lesson]) -> tuple[list[Item], list[Item]]:
    """Candidates that say the same as another lesson (newer first), and pairs that may contradict."""
    from learnloop_md import matching  # lazy: only a plan asks what is alike (20 ms)

    merges: list[Item] = []
    clashes: dict[tuple[str, ...], Item] = {}
    folded: set[str] = set()
    for slug, lesson in sorted(active.items(), key=lambda row: (row[1].created, row[0]), reverse=True):
        if lesson.state != "candidate":
            continue
        others = [row for other, row in active.items() if other not in folded | {slug}]
        for found in matching.compare(lesson, others):
            pair = tuple(sorted((slug, found.slug)))
            if found.verdict == "opposite":
                why = f"they may contradict each other ({found.why}): supersede one, archive one, or keep both"
                clashes.setdefault(pair, Item("decide", pair, why))
            elif found.verdict == "same" and slug not in folded and active[found.slug].type == lesson.type:
                folded.add(slug)
                merges.append(Item("merge", (slug, found.slug), f"{slug} says the same as {found.slug} ({found.why})"))
    clashing = {slug for pair in clashes for slug in pair}
    return [item for item in merges if not clashing & set(item.slugs)], list(clashes.values())


def _possible(memory: Memory, item: Item) -> Item:
    """The item, or a word to a person where a head cannot take the change: one lesson must not stop the others."""
    fixed = [slug for slug in item.slugs if not lessonfile.is_editable(memory.lessons[slug])]
    if not fixed:
        return item
    return Item(
        "decide", item.slugs, f"{item.why}; but the head of {fixed[0]} cannot be edited: learnloop check says why"
    )


def _fate(memory: Memory, lesson: Lesson, today: str) -> Item | None:
    """What the rules make of one active lesson."""
    settings, slug = memory.place.settings, (lesson.slug,)
    if lessons.is_rejected(lesson) and not lesson.pinned:
        return Item("archive", slug, f"Disputed: {len(lesson.disputed)} times")
    if lessons.is_repeated(lesson, settings.sightings_to_graduate):
        return Item("graduate", slug, f"seen in {len(lessons.runs(lesson))} independent runs")
    if not lessons.awaits(lesson, today, settings.stale_days) or lessons.age_days(lesson, today) <= settings.stale_days:
        return None
    age = lessons.age_days(lesson, today)
    if memory.place.kind == "project" and lesson.type in lessons.FACTS and settings.facts_graduate:
        if lesson.disputed:
            return Item("decide", slug, f"a disputed fact, {age} days old: graduate or archive it")
        return Item("graduate", slug, f"a fact that stood undisputed for {age} days")
    if lesson.pinned:
        return Item("decide", slug, f"pinned, and {age} days old as a candidate: graduate or unpin it")
    times = "seen once, on" if len(lesson.seen) < 2 else "last seen on"
    return Item("archive", slug, f"Stale: {times} {lessons.newest_sighting(lesson)}; not again")


def _over_cap(active: list[Lesson], cap: int) -> list[Item]:
    """The weakest beyond the cap of active lessons; pinned ones are exempt (R004-33)."""
    weakest = sorted((lesson for lesson in active if not lesson.pinned), key=lessons.value_order)
    over = max(len(active) - cap, 0)
    return [Item("archive", (lesson.slug,), f"Evicted: more than {cap} active lessons") for lesson in weakest[:over]]


def preview(memory: Memory, today: str, item: Item) -> str:
    """What one item of a plan would change in lesson files, as a unified diff; "" for what a person does.

    The document follows from them and is left out.
    """
    draft = Draft(memory, today=today, run="", command="")
    carry_out(draft, [item])
    edits = [edit for plan in draft.plans for edit in plan.edits if edit.path != memory.place.document]
    return diff([edit._replace(path=memory.place.in_repo(edit.path)) for edit in edits])


def carry_out(draft: Draft, items: Iterable[Item]) -> None:
    """Do what a plan says, one commit per kind of change; proposals for a person are left alone."""
    from learnloop_md import life  # lazy: a plan alone needs none of it

    rows = list(items)
    for kind in ("merge", "graduate", "archive"):
        now = [item for item in rows if item.change == kind]
        for item in now:
            if kind == "merge":
                life.fold_into(draft, item.slugs[0], item.slugs[1])
            elif kind == "graduate":
                draft.set(item.slugs[0], state="current")
            else:
                draft.set(item.slugs[0], state="archived", archive_note=item.why)
        if now:
            slugs = [slug for item in now for slug in item.slugs]
            count = f"{len(now)} {'lesson' if len(now) == 1 else 'lessons'}"
            what = slugs[0] if len(now) == 1 else count
            subject = f"learnloop: cleanup, {kind} {what}"
            draft.cut(
                "cleanup",
                slugs,
                "\n".join(f"{'/'.join(item.slugs)}: {item.why}" for item in now),
                subject=subject,
            )
