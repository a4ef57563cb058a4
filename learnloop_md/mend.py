"""Mend what `check` finds where no decision is needed: heads, doubled lines, missing lines of an index."""

from __future__ import annotations

from collections.abc import Collection

from learnloop_md import head, headedit, index, lessonfile
from learnloop_md import memory as memories
from learnloop_md.lessonfile import Reading
from learnloop_md.lines import split_lines
from learnloop_md.plan import Draft
from learnloop_md.tree import HeadError

_HEADS = {"head-not-yaml", "value-cut-by-comment"}


def mend(draft: Draft, busy: Collection[str] = ()) -> list[str]:
    """Change what can be mended, but for busy paths, and cut it into one plan; gives what was mended, in words."""
    memory = draft.memory
    said: list[str] = []
    for path, faults in sorted(memory.faults.items()):
        slug = lessonfile.stem(path)
        if path in busy or not _HEADS & {fault.code for fault in faults}:
            continue
        text = with_sound_head(draft.lesson(slug).text)
        if text != draft.lesson(slug).text:
            draft.put(slug, text)
            said.append(f"{path}: the head is YAML now")
    document = memory.place.document
    if memory.blocked is None and document not in busy:
        # Which side of a contradiction holds is told by the base alone, and by nobody here.
        draft.skip |= {slug for slug, x in draft.lessons.items() if x.path in busy} | _undecided(draft)
        text = without_doubled_lines(draft.document) if memory.place.kind == "project" else draft.document
        if text != draft.document:
            draft.set_document(draft.document, text)
            said.append(f"{document}: lines that stood twice are gone")
    before = draft.document
    steps = document not in busy
    plan = draft.cut("cleanup", [], "\n".join(said), subject="learnloop: mend what check found", document=steps)
    if plan and draft.document != before:
        said.append(f"{document}: in step with the lesson files")
    return said


def _undecided(draft: Draft) -> set[str]:
    """Lessons whose entry and file say different things, and those of a notebook that have no entry: it was deleted."""
    memory = draft.memory
    entries = memories.entries(memory.place, draft.document, draft.lessons)
    found = set()
    for slug, lesson in draft.lessons.items():
        entry = entries.get(slug)
        if entry is None:
            found |= {slug} if memory.place.kind == "skill" else set()
        elif entry.zone not in (lesson.state, "") or (entry.zone == "" and lesson.state != "current"):
            found.add(slug)
    return found


def without_doubled_lines(text: str) -> str:
    """An index without lines that stand above already, word for word and in the same zone."""
    lines, seen, gone = split_lines(text), set[tuple[str, str]](), set[int]()
    for entry in index.entries(text):
        if entry.alone and (entry.zone, entry.raw.strip()) in seen:
            gone.add(entry.line)
        seen.add((entry.zone, entry.raw.strip()))
    return "".join(line for n, line in enumerate(lines) if n not in gone)


def with_sound_head(text: str) -> str:
    """A lesson file whose head YAML reads as people meant it; as it is where that cannot be done surely."""
    before = lessonfile.read("x.md", text)
    parts = head.split(text)
    if parts is None or not isinstance(before, Reading):
        return text
    tree = head.read(parts).tree
    lines, eol = list(parts.lines), "\r\n" if parts.open.endswith("\r\n") else "\n"
    for key, (start, end) in reversed(head.blocks([line.rstrip("\r\n") for line in lines])):
        value = tree.get(key or "")
        if isinstance(value, str) and _is_faulty(lines[start:end]):
            lines[start:end] = headedit.render_field(str(key), value, 0, eol)
    new = head.join(parts._replace(lines=tuple(lines)))
    after = lessonfile.read("x.md", new)
    if not isinstance(after, Reading) or _HEADS & {fault.code for fault in after.faults}:
        return text
    return new if after.lesson._replace(text="") == before.lesson._replace(text="") else text


def _is_faulty(block: list[str]) -> bool:
    try:
        return bool(head.read(head.Parts("", "---\n", tuple(block), "---\n", "")).faults)
    except HeadError:
        return False
