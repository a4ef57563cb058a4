"""The record of a run as JSON (R000): judged whole before anything is kept, and told again as it came. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from learnloop_md.errors import RefusedError
from learnloop_md.lesson import KINDS, OUTCOMES, Lesson, Record, fold

TEXT_LIMIT = 200  # characters; every text of a record is shorter (R000-13)
_TEXTS = ("task_type", "input_summary", "approach", "what_worked", "what_failed")
_REQUIRED = ("task_type", "input_summary", "approach", "outcome", "confidence")
_LISTS = ("edge_cases", "tags", "stack_tags")
KEYS = (
    "id", "timestamp", "task_type", "input_summary", "approach", "outcome", "confidence", "what_worked",
    "what_failed", "edge_cases", "tags", "run_duration_ms", "stack_tags", "human_confirmed", "supersedes_id",
)  # fmt: skip


class Told(NamedTuple):
    """A record, and what is said of it besides."""

    record: Record
    confidence: float
    tags: tuple[str, ...] = ()
    human_confirmed: bool | None = None
    supersedes: str = ""  # the id or the name of an older one


class Fault(NamedTuple):
    """What is wrong with one field."""

    field: str
    message: str


def read(value: object) -> Told:
    """The record that a JSON value stands for. Raises RefusedError that names every fault at once (R000-24)."""
    found = faults(value)
    if found or not isinstance(value, Mapping):
        said = "; ".join(f"{row.field}: {row.message}" for row in found)
        raise RefusedError(f"not a run record: {said}", "learnloop capture --prompt tells the form", code="bad-record")
    texts = {key: value.get(key) or "" for key in ("id", "timestamp", "outcome", *_TEXTS)}
    lists = {key: tuple(value.get(key) or ()) for key in _LISTS}
    record = Record(
        **texts,
        edge_cases=lists["edge_cases"],
        stack_tags=lists["stack_tags"],
        run_duration_ms=value.get("run_duration_ms"),
    )
    confirmed, old = value.get("human_confirmed"), value.get("supersedes_id") or ""
    return Told(record, value["confidence"], lists["tags"], confirmed, old)


def faults(value: object) -> list[Fault]:
    """Everything that keeps a JSON value from being a record, in the order of the fields."""
    if not isinstance(value, Mapping):
        return [Fault("record", "not a JSON object")]
    found = [Fault(str(key), "there is no such field") for key in value if key not in KEYS]
    for key in KEYS:
        found += [Fault(key, why) for why in _why_not(key, value.get(key))]
    if value.get("outcome") in ("partial", "failure") and not value.get("what_failed"):
        found.append(Fault("what_failed", f"a {value['outcome']} must say what failed"))
    order = {key: n for n, key in enumerate(KEYS)}
    return sorted(dict.fromkeys(found), key=lambda row: order.get(row.field, -1))


def _why_not(key: str, value: Any) -> Iterable[str]:
    if value is None or value == "":
        if key in _REQUIRED:
            yield "missing"
    elif key in _LISTS:
        yield from _why_no_list(key, value)
    elif key == "confidence":
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            yield f"{value!r} is not a number from 0 to 1"
    elif key == "run_duration_ms":
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**15:
            yield f"{value!r} is not a whole number of milliseconds"
    elif key == "human_confirmed":
        if not isinstance(value, bool):
            yield f"{value!r} is not true or false"
    elif not isinstance(value, str):
        yield "not a text"
    else:
        yield from _why_no_text(key, value)


def _why_no_list(key: str, value: object) -> Iterable[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        yield "not a list of texts"
    elif len(value) > 100:
        yield f"{len(value)} items, at most 100"
    else:
        long = [n for n, item in enumerate(value, 1) if len(item) >= TEXT_LIMIT]
        yield from (f"item {n} has {len(value[n - 1])} characters, under {TEXT_LIMIT} are taken" for n in long)
        yield from (f"item {n} {_NOT_PRINTABLE}" for n, item in enumerate(value, 1) if not _is_printable(item))


_NOT_PRINTABLE = "holds control characters"


def _is_printable(text: str) -> bool:
    return all(c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cs"} for c in text)


def _why_no_text(key: str, value: str) -> Iterable[str]:
    if not value.strip():
        yield "blank"
    if not _is_printable(value):
        yield _NOT_PRINTABLE
    if len(value) >= TEXT_LIMIT:
        yield f"{len(value)} characters, under {TEXT_LIMIT} are taken"
    elif key == "outcome" and value not in OUTCOMES:
        yield f"{value!r} is none of {', '.join(OUTCOMES)}"
    elif key == "timestamp" and not is_timestamp(value):
        yield f"{value!r} is not a time such as 2024-01-15T14:32:00Z"
    elif key in ("id", "task_type") and not re.fullmatch(r"[\w][\w.:/+-]*", value):
        yield f"{value!r} is not one word such as learn_20240115_001 or file_refactor"


class Weakness(NamedTuple):
    """What is wrong with a record in a lesson file: the field, a code, words, and whether it is an error."""

    field: str
    code: str
    message: str
    is_error: bool = False


def weaknesses(lesson: Lesson) -> Iterable[Weakness]:
    """What a person should look at in the record of a lesson; what `capture` refuses is only told of a file."""
    record = lesson.record
    if record is None:
        return
    if not record.input_summary:  # it guards against a lesson that is taken for more than it was (R000-02)
        yield Weakness("outcome", "missing-input-summary", "a run record says what was given: input_summary", True)
    if record.outcome and record.outcome not in OUTCOMES:
        message = f"outcome {record.outcome!r} is not one of {', '.join(OUTCOMES)}"
        yield Weakness("outcome", "unknown-outcome", message)
    if record.outcome in ("partial", "failure") and not record.what_failed:
        yield Weakness("outcome", "missing-what-failed", f"a {record.outcome} says what failed: what_failed")
    if lesson.confidence is not None and not 0 <= lesson.confidence <= 1:
        yield Weakness("confidence", "bad-confidence", f"confidence {lesson.confidence:g} is not from 0 to 1")
    texts = [(key, getattr(record, key)) for key in _TEXTS] + [("edge_cases", case) for case in record.edge_cases]
    for key, text in texts:
        if len(text) >= TEXT_LIMIT:
            message = f"{key} has {len(text)} characters, a record's texts have fewer than {TEXT_LIMIT}"
            yield Weakness(key, "record-too-long", message)


def is_timestamp(text: str) -> bool:
    """Whether a text is a day with a time (ISO 8601)."""
    try:
        return "T" in text and bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def next_id(day: str, taken: Iterable[str]) -> str:
    """The next free learn_YYYYMMDD_NNN of a day (R000-09)."""
    begin = f"learn_{day.replace('-', '')}_"
    numbers = [int(m[1]) for known in taken if (m := re.fullmatch(rf"{begin}(\d{{1,9}})", known))]
    return f"{begin}{max(numbers, default=0) + 1:03d}"


class Teaching(NamedTuple):
    """What a record teaches, as the texts of a lesson."""

    rule: str
    why: str
    how: str
    kind: str


def teaching(record: Record, *, exported: bool = False) -> Teaching:
    """What a run teaches; exported: the record may stand for a lesson that `of_lesson` told."""
    if exported and record.task_type in KINDS:
        return _lesson_told(record)
    kind = "success" if record.outcome == "success" else "failure"
    return Teaching(rule_of(record), why_of(record), how_of(record), kind)


def of_lesson(lesson: Lesson) -> dict[str, str]:
    """The texts of a record that stands for a lesson of no run (R000-73).

    A rule says what to do, so it never is what failed; of a correction or a failure the reason is. Only a failure
    without a reason has nothing else to tell of it than its rule.
    """
    is_bad = lesson.kind in ("correction", "failure")
    rule, why, how, context = (fold(text) for text in (lesson.rule, lesson.why, lesson.how, lesson.context))
    only_failed = lesson.kind == "failure" and not why
    given = [context, "" if is_bad else why]
    return {
        "input_summary": ": ".join(filter(None, given)) or fold(lesson.description) or rule,
        "approach": how or rule,
        "what_worked": "" if only_failed else rule,
        "what_failed": rule if only_failed else why if is_bad else "",
    }


def _lesson_told(record: Record) -> Teaching:
    """What `of_lesson` made a record of."""
    rule = record.what_worked or rule_of(record)
    given = record.input_summary
    if fold(rule).startswith(fold(given).rstrip("….")):  # nothing but the rule itself was given
        given = ""
    why = record.what_failed if record.what_worked and record.what_failed else given
    how = "" if fold(record.approach) == fold(rule) else record.approach
    return Teaching(rule, why, how, record.task_type)


def rule_of(record: Record) -> str:
    """What the run teaches, in one text: what failed, or what worked, else the approach."""
    return (record.what_worked if record.outcome == "success" else record.what_failed) or record.approach


def why_of(record: Record) -> str:
    return f"{record.input_summary.rstrip('.')} ({record.task_type}, {record.outcome})."


def how_of(record: Record) -> str:
    """The approach, what worked all the same, and the edge cases, one after the other."""
    worked = record.what_worked if record.outcome != "success" else ""
    label = "Approach" if record.outcome == "success" else "What was tried"
    said = [(label, record.approach), ("What worked", worked), *(("Edge case", case) for case in record.edge_cases)]
    if record.outcome == "success" and not record.what_worked:
        said = said[1:]  # the approach is the rule itself
    return " ".join(f"{name}: {fold(text).rstrip('.')}." for name, text in said if text)


def to_json(lesson: Lesson, supersedes_id: str = "") -> dict[str, Any]:
    """The record of a lesson as JSON: the fields of R000 always, the optional ones where there is something."""
    record = lesson.record
    assert record is not None, "only asked for lessons that come from a run"
    told: dict[str, Any] = {
        "id": record.id,
        "timestamp": record.timestamp,
        "task_type": record.task_type,
        "input_summary": record.input_summary,
        "approach": record.approach,
        "outcome": record.outcome,
        "confidence": lesson.confidence,
        "what_worked": record.what_worked or None,
        "what_failed": record.what_failed or None,
        "edge_cases": list(record.edge_cases),
        "tags": list(lesson.tags),
    }
    optional = {
        "run_duration_ms": record.run_duration_ms,
        "stack_tags": list(record.stack_tags) or None,
        "human_confirmed": lesson.human_confirmed,
        "supersedes_id": supersedes_id or None,
    }
    return told | {key: value for key, value in optional.items() if value is not None}


PROMPT = """Distil what the run that has just ended teaches into one JSON object. It is kept whether the run succeeded
or not.

What you have to go by:
- the task as it was given: {task}
- the log of the run, or the state it ended in: {log}

Answer with the JSON object alone, in this form:

{{
  "task_type": "a short label such as file_refactor, api_integration, test_generation",
  "input_summary": "what was given and asked, in one or two sentences",
  "approach": "how it was done, in brief",
  "outcome": "success, partial or failure",
  "confidence": 0.8,
  "what_worked": "what is worth doing again, or null",
  "what_failed": "what went wrong and why, or null",
  "edge_cases": ["each trap that the next run should know of"],
  "tags": ["words under which somebody would look for it"],
  "run_duration_ms": 45000,
  "stack_tags": ["react-18", "only versions that matter"]
}}

Rules:
- Keep every text under {limit} characters. Write what holds for the next run, not what was said in this one.
- "success": the result was checked and is right. "partial": it ended early (a timeout, a rate limit), or runs and is
  not what was wanted. "failure": it did not get there. For the last two "what_failed" is required.
- "confidence" is how sure you are that it holds in general, from 0 to 1.
- Leave out "run_duration_ms" and "stack_tags" where you do not know them. No secrets, no transcript, no tool output.
"""


def prompt(task: str = "", log: str = "") -> str:
    """What an agent is asked after a run (R000-22)."""
    return PROMPT.format(task=fold(task) or "(the task)", log=fold(log) or "(the log)", limit=TEXT_LIMIT)
