"""How a stress script says what it found: a table, failures each with the command that repeats it, one last line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Failure(NamedTuple):
    """What went wrong where, and how to see it again."""

    where: str
    what: tuple[str, ...]
    repeat: str


class Result(NamedTuple):
    """What a script found: its figure in words, and every failure."""

    figure: str
    failures: tuple[Failure, ...] = ()
    skipped: str = ""  # why nothing was tried


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their widest word."""
    cells = [tuple(head), *(tuple(str(cell) for cell in row) for row in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)


def end(name: str, result: Result, most: int = 30) -> int:
    """Print the failures and the last line; 0 where the goal is reached or could not be tried."""
    for failure in result.failures[:most]:
        print(f"\nFAILED {failure.where}")
        for line in failure.what[:12]:
            print(f"  {line}")
        print(f"  repeat: {failure.repeat}")
    if len(result.failures) > most:
        print(f"\n… and {len(result.failures) - most} more")
    if result.skipped:
        print(f"\nSKIPPED {name}: {result.skipped}")
        return 0
    print(f"\n{'not reached' if result.failures else 'reached'} {name}: {result.figure}")
    return 1 if result.failures else 0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is no less than this share of them."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]
