"""Tell whether two rules say the same thing, by word rules alone: no model, no network, no state.

A missed repeat costs one more entry, a wrong merge loses a lesson: so every doubt ends in "near".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from math import fsum
from typing import NamedTuple

from learnloop_md import gate
from learnloop_md.contrasts import traded
from learnloop_md.doubts import GUARDS, Doubt, Pair, one_is_turned
from learnloop_md.gate import Between
from learnloop_md.literals import differing, literals, lowered, unbound
from learnloop_md.opposites import turned
from learnloop_md.reading import BITS, WEAKER, Shape, read
from learnloop_md.words import STOP, stem

# How much of their weighted words two rules must share to be called the same, or near.
SAME, NEAR = 0.58, 0.45


class Likeness(NamedTuple):
    """A stored text that is like the one asked for: its slug, the verdict, how alike, and why."""

    slug: str
    verdict: str  # "same" | "near" | "opposite"
    score: float  # 0..1, rounded to 2 digits
    why: str

    @property
    def searched(self) -> bool:
        """Whether only a search found it, by its words alone."""
        return self.why == SEARCHED


SEARCHED = "speaks of the same things"


def rank(text: str, others: Iterable[tuple[str, str]]) -> list[Likeness]:
    """The stored texts that are the same as, near to, or opposite of text, best first (R004-30, R004-35)."""
    return rank_known(text, "", ((slug, other, "") for slug, other in others))


def rank_known(
    text: str, about: str, others: Iterable[tuple[str, str, str]], between: Between | None = None
) -> list[Likeness]:
    """As rank, where title, reasons and tags of each lesson are known: what they name is no difference.

    Likeness by meaning has a say in what contradicts (gate), never in what is the same.
    """
    seen, words = _glance(text), _glance(about, hard=True)
    found = []
    for slug, other, more in others:
        also = _glance(other)
        # Cheap first look: a pair with fewer common words cannot reach the lowest score; what is alike in meaning may.
        few = 1 if between else (len(seen) + len(also)) / 10
        if seen and also and len(seen & also) < few:
            continue
        if hit := _compare(text, other, words | _glance(more, hard=True), between):
            found.append(Likeness(slug, *hit))
    return sorted(found, key=lambda like: (like.verdict != "same", -like.score, like))


@lru_cache(maxsize=20_000)
def _glance(text: str, *, hard: bool = False) -> frozenset[str]:
    """The stems of a plain text; nothing for one that needs a closer look."""
    words = BITS.findall(text.lower()) if hard or text.isascii() else []
    return frozenset(stem(word) for word in words if word not in STOP)


def _compare(one: str, other: str, known: frozenset[str], between: Between | None) -> tuple[str, float, str] | None:
    a, b = read(one), read(other)
    written = literals(one), literals(other)
    apart = differing(*written) | unbound(*written, (a.parts, b.parts))
    if a.norm == b.norm and (not apart or lowered(one, other)):
        return ("same", 1.0, "equal after normalising") if a.norm else None
    programs = frozenset(stem(span[0]) for text in written for span in text.spans)
    sides = frozenset(traded(one, other))

    def beside(about: frozenset[str]) -> Pair:
        return _side_by_side(a, b, about)._replace(apart=frozenset(apart), traded=sides, programs=programs)

    pair = beside(known)
    verdict, why = _judge(pair, partial(between, one, other) if between else None)
    if verdict == "same" and known:  # what is said around a rule finds a candidate, and never makes two rules one
        bare, doubt = _judge(beside(frozenset()))
        if bare != "same":
            verdict, why = "near", doubt or why
    return (verdict, round(min(pair.score, 0.99), 2), why) if verdict else None


def _side_by_side(a: Shape, b: Shape, known: frozenset[str]) -> Pair:
    shared = frozenset(a.words) & frozenset(b.words)
    left, right = frozenset(a.words) - shared, frozenset(b.words) - shared
    few = len(left) + len(right) < 6  # with more words off it is no slip of the fingers
    typos = frozenset(word for x in left for y in right if few and _typo(x, y) for word in (x, y))
    left, right = left - typos, right - typos
    strong = a.strong | b.strong

    def weight(words: Iterable[str]) -> float:
        return fsum(1.5 if w in strong else 0.4 if w in WEAKER else 1.0 for w in words)  # in any order the same

    def alone(words: frozenset[str], reasons: frozenset[str]) -> float:
        return weight(words - reasons - known) + weight(words & known - reasons) / 2

    same = weight(shared) + len(typos) / 2
    score = 2 * same / ((2 * same + alone(left, a.reasons) + alone(right, b.reasons)) or 1)
    return Pair(a, b, shared, typos, left, right, known, score, turned(a, b, left, right))


def _typo(a: str, b: str) -> bool:
    """Whether two longer words differ by two letters that changed places."""
    off = [i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y]
    if len(a) != len(b) or len(a) < 6 or len(off) != 2 or off[0] == 0:
        return False
    return off[1] == off[0] + 1 and a[off[0]] == b[off[1]] and a[off[1]] == b[off[0]]


def _judge(pair: Pair, likeness: Callable[[], float | None] | None = None) -> tuple[str, str]:
    """The verdict on two rules and why: the first guard that has a doubt decides."""
    if (doubt := one_is_turned(pair)) and (ruling := gate.judge(pair, likeness)).opposite:
        alike = "" if ruling.like is None else f", alike in meaning ({ruling.like:.2f})"
        return "opposite", _told(pair, doubt) + alike
    if pair.score < NEAR:
        return "", ""
    doubt = next((doubt for guard in GUARDS if (doubt := guard(pair))), None)
    if doubt is None and pair.score >= SAME:
        return "same", _counted(pair)
    return "near", _told(pair, doubt) if doubt else _counted(pair)


def _told(pair: Pair, doubt: Doubt) -> str:
    forms = pair.a.forms | pair.b.forms
    words = sorted({forms.get(word, word).lstrip("#`") or word for word in doubt.words})
    return doubt.why + (": " + ", ".join(words) if words else "")


def _counted(pair: Pair) -> str:
    return f"{len(pair.shared)} of {len(pair.shared | pair.left | pair.right)} words"
