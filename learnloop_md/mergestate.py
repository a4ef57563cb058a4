"""The state file: its text to values and back, and two sides of it merged by key. Pure.

Of two counts the higher one counts. A sum would count twice what reached both sides, or what both set: a merge may be
late, but it invents nothing.
"""

from __future__ import annotations

import json
import re
from typing import Any

State = dict[str, Any]


def parse(text: str) -> State:
    """The state in a text, empty for an empty one. Raises ValueError or RecursionError for what is no state."""
    found = value_of(text) if text.strip() else {}
    if not isinstance(found, dict):
        raise ValueError("no JSON object")
    rendered(found).encode("utf-8")  # half a surrogate is JSON, and no text that a file can hold
    return found


def value_of(text: str) -> Any:
    """The JSON value in a text. Raises ValueError, also for what is no number and for a key that stands twice."""
    return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_pairs)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _pairs(pairs: list[tuple[str, Any]]) -> State:
    found = dict(pairs)
    if len(found) < len(pairs):
        double = next(key for n, (key, _) in enumerate(pairs) if key in (known for known, _ in pairs[:n]))
        raise ValueError(f"the key {double!r} stands twice")
    return found


def rendered(state: State) -> str:
    """The file's text: sorted keys, two spaces, so that a changed value is a changed line."""
    return json.dumps(state, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def merge(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
    """Both sides together, None where they contradict each other or one cannot be read."""
    if ours is None or theirs is None:
        return None
    try:
        was, mine, other = (_texts(side or b"") for side in (base, ours, theirs))
        keys = {*was, *mine, *other}
        values = {key: _merged(*(side.get(key, "") for side in (was, mine, other))) for key in keys}
    except (ValueError, RecursionError):
        return None
    return rendered({key: json.loads(text) for key, text in values.items() if text}).encode()


def _texts(side: bytes) -> dict[str, str]:
    """Each value as JSON: to Python 1, 1.0 and true are equal."""
    return {key: json.dumps(value, sort_keys=True) for key, value in parse(side.decode("utf-8")).items()}


def _merged(was: str, mine: str, other: str) -> str:
    """What a key holds, "" for nothing. Raises ValueError for a contradiction."""
    if mine == was:
        return other
    if other in (was, mine):
        return mine
    if not all(re.fullmatch(r"-?\d+", value) for value in (mine, other)):
        raise ValueError("both sides changed it")
    return max(mine, other, key=int)
