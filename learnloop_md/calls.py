"""A command as it was called: its words, its options, the day, the run, the memory."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from learnloop_md import claude, git, locks, place, repos, sessions
from learnloop_md.errors import LearnloopError, RefusedError, UsageError
from learnloop_md.lesson import check_day, slugify
from learnloop_md.place import Place

if TYPE_CHECKING:
    from learnloop_md.apply import Done
    from learnloop_md.commits import Asked  # lazy: `show` applies nothing

RUN_LIMIT = 100  # characters


class Call(NamedTuple):
    """One call; options that were not given have their default."""

    words: dict[str, Any]
    cwd: Path
    program: str = "learnloop"

    def text(self, name: str) -> str:
        return str(self.words.get(name) or "")

    def named(self, name: str, told: str = "") -> str:
        """An option, or the word that is told so, which names what is made, or is repeated.

        Raises RefusedError where it holds a secret (R004-20).
        """
        if given := self.text(name):
            from learnloop_md import guard  # lazy: `show` names nothing

            guard.refuse_secrets({told or f"--{name.replace('_', '-')}": given})
        return given

    def flag(self, name: str) -> bool:
        return bool(self.words.get(name))

    def many(self, name: str) -> tuple[str, ...]:
        return tuple(self.words.get(name) or ())

    def number(self, name: str, otherwise: int) -> int:
        """A number above 0, otherwise where it was not given."""
        given = self.words.get(name)
        if given is None:
            return otherwise
        if int(given) < 1:
            raise UsageError(f"--{name.replace('_', '-')} {given} is not above 0", f"leave it away for {otherwise}")
        return int(given)

    @property
    def today(self) -> str:
        """--today, else the day in UTC."""
        given = self.text("today")
        return check_day(given) if given else datetime.now(UTC).date().isoformat()

    @property
    def asked(self) -> Asked:
        """How the command was asked for; the run is --run, else 8 characters of Claude's session."""
        from learnloop_md.commits import Asked

        run = self.named("run").strip()
        if len(run) > RUN_LIMIT or not run.isprintable():  # it becomes a trailer of the commit message
            raise UsageError(
                "--run is not one short line", "name the run in a few letters or digits, for example 3f2a81c0"
            )
        return Asked(
            self.today, run or claude.session()[:8], dry_run=self.flag("dry_run"), by_claude=self.flag("from_claude")
        )

    @property
    def place(self) -> Place:
        """The memory that is meant."""
        return place.find(self.cwd, self.text("memory"))

    @property
    def target(self) -> Place:
        """The memory that lessons are noted in and named of: as ever, but that of the skill invoked in this session."""
        named = self.text("memory") or os.environ.get("LEARNLOOP_MEMORY", "")
        session = None if named else sessions.of(claude.session())
        skill = session.target if session else ""
        with suppress(LearnloopError):  # the skill's folder is gone, by a switch of branches: nothing is lost to that
            if skill:
                return place.given(self.cwd, skill, "the skill invoked in this session")
        return self.place

    @property
    def session(self) -> str:
        """Whose open run is meant: Claude's session, else the one of --run or of the terminals of this repository."""
        claimed, run = claude.session(), self.named("run").strip()
        if sessions.is_name(claimed):
            return claimed
        key = hashlib.sha256(f"{self.home}\n{claimed}\n{run}".encode(errors="surrogateescape")).hexdigest()[:8]
        named = slugify(run) if run else "terminal"
        return f"{named if named.isascii() else 'run'}-{key}"

    @property
    def home(self) -> str:
        """Where the tool keeps its own files on the repository around the working directory; git is not started."""
        return str(place.own_folder(repos.near(self.cwd)))

    def captured(self, slug: str) -> None:
        """Remember that this session has captured a lesson, so that nothing asks for it at its end."""
        if session := sessions.of(claude.session()):
            with suppress(OSError):
                session.add("captured", slug=slug)

    @property
    def hooked_places(self) -> list[Place]:
        """The memories that a pre-commit hook looks at: the one named, else all that the repository tracks.

        None in a commit of ours, which was checked when it was planned.
        """
        if locks.ACTIVE in os.environ:
            return []
        repo = git.find(self.cwd)
        return [self.place] if repo is None or self.text("memory") else place.in_repo(repo)

    def look(self, where: Place) -> Done:
        """The memory as after absorbing; as it stands where a guard refuses what is to be absorbed."""
        from learnloop_md import apply

        try:
            return apply.look(where, self.asked)
        except LearnloopError as error:
            if not isinstance(error, RefusedError) and error.code not in ("conflict", "memory-gone"):
                raise
            way_out = f" — {error.hint}" if error.code == "memory-gone" else ""
            return apply.unabsorbed(where, self.asked, f"not absorbed: {error.message}{way_out}", error.message)
