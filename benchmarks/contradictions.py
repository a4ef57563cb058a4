"""What likeness by meaning does to contradictions: named by words alone, with the model, and with either half of it.

Pairs and captures of `benchmarks/data/`, and two lots of pairs in `tests/data/opposites.json`: opposites in other
words, and rules that only share what negates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks import quality
from learnloop_md import gate, matching
from learnloop_md.gate import Between
from learnloop_md.lesson import Lesson

LOTS = Path(__file__).parents[1] / "tests" / "data" / "opposites.json"
LIKE, UNLIKE = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75), (0.3, 0.4, 0.45, 0.5, 0.55)


class Case(NamedTuple):
    """Two rules, and whether they are called opposites: in truth, by words alone, with the model."""

    group: str
    true: bool
    words: bool
    model: bool


WAYS: dict[str, Callable[[Case], bool]] = {
    "words alone": lambda case: case.words,
    "dropping alone": lambda case: case.words and case.model,
    "admitting alone": lambda case: case.words or case.model,
    "both": lambda case: case.model,
}


def cases(between: Between, *, capture: bool = True) -> list[Case]:
    """Every two rules that are asked about."""
    return [*_pairs(between), *_lots(between), *(_captures(between) if capture else ())]


def _case(group: str, a: Lesson, b: Lesson, between: Between, *, true: bool) -> Case:
    found = [matching.compare(a, [b], asked) for asked in (None, between)]
    words, model = (bool(rows and rows[0].verdict == "opposite") for rows in found)
    return Case(group, true, words, model)


def _pairs(between: Between) -> Iterator[Case]:
    for row in quality.load("dev.jsonl"):
        group = "pairs, topics worked on" if row["topic"] in quality.WORKED_ON else "pairs, other topics"
        a, b = quality.lesson_of(row["a"]), quality.lesson_of(row["b"])
        yield _case(group, a, b, between, true=row["label"] == "contradiction")


def _lots(between: Between) -> Iterator[Case]:
    for name, rows in json.loads(LOTS.read_text("utf-8")).items():
        group, _, label = name.partition(": ")
        for one, other in rows:
            a, b = (quality.lesson_of({"id": slug, "rule": rule}) for slug, rule in (("a", one), ("b", other)))
            yield _case(group, a, b, between, true=label == "opposite")


def _captures(between: Between) -> Iterator[Case]:
    for (_, root, kind, words), (*_, model) in zip(
        quality.captured(None), quality.captured(None, between), strict=True
    ):
        named = [set(said["contradicts"]) for said in (words, model)]
        for slug in sorted(named[0] | named[1] | ({root} if kind == "x" else set())):
            yield Case("capture", kind == "x" and slug == root, *(slug in row for row in named))


def table(rows: Sequence[Case]) -> list[str]:
    """What each way names, in lines of a table."""
    groups = list(dict.fromkeys(row.group for row in rows))
    lines = [f"| | {' | '.join(WAYS)} |", "|---" * (len(WAYS) + 1) + "|"]
    for group in groups:
        of = [row for row in rows if row.group == group]
        lines.append(f"| {group} | {' | '.join(told(of, way) for way in WAYS.values())} |")
    return lines


def told(rows: Sequence[Case], way: Callable[[Case], bool]) -> str:
    """How many opposites are named of all, and how many others besides."""
    right, wrong = counted(rows, way)
    return f"{right} of {sum(row.true for row in rows)}, {wrong} wrong"


def counted(rows: Sequence[Case], way: Callable[[Case], bool]) -> tuple[int, int]:
    """The opposites that are named, and the others that are."""
    return sum(way(row) for row in rows if row.true), sum(way(row) for row in rows if not row.true)


def sweep(between: Between) -> list[str]:
    """What other limits would name."""
    lines: list[str] = []
    for name, limits in (("LIKE", LIKE), ("UNLIKE", UNLIKE)):
        for limit in limits:
            with _limit(name, limit):
                rows = cases(between, capture=False)
            groups = list(dict.fromkeys(row.group for row in rows))
            if not lines:
                lines = [f"| limit | {' | '.join(groups)} |", "|---" * (len(groups) + 1) + "|"]
            cells = (told([row for row in rows if row.group == group], WAYS["both"]) for group in groups)
            lines.append(f"| `{name}` {limit} | {' | '.join(cells)} |")
    return lines


@contextmanager
def _limit(name: str, limit: float) -> Iterator[None]:
    kept = getattr(gate, name)
    setattr(gate, name, limit)
    try:
        yield
    finally:
        setattr(gate, name, kept)
