"""Which stored lessons a new one repeats, may repeat or contradicts; note, cleanup and check all ask here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from learnloop_md.gate import Between
from learnloop_md.lesson import Lesson
from learnloop_md.recall import Alike, Index
from learnloop_md.sameness import SEARCHED, Likeness, rank_known

NEAREST = 0.08  # of a perfect fit: below it a lesson is not worth a look
MOST = 5
SURE = 0.62  # so alike must two rules be to be called opposites among all pairs


class Matches(NamedTuple):
    """What is like a new lesson, best first: the same, then in the order of a search, then what only word rules see."""

    all: tuple[Likeness, ...]

    @property
    def same(self) -> tuple[Likeness, ...]:
        return tuple(like for like in self.all if like.verdict == "same")

    @property
    def near(self) -> tuple[Likeness, ...]:
        return tuple(like for like in self.all if like.verdict == "near")[:MOST]

    @property
    def opposite(self) -> tuple[Likeness, ...]:
        return tuple(like for like in self.all if like.verdict == "opposite")


def match(new: Lesson, stored: Iterable[Lesson], alike: Alike | None = None, between: Between | None = None) -> Matches:
    """What of the stored lessons says the same as a new one, is near to it, or the opposite (R004-30, R001-31).

    Likeness by meaning orders what is near (alike) and has a say in what contradicts (between), never in what is the
    same: opposites are as alike as rewordings.
    """
    rows = tuple(stored)
    found = compare(new, rows, between)
    told = {like.slug: like for like in found}
    likeness = alike(f"{new.title} {new.rule}".strip(), rows) if alike else None
    nearest = Index(rows).nearest(f"{new.title} {new.rule} {new.why}", MOST + len(found), likeness)
    searched = [
        told.get(row.slug) or Likeness(row.slug, "near", score, SEARCHED)
        for row, score in nearest
        if row.slug in told or score >= NEAREST
    ]
    same = [like for like in found if like.verdict == "same"]
    return Matches(tuple(dict.fromkeys((*same, *searched, *found))))


def compare(lesson: Lesson, others: Iterable[Lesson], between: Between | None = None) -> list[Likeness]:
    """The verdict on each other lesson that is the same, near or the opposite, best first."""
    return rank_known(lesson.rule, about(lesson), map(_said, others), between)


def about(lesson: Lesson) -> str:
    """What is said around a rule: a word that stands here is no difference."""
    return " ".join((lesson.title, lesson.why, lesson.how, lesson.context, *lesson.tags))


def _said(lesson: Lesson) -> tuple[str, str, str]:
    return lesson.slug, lesson.rule, about(lesson)


def opposites(rows: Sequence[Lesson], between: Between | None = None) -> Iterator[tuple[Lesson, Lesson, Likeness]]:
    """The pairs of lessons that surely contradict each other."""
    for n, lesson in enumerate(rows):
        by_slug = {row.slug: row for row in rows[n + 1 :]}
        for like in _surely(lesson, [*map(_said, by_slug.values())], between):
            yield lesson, by_slug[like.slug], like


def against(
    lesson: Lesson, statements: Iterable[tuple[str, str]], between: Between | None = None
) -> Iterator[Likeness]:
    """The statements of another text, each with a name, that surely contradict a lesson."""
    return _surely(lesson, [(name, said, "") for name, said in statements], between)


def _surely(lesson: Lesson, others: Sequence[tuple[str, str, str]], between: Between | None) -> Iterator[Likeness]:
    """What surely contradicts a lesson: among many pairs a doubt is a false alarm.

    So likeness by meaning only takes away here, and is asked of what the words would name.
    """

    def ranked(rows: Iterable[tuple[str, str, str]], asked: Between | None) -> Iterator[Likeness]:
        found = rank_known(lesson.rule, about(lesson), rows, asked)
        return (like for like in found if like.verdict == "opposite" and like.score >= SURE)

    for like in ranked(others, None):
        if between is None or any(ranked((row for row in others if row[0] == like.slug), between)):
            yield like
