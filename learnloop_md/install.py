"""`install` and `uninstall`: our hooks into a settings file of Claude's and out again; the diff is shown first."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import claude, drivers, entries, git, guard, jsonedit, plan, store
from learnloop_md.answer import Answer, coloured, use_colour, visible
from learnloop_md.calls import Call
from learnloop_md.errors import RefusedError, UnableError, UsageError
from learnloop_md.plan import Edit

SCOPES = ("project", "local", "user")


class Target(NamedTuple):
    """The settings file of a scope, and the repository it belongs to."""

    scope: str
    path: Path
    repo: git.Repo | None


class Was(NamedTuple):
    """What an uninstall could not tell from the file: what stood there empty, and blanks instead of an object."""

    empty: tuple[entries.Path, ...] = ()
    blank: str | None = None


def install(call: Call) -> Answer:
    """Write our hooks into the settings of a scope; the same again changes nothing."""
    target = _target(call)
    before = _text(target.path)
    try:
        after = entries.with_ours(before or "", _command(target.scope))
    except jsonedit.JsonError as error:
        raise error.of(target.path) from error
    if after == before:
        return _unchanged(target, f"the hooks are in {target.path} already")
    answer = _written(call, target, before, after, "installed")
    return answer._replace(notices=(*answer.notices, *_notices(target)))


def uninstall(call: Call) -> Answer:
    """Take our hooks out of the settings of a scope: the file is then as it was before install."""
    target = _target(call)
    before = _text(target.path)
    was = _remembered(target.path)
    try:
        after: str | None = entries.without_ours(before or "", was.empty)
        emptied = after != before and jsonedit.read(after or "") == {}
    except jsonedit.JsonError as error:
        raise error.of(target.path) from error
    if before is None or after == before:
        return _unchanged(target, f"no hook of ours is in {target.path}")
    if emptied and () not in was.empty:
        after = was.blank  # None: the file was made by install
    return _written(call, target, before, after, "uninstalled")


# --- which file, which command ----------------------------------------------------------------------------------------


def _target(call: Call) -> Target:
    """The settings file that is meant. Raises UsageError for another scope, RefusedError for a link that leads away."""
    scope = call.text("scope") or "project"
    if scope not in SCOPES:
        raise UsageError(f"there is no scope {scope!r}", f"use one of: {', '.join(SCOPES)}")
    if scope == "user":
        return Target(scope, claude.home() / "settings.json", None)
    repo = git.find(call.cwd)
    root = call.cwd.resolve() if repo is None else repo.main_root if scope == "local" else repo.root
    path = root / ".claude" / ("settings.local.json" if scope == "local" else "settings.json")
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)):
        message = f"{path} is a link that leads out of {root}, to {real}"
        raise RefusedError(message, "replace the link by a file, or use: --scope user", code="symlink-escape")
    return Target(scope, path, repo)


def _text(path: Path) -> str | None:
    """The file's text, None where there is none. Raises UnableError."""
    if path.exists() and not path.is_file():
        raise UnableError(f"{path} is not a file", "move it away first", code="not-a-regular-file")
    data = store.read_bytes(path)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1 if data else 1
        raise UnableError(f"{path}:{line}: not UTF-8", "mend it first; nothing was changed", code="not-utf8") from error


def _command(scope: str) -> str:
    """The command line of the hooks: shared settings name no path of this machine."""
    if scope == "project" or shutil.which("learnloop"):
        return claude.COMMAND
    return f"{drivers.program()} hook"


def _notices(target: Target) -> list[str]:
    if shutil.which("learnloop"):
        return []
    if target.scope == "project":
        return ["learnloop is not on PATH: the hooks do nothing here until it is (learnloop doctor says how)"]
    return ["learnloop is not on PATH: the hooks call it where it is now"]


# --- showing, asking, writing -----------------------------------------------------------------------------------------


def _unchanged(target: Target, said: str) -> Answer:
    return Answer(visible(said), _data("unchanged", target, ""))


def _data(action: str, target: Target, diff: str) -> dict[str, Any]:
    return {"action": action, "scope": target.scope, "path": str(target.path), "diff": diff}


def _written(call: Call, target: Target, before: str | None, after: str | None, action: str) -> Answer:
    """Show the change, ask where nobody has said yes, write it."""
    diff = _without_secrets(plan.diff([Edit(_shown(target), before, after)]))
    data = _data(action, target, diff)
    shown = coloured(diff, colour=use_colour())
    if call.flag("dry_run"):
        return Answer(shown, {**data, "dry_run": True})
    if not call.flag("yes"):
        verb = action.removesuffix("ed")
        if sys.stdin is None or not sys.stdin.isatty():
            notice = f"nothing was written; to write it: learnloop {verb} --scope {target.scope} --yes"
            return Answer(shown, {**data, "action": "proposed"}, (notice,), 1)
        if not _agreed(shown, call):
            return Answer("nothing was written", {**data, "action": "declined"}, (), 1)
        shown = ""
    if _text(target.path) != before:
        raise UnableError(f"{target.path} changed meanwhile", "run the command again", code="changed")
    if before is not None and not target.path.stat().st_mode & 0o222:  # a replace would ask nobody
        raise UnableError(f"{target.path} is read-only", "make it writable first (chmod u+w)", code="read-only")
    _write(target, before, after, action)
    return Answer("\n".join([*filter(None, [shown]), _said(action, target, after)]), data)


def _without_secrets(diff: str) -> str:
    """A diff in which the lines with a secret (settings have tokens in `env`) are only told, not shown (R004-20)."""
    rows = diff.split("\n")
    hidden = {secret.line - 1 for secret in guard.find_secrets(diff)}
    return "\n".join(f"{row[:1]}(a line that holds a secret)" if n in hidden else row for n, row in enumerate(rows))


def _shown(target: Target) -> str:
    """The file's name in the diff: as git shows it, or whole."""
    if target.scope == "user":
        return str(target.path).lstrip("/")
    return target.path.relative_to(target.path.parent.parent).as_posix()


def _agreed(shown: str, call: Call) -> bool:
    out = sys.stderr if call.flag("json") else sys.stdout
    print(f"{shown}\nwrite it? [y/N] ", end="", file=out, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _said(action: str, target: Target, after: str | None) -> str:
    if action == "installed":
        return f"installed {len(claude.HOOKS)} hooks in {visible(str(target.path))}"
    gone = "; it held nothing else and is gone" if after is None else ""
    return f"took our hooks out of {visible(str(target.path))}{gone}"


def _write(target: Target, before: str | None, after: str | None, action: str) -> None:
    if action == "installed":
        _remember(target.path, before)
        if target.scope == "local" and target.repo:
            inside = _shown(target)
            if not git.tracked(target.repo, inside):
                git.exclude(target.repo, inside)
    store.write(target.path, None if after is None else after.encode())
    if action == "uninstalled":
        _forget(target.path)
        if after is None and target.repo:
            with suppress(OSError):  # others have files in it
                target.path.parent.rmdir()


# --- what an uninstall has to know ------------------------------------------------------------------------------------


def _notes() -> Path:
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "learnloop" / "installed.json"


def _all_remembered() -> dict[str, Any]:
    try:
        found = json.loads(_notes().read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _remembered(path: Path) -> Was:
    row = _all_remembered().get(str(path), {})
    try:
        return Was(tuple(tuple(map(str, place_)) for place_ in row["empty"]), row["blank"])
    except (KeyError, TypeError):  # nothing was empty, another machine installed it, or the note is damaged
        return Was()


def _remember(path: Path, before: str | None) -> None:
    """Note what stood there empty; an update adds nothing, for then our entries stand there already."""
    if before is None or entries.ours(jsonedit.read(before)):
        return
    is_blank = not before.removeprefix("\ufeff").strip(" \t\r\n")
    empty = [] if is_blank else entries.empty_places(before)
    _forget(path)
    if empty or is_blank:
        note = {"empty": empty, "blank": before if is_blank else None}
        _save({**_all_remembered(), str(path): note})


def _forget(path: Path) -> None:
    notes = _all_remembered()
    if notes.pop(str(path), None) is not None:
        _save(notes)


def _save(notes: dict[str, Any]) -> None:
    store.write(_notes(), json.dumps(notes, indent=1).encode())
