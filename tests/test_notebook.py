"""memory.md: what people write is read, single fields change, nothing is lost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import notebook
from learnloop_md.lesson import Lesson
from tests import shapes
from tests.conftest import DATA

ENTRY = """### 2026-05-26 | Verify existing error handling
- Context: "Add error handling" was suggested on a line that already had try/catch.
- Lesson: Verify that error handling does not already exist before suggesting it.
- Next pass: Read the enclosing block before commenting.
- State: CANDIDATE
- Tags: false-positive, error-handling
- File: lessons/verify-existing-error-handling.md
"""
VERIFY = Lesson(
    "verify-existing-error-handling",
    "lessons/verify-existing-error-handling.md",
    "",
    created="2026-05-26",
    tags=("false-positive", "error-handling"),
    rule="Verify that error handling does not already exist before suggesting it.",
    why='"Add error handling" was suggested on a line that already had try/catch.',
    how="Read the enclosing block before commenting.",
)


def step(text: str, after: list[Lesson], before: list[Lesson] | None = None) -> str:
    return notebook.in_step(text, {row.slug: row for row in after}, {row.slug: row for row in before or []})


def test_an_entry_has_the_form() -> None:
    """R002-01, R002-02, R002-03: heading, fields in order, state word."""
    assert notebook.render(VERIFY) == ENTRY


def test_an_archived_entry_ends_in_its_note() -> None:
    """R002-04."""
    row = VERIFY._replace(state="archived", archive_note='Codified in SKILL.md under "Rules"')
    assert notebook.render(row).endswith('- Archive note: Codified in SKILL.md under "Rules"\n')


@pytest.mark.parametrize("separator", [" | ", " - ", " – ", " — ", "|", " "])
def test_a_heading_is_read_whatever_stands_behind_the_date(separator: str) -> None:
    """R002-01."""
    (entry,) = notebook.entries(f"## Current Patterns\n\n### 2026-05-26{separator}Brew tea\n- Lesson: Warm the pot.\n")
    assert (entry.claims["created"], entry.claims["title"], entry.zone) == ("2026-05-26", "Brew tea", "current")


def test_missing_fields_continuation_lines_and_fences_are_taken_as_they_are() -> None:
    text = (
        "## Candidate Patterns\n\n### 2026-05-26 | A\n- Lesson: one\n  two\n- State: candidate\n\n"
        "```\n### 2026-01-01 | no entry\n- Lesson: no\n```\n"
    )
    (entry,) = notebook.entries(text)
    assert (entry.claims["rule"], entry.claims["state"], "why" in entry.claims) == ("one two", "candidate", False)


def test_the_origin_s_zone_names_are_read() -> None:
    text = (DATA / "shapes" / "zones" / "review-patterns-origin-names.md").read_text("utf-8")
    assert notebook.has_zones(text)
    assert [entry.zone for entry in notebook.entries(text)] == ["candidate"]


def test_a_real_notebook_is_read_whole() -> None:
    """R002-62: 4 current, 9 candidate, 6 archived, none dropped."""
    text = next(path for path in shapes.NOTEBOOKS if "round1" in str(path)).read_text("utf-8")
    zones = [entry.zone for entry in notebook.entries(text)]
    assert (zones.count("current"), zones.count("candidate"), zones.count("archived")) == (4, 9, 6)


@pytest.mark.parametrize("path", shapes.NOTEBOOKS, ids=shapes.name)
def test_nothing_changes_where_nothing_must(path: Path) -> None:
    """R002-05."""
    text = path.read_bytes().decode()
    assert notebook.in_step(text, {}, {}) == text


def test_a_changed_field_is_the_only_line_that_changes() -> None:
    """R002-05."""
    text = f"# Notes\n\n## Candidate Patterns\n\n{ENTRY}- Seen by: Ada\n\n## Current Patterns\n"
    changed = step(text, [VERIFY._replace(how="Look twice.")], [VERIFY])
    assert changed == text.replace("Read the enclosing block before commenting.", "Look twice.")


def test_a_hand_written_field_keeps_its_words() -> None:
    text = f"## Candidate Patterns\n\n{ENTRY}".replace("try/catch.", "a guard, said Bo.")
    assert "a guard, said Bo." in step(text, [VERIFY._replace(how="Look twice.")], [VERIFY])


def test_moving_there_and_back_gives_the_same_bytes() -> None:
    text = step(
        notebook.NEW,
        [VERIFY, VERIFY._replace(slug="a", path="lessons/a.md"), VERIFY._replace(slug="z", path="lessons/z.md")],
    )
    rows = [VERIFY, VERIFY._replace(slug="a", path="lessons/a.md"), VERIFY._replace(slug="z", path="lessons/z.md")]
    moved = [VERIFY._replace(state="archived", archive_note="why"), *rows[1:]]
    there = step(text, moved, rows)
    assert "- Archive note: why" in there
    assert step(there, rows, moved) == text


def test_line_ends_of_the_notebook_are_kept() -> None:
    text = step(notebook.NEW.replace("\n", "\r\n"), [VERIFY])
    assert text.count("\n") == text.count("\r\n")


def test_entries_stand_sorted_by_slug() -> None:
    rows = [VERIFY._replace(slug=slug, path=f"lessons/{slug}.md") for slug in ("b", "c", "a")]
    assert [entry.slug for entry in notebook.entries(step(notebook.NEW, rows))] == ["a", "b", "c"]


def test_a_missing_zone_is_made_in_its_place() -> None:
    text = step("# Notes\n\n## Archived Patterns\n", [VERIFY])
    assert text.index("## Candidate Patterns") < text.index("## Archived Patterns")


def test_lines_that_look_like_fields_and_are_none_are_told() -> None:
    """A renamed field is a finding (R002-61)."""
    (entry,) = notebook.entries(f"## Current Patterns\n\n{ENTRY}- Why: renamed\n- Lesson: again\n")
    assert notebook.strange_fields(entry) == [(10, "Why")]


def test_a_heading_may_be_closed_by_marks_and_hold_some() -> None:
    rows = ["### 2026-05-26 | Brew tea ###", "### 2026-05-26 | Use C#", "### Undated"]
    text = "## Current Patterns ##\n" + "".join(f"\n{row}\n- Lesson: x\n" for row in rows)
    assert [entry.claims["title"] for entry in notebook.entries(text)] == ["Brew tea", "Use C#", "Undated"]


def test_an_entry_outside_the_zones_needs_a_date_or_a_lesson() -> None:
    text = "# Notes\n\n### Not an entry\nProse.\n\n### 2026-05-26 | Entry\n- Lesson: x\n"
    assert [entry.slug for entry in notebook.entries(text)] == ["entry"]


def test_a_state_word_is_read_in_any_dress() -> None:
    """R002-03."""
    (entry,) = notebook.entries("## Current Patterns\n\n### 2026-05-26 | A\n* **State:** `Current`\n")
    assert entry.claims["state"] == "current"


def test_a_renamed_lesson_keeps_its_entry() -> None:
    """The entry is found by the file it had before."""
    row = VERIFY._replace(slug="verify", path="lessons/verify.md")
    text = f"## Candidate Patterns\n\n{ENTRY}"
    after = notebook.in_step(text, {"verify": row}, {"verify": VERIFY})
    title = "### 2026-05-26 | Verify\n"
    file = text.replace("lessons/verify-existing-error-handling.md", "lessons/verify.md")
    assert after == file.replace("### 2026-05-26 | Verify existing error handling\n", title)


def test_hidden_entries_go_and_skipped_ones_stay() -> None:
    text = f"## Candidate Patterns\n\n{ENTRY}"
    moved = {VERIFY.slug: VERIFY._replace(state="archived")}
    assert notebook.in_step(text, moved, {}, hidden=[VERIFY.slug]) == "## Candidate Patterns\n"
    assert notebook.in_step(text, moved, {}, skip=[VERIFY.slug]) == text


def test_a_removed_lesson_leaves_no_entry() -> None:
    assert step(f"## Candidate Patterns\n\n{ENTRY}\n## Notes\n", [], [VERIFY]) == "## Candidate Patterns\n\n## Notes\n"


def test_an_entry_is_put_behind_the_words_that_open_its_zone() -> None:
    """What stands in a zone without being an entry stays where it is (design §4)."""
    text = "# Notes\n\n## Candidate Patterns\n\nSeen once.\n\n## Current Patterns\n"
    assert step(text, [VERIFY]) == text.replace("Seen once.\n", f"Seen once.\n\n{ENTRY}")


@pytest.mark.parametrize("tail", ["```\nopen\n", "<!-- open\n", "### 2026-01-01 | Old\n- Lesson: x\n\n~~~\nopen\n"])
@pytest.mark.parametrize("lead", ["", "## Candidate Patterns\n\n", "## Archived Patterns\n\n"])
def test_an_open_fence_or_comment_swallows_no_entry(lead: str, tail: str) -> None:
    after = step(lead + tail, [VERIFY])
    assert VERIFY.slug in {entry.slug for entry in notebook.entries(after)}
    assert step(after, [VERIFY], [VERIFY]) == after


def test_an_entry_that_moves_takes_its_open_fence_along_closed() -> None:
    """Else it would swallow what stands behind its new place."""
    text = f"## Current Patterns\n\n## Candidate Patterns\n\n{ENTRY}~~~~\ncode\n"
    after = step(text, [VERIFY._replace(state="current"), VERIFY._replace(slug="z", path="lessons/z.md")], [VERIFY])
    assert [entry.zone for entry in notebook.entries(after)] == ["current", "candidate"]
    assert "~~~~\ncode\n~~~~\n" in after


def test_three_hundred_entries_are_brought_in_step_quickly() -> None:
    rows = [VERIFY._replace(slug=f"row-{n:03}", path=f"lessons/row-{n:03}.md") for n in range(300)]
    start = time.process_time()
    text = step(notebook.NEW, rows)
    after = step(text, [rows[0]._replace(state="archived"), *rows[1:]], rows)
    moved = step(after, [row._replace(state="current") for row in rows], rows)
    assert time.process_time() - start < 1
    assert [entry.zone for entry in notebook.entries(moved)] == ["current"] * 300


def test_long_gaps_cost_little_time() -> None:
    start = time.process_time()
    gap = " " * 300_000
    notebook.entries(f"## Current Patterns{gap}x\n### a{gap}b\n- Lesson:{gap}")
    assert time.process_time() - start < 1


def test_of_doubled_entries_the_one_that_names_the_file_is_the_lesson_s() -> None:
    other = "### 2026-05-01 | Verify existing error handling\n- Lesson: mine\n"
    text = f"## Candidate Patterns\n\n{other}\n{ENTRY}"
    after = step(text, [VERIFY._replace(state="archived")], [VERIFY])
    assert after.startswith(f"## Candidate Patterns\n\n{other}\n## Archived Patterns\n\n{ENTRY[:40]}")


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=30).map(
    lambda s: " ".join(s.split())
)
STATES = st.sampled_from(["candidate", "current", "archived"])


@st.composite
def lessons(draw: st.DrawFn) -> list[Lesson]:
    slugs = draw(st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), unique=True, max_size=4))
    return [
        Lesson(
            slug, f"lessons/{slug}.md", "", state=draw(STATES), created="2026-05-26",
            rule=draw(TEXT), why=draw(TEXT), how=draw(TEXT), archive_note=draw(TEXT),
        )
        for slug in slugs
    ]  # fmt: skip


@given(lessons(), lessons())
def test_in_step_is_stable_and_says_what_the_lessons_say(before: list[Lesson], after: list[Lesson]) -> None:
    text = step(step(notebook.NEW, before), after, before)
    assert step(text, after, after) == text
    found = {entry.slug: entry for entry in notebook.entries(text)}
    assert set(found) == {row.slug for row in after}
    for row in after:
        said = found[row.slug].claims
        assert said["state"] == found[row.slug].zone == row.state
        for field in ("rule", "why", "how"):
            assert said.get(field, "") == getattr(row, field)


ODD = st.sampled_from(
    [
        "# Notes", "## Candidate Patterns", "## Current Review Patterns", "## archived patterns", "## Other", "",
        "Prose.", "### 2026-01-01 | Alpha", "### 2026-01-02 - Beta", "### Gamma", "### 2026-01-01 | Alpha",
        "- Lesson: x", "- State: CURRENT", "- Tags: a,b", "- Mine: kept", "  goes on", "- File: lessons/delta.md",
        "```", "~~~", "<!--", "-->", "---", "- Archive note: old",
    ]
)  # fmt: skip
DOCUMENTS = st.one_of(
    st.sampled_from([path.read_bytes().decode() for path in shapes.NOTEBOOKS]),
    st.lists(ODD, max_size=16).map("\n".join),
    st.lists(ODD, max_size=16).map("\r\n".join).map("{}\r\n".format),
)


@given(DOCUMENTS, lessons(), lessons())
def test_a_second_step_changes_nothing_in_any_document(text: str, before: list[Lesson], after: list[Lesson]) -> None:
    """Else every command would make a commit (design §4)."""
    once = step(text, after, before)
    assert step(once, after, after) == once


@given(DOCUMENTS, lessons(), lessons())
def test_no_entry_and_no_other_line_is_lost(text: str, before: list[Lesson], after: list[Lesson]) -> None:
    """Entries of lessons that went aside (R002-62)."""
    new = step(text, after, before)
    gone = {row.slug for row in before} - {row.slug for row in after}
    had, has = ({entry.slug for entry in notebook.entries(x)} for x in (text, new))
    assert had - gone <= has
    assert {row.slug for row in after} <= has
    kept = {line for line in text.splitlines() if line.startswith(("- Mine", "#", "```", "~~~"))}
    assert gone or {line for line in kept if not line.startswith("###")} <= set(new.splitlines())
