"""What a document says beside its lesson files: entries without a file, and changes that are the document's alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from learnloop_md import guard, index, lessonfile, notebook
from learnloop_md.lesson import STATES, Event, Lesson
from learnloop_md.memory import Memory
from learnloop_md.place import Place


class Known(NamedTuple):
    """A lesson with the line it stands on; an entry of a notebook may be all there is of it."""

    lesson: Lesson
    line: int = 1
    is_entry: bool = False


class Said(NamedTuple):
    """What changed in a document alone, in words: "" where only its form did."""

    text: str
    line: int
    is_loss: bool


_REFERENCE = re.compile(r"[\w./-]{0,80}#\d{1,9}")


def known(memory: Memory) -> dict[str, Known]:
    """Every lesson, and for a notebook that was never adopted every entry without a file."""
    found = {slug: Known(lesson) for slug, lesson in memory.lessons.items()}
    if memory.place.kind != "skill":
        return found
    for entry in notebook.entries(memory.document):
        if entry.slug not in found and not entry.path and not guard.find_secrets(entry.raw):
            found[entry.slug] = Known(_lesson_of(memory.place, entry), entry.start + 1, True)
    return found


def _lesson_of(place: Place, entry: notebook.Entry) -> Lesson:
    """The lesson that an entry is; each pull request that its context names is a sighting."""
    claims, created = entry.claims, entry.claims.get("created", "")
    said = claims.get("state", "")
    references = _REFERENCE.findall(claims.get("why", "")) or [""]
    return Lesson(
        slug=entry.slug,
        path=place.document,
        text=entry.raw,
        title=claims["title"],
        state=entry.zone or (said if said in STATES else "candidate"),
        created=created,
        tags=tuple(tag.strip() for tag in claims.get("tags", "").split(",") if tag.strip()),
        seen=tuple(Event(created, name or created, name) for name in dict.fromkeys(references)),
        archive_note=claims.get("archive_note", ""),
        rule=claims.get("rule", ""),
        why=claims.get("why", ""),
        how=claims.get("how", ""),
    )


def without_references(text: str) -> str:
    """A context without the pull requests that it names: one more of them is a sighting, not another wording."""
    bare = re.sub(r"\(?\d{4}-\d\d-\d\d\)?|\band\b", " ", _REFERENCE.sub(" ", text))
    return " ".join(re.findall(r"\w+", bare))


def compared(before: Memory, after: Memory, touched: Collection[str]) -> Said | None:
    """What changed in the document that no change of a lesson explains; None where nothing did."""
    if before.blocked or after.blocked:
        return None  # it cannot be read, which is a finding
    if before.document == after.document or not after.has_document:
        went = not after.has_document and before.document.strip() and after.lessons
        return Said("the document is gone", 1, True) if went else None
    rows = [_rows(memory) for memory in (before, after)]
    (old, old_prose), (new, new_prose) = rows
    numbers, words, lost = 0, [], []
    for slug in sorted(old.keys() & new.keys()):
        changed = _numbers_changed(old[slug], new[slug])
        numbers += changed
        if not changed and slug not in touched and _spaced(old[slug]) != _spaced(new[slug]):
            words.append(slug)
    lost = [slug for slug in sorted(old.keys() - new.keys()) if slug not in touched and slug in after.lessons]
    less, more = old_prose - new_prose, new_prose - old_prose
    counted = _same_but_numbers(less, more)
    numbers += sum(changed for _, _, changed in counted)
    gone, come = less.total() - len(counted), more.total() - len(counted)
    said = [
        f"{numbers} {'number' if numbers == 1 else 'numbers'} changed" if numbers else "",
        f"the {_entry(after.place)} of {_names(words)} is reworded" if words else "",
        f"the {_entry(after.place)} of {_names(lost)} is lost" if lost else "",
        f"{gone} {'line' if gone == 1 else 'lines'} of prose less" if gone else "",
        f"{come} {'line' if come == 1 else 'lines'} of prose more" if come else "",
    ]
    text = ", ".join(filter(None, said))
    explained = bool(touched) and not text
    return None if explained else Said(text, _first_difference(before.document, after.document), bool(lost))


def _entry(place: Place) -> str:
    return "line" if place.kind == "project" else "entry"


def _names(slugs: list[str]) -> str:
    return ", ".join(slugs[:3]) + (f" and {len(slugs) - 3} more" if len(slugs) > 3 else "")


def _rows(memory: Memory) -> tuple[dict[str, str], Counter[str]]:
    """The document's entries by slug, and its other lines that say something."""
    found: dict[str, str] = {}
    text, prose = memory.document, Counter[str]()
    taken: set[int] = set()
    if memory.place.kind == "skill":
        for entry in notebook.entries(text):
            found.setdefault(entry.slug, entry.raw)
            taken |= set(range(entry.start, entry.start + len(entry.lines)))
    else:
        for line in index.entries(text):
            found.setdefault(lessonfile.stem(line.target), line.raw)
            taken.add(line.line)
    for n, row in enumerate(text.split("\n")):
        if n not in taken and re.search(r"\w", row) and not re.match(r"\s*(?:#{1,6}\s|<!-- learnloop)", row):
            prose[_spaced(row)] += 1
    return found, prose


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _numbers_changed(before: str, after: str) -> int:
    """How many numbers differ between two texts that differ in nothing else."""
    if re.sub(r"\d+", "N", _spaced(before)) != re.sub(r"\d+", "N", _spaced(after)):
        return 0
    return sum(x != y for x, y in zip(re.findall(r"\d+", before), re.findall(r"\d+", after), strict=True))


def _same_but_numbers(less: Counter[str], more: Counter[str]) -> list[tuple[str, str, int]]:
    """Lines that came back with other numbers."""
    by_form: dict[str, list[str]] = {}
    for line in more.elements():
        by_form.setdefault(re.sub(r"\d+", "N", line), []).append(line)
    found = []
    for line in less.elements():
        twins = by_form.get(re.sub(r"\d+", "N", line), [])
        if twins:
            twin = twins.pop(0)
            found.append((line, twin, _numbers_changed(line, twin)))
    return found


def _first_difference(before: str, after: str) -> int:
    old, new = before.split("\n"), after.split("\n")
    return next((n for n, (x, y) in enumerate(zip(old, new, strict=False), 1) if x != y), min(len(old), len(new)))
