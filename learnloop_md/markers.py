"""What conflict markers enclose, and whether a person has begun to settle it. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from learnloop_md.lines import conflict_line, split_lines


class Sides(NamedTuple):
    """A file in three states; None where it was not there."""

    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


_LINES = r"(?:.*\n)*?"
_OPENING = re.compile(r"^<{7,}(?= |$)", re.MULTILINE)


def _marked(size: int) -> re.Pattern[str]:
    """A conflict between markers of one length."""
    n = f"{{{size}}}"
    return re.compile(
        rf"^<{n}(?: .*)?\n(?P<ours>{_LINES})(?:^\|{n}(?: .*)?\n(?P<base>{_LINES}))?"
        rf"^={n}(?: .*)?\n(?P<theirs>{_LINES})^>{n}(?: .*)?(?:\n|\Z)",
        re.MULTILINE,
    )


def enclosed(text: str) -> Sides | None:
    """The sides that conflict markers enclose; without the base that git may have written, none is known."""
    plain = text.replace("\r\n", "\n")
    if not conflict_line(plain):
        return None
    parts, whole = dict.fromkeys(("base", "ours", "theirs"), plain), True
    for size in sorted({len(opening[0]) for opening in _OPENING.finditer(plain)}):  # the outer ones are the shorter
        marked = _marked(size)
        whole = whole and all(match["base"] is not None for match in marked.finditer(plain))
        parts = {name: marked.sub(lambda m, name=name: m[name] or "", part) for name, part in parts.items()}  # type: ignore[misc]
    if any(conflict_line(part) for part in parts.values()):
        return None
    base, ours, theirs = (parts[name].encode("utf-8", "surrogateescape") for name in ("base", "ours", "theirs"))
    return Sides(base if whole else None, ours, theirs)


_MARK = re.compile(r"^([<|=>])\1{6,}(?: .*)?$")


def unlabelled(text: str) -> list[str]:
    """The lines of a text with markers of one length and without what git says after them, whatever its line ends."""
    return [_MARK.sub(r"\1", row.rstrip("\r\n")) for row in split_lines(text)]


def is_begun(text: str, base: str, ours: str, theirs: str) -> bool:
    """Whether a text with markers shows that a person worked on it: no merge by lines makes it of these three.

    However git compares lines and draws its conflicts, each line that a side added stands in what it leaves, no line
    is in none of the three, and each opening has its end (unless a side has such lines itself). Spaces do not count:
    git can be told to pass over them.
    """
    there, was, mine, other = (_words(one) for one in (text, base, ours, theirs))
    if there - was - mine - other or (mine - was) - there or (other - was) - there:
        return True
    is_marked = any(re.search(r"^(?:<{7}|={7}|\|{7}|>{7})", one, re.MULTILINE) for one in (base, ours, theirs))
    return not is_marked and enclosed(text) is None


def _words(text: str) -> set[str]:
    """The lines of a text that say something, but for markers."""
    return {"".join(row.split()) for row in split_lines(text) if not _MARK.match(row.rstrip("\r\n"))} - {""}
