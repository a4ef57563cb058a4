"""The demonstration: a lesson's whole life in a temporary repository."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Ran, Run, git


@pytest.fixture(scope="module")
def made() -> Iterator[list[tuple[Ran, Path]]]:
    """Where the one run of the demonstration is kept for all tests, which only look at it."""
    kept: list[tuple[Ran, Path]] = []
    yield kept
    for _, root in kept:
        shutil.rmtree(root)


@pytest.fixture
def shown(
    made: list[tuple[Ran, Path]], learnloop: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Ran, Path]:
    """The demonstration's run and the repository it left, without any git identity on the machine."""
    empty = tmp_path / "gitconfig"
    empty.write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(empty))
    if not made:
        ran = learnloop("demo", cwd=tmp_path)
        root = next(line.rsplit(" ", 1)[1] for line in ran.out.splitlines() if line.startswith("A repository"))
        made.append((ran, Path(root)))
    return made[0]


def test_demo_ends_well_and_its_log_tells_the_life(shown: tuple[Ran, Path]) -> None:
    """R002-42: two sightings, a graduation, a cleanup, a codify, an undo, each a commit."""
    ran, root = shown
    subjects = git(root, "log", "--reverse", "--format=%s").splitlines()
    assert ran.code == 0
    assert [" ".join(subject.split()[:2]).rstrip(",") for subject in subjects] == [
        "Add the",
        "learnloop: note",
        "learnloop: see",
        "learnloop: graduate",
        "learnloop: cleanup",
        "learnloop: codify",
        "learnloop: undo",
    ]


def test_demo_codifies_skill_and_memory_in_one_commit(shown: tuple[Ran, Path]) -> None:
    """R002-40, R002-41: SKILL.md, the notebook and the lesson file change together."""
    _, root = shown
    names = git(root, "show", "--format=", "--name-only", "HEAD~1").splitlines()
    assert [Path(name).name for name in names] == [
        "SKILL.md",
        "read-the-down-step-before-approving-a-migration.md",
        "memory.md",
    ]


def test_demo_undo_gives_the_bytes_before_codify(shown: tuple[Ran, Path]) -> None:
    """design §6: undo takes back lesson, document and target together."""
    _, root = shown
    assert git(root, "diff", "--stat", "HEAD~2", "HEAD") == ""
    assert git(root, "status", "--porcelain") == ""


def test_demo_shows_each_diff_and_where_to_look(shown: tuple[Ran, Path]) -> None:
    ran, root = shown
    assert ran.out.count("--- commit ") == 6
    assert "+  state: current" in ran.out
    assert f"rm -r {root}" in ran.out


def test_demo_leaves_a_skill_that_check_finds_nothing_wrong_with(shown: tuple[Ran, Path], learnloop: Run) -> None:
    """R002-60 to R002-63."""
    _, root = shown
    checked = learnloop("check", "--json", cwd=root / ".claude" / "skills" / "pr-review")
    findings: list[dict[str, Any]] = checked.json["findings"]
    assert (checked.code, findings) == (0, [])
