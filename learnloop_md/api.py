"""The memory for Python programs: each call is the command of the same name, with values instead of text (design §11).

`Memory` here is what one does something with; the tool's own `memory.Memory` is a snapshot that nothing changes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import door, repos, runs
from learnloop_md import memory as snapshots
from learnloop_md import place as places
from learnloop_md.answer import Answer
from learnloop_md.calls import Call
from learnloop_md.errors import LearnloopError, RefusedError, UnableError, UsageError
from learnloop_md.lesson import Lesson

__all__ = [
    "Change",
    "Found",
    "Learnings",
    "LearnloopError",
    "Lesson",
    "Memory",
    "Recalled",
    "RefusedError",
    "UnableError",
    "UsageError",
    "add_learning",
    "fetch_learnings",
    "memory_recall",
    "memory_remember",
    "save_learning",
]

Folder = str | os.PathLike[str]
_NUMBERS, _FLAGS = ("limit", "budget"), ("new", "manual", "verified")


class Change(NamedTuple):
    """What became of a change (the keys of docs/commands.md, JSON)."""

    action: str  # added, seen, graduated, confirmed, disputed, pinned, forgotten, codified, held, … or unchanged
    slug: str  # the lesson's name; "" for a note that is held
    state: str  # candidate, current, archived; held
    commits: tuple[str, ...]  # ids; empty where git was not to be had now
    queued: bool  # whether the commit waits for the next command
    paths: tuple[str, ...]  # files that changed, from the memory's folder
    notices: tuple[str, ...]  # what a person should know besides
    more: Mapping[str, Any]  # the whole answer


class Found(NamedTuple):
    """A lesson that was recalled."""

    slug: str
    type: str
    state: str
    score: float  # relevance × effective confidence: only good for comparing within one answer
    why: str  # which words met in which fields
    text: str  # the rule as it stands in the file; not made harmless
    verify_first: tuple[str, ...]  # what it speaks of that changed or went since it was verified


class Recalled(NamedTuple):
    """What was recalled, best first, and the text to put into a model's context."""

    lessons: tuple[Found, ...]
    text: str  # fenced, labelled as guidance and made harmless; "" where nothing fits
    tokens: int  # of the text, estimated: characters/4, 1 for each of CJK


class Memory:
    """A memory that is there: look into it and change it.

    where: its folder, the folder of a skill that has one, or None for the one that commands started here would take.
    run: which run the calls belong to (one run's sightings count once); else Claude's session, else author and day.
    today: the day to act on, YYYY-MM-DD; else today in UTC.

    Raises UnableError where there is no memory; the way out stands in its `hint`.

    >>> memory = Memory()
    >>> memory.kind
    'project'
    >>> memory.note("Count rows before a backfill.", why="One ran twice.").action
    'added'
    >>> memory.lesson("count-rows").state
    'candidate'
    """

    def __init__(self, where: Folder | None = None, *, run: str = "", today: str = "") -> None:
        self._cwd = Path.cwd()
        self._always = {"memory": "" if where is None else _path(where), "run": run, "today": today}
        found = self._call().target
        _ = self._call().asked  # a wrong run or day is told now
        self._always["memory"] = str(found.folder)
        self.folder = found.folder
        self.kind = found.kind  # "project" or "skill"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"

    # --- looking ------------------------------------------------------------------------------------------------------

    @property
    def lessons(self) -> dict[str, Lesson]:
        """Every lesson by its slug, archived ones too, read anew each time; quarantined files are left out."""
        return dict(snapshots.load(self._call().place).lessons)

    def lesson(self, name: str) -> Lesson:
        """One lesson, by its slug or any unique beginning of it (R004-98). Raises UsageError for no or several."""
        loaded = snapshots.load(self._call().place)
        return loaded.lessons[snapshots.find_slug(loaded, _text(name, "the name"))]

    def digest(self, budget: int = 2000) -> str:
        """The memory's digest for a person or a prompt, at most budget characters long (R004-70, R004-71)."""
        return self._answer("show", budget=budget).text

    def recall(
        self,
        task: str,
        limit: int = 5,
        *,
        budget: int = 500,
        task_type: str = "",
        type: str = "",
        tags: Iterable[str] = (),
        stack: Iterable[str] = (),
        format: str = "block",
    ) -> Recalled:
        """The lessons that fit a task, at most limit of them, in at most budget tokens (design §8, R003-30).

        An empty memory gives an empty answer (R003-53). format: block, digest or text.

        >>> found = Memory().recall("a backfill of a new column", limit=1)
        >>> [row.slug for row in found.lessons]
        ['count-rows-before-a-backfill']
        >>> found.text.splitlines()[0]
        '<learnloop-memory>'
        """
        words = {"task_type": task_type, "type": type, "tag": _texts(tags), "stack": _texts(stack), "format": format}
        data = self._answer("recall", task=task, limit=limit, budget=budget, **words).data
        found = ({key: row[key] for key in Found._fields} for row in data["lessons"])
        lessons = tuple(Found(**{**row, "verify_first": tuple(row["verify_first"])}) for row in found)
        return Recalled(lessons, data["text"], data["tokens"])

    def status(self) -> Mapping[str, Any]:
        """Which memory this is and how it stands: the keys of `learnloop status --json`."""
        return self._answer("status").data

    # --- changing -----------------------------------------------------------------------------------------------------

    def note(  # noqa: PLR0913 - the options of the command
        self,
        rule: str,
        *,
        why: str = "",
        how: str = "",
        title: str = "",
        name: str = "",
        type: str = "",
        kind: str = "",
        trigger: str = "",
        context: str = "",
        evidence: str = "",
        tags: Iterable[str] = (),
        same: str = "",
        new: bool = False,
        supersedes: str = "",
        manual: bool = False,
    ) -> Change:
        """Capture a lesson, or count it when it is known (R002-20, R004-30); rule: at most 500 characters.

        manual: a person says it; confidence 1.0, and it is not held while a run is open (R000-63).
        Raises UsageError for words that are not known, RefusedError for a secret or a text that is too long; nothing
        is written then.
        """
        words = {
            "why": why, "how": how, "title": title, "name": name, "type": type, "kind": kind, "trigger": trigger,
            "context": context, "evidence": evidence, "tag": _texts(tags), "same": same, "new": new,
            "supersedes": supersedes, "manual": manual,
        }  # fmt: skip
        return self._change("note", rule=_no_dash(rule), **words)

    def confirm(self, name: str, evidence: str = "") -> Change:
        """It helped. An archived lesson that was disputed too often may come back (R004-31, R004-32).

        >>> Memory(run="r9").confirm("count-rows", evidence="the backfill of 3 May").action
        'confirmed'
        """
        return self._change("confirm", slug=name, evidence=evidence)

    def dispute(self, name: str, evidence: str = "") -> Change:
        """It misled. Disputed more often than seen and confirmed it is archived, unless pinned (R004-32)."""
        return self._change("dispute", slug=name, evidence=evidence)

    def pin(self, name: str, *, on: bool = True) -> Change:
        """Show it first, and let no rule archive it; on=False takes the pin away (R004-34)."""
        return self._change("pin" if on else "unpin", slug=name)

    def forget(self, name: str) -> Change:
        """Archive it as forgotten (R004-34); `restore` brings it back."""
        return self._change("forget", slug=name)

    def restore(self, name: str) -> Change:
        """Bring an archived or removed lesson back in the state it had."""
        return self._change("restore", slug=name)

    def promote(self, name: str, into: Folder | None = None) -> Change:
        """Write it into learnings.md and archive it, in one commit (R004-40).

        into: a folder that gets the learnings.md, or another markdown file; else the skill's own folder, or the
        repository's root.
        """
        path = "" if into is None else _path(into)
        path = str(self._cwd / path / "learnings.md") if path and _is_folder(self._cwd, path) else path
        return self._change("promote", slug=name, into=path)

    # --- runs ---------------------------------------------------------------------------------------------------------

    def run(
        self, what: str, outcome: str = "", *, note: str = "", verified: bool = False, skill: str = "", task: str = ""
    ) -> Mapping[str, Any]:
        """What `learnloop run` does: "ok", "failed" alone; "start", "finish" with an outcome, "abandon", "feedback".

        While a run is open, notes are held (their action is "held"); `run("finish", "ok", verified=True)` keeps them,
        any other end drops them (R003-20, R004-90). Raises RefusedError where notes are held and it is not verified.
        """
        words = {"what": what, "outcome": outcome, "note": note, "verified": verified, "skill": skill, "task": task}
        return self._answer("run", **words).data

    def remember(
        self,
        text: str,
        tags: Iterable[str] = (),
        *,
        why: str = "",
        how: str = "",
        type: str = "",
        kind: str = "",
        evidence: str = "",
        of_run: str = "",
    ) -> Change:
        """Keep what a run taught, strictly: held in an open run, kept of one that ended verified (R003-20, R003-52).

        of_run: the run's id, where several are open or it has ended. Raises RefusedError outside of such a run, and for
        conversation, tool output and counters (R003-22).
        """
        words = {"why": why, "how": how, "type": type, "kind": kind, "evidence": evidence, "of_run": of_run}
        return self._change("remember", text=_no_dash(text), tag=_texts(tags), **words)

    def capture(self, record: Mapping[str, Any]) -> Change:
        """Keep the record of a run, whatever its outcome (R000-20); its fields: docs/runs.md.

        Raises RefusedError that names every wrong field; nothing is written then (R000-24).
        """
        from learnloop_md import runverbs  # lazy: as each command is

        return _changed(runverbs.keep_record(self._call(), record))

    def stats(self) -> Mapping[str, Any]:
        """What runs and lessons add up to: the keys of `learnloop stats --json`; rates are whole per cent (R004-91)."""
        return self._answer("stats").data

    def sync(self) -> Change:
        """Absorb what people and Claude changed by hand, and commit what was queued. Conflicts stand in `more`."""
        return self._change("sync")

    # --- how ----------------------------------------------------------------------------------------------------------

    def _call(self, **words: Any) -> Call:
        """A call of a command; what is empty counts as not given, but for a limit of 0, which is wrong."""
        all_words = (self._always | words).items()
        given = {key: value for key, value in all_words if not (value is False or value is None or value in ("", []))}
        for key, value in given.items():
            _check(key, value)
        return Call(given, self._cwd)

    def _answer(self, command: str, **words: Any) -> Answer:
        call = self._call(**words)
        return door.answered(command, call.words, call.cwd)

    def _change(self, command: str, **words: Any) -> Change:
        return _changed(self._answer(command, **words))


class Learnings(Memory):
    """A memory by the name of a skill, or by a folder, for a `with` block (R004-97).

    name_or_dir: a skill as Claude looks for it (.claude/skills/NAME here or at the repository's root, then
    ~/.claude/skills/NAME), a folder, or None as for `Memory`.

    >>> with Learnings(".claude/memory", run="r3") as learnings:
    ...     learnings.note("Name the table in every error.", kind="preference").slug
    'name-the-table-in-every-error'
    """

    def __init__(self, name_or_dir: Folder | None = None, *, run: str = "", today: str = "") -> None:
        super().__init__(_by_name(name_or_dir), run=run, today=today)
        self._began = False

    def __enter__(self) -> Learnings:
        return self

    def __exit__(self, *_: object) -> None:
        """Abandon a run that the block began and did not end: nothing half finished is kept (R003-21)."""
        if self._began and runs.current(self._call().session):
            self.run("abandon")

    def run(self, what: str, outcome: str = "", **how: Any) -> Mapping[str, Any]:
        """As `Memory.run`; a run that is begun in a `with` block ends with it."""
        told = super().run(what, outcome, **how)
        self._began = told["action"] == "started" or (self._began and told["action"] == "answered")
        return told


def save_learning(learning: Mapping[str, Any], memory: Memory | None = None) -> Change:
    """Keep the record of a run, whatever its outcome (R000-25): `Memory.capture`; memory: else the one found here."""
    return _found(memory).capture(learning)


def add_learning(learning: Mapping[str, Any], memory: Memory | None = None) -> Change:
    """Keep a record that a person wrote: the same fields, confidence 1.0, confirmed by a person (R000-63)."""
    told = {**learning, "confidence": 1.0, "human_confirmed": True} if isinstance(learning, Mapping) else learning
    return save_learning(told, memory)


def fetch_learnings(task_type: str = "", task_description: str = "", memory: Memory | None = None) -> Recalled:
    """The five lessons that fit a task, those of another task type left out (R000-25, R000-30): `Memory.recall`."""
    return _found(memory).recall(task_description, task_type=task_type)


def memory_remember(text: str, tags: Iterable[str] = (), memory: Memory | None = None) -> Change:
    """Keep what a verified run taught (R003-52): `Memory.remember`."""
    return _found(memory).remember(text, tags)


def memory_recall(query: str, limit: int = 5, memory: Memory | None = None) -> Recalled:
    """The lessons that fit, at most limit of them (R003-52): `Memory.recall`."""
    return _found(memory).recall(query, limit)


def _found(memory: Memory | None) -> Memory:
    if memory is not None and not isinstance(memory, Memory):
        raise UsageError(f"{memory!r} is no Memory", "give one: Memory(folder)")
    return memory or Memory()


def _by_name(name_or_dir: Folder | None) -> Folder | None:
    """A skill's folder where a name is given, else what was given. Raises UnableError for a name that is none."""
    if name_or_dir is None:
        return None
    cwd, name = Path.cwd(), _path(name_or_dir)
    if _is_folder(cwd, name):
        return name
    repo = repos.near(cwd)
    roots = [cwd, *([repo.root, repo.main_root] if repo else [])]
    if folder := places.skill_named(name, roots):
        return folder
    message = f"{name!r} is neither a folder nor a skill that Claude would find here"
    raise UnableError(message, "name a folder, or a skill in .claude/skills", code="no-memory")


def _is_folder(cwd: Path, name: Folder) -> bool:
    return (cwd / Path(name).expanduser()).is_dir()


def _texts(values: Iterable[str]) -> list[str]:
    """Several texts; one alone is no list of its letters."""
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Iterable):
        raise UsageError(f"{values!r} is no list of texts", "give texts, one by one")
    return list(values)


def _text(value: str, what: str) -> str:
    """A value as it is. Raises UsageError for what is no text."""
    if not isinstance(value, str):
        raise UsageError(f"{what} is {value!r}, not a text", "give a text")
    return value


def _path(folder: Folder) -> str:
    """A folder's path. Raises UsageError for what names none."""
    path = os.fspath(folder) if isinstance(folder, (str, os.PathLike)) else ""
    if not isinstance(path, str) or not path:
        raise UsageError(f"{folder!r} names no folder", "give a path, or a skill's name")
    return path


def _check(key: str, value: object) -> None:
    """Raises UsageError for a value that the command line could not have given."""
    if key in _NUMBERS:
        if isinstance(value, bool) or not isinstance(value, int):
            raise UsageError(f"{key} is {value!r}, not a whole number", "give a number")
    elif key not in _FLAGS:
        for text in value if isinstance(value, list) else [value]:
            _text(text, key)  # type: ignore[arg-type]


def _no_dash(rule: str) -> str:
    """To the command "-" means standard input, which belongs to the program that calls."""
    if _text(rule, "the rule").strip() == "-":
        raise UsageError("there is no rule to note", "give the rule's text", code="empty")
    return rule


def _changed(answer: Answer) -> Change:
    """What a command changed. Raises RefusedError for a refusal that it answers in words."""
    data = answer.data
    if error := data.get("error"):
        raise RefusedError(error["message"], error["hint"], code=error["code"])
    action, slug, state = (str(data.get(key, "")) for key in ("action", "slug", "state"))
    commits, paths = tuple(data.get("commits", ())), tuple(data.get("paths", ()))
    return Change(action, slug, state, commits, bool(data.get("queued")), paths, answer.notices, data)
