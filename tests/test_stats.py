"""What runs and lessons add up to (R004-91, R000-60)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from learnloop_md import stats
from learnloop_md.lesson import Event, Lesson, Record
from learnloop_md.runlog import Run as Ended
from tests.conftest import Run
from tests.homes import make_home


def _run(status: str, n: int, version: str = "") -> Ended:
    return Ended(f"r{n}", status, f"2026-06-{n:02}T10:00:00Z", skill_version=version)


def _record(n: int, outcome: str) -> Lesson:
    record = Record(f"r{n}", f"2026-01-{n:02}T00:00:00Z", "docs", "A", "B", outcome)
    return Lesson(f"l{n:02}", f"l{n:02}.md", "", state="candidate", **record._asdict())


def test_runs_are_told_in_two_lines_with_a_whole_per_cent_and_the_last_one() -> None:
    """R004-91, R004-94: the numbers of the requirement, only the statuses that exist."""
    runs = [*(_run("ok", n) for n in range(1, 13)), _run("failed", 13), _run("failed", 14)]
    found = stats.collect([], runs)
    assert stats.text(found).split("\n") == [
        "runs      14 runs (12 ok, 2 failed, success 86%), last 2026-06-14T10:00:00Z",
        "lessons   none yet",
    ]


@pytest.mark.parametrize(
    ("part", "whole", "said"), [(1, 8, 13), (1, 3, 33), (2, 3, 67), (0, 5, 0), (5, 5, 100), (0, 0, None)]
)
def test_half_a_per_cent_is_rounded_up(part: int, whole: int, said: int | None) -> None:
    """R004-94."""
    assert stats.percent(part, whole) == said


def test_a_partial_run_is_no_success_and_is_told_apart() -> None:
    """Ruling C19."""
    found = stats.collect([], [_run("ok", 1), _run("partial", 2)])
    assert (found["success_percent"], found["runs"]["partial"]) == (50, 1)


@pytest.mark.parametrize(("failures", "warned"), [(8, False), (9, True)])
def test_more_than_40_per_cent_failures_of_the_last_20_records_warn(failures: int, warned: bool) -> None:
    """R000-60: exactly 40 per cent is no warning."""
    rows = [_record(n, "failure" if n > 20 - failures else "success") for n in range(1, 21)]
    found = stats.collect(rows, [])
    assert found["recent"]["warning"] is warned
    assert bool(stats.warnings(found)) is warned
    if warned:
        assert "9 of the last 20 records are failures, more than 40 %" in stats.warnings(found)[0]


def test_only_the_last_20_records_count() -> None:
    """R000-60: recent is the last 20, by their time; plain notes are no records."""
    old = [_record(n, "failure") for n in range(1, 9)]
    new = [_record(n, "success") for n in range(9, 29)]
    found = stats.collect([*new, *old, Lesson("n", "n.md", "")], [])
    assert found["recent"] == {"records": 20, "failures": 0, "partial": 0, "failure_percent": 0, "warning": False}


def test_lessons_are_counted_by_the_statuses_that_exist() -> None:
    """R004-03, R004-91."""
    rows = [
        Lesson("a", "a.md", "", state="current"), Lesson("b", "b.md", "", state="current", pinned=True),
        Lesson("c", "c.md", "", state="archived"), Lesson("d", "d.md", "", state="archived", codified_in="SKILL.md"),
        Lesson("e", "e.md", "", state="candidate"), Lesson("note", "note.md", "", has_head=False),
    ]  # fmt: skip
    found = stats.collect(rows, [])
    assert found["lessons"] == {"active": 2, "archived": 1, "pinned": 1, "promoted": 1}
    assert stats.text(found).split("\n")[1] == "lessons   2 active, 1 archived, 1 pinned, 1 promoted"


def test_the_time_to_graduate_is_from_the_first_to_the_second_run() -> None:
    rows = [
        Lesson("a", "a.md", "", state="current", seen=(Event("2026-05-01", "r1"), Event("2026-05-08", "r2"))),
        Lesson("b", "b.md", "", state="current", seen=(Event("2026-05-01", "r1"), Event("2026-05-01", "r3"))),
        Lesson("c", "c.md", "", state="candidate", seen=(Event("2026-05-01", "r1"), Event("2026-05-09", "r1"))),
    ]
    assert stats.collect(rows, [])["graduated"] == {"lessons": 2, "median_days": 3.5}


def test_versions_of_a_skill_are_told_apart() -> None:
    """R004-61, R004-99."""
    runs = [_run("ok", 1, "1.0"), _run("failed", 2, "1.0"), _run("ok", 3, "2.0")]
    found = stats.collect([Lesson("a", "a.md", "", skill_version="1.0")], runs)
    assert found["skill_versions"] == {
        "1.0": {"runs": 2, "success_percent": 50, "lessons": 1},
        "2.0": {"runs": 1, "success_percent": 100, "lessons": 0},
    }


def test_the_command_tells_what_the_memory_holds(tmp_path: Path, learnloop: Run) -> None:
    """R004-91, R004-95: in words and as JSON; a relapse is a sighting after the day of codifying."""
    home = make_home("skill", tmp_path / "code", learnloop)
    assert home.run("stats").out == "runs      none yet: learnloop run ok|failed\nlessons   none yet\n"
    for run in ("r1", "r2"):
        home.note("Ask before renaming.", run)
    home.note("Quote paths in scripts.", "r1")
    assert home.run("confirm", "quote").code == 0
    assert home.run("codify", "ask").code == 0
    later = home.learnloop(
        "note",
        "Ask before renaming.",
        "--run",
        "r3",
        "--memory",
        str(home.folder),
        "--today",
        "2026-06-09",
        cwd=home.root,
    )
    assert later.code == 0
    assert home.run("run", "ok").code == 0
    found: dict[str, Any] = home.run("stats", "--json").json
    assert found["relapses"] == 1
    assert found["lessons"] == {"active": 1, "promoted": 1}
    assert (found["served"]["confirmed"], found["runs"]["ok"], found["success_percent"]) == (1, 1, 100)
    said = home.run("stats").out
    assert "relapses  1 after codifying" in said
    assert "1 run (1 ok, success 100%)" in said


@pytest.mark.parametrize(
    "data",
    [b"garbage", b"---\nid: a\nstatus: weird\n---\n", b"\xff\xfe", b"---\nid: a\nstatus: ok\ncreated_at: xx\n---\n"],
)
def test_a_run_that_cannot_be_read_is_named_and_not_counted(tmp_path: Path, learnloop: Run, data: bytes) -> None:
    """docs/runs.md: a share of successes that leaves out what it cannot read says so."""
    home = make_home("project", tmp_path / "code", learnloop)
    home.run("run", "ok")
    (home.folder / ".runs" / "2026-11").mkdir(parents=True)
    (home.folder / ".runs" / "2026-11" / "bad.md").write_bytes(data)
    done = home.run("stats", "--json")
    assert (done.json["unreadable_runs"], done.json["runs"]["total"]) == ([".runs/2026-11/bad.md"], 1)
    assert done.json["last_run"] != "xx"
    assert "no run, and not counted: .runs/2026-11/bad.md" in home.run("stats").err
