"""Finding the memory: the order of design §2, with Claude Code's own rules as measured."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from learnloop_md import claude, place
from learnloop_md.errors import UnableError
from tests.conftest import Run, git


def memory_at(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "MEMORY.md").write_text("# Memory\n")
    return folder


def skill_at(folder: Path) -> Path:
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: A skill.\n---\n")
    (folder / "references" / "memory.md").write_text("## Candidate Patterns\n")
    return folder


def settings(path: Path, directory: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"autoMemoryDirectory": directory}))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/u/proj", "-home-u-proj"),
        ("/home/u/my_proj", "-home-u-my-proj"),
        ("/home/u/my.proj", "-home-u-my-proj"),
        ("/home/u/proj/.worktrees/a", "-home-u-proj--worktrees-a"),
        ("/home/u/新聞", "-home-u---"),
        ("/home/u/😀", "-home-u---"),
    ],
)
def test_a_project_s_name_is_claude_s(path: str, name: str) -> None:
    """R001-80: every UTF-16 unit but A-Z a-z 0-9 becomes one dash."""
    assert claude.project_id(Path(path)) == name


def test_a_long_name_is_cut_and_hashed() -> None:
    """R001-80: over 200 characters, the first 200 and a hash of the path in base 36."""
    name = claude.project_id(Path("/" + "a" * 250))
    assert name.startswith("-" + "a" * 199 + "-")
    assert len(name) <= 207


def test_an_option_wins_over_everything(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEARNLOOP_MEMORY", str(memory_at(tmp_path / "env")))
    given = memory_at(tmp_path / "given")
    found = place.find(repo, str(given))
    assert (found.folder, found.chosen_by) == (given, "--memory")


def test_the_environment_wins_over_settings(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / ".learnloop.toml").write_text('memory = "docs/memory"\n')
    memory_at(repo / "docs" / "memory")
    monkeypatch.setenv("LEARNLOOP_MEMORY", str(memory_at(tmp_path / "env")))
    assert place.find(repo).chosen_by == "LEARNLOOP_MEMORY"


def test_the_setting_wins_over_a_skill(repo: Path) -> None:
    (repo / ".learnloop.toml").write_text('memory = "docs/memory"\n')
    memory_at(repo / "docs" / "memory")
    assert place.find(skill_at(repo / "skills" / "brew")).folder == repo / "docs" / "memory"


def test_the_nearest_skill_wins_over_the_project(repo: Path) -> None:
    memory_at(repo / ".claude" / "memory")
    skill = skill_at(repo / "skills" / "brew")
    found = place.find(skill / "references")
    assert (found.folder, found.kind, found.document) == (skill / "references", "skill", "memory.md")
    assert "brew" in found.chosen_by


def test_local_settings_win_over_the_project_s_and_the_user_s(repo: Path, tmp_path: Path) -> None:
    """R001-80, measured: local > project > user."""
    local, shared, user = (memory_at(tmp_path / name) for name in ("local", "shared", "user"))
    settings(Path(os.environ["HOME"]) / ".claude" / "settings.json", str(user))
    assert place.find(repo).folder == user
    settings(repo / ".claude" / "settings.json", str(shared))
    assert place.find(repo).folder == shared
    settings(repo / ".claude" / "settings.local.json", str(local))
    assert place.find(repo).folder == local


@pytest.mark.parametrize("ignored", ["docs/memory", "./x", "/", "~"])
def test_directories_that_claude_ignores_are_ignored(repo: Path, ignored: str) -> None:
    memory_at(repo / "docs" / "memory")
    settings(repo / ".claude" / "settings.json", ignored)
    assert place.project_folder(repo, None)[1] == "Claude Code's own directory for this project"


def test_the_configuration_folder_moves_claude_s_directory(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    folder = memory_at(tmp_path / "config" / "projects" / claude.project_id(repo) / "memory")
    assert place.find(repo).folder == folder
    monkeypatch.setenv("CLAUDE_CODE_PROJECT_DIR_NAME", "mine")
    named = memory_at(tmp_path / "config" / "projects" / "mine" / "memory")
    assert place.find(repo).folder == named


def test_a_subdirectory_means_the_repository(memory: Path, repo: Path) -> None:
    (repo / "src" / "deep").mkdir(parents=True)
    assert place.find(repo / "src" / "deep").folder == memory


def test_a_linked_worktree_means_the_main_checkout(memory: Path, repo: Path, tmp_path: Path, learnloop: Run) -> None:
    """Design §6: written there, queued, nobody's other checkout moves."""
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    head = git(repo, "rev-parse", "HEAD")
    ran = learnloop("note", "Brew tea first.", "--json", cwd=tmp_path / "tree")
    assert (ran.code, ran.json["queued"]) == (0, True)
    assert (memory / "brew-tea-first.md").exists()
    assert git(repo, "rev-parse", "HEAD") == head


def test_a_fresh_clone_finds_the_repository_s_memory(memory: Path, repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repo), "clone")
    assert place.find(tmp_path / "clone").folder == tmp_path / "clone" / ".claude" / "memory"


def test_no_memory_is_told_with_the_place_tried(repo: Path, learnloop: Run) -> None:
    ran = learnloop("status", cwd=repo)
    assert (ran.code, ran.err.count("\n")) == (4, 1)
    assert str(Path(os.environ["HOME"]) / ".claude" / "projects") in ran.err
    assert "learnloop init" in ran.err


@pytest.mark.parametrize("name", ["nowhere", "app.py", "empty"])
def test_what_is_no_memory_is_refused(repo: Path, name: str) -> None:
    (repo / "empty").mkdir()
    with pytest.raises(UnableError):
        place.find(repo, name)


@pytest.mark.parametrize("name", [".", "README.md", "f.txt"])
def test_a_folder_with_other_markdown_is_no_memory(repo: Path, memory: Path, learnloop: Run, name: str) -> None:
    """design §2: a memory has a document, or lessons; the one below the folder is named."""
    (repo / "README.md").write_text("# Project\n")
    (repo / "f.txt").write_text("x\n")
    done = learnloop("note", "Root rule.", "--memory", name, "--json")
    assert (done.code, done.json["error"]["code"]) == (4, "no-memory")
    assert name == "f.txt" or str(memory) in done.json["error"]["hint"]
    assert not (repo / "MEMORY.md").exists()


def test_a_memory_that_lost_its_document_is_one(memory: Path, learnloop: Run) -> None:
    """design §4: a document that is lost is rebuilt."""
    assert learnloop("note", "Root rule.").code == 0
    (memory / "MEMORY.md").unlink()
    assert learnloop("note", "Other rule.", "--memory", str(memory)).code == 0
    assert "root-rule.md" in (memory / "MEMORY.md").read_text()


def test_a_linked_folder_is_refused(repo: Path, tmp_path: Path) -> None:
    """Design §11: Claude refuses to write through one."""
    (repo / "link").symlink_to(memory_at(tmp_path / "real"))
    with pytest.raises(UnableError) as caught:
        place.find(repo, "link")
    assert caught.value.code == "symlink-escape"


def test_status_says_which_memory_and_why(memory: Path, repo: Path, learnloop: Run) -> None:
    said = learnloop("status", "--json", cwd=repo).json
    assert (said["memory"], said["kind"]) == (str(memory), "project")
    assert said["chosen_by"] == "autoMemoryDirectory in the local settings"


def test_the_hash_of_a_long_name_is_that_of_the_whole_path() -> None:
    """R001-80, measured: int32 hash h * 31 + unit over the path before its cut, absolute, in base 36."""
    path = "/" + "/".join("abcdefghij" * 2 for _ in range(12))
    hashed = 0
    for char in path:
        hashed = (hashed * 31 + ord(char) + 2**31) % 2**32 - 2**31
    tail = claude.project_id(Path(path)).rpartition("-")[2]
    assert int(tail, 36) == abs(hashed)


def test_the_folder_s_name_counts_only_with_the_configuration_folder(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured: CLAUDE_CODE_PROJECT_DIR_NAME alone is ignored."""
    monkeypatch.setenv("CLAUDE_CODE_PROJECT_DIR_NAME", "mine")
    assert claude.project_id(repo) != "mine"


def test_a_submodule_has_a_memory_of_its_own(repo: Path, tmp_path: Path, memory: Path) -> None:
    """Measured: the inner repository's root names the memory, not the outer one's."""
    git(tmp_path, "clone", "-q", str(repo), "inner")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "inner"), "sub")
    assert place.find(repo / "sub").folder == repo / "sub" / ".claude" / "memory"


def test_a_worktree_s_change_is_committed_from_the_main_checkout(
    memory: Path, repo: Path, tmp_path: Path, learnloop: Run
) -> None:
    """Design §6: queued in the main checkout, where the next command commits it with its own message."""
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    learnloop("note", "Brew tea first.", cwd=tmp_path / "tree")
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s") == "learnloop: note brew-tea-first"
    assert git(tmp_path / "tree", "status", "--short") == ""


def test_a_worktree_of_a_bare_repository_commits_on_its_own_branch(
    repo: Path, memory: Path, tmp_path: Path, learnloop: Run
) -> None:
    """There is no main checkout that could move under its user."""
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "tree"), "main")
    ran = learnloop("note", "Brew tea first.", "--json", cwd=tmp_path / "tree")
    assert (ran.code, ran.json["queued"]) == (0, False)


def test_a_setting_that_names_no_folder_is_told_with_the_place(repo: Path, learnloop: Run) -> None:
    (repo / ".learnloop.toml").write_text('memory = "docs/memory"\n')
    ran = learnloop("status", cwd=repo)
    assert (ran.code, ran.err.count("\n"), str(repo / "docs" / "memory") in ran.err) == (4, 1, True)


def test_a_setting_that_leads_out_is_refused(repo: Path, learnloop: Run) -> None:
    """A cloned repository's settings must not point the tool at another project."""
    memory_at(repo.parent / "other")
    (repo / ".learnloop.toml").write_text('memory = "../other"\n')
    assert learnloop("status", cwd=repo).code == 2
