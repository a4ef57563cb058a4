"""How a merge decides what both sides changed: the same whichever side is ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from learnloop_md.lesson import Lesson, is_rejected, runs

Value = TypeVar("Value")
_TO_GRADUATE = 2  # sightings by different runs (design §5)


def settled(was: Value | None, mine: Value, other: Value, chosen: Callable[[Value, Value], Value]) -> Value:
    """The value of the side that changed it; where both did, the chosen one."""
    if was == mine:
        return other
    return mine if other in (was, mine) else chosen(mine, other)


def longer(one: str, other: str) -> str:
    """The longer of two texts, of equally long ones the later in text order."""
    return max(one, other, key=lambda text: (len(text), text))


def merged_state(was: Lesson, mine: Lesson, other: Lesson, merged: Lesson) -> str:
    """The state of the merged lesson; merged holds the events of both sides.

    Archived on one side while the other saw it again or took it into force: it comes back, unless another lesson or a
    rule file has taken its place (design §5).
    """
    if mine.state == other.state:
        return mine.state
    for gone, there in ((mine, other), (other, mine)):
        if gone.state == "archived" != was.state:
            if not _comes_back(was, gone, there, merged):
                return "archived"
            is_repeated = there.state == was.state and len(runs(merged)) >= _TO_GRADUATE
            return "current" if is_repeated else there.state
    if was.state == mine.state:
        return other.state
    return mine.state if was.state == other.state else stronger(mine.state, other.state)


def _comes_back(was: Lesson, gone: Lesson, there: Lesson, merged: Lesson) -> bool:
    if gone.superseded_by or gone.codified_in or (is_rejected(merged) and not merged.pinned):
        return False
    lists = ((side.seen, side.confirmed) for side in (there, gone, was))
    # List by list: a confirmation may bear the day and run of a sighting.
    good = any({*here} - {*gone_too} - {*before} for here, gone_too, before in zip(*lists, strict=True))
    return good or (bool(was.text) and there.state == "current" != was.state)


def stronger(one: str, other: str) -> str:
    """Of two states that both sides chose the one that keeps the lesson in force."""
    order = ("quarantined", "archived", "", "candidate", "current")
    return max(one, other, key=lambda state: (order.index(state) if state in order else -1, state))
