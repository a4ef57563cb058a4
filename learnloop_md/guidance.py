"""The texts in which recalled lessons reach a model or a person: whole entries, never above the budget (design §8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from learnloop_md import digest, recall
from learnloop_md import lesson as lessons
from learnloop_md.digest import CLOSE, GUIDANCE, OPEN
from learnloop_md.lesson import Lesson, fold
from learnloop_md.neutral import neutral
from learnloop_md.recall import Hit

BUDGET = 500  # tokens, R000-52
FORMATS = ("block", "digest", "text", "json")
_TITLES = 8  # so many of the lessons left out are named
_HEADING = (
    "## Past Run Learnings (auto-generated)\n"
    "The following observations come from previous runs. Treat them as guidance, not hard rules."
)


class Given(NamedTuple):
    """A text, and the lessons that stand in it whole."""

    text: str
    shown: tuple[Hit, ...]


class Manner(NamedTuple):
    """How lessons are told: which of the formats, for whom, with what said besides."""

    format: str = "block"
    program: str = "learnloop"
    skill_version: str = ""
    explain: bool = False
    marks: Mapping[str, str] = {}


def make(best: Sequence[Hit], rest: Sequence[Hit], budget: int, manner: Manner) -> Given:
    """The best hits whole, the others folded into one bullet, all within budget tokens; "" where none finds room.

    What is least relevant is folded first, but not the only failure (R000-33, R000-53).
    """
    kept, folded = list(best), list(rest)
    while kept:
        for titles in range(min(len(folded), _TITLES), -1, -1):
            text = _LAYOUTS[manner.format](kept, _folded(folded, titles, manner), manner)
            if digest.tokens(text) <= budget:
                return Given(text, tuple(kept))
        folded.insert(0, kept.pop(_least(kept)))
    return Given("", ())


def _least(kept: Sequence[Hit]) -> int:
    """The place of the hit that goes first: the last one, unless it is the only failure."""
    failures = [n for n, hit in enumerate(kept) if recall.is_failure(hit.lesson)]
    return len(kept) - 2 if failures == [len(kept) - 1] and len(kept) > 1 else len(kept) - 1


def safe(text: str) -> str:
    """A text of a lesson on one line, made harmless: the one place where recalled texts are."""
    return fold(neutral(fold(text)))


def _folded(rest: Sequence[Hit], titles: int, manner: Manner) -> str:
    """One bullet for all that is left out, the newest first."""
    if not rest:
        return ""
    newest = sorted(rest, key=lambda hit: lessons.newest_sighting(hit.lesson), reverse=True)
    named = "; ".join(safe(hit.lesson.shown_title) for hit in newest[:titles])
    left = len(rest) - titles
    more = f"{left} more" if not named else f"{named}, and {left} more" if left else named
    return f"- …{'and ' if not named else 'also: '}{more}: `{manner.program} review --list`"


def _block(kept: Sequence[Hit], rest: str, manner: Manner) -> str:
    """R000-50, R000-51; what went half well stands with the failures."""
    lines = [OPEN, _HEADING]
    for title, wanted in (("successes", False), ("failures", True)):
        group = [hit for hit in kept if recall.is_failure(hit.lesson) is wanted]
        if group:
            lines += ["", f"**Relevant {title}:**"]
            lines += [line for hit in group for line in _entry(hit, manner)]
    return "\n".join([*lines, *(["", rest] if rest else []), CLOSE])


def _entry(hit: Hit, manner: Manner) -> list[str]:
    lesson = hit.lesson
    title, said = _titled(lesson)
    text = lessons.shorten(said, lessons.RULE_LIMIT)
    end = "" if text.endswith((".", "!", "?", "…", "。", "！", "？")) else "."
    day = lessons.newest_sighting(lesson)
    lines = [f"- {f'[{day}] ' if day else ''}{title}: {text}{end}{_marks(hit.lesson, manner)}"]
    lines += [f"  Edge case: {safe(case)}" for case in lesson.edge_cases]
    return lines + _because(hit, manner)


def _titled(lesson: Lesson) -> tuple[str, str]:
    """A lesson's title and its text; where the title is the rule already, the text is the reason."""
    first = lessons.first_sentence(lesson.rule)
    named_after_it = not lesson.title and lessons.slugify(first) == lesson.slug
    title = safe(first if named_after_it else lesson.shown_title)
    said = safe((lesson.what_failed if recall.is_failure(lesson) else lesson.what_worked) or lesson.rule)
    if said.rstrip(".").casefold() == title.rstrip(".").casefold():
        said = safe(lesson.why or lesson.how) or said
    return title, said


def _marks(lesson: Lesson, manner: Manner) -> str:
    older = lesson.skill_version and manner.skill_version and lesson.skill_version != manner.skill_version
    marks = [
        f"[from v{safe(lesson.skill_version)}]" if older else "",
        "(candidate)" if lesson.state == "candidate" else "",
        manner.marks.get(lesson.slug, ""),
    ]
    return "".join(f" {mark}" for mark in marks if mark)


def _because(hit: Hit, manner: Manner) -> list[str]:
    return [f"  Why this: {safe(hit.why)}"] if manner.explain else []


def _digest(kept: Sequence[Hit], rest: str, manner: Manner) -> str:
    """R004-70."""
    lines = [OPEN, GUIDANCE, ""]
    for hit in kept:
        extra = manner.marks.get(hit.lesson.slug, "")
        lines += [safe(digest.line(hit.lesson, manner.skill_version)) + (f" {extra}" if extra else "")]
        lines += _because(hit, manner)
    lines += [rest] if rest else []
    program = manner.program
    return "\n".join([*lines, "", f"Helped? `{program} confirm NAME` · Wrong? `{program} dispute NAME`", CLOSE])


def _text(kept: Sequence[Hit], rest: str, manner: Manner) -> str:
    """For a person's terminal."""
    lines: list[str] = []
    for hit in kept:
        lines += [f"{hit.score:.2f} {safe(digest.line(hit.lesson, manner.skill_version)).removeprefix('- ')}"]
        lines += [f"     {hit.why}"]
    return "\n".join([*lines, *([rest] if rest else [])])


_LAYOUTS: Mapping[str, Callable[[Sequence[Hit], str, Manner], str]] = {
    "block": _block,
    "digest": _digest,
    "text": _text,
    "json": _block,
}
