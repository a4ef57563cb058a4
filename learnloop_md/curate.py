"""Cleanup: what is due, the plan for it, and the plan carried out, one commit per kind of change (design §5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from learnloop_md import lesson as lessons
from learnloop_md import life, sameness
from learnloop_md.lesson import Lesson
from learnloop_md.memory import Memory
from learnloop_md.plan import Draft


class Item(NamedTuple):
    """One proposal of a cleanup."""

    change: str  # merge, graduate, archive (done by --apply); codify, decide (for a person)
    slugs: tuple[str, ...]
    why: str


def reasons(memory: Memory, today: str, lesson_list: Iterable[Lesson] | None = None) -> list[str]:
    """Why cleanup is due, empty when it is not."""
    settings = memory.place.settings
    rows = memory.lessons.values() if lesson_list is None else lesson_list
    return lessons.cleanup_reasons(rows, today, due_at=settings.candidates_due, stale_days=settings.stale_days)


def plan(memory: Memory, today: str) -> list[Item]:
    """What a cleanup would do and propose, in the order in which it is done; nothing is ever deleted by a rule."""
    active = {slug: lesson for slug, lesson in memory.lessons.items() if lesson.is_active and not lesson.is_note}
    merges, clashes = _pairs(active)
    claimed = {item.slugs[0] for item in merges} | {slug for item in clashes for slug in item.slugs}
    merged = {item.slugs[1] for item in merges}
    settings = memory.place.settings
    items = [*merges]
    archived: list[Item] = []
    for slug, lesson in sorted(active.items()):
        if slug in claimed:
            continue
        both = [lesson, *(active[item.slugs[0]] for item in merges if item.slugs[1] == slug)]
        together = lesson._replace(seen=lessons.merged_events(*(row.seen for row in both)))
        item = _fate(memory, together, today)
        if item and item.change == "archive" and slug not in merged:
            archived.append(item)
        elif item and item.change == "graduate":
            items.append(item)
    gone = {slug for item in archived for slug in item.slugs} | claimed
    archived += _over_cap([x for s, x in sorted(active.items()) if s not in gone], settings.active_cap)
    items += archived
    done = {slug for item in archived for slug in item.slugs}
    for slug, lesson in sorted(active.items()):
        if slug not in done and lessons.is_reliable(lesson, settings.sightings_to_codify):
            good = len({event.run for event in (*lesson.seen, *lesson.confirmed)})
            items.append(Item("codify", (slug,), f"proven in {good} runs without dispute: learnloop codify {slug}"))
    return items + clashes


def _pairs(active: dict[str, Lesson]) -> tuple[list[Item], list[Item]]:
    """Candidates that say the same as another lesson (newer first), and pairs that contradict each other."""
    merges: list[Item] = []
    clashes: dict[tuple[str, ...], Item] = {}
    folded: set[str] = set()
    for slug, lesson in sorted(active.items(), key=lambda row: (row[1].created, row[0]), reverse=True):
        if lesson.state != "candidate":
            continue
        others = [(other, row.rule) for other, row in active.items() if other not in folded | {slug}]
        for found in sameness.rank(lesson.rule, others):
            pair = tuple(sorted((slug, found.slug)))
            if found.verdict == "opposite":
                clashes.setdefault(pair, Item("decide", pair, f"they contradict each other ({found.why}): supersede one, or archive it"))
            elif found.verdict == "same" and slug not in folded and active[found.slug].type == lesson.type:
                folded.add(slug)
                merges.append(Item("merge", (slug, found.slug), f"{slug} says the same as {found.slug} ({found.why})"))
    clashing = {slug for pair in clashes for slug in pair}
    return [item for item in merges if not clashing & set(item.slugs)], list(clashes.values())


def _fate(memory: Memory, lesson: Lesson, today: str) -> Item | None:
    """What the rules make of one active lesson."""
    settings, slug = memory.place.settings, (lesson.slug,)
    if lessons.is_rejected(lesson) and not lesson.pinned:
        return Item("archive", slug, f"Disputed: {len(lesson.disputed)} times")
    if lessons.is_repeated(lesson, settings.sightings_to_graduate):
        return Item("graduate", slug, f"seen in {len(lessons.runs(lesson))} independent runs")
    if not lessons.awaits(lesson, today, settings.stale_days) or lessons.age_days(lesson, today) <= settings.stale_days:
        return None
    if memory.place.kind == "project" and lesson.type in lessons.FACTS and settings.facts_graduate:
        if lesson.disputed:
            return None
        return Item("graduate", slug, f"a fact that stood undisputed for {lessons.age_days(lesson, today)} days")
    if lesson.pinned:
        return None
    return Item("archive", slug, f"Stale: seen once, on {lessons.newest_sighting(lesson)}; not again")


def _over_cap(active: list[Lesson], cap: int) -> list[Item]:
    """The weakest beyond the cap of active lessons; pinned ones are exempt (R004-33)."""
    weakest = sorted((lesson for lesson in active if not lesson.pinned), key=lessons.value_order)
    over = max(len(active) - cap, 0)
    return [Item("archive", (lesson.slug,), f"Evicted: more than {cap} active lessons") for lesson in weakest[:over]]


def carry_out(draft: Draft, items: Iterable[Item]) -> list[Item]:
    """Do what a plan says, one commit per kind of change; proposals for a person are left alone."""
    rows = list(items)
    done: list[Item] = []
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
            subject = f"learnloop: {kind} {slugs[0]}" if len(now) == 1 else f"learnloop: {kind} {count} in cleanup"
            draft.cut(kind, slugs, "\n".join(f"{'/'.join(item.slugs)}: {item.why}" for item in now), subject=subject)
            done += now
    return done
