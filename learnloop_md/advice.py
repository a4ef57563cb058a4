"""Advice on a note: what a memory is not for (R001-20, R001-21). The note is kept all the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from learnloop_md.errors import UsageError
from learnloop_md.lesson import TRIGGERS
from learnloop_md.lines import scan

_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?P<text>\S.*)")
_TASK_STATE = re.compile(
    r"(?i)\s*(?:currently|right now|at the moment|in progress|wip\b|started (?:the )?run|todo\b|next step)"
)


class Advice(NamedTuple):
    """One reason why a note may not belong here."""

    code: str
    why: str


def advise(rule: str, instructions: Mapping[str, str]) -> list[Advice]:
    """Why a rule may not belong into the memory; instructions are the texts that are loaded anyway, by file name."""
    found = []
    lines = [line for line in rule.splitlines() if line.strip()]
    if sum(1 for line in lines if _BULLET.match(line)) >= 3:
        found.append(Advice("list", "this is a list: what about it was surprising? Note that"))
    if _TASK_STATE.match(rule):
        found.append(Advice("task-state", "this reads like the state of a task, which is over soon"))
    if instructions:
        from learnloop_md import sameness  # lazy: 7 ms
    for name, text in instructions.items():
        said = sameness.rank(rule, statements(text))
        if said and said[0].verdict == "same":
            found.append(Advice("said-already", f"{name}:{said[0].slug} says this already"))
    return found


def of_trigger(trigger: str) -> tuple[str, str]:
    """The type and kind that a trigger stands for; without one a note of feedback (R001-10)."""
    if not trigger:
        return "feedback", "note"
    if trigger not in TRIGGERS:
        raise UsageError(f"--trigger {trigger!r} is not known", f"use one of: {', '.join(TRIGGERS)}")
    return TRIGGERS[trigger]


def statements(text: str) -> Iterable[tuple[str, str]]:
    """The lines of an instruction file that say something, each with its number."""
    for line in scan(text):
        bullet = _BULLET.match(line.text)
        statement = re.sub(r"<!--.*?-->", "", bullet["text"] if bullet else line.text).strip()
        if line.place == "text" and len(statement) > 12 and not statement.startswith("#"):
            yield str(line.number + 1), statement
