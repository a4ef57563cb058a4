"""The two sides of a comparison: a commit, the index or the work tree as files by path, and the memories in it."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from learnloop_md import git, index, memory, notebook, settings, store
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.lessonfile import SIZE_LIMIT, Quarantined
from learnloop_md.memory import Memory
from learnloop_md.place import INDEX, NOTEBOOKS, Place
from learnloop_md.relapse import ReadOther
from learnloop_md.settings import Settings

STAGED, WORKTREE = "what is staged", "the work tree"
_NOTHING = "0" * 40  # what a forge calls the state before a branch was
_SHALLOW = (
    "run: git fetch --deepen=200 origin (or --unshallow); in GitHub Actions: actions/checkout with fetch-depth: 0"
)


class Entry(NamedTuple):
    """A file of a side: git's mode and blob id; of the work tree no id."""

    mode: str
    blob: str


class Side:
    """Files by path, read when asked for: blobs in one call of git, nothing from the checkout but for the work tree."""

    def __init__(self, repo: git.Repo, name: str, listed: Mapping[str, Entry], *, commit: str = "") -> None:
        self.repo, self.name, self.commit = repo, name, commit
        self.listed = dict(listed)
        self.unmerged: tuple[str, ...] = ()
        self._known: dict[str, bytes | Quarantined] = {}  # by blob id

    @property
    def on_disk(self) -> bool:
        return self.name == WORKTREE

    def fetch(self, paths: Iterable[str]) -> None:
        """Read these files at once; one that is larger than a lesson may be is not read."""
        if self.on_disk:
            return
        wanted = (self.listed[path].blob for path in paths if path in self.listed)
        blobs = sorted({blob for blob in wanted if blob not in self._known})
        if not blobs:
            return
        given = "".join(f"{blob}\n" for blob in blobs).encode()
        rows = git.call(self.repo.root, "cat-file", "--batch-check", given=given).stdout.decode().splitlines()
        sizes = dict(zip(blobs, (row.split()[-1] for row in rows), strict=True))
        small = [blob for blob in blobs if sizes[blob].isdigit() and int(sizes[blob]) <= SIZE_LIMIT]
        self._known |= dict(zip(small, git.blobs(self.repo, small), strict=True))
        for blob in set(blobs) - set(small):
            large = sizes[blob].isdigit()
            said = ("too-large", "larger than 1 MiB") if large else ("missing-object", "git does not have its content")
            self._known[blob] = Quarantined("", said[0], 1, said[1])

    def share(self, other: Side) -> None:
        """Know what another side has read."""
        self._known |= other._known

    def content(self, path: str) -> bytes | Quarantined | None:
        """A regular file's bytes, why they are not read, None where there is no such file."""
        entry = self.listed.get(path)
        if entry is None:
            return None
        if self.on_disk:
            return _from_disk(self.repo.root / path, path)
        if entry.mode == "120000":
            return Quarantined(path, "symlink-escape", 1, "a link that leads nowhere we read")
        if not entry.mode.startswith("100"):
            return Quarantined(path, "not-a-regular-file", 1, "not a regular file")
        self.fetch([path])
        found = self._known[entry.blob]
        return found._replace(path=path) if isinstance(found, Quarantined) else found

    def read(self, path: str) -> bytes | None:
        """A file's bytes, through a link inside the repository; None where there is none that may be read."""
        entry = self.listed.get(path)
        if entry and entry.mode == "120000":
            goal = self._link(path, entry)
            if goal not in self.listed or self.listed[goal].mode == "120000":
                return None
            path = goal
        found = self.content(path)
        return found if isinstance(found, bytes) else None

    def _link(self, path: str, entry: Entry) -> str:
        if self.on_disk:
            target = os.readlink(self.repo.root / path)
        else:
            self.fetch([path])
            raw = self._known[entry.blob]
            target = raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes) else ""
        return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))

    def text(self, path: str) -> str | None:
        data = self.read(path)
        return None if data is None else data.decode("utf-8", "replace")

    def below(self, folder: str) -> list[str]:
        """The paths in a folder and its folders."""
        prefix = f"{folder}/" if folder else ""
        return [path for path in self.listed if path.startswith(prefix)]

    def same(self, other: Side, path: str) -> bool:
        """Whether both sides have the same file here (or none)."""
        mine, theirs = self.listed.get(path), other.listed.get(path)
        if mine and theirs and (self.on_disk or other.on_disk):
            return mine.mode == theirs.mode and self.content(path) == other.content(path)
        return mine == theirs


def _from_disk(full: Path, path: str) -> bytes | Quarantined | None:
    try:
        info = os.lstat(full)
        if stat.S_ISLNK(info.st_mode):
            return Quarantined(path, "symlink-escape", 1, "a link that leads nowhere we read")
        if not stat.S_ISREG(info.st_mode):
            return Quarantined(path, "not-a-regular-file", 1, "not a regular file")
        if info.st_size > SIZE_LIMIT:
            return Quarantined(path, "too-large", 1, "larger than 1 MiB")
        handle = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        return Quarantined(path, "unreadable", 1, error.strerror or "cannot be read")


# --- finding a side ---------------------------------------------------------------------------------------------------


def nothing(repo: git.Repo) -> Side:
    """The state before the first commit."""
    return Side(repo, "nothing", {})


def at(repo: git.Repo, revision: str) -> Side:
    """A commit. Raises UsageError for a revision that names none, UnableError where the clone is too shallow for it."""
    if revision == _NOTHING:
        return nothing(repo)
    commit = git.resolve(repo, revision)
    if not commit:
        raise _unknown(repo, revision)
    raw = git.call(repo.root, "ls-tree", "-r", "-z", "--full-tree", commit).stdout.decode(errors="surrogateescape")
    rows = (row.partition("\t") for row in raw.split("\0") if row)
    listed = {path: Entry(meta.split()[0], meta.split()[2]) for meta, _, path in rows}
    return Side(repo, revision, listed, commit=commit)


def _unknown(repo: git.Repo, revision: str) -> UnableError | UsageError:
    if git.is_shallow(repo):
        return UnableError(f"this clone is shallow and does not hold {revision!r}", _SHALLOW, code="shallow-clone")
    hint = "name a commit, a branch or a tag that is here; git fetch brings those of the remote"
    if git.resolve(repo, f"origin/{revision}"):
        hint = f"did you mean origin/{revision}?"
    return UsageError(f"there is no revision {revision!r}", hint, code="unknown-revision")


def merge_base(repo: git.Repo, base: Side, head: Side) -> Side:
    """Where head left base, as a pull request counts. Raises UnableError where the two have no common commit here."""
    done = git.asked(repo.root, "merge-base", base.commit, head.commit)
    found = done.stdout.decode().split()
    if found:
        return base if found[0] == base.commit else at(repo, found[0])
    if git.is_shallow(repo):
        message = f"this clone is shallow: where {head.name!r} left {base.name!r} is not in it"
        raise UnableError(message, _SHALLOW, code="shallow-clone")
    raise UnableError(
        f"{base.name!r} and {head.name!r} have no common commit",
        f"compare them as they are: {base.name}..{head.name}",
        code="no-merge-base",
    )


def staged(repo: git.Repo) -> Side:
    """The index; inside a hook the one that the hook's commit uses."""
    inside = os.environ.get("GIT_INDEX_FILE")
    extra = {"GIT_INDEX_FILE": str((repo.root / inside).resolve())} if inside else None
    raw = git.call(repo.root, "ls-files", "-s", "-z", extra=extra).stdout.decode(errors="surrogateescape")
    rows = [row.partition("\t") for row in raw.split("\0") if row]
    ours = {p: Entry(*m.split()[:2]) for m, _, p in rows if m.split()[2] in "02"}  # of what is not merged yet our side
    side = Side(repo, STAGED, ours)
    side.unmerged = tuple(dict.fromkeys(path for meta, _, path in rows if meta.split()[2] != "0"))
    return side


def work_tree(repo: git.Repo) -> Side:
    """The files on disk that git tracks or would track."""
    args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    raw = git.call(repo.root, *args).stdout.decode(errors="surrogateescape")
    listed = {}
    for path in filter(None, raw.split("\0")):
        try:
            info = os.lstat(repo.root / path)
        except OSError:
            continue
        mode = "120000" if stat.S_ISLNK(info.st_mode) else "100755" if info.st_mode & 0o100 else "100644"
        listed[path] = Entry(mode if not stat.S_ISDIR(info.st_mode) else "160000", "")
    return Side(repo, WORKTREE, listed)


def gone(base: Side, head: Side) -> set[str]:
    """The files and folders of base that head has not; nothing where a sparse work tree cannot tell."""
    files = base.listed.keys() - head.listed.keys()
    if not files or (head.on_disk and git.is_sparse(head.repo)):
        return set()
    return _with_folders(files) - _with_folders(head.listed)


def _with_folders(paths: Iterable[str]) -> set[str]:
    found = set(paths)
    above = {path.rpartition("/")[0] for path in found}
    return found | _with_folders(above) if above - {""} else found


# --- the memories of a side -------------------------------------------------------------------------------------------


def places(side: Side) -> dict[str, Place]:
    """Every memory of a side by its folder, as its own files and settings tell it (not those of the checkout)."""
    by_name: dict[str, list[str]] = {}
    for path in side.listed:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    documents = [path for name in (INDEX, *NOTEBOOKS) for path in by_name.get(name, ())]
    side.fetch(documents)
    chosen, _ = settings_of(side)
    root = chosen.memory.strip("/") or ".claude/memory"
    found: dict[str, Place] = {}
    for path in by_name.get(INDEX, ()):
        folder = path.rpartition("/")[0]
        if folder == root or _is_index(side, folder, path):
            found[folder] = _place(side, folder, "project", INDEX)
    if root not in found and any(p.endswith(".md") for p in side.below(root)):
        found[root] = _place(side, root, "project", INDEX)
    for name in NOTEBOOKS:
        for path in by_name.get(name, ()):
            folder, text = path.rpartition("/")[0], side.text(path) or ""
            known = notebook.has_zones(text) or (name == NOTEBOOKS[0] and _in_skill(side, folder))
            if folder not in found and known:
                found[folder] = _place(side, folder, "skill", name)
    for path in side.listed:
        parent = path.rpartition("/")[0]
        folder = parent.removesuffix("/lessons")
        if folder not in {*found, parent} and path.endswith(".md") and _in_skill(side, folder):
            found[folder] = _place(side, folder, "skill", NOTEBOOKS[0])  # its notebook is lost, its lessons are not
    loose = {path.rpartition("/")[0] for path in side.listed if re.search(r"(?:^|/)memory/[^/]+\.md$", path)}
    for folder in sorted(loose - found.keys()):
        if any(_is_lesson(side, path) for path in side.below(folder)):
            found[folder] = _place(side, folder, "project", INDEX)  # lessons that have no index
    return found


def _is_lesson(side: Side, path: str) -> bool:
    """Whether a file has the head of a lesson."""
    return path.endswith(".md") and bool(re.match(r"\ufeff?---\r?\nname:(?:.*\n)+?metadata:", side.text(path) or ""))


def _in_skill(side: Side, folder: str) -> bool:
    return f"{folder.rpartition('/')[0]}/SKILL.md".lstrip("/") in side.listed


def _is_index(side: Side, folder: str, path: str) -> bool:
    """Whether a MEMORY.md lists lessons that stand beside it: any other is somebody's prose."""
    prefix = f"{folder}/" if folder else ""
    if any(prefix + entry.target in side.listed for entry in index.entries(side.text(path) or "")):
        return True
    return not folder and any("/" not in other and _is_lesson(side, other) for other in side.listed)


def named(side: Side, folder: str, like: Place | None = None) -> Place | None:
    """The memory in a folder that a person named, or that the other side has; None where there is none here."""
    skill = f"{folder}/SKILL.md".lstrip("/") in side.listed and f"{folder}/{INDEX}" not in side.listed
    inside = f"{folder}/references".lstrip("/") if skill else folder
    if not any(path.endswith(".md") for path in side.below(inside)):
        return None
    kind, document = (like.kind, like.document) if like else ("project", INDEX)
    return places(side).get(inside) or _place(side, inside, kind, document)


def _place(side: Side, folder: str, kind: str, document: str) -> Place:
    chosen, _ = settings_of(side, folder)
    # Whether a private lesson is tracked is asked of the side, not of the checkout.
    return Place(side.repo.root / folder, kind, side.name, side.repo, chosen._replace(private_types=()), document)


def settings_of(side: Side, folder: str = "") -> tuple[Settings, str]:
    """The settings that hold in a folder of a side, and what is wrong with them: then the defaults hold."""
    try:
        return settings.of_texts(side.read, dict.fromkeys([folder, ""])), ""
    except UsageError as error:
        return Settings(), error.message


def reader(side: Side, place: Place) -> ReadOther:
    """What reads a file beside the memory, from its folder on, as a side has it."""

    def read(path: str) -> str | None:
        return side.text(place.in_repo(path))

    return read


def assemble(side: Side, place: Place, *, unscanned: Mapping[str, bytes] | None = None) -> Memory:
    """The memory of a side; texts that are known to hold no secret are not scanned for one."""
    prefix = f"{place.inside}/" if place.inside else ""
    start = f"{prefix}{place.lessons}/" if place.lessons else prefix
    paths = [p for p in side.below(place.inside) if p.endswith(".md") and p.startswith(start)]
    side.fetch([*paths, place.in_repo(place.document)])
    data: dict[str, bytes] = {}
    refused: list[Quarantined] = []
    for path in paths:
        inner = path.removeprefix(prefix)
        found = store.bad_name(inner) or side.content(path)
        if isinstance(found, Quarantined):
            refused.append(found._replace(path=inner))
        elif found is not None:
            data[inner] = found
    refused = [q for q in refused if q.reason != "symlink-escape" or not _leads_inside(side, prefix + q.path, data)]
    known = {p: row for p, row in (unscanned or {}).items() if data.get(p) == row}
    agreed = {p: store.Agreed(p, row.decode("utf-8", "replace"), "", "") for p, row in known.items()}
    document = side.read(place.in_repo(place.document))
    return memory.assemble(place, store.Files(data, tuple(refused)), document, store.Ledger(agreed), scan_all=False)


def _leads_inside(side: Side, path: str, data: Mapping[str, bytes]) -> bool:
    """Whether a link leads to a file of the same memory, which is counted once (design §11)."""
    entry = side.listed[path]
    if entry.mode != "120000":
        return False
    goal = side._link(path, entry)
    return any(goal.endswith(inner) for inner in data if goal in side.listed)
