"""What changed between two states of a memory, by its meaning."""

from __future__ import annotations

import pytest

from learnloop_md.changes import KINDS, Change, changes
from tests.homes import Model, lesson_text

RULE = "Count the rows before a backfill."


def text(slug: str = "count-rows", rule: str = RULE, **more: str) -> str:
    return lesson_text(slug, rule, **more)


def model(files: dict[str, str], *, kind: str = "project") -> Model:
    """A memory whose document is in step with its files."""
    made = Model(kind, files)
    made.sync()
    return made


def told(before: dict[str, str], after: dict[str, str]) -> list[Change]:
    return changes(model(before).memory, model(after).memory)


def one(before: str, after: str) -> Change:
    """The one change of one lesson."""
    found = told({"count-rows.md": before}, {"count-rows.md": after})
    assert len(found) == 1, found
    return found[0]


SEEN = "    - on: 2026-06-01\n      run: r2\n      evidence: pull request 12\n"


def seen_again(given: str) -> str:
    return given.replace("      run: r1\n", f"      run: r1\n{SEEN}")


def test_nothing_changed_is_no_change() -> None:
    assert told({"count-rows.md": text()}, {"count-rows.md": text()}) == []


def test_a_new_file_is_added_and_one_that_is_gone_removed() -> None:
    added = told({}, {"count-rows.md": text()})
    assert [(c.kind, c.slug, c.after, c.is_loss) for c in added] == [("added", "count-rows", RULE, False)]
    gone = told({"count-rows.md": text()}, {})
    assert [(c.kind, c.slug, c.before, c.is_loss) for c in gone] == [("removed", "count-rows", RULE, True)]


def test_a_sighting_more_is_seen_again_with_its_evidence() -> None:
    change = one(text(), seen_again(text()))
    assert (change.kind, change.before, change.after, change.why) == ("seen", "1", "2", "pull request 12")


def test_a_sighting_less_is_a_loss() -> None:
    change = one(seen_again(text()), text())
    assert (change.kind, change.is_loss) == ("uncounted", True)
    assert "pull request 12" in change.why


@pytest.mark.parametrize(("field", "kind"), [("confirmed", "confirmed"), ("disputed", "disputed")])
def test_events_of_the_other_lists_are_told_by_their_names(field: str, kind: str) -> None:
    more = f"  {field}:\n    - on: 2026-06-01\n      run: r2\n"
    assert one(text(), text(more=more)).kind == kind


@pytest.mark.parametrize(
    ("before", "after", "more", "kind", "loss"),
    [
        ("candidate", "current", "", "graduated", False),
        ("current", "candidate", "", "demoted", True),
        ("current", "archived", "  archive_note: Replaced by a linter\n", "archived", True),
        ("current", "archived", "  archive_note: Merged into other\n", "merged", True),
        ("current", "archived", "  superseded_by: other\n", "superseded", True),
        ("current", "archived", "  archive_note: Codified in CLAUDE.md\n  codified_in: CLAUDE.md\n", "codified", False),
        ("archived", "current", "", "restored", False),
    ],
)
def test_a_change_of_state_has_one_name(before: str, after: str, more: str, kind: str, loss: bool) -> None:
    change = one(text(state=before), text(state=after, more=more))
    assert (change.kind, change.before, change.after, change.is_loss) == (kind, before, after, loss)


def test_the_sightings_behind_a_change_of_state_are_a_part_of_it() -> None:
    change = one(text(), seen_again(text(state="current")))
    assert (change.kind, change.why) == ("graduated", "1 more seen")


def test_a_codified_lesson_that_is_seen_again_is_a_relapse() -> None:
    more = "  archive_note: Codified in CLAUDE.md\n  codified_in: CLAUDE.md\n"
    old = text(state="archived", more=more)
    change = one(old, seen_again(old))
    assert (change.kind, change.why) == ("relapsed", "pull request 12, though it stands in CLAUDE.md")


@pytest.mark.parametrize(
    ("after", "why", "loss"),
    [
        (text(rule="Count the rows before a backfill and after it."), "rule, description", False),
        (text(rule="Count the rows only before a large backfill."), "rule, description; narrower: only", True),
        (text(rule="Count the rows."), "rule, description; narrower: words are gone", True),
        (text(why="").replace("\n**Why:** ", ""), "Why; narrower: Why is gone", True),
    ],
)
def test_other_words_are_told_and_narrower_ones_are_a_loss(after: str, why: str, loss: bool) -> None:
    change = one(text(), after)
    assert (change.kind, change.why, change.is_loss) == ("reworded", why, loss)
    assert RULE in change.before or "It went wrong." in change.before


@pytest.mark.parametrize(
    "after",
    [
        text().replace("\n", "\r\n"),
        text().replace("before a backfill.", "before a\nbackfill."),
        text().replace(
            "description: Count the rows before a backfill", "description: 'Count the rows before a backfill'"
        ),
        text() + "\n\n",
    ],
    ids=["line ends", "wrapping", "quotes", "blank lines"],
)
def test_another_form_of_the_same_words_is_formatting(after: str) -> None:
    assert [c.kind for c in told({"count-rows.md": text()}, {"count-rows.md": after})] == ["formatting"]


def test_another_order_of_keys_is_formatting() -> None:
    swapped = text().replace("name: count-rows\ndescription: Count the rows before a backfill\n", "")
    swapped = swapped.replace("---\n", "---\ndescription: Count the rows before a backfill\nname: count-rows\n", 1)
    assert one(text(), swapped).kind == "formatting"


def test_other_fields_are_edited_by_name_also_those_that_are_not_ours() -> None:
    change = one(text(), text(more="  pinned: true\n  team: harbour\n"))
    assert (change.kind, change.why) == ("edited", "pinned, team")


def test_a_rename_is_no_removal() -> None:
    """As the head says it, or where the same words come back."""
    same = text("rows-first")
    said = text("rows-first", "Count all rows first.", more="  renamed_from: count-rows\n")
    for after, kinds in ((same, ["renamed"]), (said, ["renamed", "reworded"])):
        found = told({"count-rows.md": text()}, {"rows-first.md": after})
        assert [c.kind for c in found] == kinds
        assert (found[0].before, found[0].after) == ("count-rows", "rows-first")


def test_a_file_that_cannot_be_read_any_more_is_a_loss_and_back_again_is_none() -> None:
    broken = text().replace("description:", "name:", 1)
    lost, back = (told({"count-rows.md": a}, {"count-rows.md": b})[0] for a, b in ((text(), broken), (broken, text())))
    assert (lost.kind, lost.is_loss, lost.before) == ("broken", True, "candidate")
    assert "yaml-duplicate-key" in lost.why
    assert (back.kind, back.is_loss) == ("mended", False)


def test_a_lesson_moved_into_an_archive_folder_is_archived() -> None:
    plain = text().replace("  state: candidate\n", "")
    found = told({"count-rows.md": plain}, {"archive/count-rows.md": plain})
    assert [(c.kind, c.why) for c in found] == [("archived", "moved to archive/count-rows.md")]


def test_a_persons_words_in_the_document_are_the_documents_alone() -> None:
    before = model({"count-rows.md": text()})
    after = before.copy()
    assert after.document is not None
    after.document = after.document.replace("# Memory\n", "# Memory\n\nAda keeps this.\n")
    assert [(c.kind, c.why) for c in changes(before.memory, after.memory)] == [("document", "1 line of prose more")]
    after.document = (before.document or "").replace("- [Count rows]", "- [Rows, counted]")
    assert [(c.kind, c.why) for c in changes(before.memory, after.memory)] == [
        ("document", "the line of count-rows is reworded")
    ]
    after.document = (before.document or "").replace("## Candidate\n\n", "## Candidate\n\n\n")
    assert [c.kind for c in changes(before.memory, after.memory)] == ["formatting"]


def test_a_document_that_is_gone_is_a_loss() -> None:
    before = model({"count-rows.md": text()})
    after = before.copy()
    after.document = None
    assert [(c.kind, c.is_loss) for c in changes(before.memory, after.memory)] == [("document", True)]


def test_losses_come_first() -> None:
    before = {"a.md": text("a"), "b.md": text("b", "Stage files by name."), "c.md": text("c", "Read it twice.")}
    after = {"b.md": seen_again(before["b.md"]), "c.md": before["c.md"], "d.md": text("d", "Ask before renaming.")}
    found = told(before, after)
    assert [c.kind for c in found] == ["removed", "added", "seen"]
    assert [KINDS.index(c.kind) for c in found] == sorted(KINDS.index(c.kind) for c in found)


def test_an_entry_that_gets_its_lesson_file_is_no_change() -> None:
    """Adopting a notebook writes files for what is known already."""
    entry = (
        "# Review\n\n## Candidate Patterns\n\n### 2026-05-26 | Count rows\n- Context: #12\n- Lesson: Count first.\n"
        "- Next pass: Look.\n- State: CANDIDATE\n\n## Current Patterns\n\n## Archived Patterns\n"
    )
    before = Model("skill", {}, entry)
    after = before.copy()
    after.sync()
    assert "lessons/count-rows.md" in after.files
    assert {c.kind for c in changes(before.memory, after.memory)} <= {"document", "formatting"}
