"""The hooks under the real pre-commit, from a clone of this project's files (design §5, §11)."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copy2, copytree, ignore_patterns

import pytest
import yaml

from tests.conftest import CopyOf, Ran, Run, git
from tests.homes import Home, make_home
from tests.test_checks import TOKEN, state

PROJECT = Path(__file__).parent.parent
DAY = "2026-06-01"
ALIKE = ("Bound every retry of a call.", "Bound every retry of a call")
OTHERS = ("Count rows before a backfill.", "Mock the clock in timer tests.", "Quote paths in scripts.")


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a parallel run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def made_hooks(folder: Path) -> str:
    """A repository with this project's files, made once by whoever comes first; its commit."""
    with folder.with_suffix(".making").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make_hooks(folder)
    return git(folder, "rev-parse", "HEAD")


def _make_hooks(folder: Path) -> None:
    if not folder.exists():
        unfinished = folder.with_suffix(".tmp")
        for name in ("learnloop_md", "sample-skill"):
            copytree(PROJECT / name, unfinished / name, ignore=ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
            copy2(PROJECT / name, unfinished / name)
        git(unfinished, "init", "-q", "-b", "main")
        git(unfinished, "add", "-A")
        git(unfinished, "commit", "-q", "-m", "Hooks")
        unfinished.rename(folder)


@pytest.fixture
def hooked(copy_of: CopyOf, learnloop: Run, shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a memory and both hooks installed; their environment is built once for all tests."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(shared / "pre-commit"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

    def build(root: Path) -> Home:
        home = make_home("project", root, learnloop)
        # The first run fills the cache: the others wait, so that it is filled once.
        with (shared / "hooks.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            revision = made_hooks(shared / "hooks")
            hooks = [{"id": "learnloop-cleanup"}, {"id": "learnloop-check"}]
            config = {"repos": [{"repo": str(shared / "hooks"), "rev": revision, "hooks": hooks}]}
            (root / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
            called(root, "pre-commit", "install", "--install-hooks")
        git(root, "add", ".pre-commit-config.yaml")
        assert commit(root, "Add hooks").code == 0
        return home

    return copy_of("with hooks", build).root


def called(repo: Path, *words: str) -> Ran:
    done = subprocess.run(words, cwd=repo, capture_output=True, text=True, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


def commit(repo: Path, message: str, *options: str) -> Ran:
    """What a person's `git commit` prints and how it ends."""
    return called(repo, "git", "commit", "-m", message, *options)


def candidates(learnloop: Run, rules: tuple[str, ...], day: str = DAY) -> None:
    """Fresh candidates, each committed by the tool."""
    for n, rule in enumerate(rules):
        options = ("--name", f"r{n}", "--run", f"run{n}", "--today", day, "--why", "a", "--how", "b")
        done = learnloop("note", rule, "--new", *options)
        assert done.code == 0, done.err


def due(repo: Path, learnloop: Run) -> None:
    """Two that say the same in two runs, and three more: a cleanup is due and has something to do."""
    today = called(repo, "date", "-u", "+%F").out.strip()
    candidates(learnloop, (*ALIKE, *OTHERS), today)


# --- the commit passes --------------------------------------------------------------------------------------


def test_a_clean_commit_passes(hooked: Path) -> None:
    (hooked / "app.py").write_text("x = 2\n")
    git(hooked, "add", "app.py")
    done = commit(hooked, "Change")
    assert done.code == 0
    assert done.err.count("Passed") == 2


def test_cleanup_that_is_not_due_writes_nothing(hooked: Path, learnloop: Run) -> None:
    candidates(learnloop, ALIKE, "2999-01-01")
    before = state(hooked)
    git(hooked, "commit", "-q", "--allow-empty", "-m", "Change")
    assert state(hooked) == before


def test_a_commit_that_only_deletes_a_lesson_runs_the_hooks(hooked: Path, learnloop: Run) -> None:
    """`files` would skip the hooks: the line without its lesson is found."""
    candidates(learnloop, OTHERS[:1], "2999-01-01")
    git(hooked, "rm", "-q", ".claude/memory/r0.md")
    done = commit(hooked, "Delete")
    assert done.code == 1
    assert ".claude/memory/MEMORY.md:7: dangling-line error" in done.err


# --- cleanup is due -----------------------------------------------------------------------------------------


def test_cleanup_that_is_due_edits_files_and_commits_and_stages_nothing(hooked: Path, learnloop: Run) -> None:
    due(hooked, learnloop)
    head, index = git(hooked, "rev-parse", "HEAD"), git(hooked, "ls-files", "-s")
    done = commit(hooked, "Change", "--allow-empty")
    assert done.code == 1
    assert "cleanup is due: 5 candidates (due at 5)" in done.err
    assert (git(hooked, "rev-parse", "HEAD"), git(hooked, "ls-files", "-s")) == (head, index)
    assert git(hooked, "diff", "--name-only").split("\n") == [
        ".claude/memory/MEMORY.md",
        ".claude/memory/r0.md",
        ".claude/memory/r1.md",
    ]


def test_the_second_run_passes(hooked: Path, learnloop: Run) -> None:
    due(hooked, learnloop)
    commit(hooked, "Change", "--allow-empty")
    git(hooked, "add", "-u")
    assert commit(hooked, "Change").code == 0
    assert git(hooked, "status", "--porcelain") == ""


def test_unstaged_edits_are_left_alone(hooked: Path, learnloop: Run) -> None:
    due(hooked, learnloop)
    paths = [hooked / ".claude" / "memory" / name for name in ("r0.md", "MEMORY.md")]
    for path in paths:
        path.write_text(path.read_text() + "\nHalf a thought")
    edited = [path.read_bytes() for path in paths]
    (hooked / "app.py").write_text("x = 2\n")
    git(hooked, "add", "app.py")
    commit(hooked, "Change")
    assert [path.read_bytes() for path in paths] == edited


def test_what_git_does_not_know_stays_out_of_the_document(hooked: Path, learnloop: Run) -> None:
    """The commit would hold a line without its lesson."""
    due(hooked, learnloop)
    new = hooked / ".claude" / "memory" / "new.md"
    new.write_text("---\nname: new\ndescription: d\nmetadata:\n  type: feedback\n---\n\nNew.\n")
    commit(hooked, "Change", "--allow-empty")
    assert "new.md" not in (hooked / ".claude" / "memory" / "MEMORY.md").read_text()
    git(hooked, "add", "-u")
    assert commit(hooked, "Change").code == 0


def test_commit_all_is_cleaned_up_too(hooked: Path, learnloop: Run) -> None:
    """`git commit -a` builds its index in a file of its own."""
    due(hooked, learnloop)
    path = hooked / ".claude" / "memory" / "r0.md"
    path.write_text(path.read_text().replace("Bound every", "Bound each"))
    first, second = commit(hooked, "Change", "-a"), commit(hooked, "Change", "-a")
    assert (first.code, second.code) == (1, 0)
    assert git(hooked, "status", "--porcelain") == ""
    assert "Bound each" in git(hooked, "show", "HEAD:.claude/memory/r0.md")


def test_by_hand_the_hook_leaves_unstaged_edits_alone_and_says_so(hooked: Path, learnloop: Run) -> None:
    due(hooked, learnloop)
    path = hooked / ".claude" / "memory" / "r0.md"
    path.write_text(path.read_text() + "Half a thought.\n")
    before = state(hooked)
    done = learnloop("cleanup", "--hook")
    assert (done.code, state(hooked)) == (0, before)
    assert ".claude/memory/r0.md: not as staged, cleanup left it alone" in done.err


# --- check --------------------------------------------------------------------------------------------------


def test_a_staged_secret_fails_and_is_never_printed(hooked: Path, learnloop: Run) -> None:
    """R004-20."""
    candidates(learnloop, OTHERS[:1], "2999-01-01")
    path = hooked / ".claude" / "memory" / "r0.md"
    text = path.read_text()
    path.write_text(text + f"Use {TOKEN}.\n")
    git(hooked, "add", "-u")
    path.write_text(text)
    done = commit(hooked, "Change")
    assert done.code == 1
    assert re.search(r"memory/r0\.md:\d+: secret:", done.err)
    assert TOKEN not in done.out + done.err
    assert path.read_text() == text


def test_old_findings_fail_no_new_commit_but_all_of_them_do_with_all(hooked: Path, learnloop: Run) -> None:
    """Design §11."""
    candidates(learnloop, OTHERS[:1], "2999-01-01")
    git(hooked, "rm", "-q", ".claude/memory/r0.md")
    assert commit(hooked, "Delete", "--no-verify").code == 0
    assert commit(hooked, "Change", "--allow-empty").code == 0
    config = hooked / ".pre-commit-config.yaml"
    config.write_text(config.read_text().replace("- id: learnloop-check", "- id: learnloop-check\n    args: [--all]"))
    git(hooked, "add", "-u")
    assert commit(hooked, "Strict").code == 1


def test_the_hooks_are_described_as_they_must_be() -> None:
    rows = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())
    assert [(row["id"], row["entry"]) for row in rows] == [
        ("learnloop-cleanup", "learnloop cleanup --hook"),
        ("learnloop-check", "learnloop check --hook"),
        ("learnloop-secrets", "learnloop check --hook --only-secrets"),
        ("learnloop-commit", "learnloop sync --after-commit"),
    ]
    asked = {
        "language": "python",
        "always_run": True,
        "pass_filenames": False,
        "require_serial": True,
        "stages": ["pre-commit", "pre-merge-commit", "manual"],
        "minimum_pre_commit_version": "3.2.0",
    }
    assert [{key: row[key] for key in asked} for row in rows] == [*[asked] * 3, {**asked, "stages": ["post-commit"]}]
