"""`review`: one lesson at a time, with a question a person answers by one letter."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TextIO

from learnloop_md import codify, curate, life, memory, target, verbs
from learnloop_md.answer import Answer, coloured, error_line, excerpt, use_colour, visible, visible_lines
from learnloop_md.calls import Call
from learnloop_md.errors import LearnloopError, UsageError
from learnloop_md.lesson import STATES, Lesson, age_days, awaits, value_order
from learnloop_md.memory import Memory
from learnloop_md.plan import Draft

Ask = Callable[[str], str]  # a question to what a person types

_QUESTION = "[g]raduate  [a]rchive  [m]erge  [c]odify  [s]kip  [q]uit > "


class _QuitError(Exception):
    """The person has had enough."""


def review(call: Call) -> Answer:
    """Ask about each candidate that waits, oldest first; every answer is applied and committed at once."""
    rows = memory.load(call.place)
    if call.flag("list"):
        return _listed(rows, call.today)
    if sys.stdin is None or not sys.stdin.isatty():
        hint = "use: learnloop review --list, or cleanup --apply"
        raise UsageError("review asks questions and needs a terminal", hint, code="no-terminal")
    candidates = [x for x in rows.lessons.values() if x.state == "candidate" and not x.is_note]
    waiting = [x for x in candidates if awaits(x, call.today, rows.place.settings.stale_days)]
    waiting.sort(key=lambda x: (-age_days(x, call.today), x.slug))
    if waiting:
        print(_standing(rows, call.today), file=sys.stderr if call.flag("json") else sys.stdout)
    answers = _asked(call, waiting, _advice(rows, call.today))
    commits = [commit for answer in answers for commit in answer.data["commits"]]
    paths = list(dict.fromkeys(path for answer in answers for path in answer.data["paths"]))
    queued = any(answer.data["queued"] for answer in answers)
    data = {
        "action": "reviewed",
        "slug": "",
        "state": "",
        "commits": commits,
        "queued": queued,
        "paths": paths,
    }
    text = f"{len(answers)} of {len(waiting)} candidates looked at" if waiting else "no candidate waits"
    if rested := len(candidates) - len(waiting):
        text += f"; {rested} looked at before and left for now (review --list)"
    return Answer(text, data)


def _advice(rows: Memory, today: str) -> Mapping[str, str]:
    """What a cleanup would do or propose with each lesson, and what that would change."""
    found: dict[str, list[str]] = {}
    for item in curate.plan(rows, today):
        changed = coloured(curate.preview(rows, today, item), colour=use_colour())
        said = [f"cleanup: {item.change}: {visible(item.why)}", *(f"  {line}" for line in excerpt(changed))]
        found |= dict.fromkeys(item.slugs, said)
    return {slug: "\n".join(f"  {line}" for line in said) for slug, said in found.items()}


def _standing(rows: Memory, today: str) -> str:
    """How many lessons each zone has, and since when the oldest candidate waits."""
    counts = Counter(lesson.state for lesson in rows.lessons.values() if not lesson.is_note)
    waiting = [lesson for lesson in rows.lessons.values() if lesson.state == "candidate" and not lesson.is_note]
    ages = [age_days(lesson, today) for lesson in waiting]
    oldest = f"; the oldest candidate is {max(ages)} {'day' if max(ages) == 1 else 'days'} old" if ages else ""
    return ", ".join(f"{counts[state]} {state}" for state in STATES) + oldest


def _asked(call: Call, waiting: list[Lesson], advice: Mapping[str, str]) -> list[Answer]:
    out = sys.stderr if call.flag("json") else sys.stdout
    ask = partial(_typed, out)
    answers: list[Answer] = []
    try:
        for n, lesson in enumerate(waiting, 1):
            print(f"\n{n}/{len(waiting)}  {_card(lesson, call.today, advice.get(lesson.slug, ''))}", file=out)
            answers.append(_one(call, lesson, ask))
            print(answers[-1].text, file=out)
    except _QuitError:
        pass
    print(file=out)
    return answers


def _typed(out: TextIO, prompt: str) -> str:
    """A line a person types; the end of input is a quit."""
    print(prompt, end="", file=out, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise _QuitError
    return line.strip()


def _one(call: Call, lesson: Lesson, ask: Ask) -> Answer:
    """Ask until an answer could be carried out."""
    while True:
        try:
            return verbs.changed(call, _act(call, lesson, ask))
        except LearnloopError as error:
            print(f"learnloop: {error_line(error)}", file=sys.stderr)


def _act(call: Call, lesson: Lesson, ask: Ask) -> Callable[[Draft], life.Outcome]:
    letter = ask(_QUESTION)[:1].lower()
    if letter == "q":
        raise _QuitError
    if letter == "g":
        return lambda draft: life.graduate(draft, lesson.slug)
    if letter == "a":
        why = ask("why? > ")
        return lambda draft: life.archive(draft, lesson.slug, why)
    if letter == "m":
        other = ask("into which lesson? > ")
        return lambda draft: life.merge(draft, lesson.slug, memory.find_slug(draft.memory, other))
    if letter == "c":
        goal = target.find(call.place, call.cwd, ask("into which file? (empty: the default) > "))
        return lambda draft: codify.codify(draft, lesson.slug, goal)
    if letter == "s":
        return lambda draft: life.review_skip(draft, lesson.slug)
    raise UsageError(f"{letter!r} is no answer" if letter else "no answer", "type g, a, m, c, s or q")


def _card(lesson: Lesson, today: str, advice: str) -> str:
    age = age_days(lesson, today)
    days = f"{age} {'day' if age == 1 else 'days'} old"
    lines = [
        f"{lesson.slug} ({lesson.type or 'no type'}, seen {len(lesson.seen)}×, {days})",
        f"  {lesson.rule}",
    ]
    lines += [f"  Why: {lesson.why}"] if lesson.why else []
    lines += [f"  How to apply: {lesson.how}"] if lesson.how else []
    lines += [
        f"  seen {event.on} in {event.run}{': ' + event.evidence if event.evidence else ''}" for event in lesson.seen
    ]
    text = "\n".join(visible_lines(text) for text in lines)
    return f"{text}\n{advice}" if advice else text  # its colours are ours, its words were made visible


def _listed(rows: Memory, today: str) -> Answer:
    order = {"current": 0, "candidate": 1, "archived": 2}
    found = sorted(rows.lessons.values(), key=value_order, reverse=True)
    found.sort(key=lambda x: order[x.state])
    reasons = curate.reasons(rows, today)
    data = {
        "lessons": [
            {"slug": x.slug, "type": x.type, "state": x.state, "seen": len(x.seen), "text": x.rule} for x in found
        ],
        "cleanup_due": bool(reasons),
        "cleanup_reasons": reasons,
    }
    return Answer("\n".join(_listed_line(x, today) for x in found) or "no lessons yet", data)


def _listed_line(lesson: Lesson, today: str) -> str:
    said = [f"seen {len(lesson.seen)}×"]
    said += ["pinned"] if lesson.pinned else []
    said += [f"{age_days(lesson, today)} days old"] if lesson.state == "candidate" else []
    said += [lesson.archive_note] if lesson.archive_note else []
    words = lesson.description or lesson.shown_title
    return f"{lesson.state:<9} {visible(lesson.slug)} — {visible(words)} ({visible('; '.join(said))})"
