"""A memory as it stands: its lessons with the state that counts, its document, and what cannot be served."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from learnloop_md import git, guard, index, lessonfile, notebook, poison, store, trust
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.lesson import STATES, Lesson, written_out
from learnloop_md.lessonfile import Quarantined
from learnloop_md.place import Place
from learnloop_md.store import Agreed, Files, Ledger
from learnloop_md.tree import Fault


class Entry(NamedTuple):
    """What the document says of one lesson, whichever document it is."""

    zone: str
    claims: dict[str, str]
    raw: str
    line: int  # from 1
    path: str


class Memory(NamedTuple):
    """Everything a command needs to know; nothing in it changes."""

    place: Place
    lessons: dict[str, Lesson]
    faults: dict[str, tuple[Fault, ...]]
    quarantined: tuple[Quarantined, ...]
    doubled: tuple[tuple[str, str], ...]  # path left out, path that has its slug
    document: str  # "" where there is none
    private_types: frozenset[str]  # types that stay out of git and out of the document here
    ledger: Ledger | None
    has_document: bool  # whether the document's file is there, be it empty

    @property
    def private(self) -> frozenset[str]:
        """The slugs of the private lessons."""
        return private(self.lessons, self.private_types)

    @property
    def blocked(self) -> Quarantined | None:
        """Why the document cannot be changed, None where it can."""
        return next((q for q in self.quarantined if q.path == self.place.document), None)


def load(place: Place, *, scan_all: bool = False) -> Memory:
    """The memory on disk. Texts that were scanned for secrets before are trusted unless scan_all is set."""
    return assemble(
        place,
        store.read(place.folder, place.lessons),
        _read_document(place),
        store.load_ledger(place),
        scan_all,
    )


def _read_document(place: Place) -> bytes | None:
    full = place.folder / place.document
    if full.is_symlink():
        root = place.repo.root if place.repo else place.folder
        if not full.resolve().is_relative_to(root):
            return None
    return store.read_bytes(full)


def assemble(
    place: Place, files: Files, document: bytes | None, ledger: Ledger | None, scan_all: bool = True
) -> Memory:
    """A memory from the bytes of its files, wherever they were read (work tree, index, commit)."""
    lessons: dict[str, Lesson] = {}
    faults: dict[str, tuple[Fault, ...]] = {}
    # A document that is a link into the same repository is read through the link (design §11).
    through = () if document is None else (place.document,)
    quarantined = [q for q in files.refused if q.reason != "symlink-escape" or q.path not in through]
    doubled: list[tuple[str, str]] = []
    types = private_types(place)
    adopted = set(place.settings.adopted)
    # Settings are committed and never name a private lesson; that one was adopted is remembered beside the queue.
    remembered = set(ledger.agreed if ledger else ())
    known = {} if ledger is None or scan_all else {row.path: row.text for row in ledger.agreed.values()}
    for path in sorted(files.data, key=lambda p: (p.count("/"), _in_archive(p), p)):
        if not place.is_lesson(path):
            continue
        reading = lessonfile.read(path, files.data[path])
        if isinstance(reading, Quarantined):
            quarantined.append(reading)
            continue
        lesson = reading.lesson
        if known.get(path) != lesson.text and (hurt := _hurt(place, lesson)):
            quarantined.append(hurt)
        elif lesson.slug in lessons:
            doubled.append((path, lessons[lesson.slug].path))
        else:
            counts = adopted | ({lesson.slug} if lesson.type.lower() in types and lesson.slug in remembered else set())
            state = counting_state(lesson, counts)
            lessons[lesson.slug] = lesson if state == lesson.state else lesson._replace(state=state)
            if reading.faults:
                faults[path] = reading.faults
    if place.settings.trust == "own":
        for lesson, author in trust.foreign(place, list(lessons.values()), ledger.agreed if ledger else {}):
            del lessons[lesson.slug]
            said = f"{guard.unsecret(author)} wrote it, nobody accepted it here"
            quarantined.append(Quarantined(lesson.path, "other-author", 1, said))
    text = ""
    if document is not None:
        decoded = _document_text(place.document, document)
        if isinstance(decoded, Quarantined):
            quarantined.append(decoded)
        else:
            text = decoded
    there = document is not None
    return Memory(place, lessons, faults, tuple(quarantined), tuple(doubled), text, types, ledger, there)


def _document_text(path: str, data: bytes) -> str | Quarantined:
    """A document's text, or why it cannot be changed. Control characters are no reason: the next change mends them."""
    if not data.strip():
        return data.decode("utf-8", "replace")
    found = lessonfile.decode(path, data)
    if isinstance(found, Quarantined) and found.reason == "control-char":
        text = data.decode()
        plain = lessonfile.decode(path, written_out(text).encode())
        return plain if isinstance(plain, Quarantined) else text
    return found


def _hurt(place: Place, lesson: Lesson) -> Quarantined | None:
    """Why a lesson that can be read must not be served: it holds a secret, or waits for a person (design §10)."""
    if found := guard.in_name(lesson.path):
        message = f"its name holds what looks like a secret: {found[0].label}"
        return Quarantined(lesson.path, found[0].code, 1, message)
    if found := guard.find_secrets(lesson.text):
        message = f"holds what looks like a secret: {found[0].label}"
        return Quarantined(lesson.path, found[0].code, found[0].line, message)
    doubt = trust.suspicion(lesson)
    if doubt is None or trust.blob(lesson.text) in trust.accepted(place):
        return None
    return Quarantined(lesson.path, doubt.code, doubt.line, doubt.message)


def private(lessons: Mapping[str, Lesson], types: frozenset[str]) -> frozenset[str]:
    """The slugs among lessons that are of a private type."""
    return frozenset(slug for slug, lesson in lessons.items() if lesson.type.lower() in types) if types else frozenset()


def private_types(place: Place) -> frozenset[str]:
    """The lesson types that stay out of git here: none without a remote, as nothing leaves the machine then."""
    types = place.settings.private_types
    return frozenset(types) if place.repo and types and git.has_remote(place.repo) else frozenset()


def tracked_private(memory: Memory) -> list[str]:
    """The paths of private lessons that git tracks all the same, as the repository names them."""
    place, private = memory.place, [memory.lessons[slug].path for slug in sorted(memory.private)]
    return git.tracked(place.repo, *map(place.in_repo, private)) if place.repo and private else []


def untracking(paths: Iterable[str]) -> str:
    """How a person takes these files of a repository out of git, wherever in it they stand."""
    return f"git rm --cached {shlex.join(f':/{path}' for path in paths)}"


def _in_archive(path: str) -> bool:
    return any(part in ("archive", "archived") for part in path.split("/")[:-1])


def counting_state(lesson: Lesson, adopted: Iterable[str]) -> str:
    """The state that counts: the one stated; else current if adopted or a note; else candidate (§2)."""
    if lesson.state in STATES:
        return lesson.state
    if lesson.slug in adopted:
        return "current"
    if _in_archive(lesson.path):
        return "archived"
    return "current" if lesson.is_note else "candidate"


def entries(place: Place, text: str, lessons: Mapping[str, Lesson]) -> dict[str, Entry]:
    """The document's entries by slug: the first for each lesson, and those that have no lesson file."""
    found: dict[str, Entry] = {}
    if place.kind == "skill":
        # An entry that names its file is surer than one whose title only sounds like it.
        for row in sorted(notebook.entries(text), key=lambda row: not row.path):
            claims = {name: value for name, value in row.claims.items() if name != "file"}
            found.setdefault(row.slug, Entry(row.zone, claims, row.raw, row.start + 1, row.path))
        return found
    paths = {lesson.path: slug for slug, lesson in lessons.items()}
    for line in index.entries(text):
        slug = paths.get(line.target) or lessonfile.stem(line.target)
        claims = {"title": line.title, "description": line.hook}
        found.setdefault(slug, Entry(line.zone, claims, line.raw, line.line + 1, line.target))
    return found


def hostile(memory: Memory) -> tuple[Quarantined, ...]:
    """What in the document might steer a model; what it repeats of lessons that are served was judged with them."""
    place, text = memory.place, memory.document
    for slug, entry in entries(place, text, memory.lessons).items():
        if slug in memory.lessons and slug not in private(memory.lessons, memory.private_types):
            text = text.replace(entry.raw, "\n" * entry.raw.count("\n"), 1)
    return tuple(Quarantined(place.document, row.code, row.line, row.message) for row in poison.every(text))


def secrets(memory: Memory) -> tuple[Quarantined, ...]:
    """What looks like a secret in the document; no change is written while it stands there."""
    found = guard.find_secrets(memory.document)
    rows = ((s.code, s.line, f"holds what looks like a secret: {s.label}") for s in found)
    return tuple(Quarantined(memory.place.document, *row) for row in rows)


def zones(place: Place, text: str) -> set[str]:
    """The zones whose headings stand in the document."""
    return notebook.zones(text) if place.kind == "skill" else index.zones(text)


def claims_of(place: Place, lesson: Lesson) -> dict[str, str]:
    """What the document says of a lesson when it is in step, without the state."""
    if place.kind == "skill":
        return {name: value for name, value in notebook.claims_of(lesson).items() if name not in ("file", "state")}
    return index.claims_of(lesson)


class InStep(NamedTuple):
    """A document in step with its lessons, and the slugs left out to stay within the budget."""

    text: str
    left_out: tuple[str, ...]


def in_step(
    memory: Memory,
    text: str,
    lessons: Mapping[str, Lesson],
    before: Mapping[str, Lesson],
    skip: Iterable[str] = (),
) -> InStep:
    """The document text brought in step with lessons; before holds them as the document last knew them."""
    place, kept, hidden = memory.place, set(skip), private(lessons, memory.private_types)
    text = written_out(text)
    if place.kind == "skill":
        return InStep(notebook.in_step(text or notebook.NEW, lessons, before, hidden=hidden, skip=kept), ())
    quarantined = [q.path for q in memory.quarantined if q.path != place.document]
    stepped = index.in_step(
        text or index.NEW,
        lessons,
        before,
        hidden=hidden,
        quarantined=quarantined,
        skip=kept,
        reachable=hubbed(memory, text),
        line_budget=place.settings.index_lines,
        character_budget=place.settings.index_characters,
    )
    return InStep(stepped.text, stepped.left_out)


def hubbed(memory: Memory, text: str) -> frozenset[str]:
    """Lessons that a listed plain note links to: reachable without a line of their own."""
    found: set[str] = set()
    listed = {entry.target for entry in index.entries(text)}
    for note in memory.lessons.values():
        if note.is_note and note.path in listed:
            found |= {lessonfile.stem(entry.target) for entry in index.entries(note.text)}
    return frozenset(found & memory.lessons.keys())


def find_slug(memory: Memory, name: str) -> str:
    """The slug of a lesson named by its slug, its file, or any unique beginning of it (R004-98).

    Raises UsageError where no lesson, or more than one, is meant.
    """
    wanted = lessonfile.stem(name)
    if found := meant(wanted, memory.lessons):
        return found
    hurt = next((q for q in memory.quarantined if lessonfile.stem(q.path) == wanted), None)
    if hurt:
        mend = f"read it, then mend it or learnloop accept {wanted}"
        raise UnableError(
            f"{hurt.path} is quarantined ({hurt.reason}): {hurt.message}",
            mend if hurt.reason in trust.ACCEPTABLE else "mend the file first",
            code="quarantined",
        )
    hint = "learnloop show --all lists them"
    row = memory.ledger.agreed.get(wanted) if memory.ledger and memory.place.repo else None
    if row and row.entry:  # a private lesson has none, and nothing that could come back
        hint = f"its file is gone: learnloop restore {wanted} brings it back"
    elif close := _close(wanted, memory.lessons):
        hint = f"did you mean {close[0]}?"
    raise UsageError(f"there is no lesson {name!r}", hint, code="unknown-lesson")


def meant(name: str, names: Collection[str]) -> str:
    """The one of names that a name or a unique beginning means, "" for none. Raises UsageError for several."""
    begins = unicodedata.normalize("NFC", name)  # a file manager may hand it out in pieces
    found = [name] if name in names else sorted(one for one in names if begins and one.startswith(begins))
    if len(found) > 1:
        raise UsageError(f"{name!r} may be {', '.join(found[:5])}", "write more of the name", code="ambiguous-name")
    return found[0] if found else ""


def _close(wanted: str, slugs: Iterable[str]) -> list[str]:
    import difflib  # lazy: only on a wrong name

    return difflib.get_close_matches(wanted, list(slugs), n=1, cutoff=0.5)


def agreed_now(memory: Memory, *, skip: Iterable[str] = (), author: str = "") -> dict[str, Agreed]:
    """The ledger rows for the memory as author is served it; skipped slugs (conflicts) keep the row they had."""
    reader = author if memory.place.settings.trust == "own" else ""
    kept, known = set(skip), memory.ledger.agreed if memory.ledger else {}
    hurt = {q.path for q in memory.quarantined}
    renamed = [memory.lessons[slug] for slug in kept if slug in memory.lessons and slug not in known]
    rows = {
        slug: row
        for slug, row in known.items()
        if slug in kept or row.zone == "removed" or row.path in hurt or _says_the_same(row, renamed)
    }
    found = entries(memory.place, memory.document, memory.lessons)
    for slug, lesson in memory.lessons.items():
        if slug not in kept:
            entry = found.get(slug)
            said = (entry.raw, entry.zone) if entry else ("", "")
            rows[slug] = Agreed(lesson.path, lesson.text, *said, reader)
    return rows


def _says_the_same(row: Agreed, lessons: Iterable[Lesson]) -> bool:
    """Whether a lesson in conflict is this row's under a new name: its base must not be forgotten."""
    reading = lessonfile.read(row.path, row.text)
    if isinstance(reading, Quarantined):
        return False
    old = reading.lesson
    return any((new.rule, new.why, new.how) == (old.rule, old.why, old.how) for new in lessons)
