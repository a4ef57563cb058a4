"""Every test is sealed from the machine: its own HOME, its own git configuration, fixed names and no session."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest
from hypothesis import HealthCheck, settings

from learnloop_md.__main__ import main

if TYPE_CHECKING:
    from tests.homes import Home

DATA = Path(__file__).parent / "data"

# Without sample hooks, a process after each commit that looks whether anything is to be tidied, and waits for the disk.
GIT_CONFIG = """\
[user]
	name = Ada Test
	email = ada@example.invalid
[init]
	defaultBranch = main
	templateDir =
[maintenance]
	auto = false
[core]
	fsync = none
"""

# The suite gives the same verdict on the same tree; the long profile looks for what nobody thought of yet.
settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "long", deadline=None, max_examples=5_000, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


def pytest_configure(config: pytest.Config) -> None:
    """Keep the temporary folders in memory where it has room and runs programs: a third of the time is the disk's."""
    memory = "/dev/shm"
    if config.option.basetemp or "PYTEST_DEBUG_TEMPROOT" in os.environ or not os.access(memory, os.W_OK):
        return
    room = os.statvfs(memory)
    if room.f_bavail * room.f_frsize > _ROOM and not room.f_flag & os.ST_NOEXEC:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = os.environ["TMPDIR"] = tempfile.tempdir = memory  # programs' as well


_ROOM = 1 << 30  # bytes; a whole run takes 0.2 of it


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say aloud that the tests with the real client, or with the model, did not run: a row of `s` is overlooked."""
    # It stands here, not beside those tests: the controller of parallel runs reads no conftest of a sub-folder.
    skipped = [str(one.longrepr) for one in terminalreporter.stats.get("skipped", [])]
    if any("test_meaning.py" in why for why in skipped):
        why = "the extra is not installed: pip install -e '.[semantic]'"
        terminalreporter.write_line(f"tests with the model SKIPPED: {why}", yellow=True, bold=True)
    if any("no claude found" in why for why in skipped):
        why = "no claude found (LEARNLOOP_TEST_CLAUDE or PATH); docs/testing.md says how to get one"
        terminalreporter.write_line(f"tests/e2e SKIPPED: {why}", yellow=True, bold=True)
    if any("no MCP SDK" in why for why in skipped):
        why = "no MCP SDK (pip install 'learnloop-md[mcp]')"
        terminalreporter.write_line(f"tests of the MCP server SKIPPED: {why}", yellow=True, bold=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests that stay to the end need not be looked through again and again for what is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# What pip has downloaded for the person before: it checks it, and each test's own HOME would have it fetched again.
_PIP_CACHE = os.environ.get("PIP_CACHE_DIR") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pip"
)


@pytest.fixture(autouse=True)
def _sealed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not mktemp: it looks through all that is there, for each test through more.
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_HOMES))
    home.mkdir(parents=True)
    for name in list(os.environ):
        if name.startswith(("GIT_", "CLAUDE", "LEARNLOOP_", "XDG_", "PRE_COMMIT", "PYTHONDONTWRITE")):
            monkeypatch.delenv(name)
    config = home / "gitconfig"
    config.write_text(GIT_CONFIG)
    for name, value in {
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_COLOR": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "PIP_CACHE_DIR": _PIP_CACHE,
        "PIP_NO_COMPILE": "0",  # that is how it says yes: what a test does not import is not compiled
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no test cuts the power


_HOMES = count()


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


Failing = Callable[[str], AbstractContextManager[None]]


@pytest.fixture
def git_fails(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Failing:
    """git_fails("config --get"): as long as it holds, git ends with 128 where it is called with these words."""
    folder, real = tmp_path_factory.mktemp("bin"), shutil.which("git")

    @contextmanager
    def failing(words: str) -> Iterator[None]:
        program = folder / "git"
        said = "echo 'fatal: unable to read' >&2; exit 128"
        program.write_text(f'#!/bin/sh\ncase " $* " in *" {words} "*) {said};; esac\nexec {real} "$@"\n')
        program.chmod(0o755)
        with monkeypatch.context() as patched:
            patched.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
            yield

    return failing


@pytest.fixture
def repo(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real git repository with one commit of a file that is not ours."""
    from tests.homes import new_repository  # lazy: it stands on this module

    if not _REPOSITORY:
        _REPOSITORY.append(new_repository(tmp_path_factory.mktemp("template") / "repo"))
    return shutil.copytree(_REPOSITORY[0], tmp_path / "repo")


_REPOSITORY: list[Path] = []


class CopyOf(Protocol):
    """copy_of(name, build): a copy of what build makes in an empty folder, once in a process; at repo or elsewhere.

    It takes the place of what stands there.
    """

    def __call__(self, name: str, build: Callable[[Path], Home], root: Path | None = None) -> Home: ...


@pytest.fixture
def copy_of(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> CopyOf:
    """Copies of memories: ten times faster than the commands that make them."""
    from tests.homes import copied, template  # lazy: they stand on this module

    def copy(name: str, build: Callable[[Path], Home], root: Path | None = None) -> Home:
        there = root or tmp_path / "repo"
        if there.exists():
            shutil.rmtree(there)
        made = copied(template(name, build, tmp_path_factory), there, learnloop)
        monkeypatch.chdir(made.root)  # building it went to the template
        return made

    return copy


@pytest.fixture
def memory(repo: Path, copy_of: CopyOf, learnloop: Run) -> Path:
    """The folder of an initialised project memory inside the repository."""
    from tests.homes import make_home  # lazy: it stands on this module

    return copy_of("project", lambda root: make_home("project", root, learnloop)).folder
