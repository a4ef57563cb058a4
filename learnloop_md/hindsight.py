"""What a transcript has to teach, and whether it was captured (R004-81, R004-82)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from learnloop_md import guard, signals, transcript
from learnloop_md.transcript import Ran, Turn

SHOWN = 200  # characters of a signal's text
LOOKED_AT = 4_000  # characters looked through for secrets: one that begins in what is shown ends in them
WITHHELD = "(withheld: holds what looks like a secret)"


class Found(NamedTuple):
    """A signal as it is told: where it stands in the transcript, and its text, short and without secrets."""

    line: int
    kind: str
    text: str


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
