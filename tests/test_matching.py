"""What a new lesson repeats, may repeat or contradicts, as note, cleanup and check see it (R001-31, R004-30)."""

from __future__ import annotations

import time
from pathlib import Path

from learnloop_md import matching
from learnloop_md.lesson import Lesson
from tests.conftest import Run


def lesson(slug: str, rule: str, **fields: object) -> Lesson:
    return Lesson(slug, f"{slug}.md", "", state="current", rule=rule)._replace(**fields)  # type: ignore[arg-type]


STORE = (
    lesson("limit", "Every export job needs a limit of 20 minutes", why="One hung and burned six hours of credit"),
    lesson("limit-n", "Every import job needs a limit of 20 minutes"),
    lesson("labels", "Buttons carry a label"),
)


def test_a_hard_rewording_is_found_by_its_reasons() -> None:
    """R003-30: no rule of words calls it the same, and a search puts it first."""
    found = matching.match(lesson("", "A stuck one burned hours of credit; stop each at a third of an hour"), STORE)
    assert (found.same, found.near[0].slug) == ((), "limit")


def test_a_word_of_the_reasons_is_no_difference() -> None:
    stored = lesson("a", "Quantise prices before tax", why="Cents drifted in the ledger")
    bare = lesson("b", "Quantise prices before tax")
    new = lesson("", "Quantise ledger prices before tax is drifted")
    scores = [matching.compare(new, [row])[0].score for row in (stored, bare)]
    assert scores[0] > scores[1]


def test_the_opposite_is_no_candidate_to_merge() -> None:
    found = matching.match(lesson("", "Buttons carry no label"), STORE)
    assert [like.slug for like in found.opposite] == ["labels"]
    assert "labels" not in [like.slug for like in (*found.same, *found.near)]


def test_a_note_against_three_hundred_lessons_is_quick() -> None:
    rows = [lesson(f"l{n}", f"Rotate the {n} keys of service {n % 17} before export {n % 29}") for n in range(300)]
    new = lesson("", "Before an export rotate the keys of service 5")
    begun = time.process_time()
    for _ in range(5):
        matching.match(new, rows)
    assert (time.process_time() - begun) / 5 < 0.25  # a fraction of that where nothing else runs


def test_a_note_names_what_a_search_found_in_one_line(memory: Path, learnloop: Run) -> None:
    """R001-22: whoever knows better joins them with one command."""
    learnloop(
        "note", "Every export job needs a limit of 20 minutes.", "--why", "One hung for hours.", "--name", "limit"
    )
    done = learnloop("note", "A hung export job runs for hours.", "--name", "hung", "--run", "r2")
    assert "perhaps said before: limit (if so: learnloop merge hung NAME)" in done.out


def test_check_names_lessons_that_contradict_each_other(memory: Path, learnloop: Run) -> None:
    learnloop("note", "Send totals as integers, never as floats.", "--name", "ints")
    learnloop("note", "Send totals as floats, never as integers.", "--name", "floats", "--new", "--run", "r2")
    found = [row for row in learnloop("check", "--json").json["findings"] if row["code"] == "contradiction"]
    assert [(Path(row["path"]).name, row["severity"]) for row in found] == [("ints.md", "warning")]
    assert "may contradict floats" in found[0]["message"]


def test_check_names_the_line_of_instructions_that_contradicts_a_current_lesson(
    memory: Path, repo: Path, learnloop: Run
) -> None:
    learnloop("note", "Send totals as integers, never as floats.", "--name", "ints")
    learnloop("graduate", "ints")
    (repo / "AGENTS.md").write_text("# Rules\n\n- Label buttons.\n- Send totals as floats, never as integers.\n")
    found = [row for row in learnloop("check", "--json").json["findings"] if row["code"] == "contradiction"]
    assert [(Path(row["path"]).name, row["line"]) for row in found] == [("AGENTS.md", 4)]
    assert "the lesson ints" in found[0]["message"]
