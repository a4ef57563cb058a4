"""Lessons in `git diff` and `git log -p`, by the real git: one field a line, noise gone, the file as it is else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from learnloop_md import lessonfile, textconv
from learnloop_md.answer import visible_lines
from tests.conftest import CopyOf, Run, git
from tests.homes import Home, make_home
from tests.shapes import name, readable

LESSON = """---
name: a
description: Check first
metadata:
  type: feedback
  state: candidate
  seen:
    - on: 2026-06-02
      run: r2
      evidence: PR 2
    - on: 2026-06-01
      run: r1
  nodes:
    - deep
    - x: 1
---

Do it.

**Why:** It went wrong.
"""
SHOWN = """name:         a
description:  Check first
type:         feedback
state:        candidate
seen:         2026-06-01 r1
seen:         2026-06-02 r2 PR 2
nodes.1:      deep
nodes.2.x:    1

Do it.

**Why:** It went wrong.
"""
OTHER_STYLE = """---
metadata:
    state: "candidate"
    nodes: [deep, {x: 1}]
    seen:
    - {run: r1, on: 2026-06-01}
    - {evidence: PR 2, run: r2, on: 2026-06-02}
    type: 'feedback'
description: >-
    Check
    first
name: a
---
Do it.

**Why:** It went wrong.

"""


@pytest.fixture
def file(memory: Path, copy_of: CopyOf, learnloop: Run) -> Path:
    """A committed lesson file in a clone that knows the drivers."""

    def build(root: Path) -> Home:
        made = make_home("project", root, learnloop)
        assert learnloop("git-config", "--enable", cwd=root).code == 0
        (made.folder / "a.md").write_text(LESSON)
        made.commit_all("A lesson")
        return made

    return copy_of("shown by git", build).folder / "a.md"


def changed(file: Path, *words: str) -> list[str]:
    """The lines that git shows as changed."""
    shown = git(file.parent, *(words or ("diff",)), "--", file.name).splitlines()
    return [line for line in shown if line.startswith(("+", "-")) and line[:3] not in ("+++", "---")]


def test_git_shows_one_line_for_each_field_and_event(file: Path) -> None:
    assert git(file.parent, "cat-file", "--textconv", "HEAD:./a.md") + "\n" == SHOWN


def test_another_order_and_style_of_the_same_head_is_no_change(file: Path) -> None:
    file.write_text(OTHER_STYLE)
    assert changed(file) == []


def test_a_change_is_shown_by_its_field_in_diff_and_log(file: Path, repo: Path) -> None:
    file.write_text(LESSON.replace("candidate", "current").replace("run: r1", "run: r1\n      evidence: PR 7"))
    want = ["-state:        candidate", "+state:        current", "-seen:         2026-06-01 r1"]
    want += ["+seen:         2026-06-01 r1 PR 7"]
    assert sorted(changed(file)) == sorted(want)
    git(repo, "commit", "-qam", "Change")
    assert sorted(changed(file, "log", "-p", "-1")) == sorted(want)


def test_a_change_of_the_text_is_shown_line_by_line(file: Path) -> None:
    file.write_text(LESSON.replace("Do it.", "Do that."))
    assert changed(file) == ["-Do it.", "+Do that."]


def test_the_document_and_plain_notes_are_shown_as_they_are(file: Path, repo: Path) -> None:
    note = file.with_name("README.md")
    note.write_bytes(b"# Read\r\n\r\n\xff me\r\n")
    assert git(repo, "cat-file", "--textconv", "HEAD:.claude/memory/MEMORY.md").startswith("# Memory\n")
    done = subprocess.run(
        ["git", "diff", "--no-index", "--text", "/dev/null", str(note)], cwd=repo, capture_output=True, check=False
    )
    assert b"+\xff me" in done.stdout


def test_a_file_that_is_not_read_is_shown_as_it_is(file: Path, repo: Path) -> None:
    file.write_text("---\nname: a\n<<<<<<< ours\n")
    assert "+<<<<<<< ours" in changed(file)


@pytest.mark.parametrize("broken", ["/nowhere/learnloop", "false"])
def test_where_the_program_is_gone_git_diff_still_works(file: Path, repo: Path, broken: str) -> None:
    key = "diff.learnloop-lesson.textconv"
    command = git(repo, "config", key)
    program = command[len("show() { ") : command.index(" textconv")]
    git(repo, "config", key, command.replace(program, broken))
    file.write_text(LESSON.replace("candidate", "current"))
    assert changed(file) == ["-  state: candidate", "+  state: current"]


def test_a_clone_that_does_not_know_the_driver_shows_lines(file: Path, repo: Path, learnloop: Run) -> None:
    assert learnloop("git-config", "--disable", cwd=repo).code == 0
    file.write_text(LESSON.replace("candidate", "current"))
    assert changed(file) == ["-  state: candidate", "+  state: current"]


def test_control_characters_are_written_out(file: Path) -> None:
    file.write_text(LESSON.replace("Check first", '"\\e[31mred"').replace("Do it.", "Do\u202eit."))
    shown = "\n".join(changed(file))
    assert ("\x1b" in shown, "\u202e" in shown, "\\x1b[31mred" in shown, "\\u202e" in shown) == (
        False,
        False,
        True,
        True,
    )


@pytest.mark.parametrize("path", readable(), ids=name)
def test_nothing_of_a_head_or_body_is_left_out(path: Path) -> None:
    reading = lessonfile.read(path.name, path.read_bytes())
    assert isinstance(reading, lessonfile.Reading)
    lesson = reading.lesson
    shown = " ".join(textconv.readable(lesson).split())
    for said in (lesson.name, lesson.description, lesson.type, lesson.rule, lesson.why, lesson.how, *lesson.tags):
        assert " ".join(visible_lines(said.replace("\r\n", "\n")).split()) in shown


# --- registration -----------------------------------------------------------------------------------------------------


def test_a_driver_of_a_person_s_own_stays(repo: Path, learnloop: Run) -> None:
    git(repo, "config", "diff.learnloop-lesson.textconv", "mine")
    ran = learnloop("git-config", "--enable", cwd=repo)
    assert "diff.learnloop-lesson: a driver of your own has this name" in ran.out
    assert git(repo, "config", "diff.learnloop-lesson.textconv") == "mine"


def test_a_clone_that_merges_but_does_not_show_is_told(file: Path, repo: Path, learnloop: Run) -> None:
    git(repo, "config", "--unset", "diff.learnloop-lesson.textconv")
    assert "drivers are not registered" in learnloop("status", cwd=repo).out
    assert learnloop("git-config", "--enable", cwd=repo).out.rstrip().endswith(": diff.learnloop-lesson")
    assert "drivers are not registered" not in learnloop("status", cwd=repo).out


def test_a_memory_of_before_is_told_and_init_upgrades_its_line(file: Path, repo: Path, learnloop: Run) -> None:
    attributes = repo / ".gitattributes"
    new = attributes.read_text()
    attributes.write_text("# mine\n" + new.replace(" diff=learnloop-lesson", ""))
    git(repo, "commit", "-qam", "As before")
    said = learnloop("git-config", "--enable", cwd=repo).out
    assert "a-lesson.md: no line of .gitattributes says diff=learnloop-lesson: learnloop init adds it" in said
    assert learnloop("init", cwd=repo).code == 0
    assert attributes.read_text() == "# mine\n" + new
    assert "no line of" not in learnloop("git-config", "--enable", cwd=repo).out
    assert learnloop("init", cwd=repo).code == 0
    assert attributes.read_text() == "# mine\n" + new


def test_another_line_that_shows_lessons_is_told(file: Path, repo: Path, learnloop: Run) -> None:
    (repo / ".gitattributes").open("a").write("*.md diff=markdown\n")
    assert "says diff=markdown" in learnloop("git-config", "--enable", cwd=repo).out


def test_no_command_of_the_tool_runs_the_driver(file: Path, repo: Path, learnloop: Run, tmp_path: Path) -> None:
    """Design §6: no code of the repository's configuration is run."""
    trap = tmp_path / "trap"
    trap.write_text('#!/bin/sh\ntouch "$0.ran"\n')
    trap.chmod(0o755)
    git(repo, "config", "diff.learnloop-lesson.textconv", str(trap))
    file.write_text(LESSON.replace("candidate", "current"))
    for words in (("why", "a"), ("log",), ("check", "--new"), ("sync",), ("undo",), ("cleanup", "--hook")):
        learnloop(*words, cwd=repo)
    assert not (tmp_path / "trap.ran").exists()
    subprocess.run(["git", "log", "-p", "-1", "--", str(file)], cwd=repo, capture_output=True, check=False)
    assert (tmp_path / "trap.ran").exists(), "git itself runs it"
