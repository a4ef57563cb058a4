"""The commands around runs: capture, run, stats."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Any

from learnloop_md import account, apply, capture, memory, record, runlog, running, runs, skill, stats
from learnloop_md.answer import Answer, visible
from learnloop_md.calls import Call
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.life import Outcome
from learnloop_md.plan import Draft
from learnloop_md.running import Ended

_PLAIN: dict[str, Any] = {"slug": "", "state": "", "commits": [], "queued": False, "paths": []}


def capture_run(call: Call) -> Answer:
    """Keep the record of a run, whatever its outcome; or print what to ask for it."""
    if call.flag("prompt"):
        text = record.prompt(call.named("task"), call.named("log"))
        return Answer(text, {"prompt": text})
    if not call.text("from_"):
        raise UsageError("there is no record", "give one: learnloop capture --from FILE, or - for standard input")
    return keep_record(call, _json(_read(call)))


def keep_record(call: Call, value: object) -> Answer:
    """Keep a record that is here as a JSON value (a program's own)."""
    told = record.read(value)
    if not told.record.timestamp and not call.text("today"):
        told = told._replace(record=told.record._replace(timestamp=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"))
    place = call.target
    version, outcomes = skill.version(place), list[Outcome]()

    def build(draft: Draft) -> None:
        outcomes.append(capture.capture(draft, told, skill_version=version))

    done = apply.change(place, call.asked, build)
    outcome = outcomes[0]
    if not call.flag("dry_run"):
        call.captured(outcome.slug)
        if opened := runs.current(call.session):
            runs.keep(opened, outcome.slug)
    return account.told(place, done, outcome, dry_run=call.flag("dry_run"))


def _read(call: Call) -> str:
    name = call.text("from_")
    try:
        data = sys.stdin.buffer.read() if name == "-" else (call.cwd / name).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} holds no UTF-8 text", "save it as UTF-8") from error
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}", "name a file, or - for standard input") from error


def _json(text: str) -> Any:
    """The JSON value in a reply; a fence around it does not matter."""
    lines = text.strip().splitlines()
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        text = "\n".join(lines[1:-1])
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"no JSON: {error.msg} in line {error.lineno}", "learnloop capture --prompt tells the form"
        ) from (error)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"no JSON: {error}", "learnloop capture --prompt tells the form") from error


def run(call: Call) -> Answer:
    """start, finish OUTCOME, abandon, ok, partial, failed, feedback yes|no."""
    what, word = call.text("what"), call.text("outcome")
    if what in runlog.STATUS_OF and not word:
        return _finish(call, runlog.STATUS_OF[what])
    if what == "finish":
        if not word:
            raise UsageError("the run's outcome is missing", "say: learnloop run finish ok|partial|failed")
        return _finish(call, runlog.STATUS_OF.get(word, word))
    if what == "feedback":
        return _feedback(call, word)
    if word:
        raise UsageError(f"run {what} takes no word {word!r}", _WORDS)
    if what == "start":
        return _start(call)
    if what == "abandon":
        return _abandon(call)
    raise UsageError(f"there is no run {what!r}", _WORDS)


_WORDS = "say: run start, run finish ok|partial|failed, run abandon, run ok|failed, run feedback yes|no"


def _start(call: Call) -> Answer:
    if call.flag("dry_run"):
        return Answer("a run would begin", {"action": "started", **_PLAIN, "dry_run": True, "plans": []})
    opened = running.start(
        call.session, call.today, home=call.home, skill_name=call.text("skill"), task=call.text("task")
    )
    text = f"run {opened.id} began: notes are held until learnloop run finish ok --verified"
    return Answer(text, {"action": "started", **_PLAIN, "run": opened.id, "session": opened.session})


def _abandon(call: Call) -> Answer:
    if call.flag("dry_run"):
        return Answer("the run would be abandoned", {"action": "abandoned", **_PLAIN, "dry_run": True, "plans": []})
    opened, rules = running.abandon(call.session, call.today)
    lines = [f"abandoned {opened.id}: nothing of it is kept", *(f"  dropped: {visible(rule)}" for rule in rules)]
    return Answer("\n".join(lines), {"action": "abandoned", **_PLAIN, "run": opened.id, "dropped": list(rules)})


def _finish(call: Call, status: str) -> Answer:
    note, verified = call.text("note"), call.flag("verified")
    if call.flag("dry_run"):
        data = {"action": "recorded", **_PLAIN, "status": status, "dry_run": True, "plans": []}
        return Answer(f"a run would be recorded as {status}", data)
    ended = running.finish(call.session, call.target, call.asked, status, note=note, verified=verified)
    data = {
        "action": "recorded",
        **_PLAIN,
        "commits": list(ended.commits),
        "paths": [runlog.path_of(ended.run.id)],
        "run": ended.run.id,
        "status": status,
        "verified": verified,
        "kept": [{"action": row.outcome.action, "slug": row.outcome.slug} for row in ended.kept],
        "dropped": list(ended.dropped),
        "refused": [{"rule": rule, "code": error.code, "message": error.message} for rule, error in ended.refused],
        "question": running.QUESTION if status == "ok" else "",
    }
    return Answer("\n".join(_words(ended)), data, ended.notices, code=1 if ended.refused else 0)


def _words(ended: Ended) -> list[str]:
    lines = [f"recorded {ended.run.id}: {ended.run.status}{', verified' if ended.run.verified else ''}"]
    for row in ended.kept:
        lines.append(account.told(row.place, row.done, row.outcome).text)
    lines += [account.not_saved(f"the run ended {ended.run.status}: {rule}") for rule in ended.dropped]
    lines += [account.not_saved(f"{error.message}: {rule}") for rule, error in ended.refused]
    if ended.run.status == "ok":
        lines += [running.QUESTION, "  → learnloop run feedback yes|no"]
    return lines


def _feedback(call: Call, word: str) -> Answer:
    said = {"yes": True, "no": False}.get(word.lower())
    if said is None:
        raise UsageError(f"{word!r} is no answer", f'"{running.QUESTION}" say: learnloop run feedback yes|no')
    if call.flag("dry_run"):
        return Answer("the answer would be kept", {"action": "answered", **_PLAIN, "dry_run": True, "plans": []})
    run_, done = running.feedback(call.target, call.asked, needed_changes=said)
    data = {
        "action": "answered",
        **_PLAIN,
        "commits": list(done.commits) if done else [],
        "run": run_.id,
        "human_confirmed": run_.human_confirmed,
        "lessons": list(run_.lessons),
    }
    told = "needed changes" if said else "was used as it was"
    return Answer(f"{run_.id}: the output {told}; human_confirmed is {str(run_.human_confirmed).lower()}", data)


def show_stats(call: Call) -> Answer:
    """What runs and lessons add up to."""
    place = call.place
    loaded = memory.load(place)
    found = stats.collect(
        loaded.lessons.values(), runlog.load(place), _relapses(loaded), place.settings.sightings_to_graduate
    )
    return Answer(stats.text(found), found, tuple(stats.warnings(found)))


def _relapses(loaded: memory.Memory) -> int:
    """How many codified lessons had to be learned again."""
    from learnloop_md import relapse, store  # lazy: stats alone counts them

    def read_other(path: str) -> str | None:
        try:
            data = store.read_bytes(loaded.place.folder / path)
        except UnableError:
            return None
        return None if data is None else data.decode("utf-8", "replace")

    return sum(1 for row in relapse.relapses(loaded, read_other) if row.kind == "seen-again")
