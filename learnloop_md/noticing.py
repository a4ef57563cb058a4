"""What Claude's hooks notice in a session: corrections, successes, failures, captures; and the one question at Stop."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from learnloop_md import moment, signals
from learnloop_md.errors import LearnloopError
from learnloop_md.moment import Moment
from learnloop_md.place import Place
from learnloop_md.sessions import Session
from learnloop_md.signals import Run, Signal

_TAIL = 200_000  # bytes of a transcript that are searched for what was said last
_SHOWN = 5
_HEARD = "heard"  # the mark of a session whose prompts and tools the hooks get


def words(now: Moment) -> None:
    """Note a correction or a validated success among the signals."""
    prompt = now.text("prompt")
    if not now.session or not now.memory:
        return
    now.session.once(_HEARD)
    kind = signals.of_words(prompt, _last_said(_transcript(now)), now.memory.settings.correction_words)
    if kind:
        now.session.add("signal", kind=kind, text=_kept(prompt))


def tool(now: Moment) -> None:
    """Note a failed tool, one that worked after a failure, and Claude's own write into the memory."""
    session, memory, name = now.session, now.memory, now.text("tool_name")
    if not session or not memory:
        return
    session.once(_HEARD)
    failed = now.event == "PostToolUseFailure"
    if not failed and _is_ours(now):
        session.add("captured", by=name)
        moment.start_sync(memory)
        return
    runs, given = session.rows("tool"), now.said.get("tool_input")
    key = signals.key_of(given) if isinstance(given, Mapping) else ""
    if failed and not now.flag("is_interrupt"):
        session.add("tool", name=name, key=_kept(key), failed=True, text=_kept(now.text("error")))
    elif not failed and any(row.get("name") == name and row.get("failed") for row in runs[-_SHOWN:]):
        session.add("tool", name=name, key=_kept(key), failed=False)


def _is_ours(now: Moment) -> bool:
    """Whether Claude has just written a lesson or the document of the memory."""
    path, memory = now.given("file_path"), now.memory
    if not memory or not path.endswith(".md") or now.text("tool_name") not in ("Write", "Edit", "MultiEdit"):
        return False
    return Path(os.path.realpath(now.cwd / path)).is_relative_to(memory.folder)


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
    shown = [f"- {row.kind}: {row.text}" for row in found[:_SHOWN]]
    more = [f"- and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    count = "1 signal" if len(found) == 1 else f"{len(found)} signals"
    return "\n".join(
        [
            f"learnloop noticed {count} in this session, and nothing was captured:",
            *shown,
            *more,
            "For each that holds a lesson worth keeping beyond this task, run:",
            f'  learnloop note "RULE" --why "WHAT WENT WRONG" --how "HOW TO APPLY IT" --trigger {_trigger(found)}',
            "RULE is one sentence that holds in general. If nothing is worth keeping, say so in one line and stop; "
            "this is asked once.",
        ]
    )


def _noticed(session: Session) -> list[Signal]:
    """The signals of a session, each once though several of our hooks may have noticed it."""
    rows = session.rows("signal", "tool")
    said = [Signal(str(r.get("kind", "")), str(r.get("text", ""))) for r in rows if r["what"] == "signal"]
    runs = [
        Run(str(r.get("name", "")), str(r.get("key", "")), r.get("failed") is True, str(r.get("text", "")))
        for r in rows
        if r["what"] == "tool"
    ]
    found = said + signals.of_tools(list(dict.fromkeys(runs)))
    return list({(row.kind, row.text): row for row in found}.values())


def _in_transcript(now: Moment, memory: Place) -> list[Signal]:
    """The signals of a session whose other events no hook of ours gets (a skill's own Stop hook)."""
    from learnloop_md import hindsight  # lazy: an installed hook notices as it goes

    path = _transcript(now)
    if not path:
        return []
    try:
        found, captured = hindsight.scan(path, memory.folder, memory.settings.correction_words)
    except LearnloopError:
        return []
    return [] if captured else [Signal(row.kind, row.text) for row in found]


def _trigger(found: list[Signal]) -> str:
    return (
        "correction"
        if any(row.kind == "correction" for row in found)
        else ("better-approach" if any(row.kind in ("success", "workaround") for row in found) else "tool-failure")
    )


def _kept(text: str) -> str:
    """A text as it may stand in the session's file: short, on one line, without a secret."""
    from learnloop_md import hindsight  # lazy: most events keep no text (6 ms)

    return hindsight.told(text)


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
