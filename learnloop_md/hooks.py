"""The door of Claude Code's hooks: an event on standard input, valid JSON or nothing on standard output, always exit 0.

A hook must never exit 2: on UserPromptSubmit that erases the person's prompt.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from learnloop_md import brief, moment, noticing, runs, serving
from learnloop_md.moment import Moment

_MOST = 10_000  # characters of one answer; the client replaces a longer one (measured)
_INPUT = 32_000_000  # bytes; a tool's answer can be long


def main() -> int:
    """Answer one event; whatever goes wrong, the session goes on."""
    try:
        _write(answer(_read()))
    except Exception as error:
        _complain(type(error).__name__)  # its message could hold what must not be logged
    return 0


def _read() -> bytes:
    pieces, size = [], 0
    while size < _INPUT and (piece := os.read(0, 1 << 20)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _write(text: str) -> None:
    """Write on the descriptor itself: the console's encoding has no say."""
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(1, data) :]


def _complain(name: str) -> None:
    try:
        os.write(2, f"learnloop: the hook gave up ({name}); learnloop doctor may say why\n".encode())
    except OSError:
        return  # nobody listens


def answer(raw: bytes) -> str:
    """The answer to an event, "" for none."""
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(said, dict):
        return ""
    now = moment.of(said)
    handler = _HANDLERS.get(now.event)
    given = handler(now) if handler else None
    if not given:
        return ""
    text = json.dumps(given, ensure_ascii=False)
    return text if len(text) <= _MOST else ""


def _context(now: Moment, text: str) -> Mapping[str, Any] | None:
    """An answer that adds text to the model's context."""
    return {"hookSpecificOutput": {"hookEventName": now.event, "additionalContext": text}} if text else None


def _session_start(now: Moment) -> Mapping[str, Any] | None:
    asked = noticing.question(now) if now.text("source") == "compact" else ""
    return _context(now, serving.at_start(now, asked))


def _prompt(now: Moment) -> Mapping[str, Any] | None:
    noticing.words(now)
    _catch_up(now)
    prompt = now.text("prompt")
    name = prompt[1:].split(maxsplit=1)[0] if prompt.startswith("/") and prompt[1:].strip() else ""
    return _context(now, serving.of_skill(now, name) if name else serving.of_prompt(now, prompt))


def _catch_up(now: Moment) -> None:
    """Once in a session, when the client has loaded MEMORY.md: absorb what came by a pull, record it for the hooks."""
    place = now.place
    if place and now.session and now.session.once("caught-up") and brief.is_stale(place, brief.load(place)):
        moment.start_sync(place)


def _skill(now: Moment) -> Mapping[str, Any] | None:
    return _context(now, serving.of_skill(now, now.given_text("skill"))) if now.text("tool_name") == "Skill" else None


def _stop(now: Moment) -> Mapping[str, Any] | None:
    reason = noticing.question(now)
    return {"decision": "block", "reason": reason} if reason else None


def _session_end(now: Moment) -> None:
    if not now.session:
        return
    for memory in now.memories:
        moment.start_sync(memory)
    runs.leave(now.text("session_id"), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")


_HANDLERS = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _skill,
    "PostToolUse": noticing.tool,
    "PostToolUseFailure": noticing.tool,
    "Stop": _stop,
    "SessionEnd": _session_end,
}  # PreCompact and SubagentStop say nothing: what Stop would have said is said after the compaction
