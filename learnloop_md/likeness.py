"""Which lessons say nearly the same as others, or the contrary: a question to a person, never an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from learnloop_md import sameness
from learnloop_md.lesson import Lesson
from learnloop_md.words import terms

_MOST = 200  # pairs that are looked at closely: a report of more helps nobody
_WHOLE = 0.7  # how much two whole lessons must share where their rules do not tell,
_ENOUGH = 5  # and how many words: a template with another name in it has fewer
_OTHERS = ("the numbers differ", "the names differ", "other words")  # one sentence about two things is two lessons


class Pair(NamedTuple):
    """A lesson, one that is like it, "near" or "opposite", and why."""

    slug: str
    other: str
    verdict: str
    why: str


def pairs(lessons: Mapping[str, Lesson], asked: Collection[str]) -> Iterator[Pair]:
    """The asked lessons with those they are near to or contradict, each pair once; lessons out of force aside."""
    active = {slug: lesson for slug, lesson in sorted(lessons.items()) if lesson.is_active and not lesson.is_note}
    words = {slug: _stems(x) for slug, x in active.items()}
    postings: dict[str, list[str]] = {}
    for slug, found in words.items():
        for word in found:
            postings.setdefault(word, []).append(slug)
    common = max(20, len(active) // 10)  # a word that so many lessons have tells nothing
    seen: set[frozenset[str]] = set()
    for slug in sorted(set(asked) & active.keys()):
        if len(seen) >= _MOST:
            return
        shared: Counter[str] = Counter()
        for word in words[slug]:
            if len(postings[word]) <= common:
                shared.update(postings[word])
        for other, number in shared.most_common(6):
            pair = frozenset((slug, other))
            if len(pair) < 2 or pair in seen or number < 2:
                continue
            seen.add(pair)
            if told := _told(active[slug], active[other], len(words[slug] & words[other])):
                yield Pair(slug, other, *told)


def _stems(lesson: Lesson) -> set[str]:
    return {stem for stem, _ in terms(f"{lesson.rule} {lesson.description} {lesson.why} {lesson.how}")}


def _told(lesson: Lesson, other: Lesson, shared: int) -> tuple[str, str] | None:
    rules = sameness.rank(lesson.rule, [(other.slug, other.rule)])
    for like in rules[:1]:
        if like.verdict == "opposite":
            return "opposite", like.why
        return None if like.why.startswith(_OTHERS) else ("near", like.why)
    if shared < _ENOUGH:
        return None
    whole = [f"{x.description}. {x.rule} {x.why} {x.how}" for x in (lesson, other)]
    for like in sameness.rank(whole[0], [(other.slug, whole[1])]):
        if like.score >= _WHOLE and not like.why.startswith(_OTHERS):
            return "near", f"{round(like.score * 100)} % of the words"
    return None
