"""Take out of a text what is nobody else's: names, addresses, home folders; and say what is still in it. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from learnloop_md import guard
from learnloop_md.hidden import hidden

SOMEBODY, ADDRESS, MACHINE, HOME = "somebody", "an address", "a machine", "~"
_GENERIC = set(  # what everybody is called, and words that a name must not take out of every text
    "root user admin administrator ubuntu debian runner git test tests build ci dev developer someone somebody nobody "
    "localhost local docker container vagrant codespace the and for bot agent claude learnloop linux default server "
    "host main code".split()
)


class Known(NamedTuple):
    """Whose memory it is: what must not leave it."""

    people: tuple[str, ...] = ()  # names and logins; the first one's parts count as well
    machines: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()  # folders
    words: tuple[str, ...] = ()  # what the person names besides


_EMAIL = re.compile(r"[\w.+'-]+@[\w-]+(?:\.[\w-]+)+")
_FOLDER = re.compile(
    r"(?:file://)?(?<![\w.])(?:/(?:home|Users|export/home|var/home)/[^\s/\"'`<>|:*?]+|/root(?![\w.-])"
    r"|[A-Za-z]:[\\/]+(?:Users|Documents and Settings)[\\/]+[^\s\\/\"'`<>|:*?]+)"
)
_LEFT = (
    (
        "a home folder",
        re.compile(r"(?i)(?:^|[\s\"'`(=:/\\])(?:/?home|users|documents and settings)[\\/]+[\w.-]+[\\/]|~\w+/"),
    ),
    ("an address of a machine", re.compile(r"(?<![\w.])(?!127\.|0\.0\.0\.0)\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)")),
    (
        "an address of a machine",
        re.compile(r"(?i)\b[\w-]+\.(?:local|internal|intranet|lan|corp|home\.arpa|localdomain)\b"),
    ),
    ("an e-mail address", re.compile(r"\w@[\w-]+\.\w")),
    ("a person's name", re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Mme)\.?\s+[A-Z]\w+")),
    ("a person's handle", re.compile(r"(?<![\w`/.@])@(?!\w+/)[A-Za-z][\w-]{1,38}\b")),
    ("a phone number", re.compile(r"(?<![\w.])\+\d{1,3}[ -]?(?:\(?\d{2,4}\)?[ -]?){2,4}\d{2,4}\b")),
)
_CODE = re.compile(r"`[^`\n]+`")


def scrub(text: str, known: Known) -> str:
    """text without what is known to be private; what else may be in it is for `left` to find."""
    for home in sorted(filter(None, known.homes), key=len, reverse=True):
        text = re.sub(rf"{re.escape(home.rstrip('/'))}(?![\w.-])", HOME, text)
    text = _EMAIL.sub(ADDRESS, _FOLDER.sub(HOME, text))
    for machine in known.machines:
        text = _without(text, machine, MACHINE)
    for word in known.words:
        text = re.sub(re.escape(word), SOMEBODY, text, flags=re.IGNORECASE) if word.strip() else text
    for name in sorted(known.people, key=len, reverse=True):
        text = _without(text, name, SOMEBODY)
    for part in known.people[0].split() if known.people else ():
        text = _without(text, part, SOMEBODY, exact=True)
    return re.sub(rf"\b{SOMEBODY}(?:\s+{SOMEBODY})+\b", SOMEBODY, text)


def _without(text: str, name: str, instead: str, *, exact: bool = False) -> str:
    """text without a name as a word of its own; one that everybody has, or that is too short to tell, stays."""
    if len(name) < 3 or name.casefold() in _GENERIC:
        return text
    flags = 0 if exact else re.IGNORECASE
    return re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", instead, text, flags=flags)


def left(text: str, known: Known) -> Iterator[str]:
    """Why a text must not leave, none where it may: what looks private, whoever's it is, and names in other letters."""
    squeezed = _squeezed(text)
    for name in (*known.people, *known.machines, *known.words):
        if len(_squeezed(name)) >= 5 and name.casefold() not in _GENERIC and _squeezed(name) in squeezed:
            yield "a name that is not to leave"
    yield from (f"what looks like a secret ({found.label})" for found in guard.find_secrets(text))
    if any(hidden(text)):
        yield "hidden characters"
    prose = _CODE.sub("``", text)
    for why, pattern in _LEFT:
        if pattern.search(prose if why == "a person's handle" else text):
            yield why


def _squeezed(text: str) -> str:
    """The letters and digits of a text alone: `ada-king` and `AdaKing` are the same name."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def people_of(lines: Iterable[str]) -> tuple[str, ...]:
    """Names worth hiding out of a list: no addresses, nothing that everybody is called."""
    names = (line.strip() for line in lines)
    return tuple(dict.fromkeys(name for name in names if len(name) >= 3 and "@" not in name and "[bot]" not in name))
