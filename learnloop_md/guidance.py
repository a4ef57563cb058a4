"""The texts in which recalled lessons reach a model or a person: whole entries, never above the budget (design §8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from learnloop_md import digest, recall
from learnloop_md import lesson as lessons
from learnloop_md.fence import CLOSE, GUIDANCE, OPEN, Budget, Pieces, fit, more
from learnloop_md.lesson import Lesson
from learnloop_md.neutral import safe
from learnloop_md.recall import Hit

BUDGET = 500  # tokens, R000-52
FORMATS = ("block", "digest", "text", "json")
_TITLES, _TITLE = 8, 120  # so many of the lessons left out are named, in so many characters each
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
    doubts: Mapping[str, Sequence[str]] = {}


def make(best: Sequence[Hit], rest: Sequence[Hit], budget: int, manner: Manner) -> Given:
    """The best hits whole, the others folded into one bullet, all within budget tokens; "" where none finds room.

    What is least relevant is folded first, but the best failure last of all (R000-33, R000-53).
    """
    failure = next((hit for hit in best if recall.is_failure(hit.lesson)), None)
    order = sorted(best, key=lambda hit: hit is not failure)
    tell = _TELL[manner.format]
    told = {hit.lesson.slug: "".join(f"{line}\n" for line in tell.entry(hit, manner)) for hit in best}

    def around(count: int) -> Iterable[Pieces]:
        folded = [*order[count:], *rest]
        folded.sort(key=lambda hit: lessons.newest_sighting(hit.lesson), reverse=True)
        for titles in range(min(len(folded), _TITLES), -1, -1):
            yield tell.around(order[:count], _folded(folded, titles, manner), manner)

    found = fit([told[hit.lesson.slug] for hit in order], Budget(budget), around)
    if not found:
        return Given("", ())
    count, (before, between, after) = found
    kept = [hit for hit in best if any(hit is one for one in order[:count])]
    later = {hit.lesson.slug for hit in kept if tell.grouped and recall.tells_failure(hit.lesson)}
    first, second = ([told[h.lesson.slug] for h in kept if (h.lesson.slug in later) is x] for x in (False, True))
    return Given("".join([before, *first, between, *second, after]).rstrip("\n"), tuple(kept))


def _folded(rest: Sequence[Hit], titles: int, manner: Manner) -> str:
    """One bullet for all that is left out, the newest first, so many of them by their titles."""
    if not titles:
        return more(len(rest), f"{manner.program} review --list")
    named = "; ".join(lessons.shorten(safe(hit.lesson.shown_title), _TITLE) for hit in rest[:titles])
    left = f", and {len(rest) - titles} more" if len(rest) > titles else ""
    return f"- …also: {named}{left}: `{manner.program} review --list`\n"


def _around_block(kept: Sequence[Hit], rest: str, manner: Manner) -> Pieces:
    """R000-50, R000-51; what went half well stands with the failures."""
    failures = sum(1 for hit in kept if recall.tells_failure(hit.lesson))
    first = "\n**Relevant successes:**\n" if len(kept) > failures else ""
    second = "\n**Relevant failures:**\n" if failures else ""
    return f"{OPEN}\n{_HEADING}\n{first}", second, ("\n" + rest if rest else "") + CLOSE


def _block_entry(hit: Hit, manner: Manner) -> list[str]:
    lesson = hit.lesson
    title, said = _titled(lesson)
    text = lessons.shorten(said, lessons.RULE_LIMIT)
    title = lessons.shorten(title, lessons.RULE_LIMIT)
    end = "" if text.endswith((".", "!", "?", "…", "。", "！", "？")) else "."
    day = lessons.newest_sighting(lesson)
    marks = safe(f"{digest.marks(lesson, manner.skill_version)} {digest.doubt(lesson.slug, manner.doubts)}")
    lines = [f"- {f'[{day}] ' if day else ''}{title}: {text}{end}{f' {marks}' if marks else ''}"]
    lines += [f"  Edge case: {safe(case)}" for case in lesson.edge_cases]
    return lines + _because(hit, manner)


def _titled(lesson: Lesson) -> tuple[str, str]:
    """A lesson's title and its text; where the title is the rule already, the text is the reason."""
    first = lessons.first_sentence(lesson.rule)
    named_after_it = not lesson.title and lessons.slugify(first) == lesson.slug
    title = safe(first if named_after_it else lesson.shown_title)
    said = safe((lesson.what_failed if recall.tells_failure(lesson) else lesson.what_worked) or lesson.rule)
    if said.rstrip(".").casefold() == title.rstrip(".").casefold():
        said = safe(lesson.why or lesson.how) or said
    return title, said


def _because(hit: Hit, manner: Manner) -> list[str]:
    return [f"  Why this: {safe(hit.why)}"] if manner.explain else []


def _line_entry(hit: Hit, manner: Manner) -> list[str]:
    return [digest.line(hit.lesson, manner.skill_version, manner.doubts), *_because(hit, manner)]


def _around_digest(kept: Sequence[Hit], rest: str, manner: Manner) -> Pieces:
    """R004-70."""
    return f"{OPEN}\n{GUIDANCE}\n\n", "", f"{rest}{digest.footer(manner.program)}{CLOSE}"


def _text_entry(hit: Hit, manner: Manner) -> list[str]:
    """For a person's terminal."""
    line = _line_entry(hit, manner._replace(explain=False))[0]
    return [f"{hit.score:.2f} {line.removeprefix('- ')}", f"     {safe(hit.why)}"]


def _around_text(kept: Sequence[Hit], rest: str, manner: Manner) -> Pieces:
    return "", "", rest


class _Tell(NamedTuple):
    """How a format tells one hit, what stands around several, and whether failures are told behind the others."""

    entry: Callable[[Hit, Manner], list[str]]
    around: Callable[[Sequence[Hit], str, Manner], Pieces]
    grouped: bool = False


_TELL: Mapping[str, _Tell] = {
    "block": _Tell(_block_entry, _around_block, grouped=True),
    "digest": _Tell(_line_entry, _around_digest),
    "text": _Tell(_text_entry, _around_text),
    "json": _Tell(_block_entry, _around_block, grouped=True),
}
