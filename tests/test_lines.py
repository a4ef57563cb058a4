"""Structure of markdown lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from learnloop_md.lines import conflict_line, line_end, scan, split_lines


@given(st.text(max_size=200))
def test_lines_put_together_are_the_text(text: str) -> None:
    """R002-05."""
    assert "".join(split_lines(text)) == text
    assert "".join(line.raw for line in scan(text)) == text


def places(text: str) -> list[str]:
    return [line.place for line in scan(text)]


def test_fences_comments_and_the_head_are_no_text() -> None:
    text = "---\na: b\n---\nx\n```md\n## no\n```\n<!-- one\ntwo -->\ny <!-- inline -->\n~~~\n```\n~~~\nz\n"
    assert places(text) == [*["head"] * 3, "text", *["fence"] * 3, *["comment"] * 2, "text", *["fence"] * 3, "text"]


def test_a_longer_fence_is_closed_only_by_its_like() -> None:
    assert places("````\n```\n````\nx\n") == ["fence", "fence", "fence", "text"]


def test_only_a_line_feed_ends_a_line() -> None:
    assert split_lines("a\u2028b\x0cc\x85d\ne") == ["a\u2028b\x0cc\x85d\n", "e"]


def test_the_line_end_is_that_of_the_first_line() -> None:
    assert (line_end("a\r\nb\n"), line_end("a\nb\r\n"), line_end("")) == ("\r\n", "\n", "\n")


def test_a_conflict_in_a_fence_is_an_example() -> None:
    assert conflict_line("a\n```\n<<<<<<< x\n```\n") == 0
    assert conflict_line("a\n<<<<<<< x\nb\n=======\nc\n>>>>>>> y\n") == 2
