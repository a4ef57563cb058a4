"""A memory that was removed by a slip: git has it, and no command seals the loss."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import Run, git
from tests.homes import Home, make_home


@pytest.fixture
def held(memory: Path, repo: Path, learnloop: Run) -> Path:
    """A committed memory of two lessons and a value."""
    learnloop("note", "Stage files by name.", cwd=repo)
    learnloop("note", "Brew tea first.", cwd=repo)
    learnloop("state", "set", "count", "1", cwd=repo)
    return memory


def files(memory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in memory.iterdir()}


@pytest.mark.parametrize("words", [("status",), ("sync",), ("note", "Warm the cup."), ("init",), ("init", "--yes")])
def test_a_removed_memory_is_brought_back_by_the_command_that_is_named(
    held: Path, repo: Path, learnloop: Run, words: tuple[str, ...]
) -> None:
    before, head = files(held), git(repo, "rev-parse", "HEAD")
    shutil.rmtree(held)
    ran = learnloop(*words, cwd=repo)
    assert (ran.code, ran.err.count("\n"), "git checkout HEAD -- .claude/memory" in ran.err) == (4, 1, True), ran.err
    assert (git(repo, "rev-parse", "HEAD"), held.exists()) == (head, False)
    git(repo, "checkout", "HEAD", "--", ".claude/memory")
    assert files(held) == before
    assert "in step" in learnloop("sync", cwd=repo).out


@pytest.mark.parametrize("way", [("merge", "-q", "--no-edit", "side"), ("merge", "-q", "--squash", "side")])
def test_a_lesson_that_goes_with_commits_from_elsewhere_is_named_once_and_comes_back_whole(
    held: Path, repo: Path, learnloop: Run, way: tuple[str, ...]
) -> None:
    """Design §6: nothing is lost silently, and what comes back is the newest that any branch had."""
    git(repo, "checkout", "-q", "-b", "side")
    (held / "brew-tea-first.md").unlink()
    learnloop("sync", cwd=repo)
    git(repo, "checkout", "-q", "main")
    assert "gone" not in learnloop("sync", cwd=repo).err
    learnloop("confirm", "stage-files-by-name", cwd=repo)
    git(repo, *way)
    git(repo, "commit", "-q", "--allow-empty", "-m", "Squash")
    told = "gone with the last commits: brew-tea-first; learnloop restore brew-tea-first brings it back"
    assert told in learnloop("sync", cwd=repo).err
    assert "gone" not in learnloop("sync", cwd=repo).err
    assert learnloop("restore", "brew-tea-first", cwd=repo).code == 0
    assert "Brew tea first." in (held / "brew-tea-first.md").read_text()


@pytest.mark.parametrize("words", [("rename", "brew-tea-first", "tea"), ("archive", "brew-tea-first")])
def test_a_lesson_whose_file_was_just_removed_is_named_with_the_way_back(
    held: Path, repo: Path, learnloop: Run, words: tuple[str, ...]
) -> None:
    (held / "brew-tea-first.md").unlink()
    ran = learnloop(*words, cwd=repo)
    assert (ran.code, "learnloop restore brew-tea-first brings it back" in ran.err) == (2, True), ran.err
    assert learnloop("restore", "brew-tea-first", cwd=repo).code == 0


def test_a_lesson_of_a_merge_that_was_given_up_is_not_gone(held: Path, repo: Path, learnloop: Run) -> None:
    """No commit here ever had it."""
    git(repo, "checkout", "-q", "-b", "side")
    learnloop("note", "Warm the cup.", cwd=repo)
    git(repo, "checkout", "-q", "main")
    git(repo, "commit", "-q", "--allow-empty", "-m", "Go on")
    git(repo, "merge", "-q", "--no-commit", "--no-ff", "side")
    assert learnloop("confirm", "brew-tea-first", cwd=repo).code == 0
    git(repo, "merge", "--abort")
    assert "gone" not in learnloop("sync", cwd=repo).err


def test_a_lesson_that_is_renamed_elsewhere_is_not_gone(held: Path, repo: Path, learnloop: Run) -> None:
    git(repo, "checkout", "-q", "-b", "side")
    learnloop("rename", "brew-tea-first", "tea", cwd=repo)
    git(repo, "mv", ".claude/memory/stage-files-by-name.md", ".claude/memory/staging.md")
    git(repo, "commit", "-q", "-m", "Rename by hand")
    git(repo, "checkout", "-q", "main")
    learnloop("sync", cwd=repo)
    git(repo, "merge", "-q", "side")
    assert "gone" not in learnloop("sync", cwd=repo).err


def test_the_way_back_is_told_from_below_the_root_too(held: Path, repo: Path, learnloop: Run) -> None:
    shutil.rmtree(held)
    (repo / "src").mkdir()
    assert "git checkout HEAD -- ../.claude/memory" in learnloop("status", cwd=repo / "src").err
    ran = learnloop("status", "--memory", str(held), cwd=repo)
    assert "git checkout HEAD -- .claude/memory" in ran.err


def test_the_way_back_is_told_in_a_linked_worktree_too(held: Path, repo: Path, learnloop: Run) -> None:
    git(repo, "worktree", "add", "-q", "../linked", "-b", "linked")
    shutil.rmtree(held)
    ran = learnloop("status", cwd=repo.parent / "linked")
    assert f"git -C {repo} checkout HEAD -- .claude/memory" in ran.err


def test_a_folder_of_the_setting_is_brought_back_too(repo: Path, learnloop: Run) -> None:
    assert learnloop("init", "--dir", "notes", cwd=repo).code == 0
    shutil.rmtree(repo / "notes")
    for words in (("status",), ("init", "--dir", "notes")):
        ran = learnloop(*words, cwd=repo)
        assert (ran.code, "git checkout HEAD -- notes" in ran.err) == (4, True), ran.err


def test_a_skills_memory_is_brought_back_too(tmp_path: Path, learnloop: Run) -> None:
    home: Home = make_home("skill", tmp_path / "repo", learnloop)
    home.note("Stage files by name.")
    shutil.rmtree(home.folder)
    ran = learnloop("init", "--skill", str(home.folder.parent), cwd=home.root)
    assert (ran.code, "git checkout HEAD -- " in ran.err) == (4, True), ran.err
    assert "git checkout HEAD -- references" in learnloop("status", cwd=home.folder.parent).err


def test_init_begins_anew_once_the_removal_is_committed(held: Path, repo: Path, learnloop: Run) -> None:
    git(repo, "rm", "-q", "-r", ".claude/memory")
    git(repo, "commit", "-q", "-m", "Without a memory")
    assert learnloop("init", cwd=repo).code == 0


def test_all_lessons_at_once_are_not_removed_by_hand(held: Path, repo: Path, learnloop: Run) -> None:
    """Claude may have begun a memory of its own meanwhile."""
    head = git(repo, "rev-parse", "HEAD")
    shutil.rmtree(held)
    held.mkdir()
    (held / "MEMORY.md").write_text("# Memory\n")
    for words in (("sync",), ("note", "Warm the cup.")):
        ran = learnloop(*words, cwd=repo)
        back = "git checkout HEAD -- :/.claude/memory ':!/.claude/memory/MEMORY.md'"
        assert (ran.code, back in ran.err) == (4, True), ran.err
    told = learnloop("status", cwd=repo)
    assert (told.code, back in told.err) == (0, True)
    assert git(repo, "rev-parse", "HEAD") == head
    git(repo, "checkout", "-q", "HEAD", "--", ":/.claude/memory", ":!/.claude/memory/MEMORY.md")
    assert learnloop("sync", cwd=repo).code == 0
    assert "brew-tea-first.md" in (held / "MEMORY.md").read_text()


def test_all_lessons_may_go_by_a_persons_own_commit(held: Path, repo: Path, learnloop: Run) -> None:
    for slug in ("brew-tea-first", "stage-files-by-name"):
        (held / f"{slug}.md").unlink()
    assert learnloop("sync", cwd=repo).code == 4
    git(repo, "commit", "-q", "-a", "-m", "I mean it")
    assert learnloop("sync", cwd=repo).code == 0
    assert not list(held.glob("*-*.md"))


def test_one_lesson_is_removed_by_hand_and_so_is_the_value_file(held: Path, repo: Path, learnloop: Run) -> None:
    (held / "brew-tea-first.md").unlink()
    (held / "memory.json").unlink()
    ran = learnloop("sync", cwd=repo)
    assert (ran.code, "memory.json was removed by hand" in ran.err) == (0, True)
    said = git(repo, "log", "-1", "--format=%b")
    assert "brew-tea-first was removed by hand\nmemory.json was removed by hand" in said


def test_the_last_lesson_may_be_removed_by_hand(held: Path, repo: Path, learnloop: Run) -> None:
    for slug in ("brew-tea-first", "stage-files-by-name"):
        (held / f"{slug}.md").unlink()
        assert learnloop("sync", cwd=repo).code == 0


def test_all_lessons_may_be_renamed_by_hand_at_once(held: Path, repo: Path, learnloop: Run) -> None:
    for slug in ("brew-tea-first", "stage-files-by-name"):
        (held / f"{slug}.md").rename(held / f"{slug}-now.md")
    assert learnloop("sync", cwd=repo).code == 0


# --- all lesson files are gone, the document stands ------------------------------------------------------------------

BACK = "git checkout HEAD -- :/.claude/memory ':!/.claude/memory/MEMORY.md'"


@pytest.fixture
def emptied(held: Path) -> Path:
    for slug in ("brew-tea-first", "stage-files-by-name"):
        (held / f"{slug}.md").unlink()
    return held


@pytest.mark.parametrize("words", [("show",), ("recall", "tea"), ("recall", "tea", "--format", "json"), ("status",)])
def test_what_reads_says_that_all_lessons_are_gone(
    emptied: Path, repo: Path, learnloop: Run, words: tuple[str, ...]
) -> None:
    ran = learnloop(*words, cwd=repo)
    assert (ran.code, BACK in ran.err, BACK in ran.out) == (0, True, False), ran


def test_show_of_a_lesson_that_is_gone_says_so(emptied: Path, repo: Path, learnloop: Run) -> None:
    ran = learnloop("show", "brew-tea-first", cwd=repo)
    assert (ran.code, ran.err.count("\n"), BACK in ran.err) == (4, 1, True), ran.err


@pytest.mark.parametrize("words", [("init",), ("init", "--yes")])
def test_init_does_not_begin_over_lessons_that_are_gone(
    emptied: Path, repo: Path, learnloop: Run, words: tuple[str, ...]
) -> None:
    before, head = files(emptied), git(repo, "rev-parse", "HEAD")
    ran = learnloop(*words, cwd=repo)
    assert (ran.code, ran.err.count("\n"), BACK in ran.err) == (4, 1, True), ran.err
    assert (files(emptied), git(repo, "rev-parse", "HEAD")) == (before, head)
    git(repo, "checkout", "-q", "HEAD", "--", ":/.claude/memory", ":!/.claude/memory/MEMORY.md")
    assert learnloop("init", cwd=repo).code == 0


def test_status_does_not_name_a_sync_that_stops(emptied: Path, repo: Path, learnloop: Run) -> None:
    out = learnloop("status", cwd=repo).out
    assert ("learnloop sync" in out, "git       all 2 lessons that HEAD has are gone" in out) == (False, True), out


def test_init_adopts_lessons_that_were_all_renamed_by_hand(held: Path, repo: Path, learnloop: Run) -> None:
    for slug in ("brew-tea-first", "stage-files-by-name"):
        (held / f"{slug}.md").rename(held / f"{slug}-now.md")
    assert learnloop("init", cwd=repo).code == 0


def test_a_memory_without_lessons_is_not_gone(memory: Path, repo: Path, learnloop: Run) -> None:
    for words in (("show",), ("status",), ("init",)):
        ran = learnloop(*words, cwd=repo)
        assert (ran.code, "gone" in ran.err) == (0, False), ran.err


# --- a sparse checkout without the memory ----------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("status",), ("sync",), ("init",)])
@pytest.mark.parametrize("mode", ["--cone", "--no-cone"])
def test_the_way_back_in_a_sparse_checkout_works(
    held: Path, repo: Path, learnloop: Run, words: tuple[str, ...], mode: str
) -> None:
    before = files(held)
    (repo / "src").mkdir()
    (repo / "src/x.py").write_text("x = 1\n")
    git(repo, "add", "src")
    git(repo, "commit", "-q", "-m", "Code")
    git(repo, "sparse-checkout", "set", mode, "src")
    assert not held.exists()
    ran = learnloop(*words, cwd=repo)
    assert (ran.code, ran.err.count("\n"), "git sparse-checkout add .claude/memory" in ran.err) == (4, 1, True), ran.err
    below = learnloop("status", cwd=repo / "src").err
    assert f"git -C {repo} sparse-checkout add .claude/memory" in below, below
    git(repo, "sparse-checkout", "add", ".claude/memory")
    assert files(held) == before
    assert learnloop("sync", cwd=repo).code == 0


def test_a_memory_that_was_removed_after_a_sparse_checkout_ended_is_checked_out(
    held: Path, repo: Path, learnloop: Run
) -> None:
    git(repo, "sparse-checkout", "set", ".claude")
    git(repo, "sparse-checkout", "disable")
    shutil.rmtree(held)
    assert "git checkout HEAD -- .claude/memory" in learnloop("status", cwd=repo).err
