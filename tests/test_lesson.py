"""The rules of a lesson's life and of its name."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import lesson as rules
from learnloop_md.errors import RefusedError, UsageError
from learnloop_md.lesson import Event, Lesson
from tests.conftest import DATA


def seen(*runs: str, day: str = "2026-11-01", **fields: object) -> Lesson:
    row = Lesson("a", "a.md", "", seen=tuple(Event(day, run) for run in runs), created=day)
    return row._replace(**fields)  # type: ignore[arg-type]


SLUGS = json.loads((DATA / "slugs.json").read_text("utf-8"))


@pytest.mark.parametrize("row", SLUGS, ids=lambda row: repr(row["name"])[:40])
def test_a_name_is_taken_or_refused_with_its_reason(row: dict[str, str]) -> None:
    """Design §3: reserved, traversing, colliding names."""
    code = ""
    try:
        rules.check_slug(row["name"], row.get("taken", ()))
    except RefusedError as error:
        code = error.code
    assert code == row.get("code", "").replace("ok", "")


@given(st.text(max_size=80))
def test_a_made_name_may_always_name_a_lesson(text: str) -> None:
    """R001-04: a short slug for any text."""
    assert rules.check_slug(rules.slugify(text))


@given(st.text(max_size=40), st.integers(1, 12))
def test_a_taken_name_gets_a_number(text: str, count: int) -> None:
    """R001-04: a collision gets -2, -3 …"""
    taken: list[str] = []
    for _ in range(count):
        taken.append(rules.free_slug(rules.slugify(text), taken))
    assert len({name.casefold() for name in taken}) == count
    assert all(rules.check_slug(name) for name in taken)


def test_two_runs_graduate_and_one_run_twice_does_not() -> None:
    """R002-20."""
    assert rules.is_repeated(seen("r1", "r2"), 2)
    assert not rules.is_repeated(seen("r1")._replace(seen=(Event("2026-11-01", "r1"), Event("2026-11-09", "r1"))), 2)


@pytest.mark.parametrize(("count", "due"), [(4, False), (5, True)])
def test_cleanup_is_due_at_five_candidates(count: int, due: bool) -> None:
    """R002-30."""
    rows = [seen("r", slug=f"n{n}") for n in range(count)]
    assert bool(rules.cleanup_reasons(rows, "2026-11-02", due_at=5, stale_days=14)) is due


@pytest.mark.parametrize(("today", "due"), [("2026-11-15", False), ("2026-11-16", True)])
def test_cleanup_is_due_on_the_fifteenth_day(today: str, due: bool) -> None:
    """R002-31: older than 14 days."""
    assert bool(rules.cleanup_reasons([seen("r")], today, due_at=5, stale_days=14)) is due


@pytest.mark.parametrize(("today", "due"), [("2026-11-30", False), ("2026-12-01", True)])
def test_a_look_takes_a_candidate_off_for_fourteen_days(today: str, due: bool) -> None:
    row = seen("r", reviewed="2026-11-16")
    assert bool(rules.cleanup_reasons([row], today, due_at=1, stale_days=14)) is due


@pytest.mark.parametrize(
    ("sightings", "confirmed", "disputed", "rejected"),
    [(1, 0, 1, False), (1, 0, 2, True), (1, 1, 2, False), (0, 0, 2, True)],
)
def test_more_disputed_than_seen_and_confirmed_is_rejected(
    sightings: int, confirmed: int, disputed: int, rejected: bool
) -> None:
    """R004-32: a fresh lesson at its second dispute."""
    events = [tuple(Event("2026-11-01", f"r{n}") for n in range(count)) for count in (sightings, confirmed, disputed)]
    assert (
        rules.is_rejected(Lesson("a", "a.md", "", seen=events[0], confirmed=events[1], disputed=events[2])) is rejected
    )


def test_confidence_is_stored_or_told_by_the_events() -> None:
    """Design §5."""
    assert rules.confidence(seen("r1", "r2")._replace(disputed=(Event("2026-11-01", "d"),))) == 0.6
    assert rules.confidence(seen("r1")._replace(confidence=0.25)) == 0.25


def test_equal_events_are_one_and_sorted_by_run() -> None:
    one, two = Event("2026-11-02", "b"), Event("2026-11-03", "a")
    assert rules.merged_events([one], [two, one]) == (two, one)


@pytest.mark.parametrize("day", ["2026-02-30", "26-11-01", "today", "2026-1-1", ""])
def test_what_is_no_day_is_refused(day: str) -> None:
    with pytest.raises(UsageError):
        rules.check_day(day)


@pytest.mark.parametrize(
    ("name", "taken", "code"),
    [
        ("run-tests", ["run-tests"], "exists"),
        ("Run-Tests", ["run-tests"], "case-collision"),
        ("straße", ["strasse"], "case-collision"),
        ("café", ["cafe\u0301"], "case-collision"),
        ("Run-Tests", [], "bad-char"),
    ],
)
def test_a_name_that_collides_is_refused_with_the_reason(name: str, taken: list[str], code: str) -> None:
    """Colliding names are refused: case-insensitive file systems (design §3)."""
    with pytest.raises(RefusedError) as refused:
        rules.check_slug(name, taken)
    assert refused.value.code == code


@pytest.mark.parametrize("size", [78, 79, 80])
def test_a_number_behind_a_long_name_keeps_it_short_enough(size: int) -> None:
    wanted = "a" * 30 + "-" + "b" * (size - 31)
    name = rules.free_slug(wanted, [wanted])
    assert (rules.check_slug(name, [wanted]), name.endswith("-2")) == (name, True)


def test_letters_that_look_alike_are_left_out_of_a_made_name() -> None:
    assert rules.slugify("Wait 10μs for p\u0430ypal, ﬁrst x²") == "wait-for-first-x2"
    assert rules.slugify("Обзор API") == "обзор-api"


def test_a_revived_lesson_counts_later_days_alone() -> None:
    """`revived: DAY`; only sightings after that day graduate it (design §5)."""
    row = Lesson(
        "a", "a.md", "", revived="2026-11-10", seen=tuple(Event(f"2026-11-{d:02}", f"r{d}") for d in (9, 10, 11))
    )
    assert rules.runs(row) == {"r11"}


def test_only_candidates_graduate_and_await() -> None:
    rows = [seen("r1", "r2", state=state) for state in ("current", "archived")] + [seen("r", has_head=False)]
    assert [rules.is_repeated(row, 2) for row in rows] == [False] * 3
    assert rules.cleanup_reasons(rows, "2027-11-01", due_at=1, stale_days=14) == []


def test_a_new_sighting_makes_a_candidate_young_again() -> None:
    """today minus the newest sighting (design §5)."""
    row = seen("r", created="2026-01-01", day="2026-11-20")
    assert rules.age_days(row, "2026-11-30") == 10


@pytest.mark.parametrize(
    ("fields", "reliable"),
    [
        ({}, True),
        ({"state": "candidate"}, False),
        ({"disputed": (Event("2026-11-01", "d"),)}, False),
        ({"seen": (Event("2026-11-01", "r1"), Event("2026-11-02", "r1"))}, False),
    ],
    ids=["four runs", "a candidate", "disputed", "one run"],
)
def test_four_independent_runs_without_dispute_make_it_worth_codifying(
    fields: dict[str, object], reliable: bool
) -> None:
    """R002-40."""
    row = seen("r1", "r2", "r3", state="current", confirmed=(Event("2026-11-03", "r4"),))
    assert rules.is_reliable(row._replace(**fields), 4) is reliable  # type: ignore[arg-type]


def test_titles_come_from_the_slug() -> None:
    assert [rules.title_of(slug) for slug in ("use-uv", "feedback_label", "对账规则", "-")] == [
        "Use uv", "Feedback label", "对账规则", "-",
    ]  # fmt: skip


@given(st.text(max_size=60), st.integers(2, 40))
def test_a_shortened_text_is_short_and_on_one_line(text: str, limit: int) -> None:
    short = rules.shorten(rules.fold(text), limit)
    assert len(short) <= limit
    assert "\n" not in short
