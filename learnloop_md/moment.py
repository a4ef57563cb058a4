"""One event of Claude Code's hooks: what the client says, and the memory and the session that it concerns."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import place, repos, sessions
from learnloop_md.errors import LearnloopError
from learnloop_md.place import Place
from learnloop_md.repos import Repo
from learnloop_md.sessions import Session


class Moment(NamedTuple):
    """An event with what it concerns; a field of the wrong kind counts as absent."""

    said: Mapping[str, Any]
    cwd: Path
    repo: Repo | None
    place: Place | None  # the project's memory, None where there is none
    session: Session | None

    @property
    def event(self) -> str:
        return self.text("hook_event_name")

    def text(self, key: str) -> str:
        value = self.said.get(key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        return self.said.get(key) is True

    def given(self, key: str) -> str:
        """A text among the tool's input."""
        table = self.said.get("tool_input")
        value = table.get(key) if isinstance(table, Mapping) else None
        return value if isinstance(value, str) else ""

    @property
    def memory(self) -> Place | None:
        """The memory that the session's notes go to: the invoked skill's, else the project's."""
        target = self.session.target if self.session else ""
        own = os.environ.get("CLAUDE_PLUGIN_ROOT", "")
        if not target and own and (Path(own) / "SKILL.md").is_file():
            target = own  # a hook in SKILL.md's head gets the skill's folder there (measured)
        return at(Path(target), self.cwd) if target else self.place


def of(said: Mapping[str, Any]) -> Moment:
    """The moment that an event tells of."""
    given = said.get("cwd")
    cwd = Path(given) if isinstance(given, str) and given else Path.cwd()
    repo = repos.near(cwd)
    name = said.get("session_id")
    return Moment(said, cwd, repo, _project(cwd), sessions.of(repo, name if isinstance(name, str) else ""))


def _project(cwd: Path) -> Place | None:
    try:
        return place.find(cwd, finder=repos.near)
    except LearnloopError:
        return None


def at(folder: Path, cwd: Path) -> Place | None:
    """The memory in a folder, None where it is none."""
    try:
        return place.given(cwd, str(folder), "the session", repos.near)
    except LearnloopError:
        return None


def start_sync(memory: Place) -> None:
    """Start `learnloop sync` on a memory and let it run: the hook's answer waits for nothing (design §7).

    It is the same program (-P: no module of the working directory can stand in for one of ours).
    """
    words = [sys.executable, "-P", "-m", "learnloop_md", "sync", "--from-claude", "--memory", str(memory.folder)]
    nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    os.posix_spawn(sys.executable, words, os.environ, file_actions=nothing, setsid=True)
