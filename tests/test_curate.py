"""Cleanup: when it is due, what its plan holds, and the plan carried out (design §5; R002-30 to R002-34)."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from learnloop_md import curate
from learnloop_md.lesson import Event, Lesson
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.settings import Settings
from tests.conftest import DATA, CopyOf, Run, git
from tests.homes import Home, make_home, new_repository
from tests.reading import lesson, made_skill, subjects

TODAY = "2026-11-30"
RULES = [
    "Pin the compiler in the lock file.",
    "Ask for a screenshot of each dialog.",
    "Name the owner of a feature flag.",
    "Count rows before a backfill.",
    "Mock the clock in tests of timers.",
    "Quote paths in shell scripts.",
]


def memory_of(*rows: Lesson, kind: str = "project", **settings: object) -> Memory:
    place = Place(Path("/m"), kind, "", None, Settings()._replace(**settings), "MEMORY.md")  # type: ignore[arg-type]
    return Memory(place, {row.slug: row for row in rows}, {}, (), (), "", frozenset(), None, True)


def candidate(slug: str, on: str, **fields: object) -> Lesson:
    row = Lesson(slug, f"{slug}.md", "", type="feedback", created=on, rule=RULES[len(slug) % 6])
    return row._replace(seen=(Event(on, f"run-{slug}"),))._replace(**fields)  # type: ignore[arg-type]


def planned(*rows: Lesson, kind: str = "project", **settings: object) -> list[tuple[str, tuple[str, ...]]]:
    return [item[:2] for item in curate.plan(memory_of(*rows, kind=kind, **settings), TODAY)]


# --- due ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "due"), [(4, []), (5, ["5 candidates (due at 5)"])])
def test_due_at_five_candidates(count: int, due: list[str]) -> None:
    """R002-30."""
    rows = [candidate(f"r{n}", TODAY) for n in range(count)]
    assert curate.reasons(memory_of(*rows), TODAY) == due


@pytest.mark.parametrize(("day", "due"), [("2026-11-16", []), ("2026-11-15", ["old is 15 days old (due after 14)"])])
def test_due_on_the_15th_day(day: str, due: list[str]) -> None:
    """R002-31."""
    assert curate.reasons(memory_of(candidate("old", day)), TODAY) == due


def test_what_a_person_looked_at_is_off_both_triggers_for_14_days() -> None:
    rows = [candidate(f"r{n}", "2026-09-01", reviewed="2026-11-16") for n in range(6)]
    assert curate.reasons(memory_of(*rows), TODAY) == []
    assert len(curate.reasons(memory_of(*rows), "2026-12-01")) == 2


def test_thresholds_are_settings() -> None:
    rows = [candidate("r1", "2026-11-28"), candidate("r22", "2026-11-28")]
    assert len(curate.reasons(memory_of(*rows, candidates_due=2, stale_days=1), TODAY)) == 2


# --- plan ---------------------------------------------------------------------------------------------------


def test_an_empty_memory_has_an_empty_plan() -> None:
    assert planned() == []


def test_what_was_seen_once_15_days_ago_is_archived() -> None:
    """R002-32."""
    assert planned(candidate("old", "2026-11-15")) == [("archive", ("old",))]


def test_what_was_seen_once_14_days_ago_stays() -> None:
    assert planned(candidate("old", "2026-11-16")) == []


def test_the_repeated_graduate() -> None:
    row = candidate("old", "2026-01-01")
    assert planned(row._replace(seen=(*row.seen, Event("2026-01-02", "other")))) == [("graduate", ("old",))]


@pytest.mark.parametrize("kind", ["user", "project", "reference"])
def test_facts_of_a_project_graduate_instead(kind: str) -> None:
    assert planned(candidate("fact", "2026-11-15", type=kind)) == [("graduate", ("fact",))]


def test_facts_of_a_skill_go_stale_like_habits() -> None:
    assert planned(candidate("fact", "2026-11-15", type="reference"), kind="skill") == [("archive", ("fact",))]


def test_facts_graduate_is_a_setting() -> None:
    row = candidate("fact", "2026-11-15", type="reference")
    assert planned(row, facts_graduate=False) == [("archive", ("fact",))]


def test_a_disputed_fact_is_left_to_a_person() -> None:
    row = candidate("fact", "2026-11-15", type="reference", disputed=(Event("2026-11-16", "x"),))
    assert planned(row) == [("decide", ("fact",))]


def test_a_pinned_stale_candidate_is_left_to_a_person() -> None:
    """R004-33: pinned are exempt."""
    assert planned(candidate("old", "2026-01-01", pinned=True)) == [("decide", ("old",))]


def test_what_was_disputed_more_than_it_helped_is_archived() -> None:
    """R004-32, also where two branches added the disputes."""
    disputes = (Event("2026-11-28", "x"), Event("2026-11-29", "y"))
    assert planned(candidate("bad", TODAY, disputed=disputes)) == [("archive", ("bad",))]


def test_the_proven_are_proposed_for_codifying() -> None:
    """R002-40: four independent sightings or confirmations without dispute."""
    row = candidate("good", TODAY, state="current", confirmed=tuple(Event(TODAY, run) for run in "abc"))
    assert planned(row) == [("codify", ("good",))]
    assert planned(row._replace(disputed=(Event(TODAY, "z"),))) == []


def test_duplicates_are_merged_newer_into_older_and_graduate() -> None:
    older = candidate("older", "2026-11-28", rule="Bound every retry of a call.")
    newer = candidate("newer", "2026-11-29", rule="Bound every retry of a call")
    assert planned(newer, older) == [("merge", ("newer", "older")), ("graduate", ("older",))]


def test_a_chain_of_duplicates_ends_in_one_lesson() -> None:
    rows = [candidate(f"r{n}", f"2026-11-2{n}", rule="Bound every retry of a call.") for n in range(4)]
    found = planned(*rows)
    assert sorted(slugs[0] for change, slugs in found if change == "merge") == ["r1", "r2", "r3"]
    assert found[-1] == ("graduate", ("r0",))


def test_contradicting_pairs_are_left_to_a_person() -> None:
    yes = candidate("yes", "2026-01-01", rule="Stage files by name.")
    no = candidate("nooo", "2026-01-02", rule="Never stage files by name.")
    assert planned(yes, no) == [("decide", ("nooo", "yes"))]


def test_a_contradiction_is_only_a_suspicion() -> None:
    yes = candidate("yes", TODAY, rule="Stage files by name.")
    no = candidate("nooo", TODAY, rule="Never stage files by name.")
    assert "may contradict" in curate.plan(memory_of(yes, no), TODAY)[0].why


def test_the_weakest_beyond_the_cap_are_archived() -> None:
    """R004-33."""
    rows = [candidate("a", TODAY), candidate("bb", "2026-11-29"), candidate("ccc", "2026-11-28", pinned=True)]
    assert planned(*rows, active_cap=2) == [("archive", ("bb",))]


def test_the_cap_is_200_active_lessons_unless_told_otherwise() -> None:
    """R004-33: of 202 one that is pinned stays, the two weakest others go."""
    good = tuple(Event(TODAY, run) for run in "ab")
    names = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}" * 3 for n in range(200)]
    rows = [candidate(n, TODAY, state="current", confirmed=good, rule=f"Keep {n} as it is.") for n in names]
    weak = [candidate(n, TODAY, state="current", rule=f"Keep {n} as it is.") for n in ("weaka", "weakb")]
    assert [one for one in planned(*rows, *weak) if one[0] == "archive"] == [
        ("archive", ("weaka",)),
        ("archive", ("weakb",)),
    ]
    pinned = [weak[0]._replace(pinned=True), weak[1]]
    assert ("archive", ("weakb",)) in planned(*rows, *pinned)
    assert ("archive", ("weaka",)) not in planned(*rows, *pinned)


def test_archived_lessons_and_plain_notes_are_nobodys_business() -> None:
    gone = candidate("gone", "2026-01-01", state="archived")
    note = candidate("note", "2026-01-01", has_head=False)
    assert planned(gone, note) == []


# --- the command --------------------------------------------------------------------------------------------


@pytest.fixture
def crowd(memory: Path, copy_of: CopyOf, learnloop: Run) -> Path:
    """Five candidates: a repeated pair, a fact and two fresh ones."""
    notes: list[tuple[str, ...]] = [
        ("Bound every retry of a call.", "--name", "older", "--run", "r1", "--today", "2026-11-10"),
        ("Bound every retry of a call", "--name", "newer", "--run", "r2", "--today", "2026-11-11", "--new"),
        ("The board has the open bugs.", "--name", "board", "--type", "reference", "--today", "2026-11-12"),
        ("Quote paths in scripts.", "--name", "quote", "--today", "2026-11-13"),
        ("Mock the clock in timer tests.", "--name", "clock", "--today", TODAY),
    ]

    def build(root: Path) -> Home:
        made = make_home("project", root, learnloop)
        for words in notes:
            assert learnloop("note", *words, cwd=root).code == 0
        return made

    return copy_of("crowd", build).folder


def test_check_exits_1_when_due(crowd: Path, learnloop: Run) -> None:
    """R002-33."""
    done = learnloop("cleanup", "--check", "--today", "2026-11-20")
    assert (done.code, done.out) == (1, "cleanup is due: 5 candidates (due at 5)\n")


def test_check_exits_0_when_not_due(memory: Path, learnloop: Run) -> None:
    done = learnloop("cleanup", "--check")
    assert (done.code, done.out) == (0, "cleanup is not due\n")


def test_the_plan_changes_nothing(crowd: Path, learnloop: Run, repo: Path) -> None:
    """R002-33."""
    before = git(repo, "rev-parse", "HEAD")
    done = learnloop("cleanup", "--today", TODAY)
    assert done.code == 0
    assert done.out.splitlines()[-1] == "carry it out with: learnloop cleanup --apply"
    assert (git(repo, "rev-parse", "HEAD"), git(repo, "status", "--porcelain")) == (before, "")


def test_the_plan_as_json(crowd: Path, learnloop: Run) -> None:
    """Design §12."""
    data = learnloop("cleanup", "--today", TODAY, "--json").json
    assert (data["due"], len(data["reasons"])) == (True, 2)
    assert [(item["change"], item["slugs"]) for item in data["plan"]] == [
        ("merge", ["newer", "older"]),
        ("graduate", ["board"]),
        ("graduate", ["older"]),
        ("archive", ["quote"]),
    ]


def test_apply_makes_one_commit_for_each_kind_of_change(crowd: Path, learnloop: Run, repo: Path) -> None:
    data = learnloop("cleanup", "--apply", "--today", TODAY, "--json").json
    assert [git(repo, "log", "-1", "--format=%s", commit) for commit in data["commits"]] == [
        "learnloop: cleanup, merge newer",
        "learnloop: cleanup, graduate 2 lessons",
        "learnloop: cleanup, archive quote",
    ]
    assert subjects(repo)[0] == "learnloop: cleanup, archive quote"


def test_apply_says_what_was_done(crowd: Path, learnloop: Run) -> None:
    done = learnloop("cleanup", "--apply", "--today", TODAY)
    assert "  done    archive  quote: Stale: seen once, on 2026-11-13; not again" in done.out.splitlines()


def test_apply_leaves_the_lessons_as_planned(crowd: Path, learnloop: Run) -> None:
    learnloop("cleanup", "--apply", "--today", TODAY)
    states = {slug: lesson(crowd, slug).state for slug in ("older", "newer", "board", "quote", "clock")}
    assert states == {
        "older": "current",
        "newer": "archived",
        "board": "current",
        "quote": "archived",
        "clock": "candidate",
    }


def test_apply_twice_changes_nothing(crowd: Path, learnloop: Run, repo: Path) -> None:
    learnloop("cleanup", "--apply", "--today", TODAY)
    before = git(repo, "rev-parse", "HEAD")
    done = learnloop("cleanup", "--apply", "--today", TODAY)
    assert (done.code, git(repo, "rev-parse", "HEAD")) == (0, before)
    assert done.out == "cleanup is not due\n  nothing to do\n"


def test_one_undo_takes_a_whole_cleanup_back(crowd: Path, learnloop: Run, repo: Path) -> None:
    """Design §6: one id for all commits of a command."""
    before = git(repo, "rev-parse", "HEAD^{tree}")
    learnloop("cleanup", "--apply", "--today", TODAY)
    assert learnloop("undo").code == 0
    assert git(repo, "rev-parse", "HEAD^{tree}") == before


def test_dry_run_of_apply_shows_each_commit(crowd: Path, learnloop: Run, repo: Path) -> None:
    done = learnloop("cleanup", "--apply", "--dry-run", "--today", TODAY)
    assert done.out.count("Learnloop-Change: cleanup") == 3
    assert subjects(repo)[0] == "learnloop: note clock"


def test_due_without_a_rule_that_decides_points_to_review(memory: Path, learnloop: Run) -> None:
    for n, rule in enumerate(RULES[:5]):
        learnloop("note", rule, "--name", f"r{n}", "--today", TODAY)
    done = learnloop("cleanup", "--today", TODAY)
    assert done.out.splitlines()[1] == "  no rule decides anything yet: learnloop review asks you"


def test_check_apply_and_hook_exclude_each_other(memory: Path, learnloop: Run) -> None:
    assert learnloop("cleanup", "--check", "--apply").code == 2


# --- in a hook ---------------------------------------------------------------------------------------------


def test_a_hook_that_is_due_changes_files_only(crowd: Path, learnloop: Run, repo: Path) -> None:
    """Design §5, "In pre-commit"."""
    before = git(repo, "rev-parse", "HEAD"), git(repo, "ls-files", "-s")
    done = learnloop("cleanup", "--hook", "--today", TODAY, "--json")
    assert (git(repo, "rev-parse", "HEAD"), git(repo, "ls-files", "-s")) == before
    assert (done.code, done.json["commits"]) == (1, [])
    named = git(repo, "diff", "--name-only").split("\n")
    assert sorted(done.json["paths"]) == named


def test_a_hook_says_what_to_add(crowd: Path, learnloop: Run) -> None:
    done = learnloop("cleanup", "--hook", "--today", TODAY)
    assert done.out.splitlines()[-1].startswith("look at it, then: git add .claude/memory/")


def test_a_hook_that_runs_again_writes_nothing(crowd: Path, learnloop: Run, repo: Path) -> None:
    learnloop("cleanup", "--hook", "--today", TODAY)
    git(repo, "add", "-u")
    done = learnloop("cleanup", "--hook", "--today", TODAY)
    assert (done.code, done.out) == (0, "")
    assert git(repo, "diff", "--name-only") == ""


def test_what_a_hook_wrote_is_committed_by_the_person_and_nothing_is_queued(
    crowd: Path, learnloop: Run, repo: Path
) -> None:
    learnloop("cleanup", "--hook", "--today", TODAY)
    git(repo, "commit", "-qam", "Clean up")
    assert learnloop("sync").out == "everything is in step\n"


def test_a_hook_leaves_an_edited_document_alone(crowd: Path, learnloop: Run, repo: Path) -> None:
    (crowd / "MEMORY.md").write_text((crowd / "MEMORY.md").read_text() + "\nText.\n")
    done = learnloop("cleanup", "--hook", "--today", TODAY)
    assert (done.code, git(repo, "diff", "--name-only")) == (0, ".claude/memory/MEMORY.md")
    assert "MEMORY.md has unstaged edits: cleanup left it alone" in done.err


def test_a_dry_run_of_a_hook_writes_nothing(crowd: Path, learnloop: Run, repo: Path) -> None:
    done = learnloop("cleanup", "--hook", "--dry-run", "--today", TODAY)
    assert (done.code, git(repo, "status", "--porcelain")) == (1, "")
    assert "would change: " in done.out


def test_a_hook_never_codifies(crowd: Path, learnloop: Run) -> None:
    for run in "abcd":
        learnloop("confirm", "clock", "--run", run)
    learnloop("graduate", "clock")
    learnloop("cleanup", "--hook", "--today", TODAY)
    assert lesson(crowd, "clock").codified_in == ""


# --- a skill's notebook from outside ------------------------------------------------------------------------


@pytest.fixture
def adopted(repo: Path, copy_of: CopyOf, learnloop: Run) -> Path:
    """A notebook of 19 entries, adopted."""

    def build(root: Path) -> Home:
        skill = new_repository(root) / "pr-review"
        copytree(DATA / "round1" / "memories" / "b" / "pr-review", skill)
        git(root, "add", "pr-review")
        git(root, "commit", "-q", "-m", "Skill as found")
        done = learnloop("init", "--skill", "pr-review", "--today", TODAY, cwd=root)
        assert done.code == 0, done.err
        return Home("skill", root, skill / "references", learnloop)

    return copy_of("adopted", build).folder


def test_adopting_a_notebook_drops_no_entry(adopted: Path, learnloop: Run) -> None:
    data = learnloop("status", "--memory", str(adopted), "--json").json
    assert data["lessons"] == {"candidate": 9, "current": 4, "archived": 6}


def test_nine_candidates_and_forty_days_are_due(adopted: Path, learnloop: Run) -> None:
    data = learnloop("cleanup", "--memory", str(adopted), "--today", TODAY, "--json").json
    assert data["reasons"] == [
        "9 candidates (due at 5)",
        "rollback-note-for-schema-changes is 40 days old (due after 14)",
    ]


def test_the_plan_archives_the_one_stale_entry_and_leaves_what_is_14_days_old(adopted: Path, learnloop: Run) -> None:
    data = learnloop("cleanup", "--memory", str(adopted), "--today", TODAY, "--json").json
    assert [item["slugs"] for item in data["plan"] if item["change"] == "archive"] == [
        ["rollback-note-for-schema-changes"]
    ]


def test_contradicting_entries_are_never_merged_or_archived_by_the_plan(adopted: Path, learnloop: Run) -> None:
    data = learnloop("cleanup", "--memory", str(adopted), "--today", TODAY, "--json").json
    touched = {slug for item in data["plan"] if item["change"] != "decide" for slug in item["slugs"]}
    assert not touched & {"leave-names-alone-unless-they-mislead", "always-comment-on-names"}


def test_a_cleanup_of_a_skill_keeps_every_entry(adopted: Path, learnloop: Run) -> None:
    """R002-62."""
    text = (adopted / "memory.md").read_text()
    learnloop("cleanup", "--apply", "--memory", str(adopted), "--today", TODAY)
    assert (adopted / "memory.md").read_text().count("\n### ") == text.count("\n### ") == 19


def test_facts_of_a_skill_are_archived_when_stale(repo: Path, learnloop: Run) -> None:
    skill = made_skill(repo, learnloop)
    learnloop(
        "note",
        "The board has bugs.",
        "--name",
        "board",
        "--type",
        "reference",
        "--today",
        "2026-11-01",
        cwd=skill,
    )
    learnloop("cleanup", "--apply", "--today", TODAY)
    assert lesson(skill, "board").archive_note == "Stale: seen once, on 2026-11-01; not again"


FLOW = """---
name: flowy
description: d
metadata: {{type: feedback, state: candidate, created: 2026-10-01, {more}}}
---

Flow lesson.
"""


def test_events_in_flow_style_are_unfolded(memory: Path, repo: Path, learnloop: Run) -> None:
    (memory / "flowy.md").write_text(FLOW.format(more="seen: [{on: 2026-10-01, run: x}]"))
    learnloop("sync", cwd=repo)
    assert learnloop("cleanup", "--apply", "--today", "2026-11-30", cwd=repo).code == 0
    text = (memory / "flowy.md").read_text()
    assert "  state: archived\n" in text
    assert "  seen:\n    - on: 2026-10-01\n      run: x\n" in text


def test_a_head_that_cannot_be_edited_is_told_and_stops_no_other(memory: Path, repo: Path, learnloop: Run) -> None:
    (memory / "flowy.md").write_text(FLOW.format(more="mine: {a: {b: c}}"))
    learnloop("note", "Brew tea first.", "--name", "tea", "--today", "2026-10-01", cwd=repo)
    done = learnloop("cleanup", "--apply", "--today", "2026-11-30", cwd=repo)
    assert (done.code, "state: archived" in (memory / "tea.md").read_text()) == (0, True)
    assert "head-not-editable" in [row["code"] for row in learnloop("check", "--json", cwd=repo).json["findings"]]
