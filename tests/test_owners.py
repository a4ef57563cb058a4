"""CODEOWNERS as GitHub documents it: patterns of gitignore, the last one that matches wins."""

from __future__ import annotations

import pytest

from learnloop_md import owners
from learnloop_md.owners import Owners

EXAMPLE = """\
# everything
*       @o/all
*.js    @o/js # a comment
/build/logs/ @o/logs
docs/*  docs@example.invalid
apps/   @o/apps
/scripts/ @o/one @o/two
**/deep @o/deep
/open/
/open/kept
/with\\ space/ @o/space
!no @o/never
[ab] @o/never
/skills/*/references/memory.md @o/reviewers
/.claude @o/leads
"""


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("README.md", ("@o/all",)),
        ("src/x.js", ("@o/js",)),
        ("build/logs/a/b.txt", ("@o/logs",)),
        ("x/build/logs/a.txt", ("@o/all",)),
        ("docs/a.md", ("docs@example.invalid",)),
        ("docs/build/a.md", ("@o/all",)),
        ("x/apps/y/z", ("@o/apps",)),
        ("apps", ("@o/all",)),
        ("scripts/a", ("@o/one", "@o/two")),
        ("x/deep/y", ("@o/deep",)),
        ("open/a", ()),
        ("with space/a", ("@o/space",)),
        ("no", ("@o/all",)),
        ("a", ("@o/all",)),
        ("skills/review/references/memory.md", ("@o/reviewers",)),
        ("skills/a/b/references/memory.md", ("@o/all",)),
        (".claude/memory/a.md", ("@o/leads",)),
        (".claude-more/a.md", ("@o/all",)),
    ],
)
def test_the_last_pattern_that_matches_names_the_owners(path: str, wanted: tuple[str, ...]) -> None:
    assert Owners(EXAMPLE).of(path) == wanted


def test_a_rule_tells_its_line_and_whether_it_guards_anything() -> None:
    known = Owners(EXAMPLE)
    rule = known.rule("README.md")
    assert rule is not None
    assert (rule.line, rule.is_catch_all) == (2, True)
    other = known.rule(".claude/memory/a.md")
    assert other is not None
    assert not other.is_catch_all


def test_the_file_is_looked_for_where_github_looks() -> None:
    texts = {"docs/CODEOWNERS": "* @docs", "CODEOWNERS": "* @root", ".github/CODEOWNERS": "* @hub"}
    for name in (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"):
        found = owners.read(texts.get)
        assert found is not None
        assert found.of("x") == (texts.pop(name).removeprefix("* "),)
    assert owners.read(texts.get) is None


def test_a_pattern_that_was_made_to_take_long_takes_no_longer() -> None:
    """A comparison of a stranger's repository must end."""
    text = "/" + "*a" * 60 + "c @o/x\n" + "**/" * 60 + "z @o/y\n"
    assert Owners(text).of("a" * 400 + "/" + "a/" * 200 + "b") == ()
