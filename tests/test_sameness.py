"""When two rules are the same, near, or opposite (R004-30, R004-35, R001-31)."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md.sameness import Likeness, rank
from tests.clock import within

CASES = json.loads((Path(__file__).parent / "data" / "sameness.json").read_text(encoding="utf-8"))
# Words that steer the rules, mixed, reach more of them than random letters do.
STEER = "not never without unless non-root don't before after then instead of rather than prefer over only"
PLAIN = "because fails used run Run tests server sevrer `a b` `--x` a.py API 3 v2.1 five 10ms , . ; C++ 试 不"
WORDS = [*STEER.split(), *PLAIN.split()]
texts = st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))


def verdict(a: str, b: str) -> str:
    found = rank(a, [("b", b)])
    return found[0].verdict if found else ""


@pytest.mark.parametrize(("expected", "why", "a", "b"), CASES, ids=[f"{c[0]}: {c[1]}: {c[2]}" for c in CASES])
def test_each_guard_holds_in_both_directions(expected: str, why: str, a: str, b: str) -> None:
    """A repeat is recognised, and no guard lets another rule pass for one (R004-30, R001-31)."""
    assert verdict(a, b) == expected, why
    assert verdict(b, a) == expected, why


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ("Keep 20 backups", "keep 20 *backups*", "equal after normalising"),
        ("Keep 20 backups", "Keep 22 backups", "the numbers differ: 20, 22"),
        ("Call `load` twice", "Call `dump` twice", "the names differ: dump, load"),
        ("Store the token", "Do not store the token", "negated"),
        ("Use uv, not pip", "Use pip, not uv", "roles swapped: pip, uv"),
        ("Enable the cache", "Disable the cache", "antonyms: disable, enable"),
        ("Run the linter before the tests", "Before the tests, run the linter", "3 of 3 words"),
    ],
)
def test_the_reason_is_told_in_a_few_words(a: str, b: str, why: str) -> None:
    assert rank(a, [("b", b)])[0].why == why


def test_the_same_comes_first_and_the_unrelated_is_left_out() -> None:
    """One stored lesson is confirmed, the rest are told apart (R001-31)."""
    stored = [
        ("lint-after", "Run the linter after the tests"),
        ("naps", "Sleep well"),
        ("lint-docs", "Run the linter before the docs"),
        ("lint", "run the linter before the tests."),
    ]
    found = rank("Run the linter before the tests", stored)
    assert found[0] == Likeness("lint", "same", 1.0, "equal after normalising")
    assert {x.slug: x.verdict for x in found[1:]} == {"lint-after": "opposite", "lint-docs": "near"}
    assert [x.score for x in found[1:]] == sorted((x.score for x in found[1:]), reverse=True)


def test_long_texts_are_the_same_only_when_equal() -> None:
    """What lies beyond the part that is weighed could differ (R004-30)."""
    text = "Run the linter before the tests. " * 99
    assert verdict(text, text.upper()) == "same"
    assert verdict(text, text + "Or do not.") == "near"


def test_nothing_stored_is_like_nothing() -> None:
    assert rank("Run the linter", []) == []


@given(texts, texts)
def test_any_two_texts_get_the_same_verdict_both_ways(a: str, b: str) -> None:
    there, back = rank(a, [("x", b)]), rank(b, [("x", a)])
    assert [(x.verdict, x.score) for x in there] == [(x.verdict, x.score) for x in back]
    assert all(x.verdict in {"same", "near", "opposite"} and 0 <= x.score <= 1 and x.why for x in there)


@given(texts)
def test_a_text_with_a_word_is_the_same_as_itself(text: str) -> None:
    """Normalised equality alone confirms (R004-30)."""
    if any(c.isalnum() for c in text):
        assert [x.verdict for x in rank(text, [("x", text)])] == ["same"]
    else:
        assert all(x.verdict == "same" for x in rank(text, [("x", text)]))


@given(texts, st.lists(st.tuples(st.sampled_from("abc"), texts), max_size=5))
def test_the_answer_does_not_depend_on_the_order_of_the_store(text: str, stored: list[tuple[str, str]]) -> None:
    """The same texts always get the same answer (R004-35)."""
    assert rank(text, stored) == rank(text, stored[::-1])


def test_every_process_gives_the_same_reason() -> None:
    """R004-35: no answer hangs on the order of a set, which is another in every process."""
    a = "Store dates in the ledger and read prices from the archive at night"
    b = "Store names in the ledger and read totals from the archive at noon"
    code = f"from learnloop_md.sameness import rank; print(rank({a!r}, [('b', {b!r})]))"
    said = set()
    for seed in "123456":
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        )
        said.add(done.stdout)
    assert len(said) == 1, said


@pytest.mark.parametrize("piece", ["1_", "a_", "*a ", "`", "/a", "--a=/", "before a ", "not ", "(", "w1 ", "\ud800"])
def test_a_very_long_text_does_not_stall(piece: str) -> None:
    start = time.process_time()
    rank(piece * 3000, [("x", piece * 3000 + " z")])
    assert time.process_time() - start < 2


def test_a_thousand_lessons_rank_quickly() -> None:
    verbs, things = ("cache", "pin", "log", "mock", "retry"), ("upload", "schema", "token", "export", "queue")
    rule = "Always {} the {} of service{} before the nightly job, not after it"
    stored = [(f"l{i}", rule.format(verbs[i % 5], things[i // 5 % 5], i)) for i in range(1000)]
    found = within(1, lambda: rank(rule.format("cache", "upload", 0), stored))  # generous: slow machines run this too
    assert (found[0].slug, found[0].verdict) == ("l0", "same")
    assert sum(x.verdict == "same" for x in found) == 1
