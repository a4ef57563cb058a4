"""Locks that the kernel keeps: it queues those who wait, and frees a lock when its holder dies."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from learnloop_md.errors import UnableError

ACTIVE = "LEARNLOOP_ACTIVE"  # in the environment of a person's git hook that a commit of ours runs, under our lock
PATIENCE_S = 60.0  # twenty writers in a row need three seconds


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a lock file; who waits is queued by the kernel (polling starved writers for two minutes under load).

    Raises UnableError where it cannot be made, or naming the holder when waiting was in vain.
    """
    import fcntl  # lazy: POSIX only, and only writers need it

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise UnableError(f"{path.parent} cannot be written: {error.strerror}", "check its permissions") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            with _alarm(PATIENCE_S, path):
                fcntl.flock(handle, fcntl.LOCK_EX)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


@contextmanager
def _alarm(seconds: float, path: Path) -> Iterator[None]:
    """Raises UnableError when the body has not ended in time; without limit off the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(*_: object) -> None:
        holder = path.read_text("ascii", "replace").strip() or "?"
        message = f"another learnloop command (process {holder}) has held the memory's lock for {seconds:g} s"
        raise UnableError(message, "wait for it, or end it", code="locked")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def is_alive(pid: int) -> bool:
    """Whether a process with this number runs here."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
