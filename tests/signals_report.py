"""How well corrections and confirmations are told from other words: `python -m tests.signals_report [--missed]`.

Two halves of invented turns (tests/data/turns): rules are made on "dev"; "held" is measured and not looked into.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md.signals import of_words
from learnloop_md.transcript import person_words

TURNS = Path(__file__).parent / "data" / "turns"
HALVES = ("dev", "held")
Z = 1.959964  # of 95 %


class Judged(NamedTuple):
    """A labelled turn and what was found in it."""

    label: str
    found: str
    turn: dict[str, Any]


class Figure(NamedTuple):
    """A share with its 95 % interval after Wilson."""

    good: int
    of: int

    @property
    def share(self) -> float:
        return self.good / self.of if self.of else 1.0

    @property
    def interval(self) -> tuple[float, float]:
        if not self.of:
            return 0.0, 1.0
        n, p = self.of, self.share
        middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
        reach = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
        return max(0.0, middle - reach), min(1.0, middle + reach)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.share:.3f} ({self.good}/{self.of}, 95 % {low:.3f}–{high:.3f})"


def turns(half: str) -> list[dict[str, Any]]:
    """The labelled turns of a half."""
    return [json.loads(line) for line in (TURNS / f"{half}.jsonl").read_text("utf-8").splitlines()]


def judge(half: str) -> list[Judged]:
    """Each turn of a half with what is found in it, by the way a transcript goes."""
    return [
        Judged(turn["label"], of_words(person_words(turn["row"]), turn["before"]) or "none", turn)
        for turn in turns(half)
    ]


def precision(judged: list[Judged], *kinds: str) -> Figure:
    """Of what was found, how much is so."""
    found = [one for one in judged if one.found in kinds]
    return Figure(sum(one.found == one.label for one in found), len(found))


def recall(judged: list[Judged], *kinds: str) -> Figure:
    """Of what is so, how much was found."""
    real = [one for one in judged if one.label in kinds]
    return Figure(sum(one.found == one.label for one in real), len(real))


def main(words: list[str]) -> int:
    for half in HALVES:
        judged = judge(half)
        labels = Counter(one.label for one in judged)
        print(f"{half}: {len(judged)} turns, " + ", ".join(f"{labels[label]} {label}" for label in sorted(labels)))
        for name, kinds in (("both", ("correction", "success")), ("correction",) * 2, ("success",) * 2):
            chosen = kinds if isinstance(kinds, tuple) else (kinds,)
            print(f"  {name:10}  precision {precision(judged, *chosen)}  recall {recall(judged, *chosen)}")
        if "--missed" in words and half == "dev":
            for one in judged:
                if one.found != one.label:
                    print(f"    {one.label} found as {one.found}: {person_words(one.turn['row'])!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
