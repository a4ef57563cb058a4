"""A run from its start to its end: what was noted in it becomes durable only when it is verified (R003-20)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import apply, guard, history, journal, life, place, poison, runlog, runs, skill, store, trust
from learnloop_md.apply import Done
from learnloop_md.commits import Asked
from learnloop_md.errors import LearnloopError, RefusedError, UnableError, UsageError
from learnloop_md.git import GitError
from learnloop_md.lesson import RULE_LIMIT, fold
from learnloop_md.life import Outcome, Saying
from learnloop_md.place import Place
from learnloop_md.plan import Draft
from learnloop_md.runlog import Run
from learnloop_md.runs import OpenRun
from learnloop_md.sessions import Row

QUESTION = "Did this output need modification before use?"  # R000-61
AT_ONCE = ("correction", "preference")  # a person's own word does not wait


class Kept(NamedTuple):
    """One held note that became a lesson."""

    place: Place
    done: Done
    outcome: Outcome


class Ended(NamedTuple):
    """How a run ended, and what became of the notes that were held in it."""

    run: Run
    kept: tuple[Kept, ...] = ()
    dropped: tuple[str, ...] = ()  # rules
    refused: tuple[tuple[str, LearnloopError], ...] = ()
    done: tuple[Done, ...] = ()


def now_of(today: str) -> str:
    """The time, on the day that the command acts on."""
    return f"{today}T{datetime.now(UTC):%H:%M:%S}Z"


def new_id(today: str) -> str:
    """A name for a run that no other branch, machine or second has."""
    return f"run_{today.replace('-', '')}_{datetime.now(UTC):%H%M%S}_{os.urandom(2).hex()}"


def start(session: str, asked: Asked, *, home: str = "", skill_name: str = "", task: str = "") -> OpenRun:
    """Open a run: from now on notes are held. Raises UsageError where one is open in this session."""
    _check_words({"--skill": skill_name, "--task": task})
    if skill_name and not re.fullmatch(r"\w[\w.-]*", skill_name):
        raise UsageError(f"--skill {skill_name!r} is no skill's name", "use letters, digits, '-', '_' and '.'")
    opened = OpenRun(session, new_id(asked.today), now_of(asked.today), home, skill_name, task)
    with runs.locked(session):
        if there := runs.current(session):
            held = f" ({len(there.waiting)} held)" if there.waiting else ""
            message = f"a run is open in this session since {there.since}{held}"
            hint = "end it first: learnloop run finish ok|partial|failed, or run abandon"
            raise UsageError(message, hint, code="open")
        if not asked.dry_run:
            runs.begin(opened)
    return opened


def waits(saying: Saying) -> bool:
    """Whether a note waits for the end of its run: all but a person's own correction or preference."""
    return not saying.manual and saying.kind not in AT_ONCE and saying.type != "user"


def hold(session: str, where: Place, saying: Saying, asked: Asked, **how: Any) -> OpenRun | None:
    """Keep a note back while a run is open, and give that run; None where none is open."""
    with runs.locked(session):
        opened = runs.current(session)
        if opened is None:
            return None
        note = {"saying": saying._asdict(), "memory": str(where.folder), "today": asked.today, "by": asked.run, **how}
        runs.hold(opened, **note)
    return opened


def _opened(session: str, home: str) -> OpenRun:
    opened = runs.current(session)
    if opened is None:
        others = ", ".join(run.session for run in runs.open_runs(home)[:5])
        hint = "begin one: learnloop run start; run ok|partial|failed records one that was not begun"
        hint = f"open in other sessions: {others}; say its --run, or {hint}" if others else hint
        raise UsageError("no run is open in this session", hint, code="no-run")
    return opened


def abandon(session: str, asked: Asked, home: str) -> tuple[OpenRun, tuple[str, ...]]:
    """Leave a run: nothing of it is kept but a line that it was (R003-21). Raises UsageError where none is open."""
    with runs.locked(session):
        opened = _opened(session, home)
        held = _waiting(opened, asked)
        if not asked.dry_run:
            runs.end(opened, "abandoned", asked.today, dropped=len(held))
    return opened, tuple(_rule(row) for row in held)


def _waiting(opened: OpenRun, asked: Asked) -> tuple[Row, ...]:
    """The held notes that are no lesson, once what an end that was killed had begun is settled.

    Raises UnableError where that cannot be done: the run stays open.
    """
    for row in opened.waiting:
        if not asked.dry_run and (where := _began(row)) and journal.load(where):
            apply.drain(where, asked)
    return tuple(row for row in opened.waiting if not _is_under_way(row))


def _is_under_way(row: Row) -> bool:
    """Whether the next command makes a lesson of a held note."""
    if not (where := _began(row)):
        return False
    command, left = str(row["becomes"].get("command")), journal.load(where)
    return _is_queued(where, command) or bool(left and left.command == command)


def _began(row: Row) -> Place | None:
    """The memory in which an end that was killed began to make a lesson of a held note, None where none did."""
    with suppress(UnableError):  # it is gone, and what was begun with it
        return _memory(str(row.get("memory"))) if row.get("becomes") else None
    return None


def _memory(folder: str) -> Place:
    return place.given(Path(folder), folder, "the memory of a held note")


def _rule(row: Row) -> str:
    saying = row.get("saying")
    return str(saying.get("rule", "")) if isinstance(saying, dict) else ""


def finish(
    session: str, where: Place, asked: Asked, status: str, *, home: str = "", note: str = "", verified: bool = False
) -> Ended:
    """End the open run of a session, or record a run that was not opened; with home (of the repository) it must be.

    Raises UsageError where none is open, RefusedError where notes are held and a successful run is not said to be
    verified: nothing is lost then.
    """
    _check(status, note, verified=verified)
    with runs.locked(session):
        opened = _opened(session, home) if home else runs.current(session)
        held = _waiting(opened, asked) if opened else ()
        if held and status == "ok" and not verified:
            count = "1 note is held" if len(held) == 1 else f"{len(held)} notes are held"
            hint = "say --verified when the result was checked; else: run finish failed, or run abandon"
            raise RefusedError(f"{count}, and the run is not verified", hint, code="unverified")
        asked = asked._replace(command=_command(opened))
        kept, refused = _flushed(opened, asked) if opened and verified else ((), ())
        dropped = () if verified else tuple(_rule(row) for row in held)
        if asked.dry_run:
            return Ended(_run(where, asked, status, opened, note, (), verified=verified), kept, dropped, refused)
        here = [row.outcome.slug for row in kept if row.place.folder == where.folder]
        slugs = [*(opened.kept if opened else ()), *here]
        run = _run(where, asked, status, opened, note, slugs, verified=verified)
        if opened and (there := runlog.find(where, run.id)):  # an end that was killed recorded it already
            run = run._replace(created_at=there.created_at, human_confirmed=there.human_confirmed)
        done = (*(row.done for row in kept), *record(where, asked, [run], f"run {status} {run.id}"))
        if opened:
            runs.end(opened, status, asked.today, dropped=len(dropped))
    return Ended(run, kept, dropped, refused, done)


def _command(opened: OpenRun | None = None) -> str:
    """The id of a command that makes several changes; an end goes on under that of the one that was killed."""
    begun = [row["becomes"] for row in (opened.held if opened else ()) if row.get("becomes")]
    return next((history.command_of(str(row.get("command", ""))) for row in begun), "") or os.urandom(4).hex()


def _check(status: str, note: str, *, verified: bool) -> None:
    if status not in runlog.STATUSES:
        raise UsageError(f"a run does not end {status!r}", f"say one of: {', '.join(runlog.STATUSES)}")
    if verified and status != "ok":
        raise UsageError(f"a run that ended {status} is not verified", "leave --verified away")
    _check_words({"--note": note})


def _check_words(words: dict[str, str]) -> None:
    """Raises RefusedError for a secret, for what is no sentence, for control and hidden characters."""
    guard.refuse_secrets(words)
    for option, said in words.items():
        trust.refuse(option, poison.find(said))
        if len(said) > RULE_LIMIT or not all(char in "\n\t" or char.isprintable() for char in said):
            message = f"{option} has control characters, or more than {RULE_LIMIT} characters"
            raise RefusedError(message, "say it in a sentence", code="too-long")


def _flushed(opened: OpenRun, asked: Asked) -> tuple[tuple[Kept, ...], tuple[tuple[str, LearnloopError], ...]]:
    """The held notes as lessons; one that is refused does not stop the others.

    Raises UnableError where one cannot be written: the run stays open and holds it, for what ended is not told again.
    """
    kept: list[Kept] = []
    refused: list[tuple[str, LearnloopError]] = []
    for number, row in enumerate(opened.held):
        try:
            kept.append(_noted(opened, number, asked))
        except UnableError as error:
            if not isinstance(error, GitError) and not Path(str(row.get("memory"))).is_dir():
                refused.append((_rule(row), error))  # its memory is gone, and will not come back by waiting
                continue
            raise UnableError(error.message, "the run stays open; mend it and finish again", code=error.code) from error
        except LearnloopError as error:
            refused.append((_rule(row), error))
    return tuple(kept), tuple(refused)


def _noted(opened: OpenRun, number: int, asked: Asked) -> Kept:
    row = opened.held[number]
    where = _memory(str(row.get("memory")))
    given = row.get("saying")
    known = {key: value for key, value in given.items() if key in Saying._fields} if isinstance(given, dict) else {}
    saying = Saying(**{**known, "tags": tuple(known.get("tags", ()))})
    same, old = (str(row.get(key) or "") for key in ("same", "supersedes"))
    outcomes: list[Outcome] = []
    # Numbered: by the whole id it is known of each note whether a change that waits, or was begun, is its own.
    command = f"{asked.command}.{number + 1}"
    today, run = str(row.get("today") or asked.today), str(row.get("by") or asked.run)
    then = asked._replace(today=today, run=run, command=command)

    def build(draft: Draft) -> None:
        if known_as := _before(draft, row, saying):
            outcomes.append(_kept_before(draft, known_as))
            return
        outcomes.append(life.note(draft, saying, same=same, new=bool(row.get("new")), supersedes=old))
        if outcomes[0].action == "added" and not asked.dry_run:  # told before the first byte is written
            slug = outcomes[0].slug
            path = where.path_of(slug)
            runs.becomes(opened, number, slug=slug, path=path, by=draft.run, command=draft.command)

    return Kept(where, apply.change(where, then, build), outcomes[0])


def _before(draft: Draft, row: Row, saying: Saying) -> str:
    """The lesson that an end of the run which was killed made of a held note, "" for none."""
    became = row.get("becomes") or {}
    slug, by = str(became.get("slug", "")), became.get("by")
    seen = [name for name, lesson in draft.lessons.items() if by in {event.run for event in lesson.seen}]
    if slug in seen:
        return slug
    if became and _is_queued(draft.memory.place, str(became.get("command"))):
        return slug
    renamed = [name for name in seen if fold(draft.lesson(name).rule) == fold(saying.rule)]
    return renamed[0] if became and len(renamed) == 1 else ""


def _is_queued(where: Place, command: str) -> bool:
    """Whether a command's change waits for a rebase, neither written nor committed."""
    ledger = store.load_ledger(where)
    queued = [item["message"] for item in (ledger.queue if ledger else ())]
    return any(command in history.trailer(text, "Learnloop-Command") for text in queued)


def _kept_before(draft: Draft, slug: str) -> Outcome:
    """The answer for a held note that is a lesson already."""
    if slug not in draft.lessons:
        return Outcome("unchanged", slug, "", (f"{slug} is noted already and waits for the rebase",))
    said = ("it was kept already, by an end of this run that was stopped",)
    return Outcome("added", slug, draft.lesson(slug).state, said, captures=True)


def _run(
    where: Place, asked: Asked, status: str, opened: OpenRun | None, note: str, slugs: Iterable[str], *, verified: bool
) -> Run:
    return Run(
        id=opened.id if opened else new_id(asked.today),
        status=status,
        created_at=now_of(asked.today),
        note=note,
        skill=(opened.skill if opened else "") or (where.folder.parent.name if where.kind == "skill" else ""),
        skill_version=skill.version(where),
        workspace=workspace(where),
        task=opened.task if opened else "",
        began_at=opened.since if opened else "",
        verified=verified,
        lessons=tuple(dict.fromkeys(slugs)),
    )


def workspace(where: Place) -> str:
    """A name for where the work was done, no path (R004-01)."""
    return where.repo.main_root.name if where.repo else where.folder.parent.name


def record(where: Place, asked: Asked, ended: Sequence[Run], subject: str, change: str = "run") -> tuple[Done, ...]:
    """Keep how runs ended: as a commit of its own, or in files that git does not look at."""
    if not runlog.is_kept_in_git(where):
        with store.locked(where):
            runlog.write_untracked(where, ended)
        return ()
    runlog.show_to_git(where)

    def build(draft: Draft) -> None:
        private = draft.memory.private  # not even the name of a private lesson gets into git
        for run in ended:
            told = run._replace(lessons=tuple(slug for slug in run.lessons if slug not in private))
            path = runlog.path_of(run.id)
            before = store.read_bytes(where.folder / path)
            draft.edit(path, None if before is None else before.decode("utf-8", "replace"), runlog.render(told))
        draft.cut(change, [], ended[0].note if len(ended) == 1 else "", subject=f"learnloop: {subject}")

    return (apply.change(where, asked, build),)


def feedback(where: Place, asked: Asked, *, needed_changes: bool) -> tuple[Run, tuple[Done, ...]]:
    """The answer to the question after a successful run: on the run and on the lessons that were kept in it (R000-62).

    Raises UnableError where there was no such run.
    """
    known = [run for run in runlog.load(where) if run.status == "ok"]
    if not known:
        hint = "record one first: learnloop run ok"
        raise UnableError("there is no successful run to answer for", hint, code="no-run")
    run = known[-1]._replace(human_confirmed=not needed_changes)
    if run == known[-1] or asked.dry_run:
        return run, ()

    def build(draft: Draft) -> None:
        slugs = [slug for slug in run.lessons if slug in draft.lessons]
        for slug in slugs:
            draft.set(slug, human_confirmed=run.human_confirmed)
        draft.cut("feedback", slugs, f"the output needed {'changes' if needed_changes else 'no changes'} before use")

    asked = asked._replace(command=_command())
    done = (apply.change(where, asked, build),) if run.lessons else ()
    return run, (*done, *record(where, asked, [run], f"feedback {run.status} {run.id}", "feedback"))
