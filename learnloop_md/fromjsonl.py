"""Learnings in JSON lines: records of R000, and lines with a key and an insight. Pure (R000-73)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from learnloop_md import incoming, mergestate
from learnloop_md import record as records
from learnloop_md.errors import RefusedError
from learnloop_md.incoming import Fault, Item

_TEXTS = ("insight", "text", "rule", "lesson")  # where other tools keep the rule
_RECORD = {"input_summary", "outcome", "approach", "what_worked", "what_failed"}
_KINDS = {"pitfall": "failure", "pattern": "success", "preference": "preference", "correction": "correction"}


def read(text: str, name: str, today: str) -> tuple[list[Item], list[Fault]]:
    """One item a line, blank lines skipped; of several with the same key the last one counts."""
    items: dict[str, Item] = {}
    faults: list[Fault] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            key, item = _item(_parsed(line), where, today)
        except RefusedError as error:
            faults.append(Fault(where, error.message))
        else:
            items.pop(key, None)
            items[key or where] = item
    return list(items.values()), faults


def _parsed(line: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line, object_pairs_hook=mergestate.unique)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise RefusedError(f"no JSON: {reason}") from error
    if not isinstance(value, dict):
        raise RefusedError("not a JSON object")
    return value


def _item(value: Mapping[str, Any], where: str, today: str) -> tuple[str, Item]:
    if _RECORD & set(value):
        told = records.read({key: inner for key, inner in value.items() if key != "state"})
        if not told.record.id:
            told = told._replace(record=told.record._replace(id=incoming.key_of(json.dumps(value, sort_keys=True))))
        state = value.get("state")
        return "", Item(where, told=told, state=state if state in ("current", "archived") else "")
    rule = next((str(value[key]) for key in _TEXTS if isinstance(value.get(key), str) and value[key].strip()), "")
    if not rule:
        raise RefusedError(f"no learning: neither a run record nor one of {', '.join(_TEXTS)}")
    named = value.get("key")
    name = str(named) if isinstance(named, (str, int)) else ""
    run = f"jsonl-{name}" if name else incoming.key_of(rule)
    files, source = value.get("files"), value.get("source")
    evidence = [str(source) if isinstance(source, str) else "", *(map(str, files) if isinstance(files, list) else ())]
    tags = value.get("tags")
    lesson = incoming.lesson(
        run,
        incoming.day_of(str(value.get("ts") or value.get("timestamp") or value.get("created_at") or ""), today),
        rule,
        evidence=", ".join(filter(None, evidence)),
        kind=_KINDS.get(str(value.get("type") or value.get("kind")), "note"),
        confidence=_confidence(value.get("confidence")),
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
    )
    return run, Item(where, lesson, name=name)


def _confidence(value: object) -> float | None:
    """A number from 0 to 1; one from 1 to 10 is brought to that scale."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 10:
        return None
    return round(value / 10, 3) if value > 1 or isinstance(value, int) else float(value)
