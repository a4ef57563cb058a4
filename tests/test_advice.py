"""Advice on a note: told, never in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from learnloop_md.advice import advise
from tests.conftest import Run
from tests.reading import lesson

LIST = "Remember:\n- one kettle\n- two cups\n- three spoons"


def test_a_list_is_asked_what_was_surprising() -> None:
    """R001-21."""
    assert [row.code for row in advise(LIST, {})] == ["list"]


@pytest.mark.parametrize("rule", ["Currently the parser is half done.", "WIP: the export", "in progress: move to uv"])
def test_the_state_of_a_task_is_named_as_such(rule: str) -> None:
    """R001-20: ephemeral task state."""
    assert [row.code for row in advise(rule, {})] == ["task-state"]


def test_what_the_instructions_say_is_named_with_its_line() -> None:
    """R001-20: what CLAUDE.md says already; code fences are no instructions."""
    text = "# House rules\n\n```\nBrew tea before the review.\n```\n\n- Stage files by name when committing.\n"
    found = advise("When committing, stage files by name.", {"CLAUDE.md": text})
    assert [(row.code, row.why) for row in found] == [("said-already", "CLAUDE.md:7 says this already")]
    assert advise("Brew tea before the review.", {"CLAUDE.md": text}) == []


def test_an_ordinary_rule_gets_no_advice() -> None:
    assert (
        advise("Read the down step before approving a migration.", {"CLAUDE.md": "Use uv, not pip, everywhere.\n"})
        == []
    )


def test_an_advised_note_is_kept_all_the_same(memory: Path, repo: Path, learnloop: Run) -> None:
    """Design §5: nothing captured is ever lost to a question."""
    (repo / "CLAUDE.md").write_text("- Stage files by name when committing.\n")
    ran = learnloop("note", "Stage files by name when committing.", cwd=repo)
    assert ran.code == 0
    assert "advice: CLAUDE.md:1 says this already" in ran.err
    assert lesson(memory, "stage-files-by-name-when-committing").state == "candidate"


@pytest.mark.parametrize(
    ("trigger", "type_"),
    [
        ("correction", "feedback"),
        ("tool-failure", "project"),
        ("role", "user"),
        ("external-system", "reference"),
        ("outdated", "feedback"),
        ("better-approach", "feedback"),
        ("deadline", "project"),
    ],
)
def test_a_trigger_gives_the_type(memory: Path, repo: Path, learnloop: Run, trigger: str, type_: str) -> None:
    """R001-10: seven triggers, each with its type."""
    learnloop("note", "Stage files by name.", "--trigger", trigger, cwd=repo)
    assert lesson(memory, "stage-files-by-name").type == type_


def test_an_unknown_trigger_is_one_line(memory: Path, repo: Path, learnloop: Run) -> None:
    ran = learnloop("note", "Stage files by name.", "--trigger", "mood", cwd=repo)
    assert (ran.code, ran.err.count("\n"), "use one of: correction" in ran.err) == (2, 1, True)


def test_a_note_on_a_skill_carries_the_skill_s_version(repo: Path, learnloop: Run) -> None:
    """R004-01, R004-61: shown as [from vX] once the skill has moved on."""
    skill = repo / "skills" / "brewing"
    skill.mkdir(parents=True)
    head = '---\nname: brewing\ndescription: Brew tea.\nmetadata:\n  version: "1.2"\n---\n\n# Brewing\n'
    (skill / "SKILL.md").write_text(head)
    learnloop("init", "--skill", ".", cwd=skill)
    learnloop("note", "Warm the pot first.", cwd=skill)
    assert lesson(skill, "warm-the-pot-first").skill_version == "1.2"
    (skill / "SKILL.md").write_text((skill / "SKILL.md").read_text().replace('"1.2"', '"2.0"'))
    assert "[from v1.2]" in learnloop("show", cwd=skill).out


def test_an_index_over_the_limit_says_so_with_every_note(memory: Path, repo: Path, learnloop: Run) -> None:
    """R001-42, R001-43: never silently appended past the end."""
    (memory / "MEMORY.md").write_text("".join(f"Line {n}.\n" for n in range(210)))
    ran = learnloop("note", "Stage files by name.", "--kind", "correction", cwd=repo)
    assert ran.code == 0
    assert "Claude loads 200" in ran.err
