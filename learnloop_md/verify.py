"""`verify --witness`: the memory against what was last seen of it, its files against HEAD; it only looks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from learnloop_md import elsewhere, git, memory, store, witness
from learnloop_md.checks import ERROR, Finding
from learnloop_md.errors import UnableError
from learnloop_md.place import Place
from learnloop_md.witness import Seen, Tree


class Verdict(NamedTuple):
    """What `verify` found, and what it says besides."""

    findings: tuple[Finding, ...]
    notices: tuple[str, ...]
    said: str


def verify(place: Place, today: str, *, accept: bool = False) -> Verdict:
    """Compare the memory with what was last seen, and its files with HEAD; nothing is written but the witness.

    Raises UnableError without git, and where no commit holds the memory.
    """
    if place.repo is None:
        raise UnableError("there is no git here to compare with", "run: git init, then learnloop init", code="no-git")
    with _undisturbed(place):
        return _verify(place, place.repo, today, accept=accept)


@contextmanager
def _undisturbed(place: Place) -> Iterator[None]:
    """Hold the memory's lock, that no command moves HEAD meanwhile; where nobody can write, nobody needs it."""
    with ExitStack() as held:
        try:
            held.enter_context(store.locked(place))
        except UnableError as error:
            if error.code == "locked":
                raise
        yield


def _verify(place: Place, repo: git.Repo, today: str, *, accept: bool) -> Verdict:
    head = git.head(repo)
    branch = git.branch(repo)
    seen = {} if accept else witness.load(place)
    tree = witness.tree_at(place, head) if head else {}
    if not tree and not seen:
        raise UnableError("no commit here holds this memory", "run: learnloop sync", code="no-commit")
    other = {name: _lost(place, name, row, head) for name, row in seen.items()}
    gone = {name: paths for name, paths in other.items() if paths}
    findings = [_rolled_back(place, name, seen[name], paths) for name, paths in gone.items()]
    said = f"taken as seen: {head[:10]}" if not seen else f"in order, as last seen {_when(seen, branch)}"
    found, notices = _differing(place, head, tree)
    if branch and branch not in gone and tree:
        kept = {name: row for name, row in seen.items() if name in gone or witness.tip(place, name)}
        kept.pop(branch, None)
        try:
            witness.save(place, {**kept, branch: witness.present(place, head, today)})
        except UnableError as error:
            notices.append(f"the witness cannot be kept: {error.message}")
            said = said if seen else "the files are as HEAD has them"
    if not branch:
        notices.append("HEAD is detached: the files are compared with it, and the branches with what was seen of them")
    elif seen and branch not in seen:
        notices.append(f"the branch {branch} was not seen before")
    return Verdict((*findings, *found), tuple(notices), said)


def _lost(place: Place, branch: str, row: Seen, head: str) -> list[str]:
    """The files that a branch lost; a branch that is gone lost none while another reference contains what was seen."""
    tip = witness.tip(place, branch)
    return [] if not tip and witness.is_held(place, row.commit) else witness.lost(place, row, tip or head)


def _when(seen: Mapping[str, Seen], branch: str) -> str:
    row = seen.get(branch) or list(seen.values())[-1]
    return f"on {row.when} ({row.commit[:10]})"


def _rolled_back(place: Place, branch: str, row: Seen, paths: list[str]) -> Finding:
    names = ", ".join(_shown(place, path) for path in paths[:5]) + (f" and {len(paths) - 5} more" if paths[5:] else "")
    message = (
        f"the commit {row.commit[:10]}, seen on {row.when} on {branch}, is not in the history; "
        f"other than seen: {names}. If that was you: learnloop verify --witness --accept"
    )
    return Finding(place.document, 1, "rolled-back", ERROR, message)


def _shown(place: Place, path: str) -> str:
    assert place.repo is not None, "only asked inside a repository"
    return Path(os.path.relpath(place.repo.root / path, place.folder)).as_posix()


# --- the files ------------------------------------------------------------------------------------------------------


def _differing(place: Place, head: str, tree: Tree) -> tuple[list[Finding], list[str]]:
    """How the files on disk differ from a commit's; what waits for its commit and what is private is only told."""
    loaded = memory.load(place)
    hurt = {place.in_repo(row.path): row for row in loaded.quarantined}
    private = {place.in_repo(loaded.lessons[slug].path) for slug in loaded.private}
    queue, _ = elsewhere.split(place, head, loaded.ledger.queue if loaded.ledger else ())
    waiting = {path: (entry or " ").split(" ")[1] for item in queue for path, entry in item["files"].items()}
    expected = {path: blob for path, blob in {**tree, **waiting}.items() if blob and witness.is_ours(place, path)}
    disk = _on_disk(place, {*expected, *hurt})
    found = []
    stray = sorted(disk.keys() - expected.keys() - private)
    unasked = git.ignored(place.repo, stray) if place.repo else {}
    for path in sorted({*expected, *disk} - private - unasked.keys()):
        row = hurt.get(path)
        if row and row.reason == "unreadable":
            code, what = "unreadable", "the file cannot be read, so nothing is known of it"
        elif path not in disk:
            code, what = "removed", "the file is gone; HEAD has it"
        elif path not in expected:
            code, what = "added", "no commit has this file"
        elif disk[path] != expected[path] and not _is_raw(place, path, expected[path]):
            code, what = "edited", "the file is not as HEAD has it"
        else:
            continue
        how = f"; quarantined, it is not served: {row.reason} {row.message}".rstrip() if row else ""
        found.append(Finding(_shown(place, path), row.line if row else 1, code, ERROR, what + how))
    notices = []
    if told := [path for path in waiting if witness.is_ours(place, path)]:
        notices.append(f"waiting for a commit: {', '.join(_shown(place, path) for path in told)}")
    if unasked:
        notices.append(f"git ignores, so no commit has them: {', '.join(_shown(place, path) for path in unasked)}")
    if private:
        notices.append(f"{len(private)} private: no commit holds them, so nothing is known of them")
    return found, notices


def _on_disk(place: Place, known: set[str]) -> Tree:
    """The memory's files on disk, hashed as git would store them; "" for what is no regular file."""
    assert place.repo is not None, "only asked inside a repository"
    root = place.repo.root
    there = store.read(place.folder, place.lessons).data
    paths = {place.in_repo(path) for path in there} | {place.followed(place.document)}
    regular = sorted(path for path in paths if (root / path).is_file() and not (root / path).is_symlink())
    found = dict.fromkeys((path for path in known if os.path.lexists(root / path)), "")
    given = "".join(f"{path}\n" for path in regular).encode(errors="surrogateescape")
    if regular:
        printed = git.call(root, "hash-object", "--stdin-paths", given=given).stdout.decode().split()
        found |= dict(zip(regular, printed, strict=True))
    for path in found:
        if (root / path).is_symlink():
            goal = os.fsencode(os.readlink(root / path))
            found[path] = git.call(root, "hash-object", "--stdin", "--no-filters", given=goal).stdout.decode().strip()
    return found


def _is_raw(place: Place, path: str, blob: str) -> bool:
    """Whether a file is a blob byte for byte: one committed with CRLF, which git leaves alone under core.autocrlf."""
    assert place.repo is not None, "only asked inside a repository"
    full = place.repo.root / path
    there = full.is_file() and not full.is_symlink()
    return there and store.read_bytes(full) == git.blobs(place.repo, [blob])[0]
