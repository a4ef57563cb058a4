"""MEMORY.md: every form is read, only the lines that must change do, and Claude loads no more than the budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import index
from learnloop_md.lesson import Event, Lesson
from tests import shapes
from tests.conftest import DATA


def made(slug: str, state: str = "candidate", **fields: object) -> Lesson:
    return Lesson(slug, f"{slug}.md", "", state=state, description=f"about {slug}")._replace(**fields)  # type: ignore[arg-type]


def step(text: str, after: list[Lesson], before: list[Lesson] | None = None, **rest: object) -> str:
    known = {row.slug: row for row in before or []}
    return index.in_step(text, {row.slug: row for row in after}, known, **rest).text  # type: ignore[arg-type]


FORMS = {
    "no-hook.md": ("No hook", ""),
    "bold.md": ("Bold title", "bold inside the brackets"),
    "bold-link.md": ("Bold link", "bold around the link"),
    "hyphen.md": ("Hyphen", "plain hyphen"),
    "wide.md": ("Wide hyphen", "two spaces"),
    "semi.md": ("Semicolon", "hook after a semicolon"),
    "dot.md": ("Dot", "middle dot"),
    "colon.md": ("Colon after dash", "starts with a colon"),
    "struck.md": ("Struck", "retired"),
    "late.md": ("the link", "at the end"),
    "one.md": ("Two", "first"),
    "two.md": ("links", "second"),
    "wiki-only.md": ("wiki-only", "wiki link instead of a file link"),
    "code-name.md": ("code-name.md", "name in backticks, no link"),
    "star.md": ("Star bullet", "star"),
    "numbered.md": ("Numbered", "ordered list"),
    "nested.md": ("Nested", "nested bullet"),
    "café.md": ("Café & “quotes”", "percent-encoded target"),
    "kiln-runbook.md": ("Anchor", "target with an anchor"),
    "dotslash.md": ("Dot slash", "./ prefix"),
    "decisions/one-kiln.md": ("Sub", "sub-folder"),
    "bracket.md": ("Title with ] bracket", "odd title"),
    "feedback_label_printer.md": ("Same", "first mention"),
}


@pytest.mark.parametrize("target", FORMS)
def test_every_form_of_a_line_is_read(target: str) -> None:
    """R001-40: the reader takes every form that real indexes have."""
    text = (DATA / "shapes" / "index" / "C-separators" / "MEMORY.md").read_text("utf-8")
    entry = next(e for e in index.entries(text) if e.target == target)
    assert (entry.title, entry.hook) == FORMS[target]


@pytest.mark.parametrize(
    ("shape", "targets"), [("E-comment-head-and-template", ["kiln-runbook.md"]), ("B-grouped", 3), ("A-bare-lines", 2)]
)
def test_samples_in_comments_and_fences_are_no_lines(shape: str, targets: object) -> None:
    found = index.entries((DATA / "shapes" / "index" / shape / "MEMORY.md").read_text("utf-8"))
    assert targets in (len(found), [e.target for e in found])


def test_links_out_of_the_memory_are_told_and_are_no_entries() -> None:
    text = "- [Out](../../docs/README.md) — out\n- [Web](https://example.org/x.md) — web\n- [In](in.md)\n"
    assert [e.target for e in index.entries(text)] == ["in.md"]
    assert index.outside_links(text) == [(1, "../../docs/README.md")]


def test_a_line_is_title_link_and_hook_under_150_characters() -> None:
    """R001-40, R001-41."""
    assert index.render(made("stage-files")) == "- [Stage files](stage-files.md) — about stage-files"
    long = made("x" * 60, description="word " * 60)
    assert len(index.render(long)) < 150
    assert index.render(long).endswith("…")


def test_a_hook_that_repeats_the_title_is_left_away() -> None:
    assert index.render(made("a", title="Brew tea", description="Brew tea")) == "- [Brew tea](a.md)"


def test_lines_stand_sorted_in_the_zone_of_their_state() -> None:
    """Design §4."""
    text = step(index.NEW, [made("b"), made("a"), made("c", "current"), made("old", "archived")])
    assert text == (
        "# Memory\n\n## Current\n\n- [C](c.md) — about c\n\n## Candidate\n\n- [A](a.md) — about a\n- [B](b.md) — about b\n\n"
        "<!-- learnloop: not in force, kept for people\n## Archived\n\n- [Old](old.md) — about old\n-->\n"
    )


def test_there_and_back_again_gives_the_same_bytes() -> None:
    rows = [made("a"), made("b"), made("c", "current")]
    text = step(index.NEW, rows)
    moved = [rows[0]._replace(state="current"), *rows[1:]]
    assert step(step(text, moved, rows), rows, moved) == text


def test_a_moved_line_keeps_its_own_words() -> None:
    text = "# Memory\n\n- **[My title](a.md)** · my own words\n"
    moved = step(text, [made("a", "archived")], [made("a", "current")])
    assert "- **[My title](a.md)** · my own words" in moved.partition("## Archived")[2]


def test_a_line_of_ours_follows_its_lesson() -> None:
    before = made("a")
    text = step(index.NEW, [before])
    assert "— new words" in step(text, [before._replace(description="new words")], [before])


def test_adopted_lines_and_prose_outside_the_zones_stay() -> None:
    """Design §4: byte for byte."""
    text = "# Mine\r\n\r\nProse stays.\r\n\r\n- [A](a.md) — x\r\n"
    assert step(text, [made("a", "current")]) == text
    assert step(text, [made("a", "current"), made("b")]).startswith(text)
    assert "\r\n- [B](b.md) — about b\r\n" in step(text, [made("a", "current"), made("b")])


def test_a_line_added_outside_moves_to_the_candidates() -> None:
    text = index.NEW.replace("# Memory\n", "# Memory\n\n- [New](new.md) — by Claude\n")
    assert step(text, [made("new")]).endswith("## Candidate\n\n- [New](new.md) — by Claude\n")


def test_a_line_after_the_archived_comment_is_outside_the_zones() -> None:
    text = step(index.NEW, [made("old", "archived")]) + "- [New](new.md) — appended"
    assert "## Candidate\n\n- [New](new.md) — appended\n" in step(text, [made("old", "archived"), made("new")])


def test_an_arrow_in_an_archived_line_cannot_end_the_comment() -> None:
    """Design §4: `-->` inside a line is escaped, and comes back."""
    row = made("a", description="from x --> y")
    text = step(index.NEW, [row._replace(state="archived")])
    assert "x --&gt; y" in text
    assert "x --> y" in step(text, [row], [row._replace(state="archived")])


def test_a_quarantined_lesson_leaves_what_claude_loads() -> None:
    text = step(index.NEW, [made("a"), made("b")])
    hurt = step(text, [made("b")], [made("b")], quarantined=["a.md"])
    assert "a.md" not in index.loaded(hurt)
    assert "- [A](a.md)" in hurt
    assert step(hurt, [made("a"), made("b")], [made("b")]).startswith(text.rstrip("\n"))


def test_hidden_lessons_have_no_line() -> None:
    text = step(index.NEW, [made("a"), made("b")])
    assert "a.md" not in step(text, [made("a"), made("b")], hidden={"a"})


def test_doubled_lines_become_one_when_the_lesson_changes() -> None:
    text = "- [A](a.md) one\n- [A](a.md) one\n"
    assert step(text, [made("a", "archived")], [made("a", "current")]).count("a.md") == 1


def test_doubled_lines_stay_while_nothing_changes() -> None:
    """Adopted bytes stay: `check` reports the second line."""
    text = "- [A](a.md) one\n- [Other words](a.md) two\n"
    assert step(text, [made("a", "current")], [made("a", "current")]) == text


def many(count: int) -> list[Lesson]:
    return [
        made(f"n{n:03}", seen=(Event("2026-01-01", "r"),) * 1, created=f"2026-01-{n % 28 + 1:02}") for n in range(count)
    ]


def test_the_least_valuable_lines_of_ours_are_left_out_of_a_long_index() -> None:
    """R001-42, design §4: candidates before current, unpinned before pinned; never the newest correction."""
    rows = [*many(150), made("pinned", pinned=True), made("cur", "current"), made("fix", kind="correction")]
    stepped = index.in_step(index.NEW, {row.slug: row for row in rows}, {})
    lines, _ = index.loaded_size(stepped.text)
    assert lines <= 140
    assert not {"pinned", "cur", "fix"} & set(stepped.left_out)
    assert stepped.left_out
    again = index.in_step(stepped.text, {row.slug: row for row in rows}, {row.slug: row for row in rows})
    assert again == stepped


def test_a_thousand_lessons_are_brought_in_step_quickly() -> None:
    import time

    rows = [row._replace(state="archived") for row in many(999)]
    text = step(index.NEW, rows)
    start = time.process_time()
    step(text, [made("new"), *rows], rows)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("path", shapes.INDEXES, ids=shapes.name)
def test_every_shape_is_left_alone_while_nothing_changes(path: Path) -> None:
    """Design §4: adopted lines stay byte for byte."""
    text = path.read_bytes().decode()
    rows = [Lesson(e.target.rpartition("/")[2][:-3], e.target, "", state="current") for e in index.entries(text)]
    assert step(text, rows, rows) == text


STATES = st.sampled_from(["candidate", "current", "archived"])
SLUGS = st.sampled_from(["alpha", "beta", "gamma", "delta"])
MEMORIES = st.dictionaries(SLUGS, STATES, max_size=4)
PROSE = st.lists(
    st.sampled_from(
        [
            "Prose.",
            "",
            "- a list",
            "## Current",
            "## Candidate",
            "## Other",
            "- [Beta](beta.md) — mine",
            "```",
            "<!-- x -->",
        ]
    ),
    max_size=8,
).map(lambda rows: "".join(row + "\n" for row in rows))


@given(PROSE, MEMORIES, MEMORIES)
def test_in_step_is_stable_and_loses_no_line(text: str, before: dict[str, str], after: dict[str, str]) -> None:
    old = [made(slug, state) for slug, state in before.items()]
    new = [made(slug, state) for slug, state in {**before, **after}.items()]
    first = step(step(text, old), new, old)
    assert step(first, new, new) == first
    found = {e.target: e.zone for e in index.entries(first)}
    for row in new:
        assert found[row.path] == row.state or (found[row.path] == "" and row.state == "current")
