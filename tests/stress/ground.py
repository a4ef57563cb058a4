"""What the stress scripts stand on: a sealed sandbox, the tool in forked children, and what must hold afterwards."""

from __future__ import annotations

import os
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, NoReturn

import yaml

import learnloop_md
from learnloop_md.__main__ import main

PROJECT = Path(__file__).parents[2]
DAY = "2026-06-01"
PATIENCE_S = 20.0  # after this a command counts as hung
_SEALED = ("GIT_", "CLAUDE", "LEARNLOOP_", "XDG_", "PRE_COMMIT")


class Ran(NamedTuple):
    """What a command printed, how it ended (negative: the signal that ended it), and how long it took."""

    code: int
    out: str
    err: str
    seconds: float


@contextmanager
def sandbox() -> Iterator[Path]:
    """A temporary folder in an environment sealed from the machine, both gone afterwards."""
    kept = dict(os.environ)
    base = Path(tempfile.mkdtemp(prefix="learnloop-stress-")).resolve()
    for name in [name for name in os.environ if name.startswith(_SEALED)]:
        del os.environ[name]
    home = base / "home"
    home.mkdir()
    (base / "tmp").mkdir()
    config = "[user]\n\tname = Ada Test\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n"
    (home / ".gitconfig").write_text(f"{config}\ttemplateDir =\n")
    os.environ |= {
        "HOME": str(home),
        "TMPDIR": str(base / "tmp"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_COLOR": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(PROJECT),
    }
    try:
        yield base
    finally:
        os.environ.clear()
        os.environ.update(kept)
        shutil.rmtree(base, ignore_errors=True)


def git(where: Path, *args: str, check: bool = True) -> str:
    """What git prints in a folder. Raises RuntimeError where git fails and that matters."""
    done = subprocess.run(["git", *args], cwd=where, capture_output=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="surrogateescape").rstrip("\n")


def process(where: Path, *words: str, env: dict[str, str] | None = None) -> Ran:
    """The tool as a process of its own."""
    began = time.monotonic()
    command = [sys.executable, "-m", "learnloop_md", *words]
    done = subprocess.run(command, cwd=where, capture_output=True, check=False, env=env, timeout=PATIENCE_S)
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    return Ran(done.returncode, out, err, time.monotonic() - began)


# --- the tool in a forked child: as cheap as a call, and it can be killed --------------------------------------------


def preload() -> None:
    """Load every module of the tool once, so that forked children start at once."""
    for module in pkgutil.iter_modules(learnloop_md.__path__):
        if module.name != "__main__":
            import_module(f"learnloop_md.{module.name}")


class Child(NamedTuple):
    """A running command."""

    pid: int
    said: Path  # where its output goes
    began: float

    def wait(self, patience: float = PATIENCE_S) -> Ran:
        """Its end; a hung one is killed with its group."""
        pause = 0.0005
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - self.began > patience:
                os.killpg(self.pid, signal.SIGKILL)
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
        took = time.monotonic() - self.began
        out, err = (self.said.with_suffix(s).read_text("utf-8", "replace") for s in (".out", ".err"))
        return Ran(os.waitstatus_to_exitcode(status), out, err, took)


def start(where: Path, words: tuple[str, ...], before: Callable[[], None] | None = None, given: str = "") -> Child:
    """Start a command in a forked child that leads a process group of its own; given is its standard input."""
    said = Path(os.environ["TMPDIR"]) / f"said-{os.getpid()}"
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    began = time.monotonic()
    pid = os.fork()
    if not pid:
        _live(where, words, said, before, given)
    return Child(pid, said, began)


def _live(where: Path, words: tuple[str, ...], said: Path, before: Callable[[], None] | None, given: str) -> NoReturn:
    code = 99
    try:
        os.setpgid(0, 0)
        os.chdir(where)
        os.dup2(_input(said, given), 0)
        for number, suffix in ((1, ".out"), (2, ".err")):
            os.dup2(os.open(said.with_suffix(suffix), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdin = os.fdopen(0, closefd=False)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        if before:
            before()
        code = main(words)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _input(said: Path, given: str) -> int:
    if not given:
        return os.open(os.devnull, os.O_RDONLY)
    file = said.with_suffix(".in")
    file.write_text(given)
    return os.open(file, os.O_RDONLY)


def call(where: Path, *words: str, before: Callable[[], None] | None = None, given: str = "") -> Ran:
    """A command in a forked child, to its end."""
    return start(where, words, before, given).wait()


def sure(where: Path, *words: str) -> Ran:
    """A command that a scene is made by. Raises RuntimeError where it fails."""
    ran = call(where, *words)
    if ran.code:
        raise RuntimeError(f"learnloop {' '.join(words)} ended with {ran.code}: {ran.err}{ran.out}")
    return ran


# --- scenes ----------------------------------------------------------------------------------------------------------


def new_repository(root: Path) -> Path:
    """A repository with one commit of a person's file."""
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "app.py").write_text("x = 1\n")
    git(root, "add", "app.py")
    git(root, "commit", "-q", "-m", "Start")
    return root


def new_memory(root: Path) -> Path:
    """A repository with a project memory; gives the memory's folder."""
    new_repository(root)
    sure(root, "init")
    return root / ".claude" / "memory"


def stage_work(root: Path) -> None:
    """A person's work in the middle: a staged file, edited again, and an edit of a known file that is not staged."""
    (root / "work.txt").write_text("staged\n")
    git(root, "add", "work.txt")
    (root / "work.txt").write_text("staged, and edited since\n")
    (root / "app.py").write_text("x = 2\n")


def copy(template: Path, root: Path) -> None:
    """Put a scene back as it was made: what the tool remembers is tied to the folder's path."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(template, root, symlinks=True)


# --- what must hold --------------------------------------------------------------------------------------------------

INSIDE = ".claude/memory"
OURS = (
    "*.md",
    ".claude",
    ".gitattributes",
    ".gitignore",
    "CLAUDE.md",
    "AGENTS.md",
)  # what a command of ours may commit
_THEIRS = ("work.txt", "app.py")


def theirs(root: Path) -> str:
    """The index entries outside the memory, as git lists them."""
    return git(root, "ls-files", "-s", "--", ".", *(f":(exclude){path}" for path in OURS))


def locks(root: Path) -> list[str]:
    """Lock files of git that stand in the repository."""
    return sorted(p.relative_to(root).as_posix() for p in (root / ".git").rglob("*.lock"))


def scraps(root: Path) -> list[str]:
    """Temporary files of ours, in the work tree or in the git directory."""
    names = [p for pattern in (".learnloop-*", "learnloop-index-*") for p in root.rglob(pattern)]
    return sorted(p.relative_to(root).as_posix() for p in names)


def half_files(folder: Path) -> list[str]:
    """Lesson files that do not parse: a head between two lines of dashes, a mapping, a text below."""
    found = []
    for path in lesson_files(folder):
        match = re.fullmatch(r"---\n(.*?\n)---\n(.*\n)", path.read_text("utf-8", "replace"), re.DOTALL)
        try:
            whole = match and match[2].strip() and isinstance(yaml.safe_load(match[1]), dict)
        except yaml.YAMLError:
            whole = False
        if not whole:
            found.append(f"half file: {path.name}")
    return found


def lesson_files(folder: Path) -> list[Path]:
    """The lesson files of a project memory."""
    return sorted(path for path in folder.glob("*.md") if path.name != "MEMORY.md")


def out_of_step(folder: Path, left_out: tuple[str, ...] = ()) -> list[str]:
    """Lessons without their one line in the index, and lines without a lesson."""
    text = (folder / "MEMORY.md").read_text("utf-8", "replace") if (folder / "MEMORY.md").exists() else ""
    listed = re.findall(r"^- \[.*?\]\(([^()]+)\.md\)", text, re.MULTILINE)
    archived = {p.stem for p in lesson_files(folder) if "\n  state: archived\n" in p.read_text("utf-8", "replace")}
    files = {path.stem for path in lesson_files(folder)}
    found = [f"no line in the index: {name}" for name in sorted(files - archived - set(listed) - set(left_out))]
    found += [f"a line without a file: {name}" for name in sorted(set(listed) - files)]
    return found + [f"two lines: {name}" for name in sorted(set(listed)) if listed.count(name) > 1]


def uncommitted(root: Path) -> list[str]:
    """Paths that differ from HEAD or the index, but for the person's."""
    rows = git(root, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames").split("\0")
    return [f"not committed: {row}" for row in rows if row and row[3:] not in _THEIRS]


def unsound(root: Path) -> list[str]:
    """What git's own check finds."""
    done = subprocess.run(
        ["git", "fsck", "--no-dangling", "--no-progress"], cwd=root, capture_output=True, text=True, check=False
    )
    return [f"git fsck: {(done.stderr or done.stdout).strip()}"] if done.returncode else []


def rough(ran: Ran) -> list[str]:
    """What a person should never see of a command: a traceback, a bug, a line that is not the tool's."""
    found = [f"stderr: {line}" for line in ran.err.splitlines() if not line.startswith("learnloop: ")]
    if "Traceback" in ran.out + ran.err:
        found.append("a traceback")
    for trace in re.findall(r"\S*/learnloop-bug-\S+\.txt", ran.out + ran.err):
        rows = Path(trace).read_text("utf-8", "replace").strip().splitlines()
        at = next((row.strip() for row in reversed(rows) if "learnloop_md" in row), "")
        found.append(f"a bug: {rows[-1][:200]} ({at})")
    return found


def damage(root: Path, entries: str, inside: str = INSIDE, *, clean: bool = True) -> list[str]:
    """Everything that is wrong with a repository in which every command has ended; entries: theirs() of before.

    Where a person has to commit what was made, it need not be clean.
    """
    found = [f"left over: {path}" for path in (*locks(root), *scraps(root))]
    if inside:
        found += half_files(root / inside) + out_of_step(root / inside)
    found += (uncommitted(root) if clean else []) + unsound(root)
    return found if theirs(root) == entries else [*found, "the person's index entries changed"]
