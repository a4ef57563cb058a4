"""`import`: learnings of other tools, told by what they look like."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from learnloop_md import (
    account,
    apply,
    fromjsonl,
    fromlearnings,
    fromsteer,
    guard,
    importing,
    incoming,
    notebook,
    runlog,
    running,
    store,
)
from learnloop_md.answer import Answer, visible
from learnloop_md.apply import Done
from learnloop_md.calls import Call
from learnloop_md.errors import UsageError
from learnloop_md.importing import Report
from learnloop_md.incoming import Fault, Item
from learnloop_md.life import Outcome
from learnloop_md.place import Place
from learnloop_md.plan import Draft
from learnloop_md.runlog import Run

FORMATS = ("jsonl", "learnings", "steer", "promoted", "notebook")
_SIZE_LIMIT = 64 << 20  # bytes


class Source(NamedTuple):
    """Everything that was read from a source."""

    items: list[Item]
    faults: list[Fault]
    runs: list[Run]
    strict: bool = False


def bring_in(call: Call) -> Answer:
    """Import a file or folder; the answer tells what came in, what joined, what was known, what was refused."""
    path = (call.cwd / Path(call.text("source")).expanduser()).absolute()
    place = call.target
    if path.exists() and path.resolve().is_relative_to(place.folder):
        raise UsageError(f"{path.name} lies in this memory itself", "learnloop sync takes in what was edited by hand")
    format_ = _format(path, call.text("format"))
    name = guard.unsecret(path.name)
    source = _read(path, name, format_, call.today)
    reports: list[Report] = []

    def build(draft: Draft) -> None:
        strict = source.strict and not call.flag("partial")
        reports.append(importing.bring(draft, source.items, source.faults, name, strict=strict))

    done = apply.change(place, call.asked, build)
    known = {run.id for run in runlog.load(place)}
    runs = [run for run in source.runs if run.id not in known]
    if runs and not call.flag("dry_run"):
        done = _with_runs(call, place, done, runs)
    report = _unsecret(reports[0])
    is_empty = not (source.items or source.faults or source.runs)
    more = {
        "added": [{"where": where, "slug": slug} for where, slug in report.added],
        "joined": [{"where": where, "slug": slug} for where, slug in report.joined],
        "known": [{"where": where, "slug": slug} for where, slug in report.known],
        "refused": [row._asdict() for row in report.refused],
        "runs": len(runs),
    }
    said = tuple(_words(report, len(runs)))
    changed = bool(report.added or report.joined or runs)
    outcome = Outcome("imported" if changed else "unchanged", "", "", said, more, headline=_headline(name, report))
    answer = account.told(place, done, outcome, dry_run=call.flag("dry_run"))
    if not changed and not call.flag("dry_run"):
        answer = answer._replace(text="\n".join([_headline(name, report), *(f"  {visible(line)}" for line in said)]))
    notices = (f"nothing in {name} reads as --format {format_}",) if is_empty else ()
    return answer._replace(code=1 if report.refused else 0, notices=(*answer.notices, *notices))


def _unsecret(report: Report) -> Report:
    """What became of each item, without what looks like a secret: a source's own ids and values are anybody's."""
    shown = {
        key: tuple((guard.unsecret(where), slug) for where, slug in getattr(report, key))
        for key in ("added", "joined", "known")
    }
    refused = tuple(Fault(guard.unsecret(row.where), guard.unsecret(row.why)) for row in report.refused)
    return Report(**shown, refused=refused)


def _headline(name: str, report: Report) -> str:
    counts = [(len(getattr(report, name)), name) for name in ("added", "joined", "known", "refused")]
    return f"{name}: " + ", ".join(f"{count} {name}" for count, name in counts)


def _words(report: Report, runs: int) -> list[str]:
    lines = [f"added    {slug} from {where}" for where, slug in report.added]
    lines += [f"joined   {slug} with {where}" for where, slug in report.joined]
    lines += [f"refused  {row.where}: {row.why}" for row in report.refused]
    return lines + ([f"runs     {runs}"] if runs else [])


def _format(path: Path, named: str) -> str:
    """What a source is: as --format says, else as it looks."""
    if named:
        if named not in FORMATS:
            raise UsageError(f"--format {named!r} is not known", f"use one of: {', '.join(FORMATS)}")
        return named
    if path.is_dir() and any((path / name).is_file() for name in fromlearnings.FILES):
        return "learnings"
    if not path.is_file():
        raise UsageError(
            f"there is nothing to import at {path}", "name a file, or a .learnings folder", code="no-source"
        )
    if path.name in fromlearnings.FILES:
        return "learnings"
    if path.name == "learnings.md":
        return "promoted"
    by_ending = {".jsonl": "jsonl", ".ndjson": "jsonl", ".db": "steer"}
    if path.suffix in by_ending:
        return by_ending[path.suffix]
    text = _text(path) if path.suffix == ".md" else ""
    if "<!-- steer:lesson" in text:
        return "promoted"
    if notebook.entries(text):
        return "notebook"
    raise UsageError(
        f"{path.name} is no source that is known", f"say which: --format {'|'.join(FORMATS)}", code="no-source"
    )


def _text(path: Path) -> str:
    if path.stat().st_size > _SIZE_LIMIT:
        raise UsageError(f"{path.name} is larger than 64 MiB", "split it first")
    try:
        return (store.read_bytes(path) or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name} is not UTF-8 text", "save it as UTF-8 first", code="not-utf8") from error


def _read(path: Path, name: str, format_: str, today: str) -> Source:
    """Everything in a source, which is told of by a name that may be shown."""
    if format_ == "steer":
        return Source(*fromsteer.read(path, name, _folder(path), today))
    if format_ == "learnings":
        return _read_learnings(path, name)
    if not path.is_file():
        raise UsageError(f"{path} is no file", "name the file itself", code="no-source")
    if format_ == "jsonl":
        return Source(*fromjsonl.read(_text(path), name, today), [], strict=True)
    if format_ == "promoted":
        return Source(*fromsteer.promoted(_text(path), name, _folder(path), today), [])
    return Source(*importing.of_notebook(_text(path), name, today), [])


def _folder(path: Path) -> str:
    """The folder that a source lies in, by which its items are known again; one that holds a secret by its hash."""
    name = path.resolve().parent.name
    return incoming.key_of(name) if guard.in_name(name) else name


def _read_learnings(path: Path, name: str) -> Source:
    known = {file: path / file for file in fromlearnings.FILES if (path / file).is_file()}
    items: list[Item] = []
    faults: list[Fault] = []
    for shown, file in (known if path.is_dir() else {name: path}).items():
        found, bad = fromlearnings.read(_text(file), shown)
        items += found
        faults += bad
    return Source(items, faults, [])


def _with_runs(call: Call, place: Place, done: Done, runs: list[Run]) -> Done:
    """Keep how runs ended, without a note that holds a secret; what came in and they are one answer."""
    kept = [run._replace(note="" if guard.find_secrets(run.note) else run.note) for run in runs]
    for row in running.record(place, call.asked, kept, f"import {len(kept)} runs", "import"):
        commits, notices = done.commits + row.own, done.notices + row.notices
        queued = done.queued or row.queued
        done = done._replace(plans=done.plans + row.plans, commits=commits, queued=queued, notices=notices)
    return done
