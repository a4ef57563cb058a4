"""CODEOWNERS as GitHub reads it: who must approve a path; the last pattern that matches wins."""

from __future__ import annotations

import re
from collections.abc import Callable
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
        self._patterns = [re.compile(_regex(rule.pattern)) for rule in self.rules]

    def rule(self, path: str) -> Rule | None:
        """The rule that holds for a path, None where none does."""
        pairs = zip(reversed(self.rules), reversed(self._patterns), strict=True)
        return next((rule for rule, pattern in pairs if pattern.fullmatch(path)), None)

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


def _regex(pattern: str) -> str:
    """The paths that a pattern matches, as a regular expression of the whole path."""
    anchored = "/" in pattern.rstrip("/")
    body = pattern.strip("/")
    parts: list[str] = []
    for part in body.split("/"):
        if part == "**":
            parts.append("**")
        else:
            parts.append(re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]"))
    said = ""
    for n, part in enumerate(parts):
        last = n == len(parts) - 1
        if part == "**":
            said += ".*" if last else "(?:.*/)?"
        else:
            said += part + ("" if last else "/")
    # A folder owns all below it; `docs/*` is the files of docs alone.
    tail = "/.*" if pattern.endswith("/") else "" if body.endswith("/*") or body == "*" else "(?:/.*)?"
    if body in ("*", ""):
        return ".*"
    return ("" if anchored else "(?:.*/)?") + said + tail
