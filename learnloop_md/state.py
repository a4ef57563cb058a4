"""The state tier: a small JSON object beside a skill's memory, for what is looked up by its key (R003-51)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from learnloop_md import apply, guard, poison, store, tiers, trust
from learnloop_md.apply import Done
from learnloop_md.commits import Asked
from learnloop_md.errors import RefusedError, UnableError, UsageError
from learnloop_md.mergestate import State, fault, parse, rendered, value_of
from learnloop_md.place import STATE, Place
from learnloop_md.plan import Draft

VALUE_LIMIT = 4096  # bytes; "small"
_LESSON = 'that is a lesson: learnloop note "…"; a state is a number, a word, a date, a short list'


class Stored(NamedTuple):
    """What became of a key: its value (None where it is gone), and the change as it was applied."""

    key: str
    value: Any
    changed: bool
    done: Done


def load(place: Place) -> State:
    """The state as it stands, empty where there is none. Raises UnableError for no JSON object, or a secret in it."""
    return parse(_text(place) or "")


def _text(place: Place) -> str | None:
    file = place.folder / place.values
    root = place.repo.root if place.repo else (place.folder.parent if place.kind == "skill" else place.folder)
    if file.is_symlink() and not file.resolve().is_relative_to(root.resolve()):
        raise UnableError(
            f"{STATE} is a link that leads out of {root}", "put the file itself there", code="symlink-escape"
        )
    data = store.read_bytes(file)
    found = fault(data) if data is not None else None
    if found:
        message = f"{STATE}:{found.line}: {found.message}"
        way_out = "run: learnloop sync --resolve" if found.code == "conflict-markers" else "mend it by hand"
        raise UnableError(message, f"{way_out}; nothing was changed", code=found.code)
    return None if data is None else data.decode("utf-8")


def get(place: Place, key: str) -> Any:
    """The value of a key. Raises UsageError where there is none."""
    found = load(place)
    if key not in found:
        raise UsageError(f"there is no state {key!r}", "learnloop state list tells the keys", code="unknown-key")
    return found[key]


def put(place: Place, asked: Asked, key: str, value: Any) -> Stored:
    """Set a key. Raises RefusedError for prose and secrets, with the tier where they belong (ruling C4)."""
    check(key, value)
    return _change(place, asked, key, lambda old: value)


def incr(place: Place, asked: Asked, key: str, by: int = 1) -> Stored:
    """Count a key up, from 0 where there is none. Raises UsageError where its value is no whole number."""
    check(key, by)

    def counted(old: Any) -> Any:
        if isinstance(old, bool) or not isinstance(old, (int, type(None))):
            raise UsageError(f"{key} is {_short(old)}, no whole number", f"set it first: learnloop state set {key} 0")
        return (old or 0) + by

    return _change(place, asked, key, counted)


def delete(place: Place, asked: Asked, key: str) -> Stored:
    """Take a key away. Raises UsageError where there is none."""
    get(place, key)
    return _change(place, asked, key, None)


def _change(place: Place, asked: Asked, key: str, value_of: Callable[[Any], Any] | None) -> Stored:
    """Read, change and write the file under the memory's lock, as one commit."""
    path, found = place.values, {}

    def build(draft: Draft) -> None:
        before = _text(place)
        state = parse(before or "")
        found["old"] = state.get(key)
        if value_of is None:
            state.pop(key, None)
        else:
            state[key] = found["new"] = value_of(state.get(key))
        text = rendered(state)
        if text != before and not (before is None and not state):
            draft.edit(path, before, text)
            said = f"{key} is {_short(found['new'])}" if value_of else f"{key} is gone"
            draft.cut("state", [], said, subject=f"learnloop: state {key}")

    done = apply.change(place, asked, build)
    changed = any(row.change == "state" for row in done.plans)
    return Stored(key, found.get("new"), changed, done)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"


def parse_value(word: str) -> Any:
    """A value as a command line gives it: JSON, else the text as it is."""
    try:
        return value_of(word)
    except (ValueError, RecursionError):
        return word


def check(key: str, value: Any) -> None:
    """Raises UsageError for what cannot be a key, RefusedError for prose, secrets and what is not small."""
    if not re.fullmatch(r"[\w][\w.:/-]{0,79}", key):
        hint = "begin with a letter, digit or '_'; after it also '-', '.', ':', '/'; at most 80 characters"
        raise UsageError(f"{key!r} cannot be a key", hint, code="bad-key")
    try:
        text = rendered({key: value})
        text.encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{key}: not a JSON value", "give a number, a text, a list or an object") from error
    guard.refuse_secrets({key: text})
    for name, said in _said(key, value):
        guard.refuse_secrets({key: f"{name} = {said}"})
    if len(text.encode("utf-8")) > VALUE_LIMIT:
        raise RefusedError(f"{key} would hold more than {VALUE_LIMIT} bytes", "state is small", code="too-large")
    for _, said in _said(key, value):
        trust.refuse(key, poison.find(said))
        if not all(char in "\n\t" or char.isprintable() for char in said):
            raise RefusedError(f"{key} would hold control characters", "write it without them", code="control-char")
        if tiers.is_prose(said):
            raise RefusedError(f"{key} would hold prose", _LESSON, code="prose")


def _said(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """The texts in a value, each with the key it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield key, str(name)
            yield from _said(str(name), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _said(key, inner)


def file_of(place: Place) -> str:
    """The state file's path, for people."""
    return os.path.normpath(place.folder / place.values)
