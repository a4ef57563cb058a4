"""The commands around runs: capture, run, stats."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from learnloop_md import account, capture, memory, mergestate, record, runlog, running, skill, stats, verbs
from learnloop_md.answer import Answer, visible
from learnloop_md.apply import Done
from learnloop_md.calls import Call
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.running import Ended


def capture_run(call: Call) -> Answer:
    """Keep the record of a run, whatever its outcome; or print what to ask for it."""
    source, asks = call.text("from_"), bool(call.text("task") or call.text("log"))
    if call.flag("prompt") == bool(source) or (source and asks):
        hint = "learnloop capture --from FILE (- for standard input), or capture --prompt [--task T] [--log L]"
        raise UsageError("say either a record, or what to ask for one", hint)
    if call.flag("prompt"):
        text = record.prompt(call.named("task"), call.named("log"))
        return Answer(text, {"prompt": text})
    return keep_record(call, _json(_read(call)))


def keep_record(call: Call, value: object) -> Answer:
    """Keep a record that is here as a JSON value (a program's own)."""
    told = record.read(value)
    if not told.record.timestamp and not call.text("today"):
        told = told._replace(record=told.record._replace(timestamp=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"))
    place = call.target
    version = skill.version(place)
    answer = verbs.changed(call, lambda draft: capture.capture(draft, told, skill_version=version), place)
    verbs.remembered(call, answer)
    return answer


def _read(call: Call) -> str:
    name = call.text("from_")
    if name == "-":
        return verbs.standard_input()
    try:
        return (call.cwd / name).read_bytes().decode("utf-8-sig")
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
        return json.loads(text, object_pairs_hook=mergestate.unique)
    except (ValueError, RecursionError) as error:
        where = f"{error.msg} in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else error
        raise UsageError(f"no JSON: {where}", "learnloop capture --prompt tells the form") from error


def run(call: Call) -> Answer:
    """start, finish OUTCOME, abandon, ok, partial, failed, feedback yes|no."""
    what, word = call.text("what"), call.text("outcome")
    if what in runlog.STATUS_OF and not word:
        return _finish(call, runlog.STATUS_OF[what])
    if what == "finish":
        if not word:
            raise UsageError("the run's outcome is missing", "say: learnloop run finish ok|partial|failed")
        return _finish(call, runlog.STATUS_OF.get(word, word), home=call.home)
    if what == "feedback":
        return _feedback(call, word)
    if word:
        raise UsageError(f"run {what} takes no word {word!r}", _WORDS)
    if what == "start":
        return _start(call)
    if what == "abandon":
        return _abandon(call)
    raise UsageError(f"there is no run {what!r}", _WORDS)


_WORDS = "say: run start, run finish ok|partial|failed, run abandon, run ok|partial|failed, run feedback yes|no"


def _data(call: Call, action: str, done: Iterable[Done] = (), **more: Any) -> dict[str, Any]:
    """What programs are told (design §12); of a dry run that it was one, and no commits."""
    data = {
        "action": action,
        "slug": "",
        "state": "",
        "commits": [commit for row in done for commit in row.own],
        "queued": any(row.queued for row in done),
        "paths": list(dict.fromkeys(path for row in done for plan in row.plans for path in plan.paths)),
        **more,
    }
    return data | {"dry_run": True, "plans": []} if call.flag("dry_run") else data


def _notices(done: Iterable[Done]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notice for row in done for notice in row.notices))


def _start(call: Call) -> Answer:
    opened = running.start(
        call.session, call.asked, home=call.home, skill_name=call.text("skill"), task=call.text("task")
    )
    if call.flag("dry_run"):
        return Answer("a run would begin", _data(call, "started"))
    text = f"run {opened.id} began: notes are held until learnloop run finish ok --verified"
    return Answer(text, _data(call, "started", run=opened.id, session=opened.session))


def _abandon(call: Call) -> Answer:
    opened, rules = running.abandon(call.session, call.asked, call.home)
    if call.flag("dry_run"):
        return Answer("the run would be abandoned", _data(call, "abandoned"))
    lines = [f"abandoned {opened.id}: nothing of it is kept", *(f"  dropped: {visible(rule)}" for rule in rules)]
    return Answer("\n".join(lines), _data(call, "abandoned", run=opened.id, dropped=list(rules)))


def _finish(call: Call, status: str, home: str = "") -> Answer:
    note, verified = call.text("note"), call.flag("verified")
    ended = running.finish(call.session, call.target, call.asked, status, home=home, note=note, verified=verified)
    if call.flag("dry_run"):
        return _told_before(call, ended)
    data = _data(
        call,
        "recorded",
        ended.done,
        run=ended.run.id,
        status=status,
        verified=verified,
        kept=[{"action": row.outcome.action, "slug": row.outcome.slug} for row in ended.kept],
        dropped=list(ended.dropped),
        refused=[{"rule": rule, "code": error.code, "message": error.message} for rule, error in ended.refused],
        question=running.QUESTION if status == "ok" else "",
    )
    data["paths"] = list(dict.fromkeys([*data["paths"], runlog.path_of(ended.run.id)]))
    return Answer("\n".join(_words(ended)), data, _notices(ended.done), code=1 if ended.refused else 0)


def _told_before(call: Call, ended: Ended) -> Answer:
    """What a dry run shows: how it would be recorded, the commits of what would be kept, and what would be lost."""
    rows = [account.told(row.place, row.done, row.outcome, dry_run=True) for row in ended.kept]
    lines = [f"a run would be recorded as {ended.run.status}", *(row.text for row in rows)]
    lines += [f"would be dropped: {visible(rule)}" for rule in ended.dropped]
    lines += [f"would be refused: {visible(rule)}: {error.message}" for rule, error in ended.refused]
    data = _data(call, "recorded", status=ended.run.status)
    return Answer("\n".join(lines), data | {"plans": [plan for row in rows for plan in row.data["plans"]]})


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
    run_, done = running.feedback(call.target, call.asked, needed_changes=said)
    if call.flag("dry_run"):
        return Answer("the answer would be kept", _data(call, "answered"))
    data = _data(call, "answered", done, run=run_.id, human_confirmed=run_.human_confirmed, lessons=list(run_.lessons))
    told = "needed changes" if said else "was used as it was"
    text = f"{run_.id}: the output {told}; human_confirmed is {str(run_.human_confirmed).lower()}"
    return Answer(text, data, _notices(done))


def show_stats(call: Call) -> Answer:
    """What runs and lessons add up to."""
    place = call.place
    loaded = memory.load(place)
    found = stats.collect(
        loaded.lessons.values(), runlog.load(place), _relapses(loaded), place.settings.sightings_to_graduate
    )
    found["unreadable_runs"] = runlog.unreadable(place)
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
