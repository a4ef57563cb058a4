"""The life of a lesson: captured, seen again, graduated, disputed, archived, brought back (design §5).

Each function changes a Draft and gives what to answer; nothing here touches the disk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from learnloop_md import guard, lessonfile, memory, poison, repeats, trust
from learnloop_md import lesson as lessons
from learnloop_md.errors import RefusedError, UsageError
from learnloop_md.lesson import Event, Lesson, merged_events
from learnloop_md.plan import PAST, Draft

if TYPE_CHECKING:
    from learnloop_md.gate import Between
    from learnloop_md.matching import Matches  # lazy: see note
    from learnloop_md.recall import Alike

LOOKS_LIKE = 0.2  # from this likeness on a person is told of a lesson that only a search found


class Outcome(NamedTuple):
    """The answer to a change: what was done to which lesson, and what to say besides."""

    action: str
    slug: str
    state: str
    said: tuple[str, ...] = ()
    more: dict[str, Any] = {}  # noqa: RUF012 - never mutated; a NamedTuple's default
    captures: bool = False  # whether it answers a note: the visible forms of R001-70 and R001-71
    headline: str = ""  # what people read instead of "action slug"


class Saying(NamedTuple):
    """What a person or an agent wants noted."""

    rule: str
    why: str = ""
    how: str = ""
    title: str = ""
    name: str = ""
    type: str = "feedback"
    kind: str = "note"
    context: str = ""
    evidence: str = ""
    tags: tuple[str, ...] = ()
    skill_version: str = ""  # of the skill in whose memory it is noted (R004-61)
    manual: bool = False  # a person says it: confidence 1.0, human_confirmed (R000-63)


def unchanged(draft: Draft, slug: str, why: str) -> Outcome:
    return Outcome("unchanged", slug, draft.lesson(slug).state, (why,))


def from_text(text: str, saying: Saying) -> Saying:
    """A saying from standard input: first the rule, then paragraphs labelled Why and How to apply."""
    body = lessonfile.parse_body(text.replace("\r\n", "\n"))
    rule, _, rest = re.sub(r"\n[ \t]*\n\s*", "\n\n", body.rule).partition("\n\n")
    return saying._replace(
        rule=rule,
        why=saying.why or body.why,
        how=saying.how or body.how,
        context=saying.context or lessons.fold(rest),
    )


def check_saying(saying: Saying) -> None:
    """Raises UsageError for no rule or unknown words, RefusedError for secrets, length (R004-04, R004-20)."""
    if not saying.rule.strip():
        raise UsageError("there is no rule to note", 'write: learnloop note "one rule"', code="empty")
    guard.refuse_secrets(
        {
            "rule": saying.rule, "why": saying.why, "how": saying.how, "title": saying.title,
            "name": saying.name, "context": saying.context, "evidence": saying.evidence,
            "tag": "\n".join(saying.tags),
        }
    )  # fmt: skip
    if len(saying.rule.strip()) > lessons.RULE_LIMIT:
        size = len(saying.rule.strip())
        message = f"the rule has {size} characters, the limit is {lessons.RULE_LIMIT}: one rule per note"
        raise RefusedError(message, "split it, or move the reasons to --why and --how", code="too-long")
    for option, value, known in (
        ("--type", saying.type, lessons.TYPES),
        ("--kind", saying.kind, lessons.KINDS),
    ):
        if value not in known:
            raise UsageError(f"{option} {value!r} is not known", f"use one of: {', '.join(known)}")
    for text in (
        saying.rule,
        saying.why,
        saying.how,
        saying.title,
        saying.context,
        saying.evidence,
        *saying.tags,
    ):
        found = lessonfile.decode("note", text.encode("utf-8", "surrogatepass")) if text.strip() else ""
        if isinstance(found, lessonfile.Quarantined):
            raise RefusedError(
                f"a text {found.message.replace('not ', 'is not ')}",
                "write it again without",
                code=found.reason,
            )
    texts = (saying.title, saying.rule, saying.why, saying.how, saying.context, saying.evidence, "\n".join(saying.tags))
    trust.refuse("the note", poison.find("\n\n".join(texts)))


def note(
    draft: Draft,
    saying: Saying,
    *,
    same: str = "",
    new: bool = False,
    supersedes: str = "",
    alike: Alike | None = None,
    between: Between | None = None,
) -> Outcome:
    """Capture a lesson: a new candidate, or one more sighting of the lesson it repeats (R002-20, R004-30)."""
    check_saying(saying)
    if sum(map(bool, (same, new, supersedes))) > 1:
        raise UsageError("--same, --new and --supersedes exclude each other", "give one of them")
    if same:
        return _see_again(draft, memory.find_slug(draft.memory, same), saying)
    old = memory.find_slug(draft.memory, supersedes) if supersedes else ""
    from learnloop_md import matching  # lazy: only a note asks what is alike (20 ms)

    others = [row for slug, row in draft.lessons.items() if slug != old]
    found = matching.match(_as_lesson(saying), others, alike, between)
    if found.same and not (new or old):
        best = sorted(found.same, key=lambda row: (not draft.lesson(row.slug).is_active, -row.score, row.slug))
        return _see_again(draft, stands_for(draft, best[0].slug), saying)
    slug = _add(draft, saying)
    cut_new(draft, "note", slug, saying.why or saying.rule, old)
    said = _offers(draft, slug, found)
    if old:
        said.append(f"takes the place of {old}, which is archived")
    near, against = ([row._asdict() for row in rows[:5]] for rows in ((*found.same, *found.near), found.opposite))
    for told in (*near, *against):
        told.pop("verdict")
    more = {"near": near, "contradicts": against}
    return Outcome("added", slug, draft.lesson(slug).state, tuple(said), more, captures=True)


def _as_lesson(saying: Saying) -> Lesson:
    """A saying as the lesson it would become, for comparing."""
    return Lesson(
        slug="", path="", text="", title=saying.title, rule=saying.rule, why=saying.why, how=saying.how,
        context=saying.context, tags=saying.tags,
    )  # fmt: skip


def _offers(draft: Draft, slug: str, found: Matches) -> list[str]:
    """What a new lesson may be the same as or contradict, each with the command that joins or replaces."""
    said: list[str] = []
    for row in (*found.same, *found.near):
        if not row.searched:
            said += [f"near {_quoted(draft, row.slug)}", f"  if it is the same: learnloop merge {slug} {row.slug}"]
    perhaps = [row.slug for row in found.near if row.searched and row.score >= LOOKS_LIKE][:3]
    if perhaps:
        said += [f"perhaps said before: {', '.join(perhaps)} (if so: learnloop merge {slug} NAME)"]
    for row in found.opposite[:5]:
        said += [f"may contradict {_quoted(draft, row.slug)}"]
        said += [f"  if the new one holds: learnloop supersede {slug} {row.slug}"]
    return said


def _quoted(draft: Draft, slug: str) -> str:
    return f'{slug}: "{lessons.shorten(lessons.fold(draft.lesson(slug).rule), 80)}"'


def _see_again(draft: Draft, slug: str, saying: Saying) -> Outcome:
    """One more sighting; where a person says it, the lesson is confirmed by them as well (R000-63).

    What the saying brings and the lesson lacks is taken in; what is not kept is told (R002-72).
    """
    lesson = draft.lesson(slug)
    repeated = draft.run in {event.run for event in lesson.seen}
    taken = [] if repeated else repeats.take_in(draft, lesson, saying._asdict())
    stated = not saying.manual or bool(lesson.confidence == 1.0 and lesson.human_confirmed)
    if not stated:
        draft.set(slug, confidence=1.0, human_confirmed=True)
    outcome = see(draft, slug, saying.evidence)
    if not stated and draft.cut("edit", [slug], "a person says so"):  # a second sighting in the run has no commit
        outcome = outcome._replace(action="edited", said=("a person says so: confidence 1.0",))
    left = repeats.left_out(lesson, saying._asdict(), taken)
    besides = {key: value for key, value in (("taken_in", taken), ("not_kept", left)) if value}
    said = repeats.told(taken, left, written=outcome.action != "unchanged")
    return outcome._replace(said=(*outcome.said, *said), more={**outcome.more, **besides})


def stands_for(draft: Draft, slug: str) -> str:
    """The lesson that a lesson was merged into, else itself: what says the same counts where it is kept."""
    met: list[str] = []
    while slug not in met:
        met.append(slug)
        lesson = draft.lesson(slug)
        merged = not lesson.is_active and lesson.archive_note.startswith(MERGED)
        if not merged or lesson.superseded_by not in draft.lessons:
            return slug
        slug = lesson.superseded_by
    return met[0]


def new_slug(draft: Draft, words: str, name: str = "") -> str:
    """The slug of a new lesson: the name given, else one made of words that no file has yet (R001-04)."""
    taken = {*draft.lessons, *(lessonfile.stem(q.path) for q in draft.memory.quarantined)}
    return lessons.check_slug(name, taken) if name else lessons.free_slug(trust.slug_for(words), taken)


def _add(draft: Draft, saying: Saying) -> str:
    slug = new_slug(draft, saying.title or lessons.first_sentence(saying.rule), saying.name)
    fold = lessons.fold
    lesson = Lesson(
        slug=slug,
        path=draft.memory.place.path_of(slug),
        text="",
        name=slug,
        description=lessonfile.describe(saying.rule),
        type=saying.type,
        state="candidate",
        title="" if not saying.title or fold(saying.title) == lessons.title_of(slug) else fold(saying.title),
        kind=saying.kind,
        created=draft.today,
        tags=tuple(dict.fromkeys(fold(tag) for tag in saying.tags if tag.strip())),
        seen=(Event(draft.today, draft.run, fold(saying.evidence)),),
        context=fold(saying.context),
        skill_version=saying.skill_version,
        rule=saying.rule,
        why=saying.why,
        how=saying.how,
        confidence=1.0 if saying.manual else None,
        human_confirmed=True if saying.manual else None,
    )
    text = lessonfile.render(lesson)
    if len(text.encode("utf-8", "surrogatepass")) > lessonfile.SIZE_WARNING:
        raise RefusedError("the lesson would be larger than 64 KiB", "keep the reasons short", code="too-long")
    draft.put(slug, text)
    return slug


STALE = ("stale", "seen once", "evicted")  # how an archive note begins that a rule wrote, not a person
MERGED = "Merged into "


def see(draft: Draft, slug: str, evidence: str = "", *, event: Event | None = None) -> Outcome:
    """One more sighting; the second independent one graduates, an archived lesson comes back (design §5)."""
    lesson = draft.lesson(slug)
    more: dict[str, Any] = {"near": [], "contradicts": []}
    event = event or Event(draft.today, draft.run, lessons.fold(evidence))
    if event.run in {old.run for old in lesson.seen}:
        return unchanged(draft, slug, f"{slug} was seen in this run already")._replace(more=more, captures=True)
    draft.set(slug, seen=merged_events(lesson.seen, [event]))
    said: list[str] = []
    if lesson.state == "archived":
        said, more = _came_back(draft, slug, lesson, more)
    draft.cut(
        "see",
        [slug],
        f"seen again on {event.on} in {event.run}" + (f": {event.evidence}" if event.evidence else ""),
    )
    graduated = graduate_if_repeated(draft, slug)
    action = "graduated" if graduated else "seen"
    return Outcome(action, slug, draft.lesson(slug).state, tuple(said), more, captures=True)


def _came_back(draft: Draft, slug: str, lesson: Lesson, more: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """What a sighting does to an archived lesson."""
    if lesson.superseded_by:
        return [f"{slug} is superseded by {lesson.superseded_by}: note that one, or restore this"], {
            **more,
            "superseded_by": lesson.superseded_by,
        }
    if lesson.codified_in:
        return [f"relapse: {slug} is codified in {lesson.codified_in} and happened again: strengthen it there"], {
            **more,
            "relapse": True,
        }
    if lesson.archive_note.lower().startswith(STALE):
        draft.set(slug, state="candidate", archive_note=None)
        return [f"{slug} had gone stale and is back"], more
    draft.set(slug, state="candidate", revived=draft.today, archive_note=None)
    return [f"{slug} was archived ({lesson.archive_note or 'no note'}) and is a candidate again"], more


def graduate_if_repeated(draft: Draft, slug: str) -> bool:
    """Graduate a candidate seen in two independent runs, as a commit of its own."""
    lesson = draft.lesson(slug)
    enough = draft.memory.place.settings.sightings_to_graduate
    if not lessons.is_repeated(lesson, enough):
        return False
    draft.set(slug, state="current")
    draft.cut("graduate", [slug], f"seen in {len(lessons.runs(lesson))} independent runs")
    return True


def graduate(draft: Draft, slug: str) -> Outcome:
    """Make a candidate current because a person says so."""
    lesson = draft.lesson(slug)
    if lesson.state == "archived":
        raise UsageError(f"{slug} is archived", f"bring it back with: learnloop restore {slug}", code="archived")
    if lesson.state == "current" and (lesson.stated or not lesson.is_note):
        return unchanged(draft, slug, f"{slug} is current already")
    draft.set(slug, state="current")
    draft.cut("graduate", [slug], "by hand")
    return Outcome("graduated", slug, "current")


def confirm(draft: Draft, slug: str, evidence: str = "") -> Outcome:
    """It helped: one confirmation by this run; a lesson archived as disputed may come back (R004-32)."""
    lesson = draft.lesson(slug)
    if draft.run in {event.run for event in lesson.confirmed}:
        return unchanged(draft, slug, f"{slug} was confirmed in this run already ({draft.run})")
    draft.set(
        slug,
        confirmed=merged_events(lesson.confirmed, [Event(draft.today, draft.run, lessons.fold(evidence))]),
    )
    draft.cut("confirm", [slug], lessons.fold(evidence) or f"helped in {draft.run}")
    lesson = draft.lesson(slug)
    said: tuple[str, ...] = ()
    if lesson.state == "archived" and lesson.archive_note.startswith("Disputed") and not lessons.is_rejected(lesson):
        draft.set(slug, state=_earned(draft, lesson), archive_note=None)
        draft.cut("restore", [slug], "confirmed: no longer disputed more often than it helped")
        said = ("it is no longer disputed more often than it helped, so it is back",)
    return Outcome("confirmed", slug, draft.lesson(slug).state, said)


def _earned(draft: Draft, lesson: Lesson) -> str:
    """The state that a lesson's sightings give it."""
    enough = draft.memory.place.settings.sightings_to_graduate
    return "current" if len(lessons.runs(lesson)) >= enough else "candidate"


def dispute(draft: Draft, slug: str, evidence: str = "") -> Outcome:
    """It misled: one dispute by this run; disputed more than it helped, it is archived unless pinned."""
    lesson = draft.lesson(slug)
    if draft.run in {event.run for event in lesson.disputed}:
        return unchanged(draft, slug, f"{slug} was disputed in this run already ({draft.run})")
    draft.set(slug, disputed=merged_events(lesson.disputed, [Event(draft.today, draft.run, lessons.fold(evidence))]))
    draft.cut("dispute", [slug], lessons.fold(evidence) or f"misled in {draft.run}")
    lesson = draft.lesson(slug)
    if lesson.is_active and lessons.is_rejected(lesson):
        if lesson.pinned:
            return Outcome(
                "disputed",
                slug,
                lesson.state,
                (f"{slug} is pinned: it stays, though disputed more than confirmed",),
            )
        good = len(lesson.seen) + len(lesson.confirmed)
        _archive(draft, slug, f"Disputed: {len(lesson.disputed)} times, seen and confirmed {good} times")
        draft.cut("archive", [slug], "disputed more often than seen and confirmed")
        said = (f"disputed more often than seen and confirmed; what brings it back: learnloop confirm {slug}",)
        return Outcome("disputed", slug, "archived", said)
    return Outcome("disputed", slug, draft.lesson(slug).state)


def _archive(draft: Draft, slug: str, why: str, **fields: str) -> None:
    draft.set(slug, state="archived", archive_note=lessons.fold(why), **fields)


def archive(draft: Draft, slug: str, why: str, change: str = "archive") -> Outcome:
    """Take a lesson out of force, always with a note why (R002-41)."""
    if not why.strip():
        raise UsageError(
            "an archived lesson needs a note why",
            f'write: learnloop archive {slug} --note "…"',
            code="missing-note",
        )
    guard.refuse_secrets({"note": why})
    if draft.lesson(slug).state == "archived":
        return unchanged(
            draft, slug, f"{slug} is archived already: {draft.lesson(slug).archive_note or 'without a note'}"
        )
    _archive(draft, slug, why)
    draft.cut(change, [slug], lessons.fold(why))
    return Outcome(PAST[change], slug, "archived")


def restore(draft: Draft, slug: str, state: str, text: str = "", path: str = "") -> Outcome:
    """Bring an archived or removed lesson back in the state it had before."""
    if slug not in draft.lessons:
        draft.put(slug, text, path)
        draft.cut("restore", [slug], "its file had been removed")
        return Outcome("restored", slug, draft.lesson(slug).state)
    lesson = draft.lesson(slug)
    if lesson.state != "archived":
        return unchanged(draft, slug, f"{slug} is not archived")
    state = state or _earned(draft, lesson)
    draft.set(slug, state=state, archive_note=None, superseded_by=None, codified_in=None)
    draft.cut("restore", [slug], f"it was archived: {lessons.fold(lesson.archive_note) or 'without a note'}")
    return Outcome("restored", slug, state)


def pin(draft: Draft, slug: str, *, on: bool) -> Outcome:
    """Keep a lesson first and out of every rule that archives; or no longer."""
    if draft.lesson(slug).pinned == on:
        return unchanged(draft, slug, f"{slug} is {'pinned already' if on else 'not pinned'}")
    draft.set(slug, pinned=True if on else None)
    draft.cut("pin" if on else "unpin", [slug], "")
    return Outcome("pinned" if on else "unpinned", slug, draft.lesson(slug).state)


def review_skip(draft: Draft, slug: str) -> Outcome:
    """A person looked at a candidate and leaves it: off both triggers of cleanup for 14 days."""
    draft.set(slug, reviewed=draft.today)
    draft.cut("review", [slug], "looked at and left")
    return Outcome("reviewed", slug, draft.lesson(slug).state)


def rename(draft: Draft, slug: str, new: str) -> Outcome:
    """Give a lesson another slug; the old one is kept in `renamed_from`."""
    taken = {*draft.lessons, *(lessonfile.stem(q.path) for q in draft.memory.quarantined)} - {slug}
    lessons.check_slug(new, taken)
    lesson = draft.lesson(slug)
    if new == slug:
        return unchanged(draft, slug, f"{slug} has that name already")
    folder = lesson.path.rpartition("/")[0]
    draft.remove(slug)
    draft.put(new, lesson.text, f"{folder}/{new}.md" if folder else f"{new}.md")
    draft.set(new, renamed_from=slug)
    if draft.lesson(new).state != lesson.state:  # it had none of its own: its old name stood for it in the settings
        draft.set(new, state=lesson.state)
    if lesson.name == slug:
        draft.set(new, name=new)
    draft.repoint(slug, new)
    draft.renamed(slug, new)
    draft.cut("rename", [slug, new], f"{slug} is now {new}")
    return Outcome("renamed", new, draft.lesson(new).state, headline=f"renamed {slug} to {new}")


def supersede(draft: Draft, new: str, old: str) -> Outcome:
    """A lesson takes the place of another, which is archived and names it (R000-34)."""
    if draft.lesson(old).superseded_by == new != old:
        return unchanged(draft, new, f"{old} is superseded by {new} already")
    if not draft.lesson(new).is_active:
        raise UsageError(f"{new} is archived", f"restore it first: learnloop restore {new}", code="archived")
    _replace(draft, new, old)
    draft.cut("supersede", [new, old], f"{new} takes the place of {old}")
    headline = f"{new} takes the place of {old}"
    return Outcome("superseded", new, draft.lesson(new).state, (), {"superseded": old}, headline=headline)


def _replace(draft: Draft, new: str, old: str) -> None:
    if new == old:
        raise UsageError("a lesson cannot supersede itself", "name two lessons: learnloop supersede NEW OLD")
    _refuse_crossing(draft, new, old)
    draft.set(new, supersedes=old)
    _archive(draft, old, f"Superseded by {new}", superseded_by=new)


def cut_new(draft: Draft, change: str, slug: str, why: str, old: str = "") -> None:
    """Cut the plan of a new lesson; the one that it takes the place of is archived in the same commit (R000-34).

    The new one may be out of force itself by now, as in the memory that it comes from.
    """
    if not old:
        draft.cut(change, [slug], why)
        return
    _replace(draft, slug, old)
    draft.cut("supersede", [slug, old], why, subject=f"learnloop: {change} {slug} in place of {old}")


def _refuse_crossing(draft: Draft, one: str, other: str) -> None:
    """Nothing of a private lesson gets into one that git holds, not even its name."""
    private = memory.private({slug: draft.lesson(slug) for slug in (one, other)}, draft.memory.private_types)
    if len(private) == 1:
        message = f"{next(iter(private))} is private and stays out of git, the other lesson does not"
        raise RefusedError(message, "archive one of them, or give both the same type first", code="private")


def merge(draft: Draft, source: str, target: str) -> Outcome:
    """Fold one lesson into another, which keeps its sightings, reasons and tags; it is archived (R002-34)."""
    if source == target:
        raise UsageError("a lesson cannot be merged with itself", "name two lessons: learnloop merge NEW OLD")
    fold_into(draft, source, target)
    draft.cut("merge", [target, source], f"{source} says the same as {target}")
    graduated = graduate_if_repeated(draft, target)
    action, headline = "graduated" if graduated else "merged", f"merged {source} into {target}"
    return Outcome(action, target, draft.lesson(target).state, (), {"merged": source}, headline=headline)


def fold_into(draft: Draft, source: str, target: str) -> None:
    """The edits of a merge, without a commit."""
    a, b = draft.lesson(source), draft.lesson(target)
    _refuse_crossing(draft, source, target)
    if not b.is_active:
        raise UsageError(f"{target} is archived", f"restore it first: learnloop restore {target}", code="archived")
    if not a.is_active:
        raise UsageError(
            f"{source} is archived already", f"restore it first: learnloop restore {source}", code="archived"
        )
    changes = {
        "seen": merged_events(a.seen, b.seen),
        "confirmed": merged_events(a.confirmed, b.confirmed),
        "disputed": merged_events(a.disputed, b.disputed),
    }
    draft.set(target, **{key: value for key, value in changes.items() if value != getattr(b, key)})
    tags = tuple(dict.fromkeys([*b.tags, *a.tags]))
    if tags != b.tags:
        draft.set(target, tags=tags)
    context = "; ".join(dict.fromkeys(filter(None, (b.context, a.context))))
    if context != b.context:
        draft.set(target, context=context)
    for part in ("why", "how"):
        mine, theirs = getattr(a, part), getattr(b, part)
        if mine and lessons.fold(mine).lower() not in lessons.fold(theirs).lower():
            draft.set_part(target, part, f"{theirs} Also: {mine}" if theirs else mine)
    if a.pinned and not b.pinned:
        draft.set(target, pinned=True)
    if a.state == "current" and b.state == "candidate":  # what was in force stays in force
        draft.set(target, state="current")
    _archive(draft, source, f"{MERGED}{target}", superseded_by=target)
