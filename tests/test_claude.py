"""Claude Code's own rules, as measured on the client."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from learnloop_md import claude, repos
from tests.conftest import git


def write(path: Path, **values: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


def loaded(cwd: Path) -> Path | None:
    return claude.loaded_memory(cwd, repos.near(cwd))


def test_the_stronger_settings_name_the_memory(repo: Path) -> None:
    """Measured: local over project over user."""
    write(claude.home() / "settings.json", autoMemoryDirectory="/user")
    assert loaded(repo) == Path("/user")
    write(repo / ".claude" / "settings.json", autoMemoryDirectory="/project")
    assert loaded(repo) == Path("/project")
    write(repo / ".claude" / "settings.local.json", autoMemoryDirectory="/local")
    assert loaded(repo) == Path("/local")


def test_below_the_root_only_the_local_settings_hold(repo: Path) -> None:
    """Measured: the project's settings are read from the working directory alone."""
    (repo / "sub").mkdir()
    write(repo / ".claude" / "settings.json", autoMemoryDirectory="/project")
    assert loaded(repo / "sub") == claude.home() / "projects" / claude.project_id(repo) / "memory"
    write(repo / ".claude" / "settings.local.json", autoMemoryDirectory="/local")
    assert loaded(repo / "sub") == Path("/local")


def test_a_linked_work_tree_has_the_memory_of_the_main_checkout(repo: Path, tmp_path: Path) -> None:
    write(repo / ".claude" / "settings.local.json", autoMemoryDirectory="/local")
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    assert loaded(tmp_path / "linked") == Path("/local")


@pytest.mark.parametrize("value", ["relative", "./x", "$CLAUDE_PROJECT_DIR/x", "/", "~", 7, None, ""])
def test_what_claude_ignores_names_no_memory(repo: Path, value: object) -> None:
    write(repo / ".claude" / "settings.local.json", autoMemoryDirectory=value)
    assert loaded(repo) == claude.default_memory(repo, repos.near(repo))


@pytest.mark.parametrize(
    ("enabled", "variable", "is_on"),
    [(None, "", True), (False, "", False), (False, "0", True), (True, "1", False), (None, "1", False)],
)
def test_memory_can_be_off(
    repo: Path, monkeypatch: pytest.MonkeyPatch, enabled: bool | None, variable: str, is_on: bool
) -> None:
    """Measured: the variable is stronger than the setting, either way."""
    write(repo / ".claude" / "settings.json", autoMemoryEnabled=enabled)
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY", variable)
    assert (loaded(repo) is not None) == is_on


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"a": 1,}', "[" * 100_000])
def test_a_malformed_settings_file_says_nothing(repo: Path, text: str) -> None:
    path = repo / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(text)
    assert claude.settings_in(path) == {}
