"""The world that a command acts in: a repository with a memory (`repo`) and what lies around it.

HOME, a team's repository, a remote, a folder for what is exported: kept and put back as a whole, for commands write
into each of these. What is not a file there (branches, drivers, sessions) is told as facts.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.stress.ground import git

PARTS = ("repo", "home", "team", "remote.git", "out")
STATE = "home/.local/state/"


# --- keeping a world ------------------------------------------------------------------------------------------------


def keep(world: Path, template: Path) -> None:
    """Put a world away as a template, its objects in packs: there are less files to copy."""
    for name in PARTS:
        if (world / name / ".git").exists():
            git(world / name, "repack", "-q", "-a", "-d")
        if (world / name).exists():
            shutil.copytree(world / name, template / name, symlinks=True)


def put_back(template: Path, world: Path) -> None:
    """Make a world as it was kept: what the tool remembers is tied to its path."""
    for name in PARTS:
        shutil.rmtree(world / name, ignore_errors=True)
        if (template / name).exists():
            shutil.copytree(template / name, world / name, symlinks=True)


def contents(world: Path) -> dict[str, bytes]:
    """Every file of a world that a person looks at, by path: no git directory, nothing that is the tool's own."""
    found: dict[str, bytes] = {}
    for path in (path for name in PARTS if name != "remote.git" for path in (world / name).rglob("*")):
        inner = path.relative_to(world)
        own = inner.as_posix().startswith((STATE, "home/.gitconfig")) or ".git" in inner.parts
        if not own and path.is_file():
            found[timeless(inner.as_posix())] = timeless(path.read_bytes().decode("latin-1")).encode("latin-1")
    return found


_TIMES = re.compile(r"run_\d{8}_\d{6}_[0-9a-f]{4}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def timeless(text: str) -> str:
    """A text without what each run of a command makes anew: names of runs and times."""
    return _TIMES.sub("@", text)


# --- what is changed besides files ----------------------------------------------------------------------------------

Facts = Callable[[Path], dict[str, bytes]]


def nothing(_: Path) -> dict[str, bytes]:
    return {}


def branches(world: Path) -> dict[str, bytes]:
    """Every branch but the one that a command may commit on, as trees and subjects."""
    found = {}
    for name in PARTS:
        if not (world / name / "HEAD").exists() and not (world / name / ".git").exists():
            continue
        for ref in git(world / name, "for-each-ref", "--format=%(refname)", "refs/heads").splitlines():
            if (name, ref) != ("repo", "refs/heads/main"):
                found[f"{name} {ref}"] = git(world / name, "log", "--format=%T %s", ref).encode()
    return found


def drivers(world: Path) -> dict[str, bytes]:
    """What git's configuration says of our drivers, key by key."""
    found: dict[str, bytes] = {}
    for scope in ("--local", "--global"):
        rows = git(world / "repo", "config", scope, "--get-regexp", "learnloop", check=False).splitlines()
        found |= {f"{scope} {key}": value.encode() for key, _, value in (row.partition(" ") for row in rows)}
    return found


def sessions(world: Path) -> dict[str, bytes]:
    """What is remembered of sessions and runs: the rows that can be read, but what a note was about to become."""
    found: dict[str, bytes] = {}
    for file in (world / STATE / "learnloop" / "sessions").glob("*.jsonl"):
        rows = []
        for line in file.read_bytes().splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if row["what"] != "becomes":  # an end that is repeated says it again
                rows.append(json.dumps(row))
        if rows:
            found[f"rows of {file.name}"] = timeless("\n".join(rows)).encode()
    return found


def unwhole(world: Path) -> list[str]:
    """Files of the tool's own that are no whole JSON."""
    found = []
    own = [*(world / STATE).rglob("*.json"), *(world / "repo" / ".git" / "learnloop").rglob("*.json")]
    for file in own:
        try:
            json.loads(file.read_bytes())
        except ValueError:
            found.append(f"half file: {file.relative_to(world)}")
    return found
