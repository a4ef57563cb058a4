"""The strict YAML reader: strings stay strings, and what we do not trust is refused with a code and its line."""

from __future__ import annotations

import pytest

from learnloop_md import yamlhead
from learnloop_md.tree import HeadError


def refusal(text: str, first_line: int = 2) -> tuple[str, int]:
    with pytest.raises(HeadError) as refused:
        yamlhead.load(text, first_line)
    return refused.value.code, refused.value.line


def test_every_scalar_is_a_string() -> None:
    """Dates, numbers and truth values are read as text (design §3)."""
    tree = yamlhead.load("a: 2026-03-05\nb: 1.10\nc: yes\nd: 0123\ne: {f: 1}\n", 2)
    assert tree == {"a": "2026-03-05", "b": "1.10", "c": "yes", "d": "0123", "e": {"f": "1"}}


def test_an_unquoted_null_is_empty_and_a_quoted_one_a_word() -> None:
    assert yamlhead.load("a: ~\nb: null\nc: 'null'\nd:\n", 2) == {"a": "", "b": "", "c": "null", "d": ""}


def test_block_scalars_are_read() -> None:
    text = "# kept by hand\ndescription: >-\n  folded text\n  over lines\nkept: |\n  a\n  b\n"
    assert yamlhead.load(text, 2) == {"description": "folded text over lines", "kept": "a\nb\n"}


def test_lines_are_those_of_the_file_also_behind_blank_lines() -> None:
    """A finding names the line a person must look at."""
    assert refusal("\n\na: 1\nb: &x 2\n", 2) == ("yaml-anchors", 5)


def test_a_line_of_dashes_does_not_end_the_head() -> None:
    """Nothing behind it may be dropped in silence."""
    assert refusal("a: [1]\n-----\nb: 2\n") == ("yaml-syntax", 4)


@pytest.mark.parametrize(
    "text", ["a: " + "[" * 21, "a: " + "[" * 2_000, "a: " + "{b: " * 200, "a:\n  " + "- " * 300 + "x"]
)
def test_a_deep_head_is_refused_wherever_the_parser_gives_up(text: str) -> None:
    assert refusal(text + "\n")[0] == "yaml-too-deep"


def test_twenty_levels_are_not_too_deep() -> None:
    assert "a" in yamlhead.load("a: " + "[" * 18 + "]" * 18 + "\n", 2)


def test_billion_laughs_are_refused_at_the_first_anchor() -> None:
    rows = "".join(f"k{n}: &k{n} [*k{n - 1}, *k{n - 1}]\n" for n in range(1, 60))
    assert refusal("k0: &k0 [lol]\n" + rows) == ("yaml-anchors", 2)


def test_a_tag_makes_no_object() -> None:
    assert refusal("a: !!python/object/apply:os.getcwd []\n") == ("yaml-tag", 2)


def test_a_comment_alone_is_an_empty_head() -> None:
    assert yamlhead.load("# later\n", 2) == {}


def test_a_list_is_not_a_head() -> None:
    assert refusal("- a\n") == ("frontmatter-not-mapping", 2)
