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
    skill: Place | None  # that of the skill invoked in the session
    session: Session | None

    @property
    def event(self) -> str:
        return self.text("hook_event_name")

    @property
    def memory(self) -> Place | None:
        """The memory that the session's notes go to."""
        return self.skill or self.place

    @property
    def memories(self) -> list[Place]:
        """Those that Claude may write into in this session."""
        return [found for found in (self.skill, self.place) if found]

    def text(self, key: str) -> str:
        value = self.said.get(key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        return self.said.get(key) is True

    @property
    def given(self) -> Mapping[str, Any]:
        """The tool's input."""
        table = self.said.get("tool_input")
        return table if isinstance(table, Mapping) else {}

    def given_text(self, key: str) -> str:
        value = self.given.get(key)
        return value if isinstance(value, str) else ""


def of(said: Mapping[str, Any]) -> Moment:
    """The moment that an event tells of."""
    given, name = said.get("cwd"), said.get("session_id")
    cwd = Path(given) if isinstance(given, str) and given else Path.cwd()
    session = sessions.of(name) if isinstance(name, str) else None
    target = session.target if session else ""
    own = os.environ.get("CLAUDE_PLUGIN_ROOT", "")
    if not target and own and (Path(own) / "SKILL.md").is_file():
        target = own  # a hook in SKILL.md's head gets the skill's folder there (measured)
    return Moment(said, cwd, repos.near(cwd), _project(cwd), at(Path(target), cwd) if target else None, session)


def _project(cwd: Path) -> Place | None:
    try:
        return place.find(cwd, finder=repos.near)
    except LearnloopError:
        return None


def at(folder: Path, cwd: Path) -> Place | None:
    """The memory in a folder, None where it is none (any more)."""
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
