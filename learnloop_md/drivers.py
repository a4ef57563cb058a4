"""git's merge drivers for the three file forms: which files .gitattributes gives them, and whether a clone knows them.

A clone that does not know a driver falls back to git's own merge by lines: an ordinary conflict, nothing is lost.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from learnloop_md import git
from learnloop_md.place import Place

NAMES = {
    "lesson": "learnloop: lesson files, by field",
    "index": "learnloop: MEMORY.md, by line",
    "notebook": "learnloop: memory.md, by entry",
}
_PREFIX = "learnloop-"
CONFLICT = 65  # the driver wrote a conflict; Python says 1 of an error that nobody caught, 2 and 120 of others


# --- the lines of .gitattributes --------------------------------------------------------------------------------------


def old_line(where: Place) -> str:
    """The line of .gitattributes that init wrote before there were drivers."""
    return f"{where.in_repo(where.document)} linguist-generated"


def lines_of(where: Place) -> list[str]:
    """The lines of .gitattributes for a memory: lesson files, then the document, as the last matching line wins."""
    document = "index" if where.kind == "project" else "notebook"
    folder = "" if where.kind == "project" else "lessons/"
    lessons = _pattern(where.in_repo(f"{folder}x.md"), any_name=True)
    return [
        f"{lessons} merge={_PREFIX}lesson",
        f"{_pattern(where.in_repo(where.document))} linguist-generated merge={_PREFIX}{document}",
    ]


def _pattern(path: str, *, any_name: bool = False) -> str:
    """A path as a pattern of .gitattributes; one with spaces or signs stands in quotes."""
    folder, slash, name = path.rpartition("/")
    folder, name = (re.sub(r"([*?\[\\])", r"\\\1", part) for part in (folder, "*.md" if any_name else name))
    pattern = folder + slash + ("*.md" if any_name else name)
    if not slash:
        pattern = f"/{pattern}"  # else it would match in every folder
    if not re.search(r"[\s\"\\]|^[!#]", pattern):
        return pattern
    return '"' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'


# --- registration -----------------------------------------------------------------------------------------------------


def command(kind: str) -> str:
    """What git runs; where the driver cannot merge, or cannot start, git's own merge by lines marks it."""
    ours = program().replace("%", "%%")
    by_lines = "git merge-file -L ours -L base -L theirs %A %O %B"
    return f"{ours} {_call(kind)} || {{ test $? = {CONFLICT} || {by_lines}; false; }}"


def _call(kind: str) -> str:
    return f"merge-driver {kind} %O %A %B %P"


def _is_ours(kind: str, value: str) -> bool:
    """Whether --enable wrote a command, whichever version of it and wherever the program stood."""
    return f" {_call(kind)} || " in value


def _is_old(kind: str, value: str) -> bool:
    """Whether it takes a driver that could not start for one that wrote a conflict."""
    return _is_ours(kind, value) and f"test $? = {CONFLICT} " not in value


def program() -> str:
    """This program as any shell finds it."""
    called = Path(sys.argv[0])
    if called.name in ("learnloop", "learnloop-md") and shutil.which(str(called.absolute())):
        return shlex.quote(str(called.absolute()))
    found = shutil.which("learnloop")
    return shlex.quote(found) if found else f"{shlex.quote(sys.executable)} -m learnloop_md"


class Changed(NamedTuple):
    """The drivers that were written or taken out, and those of a person's own under our names, which stay."""

    drivers: list[str]
    kept: list[str]


def register(where: Path, scope: str, *, dry_run: bool = False) -> Changed:
    """Write the drivers into git's configuration (scope: --local or --global), older lines of ours anew."""
    changed = Changed([], [])
    for kind, name in NAMES.items():
        section = f"merge.{_PREFIX}{kind}"
        wanted = {f"{section}.name": [name], f"{section}.driver": [command(kind)]}
        there = _values(where, scope, section)
        if _foreign(kind, there):
            changed.kept.append(f"{_PREFIX}{kind}")
        elif {key: there.get(key) for key in wanted} != wanted:
            for key, (value,) in wanted.items() if not dry_run else ():
                git.call(where, "config", scope, "--replace-all", key, value)
            changed.drivers.append(f"{_PREFIX}{kind}")
    return changed


def unregister(where: Path, scope: str, *, dry_run: bool = False) -> Changed:
    """Take out exactly what register wrote."""
    changed = Changed([], [])
    for kind in NAMES:
        section = f"merge.{_PREFIX}{kind}"
        there = _values(where, scope, section)
        if _foreign(kind, there):
            changed.kept.append(f"{_PREFIX}{kind}")
            continue
        ours = [key for key in (f"{section}.name", f"{section}.driver") if key in there]
        changed.drivers.extend([f"{_PREFIX}{kind}"] if ours else [])
        if dry_run:
            continue
        if ours and set(there) == set(ours):
            git.call(where, "config", scope, "--remove-section", section)
        else:
            for key in ours:
                git.call(where, "config", scope, "--unset-all", key)
    return changed


def _foreign(kind: str, there: dict[str, list[str]]) -> bool:
    """Whether a person has a driver of their own under our name."""
    return not all(_is_ours(kind, value) for value in there.get(f"merge.{_PREFIX}{kind}.driver", []))


def _values(where: Path, scope: str, section: str) -> dict[str, list[str]]:
    pattern = "^" + re.escape(section) + r"\."
    raw = git.call(where, "config", scope, "-z", "--get-regexp", pattern, check=False).stdout
    found: dict[str, list[str]] = {}
    for row in filter(None, raw.decode(errors="surrogateescape").split("\0")):
        key, _, value = row.partition("\n")
        found.setdefault(key, []).append(value)
    return found


def unregistered(where: Place) -> list[str]:
    """The drivers that .gitattributes names and this clone does not know, or knows by an old command."""
    if where.repo is None:
        return []
    named = {f"{_PREFIX}{kind}" for kind in NAMES if f"merge={_PREFIX}{kind}" in _text(where.repo.root)}
    if not named:
        return []
    raw = git.call(where.repo.root, "config", "--get-regexp", rf"^merge\.{_PREFIX}.*\.driver$", check=False).stdout
    known = set()
    for row in raw.decode(errors="surrogateescape").splitlines():
        key, _, value = row.partition(" ")
        name = key.removeprefix("merge.").removesuffix(".driver")
        known |= set() if _is_old(name.removeprefix(_PREFIX), value) else {name}
    return sorted(named - known)


def _text(folder: Path) -> str:
    try:
        return (folder / ".gitattributes").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


# --- other lines for the same files -----------------------------------------------------------------------------------


class Rule(NamedTuple):
    """A line of an attributes file that says how a file is merged."""

    file: str
    line: int
    pattern: str
    merge: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.pattern} {self.merge}"


def rules(repo: git.Repo, path: str) -> list[Rule]:
    """The lines that say how path is merged, the one that wins last (the nearest file, its last line)."""
    files = [(repo.root / folder / ".gitattributes", folder) for folder in _folders(path)]
    found: list[Rule] = []
    for file, folder in [*files, (repo.common_dir / "info" / "attributes", "")]:
        shown = file.relative_to(repo.root).as_posix() if file.is_relative_to(repo.root) else str(file)
        try:
            text = file.read_text("utf-8", "surrogateescape")
        except OSError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r"\s*(\"(?:[^\"\\]|\\.)*\"|[^\s#\[]\S*)\s+(.*)", line)
            says = (
                [word for word in match[2].split() if re.fullmatch(r"[-!]?merge|merge=.*|binary", word)]
                if match
                else []
            )
            if match and says and _matches(repo, folder, match[1], path):
                found.append(Rule(shown, number, match[1], says[-1]))
    return found


def _folders(path: str) -> Iterable[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:n]) for n in range(len(parts) + 1)]


def _matches(repo: git.Repo, folder: str, pattern: str, path: str) -> bool:
    """Whether git finds that a pattern in a folder's file matches a path: asked in an empty work tree."""
    with tempfile.TemporaryDirectory(prefix="learnloop-") as tried:
        at = Path(tried) / folder
        at.mkdir(parents=True, exist_ok=True)
        (at / ".gitattributes").write_text(f"{pattern} learnloop-probe\n", "utf-8", "surrogateescape")
        where = ["--git-dir", str(repo.git_dir), "--work-tree", tried]
        said = git.call(Path(tried), *where, "check-attr", "-z", "learnloop-probe", "--", path).stdout
    return said.split(b"\0")[2:3] == [b"set"]
