"""`why`: for a reviewer, where each sighting, confirmation and dispute of a lesson comes from (design §6, §12)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from learnloop_md import chronicle, git, guard, history, memory
from learnloop_md.answer import Answer, visible, visible_lines
from learnloop_md.calls import Call
from learnloop_md.chronicle import Record, Version
from learnloop_md.history import Step
from learnloop_md.lesson import EVENTS, Lesson
from learnloop_md.lessonfile import stem
from learnloop_md.memory import Memory
from learnloop_md.place import Place


class Told(NamedTuple):
    """A lesson with its history; it may be renamed, archived or gone."""

    slug: str
    now: Lesson | None
    path: str  # as the repository names it
    versions: list[Version]
    is_hurt: bool = False  # whether its file is quarantined

    @property
    def newest(self) -> Lesson | None:
        """The lesson as it is, else as it was last."""
        return self.now or chronicle.newest(self.versions)

    @property
    def state(self) -> str:
        """The lesson's state, also of one that is not served."""
        return self.now.state if self.now else "quarantined" if self.is_hurt else "removed"


def why(call: Call) -> Answer:
    """Each sighting, confirmation and dispute with its commit and line, and all commits of the lesson."""
    place = call.place
    told = _without_secrets(told_of(place, memory.load(place), call.text("slug")))
    rows = {field: chronicle.records(told.versions, told.now, field) for field in EVENTS}
    if told.is_hurt:  # nothing of its words is told, whatever they are quarantined for
        rows = {field: [row._replace(event=row.event._replace(evidence="")) for row in rows[field]] for field in rows}
    data: dict[str, Any] = {
        "slug": told.slug,
        "state": told.state,
        "path": told.path,
        "commits": [_commit(version, told.slug) for version in reversed(told.versions)],
        **{field: [_event(record, told.path) for record in found] for field, found in rows.items()},
    }
    return Answer(_text(told, rows), data, tuple(_notices(place, told)))


def told_of(place: Place, loaded: Memory, name: str) -> Told:
    """The lesson of a name, an earlier name, or a unique beginning of either.

    Raises UsageError where neither the memory nor its history knows one.
    """
    texts = {slug: lesson.text for slug, lesson in loaded.lessons.items()}
    found = chronicle.joined(chronicle.traces(place), texts)
    hurt = {stem(q.path): q.path for q in loaded.quarantined if q.path != place.document}
    slug = _resolved(loaded, set(found) | set(hurt), _earlier(found), stem(name))
    rows = found.get(slug, [])
    now = loaded.lessons.get(slug)
    inner = now.path if now else hurt.get(slug, "")
    path = place.in_repo(inner) if inner else next((row.path for row in rows), "")
    versions = [_uncertain(slug, version) for version in chronicle.versions(place, {slug: rows})[slug]]
    return Told(slug, now, path, versions, slug in hurt)


def _uncertain(slug: str, version: Version) -> Version:
    """A version without what is said of other lessons, where a shallow clone ends and it came with all the rest."""
    step = version.step
    if not step.is_cut or slug in step.named:
        return version
    return version._replace(step=step._replace(subject="what came before it is not here", why=""), change="edit")


def _earlier(found: dict[str, list[chronicle.Trace]]) -> dict[str, str]:
    """Names that lessons had before: the name each has now."""
    names = {stem(row.path): slug for slug, rows in found.items() for row in rows}
    return {name: slug for name, slug in names.items() if name not in found}


def _resolved(loaded: Memory, known: set[str], earlier: dict[str, str], name: str) -> str:
    if name in loaded.lessons or name in known:
        return name
    if name in earlier:
        return earlier[name]
    begun = memory.meant(name, loaded.lessons) or memory.meant(name, known | earlier.keys())
    repo = loaded.place.repo
    if not begun and repo and git.cut_off(repo):
        raise git.too_shallow(repo, f"it holds no lesson {name!r} and no commit of one")
    return earlier.get(begun, begun) or memory.find_slug(loaded, name)  # it tells what was meant


def _without_secrets(told: Told) -> Told:
    """Versions that hold what looks like a secret tell nothing: a file of today was looked at when it was read."""

    def told_version(version: Version) -> Version:
        texts = [row.text for row in (version.before, version.after) if row]
        version = version._replace(step=version.step.told)
        return version._replace(before=None, after=None) if guard.find_secrets("\n".join(texts)) else version

    versions = [told_version(version) for version in told.versions]
    return told._replace(slug=guard.unsecret(told.slug), path=guard.unsecret_path(told.path), versions=versions)


def _commit(version: Version, slug: str) -> dict[str, Any]:
    step = version.step
    return {
        "commit": step.commit,
        "change": version.change,
        "slugs": list(step.slugs) or [slug],
        "date": step.date,
        "author": step.author,
        "subject": step.subject,
        "why": step.why,
    }


def _event(record: Record, path: str) -> dict[str, Any]:
    step, removed = record.step, record.removed
    return {
        **record.event._asdict(),
        "commit": step.commit if step else "",
        "date": step.date if step else "",
        "author": step.author if step and not step.is_cut else "",
        "path": path,
        "line": record.line,
        "removed_in": removed.commit if removed else "",
    }


# --- for people -------------------------------------------------------------------------------------------------------

_WORDS = {"seen": "seen", "confirmed": "confirmed (it helped)", "disputed": "disputed (it misled)"}


def _text(told: Told, rows: dict[str, list[Record]]) -> str:
    newest = told.newest
    lines = [f"{visible(told.slug)}  {told.state}  {visible(told.path)}"]
    if told.is_hurt:
        lines.append("  its words are not shown: learnloop check says why")
    elif newest:
        lines += [f"  {visible(line)}" for line in newest.rule.splitlines()]
        lines += [f"  Why: {visible_lines(newest.why)}"] if newest.why else []
        lines += [f"  Archived: {visible(newest.archive_note)}"] if newest.archive_note else []
    for field, found in rows.items():
        lines += ["", f"{_WORDS[field]} {len([row for row in found if not row.removed])}×"] if found else []
        lines += [_event_line(row) for row in found]
    lines += ["", "history"] if told.versions else []
    for version in reversed(told.versions):
        lines.append(f"  {_who(version.step)}  {version.change:<9} {visible(version.step.subject)}")
        lines += [f"    {visible(line)}" for line in version.step.why.splitlines() if line.strip()]
    return "\n".join(lines)


def _event_line(record: Record) -> str:
    event = record.event
    said = [event.on or "no day", f"run {event.run or '?'}"]
    said.append(_who(record.step, day=False) if record.step else "not committed yet")
    said += [f"line {record.line}"] if record.line else []
    said += [event.evidence] if event.evidence else []
    said += [f"taken out in {record.removed.commit[:10]}"] if record.removed else []
    return "  " + visible("  ".join(said))


def _who(step: Step, *, day: bool = True) -> str:
    if step.is_cut and not day:
        return f"{step.commit[:10]} or before it"
    return f"{step.commit[:10]}  {step.date + '  ' if day else ''}{visible(step.author)}"


def _notices(place: Place, told: Told) -> Iterable[str]:
    if place.repo is None:
        yield "there is no git here: who brought an event is not known"
    elif any(version.step.is_cut for version in told.versions):
        yield history.CUT
    elif not told.versions:
        yield "no commit holds this lesson yet"
