"""The journal: what a command is about to do, so that the next one completes it when this one is killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from learnloop_md import store
from learnloop_md.place import Place
from learnloop_md.plan import Edit, Plan


class Journal(NamedTuple):
    """A command's plans, and the branch they were made on."""

    command: str  # its id, which its commits bear; where it moves HEAD to a commit that is there, that commit
    branch: str
    plans: tuple[Plan, ...]


def save(place: Place, journal: Journal) -> None:
    """Write the journal to disk before the first file of its plans is touched."""
    store.write(_file(place), json.dumps(journal).encode())  # ASCII: names that are not UTF-8 come back whole


def load(place: Place) -> Journal | None:
    """What a killed command left, None where none did. One that cannot be read was never begun."""
    try:
        command, branch, *_, plans = json.loads(_file(place).read_bytes())  # an earlier version wrote HEAD in between
        return Journal(command, branch, tuple(_plan(*row) for row in plans))
    except (OSError, ValueError, TypeError):
        return None


def begun(place: Place) -> float:
    """When the journal was written, in seconds."""
    try:
        return _file(place).stat().st_mtime
    except OSError:
        return 0.0


def clear(place: Place) -> None:
    """Forget the journal; one that stays is harmless, its plans are done."""
    try:
        _file(place).unlink(missing_ok=True)
    except OSError:
        return


def shorten(place: Place, journal: Journal, done: int) -> None:
    """Leave the first plans alone: they are done, and the next command remembers what this one could not."""
    try:
        if done:
            save(place, journal._replace(plans=journal.plans[:done]))
        else:
            clear(place)
    except store.WriteError:  # then the next command completes all of them
        return


def _plan(
    change: str, slugs: list[str], why: str, edits: list[list[str | None]], also: list[str],
    trailers: list[list[str]], subject: str,
) -> Plan:  # fmt: skip
    rows = tuple(Edit(str(path), before, after) for path, before, after in edits)
    pairs = tuple((key, value) for key, value in trailers)
    return Plan(change, tuple(slugs), why, rows, tuple(also), pairs, subject)


def _file(place: Place) -> Path:
    return place.state / "journal.json"
