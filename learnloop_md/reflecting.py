"""The command reflect: what a session's transcript has to teach, and whether it was captured (R004-81…R004-84)."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from learnloop_md import hindsight
from learnloop_md.answer import Answer, visible
from learnloop_md.calls import Call
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.hindsight import Found


def reflect(call: Call) -> Answer:
    """The signals of a transcript; exit 1 when there are enough and nothing was captured."""
    if not call.text("transcript"):
        raise UsageError("reflect needs --transcript FILE", "hooks get its path as transcript_path")
    least = call.number("min_signals", 1)  # R004-84
    path = Path(call.text("transcript")).expanduser()
    is_lesson, more = _memory(call)
    found, captured = hindsight.scan(call.cwd / path, is_lesson, more)
    enough = len(found) >= least
    rows = [{"kind": one.kind, "line": one.line, "text": one.text} for one in found]
    lines = [f"{one.line}: {one.kind}: {visible(one.text)}" for one in found]
    if not call.flag("scan_only"):
        commands = [_command(call.program, one, path.stem) for one in found]
        rows = [row | {"command": command} for row, command in zip(rows, commands, strict=True)]
        lines = [text for line, command in zip(lines, commands, strict=True) for text in (line, command, "")]
    lines.append(f"{len(found)} signal{'s' * (len(found) != 1)}, {'captured' if captured else 'nothing captured'}")
    data = {"signals": rows, "captured": captured, "enough": enough}
    return Answer("\n".join(lines), data, (), int(enough and not captured))


def _memory(call: Call) -> tuple[Callable[[Path], bool] | None, tuple[str, ...]]:
    """What tells the memory's files, and the person's own correction words; none where there is no memory."""
    try:
        where = call.place
    except UnableError:
        if call.text("memory"):
            raise
        return None, ()
    return where.owns, where.settings.correction_words


def _command(program: str, found: Found, session: str) -> str:
    evidence = shlex.quote(f"session {session[:8]}, line {found.line}")
    return hindsight.command(found.kind, f" --evidence {evidence}", program)
