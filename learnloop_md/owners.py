"""CODEOWNERS as GitHub reads it: who must approve a path; the last pattern that matches wins."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

FILES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")


class Rule(NamedTuple):
    """A line of CODEOWNERS; no owners means that nobody need approve."""

    pattern: str
    owners: tuple[str, ...]
    line: int

    @property
    def is_catch_all(self) -> bool:
        """Whether it matches every path, so that it guards nothing in particular."""
        return self.pattern.strip("/") in ("*", "**", "")


class Owners:
    """The rules of one CODEOWNERS file."""

    def __init__(self, text: str) -> None:
        self.rules = [rule for n, line in enumerate(text.split("\n"), 1) if (rule := _rule(line, n))]
        self._patterns = [_parts(rule.pattern) for rule in self.rules]

    def rule(self, path: str) -> Rule | None:
        """The rule that holds for a path, None where none does."""
        pairs = zip(reversed(self.rules), reversed(self._patterns), strict=True)
        return next((rule for rule, pattern in pairs if _fits(pattern, path.split("/"))), None)

    def of(self, path: str) -> tuple[str, ...]:
        """The owners of a path."""
        found = self.rule(path)
        return found.owners if found else ()


def read(text_of: Callable[[str], str | None]) -> Owners | None:
    """The CODEOWNERS that GitHub would take, None where there is none."""
    found = next((text for name in FILES if (text := text_of(name)) is not None), None)
    return None if found is None else Owners(found)


def _rule(line: str, number: int) -> Rule | None:
    bare = re.sub(r"(?:^|\s)#.*", "", line.strip())
    words = re.findall(r"(?:\\ |\S)+", bare)
    # GitHub knows neither "!" nor "[ ]"; a line that it cannot read it passes over.
    if not words or words[0].startswith(("!", "[", "^[")) or "[" in words[0]:
        return None
    return Rule(words[0].replace("\\ ", " "), tuple(words[1:]), number)


def _parts(pattern: str) -> tuple[str, ...]:
    """A pattern cut at its slashes; "**" stands for any number of folders, none included."""
    body = pattern.strip("/")
    if body in ("*", "**", ""):
        return ("**",)
    parts = body.split("/")
    anywhere = "/" not in pattern.rstrip("/")
    if parts[-1] == "**":
        tail = ["*", "**"]  # all that is inside
        parts.pop()
    else:
        # A folder owns all below it; `docs/*` is the files of docs alone.
        tail = ["*", "**"] if pattern.endswith("/") else [] if body.endswith("/*") else ["**"]
    return (*(["**"] if anywhere else []), *parts, *tail)


def _fits(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Whether a pattern's parts match a path's, all of them; in one pass, whatever the pattern."""
    reached = _with_none(pattern, {0})
    for part in path:
        stay = {at for at in reached if at < len(pattern) and pattern[at] == "**"}
        step = {at + 1 for at in reached - stay if at < len(pattern) and fnmatchcase(part, pattern[at])}
        reached = _with_none(pattern, stay | step)
    return len(pattern) in reached


def _with_none(pattern: Sequence[str], reached: set[int]) -> set[int]:
    """The places in a pattern that are reached when each "**" may stand for nothing."""
    for at, part in enumerate(pattern):
        if at in reached and part == "**":
            reached.add(at + 1)
    return reached
