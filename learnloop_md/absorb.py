"""Absorbing: what people and Claude changed behind our back becomes part of the memory (design §4).

Everything is a comparison of three: the document's entry, the lesson file, and their base, the newest state
in which the two agreed. Nothing that somebody wrote is overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from learnloop_md import head, lessonfile, notebook, trust
from learnloop_md import memory as memories
from learnloop_md.carry import tree_of, with_fields_of
from learnloop_md.errors import LearnloopError
from learnloop_md.lesson import STATES, Event, Lesson, fold, free_slug, merged_events, slugify, title_of
from learnloop_md.lessonfile import Quarantined
from learnloop_md.lines import line_end, split_lines
from learnloop_md.memory import Entry, claims_of, counting_state
from learnloop_md.plan import Draft
from learnloop_md.store import Agreed
from learnloop_md.tree import HeadError, field_of

# Fields of ours that a rewrite by Claude may drop; what is not ours is Claude's or the person's to drop.
OURS = (
    "state", "title", "created", "kind", "tags", "context", "seen", "confirmed", "disputed", "pinned",
    "reviewed", "revived", "archive_note", "codified_in", "supersedes", "superseded_by", "renamed_from",
    "skill_version", "anchors", "id", "timestamp", "task_type", "input_summary", "approach", "outcome",
    "confidence", "what_worked", "what_failed", "edge_cases", "run_duration_ms", "stack_tags", "human_confirmed",
)  # fmt: skip


class Sides(Protocol):
    """What the other sides of merges say of a lesson; false where nothing was merged."""

    def __bool__(self) -> bool: ...

    def of(self, slug: str, raw: str, zone: str) -> Agreed | None:
        """The side that has this very entry in this zone, as a base."""


class Past(NamedTuple):
    """What the history says of a path at which nothing stands."""

    is_gone: Callable[[str], bool]  # whether a command of ours has taken away its lesson
    name_now: Callable[[str], str]  # the slug that its lesson has now, "" for none


NO_PAST = Past(lambda path: False, lambda path: "")


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
    waiting: tuple[tuple[str, Quarantined], ...] = ()  # slugs whose entry another author wrote (trust = "own")
    went: tuple[str, ...] = ()  # paths of lessons that a commit took away

    @property
    def left(self) -> set[str]:
        """The slugs that were left as they are, file and entry."""
        return {clash.slug for clash in self.conflicts} | {slug for slug, _ in self.waiting}


class Absorber:
    """One pass over a memory; the draft collects what must be written."""

    def __init__(
        self,
        draft: Draft,
        *,
        author: str,
        base_of: Callable[[str], Agreed | None],
        removed: Iterable[str] = (),
        sides: Sides | None = None,
        with_git: bool = False,
        moved: bool = False,
        stranger: Callable[[int, str, str], str] = lambda line, raw, before: "",
        elsewhere: bool = False,
        past: Past = NO_PAST,
    ) -> None:
        self.past = past
        self.stranger = stranger  # who else committed what an entry (line, text) says since a text
        self.waiting: dict[str, Quarantined] = {}
        self.elsewhere = elsewhere  # the ledger is of a history that is not HEAD's, and the document is as HEAD has it
        self.moved = moved  # HEAD is another commit than last time, and nothing differs from it
        self.draft, self.memory = draft, draft.memory
        self.author, self.base_of = slugify(author or "someone"), base_of
        self.removed_paths = set(removed)  # paths that HEAD has and the work tree has not
        self.sides, self.with_git = sides, with_git
        self.rows = self.memory.ledger.agreed if self.memory.ledger else {}
        self.entries = memories.entries(self.memory.place, self.memory.document, self.memory.lessons)
        self.zones = memories.zones(self.memory.place, self.memory.document)
        self.before: dict[str, Lesson] = {}
        self.conflicts: list[Conflict] = []
        self.what: dict[str, list[str]] = {}
        self.went: list[Agreed] = []
        names = ((field_of(tree_of(row.text), "renamed_from"), slug) for slug, row in self.memory.lessons.items()
                 if "renamed_from" in row.text)  # fmt: skip
        self.called = {str(old): slug for old, slug in names if old}  # what lessons were called before

    def run(self) -> Report:
        """Absorb everything; nothing where the document cannot be read: nobody knows then what it says."""
        if self.memory.blocked:
            return Report((), (), (), ())
        gone = self._gone()
        renamed = self._renames(gone)
        late = self._named_late(renamed)
        for slug in sorted(self.memory.lessons):
            old = renamed.get(slug)
            entry = self.entries.pop(old, None) if old else None
            if entry and entry.path:  # one that only sounds like the old name is new
                self.entries.setdefault(slug, entry)
            self._lesson(slug, gone.pop(old) if old else self._base(slug), old)
            if slug in late:
                known = self.before.get(slug, self.memory.lessons[slug])
                self.before[slug] = known._replace(slug=lessonfile.stem(late[slug]), path=late[slug])
        for path in filter(self.past.is_gone, self._dangling(gone)):  # the line came back with another document
            if row := self.base_of(lessonfile.stem(path)):
                gone[lessonfile.stem(path)] = row
        for slug, row in sorted(gone.items()):
            if row.path not in late.values():  # its line is another lesson's now
                self._removed(slug, row)
        if self.memory.place.kind == "skill":
            self._new_entries({*gone, *renamed.values()})
        self.draft.knew(self.before)
        what = tuple(line for lines in self.what.values() for line in lines)
        waiting = tuple(self.waiting.items())
        report = Report(tuple(self.what), tuple(self.conflicts), self._dangling(gone), what, waiting, self._went())
        self.draft.skip |= report.left
        return report

    def _dangling(self, gone: Iterable[str]) -> tuple[str, ...]:
        """Paths that MEMORY.md names and that do not exist; an entry of a notebook becomes a lesson."""
        if self.memory.place.kind == "skill":
            return ()
        known = {*self.memory.lessons, *gone, *self._quarantined()}
        return tuple(entry.path for slug, entry in self.entries.items() if slug not in known)

    def _quarantined(self) -> set[str]:
        return {lessonfile.stem(q.path) for q in self.memory.quarantined}

    def _say(self, slug: str, what: str) -> None:
        self.what.setdefault(slug, []).append(what)

    def _leave(self, slug: str, conflicts: Iterable[Conflict]) -> None:
        """Leave a lesson exactly as it is, file and entry, and report it."""
        self.conflicts += conflicts
        self.what.pop(slug, None)
        self.draft.leave(slug)

    def _waits(self, slug: str, line: int, raw: str, before: str = "") -> bool:
        """Whether an entry waits for a person because another author wrote it (design §10)."""
        if author := self.stranger(line, raw, before):
            message = f"{author} wrote the entry of {slug}, nobody accepted it here"
            self.waiting[slug] = Quarantined(self.memory.place.document, "other-author", line, message)
        return bool(author)

    def _base(self, slug: str) -> Agreed | None:
        """The base, looked up only where file or entry changed since, or where nothing is remembered."""
        row = self.rows.get(slug)
        lesson, entry = self.memory.lessons[slug], self.entries.get(slug)
        if row and row.zone == "removed":  # a removed file that a person brought back: its entry went with it
            return row._replace(entry="", zone="")
        if row and row.text == lesson.text and row.entry == (entry.raw if entry else ""):
            moved = entry is not None and entry.zone != row.zone
            side = self._side(slug) if moved else None
            if moved and not side and self.elsewhere:
                return self.base_of(slug)  # nobody moved it since: this history has it there
            return side or row  # a line that only came to another zone may have come with a merge
        if row is None and not (self._differences(lesson, entry) if entry else self._has_entries(lesson)):
            return None
        return self._side(slug) or self.base_of(slug)

    def _side(self, slug: str) -> Agreed | None:
        """The side of a merge that the lesson's entry came from, as a base."""
        entry = self.entries.get(slug)
        return self.sides.of(slug, entry.raw, entry.zone) if entry and self.sides is not None else None

    def _has_entries(self, lesson: Lesson) -> bool:
        """Whether a missing entry may be a deletion by hand: a missing line of MEMORY.md only comes back."""
        return self.memory.place.kind == "skill" and lesson.stated and lesson.slug not in self.memory.private

    def _read(self, row: Agreed) -> Lesson | None:
        reading = lessonfile.read(row.path, row.text)
        if isinstance(reading, Quarantined):
            return None
        adopted = self.memory.place.settings.adopted
        return reading.lesson._replace(state=counting_state(reading.lesson, adopted))

    # --- files that came and went -------------------------------------------------------------------------

    def _gone(self) -> dict[str, Agreed]:
        """Lessons that were there and whose file is not any more."""
        hurt = {q.path for q in self.memory.quarantined}
        there = {slug: row for slug, row in self.rows.items() if row.path not in hurt and row.zone != "removed"}
        gone = {slug: row for slug, row in there.items() if slug not in self.memory.lessons}
        for path in self.removed_paths:
            slug = lessonfile.stem(path)
            if slug not in self.memory.lessons and slug not in gone and path not in hurt:
                gone[slug] = self.base_of(slug) or Agreed(path, "", "", "")
        return gone

    def _renames(self, gone: Mapping[str, Agreed]) -> dict[str, str]:
        """New slug to old slug, where exactly one missing file had the body of a new one.

        On another branch, what a commit there named otherwise was not renamed here and now; where the document has not
        followed, nobody has told of it yet.
        """
        renames: dict[str, str] = {}
        bodies: dict[str, list[str]] = {}
        for slug, row in gone.items():
            if row.text:
                bodies.setdefault(_body(row.text), []).append(slug)
        for slug, lesson in self.memory.lessons.items():
            body = _body(lesson.text)
            old = bodies.get(body, [])
            if slug in self.rows or len(old) != 1 or old[0] in renames.values() or not body:
                continue
            if not self.moved or (old[0] in self.entries and slug not in self.entries):
                renames[slug] = old[0]
        return renames

    def _named_late(self, renamed: Mapping[str, str]) -> dict[str, str]:
        """Lessons of which the index has a line under the name that they had before, and the path that it names.

        Another branch changed that line while this one renamed the lesson: the line's own words go with it.
        """
        late: dict[str, str] = {}
        for path in self._dangling(renamed.values()):
            old = lessonfile.stem(path)
            new = self.called.get(old, "")
            if not new and path not in self.removed_paths:  # renamed more than once
                new = self.past.name_now(path)
            if new in self.memory.lessons and new not in renamed and new not in late:
                del self.entries[old]
                late[new] = path
        return late

    def _removed(self, slug: str, row: Agreed) -> None:
        """A file that is gone takes its entry along, unless somebody edited the entry meanwhile."""
        lesson, entry = self._read(row), self.entries.get(slug)
        if lesson:
            self.before[slug] = lesson
        edits = self._entry_edits(slug, entry, row, lesson) if lesson and entry and row.entry else {}
        self.conflicts += [Conflict(slug, field, _shown(value), "(removed)") for field, value in edits.items()]
        if edits:
            return
        if slug in self.called:
            return
        if row.path in self.removed_paths or not self.with_git:
            self._say(slug, f"{slug} was removed by hand")
        else:  # a commit took it
            self.went.append(row)

    def _went(self) -> tuple[str, ...]:
        """The lessons that commits took, without those that have another name now."""
        bodies = {_body(row.text) for row in self.memory.lessons.values()} if self.went else set()
        return tuple(row.path for row in self.went if _body(row.text) not in bodies)

    # --- one lesson ---------------------------------------------------------------------------------------

    def _lesson(self, slug: str, base: Agreed | None, renamed_from: str | None = None) -> None:
        """Absorb one lesson; one whose head cannot take our lines must not stop the others."""
        try:
            if renamed_from:
                self._say(slug, f"{renamed_from} was renamed to {slug}")
                self.draft.set(slug, renamed_from=renamed_from)
                self.draft.repoint(renamed_from, slug)
            self._compared(slug, base, is_renamed=bool(renamed_from))
        except (HeadError, LearnloopError) as error:
            self._leave(slug, [Conflict(slug, "head", "", error.message)])

    def _compared(self, slug: str, base: Agreed | None, *, is_renamed: bool) -> None:
        lesson, entry = self.memory.lessons[slug], self.entries.get(slug)
        known = self._read(base) if base else None
        if known is None or base is None:
            self._without_base(slug, lesson, entry)
            return
        self.before[slug] = known
        if lesson.text != base.text:
            self._file_changed(slug, lesson, known)
        if entry and not base.entry:
            found = self._differences(self.draft.lesson(slug), entry) if self.memory.place.kind == "skill" else []
            if found:
                self._leave(slug, [Conflict(slug, *difference) for difference in found])
        elif entry:
            edits = self._entry_edits(slug, entry, base, known)
            if self._may_be_renamed(entry, base) and (lost := [field for field, value in edits.items() if not value]):
                self._leave(slug, [Conflict(slug, field, "(missing)", self._says(known, field)) for field in lost])
            elif self._has_words(slug, edits) and self._waits(slug, entry.line, entry.raw, base.entry):
                self._leave(slug, [])
            else:
                self._entry_changed(slug, known, edits)
        elif base.entry and not is_renamed and known.state != "archived" and self._was_taken_out(slug):
            self._entry_changed(slug, known, {"state": "archived"}, taken_out=True)

    def _has_words(self, slug: str, edits: Mapping[str, str]) -> bool:
        """Whether edits of an entry bring words that the file has not."""
        lesson = self.draft.lesson(slug)
        return any(value and field != "state" and self._says(lesson, field) != value for field, value in edits.items())

    def _may_be_renamed(self, entry: Entry, base: Agreed) -> bool:
        """Whether a field that is missing may stand under a name that is new: then it was renamed, not deleted."""
        is_skill = self.memory.place.kind == "skill"
        return is_skill and bool(notebook.strange_labels(entry.raw) - notebook.strange_labels(base.entry))

    def _was_taken_out(self, slug: str) -> bool:
        """Whether a missing entry was deleted: not from an index, nor with the whole notebook."""
        if self.memory.place.kind != "skill" or slug in self.memory.private or self.sides:
            return False  # nor where branches were merged since, which drop entries too
        entries_before = sum(1 for row in self.rows.values() if row.entry and row.zone != "removed")
        emptied = not self.entries and entries_before > 1
        return notebook.has_zones(self.memory.document) and not emptied

    def _without_base(self, slug: str, lesson: Lesson, entry: Entry | None) -> None:
        if entry and (found := self._differences(lesson, entry)):
            self._leave(slug, [Conflict(slug, *difference) for difference in found])
        elif not lesson.stated and not lesson.is_note and lesson.state == "candidate":
            self._first_sighting(slug, lesson)
        elif not lesson.stated and entry and entry.zone == "archived" != lesson.state:
            self._apply_edit(slug, "state", "archived")
            self._say(slug, f"{slug}: state edited in {self.memory.place.document}")
        self.before[slug] = lesson

    def _first_sighting(self, slug: str, lesson: Lesson) -> None:
        """A file that somebody wrote without us: a candidate, seen once by the session that wrote it."""
        run = lesson.session[:8] or f"{self.author}-{self.draft.today}"
        self.draft.set(slug, state="candidate", seen=lesson.seen or (Event(self.draft.today, run),))
        self._say(slug, f"{slug} is new: candidate")

    def _differences(self, lesson: Lesson, entry: Entry) -> list[tuple[str, str, str]]:
        """Fields in which an entry contradicts its file: (field, entry, file); an unstated state is none."""
        found = []
        if entry.zone in STATES and entry.zone != lesson.state and lesson.stated:
            found.append(("state", entry.zone, lesson.state))
        if self.memory.place.kind == "skill":
            for field, value in claims_of(self.memory.place, lesson).items():
                said = fold(entry.claims.get(field, ""))
                if said and value and said != value:
                    found.append((field, said, value))
        return found

    def _file_changed(self, slug: str, lesson: Lesson, known: Lesson) -> None:
        """Somebody wrote the file: bring back what a rewrite dropped, count another session's rewording."""
        self._say(slug, f"{lesson.path} was edited")
        new, old = tree_of(lesson.text), tree_of(known.text)
        stamped = any(field_of(new, key) != field_of(old, key) for key in ("originSessionId", "modified", "node_type"))
        dropped = [key for key in OURS if field_of(old, key) is not None and field_of(new, key) is None]
        if dropped and (stamped or all(field_of(new, key) is None for key in OURS)):
            self.draft.put(slug, with_fields_of(self.draft.lesson(slug).text, known.text, dropped))
        if known.type and not self.draft.lesson(slug).type:  # without it a private lesson would be public
            self.draft.put(slug, with_fields_of(self.draft.lesson(slug).text, known.text, ["type"]))
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
            self._say(slug, f"{slug} was seen again by {run}")

    # --- one entry ----------------------------------------------------------------------------------------

    def _entry_edits(self, slug: str, entry: Entry, base: Agreed, known: Lesson) -> dict[str, str]:
        """What a person changed in an entry since its base, field by field."""
        place = self.memory.place
        said = memories.entries(place, _lone(place.kind, base), {slug: known}).get(slug)
        before, rendered = said.claims if said else {}, claims_of(place, known)
        edits: dict[str, str] = {}
        for field in dict.fromkeys([*entry.claims, *before]):
            value, was = fold(entry.claims.get(field, "")), fold(before.get(field, ""))
            own_words = place.kind == "project" and was != rendered.get(field, "")
            if field == "state" or value in (was, rendered.get(field, "")) or own_words:
                continue
            if value or field in _CLEARABLE:
                edits[field] = value
            elif place.kind == "skill" and field != "title":  # it comes back: the document no longer knows it
                self.before[slug] = _without(self.before[slug], field)
        moved = entry.zone != base.zone and (base.zone in self.zones or not base.zone)  # else its heading went
        zone = _zone_edit(entry, before.get("state", known.state), moved, known)
        return {**edits, "state": zone} if zone else edits

    def _entry_changed(self, slug: str, known: Lesson, edits: Mapping[str, str], *, taken_out: bool = False) -> None:
        """Bring the edits of an entry into the file, unless the file says something else there by now."""
        current = self.draft.lesson(slug)
        clashes = [
            Conflict(slug, field, _shown(value), self._says(current, field))
            for field, value in edits.items()
            if trust.unfit(value)
            or (self._full(current, field) != self._full(known, field) and self._says(current, field) != value)
        ]
        if clashes:
            self._leave(slug, clashes)
            return
        document = self.memory.place.document
        for field, value in edits.items():
            if self._says(current, field) != value:
                note = f"removed by hand from {document}" if taken_out else ""
                self._apply_edit(slug, field, value, note)
        if taken_out:
            self._say(slug, f"{slug} was taken out of {document}: archived")
        elif edits:
            self._say(slug, f"{slug}: {', '.join(sorted(edits))} edited in {document}")

    def _says(self, lesson: Lesson, field: str) -> str:
        """What the document says of a field when it is in step."""
        return lesson.state if field == "state" else claims_of(self.memory.place, lesson).get(field, "")

    def _full(self, lesson: Lesson, field: str) -> str:
        """What the file says of a field; an index may shorten it."""
        whole = {"title": lesson.title, "description": lesson.description}
        return whole[field] if field in whole else self._says(lesson, field)

    def _apply_edit(self, slug: str, field: str, value: str, note: str = "") -> None:
        lesson = self.draft.lesson(slug)
        if field in ("why", "rule", "how"):
            self.draft.set_part(slug, field, value)
        elif field == "tags":
            self.draft.set(slug, tags=tuple(word.strip() for word in value.split(",") if word.strip()))
        elif field == "state" and value == "archived":
            note = lesson.archive_note or note or f"archived by hand in {self.memory.place.document}"
            self.draft.set(slug, state=value, archive_note=note)
        elif field == "state":
            self.draft.set(slug, state=value, archive_note=None, superseded_by=None, codified_in=None)
        else:
            self.draft.set(slug, **{field: value})

    # --- new entries of a notebook ------------------------------------------------------------------------

    def _new_entries(self, gone: Iterable[str]) -> None:
        """An entry without a lesson file becomes one, wherever it stands; gone had a file until now."""
        taken = {*self.memory.lessons, *self._quarantined(), *gone}
        told = {entry.line for entry in self.entries.values()}
        named: list[tuple[notebook.Entry, str]] = []
        for row in notebook.entries(self.memory.document):
            # A title that a lesson has already does not make another entry that lesson's.
            if row.slug in taken and (row.path or row.start + 1 in told):
                continue
            slug = free_slug(trust.slug_for(row.slug), taken)
            taken.add(slug)
            if trust.unfit(row.raw):
                self.conflicts.append(Conflict(slug, "rule", _shown(row.raw), ""))
                continue
            if self._waits(slug, row.start + 1, row.raw):
                continue
            lesson = adopted_entry(row, slug, self.draft.memory.place.path_of(slug), self.draft.today, self.author)
            self.draft.put(slug, lessonfile.render(lesson), lesson.path)
            # The entry's own words are what the document said; only File is added to it.
            self.before[slug] = self.draft.lesson(slug)._replace(path=row.path or lesson.path)
            if slug != row.slug and not row.path:
                named.append((row, lesson.path))
            self._say(slug, f"{slug} is new in {self.memory.place.document}: {lesson.state}")
        if named:
            self.draft.set_document(self.memory.document, _with_file_lines(self.memory.document, named))


_CLEARABLE = ("why", "how", "tags")  # what a person may take out of an entry; the other fields come back


def _without(lesson: Lesson, field: str) -> Lesson:
    """The lesson without one of the fields that its entry must have."""
    rest = {
        "rule": lesson._replace(rule=""),
        "created": lesson._replace(created=""),
        "archive_note": lesson._replace(archive_note=""),
    }
    return rest.get(field, lesson)


def _zone_edit(entry: Entry, word_before: str, moved: bool, known: Lesson) -> str:
    """The state that a person gave by moving the entry or by its State line, "" where neither was done."""
    if moved and entry.zone in STATES and entry.zone != known.state:
        return entry.zone
    word = entry.claims.get("state", "")
    return word if word not in (word_before, known.state) and word in STATES else ""


def _shown(value: str) -> str:
    """A text as a report may show it: neither a secret nor what might steer a model is repeated (R004-20)."""
    why = trust.unfit(value)
    return f"({why})" if why else value


def _with_file_lines(text: str, named: Iterable[tuple[notebook.Entry, str]]) -> str:
    """A notebook whose entries name their file where their title would lead to another one."""
    lines = split_lines(text)
    for row, path in sorted(named, key=lambda item: -item[0].start):
        at = row.start + max((end for field, (_, end) in row.spans.items() if field != "archive_note"), default=1)
        if not lines[at - 1].endswith("\n"):
            lines[at - 1] += line_end(text)
        lines.insert(at, f"- {notebook.FIELDS['file']}: {path}{line_end(text)}")
    return "".join(lines)


def _lone(kind: str, base: Agreed) -> str:
    """A document that holds only the base's entry in its zone."""
    if kind == "skill":
        title = {"": "## Notes"}.get(base.zone, f"## {base.zone.capitalize()} Patterns")
        return f"{title}\n\n{base.entry}"
    return f"## {base.zone.capitalize()}\n\n{base.entry}" if base.zone in ("current", "candidate") else base.entry


def adopted_entry(row: notebook.Entry, slug: str, path: str, today: str, author: str) -> Lesson:
    """The lesson that an entry made by hand stands for; a current one was seen twice on its day (§2)."""
    claims = row.claims
    day = claims.get("created") or today
    state = row.zone or (claims.get("state") if claims.get("state") in notebook.ZONES else "") or "candidate"
    if state == "archived" and not (claims.get("state") == state or claims.get("archive_note")):
        state = "candidate"  # appended at the end of the file, behind the last zone: nobody archived it
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
        archive_note=claims.get("archive_note", ""),
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
