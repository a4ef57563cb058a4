"""Headings and sections of skills and guides."""

from __future__ import annotations

import time

import mistune
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import outline
from learnloop_md.errors import UnableError
from learnloop_md.lines import split_lines

TEXT = """---
name: x
---

# One

Two
---

```
# not
```

> ## quoted

- ## in a list

## Three ##
- a
- b

### Deeper
- c
## Four
"""


def test_headings_are_those_of_the_top_level() -> None:
    found = [(row.level, row.title, split_lines(TEXT)[row.line].strip()) for row in outline.headings(TEXT)]
    assert found == [
        (1, "One", "# One"),
        (2, "Two", "Two"),
        (2, "Three", "## Three ##"),
        (3, "Deeper", "### Deeper"),
        (2, "Four", "## Four"),
    ]


def test_a_bullet_goes_behind_the_section_s_own_list() -> None:
    """R002-40."""
    assert outline.with_bullet(TEXT, "Three", "- new") == TEXT.replace("- b\n", "- b\n- new\n")


def test_a_missing_section_is_made_at_the_end() -> None:
    assert outline.with_bullet("# A", "## Learned rules", "- new") == "# A\n\n## Learned rules\n\n- new\n"


def test_an_empty_section_gets_its_list() -> None:
    assert outline.with_bullet(TEXT, "four", "- new") == TEXT + "\n- new\n"


def test_a_bullet_goes_behind_the_list_also_where_prose_follows() -> None:
    text = "## Rules\n\n- a\n  more\n\n  and more\n\nProse.\n"
    assert outline.with_bullet(text, "Rules", "- new") == text.replace("and more\n", "and more\n- new\n")


def test_a_bullet_is_not_lost_in_a_fence_left_open() -> None:
    text = "# A\n\n```\nopen\n"
    after = outline.with_bullet(text, "Rules", "- new")
    assert after == "# A\n\n## Rules\n\n- new\n\n```\nopen\n"
    assert outline.with_bullet(after, "Rules", "- newer") == after.replace("- new\n", "- new\n- newer\n")


def test_crlf_and_a_missing_final_newline_are_minded() -> None:
    text = "# A\r\n\r\nB\r\n---\r\n- x"
    assert [(row.title, row.line, row.after) for row in outline.headings(text)] == [("A", 0, 1), ("B", 2, 4)]
    assert outline.with_bullet(text, "B", "- new") == text + "\r\n- new\r\n"


def test_a_heading_of_several_lines_begins_at_its_first() -> None:
    assert [row[:] for row in outline.headings("x\n\nName\nName two\n===\n")] == [(1, "Name\nName two", 2, 5)]


def test_a_section_is_found_by_its_words_in_any_case() -> None:
    assert outline.section(TEXT, "## three") == (17, 18, 23)
    assert outline.section(TEXT, "quoted") is None


@pytest.mark.parametrize(
    "text",
    [
        "# a" + " " * 200_000 + "b\n",
        "[" * 200_000,
        "`" * 200_000,
        ">" * 5_000,
        "- " * 5_000,
        "<" * 200_000,
        "a\n" * 60_000,
    ],
    ids=["gap", "brackets", "ticks", "quotes", "lists", "tags", "paragraph"],
)
def test_hostile_text_costs_little_time(text: str) -> None:
    start = time.process_time()
    found = outline.headings(f"# Top\n\n{text}\n")
    assert (found[0].title, time.process_time() - start < 2) == ("Top", True)


ODD = st.sampled_from(
    [
        "# A", "## B ##", "  ### C", "#D", "    # code", "E", "===", "---", "", "- # x", "> # y", "```", "~~~ md",
        "<div>", "<!-- # z", "-->", "| a |", "1. # n", "\t# t", "# ", "[l]: /x", "* * *", "F  ", "E two",
    ]
)  # fmt: skip


@given(st.lists(ODD, max_size=14))
def test_headings_are_those_that_the_markdown_parser_sees(rows: list[str]) -> None:
    text = "\n".join(["x", "", *rows])
    tokens = mistune.create_markdown(renderer="ast")(text)
    assert not isinstance(tokens, str)
    levels = [token["attrs"]["level"] for token in tokens if token["type"] == "heading"]
    found = outline.headings(text)
    assert [row.level for row in found] == levels
    lines = [line.strip() for line in text.split("\n")]
    assert all(row.title.split("\n")[0].strip() in lines[row.line] for row in found)


def test_a_huge_text_is_refused() -> None:
    with pytest.raises(UnableError):
        outline.headings("x" * (257 << 10))


LINES = st.lists(
    st.sampled_from(["# A", "## Learned rules", "text", "", "- item", "```", "---", "    code", "> q"]), max_size=12
)


@given(LINES)
def test_adding_a_bullet_only_adds_lines(lines: list[str]) -> None:
    text = "".join(line + "\n" for line in lines)
    new = split_lines(outline.with_bullet(text, "Learned rules", "- new <!-- x -->"))
    rest = iter(new)
    assert all(line in rest for line in split_lines(text))
    assert "- new <!-- x -->\n" in new
    assert len(new) <= len(lines) + 5
