"""Settings: a TOML table at the repository's root over the user's own; every threshold of the tool is one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md.errors import UsageError
from learnloop_md.lesson import TYPES

FILE = ".learnloop.toml"
_TABLES = ("hooks", "policy", "commit")  # their keys may stand in a table of their own
_PYPROJECT, _MARKER = "pyproject.toml", "[tool.learnloop"


class Settings(NamedTuple):
    """All thresholds with their defaults (design §2–§5)."""

    memory: str = ""  # path of the memory, relative to the repository's root
    adopted: tuple[str, ...] = ()  # slugs adopted without a state: they count as current
    candidates_due: int = 5  # R002-30
    stale_days: int = 14  # R002-31
    sightings_to_graduate: int = 2  # R002-20
    sightings_to_codify: int = 4  # R002-40
    active_cap: int = 200  # R004-33
    facts_graduate: bool = True
    private_types: tuple[str, ...] = ("user",)
    trust: str = (
        "merged"  # what is committed was reviewed; "own": words of other authors wait for `accept` (design §10)
    )
    index_lines: int = 140
    index_characters: int = 24_000
    show_characters: int = 2_000  # R004-71
    commit_on_default_branch: bool = True
    session_tokens: int = 500  # what a session is told at its start (design §7)
    recall_on_prompt: bool = False  # whether a prompt brings the lessons that fit it (design §7)
    semantic: bool = False  # whether recall, note and check ask the model of the extra
    model: str = ""  # the person's own folder with model.onnx and tokenizer.json; never a repository's to choose
    correction_words: tuple[str, ...] = ()  # a person's own words that correct, in any language
    commit_runs: bool = False  # whether outcomes of runs are committed in a code repository too (R004-90)
    commit_run_hooks: bool = False  # whether pre-commit and commit-msg see our commits; never a repository's to choose
    hooks_commit: bool = False  # whether Claude's hooks may move HEAD of a code repository (design §6)
    policy_authors: int = 1  # different authors whose sightings a lesson needs before it graduates
    policy_owners: bool = False  # what CODEOWNERS guards names its owners, and no move gets past them
    policy_no_codify_on_default: bool = False  # a rule is codified by a reviewed merge only


_OWN = frozenset(["model", "commit_run_hooks"])  # what only the person's own file may set


def load(roots: Iterable[Path]) -> Settings:
    """The settings of the roots, the first over the others, over the user's, over the defaults.

    What a person's own file keeps back (`trust = "own"`, `private_types`) no repository gives away.

    Raises UsageError for an unknown key, a wrong type or a file that is not TOML.
    """
    user = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "learnloop" / "config.toml"
    path, own = _read(user)
    mine = settings = _overlaid(Settings(), path, own, own=True)
    for root in reversed(list(roots)):  # a file of ours that init writes must not hide what pyproject says
        for path, table in (_of_pyproject(root / _PYPROJECT), _read(root / FILE)):
            settings = _overlaid(settings, path, table)
    if "private_types" in own:
        settings = settings._replace(private_types=tuple(dict.fromkeys(mine.private_types + settings.private_types)))
    return settings._replace(trust="own") if mine.trust == "own" else settings


def of_texts(read: Callable[[str], bytes | None], folders: Iterable[str]) -> Settings:
    """The settings of folders as a commit or the index has them, the first over the others; nobody's own.

    Raises UsageError as load does.
    """
    settings = Settings()
    for folder in reversed(list(folders)):
        for name in (_PYPROJECT, FILE):
            path = Path(folder, name)
            data = read(path.as_posix())
            if data is not None:
                table = _tool(_table(path, data, _MARKER)) if name == _PYPROJECT else _table(path, data)
                settings = _overlaid(settings, path, table)
    return settings


def _of_pyproject(path: Path) -> tuple[Path, Mapping[str, Any]]:
    return path, _tool(_read(path, _MARKER)[1])


def _tool(table: Mapping[str, Any]) -> Any:
    tool = table.get("tool", {})
    return tool.get("learnloop", {}) if isinstance(tool, Mapping) else {}


def _read(path: Path, marker: str = "") -> tuple[Path, Mapping[str, Any]]:
    try:
        return path, _table(path, path.read_bytes(), marker)
    except OSError:
        return path, {}


def _table(path: Path, data: bytes, marker: str = "") -> Mapping[str, Any]:
    if marker.encode() not in data:
        return {}  # spares most calls the TOML parser
    import tomllib  # lazy: start-up (5 ms)

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}", "mend the file; nothing was changed") from error


def _overlaid(settings: Settings, path: Path, table: Mapping[str, Any], *, own: bool = False) -> Settings:
    if not isinstance(table, Mapping):
        raise UsageError(f"{path}: tool.learnloop is not a table", "write [tool.learnloop]; see docs/settings.md")
    for key, given in _flat(table):
        value = given
        if key in _OWN and not own:
            hint = "set it in your own config.toml: a repository must not choose what is run"
            raise UsageError(f"{path}: {key} is no setting of a repository", hint)
        if key not in Settings._fields:
            known = ", ".join(Settings._fields)
            raise UsageError(f"{path}: unknown setting {key!r}", f"known settings: {known}")
        default = getattr(Settings(), key)
        if isinstance(default, tuple):
            good = isinstance(value, list) and all(isinstance(item, str) for item in value)
            value = tuple(value) if good else value
        else:
            good = type(value) is type(default) and not (type(value) is int and value < 1)
        if not good:
            raise UsageError(f"{path}: {key} = {value!r} is not a {_kind(default)}", "see docs/settings.md")
        if key == "private_types" and (strange := set(value) - set(TYPES)):
            raise UsageError(
                f"{path}: private_types names no lesson type: {', '.join(sorted(strange))}", "see docs/settings.md"
            )
        if key == "trust" and value not in ("merged", "own"):
            raise UsageError(f"{path}: trust = {value!r} is neither 'merged' nor 'own'", "see docs/settings.md")
        settings = settings._replace(**{key: value})
    return settings


def _flat(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys of a table; those of the tables in it by both names: hooks.commit is hooks_commit."""
    for key, value in table.items():
        if key in _TABLES and isinstance(value, Mapping):
            yield from ((f"{key}_{name}", one) for name, one in value.items())
        else:
            yield key, value


def _kind(default: object) -> str:
    return {bool: "truth value", int: "whole number above 0", str: "text", tuple: "list of texts"}[type(default)]
