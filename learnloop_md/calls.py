"""A command as it was called: its words, its options, the day, the run, the memory."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import place
from learnloop_md.apply import Asked
from learnloop_md.lesson import check_day
from learnloop_md.place import Place


class Call(NamedTuple):
    """One call; options that were not given have their default."""

    words: dict[str, Any]
    cwd: Path
    program: str = "learnloop"

    def text(self, name: str) -> str:
        return str(self.words.get(name) or "")

    def flag(self, name: str) -> bool:
        return bool(self.words.get(name))

    def many(self, name: str) -> tuple[str, ...]:
        return tuple(self.words.get(name) or ())

    @property
    def today(self) -> str:
        """--today, else the day in UTC."""
        given = self.text("today")
        return check_day(given) if given else datetime.now(UTC).date().isoformat()

    @property
    def asked(self) -> Asked:
        """How the command was asked for; the run is --run, else the first 8 characters of Claude's session."""
        run = self.text("run") or os.environ.get("CLAUDE_CODE_SESSION_ID", "")[:8]
        return Asked(self.today, run, dry_run=self.flag("dry_run"))

    @property
    def place(self) -> Place:
        """The memory that is meant."""
        return place.find(self.cwd, self.text("memory"))
