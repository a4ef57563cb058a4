"""Headings and sections of skills and guides."""

from __future__ import annotations

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
