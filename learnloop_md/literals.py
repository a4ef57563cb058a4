"""What a rule holds that must be the same as it is written: code, commands, flags, paths, signs, identifiers, numbers.

Prose may be worded anew; `item` and `items`, `-r` and `-R`, `a/b` and `b/a`, 1:2 and 2:1 are different things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from learnloop_md.reading import DIGITS, EMPHASIS, LONG, UNITS, WEAKER, plain
from learnloop_md.words import CJK, STOP, stem, words_of


class Written(NamedTuple):
    """The literal things of a rule, as written."""

    exact: tuple[str, ...]  # each thing that is no prose by its form, in the order of the text
    loose: frozenset[str]  # those whose case says nothing: UTF-8, utf-8
    code: frozenset[str]  # plain words inside code spans and quotes
    spans: tuple[tuple[str, ...], ...]  # code spans of several words
    said: tuple[str, ...]  # all words and things in their order
    prose: frozenset[str]  # the plain words outside code
    initial: frozenset[str]  # those of them that begin a sentence: their capital says nothing
    bound: dict[str, tuple[str, str]]  # a number or a sign -> the words before and after it
    capitals: frozenset[str]  # grammar words in capitals, which are names: US, IT
    units: dict[str, set[str]]  # a number -> the units it has


_CODE = re.compile(r"`+([^`\n]+?)`+|(?<!\w)\"([^\"\n]{1,80})\"(?!\w)")
_NUMBER = re.compile(r"([-+]?)[vV]?(\d+(?:[.,:/x×⁄-]\d+)*)(-?[^\W\d_]*)")
_HARD = re.compile(
    r"[_/\\=<>!#&|~^%$@*+:(){}\[\]€£¥°\u2190-\u2bff\U0001f300-\U0001faff]"  # a sign
    r"|^-{1,2}\w|^\.\w|\w\.\w"  # a flag, a hidden file, a dotted name
    r"|[a-z][A-Z]|\d"  # camel case, a name with a number in it
)
_SOFT = re.compile(r"(?:[A-Za-z]\.){2,}|[a-z]\d+[a-z]")  # e.g., e2e
_CASED = re.compile(r"[_/\\.(:@%$]|^-|[a-z][A-Z]")  # in such a thing a capital is another thing
_WORDLY = re.compile(r"\w")
_ENDS_SENTENCE = re.compile(r"[.!?:;]['\")\]]*$")
# A name stands beside such a word, and is compared as it is written.
_NAMING = words_of(
    "called named name call parameter param header table folder directory label queue topic field column branch tag "
    "flag key variable setting option bucket index collection channel namespace event metric role endpoint module "
    "package class function method property attribute"
)
_TIMES = "ms second minute hour day week month quarter year"
_SIZES = "byte kb mb gb tb kib mib gib percent px pixel point metre meter mile inch gram kg"
_MEASURES = frozenset(map(stem, words_of(f"{_TIMES} {_SIZES}")))
# What is put into capitals for its weight, and what is another thing in capitals: US and us.
_SHOUTED = words_of(
    "do does not never no none non always must should shall may can cannot only all every each any both before after "
    "first unless until without except avoid ensure make sure please ever also then instead but dont needs need"
)
_PRONOUNS = words_of("us it who me he we am i")
_EDGE = re.compile(rf"(?<=[{CJK}])(?=[^{CJK}\s])|(?<=[^{CJK}\s])(?=[{CJK}])")
_DASHES = str.maketrans({"−": "-", "‐": "-", "‑": "-"})


@lru_cache(maxsize=2_000)
def literals(text: str) -> Written:
    """The literal things of a rule."""
    exact: list[str] = []
    loose: set[str] = set()
    code: set[str] = set()
    spans: list[tuple[str, ...]] = []
    said: list[str] = []
    prose: set[str] = set()
    initial: set[str] = set()
    numbers: list[int] = []
    signs: list[int] = []
    begins = True
    for piece, is_code in _pieces(plain(text)[:LONG]):
        here: list[str] = []
        for token in piece.split():
            word = token if is_code else bare(token)
            number = _number(word)
            if number:
                numbers.append(len(said))
                exact.append(number[0])
                here += number
                said += number
            elif word:
                if is_hard(word):
                    if not _WORDLY.search(word):
                        signs.append(len(said))
                    exact.append(word)
                    if not is_code and not _CASED.search(word):
                        loose.add(word.casefold())
                elif is_code:
                    code.add(word)
                else:
                    prose.add(word)
                    if begins:
                        initial.add(word)
                here.append(word)
                said.append(word)
            begins = (not is_code and bool(_ENDS_SENTENCE.search(token))) or (begins and not word)
        if is_code and len(here) > 1:
            spans.append(tuple(here))
    bound = {said[i]: (_near(said, i - 1), _near(said, i + 1)) for i in reversed(numbers + signs)}
    named = {w for w in prose if w.isupper() and len(w) > 1 and w.casefold() in STOP - _SHOUTED}
    capitals = frozenset(named) if any(w != w.upper() for w in prose - named) else frozenset()
    return Written(
        tuple(exact),
        frozenset(loose),
        frozenset(code),
        tuple(spans),
        tuple(said),
        frozenset(prose),
        frozenset(initial),
        bound,
        capitals,
        _units(said, numbers),
    )


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text, each with whether it is code or quoted."""
    at = 0
    for match in _CODE.finditer(text):
        yield _spread(text[at : match.start()]), False
        yield match[1] or match[2] or "", True
        at = match.end()
    yield _spread(text[at:]), False


def _spread(text: str) -> str:
    return _EDGE.sub(" ", EMPHASIS.sub(r"\2", text))


def bare(token: str) -> str:
    """A word without the punctuation of its sentence."""
    token = token.lstrip("\"'([{«…")
    while token:
        last = token[-1]
        if last in ".,;:!?\"'»…" or (last in ")]}" and "([{"[")]}".index(last)] not in token):
            token = token[:-1]
        else:
            break
    token = token.removesuffix("'s")
    return token if re.search(r"[^\W_]", token) or _HARD.search(token) else ""


def _number(word: str) -> list[str]:
    """A number with its sign, and its unit if it hangs on it; nothing for another word."""
    if word.casefold() in DIGITS:
        return ["#" + DIGITS[word.casefold()]]
    match = _NUMBER.fullmatch(word.translate(_DASHES))
    if not match:
        return []
    unit = match[3].lstrip("-").casefold()
    return ["#" + match[1] + match[2].replace(",", ""), *([UNITS.get(unit, unit)] if unit else [])]


def _units(said: list[str], numbers: list[int]) -> dict[str, set[str]]:
    units: dict[str, set[str]] = {}
    for at in numbers:
        if (unit := _near(said, at + 1)) in _MEASURES:
            units.setdefault(said[at], set()).add(unit)
    return units


def _near(said: list[str], at: int) -> str:
    word = said[at].casefold() if 0 <= at < len(said) else ""
    return stem(UNITS.get(word, word)) if word.isalpha() else word


def is_hard(word: str) -> bool:
    """Whether a word is no prose by its form."""
    return bool(_HARD.search(word)) and not _SOFT.fullmatch(word)


def differing(a: Written, b: Written) -> set[str]:
    """The literal things that only one of two rules holds, or that stand in another order."""
    found: set[str] = set()
    apart = []
    for one, other in ((a, b), (b, a)):
        found |= {x.lstrip("#") for x in one.exact if not _has(one, other, x)}
        apart.append([span for span in one.spans if not _within(span, other.said)])
        programs = {span[0] for span in apart[-1]} - {word for span in apart[-1] for word in span[1:]}
        found |= {x for x in one.code - programs if not _says(one, other, x)}
        found |= {x for x in one.prose - one.initial if x[0].isupper() and _inflected(other, x)}
        found |= _counted_otherwise(one, other)
        found |= {x for x in one.capitals - other.capitals if not _spelled(other, x)}
    if all(apart):
        found |= {" ".join(span).replace("#", "") for side in apart for span in side}
    found |= {x.lstrip("#") for x in a.units.keys() & b.units.keys() if not a.units[x] & b.units[x]}
    signs = [[x for x in one.exact if not _WORDLY.search(x)] for one in (a, b)]
    if signs[0] != signs[1] or any(a.bound[x] == b.bound[x][::-1] != b.bound[x] for x in signs[0]):  # a < b, b < a
        found.update(*signs)
    return found


def _has(one: Written, other: Written, thing: str) -> bool:
    """Whether a rule holds a thing, be it taken apart in prose: sed/grep, grep or sed."""
    if thing in other.exact or thing in other.prose or thing in other.code:
        return True
    low = thing.casefold()
    if low in one.loose:
        return low in other.loose or low in {x.casefold() for x in other.exact}
    if low in other.loose or (re.search("[a-z][A-Z]", thing) and thing.isalpha() and low in other.prose):
        return True  # macOS, macos
    if re.fullmatch(r"[^\W\d_]+(?:-[^\W\d_]+)+:?", thing):  # timeout-minutes: 15, a timeout of 15 minutes
        return {stem(x) for x in thing.rstrip(":").split("-")} <= {stem(x.casefold()) for x in other.prose}
    parts = re.split("[/.]", thing)
    if not all(part.isalpha() for part in parts):
        return False
    return all(part in other.prose for part in parts) if "/" in thing else _within(tuple(parts), other.said)


def _says(one: Written, other: Written, word: str) -> bool:
    """Whether a rule says a plain word that is code in another: in code just so, in prose as a name or as a verb."""
    if word in other.code or stem(word) in WEAKER:
        return True
    if word in one.prose:  # the `users` table for tablet users
        return False
    if word in other.prose:
        return True
    low = word.casefold()
    if low in {x.casefold() for x in (other.prose if word == low else other.initial)}:
        return True
    return any(x.endswith("ing") and stem(x.casefold()) == stem(low) for x in other.prose)


def _counted_otherwise(one: Written, other: Written) -> set[str]:
    """Names with a hyphen, or beside a word that introduces a name, that another rule has in another number."""
    joined = {x for x in other.prose if "-" in x}
    found = {x for x in one.prose if "-" in x for y in joined if _of_other_number(x, y) and x not in other.prose}
    beside = _named(other)
    return found | {x for kind, x in _named(one) for k, y in beside if k == kind and _of_other_number(x, y)}


def _named(one: Written) -> set[tuple[str, str]]:
    """Words beside a word that introduces a name, with it: the label bug, a table orders."""
    words = [word.casefold() for word in one.said]
    near = [
        (kind, x)
        for i, kind in enumerate(words)
        if kind in _NAMING
        for x in (*words[max(0, i - 1) : i], *words[i + 1 : i + 2])
    ]
    return {(kind, x) for kind, x in near if x not in STOP}


def _of_other_number(one: str, other: str) -> bool:
    """Whether two words are the singular and the plural of one; of a name with hyphens, any part of it."""
    parts = [word.casefold().split("-") for word in (one, other)]
    if len(parts[0]) != len(parts[1]):
        return False
    off = [sorted(two, key=len) for two in zip(*parts, strict=True) if two[0] != two[1]]
    return bool(off) and all(more in {few + "s", few + "es", few[:-1] + "ies"} for few, more in off)


def _spelled(other: Written, name: str) -> bool:
    """Whether a rule says in small letters what may be in capitals for its weight alone: lint AND test."""
    low = name.casefold()
    return low not in _PRONOUNS and (low in other.prose or low.capitalize() in other.initial)


def _inflected(other: Written, name: str) -> bool:
    """Whether a rule says a name in another number or form only: User, Users."""
    low = name.casefold()
    known = {x.casefold() for x in (*other.prose, *other.code, *other.exact)}
    return low not in known and any(stem(x) == stem(low) and x.rstrip("s") == low.rstrip("s") for x in known)


def lowered(one: str, other: str) -> bool:
    """Whether one of two texts that differ in case alone was put into small letters as a whole."""
    for a, b in ((one, other), (other, one)):
        wrote = literals(a)
        if b == b.lower() and any(x != x.lower() for x in wrote.prose - wrote.initial):
            return True
    return False


def _within(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    size = len(few)
    return any(many[i : i + size] == few for i in range(len(many) - size + 1))


def unbound(a: Written, b: Written, parts: Sequence[Sequence[frozenset[str]]]) -> set[str]:
    """Numbers that stand in another order and are not said of the same things; parts are those of the two sentences."""
    first, second = (
        list(dict.fromkeys(x for x in one.exact if x[0] == "#" and x in a.bound and x in b.bound)) for one in (a, b)
    )
    if first == second:
        return set()
    loose = {x for x in first if not any(p and p == q for p, q in zip(a.bound[x], b.bound[x], strict=True))}
    here, there = ({x: [part for part in of if x in part] for x in first} for of in parts)

    def common(x: str, y: str) -> int:
        """How many words are said both of a number here and of another there; none where two share a part."""
        few = here[x] + there[y]
        return len(here[x][0] & there[y][0]) if len(few) == 2 and not any(len(loose & part) > 1 for part in few) else 0

    kept = {x for x in loose if common(x, x) > max((common(x, y) for y in loose - {x}), default=0)}
    return {x.lstrip("#") for x in loose - kept} if len(loose - kept) > 1 else set()
