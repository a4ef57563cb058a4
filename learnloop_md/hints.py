"""Rules that need one of some words: what spares most texts the patterns of most rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar

_MOST = 1 << 16  # letters of the words of texts that are remembered


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
        self.alone = tuple(word for word in self.places if len(word) < 3 or word.split() != [word])
        self.begins = dict[str, list[str]]()
        for word in self.places.keys() - set(self.alone):
            self.begins.setdefault(word[:3], []).append(word)
        self.known, self.size = dict[str, tuple[str, ...]](), 0

    def fitting(self, text: str, words: Iterable[str] | None = None) -> list[R]:
        """The rules that have a word in text, in their order; words are those that may stand in it, where known."""
        held = self.held(text) if words is None else [word for word in words if word in text]
        if not held:
            return []
        return [self.rules[place] for place in sorted({place for word in held for place in self.places[word]})]

    def held(self, text: str) -> set[str]:
        """The words that stand in text. Most of a text's own words stood in an earlier one: each is judged once."""
        found = [word for word in self.alone if word in text]
        for own in text.split():
            words = self.known.get(own)
            if words is None:
                words = self._learnt(own)
            if words:
                found += words
        return set(found)

    def _learnt(self, own: str) -> tuple[str, ...]:
        self.size += len(own)
        if self.size > _MOST:
            self.known, self.size = {}, len(own)
        begins = [at for at in range(len(own) - 2) if own[at : at + 3] in self.begins]
        found = [word for at in begins for word in self.begins[own[at : at + 3]] if own.startswith(word, at)]
        self.known[own] = tuple(found)
        return self.known[own]
