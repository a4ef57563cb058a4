"""Tell whether two rules say the same thing, by word rules alone: no model, no network, no state.

A missed repeat costs one more entry, a wrong merge loses a lesson: so every doubt ends in "near".
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

# How much of their weighted words two rules must share to be called the same, opposite or near.
SAME, OPPOSITE, NEAR = 0.7, 0.4, 0.45
_LONG = 2000  # a rule is a sentence or two: of a longer text only so much is weighed


class Likeness(NamedTuple):
    """A stored text that is like the one asked for: its slug, the verdict, how alike, and why."""

    slug: str
    verdict: str  # "same" | "near" | "opposite"
    score: float  # 0..1, rounded to 2 digits
    why: str


class _Shape(NamedTuple):
    """What a rule says, as far as word rules can see; words stand as stems."""

    norm: str
    words: tuple[str, ...]  # in the order of the text
    names: dict[str, frozenset[str]]  # a named thing -> the words it is made of
    plus: frozenset[str]  # what is said to be so ...
    minus: frozenset[str]  # ... and what is negated; a word can stand in both
    order: frozenset[tuple[str, str]]  # (earlier or preferred, later or not)
    ties: dict[str, set[str]]  # a word -> the prepositions it hangs on
    forms: dict[str, str]  # a stem -> the word as written
    small: frozenset[str]  # grammar words and signs that can change the meaning: only, unless, up, <=
    reasons: frozenset[str]  # words that only tell why


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that carry grammar, not content.
_ARTICLE = _set("a an the this that these those our your its")
_TIES = _set("to into onto from in on by with at for under of as than via per through")
_STOP = _set(
    "it itself he she they them their we us you i my me within is are was were be been being am do does did "
    "doing done have has had having will would shall should can could may might must need needs needed "
    "require requires required and or but nor so then because since if when whenever where while what which "
    "who whom whose how why there here all any both each every some such same too very just also please "
    "make makes sure ensure always ever up down off out about between among during against like first "
    "before after over instead rather place else otherwise prior never not no none cannot dont without "
    "avoid non only unless except until"
)
_STOP |= _ARTICLE | _TIES
# Words so common in rules that sharing or missing them says little.
_WEAK = _set("use prefer run keep put set add go take give get let call want work thing way repo code file start")
_NEG = _set("not never no none nor cannot dont unlike")
_UNDO = _set("without avoid skip stop forbid refrain omit")  # these turn a "not" before them round
_BACK = _set("fail fails failed break breaks forbidden banned prohibited disallowed deprecated wrong")
_PREDICATE = _set("use long allow permit welcome support need work accept valid recommend good")
_TURN = _set("but because since so if when unless while until then use prefer choose")  # a negation ends here
_WHOSE = _set("that which who you if when")  # "lines you don't change" negates no rule
_PREFER = _set("prefer favor favour choose pick better")
_ORDER = _set("before after prior than then")
_LIMIT = _set("only unless except until")
_SMALL = _set("up down on off in out under over first")
_DIGITS = {"zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7"}
_DIGITS |= {"eight": "8", "nine": "9", "ten": "10", "twelve": "12", "twenty": "20", "hundred": "100"}
# One meaning each; the first word stands for all.
_SYNONYMS = (
    "use/employ/utilise/utilize run/execute/invoke/launch delete/remove/erase/drop edit/modify/change/alter "
    "check/verify select/choose/pick store/save/persist answer/reply/response repo/repository "
    "directory/folder/dir long/lengthy config/configuration database/db docs/documentation/doc argument/arg "
    "environment/env short/brief/concise begin/start finish/complete fetch/load/retrieve show/display "
    "approval/permission message/msg absolute/full parameter/param function/func create/generate "
    "write/written/wrote keep/kept build/built send/sent give/given take/taken choose/chosen"
)
_ANTONYMS = (
    "enable/disable add/delete include/exclude allow/deny allow/forbid permit/forbid accept/reject "
    "first/last min/max more/less most/least minimum/maximum increase/decrease start/stop open/close "
    "show/hide lock/unlock public/private local/remote local/global absolute/relative internal/external "
    "inside/outside above/below upper/lower true/false uppercase/lowercase left/right top/bottom "
    "ascending/descending asc/desc explicit/implicit static/dynamic new/old mutable/immutable "
    "required/optional mandatory/optional plural/singular foreground/background short/long early/late "
    "fast/slow strict/lenient serial/parallel sequential/parallel manual/automatic manually/automatically "
    "sync/async synchronous/asynchronous push/pull read/write encode/decode single/multiple big/small "
    "large/small high/low success/failure keep/delete store/delete create/delete eager/lazy hard/soft "
    "allowlist/denylist client/server input/output safe/unsafe secure/insecure on/off up/down over/under "
    "in/out"
)
_IDIOMS = tuple(
    (re.compile(rf"\b(?:{idiom})\b", re.I), meaning)
    for idiom, meaning in (
        ("(?:no|not) more than", "at most"),
        ("(?:no|not) (?:less|fewer) than", "at least"),
        ("not (?:only|just)", ""),
        ("(?:do not|don't|never) forget to", ""),
    )
)
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_CJK_NOT = re.compile("不|没|沒|勿|禁|别|別|无|無|ない|ません|なし|않|지 마|금지|말고")
_TOKEN = re.compile(
    rf"(?P<cjk>[{_CJK}]+)|(?P<num>(?<![^\W_])[vV]?\d+(?:[.,]\d+)*)"
    rf"|(?P<word>[^\W\d_{_CJK}][^\W_{_CJK}]*(?:'[a-zA-Z]+)?)"
    r"|(?P<stop>[.,;:!?](?!\S)|[()\n;]|(?<=\s)[-–—]+(?=\s)|—)"
)
_NAME = re.compile(
    r"`+(?P<code>[^`\n]+)`+"
    r"|(?<![\w/.-])(?:--?[A-Za-z][\w-]*(?:=\S*\w)?"  # a flag
    r"|[\w.~@-]*/[\w./*-]*\w/?"  # a path
    r"|(?:[A-Za-z]\w*)?(?:\.[A-Za-z]\w*)+|\w*[A-Za-z]_\w+"  # dotted, or with underscores
    r"|[A-Za-z]*[a-z][A-Z]\w*"  # camel case
    r"|[A-Z][A-Z0-9]+(?![\w'])"  # capitals
    r"|(?<=[\w,] )[A-Z][a-z]\w*)"  # a proper name inside a sentence
)
_BITS = re.compile(r"[^\W_]+")
_SIGNS = re.compile(r"[<>=!+#&|~^%$@*\\]+")
_QUOTES = str.maketrans("‘’“”´", "''\"\"'")
_LABEL = re.compile(r"^\W*(?:note to self|note|remember|reminder|important|tip|rule|fyi)\s*[:!–—-]\s*", re.I)
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_)(?=[^\W_])([^*_\n]+?)(?<=\w)\1(?![\w*])")


def _cut(word: str) -> str:
    """The word without plural, -ing, -ed and a silent e."""
    for end, new in (("ies", "y"), ("ing", ""), ("ied", "y"), ("ed", ""), ("s", "")):
        cut = word[: -len(end)] + new
        if word.endswith(end) and len(cut) > 2 and re.search("[aeiouy]", cut) and cut[-1] not in "su":
            twin = end in {"ing", "ed"} and cut[-1] == cut[-2] and cut[-1] not in "lsz"
            word = cut[:-1] if twin else cut
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


_KIN = {_cut(word): _cut(group.split("/")[0]) for group in _SYNONYMS.split() for word in group.split("/")}


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    return _KIN.get(_cut(word), _cut(word))


_WEAKER, _VAGUE = frozenset(map(_stem, _WEAK)), frozenset(map(_stem, _PREDICATE))
_AGAINST = {tuple(map(_stem, two.split("/")[::way])) for two in _ANTONYMS.split() for way in (1, -1)}


def rank(text: str, others: Iterable[tuple[str, str]]) -> list[Likeness]:
    """The stored texts that are the same as, near to, or opposite of text, best first (R004-30, R004-35)."""
    asked, seen = _read(text), _glance(text)
    found = []
    for slug, other in others:
        also = _glance(other)
        # Cheap first look: a pair with fewer common words cannot reach the lowest score.
        if seen and also and 10 * len(seen & also) < len(seen) + len(also):
            continue
        if hit := _compare(asked, _read(other)):
            found.append(Likeness(slug, *hit))
    return sorted(found, key=lambda like: (like.verdict != "same", -like.score, like))


def stems(text: str) -> set[str]:
    """The words of a text that carry content, as stems."""
    return {_stem(word) for word in _BITS.findall(text.lower()) if word not in _STOP}


def _glance(text: str) -> set[str]:
    """The stems of a plain text; nothing for one that needs a closer look."""
    words = _BITS.findall(text.lower()) if text.isascii() else []
    return {_stem(word) for word in words if word not in _STOP}


def _norm(text: str) -> str:
    """The text without case, spacing, emphasis and the punctuation around its words."""
    plain = _EMPHASIS.sub(r"\2", text.replace("`", "")).casefold()
    pieces = (piece.lstrip("\"'([{").rstrip(".,;:!?\"')]}") or piece for piece in plain.split())
    return " ".join(piece for piece in pieces if piece.strip(".,;:!?\"'-–—…"))


def _read(text: str) -> _Shape:
    flat = _LABEL.sub("", unicodedata.normalize("NFKC", text).translate(_QUOTES))
    body = flat[:_LONG]
    for idiom, meaning in _IDIOMS:
        body = idiom.sub(meaning, body)
    found = [m for m in _NAME.finditer(body) if m["code"] or m[0].lower() not in _STOP]
    spans = [(m.start(), m.end(), (m["code"] or m[0]).casefold().strip("/() ")) for m in found]
    reader, at = _Reader(), 0
    for m in _TOKEN.finditer(body):
        while at < len(spans) and spans[at][1] <= m.start():
            at += 1
        name = spans[at][2] if at < len(spans) and spans[at][0] <= m.start() else ""
        raw = m[0].casefold().removesuffix("'s")
        if m.lastgroup == "stop":
            if not name:
                reader.stop(raw)
        elif m.lastgroup == "cjk":
            reader.add([raw[i : i + 2] for i in range(max(1, len(raw) - 1))], name)
        elif m.lastgroup == "num":
            reader.add(["#" + raw.lstrip("v").replace(",", "")], name)
        elif name:
            reader.forms[_stem(raw)] = raw
            reader.add([_stem(raw)], name)
        else:
            reader.word(raw, body[m.end() : m.end() + 6].casefold())
    reader.close()
    minus, plus = map(frozenset, reader.signs)
    if len(_CJK_NOT.findall(body)) % 2:
        minus, plus = plus, minus
    names = {name: frozenset(reader.names.get(name, ())) for _, _, name in spans}
    norm = _norm(flat)
    small = frozenset(reader.small | set(_SIGNS.findall(norm)))
    reasons = frozenset(word for word, only in reader.why.items() if only)
    order, ties, forms = _order(reader.said), reader.ties, reader.forms
    return _Shape(norm, tuple(reader.words), names, plus, minus, order, ties, forms, small, reasons)


class _Reader:
    """Hears a rule word by word and keeps what is negated, what comes first, what belongs to what."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.names: dict[str, set[str]] = {}
        self.signs: tuple[set[str], set[str]] = (set(), set())  # negated, stated
        self.said: list[list[str]] = [[]]  # the words of each clause with those that give an order
        self.ties: dict[str, set[str]] = {}
        self.forms: dict[str, str] = {}
        self.small: set[str] = set()
        self.why: dict[str, bool] = {}
        self.clause: list[tuple[str, bool | None, bool]] = []  # word, sign if known, whether it tells
        self.sign: bool | None = True
        self.back, self.negated, self.non, self.reason = 0, False, False, False
        self.last = self.tie = ""

    def close(self) -> None:
        """End what a negation reaches; "X is not used" and "X fails" negate what stands before them."""
        cut = next((i for i, (_, good, _) in enumerate(self.clause) if not good), len(self.clause))
        if not self.back and self.negated and not any(tells for _, _, tells in self.clause[cut:]):
            self.back = cut
        for i, (word, good, _) in enumerate(self.clause):
            if good is not None:
                self.signs[good != (i < self.back)].add(word)
        self.clause, self.back, self.negated, self.sign = [], 0, False, True

    def stop(self, mark: str) -> None:
        # "no emojis in code, comments": what follows the comma may be negated or not.
        unsure = mark == "," and self.sign is not True
        self.close()
        self.sign = None if unsure else True
        self.said.append([])
        self.reason, self.last, self.tie = False, "", ""

    def add(self, stems: list[str], name: str = "", tells: bool = True) -> None:
        for stem in stems:
            self.words.append(stem)
            self.clause.append((stem, self.sign, tells))
            self.said[-1].append(stem)
            self.ties.setdefault(stem, set()).add(self.tie)
            self.why[stem] = self.reason and self.why.get(stem, True)
        if name:
            self.names.setdefault(name, set()).update(stems)
            self.clause.append((name, self.sign, tells))
        if self.non:
            self.sign, self.non = True, False
        self.last = ""

    def word(self, raw: str, following: str) -> None:
        before, self.last = self.last, raw
        if raw in _TIES or (raw in _STOP and raw not in _ARTICLE):
            self.tie = raw if raw in _TIES else ""
        over = raw in {"over", "to"} and before not in _PREFER and any(w in _PREFER for w in self.said[-1])
        pair = (raw + following).startswith(("instead of ", "rather than ", "non-", "non "))
        against = over or pair or raw in _NEG or raw.endswith("n't")
        if raw in _UNDO | _LIMIT and self.sign is False:
            # "never push without tests" does not say never to push, but to test first
            self.said[-1].append("<after")
            self.small.add("an order")
            self.clause = [(word, good or None, tells) for word, good, tells in self.clause]
        if raw in _UNDO:
            self.sign, self.negated = not self.sign, bool(self.sign)
        elif against and before in _WHOSE:
            self.small.add("not")
        elif against:
            self.sign, self.negated, self.non = False, True, raw == "non"
        elif (raw in _TURN and before not in _NEG and before[-3:] != "n't") or (raw == "as" and not before):
            self.close()
            self.said[-1].append("<so")
            self.reason |= raw in {"because", "since", "as"}
        elif raw in _BACK and self.sign:
            self.back = len(self.clause)
        if raw in _ORDER or over:
            self.said[-1].append("<" + raw)
        if raw in _SMALL | _LIMIT and not over:
            self.small.add(raw)
        if raw in _ORDER - {"than", "then"} or raw == "first":
            self.small.add("an order")
        if not (against or raw in _STOP or raw in _UNDO):
            stem = "#" + _DIGITS[raw] if raw in _DIGITS else _stem(raw)
            self.forms[stem] = raw
            self.add([stem], tells=stem not in _VAGUE)
            self.last = raw


def _order(said: list[list[str]]) -> frozenset[tuple[str, str]]:
    pairs: set[tuple[str, str]] = set()
    for i, clause in enumerate(said):
        for j, mark in enumerate(clause):
            if mark[0] != "<" or mark == "<so":
                continue
            left, right = clause[max(0, j - 8) : j], clause[j + 1 : j + 9]
            if all(w[0] == "<" for w in left):  # "before committing, run the tests"
                left = [[], *said, []][i if mark == "<then" else i + 2][:8]
                left = [] if left[:1] == ["<so"] else left
            if mark == "<after":
                left, right = right, left
            pairs.update((a, b) for a in left for b in right if a != b and a[0] != "<" != b[0])
    return frozenset(pairs)


def _compare(a: _Shape, b: _Shape) -> tuple[str, float, str] | None:
    if a.norm == b.norm:
        return ("same", 1.0, "equal after normalising") if a.norm else None
    shared = set(a.words) & set(b.words)
    left, right = set(a.words) - shared, set(b.words) - shared
    few = len(left) + len(right) < 6  # with more words off it is no slip of the fingers
    typos = {word for x in left for y in right if few and _typo(x, y) for word in (x, y)}
    left, right = left - typos, right - typos
    same = _weight(shared) + len(typos) / 2
    score = 2 * same / ((2 * same + _weight(left - a.reasons) + _weight(right - b.reasons)) or 1)
    verdict, why = _judge(a, b, (shared, typos, left, right), score) if score >= OPPOSITE else ("", "")
    return (verdict, round(min(score, 0.99), 2), why) if verdict else None


def _weight(words: Iterable[str]) -> float:
    return sum(0.4 if word in _WEAKER else 1.0 for word in words)


def _typo(a: str, b: str) -> bool:
    """Whether two longer words differ by two letters that changed places."""
    off = [i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y]
    if len(a) != len(b) or len(a) < 6 or len(off) != 2 or off[0] == 0:
        return False
    return off[1] == off[0] + 1 and a[off[0]] == b[off[1]] and a[off[1]] == b[off[0]]


def _judge(a: _Shape, b: _Shape, parts: tuple[set[str], ...], score: float) -> tuple[str, str]:
    shared, typos, left, right = parts
    more, fewer = left - _WEAKER, right - _WEAKER
    first, second = ([w for w in words if w in shared] for words in (a.words, b.words))
    # The same template with other words in it; of a common verb for another, only a lone one counts.
    differ = first == second and ((more and fewer) or (len(left) == len(right) == 1 and (more or fewer)))
    replaced = left | right if differ else set()
    numbers = [{w for w in side if w[0] == "#"} for side in (left, right)]
    apart = [_apart(a, b, shared | typos), _apart(b, a, shared | typos)]
    turned, which, much = _turned(a, b, left, right)
    opposite = turned and not all(numbers) and not all(apart) and (much or not replaced)
    narrower = (not left and fewer - b.reasons) or (not right and more - a.reasons)
    doubts = (
        (opposite, turned, which),
        (any(numbers), "the numbers differ", numbers[0] | numbers[1]),
        (all(apart), "the names differ", apart[0] | apart[1]),
        (turned, turned, which),
        (replaced, "other words", replaced),
        (swapped := _swapped(a, b, first, second), "roles swapped", swapped),
        (limits := (a.small ^ b.small) - _SMALL, "a limit or sign differs", limits),
        (narrower, "one says more", more | fewer),
        (len(shared) < 2, "too short to tell", shared),
        (2 * max(len(a.norm), len(b.norm)) > _LONG, "too long to tell", ()),
    )
    verdict, why = (
        "same" if score >= SAME else "near",
        f"{len(shared)} of {len({*shared, *left, *right})} words",
    )
    for doubt, what, words in doubts:
        if doubt:
            told = sorted({(a.forms | b.forms).get(w, w).lstrip("#") for w in words})
            verdict, why = "opposite" if opposite else "near", what + (": " + ", ".join(told) if told else "")
            break
    return ("", "") if verdict == "near" and score < NEAR else (verdict, why)


def _apart(a: _Shape, b: _Shape, known: set[str]) -> set[str]:
    """The named things of a that b does not name."""
    away = set()
    for name, parts in a.names.items():
        rivals = [more for other, more in b.names.items() if other not in a.names and " " not in name + other]
        told = name in b.names or f" {name} " in f" {b.norm} "
        meant = parts and (parts - _WEAKER or parts) <= known and not any(parts & more for more in rivals)
        if not told and not meant:
            away.add(name)
    return away


def _swapped(a: _Shape, b: _Shape, first: list[str], second: list[str]) -> set[str]:
    """Words that trade places, or the prepositions they hang on."""
    off = [i for i, (x, y) in enumerate(zip(first, second, strict=False)) if x != y]
    if len(first) == len(second) and len(off) == 2 and off[1] - off[0] > 1:
        return {first[off[0]], second[off[0]]}
    tied = [(w, a.ties[w], b.ties[w]) for w in {*first} & {*second} if not a.ties[w] & b.ties[w]]
    return {w for w, p, q in tied for _, r, s in tied if p & s and q & r}


def _turned(a: _Shape, b: _Shape, left: set[str], right: set[str]) -> tuple[str, set[str], bool]:
    """Why b says the contrary of a, if it does; and whether that holds among other words too."""
    none: set[str] = set()
    ups = (a.plus - a.minus) & (b.minus - b.plus)
    downs = (a.minus - a.plus) & (b.plus - b.minus)
    if ups and downs:
        return "roles swapped", {*ups, *downs}, True
    ours, theirs = left | (a.small - b.small), right | (b.small - a.small)
    pairs = {pair for pair in _AGAINST if pair[0] in ours and pair[1] in theirs}
    if pairs:
        return "antonyms", {word for pair in pairs for word in pair}, len(left) == len(right) <= len(pairs)
    crossed = {p for p in a.order if p[::-1] in b.order and p not in b.order and p[::-1] not in a.order}
    if crossed:
        return "roles swapped", {word for pair in crossed for word in pair}, True
    if (ups or downs) and not a.minus & b.minus:
        common = (a.plus | a.minus) & (b.plus | b.minus)
        return "negated", none, _weight(ups | downs) >= 0.6 * _weight(common)
    return "", none, False
