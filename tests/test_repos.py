"""A repository found without a process is the one that git finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from learnloop_md import git as gits
from learnloop_md import repos
from tests.conftest import git


def test_a_repository_is_found_from_below_and_before_a_folder_exists(repo: Path) -> None:
    (repo / "sub" / "deep").mkdir(parents=True)
    for folder in (repo, repo / "sub" / "deep", repo / "not" / "there"):
        assert repos.near(folder) == gits.find(folder), folder


def test_a_linked_work_tree_names_its_main_checkout(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    found = repos.near(tmp_path / "linked")
    assert found == gits.find(tmp_path / "linked")
    assert found
    assert (found.is_linked_worktree, found.main_root) == (True, repo)


def test_a_submodule_and_a_nested_repository_are_repositories_of_their_own(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repo), "inner")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "inner"), "sub")
    git(tmp_path, "clone", "-q", str(repo), str(repo / "nested"))
    for folder in (repo / "sub", repo / "nested"):
        assert repos.near(folder) == gits.find(folder), folder


def test_through_a_link_it_is_the_repository_the_link_leads_to(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo)
    assert repos.near(tmp_path / "link") == gits.find(tmp_path / "link")


@pytest.mark.parametrize("content", [None, "", "gitdir: /nowhere\n", "nonsense"])
def test_what_is_no_repository_is_none(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / ".git").write_text(content)
    assert repos.near(tmp_path) is None
