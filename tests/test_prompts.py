"""Lessons that fit a prompt, added by the hook where the setting asks for it (design §7)."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from benchmarks import quality
from learnloop_md import brief, moment, place, recall
from learnloop_md.fence import CLOSE, OPEN, tokens
from learnloop_md.lesson import Event, Lesson
from tests.clock import within
from tests.conftest import Run
from tests.test_hooks import SESSION, Hooks

TASK = "add a time limit to the nightly pipeline"


@pytest.fixture
def hook(memory: Path, repo: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch) -> Hooks:
    started: list[Path] = []
    monkeypatch.setattr(moment, "start_sync", lambda where: started.append(where.folder))
    with (repo / ".learnloop.toml").open("a") as file:
        file.write("recall_on_prompt = true\n")
    for name, rule in (("limit", "Every CI job needs a time limit."), ("label", "Buttons carry a label.")):
        assert learnloop("note", rule, "--name", name, "--run", name, cwd=repo).code == 0
    return Hooks(repo, started)


def test_a_prompt_brings_the_lessons_that_fit_it(hook: Hooks) -> None:
    """R000-54: as context beside the prompt."""
    text = hook.context("UserPromptSubmit", prompt=TASK)
    assert text.startswith(f"{OPEN}\n# Lessons that may fit this prompt\n")
    assert "- Every CI job needs a time limit. (candidate) `limit`\n" in text
    assert "label" not in text
    assert text.endswith(CLOSE)


def test_the_same_lesson_is_brought_once_in_a_session(hook: Hooks) -> None:
    assert hook.context("UserPromptSubmit", prompt=TASK)
    assert hook("UserPromptSubmit", prompt=TASK) is None
    assert hook.context("UserPromptSubmit", prompt=TASK, session_id="another")


@pytest.mark.parametrize(
    "prompt", ["", "continue", "thanks, looks good", "why is the sky blue?", "limit", "/review it"]
)
def test_most_prompts_bring_nothing(hook: Hooks, prompt: str) -> None:
    assert hook("UserPromptSubmit", prompt=prompt) is None


def test_without_the_setting_nothing_is_brought(memory: Path, repo: Path, learnloop: Run) -> None:
    learnloop("note", "Every CI job needs a time limit.", cwd=repo)
    assert Hooks(repo, [])("UserPromptSubmit", prompt=TASK) is None
    assert not (place.find(repo).state / brief.WORDS).exists()


def test_a_file_changed_since_it_was_judged_is_not_brought(hook: Hooks, memory: Path) -> None:
    """The hook judges no text."""
    with (memory / "limit.md").open("a") as file:
        file.write("\nObey.\n")
    assert hook("UserPromptSubmit", prompt=TASK) is None


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"lessons": [1], "met": {}, "areas": []}', '{"lessons": []'])
def test_a_damaged_index_brings_nothing_and_no_failure_of_the_hook(hook: Hooks, repo: Path, damage: str) -> None:
    (place.find(repo).state / brief.WORDS).write_text(damage)
    said = {"hook_event_name": "UserPromptSubmit", "session_id": SESSION, "cwd": str(repo), "prompt": TASK}
    words = [sys.executable, "-m", "learnloop_md", "hook"]
    done = subprocess.run(words, cwd=repo, input=json.dumps(said), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n") <= 1) == (0, "", True)


def test_the_stored_index_ranks_as_the_lessons_do() -> None:
    rows = [
        Lesson("a", "a.md", "", state="current", rule="Every CI job needs a time limit.", tags=("ci",), pinned=True),
        Lesson("b", "b.md", "", state="current", rule="Cache the pipeline.", seen=(Event("2026-01-01", "r"),)),
        Lesson("c", "c.md", "", state="archived", rule="Every nightly job is small."),
        Lesson("d", "d.md", "", state="current", rule="Every nightly job is small.", supersedes="b", kind="failure"),
    ]
    index = recall.loaded(json.loads(json.dumps(recall.stored(rows))))
    direct = recall.rank(rows, recall.Query(TASK), "2026-06-01")
    again = recall.ranked(index, TASK, "2026-06-01")
    assert [hit.lesson.slug for hit in again] == [hit.lesson.slug for hit in direct] == ["a", "d"]
    assert [hit.score for hit in again] == pytest.approx([hit.score for hit in direct], abs=0.01)


def test_at_300_lessons_the_hook_takes_little(hook: Hooks, repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §7: the person waits for it; 0.15 s of CPU, measured at 0.1 on one machine."""
    head = "---\nname: {0}\ndescription: d\nmetadata:\n  type: feedback\n  state: current\n---\n\n"
    for n, row in enumerate(quality.load("lessons_dev.jsonl")[:300]):
        (memory / f"l{n}.md").write_text(head.format(f"l{n}") + f"{row['rule']}\n\n**Why:** {row['why'] or n}\n")
    assert learnloop("sync", cwd=repo).code == 0
    file = place.find(repo).state / brief.WORDS
    assert file.stat().st_size < 200_000
    said = {"hook_event_name": "UserPromptSubmit", "session_id": SESSION, "cwd": str(repo), "prompt": TASK}
    words = [sys.executable, "-m", "learnloop_md", "hook"]
    sessions = count()

    def ask() -> str:
        given = json.dumps({**said, "session_id": f"s{next(sessions)}"})
        return subprocess.run(words, cwd=repo, input=given, capture_output=True, text=True, check=True).stdout

    told = within(0.3, ask)  # twice what is asked, for a loaded machine
    assert tokens(json.loads(told)["hookSpecificOutput"]["additionalContext"]) <= 500
