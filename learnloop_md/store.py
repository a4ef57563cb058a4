"""The memory's files on disk: read what is regular and inside, write atomically, keep what was last agreed."""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import locks
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.lessonfile import SIZE_LIMIT, Quarantined
from learnloop_md.place import Place

_ACTING = frozenset("<>`")
_TEMPORARY = ".learnloop-"  # then the process that writes it


class WriteError(UnableError):
    """A file could not be written; it, and what was to be written with it, is as it was."""


class Files(NamedTuple):
    """What a memory's folder holds: path to bytes, and what could not or must not be read."""

    data: dict[str, bytes]
    refused: tuple[Quarantined, ...] = ()


def read(folder: Path, inside: str = "") -> Files:
    """Every markdown file below folder/inside, regular files only, through no link that leads out (design §3, §11)."""
    data: dict[str, bytes] = {}
    refused: list[Quarantined] = []
    links: list[tuple[str, str]] = []
    if inside and (folder / inside).is_symlink():
        return Files({}, (Quarantined(inside, "symlink-escape", 1, "the folder of the lessons is a link"),))
    for path, where in _walk(folder, inside):
        outcome = _read_one(folder, path, where)
        if isinstance(outcome, Quarantined):
            refused.append(outcome)
        elif isinstance(outcome, str):
            links.append((path, outcome))
        else:
            data[path] = outcome
    refused += [
        Quarantined(path, "symlink-escape", 1, "a link that leads nowhere we read")
        for path, goal in links
        if goal not in data
    ]
    return Files(dict(sorted(data.items())), tuple(sorted(refused)))


def _walk(folder: Path, inside: str) -> Iterator[tuple[str, int]]:
    """Each thing named *.md, with the open folder it stands in: a folder swapped for a link meanwhile leads nowhere."""
    top = str(folder / inside)
    with suppress(OSError):  # a folder that is not there, or that we may not open, holds nothing
        for here, folders, names, handle in os.fwalk(top):
            inner = f"{inside}{here[len(top) :]}".strip("/")
            named = sorted(name for name in (*names, *folders) if name.endswith(".md"))
            folders[:] = sorted(name for name in folders if not name.endswith(".md") and not name.startswith("."))
            for name in named:
                yield f"{inner}/{name}" if inner else name, handle


def bad_name(path: str) -> Quarantined | None:
    """Why a file of this path is not read, None where its name stands in nobody's way (security: names)."""
    if not path.isprintable():  # git, documents and terminals would each read such a name another way
        return Quarantined(path, "bad-name", 1, "its name holds hidden, control or undecodable characters")
    if not _ACTING.isdisjoint(path.rpartition("/")[2]):  # told beside the lesson, it would end a code span, begin a tag
        return Quarantined(path, "bad-name", 1, "its name holds one of < > `")
    return None


def _read_one(folder: Path, path: str, where: int) -> bytes | str | Quarantined:
    """The bytes of a file; for a link inside the memory the path it leads to; else why it is not read."""
    if bad := bad_name(path):
        return bad
    name = path.rpartition("/")[2]
    try:
        info = os.stat(name, dir_fd=where, follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            goal = os.path.realpath(folder / path)
            root = os.path.realpath(folder) + os.sep
            return goal.removeprefix(root) if goal.startswith(root) else ""
        if not stat.S_ISREG(info.st_mode):
            return Quarantined(path, "not-a-regular-file", 1, "not a regular file")
        if info.st_nlink > 1:
            return Quarantined(path, "hardlink", 1, "the file has a second name elsewhere")
        if info.st_size > SIZE_LIMIT:
            return Quarantined(path, "too-large", 1, "larger than 1 MiB")
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=where)
        with os.fdopen(handle, "rb") as file:
            if not os.path.samestat(info, os.fstat(file.fileno())):
                return Quarantined(path, "unreadable", 1, "it was replaced while it was read")
            # A read makes room for all it may get: 1 MiB for each of 10,000 small files takes 0.1 s.
            data = file.read(info.st_size + 1)
            return data + file.read(SIZE_LIMIT) if len(data) > info.st_size else data
    except OSError as error:
        return Quarantined(path, "unreadable", 1, error.strerror or "cannot be read")


def is_open_to_all(folder: Path) -> bool:
    """Whether any user of the machine may put files into the folder."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_IWOTH)


def read_bytes(path: Path) -> bytes | None:
    """A file's bytes, None where there is none. Raises UnableError where it cannot be read, and for what is no file."""
    try:
        with open(path, "rb", opener=_at_once) as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnableError(f"{path} cannot be read: {error.strerror}", "check its permissions") from error
    raise UnableError(f"{path} is no regular file", "put a file in its place")


def _at_once(path: str, flags: int) -> int:
    """Open a file; a pipe would keep us waiting for its other end, and everybody for our lock."""
    return os.open(path, flags | os.O_NONBLOCK)


def read_text(path: Path, name: str) -> str | None:
    """The text of a file that somebody else keeps and we add to, None where there is none.

    Raises UsageError where it is not UTF-8: what we add would be in another encoding than the rest.
    """
    data = read_bytes(path)
    try:
        text = None if data is None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(name, data or b"", error.start) from error
    if text is not None and "\0" in text:  # UTF-16 of ASCII
        raise _not_utf8(name, data or b"", (data or b"").index(0))
    return text


def _not_utf8(name: str, data: bytes, at: int) -> UsageError:
    message = f"{name}:{data.count(bytes([10]), 0, at) + 1}: not UTF-8 text"
    return UsageError(message, "save it as UTF-8 first; nothing was changed", code="not-utf8")


def refuse_lost(path: Path, name: str) -> None:
    """Nothing, where a file may be made at path. Raises UnableError where its folder is not there: that is a slip."""
    if not path.parent.is_dir():
        raise UnableError(f"{name} cannot be written", "name a file in a folder that is there", code="no-folder")


def write(path: Path, content: bytes | None, *, durable: bool = True) -> None:
    """Write content so that a reader sees the old file or the new one, never half; None removes the file.

    A document that is a link is written through, the link kept. What is not durable (a cache) may be lost with the
    power, never half. Raises UnableError (disk full, read-only …).
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if target.exists() and not target.is_file():  # a file would take the place of a device, for everybody
        raise WriteError(f"{path} is no regular file", "name another file")
    temporary = ""
    try:
        if content is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=f"{_TEMPORARY}{os.getpid()}-", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
        if durable:
            _sync_folder(target.parent)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise WriteError(
            f"{path} cannot be written: {error.strerror}",
            "nothing was half written; free the disk or the permissions",
        ) from error


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# --- what the tool remembers beside the memory ----------------------------------------------------------------------


class Agreed(NamedTuple):
    """The newest state in which a lesson's file and entry agreed: both texts, as last written or seen."""

    path: str
    text: str
    entry: str  # the entry's raw text, "" where it has none
    zone: str
    reader: str = ""  # who was served its words with trust = "own"; "" where everybody's words were served


class Ledger(NamedTuple):
    """The base of every three-way comparison, and the changes that wait for their commit."""

    agreed: dict[str, Agreed]
    commit: str = ""  # HEAD when it was written
    queue: tuple[dict[str, Any], ...] = ()  # see `owed`
    loose: str = ""  # the last change of a command that the memory's history does not tell (a private lesson)
    aside: str = ""  # the branch that a command made its last commit on, where that is not here
    until: str = ""  # HEAD when the first command after that change began, "" before there is one

    def later(self, head: str) -> Ledger:
        """Once a command has made a change that the history tells: what is newer than HEAD was, is newer than that."""
        return self._replace(until=self.until or head) if self.loose or self.aside else self


Entries = Mapping[str, str | None]  # by path in the repository "mode blob", None where there is nothing


def owed(item: Mapping[str, Any], heads: Entries, on_disk: Entries, document: str) -> dict[str, str | None]:
    """What HEAD lacks of a queued change and nobody committed over: its files as they are to be.

    "was" is what HEAD had of each, or the change before it in the queue; "below" what the command found where a person
    had staged words of theirs. Once they have committed just these, the rest is ours alone. Where they took the file
    back or committed something else, nothing is owed: half a change is not committed under its name. Only the document
    may be another: it is brought in step with the lessons.
    """
    was, below = item["was"], item["below"]
    files = {path: entry for path, entry in item["files"].items() if heads[path] != entry}
    theirs = files.keys() & below.keys()
    taken_back = (path for path in theirs if None in (heads[path], on_disk[path]) or on_disk[path] == heads[path])
    if any(taken_back) or any(heads[path] not in (was[path], below[path]) for path in theirs):
        return {}
    ours = {path: entry for path, entry in files.items() if path in theirs or heads[path] == was[path]}
    return ours if files.keys() - ours.keys() <= {document} else {}


def load_ledger(place: Place) -> Ledger | None:
    """What was last agreed, None where nothing is remembered (a fresh clone, a damaged note)."""
    try:
        raw = json.loads((place.state / "ledger.json").read_text("utf-8"))
        agreed = {slug: Agreed(*map(str, row)) for slug, row in raw["agreed"].items()}
        queue = tuple(
            {
                "message": str(q["message"]),
                "files": dict(q["files"]),
                "was": dict(q["was"]),
                "below": dict(q.get("below", {})),
                "head": str(q.get("head", "")),
            }
            for q in raw["queue"]
        )
        untold = (str(raw.get(key, "")) for key in ("loose", "aside", "until"))
        return Ledger(agreed, str(raw["commit"]), queue, *untold)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save_ledger(place: Place, ledger: Ledger) -> None:
    """Remember the ledger."""
    write(
        place.state / "ledger.json",
        json.dumps(ledger._asdict(), separators=(",", ":")).encode(),  # ASCII: names that are not UTF-8 come back whole
    )


def locked(place: Place) -> AbstractContextManager[None]:
    """Hold the memory's lock. Raises UnableError in a hook that a commit of ours runs: it would wait for itself."""
    if locks.ACTIVE in os.environ:
        raise UnableError("learnloop is making a commit", "do it after that commit", code="own-commit")
    return locks.held(place.state / "lock")


def write_all(folder: Path, files: Mapping[str, bytes | None]) -> None:
    """Write several files; when one cannot be written, those before it get their old bytes back.

    Raises WriteError then, UnableError where that failed too: the journal lets the next command finish.
    """
    done: list[tuple[Path, bytes | None]] = []
    for path in files:
        _refuse_linked(folder, path)
    try:
        olds = {path: read_bytes(folder / path) for path in files}
    except UnableError as error:
        raise WriteError(error.message, error.hint) from error
    try:
        for path, content in files.items():
            if olds[path] != content:
                write(folder / path, content)
                done.append((folder / path, olds[path]))
    except WriteError:
        try:
            for full, old in reversed(done):
                write(full, old)
        except WriteError as error:
            raise UnableError(error.message, "free the disk; the next command completes this one") from error
        raise


def _refuse_linked(folder: Path, path: str) -> None:
    """Nothing, when no folder between the memory's and the file is a link: what is written stays inside."""
    between = path.split("/")[:-1]
    if ".." in between:
        return  # a file of the repository outside the memory, which the command named
    for n in range(1, len(between) + 1):
        if (link := folder / "/".join(between[:n])).is_symlink():
            raise WriteError(
                f"{link} is a symbolic link", "name the real folder, or take the link away", code="symlink-escape"
            )


def clear_leftovers(place: Place, paths: Iterable[str]) -> None:
    """Remove the temporary files of a killed command of this memory: beside its own notes and what it was writing."""
    folders = {(place.folder / path).parent for path in paths} | {place.state}
    for file in (file for folder in folders for file in folder.glob(f"{_TEMPORARY}*")):
        writer = re.fullmatch(rf"{re.escape(_TEMPORARY)}(\d+)-\w{{8}}", file.name)  # as write() names it
        if writer and not locks.is_alive(int(writer[1])):
            file.unlink(missing_ok=True)
