"""How Claude Code and the memory hang together here: its settings, our hooks in them, what it loads.

Each check gives findings for `doctor` and writes nothing; what Claude Code itself does was measured.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import claude, entries, git, index, jsonedit, place
from learnloop_md.claude import HOOKS
from learnloop_md.entries import Entry

OK, WARN, FAIL = "ok", "warn", "fail"
Repo = git.Repo


class Check(NamedTuple):
    """One thing that was looked at: how it stands, and the command that mends it."""

    name: str
    state: str
    message: str
    fix: str = ""


class Source(NamedTuple):
    """A settings file that exists: its scope, what it says (nothing where Claude cannot read it), and why not."""

    scope: str
    path: Path
    said: dict[str, Any]
    fault: str = ""


class Scene(NamedTuple):
    """Where Claude is started, and the settings files that it then reads, the stronger first."""

    cwd: Path
    repo: Repo | None
    sources: tuple[Source, ...]

    @property
    def root(self) -> Path:
        return self.repo.root if self.repo else self.cwd

    def value(self, key: str, kind: type) -> tuple[Any, Source] | None:
        """What the strongest file says under a key, of the kind that Claude takes."""
        return next(((s.said[key], s) for s in self.sources if isinstance(s.said.get(key), kind)), None)


# --- what Claude Code does --------------------------------------------------------------------------------------------


def switched_off(scene: Scene) -> tuple[str, str]:
    """Why Claude loads no memory, and the command that mends it; "" where it does."""
    forced = os.environ.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "")
    if forced not in ("", "0"):
        return f"CLAUDE_CODE_DISABLE_AUTO_MEMORY={forced}", "unset CLAUDE_CODE_DISABLE_AUTO_MEMORY"
    said = scene.value("autoMemoryEnabled", bool)
    if forced == "0" or said is None or said[0]:
        return "", ""
    return f"autoMemoryEnabled is false in {said[1].path}", _edit(said[1].path, "autoMemoryEnabled")


def loaded_memory(scene: Scene) -> Path:
    """The memory that Claude loads where it is not switched off."""
    named = (claude.directory(source.said.get("autoMemoryDirectory")) for source in scene.sources)
    return next(filter(None, named), None) or claude.default_memory(scene.cwd, scene.repo)


# --- looking ----------------------------------------------------------------------------------------------------------


def look(cwd: Path, repo: Repo | None) -> Scene:
    """What Claude started in cwd would read."""
    files = ((scope, path) for scope, path in claude.settings_files(cwd, repo) if path.is_symlink() or path.exists())
    return Scene(cwd, repo, tuple(source(scope, path) for scope, path in files))


def source(scope: str, path: Path) -> Source:
    """A settings file, with what is wrong with it; Claude drops one that is malformed as a whole."""
    try:
        if not path.is_file():
            return Source(scope, path, {}, f"{path} is no file (a link that leads nowhere?)")
        text = path.read_bytes().decode()
        said = jsonedit.read(text)
    except UnicodeDecodeError:
        return Source(scope, path, {}, f"{path} is not UTF-8; Claude Code may ignore the whole file")
    except OSError as error:
        return Source(scope, path, {}, f"{path} cannot be read: {error.strerror}")
    except jsonedit.JsonError as error:
        if error.code == "duplicate-key":  # which Claude takes, the last one
            return Source(scope, path, _loose(text), error.of(path).message)
        return Source(scope, path, {}, f"{error.of(path).message}; Claude Code ignores the whole file")
    if not isinstance(said, dict):
        return Source(scope, path, {}, f"{path} does not hold an object; Claude Code ignores it")
    return Source(scope, path, said)


def _loose(text: str) -> dict[str, Any]:
    found = json.loads(text.removeprefix("\ufeff"))
    return found if isinstance(found, dict) else {}


def _edit(path: Path, key: str) -> str:
    return f'take "{key}" out of {path}'


def of_settings(scene: Scene) -> Iterator[Check]:
    """Files that Claude cannot read, or reads otherwise than they look."""
    shared = scene.root / ".claude" / "settings.json"
    seen = list(scene.sources)
    if shared.exists() and shared not in {s.path for s in seen}:
        seen.append(source("project", shared))
    for row in seen:
        if row.fault:
            yield Check("settings", WARN if row.said else FAIL, row.fault, f"edit {row.path}")
    if not any(row.fault for row in seen):
        read = ", ".join(row.scope for row in scene.sources)
        yield Check("settings", OK, f"Claude Code reads here: {read}" if read else "Claude Code has no settings here")


def of_folder(scene: Scene) -> Iterator[Check]:
    """Below the root Claude does not read the project's shared settings."""
    shared = scene.root / ".claude" / "settings.json"
    if scene.cwd == scene.root or not shared.is_file():
        return
    said = source("project", shared).said
    here = {entry.event for row in scene.sources for entry in entries.ours(row.said)}
    lost = [f"{len(found)} hooks"] if (found := {e.event for e in entries.ours(said)} - here) else []
    lost += ["autoMemoryDirectory"] if "autoMemoryDirectory" in said else []
    if lost:
        message = f"started in {scene.cwd}, Claude Code does not read {shared}: {' and '.join(lost)} are lost"
        fix = "learnloop install --scope local" if found and len(lost) == 1 else f"cd {scene.root}"
        yield Check("folder", WARN, message, fix)


def of_hooks(scene: Scene) -> Iterator[Check]:
    """Whether each event calls us, once."""
    disabled = scene.value("disableAllHooks", bool)
    if disabled and disabled[0]:
        path = disabled[1].path
        yield Check("hooks", FAIL, f"disableAllHooks in {path} switches every hook off", _edit(path, "disableAllHooks"))
    rows = [(row, entry) for row in scene.sources for entry in entries.ours(row.said)]
    plugin = _plugin(scene)
    if not rows and not plugin:
        below = scene.cwd != scene.root and any(of_folder(scene))  # another scope is read here
        fix = f"learnloop install{' --scope local' if below else ''}"
        yield Check("hooks", FAIL, "no hook calls learnloop here: nothing is learnt by itself", fix)
        return
    faults = [*_missing(rows, plugin), *_doubled(rows, plugin), *_old(rows)]
    yield from faults
    if not faults and not (disabled and disabled[0]):
        where = ", ".join(dict.fromkeys([row.scope for row, _ in rows] + ([f"plugin {plugin}"] if plugin else [])))
        yield Check("hooks", OK, f"all {len(HOOKS)} events call learnloop ({where})")


Rows = list[tuple[Source, Entry]]


def _plugin(scene: Scene) -> str:
    """The enabled plugin that brings our hooks, "" for none."""
    found = scene.value("enabledPlugins", dict)
    names = [row.said.get("enabledPlugins") for row in scene.sources] if found else []
    merged = {name: on for table in reversed(names) if isinstance(table, dict) for name, on in table.items()}
    return next((name for name, on in merged.items() if on is True and name.startswith("learnloop")), "")


def _missing(rows: Rows, plugin: str) -> Iterator[Check]:
    missing = [event for event in HOOKS if event not in {entry.event for _, entry in rows}]
    if missing and not plugin:
        scope = rows[0][0].scope
        yield Check("hooks", WARN, f"no hook for: {', '.join(missing)}", f"learnloop install --scope {scope}")


def _doubled(rows: Rows, plugin: str) -> Iterator[Check]:
    """Claude runs one command line once, wherever it stands; two that differ run both."""
    if plugin and rows:
        fix = f"learnloop uninstall --scope {rows[-1][0].scope}"
        yield Check("hooks", WARN, f"the plugin {plugin} and the settings both call learnloop: each event twice", fix)
        return
    for event in HOOKS:
        here = [(row, entry) for row, entry in rows if entry.event == event]
        if len({entry.command for _, entry in here}) > 1:
            scopes = list(dict.fromkeys(row.scope for row, _ in here))
            dead = [row.scope for row, entry in here if _is_gone(entries.program_of(entry.command))]
            verb = "uninstall" if len(scopes) > 1 else "install"
            where = " and ".join(str(path) for path in dict.fromkeys(row.path for row, _ in here))
            message = f"{event} calls learnloop twice, by different commands: {where}"
            yield Check("hooks", WARN, message, f"learnloop {verb} --scope {(dead or scopes[::-1])[0]}")
            return


def _old(rows: Rows) -> Iterator[Check]:
    """Entries as an older version wrote them, and programs that are gone."""
    for row in dict.fromkeys(row.path for row, _ in rows):
        here = [(found, entry) for found, entry in rows if found.path == row]
        fix = f"learnloop install --scope {here[0][0].scope}"
        commands = list(dict.fromkeys(entry.command for _, entry in here))
        gone = [name for command in commands if (name := entries.program_of(command)) and _is_gone(name)]
        if gone:
            yield Check("hooks", FAIL, f"{row} calls {gone[0]}, which is not there", fix)
        elif spare := sorted({entry.event for _, entry in here} - HOOKS.keys()):
            yield Check("hooks", WARN, f"{row} calls learnloop for nothing at: {', '.join(spare)}", fix)
        elif len(commands) == 1:
            events = {entry.event for _, entry in here}
            wanted = {"hooks": {e: g for e, g in here[0][0].said["hooks"].items() if e in events}}
            if events == set(HOOKS) and not entries.is_current(wanted, commands[0]):
                yield Check("hooks", WARN, f"{row} holds hooks as another version writes them", fix)


def _is_gone(program: str) -> bool:
    return program.startswith("/") and shutil.which(program) is None


# --- the memory that Claude loads -------------------------------------------------------------------------------------


def of_directories(scene: Scene) -> Iterator[Check]:
    """autoMemoryDirectory where Claude ignores it, where it leads nowhere, and where two files differ."""
    named: list[tuple[Source, Path]] = []
    for row in scene.sources:
        value = row.said.get("autoMemoryDirectory")
        folder = claude.directory(value)
        fix = "learnloop init" if scene.repo and row.scope == "local" else _edit(row.path, "autoMemoryDirectory")
        if value is not None and folder is None:
            message = f"Claude Code ignores autoMemoryDirectory {json.dumps(value)} in {row.path}: it is not absolute"
            yield Check("auto-memory-directory", WARN, message, fix)
        elif folder:
            named.append((row, folder))
            if not folder.is_dir():
                message = f"{row.path} names {folder}, which is not there; Claude Code would make it (was it moved?)"
                yield Check("auto-memory-directory", FAIL, message, fix)
    for row, folder in named[1:]:
        first, wins = named[0]
        if os.path.realpath(folder) != os.path.realpath(wins):
            message = f"{row.path} names {folder}, yet {first.path} names {wins}, which wins"
            yield Check("auto-memory-directory", WARN, message, _edit(row.path, "autoMemoryDirectory"))


def of_loaded(scene: Scene) -> Iterator[Check]:
    """Links that Claude refuses to write through, and a MEMORY.md that it loads only in part."""
    if switched_off(scene)[0]:
        return
    folder = loaded_memory(scene)
    document = folder / place.INDEX
    if folder.is_symlink():
        message = f"{folder} is a symbolic link: Claude Code reads it and refuses to write"
        fix = "learnloop init" if scene.repo else f"rm {folder}, then name the folder itself in autoMemoryDirectory"
        yield Check("links", FAIL, message, fix)
    if document.is_symlink():
        goal = os.path.realpath(document)
        message = f"{document} is a symbolic link: Claude Code refuses to edit it"
        fix = f"mv {goal} {document}" if os.path.exists(goal) else f"rm {document}"
        yield Check("links", FAIL, message, fix)
    if document.is_file():
        lines, characters = index.loaded_size(document.read_bytes().decode("utf-8-sig", "replace"))
        if lines > index.HARD_LINES or characters > index.HARD_CHARACTERS:
            message = (
                f"{document} has {lines} lines and {characters} characters; Claude Code loads "
                f"{index.HARD_LINES} lines and {index.HARD_CHARACTERS} characters of it"
            )
            yield Check("memory-size", FAIL, message, "learnloop cleanup --apply; then shorten its prose")
