"""Absorbing: what people and Claude changed behind our back becomes part of the memory, never overwritten (design §4).

Everything is a comparison of three: the document's entry, the lesson file, and their base, the newest state in which the
two agreed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from learnloop_md import head, lessonfile, notebook
from learnloop_md import memory as memories
from learnloop_md.errors import LearnloopError
from learnloop_md.head import HeadError, Tree
from learnloop_md.lesson import Event, Lesson, fold, free_slug, merged_events, slugify, title_of
from learnloop_md.lessonfile import Quarantined
from learnloop_md.memory import Entry, Memory, claims_of, counting_state
from learnloop_md.plan import Draft
from learnloop_md.store import Agreed

# Fields of ours that a rewrite by Claude may drop; what is not ours is Claude's or the person's to drop.
OURS = (
    "state title created kind tags context seen confirmed disputed pinned reviewed revived archive_note codified_in "
    "supersedes superseded_by renamed_from skill_version anchors id task_type input_summary approach outcome confidence "
    "what_worked what_failed edge_cases run_duration_ms stack_tags human_confirmed"
).split()


class Conflict(NamedTuple):
    """Both sides changed one field differently, or no base is known: a person decides."""

    slug: str
    field: str
    document: str
    file: str


class Report(NamedTuple):
    """What absorbing found, besides the changes it made."""

    slugs: tuple[str, ...]  # lessons that changed
    conflicts: tuple[Conflict, ...]
    dangling: tuple[str, ...]  # paths that MEMORY.md names and that do not exist
    what: tuple[str, ...]  # one line for each thing that was absorbed


class Absorber:
    """One pass over a memory; the draft collects what must be written."""

    def __init__(
        self, draft: Draft, *, author: str, base_of: Callable[[str], Agreed | None], removed: Iterable[str] = ()
    ) -> None:
        self.draft, self.memory = draft, draft.memory
        self.author, self.base_of = slugify(author or "someone"), base_of
        self.removed_paths = set(removed)  # paths that HEAD has and the work tree has not
        self.entries = memories.entries(self.memory.place, self.memory.document, self.memory.lessons)
        self.before: dict[str, Lesson] = {}
        self.conflicts: list[Conflict] = []
        self.what: list[str] = []
        self.touched: dict[str, None] = {}

    def run(self) -> Report:
        """Absorb everything."""
        gone = self._gone()
        renamed = self._renames(gone)
        for slug in sorted(self.memory.lessons):
            old = renamed.get(slug)
            base = gone.pop(old) if old else self._base(slug)
            if old:
                self._say(slug, f"{old} was renamed to {slug}")
                self.draft.set(slug, renamed_from=old)
                self.entries.setdefault(slug, self.entries.pop(old)) if old in self.entries else None
            self._lesson(slug, base)
        for slug, row in sorted(gone.items()):
            self._say(slug, f"{slug} was removed by hand")
            lesson = self._read(row)
            if lesson:
                self.before[slug] = lesson
        if self.memory.place.kind == "skill":
            self._new_entries(gone)
        self.draft.knew(self.before)
        self.draft.skip |= {conflict.slug for conflict in self.conflicts}
        known = {*self.memory.lessons, *gone, *(lessonfile.stem(q.path) for q in self.memory.quarantined)}
        dangling = [e.path for slug, e in self.entries.items() if slug not in known and self.memory.place.kind == "project"]
        return Report(tuple(self.touched), tuple(self.conflicts), tuple(dangling), tuple(self.what))

    def _say(self, slug: str, what: str) -> None:
        self.touched[slug] = None
        self.what.append(what)

    def _base(self, slug: str) -> Agreed | None:
        """The base, looked up only where it matters: where file or entry changed since, or nothing is remembered."""
        row = self.memory.ledger.agreed.get(slug) if self.memory.ledger else None
        lesson, entry = self.memory.lessons[slug], self.entries.get(slug)
        if row and row.zone != "removed" and row.text == lesson.text and row.entry == (entry.raw if entry else ""):
            return row
        if row is None and (entry is None or self._agrees(lesson, entry)):
            return None
        return self.base_of(slug)

    def _read(self, row: Agreed) -> Lesson | None:
        reading = lessonfile.read(row.path, row.text)
        if isinstance(reading, Quarantined):
            return None
        adopted = self.memory.place.settings.adopted
        return reading.lesson._replace(state=counting_state(reading.lesson, adopted))

    # --- files that came and went ----------------------------------------------------------------------------------

    def _gone(self) -> dict[str, Agreed]:
        """Lessons that were there and whose file is not any more."""
        hurt = {q.path for q in self.memory.quarantined}
        rows = self.memory.ledger.agreed if self.memory.ledger else {}
        gone = {s: r for s, r in rows.items() if s not in self.memory.lessons and r.path not in hurt and r.zone != "removed"}
        for path in self.removed_paths:
            slug = lessonfile.stem(path)
            if slug not in self.memory.lessons and slug not in gone and path not in hurt:
                gone[slug] = self.base_of(slug) or Agreed(path, "", "", "")
        return gone

    def _renames(self, gone: Mapping[str, Agreed]) -> dict[str, str]:
        """New slug to old slug, where exactly one missing file had the body of a new one."""
        renames: dict[str, str] = {}
        bodies: dict[str, list[str]] = {}
        for slug, row in gone.items():
            if row.text:
                bodies.setdefault(_body(row.text), []).append(slug)
        rows = self.memory.ledger.agreed if self.memory.ledger else {}
        for slug, lesson in self.memory.lessons.items():
            old = bodies.get(_body(lesson.text), [])
            if slug not in rows and len(old) == 1 and old[0] not in renames.values() and _body(lesson.text).strip():
                renames[slug] = old[0]
        return renames

    # --- one lesson ------------------------------------------------------------------------------------------------

    def _lesson(self, slug: str, base: Agreed | None) -> None:
        lesson, entry = self.memory.lessons[slug], self.entries.get(slug)
        known = self._read(base) if base else None
        if known is None or base is None:
            self._without_base(slug, lesson, entry)
            return
        self.before[slug] = known
        if lesson.text != base.text:
            self._file_changed(slug, lesson, known)
        if entry:
            self._entry_changed(slug, entry, base, known)
        elif base.entry and self.memory.place.kind == "skill" and slug not in self.memory.private and self._notebook_is_whole():
            if self.draft.lesson(slug).state != "archived":
                self.draft.set(slug, state="archived", archive_note=f"removed by hand from {self.memory.place.document}")
                self._say(slug, f"{slug} was taken out of {self.memory.place.document}: archived")

    def _notebook_is_whole(self) -> bool:
        """Whether the notebook still is one: a lost or emptied file must not archive every lesson."""
        return notebook.has_zones(self.memory.document)

    def _without_base(self, slug: str, lesson: Lesson, entry: Entry | None) -> None:
        fresh = not lesson.stated and not lesson.is_note and lesson.state == "candidate"
        if fresh:
            self._first_sighting(slug, lesson)
        elif entry and not self._agrees(lesson, entry):
            for field, said, has in self._differences(lesson, entry):
                self.conflicts.append(Conflict(slug, field, said, has))
            return
        self.before[slug] = self.memory.lessons[slug]

    def _first_sighting(self, slug: str, lesson: Lesson) -> None:
        """A file that somebody wrote without us: a candidate, seen once by the session that wrote it."""
        run = lesson.session[:8] or f"{self.author}-{self.draft.today}"
        seen = lesson.seen or (Event(self.draft.today, run),)
        try:
            self.draft.set(slug, state="candidate", seen=seen)
        except LearnloopError as error:  # a head that cannot take our lines must not stop the other lessons
            self.conflicts.append(Conflict(slug, "head", "", error.message))
            return
        self._say(slug, f"{slug} is new: candidate")

    def _agrees(self, lesson: Lesson, entry: Entry) -> bool:
        return not self._differences(lesson, entry)

    def _differences(self, lesson: Lesson, entry: Entry) -> list[tuple[str, str, str]]:
        """Fields in which an entry contradicts its file: (field, entry, file)."""
        found = []
        if entry.zone not in ("", "quarantined") and entry.zone != lesson.state:
            found.append(("state", entry.zone, lesson.state))
        if self.memory.place.kind == "skill":
            for field, value in claims_of(self.memory.place, lesson).items():
                said = fold(entry.claims.get(field, ""))
                if said and value and said != value:
                    found.append((field, said, value))
        return found

    def _file_changed(self, slug: str, lesson: Lesson, known: Lesson) -> None:
        """Claude or a person wrote the file: bring back what a rewrite dropped, count another session's rewording."""
        self._say(slug, f"{lesson.path} was edited")
        new, old = _tree(lesson.text), _tree(known.text)
        stamped = any(_of(new, key) != _of(old, key) for key in ("originSessionId", "modified", "node_type"))
        dropped = {key: _of(old, key) for key in OURS if _of(old, key) is not None and _of(new, key) is None}
        if dropped and (stamped or all(_of(new, key) is None for key in OURS)):
            self.draft.put(slug, with_tree_fields(lesson.text, dropped))
        current = self.draft.lesson(slug)
        if not current.stated and known.stated:
            self.draft.set(slug, state=known.state)
        elif not current.stated and current.has_head and current.state == "candidate":
            self._first_sighting(slug, current)
        run = lesson.session[:8] if lesson.session != known.session else self.draft.run if stamped else ""
        reworded = fold(_body(lesson.text)) != fold(_body(known.text))
        current = self.draft.lesson(slug)
        if reworded and run and run not in {event.run for event in current.seen}:
            self.draft.set(slug, seen=merged_events(current.seen, [Event(self.draft.today, run)]))
            self.what.append(f"{slug} was seen again by {run}")

    def _entry_changed(self, slug: str, entry: Entry, base: Agreed, known: Lesson) -> None:
        """Bring the edits of an entry into the file, field by field."""
        place = self.memory.place
        said_before = memories.entries(place, _lone(place.kind, base), {slug: known}).get(slug) if base.entry else None
        rendered = claims_of(place, known)
        edits: dict[str, str] = {}
        for field, value in entry.claims.items():
            if field == "state":
                continue
            was = fold(said_before.claims.get(field, "")) if said_before else rendered.get(field, "")
            own_words = place.kind == "project" and was != rendered.get(field, "")
            if fold(value) != was and fold(value) != rendered.get(field, "") and not own_words:
                edits[field] = fold(value)
        zone = self._zone_edit(entry, said_before, base, known)
        if zone:
            edits["state"] = zone
        clashes = []
        current = self.draft.lesson(slug)
        for field, value in edits.items():
            has = current.state if field == "state" else claims_of(place, current).get(field, "")
            was = known.state if field == "state" else rendered.get(field, "")
            if has not in (was, value):
                clashes.append(Conflict(slug, field, value, has))
        if clashes:
            self.conflicts += clashes
            return
        for field, value in edits.items():
            if (current.state if field == "state" else claims_of(place, current).get(field, "")) != value:
                self._apply_edit(slug, field, value)
        if edits:
            self._say(slug, f"{slug}: {', '.join(sorted(edits))} edited in {place.document}")

    def _zone_edit(self, entry: Entry, said_before: Entry | None, base: Agreed, known: Lesson) -> str:
        """The state that a person gave by moving the entry or by its State line, "" where neither was done."""
        if entry.zone != base.zone and entry.zone in ("current", "candidate", "archived") and entry.zone != known.state:
            return entry.zone
        word = entry.claims.get("state", "")
        before = said_before.claims.get("state", "") if said_before else known.state
        return word if word != before and word in ("current", "candidate", "archived") and word != known.state else ""

    def _apply_edit(self, slug: str, field: str, value: str) -> None:
        lesson = self.draft.lesson(slug)
        if field in ("why", "rule", "how"):
            self.draft.set_part(slug, field, value)
        elif field == "tags":
            self.draft.set(slug, tags=tuple(word.strip() for word in value.split(",") if word.strip()))
        elif field == "state":
            note = None if value != "archived" else lesson.archive_note or f"archived by hand in {self.memory.place.document}"
            self.draft.set(slug, state=value, archive_note=note)
        elif field == "title" and not lesson.title and value == title_of(slug):
            return
        else:
            self.draft.set(slug, **{field: value})

    # --- new entries of a notebook -----------------------------------------------------------------------------------

    def _new_entries(self, gone: Mapping[str, Agreed]) -> None:
        """An entry without a lesson file becomes one, wherever it stands."""
        taken = {*self.memory.lessons, *(lessonfile.stem(q.path) for q in self.memory.quarantined)}
        for row in notebook.entries(self.memory.document):
            if row.slug in taken or row.slug in gone:
                continue
            slug = free_slug(slugify(row.slug), taken)
            taken.add(slug)
            lesson = adopted_entry(row, slug, self.draft.path_of(slug), self.draft.today, self.author)
            self.draft.put(slug, lessonfile.render(lesson), lesson.path)
            # The entry's own words are what the document said; only File is added to it.
            self.before[slug] = self.draft.lesson(slug)._replace(path=row.path or lesson.path)
            self._say(slug, f"{slug} is new in {self.memory.place.document}: {lesson.state}")


def _lone(kind: str, base: Agreed) -> str:
    """A document that holds only the base's entry in its zone."""
    if kind == "skill":
        title = {"": "## Notes"}.get(base.zone, f"## {base.zone.capitalize()} Patterns")
        return f"{title}\n\n{base.entry}"
    return f"## {base.zone.capitalize()}\n\n{base.entry}" if base.zone in ("current", "candidate") else base.entry


def adopted_entry(row: notebook.Entry, slug: str, path: str, today: str, author: str) -> Lesson:
    """The lesson that a hand-made notebook entry stands for: a current one counts as seen twice on its day (design §2)."""
    claims = row.claims
    day = claims.get("created") or today
    state = row.zone or (claims.get("state") if claims.get("state") in notebook.ZONES else "") or "candidate"
    run = f"{author}-{day}"
    seen = [Event(day, run)] + ([Event(day, f"{run}-2")] if state == "current" else [])
    rule = claims.get("rule") or claims["title"]
    return Lesson(
        slug=slug,
        path=path,
        text="",
        name=slug,
        description=lessonfile.describe(rule),
        type="feedback",
        state=state,
        title="" if claims["title"] == title_of(slug) else fold(claims["title"]),
        kind="note",
        created=day,
        tags=tuple(word.strip() for word in claims.get("tags", "").split(",") if word.strip()),
        seen=tuple(seen),
        archive_note=claims.get("archive_note", "") or ("archived before it was adopted" if state == "archived" else ""),
        rule=rule,
        why=claims.get("why", ""),
        how=claims.get("how", ""),
    )


def _body(text: str) -> str:
    try:
        parts = head.split(text)
    except HeadError:
        return text
    return (parts.body if parts else text).replace("\r\n", "\n").strip()


def _tree(text: str) -> dict[str, Tree]:
    parts = head.split(text)
    return head.read(parts).tree if parts else {}


def _of(tree: Mapping[str, Tree], key: str) -> Tree | None:
    return head.field_of(tree, key)


def with_tree_fields(text: str, fields: Mapping[str, Tree | None]) -> str:
    """text with fields set to what another head said of them."""
    changes: dict[str, head.Field] = {}
    for key, value in fields.items():
        if isinstance(value, list):
            events = [event for item in value if (event := head.event_of(item))]
            changes[key] = tuple(events) if events else tuple(str(item) for item in value if isinstance(item, str))
        elif isinstance(value, str):
            changes[key] = value == "true" if value in ("true", "false") else value
    return lessonfile.with_fields(text, changes)
