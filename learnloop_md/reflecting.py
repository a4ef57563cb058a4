"""The command reflect: what a session's transcript has to teach, and whether it was captured (R004-81…R004-84)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from learnloop_md import guard, signals, transcript
from learnloop_md.answer import Answer, visible
from learnloop_md.calls import Call
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.transcript import Ran, Turn

SHOWN = 200  # characters of a signal's text
LOOKED_AT = 4_000  # characters looked through for secrets: one that begins in what is shown ends in them
WITHHELD = "(withheld: holds what looks like a secret)"

# How `note` files each kind of signal.
_NOTED = {
    "correction": "--trigger correction",
    "success": "--trigger better-approach",
    "failure": "--trigger tool-failure",
    "workaround": "--trigger tool-failure",
}


class Found(NamedTuple):
    """A signal as it is told: where it stands in the transcript, and its text, short and without secrets."""

    line: int
    kind: str
    text: str


def reflect(call: Call) -> Answer:
    """The signals of a transcript; exit 1 when there are enough and nothing was captured."""
    if not call.text("transcript"):
        raise UsageError("reflect needs --transcript FILE", "hooks get its path as transcript_path")
    least = call.number("min_signals", 1)  # R004-84
    path = Path(call.text("transcript")).expanduser()
    folder, more = _memory(call)
    found, captured = scan(call.cwd / path, folder, more)
    enough = len(found) >= least
    rows = [{"kind": one.kind, "line": one.line, "text": one.text} for one in found]
    lines = [f"{one.line}: {one.kind}: {visible(one.text)}" for one in found]
    if not call.flag("scan_only"):
        commands = [_command(call.program, one, path.stem) for one in found]
        rows = [row | {"command": command} for row, command in zip(rows, commands, strict=True)]
        lines = [text for line, command in zip(lines, commands, strict=True) for text in (line, f"    {command}")]
    lines.append(f"{len(found)} signal{'s' * (len(found) != 1)}, {'captured' if captured else 'nothing captured'}")
    data = {"signals": rows, "captured": captured, "enough": enough}
    return Answer("\n".join(lines), data, (), int(enough and not captured))


def scan(path: Path, folder: Path | None = None, more: tuple[str, ...] = ()) -> tuple[list[Found], bool]:
    """The signals of a transcript in order, and whether anything was captured in it.

    Raises UnableError where the file cannot be read, UsageError where it is no transcript.
    """
    found: list[Found] = []
    ran: list[Ran] = []
    captured = False
    for event in transcript.read(path):
        if isinstance(event, Turn):
            if kind := signals.of_words(event.words, event.before, more):
                found.append(Found(event.line, kind, told(event.words)))
            continue
        captured = captured or transcript.captures(event, folder)
        ran.append(event._replace(given={}))
    found += _of_runs(ran)
    return sorted(found), captured


def _of_runs(ran: list[Ran]) -> Iterator[Found]:
    for signal in signals.of_tools([event.run for event in ran]):
        yield Found(ran[signal.run].line, signal.kind, told(signal.text))


def told(text: str) -> str:
    """A text on one short line; withheld whole where it holds a secret."""
    if guard.find_secrets(text[:LOOKED_AT]):
        return WITHHELD
    line = " ".join(text[:LOOKED_AT].split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


def _memory(call: Call) -> tuple[Path | None, tuple[str, ...]]:
    """The memory's folder and the person's own correction words; none where there is no memory."""
    try:
        where = call.place
    except UnableError:
        if call.text("memory"):
            raise
        return None, ()
    return where.folder, where.settings.correction_words


def _command(program: str, found: Found, session: str) -> str:
    evidence = shlex.quote(f"session {session[:8]}, line {found.line}")
    return (
        f'{program} note "THE RULE, in one sentence" {_NOTED[found.kind]} '
        f'--why "WHY IT HOLDS" --how "HOW TO APPLY IT" --evidence {evidence}'
    )
