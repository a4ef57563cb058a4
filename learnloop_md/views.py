"""The commands that only look: status, show, recall, log."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from learnloop_md import digest, git, lessonfile, memory, mergestate, skill, store, trust
from learnloop_md.answer import Answer, coloured, excerpt, use_colour, visible, visible_lines
from learnloop_md.calls import Call
from learnloop_md.errors import UsageError
from learnloop_md.fence import tokens
from learnloop_md.guard import unsecret_path
from learnloop_md.lesson import STATES, TYPES, Lesson, age_days, confidence
from learnloop_md.lessonfile import stem
from learnloop_md.memory import find_slug
from learnloop_md.neutral import neutral
from learnloop_md.place import Place, lost

_GIT_S = 1.0  # what recall and show wait for the history of what is missing


def status(call: Call) -> Answer:
    """Which memory, why this one, and how it stands."""
    from learnloop_md import curate, drivers, index  # lazy: `show` needs none of them

    place = call.place
    done = call.look(place)
    rows = done.memory
    counts = Counter(lesson.state for lesson in rows.lessons.values() if not lesson.is_note)
    reasons = curate.reasons(rows, call.today)
    lines, characters = rows.document.count("\n"), len(rows.document)
    if place.kind == "project":
        lines, characters = index.loaded_size(rows.document)
    left_out = list(memory.in_step(rows, rows.document, rows.lessons, rows.lessons).left_out)
    queued = len({*done.differing, *done.unreadable})
    waits = (*rows.quarantined, *(row for _, row in done.absorbed.waiting))
    bad = (*waits, *memory.secrets(rows), *memory.hostile(rows), *_hurt_state(place))
    hurt = [q._replace(path=unsecret_path(q.path)) for q in bad]
    data: dict[str, Any] = {
        "memory": str(place.folder),
        "kind": place.kind,
        "chosen_by": place.chosen_by,
        "lessons": {state: counts[state] for state in STATES},
        "quarantined": [{"path": q.path, "reason": q.reason} for q in hurt],
        "conflicts": [{"slug": clash.slug, "field": clash.field} for clash in done.absorbed.conflicts],
        "queued": queued,
        "cleanup_due": bool(reasons),
        "cleanup_reasons": reasons,
        "index": {"lines": lines, "characters": characters, "left_out": left_out},
    }
    waiting = [x for x in rows.lessons.values() if x.state == "candidate" and not x.is_note]
    oldest = max(waiting, key=lambda x: (age_days(x, call.today), x.slug), default=None)
    data["oldest_candidate"] = {"slug": oldest.slug, "days": age_days(oldest, call.today)} if oldest else None
    # What is alike is looked for only when there is something to do: it takes time in a big memory.
    step = next((x for x in curate.plan(rows, call.today) if x.change not in curate.BY_HAND), None) if reasons else None
    shown = curate.preview(rows, call.today, step) if step else ""
    data["next"] = {"change": step.change, "slugs": list(step.slugs), "why": step.why, "diff": shown} if step else None
    text = [
        f"memory    {visible(str(place.folder))}",
        f"kind      {place.kind}, document {place.document}",
        f"chosen by {place.chosen_by}",
        f"lessons   {', '.join(f'{counts[state]} {state}' for state in STATES)}",
        f"document  {lines} lines, {characters} characters"
        + (f", left out: {visible(', '.join(left_out))}" if left_out else ""),
        *([f"oldest    {visible(oldest.slug)}, {_days(age_days(oldest, call.today))}"] if oldest else []),
        f"cleanup   {'due: ' + visible('; '.join(reasons)) if reasons else 'not due'}",
        f"git       {done.waiting or _git_words(place, queued)}",
    ]
    if tracked := memory.tracked_private(rows):
        text.append(f"private   tracked by git: {visible(memory.untracking(tracked))}")
    text += _runs_open(call, data)
    if drivers.unregistered(place):
        text.append("merge     drivers are not registered: learnloop git-config --enable")
    text += [f"quarantined {visible(q.path)}:{q.line}: {q.reason} {visible(q.message)}" for q in hurt]
    if any(q.reason in trust.ACCEPTABLE for q in waits):
        text.append("            read it, then mend it or: learnloop accept NAME")
    text += [f"conflict  {visible(clash.slug)}: {clash.field}" for clash in done.absorbed.conflicts]
    text += [f"unsynced  {visible(what)}" for what in done.absorbed.what]
    if step:
        text.append(f"next      {step.change} {visible(', '.join(step.slugs))}: {visible(step.why)}")
        text += [f"  {line}" for line in excerpt(coloured(shown, colour=use_colour()))]
        text.append("          carry it out: learnloop cleanup --apply; or one by one: learnloop review")
    return Answer("\n".join(text), data, done.notices)


def _hurt_state(place: Place) -> list[lessonfile.Quarantined]:
    """The state file where it is none."""
    data = store.read_bytes(place.folder / place.values)
    bad = mergestate.fault(data) if data is not None else None
    return [lessonfile.Quarantined(place.values, bad.code, bad.line, bad.message)] if bad else []


def _days(number: int) -> str:
    return f"{number} {'day' if number == 1 else 'days'} old"


def _runs_open(call: Call, data: dict[str, Any]) -> list[str]:
    """The runs that have not ended, and those that were abandoned lately: all that is left of them (R003-21)."""
    from learnloop_md import runs

    opened, gone = runs.open_runs(call.home), runs.abandoned(call.home)
    data["runs"] = {
        "open": [
            {"run": r.id, "session": r.session, "since": r.since, "held": len(r.waiting), "left": r.left}
            for r in opened
        ],
        "abandoned": [{"run": row.id, "on": row.on, "dropped": row.dropped} for row in gone],
    }
    lines = [
        f"run       open since {visible(r.since)} in session {visible(r.session)}, "
        f"{len(r.waiting)} held: {_way_out(r.left)}"
        for r in opened
    ]
    return lines + [f"run       abandoned on {visible(row.on)}, {row.dropped} held dropped" for row in gone]


def _way_out(left: str) -> str:
    return f"the session ended {visible(left)}; resume it to end the run" if left else "learnloop run finish|abandon"


def _git_words(place: Place, queued: int) -> str:
    if place.repo is None:
        return "none: files only"
    if not queued:
        return "in step"
    return f"{queued} of our files {'differs' if queued == 1 else 'differ'} from HEAD: learnloop sync"


def show(call: Call) -> Answer:
    """The digest of the memory, or one lesson."""
    place = call.target
    rows = memory.load(place)
    name = call.text("slug")
    gone = None if rows.lessons else lost(place)
    if gone and name:
        raise gone
    if name:
        lesson = rows.lessons[find_slug(rows, name)]
        text = neutral(lesson.text)
        data = {"lessons": [_row(lesson, "asked for")], "text": text, "tokens": tokens(text)}
        return Answer(visible_lines(text), data)
    budget = call.number("budget", place.settings.show_characters)
    found = digest.order(rows.lessons.values())
    version = skill.version(place)
    title = place.folder.parent.name if place.kind == "skill" else _project_name(place)
    if call.flag("all"):
        budget = 1 << 30
    make = partial(digest.make, found, title, budget=budget, program=call.program, skill_version=version)
    made = make()
    if doubts := _doubts(call, place, made.shown):
        made = make(doubts=doubts)  # at most as many find room
    shown = [_row(lesson, "pinned" if lesson.pinned else lesson.state) for lesson in made.shown]
    data = {"lessons": shown, "text": made.text, "tokens": tokens(made.text)}
    notices = (f"{gone.message}; {gone.hint}",) if gone else ()
    return Answer(made.text, data, notices)  # it is safe already, and as long as it was measured


def recall_lessons(call: Call) -> Answer:
    """The lessons that fit a task, as injected text, as lines or as JSON (design §8)."""
    from learnloop_md import guidance, recall  # lazy: `show` needs none of them (20 ms)

    chosen = call.text("format") or ("json" if call.flag("json") else "block")
    if chosen not in guidance.FORMATS:
        raise UsageError(f"--format {chosen!r} is not known", f"use one of: {', '.join(guidance.FORMATS)}")
    task = call.text("task")
    place = call.place
    if (type_ := call.text("type")) and type_ not in TYPES:
        raise UsageError(f"--type {type_!r} is not known", f"use one of: {', '.join(TYPES)}")
    query = recall.Query(task, call.text("task_type"), call.text("type"), call.many("tag"), call.many("stack"))
    notices: list[str] = []
    least = _least_likeness(call)
    asked = bool(task.strip()) and (call.flag("semantic") or least is not None or place.settings.semantic)
    model = None
    if asked:
        from learnloop_md import meaning  # lazy: a model

        model = meaning.told(place, notices)
    lessons = memory.load(place).lessons
    if gone := None if lessons else lost(place):
        notices.append(f"{gone.message}; {gone.hint}")
    hits = recall.rank(lessons.values(), query, call.today, model.likeness if model else None)
    if least is not None and model:
        hits = [hit for hit in hits if hit.likeness >= least]
    elif least is not None:
        notices.append("--min-sim needs a model and a task: not applied")
    best, rest = recall.choose(hits, call.number("limit", 5))
    best = [recall.explained(hit, task) for hit in best]
    doubts = _doubts(call, place, [hit.lesson for hit in best])
    manner = guidance.Manner(chosen, call.program, skill.version(place), call.flag("explain"), doubts)
    given = guidance.make(best, rest, call.number("budget", guidance.BUDGET), manner)
    shown = [
        {**_row(hit.lesson, hit.why), "score": hit.score, "verify_first": doubts.get(hit.lesson.slug, [])}
        for hit in given.shown
    ]
    data = {"lessons": shown, "text": given.text, "tokens": tokens(given.text)}
    if not given.text:
        notices.append("nothing in this memory fits" if not best else "the budget is too small")
    text = json.dumps(data, ensure_ascii=False) if chosen == "json" else given.text
    return Answer(text, data, tuple(notices))


def _doubts(call: Call, place: Place, rows: Sequence[Lesson]) -> dict[str, list[str]]:
    """By lesson what it speaks of that changed or went (design §9)."""
    from learnloop_md import standing  # lazy: a memory without lessons needs none of it

    return standing.told(standing.stale(place, call.cwd, rows, limit_s=_GIT_S)) if rows else {}


def _least_likeness(call: Call) -> float | None:
    """--min-sim, None where it was not given."""
    given = call.text("min_sim")
    if not given:
        return None
    try:
        least = float(given)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise UsageError(f"--min-sim {given!r} is not a number from 0 to 1", "leave it away: ranking needs no limit")
    return least


def _project_name(place: Place) -> str:
    return place.repo.root.name if place.repo and not place.own_repo else place.folder.parent.name


def _row(lesson: Lesson, why: str) -> dict[str, Any]:
    return {
        "slug": lesson.slug,
        "type": lesson.type,
        "state": lesson.state,
        "score": confidence(lesson),
        "why": why,
        "text": neutral(lesson.rule),
    }


def log(call: Call) -> Answer:
    """The commits that touched the memory or one lesson."""
    from learnloop_md import history  # lazy: `show` needs none of it

    place = call.place
    slug = call.text("slug")
    if slug:
        loaded = memory.load(place)
        known = slug in loaded.lessons or any(s.startswith(stem(slug)) for s in loaded.lessons)
        slug = find_slug(loaded, slug) if known else stem(slug)
    limit = call.number("limit", 20)
    found = history.steps(place, slug, limit)
    if slug and not found and slug not in memory.load(place).lessons:
        if place.repo and git.cut_off(place.repo):
            raise git.too_shallow(place.repo, f"it holds no lesson {slug!r} and no commit of one")
        raise UsageError(
            f"there is no lesson {slug!r}, and no commit of one",
            "learnloop log shows all",
            code="unknown-lesson",
        )
    rows = [(step.told, history.change_of(place, step)) for step in found]
    data = {
        "commits": [
            {
                "commit": s.commit,
                "change": change,
                "slugs": list(s.named if s.is_cut else s.slugs),
                "date": s.date,
                "author": s.author,
                "subject": s.subject,
            }
            for s, change in rows
        ]
    }
    lines = [f"{s.commit[:10]} {s.date} {change:<9} {visible(s.subject)} ({visible(s.author)})" for s, change in rows]
    notices = (history.CUT,) if any(step.is_cut for step in found) else ()
    return Answer("\n".join(lines) or "no commit has touched this memory yet", data, notices)
