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
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SMALL = "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\ua7af"
_SMALL += "\u0280\ua731\u1d1b\u1d1c"
_SMALL += "\u1d20\u1d21\u2093\u028f\u1d22"
# Alphabets that are no script's, and that no normal form makes plain: small capitals, letters of flags, in black
# circles and squares, in brackets.
_STYLES = (*(range(first, first + 26) for first in (0x1F1E6, 0x1F150, 0x1F170, 0x1F110, 0x249C)), map(ord, _SMALL))
STYLED = {letter: plain for style in _STYLES for letter, plain in zip(style, _LETTERS, strict=True)}
_IN_STYLE = "[\u0262-\u02a0\u1d00-\u1d22\u2093\u249c-\u24b5\ua730\ua731\ua7af\U0001f110-\U0001f1ff]"
_TURNED = str.maketrans(
    "bdnpqu\u0250\u0254\u01dd\u025f\u0183\u0265\u1d09\u0131\u027e\u029e\u05df\u026f\u0279\u0287\u028c\u028d\u028e",
    "qpudbnacefghiijklmrtvwy",
)
LOOKS = {ord(other): latin for others, latins in _ALIKE.items() for other, latin in zip(others, latins, strict=True)}
_SPELLED = str.maketrans("0134578@$!|", "oieastbasil")
_ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
# One of these stands in nearly every order; shifted, they are words of no language known to us.
_COMMON = (
    "the and all any your you to for of without never not this that user ask send with previous ignore every from"
    " instructions confirmation approval permission secrets keys prompt"
).split()
# One of these stands in what runs backwards.
BACKWARDS = tuple(
    word[::-1]
    for word in (
        "ignor disregard forget previous instruction rules confirm approv permission asking without secret private"
        " credential always prompt"
    ).split()
)
_SHIFTED = rf"\b(?:{'|'.join(_COMMON)})\b".translate(_ROT13).replace(r"\o", r"\b")

# A blank line or the head's dashes end a paragraph; a list item, a heading, a field of the head begins one.
_BEGIN = r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]|#{1,6}[ \t]|[a-z_]{2,20}:[ \t]"
_MARKUP = r"\*|~|\r|_(?:(?<!\w_)_*|_*(?!\w))|</?[a-z][^<>\n]{0,200}>|\\(?=\W)"
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
    if re.search(_IN_STYLE, text):
        text = text.translate(STYLED)
    text = unicodedata.normalize("NFKC", text)
    return re.sub(r"\w+", lambda m: m[0].translate(LOOKS) if re.search("[A-Za-z]", m[0]) else m[0], text)


def renderings(text: str) -> Iterator[str]:
    """A text as it stands, and, line by line, with the words of its names set apart and spelled words closed."""
    yield text
    plain = re.sub(_SPELLED_OUT, _closed, text) if re.search(_WIDE, text) else text
    if re.search("[A-Z](?<=[a-z].)", plain):
        plain = re.sub(_HUMPS, lambda m: re.sub("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", m[0]), plain)
    if plain != text:
        yield plain


# "IgnoreAllRules"; "s e n d   t h e   k e y s", where a wider gap ends a word.
_HUMPS = r"(?<![\w/.-])[A-Za-z]?[a-z]{1,30}(?:[A-Z][a-z]{0,30}){2,20}\b"
_WIDE = r"(?<!\S)\S[ \t]\S[ \t]{2,8}\S[ \t]\S"
_SPELLED_OUT = r"(?<!\S)\S(?:[ \t]{1,8}\S(?!\S)){7,}"


def _closed(match: re.Match[str]) -> str:
    return " ".join(re.sub(r"[ \t]", "", word) for word in re.split(r"[ \t]{2,}", match[0]))


def readings(paragraph: str) -> Iterator[str]:
    """A paragraph as it stands, and as it reads without accents, digits for letters, blanks between them, a shift,
    names whole.
    """
    yield paragraph
    if not paragraph.isascii():
        if (bare := _without_accents(paragraph)) != paragraph:
            yield bare
        if re.search("[\u0250\u01dd\u0279\u0287]", paragraph):
            yield paragraph.translate(_TURNED)[::-1]
    if re.search(r"[0134578@$!|](?<=[a-z].)[a-z]", paragraph):
        yield re.sub(r"\S+", lambda m: m[0].translate(_SPELLED) if re.search("[a-z]", m[0]) else m[0], paragraph)
    if re.search(r"[ .-][a-z][ .-][a-z][ .-]", paragraph) and re.search(r"(?:\b[a-z][ ._-]){7}", paragraph):
        yield re.sub(r"\b[a-z](?:[ ._-][a-z]\b){3,}", lambda m: _words(re.sub(r"[ ._-]", "", m[0])), paragraph)
        yield re.sub(r"(?<!\S)\S(?: \S(?!\S)){7,}", lambda m: _words(m[0].replace(" ", "")), paragraph)
    if re.search(_SHIFTED, paragraph):
        yield paragraph.translate(_ROT13)
    if re.search("[_-][a-z]{1,20}[_-]", paragraph) and re.search(_NAME, paragraph):
        yield re.sub(_NAME, lambda m: re.sub("[_-]+", " ", m[0]), paragraph)


# "ignore_all_rules"; no option, no file, no part of a path.
_NAME = r"(?<![\w/.-])[a-z]{1,20}(?:[_-]{1,2}[a-z]{1,20}){2,20}(?![\w/-]|\.\w)"


# "ignore. all. rules. here": a sign behind each word, as behind no four words of a sentence.
_STOP = r"[.!?;:,|/\u00b7\u2022\u2026]{1,3}(?!\S)"
_STOPPED = rf"{_STOP}(?:\s{{1,8}}[\w'-]{{1,20}}{_STOP}){{2,200}}(?P<rest>[^\n]{{0,200}})"


def respelled(text: str, *, backwards: bool) -> Iterator[tuple[int, str]]:
    """Words with a sign behind each, without the signs, and backward lines turned round, each with its line."""
    found = list[tuple[int, str]]()
    for match in re.finditer(_STOPPED, text):
        first = text[max(0, match.start() - 20) : match.start()].split()[-1:]
        run = re.sub(_STOP, "", text[match.start() : match.start("rest")])
        found.append((match.start(), "".join((*first, run, match["rest"]))))
    if backwards:
        found += [(match.start(), match[0][::-1]) for match in re.finditer("[^\n]{1,2000}", text)]
    for line, said in _by_line(text, found):
        yield line, " ".join(_latin(said).lower().split())


def _without_accents(text: str) -> str:
    """text without the marks over its Latin letters: of words in other languages an order seldom is what stays."""
    bare = re.sub(r"(?<=[\x00-\x7f])[^\x00-\x7f]+", _unmarked, unicodedata.normalize("NFD", text))
    return " ".join(unicodedata.normalize("NFC", bare).split())


def _unmarked(match: re.Match[str]) -> str:
    kept = next((at for at, mark in enumerate(match[0]) if not unicodedata.category(mark).startswith("M")), None)
    return "" if kept is None else match[0][kept:]


_CUT_AT = (  # longer words first: "theuser" is no "these"
    "administrator|authorization|confirmation|conversation|instructions?|restrictions|permissions?|credentials"
    "|dangerously|guidelines|exfiltrate|production|everything|disregard|guidance|anything|directives?|approval|password"
    "|database|previous|override|external|request|private|without|message|execute|running|asking|before|branch"
    "|changes?|commands?|customer|contents|delete|deploy|disable|earlier|follow|forget|forward|ignore|anyone|always"
    "|prompts?|policy|publish|remote|review|reveal|rights|secrets?|server|settings|system|tokens?|upload|should"
    "|address|attacker|webhook|security|safety|access|above|admin|agent|allow|every|files?|force|never|order|prior"
    "|proceed|rules?|users?|shell|skip|emails?|mail|merge|pushes|push|send|share|post|copy|the|these|those|this|that"
    "|there|then|their|what|whatever|when|wait|with|will|must|need|from|have|into|only|your|you|keys?|data|tell|told"
    "|test|code|and|all|any|api|are|ask|env|for|has|its|new|not|now|off|our|out|run|ssh|use|act|add|at|as|be|by|do|in"
    "|is|it|me|my|no|of|on|or|so|to|up|us|we"
)
_CUT_AT = f"({'|'.join(sorted(_CUT_AT.split('|'), key=len, reverse=True))})"


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
_BASE32 = r"[A-Z2-7](?<![A-Za-z0-9+/=].)[A-Z2-7]{23,7999}={0,6}(?![A-Za-z0-9+/=])"
_HEX = r"[0-9a-fA-F](?<![0-9a-fA-F].)[0-9a-fA-F][ :]?(?:[0-9a-fA-F]{2}[ :]?){15,3999}(?![0-9a-fA-F])"
_ESCAPE = r"[%\\](?:(?:(?<=%)|x|u00)([0-9a-fA-F]{2})|(?<=\\)([01][0-7]{2}))"


def encoded(text: str, *, rounds: int = 2) -> Iterator[tuple[int, str]]:
    """Readable texts that stand in text as base64, base32 or hex digits, and lines with escapes, each with its line.

    What was encoded once more is decoded once more.
    """
    if not re.search("[A-Z0-9%\\\\]", text):  # the words of a name: no code of a sentence does without
        return
    runs = [
        (match.start(), match[0], decode)
        for pattern, decode in ((_BASE64, _from_base64), (_BASE32, _from_base32), (_HEX, _from_hex))
        for match in re.finditer(pattern, text)
    ]
    runs += [(at, run, decode) for at, run in _grouped(text) for decode in (_from_base64, _from_base32)]
    found = [(at, inner) for at, run, decode in runs if len(inner := decode(run)) > 12 and inner.isprintable()]
    for line, inner in _by_line(text, found):
        if " " in inner:
            yield line, inner
        if rounds > 1:
            yield from ((line, deeper) for _, deeper in encoded(inner, rounds=rounds - 1))
    for n, written in enumerate(text.split("\n") if "%" in text or "\\" in text else (), 1):
        said = re.sub(_ESCAPE, lambda m: chr(int(m[1], 16) if m[1] else int(m[2], 8)), written)
        if said != written:
            yield n, " ".join(said.split())


def _grouped(text: str) -> Iterator[tuple[int, str]]:
    """Runs of words of one length, as code is cut into groups, each with its place; the last may be shorter."""
    words, found = text.split(), list[tuple[int, str]]()
    first = size = 0
    for n, word in enumerate((*words, "")):
        if len(word) == size:
            continue
        if (n - first) * size > 15 and (n - first > 1 or (size > 23 and word)):
            found += ((first, run) for run in _runs(words[first : n + (len(word) < size)]))
        first, size = n, len(word)
    starts = [match.start() for match in re.finditer(r"\S+", text)] if found else []
    for n, run in found:
        yield starts[n], run


def _runs(parts: list[str]) -> Iterator[str]:
    for some in (parts, parts[1:], parts[:-1]):
        run = "".join(some)  # words alone have neither a capital nor a digit
        if re.search("[A-Z0-9]", run) and re.fullmatch(r"[A-Za-z0-9+/_-]{16,8000}={0,6}", run):
            yield run


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
