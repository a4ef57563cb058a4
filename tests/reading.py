"""What a test looks at after a command: a lesson as its file says it, the log, every byte below a folder."""

from __future__ import annotations

from pathlib import Path

from learnloop_md import lessonfile
from learnloop_md.lesson import Lesson
from tests.conftest import Run, git


def lesson(memory: Path, slug: str) -> Lesson:
    """The lesson in a memory's file."""
    path = next(path for path in memory.rglob("*.md") if path.stem == slug)
    reading = lessonfile.read(path.name, path.read_bytes())
    assert isinstance(reading, lessonfile.Reading), f"{path} is quarantined: {reading}"
    return reading.lesson


def subjects(repo: Path, revision: str = "HEAD") -> list[str]:
    """The subjects of the commits, newest first."""
    return git(repo, "log", "--format=%s", revision).split("\n")


def every_byte(root: Path) -> dict[str, bytes]:
    """Every file below a folder, git's own included."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def made_skill(repo: Path, learnloop: Run) -> Path:
    """The folder of a committed skill with a memory of its own."""
    skill = repo / "skills" / "review"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: review\ndescription: Review changes\n---\n\n# Review\n\nLook.\n")
    git(repo, "add", "skills")
    git(repo, "commit", "-q", "-m", "Add a skill")
    done = learnloop("init", "--skill", "skills/review", cwd=repo)
    assert done.code == 0, done.err
    return skill
