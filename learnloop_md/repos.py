"""A repository with a work tree, and how to find one by reading `.git` alone: Claude's hooks start no process."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Repo(NamedTuple):
    """A repository with a work tree: its root, its own git directory and the one shared by all work trees."""

    root: Path
    git_dir: Path
    common_dir: Path

    @property
    def folder(self) -> Path:
        """Where the tool keeps its own files: in the git directory, one for all work trees."""
        return self.common_dir / "learnloop"

    @property
    def is_linked_worktree(self) -> bool:
        return self.git_dir != self.common_dir

    @property
    def main_root(self) -> Path:
        """The root of the main checkout, also seen from a linked worktree; one of a bare repository has its own."""
        return self.common_dir.parent if self.is_linked_worktree and self.common_dir.name == ".git" else self.root

    def holds(self, folder: Path) -> bool:
        """Whether folder lies in this very repository, not in one nested inside it."""
        if not folder.is_relative_to(self.root):
            return False
        between = [part for part in (folder, *folder.parents) if part != self.root and part.is_relative_to(self.root)]
        return not any((part / ".git").exists() for part in between)


def near(folder: Path) -> Repo | None:
    """The repository that holds folder (which need not exist yet), or None; a bare one is none.

    It gives what `git.find` gives, without its judgement of repositories that may not be used.
    """
    folder = folder.resolve()
    for root in (folder, *folder.parents):
        git_dir = _git_dir(root / ".git")
        if git_dir and (git_dir / "HEAD").is_file():
            return Repo(root, git_dir, _common_dir(git_dir))
    return None


def _git_dir(path: Path) -> Path | None:
    """The git directory that `.git` is, or names (linked work trees, submodules)."""
    if path.is_dir():
        return path
    named = _first_line(path).removeprefix("gitdir:").strip()
    return (path.parent / named).resolve() if named else None


def _common_dir(git_dir: Path) -> Path:
    named = _first_line(git_dir / "commondir")
    return (git_dir / named).resolve() if named else git_dir


def _first_line(path: Path) -> str:
    try:
        return path.read_text("utf-8", "surrogateescape").partition("\n")[0]
    except OSError:
        return ""
