"""What a rule sets against what, word by word: "X, not Y", "X rather than Y", "don't use Y; use X".

Of grammar words (what, why, any) no stems are kept, and one bag of words may stand in two orders; here both count.
"""

from __future__ import annotations

import re
from functools import lru_cache

from learnloop_md.reading import LONG, plain
from learnloop_md.words import ARTICLES, STOP, TIES, words_of

_REJECTED = re.compile(
    r"\b(?:not|never|don't|rather than|instead of|(?:prefer|favou?r|choose|pick)\b[^.,;:!?\n]*? over) "
    r"(?:(?:use|say|write|using|saying|writing) )?"
    r"([^.,;:!?()\n]+?)(?=$|[.,;:!?()\n]| (?:but|because|since|so|use|prefer|when|if) )"
)
_PLAIN = ARTICLES | TIES | words_of("is are was were be been being and or do does did it them they")
_LISTS = words_of("and or nor")
_WORD = re.compile(r"[\w'-]+")

Sides = tuple[frozenset[str], tuple[tuple[str, ...], ...]]


@lru_cache(maxsize=2_000)
def sides(text: str) -> Sides:
    """The words outside of what a rule rejects, and each thing that it rejects, word by word."""
    body = plain(text)[:LONG].casefold().replace("do not ", "don't ")
    rejected = [match.span(1) for match in _REJECTED.finditer(body)]
    ends = [0, *(end for _, end in rejected)]
    kept = " ".join(body[end:start] for end, start in zip(ends, [*(a for a, _ in rejected), None], strict=True))
    return frozenset(_WORD.findall(kept)), tuple(tuple(_WORD.findall(body[a:b])) for a, b in rejected)


def traded(one: str, other: str) -> set[str]:
    """The words that change sides between two rules, or stand in another order in what both reject."""
    (kept, out), (also, away) = sides(one), sides(other)
    if not (out and away):
        return set()
    mine, theirs = ({word for phrase in side for word in phrase} - _PLAIN for side in (out, away))
    lost, won = (mine - theirs) & also - kept, (theirs - mine) & kept - also
    if lost and won and (lost | won) & STOP:  # what other words do is read from their stems
        return lost | won
    for first in out:
        for second in away:
            if first != second and sorted(first) == sorted(second) and not _LISTS & {*first}:
                return {*first} - _PLAIN
    return set()
