"""Whether two rules contradict each other: words propose it, and likeness in meaning decides what they leave open.

The likeness is that of a model (design §8), and without one the words alone decide. What is asked here is turned
already, and two rules of which one is turned are never taken for the same: no likeness can merge them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from learnloop_md.doubts import Pair, names_apart, numbers_apart, other_language, other_words
from learnloop_md.reading import SMALL, WEAKER

# What makes two rules opposites: they share so much in all, or so much of the shorter one.
SWAPPED, NEGATED, ANTONYMS = 0.62, 0.5, 0.6
# So alike must two rules be where the words leave it open, and so alike in any case (docs/quality.md).
LIKE, UNLIKE = 0.65, 0.4

Between = Callable[[str, str], float | None]  # how alike two rules are in meaning, -1 to 1; None where nobody can tell


class Ruling(NamedTuple):
    """Whether two rules are opposites, and how alike they are where that made them so."""

    opposite: bool
    like: float | None = None


def judge(pair: Pair, likeness: Callable[[], float | None] | None = None) -> Ruling:
    """Whether two rules, one of which turns the other, speak of the same thing; the likeness is asked where it counts.

    Words see which words are turned and not what the others mean. Where nearly all that both speak of is turned, only
    their few common words speak against a contradiction, and likeness admits it; where something else is said besides,
    or other names and numbers were not looked at, unlikeness drops it.
    """
    against = pair.against
    by_words = _by_words(pair)
    much = against.much and not against.sure
    open_ = much and against.why != "antonyms" and not _names_differ(pair)
    asked = (by_words or open_) and not other_language(pair)  # the model reads English
    like = likeness() if likeness and asked else None
    if like is None:
        return Ruling(by_words)
    if not by_words:
        return Ruling(True, like) if like >= LIKE else Ruling(False)
    return Ruling(like >= (UNLIKE if much or against.why == "antonyms" else LIKE))


def _by_words(pair: Pair) -> bool:
    against = pair.against
    if not against.sure and _names_differ(pair):
        return False
    if against.why == "antonyms" and not against.words <= SMALL:  # in and out alone say little
        of_one = _share_of_the_shorter(pair, against.words)
        return of_one >= ANTONYMS and len(pair.shared) > 1 and not other_words(pair, but=against.words)
    if against.why != "negated":
        return pair.score >= SWAPPED
    more = [alone - WEAKER - pair.a.reasons - pair.b.reasons - pair.known for alone in (pair.left, pair.right)]
    return pair.score >= NEGATED and min(map(len, more)) < 2 and (against.much or not other_words(pair))


def _names_differ(pair: Pair) -> bool:
    return all(numbers_apart(pair)) or all(names_apart(pair))


def _share_of_the_shorter(pair: Pair, besides: frozenset[str]) -> float:
    """How much of the words of the shorter rule stands in the other, pairs of contrary words included."""
    sizes = [len(pair.shared - WEAKER) + len(alone - WEAKER) for alone in (pair.left, pair.right)]
    return (len(pair.shared - WEAKER) + len(besides) / 2) / (min(sizes) or 1)
