"""Open runs and the notes held in them: a file a session, outside of every repository, never injected (R003-10)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import locks, sessions
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.sessions import Row, Session

ENDING = ".run"  # of a session's name: signals stand in a file of their own and may fill it


class OpenRun(NamedTuple):
    """A run that has begun and not ended: its notes wait for its end."""

    session: str
    id: str
    since: str  # an ISO time
    home: str = ""  # of which repository, as its own folder of ours
    skill: str = ""
    task: str = ""
    held: tuple[Row, ...] = ()
    kept: tuple[str, ...] = ()  # slugs of lessons that did not wait
    left: str = ""  # an ISO time: Claude's session has ended since, and may be resumed

    @property
    def waiting(self) -> tuple[Row, ...]:
        """The held notes that are no lesson yet: an end that was killed may have kept some."""
        return tuple(row for row in self.held if not _is_kept(row))


class Left(NamedTuple):
    """A run that ended without a trace but this one."""

    id: str
    on: str
    dropped: int


def _file(session: str) -> Session:
    found = sessions.of(f"{session[:90]}{ENDING}")
    if found is None:
        raise UsageError(f"{session!r} cannot name a session", "use letters, digits, '-' and '.'")
    return found


@contextmanager
def locked(session: str) -> Iterator[None]:
    """Hold a session's run: no note slips in while it ends."""
    with locks.held(_file(session).path.with_suffix(".lock")):
        yield


def current(session: str) -> OpenRun | None:
    """The run that is open in a session."""
    return _open(session, _file(session))


def _open(session: str, file: Session) -> OpenRun | None:
    begun = next(reversed(file.rows("begun", "ended")), None)
    if begun is None or begun["what"] == "ended":
        return None
    run = str(begun.get("id", ""))
    rows = [row for row in file.rows("held") if row.get("run") == run]
    become = {row.get("note"): row for row in file.rows("becomes") if row.get("run") == run}
    held = tuple({**row, "becomes": become[n]} if n in become else row for n, row in enumerate(rows))
    kept = tuple(str(row.get("slug")) for row in file.rows("kept") if row.get("run") == run)
    since, home, skill, task = (str(begun.get(key, "")) for key in ("since", "home", "skill", "task"))
    last = file.rows("begun", "held", "kept", "left")[-1]  # after a resume the session is at work again
    left = str(last.get("on", "")) if last["what"] == "left" else ""
    return OpenRun(session, run, since, home, skill, task, held, kept, left)


def begin(run: OpenRun) -> None:
    """Open a run. Raises UnableError where that cannot be written."""
    _add(_file(run.session), "begun", id=run.id, since=run.since, home=run.home, skill=run.skill, task=run.task)


def hold(run: OpenRun, **note: Any) -> None:
    """Keep a note until its run has ended. Raises UnableError where it cannot be written."""
    _add(_file(run.session), "held", run=run.id, **note)


def becomes(run: OpenRun, note: int, **lesson: str) -> None:
    """Remember which lesson a held note is about to become: by that the next end knows what a killed one kept.

    Raises UnableError where that cannot be written.
    """
    _add(_file(run.session), "becomes", run=run.id, note=note, **lesson)


def _is_kept(row: Row) -> bool:
    """Whether the lesson that a held note was about to become is there, seen in its run."""
    lesson = row.get("becomes") or {}
    try:
        text = (Path(str(row.get("memory"))) / str(lesson["path"])).read_text("utf-8", "replace")
    except (KeyError, OSError):
        return False
    return str(lesson.get("by")) in text


def keep(run: OpenRun, slug: str) -> None:
    """Remember that a lesson was kept in a run without waiting for its end."""
    _add(_file(run.session), "kept", run=run.id, slug=slug)


def leave(session: str, on: str) -> None:
    """Remember that a session ended while its run was open; its held notes stay, for it may be resumed."""
    if current(session):
        _file(session).add("left", on=on)


def end(run: OpenRun, status: str, on: str, *, dropped: int = 0) -> None:
    """Close a run; what was held in it is gone from here."""
    _add(_file(run.session), "ended", id=run.id, status=status, on=on, home=run.home, dropped=dropped)


def _add(file: Session, what: str, **values: Any) -> None:
    before = len(file.rows(what))
    try:
        file.add(what, **values)
    except OSError as error:
        raise UnableError(f"{file.path} cannot be written: {error.strerror}", "free the disk or the permissions") from (
            error
        )
    if len(file.rows(what)) <= before:
        raise UnableError(f"{file.path} is full", "end the run: learnloop run finish", code="full")


def _files() -> list[tuple[str, Session]]:
    folder = _file("any").path.parent
    found = sorted(folder.glob(f"*{ENDING}.jsonl"))
    return [(path.name.removesuffix(f"{ENDING}.jsonl"), Session(path)) for path in found]


def open_runs(home: str) -> list[OpenRun]:
    """The runs that are open in any session of a repository, crashed ones too."""
    found = [_open(session, file) for session, file in _files()]
    return [run for run in found if run and run.home == home]


def abandoned(home: str) -> list[Left]:
    """The runs of a repository that were abandoned lately: a line is all that is left of them."""
    rows = [row for _, file in _files() for row in file.rows("ended") if row.get("status") == "abandoned"]
    here = [row for row in rows if row.get("home") == home and isinstance(row.get("dropped"), int)]
    return [Left(str(row.get("id")), str(row.get("on")), row["dropped"]) for row in here]
