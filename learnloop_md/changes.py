"""What changed between two states of a memory, told by what it means and not by its lines (design §11)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from learnloop_md import documents, head
from learnloop_md.documents import Known
from learnloop_md.lesson import EVENTS, Event, Lesson, fold
from learnloop_md.life import MERGED
from learnloop_md.memory import Memory
from learnloop_md.tree import HeadError, Tree

# In the order in which people read them: what is lost, what came, what is only another form.
KINDS = (
    "removed broken archived merged superseded demoted uncounted relapsed disputed "
    "restored mended codified graduated added seen confirmed renamed moved reworded edited document formatting"
).split()
LOSSES = frozenset("removed broken archived merged superseded demoted uncounted".split())
_TEXTS = {"rule": "rule", "why": "Why", "how": "How to apply", "title": "title", "description": "description"}
_LIMITS = frozenset("only unless except until".split())


class Change(NamedTuple):
    """One change: of which lesson, what it was and is, why, and where it stands now (if it is gone: stood)."""

    kind: str
    slug: str  # "" where it is the document's or the whole memory's
    before: str
    after: str
    why: str
    path: str
    line: int = 1
    is_loss: bool = False
    commit: str = ""  # the newest that touched it


def changes(before: Memory, after: Memory) -> list[Change]:
    """All that changed, losses first."""
    old, new = documents.known(before), documents.known(after)
    names = _renamed(old, new)
    found: list[Change] = []
    for slug, now in new.items():
        was = old.get(slug) or old.get(names.get(slug, ""))
        found += _between(was, now) if was else [_came(before, now)]
    hurt = {q.path: f"{q.reason}: {q.message}" for q in after.quarantined}
    for slug in old.keys() - new.keys() - set(names.values()):
        found.append(_gone(old[slug], hurt))
    touched = {change.slug for change in found} | set(names.values())
    if said := documents.compared(before, after, touched):
        found.append(
            Change("document", "", "", "", said.text, after.place.document, said.line, said.is_loss)
            if said.text
            else Change("formatting", "", "", "", "", after.place.document)
        )
    return in_order(found)


def in_order(found: Iterable[Change]) -> list[Change]:
    """Changes as people read them: losses first, then by kind and name."""
    return sorted(found, key=_order)


def _order(change: Change) -> tuple[bool, int, str, str]:
    return not change.is_loss, KINDS.index(change.kind), change.slug, change.path


def _made(kind: str, known: Known, before: str = "", after: str = "", why: str = "", *, loss: bool = False) -> Change:
    lesson = known.lesson
    return Change(kind, lesson.slug, before, after, why, lesson.path, known.line, loss or kind in LOSSES)


def _came(before: Memory, now: Known) -> Change:
    """A lesson that was not there, or could not be read."""
    was = next((q for q in before.quarantined if q.path == now.lesson.path), None)
    if was:
        return _made("mended", now, was.reason, now.lesson.state, "can be read again")
    return _made("added", now, "", now.lesson.rule, "" if now.lesson.is_note else now.lesson.state)


def _gone(was: Known, hurt: Mapping[str, str]) -> Change:
    if was.lesson.path in hurt:
        return _made("broken", was, was.lesson.state, "held back", hurt[was.lesson.path])
    return _made("removed", was, was.lesson.rule, "", f"it was {was.lesson.state}")


def _between(was: Known, now: Known) -> Iterator[Change]:
    """What became of one lesson."""
    old, new = was.lesson, now.lesson
    if old.slug != new.slug:
        yield _made("renamed", now, old.slug, new.slug)
    found = [*_of_life(was, now), *_of_words(was, now)]
    yield from found
    if old.text == new.text or was.is_entry or now.is_entry or old.slug != new.slug:
        return
    changed = _fields_changed(old.text, new.text)
    fields = changed - _TOLD - {"title", "description"} if found else changed
    if fields:
        yield _made("edited", now, "", "", ", ".join(sorted(fields)))
    elif not found:
        yield _made("formatting", now)


# Fields whose changes another kind tells.
_TOLD = set("seen confirmed disputed state archive_note codified_in superseded_by revived renamed_from".split())


def _of_life(was: Known, now: Known) -> Iterator[Change]:
    """States and events; the events behind a change of state are a part of it."""
    old, new = was.lesson, now.lesson
    gains, losses = [], []
    # Where an entry became a lesson file, its sightings are written another way.
    for kind in EVENTS if was.is_entry == now.is_entry else ():
        earlier, later = (set[Event](getattr(known.lesson, kind)) for known in (was, now))
        if more := later - earlier:
            gains.append((kind, len(earlier), len(later), more))
        if less := earlier - later:
            losses.append((kind, len(earlier), len(later), less))
    counted = [f"{len(more)} more {kind}" for kind, _, _, more in gains]
    for kind, before, after, less in losses:
        yield _made("uncounted", now, str(before), str(after), f"{kind} is lost: {_evidence(less)}")
    if old.state != new.state:
        kind, why = _state_change(old, new)
        yield _made(kind, now, old.state, new.state, "; ".join([*([why] if why else []), *counted]))
        return
    if old.path != new.path and not (was.is_entry or now.is_entry) and old.slug == new.slug:
        yield _made("moved", now, old.path, new.path)
    for kind, before, after, more in gains:
        said = "relapsed" if kind == "seen" and new.state == "archived" and new.codified_in else kind
        where = f", though it stands in {new.codified_in}" if said == "relapsed" else ""
        yield _made(said, now, str(before), str(after), _evidence(more) + where)


def _evidence(events: Iterable[Event]) -> str:
    rows = sorted(events)
    said = [fold(event.evidence) or f"run {event.run}" if event.run else event.on for event in rows]
    return ", ".join(said[:3]) + (f" and {len(said) - 3} more" if len(said) > 3 else "")


def _state_change(old: Lesson, new: Lesson) -> tuple[str, str]:
    """The kind of a change of state, and why it was made."""
    if new.state == "archived":
        note = fold(new.archive_note)
        if note.startswith(MERGED):
            return "merged", note
        if new.superseded_by:
            return "superseded", note or f"Superseded by {new.superseded_by}"
        if new.codified_in or note.startswith("Codified in "):
            return "codified", note or f"Codified in {new.codified_in}"
        return "archived", note or (f"moved to {new.path}" if old.path != new.path else "without a note why")
    if old.state == "archived":
        same = (old.rule, old.why, old.how) == (new.rule, new.why, new.how)
        note = f"; the note was: {fold(old.archive_note)}" if old.archive_note else ""
        return "restored", "came back after it was archived" + (", the same text" if same else "") + note
    return ("graduated", "") if new.state == "current" else ("demoted", "")


def _of_words(was: Known, now: Known) -> Iterator[Change]:
    """What the lesson says, in other words than spaces and line breaks."""
    names, before, after = [], [], []
    for field, name in _TEXTS.items():
        old, new = (fold(getattr(known.lesson, field)) for known in (was, now))
        if field == "why" and (was.is_entry or now.is_entry):
            same = documents.without_references(old) == documents.without_references(new)
        else:
            same = old == new or (field in ("title", "description") and (was.is_entry or now.is_entry))
        if not same:
            names.append(name)
            before.append(old)
            after.append(new)
    if not names:
        return
    less = narrower(was.lesson, now.lesson)
    why = ", ".join(names) + (f"; {less}" if less else "")
    old_words, new_words = ("\n".join(filter(None, rows)) for rows in (before, after))
    yield _made("reworded", now, old_words, new_words, why, loss=bool(less))


def narrower(old: Lesson, new: Lesson) -> str:
    """Why the new words hold for less than the old ones, "" where nothing tells that."""
    for part in ("rule", "why", "how"):
        if getattr(old, part).strip() and not getattr(new, part).strip():
            return f"narrower: {_TEXTS[part]} is gone"
    earlier, later = _words(old), _words(new)
    less, more = earlier - later, later - earlier
    limits = sorted((_words_of(new.rule) - _words_of(old.rule)).keys() & _LIMITS)
    if limits:
        return f"narrower: {', '.join(limits)}"
    return "narrower: words are gone" if less and not more else ""


def _words(lesson: Lesson) -> Counter[str]:
    return _words_of(f"{lesson.rule} {lesson.why} {lesson.how}")


def _words_of(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.casefold()))


def _fields_changed(before: str, after: str) -> set[str]:
    """The keys of the head whose values differ, ours and others alike."""
    if _head_lines(before) == _head_lines(after):
        return set()
    old, new = _fields(before), _fields(after)
    return {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}


def _head_lines(text: str) -> tuple[str, ...]:
    parts = head.split(text)
    return parts.lines if parts else ()


def _fields(text: str) -> dict[str, Tree]:
    try:
        parts = head.split(text)
        tree = head.read(parts).tree if parts else {}
    except HeadError:
        return {}
    inner = tree.get("metadata")
    return {**{k: v for k, v in tree.items() if k != "metadata"}, **(inner if isinstance(inner, dict) else {})}


def _renamed(old: Mapping[str, Known], new: Mapping[str, Known]) -> dict[str, str]:
    """New slug to old one: as the head says, else where a lesson's words came back under another name."""
    gone = {slug: known for slug, known in old.items() if slug not in new}
    fresh = {slug: known for slug, known in new.items() if slug not in old}
    if not gone or not fresh:
        return {}
    by_words = {words: slug for slug, known in sorted(gone.items()) if (words := _said(known.lesson))[0]}
    found: dict[str, str] = {}
    for slug, known in fresh.items():
        named = _fields(known.lesson.text).get("renamed_from") if not known.is_entry else ""
        was = named if isinstance(named, str) and named in gone else by_words.get(_said(known.lesson), "")
        if was and was not in found.values():
            found[slug] = was
    return found


def _said(lesson: Lesson) -> tuple[str, str, str]:
    return fold(lesson.rule), fold(lesson.why), fold(lesson.how)
