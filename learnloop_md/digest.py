"""The digest that `show` prints: whole entries, current ones first, within a budget (R004-70, R004-71)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from learnloop_md import lesson as lessons
from learnloop_md.fence import GUIDANCE, Budget, Pieces, fit, more
from learnloop_md.lesson import Lesson, fold
from learnloop_md.neutral import safe

# A name of its own: a digest that is quoted inside an injected block must not close it.
OPEN, CLOSE = "<learnloop-digest>", "</learnloop-digest>"


class Digest(NamedTuple):
    """A digest, and the lessons that found room in it."""

    text: str
    shown: tuple[Lesson, ...]


def order(rows: Iterable[Lesson]) -> list[Lesson]:
    """Active lessons as they are shown: pinned, current, the better proven, the newer (R004-60)."""
    active = [lesson for lesson in rows if lesson.is_active]
    active.sort(key=lambda x: x.slug)
    active.sort(key=lessons.newest_sighting, reverse=True)
    active.sort(key=lambda x: (not x.pinned, x.state != "current", -lessons.confidence(x)))
    return active


def line(lesson: Lesson, skill_version: str = "", doubts: Mapping[str, Sequence[str]] = {}) -> str:
    """One lesson as a bullet, safe in a model's context; its own words are shortened, never its name."""
    star = "★ " if lesson.pinned else ""
    rule = fold(lesson.rule if len(lesson.rule) <= lessons.RULE_LIMIT else lesson.description or lesson.rule)
    when = f" (when: {lessons.shorten(fold(lesson.context), lessons.RULE_LIMIT)})" if lesson.context else ""
    told = f"- {star}{lessons.shorten(rule, lessons.RULE_LIMIT)}{when} {marks(lesson, skill_version)} `{lesson.slug}`"
    return safe(f"{told} {doubt(lesson.slug, doubts)}")


def marks(lesson: Lesson, skill_version: str) -> str:
    """What is to be known of a lesson's age and state."""
    older = lesson.skill_version and skill_version and lesson.skill_version != skill_version
    version = f"[from v{lessons.shorten(lesson.skill_version, 40)}] " if older else ""
    return version + ("(candidate)" if lesson.state == "candidate" else "")


def doubt(slug: str, doubts: Mapping[str, Sequence[str]]) -> str:
    """What a lesson speaks of that changed or went (design §9)."""
    return f"[verify first: {', '.join(doubts[slug])}]" if slug in doubts else ""


def footer(program: str) -> str:
    """How to answer for a lesson (R004-70)."""
    return f"\nHelped? `{program} confirm NAME` · Wrong? `{program} dispute NAME`\n"


def make(
    rows: Sequence[Lesson],
    title: str,
    *,
    budget: int,
    program: str,
    skill_version: str = "",
    fenced: bool = True,
    doubts: Mapping[str, Sequence[str]] = {},
) -> Digest:
    """A digest of at most budget characters, footer included; what does not fit is counted in one bullet.

    In a budget too small for them the footer goes first, then the header, never the fence; an entry is never cut.
    """
    if not rows:
        text = f'No lessons yet. Note one with: {program} note "…"\n'
        return Digest(text if len(text) <= budget else "", ())
    header = f"# Lessons from earlier runs: {safe(title)}\n\n{GUIDANCE}\n\n"
    bullets: list[str] = []
    room = budget
    for lesson in rows:  # what cannot fit is not written: a memory may hold thousands
        if room < 0:
            break
        bullets.append(line(lesson, skill_version, doubts) + "\n")
        room -= len(bullets[-1])
    begin, end = (f"{OPEN}\n", f"{CLOSE}\n") if fenced else ("", "")
    for before, after in ((header, footer(program)), (header, ""), ("", "")):

        def around(count: int, before: str = before, after: str = after) -> Iterable[Pieces]:
            yield begin + before, more(len(rows) - count, f"{program} review --list"), after + end

        found = fit(bullets, Budget(characters=budget), around, least=1 if before else 0)
        if found:
            count, (head, rest, foot) = found
            return Digest("".join([head, *bullets[:count], rest, foot]), tuple(rows[:count]))
    return Digest("", ())
