"""`review`: one lesson at a time, with a question a person answers by one letter."""

from __future__ import annotations

import sys
from collections.abc import Callable

from learnloop_md import apply, curate, life, memory, verbs
from learnloop_md.answer import Answer, visible
from learnloop_md.calls import Call
from learnloop_md.errors import LearnloopError, UsageError
from learnloop_md.lesson import Lesson, age_days, value_order
from learnloop_md.memory import Memory
from learnloop_md.plan import Draft

_ASK = "[g]raduate  [a]rchive  [m]erge  [c]odify  [s]kip  [q]uit > "


def review(call: Call) -> Answer:
    """Ask about each candidate, oldest first; every answer is applied and committed at once."""
    place = call.place
    rows = memory.load(place)
    if call.flag("list"):
        return _listed(rows, call.today)
    if not sys.stdin.isatty():
        raise UsageError("review asks questions and needs a terminal", "use: learnloop review --list, or cleanup --apply")
    waiting = sorted((x for x in rows.lessons.values() if x.state == "candidate" and not x.is_note), key=lambda x: -age_days(x, call.today))
    commits: list[str] = []
    done = 0
    for n, lesson in enumerate(waiting, 1):
        print(f"\n{n}/{len(waiting)}  {_card(lesson, call.today)}")
        outcome = _one(call, lesson)
        if outcome is None:
            break
        commits += outcome.data["commits"]
        print(outcome.text)
        done += 1
    data = {"action": "reviewed", "slug": "", "state": "", "commits": commits, "queued": False, "paths": []}
    return Answer(f"{done} of {len(waiting)} candidates looked at" if waiting else "no candidates", data)


def _one(call: Call, lesson: Lesson) -> Answer | None:
    """Ask until an answer could be carried out; None ends the review."""
    while True:
        try:
            answer = _input(_ASK)
            act = _act(call, lesson, answer[:1].lower())
            if act is None:
                return None
            return verbs._change(call, act)
        except LearnloopError as error:
            print(f"learnloop: {visible(error.message)}" + (f" — {visible(error.hint)}" if error.hint else ""), file=sys.stderr)


def _act(call: Call, lesson: Lesson, letter: str) -> Callable[[Draft], life.Outcome] | None:
    if letter == "q" or letter == "\x04":
        return None
    if letter == "g":
        return lambda draft: life.graduate(draft, lesson.slug)
    if letter == "a":
        why = _input("why? > ")
        return lambda draft: life.archive(draft, lesson.slug, why)
    if letter == "m":
        other = _input("into which lesson? > ")
        return lambda draft: life.merge(draft, lesson.slug, memory.find_slug(draft.memory, other))
    if letter == "c":
        into = _input("into which file? (empty: the default) > ")
        target = verbs.codify_target(call.place, call, into)
        return lambda draft: verbs.codify.codify(draft, lesson.slug, target)
    if letter in ("s", ""):
        return lambda draft: life.review_skip(draft, lesson.slug)
    raise UsageError(f"{letter!r} is no answer", "type g, a, m, c, s or q")


def _input(prompt: str) -> str:
    try:
        return input(prompt).strip()
    except EOFError:
        print()
        return "\x04"


def _card(lesson: Lesson, today: str) -> str:
    lines = [f"{lesson.slug} ({lesson.type}, seen {len(lesson.seen)}×, {age_days(lesson, today)} days old)", f"  {lesson.rule}"]
    lines += [f"  Why: {lesson.why}"] if lesson.why else []
    lines += [f"  How: {lesson.how}"] if lesson.how else []
    lines += [f"  seen {event.on} in {event.run}{': ' + event.evidence if event.evidence else ''}" for event in lesson.seen]
    return "\n".join(visible(line) for text in lines for line in text.split("\n"))


def _listed(rows: Memory, today: str) -> Answer:
    order = {"current": 0, "candidate": 1, "archived": 2}
    found = sorted(rows.lessons.values(), key=value_order, reverse=True)
    found.sort(key=lambda x: order[x.state])
    lines = [
        f"{x.state:<9} {x.slug} — {visible(x.description or x.shown_title)} (seen {len(x.seen)}×{', pinned' if x.pinned else ''}"
        + (f", {age_days(x, today)} days old" if x.state == "candidate" else "")
        + (f"; {visible(x.archive_note)}" if x.archive_note else "")
        + ")"
        for x in found
    ]
    reasons = curate.reasons(rows, today)
    data = {
        "lessons": [{"slug": x.slug, "type": x.type, "state": x.state, "seen": len(x.seen), "text": x.rule} for x in found],
        "cleanup_due": bool(reasons),
        "cleanup_reasons": reasons,
    }
    return Answer("\n".join(lines) or "no lessons yet", data)


__all__ = ["apply", "review"]
