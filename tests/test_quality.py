"""Matching and recall do not get worse: the lower end of each 95 % interval is held (docs/quality.md)."""

from __future__ import annotations

import pytest

from benchmarks import quality
from benchmarks.quality import Figure

# What must hold of the lower end; the figures themselves stand in docs/quality.md.
FLOOR = {
    "recurrence, pairs: precision": 0.97,
    "recurrence, pairs: recall": 0.58,  # guards against wrong merges cost recall: a missed repeat is one entry more
    "contradiction, pairs: precision": 0.85,
    "contradiction, pairs: recall": 0.57,
    "capture: confirmed the right lesson, of all confirmed": 0.97,
    "capture: repeats confirmed": 0.58,
    "capture: hard rewordings, right lesson among the first 3": 0.80,
    "capture: direct opposites named as contradiction": 0.88,
    "recall@1": 0.28,
    "recall@5": 0.53,
}


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return {figure.what: figure for figure in quality.figures()}


@pytest.mark.parametrize(("what", "floor"), FLOOR.items())
def test_the_lower_end_of_the_interval_holds(figures: dict[str, Figure], what: str, floor: float) -> None:
    assert figures[what].interval[0] >= floor, str(figures[what])


def test_no_opposite_is_confirmed(figures: dict[str, Figure]) -> None:
    """A wrong merge loses a lesson."""
    assert figures["capture: opposites wrongly confirmed"].hits == 0


def test_topics_that_the_rules_were_not_made_on_do_as_well() -> None:
    """What fits only the examples shows here."""
    on = quality.figures(lambda topic: topic in quality.WORKED_ON)
    off = quality.figures(lambda topic: topic not in quality.WORKED_ON)
    worse = [a.what for a, b in zip(on, off, strict=True) if b.share < a.share - 0.1]
    assert worse == []


def test_the_four_functions_answer_in_the_form_that_a_scorer_reads() -> None:
    a, b = {"id": "a", "rule": "Pin the base image"}, {"id": "b", "rule": "Never pin the base image"}
    assert (quality.same_lesson(a, a), quality.same_lesson(a, b), quality.contradicts(a, b)) == (True, False, True)
    assert quality.capture([a], b) == {"confirmed": None, "candidates": ["a"], "contradicts": ["a"]}
    assert quality.capture([a], a)["confirmed"] == "a"
    assert quality.recall([a], "which base image do we use", 5) == ["a"]


def test_the_page_shows_what_is_measured(figures: dict[str, Figure]) -> None:
    """docs/quality.md is written by the measurement, not by hand."""
    shown = quality.PAGE.read_text(encoding="utf-8")
    assert all(f"| {figure.what} | {figure} |" in shown for figure in figures.values())
