"""Lesson files that a person has staged: what hangs together with them waits with them, everything else goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run, git
from tests.homes import make_home

ASK, NEW, OTHER = "ask-before-renaming-public-names", "ask-first", "stage-files-by-name"
WAY_OUT = "is staged: commit or unstage it"


@pytest.fixture
def asked(repo: Path, memory: Path, learnloop: Run) -> Path:
    """A memory with two lessons, of which the first has a line in a person's words."""
    learnloop("note", "Ask before renaming public names.", cwd=repo)
    learnloop("note", "Stage files by name.", cwd=repo)
    document = memory / "MEMORY.md"
    document.write_text(document.read_text().replace(f"({ASK}.md)", f"({ASK}.md) — a person's own hook"))
    learnloop("sync", cwd=repo)
    return memory


def renamed(memory: Path) -> None:
    git(memory, "mv", f"{ASK}.md", f"{NEW}.md")


def head(repo: Path) -> tuple[str, set[str]]:
    """HEAD's document, and the lesson files that HEAD has."""
    names = git(repo, "ls-tree", "--name-only", "HEAD:.claude/memory").splitlines()
    return git(repo, "show", "HEAD:.claude/memory/MEMORY.md"), {n[:-3] for n in names} - {"MEMORY"}


def in_step(repo: Path) -> bool:
    """Whether HEAD's document names HEAD's lesson files and no other."""
    text, slugs = head(repo)
    return all(f"({slug}.md)" in text for slug in slugs) and text.count(".md)") == len(slugs)


def test_a_staged_rename_waits_with_its_line(asked: Path, repo: Path, learnloop: Run) -> None:
    """Design §6: no half of what a person has staged is committed, and why it waits is told."""
    before = head(repo)
    renamed(asked)
    staged = git(repo, "diff", "--cached")
    done = learnloop("sync", cwd=repo)
    assert f"{NEW}.md {WAY_OUT}" in done.err
    learnloop("archive", NEW, "--note", "x", cwd=repo)
    again = learnloop("sync", cwd=repo)
    assert again.out.strip() == "everything else is in step"
    assert (head(repo), git(repo, "diff", "--cached")) == (before, staged)
    assert f"2 queued changes wait: .claude/memory/{NEW}.md {WAY_OUT}" in learnloop("status", cwd=repo).out


def test_other_lessons_go_on_while_one_is_staged(asked: Path, repo: Path, learnloop: Run) -> None:
    """Their files and lines are committed; the line of the staged one stays as it was, word for word."""
    renamed(asked)
    learnloop("sync", cwd=repo)
    assert learnloop("confirm", OTHER, "--json", cwd=repo).json["commits"]
    learnloop("note", "Read the log.", cwd=repo)
    text, slugs = head(repo)
    assert slugs == {ASK, OTHER, "read-the-log"}
    assert f"({ASK}.md) — a person's own hook" in text
    assert in_step(repo)


@pytest.mark.parametrize("way", [("commit", "-q", "-m", "Mine"), ("reset", "-q")])
def test_what_waited_is_committed_when_its_person_is_done(
    asked: Path, repo: Path, learnloop: Run, way: tuple[str, ...]
) -> None:
    renamed(asked)
    learnloop("sync", cwd=repo)
    learnloop("note", "Read the log.", cwd=repo)
    git(repo, *way)
    learnloop("sync", cwd=repo)
    assert git(repo, "status", "--short") == ""
    assert (in_step(repo), head(repo)[1]) == (True, {NEW, OTHER, "read-the-log"})
    assert "a person's own hook" in head(repo)[0]


def test_a_staged_rename_that_is_taken_back_does_not_return(asked: Path, repo: Path, learnloop: Run) -> None:
    renamed(asked)
    learnloop("sync", cwd=repo)
    git(repo, "reset", "-q", "--hard")
    learnloop("sync", cwd=repo)
    assert (in_step(repo), head(repo)[1]) == (True, {ASK, OTHER})
    assert not (asked / f"{NEW}.md").exists()


def test_a_staged_new_lesson_waits_with_its_line(asked: Path, repo: Path, learnloop: Run) -> None:
    file = asked / "count-twice.md"
    file.write_text("---\nname: count-twice\ndescription: Count twice\n---\n\nCount twice.\n")
    git(repo, "add", str(file))
    done = learnloop("sync", cwd=repo)
    assert f"count-twice.md {WAY_OUT}" in done.err
    assert "(count-twice.md)" in (asked / "MEMORY.md").read_text()
    assert in_step(repo)


def staged_new(memory: Path) -> Path:
    """A lesson by hand, staged as a whole."""
    file = memory / "count-twice.md"
    file.write_text("---\nname: count-twice\ndescription: Count twice\n---\n\nCount twice.\n")
    git(memory, "add", str(file))
    return file


@pytest.mark.parametrize("again", [False, True], ids=["once", "again"])
def test_what_a_command_did_to_a_staged_new_lesson_is_committed_on_top_of_its_person_s(
    asked: Path, repo: Path, learnloop: Run, *, again: bool
) -> None:
    """docs/commands.md: under the command's own name, once the person's commit holds just what the command found."""
    file = staged_new(asked)
    learnloop("sync", cwd=repo)
    if again:
        git(repo, "add", str(file))  # with what absorbing added to it
    staged = git(repo, "ls-files", "-s", str(file))
    for run in ("r8", "r9"):
        assert learnloop("confirm", "count-twice", "--run", run, "--json", cwd=repo).json["queued"]
    assert git(repo, "ls-files", "-s", str(file)) == staged
    assert f"3 queued changes wait: .claude/memory/count-twice.md {WAY_OUT}" in learnloop("status", cwd=repo).out
    git(repo, "commit", "-q", "-m", "Mine")
    learnloop("sync", cwd=repo)
    told = git(repo, "log", "-6", "--format=%s").splitlines()
    told = told[: told.index("Mine")]
    assert told.count("learnloop: confirm count-twice") == 2, told
    assert (in_step(repo), git(repo, "status", "--short")) == (True, "")


@pytest.mark.parametrize("way", ["unstaged", "removed", "other words", "committed and removed"])
def test_a_staged_new_lesson_that_is_taken_back_is_not_committed_by_the_queue(
    asked: Path, repo: Path, learnloop: Run, way: str
) -> None:
    """What then stands in the file is absorbed, under no command's name; what is gone does not return."""
    file = staged_new(asked)
    learnloop("sync", cwd=repo)
    git(repo, "add", str(file))
    learnloop("confirm", "count-twice", cwd=repo)
    if way == "unstaged":
        git(repo, "reset", "-q", str(file))
    elif way == "removed":
        git(repo, "rm", "-q", "-f", str(file))
    else:
        if way == "other words":
            file.write_text(file.read_text().replace("Count twice.\n", "Count thrice.\n"))
            git(repo, "add", str(file))
        git(repo, "commit", "-q", "-m", "Mine")
    if way == "committed and removed":
        file.unlink()
    learnloop("sync", cwd=repo)
    assert "learnloop: confirm count-twice" not in git(repo, "log", "--format=%s").splitlines()
    assert (file.exists(), in_step(repo), git(repo, "status", "--short")) == ("removed" not in way, True, "")


def test_a_staged_removal_waits_with_its_line(asked: Path, repo: Path, learnloop: Run) -> None:
    before = head(repo)
    git(repo, "rm", "-q", str(asked / f"{ASK}.md"))
    done = learnloop("sync", cwd=repo)
    assert f"{ASK}.md {WAY_OUT}" in done.err
    assert head(repo) == before
    assert f"{ASK}.md {WAY_OUT}" in learnloop("status", cwd=repo).out
    git(repo, "commit", "-q", "-m", "Mine")
    learnloop("sync", cwd=repo)
    assert (in_step(repo), head(repo)[1], git(repo, "status", "--short")) == (True, {OTHER}, "")


def test_a_staged_removal_is_told_once_and_can_be_restored(asked: Path, repo: Path, learnloop: Run) -> None:
    git(repo, "rm", "-q", str(asked / f"{ASK}.md"))
    assert f"{ASK} was removed by hand" in learnloop("sync", cwd=repo).err
    assert "was removed" not in learnloop("sync", cwd=repo).err
    assert learnloop("restore", "ask", cwd=repo).code == 0
    assert (asked / f"{ASK}.md").is_file()


def test_an_entry_of_a_notebook_waits_with_its_staged_lesson(tmp_path: Path, learnloop: Run) -> None:
    """The same for a skill's memory."""
    skill = make_home("skill", tmp_path / "skill", learnloop).folder.parent
    learnloop("note", "Ask before renaming public names.", cwd=skill)
    path = "references/memory.md"
    before = git(skill, "show", f"HEAD:./{path}")
    git(skill, "mv", f"references/lessons/{ASK}.md", f"references/lessons/{NEW}.md")
    learnloop("sync", cwd=skill)
    assert git(skill, "show", f"HEAD:./{path}") == before
    learnloop("note", "Read the log.", cwd=skill)
    text = git(skill, "show", f"HEAD:./{path}")
    assert ("Read the log" in text, f"{ASK}.md" in text, f"{NEW}.md" in text) == (True, f"{ASK}.md" in before, False)


def test_a_lesson_that_a_person_has_staged_is_not_renamed(asked: Path, repo: Path, learnloop: Run) -> None:
    """Their words would get into a commit under the new name."""
    lesson = next(path for path in asked.glob("*.md") if path.name != "MEMORY.md")
    lesson.write_text(lesson.read_text().replace("\n---\n\n", "\n---\n\nNOT READY. ", 1))
    git(repo, "add", str(lesson))
    before = git(repo, "status", "--porcelain", "-z")
    done = learnloop("rename", lesson.stem, "other-name")
    assert (done.code, f"{lesson.name} is staged — commit or unstage it" in done.err) == (4, True)
    assert git(repo, "status", "--porcelain", "-z") == before
    learnloop("note", "Use tabs in makefiles.")
    assert "NOT READY" not in git(repo, "log", "-p")
