"""Every test here runs the real client; without one they are skipped, and tests/conftest.py says so aloud."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run, git
from tests.e2e.client import CLAUDE, Client


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not CLAUDE:
        here = Path(__file__).parent
        for item in items:
            if here in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="no claude found"))


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """Claude Code with a HOME of its own."""
    return Client(tmp_path)


@pytest.fixture
def project(client: Client, repo: Path, learnloop: Run) -> Path:
    """A repository with a memory and a lesson in force, one that is only a candidate, and one that is archived."""
    notes = [("note", rule, "--run", "r1") for rule in ("Use uv, never pip.", "Run the linter before each commit.")]
    with pytest.MonkeyPatch.context() as environment:
        for name, value in client.environment.items():
            environment.setenv(name, value)
        environment.setenv("GIT_CONFIG_GLOBAL", str(client.home / ".gitconfig"))
        for words in (
            ("init", "--yes"),
            *notes,
            ("note", "Use the old formatter.", "--run", "r1"),
            ("note", "Use uv, never pip.", "--run", "r2"),
            ("archive", "use-the-old", "--note", "Replaced"),
        ):
            done = learnloop(*words, cwd=repo)
            assert done.code == 0, done.err
    assert git(repo, "status", "--porcelain") == ""
    return repo
