"""Merge the state file of two sides by its keys; of two counts the higher one counts. Pure.

A sum would count twice what reached both sides, or what both set: a merge may be late, but it invents nothing.
"""

from __future__ import annotations

import json
from typing import Any

_GONE, _CLASH = object(), object()


def merge(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
    """Both sides together, None where they contradict each other or one cannot be read."""
    sides = [_read(side) for side in (base, ours, theirs)]
    if ours is None or theirs is None or None in sides:
        return None
    was, mine, other = (side or {} for side in sides)
    keys = sorted({*was, *mine, *other})
    values = {key: _merged(*(side.get(key, _GONE) for side in (was, mine, other))) for key in keys}
    if _CLASH in values.values():
        return None
    found = {key: value for key, value in values.items() if value is not _GONE}
    return (json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _merged(was: Any, mine: Any, other: Any) -> Any:
    if mine == was:
        return other
    if other in (was, mine):
        return mine
    counts = all(isinstance(value, int) and not isinstance(value, bool) for value in (mine, other))
    return max(mine, other) if counts else _CLASH


def _read(data: bytes | None) -> dict[str, Any] | None:
    try:
        found = json.loads(data) if data else {}
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
