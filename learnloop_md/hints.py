"""Which of many words stand in a text: what spares most texts the patterns that need one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

_MANY = 200  # texts from which on one pattern for all words, 5 ms to make, costs less than a look for each


class Hints:
    """Words to be looked for in one text after another, as parts of it, in its case."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(dict.fromkeys(words))
        self.asked = 0

    def held(self, text: str) -> set[str]:
        """Those that stand in text."""
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
