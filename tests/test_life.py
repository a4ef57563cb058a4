"""A lesson's life at the prompt: captured, seen again, disputed, archived, brought back (design §5)."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.conftest import CopyOf, Ran, Run, git
from tests.homes import Home, make_home
from tests.reading import lesson, made_skill, subjects

RULE = "Read the down step before approving a migration."
SLUG = "read-the-down-step-before-approving-a-migration"


@pytest.fixture
def noted(memory: Path, copy_of: CopyOf, learnloop: Run) -> Path:
    """A memory with one candidate, seen on the first of June in run r1."""

    def build(root: Path) -> Home:
        made = make_home("project", root, learnloop)
        assert learnloop("note", RULE, "--run", "r1", "--today", "2026-06-01", cwd=root).code == 0
        return made

    return copy_of("one candidate", build).folder


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


# --- note ---------------------------------------------------------------------------------------------------


def test_a_note_prints_the_visible_form(memory: Path, learnloop: Run) -> None:
    """R001-70."""
    done = learnloop("note", RULE)
    assert done.out == (
        "[LearnLoop] Saving as feedback: Read the down step before approving a migration\n"
        f"  → memory/{SLUG}.md\n"
        "  → MEMORY.md updated\n"
    )


def test_a_note_of_a_skill_names_the_notebook(repo: Path, learnloop: Run) -> None:
    """R001-70 for a skill's memory."""
    skill = made_skill(repo, learnloop)
    done = learnloop("note", RULE, cwd=skill)
    assert done.out.splitlines()[1:] == [f"  → references/lessons/{SLUG}.md", "  → memory.md updated"]


def test_a_repeat_in_the_same_run_is_noted_but_not_saved(noted: Path, learnloop: Run) -> None:
    """R001-71, R001-30: a second sighting in the same run does not count."""
    before = git(noted, "rev-parse", "HEAD")
    done = learnloop("note", RULE, "--run", "r1")
    assert done.out == f"[LearnLoop] Noted but not saved — {SLUG} was seen in this run already\n"
    assert git(noted, "rev-parse", "HEAD") == before


def test_a_refused_note_has_the_visible_form_and_exit_3(memory: Path, learnloop: Run) -> None:
    """R001-71, R004-04: 501 characters are refused."""
    done = learnloop("note", "x" * 501)
    assert done.code == 3
    assert done.out.startswith("[LearnLoop] Noted but not saved — the rule has 501 characters")
    assert "one rule per note" in done.out


def test_a_rule_of_500_characters_is_saved(memory: Path, learnloop: Run) -> None:
    """R004-04."""
    assert learnloop("note", "word " * 99 + "words").code == 0


def test_every_option_of_note_stands_in_the_file(memory: Path, learnloop: Run) -> None:
    """R004-02."""
    done = learnloop(
        "note", "Ask for the down step.", "--title", "Migrations go back", "--name", "down-step",
        "--why", "PR 231 could not be rolled back.", "--how", "Open the down step first.",
        "--type", "project", "--kind", "correction", "--context", "reviewing migrations",
        "--evidence", "review of PR 231", "--tag", "sql", "--tag", "migrations",
        "--run", "a41c", "--today", "2026-06-01",
    )  # fmt: skip
    assert done.code == 0
    assert (memory / "down-step.md").read_text() == (
        "---\n"
        "name: down-step\n"
        "description: Ask for the down step\n"
        "metadata:\n"
        "  type: project\n"
        "  state: candidate\n"
        "  title: Migrations go back\n"
        "  created: 2026-06-01\n"
        "  kind: correction\n"
        "  tags:\n"
        "    - sql\n"
        "    - migrations\n"
        "  context: reviewing migrations\n"
        "  seen:\n"
        "    - on: 2026-06-01\n"
        "      run: a41c\n"
        "      evidence: review of PR 231\n"
        "---\n"
        "\n"
        "Ask for the down step.\n"
        "\n"
        "**Why:** PR 231 could not be rolled back.\n"
        "\n"
        "**How to apply:** Open the down step first.\n"
    )


def test_standard_input_is_rule_why_and_how(memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Design §5: the first paragraph is the rule, labelled ones are taken as such, the rest is context."""
    rule = "Ask for the\ndown step.\n \nOnly for SQL.\n"
    text = f"{rule}\n**Why:** No way back.\n\nHow to apply: Open it first.\n"
    stdin(monkeypatch, text.encode())
    assert learnloop("note", "-", "--name", "down-step").code == 0
    found = lesson(memory, "down-step")
    assert (found.rule, found.why, found.how) == ("Ask for the\ndown step.", "No way back.", "Open it first.")
    assert found.context == "Only for SQL."


def test_standard_input_that_is_not_utf8_is_a_usage_error(
    memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin(monkeypatch, "prüfe".encode("latin-1"))
    done = learnloop("note", "-")
    assert (done.code, done.out) == (2, "")
    assert "UTF-8" in done.err


def test_a_blank_reason_is_no_reason(memory: Path, learnloop: Run) -> None:
    assert learnloop("note", RULE, "--why", "  ", "--context", " ").code == 0
    assert lesson(memory, SLUG).why == ""


def test_a_control_character_is_refused(memory: Path, learnloop: Run) -> None:
    done = learnloop("note", RULE, "--why", "a \x1b[31m b", "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "control-char")


def test_a_note_larger_than_64_kib_is_refused(memory: Path, learnloop: Run) -> None:
    """Design §3, limits for what note writes."""
    done = learnloop("note", RULE, "--why", "because " * 9000, "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "too-long")


@pytest.mark.parametrize("option", ["--why", "--how", "--title", "--context", "--evidence", "--tag", "--name"])
def test_a_secret_in_any_option_is_refused_and_not_shown(memory: Path, learnloop: Run, option: str, repo: Path) -> None:
    """R004-20."""
    secret = "ghp_" + "Ab1" * 12
    done = learnloop("note", RULE, option, f"use {secret} here")
    assert done.code == 3
    assert secret not in done.out + done.err
    assert git(repo, "status", "--porcelain") == ""


def test_what_is_near_is_written_and_named_with_the_command_that_joins(noted: Path, learnloop: Run) -> None:
    """Design §5: nothing captured is ever lost to a question."""
    done = learnloop("note", "Read the down step and the up step of a migration.", "--json")
    assert done.json["action"] == "added"
    assert [row["slug"] for row in done.json["near"]] == [SLUG]
    joined = learnloop("merge", done.json["slug"], SLUG)
    assert joined.out.startswith(f"merged {done.json['slug']} into {SLUG}")


def test_a_note_that_is_near_says_how_to_join(noted: Path, learnloop: Run) -> None:
    """R001-22."""
    done = learnloop("note", "Read the down step and the up step of a migration.", "--name", "both-steps")
    assert done.out.splitlines()[3:] == [
        f'  near {SLUG}: "{RULE}"',
        f"    if it is the same: learnloop merge both-steps {SLUG}",
    ]


def test_an_opposite_note_says_that_it_may_contradict(noted: Path, learnloop: Run) -> None:
    done = learnloop("note", "Never read the down step before approving a migration.", "--name", "no-step")
    assert done.out.splitlines()[3:] == [
        f'  may contradict {SLUG}: "{RULE}"',
        f"    if the new one holds: learnloop supersede no-step {SLUG}",
    ]


def test_same_counts_whatever_the_words(noted: Path, learnloop: Run) -> None:
    done = learnloop("note", "Migrations must go both ways.", "--same", SLUG, "--run", "r2", "--json")
    assert (done.json["action"], done.json["slug"], done.json["state"]) == ("graduated", SLUG, "current")


def test_new_makes_a_new_lesson_whatever_the_words(noted: Path, learnloop: Run) -> None:
    done = learnloop("note", RULE, "--new", "--json")
    assert (done.json["action"], done.json["slug"]) == ("added", f"{SLUG}-2")


def test_supersedes_archives_the_old_lesson(noted: Path, learnloop: Run) -> None:
    """R000-34."""
    done = learnloop("note", "Run the down step first.", "--supersedes", SLUG, "--name", "run-it", "--json")
    old = lesson(noted, SLUG)
    assert (old.state, old.superseded_by) == ("archived", "run-it")
    assert lesson(noted, "run-it").supersedes == SLUG
    assert SLUG not in [row["slug"] for row in done.json["near"]]


def test_a_note_that_supersedes_is_one_commit_and_one_undo(repo: Path, noted: Path, learnloop: Run) -> None:
    """Design §6: one change, one commit; half of it would be two rules that say the contrary."""
    before, head = {path: path.read_bytes() for path in noted.glob("*.md")}, git(repo, "rev-parse", "HEAD")
    words = ("note", "Run the down step first.", "--why", "It was skipped.", "--supersedes", SLUG, "--name", "run-it")
    done = learnloop(*words, "--json", cwd=repo)
    assert done.json["commits"] == git(repo, "rev-list", f"{head}..").split()
    assert len(done.json["commits"]) == 1
    told = git(repo, "log", "-1", "--format=%s%n%b").splitlines()
    assert told[:2] == [f"learnloop: note run-it in place of {SLUG}", "It was skipped."]
    assert {"Lesson: run-it", f"Lesson: {SLUG}", "Learnloop-Change: supersede"} <= set(told)
    for slug in ("run-it", SLUG):
        assert "in place of" in learnloop("log", slug, cwd=repo).out.splitlines()[0]
    assert learnloop("undo", done.json["commits"][0], cwd=repo).code == 0
    assert {path: path.read_bytes() for path in noted.glob("*.md")} == before


def test_same_new_and_supersedes_exclude_each_other(noted: Path, learnloop: Run) -> None:
    assert learnloop("note", RULE, "--same", SLUG, "--new").code == 2


def test_an_unchanged_note_has_all_keys(noted: Path, learnloop: Run) -> None:
    """Design §12."""
    done = learnloop("note", RULE, "--run", "r1", "--json")
    assert done.json == {
        "action": "unchanged", "slug": SLUG, "state": "candidate", "commits": [], "queued": False,
        "paths": [], "near": [], "contradicts": [], "advice": [],
    }  # fmt: skip


# --- graduation ---------------------------------------------------------------------------------------------


def test_two_sightings_of_different_runs_graduate_in_a_commit_of_its_own(
    noted: Path, learnloop: Run, repo: Path
) -> None:
    """R002-20."""
    done = learnloop("note", RULE, "--run", "r2", "--today", "2026-06-02")
    assert done.out.splitlines()[-1] == "  graduated: 2 sightings, current"
    assert subjects(repo)[:2] == [f"learnloop: graduate {SLUG}", f"learnloop: see {SLUG}"]


def test_the_run_is_author_and_day_without_another(memory: Path, learnloop: Run) -> None:
    """Design §3."""
    learnloop("note", RULE, "--today", "2026-06-01")
    assert [event.run for event in lesson(memory, SLUG).seen] == ["ada-test-2026-06-01"]


def test_the_run_is_the_beginning_of_claudes_session(
    memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "3f2a81c0-77aa-4f6c-9f05-000000000000")
    learnloop("note", RULE)
    assert [event.run for event in lesson(memory, SLUG).seen] == ["3f2a81c0"]


def test_a_run_of_two_lines_is_a_usage_error(memory: Path, learnloop: Run) -> None:
    """It becomes a trailer: a second line could claim another change."""
    assert learnloop("note", RULE, "--run", "x\nLearnloop-Change: undo").code == 2


def test_graduate_by_hand(noted: Path, learnloop: Run) -> None:
    assert learnloop("graduate", "read-the").out.startswith(f"graduated {SLUG}, current (")
    assert learnloop("graduate", "read-the").out == f"unchanged: {SLUG} is current already\n"


# --- confirm, dispute, pin ----------------------------------------------------------------------------------


def test_a_fresh_lesson_is_archived_at_its_second_dispute(noted: Path, learnloop: Run, repo: Path) -> None:
    """R004-32."""
    first = learnloop("dispute", SLUG, "--run", "r2", "--json")
    second = learnloop("dispute", SLUG, "--run", "r3", "--evidence", "PR 9", "--json")
    assert (first.json["state"], second.json["state"]) == ("candidate", "archived")
    assert lesson(noted, SLUG).archive_note == "Disputed: 2 times, seen and confirmed 1 times"
    assert subjects(repo)[:2] == [f"learnloop: archive {SLUG}", f"learnloop: dispute {SLUG}"]


def test_a_second_dispute_of_the_same_run_changes_nothing(noted: Path, learnloop: Run) -> None:
    learnloop("dispute", SLUG, "--run", "r2")
    done = learnloop("dispute", SLUG, "--run", "r2")
    assert done.out == f"unchanged: {SLUG} was disputed in this run already (r2)\n"


def test_a_confirmation_brings_a_disputed_lesson_back(noted: Path, learnloop: Run) -> None:
    """R004-32."""
    learnloop("dispute", SLUG, "--run", "r2")
    learnloop("dispute", SLUG, "--run", "r3")
    done = learnloop("confirm", SLUG, "--run", "r4", "--json")
    assert (done.json["action"], done.json["state"]) == ("confirmed", "candidate")
    assert lesson(noted, SLUG).archive_note == ""


def test_a_confirmation_leaves_what_a_person_archived(noted: Path, learnloop: Run) -> None:
    learnloop("archive", SLUG, "--note", "too narrow")
    assert learnloop("confirm", SLUG, "--json").json["state"] == "archived"


def test_a_pinned_lesson_is_only_flagged(noted: Path, learnloop: Run) -> None:
    """R004-33, R004-34."""
    learnloop("pin", SLUG)
    learnloop("dispute", SLUG, "--run", "r2")
    done = learnloop("dispute", SLUG, "--run", "r3")
    assert done.out.splitlines()[1] == f"  {SLUG} is pinned: it stays, though disputed more than confirmed"
    assert lesson(noted, SLUG).state == "candidate"


def test_unpin_leaves_the_file_as_it_was_before_the_pin(noted: Path, learnloop: Run) -> None:
    before = (noted / f"{SLUG}.md").read_bytes()
    learnloop("pin", SLUG)
    assert lesson(noted, SLUG).pinned
    learnloop("unpin", SLUG)
    assert (noted / f"{SLUG}.md").read_bytes() == before


def test_one_confirmation_a_run(noted: Path, learnloop: Run) -> None:
    """R004-31."""
    learnloop("confirm", SLUG, "--run", "r2", "--evidence", "PR 3")
    done = learnloop("confirm", SLUG, "--run", "r2")
    assert done.out == f"unchanged: {SLUG} was confirmed in this run already (r2)\n"
    assert [event.evidence for event in lesson(noted, SLUG).confirmed] == ["PR 3"]


# --- archive, restore, rename -------------------------------------------------------------------------------


def test_archive_needs_a_note(noted: Path, learnloop: Run) -> None:
    """R002-41."""
    done = learnloop("archive", SLUG)
    assert (done.code, done.out) == (2, "")
    assert f'write: learnloop archive {SLUG} --note "…"' in done.err


def test_forget_archives_as_forgotten(noted: Path, learnloop: Run) -> None:
    """R004-34."""
    assert learnloop("forget", SLUG, "--json").json["action"] == "forgotten"
    assert (lesson(noted, SLUG).state, lesson(noted, SLUG).archive_note) == ("archived", "forgotten")


def test_restore_brings_back_the_state_before(noted: Path, learnloop: Run) -> None:
    learnloop("graduate", SLUG)
    before = (noted / f"{SLUG}.md").read_bytes()
    learnloop("archive", SLUG, "--note", "too narrow")
    assert learnloop("restore", SLUG, "--json").json["state"] == "current"
    assert (noted / f"{SLUG}.md").read_bytes() == before


def test_a_field_adds_no_trailer_and_no_control_character_to_a_message(noted: Path, repo: Path, learnloop: Run) -> None:
    """design §6: trailers say what a command did; git takes no NUL in a message."""
    file = noted / f"{SLUG}.md"
    note = r'archived\n  archive_note: "Old\n\nLesson: other\0\x1b"'.replace(r"\n ", "\n ")
    file.write_text(file.read_text().replace("state: candidate", f"state: {note}"))
    assert learnloop("restore", SLUG).code == 0
    said = git(repo, "log", "-1", "--format=%B")
    assert (said.count("\nLesson: "), r"Lesson: other\x00\x1b" in said) == (1, True)


def test_restore_brings_a_removed_file_back(noted: Path, learnloop: Run) -> None:
    """Design §4: a deleted lesson file is absorbed as a removal, restore brings it back."""
    path = noted / f"{SLUG}.md"
    before = path.read_bytes()
    path.unlink()
    learnloop("sync")
    assert learnloop("restore", SLUG, "--json").json["action"] == "restored"
    assert path.read_bytes() == before


def test_what_is_as_wanted_is_unchanged(noted: Path, learnloop: Run) -> None:
    assert learnloop("restore", SLUG).out == f"unchanged: {SLUG} is not archived\n"
    assert learnloop("rename", SLUG, SLUG).out == f"unchanged: {SLUG} has that name already\n"
    learnloop("forget", SLUG)
    assert learnloop("forget", SLUG).out == f"unchanged: {SLUG} is archived already: forgotten\n"


def test_restore_without_git_goes_by_the_sightings(tmp_path: Path, learnloop: Run) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    here = ("--memory", str(tmp_path))
    for run in ("r1", "r2"):
        learnloop("note", RULE, "--run", run, *here)
    learnloop("forget", SLUG, *here)
    assert learnloop("restore", SLUG, "--json", *here).json["state"] == "current"


def test_a_removed_file_comes_back_without_git(tmp_path: Path, learnloop: Run) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    here = ("--memory", str(tmp_path))
    learnloop("note", RULE, *here)
    text = (tmp_path / f"{SLUG}.md").read_bytes()
    (tmp_path / f"{SLUG}.md").unlink()
    learnloop("sync", *here)
    assert learnloop("restore", SLUG, "--json", *here).json["action"] == "restored"
    assert (tmp_path / f"{SLUG}.md").read_bytes() == text


def test_rename_keeps_where_it_came_from(noted: Path, learnloop: Run) -> None:
    done = learnloop("rename", SLUG, "down-step")
    assert done.out.startswith(f"renamed {SLUG} to down-step, candidate")
    assert "renamed_from: " + SLUG in (noted / "down-step.md").read_text()
    assert not (noted / f"{SLUG}.md").exists()
    assert "](down-step.md)" in (noted / "MEMORY.md").read_text()


def test_rename_follows_in_the_lessons_that_name_it(noted: Path, learnloop: Run) -> None:
    learnloop("note", "Run the down step.", "--supersedes", SLUG, "--name", "run-it")
    learnloop("rename", "run-it", "run-first")
    assert lesson(noted, SLUG).superseded_by == "run-first"


def test_rename_keeps_the_state_of_an_adopted_lesson(repo: Path, learnloop: Run) -> None:
    """Design §2: adopted lessons without a state count as current by their name in the settings."""
    memory = repo / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "old.md").write_text(
        "---\nname: old\ndescription: An old rule\nmetadata:\n  type: feedback\n---\n\nOld.\n"
    )
    (memory / "MEMORY.md").write_text("- [Old](old.md) — an old rule\n")
    assert learnloop("init", cwd=repo).code == 0
    assert learnloop("rename", "old", "new", "--json").json["state"] == "current"
    assert lesson(memory, "new").state == "current"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Con", "reserved-name"),
        ("../x", "path-traversal"),
        ("a b", "bad-char"),
        ("x" * 81, "too-long"),
        ("memory", "reserved-name"),
    ],
)
def test_a_name_that_cannot_be_is_refused(noted: Path, learnloop: Run, name: str, code: str) -> None:
    """Design §3, names."""
    done = learnloop("rename", SLUG, name, "--json")
    assert (done.code, done.json["error"]["code"]) == (3, code)


# --- supersede, merge ---------------------------------------------------------------------------------------


OLD = ("Bound every retry.", "--name", "old", "--why", "It hung.", "--tag", "net", "--context", "#957")
NEW = ("A retry says when it gives up.", "--name", "new", "--why", "Night shift.", "--tag", "calls")


def two(learnloop: Run) -> None:
    """An old and a new candidate, seen in two runs."""
    learnloop("note", *OLD, "--run", "r1", "--today", "2026-06-01")
    learnloop("note", *NEW, "--context", "#963", "--new", "--run", "r2", "--today", "2026-06-03")


def test_merge_keeps_the_provenance_of_both(memory: Path, learnloop: Run) -> None:
    """R002-34: both dates, runs, contexts, reasons and tags."""
    two(learnloop)
    done = learnloop("merge", "new", "old", "--json")
    kept = lesson(memory, "old")
    assert [(event.on, event.run) for event in kept.seen] == [("2026-06-01", "r1"), ("2026-06-03", "r2")]
    assert (kept.context, kept.tags) == ("#957; #963", ("net", "calls"))
    assert kept.why == "It hung. Also: Night shift."
    assert (done.json["action"], done.json["state"]) == ("graduated", "current")


def test_merge_archives_the_source_with_its_target(memory: Path, learnloop: Run) -> None:
    two(learnloop)
    learnloop("merge", "new", "old")
    gone = lesson(memory, "new")
    assert (gone.state, gone.archive_note, gone.superseded_by) == ("archived", "Merged into old", "old")


def test_merging_what_is_in_force_keeps_it_in_force(memory: Path, learnloop: Run) -> None:
    two(learnloop)
    learnloop("note", "A retry says when it gives up.", "--run", "r1")
    learnloop("note", "Bound the retries.", "--same", "old", "--run", "r1")
    assert lesson(memory, "new").state == "current"
    assert learnloop("merge", "new", "old", "--json").json["state"] == "current"


def test_a_pin_goes_along_with_a_merge(memory: Path, learnloop: Run) -> None:
    two(learnloop)
    learnloop("pin", "new")
    learnloop("merge", "new", "old")
    assert lesson(memory, "old").pinned


def test_what_was_merged_away_counts_where_it_is_kept(memory: Path, learnloop: Run) -> None:
    two(learnloop)
    learnloop("merge", "new", "old")
    done = learnloop("note", "A retry says when it gives up.", "--run", "r3", "--json")
    assert (done.json["action"], done.json["slug"]) == ("seen", "old")


def test_supersede_says_which_takes_the_place(memory: Path, learnloop: Run) -> None:
    two(learnloop)
    assert learnloop("supersede", "new", "old").out.startswith("new takes the place of old, candidate (")
    assert learnloop("supersede", "new", "old").out == "unchanged: old is superseded by new already\n"


@pytest.mark.parametrize("words", [("merge", "old", "old"), ("supersede", "old", "old")])
def test_a_lesson_is_not_joined_with_itself(memory: Path, learnloop: Run, words: tuple[str, ...]) -> None:
    two(learnloop)
    assert learnloop(*words).code == 2


def test_an_archived_lesson_takes_no_place(memory: Path, learnloop: Run) -> None:
    two(learnloop)
    learnloop("forget", "new")
    assert [
        learnloop(*w).code for w in (("supersede", "new", "old"), ("merge", "new", "old"), ("merge", "old", "new"))
    ] == [2, 2, 2]


# --- coming back --------------------------------------------------------------------------------------------


def archived(memory: Path, note: str) -> None:
    """Archive the lesson by hand with a note."""
    path = memory / f"{SLUG}.md"
    path.write_text(path.read_text().replace("  state: candidate\n", f"  state: archived\n  archive_note: {note}\n"))


def see_again(learnloop: Run, run: str = "r2", day: str = "2026-06-20") -> Ran:
    return learnloop("note", RULE, "--run", run, "--today", day, "--json")


def test_a_stale_lesson_seen_by_another_run_is_current(noted: Path, learnloop: Run) -> None:
    archived(noted, '"Stale: seen once, on 2026-06-01; not again"')
    assert see_again(learnloop).json["state"] == "current"
    assert lesson(noted, SLUG).archive_note == ""


def test_a_lesson_archived_by_hand_comes_back_as_a_candidate(noted: Path, learnloop: Run) -> None:
    archived(noted, "too narrow")
    assert see_again(learnloop).json["state"] == "candidate"
    assert lesson(noted, SLUG).revived == "2026-06-20"


def test_only_sightings_after_its_return_graduate_a_revived_lesson(noted: Path, learnloop: Run) -> None:
    archived(noted, "too narrow")
    see_again(learnloop)
    third = see_again(learnloop, "r3", "2026-06-21")
    fourth = see_again(learnloop, "r4", "2026-06-22")
    assert (third.json["state"], fourth.json["state"]) == ("candidate", "current")


def test_a_superseded_lesson_seen_again_is_reported(noted: Path, learnloop: Run) -> None:
    learnloop("note", "Run the down step.", "--supersedes", SLUG, "--name", "run-it")
    done = see_again(learnloop)
    assert (done.json["slug"], done.json["state"], done.json["superseded_by"]) == (SLUG, "archived", "run-it")


def test_a_codified_lesson_seen_again_is_a_relapse(noted: Path, learnloop: Run) -> None:
    learnloop("codify", SLUG)
    done = see_again(learnloop)
    assert (done.json["state"], done.json["relapse"]) == ("archived", True)


def test_a_disputed_lesson_seen_again_is_a_candidate(noted: Path, learnloop: Run) -> None:
    learnloop("dispute", SLUG, "--run", "r2")
    learnloop("dispute", SLUG, "--run", "r3")
    assert see_again(learnloop, "r5").json["state"] == "candidate"


def test_a_private_note_never_reaches_the_index_or_git(memory: Path, repo: Path, learnloop: Run) -> None:
    """Design §2: in a repository with a remote, lessons of type user stay out of git from the first moment."""
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    learnloop("note", "Ada works the late shift.", "--type", "user", "--name", "ada-shift", cwd=repo)
    assert (memory / "ada-shift.md").exists()
    assert "ada-shift" not in (memory / "MEMORY.md").read_text()
    assert "ada-shift" not in git(repo, "log", "-p", "--all")
    assert git(repo, "status", "--porcelain") == ""


def test_a_removed_lesson_is_restored_by_a_unique_beginning(noted: Path, repo: Path, learnloop: Run) -> None:
    """R004-98."""
    path = noted / f"{SLUG}.md"
    text = path.read_text()
    path.unlink()
    learnloop("sync", cwd=repo)
    assert learnloop("restore", SLUG[:6], cwd=repo).code == 0
    assert path.read_text() == text


@pytest.mark.parametrize("command", ["merge", "supersede"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_private_lesson_and_a_public_one_do_not_mix(
    repo: Path, memory: Path, learnloop: Run, command: str, order: int
) -> None:
    """Nothing of a private lesson gets into git by way of another (design §2)."""
    git(repo, "remote", "add", "origin", "/nowhere")
    learnloop("note", "Ada likes tea", "--type", "user", cwd=repo)
    learnloop("note", "The build server is called atlas", "--type", "project", cwd=repo)
    names = ["ada-likes-tea", "the-build-server-is-called-atlas"][::order]
    ran = learnloop(command, *names, cwd=repo)
    assert (ran.code, "is private" in ran.err) == (3, True)
    assert "ada-likes-tea" not in git(repo, "log", "-p", "--format=%B")


def test_cleanup_does_not_name_a_private_lesson_in_git(repo: Path, memory: Path, learnloop: Run) -> None:
    git(repo, "remote", "add", "origin", "/nowhere")
    for rule, kind in (("Ada likes tea", "user"), ("The build server is called atlas", "project")):
        learnloop("note", rule, "--type", kind, "--today", "2026-01-01", cwd=repo)
    assert learnloop("cleanup", "--apply", "--today", "2026-03-01", cwd=repo).code == 0
    assert "graduate" in git(repo, "log", "-1", "--format=%s")
    assert "ada-likes-tea" not in git(repo, "log", "-p", "--format=%B")


def test_a_lesson_never_seen_is_rejected_by_its_second_dispute(repo: Path, learnloop: Run) -> None:
    """R004-32: disputed more often than seen and confirmed together."""
    folder = repo / ".claude" / "memory"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("---\nname: a\ndescription: d\nmetadata:\n  type: feedback\n---\nRule a.\n")
    learnloop("init", cwd=repo)
    commands = ("confirm", "dispute", "dispute")
    rans = [learnloop(command, "a", "--run", f"r{n}", "--json", cwd=repo) for n, command in enumerate(commands)]
    assert [ran.json["state"] for ran in rans] == ["current", "current", "archived"]


def test_an_exact_name_is_restored_though_it_begins_another(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", "Use uv", "--name", "use-uv", "--new", cwd=repo)
    learnloop("note", "Never commit the lock of poetry", "--name", "use-uv-locks", "--new", cwd=repo)
    (memory / "use-uv.md").unlink()
    learnloop("sync", cwd=repo)
    assert learnloop("restore", "use-uv", "--json", cwd=repo).json["slug"] == "use-uv"


@pytest.mark.parametrize("command", ["confirm", "pin"])
def test_a_plain_note_stays_in_force_when_a_change_gives_it_a_head(memory: Path, learnloop: Run, command: str) -> None:
    """Design §2: a file without a head is served; a head without a state would make it a candidate."""
    (memory / "hall.md").write_text("The rig stands in hall two.\n")
    learnloop(command, "hall")
    assert "\n  state: current\n" in (memory / "hall.md").read_text()
    assert "(hall.md)" in (memory / "MEMORY.md").read_text().partition("## Candidate")[0]


def test_a_name_in_pieces_is_found(memory: Path, learnloop: Run) -> None:
    """A file manager may hand out é as e and an accent."""
    learnloop("note", "Das Café öffnet um acht.")
    assert "Das Café öffnet um acht." in learnloop("show", "das-cafe\u0301").out


def test_sync_names_the_file_it_cannot_read_beside_what_it_absorbed(memory: Path, learnloop: Run) -> None:
    """docs/commands.md: `sync` and `status` name what is left as it is."""
    for rule in ("Stage files by name.", "Use tabs in makefiles."):
        learnloop("note", rule)
    (memory / "stage-files-by-name.md").write_bytes(b"caf\xe9\n")
    (memory / "use-tabs-in-makefiles.md").open("a").write("\nAnd in rules.\n")
    done = learnloop("sync")
    assert done.out.startswith("absorbed use-tabs-in-makefiles")
    assert "stage-files-by-name.md:1: not UTF-8 text; left as it is, not committed" in done.err
