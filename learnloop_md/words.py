"""Words of a text: stems, roots, parts of names, CJK by pairs of characters. No model, no network, no state."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from learnloop_md.vocabulary import FOREIGN, KIN, SYNONYMS


def words_of(text: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(text.split())


# Words that carry grammar, not content.
ARTICLES = words_of("a an the this that these those our your its")
TIES = words_of("to into onto from in on by with at for under of as than via per through")
STOP = ARTICLES | TIES
STOP |= words_of(
    "it itself he she they them their we us you i my me within is are was were be been being am do does did "
    "doing done have has had having will would shall should can could may might must need needs needed "
    "require requires required and or but nor so then because since if when whenever where while what which "
    "who whom whose how why there here all any both each every some such same too very just also please "
    "make makes sure ensure always ever up down off out about between among during against like first "
    "before after over instead rather place else otherwise prior never not no none cannot dont without "
    "avoid non only unless except until plus"
)
CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"


_VOWEL = re.compile("[aeiouy]")


def cut(word: str) -> str:
    """The word without plural, -ing, -ed, -ly and a silent e; -ise counts as -ize."""
    for end, new in (("ies", "y"), ("ing", ""), ("ied", "y"), ("ed", ""), ("s", "")):
        short = word[: -len(end)] + new
        if word.endswith(end) and len(short) > 2 and _VOWEL.search(short) and (end != "s" or short[-1] not in "su"):
            twin = end in {"ing", "ed"} and short[-1] == short[-2] and short[-1] not in "lsz"
            word = short[:-1] if twin else short
            break
    if len(word) > 5 and word.endswith("ly") and word[-3] != "p":  # directly, automatically
        word = word[:-4] if word.endswith("ically") else word[:-3] + "y" if word.endswith("ily") else word[:-2]
    word = word[:-1] if len(word) > 3 and word.endswith("e") else word
    return word[:-2] + "iz" if len(word) > 5 and word.endswith("is") else word  # normalise, normalize


_FIRST = {cut(word): cut(group.split("/")[0]) for group in SYNONYMS.split() for word in group.split("/")}


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """What all forms of a word, and of words that mean the same, have in common."""
    short = cut(word)
    return _FIRST.get(short, short)


_FOREIGN = words_of(FOREIGN)
_ENGLISH = STOP - words_of("in an am so was on me he per or as a do at us plus via")  # words of other languages too


def is_foreign(said: Iterable[str]) -> bool:
    """Whether the words of a text, in small letters, have more grammar of other languages than of English."""
    words = list(said)
    return sum(word in _FOREIGN for word in words) > sum(word in _ENGLISH for word in words)


_GROUPS = [frozenset(map(stem, group.split("/"))) for group in KIN.split()]


def akin(one: str, other: str) -> bool:
    """Whether two stems are used for nearly the same thing."""
    return any(one in group and other in group for group in _GROUPS)


_ENDS = (
    "ization isation izer iz ational ations ation itions ition ments ment ions ion ings ing ers er ors or ives ive "
    "ally ly ables able ibles ible ities ity ness ives als al ies ied es ed s e y"
).split()


@lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """A bolder stem, for search: deploy, deployed, deployment; what it joins wrongly costs a rank, not a lesson."""
    short = stem(word)
    for _ in range(2):  # serial-iz-er
        end = next((end for end in _ENDS if short.endswith(end) and len(short) - len(end) >= 4), "")
        if not end or (end == "y" and short[-2] in "aeiou"):
            break
        short = short[: -len(end)]
    if len(short) > 4 and short[-1] == short[-2] and short[-1] not in "ls":
        short = short[:-1]
    return _FIRST.get(short, short)


_TERM = re.compile(rf"(?P<cjk>[{CJK}]+)|(?P<num>\d+(?:\.\d+)*)|[^\W\d_{CJK}][\w]*(?:'[^\W\d_]+)?|_\w+")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")


@lru_cache(maxsize=20_000)
def _terms_of(word: str) -> tuple[tuple[str, str], ...]:
    parts = _PARTS.findall(word) if not word.isalpha() or not (word.islower() or word.istitle()) else [word]
    whole = [(word.lower(), word)] if len(parts) > 1 else []
    lower = [(part.lower(), part) for part in parts]
    return (*whole, *((root(low), part) for low, part in lower if low not in STOP and (len(low) > 1 or low > "\x7f")))


def terms(text: str) -> list[tuple[str, str]]:
    """The search terms of a text in its order, each with the word it was made of.

    Names are taken apart (`loadRows`, `load_rows`) and kept whole too; CJK is cut into pairs of characters.
    """
    found: list[tuple[str, str]] = []
    for match in _TERM.finditer(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        word = match[0]
        if match["cjk"]:
            found += [(word[i : i + 2],) * 2 for i in range(max(1, len(word) - 1))]
        elif match["num"]:
            found.append((word, word))
        else:
            found += _terms_of(word.partition("'")[0])
    return found
