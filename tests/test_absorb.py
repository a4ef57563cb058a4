"""Absorbing, line by line (design §4): what people and Claude changed by hand becomes part of the memory."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import index, notebook
from learnloop_md import memory as memories
from learnloop_md.carry import with_fields_of
from learnloop_md.lesson import Event, fold
from learnloop_md.lessonfile import Reading, read
from learnloop_md.store import Ledger
from learnloop_md.tree import HeadError
from tests.conftest import CopyOf, Run, git
from tests.homes import ASK, DAY, OLD, READ, STAGE, Home, Model, filled, filled_copy, lesson_text, make_home

SESSION = "3f2a81c0-9d3e-4c55-8a61-0d1f6f1c2b7a"
OTHER_SESSION = "77aa00bb-1111-4222-8333-444455556666"
CLAUDES = f"""---
name: {{slug}}
description: Quote every path in shell commands
metadata:
  node_type: memory
  type: feedback
  originSessionId: {SESSION}
  modified: 2026-06-01T10:00:00.000Z
---

{{body}}
"""


@pytest.fixture(params=["project", "skill"])
def home(request: pytest.FixtureRequest, copy_of: CopyOf, learnloop: Run) -> Home:
    """Each kind of memory in git, with lessons."""
    return filled_copy(request.param, copy_of, learnloop)


@pytest.fixture(params=["project", "skill"])
def bare(request: pytest.FixtureRequest, tmp_path: Path, learnloop: Run) -> Home:
    """Each kind of memory without git, with lessons."""
    return filled(make_home(request.param, tmp_path / "plain", learnloop, with_git=False))


@pytest.fixture
def project(copy_of: CopyOf, learnloop: Run) -> Home:
    return filled_copy("project", copy_of, learnloop)


@pytest.fixture
def skill(copy_of: CopyOf, learnloop: Run) -> Home:
    return filled_copy("skill", copy_of, learnloop)


def written_by_claude(home: Home, slug: str, body: str = "Quote every path in shell commands.") -> Path:
    file = home.file(slug)
    file.write_text(CLAUDES.format(slug=slug, body=body), "utf-8")
    return file


# --- entries that moved -----------------------------------------------------------------------------------


def test_an_entry_moved_to_another_zone_changes_the_state(home: Home) -> None:
    """Design §4: "an entry moved to another zone changes the state"."""
    home.move(READ, "current")
    home.sync()
    assert "state: current" in home.file(READ).read_text()
    assert home.zone(READ) == "current"


def test_an_entry_moved_to_the_archived_zone_gets_a_note(home: Home) -> None:
    home.move(READ, "archived")
    home.sync()
    text = home.file(READ).read_text()
    assert "state: archived" in text
    assert f"archive_note: archived by hand in {home.document.name}" in text


def test_an_entry_moved_out_of_the_archive_loses_its_note(home: Home) -> None:
    home.move(OLD, "candidate")
    home.sync()
    assert "archive_note" not in home.file(OLD).read_text()
    assert "Replaced by the new one" not in home.text


def test_an_entry_moved_without_git_changes_the_state(bare: Home) -> None:
    bare.move(READ, "current")
    bare.sync()
    assert "state: current" in bare.file(READ).read_text()


def test_a_state_line_edited_in_the_notebook_moves_the_entry(skill: Home) -> None:
    skill.document.write_text(skill.text.replace(skill.entry(READ), skill.entry(READ).replace("CANDIDATE", "CURRENT")))
    skill.sync()
    assert skill.zone(READ) == "current"
    assert "state: current" in skill.file(READ).read_text()


def test_what_was_absorbed_is_a_commit_of_its_own_with_trailers(home: Home) -> None:
    """Design §4: "What was absorbed is a commit of its own"; §6: only our paths, with trailers."""
    home.move(READ, "current")
    (home.root / "app.py").write_text("x = 2\n")
    assert home.run("note", "Write a test for every bug.", "--run", "r9").code == 0
    assert home.commits()[:2] == ["learnloop: note write-a-test-for-every-bug", f"learnloop: absorb {READ}"]
    body = git(home.root, "log", "-1", "--skip=1", "--format=%b")
    assert f"Lesson: {READ}\nLearnloop-Change: absorb\n" in body
    changed = git(home.root, "show", "--format=", "--name-only", "HEAD~1").splitlines()
    assert sorted(home.root / path for path in changed) == sorted([home.document, home.file(READ)])
    assert git(home.root, "status", "--short") == " M app.py"


# --- fields that were edited ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "in_file"),
    [
        ("| Read the lines above first", "| Look up first", "title: Look up first"),
        ("- Context: A check was doubled.", "- Context: Two checks.", "**Why:** Two checks."),
        ("- Lesson: Read the lines above first.", "- Lesson: Read ten lines.", "---\n\nRead ten lines.\n"),
        ("- Next pass: Scroll up.", "- Next pass: Scroll far up.", "**How to apply:** Scroll far up."),
        ("- Tags: guards", "- Tags: guards, nulls", "tags:\n    - guards\n    - nulls\n"),
        ("### 2026-06-01 | Read", "### 2026-05-30 | Read", "created: 2026-05-30"),
    ],
)
def test_an_edited_field_of_an_entry_changes_the_file(skill: Home, old: str, new: str, in_file: str) -> None:
    """Design §4: "an edited field changes the file"."""
    skill.edit(skill.document, old, new)
    before = skill.text
    skill.sync()
    assert in_file in skill.file(READ).read_text()
    assert skill.text == before


def test_an_edited_archive_note_changes_the_file(skill: Home) -> None:
    skill.edit(skill.document, "Replaced by the new one", "Nobody uses it")
    skill.sync()
    assert "archive_note: Nobody uses it" in skill.file(OLD).read_text()


@pytest.mark.parametrize(
    ("old", "new", "in_file"),
    [
        ("[Read the lines above first]", "[Look up first]", "title: Look up first"),
        ("— A check was doubled.", "— before you suggest a check", "description: before you suggest a check"),
    ],
)
def test_an_edited_title_or_hook_of_a_line_changes_the_file(project: Home, old: str, new: str, in_file: str) -> None:
    project.edit(project.document, old, new)
    before = project.text
    project.sync()
    assert in_file in project.file(READ).read_text()
    assert project.text == before


def test_an_edited_field_without_git_changes_the_file(bare: Home) -> None:
    bare.edit(bare.document, "A check was doubled.", "Two checks.")
    bare.sync()
    assert "Two checks." in bare.file(READ).read_text()


@pytest.mark.parametrize("line", ["- Context: A check was doubled.\n", "- Next pass: Scroll up.\n", "- Tags: guards\n"])
def test_a_field_taken_out_of_an_entry_leaves_the_file_too(skill: Home, line: str) -> None:
    skill.edit(skill.document, line, "")
    skill.sync()
    assert line.partition(": ")[2].strip() not in skill.file(READ).read_text()
    assert line not in skill.text


@pytest.mark.parametrize("line", ["- Lesson: Read the lines above first.\n", "- State: CANDIDATE\n", "2026-06-01 | "])
def test_a_field_that_an_entry_needs_comes_back(skill: Home, line: str) -> None:
    """A rule, a state or a day that was cut away is still in the file, and returns to the notebook."""
    entry = skill.entry(READ)
    skill.document.write_text(skill.text.replace(entry, entry.replace(line, "")))
    before = skill.file(READ).read_bytes()
    skill.sync()
    assert skill.entry(READ) == entry
    assert skill.file(READ).read_bytes() == before


def test_a_hook_that_was_cut_away_is_no_edit(project: Home) -> None:
    project.edit(project.document, " — A check was doubled.", "")
    before = project.file(READ).read_bytes()
    project.sync()
    assert project.file(READ).read_bytes() == before


def test_a_hook_shortened_for_the_index_is_no_edit(project: Home) -> None:
    """Design §4: "a hook shortened for MEMORY.md is no edit"."""
    project.note("Say in the commit message why a change is made, " + "and for whom it is made, " * 9 + "in words.")
    before = project.bytes()
    assert "…" in project.text
    project.sync()
    assert project.bytes() == before


def test_a_title_with_brackets_is_no_edit() -> None:
    model = Model("project", {"a.md": lesson_text("a", "Rule.", more="  title: Use [x] here\n")})
    model.sync()
    assert (model.sync().what, model.plans) == ((), [])


# --- entries that are new ---------------------------------------------------------------------------------

NEW_ENTRY = "### 2026-05-20 | Keep lines short\n- Context: A diff could not be read.\n- Lesson: Break long lines.\n"


@pytest.mark.parametrize(("zone", "sightings"), [("Candidate", 1), ("Current", 2), ("Archived", 1)])
def test_a_new_entry_in_a_zone_becomes_a_lesson_file(skill: Home, zone: str, sightings: int) -> None:
    """Design §4: "a new entry in memory.md becomes a lesson file"; §2: current counts as two sightings."""
    entry = f"{NEW_ENTRY}- State: {zone.upper()}\n"
    skill.edit(skill.document, f"## {zone} Patterns\n", f"## {zone} Patterns\n\n{entry}")
    skill.sync()
    text = skill.file("keep-lines-short").read_text()
    assert f"state: {zone.lower()}" in text
    assert text.count("- on: 2026-05-20\n") == sightings
    assert "Break long lines.\n\n**Why:** A diff could not be read." in text
    assert "- File: lessons/keep-lines-short.md" in skill.entry("keep-lines-short")


def test_a_new_entry_outside_all_zones_becomes_a_candidate(skill: Home) -> None:
    skill.document.write_text(NEW_ENTRY + "\n" + skill.text)
    skill.sync()
    assert "state: candidate" in skill.file("keep-lines-short").read_text()
    assert skill.zone("keep-lines-short") == "candidate"


def test_an_entry_appended_at_the_end_of_the_file_is_a_candidate(skill: Home) -> None:
    """The last zone is the archive; what is appended behind it was archived by nobody."""
    skill.document.write_text(skill.text.rstrip("\n") + f"\n\n{NEW_ENTRY}")
    skill.sync()
    assert "state: candidate" in skill.file("keep-lines-short").read_text()
    assert skill.zone("keep-lines-short") == "candidate"


def test_an_entry_deleted_in_a_fresh_clone_archives_the_lesson(skill: Home) -> None:
    """Without a ledger the newest agreeing commit is the base, also of an entry that is gone."""
    git(skill.root, "add", ".")
    shutil.rmtree(skill.root / ".git" / "learnloop")
    skill.document.write_text(skill.text.replace(skill.entry(READ), ""))
    skill.sync()
    assert "archive_note: removed by hand from memory.md" in skill.file(READ).read_text()


def test_a_hand_renamed_lesson_is_followed_by_those_that_name_it(project: Home) -> None:
    project.note("Brew tea first.", "r1", "--name", "tea")
    project.note("Brew coffee first.", "r2", "--name", "coffee", "--supersedes", "tea")
    project.file("coffee").rename(project.file("espresso"))
    project.sync()
    assert "superseded_by: espresso" in project.file("tea").read_text()


def test_a_new_entry_without_git_becomes_a_lesson_file(tmp_path: Path, learnloop: Run) -> None:
    home = filled(make_home("skill", tmp_path / "plain", learnloop, with_git=False))
    home.edit(home.document, "## Current Patterns\n", f"## Current Patterns\n\n{NEW_ENTRY}")
    home.sync()
    assert "state: current" in home.file("keep-lines-short").read_text()


def test_a_second_entry_with_a_known_title_becomes_a_lesson_of_its_own() -> None:
    """Nothing written into the notebook is lost to a title that two lessons share."""
    model = Model("skill", {"lessons/a-rule.md": lesson_text("a-rule", "First.")}, notebook.NEW)
    model.sync()
    assert model.document
    second = "### 2026-05-27 | A rule\n- Lesson: Second.\n"
    model.document = model.document.replace("Patterns\n\n", f"Patterns\n\n{second}\n", 1)
    model.sync()
    assert (model.lesson("a-rule").rule, model.lesson("a-rule-2").rule) == ("First.", "Second.")
    assert len(notebook.entries(model.document)) == 2
    assert (model.sync().what, model.plans) == ((), [])


def test_a_line_without_its_file_is_reported_and_kept(project: Home) -> None:
    """Design §4: "a line in MEMORY.md without its file is reported as dangling"."""
    line = "- [Gone](gone.md) — nobody knows\n"
    project.edit(project.document, "## Candidate\n\n", f"## Candidate\n\n{line}")
    done = project.sync()
    assert "the index names gone.md, which does not exist" in done.err
    assert line in project.text


def test_a_dangling_line_is_kept_without_git(tmp_path: Path, learnloop: Run) -> None:
    home = filled(make_home("project", tmp_path / "plain", learnloop, with_git=False))
    line = "- [Gone](gone.md) — nobody knows\n"
    home.edit(home.document, "## Candidate\n\n", f"## Candidate\n\n{line}")
    assert "gone.md, which does not exist" in home.sync().err
    assert "what sync leaves, take out or correct" in home.run("check").out
    assert line in home.text


# --- entries and files that went --------------------------------------------------------------------------


def test_an_entry_deleted_from_the_notebook_archives_the_lesson(skill: Home) -> None:
    """Design §4: "an entry deleted from memory.md archives the lesson"."""
    skill.edit(skill.document, skill.entry(READ), "")
    skill.sync()
    text = skill.file(READ).read_text()
    assert "state: archived" in text
    assert "archive_note: removed by hand from memory.md" in text
    assert "- Archive note: removed by hand from memory.md" in skill.entry(READ)


def test_an_entry_deleted_without_git_archives_the_lesson(tmp_path: Path, learnloop: Run) -> None:
    home = filled(make_home("skill", tmp_path / "plain", learnloop, with_git=False))
    home.edit(home.document, home.entry(READ), "")
    home.sync()
    assert "archive_note: removed by hand from memory.md" in home.file(READ).read_text()


def test_a_line_missing_from_the_index_comes_back(project: Home) -> None:
    """Design §4: "a line missing from MEMORY.md comes back"."""
    before = project.text
    project.edit(project.document, project.entry(READ), "")
    project.sync()
    assert project.text == before


def test_a_line_missing_from_the_index_comes_back_without_git(tmp_path: Path, learnloop: Run) -> None:
    home = filled(make_home("project", tmp_path / "plain", learnloop, with_git=False))
    before = home.text
    home.edit(home.document, home.entry(READ), "")
    home.sync()
    assert home.text == before


def test_a_deleted_file_is_absorbed_and_restore_brings_it_back(home: Home) -> None:
    """Design §4: "a deleted lesson file is absorbed as a removal, restore brings it back"."""
    before, document = home.file(READ).read_bytes(), home.text
    home.file(READ).unlink()
    home.sync()
    assert READ not in home.text
    assert git(home.root, "status", "--short") == ""
    assert home.run("restore", READ).code == 0
    assert home.file(READ).read_bytes() == before
    assert home.text == document


def test_a_deleted_file_comes_back_without_git(bare: Home) -> None:
    before, document = bare.file(READ).read_bytes(), bare.text
    bare.file(READ).unlink()
    bare.sync()
    assert READ not in bare.text
    assert bare.run("restore", READ).code == 0
    assert bare.file(READ).read_bytes() == before
    assert bare.text == document


def test_a_deleted_file_can_be_restored_at_once(bare: Home) -> None:
    before = bare.file(READ).read_bytes()
    bare.file(READ).unlink()
    assert bare.run("restore", READ).code == 0
    assert bare.file(READ).read_bytes() == before


def test_a_deleted_file_that_a_person_brings_back_is_in_force_again(home: Home) -> None:
    before, document = home.file(READ).read_bytes(), home.text
    home.file(READ).unlink()
    home.sync()
    home.file(READ).write_bytes(before)
    home.sync()
    assert home.file(READ).read_bytes() == before
    assert home.text == document


def test_a_lost_document_is_rebuilt_and_archives_nothing(home: Home) -> None:
    before = home.text
    files = {path: data for path, data in home.bytes().items() if path != home.document.name}
    home.document.unlink()
    home.sync()
    assert sorted(home.text.splitlines()) == sorted(before.splitlines())
    assert {path: data for path, data in home.bytes().items() if path != home.document.name} == files


def test_a_lost_document_is_rebuilt_without_git(bare: Home) -> None:
    before = bare.text
    bare.document.unlink()
    bare.sync()
    for slug in (READ, STAGE, ASK, OLD):
        assert bare.entry(slug) in before


@pytest.mark.parametrize("left", ["", "\n", "# Title\n"])
def test_an_emptied_document_is_rebuilt_and_archives_nothing(home: Home, left: str) -> None:
    files = {path: data for path, data in home.bytes().items() if path != home.document.name}
    entries = {slug: home.entry(slug) for slug in (READ, STAGE, ASK, OLD)}
    home.document.write_text(left)
    home.sync()
    assert {slug: home.entry(slug).rstrip() for slug in entries} == {s: e.rstrip() for s, e in entries.items()}
    assert {path: data for path, data in home.bytes().items() if path != home.document.name} == files


def test_a_notebook_reset_to_its_bare_zones_archives_nothing(skill: Home) -> None:
    """R002-62: entries are never reset; a template written over them is no wish to archive them."""
    skill.document.write_text(notebook.NEW)
    skill.sync()
    assert [skill.zone(slug) for slug in (READ, ASK, OLD)] == ["candidate", "current", "archived"]


def test_the_last_entry_of_a_notebook_can_be_deleted() -> None:
    model = Model("skill", {"lessons/a.md": lesson_text("a", "Rule.")}, notebook.NEW)
    model.sync()
    model.document = notebook.NEW
    model.sync()
    assert model.lesson("a").archive_note == "removed by hand from memory.md"


# --- Claude's own writes ----------------------------------------------------------------------------------


def test_a_file_written_by_claude_is_a_candidate_seen_once_by_its_session(home: Home) -> None:
    """Design §4: "a lesson file written by Claude gets its line, state: candidate and a first sighting"."""
    file = written_by_claude(home, "quote-paths")
    before = file.read_text()
    home.sync()
    added = f"  state: candidate\n  seen:\n    - on: {DAY}\n      run: 3f2a81c0\n"
    assert file.read_text() == before.replace("---\n\nQuote", f"{added}---\n\nQuote")
    assert home.zone("quote-paths") == "candidate"
    assert home.commits()[0] == "learnloop: absorb quote-paths"


def test_a_file_written_by_claude_is_absorbed_without_git(bare: Home) -> None:
    file = written_by_claude(bare, "quote-paths")
    bare.sync()
    assert "run: 3f2a81c0" in file.read_text()
    assert bare.zone("quote-paths") == "candidate"


def test_a_file_without_a_session_is_seen_by_author_and_day(home: Home) -> None:
    """Design §2: its run is Claude's session id, else author and date."""
    home.file("by-hand").write_text("---\nname: by-hand\ndescription: A rule\n---\n\nA rule.\n")
    home.sync()
    assert f"run: ada-test-{DAY}" in home.file("by-hand").read_text()


def test_a_body_changed_by_another_session_is_one_more_sighting(home: Home) -> None:
    """Design §4: "a body changed by another session is one more sighting"; §5: cleanup graduates it."""
    file = written_by_claude(home, "quote-paths")
    home.sync()
    text = (
        file.read_text()
        .replace(SESSION, OTHER_SESSION)
        .replace("Quote every path in shell commands.\n", "Quote paths.\n")
    )
    file.write_text(text)
    home.sync()
    assert "run: 77aa00bb" in file.read_text()
    assert home.run("cleanup", "--apply").code == 0
    assert "state: current" in file.read_text()
    assert home.zone("quote-paths") == "current"


def test_a_rewrite_that_dropped_our_metadata_and_changed_the_body_keeps_both(home: Home) -> None:
    file = written_by_claude(home, "quote-paths")
    home.sync()
    rewritten = CLAUDES.format(slug="quote-paths", body="Quote paths.").replace(SESSION, OTHER_SESSION)
    file.write_text(rewritten)
    home.sync()
    assert file.read_text().endswith("---\n\nQuote paths.\n")
    assert [run in file.read_text() for run in ("run: 3f2a81c0", "run: 77aa00bb")] == [True, True]


def test_a_change_of_metadata_alone_is_no_sighting(home: Home) -> None:
    """Design §4: "a change of metadata alone is none"."""
    file = written_by_claude(home, "quote-paths")
    home.sync()
    file.write_text(file.read_text().replace(SESSION, OTHER_SESSION).replace("10:00:00", "11:00:00"))
    before = file.read_text()
    home.sync()
    assert file.read_text() == before


def test_the_same_session_rewording_its_lesson_is_no_sighting(home: Home) -> None:
    file = written_by_claude(home, "quote-paths")
    home.sync()
    file.write_text(
        file.read_text().replace("Quote every path in shell commands.\n", "Quote.\n").replace("10:00", "11:00")
    )
    before = file.read_text()
    home.sync()
    assert file.read_text() == before


RICH = """  title: Its title
  tags:
    - one
    - two
  pinned: true
  reviewed: 2026-05-27
  confidence: 0.8
  run_duration_ms: 1500
  human_confirmed: false
  task_type: 'code review'
  approach: "1.10"
  stack_tags: [python, git]
  anchors:
    - path: src/app.py
      blob: 1234567
  confirmed:
    - on: 2026-05-28
      run: "1e10"
      evidence: 'PR 41: it helped'
"""
REWRITTEN = f"""---
name: a-rule
description: "quoted: colon"
metadata:
  node_type: memory
  type: feedback
  originSessionId: {SESSION}
  modified: 2026-06-01T10:00:00.000Z
---

A new rule, in Claude's words.

**Why:** It went wrong again.
"""


def test_metadata_that_a_rewrite_dropped_comes_back_as_it_was_written() -> None:
    """Design §4: "metadata of ours that Claude's rewrite dropped comes back from the base"."""
    base = lesson_text("a-rule", "A rule.", state="current", more=RICH)
    model = Model("project", {"a-rule.md": base})
    model.sync()
    model.files["a-rule.md"] = REWRITTEN
    model.sync()
    text = model.files["a-rule.md"]
    for line in RICH.splitlines(keepends=True):
        assert line in text
    assert text.startswith(REWRITTEN.partition("---\n\n")[0])
    assert text.endswith(REWRITTEN.partition("---\n\n")[2])
    assert (model.lesson("a-rule").state, model.lesson("a-rule").pinned) == ("current", True)


def test_a_rewrite_that_dropped_our_metadata_is_mended_by_the_command(home: Home) -> None:
    assert home.run("pin", READ).code == 0
    home.file(READ).write_text(REWRITTEN.replace("a-rule", READ))
    home.sync()
    text = home.file(READ).read_text()
    for line in (
        "  state: candidate\n",
        "  pinned: true\n",
        "    - guards\n",
        "      run: r1\n",
        "  created: 2026-06-01\n",
    ):
        assert line in text
    assert "A new rule, in Claude's words." in text


def test_a_rewrite_that_dropped_our_metadata_is_mended_without_git(bare: Home) -> None:
    bare.file(READ).write_text(REWRITTEN.replace("a-rule", READ))
    bare.sync()
    assert "  state: candidate\n" in bare.file(READ).read_text()


def test_keys_that_the_client_moved_under_metadata_are_not_doubled() -> None:
    base = lesson_text("a", "A rule.").replace("metadata:\n", "pinned: true\ntags: [x, y]\nmetadata:\n")
    model = Model("project", {"a.md": base})
    model.sync()
    moved = base.replace("pinned: true\ntags: [x, y]\n", "").replace(
        "metadata:\n", "metadata:\n  node_type: memory\n  pinned: true\n  tags:\n    - x\n    - y\n"
    )
    model.files["a.md"] = moved.replace("  seen:\n    - on: 2026-05-26\n      run: r1\n", "")
    model.sync()
    assert model.files["a.md"].count("pinned") == 1
    assert model.files["a.md"].count("tags") == 1
    assert model.lesson("a").seen == (Event("2026-05-26", "r1"),)


def test_a_field_that_a_person_takes_out_stays_out() -> None:
    """Only a rewrite by Claude drops by accident; a person who takes one field out means it."""
    model = Model("project", {"a.md": lesson_text("a", "A rule.", more="  pinned: true\n")})
    model.sync()
    model.files["a.md"] = model.files["a.md"].replace("  pinned: true\n", "")
    model.sync()
    assert not model.lesson("a").pinned


def test_fields_come_back_into_a_file_without_head() -> None:
    text = with_fields_of("Only words.\n", lesson_text("a", "A rule."), ["state", "seen"])
    reading = read("a.md", text)
    assert isinstance(reading, Reading)
    assert (reading.lesson.state, reading.lesson.rule) == ("candidate", "Only words.")


def test_fields_of_a_head_in_one_line_come_back() -> None:
    other = "---\nname: a\nmetadata: {pinned: true, tags: [one, two], confidence: '0.5'}\n---\n\nA rule.\n"
    text = with_fields_of("---\nname: a\n---\n\nB.\n", other, ["pinned", "tags", "confidence"])
    assert "  pinned: true\n  tags:\n    - one\n    - two\n" in text


def test_fields_keep_the_line_ends_of_the_file_they_come_back_to() -> None:
    text = with_fields_of("---\r\nname: a\r\n---\r\n\r\nB.\r\n", lesson_text("a", "A."), ["state", "seen"])
    assert text.count("\n") == text.count("\r\n")


def test_a_line_appended_at_the_end_of_the_index_moves_to_the_candidate_zone(tmp_path: Path, learnloop: Run) -> None:
    """Design §4: lines that Claude adds later move to the Candidate zone, also without a line end."""
    home = make_home("project", tmp_path / "plain", learnloop, with_git=False)
    home.note("Ask before renaming names.", "r1")
    assert home.run("graduate", ASK).code == 0
    home.document.write_text(
        home.text.replace("## Candidate\n", "").rstrip() + "\n- [Quote paths](quote-paths.md) — always"
    )
    written_by_claude(home, "quote-paths")
    home.sync()
    assert home.text.endswith("## Candidate\n\n- [Quote paths](quote-paths.md) — always\n")
    assert home.zone(ASK) == "current"


def test_a_line_appended_to_an_index_without_zones_moves_to_the_candidate_zone(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("project", tmp_path / "plain", learnloop, with_git=False)
    written_by_claude(home, "quote-paths")
    home.document.write_text("Read these.\n- [Quote paths](quote-paths.md) — in every shell command")
    home.sync()
    assert home.text == ("Read these.\n\n## Candidate\n\n- [Quote paths](quote-paths.md) — in every shell command\n")


def test_adopted_lines_outside_the_zones_stay_where_they_are(repo: Path, learnloop: Run) -> None:
    """Design §4: entries and prose that stood outside the zones at init stay where they are."""
    folder = repo / ".claude" / "memory"
    folder.mkdir(parents=True)
    adopted = "My notes:\n- [One](one.md) — the first\n\nMore prose.\n"
    (folder / "MEMORY.md").write_text(adopted)
    (folder / "one.md").write_text("---\nname: one\ndescription: The first\n---\n\nThe first.\n")
    assert learnloop("init", cwd=repo).code == 0
    home = Home("project", repo, folder, learnloop)
    home.note("Stage files by name.")
    home.sync()
    assert home.text.startswith(adopted)
    assert home.file("one").read_text() == "---\nname: one\ndescription: The first\n---\n\nThe first.\n"


def test_a_line_added_for_a_current_lesson_that_had_none_does_not_demote_it() -> None:
    """A line that Claude appends lands in the last zone; the state is that of the file."""
    model = Model(
        "project",
        {"a.md": lesson_text("a", "A rule.", state="current")},
        "# M\n\n## Current\n\n## Candidate\n",
    )
    model.sync()
    assert model.ledger
    row = model.ledger.agreed["a"]
    model.ledger = model.ledger._replace(agreed={"a": row._replace(entry="", zone="")})
    model.document = "# M\n\n## Current\n\n## Candidate\n\n- [A](a.md) — own words\n"
    model.sync()
    assert (model.lesson("a").state, model.entries["a"].zone) == ("current", "current")


# --- both sides -------------------------------------------------------------------------------------------


def clash(home: Home) -> tuple[str, bytes]:
    """Change one field of a lesson on both sides, differently; the entry and the file as they then are."""
    if home.kind == "skill":
        home.edit(home.document, "Context: A check was doubled.", "Context: From the entry.")
        home.edit(home.file(READ), "**Why:** A check was doubled.", "**Why:** From the file.")
    else:
        home.move(READ, "current")
        home.edit(home.file(READ), "state: candidate", "state: archived")
    return home.entry(READ), home.file(READ).read_bytes()


def test_a_conflict_leaves_the_lesson_and_its_entry_as_they_are(home: Home) -> None:
    """Design §4: both sides changed the same field differently: left as it is, all others proceed."""
    entry, data = clash(home)
    home.move(STAGE, "current")
    done = home.run("sync")
    assert done.code == 1
    assert home.entry(READ) == entry
    assert home.file(READ).read_bytes() == data
    assert "state: current" in home.file(STAGE).read_text()


def test_a_conflict_is_reported_with_both_texts(home: Home) -> None:
    clash(home)
    field, document, file = (
        ("why", "From the entry.", "From the file.") if home.kind == "skill" else ("state", "current", "archived")
    )
    assert (
        f"conflict in {READ}, {field}: the document says {document!r}, the file says {file!r}" in home.run("sync").err
    )
    expected = {"slug": READ, "field": field, "document": document, "file": file}
    assert home.run("sync", "--json").json["conflicts"] == [expected]
    assert home.run("status", "--json").json["conflicts"] == [{"slug": READ, "field": field}]
    assert [f["code"] for f in home.run("check", "--json").json["findings"]].count("conflict") == 1


def test_a_conflict_is_left_by_other_commands_too(home: Home) -> None:
    entry, data = clash(home)
    assert home.run("note", "Write a test for every bug.", "--run", "r9").code == 0
    assert (home.entry(READ), home.file(READ).read_bytes()) == (entry, data)
    assert "write-a-test-for-every-bug" in home.text


def test_a_conflict_without_git_leaves_both_as_they_are(bare: Home) -> None:
    entry, data = clash(bare)
    assert bare.run("sync").code == 1
    assert (bare.entry(READ), bare.file(READ).read_bytes()) == (entry, data)


def test_a_conflict_ends_when_a_person_makes_both_sides_say_the_same(home: Home) -> None:
    clash(home)
    assert home.run("sync").code == 1
    if home.kind == "skill":
        home.edit(home.file(READ), "From the file.", "From the entry.")
    else:
        home.edit(home.file(READ), "state: archived", "state: current")
    assert home.sync().code == 0
    assert home.run("status", "--json").json["conflicts"] == []


def test_a_conflict_after_a_rewrite_by_claude_brings_nothing_back_either() -> None:
    """Not even what the rewrite dropped comes back before a person decides."""
    model = Model("skill", {"lessons/a-rule.md": lesson_text("a-rule", "A rule.")}, notebook.NEW)
    model.sync()
    assert model.document
    model.document = model.document.replace("- Lesson: A rule.", "- Lesson: From the entry.")
    model.files["lessons/a-rule.md"] = REWRITTEN
    report = model.sync()
    assert [(clash.field, clash.document) for clash in report.conflicts] == [("rule", "From the entry.")]
    assert model.files["lessons/a-rule.md"] == REWRITTEN
    assert "a-rule" not in report.slugs


def test_an_entry_edited_while_its_file_was_removed_is_a_conflict(skill: Home) -> None:
    """The words of the entry exist nowhere else: they stay until a person decides."""
    skill.edit(skill.document, "- Lesson: Read the lines above first.", "- Lesson: Read ten lines.")
    skill.file(READ).unlink()
    done = skill.run("sync")
    assert f"conflict in {READ}, rule: the document says 'Read ten lines.', the file says '(removed)'" in done.err
    assert "- Lesson: Read ten lines." in skill.entry(READ)
    assert skill.run("restore", READ).code == 0
    skill.sync()
    assert "Read ten lines." in skill.file(READ).read_text()


def test_the_same_change_on_both_sides_is_no_conflict(home: Home) -> None:
    home.move(READ, "current")
    home.edit(home.file(READ), "state: candidate", "state: current")
    home.sync()
    assert "state: current" in home.file(READ).read_text()
    assert home.zone(READ) == "current"


def test_different_fields_changed_on_both_sides_are_both_kept(home: Home) -> None:
    home.move(READ, "current")
    home.edit(home.file(READ), "**How to apply:** Scroll up.", "**How to apply:** Scroll far up.")
    home.sync()
    text = home.file(READ).read_text()
    assert "state: current" in text
    assert "Scroll far up." in text
    assert home.zone(READ) == "current"


def test_a_file_edit_reaches_the_notebook(skill: Home) -> None:
    skill.edit(skill.file(READ), "Scroll up.", "Scroll far up.")
    skill.sync()
    assert "- Next pass: Scroll far up." in skill.entry(READ)


def test_an_index_conflict_sees_beyond_the_shortened_hook() -> None:
    rule = "Say why a change is made, " + "and for whom it is made, " * 9 + "in words."
    model = Model("project", {"a.md": lesson_text("a", rule)}, index.NEW)
    model.sync()
    assert model.document
    hook = model.entries["a"].claims["description"]
    model.document = model.document.replace(hook, "own words")
    model.files["a.md"] = model.files["a.md"].replace("in words\n", "in other words\n")
    assert [clash.field for clash in model.sync().conflicts] == ["description"]


# --- bases ------------------------------------------------------------------------------------------------


def ledger_of(home: Home) -> Path:
    return next((home.root / ".git" / "learnloop").rglob("ledger.json"))


def cloned(home: Home, to: Path) -> Home:
    git(home.root, "clone", "-q", str(home.root), str(to))
    return home._replace(root=to, folder=to / home.folder.relative_to(home.root))


def test_an_edit_that_was_already_committed_is_an_edit(home: Home) -> None:
    """Design §4: "so that an edit that a reviewer already committed counts as an edit too"."""
    home.move(READ, "current")
    home.edit(home.document, "A check was doubled.", "Two checks.")
    home.commit_all("Review")
    home.sync()
    text = home.file(READ).read_text()
    assert "state: current" in text
    assert "Two checks." in text
    assert home.commits()[0] == f"learnloop: absorb {READ}"


def test_the_commit_says_what_it_absorbed_of_an_edit_that_was_already_committed(home: Home) -> None:
    """R002-42: every change is a commit that tells why, also where the work tree was clean."""
    home.move(READ, "current")
    home.commit_all("Review")
    home.sync()
    body = git(home.root, "log", "-1", "--format=%b")
    assert f"{READ}: state edited in {home.document.name}" in body


def test_a_file_edit_that_was_already_committed_reaches_the_document(home: Home) -> None:
    home.edit(home.file(READ), "state: candidate", "state: current")
    home.commit_all("Review")
    home.sync()
    assert home.zone(READ) == "current"


def test_an_edit_committed_before_a_fresh_clone_is_found_in_history(home: Home, tmp_path: Path) -> None:
    home.move(READ, "current")
    home.commit_all("Review")
    clone = cloned(home, tmp_path / "clone")
    clone.sync()
    assert "state: current" in clone.file(READ).read_text()


def test_a_field_edit_committed_before_a_fresh_clone_is_found_in_history(skill: Home, tmp_path: Path) -> None:
    skill.edit(skill.document, "Context: A check was doubled.", "Context: Two checks.")
    skill.commit_all("Review")
    clone = cloned(skill, tmp_path / "clone")
    clone.sync()
    assert "**Why:** Two checks." in clone.file(READ).read_text()


def test_a_fresh_clone_in_step_absorbs_nothing(home: Home, tmp_path: Path) -> None:
    clone = cloned(home, tmp_path / "clone")
    before, commit = clone.bytes(), git(clone.root, "rev-parse", "HEAD")
    done = clone.sync()
    assert (done.out, done.err) == ("everything is in step\n", "")
    assert clone.bytes() == before
    assert git(clone.root, "rev-parse", "HEAD") == commit


def test_where_no_base_is_known_a_difference_is_a_conflict(bare: Home) -> None:
    """Design §4: "or no base is known and they differ: that lesson is left as it is"."""
    bare.move(READ, "current")
    shutil.rmtree(Path.home() / ".local" / "state" / "learnloop")
    before = bare.bytes()
    done = bare.run("sync")
    assert done.code == 1
    assert f"conflict in {READ}, state: the document says 'current', the file says 'candidate'" in done.err
    assert bare.bytes() == before


def test_where_history_never_agreed_a_difference_is_a_conflict(repo: Path, learnloop: Run) -> None:
    folder = repo / ".claude" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n\n## Current\n\n- [A](a.md) — words\n\n## Candidate\n")
    (folder / "a.md").write_text(lesson_text("a", "A rule."))
    home = Home("project", repo, folder, learnloop)
    home.commit_all()
    done = home.run("sync")
    assert [(c["slug"], c["field"]) for c in home.run("sync", "--json").json["conflicts"]] == [("a", "state")]
    assert done.code == 1


def test_a_removed_ledger_in_step_absorbs_nothing(home: Home) -> None:
    before = home.bytes()
    ledger_of(home).unlink()
    assert home.sync().err == ""
    assert home.bytes() == before


def test_edits_pulled_from_a_teammate_that_agree_are_no_edits(home: Home, tmp_path: Path) -> None:
    mate = cloned(home, tmp_path / "mate")
    mate.sync()
    assert mate.run("graduate", READ).code == 0
    assert mate.run("rename", STAGE, "stage-by-name").code == 0
    mate.note("Write a test for every bug.", "r7")
    git(home.root, "pull", "-q", "--ff-only", str(mate.root), "main")
    before, commit = home.bytes(), git(home.root, "rev-parse", "HEAD")
    done = home.sync()
    assert home.bytes() == before
    assert git(home.root, "rev-parse", "HEAD") == commit
    assert done.out == "everything is in step\n"


# --- renames, staged files, secrets, unreadable files -----------------------------------------------------


def test_a_file_renamed_by_hand_keeps_its_history_and_its_entry(home: Home) -> None:
    """Design §3: identity is the stem; a rename is recorded in renamed_from."""
    home.file(READ).rename(home.file("look-up"))
    home.sync()
    text = home.file("look-up").read_text()
    assert f"renamed_from: {READ}" in text
    assert "run: r1" in text
    assert READ + ".md" not in home.text
    assert home.zone("look-up") == "candidate"
    assert git(home.root, "status", "--short") == ""


def test_a_file_renamed_by_hand_without_git_keeps_its_entry(bare: Home) -> None:
    bare.file(READ).rename(bare.file("look-up"))
    bare.sync()
    assert f"renamed_from: {READ}" in bare.file("look-up").read_text()
    assert bare.zone("look-up") == "candidate"


def test_a_renamed_file_that_lost_our_metadata_gets_it_back() -> None:
    model = Model("project", {"old.md": lesson_text("old", "A rule.", state="current")}, index.NEW)
    model.sync()
    del model.files["old.md"]
    model.files["new.md"] = "---\nname: new\n---\n\nA rule.\n\n**Why:** It went wrong.\n"
    model.sync()
    assert "renamed_from: old" in model.files["new.md"]
    assert model.lesson("new").state == "current"


def test_a_file_moved_into_a_folder_keeps_its_line(project: Home) -> None:
    (project.folder / "topics").mkdir()
    project.file(READ).rename(project.folder / "topics" / f"{READ}.md")
    project.sync()
    assert f"(topics/{READ}.md)" in project.text
    assert project.text.count(f"{READ}.md") == 1


def test_a_staged_document_is_not_swept(home: Home) -> None:
    """Design §6: never anything the person has staged."""
    home.move(READ, "current")
    git(home.root, "add", "--", str(home.document))
    staged = git(home.root, "diff", "--cached")
    home.sync()
    assert git(home.root, "diff", "--cached") == staged
    assert "state: current" in home.file(READ).read_text()


def test_a_change_of_a_staged_file_is_queued(home: Home) -> None:
    """Design §6: a file of ours partly staged by the person: the file is written, the change is queued."""
    home.edit(home.file(READ), "Scroll up.", "Scroll far up.")
    git(home.root, "add", "--", str(home.file(READ)))
    home.move(READ, "current")
    commit, staged = git(home.root, "rev-parse", "HEAD"), git(home.root, "diff", "--cached")
    done = home.sync()
    assert "written, not committed yet" in done.err
    assert "state: current" in home.file(READ).read_text()
    assert git(home.root, "rev-parse", "HEAD") == commit
    assert git(home.root, "diff", "--cached") == staged


def secret() -> str:
    return "".join(("AKIA", "IOSFODNN7", "QRSTUVW"))


def test_a_file_with_a_secret_is_quarantined_and_not_committed(home: Home) -> None:
    """R004-20: found in files that came from elsewhere; the value is never printed."""
    file = written_by_claude(home, "the-key", f"The key is {secret()}.")
    home.move(STAGE, "current")
    before = file.read_bytes()
    done = home.sync()
    assert file.read_bytes() == before
    assert git(home.root, "ls-files", "--", str(file)) == ""
    assert secret() not in done.err + done.out
    assert "state: current" in home.file(STAGE).read_text()
    assert [q["path"] for q in home.run("status", "--json").json["quarantined"]] == [
        file.relative_to(home.folder).as_posix()
    ]


def test_a_secret_in_an_entry_is_refused_where_it_stands(skill: Home) -> None:
    """R004-20: it enters no lesson file and no commit; the refusal names the document."""
    skill.edit(skill.document, "A check was doubled.", f"Key {secret()}")
    before, commit = skill.bytes(), git(skill.root, "rev-parse", "HEAD")
    done = skill.run("sync")
    assert done.code == 3
    assert "memory.md holds a secret at line 6" in done.err
    assert secret() not in done.err
    assert skill.run("status").code == 0
    assert (skill.bytes(), git(skill.root, "rev-parse", "HEAD")) == (before, commit)


def test_a_new_entry_with_a_secret_becomes_no_lesson() -> None:
    model = Model("skill", {}, notebook.NEW)
    model.sync()
    model.document = notebook.NEW.replace("Patterns\n", f"Patterns\n\n{NEW_ENTRY}- Next pass: {secret()}\n", 1)
    report = model.sync()
    assert [(clash.slug, clash.document) for clash in report.conflicts] == [
        ("keep-lines-short", "(holds what looks like a secret)")
    ]
    assert model.files == {}


def test_the_line_of_a_quarantined_file_waits_in_the_comment_and_comes_back(project: Home) -> None:
    """Design §4: lines of quarantined lessons stand in the block comment too."""
    before, document = project.file(READ).read_bytes(), project.text
    project.file(READ).write_bytes(b"\xff\xfe broken")
    project.sync()
    assert project.text.index("<!-- learnloop") < project.text.index(project.entry(READ)) < project.text.index("-->")
    project.file(READ).write_bytes(before)
    project.sync()
    assert sorted(project.text.split()) == sorted(
        [*document.split(), *(["##", "Quarantined"] if "Quarantined" in project.text else [])]
    )
    assert project.zone(READ) == "candidate"


def test_a_quarantined_file_keeps_its_entry_in_the_notebook(skill: Home) -> None:
    before, document = skill.file(READ).read_bytes(), skill.text
    skill.file(READ).write_bytes(b"\xff\xfe broken")
    skill.sync()
    assert skill.text == document
    skill.file(READ).write_bytes(before)
    skill.sync()
    assert skill.text == document
    assert skill.file(READ).read_bytes() == before


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"---\nname: [\n", b"---\na: &x 1\nb: *x\n---\n\nB.\n", b"a\x00b"])
def test_one_unreadable_file_never_stops_the_others(home: Home, data: bytes) -> None:
    home.file(STAGE).write_bytes(data)
    home.move(READ, "current")
    home.sync()
    assert "state: current" in home.file(READ).read_text()
    assert home.file(STAGE).read_bytes() == data


def test_a_head_that_cannot_take_our_lines_is_left_and_reported() -> None:
    odd = "---\nname: odd\nmetadata: {seen: {a: [b]}, x: [{y: z}]}\n---\n\nOdd.\n"
    files = {"odd.md": odd.replace("seen: {a: [b]}, ", ""), "a.md": "---\nname: a\n---\n\nA.\n"}
    model = Model("project", files, index.NEW)
    report = model.sync()
    assert [clash.slug for clash in report.conflicts] == ["odd"]
    assert model.files["odd.md"] == files["odd.md"]
    assert model.lesson("a").stated


def test_an_unreadable_document_absorbs_nothing(home: Home) -> None:
    """Nobody knows what it says: no lesson is archived for it, and reading goes on."""
    written_by_claude(home, "quote-paths")
    home.document.write_bytes(b"<<<<<<< HEAD\n" + home.document.read_bytes() + b"=======\n>>>>>>> x\n")
    before = home.bytes()
    assert home.run("status").code == 0
    home.run("sync")
    assert home.bytes() == before


def test_a_plain_note_listed_among_the_candidates_is_no_conflict() -> None:
    """A file without a head states nothing that its line could contradict."""
    model = Model("project", {"notes.md": "Plain words.\n"}, "# M\n\n## Candidate\n\n- [Notes](notes.md) — words\n")
    assert model.sync().conflicts == ()
    assert model.files["notes.md"] == "Plain words.\n"


def test_a_plain_note_moved_to_the_archive_is_archived() -> None:
    document = "# M\n\n- [Notes](notes.md) — words\n"
    model = Model("project", {"notes.md": "Plain words.\n"}, document)
    model.sync()
    block = "<!-- learnloop: not in force, kept for people\n## Archived\n\n- [Notes](notes.md) — words\n-->\n"
    model.document = f"# M\n\n{block}"
    model.sync()
    assert model.lesson("notes").state == "archived"


def test_a_dry_run_shows_what_would_be_absorbed_and_writes_nothing(home: Home) -> None:
    home.move(READ, "current")
    before = home.bytes()
    done = home.run("sync", "--dry-run")
    assert "+  state: current" in done.out
    assert home.bytes() == before


def test_a_file_deleted_in_a_fresh_clone_is_absorbed_as_a_removal(home: Home, tmp_path: Path) -> None:
    clone = cloned(home, tmp_path / "clone")
    clone.file(READ).unlink()
    clone.sync()
    assert READ not in clone.text
    assert git(clone.root, "status", "--short") == ""


def test_a_file_brought_back_beside_another_entry_is_a_conflict() -> None:
    model = Model("skill", {"lessons/a.md": lesson_text("a", "A rule.")}, notebook.NEW)
    model.sync()
    document, files = model.document or "", dict(model.files)
    model.files.clear()
    model.sync()
    model.files, model.document = files, document.replace("- Lesson: A rule.", "- Lesson: Other words.")
    assert [(c.field, c.document, c.file) for c in model.sync().conflicts] == [("rule", "Other words.", "A rule.")]


def test_a_plain_note_found_in_the_archive_is_archived() -> None:
    block = "<!-- learnloop: not in force, kept for people\n## Archived\n\n- [Notes](notes.md)\n-->\n"
    model = Model("project", {"notes.md": "Plain words.\n"}, f"# M\n\n{block}")
    model.sync()
    assert model.lesson("notes").archive_note == "archived by hand in MEMORY.md"


def test_a_state_that_was_cut_out_of_a_head_comes_back() -> None:
    model = Model("project", {"a.md": lesson_text("a", "A rule.", state="current")}, index.NEW)
    model.sync()
    model.files["a.md"] = model.files["a.md"].replace("  state: current\n", "")
    model.sync()
    assert model.lesson("a").state == "current"


def test_a_plain_note_that_got_a_head_becomes_a_candidate() -> None:
    model = Model("project", {"a.md": "A rule.\n"}, index.NEW)
    model.sync()
    model.files["a.md"] = CLAUDES.format(slug="a", body="A rule.")
    model.sync()
    assert [event.run for event in model.lesson("a").seen] == ["3f2a81c0"]


def test_a_remembered_text_that_can_no_longer_be_read_is_no_base() -> None:
    model = Model("project", {"a.md": lesson_text("a", "A rule.")}, index.NEW)
    model.sync()
    assert model.ledger
    model.ledger = Ledger({"a": model.ledger.agreed["a"]._replace(text="---\nnever closed\n")})
    assert model.sync().conflicts == ()


def test_a_removed_file_that_was_never_read_only_loses_its_line() -> None:
    model = Model("project", {"a.md": lesson_text("a", "A rule.")}, "# M\n\n- [B](b.md) — words\n")
    assert model.sync(removed=("b.md",)).what == ("b was removed by hand",)
    model.sync()
    assert model.ledger
    model.ledger = Ledger({"a": model.ledger.agreed["a"]._replace(text="---\nnever closed\n")})
    model.files.clear()
    assert model.sync().what == ("a was removed by hand",)


def test_a_renamed_file_whose_entry_was_cut_is_not_archived(skill: Home) -> None:
    skill.edit(skill.document, skill.entry(READ), "")
    skill.file(READ).rename(skill.file("look-up"))
    skill.sync()
    assert skill.zone("look-up") == "candidate"


def test_a_conflict_of_a_renamed_file_stays_one() -> None:
    model = Model("project", {"a.md": lesson_text("a", "A rule.")}, index.NEW)
    model.sync()
    model.document = (model.document or "").replace("[A]", "[From the line]")
    model.files = {"b.md": model.files["a.md"].replace("  state:", "  title: From the file\n  state:")}
    first = model.sync().conflicts
    assert [(clash.slug, clash.field) for clash in first] == [("b", "title")]
    assert model.sync().conflicts == first


def test_a_second_entry_at_the_end_of_a_notebook_without_line_end_gets_its_file() -> None:
    model = Model("skill", {"lessons/a-rule.md": lesson_text("a-rule", "First.")}, notebook.NEW)
    model.sync()
    model.document = f"{model.document}\n### 2026-05-27 | A rule\n- Lesson: Second."
    model.sync()
    assert model.entries["a-rule-2"].claims["rule"] == "Second."


def test_a_field_that_cannot_come_back_as_it_was_is_refused() -> None:
    other = "---\nname: a\nmetadata: {anchors: [{path: x.py}]}\n---\n\nA.\n"
    with pytest.raises(HeadError, match="anchors"):
        with_fields_of("---\nname: a\n---\n\nA.\n", other, ["anchors"])


def test_a_field_comes_back_from_its_own_place() -> None:
    """A foreign mapping may hold a key of the same name."""
    other = "---\nname: a\nmetadata:\n  foreign:\n    state: odd\n  state: current\n---\n\nA.\n"
    text = with_fields_of("---\nname: a\n---\n\nA.\n", other, ["state"])
    assert text == "---\nname: a\nmetadata:\n  state: current\n---\n\nA.\n"


# --- any edits at all -------------------------------------------------------------------------------------

SLUGS = ("alpha", "beta", "gamma")
WORDS = st.sampled_from(["Read first.", "Stage by name.", "Ask before.", "Break lines.", "Say: why # not?", "Use `x`."])
ZONES = st.sampled_from(["current", "candidate", "archived"])
EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("move"), st.sampled_from(SLUGS), ZONES),
        st.tuples(st.just("rule"), st.sampled_from(SLUGS), WORDS),
        st.tuples(st.just("title"), st.sampled_from(SLUGS), WORDS),
        st.tuples(st.just("cut"), st.sampled_from(SLUGS), st.just("")),
        st.tuples(st.just("add"), st.sampled_from(["delta", "alpha", "omega"]), WORDS),
        st.tuples(st.just("body"), st.sampled_from(SLUGS), WORDS),
        st.tuples(st.just("state"), st.sampled_from(SLUGS), ZONES),
        st.tuples(st.just("rewrite"), st.sampled_from(SLUGS), WORDS),
        st.tuples(st.just("unlink"), st.sampled_from(SLUGS), st.just("")),
        st.tuples(st.just("rename"), st.sampled_from(SLUGS), st.sampled_from(["one", "two"])),
        st.tuples(st.just("new"), st.sampled_from(["delta", "omega"]), WORDS),
    ),
    max_size=5,
)


def edited(model: Model, what: str, slug: str, value: str) -> None:
    """One edit by hand, as a person or Claude makes it; nothing where its target is gone."""
    path, text = model.path(slug), model.document or ""
    raw = next((e.raw for s, e in memories.entries(model.place, text, {}).items() if s == slug), "")
    file = model.files.get(path, "")
    without = text.replace(raw.rstrip("\n") + "\n", "", 1) if raw else text
    heading = f"## {value.capitalize()}" + (" Patterns" if model.kind == "skill" else "") + "\n"
    rule = file.partition("---\n\n")[2].partition("\n")[0]
    changes = {
        "move": without.replace(heading, f"{heading}\n{raw.rstrip()}\n", 1) if raw and heading in text else text,
        "rule": text.replace(raw, raw.replace(f"- Lesson: {rule}", f"- Lesson: {value}")) if raw and rule else text,
        "title": text.replace(raw, raw.replace(f"| {slug.capitalize()}", f"| {value}").replace("[", f"[{value} "))
        if raw
        else text,
        "cut": without,
        "add": text.replace(
            "## Current Patterns\n", f"## Current Patterns\n\n### 2026-05-20 | {slug}\n- Lesson: {value}\n", 1
        )
        if model.kind == "skill"
        else f"{text.rstrip()}\n- [{slug}]({slug}.md) — {value}",
    }
    model.document = changes.get(what, text)
    if what == "new":
        model.files.setdefault(path, CLAUDES.format(slug=slug, body=value))
    if not file:
        return
    if what == "body":
        model.files[path] = file.replace(f"---\n\n{rule}", f"---\n\n{value}", 1)
    elif what == "state":
        model.files[path] = re.sub(r"(?m)^  state: \w+$", f"  state: {value}", file)
    elif what == "rewrite":
        model.files[path] = CLAUDES.format(slug=slug, body=value)
    elif what == "unlink":
        del model.files[path]
    elif what == "rename":
        model.files.setdefault(model.path(value), model.files.pop(path))


@cache
def started(kind: str) -> Model:
    """A memory in step with three lessons, one in each state."""
    states = zip(SLUGS, ("candidate", "current", "archived"), ("One.", "Two.", "Three."), strict=True)
    folder = "lessons/" if kind == "skill" else ""
    files = {f"{folder}{slug}.md": lesson_text(slug, rule, state=state) for slug, state, rule in states}
    model = Model(kind, files, notebook.NEW if kind == "skill" else index.NEW)
    model.sync()
    return model


def start(kind: str) -> Model:
    return started(kind).copy()


def rules(model: Model) -> set[str]:
    """Every rule that a file or an entry states."""
    found = {lesson.rule for lesson in model.memory.lessons.values()}
    if model.kind == "skill":
        found |= {row.claims["rule"] for row in notebook.entries(model.document or "") if "rule" in row.claims}
    return found


@pytest.mark.parametrize("kind", ["project", "skill"])
@given(edits=EDITS)
def test_no_rule_is_ever_lost(kind: str, edits: list[tuple[str, str, str]]) -> None:
    """Design §1: an edit made by hand is absorbed, never overwritten; only what was known before may go."""
    model = start(kind)
    known = rules(model)
    for edit in edits:
        edited(model, *edit)
    written = rules(model)
    model.sync("r5")
    assert written - known <= rules(model)


@pytest.mark.parametrize("kind", ["project", "skill"])
@given(edits=EDITS)
def test_absorbing_twice_is_absorbing_once(kind: str, edits: list[tuple[str, str, str]]) -> None:
    model = start(kind)
    for edit in edits:
        edited(model, *edit)
    first = model.sync("r5")
    files, document = dict(model.files), model.document
    second = model.sync("r5")
    assert (model.files, model.document) == (files, document)
    assert second.conflicts == first.conflicts
    assert second.what == ()


@pytest.mark.parametrize("kind", ["project", "skill"])
@given(edits=EDITS)
def test_document_and_files_agree_afterwards(kind: str, edits: list[tuple[str, str, str]]) -> None:
    """Every lesson that is not in conflict stands in the zone of its state and says the same."""
    model = start(kind)
    for edit in edits:
        edited(model, *edit)
    clashing = {clash.slug for clash in model.sync("r5").conflicts}
    lessons = {s: lesson for s, lesson in model.memory.lessons.items() if s not in clashing}
    entries = model.entries
    assert {slug: entries[slug].zone for slug in lessons} == {s: lesson.state for s, lesson in lessons.items()}
    said = {slug: fold(entries[slug].claims["rule"]) for slug in lessons} if kind == "skill" else {}
    assert said == ({s: fold(lesson.rule) for s, lesson in lessons.items()} if kind == "skill" else {})
    assert all(lesson.stated for lesson in lessons.values())


# --- words that are no field --------------------------------------------------------------------------------


def test_text_below_the_file_field_stays(skill: Home) -> None:
    """README: an edit is absorbed, never overwritten."""
    line = f"- File: lessons/{READ}.md\n"
    for words in ("Remember: only for the CI image.", "---", "> a quote", "  indented words"):
        skill.edit(skill.document, line, f"{line}{words}\n")
        skill.sync()
        assert f"{line}{words}\n" in skill.text
        assert "state: candidate" in skill.file(READ).read_text()
        skill.edit(skill.document, f"{line}{words}\n", line)
        skill.sync()


@pytest.mark.parametrize("added", ["\nRemember: only for the CI image.", " some words"])
def test_words_at_the_state_survive_the_next_change_of_state(skill: Home, added: str) -> None:
    entry = skill.entry(READ)
    skill.edit(skill.document, entry, entry.replace("- State: CANDIDATE", f"- State: CANDIDATE{added}"))
    skill.sync()
    skill.run("graduate", READ)
    assert f"- State: CURRENT{added}\n" in skill.entry(READ)


def test_words_behind_the_file_survive_a_rename(skill: Home) -> None:
    line = f"- File: lessons/{READ}.md\n"
    skill.edit(skill.document, line, f"- File: `lessons/{READ}.md` (ask Bo)\n")
    skill.sync()
    skill.run("rename", READ, "read-above")
    assert "- File: `lessons/read-above.md` (ask Bo)\n" in skill.text


def test_indented_fields_are_fields(skill: Home) -> None:
    before = {path: text for path, text in skill.bytes().items() if path.startswith("lessons/")}
    skill.document.write_text(re.sub(r"(?m)^- ", "  - ", skill.text))
    skill.sync()
    assert {path: text for path, text in skill.bytes().items() if path.startswith("lessons/")} == before
    skill.run("graduate", READ)
    assert "  - State: CURRENT\n" in skill.entry(READ)


def test_an_indented_new_entry_is_taken_whole(skill: Home) -> None:
    entry = (
        "### 2026-11-25 | Say thanks\n  - Context: A reviewer felt ignored.\n  - Lesson: Thank the reviewer by name.\n"
    )
    skill.edit(skill.document, "## Current Patterns\n", f"## Current Patterns\n\n{entry}")
    skill.sync()
    text = skill.file("say-thanks").read_text()
    assert "Thank the reviewer by name.\n\n**Why:** A reviewer felt ignored." in text
    assert entry in skill.text


def test_a_renamed_field_is_a_conflict_and_no_deletion(skill: Home) -> None:
    """R002-61: a renamed field is found; nothing is taken out of the lesson files because of it."""
    before = skill.bytes()[f"lessons/{READ}.md"]
    skill.document.write_text(skill.text.replace("- Next pass:", "- Next step:"))
    ran = skill.run("sync")
    assert (ran.code, "conflict" in ran.err) == (1, True)
    assert skill.bytes()[f"lessons/{READ}.md"] == before


def test_a_day_that_is_none_is_not_taken_into_a_lesson(skill: Home) -> None:
    entry = "### 2026-02-30 | Impossible date\n- Lesson: Look at the calendar.\n"
    skill.edit(skill.document, "## Current Patterns\n", f"## Current Patterns\n\n{entry}")
    skill.sync()
    assert "2026-02-30" not in skill.file("impossible-date").read_text()


ADDED = st.lists(
    st.tuples(
        st.integers(0, 8),
        st.sampled_from(
            ["zebra words", "  zebra indented", "> zebra quote", "* zebra star", "- Zebra: field", "| zebra |"]
        ),
    ),
    min_size=1,
    max_size=3,
)


@given(added=ADDED, then=st.sampled_from(["current", "archived", "candidate"]))
def test_no_word_added_to_an_entry_is_ever_lost(added: list[tuple[int, str]], then: str) -> None:
    """An edit made by hand is absorbed, never overwritten: in the file or in the document, it is there."""
    model = start("skill")
    entries = notebook.entries(model.document or "")
    entry = entries[0]
    lines = list(entry.lines)
    for n, (at, words) in enumerate(added):
        lines.insert(min(1 + at, len(lines)), words.replace("zebra", f"zebra{n}").replace("Zebra", f"Zebra{n}") + "\n")
    model.document = (model.document or "").replace(entry.raw, "".join(lines))
    model.sync()
    path = f"lessons/{entry.slug}.md"
    model.files[path] = re.sub(r"(?m)^  state: .*$", f"  state: {then}", model.files[path])
    model.sync()
    everything = ((model.document or "") + "".join(model.files.values())).lower()
    assert [n for n in range(len(added)) if f"zebra{n}" not in everything] == []


# --- merges -------------------------------------------------------------------------------------------------


def merged_theirs(skill: Home) -> None:
    """Both sides note; here one more graduates; the notebook of the other side is taken."""
    git(skill.root, "switch", "-q", "-c", "side")
    skill.note("Warm the pot before brewing.", "r8", "--name", "pot")
    git(skill.root, "switch", "-q", "main")
    skill.note("Count the spoons after tea.", "r9", "--name", "spoons")
    skill.run("graduate", READ)
    skill.learnloop("status", cwd=skill.root)
    done = subprocess.run(["git", "merge", "-q", "side"], cwd=skill.root, capture_output=True, check=False)
    assert done.returncode == 1
    git(skill.root, "checkout", "--theirs", "--", str(skill.document))


@pytest.mark.parametrize("commits", [False, True])
def test_what_a_merge_dropped_from_the_notebook_comes_back(skill: Home, commits: bool) -> None:
    """Merges drop entries too: none of them was removed or moved by hand."""
    merged_theirs(skill)
    git(skill.root, "add", "-A")
    if commits:
        git(skill.root, "commit", "-q", "-m", "Merge")
    skill.sync()
    assert skill.zone("spoons") == "candidate"
    assert skill.zone(READ) == "current"
    assert skill.zone("pot") == "candidate"
    assert "state: candidate" in skill.file("spoons").read_text()
    assert "state: current" in skill.file(READ).read_text()


def archived_and_confirmed(home: Home) -> None:
    """main and release archive a lesson; side confirms it, so that it comes back wherever side is merged."""
    assert home.learnloop("git-config", "--enable", cwd=home.root).code == 0
    git(home.root, "branch", "side")
    assert home.run("archive", READ, "--note", "Ada says so").code == 0
    git(home.root, "branch", "release")
    git(home.root, "switch", "-q", "side")
    assert home.run("confirm", READ, "--run", "r9").code == 0
    later = {**os.environ, "GIT_COMMITTER_DATE": "2036-06-01T10:00:00Z"}  # than the archiving: the newest that agrees
    subprocess.run(["git", "commit", "-q", "--amend", "--no-edit"], cwd=home.root, env=later, check=True)
    git(home.root, "switch", "-q", "main")
    git(home.root, "merge", "-q", "--no-edit", "side")


def test_check_and_status_say_that_a_document_waits_for_a_sync_after_a_merge(home: Home) -> None:
    """docs/merges.md: git asks no driver for a document that one side alone changed; the file is what counts."""
    archived_and_confirmed(home)
    assert (home.zone(READ), "state: candidate" in home.file(READ).read_text()) == ("archived", True)
    assert f"out-of-step warning: {READ} stands in the archived zone, its file says candidate" in home.run("check").out
    assert f"{READ}.md was edited" in home.run("status").out.partition("unsynced")[2]
    home.sync()
    assert "out-of-step" not in home.run("check").out


def test_a_lesson_comes_back_on_every_branch_into_which_it_is_merged(home: Home) -> None:
    """docs/merges.md: what was agreed on another branch says nothing of a hand here."""
    archived_and_confirmed(home)
    home.sync()
    git(home.root, "switch", "-q", "release")
    git(home.root, "merge", "-q", "--no-edit", "side")
    home.edit(home.file(ASK), "\n\nAsk", "\n\nAlways ask")  # a hand edit elsewhere tells nothing of it either
    home.sync()
    assert "state: candidate" in home.file(READ).read_text()
    assert home.zone(READ) == "candidate"


def test_a_lesson_comes_back_again_when_its_return_was_taken_back(home: Home) -> None:
    """The ledger is of commits that are no longer there."""
    archived_and_confirmed(home)
    home.sync()
    git(home.root, "reset", "-q", "--hard", "HEAD~1")
    home.sync()
    assert (home.zone(READ), "state: candidate" in home.file(READ).read_text()) == ("candidate", True)


def test_a_lesson_comes_back_where_no_ledger_is_known(home: Home) -> None:
    """A fresh clone of a merge that nobody has synced."""
    archived_and_confirmed(home)
    shutil.rmtree(home.root / ".git" / "learnloop")
    home.sync()
    assert (home.zone(READ), "state: candidate" in home.file(READ).read_text()) == ("candidate", True)


def test_a_move_by_hand_that_was_committed_on_another_branch_counts_there(home: Home) -> None:
    """Design §4: the branch's own history tells that the entry was moved after file and entry agreed."""
    git(home.root, "branch", "side")
    home.note("Warm the pot before brewing.", "r8")
    git(home.root, "switch", "-q", "side")
    home.move(READ, "archived")
    git(home.root, "commit", "-qam", "Not that one")
    home.sync()
    assert "state: archived" in home.file(READ).read_text()


def test_a_lost_notebook_is_found_by_its_lessons_and_rebuilt(skill: Home) -> None:
    """Design: a document that is lost is rebuilt; nothing is archived because of it."""
    skill.document.unlink()
    ran = skill.learnloop("sync", cwd=skill.root / "skill")
    assert ran.code == 0
    assert skill.zone(READ) == "candidate"


# --- what a person does not mean as an edit -------------------------------------------------------------------


@pytest.mark.parametrize("zone", ["Archived", "Current"])
def test_a_removed_zone_heading_changes_no_state(home: Home, zone: str) -> None:
    """R002-61: one deleted line must not put a whole zone into another."""
    files = {path: text for path, text in home.bytes().items() if path != home.document.name}
    home.document.write_text(re.sub(rf"(?m)^## {zone}.*\n", "", home.text))
    home.sync()
    assert {path: text for path, text in home.bytes().items() if path != home.document.name} == files
    if home.kind == "skill":
        assert (home.zone(OLD), home.zone(ASK)) == ("archived", "current")


def test_archived_lines_whose_comment_was_opened_are_hidden_again(project: Home) -> None:
    """What Claude loads holds nothing that is not in force."""
    project.document.write_text(re.sub(r"(?m)^<!-- learnloop.*\n", "", project.text))
    project.sync()
    assert OLD not in index.loaded(project.text)


def test_a_dropped_type_comes_back(project: Home) -> None:
    """A private lesson whose rewrite lost its type must not become a public one."""
    git(project.root, "remote", "add", "origin", "https://example.invalid/x.git")
    project.note("Bo works at night.", "r7", "--type", "user", "--name", "bo")
    project.file("bo").write_text(
        "---\nname: bo\ndescription: Bo\nmetadata:\n  node_type: memory\n---\n\nBo works at night.\n"
    )
    project.run("pin", "bo")
    project.run("rename", "bo", "robert")
    assert "type: user" in project.file("robert").read_text()
    assert "night" not in git(project.root, "log", "-p", "--all")


def test_a_paragraph_behind_a_gap_belongs_to_its_field(skill: Home) -> None:
    entry = "### 2026-05-20 | Keep lines short\n- Lesson: Short.\n- Context: one\n\n  second para\n- Tags: a\n"
    skill.edit(skill.document, "## Current Patterns\n", f"## Current Patterns\n\n{entry}")
    skill.sync()
    assert "**Why:** one second para" in skill.file("keep-lines-short").read_text()
    assert "- Context: one\n\n  second para\n" in skill.text


def test_sync_says_that_a_document_in_conflict_is_not_in_step(home: Home) -> None:
    home.document.write_text(home.text + "<<<<<<< HEAD\n=======\n>>>>>>> side\n")
    assert home.run("sync").code == 4


TRAILED = f"learnloop: absorb {STAGE}\n\nLesson: {STAGE}\nLearnloop-Change: absorb\nLearnloop-Command: 00c0ffee"


@pytest.mark.parametrize("message", ["Reword it", TRAILED])
def test_an_entry_follows_a_file_that_was_committed_without_it(home: Home, message: str) -> None:
    """Design §4: a file committed alone, or picked with the other side's document, does not agree with its entry."""
    path = home.file(STAGE)
    path.write_text(path.read_text().replace("Stage files by name", "Stage each file by name"))
    home.commit_all(message)
    assert f"{STAGE}.md was edited" in home.sync().err
    assert "Stage each file by name" in home.entry(STAGE)
    assert git(home.root, "status", "--porcelain") == ""
    assert "in step" in home.sync().out


def test_a_line_follows_a_file_that_a_rebase_changed(project: Home) -> None:
    """Both came under a new name, the line as its branch had it: what was seen to agree tells that it is stale."""
    project.note("Cut the ribbon at noon.", "r1", "--name", "cut")
    git(project.root, "branch", "side")
    project.edit(project.document, project.entry("cut"), "- [Own](cut.md) — my own words\n")
    project.sync()
    git(project.root, "checkout", "-q", "side")
    project.sync()
    path = project.file("cut")
    git(project.root, "mv", str(path), str(path.with_name("slice.md")))
    project.commit_all("Rename")
    project.sync()
    assert project.learnloop("git-config", "--enable", cwd=project.root).code == 0
    git(project.root, "rebase", "-q", "main")
    project.sync()
    assert "description: my own words" in project.file("slice").read_text()
    assert project.entry("slice") == "- [Own](slice.md) — my own words\n"


def test_a_line_of_words_of_its_own_keeps_them_whoever_commits_the_file(project: Home) -> None:
    """Design §4: a person's words in an index are theirs, whatever the file says later."""
    project.edit(project.document, project.entry(STAGE), f"- [Staging]({STAGE}.md): my own words\n")
    project.sync()
    for n, commit in enumerate((True, False, True)):
        path = project.file(STAGE)
        path.write_text(f"{path.read_text()}\nMore {n}.\n".replace("description: ", f"description: {n} "))
        if commit:
            project.commit_all()
        project.sync()
        assert project.entry(STAGE) == f"- [Staging]({STAGE}.md): my own words\n"


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("way", ["merge", "squash", "cherry-pick"])
def test_words_of_a_line_go_with_a_lesson_that_was_renamed_elsewhere(project: Home, way: str, *, driven: bool) -> None:
    """docs/merges.md: rename, and an edit: one lesson under the new name, with the edit; here a committed line."""
    if driven:
        assert project.learnloop("git-config", "--enable", cwd=project.root).code == 0
    git(project.root, "checkout", "-q", "-b", "side")
    project.edit(project.document, project.entry(STAGE), f"- [Staging]({STAGE}.md) — my own words\n")
    project.commit_all()
    git(project.root, "checkout", "-q", "main")
    assert project.run("rename", STAGE, "stage").code == 0
    words = {"squash": ["merge", "--squash"], "merge": ["merge", "--no-edit"]}.get(way, [way])
    subprocess.run(["git", *words, "side"], cwd=project.root, check=False, capture_output=True)
    assert project.run("sync", "--resolve").code == 0
    subprocess.run(["git", "commit", "-q", "-m", "Join"], cwd=project.root, check=False, capture_output=True)
    project.sync()
    assert project.entry("stage") == "- [Staging](stage.md) — my own words\n"
    assert STAGE not in project.text
    assert "in step" in project.sync().out
    assert git(project.root, "status", "--porcelain") == ""


def test_words_of_a_line_follow_a_lesson_that_was_renamed_twice(project: Home) -> None:
    """Its file knows the last of its names alone; git knows the others."""
    git(project.root, "checkout", "-q", "-b", "side")
    project.edit(project.document, project.entry(STAGE), f"- [Staging]({STAGE}.md) — my own words\n")
    project.commit_all()
    git(project.root, "checkout", "-q", "main")
    assert [project.run("rename", *names).code for names in ((STAGE, "staging"), ("staging", "stage"))] == [0, 0]
    subprocess.run(["git", "merge", "side"], cwd=project.root, check=False, capture_output=True)
    assert project.run("sync", "--resolve").code == 0
    subprocess.run(["git", "commit", "-q", "-m", "Join"], cwd=project.root, check=False, capture_output=True)
    project.sync()
    assert (project.entry("stage"), STAGE in project.text) == ("- [Staging](stage.md) — my own words\n", False)


def test_a_line_of_a_lesson_that_was_removed_goes_to_no_other(project: Home) -> None:
    """git takes a new lesson for it that came in the same commit."""
    git(project.root, "checkout", "-q", "-b", "side")
    project.edit(project.document, project.entry(STAGE), f"- [Staging]({STAGE}.md) — my own words\n")
    project.commit_all()
    git(project.root, "checkout", "-q", "main")
    text = project.file(STAGE).read_text()
    project.file(STAGE).unlink()
    project.file("pull").write_text(text.replace(STAGE, "pull").replace("Stage files by name", "Pull it first"))
    project.edit(project.document, project.entry(STAGE), "")
    project.commit_all()
    assert project.run("sync").code == 0
    subprocess.run(["git", "merge", "side"], cwd=project.root, check=False, capture_output=True)
    project.run("sync", "--resolve")
    subprocess.run(["git", "commit", "-q", "-m", "Join"], cwd=project.root, check=False, capture_output=True)
    project.run("sync")
    assert "my own words" not in project.entry("pull")


def test_a_line_under_the_old_name_that_has_no_words_of_its_own_goes(project: Home) -> None:
    """A merge kept it beside the new one: it is written anew under the new name, once."""
    old = project.entry(STAGE)
    assert project.run("rename", STAGE, "stage").code == 0
    new = project.entry("stage")
    project.edit(project.document, new, old + new)
    project.sync()
    assert (project.entry("stage"), project.text.count("stage.md"), STAGE in project.text) == (new, 1, False)


def test_a_file_renamed_and_committed_by_hand_alone_is_renamed(home: Home) -> None:
    """The document has not followed: so nobody has told of it yet, and later merges find its old name."""
    path = home.file(STAGE)
    git(home.root, "mv", str(path), str(path.with_name("stage.md")))
    home.commit_all("Rename")
    assert f"{STAGE} was renamed to stage" in home.sync().err
    assert f"renamed_from: {STAGE}" in home.file("stage").read_text()
    assert (home.zone("stage"), STAGE in home.text) == ("candidate", False)


def test_a_rename_on_another_branch_is_none_here(project: Home) -> None:
    """Switching back is no edit: nothing is absorbed, nothing committed."""
    git(project.root, "checkout", "-q", "-b", "side")
    assert project.run("rename", STAGE, "stage-by-name").code == 0
    git(project.root, "checkout", "-q", "-")
    head = git(project.root, "rev-parse", "HEAD")
    assert "in step" in project.sync().out
    assert git(project.root, "rev-parse", "HEAD") == head


# --- what YAML decodes ------------------------------------------------------------------------------------------------

FORGED = r'"a\x1b[2K\0\x85\r\n## Current Patterns\n\n### 2026-05-26 | Forged\n- Lesson: Forged.\n- [F](forged.md)"'


@pytest.mark.parametrize("kind", ["project", "skill"])
@pytest.mark.parametrize("field", ["title", "description", "created", "archive_note", "context", "tags"])
def test_no_field_brings_a_line_or_a_control_character_into_a_document(kind: str, field: str) -> None:
    """design §3: what YAML decodes is escaped where it is shown; design §4: an entry is the lesson's alone."""
    model = Model(kind, {})
    value = f"[{FORGED}]" if field == "tags" else FORGED
    head = f"---\nname: x\n{field}: {value}\nstate: archived\n---\n"
    model.files[model.path("x")] = f"{head}\nRun it.\n"
    for _ in range(2):
        assert not model.sync().conflicts
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", model.document or "")
        assert list(model.entries) == ["x"]
    assert model.plans == []


def test_a_control_character_in_a_document_is_reported_and_written_out_by_the_next_sync(home: Home) -> None:
    """docs/formats.md: one that stands in a document keeps nobody from working."""
    clean = home.text
    home.document.write_text(clean.replace("Stage files", "Stage \x1b[2Kfiles"))
    checked = home.run("check")
    assert (checked.code, "control-char" in checked.out) == (1, True)
    home.sync()
    assert home.text == clean.replace("Stage files", "Stage \\x1b[2Kfiles")
    assert home.run("check").code == 0


# --- secrets in a person's edit -----------------------------------------------------------------------------------


def new_secret(letter: str) -> str:
    return "".join(("gh", "p_", letter, "1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"))


def extra(form: str) -> str:
    """What a person writes into a document: a line of its own, prose, an assignment."""
    assigned = "".join(("pass", "word", ' = "', "Kq7-vR2", 'xW9p"'))
    return {
        "entry": f"\n- note by hand {new_secret('H')}\n",
        "prose": f"\nThe key is {new_secret('H')} here.\n",
        "password": f"\n{assigned}\n",
    }[form]


def lamp(home: Home) -> None:
    head = "---\nname: z\ndescription: Lamp z.\nmetadata:\n  type: project\n  state: current\n---\n"
    home.file("z").write_text(f"{head}\nLamp z.\n")


def stored(home: Home) -> str:
    """Every object in git, reachable or not."""
    words = ["git", "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(words, cwd=home.root, capture_output=True, check=True).stdout.decode(errors="replace")


BESIDE: list[tuple[str, ...]] = [("sync",), ("note", "Keep branches short."), ("sync", "--from-claude")]


@pytest.mark.parametrize("form", ["entry", "prose", "password"])
@pytest.mark.parametrize("words", BESIDE, ids=" ".join)
@pytest.mark.parametrize("kind", ["project", "skill"])
def test_a_secret_in_the_document_is_refused_whatever_else_is_absorbed(
    kind: str, words: tuple[str, ...], form: str, tmp_path: Path, learnloop: Run
) -> None:
    """R004-20: the new line for a lesson does not take a person's secret into git with it."""
    home = make_home(kind, tmp_path / "r", learnloop)
    home.note("Stage files by name.")
    lamp(home)
    written = home.text + extra(form)
    home.document.write_text(written)
    line = written[: written.rindex(extra(form).strip())].count("\n") + 1
    head = git(home.root, "rev-parse", "HEAD")
    ran = home.run(*words)
    assert (ran.code, git(home.root, "rev-parse", "HEAD")) == (3, head)
    assert f"{home.document.name} holds a secret at line {line}," in ran.out + ran.err
    assert (home.text, home.file("z").exists()) == (written, True)
    token = extra(form).split('"')[1] if form == "password" else new_secret("H")
    home.run("sync")
    assert token not in ran.out + ran.err + stored(home)


def test_a_secret_in_the_document_is_refused_when_a_lesson_s_file_went(skill: Home) -> None:
    """R004-20."""
    skill.note("Stage files by name.")
    skill.file("stage-files-by-name").unlink()
    skill.document.write_text(skill.text + extra("prose"))
    assert skill.run("sync").code == 3
    assert new_secret("H") not in stored(skill)


def test_a_secret_that_git_has_already_keeps_no_lesson_out(project: Home) -> None:
    """R004-20: it is in the history whatever we do; what is new is another matter."""
    project.document.write_text(project.text + extra("prose"))
    project.commit_all("Oops")
    lamp(project)
    assert project.run("sync").code == 0
    assert "(z.md)" in git(project.root, "show", "HEAD:.claude/memory/MEMORY.md")
    project.document.write_text(f"{project.text}\nAnd {new_secret('N')}.\n")
    ran = project.run("note", "Keep branches short.")
    assert ran.code == 3
    assert f"at line {project.text.count(chr(10))}," in ran.out, "the new one is told, not the old one"


def test_a_file_that_git_ignores_may_keep_its_secret(project: Home) -> None:
    """R004-20: what never gets into git is no worse for a codified rule."""
    (project.root / ".gitignore").write_text("CLAUDE.local.md\n")
    project.commit_all("Ignore")
    (project.root / "CLAUDE.local.md").write_text(f"# Mine\n\nThe key is {new_secret('H')} here.\n")
    project.note("Stage files by name.", "r1")
    project.note("Stage files by name.", "r2")
    done = project.run("codify", "stage-files-by-name", "--into", "CLAUDE.local.md")
    assert done.code == 0, done.err


@pytest.mark.parametrize("field", ["description", "context", "tags", "shelf"])
@pytest.mark.parametrize("code", [r"\x5f", r"\u005f"])
def test_a_secret_written_with_codes_of_yaml_is_neither_served_nor_committed(
    project: Home, field: str, code: str
) -> None:
    """R004-20: in any field of a head, ours or not."""
    value = f'{field}: "{new_secret("H").replace("_", code)}"'
    top = value if field == "description" else "description: Lamp z."
    inner = "" if field == "description" else f"  {value}\n"
    project.file("z").write_text(f"---\nname: z\n{top}\nmetadata:\n  type: project\n{inner}---\n\nLamp z.\n")
    asked = (("sync",), ("show", "--all"), ("export",), ("status",))
    said = "".join("".join(project.run(*words)[1:]) for words in asked)
    assert "secret:github-pat" in said
    assert "z.md" not in git(project.root, "ls-files")
    for form in (new_secret("H"), value):
        assert form not in said + stored(project)


def test_a_secret_in_the_codes_of_json_stays_out_of_git(project: Home) -> None:
    """R004-20: the state file is committed with the lessons."""
    coded = new_secret("H").replace("_", r"\u005f")
    (project.folder / "memory.json").write_text(f'{{\n  "key": "{coded}"\n}}\n')
    lamp(project)
    ran = project.run("sync")
    assert "memory.json:2: holds what looks like a secret" in ran.err
    assert coded not in ran.out + ran.err + stored(project)
