"""What an import brings, whatever it was read from: items, lines that are none, and runs. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from learnloop_md.errors import RefusedError
from learnloop_md.lesson import RULE_LIMIT, Event, Lesson, first_sentence, fold, has_controls, is_day, shorten
from learnloop_md.lessonfile import describe
from learnloop_md.record import Told


class Item(NamedTuple):
    """One thing to bring in: a lesson without a name, or the record of a run."""

    where: str  # as people find it again: a file and a line, or the source's own id
    lesson: Lesson | None = None  # its first sighting's run is what tells it from all others
    told: Told | None = None
    name: str = ""  # a wish for its slug
    state: str = ""  # of a record that comes from a memory: its state there


class Fault(NamedTuple):
    """Something that does not come in, and why."""

    where: str
    why: str


def refuse_controls(*texts: str) -> None:
    """Nothing, where no text holds a control character. Raises RefusedError: folding would write it out or drop it."""
    if any(map(has_controls, texts)):
        raise RefusedError("it holds a control character", "take it out", code="control-char")


def lesson(
    key: str, day: str, rule: str, *, why: str = "", how: str = "", evidence: str = "", again: str = "", **more: object
) -> Lesson:
    """A lesson as it comes in: seen on its day, once more on the day again; a rule that is too long moves to Why.

    Raises RefusedError for a control character in any text.
    """
    refuse_controls(key, rule, why, how, evidence, *_texts(more.values()))
    told = fold(rule)
    if len(told) > RULE_LIMIT:
        why = f"{told} {why}".strip()
        told = shorten(first_sentence(told), RULE_LIMIT)
    seen = [Event(day, key, fold(evidence)), *([Event(again, f"{key}-again")] if again else [])]
    made = Lesson(
        slug="", path="", text="", description=describe(told), type="feedback", kind="note", created=day,
        seen=tuple(seen), rule=told, why=fold(why), how=fold(how),
    )  # fmt: skip
    return made._replace(**more)  # type: ignore[arg-type]


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        rows = value if isinstance(value, tuple) else (value,)
        yield from (row for row in rows if isinstance(row, str))


def day_of(text: str, otherwise: str) -> str:
    """The UTC day of a time or a day, otherwise where it is none."""
    said = text.strip()
    try:
        time = datetime.fromisoformat(said)
    except ValueError:
        return said[:10] if is_day(said[:10]) else otherwise
    return (time.astimezone(UTC) if time.tzinfo else time).date().isoformat()


def key_of(*parts: str) -> str:
    """A name for what has none in its source: the same text has the same one."""
    return "import-" + hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:10]


def words(text: str) -> tuple[str, ...]:
    """Tags out of a text with commas."""
    return tuple(dict.fromkeys(word.strip() for word in re.split(r"[,;]", text) if word.strip()))
