"""What a head says as a value: texts, lists and mappings; and why one cannot be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from learnloop_md.lesson import Event

Tree: TypeAlias = "str | list[Tree] | dict[str, Tree]"
Field: TypeAlias = "str | bool | int | float | Sequence[str] | Sequence[Event] | None"


class HeadError(Exception):
    """The head is not one we may trust: a reason code, a line (from 1) and words."""

    def __init__(self, code: str, line: int, message: str) -> None:
        super().__init__(message)
        self.code, self.line, self.message = code, line, message


class Fault(NamedTuple):
    """Something a person should mend; the head could be read all the same."""

    code: str
    line: int
    message: str


def event_of(item: Tree) -> Event | None:
    """The event that a list item stands for, None where it has no day and no run."""
    if not isinstance(item, dict):
        return None
    on, run, evidence = (item.get(key, "") for key in ("on", "run", "evidence"))
    if not (isinstance(on, str) and isinstance(run, str) and isinstance(evidence, str)) or not (on or run):
        return None
    return Event(on[:10], run, evidence)


def fields_of(tree: Mapping[str, Tree]) -> Mapping[str, Tree]:
    """Every field as `field_of` gives it, for readers that want them all."""
    inner = tree.get("metadata")
    if not isinstance(inner, dict):
        return tree
    return {**tree, **{key: value for key, value in inner.items() if key not in ("name", "description")}}


def field_of(tree: Mapping[str, Tree], key: str) -> Tree | None:
    """The field under metadata, else the one at the top (where people and older tools write it)."""
    inner = tree.get("metadata")
    if key not in ("name", "description") and isinstance(inner, dict) and key in inner:
        return inner[key]
    return tree.get(key)
