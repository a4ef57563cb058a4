"""What a transcript has to teach, and whether it was captured (R004-81, R004-82)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from learnloop_md import signals, transcript
from learnloop_md.neutral import neutral
from learnloop_md.transcript import Ran, Turn

SHOWN = 200  # characters of a signal's text
LOOKED_AT = 4_000  # characters looked through for secrets: one that begins in what is shown ends in them
WITHHELD = "(withheld: holds what looks like a secret)"


class Found(NamedTuple):
    """A signal as it is told: where it stands in the transcript, and its text, short and without secrets."""

    line: int
    kind: str
    text: str


def scan(
    path: Path, is_lesson: Callable[[Path], bool] | None = None, more: tuple[str, ...] = ()
) -> tuple[list[Found], bool]:
    """The signals of a transcript in order, and whether anything was captured in it.

    is_lesson tells of a file that was written whether it is one of the memory's; without it its path must say so.

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
        captured = captured or transcript.captures(event, is_lesson)
        ran.append(event._replace(given={}))
    found += _of_runs(ran)
    return sorted(found), captured


def _of_runs(ran: list[Ran]) -> Iterator[Found]:
    for signal in signals.of_tools([event.run for event in ran]):
        yield Found(ran[signal.run].line, signal.kind, told(signal.text))


def told(text: str) -> str:
    """A text on one short line, fit for a model's context; withheld whole where it holds a secret."""
    from learnloop_md import guard  # lazy: most events of a hook keep no text (6 ms)

    if guard.find_secrets(text[:LOOKED_AT]):
        return WITHHELD
    line = " ".join(neutral(text[:LOOKED_AT]).split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


# What made somebody note it, as `note` takes it.
TRIGGERS = {
    "correction": "correction",
    "success": "better-approach",
    "workaround": "better-approach",
    "failure": "tool-failure",
}


def command(kind: str, more: str = "", program: str = "learnloop") -> str:
    """The command that captures a signal; free text goes in by a quoted heredoc, so that no shell reads it."""
    return "\n".join(
        [
            f"{program} note - --trigger {TRIGGERS[kind]}{more} <<'LESSON'",
            "THE RULE, one sentence that holds in general.",
            "",
            "**Why:** WHAT WENT WRONG",
            "",
            "**How to apply:** HOW TO APPLY IT",
            "LESSON",
        ]
    )
