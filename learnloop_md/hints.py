"""Rules that need one of some words: what spares most texts the patterns of most rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

_MANY = 200  # texts from which on one pattern for all words, 5 ms to make, costs less than a look for each


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
        self.words = tuple(self.places)
        self.asked = 0

    def fitting(self, text: str, words: Iterable[str] | None = None) -> list[R]:
        """The rules that have a word in text, in their order; words are those that may stand in it, where known."""
        held = self.held(text) if words is None else [word for word in words if word in text]
        return [self.rules[place] for place in sorted({place for word in held for place in self.places[word]})]

    def held(self, text: str) -> set[str]:
        """The words that stand in text."""
        self.asked += 1
        if self.asked < _MANY:
            return {word for word in self.words if word in text}
        found = set(self._pattern.findall(text)) - {""}
        return found.union(*(self._inner[word] for word in found))

    @cached_property
    def _inner(self) -> dict[str, tuple[str, ...]]:
        """The words that stand in a word: the pattern finds the longest one at a place."""
        return {word: tuple(part for part in self.words if part in word) for word in self.words}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        tree: dict[str, Any] = {}
        for word in self.words:
            at = tree
            for letter in word:
                at = at.setdefault(letter, {})
            at[""] = {}
        return re.compile(f"(?=({_written(tree)}))")


def _written(tree: dict[str, Any]) -> str:
    branches = [re.escape(letter) + _written(rest) for letter, rest in sorted(tree.items()) if letter]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)}){'?' if '' in tree else ''}"
