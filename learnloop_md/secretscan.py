"""Secrets in every file of a memory, lessons or not: on disk, or what a commit brings that HEAD does not have."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from learnloop_md import checks, git, guard
from learnloop_md.errors import UnableError
from learnloop_md.place import Place

_LARGEST = 16 << 20  # bytes of a file that is looked through; a memory has no use for a larger one
_BESIDE = ("SKILL.md", "learnings.md")  # where rules of a skill's memory are codified


def findings(place: Place, *, from_git: bool, only_new: bool) -> list[checks.Finding]:
    """One finding for each secret; never with its value (R004-20).

    Raises UnableError where git is asked and there is none.
    """
    if not from_git:
        found = list(_of(place, _on_disk(place)))
        return checks.new_only(found, _of(place, _at_head(place))) if only_new else found
    if place.repo is None:
        raise UnableError("there is no git here, so nothing is staged", "leave --staged away", code="no-git")
    before = _at_head(place)
    staged = {path: data for folder in _folders(place) for path, data in git.staged(place.repo, folder).items()}
    # A file that HEAD has as it is brings nothing new, and need not be read.
    after = {path: data for path, data in staged.items() if not only_new or before.get(path) != data}
    found = list(_of(place, after))
    known = {path: before[path] for path in after if path in before}
    return checks.new_only(found, _of(place, known)) if only_new and found else found


def _folders(place: Place) -> list[str]:
    """The memory's folder and what else it writes, as the repository names them."""
    return [place.inside, *(place.in_repo(f"../{name}") for name in (_BESIDE if place.kind == "skill" else ()))]


def _at_head(place: Place) -> dict[str, bytes]:
    if place.repo is None or not git.head(place.repo):
        return {}
    return {path: data for folder in _folders(place) for path, data in git.tree(place.repo, "HEAD", folder).items()}


def _on_disk(place: Place) -> dict[str, bytes]:
    files = [path for path in place.folder.rglob("*") if ".git" not in path.relative_to(place.folder).parts]
    files += [place.folder.parent / name for name in _BESIDE if place.kind == "skill"]
    read = {path: _beginning(path) for path in files if path.is_file() and not path.is_symlink()}
    return {place.in_repo(os.path.relpath(path, place.folder)): data for path, data in read.items() if data}


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST + 1)
    except OSError as error:
        raise UnableError(f"{path} cannot be read: {error.strerror}", "check its permissions") from error


def _of(place: Place, files: Mapping[str, bytes]) -> Iterator[checks.Finding]:
    for path, data in sorted(files.items()):
        for secret in guard.in_name(path):
            message = f"its name holds what looks like a secret: {secret.label}"
            yield checks.Finding(place.from_repo(path), 1, f"secret:{secret.kind}", checks.ERROR, message)
        if len(data) > _LARGEST:
            message = f"has more than {_LARGEST >> 20} MiB and was not looked through for secrets"
            yield checks.Finding(place.from_repo(path), 1, "too-large", checks.ERROR, message)
            continue
        for secret in guard.find_secrets(_text(data)):
            message = f"holds what looks like a secret: {secret.label}"
            yield checks.Finding(place.from_repo(path), secret.line, f"secret:{secret.kind}", checks.ERROR, message)


def _text(data: bytes) -> str:
    """The file as text, whatever it is: NUL bytes of UTF-16 and broken letters hide nothing."""
    coding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    return data.decode(coding, "replace").replace("\0", "")
