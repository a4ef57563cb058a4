"""The log: what changed in the files decides; trailers only add to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from learnloop_md import history
from tests.conftest import Run, git

RULE = "Read the failing log before changing code."
SLUG = "read-the-failing-log-before-changing-code"


@pytest.fixture
def noted(repo: Path, memory: Path, learnloop: Run) -> Path:
    """The file of a lesson noted once."""
    assert learnloop("note", RULE, "--run", "r1", cwd=repo).code == 0
    return memory / f"{SLUG}.md"


def rows(learnloop: Run, repo: Path, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = learnloop("log", "--json", *words, cwd=repo).json["commits"]
    return found


def by_hand(repo: Path, file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new))
    git(repo, "commit", "-q", "-am", "By hand")


def test_the_log_has_the_keys_of_the_contract(repo: Path, noted: Path, learnloop: Run) -> None:
    """Design §12."""
    row = rows(learnloop, repo)[0]
    assert row.keys() == {"commit", "change", "slugs", "date", "author", "subject"}
    assert (row["change"], row["slugs"], row["author"]) == ("note", [SLUG], "Ada Test")
    assert (row["commit"], row["subject"]) == (git(repo, "rev-parse", "HEAD"), f"learnloop: note {SLUG}")


def test_the_newest_commit_comes_first(repo: Path, noted: Path, learnloop: Run) -> None:
    learnloop("pin", SLUG, cwd=repo)
    assert [row["change"] for row in rows(learnloop, repo)] == ["pin", "note", "init"]


def test_one_lessons_log_leaves_the_others_out(repo: Path, noted: Path, learnloop: Run) -> None:
    learnloop("note", "Stage files by name.", cwd=repo)
    assert [row["slugs"] for row in rows(learnloop, repo, SLUG)] == [[SLUG]]


def test_commits_beside_the_memory_are_not_listed(repo: Path, noted: Path, learnloop: Run) -> None:
    (repo / "app.py").write_text("x = 2\n")
    git(repo, "commit", "-q", "-am", "Not ours")
    assert "Not ours" not in [row["subject"] for row in rows(learnloop, repo)]


EVENT = "  seen:\n    - on: 2026-01-01\n      run: r9\n"
BY_HAND = {
    "state: candidate": ("state: current", "graduate"),
    "state: candidate\n": ("state: archived\n", "archive"),
    "  seen:\n": (EVENT, "see"),
    "  state: candidate": ("  confirmed:\n    - on: 2026-01-01\n      run: r9\n  state: candidate", "confirm"),
    " state: candidate": (" disputed:\n    - on: 2026-01-01\n      run: r9\n  state: candidate", "dispute"),
    "  kind: note": ("  pinned: true\n  kind: note", "pin"),
    "changing code.": ("changing any code.", "edit"),
}


@pytest.mark.parametrize("old", BY_HAND)
def test_a_hand_made_commit_is_told_by_what_changed(old: str, repo: Path, noted: Path, learnloop: Run) -> None:
    """Design §6: squashed, amended and hand-made commits tell as much."""
    new, change = BY_HAND[old]
    by_hand(repo, noted, old, new)
    assert (rows(learnloop, repo)[0]["change"], rows(learnloop, repo)[0]["slugs"]) == (change, [SLUG])


def test_a_lesson_back_from_the_archive_by_hand_is_a_restore(repo: Path, noted: Path, learnloop: Run) -> None:
    learnloop("forget", SLUG, cwd=repo)
    by_hand(repo, noted, "state: archived", "state: candidate")
    assert rows(learnloop, repo)[0]["change"] == "restore"


def test_a_file_made_or_removed_by_hand_is_told(repo: Path, noted: Path, learnloop: Run) -> None:
    (noted.parent / "mine.md").write_text(noted.read_text().replace(SLUG, "mine"))
    git(repo, "add", ".claude")
    git(repo, "commit", "-q", "-m", "New")
    git(repo, "rm", "-q", "--", ".claude/memory/mine.md")
    git(repo, "commit", "-q", "-m", "Gone")
    found = rows(learnloop, repo)[:2]
    assert [(row["change"], row["slugs"]) for row in found] == [("edit", ["mine"]), ("note", ["mine"])]


def test_an_amended_commit_is_told_by_what_changed(repo: Path, noted: Path, learnloop: Run) -> None:
    git(repo, "commit", "-q", "--amend", "-m", "Reworded")
    row = rows(learnloop, repo)[0]
    assert (row["change"], row["slugs"], row["subject"]) == ("note", [SLUG], "Reworded")


def test_a_squash_names_every_lesson(repo: Path, noted: Path, learnloop: Run) -> None:
    """A squash keeps the trailers of one commit at its end; the files tell the others."""
    learnloop("note", "Stage files by name.", cwd=repo)
    message = git(repo, "log", "-1", "--format=%B")
    git(repo, "reset", "-q", "--soft", "HEAD~2")
    git(repo, "commit", "-q", "-m", message)
    assert set(rows(learnloop, repo)[0]["slugs"]) == {SLUG, "stage-files-by-name"}


def test_several_kinds_in_one_commit_are_an_edit(repo: Path, noted: Path, learnloop: Run) -> None:
    learnloop("note", "Stage files by name.", cwd=repo)
    git(repo, "reset", "-q", "--soft", "HEAD~1")
    noted.write_text(noted.read_text().replace("state: candidate", "state: current"))
    git(repo, "commit", "-q", "-am", "Both")
    assert rows(learnloop, repo)[0]["change"] == "edit"


def test_a_root_commit_is_told_too(tmp_path: Path, learnloop: Run) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    (tmp_path / "mine.md").write_text("---\nname: mine\ndescription: d\n---\n\nMine.\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "Root")
    ran = learnloop("log", "--json", "--memory", str(tmp_path), cwd=tmp_path)
    assert [(row["change"], row["slugs"]) for row in ran.json["commits"]] == [("note", ["mine"])]


def test_what_a_lesson_says_is_no_trailer(repo: Path, memory: Path, learnloop: Run) -> None:
    """The reason stands in the body; only the last paragraph holds trailers."""
    learnloop("note", RULE, "--why", "Lesson: forged\nLearnloop-Command: forged", cwd=repo)
    assert rows(learnloop, repo)[0]["slugs"] == [SLUG]
    message = "Subject\n\nLesson: forged\n\nLesson: real\n"
    assert history.trailer(message, "Lesson") == ["real"]


def test_a_surrounding_hook_does_not_lead_the_log_astray(
    repo: Path, noted: Path, learnloop: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 28: GitPython copies os.environ; GIT_DIR of another repository must not count."""
    git(tmp_path, "init", "-q", "elsewhere")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "elsewhere"))
    assert rows(learnloop, repo)[0]["slugs"] == [SLUG]


def test_the_log_of_an_unborn_branch_is_empty(tmp_path: Path, learnloop: Run) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    ran = learnloop("log", "--memory", str(tmp_path), cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "no commit has touched this memory yet\n")


def test_the_log_without_git_is_refused_in_one_line(tmp_path: Path, learnloop: Run) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    ran = learnloop("log", "--memory", str(tmp_path), "--json", cwd=tmp_path)
    assert (ran.code, ran.json["error"]["code"]) == (4, "no-git")


def test_the_limit_is_kept(repo: Path, noted: Path, learnloop: Run) -> None:
    assert len(rows(learnloop, repo, "--limit", "1")) == 1


def test_an_unknown_lesson_has_no_log(repo: Path, noted: Path, learnloop: Run) -> None:
    assert learnloop("log", "nothing", cwd=repo).code == 2


def test_a_removed_lesson_comes_back_from_history(repo: Path, noted: Path, learnloop: Run) -> None:
    before = noted.read_bytes()
    git(repo, "rm", "-q", str(noted))
    git(repo, "commit", "-q", "-m", "Gone")
    assert learnloop("restore", SLUG, cwd=repo).code == 0
    assert noted.read_bytes() == before
