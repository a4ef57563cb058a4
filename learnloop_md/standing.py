"""How what lessons speak of stands in the work tree and in git: there, changed, gone or unknown (design §9).

Nothing of the repository is run; what is missing costs at most two processes, what is there costs none.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from learnloop_md import anchors, git, repos
from learnloop_md import place as places
from learnloop_md.anchors import GONE, Anchor
from learnloop_md.lesson import Lesson
from learnloop_md.place import Place

_SIZE = 16 << 20  # bytes; a larger file is only looked for
_PATHS = 2_000  # that git is asked about at once


class Stale(NamedTuple):
    """What a lesson speaks of that is no longer as it was verified."""

    anchor: Anchor
    what: str  # "changed", "gone" or "back"

    def __str__(self) -> str:
        return f"{self.anchor.name} {'went' if self.what == GONE else 'returned' if self.what == 'back' else 'changed'}"


class Standing(NamedTuple):
    """An anchor as it stands: the path it means from the repository's root, and its content where there is one."""

    anchor: Anchor
    path: str
    there: bool = False
    data: bytes | None = None  # of a regular file
    paths: tuple[str, ...] = ()  # all that it may mean, where none is there


def stale(place: Place, cwd: Path, rows: Iterable[Lesson], *, limit_s: float | None = None) -> dict[str, list[Stale]]:
    """By lesson what is stale; nothing where there is no repository, or git does not answer within the limit."""
    repo = code_of(place, cwd)
    if repo is None:
        return {}
    told = {row: [_stand(repo, place, row, one) for one in anchors.spoken(row)] for row in rows}
    missing = {path for found in told.values() for one in found for path in one.paths}
    left = _left(repo, sorted(missing), limit_s) if missing else {}
    found: dict[str, list[Stale]] = {}
    for row, standings in told.items():
        met: dict[tuple[str, str], list[Standing]] = {}
        for one in standings:
            if one.path:
                met.setdefault((one.path, one.anchor.symbol), []).append(one)
        for same in met.values():
            # What was verified counts; after a merge both sides' hashes may stand there, and one that holds is enough.
            faults = [_fault(one, row, left) for one in same if one.anchor.hash] or [_fault(same[0], row, left)]
            if all(faults):
                found.setdefault(row.slug, []).append(Stale(same[0].anchor, faults[0]))
    return found


def told(found: Mapping[str, Sequence[Stale]]) -> dict[str, list[str]]:
    """What is stale, in words."""
    return {slug: list(map(str, rows)) for slug, rows in found.items()}


def _fault(one: Standing, row: Lesson, left: dict[str, str]) -> str:
    if one.there:
        return anchors.fault(one.anchor, one.data) if one.data is not None else ""
    day = max((left[path] for path in one.paths if path in left), default="")
    if not day or one.anchor.hash == GONE:
        return ""
    # What had gone before the lesson was written is spoken of as gone.
    return GONE if one.anchor.hash or day >= row.created else ""


def code_of(place: Place, cwd: Path) -> git.Repo | None:
    """The work tree that lessons of this memory speak of: the one we stand in, where the memory is its."""
    near = repos.near(cwd)
    if place.repo and not place.own_repo:
        return near if near and near.common_dir == place.repo.common_dir else place.repo
    if near and near.root != place.folder:
        chosen, _ = places.project_folder(cwd, near)
        return near if os.path.realpath(chosen) == str(place.folder) else None
    return place.repo if place.repo and place.with_code else None


def meant(repo: git.Repo, place: Place, row: Lesson, anchor: Anchor) -> list[str]:
    """The paths that an anchor may mean, the likeliest first; none out of the repository or in the memory itself."""
    bases = [""]
    if place.repo and place.repo.common_dir == repo.common_dir:
        own = posixpath.dirname(place.in_repo(row.path))
        skill = [posixpath.dirname(place.inside)] if place.kind == "skill" else []
        bases = [own, *skill, ""] if anchor.linked else ["", *skill]
    found: list[str] = []
    for base in dict.fromkeys(bases):
        path = posixpath.normpath(posixpath.join(base, anchor.path))
        if path.startswith("..") or path.split("/")[0] == ".git":
            continue
        if (repo.root / path).is_relative_to(place.folder):
            return []
        found.append(path)
    return found


def _stand(repo: git.Repo, place: Place, row: Lesson, anchor: Anchor) -> Standing:
    """Where an anchor leads; a path of "" where it leads out of the repository, or to the memory itself."""
    paths = meant(repo, place, row, anchor)
    for path in paths:
        full = repo.root / path
        try:
            mode = os.stat(full).st_mode
        except (OSError, ValueError):
            continue
        if not Path(os.path.realpath(full)).is_relative_to(os.path.realpath(repo.root)):
            return Standing(anchor, "")
        return Standing(anchor, path, there=True, data=_read(full, mode) if anchor.hash else None)
    return Standing(anchor, paths[0] if paths else "", paths=tuple(paths))


def _read(path: Path, mode: int) -> bytes | None:
    try:
        return path.read_bytes() if stat.S_ISREG(mode) and path.stat().st_size <= _SIZE else None
    except OSError:
        return None


def _left(repo: git.Repo, paths: Sequence[str], limit_s: float | None) -> dict[str, str]:
    """Those of the missing paths that history knows, each with the day on which it left; not what git ignores now."""
    if git.is_sparse(repo):
        return {}
    asked = [path.rstrip("/") for path in paths[:_PATHS]]
    words = "log --no-show-signature --no-renames --diff-filter=AD --name-status --format=%x00%cs -z".split()
    try:
        done = git.call(repo.root, *words, "HEAD", "--", *asked, extra=_OFFLINE, check=False, limit_s=limit_s)
        days = _days(done.stdout.decode(errors="surrogateescape"))
        found = {path: day for path in asked if (day := _newest(path, days))}
        ignored = git.ignored(repo, list(found)) if found else {}
    except git.GitError:
        return {}
    return {path: day for path, day in found.items() if path not in ignored}


_OFFLINE = {"GIT_NO_LAZY_FETCH": "1"}  # a partial clone would ask its remote
_FOREVER = "9999"


def _days(printed: str) -> dict[str, tuple[str, str]]:
    """Of each path in a log, newest first: what was last done with it and on which day."""
    found: dict[str, tuple[str, str]] = {}
    day, words = "", iter(re.split(r"\0+", printed))
    for word in words:
        bare = word.strip("\n")
        if re.fullmatch(r"\d{4}-\d\d-\d\d", bare):
            day = bare
        elif bare in ("A", "D"):
            found.setdefault(next(words, ""), (bare, day))
    return found


def _newest(path: str, days: dict[str, tuple[str, str]]) -> str:
    """The day on which a path, or the last file below it, left; for ever where HEAD still has it."""
    rows = [row for name, row in days.items() if name == path or name.startswith(path + "/")]
    if any(done == "A" for done, _ in rows):
        return _FOREVER
    return max((day for _, day in rows), default="")


# --- verifying --------------------------------------------------------------------------------------------------------


def verified(place: Place, cwd: Path, rows: Sequence[Lesson], *, gone_too: bool) -> dict[str, tuple[str, ...]]:
    """By lesson the entries of its head once a person has verified it, for the lessons whose entries change.

    What went keeps its entry, and so stays stale, unless gone_too: its going is verified too.
    """
    repo = code_of(place, cwd)
    if repo is None:
        return {}
    defined = _defined(repo, place, {name for row in rows for name in anchors.symbols(row)})
    lost = stale(place, cwd, rows) if gone_too else {}
    found = {}
    for row in rows:
        went = {one.anchor.name for one in lost.get(row.slug, ()) if one.what == GONE}
        entries: dict[str, None] = {}
        for anchor in (*anchors.spoken(row), *(defined[name] for name in anchors.symbols(row) if name in defined)):
            moved = anchor.symbol in defined and defined[anchor.symbol].path != anchor.path
            entries |= dict.fromkeys([] if moved else _entry(repo, place, row, anchor, went))
        if tuple(entries) != row.anchors:
            found[row.slug] = tuple(entries)
    return found


def _entry(repo: git.Repo, place: Place, row: Lesson, anchor: Anchor, went: set[str]) -> list[str]:
    """The entry of an anchor as it stands now; none for a folder, or for what was never there."""
    one = _stand(repo, place, row, anchor._replace(hash=anchor.hash or "0"))
    told = anchor._replace(path=one.path, linked=False) if anchor.linked else anchor
    if one.data is not None and (not anchor.symbol or anchors.lines_naming(one.data, anchor.symbol)):
        return [anchors.now(told, one.data).entry]
    if anchor.name in went:
        return [told._replace(hash=GONE).entry]
    is_known = told.hash and (one.data is not None or not one.there)
    return [told.entry] if is_known else []


_DEFINES = r"(def|class|function|func|fn|const|let|var|type|interface|struct|enum|trait|module)[[:space:]]+"


def _defined(repo: git.Repo, place: Place, names: set[str]) -> dict[str, Anchor]:
    """Where each symbol is defined, of those that one file of the repository alone defines."""
    if not names:
        return {}
    either = "|".join(sorted(names)[:_PATHS])
    words = ["grep", "-I", "-E", "-z", "--no-color", "--full-name", "-n"]
    patterns = ["-e", rf"{_DEFINES}({either})($|[^[:alnum:]_])", "-e", rf"^({either})[[:space:]]*(:[^=]*)?=($|[^=])"]
    done = git.asked(repo.root, *words, *patterns)
    where: dict[str, set[str]] = {}
    for row in done.stdout.decode(errors="surrogateescape").splitlines():
        path, _, rest = row.partition("\0")
        said = rest.partition("\0")[2]
        match = re.search(rf"(?:{_DEFINES.replace('[[:space:]]', chr(92) + 's')}|^)({either})\b", said)
        if match and not (place.inside and path.startswith(f"{place.inside}/")):
            where.setdefault(match[2], set()).add(path)
    return {name: Anchor(next(iter(paths)), name) for name, paths in where.items() if len(paths) == 1}
