"""What agents call inside a turn loads little: no typer, no YAML, no GitPython (design §11)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from learnloop_md.claude import HOOKS
from tests.conftest import Run, git
from tests.homes import SKILL

HEAVY = {"typer", "pydantic", "rich", "click", "git", "gitdb", "mistune", "yaml", "frontmatter"}
# Not heavy, yet not for nothing: each belongs to another command.
NEEDLESS = {
    "learnloop_md.initialise",
    "learnloop_md.history",
    "learnloop_md.undo",
    "learnloop_md.outline",
    "tomllib",
}
QUICK = [
    ["note", "Count rows before a backfill.", "--run", "r7"],
    ["note", "Read the down step first.", "--run", "r8"],
    ["show"],
    ["recall", "fill a column"],
    ["sync"],
    ["check", "--staged"],
    ["cleanup", "--check"],
]


def loaded_by(words: list[str], cwd: Path, given: str = "") -> set[str]:
    """The modules that a command has loaded when it ends; given: what stands on its standard input."""
    code = (
        "import sys; from learnloop_md.__main__ import main; "
        f"code = main({words!r}); print(code, *sys.modules, sep='\\n', file=sys.stderr)"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, cwd=cwd, capture_output=True, text=True, check=True, input=given)
    ended, *modules = [line for line in done.stderr.splitlines() if not line.startswith("learnloop:")]
    assert ended == "0", done.stdout
    return set(modules)


@pytest.mark.parametrize("words", QUICK, ids=" ".join)
def test_a_quick_command_loads_nothing_heavy(memory: Path, repo: Path, learnloop: Run, words: list[str]) -> None:
    learnloop("note", "Read the down step first.", "--name", "down", "--run", "r1")
    assert {name.partition(".")[0] for name in loaded_by(words, repo)} & HEAVY == set()


def test_show_loads_nothing_that_changes_a_memory(memory: Path, repo: Path) -> None:
    needless = {"apply", "absorb", "plan", "life", "sameness", "curate", "checks", "codify", "verbs"}
    assert {f"learnloop_md.{name}" for name in needless} & loaded_by(["show"], repo) == set()


@pytest.mark.parametrize("words", [QUICK[4], QUICK[6]], ids=" ".join)
def test_what_asks_for_nothing_alike_loads_no_likeness(memory: Path, repo: Path, words: list[str]) -> None:
    assert "learnloop_md.sameness" not in loaded_by(words, repo)


def test_show_of_an_ordinary_memory_loads_no_settings_parser(memory: Path, repo: Path) -> None:
    assert loaded_by(["show"], repo) & NEEDLESS == set()


def test_a_merge_driver_loads_nothing_heavy_and_no_memory(repo: Path) -> None:
    """git starts it once for every file that both branches changed."""
    for name, text in (("base", "A.\n"), ("ours", "A.\n\nB.\n"), ("theirs", "C.\n\nA.\n")):
        (repo / name).write_text(f"---\nname: a\n---\n\n{text}")
    loaded = loaded_by(["merge-driver", "lesson", "base", "ours", "theirs", "a.md"], repo)
    needless = {"store", "memory", "plan", "absorb", "apply", "index", "drivers", "mergeindex", "mergenotes"}
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
    assert {f"learnloop_md.{name}" for name in needless} & loaded == set()


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_loads_the_standard_library_alone_and_starts_no_git(
    memory: Path, repo: Path, learnloop: Run, name: str
) -> None:
    """The client waits for it at each prompt and tool (design §1, §7)."""
    skill = repo / ".claude" / "skills" / "review"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    learnloop("init", "--skill", str(skill), cwd=repo)
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    learnloop("note", "Ada reads diffs.", "--type", "user", cwd=repo)
    for run in ("r1", "r2"):
        learnloop("note", "Read it twice.", "--run", run, cwd=skill)
    event = {
        "hook_event_name": name,
        "session_id": "3f2a81c0",
        "cwd": str(repo),
        "prompt": "No, use uv instead of pip",
        "tool_name": "Skill" if name == "PreToolUse" else "Write",
        "tool_input": {"skill": "review", "file_path": str(memory / "a.md")},
        "error": "Exit code 2",
    }
    loaded = loaded_by(["hook"], repo, json.dumps(event))
    assert {module.partition(".")[0] for module in loaded} & (HEAVY | {"subprocess", "tempfile"}) == set()
    needless = {"apply", "absorb", "plan", "life", "sameness", "curate", "checks", "memory", "index", "cli"}
    assert {f"learnloop_md.{module}" for module in needless} & loaded == set()


def test_showing_a_lesson_in_a_diff_loads_nothing_heavy_and_no_memory(repo: Path) -> None:
    """git starts it twice for every file of every commit that it shows."""
    (repo / "a.md").write_text("---\nname: a\ndescription: b\n---\n\nA.\n")
    loaded = loaded_by(["textconv", "a.md"], repo)
    needless = {"store", "memory", "plan", "absorb", "apply", "index", "drivers", "history"}
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
    assert {f"learnloop_md.{name}" for name in needless} & loaded == set()


def test_help_goes_to_the_typer_door(repo: Path) -> None:
    assert "typer" in loaded_by(["--help"], repo)
