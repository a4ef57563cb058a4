"""What is wrong with what is new: findings that head has and base had not, and questions to a person."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from learnloop_md import anchors, checks, documents, hidden, owners, sides, standing
from learnloop_md import lesson as lessons
from learnloop_md.changes import Change
from learnloop_md.comparison import Found
from learnloop_md.lines import split_lines
from learnloop_md.memory import Memory
from learnloop_md.sides import Side

_INSTRUCTIONS = ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md", ".claude/settings.json")


def of_memory(base: Side, head: Side, before: Memory, after: Memory, found: list[Change]) -> list[Found]:
    """What is wrong at head and was not at base: an old backlog is nobody's business here (design §11)."""
    changed = _changed(before, after)
    rows = [*checks.new_only(*of_checks(base, head, before, after)), *of_anchors(base, head, before, after)]
    rows += _hidden(before, after, changed) + _of_private(base, before, after, changed) + _due(after, found)
    place = after.place
    around = place.inside.removesuffix("references") if place.kind == "skill" else f"{place.inside}/".lstrip("/")
    told = [Found(f.code, f.severity, place.in_repo(f.path), f.line, f.message) for f in rows]
    told += [
        Found("conflict", checks.ERROR, path, 1, "not merged yet: run learnloop sync --resolve")
        for path in head.unmerged
        if path.startswith(around)
    ]
    return sorted(set(told), key=lambda f: (f.severity != checks.ERROR, f.path, f.line, f.code))


def of_checks(base: Side, head: Side, before: Memory, after: Memory) -> tuple[list[checks.Finding], ...]:
    """What `check` finds at head in what changed, and of base what may be the same."""
    changed = _changed(before, after)
    new = checks.findings(after, sides.reader(head, after.place), only=changed & after.lessons.keys())
    places = {finding.path for finding in new}
    asked = {slug for slug in changed & before.lessons.keys() if before.lessons[slug].path in places}
    return new, checks.findings(before, sides.reader(base, before.place), only=asked) if new else []


def of_anchors(base: Side, head: Side, before: Memory, after: Memory) -> list[checks.Finding]:
    """Lessons of both sides that speak of a path which base has and head has not (design §9)."""
    gone = sides.gone(base, head)
    stale: dict[str, list[str]] = {}
    for slug in after.lessons.keys() & before.lessons.keys() if gone else ():  # a new one speaks of it as gone
        lesson = after.lessons[slug]
        for anchor in anchors.spoken(lesson) if lesson.is_active and not lesson.is_note else ():
            meant = standing.meant(head.repo, after.place, lesson, anchor)
            if anchor.hash == anchors.GONE or not gone.intersection(meant):
                continue
            if not any(path in head.listed or head.below(path) for path in meant):
                stale.setdefault(slug, []).append(f"{anchor.name} went")
    return sorted(set(checks.stale_anchors(after, stale)))


def _changed(before: Memory, after: Memory) -> set[str]:
    return {
        slug
        for slug in before.lessons.keys() | after.lessons.keys()
        if _text(before, slug) != _text(after, slug) or _names_gone(after, slug)
    }


def _text(memory: Memory, slug: str) -> tuple[str, str, str]:
    lesson = memory.lessons.get(slug)
    return (lesson.path, lesson.text, lesson.state) if lesson else ("", "", "")


def _names_gone(memory: Memory, slug: str) -> bool:
    lesson = memory.lessons.get(slug)
    named = (lesson.supersedes, lesson.superseded_by) if lesson else ()
    return any(name and name not in memory.lessons for name in named)


def _hidden(before: Memory, after: Memory, changed: Collection[str]) -> list[checks.Finding]:
    """Characters that a reviewer does not see, in what changed."""
    texts = {lesson.path: lesson.text for slug, lesson in after.lessons.items() if slug in changed}
    if after.document != before.document:
        texts[after.place.document] = after.document
    known = {lesson.path: lesson.text for lesson in before.lessons.values()} | {before.place.document: before.document}
    found = []
    for path, text in texts.items():
        old = {code for _, code in hidden.hidden(known.get(path, ""))}
        first = next(((at, code) for at, code in hidden.hidden(text) if code not in old), None)
        if first:
            at, code = first
            message = f"holds a character that nobody sees (U+{ord(text[at]):04X})"
            found.append(checks.Finding(path, text.count("\n", 0, at) + 1, code, checks.ERROR, message))
    return found


def _of_private(base: Side, before: Memory, after: Memory, changed: Collection[str]) -> list[checks.Finding]:
    """Lessons of a type that is to stay out of git, newly in it."""
    chosen, _ = sides.settings_of(base, before.place.inside)
    found = []
    for slug in sorted(changed & after.lessons.keys()):
        lesson = after.lessons[slug]
        if lesson.type.lower() in chosen.private_types and slug not in before.lessons:
            message = f"a private lesson (type {lesson.type}) comes into git; private_types names what stays out"
            found.append(checks.Finding(lesson.path, 1, "private-tracked", checks.WARNING, message))
    return found


def _due(after: Memory, found: Iterable[Change]) -> list[checks.Finding]:
    """Candidates that were seen often enough now: a merge adds sightings up, and only cleanup graduates them."""
    known = documents.known(after)
    rows = [known[c.slug] for c in found if c.kind in ("seen", "added") and c.slug in known]
    return [
        checks.Finding(
            row.lesson.path,
            row.line,
            "graduation-due",
            checks.WARNING,
            f"{row.lesson.slug} was seen in {len(row.lesson.seen)} runs and is still a candidate; learnloop cleanup",
        )
        for row in rows
        if lessons.is_repeated(row.lesson, after.place.settings.sightings_to_graduate)
    ]


def of_settings(base: Side, head: Side, folders: Collection[str]) -> list[Found]:
    """Settings that cannot be read; settings and owners of memories that a branch changes to be judged by."""
    found: dict[str, Found] = {}
    for folder in dict.fromkeys(["", *folders]):
        (old, _), (new, wrong) = sides.settings_of(base, folder), sides.settings_of(head, folder)
        files = [f"{at}/{name}".lstrip("/") for at in (folder, "") for name in (".learnloop.toml", "pyproject.toml")]
        where = _changed_file(base, head, files) or next((path for path in files if path in head.listed), files[-1])
        names = [n for n in old._fields if n.startswith("policy_") and getattr(old, n) != getattr(new, n)]
        if wrong:
            found.setdefault(where, Found("bad-settings", checks.ERROR, where, 1, wrong))
        elif names and base.listed:
            found.setdefault(where, _policy_changed(where, ", ".join(names)))
    where, code_owners, later = _changed_file(base, head, owners.FILES), owners.read(base.text), owners.read(head.text)
    files = [path for folder in folders for path in base.below(folder)] if where and code_owners else []
    if any(code_owners.of(path) != (later.of(path) if later else ()) for path in files if code_owners):
        found[where] = _policy_changed(where, "who must approve changes of a memory")
    return list(found.values())


def _changed_file(base: Side, head: Side, paths: Iterable[str]) -> str:
    return next((path for path in paths if not base.same(head, path)), "")


def _policy_changed(path: str, what: str) -> Found:
    message = f"{what} changes here; this comparison is judged by what the base says"
    return Found("policy-changed", checks.WARNING, path, 1, message)


def of_old_places(head: Side, moved: list[tuple[Memory, Memory]]) -> list[Found]:
    """Lines of instructions and settings that still name a folder from which a memory moved."""
    found = []
    for before, after in moved:
        old, new = before.place.inside, after.place.inside
        for path in _INSTRUCTIONS if old else ():
            for n, line in enumerate(split_lines(head.text(path) or ""), 1):
                if re.search(rf"@(?:\./)?{re.escape(old)}/", line):
                    message = f"imports a file of {old}, which does not exist any more; the memory is in {new}"
                    found.append(Found("import-missing", checks.WARNING, path, n, message))
                elif re.search(rf"(?<![\w/]){re.escape(old)}(?![\w-])", line):
                    message = f"names {old}; the memory is in {new} now"
                    found.append(Found("old-place", checks.WARNING, path, n, message))
    return found
