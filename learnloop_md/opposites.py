"""Tell whether one rule says the contrary of another: negated, antonyms, roles swapped."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from typing import NamedTuple

from learnloop_md.reading import WEAKER, Shape
from learnloop_md.vocabulary import ANTONYMS
from learnloop_md.words import stem

_CONTRARY: dict[str, set[str]] = {}
for _one, _other in (tuple(map(stem, two.split("/")[::way])) for two in ANTONYMS.split() for way in (1, -1)):
    _CONTRARY.setdefault(_one, set()).add(_other)


class Turned(NamedTuple):
    """Why a rule says the contrary, by which words; whether other differences leave it standing."""

    why: str = ""
    words: frozenset[str] = frozenset()
    much: bool = False  # most of what both speak of is turned: other words do not matter
    sure: bool = False  # what is wanted and what is not trade places by name: neither do other names or numbers


def turned(a: Shape, b: Shape, left: frozenset[str], right: frozenset[str]) -> Turned:
    """How b says the contrary of a; nothing in `why` when it does not."""
    ups = (a.plus - a.minus) & (b.minus - b.plus)
    downs = (a.minus - a.plus) & (b.plus - b.minus)
    if ups and downs:
        return Turned("roles swapped", ups | downs, True, bool(ups & a.strong and downs & a.strong))
    ours, theirs = left | (a.small - b.small), right | (b.small - a.small)
    pairs = {(word, other) for word in ours & _CONTRARY.keys() for other in _CONTRARY[word] & theirs}
    if pairs:
        words = frozenset(word for pair in pairs for word in pair)
        return Turned("antonyms", words, len(left) == len(right) <= len(pairs))
    crossed = {p for p in a.order if p[::-1] in b.order and p not in b.order and p[::-1] not in a.order}
    if crossed:
        return Turned("roles swapped", frozenset(word for pair in crossed for word in pair), True)
    if (ups or downs) and not a.minus & b.minus:
        common = (a.plus | a.minus) & (b.plus | b.minus)
        much = _weight(ups | downs) >= 0.6 * _weight(common)
        return Turned("negated", frozenset(), much, _instead(a, b, ups) or _instead(b, a, downs))
    return Turned()


def _instead(a: Shape, b: Shape, turned: frozenset[str]) -> bool:
    """Whether a wants just what b rejects, and rejects something else: "X, never Y", "Z, never X"."""
    rejected = b.minus - WEAKER
    return bool(a.minus and rejected and rejected <= turned)


def _weight(words: Iterable[str]) -> float:
    return fsum(0.4 if word in WEAKER else 1.0 for word in words)


def swapped(a: Shape, b: Shape, shared: frozenset[str]) -> set[str]:
    """Words that trade places, or the prepositions they hang on; members of a list may stand in any order."""
    first, second = ([w for w in shape.words if w in shared] for shape in (a, b))
    off = [i for i, (x, y) in enumerate(zip(first, second, strict=False)) if x != y]
    listed = a.listed & b.listed
    if len(first) == len(second) and len(off) == 2 and off[1] - off[0] > 1:
        one, other = first[off[0]], second[off[0]]
        kept = [(a.ties[word] & b.ties[word]) - {""} for word in (one, other)]
        same = all(a.ties[word] == b.ties[word] for word in (one, other))
        stays = same and any(kept) and not kept[0] & kept[1]  # a phrase was moved with its preposition
        if not stays and not (
            {one, other} & a.plus & b.plus and {one, other} & a.minus & b.minus
        ):  # "use X. Not Y": "not Y; use X"
            return {one, other} - listed
    if words := _around_a_pivot(a, b, shared - listed):
        return words
    tied = [(w, a.ties[w], b.ties[w]) for w in shared - listed if not a.ties[w] & b.ties[w]]
    return {w for w, p, q in tied for _, r, s in tied if p & s and q & r}


def _around_a_pivot(a: Shape, b: Shape, shared: frozenset[str]) -> set[str]:
    """What stands before a word in one rule and behind it in the other, and the reverse: the cat eats the mouse.

    A clause that was moved as a whole does not do that, a word that kept its preposition was moved with it, and a verb
    goes from the beginning to the end in the passive.
    """
    once = {w for w in shared if w[0] != "#" and a.words.count(w) == b.words.count(w) == 1}
    moved = {w for w in once if not (a.ties[w] & b.ties[w]) - {""}}
    for first in a.parts:
        for second in b.parts:
            both = once & first & second
            here, there = ([w for w in shape.words if w in both] for shape in (a, b))
            place = {w: i for i, w in enumerate(there)}
            ends = {w for w in both if {here.index(w), place[w]} == {0, len(here) - 1}}
            for i, pivot in enumerate(here):
                before = [w for w in here[:i] if w not in ends and place[w] > place[pivot]]
                after = [w for w in here[i + 1 :] if w not in ends and place[w] < place[pivot]]
                if any(_traded(a, moved, x, y) for x in before for y in after):
                    return {*before, *after}
    return set()


def _traded(a: Shape, moved: set[str], one: str, other: str) -> bool:
    return {one, other} <= moved or bool(a.ties[one] & a.ties[other] - {""})
