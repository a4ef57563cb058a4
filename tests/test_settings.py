"""Settings: every threshold, over the user's own, over the defaults."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from learnloop_md import settings
from learnloop_md.errors import UsageError
from tests.conftest import Run


def user(text: str) -> None:
    path = Path(os.environ["HOME"]) / ".config" / "learnloop" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert settings.load([tmp_path]) == settings.Settings()


def test_the_repository_s_file_lies_over_the_user_s(tmp_path: Path) -> None:
    """Design §2."""
    user("stale_days = 7\ncandidates_due = 3\n")
    (tmp_path / ".learnloop.toml").write_text("stale_days = 21\n")
    found = settings.load([tmp_path])
    assert (found.stale_days, found.candidates_due, found.active_cap) == (21, 3, 200)


def test_pyproject_serves_where_there_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.learnloop]\nprivate_types = ["user", "project"]\n')
    assert settings.load([tmp_path]).private_types == ("user", "project")


@pytest.mark.parametrize("text", ["[[tool.learnloop]]\nstale_days = 3\n", "[tool.learnloop]\nstale = 3\n"])
def test_a_wrong_table_in_pyproject_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError) as refused:
        settings.load([tmp_path])
    assert str(tmp_path / "pyproject.toml") in refused.value.message


def test_an_own_file_lies_over_pyproject_key_by_key(tmp_path: Path) -> None:
    """`init` writes `adopted` into a file of ours; what the project had set stays in force."""
    (tmp_path / "pyproject.toml").write_text("[tool.learnloop]\nstale_days = 3\ncandidates_due = 9\n")
    (tmp_path / ".learnloop.toml").write_text('adopted = ["a"]\ncandidates_due = 7\n')
    found = settings.load([tmp_path])
    assert (found.stale_days, found.candidates_due, found.adopted) == (3, 7, ("a",))


def test_the_first_root_that_says_anything_counts(tmp_path: Path) -> None:
    roots = [tmp_path / name for name in ("skill", "repo", "other")]
    for root, days in zip(roots[1:], (21, 28), strict=True):
        root.mkdir()
        (root / ".learnloop.toml").write_text(f"stale_days = {days}\n")
    assert settings.load(roots).stale_days == 21


def test_another_tool_s_pyproject_is_not_even_parsed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("this is not TOML")
    assert settings.load([tmp_path]) == settings.Settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stale_day = 3\n", "unknown setting 'stale_day'"),
        ("stale_days = 'x'\n", "whole number above 0"),
        ("stale_days = 0\n", "whole number above 0"),
        ("stale_days = true\n", "whole number above 0"),
        ("facts_graduate = 1\n", "truth value"),
        ("adopted = 'a'\n", "list of texts"),
        ('private_types = ["friend"]\n', "friend"),
        ("stale_days = \n", "not valid TOML"),
    ],
)
def test_a_wrong_setting_is_one_line_naming_the_file(
    memory: Path, repo: Path, learnloop: Run, text: str, said: str
) -> None:
    (repo / ".learnloop.toml").write_text(text)
    ran = learnloop("status", cwd=repo)
    assert (ran.code, said in ran.err, ".learnloop.toml" in ran.err, ran.err.count("\n")) == (2, True, True, 1)


def test_a_threshold_is_in_force(memory: Path, repo: Path, learnloop: Run) -> None:
    (repo / ".learnloop.toml").write_text("candidates_due = 1\n")
    learnloop("note", "Brew tea first.", cwd=repo)
    assert learnloop("cleanup", "--check", cwd=repo).code == 1


def test_what_the_user_keeps_back_no_repository_gives_away(tmp_path: Path) -> None:
    """docs/security.md: a commit of others must not make private lessons public, nor end a person's distrust."""
    user('private_types = ["user", "project"]\ntrust = "own"\n')
    (tmp_path / ".learnloop.toml").write_text('private_types = ["reference"]\ntrust = "merged"\n')
    found = settings.load([tmp_path])
    assert (found.private_types, found.trust) == (("user", "project", "reference"), "own")
