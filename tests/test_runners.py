"""All hooks under both runners, pre-commit and prek, from a clone of this project's files (design §11)."""

from __future__ import annotations

import fcntl
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.conftest import CopyOf, Ran, Run, git
from tests.homes import Home, make_home
from tests.test_checks import TOKEN
from tests.test_precommit import called, commit, made_hooks
from tests.test_precommit import shared as shared  # noqa: PLC0414 - a fixture

MEMORY = Path(".claude/memory")
CLEAN = (
    "---\nname: {0}\ndescription: Do {0}\nmetadata:\n  type: feedback\n---\n\n"
    "Do {0}.\n\n**Why:** a\n\n**How to apply:** b\n"
)
BOTH = pytest.mark.parametrize("hooked", ["pre-commit", "prek"], indirect=True)


class Hooked(NamedTuple):
    """A repository with a memory of two lessons whose commits run our hooks."""

    runner: str
    root: Path
    hooks: Path

    def file(self, name: str) -> Path:
        return self.root / MEMORY / name

    def commit(self, *options: str) -> Ran:
        return commit(self.root, "Change", *options)

    def stage(self, *paths: str) -> None:
        git(self.root, "add", "-A", "--", *(paths or (".",)))


@pytest.fixture
def hooked(
    request: pytest.FixtureRequest,
    copy_of: CopyOf,
    learnloop: Run,
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Hooked:
    """The repository under a runner: prek, which takes a tenth of the time, where a test does not ask for both."""
    runner = getattr(request, "param", "prek")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(shared / "pre-commit"))
    monkeypatch.setenv("PREK_HOME", str(shared / "prek"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

    def build(root: Path) -> Home:
        home = make_home("project", root, learnloop)
        for name in ("alpha", "beta"):
            home.file(name).write_text(CLEAN.format(name))
        assert learnloop("sync", cwd=root).code == 0
        with (shared / "hooks.lock").open("w") as lock:  # the first run fills the cache: the others wait
            fcntl.flock(lock, fcntl.LOCK_EX)
            hooks = [{"id": "learnloop-cleanup"}, {"id": "learnloop-check", "args": ["--fix"]}]
            revision = made_hooks(shared / "hooks")
            config = {
                "default_install_hook_types": ["pre-commit", "pre-merge-commit"],
                "repos": [
                    {"repo": str(shared / "hooks"), "rev": revision, "hooks": [*hooks, {"id": "learnloop-secrets"}]}
                ],
            }
            (root / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
            installed = called(root, runner, "install", "--install-hooks")
            assert installed.code == 0, installed.err
        git(root, "add", ".pre-commit-config.yaml")
        done = commit(root, "Add hooks")
        assert (done.code, (done.out + done.err).count("Passed")) == (0, 3), f"a clean commit: {done.out}{done.err}"
        return home

    return Hooked(runner, copy_of(f"under {runner}", build).root, shared / "hooks")


@BOTH
def test_what_is_safe_is_mended_on_disk_and_passes_when_it_is_added(hooked: Hooked) -> None:
    """A head that is no YAML, and a lesson without its line: the hook writes files, stages nothing, and fails once."""
    hooked.file("gamma.md").write_text(CLEAN.format("gamma").replace("Do gamma\n", "Do: gamma: now\n", 1))
    hooked.stage()
    index = git(hooked.root, "ls-files", "-s")
    done = hooked.commit()
    said = done.out + done.err
    assert (done.code, "gamma.md: the head is YAML now" in said, "MEMORY.md: in step" in said) == (1, True, True)
    assert git(hooked.root, "ls-files", "-s") == index
    assert 'description: "Do: gamma: now"' in hooked.file("gamma.md").read_text()
    hooked.stage()
    assert hooked.commit().code == 0
    assert "(gamma.md)" in git(hooked.root, "show", f"HEAD:{MEMORY}/MEMORY.md")


def test_a_commit_that_only_deletes_runs_the_hooks(hooked: Hooked) -> None:
    """A filter by `files` would skip them; the index keeps no line for a lesson that is gone."""
    git(hooked.root, "rm", "-q", f"{MEMORY}/beta.md")
    done = hooked.commit()
    assert done.code == 1
    assert "dangling-line" in done.out + done.err


def test_commit_all_runs_on_what_it_will_commit(hooked: Hooked) -> None:
    path = hooked.file("beta.md")
    path.write_text(path.read_text().replace("Do beta\n", "Do: beta: now\n", 1))
    assert hooked.commit("-a").code == 1
    assert hooked.commit("-a").code == 0
    assert git(hooked.root, "status", "--porcelain") == ""


def test_unstaged_edits_are_neither_judged_nor_changed(hooked: Hooked) -> None:
    path = hooked.file("beta.md")
    path.write_text(path.read_text().replace("Do beta\n", "Do: beta: now\n", 1) + f"\nUse {TOKEN}.\n")
    edited = path.read_bytes()
    (hooked.root / "app.py").write_text("x = 2\n")
    hooked.stage("app.py")
    assert hooked.commit().code == 0
    assert path.read_bytes() == edited


@BOTH
def test_a_merge_commit_runs_the_hooks(hooked: Hooked) -> None:
    git(hooked.root, "checkout", "-q", "-b", "side")
    path = hooked.file("beta.md")
    path.write_text(path.read_text() + f"\nUse {TOKEN}.\n")
    git(hooked.root, "commit", "-q", "--no-verify", "-am", "A secret")
    git(hooked.root, "checkout", "-q", "main")
    (hooked.root / "app.py").write_text("x = 2\n")
    git(hooked.root, "commit", "-q", "--no-verify", "-am", "Other work")
    merged = called(hooked.root, "git", "merge", "--no-edit", "side")
    assert merged.code != 0
    assert "secret:" in merged.out + merged.err
    assert TOKEN not in merged.out + merged.err
    git(hooked.root, "merge", "--abort")
    git(hooked.root, "checkout", "-q", "side")
    git(hooked.root, "reset", "-q", "--hard", "HEAD~1")
    (hooked.root / "side.py").write_text("y = 1\n")
    hooked.stage("side.py")
    assert hooked.commit().code == 0
    git(hooked.root, "checkout", "-q", "main")
    assert called(hooked.root, "git", "merge", "--no-edit", "side").code == 0


def test_a_secret_in_any_file_of_the_memory_fails_the_commit_and_is_not_printed(hooked: Hooked) -> None:
    """R004-20; check alone does not look into files that are no lessons."""
    names = ("beta.md", "MEMORY.md", "notes.txt", "latin.md")
    for name in names:
        with hooked.file(name).open("ab") as file:
            file.write(("\xfc" if name == "latin.md" else "").encode("latin-1") + f"\nUse {TOKEN}.\n".encode())
    hooked.stage()
    done = hooked.commit()
    secrets = (done.out + done.err).partition("learnloop secrets")[2]
    found = {name for name in names if re.search(rf"{MEMORY}/{name}:\d+: secret:", secrets)}
    assert (done.code, found, TOKEN in done.out + done.err) == (1, set(names), False)


def test_an_old_secret_fails_no_new_commit_but_with_all(hooked: Hooked) -> None:
    """Design §11: a strict check on an old backlog ends in --no-verify."""
    hooked.file("notes.txt").write_text(f"Use {TOKEN}.\n")
    hooked.stage()
    assert hooked.commit("--no-verify").code == 0
    hooked.file("notes.txt").write_text(f"At home:\nUse {TOKEN}.\n")
    hooked.stage()
    assert hooked.commit().code == 0
    done = called(hooked.root, sys.executable, "-m", "learnloop_md", "check", "--hook", "--only-secrets", "--all")
    assert (done.code, TOKEN in done.out) == (1, False)


@BOTH
def test_try_repo_runs_every_hook_from_a_clone(hooked: Hooked) -> None:
    """One call for all hooks: each call of it builds an environment."""
    done = called(hooked.root, hooked.runner, "try-repo", str(hooked.hooks), "--all-files", "--verbose")
    assert (done.code, (done.out + done.err).count("Passed")) == (0, 3), done.err
