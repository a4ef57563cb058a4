"""The shapes of real memories that codec tests run over: every topic file, index and notebook below tests/data."""

from __future__ import annotations

from pathlib import Path

from learnloop_md import lessonfile
from tests.conftest import DATA

TOPICS = sorted(path for path in (DATA / "shapes" / "topic").rglob("*.md"))
LESSONS = sorted(path for path in (DATA / "cases").rglob("*.md") if path.name not in ("MEMORY.md", "README.md"))
INDEXES = sorted((DATA / "shapes" / "index").rglob("MEMORY.md")) + sorted((DATA / "cases").rglob("MEMORY.md"))
NOTEBOOKS = sorted((DATA / "shapes" / "zones").glob("*.md")) + sorted((DATA / "round1").rglob("memory.md"))


def name(path: Path) -> str:
    """A short name for a parametrised test."""
    return path.relative_to(DATA).as_posix()


def readable() -> list[Path]:
    """The lesson files that are not quarantined."""
    return [
        path
        for path in TOPICS + LESSONS
        if isinstance(lessonfile.read(path.name, path.read_bytes()), lessonfile.Reading)
    ]
