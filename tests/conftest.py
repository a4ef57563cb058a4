"""Every test is sealed from the machine: its own HOME, its own git configuration, fixed names and no session."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from learnloop_md.__main__ import main

DATA = Path(__file__).parent / "data"

settings.register_profile(
    "suite", deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.register_profile(
    "long", deadline=None, max_examples=5_000, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say aloud that the tests with the real client did not run: a row of `s` would be overlooked."""
    # It stands here, not beside those tests: the controller of parallel runs reads no conftest of a sub-folder.
    skipped = [one for one in terminalreporter.stats.get("skipped", []) if one.nodeid.startswith("tests/e2e/")]
    if skipped:
        why = "no claude found (LEARNLOOP_TEST_CLAUDE or PATH); docs/testing.md says how to get one"
        terminalreporter.write_line(f"tests/e2e SKIPPED: {why}", yellow=True, bold=True)


@pytest.fixture(autouse=True)
def _sealed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("GIT_", "CLAUDE", "LEARNLOOP_", "XDG_", "PRE_COMMIT")):
            monkeypatch.delenv(name)
    config = home / "gitconfig"
    config.write_text("[user]\n\tname = Ada Test\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n")
    for name, value in {
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_COLOR": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    }.items():
        monkeypatch.setenv(name, value)


def git(where: Path, *args: str) -> str:
    """What git prints in a folder; fails the test when git fails."""
    done = subprocess.run(["git", *args], cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr}"
    return done.stdout.rstrip("\n")


class Ran(NamedTuple):
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        import json

        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def learnloop(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process: learnloop("note", "rule", cwd=path)."""

    def run(*words: str, cwd: Path | None = None) -> Ran:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        capfd.readouterr()
        code = main(list(words))
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A real git repository with one commit of a file that is not ours."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "app.py").write_text("x = 1\n")
    git(root, "add", "app.py")
    git(root, "commit", "-q", "-m", "Start")
    return root


@pytest.fixture
def memory(repo: Path, learnloop: Run) -> Path:
    """The folder of an initialised project memory inside the repository."""
    assert learnloop("init", cwd=repo).code == 0
    return repo / ".claude" / "memory"
