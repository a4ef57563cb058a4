"""What became of a change, told to people in words and to programs as the keys of design §12."""

from __future__ import annotations

from typing import Any

from learnloop_md import index, plan
from learnloop_md.answer import Answer, coloured, use_colour, visible, visible_lines
from learnloop_md.apply import Done
from learnloop_md.life import Outcome
from learnloop_md.place import Place
from learnloop_md.plan import Plan


def told(place: Place, done: Done, outcome: Outcome, *, dry_run: bool = False) -> Answer:
    """The answer to a change."""
    paths = list(dict.fromkeys(path for row in done.plans for path in row.paths))
    data: dict[str, Any] = {
        "action": outcome.action,
        "slug": outcome.slug,
        "state": outcome.state,
        "commits": list(done.own),
        "queued": done.queued,
        "paths": paths,
        **outcome.more,
    }
    if done.earlier:
        data["earlier"] = list(done.commits[: done.earlier])
    notices = [*done.notices, *_absorbed(done), *_over_budget(place, done)]
    if place.repo is None and paths and not dry_run:
        notices.append("no git here: files only, no history")
    if dry_run:
        data["dry_run"] = True
        data["plans"] = plans_of(place, done)
        return Answer(_previewed(place, done, outcome), data, tuple(notices))
    return Answer("\n".join(_words(place, done, outcome)), data, tuple(notices))


def plans_of(place: Place, done: Done) -> list[dict[str, str]]:
    """The plans as a program is told them."""
    return [{"message": plan.message(row), "diff": _diff(place, row)} for row in done.plans]


def _previewed(place: Place, done: Done, outcome: Outcome) -> str:
    """What --dry-run shows: for each commit its message and its diff; nothing of it is written."""
    if not done.plans:
        return f"nothing would change{_reason(outcome)}"
    shown = []
    for row in done.plans:
        diff = coloured(_diff(place, row), colour=use_colour())
        as_they_are = "".join(f"{visible(path)} as it stands\n" for path in row.also)
        shown.append(f"{visible_lines(plan.message(row))}\n{as_they_are}{diff}")
    return "\n".join(shown)


def _diff(place: Place, row: Plan) -> str:
    """A plan's diff with the paths that git shows."""
    return plan.diff([edit._replace(path=place.in_repo(edit.path)) for edit in row.edits])


def _reason(outcome: Outcome) -> str:
    return f": {visible('; '.join(outcome.said))}" if outcome.said else ""


def _words(place: Place, done: Done, outcome: Outcome) -> list[str]:
    """What people read: the exact forms of R001-70 and R001-71 for captures, one line for the rest."""
    said = [f"  {visible(line)}" for line in outcome.said]
    if outcome.captures and outcome.action == "unchanged":
        return [not_saved("; ".join(outcome.said))]
    if outcome.captures:
        lesson = done.memory.lessons[outcome.slug]
        summary = visible(lesson.description or lesson.shown_title)
        lines = [f"[LearnLoop] Saving as {lesson.type or 'note'}: {summary}"]
        lines.append(f"  → {visible(place.folder.name)}/{visible(lesson.path)}")
        if any(place.document in row.paths for row in done.plans):
            lines.append(f"  → {place.document} updated")
        if outcome.action != "added":
            times = len(lesson.seen)
            lines.append(f"  {outcome.action}: {times} {'sighting' if times == 1 else 'sightings'}, {outcome.state}")
        return lines + said
    if outcome.action == "unchanged":
        return [f"unchanged{_reason(outcome)}"]
    line = outcome.headline or f"{outcome.action} {outcome.slug}"
    state = f", {outcome.state}" if outcome.state else ""
    commit = f" ({done.own[-1][:10]})" if done.own else ""
    return [f"{visible(line)}{state}{commit}", *said]


def not_saved(reason: str) -> str:
    """The visible form of a capture that was refused or not needed (R001-71)."""
    return f"[LearnLoop] Noted but not saved — {visible(reason)}"


def _over_budget(place: Place, done: Done) -> list[str]:
    """What Claude will not load of the index after this change (R001-42, R001-43)."""
    if place.kind != "project" or not any(place.document in row.paths for row in done.plans):
        return []
    told = []
    if done.left_out:
        more = f" and {len(done.left_out) - 5} more (learnloop status)" if len(done.left_out) > 5 else ""
        told.append(f"left out of {place.document} to keep it short: {', '.join(done.left_out[:5])}{more}")
    lines, characters = index.loaded_size(done.memory.document)
    if lines > index.HARD_LINES or characters > index.HARD_CHARACTERS:
        told.append(
            f"{place.document} has {lines} lines and {characters} characters, Claude loads {index.HARD_LINES} and "
            f"{index.HARD_CHARACTERS}: archive or merge lessons (learnloop check names those past the end)"
        )
    return told


def _absorbed(done: Done) -> list[str]:
    lines = [f"absorbed: {what}" for what in done.absorbed.what]
    for clash in done.absorbed.conflicts:
        said = f"the document says {clash.document!r}, the file says {clash.file!r}"
        lines.append(f"conflict in {clash.slug}, {clash.field}: {said}; it was left as it is")
    for slug, row in done.absorbed.waiting:
        lines.append(f"{row.path}:{row.line}: {row.reason}: {row.message}; read it, then: learnloop accept {slug}")
    lines += [f"the index names {path}, which does not exist" for path in done.absorbed.dangling]
    return lines
