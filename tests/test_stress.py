"""The short forms of the stress scripts: the same code, few rounds; docs/testing.md names the long ones."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.stress import branches, canaries, concurrency, crash, diff, disk, faults, ground, hooks
from tests.stress.report import Result


def told(result: Result) -> list[str]:
    """Every failure on one line, with the command that repeats it."""
    return [f"{row.where}: {'; '.join(row.what)} — {row.repeat}" for row in result.failures]


def test_many_writers_beside_a_person_lose_nothing_and_sweep_nothing() -> None:
    """Reliability 1-5: nothing lost from disk, HEAD or index; no commit holds what is not its own."""
    words = ["--writers", "4", "--lessons", "4", "--runs", "1", "--pace", "0", "--repeats", "0"]
    assert told(concurrency.run(concurrency.parser().parse_args(words))) == []


def test_after_a_kill_the_next_command_works_and_repairs() -> None:
    """Reliability 7, 8, 10: not blocked, nothing half, nothing left over, git's own check is clean."""
    assert told(crash.run(crash.parser().parse_args(["--kills", "8", "--seed", "1"]))) == []


def test_two_branches_joined_by_git_lose_nothing_in_silence() -> None:
    """Design §6, R000-71: random steps, with and without drivers; merge, squash, pick and rebase."""
    assert told(branches.run(branches.parser().parse_args(["--histories", "8"]))) == []


@pytest.mark.parametrize(("command", "step"), [("note", "8"), ("codify", "16"), ("install", "4"), ("run-finish", "24")])
def test_a_call_that_fails_leaves_every_file_old_or_new(command: str, step: str) -> None:
    """Reliability 11: the n-th rename, fsync, open, write, unlink or git call fails; one line, a known exit code."""
    words = ["--command", command, "--step", step, "--workers", "1", "--mode", "once"]
    assert told(faults.run(faults.parser().parse_args(words))) == []


def of_disk(*words: str) -> subprocess.CompletedProcess[str]:
    """The disk script: it mounts in a namespace of its own, so it is a process of its own."""
    if why := disk.not_permitted():
        pytest.skip(why)
    env = {**os.environ, "PYTHONPATH": str(ground.PROJECT)}
    command = [sys.executable, "-m", "tests.stress.disk", *words]
    return subprocess.run(command, cwd=ground.PROJECT, env=env, capture_output=True, text=True, check=False)


def test_on_a_full_disk_files_stay_whole() -> None:
    """Reliability 12: exit 4 and one line, no temporary file is left, and with room again all is brought in step."""
    done = of_disk("--command", "note", "--fills", "4")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_disk_that_may_only_be_read_is_told_in_one_line() -> None:
    """Reliability 13: writing commands end with 4, reading ones work, no byte changes."""
    done = of_disk("--fills", "0")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("hook", ["pre-commit", "post-commit", "pre-rebase", "pre-push"])
def test_a_hook_that_calls_us_lets_the_persons_command_succeed(hook: str) -> None:
    """Reliability 20, 21: no recursion, the lesson on disk and, after the next command, in HEAD."""
    assert told(hooks.run(hooks.parser().parse_args(["--hook", hook, "--editors", "0"]))) == []


def test_a_commit_whose_editor_is_open_succeeds_while_a_lesson_is_noted() -> None:
    """Reliability 22: with and without -a."""
    words = ["--hook", "none", "--editors", "1", "--seconds", "1"]
    assert told(hooks.run(hooks.parser().parse_args(words))) == []


def test_no_program_that_the_configuration_names_is_run() -> None:
    """Reliability 26: a canary for each key, each shown to be alive by git itself."""
    assert told(canaries.run(canaries.parser().parse_args([]))) == []


def test_a_comparison_of_many_commits_tells_every_lesson_in_time() -> None:
    """200 commits and 1,000 lessons take under 2 s of CPU; a tenth of it, with as much again for a busy machine."""
    words = ["--commits", "20", "--lessons", "100", "--runs", "2", "--goal", "2"]
    assert told(diff.run(diff.parser().parse_args(words))) == []
