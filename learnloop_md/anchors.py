"""The paths and symbols of the repository that a lesson speaks of, and how they stand against what was verified.

A lesson holds until what it speaks of changes (design §9). What is meant is found in backticks and links; the head's
`anchors` keep a hash of it from when a person last verified the lesson: `- src/app.py 3f2a81c0b1d2`. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from hashlib import sha1, sha256
from typing import NamedTuple

from learnloop_md.lesson import Lesson
from learnloop_md.lines import scan

GONE = "gone"  # stands where a hash would: a person verified the lesson after its path went
_SHORT = 12  # characters of a hash that are kept
_LONG = 4_000  # characters of a text that are looked at
_MOST = 40  # anchors of one lesson


class Anchor(NamedTuple):
    """A path as it was said, a symbol in that file or none, and the hash when last verified or none."""

    path: str
    symbol: str = ""
    hash: str = ""
    linked: bool = False  # a link: it leads from the lesson's own folder

    @property
    def name(self) -> str:
        return f"{self.path}#{self.symbol}" if self.symbol else self.path

    @property
    def entry(self) -> str:
        """The anchor as it stands in the head."""
        return f"{self.name} {self.hash}" if self.hash else self.name


_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")
_LINK = re.compile(r"\]\(\s*<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")  # also C:\
_NO_PATH = set("*?[]{}<>|$;&=\"'!%^,\\")
_PLACE = re.compile(r"(?::\d+(?:[-:]\d+)*|#L\d+(?:-L?\d+)?)$")  # a line in a file
_SYMBOL = re.compile(r"(?:::|#|:)([A-Za-z_][\w.]*?)(?:\(\))?$")
_CALL = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\(\))?")
_FILES = {"Makefile", "Dockerfile", "Justfile", "Procfile", "Rakefile", "Gemfile", "Jenkinsfile", "CODEOWNERS"}


def spoken(lesson: Lesson) -> tuple[Anchor, ...]:
    """The anchors of a lesson: those of its head, and what its text names as paths.

    It errs towards taking a word for a path: what never was in the tree is unknown, not stale.
    """
    kept = [anchor for entry in lesson.anchors if (anchor := parse(entry))]
    said = [
        anchor._replace(hash="", linked=linked)
        for text in _texts(lesson)
        for word, linked in _words(text)
        if (anchor := parse(word))
    ]
    known = {anchor.name for anchor in kept}
    return tuple(dict.fromkeys([*kept, *(one for one in said if one.linked or one.name not in known)]))[:_MOST]


def _texts(row: Lesson) -> list[str]:
    """What the lesson says, without its fenced code."""
    said = (row.rule, row.why, row.how, row.context, row.approach, row.what_worked, row.what_failed)
    return ["".join(line.raw for line in scan("\n" + text[:_LONG]) if line.place == "text") for text in said if text]


def _words(text: str) -> Iterable[tuple[str, bool]]:
    """What may be a path, and whether a link says so."""
    for match in _SPAN.finditer(text):
        words = (word.strip("`'\"(),;") for word in match[2].split())
        yield from ((word, False) for word in words if _is_path(word))
    for match in _LINK.finditer(_SPAN.sub(" ", text)):
        if not match[1].startswith("#") and not _URL.match(match[1]):
            yield match[1], True


def _is_path(word: str) -> bool:
    """Whether a word between backticks looks like a path."""
    word = _SYMBOL.sub("", _PLACE.sub("", word))
    if not word or word.startswith("-") or _URL.match(word) or _NO_PATH & set(word):
        return False
    if "/" in word:
        return bool(re.search(r"[^\W\d_]", word))
    return word in _FILES or bool(
        re.fullmatch(r"\.?[\w-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,9}|\.[a-z][\w.-]+", word)
    )


def parse(entry: str) -> Anchor | None:
    """An entry of the head, or a word of a text, as an anchor; None for what leads out of the repository."""
    word, _, known = entry.strip().partition(" ")
    word = _PLACE.sub("", word)
    match = _SYMBOL.search(word)
    symbol = match[1] if match and match.start() else ""
    path = word[: match.start()] if match and symbol else word
    if not path or path.startswith(("/", "~", "@")) or _URL.match(path) or _NO_PATH & set(path):
        return None
    whole = posixpath.normpath(path)
    if whole == "." or not path.isprintable():
        return None
    known = known.strip().lower()
    good = known == GONE or re.fullmatch(r"[0-9a-f]{4,64}", known)
    return Anchor(whole + ("/" if path.endswith("/") and not symbol else ""), symbol, known if good else "")


def symbols(lesson: Lesson) -> tuple[str, ...]:
    """Names in backticks that may be symbols of the code: `load_rows()`, `loadRows`, `MAX_ROWS`, `Rows.load`."""
    found: dict[str, None] = {}
    for text in _texts(lesson):
        for match in _SPAN.finditer(text):
            name = _CALL.fullmatch(match[2].strip())
            shaped = name and (name[2] or re.search(r"[a-z][A-Z]|\w_\w|\w\.\w", name[1]))
            if name and shaped and (name[1][0].isupper() or not _is_path(name[1])):
                found[name[1].rpartition(".")[2]] = None
    return tuple(found)[:_MOST]


# --- how they stand ---------------------------------------------------------------------------------------------------


def hashes(data: bytes) -> tuple[str, ...]:
    """The ids that git gives a file of this content: with CRLF made LF or as it is, by either of its hashes."""
    forms = dict.fromkeys((data.replace(b"\r\n", b"\n"), data))
    blobs = [b"blob %d\0" % len(form) + form for form in forms]
    return (*(sha1(blob, usedforsecurity=False).hexdigest() for blob in blobs), *(sha256(b).hexdigest() for b in blobs))


def lines_naming(data: bytes, symbol: str) -> bytes:
    """The lines that name a symbol: what else changes in the file does not concern it."""
    word = re.compile(rf"(?<!\w){re.escape(symbol.rpartition('.')[2])}(?!\w)".encode())
    return b"".join(line.strip() + b"\n" for line in data.splitlines() if word.search(line))


def now(anchor: Anchor, data: bytes) -> Anchor:
    """The anchor as verified against a file's content."""
    if anchor.symbol:
        data = lines_naming(data, anchor.symbol)
    return anchor._replace(hash=hashes(data)[0][:_SHORT])


def fault(anchor: Anchor, data: bytes) -> str:
    """How a file's content differs from what was verified: "changed", "gone", "back"; "" where it does not."""
    if anchor.symbol:
        data = lines_naming(data, anchor.symbol)
        if not data:
            return GONE if anchor.hash not in ("", GONE) else ""
    if anchor.hash == GONE:
        return "back"
    return "" if not anchor.hash or any(one.startswith(anchor.hash) for one in hashes(data)) else "changed"
