"""Plans and drafts: edits collected as values, cut into changes of one commit each."""

from __future__ import annotations

from pathlib import Path

import pytest

from learnloop_md import index
from learnloop_md.errors import UnableError
from learnloop_md.plan import PAST, Draft, Edit, Plan, diff, message
from tests.homes import DAY, Model, lesson_text


def draft(files: dict[str, str], document: str | None = index.NEW) -> Draft:
    return Draft(Model("project", files, document).memory, today=DAY, run="r9", command="c0ffee")


def test_the_message_has_subject_why_and_trailers() -> None:
    """Design §6: subject, why, trailers Lesson, Learnloop-Change, Run, Learnloop-Command."""
    plan = Plan("graduate", ("a", "b"), "seen twice", (), (), (("Run", "r9"), ("Learnloop-Command", "c0ffee")))
    assert message(plan) == (
        "learnloop: graduate a, b\n\nseen twice\n\nLesson: a\nLesson: b\nLearnloop-Change: graduate\n"
        "Run: r9\nLearnloop-Command: c0ffee\n"
    )


def test_the_subject_names_three_lessons_and_counts_the_rest() -> None:
    assert message(Plan("cleanup", tuple("abcde"), "", ())).startswith(
        "learnloop: cleanup a, b, c and 2 more\n\nLesson: a\n"
    )


def test_a_subject_of_its_own_stands_instead() -> None:
    assert message(Plan("init", (), "", (), subject="learnloop: init memory")).startswith("learnloop: init memory\n\n")


@pytest.mark.parametrize("change", list(PAST))
def test_every_change_has_a_word_for_what_was_done(change: str) -> None:
    assert PAST[change].endswith(("ed", "en", "ne"))


def test_a_diff_shows_new_changed_and_removed_files() -> None:
    edits = [Edit("a.md", None, "new\n"), Edit("b.md", "old\n", "other\n"), Edit("c.md", "gone\n", None)]
    assert diff(edits) == (
        "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+new\n"
        "--- a/b.md\n+++ b/b.md\n@@ -1 +1 @@\n-old\n+other\n"
        "--- a/c.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    )


def test_a_diff_says_where_a_last_line_has_no_end() -> None:
    assert diff([Edit("a.md", "x", "x\n")]).count("\\ No newline at end of file\n") == 1


def test_a_diff_breaks_lines_only_where_the_file_does() -> None:
    """U+2028 and a form feed end no line of a markdown file."""
    assert diff([Edit("a.md", "a\u2028b\fc\n", "a\u2028b\fd\n")]).endswith("-a\u2028b\fc\n+a\u2028b\fd\n")


def test_paths_of_a_plan_are_its_edits_and_what_it_commits_besides() -> None:
    assert Plan("absorb", (), "", (Edit("a.md", "", "x"),), ("b.md", "a.md")).paths == ("a.md", "b.md")


def test_a_cut_brings_the_document_in_step() -> None:
    work = draft({"a.md": lesson_text("a", "A rule.")})
    work.set("a", state="current")
    plan = work.cut("graduate", ["a"], "")
    assert plan
    assert plan.paths == ("MEMORY.md", "a.md")
    assert "## Current\n\n- [A](a.md)" in work.document


def test_several_edits_of_one_file_become_one() -> None:
    text = lesson_text("a", "A rule.")
    work = draft({"a.md": text})
    work.set("a", pinned=True)
    work.set_part("a", "rule", "Another rule.")
    plan = work.cut("edit", ["a"], "")
    assert plan
    assert [edit.before for edit in plan.edits if edit.path == "a.md"] == [text]
    assert work.lesson("a").rule == "Another rule."


def test_a_cut_without_changes_makes_no_plan() -> None:
    work = draft({}, index.NEW)
    assert (work.cut("absorb", [], ""), work.plans) == (None, [])


def test_a_change_and_its_reversal_make_no_plan() -> None:
    model = Model("project", {"a.md": lesson_text("a", "A rule.")}, index.NEW)
    model.sync()
    work = Draft(model.memory, today=DAY, run="", command="c")
    work.set("a", pinned=True)
    work.set("a", pinned=None)
    assert work.cut("pin", ["a"], "") is None


def test_each_cut_starts_from_the_last() -> None:
    work = draft({"a.md": lesson_text("a", "A rule.")})
    work.set("a", pinned=True)
    first = work.cut("pin", ["a"], "")
    work.set("a", state="current")
    second = work.cut("graduate", ["a"], "")
    assert first
    assert second
    after = {edit.path: edit.after for edit in first.edits}
    assert {edit.path: edit.before for edit in second.edits} == after


def test_a_path_committed_as_it_stands_is_in_the_plan_once() -> None:
    work = draft({"a.md": lesson_text("a", "A rule.")})
    work.set("a", pinned=True)
    for path in ("a.md", "b.md", "b.md"):
        work.also(path)
    plan = work.cut("absorb", ["a"], "")
    assert plan
    assert plan.also == ("b.md",)


def test_a_new_document_is_created_and_an_empty_one_changed() -> None:
    files = {"a.md": lesson_text("a", "A rule.")}
    befores = []
    for document in (None, ""):
        plan = draft(files, document).cut("absorb", ["a"], "")
        assert plan
        befores.append(plan.edits[0].before)
    assert befores == [None, ""]


def test_a_removed_lesson_loses_its_file_and_its_line() -> None:
    model = Model("project", {"a.md": lesson_text("a", "A rule.")}, index.NEW)
    model.sync()
    work = Draft(model.memory, today=DAY, run="", command="c")
    work.remove("a")
    plan = work.cut("edit", ["a"], "")
    assert plan
    assert [(edit.path, edit.after) for edit in plan.edits if edit.path == "a.md"] == [("a.md", None)]
    assert "a.md" not in work.document


def test_leaving_a_lesson_takes_its_changes_back() -> None:
    text = lesson_text("a", "A rule.")
    work = draft({"a.md": text, "b.md": lesson_text("b", "B.")})
    work.set("a", pinned=True)
    work.set("b", pinned=True)
    work.leave("a")
    plan = work.cut("pin", ["b"], "")
    assert plan
    assert "a.md" not in plan.paths
    assert work.lesson("a").text == text


def test_a_text_that_could_not_be_read_again_is_refused() -> None:
    """The file would be quarantined at the next look; better no change than a lesson out of service."""
    work = draft({"a.md": lesson_text("a", "A rule.")})
    with pytest.raises(UnableError, match=r"a\.md would not be readable") as error:
        work.set_part("a", "rule", "<<<<<<< HEAD")
    assert error.value.code == "conflict-markers"


def test_a_head_that_cannot_be_edited_is_refused_with_its_line() -> None:
    work = draft({"a.md": "---\nname: a\nmetadata: {type: feedback, x: [{y: z}]}\n---\n\nA.\n"})
    with pytest.raises(UnableError, match=r"a\.md:\d+: ") as error:
        work.set("a", pinned=True)
    assert error.value.code == "head-not-editable"


def test_a_blocked_document_refuses_a_change_of_it() -> None:
    model = Model("project", {"a.md": lesson_text("a", "A rule.")}, "<<<<<<< HEAD\n")
    work = Draft(model.memory, today=DAY, run="", command="c")
    with pytest.raises(UnableError, match=r"MEMORY\.md:1: ") as error:
        work.cut("note", ["a"], "")
    assert error.value.code == "conflict-markers"


def test_a_document_set_as_it_is_stays_so() -> None:
    work = draft({"a.md": lesson_text("a", "A rule.")})
    work.set_document(index.NEW, "# Mine\n")
    plan = work.cut("undo", [], "", document=False)
    assert plan
    assert plan.edits == (Edit("MEMORY.md", index.NEW, "# Mine\n"),)


def test_new_lessons_of_a_skill_stand_in_their_folder() -> None:
    work = Draft(Model("skill", {}).memory, today=DAY, run="", command="c")
    work.put("a", lesson_text("a", "A rule."))
    assert work.lesson("a").path == "lessons/a.md"


def test_a_draft_touches_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in a plan does IO: it works where no file may be opened."""
    monkeypatch.chdir(tmp_path)
    work = draft({"a.md": lesson_text("a", "A rule.")}, None)
    work.cut("absorb", ["a"], "")
    assert list(tmp_path.iterdir()) == []


def test_a_lesson_that_the_document_does_not_know_yet_can_be_renamed() -> None:
    work = draft({})
    work.renamed("new", "newer")
    assert work.cut("rename", ["newer"], "") is None
