"""`check`: all in a memory that a person should look at, as findings with a place and a kebab-case code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from learnloop_md import (
    codify,
    documents,
    head,
    index,
    lessonfile,
    mergestate,
    notebook,
    outside,
    portability,
    record,
)
from learnloop_md import memory as memories
from learnloop_md.absorb import Conflict
from learnloop_md.codify import Standing
from learnloop_md.lesson import RULE_LIMIT, STATES, TYPES, Lesson, written_out
from learnloop_md.lines import conflict_line, open_at_end, scan, split_lines
from learnloop_md.memory import Memory
from learnloop_md.relapse import ReadOther, relapses
from learnloop_md.tree import Tree, field_of

if TYPE_CHECKING:
    from learnloop_md.gate import Between  # lazy: 20 ms

ERROR, WARNING = "error", "warning"
LEARNINGS_LINES = 150  # R004-42
_FIXABLE = {
    "value-cut-by-comment",
    "orphan-lesson",
    "lost-entry",
    "duplicate-line",
    "out-of-step",
    "head-not-yaml",
}


class Finding(NamedTuple):
    """One finding; path is relative to the memory's folder, line counts from 1."""

    path: str
    line: int
    code: str
    severity: str
    message: str

    @property
    def fixable(self) -> bool:
        """Whether `learnloop sync` or a small edit that the message names mends it."""
        return self.code in _FIXABLE

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two findings the same one, wherever its line has moved."""
        return self.path, self.code, re.sub(r"\d+", "N", self.message)


def findings(
    memory: Memory,
    read_other: ReadOther,
    conflicts: Iterable[Conflict] = (),
    only: Collection[str] | None = None,
    between: Between | None = None,
) -> list[Finding]:
    """Everything `check` has to say, sorted by place; `only` spares it all lessons but these."""
    found = [
        Finding(q.path, q.line, q.reason, WARNING if q.reason == "other-author" else ERROR, q.message)
        for q in memory.quarantined
    ]
    for path, kept in memory.doubled:
        message = f"the slug {lessonfile.stem(path)!r} stands twice; {kept} is used"
        found.append(Finding(path, 1, "duplicate-slug", ERROR, message))
    for lesson in memory.lessons.values() if only is None else [memory.lessons[slug] for slug in sorted(only)]:
        found += _of_lesson(memory, lesson)
        found += [Finding(lesson.path, f.line, f.code, WARNING, f.message) for f in memory.faults.get(lesson.path, ())]
    found += [row for row in _of_private(memory) if only is None or lessonfile.stem(row.path) in only]
    found += _of_ids(memory)
    found += _of_document(memory)
    if memory.place.kind == "skill":
        found += _of_skill(memory, read_other)
    found += _of_codified(memory, read_other)
    found += _alike(memory, only)
    found += _contradictions(memory, read_other, only, between)
    values = read_other(memory.place.values)
    if values is not None and (bad := mergestate.fault(values.encode("utf-8"))):
        found.append(Finding(memory.place.values, bad.line, bad.code, ERROR, bad.message))
    for clash in conflicts:
        path = memory.lessons[clash.slug].path if clash.slug in memory.lessons else memory.place.document
        said, kept = _quoted(clash.document), _quoted(clash.file)
        message = f"{clash.field}: {memory.place.document} says {said}, the file says {kept}"
        found.append(Finding(path, 1, "conflict", ERROR, message))
    return sorted(set(found))


def second_look(files: Mapping[str, bytes], found: Iterable[Finding]) -> list[Finding]:
    """What another scanner takes for a secret in files, where no secret was found yet. Raises UsageError without it."""
    known = {(row.path, row.line) for row in found if row.code.startswith("secret:")}
    return [
        Finding(path, line, f"secret:{rule}", ERROR, f"holds what betterleaks takes for a secret: {rule}")
        for path, data in sorted(files.items())
        for line, rule in outside.secrets(data.decode("utf-8", "replace"))
        if (path, line) not in known
    ]


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def new_only(found: Iterable[Finding], before: Iterable[Finding]) -> list[Finding]:
    """The findings that were not there before: a strict check on a backlog ends in --no-verify (§11)."""
    known = Counter(finding.key for finding in before)
    fresh = []
    for finding in found:
        if known[finding.key]:
            known[finding.key] -= 1
        else:
            fresh.append(finding)
    return fresh


def _line_of(lesson: Lesson, field: str) -> int:
    for n, line in enumerate(split_lines(lesson.text), 1):
        if re.match(rf"\s*{re.escape(field)}\s*:", line):
            return n
    return 1


def _of_lesson(memory: Memory, lesson: Lesson) -> list[Finding]:
    if lesson.is_note:
        return []
    tree = head.read(parts).tree if (parts := head.split(lesson.text)) else {}
    found = [*_of_names(lesson, tree), *_of_body(lesson), *_of_state(memory, lesson, tree)]
    for row in record.weaknesses(lesson):
        found.append(_at(lesson, row.field, row.code, row.message, ERROR if row.is_error else WARNING))
    if not lessonfile.is_editable(lesson):
        message = "the head is written so that no field can be added: write metadata as a block, one field a line"
        found.append(_at(lesson, "metadata", "head-not-editable", message))
    return found


def _of_private(memory: Memory) -> Iterator[Finding]:
    """Private lessons that git has (design §2)."""
    tracked = set(memories.tracked_private(memory))
    for slug in sorted(memory.private):
        lesson = memory.lessons[slug]
        if (path := memory.place.in_repo(lesson.path)) in tracked:
            message = f"a private lesson (type {lesson.type}) is tracked by git: {memories.untracking([path])}"
            yield _at(lesson, "type", "private-tracked", message, ERROR)


def _of_ids(memory: Memory) -> Iterator[Finding]:
    """Records of two branches that took the same id (R000-09)."""
    first: dict[str, str] = {}
    for slug, lesson in sorted(memory.lessons.items()):
        if lesson.record and lesson.id and first.setdefault(lesson.id, slug) != slug:
            message = f"the id {lesson.id} is that of {first[lesson.id]} too: give one of them another"
            yield _at(lesson, "id", "duplicate-id", message)


def _of_names(lesson: Lesson, tree: Mapping[str, Tree]) -> Iterator[Finding]:
    """What is wrong with name, description and type."""
    inner = tree.get("metadata")
    nested, flat = inner.get("type") if isinstance(inner, dict) else None, tree.get("type")
    if not lesson.name.strip():
        yield _at(lesson, "name", "blank-name", "the name is blank or missing; the file's name serves")
    if not lesson.description.strip():
        yield _at(lesson, "name", "missing-description", "a description says when the lesson matters")
    if len(lesson.description) > 200:
        message = f"the description has {len(lesson.description)} characters; it is shortened where it is shown"
        yield _at(lesson, "description", "field-too-long", message)
    if not lesson.type:
        yield _at(lesson, "metadata", "missing-type", f"the type is missing: {', '.join(TYPES)}")
    elif nested and flat and flat != nested:
        message = f"type is {flat!r} at the top and {nested!r} under metadata"
        yield _at(lesson, "type", "type-disagrees", message)
    elif lesson.type not in TYPES:
        yield _at(lesson, "type", "unknown-type", f"type {lesson.type!r} is not one of {', '.join(TYPES)}")


def _of_body(lesson: Lesson) -> Iterator[Finding]:
    """What is wrong with rule, Why and How to apply, and with the size of it all."""

    def said(code: str, message: str) -> Finding:
        return Finding(lesson.path, 1, code, WARNING, message)

    if lesson.type in ("feedback", "project") and lesson.is_active:
        if not lesson.why:
            yield said("missing-why", "the body has no **Why:** paragraph")
        if not lesson.how:
            yield said("missing-how", "the body has no **How to apply:** paragraph")
    if lesson.stated and len(lesson.rule) > RULE_LIMIT:
        yield said("rule-too-long", f"the rule has {len(lesson.rule)} characters, over {RULE_LIMIT}")
    if len(lesson.text.encode("utf-8", "surrogatepass")) > lessonfile.SIZE_WARNING:
        yield said("file-too-large", "the file is larger than 64 KiB")


def _of_state(memory: Memory, lesson: Lesson, tree: Mapping[str, Tree]) -> Iterator[Finding]:
    """What is wrong with the state, the archive note, and the lessons that it names."""
    stated = field_of(tree, "state")
    if isinstance(stated, str) and stated and stated.lower() not in STATES:
        yield _at(lesson, "state", "unknown-state", f"state {stated!r} is not one of {', '.join(STATES)}")
    if lesson.state == "archived" and lesson.stated and not lesson.archive_note:
        yield _at(lesson, "state", "missing-archive-note", "an archived lesson needs a note why")
    for field in ("supersedes", "superseded_by"):
        other = getattr(lesson, field)
        if other and other not in memory.lessons:
            yield _at(lesson, field, "unknown-lesson", f"{field} names {other!r}, which does not exist")


def _of_document(memory: Memory) -> list[Finding]:
    place, text = memory.place, memory.document
    name = place.document
    found = [Finding(name, q.line, q.reason, ERROR, q.message) for q in memories.secrets(memory)]
    if memory.blocked:
        return found
    found += [Finding(name, q.line, q.reason, ERROR, q.message) for q in memories.hostile(memory)]
    for n, line in enumerate(split_lines(text), 1):
        if written_out(line) != line:
            message = "holds a control character; learnloop sync writes it out"
            found.append(Finding(name, n, "control-char", ERROR, message))
    if not text.strip() and not memory.lessons:
        return found
    if opened := open_at_end(text):
        message = "what opens here is never closed: all that follows is hidden from Claude"
        found.append(Finding(name, opened, "never-closed", ERROR, message))
    entries = memories.entries(place, text, memory.lessons)
    rows = _index_findings(memory, entries) if place.kind == "project" else _notebook_findings(memory)
    left_out = set(memories.in_step(memory, text, memory.lessons, memory.lessons).left_out)
    hubbed = memories.hubbed(memory, text) if place.kind == "project" else frozenset()
    for slug, lesson in memory.lessons.items():
        if slug in entries or slug in memory.private or slug in left_out or slug in hubbed or lesson.is_note:
            continue
        code = "orphan-lesson" if place.kind == "project" else "lost-entry"
        rows.append(Finding(lesson.path, 1, code, ERROR, f"{name} has no entry for {slug}; learnloop sync writes it"))
    for slug, entry in entries.items():
        row = memory.lessons.get(slug)
        outside = entry.zone == "" and (
            place.kind == "skill" or (row is not None and row.stated and row.state != "current")
        )
        if row and entry.zone != "quarantined" and (outside or (entry.zone and entry.zone != row.state)):
            where = f"the {entry.zone} zone" if entry.zone else "no zone"
            rows.append(
                Finding(
                    name,
                    entry.line,
                    "out-of-step",
                    WARNING,
                    f"{slug} stands in {where}, its file says {row.state}",
                )
            )
    return found + rows


_GONE = "learnloop sync, if that was a lesson; what sync leaves, take out or correct"


def _index_findings(memory: Memory, entries: dict[str, memories.Entry]) -> list[Finding]:
    name, text = memory.place.document, memory.document
    found: list[Finding] = []
    there = {lesson.path for lesson in memory.lessons.values()} | {q.path for q in memory.quarantined}
    there |= {path for path, _ in memory.doubled}
    stems = {lessonfile.stem(path) for path in there}
    seen: dict[str, int] = {}
    for entry in index.entries(text):
        known = entry.target in there or ("/" not in entry.target and lessonfile.stem(entry.target) in stems)
        if not known and entry.zone != "quarantined":
            found.append(
                Finding(
                    name,
                    entry.line + 1,
                    "dangling-line",
                    ERROR,
                    f"names {entry.target}, which does not exist: {_GONE}",
                )
            )
        if entry.target in seen:
            message = f"names {entry.target}, as line {seen[entry.target]} does"
            found.append(Finding(name, entry.line + 1, "duplicate-line", WARNING, message))
        seen.setdefault(entry.target, entry.line + 1)
        if len(entry.raw) >= index.LINE_LIMIT and entry.zone not in ("archived", "quarantined"):
            found.append(
                Finding(
                    name,
                    entry.line + 1,
                    "line-too-long",
                    WARNING,
                    f"the line has {len(entry.raw)} characters, keep it under {index.LINE_LIMIT}",
                )
            )
    for line, target in index.outside_links(text):
        found.append(
            Finding(name, line, "outside-link", WARNING, f"leads out of the memory: {target}; it is never read")
        )
    lines, characters = index.loaded_size(text)
    settings = memory.place.settings
    if lines > index.HARD_LINES or characters > index.HARD_CHARACTERS:
        lost = _past_limit(text)
        count = (
            f"{lines} lines (limit {index.HARD_LINES})"
            if lines > index.HARD_LINES
            else f"{characters} characters (limit {index.HARD_CHARACTERS})"
        )
        named = ", ".join(lost[:12]) + (" …" if len(lost) > 12 else "")
        message = f"Claude loads only a part: {count}; past it: {named}"
        found.append(
            Finding(name, index.HARD_LINES if lines > index.HARD_LINES else 1, "index-over-limit", ERROR, message)
        )
    elif lines > settings.index_lines or characters > settings.index_characters:
        budget = f"{settings.index_lines} and {settings.index_characters}"
        message = f"{lines} lines and {characters} characters, over the budget of {budget}"
        found.append(Finding(name, 1, "index-over-budget", WARNING, message))
    return found


def _past_limit(text: str) -> list[str]:
    """The slugs whose lines stand where Claude no longer reads."""
    shown = {entry.target for entry in index.entries(index.loaded_part(text))}
    return [
        lessonfile.stem(e.target)
        for e in index.entries(text)
        if e.zone not in ("archived", "quarantined") and e.target not in shown
    ]


def _notebook_findings(memory: Memory) -> list[Finding]:
    """The compatibility contract of the notebook (R002-60 to R002-63)."""
    name, text = memory.place.document, memory.document
    found: list[Finding] = []
    zones = [
        (m[1].lower(), line.number + 1)
        for line in scan(text)
        if line.place == "text" and (m := notebook.zone_heading(line.text))
    ]
    for zone in notebook.ZONES:
        at = [number for named, number in zones if named == zone]
        if not at:
            message = f'the zone "## {zone.capitalize()} Patterns" is missing or renamed'
            found.append(Finding(name, 1, "zone-missing", ERROR, message))
        if len(at) > 1:
            found.append(Finding(name, at[1], "zone-doubled", ERROR, f"the {zone} zone stands twice"))
    seen: dict[str, int] = {}
    for entry in notebook.entries(text):
        if entry.slug in seen:
            message = f"{entry.slug} has an entry in line {seen[entry.slug]} already"
            found.append(Finding(name, entry.start + 1, "duplicate-entry", ERROR, message))
        seen.setdefault(entry.slug, entry.start + 1)
        for n, label in notebook.strange_fields(entry):
            found.append(Finding(name, n, "unknown-field", WARNING, f"{label!r} is not a field of the contract"))
        for n, label in notebook.doubled_fields(entry):
            message = f"{entry.slug} has a field {label!r} before this one: the first counts, take one of them out"
            found.append(Finding(name, n, "duplicate-field", ERROR, message))
        lesson = memory.lessons.get(entry.slug)
        for field in ("why", "rule", "how", "tags"):
            if lesson and field not in entry.claims and notebook.claims_of(lesson)[field]:
                message = f"{entry.slug} has lost its field {notebook.FIELDS[field]!r}"
                found.append(Finding(name, entry.start + 1, "field-missing", ERROR, message))
        if entry.zone == "archived" and not entry.claims.get("archive_note") and (not lesson or lesson.archive_note):
            message = f"{entry.slug} is archived without an archive note"
            found.append(Finding(name, entry.start + 1, "missing-archive-note", WARNING, message))
        if lesson is None and not entry.path:
            found.append(
                Finding(
                    name,
                    entry.start + 1,
                    "out-of-step",
                    WARNING,
                    f"{entry.slug} has no lesson file yet; learnloop sync makes it",
                )
            )
        elif lesson is None:
            message = f"names {entry.path}, which does not exist: {_GONE}"
            found.append(Finding(name, entry.start + 1, "dangling-line", ERROR, message))
    return found


def _of_skill(memory: Memory, read_other: ReadOther) -> list[Finding]:
    """Whether SKILL.md still loads the memory, says the contract, and is a valid skill (R002-60, R002-63)."""
    text = read_other("../SKILL.md")
    if text is None:
        return []

    def said(code: str, severity: str, message: str) -> Finding:
        return Finding("../SKILL.md", 1, code, severity, message)

    found = [said("invalid-skill", ERROR, fault) for fault in codify.skill_faults(text)]
    if at := conflict_line(text):
        found.append(Finding("../SKILL.md", at, "conflict-markers", ERROR, "holds the markers of a merge conflict"))
    for number, at in _doubled_numbers(text):
        message = f"the number {number} is given twice in this list; what cites it may mean either"
        found.append(Finding("../SKILL.md", at, "number-twice", WARNING, message))
    found += [Finding("../SKILL.md", n, "portability", WARNING, why) for n, why in portability.claude_only(text)]
    name = memory.place.document
    prose, contract = codify.prose_and_contract(text)
    if not re.search(rf"references/{re.escape(name)}", prose):
        message = f"nothing tells the agent to read references/{name} any more; learnloop init --skill writes it"
        found.append(said("load-instruction-missing", ERROR, message))
    if not contract:
        message = "the rules of the memory contract are missing; learnloop init --skill writes them"
        found.append(said("contract-missing", WARNING, message))
    learnings = read_other("../learnings.md")
    if learnings is not None:
        if (lines := len(split_lines(learnings))) > LEARNINGS_LINES:
            message = f"{lines} lines, keep it within {LEARNINGS_LINES}"
            found.append(Finding("../learnings.md", 1, "learnings-too-long", WARNING, message))
        if "learnings.md" not in prose:
            found.append(said("learnings-unmentioned", WARNING, "SKILL.md never mentions learnings.md"))
    return found


def _doubled_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Numbers given twice in a numbered list, with the second line; a list that numbers all items alike is a style."""
    items: list[tuple[int, int]] = []
    for line in [*scan(text), None]:
        bare = line.text if line and line.place == "text" else ""
        match = re.match(r"(\d{1,6})[.)]\s", bare)
        if line and match and not (items and int(match[1]) < items[-1][0]):
            items.append((int(match[1]), line.number + 1))
            continue
        if line and not match and (not bare.strip() or re.match(r"\s|<{7}|={7}|>{7}|\|{7}", bare)):
            continue
        counts = Counter(number for number, _ in items)
        if len(counts) > 1:
            yield from {number: at for number, at in items if counts[number] > 1}.items()
        items = [(int(match[1]), line.number + 1)] if line and match else []


def _of_codified(memory: Memory, read_other: ReadOther) -> list[Finding]:
    """Codified rules that were edited away or had to be learned again; notes that name a file which is not there."""
    codes = {"target-missing": "archive-note-target"}
    return [
        _at(memory.lessons[row.slug], row.field, codes.get(row.kind, "relapse"), row.message)
        for row in relapses(memory, read_other)
    ]


def doubled_rules(memory: Memory, rows: Iterable[Standing]) -> list[Finding]:
    """Codified rules that stand in several places, or whose lesson is in force besides."""
    by_slug: dict[str, list[Standing]] = {}
    for row in rows:
        by_slug.setdefault(row.slug, []).append(row)
    found = []
    for slug, there in by_slug.items():
        lesson = memory.lessons.get(slug)
        if lesson is None:
            continue
        kept = None if lesson.is_active else next((r for r in there if r.name == lesson.codified_in), there[0])
        besides = f"the lesson {slug} is in force too" if kept is None else f"in {kept.name}:{kept.line} too"
        for row in there:
            if row is not kept:
                way = f", or: learnloop codify {slug} --into {row.name}" if kept is None else ""
                message = f"the rule of {slug} stands here, and {besides}: take this line out{way}"
                found.append(Finding(row.path, row.line, "rule-doubled", WARNING, message))
    return found


def _alike(memory: Memory, only: Collection[str] | None) -> Iterator[Finding]:
    """Lessons that say nearly what another says; of a few that are asked for, also what may be the contrary."""
    from learnloop_md import likeness  # lazy: 20 ms

    known = documents.known(memory)
    rows = {slug: row.lesson for slug, row in known.items()}
    for pair in likeness.pairs(rows, rows.keys() if only is None else only):
        code, says = "near-duplicate", f"says nearly what {pair.other} says"
        if pair.verdict == "opposite":
            if only is None:  # a doubt about what nobody touched is a false alarm: the sure ones are told below
                continue
            code, says = "contradiction", f"may say the contrary of {pair.other}"
        row = known[pair.slug]
        yield Finding(row.lesson.path, row.line, code, WARNING, f"{pair.slug} {says} ({pair.why})")


def _contradictions(
    memory: Memory, read_other: ReadOther, only: Collection[str] | None, between: Between | None
) -> Iterator[Finding]:
    """Lessons that contradict each other, and lines of what is loaded besides that contradict a current lesson."""
    from learnloop_md import advice, matching  # lazy: 20 ms

    active = sorted((row for row in memory.lessons.values() if row.is_active), key=lambda row: (row.created, row.slug))
    for old, new, like in matching.opposites(active, between) if only is None else ():
        message = f"may contradict {old.slug} ({like.why}): learnloop supersede {new.slug} {old.slug}, or archive one"
        yield Finding(new.path, 1, "contradiction", WARNING, message)
    for path in _loaded_besides(memory):
        said = list(advice.statements(read_other(path) or ""))
        for lesson in active if said else ():
            for like in matching.against(lesson, said, between) if lesson.state == "current" else ():
                message = f"may contradict the lesson {lesson.slug} ({like.why}): change one of them"
                yield Finding(path, int(like.slug), "contradiction", WARNING, message)


def _loaded_besides(memory: Memory) -> list[str]:
    """The files that an agent loads besides the memory, from the memory's folder."""
    if memory.place.kind == "skill":
        return ["../SKILL.md"]
    root = "../" * len(memory.place.inside.split("/")) if memory.place.inside else ""
    return [f"{root}{name}" for name in ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md")]


def stale_anchors(memory: Memory, stale: Mapping[str, Iterable[str]]) -> list[Finding]:
    """A finding for each thing that a lesson speaks of and that changed or went, by slug as "src/app.py changed"."""
    found = []
    for slug, said in stale.items():
        lesson = memory.lessons[slug]
        lines = split_lines(lesson.text)
        for what in said:
            name = what.rpartition(" ")[0].split("#")[0]
            line = next((n for n, text in enumerate(lines, 1) if name in text), 1)
            message = f"{what} since this was written or verified: read both, mend the lesson or archive it"
            message += f"; if it still holds: learnloop verify {slug} --fix"
            found.append(Finding(lesson.path, line, "stale-anchor", WARNING, message))
    return sorted(found)


def _at(lesson: Lesson, field: str, code: str, message: str, severity: str = WARNING) -> Finding:
    """A finding in the line of a field."""
    return Finding(lesson.path, _line_of(lesson, field), code, severity, message)
