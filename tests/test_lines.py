"""Which lines are structure: not those of a fence, a block comment or a head."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import lines
from tests.conftest import DATA

pieces = st.lists(
    st.sampled_from(
        [
            "---",
            "```",
            "````md",
            "~~~",
            "<!--",
            "<!-- x -->",
            "-->",
            "a",
            "",
            "- ```",
            "   ```",
            "# h",
            "a\x0cb\u2028c",
            "\ufeff---",
        ]
    ),
    max_size=12,
)
ends = st.sampled_from(["\n", "\r\n"])


def places(text: str) -> list[str]:
    return [line.place for line in lines.scan(text)]


@given(pieces, ends)
def test_the_lines_give_the_text_back(rows: list[str], eol: str) -> None:
    text = eol.join(rows)
    assert "".join(line.raw for line in lines.scan(text)) == text


@given(pieces, ends)
def test_a_text_added_where_there_is_room_is_structure(rows: list[str], eol: str) -> None:
    """What is added at the end must be seen by the next reader, also where a fence was never closed."""
    text = lines.with_final_newline(eol.join(rows), eol)
    at = lines.room_at_end(text)
    all_rows = lines.split_lines(text)
    all_rows[at:at] = ["added\n"]
    assert [line.place for line in lines.scan("".join(all_rows)) if line.text == "added"] == ["text"]


@given(pieces)
def test_what_is_open_at_the_end_can_be_closed(rows: list[str]) -> None:
    text = lines.with_final_newline("\n".join(["", *rows]), "\n")
    mark = lines.closing_mark(text)
    assert places(f"{text}{mark}\nx")[-1] == "text"
    assert bool(mark) == (places(f"{text}x")[-1] != "text")


def test_only_a_line_feed_ends_a_line() -> None:
    """Form feeds and U+2028 do not: line numbers must not drift (design §3)."""
    assert lines.split_lines("a\x0cb\u2028c\x85d\ne") == ["a\x0cb\u2028c\x85d\n", "e"]


def test_a_fence_closes_with_its_own_mark_at_least_as_long() -> None:
    assert places("````\n```\n~~~~\n````` x\n`````\na\n") == ["fence"] * 5 + ["text"]


def test_a_fence_in_a_list_item_is_a_fence() -> None:
    assert places("1. Step\n   ```bash\n   # no heading\n   ```\n- ~~~\n  a\n  ~~~\nb\n") == ["text"] + [
        "fence"
    ] * 6 + ["text"]


def test_a_comment_begins_at_the_start_of_its_line() -> None:
    assert places("<!-- a\n```\n-->\nb <!-- c\nd -->\n") == ["comment"] * 3 + ["text"] * 2


def test_a_comment_in_a_fence_is_code() -> None:
    assert places("```\n<!--\n```\na\n") == ["fence"] * 3 + ["text"]


def test_a_head_stands_at_the_top_and_is_closed() -> None:
    assert places("\ufeff---\nname: x\n---\n---\n") == ["head"] * 3 + ["text"]


def test_a_rule_at_the_top_is_not_a_head() -> None:
    """Else all of a document that begins with `---` would be lost to the reader."""
    assert places("---\n# Memory\n- [a](a.md)\n") == ["text"] * 3


def test_the_shape_with_fences_has_no_heading_inside_them() -> None:
    text = (DATA / "shapes" / "topic" / "12-fences.md").read_text("utf-8")
    shown = [line.text for line in lines.scan(text) if line.place == "text" and line.text.startswith(("#", "- State"))]
    assert shown == []


def test_the_line_end_of_a_text_is_that_of_its_first_line() -> None:
    assert [lines.line_end(text) for text in ("", "a", "a\nb\r\n", "a\r\nb\n", "\n", "\r\n")] == [
        "\n", "\n", "\n", "\r\n", "\n", "\r\n",
    ]  # fmt: skip


def test_conflict_markers_are_found_outside_code_alone() -> None:
    assert lines.conflict_line("a\n<<<<<<< HEAD\n") == 2
    assert lines.conflict_line("a\r\n>>>>>>> x\r\n") == 2
    assert lines.conflict_line("a\n<<<<<<<< HEAD:a.md\nb\n========\nc\n>>>>>>>> B:b.md\n") == 2
    assert lines.conflict_line("a\n=========\nc\n>>>>>>>>> x\n") == 4
    assert lines.conflict_line("```\n<<<<<<< HEAD\n```\n    <<<<<<< HEAD\n<<<<<<<< eight\nTitle\n=======\n") == 0


def test_a_base_that_diff3_left_is_a_conflict() -> None:
    """git's own bars: seven at the beginning of a line, then a space or the end; no table, and nothing in code."""
    assert lines.conflict_line("a\n||||||| abc123\nold\n") == 2
    assert lines.conflict_line("a\r\n|||||||\r\nold\r\n") == 2
    assert lines.conflict_line("a\n<<<<<<<< A:a.md\nb\n|||||||| c\no\n========\nc\n>>>>>>>> B:b.md\n") == 2
    table = "||||||| x |\n| a | b |\n|---|---|\n||||||||\n"
    assert lines.conflict_line(f"||||||\n|||||||x\n ||||||| abc\nTitle\n========\n{table}") == 0
    assert lines.conflict_line("```\n||||||| abc\n```\n") == 0
