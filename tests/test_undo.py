"""Undo: lessons, documents and targets go back together, and nobody's later work is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run, git

RULE = "Stage files by name."
SLUG = "stage-files-by-name"


def files(memory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in memory.iterdir()}


@pytest.fixture
def noted(memory: Path, repo: Path, learnloop: Run) -> Path:
    learnloop("note", RULE, "--run", "r1", cwd=repo)
    return memory


def test_all_commits_of_the_last_command_go_back_together(noted: Path, repo: Path, learnloop: Run) -> None:
    """Design §6: a sighting and its graduation carry one command id."""
    before = files(noted)
    learnloop("note", RULE, "--run", "r2", cwd=repo)
    assert learnloop("undo", cwd=repo).code == 0
    assert files(noted) == before
    assert git(repo, "status", "--porcelain") == ""


def test_a_second_undo_goes_one_command_further_back(memory: Path, repo: Path, learnloop: Run) -> None:
    before = files(memory)
    learnloop("note", RULE, cwd=repo)
    learnloop("pin", SLUG, cwd=repo)
    learnloop("undo", cwd=repo)
    learnloop("undo", cwd=repo)
    assert files(memory) == before


def test_an_undo_is_undone_by_its_commit(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("pin", SLUG, cwd=repo)
    pinned = files(noted)
    commit = learnloop("undo", "--json", cwd=repo).json["commits"][0]
    assert learnloop("undo", commit[:10], cwd=repo).code == 0
    assert files(noted) == pinned


def test_a_lesson_s_last_change_goes_back_by_its_name(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("pin", SLUG, cwd=repo)
    learnloop("note", "Brew tea first.", cwd=repo)
    learnloop("undo", SLUG, cwd=repo)
    assert "pinned" not in (noted / f"{SLUG}.md").read_text()
    assert (noted / "brew-tea-first.md").exists()


def test_later_changes_of_other_lines_are_kept(noted: Path, repo: Path, learnloop: Run) -> None:
    commit = learnloop("confirm", SLUG, "--run", "c1", "--json", cwd=repo).json["commits"][0]
    learnloop("dispute", SLUG, "--run", "d1", cwd=repo)
    ran = learnloop("undo", commit, cwd=repo)
    text = (noted / f"{SLUG}.md").read_text()
    assert (ran.code, "c1" in text, "d1" in text) == (0, False, True)


def test_what_cannot_be_taken_back_is_refused_and_nothing_changes(noted: Path, repo: Path, learnloop: Run) -> None:
    path = noted / f"{SLUG}.md"
    path.write_text(path.read_text().replace(RULE, "Stage every file by its name."))
    commit = learnloop("sync", "--json", cwd=repo).json["commits"][0]
    path.write_text(path.read_text().replace("Stage every file by its name.", "Name each file you stage."))
    learnloop("sync", cwd=repo)
    before, head = files(noted), git(repo, "rev-parse", "HEAD")
    ran = learnloop("undo", commit, cwd=repo)
    assert (ran.code, ran.err.count("\n"), files(noted), git(repo, "rev-parse", "HEAD")) == (4, 1, before, head)


def test_hand_edits_absorbed_on_the_way_stay(noted: Path, repo: Path, learnloop: Run) -> None:
    path = noted / f"{SLUG}.md"
    path.write_text(path.read_text() + "\nA thought of Bo's.\n")
    learnloop("pin", SLUG, cwd=repo)
    learnloop("undo", cwd=repo)
    text = path.read_text()
    assert ("A thought of Bo's." in text, "pinned" in text) == (True, False)


def test_codify_goes_back_with_its_target(noted: Path, repo: Path, learnloop: Run) -> None:
    (repo / "CLAUDE.md").write_text("# House\n\nRules.\n")
    git(repo, "add", "CLAUDE.md")
    git(repo, "commit", "-q", "-m", "Rules")
    before = files(noted)
    assert learnloop("codify", SLUG, cwd=repo).code == 0
    assert RULE in (repo / "CLAUDE.md").read_text()
    learnloop("undo", cwd=repo)
    assert ((repo / "CLAUDE.md").read_text(), files(noted)) == ("# House\n\nRules.\n", before)


def test_nothing_to_undo_is_one_line(memory: Path, repo: Path, learnloop: Run) -> None:
    ran = learnloop("undo", "nobody", cwd=repo)
    assert (ran.code, ran.err.count("\n")) == (4, 1)


def test_the_log_tells_commits_without_trailers_by_what_changed(noted: Path, repo: Path, learnloop: Run) -> None:
    """Design §6: amended and hand-made commits tell as much."""
    path = noted / f"{SLUG}.md"
    path.write_text(path.read_text().replace("state: candidate", "state: current"))
    git(repo, "commit", "-q", "-am", "By hand")
    git(repo, "commit", "-q", "--amend", "-m", "Amended by hand")
    found = learnloop("log", "--json", cwd=repo).json["commits"][0]
    assert (found["change"], found["slugs"], found["subject"]) == ("graduate", [SLUG], "Amended by hand")
