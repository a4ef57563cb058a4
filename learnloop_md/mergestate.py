"""The state file: its text to values and back, and two sides of it merged by key. Pure.

Of two counts the higher one counts. A sum would count twice what reached both sides, or what both set: a merge may be
late, but it invents nothing.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from learnloop_md import guard
from learnloop_md.lesson import shorten
from learnloop_md.lines import conflict_line

State = dict[str, Any]


class Fault(NamedTuple):
    """Why a text is no state that can be kept."""

    line: int
    code: str
    message: str


def fault(data: bytes) -> Fault | None:
    """What is wrong with a state file, None where it is one."""
    text = data.decode("utf-8", "replace")
    if "\ufffd" in text:
        return Fault(1, "not-utf8", "not UTF-8 text: save it as UTF-8")
    try:
        if line := conflict_line(text):
            return Fault(line, "conflict-markers", "a merge conflict is left in it")
        parse(text)
    except json.JSONDecodeError as error:
        return Fault(error.lineno, "bad-state", f"no JSON ({error.msg})")
    except RecursionError:
        return Fault(1, "bad-state", "nested too deeply")
    except ValueError as error:
        return Fault(1, "bad-state", str(error))
    secret = next(iter(guard.find_secrets(text)), None)
    message = f"holds what looks like a secret: {secret.label}" if secret else ""
    return Fault(secret.line, f"secret:{secret.kind}", message) if secret else None


def parse(text: str) -> State:
    """The state in a text, empty for an empty one. Raises ValueError or RecursionError for what is no state."""
    text = text.removeprefix("\ufeff")  # as editors on Windows write it
    found = value_of(text) if text.strip() else {}
    if not isinstance(found, dict):
        raise ValueError("no JSON object")
    rendered(found).encode("utf-8")  # half a surrogate is JSON, and no text that a file can hold
    return found


def value_of(text: str) -> Any:
    """The JSON value in a text. Raises ValueError, also for what is no number and for a key that stands twice."""
    return json.loads(text, parse_constant=_refuse_constant, parse_int=_int, object_pairs_hook=unique)


def _int(digits: str) -> int:
    if len(digits) > 4000:
        raise ValueError("a number has more than 4000 digits")
    return int(digits)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object's pairs as a dictionary. Raises ValueError for a key that stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        double = next(key for n, (key, _) in enumerate(pairs) if key in (known for known, _ in pairs[:n]))
        raise ValueError(f"the key {guard.unsecret(double)!r} stands twice")
    return found


def rendered(state: State) -> str:
    """The file's text: sorted keys, two spaces, so that a changed value is a changed line."""
    return json.dumps(state, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def merge(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
    """Both sides together, None where they contradict each other or one cannot be read."""
    found = marked(base, ours, theirs)
    return found[0] if found and not found[1] else None


class Clash(NamedTuple):
    """A key that both sides set otherwise, with what each says as JSON ("" for taken out)."""

    key: str
    ours: str
    theirs: str


def marked(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> tuple[bytes, list[Clash]] | None:
    """Both sides with markers around each key that they set otherwise; None where one of them cannot be read."""
    if ours is None or theirs is None:
        return None
    try:
        was, mine, other = (_texts(side or b"") for side in (base, ours, theirs))
    except (ValueError, RecursionError):
        return None
    clashes: list[Clash] = []
    rows: list[tuple[str, ...]] = []
    for key in sorted({*was, *mine, *other}):
        said = [side.get(key, "") for side in (was, mine, other)]
        try:
            rows.append((_entry(key, _merged(*said)),))
        except ValueError:
            clashes.append(Clash(key, *said[1:]))
            rows.append((_entry(key, said[1]), _entry(key, said[2])))
    rows = _closed([row for row in rows if any(row)])
    lines = []
    for n, row in enumerate(rows, 1):
        texts = [f"{text}{',' if n < len(rows) else ''}\n" if text else "" for text in row]
        lines.append(texts[0] if len(row) == 1 else "<<<<<<< ours\n{}=======\n{}>>>>>>> theirs\n".format(*texts))
    text = f"{{\n{''.join(lines)}}}\n" if lines else rendered({})
    return text.encode(), clashes


def told(content: bytes, clashes: list[Clash]) -> str:
    """Which keys both sides set otherwise, and how; the keys alone where the marked content holds a secret."""
    rows = [f"{row.key} is {_said(row.ours)} here and {_said(row.theirs)} there" for row in clashes]
    if guard.find_secrets(content.decode()):  # as a whole: a value that is cut short would hide that it is one
        rows = [guard.unsecret(row.key) for row in clashes]
    return "both sides set a key otherwise: " + "; ".join(rows)


def _said(text: str) -> str:
    return shorten(text, 120) or "gone"


def _closed(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows, the last one with a text on either side: whichever side a person takes, no comma is left over."""
    last = max((n for n, row in enumerate(rows) if all(row)), default=0)
    tail = rows[last:]
    if len(tail) < 2:
        return rows
    return [*rows[:last], tuple(",\n".join(row[side] for row in tail if row[side]) for side in (0, -1))]


def _entry(key: str, text: str) -> str:
    return rendered({key: json.loads(text)}).removeprefix("{\n").removesuffix("\n}\n") if text else ""


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
