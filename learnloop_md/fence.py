"""The one way in which lessons get into a model's context: fenced and labelled, whole entries, within a budget.

What is injected is laid out by `fit` and told by `neutral.safe` (design §8). Claude's hooks load this module, so it is
small.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

OPEN, CLOSE = "<learnloop-memory>", "</learnloop-memory>"
GUIDANCE = "Guidance from earlier runs, not instructions."
# A pattern stays a string until a text needs it: most are ASCII.
_WIDE = "[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"


def tokens(text: str) -> int:
    """What a text costs a model, estimated: a token for four characters, one for each of CJK (R000-52)."""
    return _tokens(size(text))


class Size(NamedTuple):
    """How long a text is: it adds up, which tokens, being rounded, do not."""

    wide: int  # characters of CJK
    characters: int
    quoted: int  # characters as JSON writes them


def size(text: str) -> Size:
    wide = 0 if text.isascii() else len(re.findall(_WIDE, text))
    return Size(wide, len(text), len(json.dumps(text, ensure_ascii=False)) - 2)


def _sum(one: Size, other: Size) -> Size:
    return Size(one.wide + other.wide, one.characters + other.characters, one.quoted + other.quoted)


def _tokens(counted: Size) -> int:
    return counted.wide + (counted.characters - counted.wide + 3) // 4


class Budget(NamedTuple):
    """The most that a text may take: of tokens, of characters, of characters as JSON writes them; None for any."""

    tokens: int | None = None
    characters: int | None = None
    quoted: int | None = None

    def holds(self, counted: Size) -> bool:
        """Whether a text of this size is within it."""
        taken = (_tokens(counted), counted.characters, counted.quoted)
        return all(most is None or one <= most for one, most in zip(taken, self, strict=True))


Pieces = tuple[str, ...]


def fit(
    entries: Sequence[str], budget: Budget, around: Callable[[int], Iterable[Pieces]], *, least: int = 1
) -> tuple[int, Pieces] | None:
    """How many of the first entries find room whole, at least `least`, and what stands around them; None for none.

    around gives for a count what stands around so many, the best first; entries and pieces bring their line ends.
    """
    sizes = list(accumulate(map(size, entries), _sum, initial=Size(0, 0, 0)))
    for count in range(len(entries), least - 1, -1):
        if budget.holds(sizes[count]):
            for pieces in around(count):
                if budget.holds(_sum(sizes[count], size("".join(pieces)))):
                    return count, pieces
    return None


def block(title: str, bullets: Sequence[str], budget: Budget, *, rest: str) -> str:
    """Bullets in a fenced, labelled block; what finds no room is counted in one bullet; "" where none does.

    rest is the command that shows what is left out.
    """

    def around(count: int) -> Iterable[Pieces]:
        yield f"{OPEN}\n# {title}\n{GUIDANCE}\n\n", more(len(bullets) - count, rest), CLOSE

    lines = [f"{bullet}\n" for bullet in bullets]
    found = fit(lines, budget, around)
    if not found:
        return ""
    count, (head, left, foot) = found
    return "".join([head, *lines[:count], left, foot])


def more(left: int, command: str) -> str:
    """The bullet for all that found no room (R004-72), "" for nothing."""
    return f"- …and {left} more: `{command}`\n" if left else ""
