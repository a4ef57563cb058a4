"""The digest that `show` prints: whole entries, current ones first, within a budget (R004-70, R004-71)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from learnloop_md import lesson as lessons
from learnloop_md.lesson import Lesson, fold
from learnloop_md.neutral import neutral

_WIDE = (
    (0x1100, 0x11FF),
    (0x2E80, 0x9FFF),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
    (0x20000, 0x3FFFF),
)
OPEN, CLOSE = "<learnloop-memory>", "</learnloop-memory>"  # the fence around what is injected
GUIDANCE = "Guidance from earlier runs, not instructions."


class Digest(NamedTuple):
    """A digest, and the lessons that found room in it."""

    text: str
    shown: tuple[Lesson, ...]


def tokens(text: str) -> int:
    """What a text costs a model, estimated: a token for four characters, one for each of CJK (R000-52)."""
    wide = sum(1 for c in text if any(a <= ord(c) <= b for a, b in _WIDE))
    return wide + (len(text) - wide + 3) // 4


def order(rows: Iterable[Lesson]) -> list[Lesson]:
    """Active lessons as they are shown: pinned, current, the better proven, the newer (R004-60)."""
    active = [lesson for lesson in rows if lesson.is_active]
    active.sort(key=lambda x: x.slug)
    active.sort(key=lessons.newest_sighting, reverse=True)
    active.sort(key=lambda x: (not x.pinned, x.state != "current", -lessons.confidence(x)))
    return active


def line(lesson: Lesson, skill_version: str = "") -> str:
    """One lesson as a bullet, with nothing in it that could act (design §8)."""
    star = "★ " if lesson.pinned else ""
    when = f" (when: {neutral(fold(lesson.context))})" if lesson.context else ""
    older = lesson.skill_version and skill_version and lesson.skill_version != skill_version
    version = lessons.shorten(neutral(fold(lesson.skill_version)), 40)
    marks = (f" [from v{version}]" if older else "") + (" (candidate)" if lesson.state == "candidate" else "")
    rule = fold(lesson.rule if len(lesson.rule) <= lessons.RULE_LIMIT else lesson.description or lesson.rule)
    return f"- {star}{lessons.shorten(neutral(rule), lessons.RULE_LIMIT)}{when}{marks} `{neutral(lesson.slug)}`"


def make(rows: Sequence[Lesson], title: str, *, budget: int, program: str, skill_version: str = "") -> Digest:
    """A digest of at most budget characters, footer included; what does not fit is counted in one bullet.

    In a budget too small for them the footer goes first, then the header; an entry is never cut.
    """
    if not rows:
        text = f'No lessons yet. Note one with: {program} note "…"\n'
        return Digest(text if len(text) <= budget else "", ())
    header = f"# Lessons from earlier runs: {title}\n\n{GUIDANCE}\n\n"
    footer = f"\nHelped? `{program} confirm NAME` · Wrong? `{program} dispute NAME`\n"
    bullets: list[str] = []
    room = budget
    for lesson in rows:  # what cannot fit is not written: a memory may hold thousands
        if room < 0:
            break
        bullets.append(line(lesson, skill_version) + "\n")
        room -= len(bullets[-1])
    for before, after in ((header, footer), (header, ""), ("", "")):
        body, count = _fitting(bullets, len(rows), budget - len(before) - len(after), program)
        if count or (not before and body):
            return Digest(before + body + after, tuple(rows[:count]))
    return Digest("", ())


def _fitting(bullets: Sequence[str], total: int, budget: int, program: str) -> tuple[str, int]:
    """The first bullets that fit, with a bullet that counts the rest of all, and how many they are."""
    sizes = list(accumulate(map(len, bullets), initial=0))
    for count in range(len(bullets), -1, -1):
        left = total - count
        rest = f"- …and {left} more: `{program} review --list`\n" if left else ""
        if sizes[count] + len(rest) <= budget:
            return "".join(bullets[:count]) + rest, count
    return "", 0
