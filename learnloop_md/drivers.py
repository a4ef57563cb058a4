"""git's drivers: to merge the four file forms and to show lessons; which files get them, whether a clone knows them.

A clone that does not know a driver falls back to git's own merge and diff by lines: nothing is lost.
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
    "state": "learnloop: memory.json, by key",
}
_PREFIX = "learnloop-"
CONFLICT = 65  # the driver wrote a conflict; Python says 1 of an error that nobody caught, 2 and 120 of others


# --- the lines of .gitattributes --------------------------------------------------------------------------------------


def old_line(where: Place) -> str:
    """The line of .gitattributes that init wrote before there were drivers."""
    return f"{where.in_repo(where.document)} linguist-generated"


def upgrades(where: Place) -> dict[str, list[str]]:
    """Lines that init wrote earlier, each with the lines that stand in its place today."""
    lines = lines_of(where)
    return {old_line(where): lines, lines[0].replace(f" diff={_PREFIX}lesson", ""): lines[:1]}


def lines_of(where: Place) -> list[str]:
    """The lines of .gitattributes for a memory; the document stands last, as the last matching line wins."""
    document = "index" if where.kind == "project" else "notebook"
    folder = "" if where.kind == "project" else "lessons/"
    lessons = _pattern(where.in_repo(f"{folder}x.md"), any_name=True)
    state = [f"{_pattern(where.values_in_repo)} merge={_PREFIX}state"] if where.values_in_repo else []
    return [
        f"{lessons} diff={_PREFIX}lesson merge={_PREFIX}lesson",
        *state,
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


class Driver(NamedTuple):
    """One section of git's configuration that is ours."""

    name: str
    section: str
    values: dict[str, str]  # its keys, the last of them the command
    mark: str  # stands in every command of ours for it, whichever version wrote it

    @property
    def key(self) -> str:
        """The full name of the key that holds the command."""
        return f"{self.section}.{list(self.values)[-1]}"

    def is_ours(self, value: str) -> bool:
        return self.mark in value


def all_drivers() -> list[Driver]:
    """The drivers as --enable writes them."""
    found = []
    for kind, name in NAMES.items():
        values = {"name": name, "driver": command(kind)}
        found.append(Driver(f"{_PREFIX}{kind}", f"merge.{_PREFIX}{kind}", values, f" {_call(kind)} || "))
    shown = f"diff.{_PREFIX}lesson"
    return [*found, Driver(shown, shown, {"textconv": show_command()}, ' textconv "$1" ')]


def command(kind: str) -> str:
    """What git runs to merge; where the driver cannot merge, or cannot start, git's own merge by lines marks it."""
    ours = program().replace("%", "%%")
    by_lines = "git merge-file -L ours -L base -L theirs %A %O %B"
    return f"{ours} {_call(kind)} || {{ test $? = {CONFLICT} || {by_lines}; false; }}"


def _call(kind: str) -> str:
    return f"merge-driver {kind} %O %A %B %P"


def _is_old(name: str, value: str) -> bool:
    """Whether a merge driver of ours takes one that could not start for one that wrote a conflict."""
    return f" {_call(name.removeprefix(_PREFIX))} || " in value and f"test $? = {CONFLICT} " not in value


def show_command() -> str:
    """What git runs to show a lesson; where it cannot start, the file is shown as it is: else git's diff would fail."""
    return f'show() {{ {program()} textconv "$1" 2>/dev/null || cat "$1"; }}; show'


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
    for driver in all_drivers():
        there = _values(where, scope, driver.section)
        wanted = {f"{driver.section}.{key}": value for key, value in driver.values.items()}
        if _foreign(driver, there):
            changed.kept.append(driver.name)
        elif any(there.get(key) != [value] for key, value in wanted.items()):
            for key, value in wanted.items() if not dry_run else ():
                git.call(where, "config", scope, "--replace-all", key, value)
            changed.drivers.append(driver.name)
    return changed


def unregister(where: Path, scope: str, *, dry_run: bool = False) -> Changed:
    """Take out exactly what register wrote."""
    changed = Changed([], [])
    for driver in all_drivers():
        there = _values(where, scope, driver.section)
        if _foreign(driver, there):
            changed.kept.append(driver.name)
            continue
        ours = [key for key in (f"{driver.section}.{key}" for key in driver.values) if key in there]
        changed.drivers.extend([driver.name] if ours else [])
        if dry_run:
            continue
        if ours and set(there) == set(ours):
            git.call(where, "config", scope, "--remove-section", driver.section)
        else:
            for key in ours:
                git.call(where, "config", scope, "--unset-all", key)
    return changed


def _foreign(driver: Driver, there: dict[str, list[str]]) -> bool:
    """Whether a person has a driver of their own under our name."""
    return not all(driver.is_ours(value) for value in there.get(driver.key, []))


def _values(where: Path, scope: str, section: str) -> dict[str, list[str]]:
    pattern = "^" + re.escape(section) + r"\."
    raw = git.asked(where, "config", scope, "-z", "--get-regexp", pattern).stdout
    found: dict[str, list[str]] = {}
    for row in filter(None, raw.decode(errors="surrogateescape").split("\0")):
        key, _, value = row.partition("\n")
        found.setdefault(key, []).append(value)
    return found


def unregistered(where: Place) -> list[str]:
    """The drivers that .gitattributes names and this clone does not know, or knows by an old command."""
    if where.repo is None:
        return []
    text = _text(where.repo.root)
    words = {f"{kind}.{name}": f"{kind}={name}" for kind, name in _named()}
    named = {section for section, word in words.items() if word in text}
    if not named:
        return []
    keys = rf"^(merge\.{_PREFIX}.*\.driver|diff\.{_PREFIX}.*\.textconv)$"
    raw = git.asked(where.repo.root, "config", "--get-regexp", keys).stdout
    known = set()
    for row in raw.decode(errors="surrogateescape").splitlines():
        key, _, value = row.partition(" ")
        section = key.rpartition(".")[0]
        known |= set() if _is_old(section.removeprefix("merge."), value) else {section}
    return sorted(section.removeprefix("merge.") for section in named - known)


def _named() -> list[tuple[str, str]]:
    return [*(("merge", f"{_PREFIX}{kind}") for kind in NAMES), ("diff", f"{_PREFIX}lesson")]


def shown_by(repo: git.Repo, path: str) -> str:
    """The driver that .gitattributes names to show a path, "" for none."""
    words = (
        git.call(repo.root, "check-attr", "-z", "diff", "--", path).stdout.decode(errors="surrogateescape").split("\0")
    )
    return "" if words[2] == "unspecified" else words[2]


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
