"""What the runs and lessons of a memory add up to (R004-91, R000-60). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from learnloop_md import lesson as lessons
from learnloop_md.lesson import Lesson
from learnloop_md.runlog import STATUSES, Run

RECENT = 20  # records; what "recent learnings" means (R000-60)
TOO_MANY = 40  # per cent; more than that is a warning


def collect(rows: Iterable[Lesson], runs: Sequence[Run], relapses: int = 0, enough: int = 2) -> dict[str, Any]:
    """The numbers as programs read them; relapses come from the history, enough is what a lesson needs to graduate."""
    noted = sorted((lesson for lesson in rows if not lesson.is_note), key=lambda x: x.slug)
    ended = Counter(run.status for run in runs)
    return {
        "runs": {"total": len(runs), **{status: ended[status] for status in STATUSES}},
        "success_percent": percent(ended["ok"], len(runs)),
        "last_run": max((run.created_at for run in runs), default=None),
        "confirmed_by_people": _answers(runs),
        "lessons": dict(sorted(Counter(map(_status, noted)).items())),
        "recent": _recent(noted),
        "graduated": _graduated(noted, enough),
        "relapses": relapses,
        "served": _served(noted),
        "skill_versions": _versions(noted, runs),
    }


def percent(part: int, whole: int) -> int | None:
    """A whole per cent, half rounded up; None of nothing (R004-94)."""
    return (200 * part + whole) // (2 * whole) if whole else None


def median(values: Iterable[float]) -> float:
    """The value in the middle, or between the two there. It is not `statistics`': that imports `decimal`, 20 ms."""
    rows = sorted(values)
    half = len(rows) // 2
    return rows[half] if len(rows) % 2 else (rows[half - 1] + rows[half]) / 2


def _status(lesson: Lesson) -> str:
    if lesson.codified_in:
        return "promoted"
    return "archived" if not lesson.is_active else "pinned" if lesson.pinned else "active"


def _answers(runs: Sequence[Run]) -> dict[str, int]:
    said = Counter(run.human_confirmed for run in runs if run.human_confirmed is not None)
    return {"used_as_it_was": said[True], "needed_changes": said[False]}


def _recent(noted: Sequence[Lesson]) -> dict[str, Any]:
    """Of the newest records the share that failed; a partial one counts apart (ruling C19)."""
    records = [(lesson.record.timestamp or lesson.created, lesson) for lesson in noted if lesson.record]
    newest = [x.record.outcome for _, x in sorted(records, key=lambda row: (row[0], row[1].slug))[-RECENT:] if x.record]
    failed = newest.count("failure")
    return {
        "records": len(newest),
        "failures": failed,
        "partial": newest.count("partial"),
        "failure_percent": percent(failed, len(newest)),
        "warning": 100 * failed > TOO_MANY * len(newest),
    }


def _graduated(noted: Sequence[Lesson], enough: int) -> dict[str, Any]:
    """How long lessons took from the first sighting to the one that made them current."""
    took = []
    for lesson in noted:
        days: dict[str, str] = {}
        for event in sorted(lesson.seen, key=lambda e: e.on):
            days.setdefault(event.run, event.on)
        proven = list(days.values())
        if len(proven) >= enough and (lesson.state == "current" or lesson.codified_in):
            took.append(lessons.days_between(proven[0], proven[enough - 1]))
    return {"lessons": len(took), "median_days": median(took) if took else None}


def _served(noted: Sequence[Lesson]) -> dict[str, Any]:
    """How often lessons that are in force were said to have helped or misled."""
    served = [lesson for lesson in noted if lesson.state == "current" or lesson.pinned]
    return {
        "lessons": len(served),
        "confirmed": sum(len(lesson.confirmed) for lesson in noted),
        "disputed": sum(len(lesson.disputed) for lesson in noted),
    }


def _versions(noted: Sequence[Lesson], runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    named = [*(lesson.skill_version for lesson in noted), *(run.skill_version for run in runs)]
    names = sorted(set(filter(None, named)))
    found = {}
    for name in names:
        ended = Counter(run.status for run in runs if run.skill_version == name)
        total = sum(ended.values())
        found[name] = {
            "runs": total,
            "success_percent": percent(ended["ok"], total),
            "lessons": sum(1 for lesson in noted if lesson.skill_version == name),
        }
    return found


def text(found: dict[str, Any]) -> str:
    """The numbers as people read them: two or three lines, and more only where there is something to tell."""
    lines = [_runs_line(found), _lessons_line(found)]
    recent, graduated, served = found["recent"], found["graduated"], found["served"]
    if recent["records"]:
        failed = f"{recent['failures']} of the last {recent['records']} records are failures"
        lines.append(f"records   {failed} ({recent['failure_percent']}%)")
    if graduated["lessons"]:
        lines.append(f"graduated {graduated['lessons']} in {graduated['median_days']:g} days (median)")
    if found["relapses"]:
        lines.append(f"relapses  {found['relapses']} after codifying")
    if served["confirmed"] or served["disputed"]:
        lines.append(f"in force  {served['lessons']}, confirmed {served['confirmed']}, disputed {served['disputed']}")
    for name, row in found["skill_versions"].items():
        rate = "" if row["success_percent"] is None else f", success {row['success_percent']}%"
        lines.append(f"version   {name}: {row['runs']} runs{rate}, {row['lessons']} lessons")
    return "\n".join(lines)


def _runs_line(found: dict[str, Any]) -> str:
    runs = found["runs"]
    if not runs["total"]:
        return "runs      none yet: learnloop run ok|failed"
    ended = ", ".join(f"{runs[status]} {status}" for status in STATUSES if runs[status])
    count = f"{runs['total']} {'run' if runs['total'] == 1 else 'runs'}"
    return f"runs      {count} ({ended}, success {found['success_percent']}%), last {found['last_run']}"


def _lessons_line(found: dict[str, Any]) -> str:
    counts = [f"{count} {status}" for status, count in found["lessons"].items()]
    return f"lessons   {', '.join(counts) or 'none yet'}"


def warnings(found: dict[str, Any]) -> list[str]:
    """What a person should look at (R000-60)."""
    recent, said = found["recent"], []
    if recent["warning"]:
        share = f"{recent['failures']} of the last {recent['records']} records are failures"
        said.append(f"{share}, more than {TOO_MANY} %: something in the skill or its surroundings changed")
    if bad := found.get("unreadable_runs"):
        more = f" and {len(bad) - 3} more" if bad[3:] else ""
        said.append(f"no run, and not counted: {', '.join(bad[:3])}{more}")
    return said
