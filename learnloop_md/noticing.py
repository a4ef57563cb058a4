"""What Claude's hooks notice in a session: corrections, successes, failures, captures; and the one question at Stop."""

from __future__ import annotations

import json
import os
from pathlib import Path

from learnloop_md import hindsight, moment, signals
from learnloop_md.errors import LearnloopError
from learnloop_md.moment import Moment
from learnloop_md.place import Place
from learnloop_md.sessions import Row, Session
from learnloop_md.signals import Run

_TAIL = 200_000  # bytes of a transcript that are searched for what was said last
_SHOWN = 5
_KEPT = 400  # characters of a text
_HEARD = "heard"  # the mark of a session whose prompts and tools the hooks get


def words(now: Moment) -> None:
    """Note a correction or a validated success among the signals."""
    prompt = now.text("prompt")
    if not now.session or not now.memory:
        return
    now.session.once(_HEARD)
    kind = signals.of_words(prompt, _last_said(_transcript(now)), now.memory.settings.correction_words)
    if kind:
        now.session.add("signal", kind=kind, text=_kept(prompt), of=now.text("prompt_id"))


def tool(now: Moment) -> None:
    """Note a failed tool, what was done after a failure, and Claude's own write into a memory."""
    session, name = now.session, now.text("tool_name")
    if not session or not now.memory:
        return
    session.once(_HEARD)
    failed = now.event == "PostToolUseFailure"
    if not failed and name in signals.WRITERS and (memory := _written_into(now)):
        session.add("captured", by=name)
        moment.start_sync(memory)
        return
    # What works counts only after a failure: as a way around it, or as its mending.
    if not now.flag("is_interrupt") if failed else any(row.get("failed") for row in session.rows("tool")):
        row = {"name": name, "key": _kept(signals.key_of(now.given)), "failed": failed, "of": now.text("tool_use_id")}
        session.add("tool", **row, text=_kept(now.text("error")))


def _written_into(now: Moment) -> Place | None:
    """The memory that holds the file Claude has just written: the session's, the project's, that of any skill."""
    path = now.cwd / now.given_text("file_path")
    skills = [folder for folder in path.parents[:2] if (folder.parent / "SKILL.md").is_file()]
    others = (moment.at(folder, now.cwd) for folder in skills)
    return next((memory for memory in (*now.memories, *others) if memory and memory.owns(path)), None)


def question(now: Moment) -> str:
    """What Stop asks once in a session: signals were seen and nothing was captured; "" where it yields (R004-83)."""
    session, memory = now.session, now.memory
    if not session or not memory or now.flag("stop_hook_active"):
        return ""
    if session.has("asked") or session.rows("captured"):
        return ""
    found = _noticed(session) if session.has(_HEARD) else _in_transcript(now, memory)
    if not found or not session.once("asked"):
        return ""
    if memory.kind == "skill" and session.target != str(memory.folder):
        session.add("target", memory=str(memory.folder))  # asked by the skill's own hook: no other one said so
    shown = [f"- {kind}: {text}" for kind, text in found[:_SHOWN]]
    more = [f"- and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    count = "1 signal" if len(found) == 1 else f"{len(found)} signals"
    kinds = [kind for kind in hindsight.TRIGGERS if any(row[0] == kind for row in found)]
    return "\n".join(
        [
            f"learnloop noticed {count} in this session, and nothing was captured:",
            *shown,
            *more,
            "For each that holds a lesson worth keeping beyond this task, run:",
            hindsight.command(kinds[0]),
            "If nothing is worth keeping, say so in one line and stop; this is asked once.",
        ]
    )


Told = tuple[str, str]  # a signal's kind, and its text as it is told


def _noticed(session: Session) -> list[Told]:
    """The signals of a session, each once though several of our hooks may have noticed it."""
    rows = {(row["what"], row.get("of") or number): row for number, row in enumerate(session.rows("signal", "tool"))}
    said = [(_text(row, "kind"), _text(row, "text")) for row in rows.values() if row["what"] == "signal"]
    tools = [row for row in rows.values() if row["what"] == "tool"]
    runs = [Run(_text(r, "name"), _text(r, "key"), r.get("failed") is True, _text(r, "text")) for r in tools]
    found = [*said, *((signal.kind, signal.text) for signal in signals.of_tools(runs))]
    return list(dict.fromkeys((kind, hindsight.told(text)) for kind, text in found if kind in hindsight.TRIGGERS))


def _text(row: Row, key: str) -> str:
    return str(row.get(key) or "")


def _in_transcript(now: Moment, memory: Place) -> list[Told]:
    """The signals of a session whose other events no hook of ours gets (a skill's own Stop hook)."""
    path = _transcript(now)
    if not path:
        return []
    try:
        found, captured = hindsight.scan(path, memory.owns, memory.settings.correction_words)
    except LearnloopError:
        return []
    return [] if captured else [(row.kind, row.text) for row in found]


def _kept(text: str) -> str:
    """A text as it may stand in the session's file: not long, and without a secret."""
    return hindsight.WITHHELD if hindsight.told(text) == hindsight.WITHHELD else text[:_KEPT]


def _transcript(now: Moment) -> Path | None:
    """The session's transcript, None unless it is a file: a pipe or a device would hold the person up for ever."""
    path = Path(now.text("transcript_path"))
    try:
        return path if path.is_file() else None
    except OSError:
        return None


def _last_said(transcript: Path | None) -> str:
    """The assistant's last text in a transcript, "" where none is found."""
    if not transcript:
        return ""
    try:
        with transcript.open("rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
            lines = file.read(_TAIL).splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        if b'"assistant"' not in line:
            continue
        try:
            content = json.loads(line)["message"]["content"]
            texts = [str(part["text"]) for part in content if part.get("type") == "text"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        if texts:
            return texts[-1]
    return ""
