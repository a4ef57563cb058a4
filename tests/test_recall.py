"""Which lessons fit a task, and in which order (design §8, R000-30 to R000-42, R003-30 to R003-32)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md.lesson import Event, Lesson
from learnloop_md.recall import Hit, Query, choose, effective_confidence, explained, is_failure, rank

TODAY = "2026-11-30"


def lesson(slug: str, rule: str = "Warm the asset cache before a release", **fields: object) -> Lesson:
    return Lesson(slug, f"{slug}.md", "", state="current", rule=rule)._replace(**fields)  # type: ignore[arg-type]


def found(query: Query | str, *rows: Lesson) -> list[str]:
    asked = Query(query) if isinstance(query, str) else query
    return [hit.lesson.slug for hit in rank(rows, asked, TODAY)]


def test_a_lesson_is_found_under_other_words() -> None:
    """R003-30: a nightly pipeline is CI, a crash is a failure."""
    rows = (lesson("ci", "Every CI job needs a time limit"), lesson("ui", "Buttons carry a label"))
    assert found("add a nightly pipeline", *rows)[0] == "ci"


def test_a_word_in_a_tag_counts_more_than_in_the_reasons() -> None:
    """R003-31."""
    rows = (lesson("a", why="The invoice was late"), lesson("b", tags=("invoice",)))
    assert found("print the invoice", *rows) == ["b", "a"]


def test_what_has_no_word_of_the_task_is_left_out() -> None:
    assert found("mow the lawn", lesson("a")) == []


def test_without_a_task_all_lessons_are_given_by_confidence() -> None:
    seen = tuple(Event("2026-11-01", run) for run in ("r1", "r2"))
    assert found("", lesson("a", seen=seen[:1]), lesson("b", seen=seen)) == ["b", "a"]


def test_pinned_then_confirmed_by_a_person_then_the_rest() -> None:
    """R000-37, design §8."""
    rows = (
        lesson("a", "Warm the asset cache before a release of assets"),
        lesson("b", human_confirmed=True),
        lesson("c", pinned=True),
    )
    assert found("warm the asset cache for the release", *rows) == ["c", "b", "a"]


def test_a_pin_does_not_lift_what_hardly_fits() -> None:
    rows = (
        lesson("fits", "Warm the asset cache before a release"),
        lesson("pinned", "Buy a release cake", pinned=True),
    )
    assert found("warm the asset cache before the release", *rows)[0] == "fits"


@pytest.mark.parametrize(
    ("days", "left"), [("2026-11-30", 1.0), ("2026-11-01", 1.0), ("2026-10-31", 0.9), ("2026-09-30", 0.81)]
)
def test_confidence_fades_with_every_30_whole_days(days: str, left: float) -> None:
    """R000-36: age counts from the newest sighting."""
    row = lesson("a", confidence=1.0, seen=(Event(days, "r1"),), created="2020-01-01")
    assert effective_confidence(row, TODAY) == pytest.approx(left)


def test_superseded_and_archived_lessons_are_never_given() -> None:
    """R000-34."""
    rows = (lesson("a", superseded_by="b"), lesson("b", state="archived"), lesson("c"))
    assert found("warm the cache", *rows) == ["c"]


def test_what_a_newer_lesson_supersedes_is_never_given_though_it_does_not_know() -> None:
    """R000-34: the newer record names the older; the chain is followed, through archived lessons too."""
    rows = (lesson("a"), lesson("b", supersedes="a", state="archived"), lesson("c", supersedes="b"))
    assert found("warm the cache", *rows) == ["c"]


def test_lessons_that_supersede_each_other_are_both_given() -> None:
    """R000-34: a circle, made by two branches, must not lose a lesson."""
    assert found("warm the cache", lesson("a", supersedes="b"), lesson("b", supersedes="a")) == ["a", "b"]
    rows = (lesson("a", supersedes="b"), lesson("b", supersedes="a"), lesson("c", supersedes="a"))
    assert found("warm the cache", *rows) == ["c"]


def test_a_name_that_no_lesson_has_supersedes_nothing() -> None:
    """R000-34: check reports it as unknown-lesson."""
    assert found("warm the cache", lesson("a", supersedes="long-gone")) == ["a"]


def test_of_equal_relevance_the_more_confident_comes_first() -> None:
    """R000-31."""
    assert found("warm the cache", lesson("a", confidence=0.4), lesson("b", confidence=0.9)) == ["b", "a"]


def test_a_record_made_by_hand_comes_first_by_itself() -> None:
    """R000-38: confidence 1.0, confirmed by a person."""
    seen = tuple(Event("2026-11-29", f"r{n}") for n in range(9))
    rows = (lesson("a", seen=seen), lesson("manual", confidence=1.0, human_confirmed=True))
    assert found("warm the cache", *rows) == ["manual", "a"]


@pytest.mark.parametrize("outcome", ["", "success"])
def test_a_correction_counts_as_the_failure_among_the_best(outcome: str) -> None:
    """R000-33: whether it was noted here, or came in as the record of another memory."""
    assert is_failure(lesson("a", kind="correction", outcome=outcome))


@pytest.mark.parametrize("field", ["input_summary", "what_worked", "what_failed"])
def test_the_record_of_a_run_is_searched(field: str) -> None:
    """R000-40."""
    rows = (lesson("a", "Nothing"), lesson("b", "Nothing", **{field: "Convert the ledger to Parquet"}))
    assert found("read the Parquet ledger", *rows) == ["b"]


@pytest.mark.parametrize(
    ("query", "slugs"),
    [
        (Query("cache", task_type="Test"), "none test"),
        (Query("cache", type="feedback"), "test"),
        (Query("cache", tags=("DB", "ui")), "test"),
        (Query("cache", stack=("react-18",)), "none test"),
        (Query("cache", stack=("react-17",)), "edit none"),
        (Query("cache", stack=("vue-3",)), "none"),
    ],
)
def test_filters_hide_a_mismatch_and_pass_absence(query: Query, slugs: str) -> None:
    """R000-30, R000-35, R000-42."""
    rows = (
        lesson("test", task_type="test", type="feedback", tags=("db",), stack_tags=("react-18.2", "node-20")),
        lesson("edit", task_type="edit", stack_tags=("react-17",)),
        lesson("none"),
    )
    assert " ".join(sorted(found(query, *rows))) == slugs


def test_a_version_in_a_plain_tag_counts_too() -> None:
    """R000-35."""
    rows = (lesson("old", tags=("react-16",)), lesson("any", tags=("react",)))
    assert found(Query("cache", stack=("react-18",)), *rows) == ["any"]


def hits(*rows: Lesson) -> list[Hit]:
    return [Hit(row, 1.0 - n / 100, "", 1.0) for n, row in enumerate(rows)]


def test_at_least_one_failure_is_given_if_there_is_one() -> None:
    """R000-33: it takes the last place of the five (R000-32)."""
    rows = [lesson(f"s{n}", outcome="success") for n in range(6)] + [lesson("f", outcome="partial")]
    best, rest = choose(hits(*rows), 5)
    assert [hit.lesson.slug for hit in best] == ["s0", "s1", "s2", "s3", "f"]
    assert [hit.lesson.slug for hit in rest] == ["s4", "s5"]


def test_no_two_of_one_approach() -> None:
    """R000-39."""
    rows = (lesson("a", approach="Batch  writes"), lesson("b", approach="batch writes"), lesson("c"))
    assert [hit.lesson.slug for hit in choose(hits(*rows), 5)[0]] == ["a", "c"]


def test_each_hit_says_which_words_met_in_which_fields() -> None:
    row = lesson("a", tags=("ci",), title="Asset cache")
    why = explained(Hit(row, 1.0, ""), "the pipeline needs a warm cache").why
    assert why == "warm in rule; cache in title, rule; pipeline ~ ci in tags"


def test_chinese_is_found_by_pairs_of_characters() -> None:
    rows = (lesson("zh", "提交之前运行全部测试"), lesson("other", "日志不要写密码"))
    assert found("运行测试", *rows)[0] == "zh"


def test_ten_thousand_lessons_are_ranked_quickly() -> None:
    """R003-32."""
    rows = [
        lesson(f"l{n}", f"Always rotate key {n} of service {n % 97} before the nightly export") for n in range(10_000)
    ]
    begun = time.process_time()
    assert found("rotate key 4711", *rows)[0] == "l4711"
    assert time.process_time() - begun < 5  # generous: slow machines run this too


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=6))
def test_any_task_and_lessons_give_the_same_order_again(task: str, rules: list[str]) -> None:
    """Deterministic, whatever the order of the store (R004-35)."""
    rows = [lesson(f"l{n}", rule) for n, rule in enumerate(rules)]
    assert found(task, *rows) == found(task, *rows[::-1])
