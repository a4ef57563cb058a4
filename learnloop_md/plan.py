"""Plans: what a command will do, as values; a Draft collects edits and cuts them into commits. No IO here."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from learnloop_md import lessonfile
from learnloop_md.errors import UnableError
from learnloop_md.lesson import Lesson, written_out
from learnloop_md.lessonfile import Quarantined
from learnloop_md.lines import split_lines
from learnloop_md.memory import Memory, counting_state, in_step
from learnloop_md.tree import Field, HeadError

# What was done, by the values of the trailer Learnloop-Change (design §6).
PAST = {
    "init": "initialised", "note": "added", "see": "seen", "graduate": "graduated", "confirm": "confirmed",
    "dispute": "disputed", "archive": "archived", "restore": "restored", "supersede": "superseded",
    "merge": "merged", "rename": "renamed", "pin": "pinned", "unpin": "unpinned", "review": "reviewed",
    "codify": "codified", "cleanup": "cleaned", "absorb": "absorbed", "edit": "edited",
    "forget": "forgotten", "undo": "undone", "verify": "verified", "capture": "added", "import": "imported",
    "state": "stored", "run": "recorded", "feedback": "answered", "share": "shared",
}  # fmt: skip


class Edit(NamedTuple):
    """One file's text: before None creates it, after None removes it; path is relative to the memory."""

    path: str
    before: str | None
    after: str | None


def way_out(reason: str) -> str:
    """What to do with a document that cannot be read."""
    return "run: learnloop sync --resolve" if reason == "conflict-markers" else "mend the file first"


class Plan(NamedTuple):
    """One change: exactly one commit of these paths."""

    change: str
    slugs: tuple[str, ...]
    why: str
    edits: tuple[Edit, ...]
    also: tuple[str, ...] = ()  # paths that are committed as they stand on disk (hand edits, removals)
    trailers: tuple[tuple[str, str], ...] = ()
    subject: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*(edit.path for edit in self.edits), *self.also]))


def subject(plan: Plan) -> str:
    """The first line of the commit message."""
    named = ", ".join(plan.slugs[:3]) + (f" and {len(plan.slugs) - 3} more" if len(plan.slugs) > 3 else "")
    return plan.subject or f"learnloop: {plan.change} {named}".rstrip()


def message(plan: Plan) -> str:
    """The commit message: subject, why, trailers."""
    trailers = [*(("Lesson", slug) for slug in plan.slugs), ("Learnloop-Change", plan.change), *plan.trailers]
    body = [plan.why, ""] if plan.why else []
    return written_out("\n".join([subject(plan), "", *body, *(f"{key}: {value}" for key, value in trailers)]) + "\n")


def without(plan: Plan, slugs: Collection[str]) -> Plan:
    """The plan as its commit may tell it: these (private) lessons are not even named in git."""
    named = naming(slugs)
    if not slugs or not named.search("\n".join([*plan.slugs, plan.why, plan.subject])):
        return plan
    why = "\n".join(line for line in plan.why.split("\n") if not named.search(line))
    subject = "" if named.search(plan.subject) else plan.subject
    left = tuple(slug for slug in plan.slugs if slug not in slugs)
    subject = subject if left or subject else f"learnloop: {plan.change} what stays out of git"
    return plan._replace(slugs=left, why=why, subject=subject)


def naming(slugs: Collection[str]) -> re.Pattern[str]:
    """What finds any of these slugs in a text, as words of their own."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, slugs))})(?![\w-])")


def diff(edits: Sequence[Edit]) -> str:
    """The edits as a unified diff."""
    out: list[str] = []
    for edit in edits:
        old, new = (split_lines(text or "") for text in (edit.before, edit.after))
        names = (
            "/dev/null" if edit.before is None else f"a/{edit.path}",
            "/dev/null" if edit.after is None else f"b/{edit.path}",
        )
        for line in difflib.unified_diff(old, new, *names):
            out.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(out)


Mark = tuple[dict[str, Lesson], dict[str, Edit], list[str]]


class Draft:
    """A memory as it will be: lessons change here, and each cut makes a plan with the document in step."""

    def __init__(self, memory: Memory, *, today: str, run: str, command: str) -> None:
        self.memory = memory
        self.lessons = dict(memory.lessons)
        self.today, self.run, self.command = today, run, command
        self.plans: list[Plan] = []
        self.skip: set[str] = set()  # lessons in conflict: their entries stay as they are
        self.left_out: tuple[str, ...] = ()
        self.gathering = False  # while set, nothing is cut: the next cut holds it all
        self._known = dict(memory.lessons)  # as the document last knew them
        self._document = memory.document
        self._edits: dict[str, Edit] = {}
        self._also: list[str] = []

    def lesson(self, slug: str) -> Lesson:
        return self.lessons[slug]

    def knew(self, before: Mapping[str, Lesson]) -> None:
        """Tell which lessons the document was last in step with (absorbing compares with the base)."""
        self._known = dict(before)

    def set(self, slug: str, /, **fields: Field) -> None:
        """Change fields of a lesson's head."""
        old = self.lessons[slug]
        if old.is_note and old.state == "current":  # a head without a state would make it a candidate
            fields = {"state": old.state, **fields}
        try:
            text = lessonfile.with_fields(old.text, fields)
        except HeadError as error:
            hint = "mend the head by hand first (learnloop check says how)"
            raise UnableError(f"{old.path}:{error.line}: {error.message}", hint, code=error.code) from error
        self.put(slug, text)

    def mark(self) -> Mark:
        """The draft as it is, to go back to."""
        return dict(self.lessons), dict(self._edits), list(self._also)

    def back(self, mark: Mark) -> None:
        """Take back what was done since the mark, where nothing was cut on the way."""
        self.lessons, self._edits, self._also = mark

    def leave(self, slug: str) -> None:
        """Take back what was changed in a lesson that the memory had, since the last cut."""
        lesson = self.lessons[slug] = self.memory.lessons[slug]
        self._edits.pop(lesson.path, None)

    def set_part(self, slug: str, part: str, value: str) -> None:
        """Change the rule, why or how of a lesson."""
        self.put(slug, lessonfile.with_part(self.lessons[slug].text, part, value))

    def put(self, slug: str, text: str, path: str = "") -> None:
        """Give a lesson this text; a new slug makes a new file."""
        old = self.lessons.get(slug)
        path = path or (old.path if old else self.memory.place.path_of(slug))
        reading = lessonfile.read(path, text.encode("utf-8", "surrogateescape"))
        if isinstance(reading, Quarantined):
            hint = "choose other words; nothing was changed"
            raise UnableError(f"{path} would not be readable: {reading.message}", hint, code=reading.reason)
        lesson = reading.lesson
        self.lessons[slug] = lesson._replace(state=counting_state(lesson, self.memory.place.settings.adopted))
        self.edit(path, old.text if old else None, text)

    def remove(self, slug: str) -> None:
        """Take a lesson's file away."""
        old = self.lessons.pop(slug)
        self.edit(old.path, old.text, None)

    def repoint(self, old: str, new: str) -> None:
        """Let the lessons that name a renamed one name it by its new name."""
        for slug, row in list(self.lessons.items()):
            changed = {field: new for field in ("supersedes", "superseded_by") if getattr(row, field) == old}
            if changed:
                self.set(slug, **changed)

    def renamed(self, old: str, new: str) -> None:
        """Tell that the document knows a lesson by its old name."""
        if old in self._known:
            self._known[new] = self._known.pop(old)

    def edit(self, path: str, before: str | None, after: str | None) -> None:
        """Edit any file; several edits of one file become one."""
        first = self._edits[path].before if path in self._edits else before
        self._edits[path] = Edit(path, first, after)

    def set_document(self, before: str | None, after: str | None) -> None:
        """Give the document a text as it is (undo); the next cut need not bring it in step."""
        self.edit(self.memory.place.document, before, after)
        self._document = after or ""

    @property
    def document(self) -> str:
        """The document's text as of the last cut."""
        return self._document

    def also(self, path: str) -> None:
        """Commit a path as it stands on disk."""
        self._also.append(path)

    def cut(
        self,
        change: str,
        slugs: Iterable[str],
        why: str,
        *,
        subject: str = "",
        document: bool = True,
        trailers: Iterable[tuple[str, str]] = (),
    ) -> Plan | None:
        """The plan of everything since the last cut, the document in step; None where nothing changed."""
        place = self.memory.place
        if self.gathering:
            return None
        if document:
            stepped = in_step(self.memory, self._document, self.lessons, self._known, self.skip)
            self.left_out = stepped.left_out
            if stepped.text != self._document and (self._document or self.lessons):
                if self.memory.blocked:
                    hurt = self.memory.blocked
                    hint = f"{way_out(hurt.reason)}; nothing was changed"
                    raise UnableError(f"{hurt.path}:{hurt.line}: {hurt.message}", hint, code=hurt.reason)
                before = self._document if self._document or self.memory.has_document else None
                self.edit(place.document, before, stepped.text)
                self._document = stepped.text
        edits = tuple(edit for _, edit in sorted(self._edits.items()) if edit.before != edit.after)
        also = tuple(path for path in dict.fromkeys(self._also) if path not in {edit.path for edit in edits})
        self._edits, self._also, self._known = {}, [], dict(self.lessons)
        if not edits and not also:
            return None
        run = [("Run", self.run)] if self.run else []
        plan = Plan(
            change,
            tuple(slugs),
            why,
            edits,
            also,
            (*run, ("Learnloop-Command", self.command), *trailers),
            subject,
        )
        self.plans.append(plan)
        return plan
