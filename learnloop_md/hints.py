"""Rules that need one of some words: what spares most texts the patterns of most rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar

_MOST = 1 << 20  # letters of the texts' own words that are remembered


class Rule(Protocol):
    """What applies to no text without one of its words."""

    @property
    def words(self) -> tuple[str, ...]: ...


R = TypeVar("R", bound=Rule)


class Hints(Generic[R]):
    """Rules whose words are looked for in one text after another, as parts of it, in its case."""

    def __init__(self, rules: Sequence[R]) -> None:
        self.rules, self.places = rules, dict[str, list[int]]()
        for place, rule in enumerate(rules):
            for word in rule.words:
                self.places.setdefault(word, []).append(place)
        self.spaced = tuple(word for word in self.places if word.split() != [word])
        self.words = tuple(word for word in self.places if word not in self.spaced)
        self.asked, self.holding, self.size = set[str](), dict[str, tuple[str, ...]](), 0

    def fitting(self, text: str, words: Iterable[str] | None = None) -> list[R]:
        """The rules that have a word in text, in their order; words are those that may stand in it, where known."""
        held = self.held(text) if words is None else [word for word in words if word in text]
        return [self.rules[place] for place in sorted({place for word in held for place in self.places[word]})]

    def held(self, text: str) -> set[str]:
        """The words that stand in text. Most of a text's own words stood in an earlier one: each is asked once."""
        own = set(text.split())
        if fresh := own - self.asked:
            said = "\n".join(fresh)
            self.size += len(said)
            if self.size > _MOST:
                self.asked, self.holding, self.size, fresh, said = set(), {}, len(said), own, text
            self.asked |= fresh
            for word in [word for word in self.words if word in said]:
                for one in fresh:
                    if word in one:
                        self.holding[one] = (*self.holding.get(one, ()), word)
        found = {word for word in self.spaced if word in text}
        for one in own & self.holding.keys():
            found.update(self.holding[one])
        return found
