"""Calls of the system that fail on purpose: the n-th of a kind, once or from then on."""

from __future__ import annotations

import builtins
import errno
import io
import mmap
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("replace", "fsync", "open", "write", "unlink", "git", "exec")
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES}


class Fault(NamedTuple):
    """Which call fails: the n-th of a kind below a folder, with this error, and those after it unless once."""

    kind: str
    n: int
    error: str
    once: bool
    below: Path
    met: mmap.mmap  # shared with the parent: byte 0 is 1 when the fault struck

    def install(self) -> None:
        """Put the fault into this process."""
        _Breaker(self).install()


def shared() -> mmap.mmap:
    """A byte that a forked child can set for its parent."""
    return mmap.mmap(-1, 1)


class _Breaker:
    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.count = 0

    def strikes(self) -> bool:
        """Count one more call and tell whether it fails."""
        self.count += 1
        hit = self.count == self.fault.n if self.fault.once else self.count >= self.fault.n
        if hit:
            self.fault.met[0] = 1
        return hit

    def error(self, path: object = None) -> OSError:
        number = ERRORS[self.fault.error]
        return OSError(number, os.strerror(number), None if path is None else str(path))

    def ours(self, path: object) -> bool:
        """Whether a path, or the regular file behind a handle, lies in the sandbox."""
        try:
            if isinstance(path, int):
                return stat.S_ISREG(os.fstat(path).st_mode) and self.ours(os.readlink(f"/proc/self/fd/{path}"))
            full = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]
        except (OSError, TypeError):
            return False
        return full.startswith(f"{self.fault.below}{os.sep}")

    def install(self) -> None:
        getattr(self, f"_{self.fault.kind}")()

    def _guard(self, owner: Any, *names: str) -> None:
        for name in names:
            setattr(owner, name, self._guarded(getattr(owner, name)))

    def _guarded(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **more: Any) -> Any:
            if self.ours(path) and self.strikes():
                raise self.error(path if not isinstance(path, int) else None)
            return real(path, *args, **more)

        return call

    def _replace(self) -> None:
        self._guard(os, "replace", "rename", "link")

    def _fsync(self) -> None:
        self._guard(os, "fsync", "fdatasync")

    def _unlink(self) -> None:
        self._guard(os, "unlink", "remove")

    def _open(self) -> None:
        """Opening for writing: by number (os.open), by name (open, Path.open)."""
        low, high = os.open, io.open

        def os_open(path: Any, flags: int, *args: Any, **more: Any) -> int:
            if flags & (os.O_WRONLY | os.O_RDWR) and self.ours(path) and self.strikes():
                raise self.error(path)
            return low(path, flags, *args, **more)

        def file_open(file: Any, mode: str = "r", *args: Any, **more: Any) -> Any:
            if set(mode) & set("wax+") and not isinstance(file, int) and self.ours(file) and self.strikes():
                raise self.error(file)
            return high(file, mode, *args, **more)

        os.open = os_open
        io.open = builtins.open = file_open

    def _write(self) -> None:
        """Writing, as a full disk does it: half of the bytes arrive, then the error."""
        low, high = os.write, io.open

        def os_write(handle: int, data: Any) -> int:
            if self.ours(handle) and self.strikes():
                low(handle, bytes(data)[: len(data) // 2])
                raise self.error()
            return low(handle, data)

        def file_open(file: Any, mode: str = "r", *args: Any, **more: Any) -> Any:
            made = high(file, mode, *args, **more)
            return _Failing(made, self) if set(mode) & set("wax+") and self.ours(file) else made

        os.write = os_write
        io.open = builtins.open = file_open

    def _git(self) -> None:
        """git runs and ends with 128 without having done a thing."""
        said = f"fatal: cannot do it: {os.strerror(ERRORS[self.fault.error])}"
        self._popen(["/bin/sh", "-c", f"echo '{said}' >&2; exit 128"])

    def _exec(self) -> None:
        """git cannot even be started."""
        self._popen(None)

    def _popen(self, instead: list[str] | None) -> None:
        real = subprocess.Popen.__init__

        def init(popen: Any, args: Any, *more: Any, **named: Any) -> None:
            name = args if isinstance(args, str) else args[0]
            if os.path.basename(name) == "git" and self.strikes():
                if instead is None:
                    raise self.error("git")
                args = instead
            real(popen, args, *more, **named)

        subprocess.Popen.__init__ = init  # type: ignore[assignment, method-assign]


class _Failing:
    """A file whose writing may fail in the middle."""

    def __init__(self, file: Any, breaker: _Breaker) -> None:
        self._file, self._breaker = file, breaker

    def write(self, data: Any) -> Any:
        if self._breaker.strikes():
            self._file.write(data[: len(data) // 2])
            self._file.flush()
            raise self._breaker.error()
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Failing:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __iter__(self) -> Any:
        return iter(self._file)
