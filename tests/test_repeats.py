"""Which rules are one lesson: hard pairs that differ in one thing, and the same rule in other words (R004-30)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from learnloop_md import matching
from learnloop_md.lesson import Lesson
from tests.conftest import Run

PAIRS = json.loads((Path(__file__).parent / "data" / "repeats.json").read_text(encoding="utf-8"))
DIFFERENT = [row[1:] for row in PAIRS if row[0] == "different"]
SAME = [row[1:] for row in PAIRS if row[0] == "same"]
# Candidates only: a slip in a word that has a synonym, a number in the reason.
MISSED = {
    "Restart the gateway after a certificate change.",
    "Use `flock` in the cron script since two runs overlapped.",
}


def lesson(slug: str, rule: str, **fields: str) -> Lesson:
    return Lesson(slug, f"{slug}.md", "", state="current", rule=rule)._replace(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "a", "b"), DIFFERENT, ids=[f"{row[0]}: {row[1]}" for row in DIFFERENT])
def test_different_rules_are_never_one(kind: str, a: str, b: str) -> None:
    """A wrong merge loses a lesson."""
    for one, other in ((a, b), (b, a)):
        assert matching.match(lesson("", one), [lesson("stored", other)]).same == (), kind


@pytest.mark.parametrize(("kind", "a", "b"), DIFFERENT[::5], ids=[f"{row[0]}: {row[1]}" for row in DIFFERENT[::5]])
def test_reasons_that_repeat_both_rules_make_them_no_more_alike(kind: str, a: str, b: str) -> None:
    """What is said around a rule may find a candidate, never decide."""
    how = f"First this: {a} Then that: {b}"
    for one, other in ((a, b), (b, a)):
        assert matching.match(lesson("", one, how=how), [lesson("stored", other, how=how, why=a)]).same == (), kind


@pytest.mark.parametrize(("kind", "a", "b"), SAME, ids=[f"{row[0]}: {row[1]}" for row in SAME])
def test_a_rule_said_anew_is_one_lesson(kind: str, a: str, b: str) -> None:
    for one, other in ((a, b), (b, a)):
        found = matching.match(lesson("", one), [lesson("noise", "Feed the cat at noon."), lesson("stored", other)])
        assert found.all[0].slug == "stored", kind
        assert found.all[0].verdict == ("near" if a in MISSED else "same"), (kind, found.all[0].why)


def test_a_repeat_gives_the_lesson_the_reasons_that_it_lacks(memory: Path, learnloop: Run) -> None:
    """R002-72: nothing that was said goes without a word."""
    learnloop("note", "Stage files by name when committing.", "--tag", "git", "--name", "stage", "--run", "r1")
    words = ["--why", "A dump came along.", "--how", "git add PATH", "--context", "monorepo", "--tag", "hygiene"]
    done = learnloop("note", "When committing, stage files by name.", *words, "--run", "r2")
    assert "taken in: why, how, context, tags" in done.out
    text = (memory / "stage.md").read_text("utf-8")
    assert "**Why:** A dump came along." in text
    assert "**How to apply:** git add PATH" in text
    assert "context: monorepo" in text
    assert "- git\n    - hygiene" in text


def test_what_a_repeat_brings_and_is_not_kept_is_told_with_the_way_out(memory: Path, learnloop: Run) -> None:
    """R002-72: the answer shows that the words differ, in text and as keys."""
    learnloop(
        "note", "Stage files by name when committing.", "--why", "Scratch files.", "--name", "stage", "--run", "1"
    )
    words = ["note", "When committing, stage files by name.", "--why", "A dump came along.", "--type", "project"]
    before = (memory / "stage.md").read_text("utf-8")
    done = learnloop(*words, "--run", "2")
    assert done.out.startswith("[LearnLoop] Saving as feedback: Stage files by name when committing\n")
    assert 'your words are not kept: "When committing, stage files by name."' in done.out
    assert "not kept: why, type" in done.out
    assert "if it is another lesson: learnloop undo, then learnloop note --new" in done.out
    assert learnloop("undo").code == 0
    assert (memory / "stage.md").read_text("utf-8") == before
    told = learnloop(*words, "--run", "3", "--json").json
    assert told["not_kept"] == {
        "rule": "When committing, stage files by name.", "why": "A dump came along.", "type": "project",
    }  # fmt: skip
    assert "taken_in" not in told


def test_a_repeat_in_the_same_words_says_no_more_than_before(memory: Path, learnloop: Run) -> None:
    learnloop("note", "Stage files by name when committing.", "--name", "stage", "--run", "1")
    told = learnloop("note", "stage files by name when committing", "--run", "2", "--json").json
    assert told.keys() & {"not_kept", "taken_in"} == set()


def test_a_second_note_in_one_run_tells_what_it_did_not_write(memory: Path, learnloop: Run) -> None:
    learnloop("note", "Stage files by name when committing.", "--name", "stage", "--run", "1")
    before = (memory / "stage.md").read_text("utf-8")
    done = learnloop("note", "Stage files by name when committing.", "--how", "git add PATH", "--run", "1")
    assert "not kept: how" in done.out
    assert "learnloop undo" not in done.out
    assert (memory / "stage.md").read_text("utf-8") == before


def test_cleanup_merges_no_lessons_that_only_look_alike(memory: Path, learnloop: Run) -> None:
    """Reasons that repeat the rule, a shared long name, synonyms of the verb: still two lessons."""
    rows = [
        ("Index retry limits after a rollback.", "Look at the retry limits first, then decide after a rollback."),
        ("Index rate limits before a release.", "Look at the rate limits first, then decide before a release."),
        ("Validate grid layouts of the shop on the slow runners.", "Look at the grid layouts first."),
        ("Check grid layouts of the shop for the tablet app.", "Look at the grid layouts first."),
    ]
    for number, (rule, how) in enumerate(rows):
        learnloop("note", rule, "--how", how, "--new", "--run", f"r{number}")
    plan = learnloop("cleanup", "--json").json["plan"]
    assert [row for row in plan if row["change"] == "merge"] == []
