"""A text as a reader takes it: its paragraphs made plain, what stands where nobody looks, what is written in code."""

from __future__ import annotations

import re
import unicodedata
from binascii import a2b_base64
from collections.abc import Iterable, Iterator

# Letters of other scripts that look like Latin ones.
_ALIKE = {
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf": "aeopcyxijshdqwl",
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405": "ABEKMHOPCTYXIJS",
    "\u03bf\u03bd\u03c1\u03b9\u03ba": "ovpik",
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7": "ABEZHIKMNOPTYX",
    "\u0585\u057d\u0570\u0578\u0131\u0251\u0261": "ouhniag",
}
LOOKS = {ord(other): latin for others, latins in _ALIKE.items() for other, latin in zip(others, latins, strict=True)}
_SPELLED = str.maketrans("0134578@$!|", "oieastbasil")
_ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")

# A blank line or the head's dashes end a paragraph; a list item, a heading, a field of the head begins one.
_BEGIN = r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]|#{1,6}[ \t]|[a-z_]{2,20}:[ \t]"
_MARKUP = r"[*~\r]+|(?<!\w)_+|_+(?!\w)|</?[a-z][^<>\n]{0,200}>|\\(?=\W)"
_AT_LINE_START = r"(?m)^[ \t]*(?:[>#|+-][ \t]*|\d{1,3}[.)][ \t]+)+"


def confuses(name: str) -> bool:
    """Whether a name has letters among its Latin ones that only look Latin."""
    words = () if name.isascii() else re.split(r"[\W_]+", unicodedata.normalize("NFC", name))
    return any(re.search("[A-Za-z]", word) and any(ord(c) in LOOKS for c in word) for word in words)


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Each paragraph in lower case on one line, its markup taken away, with the line it begins in."""
    if "&" in text and ";" in text:
        import html  # lazy: its table of entities

        # One that stands for a line's end ends none.
        text = "\n".join(html.unescape(line).replace("\n", " ") for line in text.split("\n"))
    plain = re.sub(_MARKUP, "", re.sub(_AT_LINE_START, "", _latin(text).lower()))
    said: list[str] = []
    first, begins = 1, re.compile(_BEGIN).match
    for n, (line, bare) in enumerate(zip(text.split("\n"), plain.split("\n"), strict=True), 1):
        core = line.rstrip(" \t")
        ends = not core or (core.startswith("---") and not core.strip("-"))
        if said and (ends or begins(line)):
            yield first, " ".join(said)
            said = []
        if not ends and (words := bare.split()):
            first = first if said else n
            said += words
    if said:
        yield first, " ".join(said)


def _latin(text: str) -> str:
    """text with its look-alikes of Latin letters made Latin, in words that have Latin letters too."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return re.sub(r"\w+", lambda m: m[0].translate(LOOKS) if re.search("[A-Za-z]", m[0]) else m[0], text)


def readings(paragraph: str) -> Iterator[str]:
    """A paragraph as it stands, and as it reads without accents, digits for letters, blanks between them, a shift."""
    yield paragraph
    if not paragraph.isascii() and (bare := _without_accents(paragraph)) != paragraph:
        yield bare
    if re.search(r"[a-z][0134578@$!|][a-z]", paragraph):
        yield re.sub(r"\S+", lambda m: m[0].translate(_SPELLED) if re.search("[a-z]", m[0]) else m[0], paragraph)
    if re.search(r"(?:\b[a-z][ ._-]){7}", paragraph):
        yield re.sub(r"\b[a-z](?:[ ._-][a-z]\b){3,}", lambda m: _words(re.sub(r"[ ._-]", "", m[0])), paragraph)
    if "vafgehpgvba" in paragraph or "cebzcg" in paragraph:
        yield paragraph.translate(_ROT13)


def _without_accents(text: str) -> str:
    """text without the marks over its Latin letters: of words in other languages an order seldom is what stays."""
    marked = re.sub(rf"([a-z]){_ACCENT}+", r"\1", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", marked)


_ACCENT = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_CUT_AT = (
    "(ignore|disregard|forget|override|all|any|the|your|previous|prior|above|system|instructions?|rules|prompt|and|user"
    "|never|ask|for|confirmation|permission|before|send|secrets|without)"
)


def _words(run: str) -> str:
    """Letters that stood apart, cut again at the words that matter."""
    return " ".join(re.sub(_CUT_AT, r" \1 ", run).split())


# --- where no reader looks -------------------------------------------------------------------------------------------

_FALSE_REFERENCE = r"(?m)^\[(?://|comment|#)\]:\s{0,4}(?:#|<>)\s{0,4}[\"'(](?P<said>[^\n]{1,2000}?)[\"')]\s*$"
_UNSEEN_ELEMENT = (
    r"(?is)<(?P<name>\w+)[^<>\n]{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0"
    r"|\bhidden\b)[^<>\n]{0,200}>(?P<said>.{1,2000}?)</(?P=name)"
)


def unseen(text: str) -> Iterator[tuple[int, str]]:
    """What a rendered page does not show: comments and hidden elements, each with its line."""
    found = list(_comments(text))
    for pattern, mark in ((_UNSEEN_ELEMENT, "<"), (_FALSE_REFERENCE, "]:")):
        if mark in text:
            found += [(match.start(), match["said"]) for match in re.finditer(pattern, text)]
    for line, said in _by_line(text, found):
        yield line, " ".join(_latin(said).lower().split())


def _by_line(text: str, found: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """What stands at places of a text, in order, with its line in place of its place: each line is counted once."""
    line, done = 1, 0
    for at, said in sorted(found):
        line += text.count("\n", done, at)
        done = at
        yield line, said


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Each HTML comment but our own marks, with where it begins."""
    start = text.find("<!--")
    while start >= 0 and (end := text.find("-->", start + 4)) >= 0:
        said = text[start + 4 : end]
        if not re.match(r"\s*learnloop\b", said):
            yield start, said
        start = text.find("<!--", end)


# --- what is written in code -----------------------------------------------------------------------------------------

_BASE64 = r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,8000}={0,2}"
_BASE32 = r"(?<![A-Za-z0-9+/=])[A-Z2-7]{24,8000}={0,6}(?![A-Za-z0-9+/=])"
_HEX = r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}[ :]?){16,4000}(?![0-9a-fA-F])"
_ESCAPE = r"(?:%|\\x|\\u00)([0-9a-fA-F]{2})"


def encoded(text: str) -> Iterator[tuple[int, str]]:
    """Readable texts that stand in text as base64, base32 or hex digits, and lines with escapes, each with its line."""
    found = [
        (match.start(), inner.lower())
        for pattern, decode in ((_BASE64, _from_base64), (_BASE32, _from_base32), (_HEX, _from_hex))
        for match in re.finditer(pattern, text)
        if len(inner := decode(match[0])) > 12 and inner.isprintable() and " " in inner
    ]
    yield from _by_line(text, found)
    for n, line in enumerate(text.split("\n") if "%" in text or "\\" in text else (), 1):
        said = re.sub(_ESCAPE, lambda found: chr(int(found[1], 16)), line)
        if said != line:
            yield n, " ".join(said.lower().split())


def _from_base64(run: str) -> str:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return " ".join(a2b_base64(run + "=" * (-len(run) % 4)).decode("utf-8").split())
    except ValueError:
        return ""


def _from_base32(run: str) -> str:
    from base64 import b32decode  # lazy: few texts hold any

    run = run.rstrip("=")
    try:
        return " ".join(b32decode(run + "=" * (-len(run) % 8)).decode("utf-8").split())
    except ValueError:
        return ""


def _from_hex(run: str) -> str:
    try:
        return " ".join(bytes.fromhex(re.sub("[ :]", "", run)).decode("utf-8").split())
    except ValueError:
        return ""
