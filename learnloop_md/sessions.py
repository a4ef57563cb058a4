"""What was noticed in one session of Claude: signals, captures, what was asked; untracked, never injected as it is."""

from __future__ import annotations

import errno
import json
import os
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md.place import own_folder

Row = dict[str, Any]
_KEPT_DAYS = 14
_ROWS_LIMIT = 1_000_000  # bytes; a session that went wild must not slow every hook
_ENDING = ("becomes", "ended")  # there is room for these: a run whose file is full must end


class Session(NamedTuple):
    """One session's file of JSON lines; each hook and `note` appends whole lines, so no lock is needed."""

    path: Path

    def add(self, what: str, **values: object) -> None:
        """Append one row; only the owner may read the file. Raises OSError where it cannot be written whole."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        row = json.dumps({"what": what, **values}, separators=(",", ":")).encode() + b"\n"
        handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":  # half a row of a full disk: this one is no part of it
                row = b"\n" + row
            if (size < _ROWS_LIMIT or what in _ENDING) and os.write(handle, row) < len(row):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(handle)

    def rows(self, *what: str) -> list[Row]:
        """The rows of these kinds, oldest first; a damaged line is none."""
        try:
            lines = self.path.read_bytes().splitlines()
        except OSError:
            return []
        found = [row for line in lines if (row := _row(line))]
        return [row for row in found if row["what"] in what]

    def once(self, what: str) -> bool:
        """Whether this is the first time in the session; of hooks that run side by side one alone is the first."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(self._mark(what), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            return False
        return True

    def has(self, what: str) -> bool:
        """Whether `once` was asked before."""
        return self._mark(what).exists()

    def _mark(self, what: str) -> Path:
        return self.path.with_suffix(f".{what}")

    @property
    def target(self) -> str:
        """The folder of the skill's memory that the session's notes go to, "" for the project's."""
        rows = self.rows("target")
        return str(rows[-1].get("memory", "")) if rows else ""


def _row(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and isinstance(row.get("what"), str) else None


def of(session: str) -> Session | None:
    """The session of this name, None for a name that is none (it becomes a file's)."""
    return Session(_folder() / f"{session}.jsonl") if is_name(session) else None


def is_name(session: str) -> bool:
    """Whether a session's name can be a file's."""
    return bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", session))


def _folder() -> Path:
    """One for all repositories: a session may work in several."""
    return own_folder(None) / "sessions"


def forget_old(now: float | None = None) -> None:
    """Remove what was noticed in sessions that ended long ago."""
    limit = (time.time() if now is None else now) - _KEPT_DAYS * 86_400
    for file in _folder().glob("*"):
        try:
            if file.stat().st_mtime < limit:
                file.unlink()
        except OSError:  # another one was quicker
            continue
