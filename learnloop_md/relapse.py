"""Relapses: codified rules that no longer stand where they were put, or that had to be learned again (design §5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from learnloop_md.codify import codified_rules
from learnloop_md.lesson import Lesson
from learnloop_md.memory import Memory

ReadOther = Callable[[str], "str | None"]  # a path from the memory's folder, such as ../SKILL.md, to its text
# Notes were written by hand too: "Codified in SKILL.md, Comments", "Codified in `docs/a guide.md`".
_CODIFIED = re.compile(r"Codified in `?(.+?\.md)\b")


class Relapse(NamedTuple):
    """A codified lesson that is in force no more, or does not help as it stands."""

    slug: str
    kind: str  # "edited-away", "seen-again" or "target-missing"
    target: str
    field: str  # of the lesson's head, where a finding points to
    message: str


def relapses(memory: Memory, read_other: ReadOther) -> Iterator[Relapse]:
    """The relapses of a memory; the target of an archive note that was written by hand need only be there."""
    rules: dict[str, dict[str, tuple[str, str]] | None] = {}
    for lesson in memory.lessons.values():
        target = codified_target(lesson)
        if not target:
            continue
        if target not in rules:
            texts = [read_other(prefix + target) for prefix in _bases(memory)]
            text = next((text for text in texts if text is not None), None)
            rules[target] = None if text is None else codified_rules(text)
        found = rules[target]
        if found is None:
            message = f"the archive note names {target}, which does not exist"
            yield Relapse(lesson.slug, "target-missing", target, "archive_note", message)
        elif lesson.codified_in:
            yield from _of(lesson, target, found.get(lesson.slug))


def codified_target(lesson: Lesson) -> str:
    """The file that a lesson was codified into, "" for a lesson that was not."""
    match = _CODIFIED.match(lesson.archive_note) if lesson.state == "archived" else None
    return lesson.codified_in or match[1] if match else ""


def _of(lesson: Lesson, target: str, rule: tuple[str, str] | None) -> Iterator[Relapse]:
    back = f"put it back, or: learnloop restore {lesson.slug}"
    if rule is None:
        message = f"the rule codified in {target} is no longer marked there: {back}"
        yield Relapse(lesson.slug, "edited-away", target, "codified_in", message)
        return
    words, day = rule
    if not words:
        message = f"of the rule codified in {target} only the marker is left: {back}"
        yield Relapse(lesson.slug, "edited-away", target, "codified_in", message)
    again = sorted(event.on for event in lesson.seen if event.on > day)
    if again:
        message = (
            f"codified in {target} on {day} and seen again on {again[-1]}: strengthen the rule there "
            f"and set the day in its marker"
        )
        yield Relapse(lesson.slug, "seen-again", target, "seen", message)


def _bases(memory: Memory) -> list[str]:
    """From where an archive note may name its file: the skill, the repository's root, the memory itself."""
    bases = ["../", ""] if memory.place.kind == "skill" else [""]
    if memory.place.repo and memory.place.inside:
        bases.append("../" * len(memory.place.inside.split("/")))
    return bases
