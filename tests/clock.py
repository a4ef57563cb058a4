"""Time limits that other work on the machine cannot break: it makes a try dearer, never cheaper."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
_TRIES = 3  # a second one is made only where the first took too long


def within(seconds: float, work: Callable[[], T]) -> T:
    """What work gives; one of its tries must take less of the processors than that, its programs included."""
    took: list[float] = []
    while len(took) < _TRIES:
        before = _spent()
        made = work()
        took.append(_spent() - before)
        if took[-1] < seconds:
            return made
    pytest.fail(f"took {min(took):.2f} s of the processors, not less than {seconds} s")


def ran_within(seconds: float, words: list[str], **how: Any) -> subprocess.CompletedProcess[Any]:
    """What a program did; one of its tries must end in that time by the clock on the wall."""
    for _ in range(_TRIES - 1):
        try:
            return subprocess.run(words, capture_output=True, check=False, timeout=seconds, **how)
        except subprocess.TimeoutExpired:
            continue
    return subprocess.run(words, capture_output=True, check=False, timeout=seconds, **how)


def _spent() -> float:
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
