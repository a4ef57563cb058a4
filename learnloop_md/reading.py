"""Reads what a rule says, as far as word rules can see: what is stated, what is negated, what comes first."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from learnloop_md.words import ARTICLES, CJK, STOP, TIES, stem, words_of

LONG = 2000  # a rule is a sentence or two: of a longer text only so much is weighed


class Shape(NamedTuple):
    """What a rule says, as far as word rules can see; words stand as stems."""

    norm: str
    words: tuple[str, ...]  # in the order of the text
    names: dict[str, frozenset[str]]  # a named thing -> the words it is made of
    plus: frozenset[str]  # what is said to be so ...
    minus: frozenset[str]  # ... and what is negated; a word can stand in both
    order: frozenset[tuple[str, str]]  # (earlier or preferred, later or not)
    ties: dict[str, set[str]]  # a word -> the prepositions and conditions it hangs on
    forms: dict[str, str]  # a stem -> the word as written
    small: frozenset[str]  # grammar words and signs that can change the meaning: only, unless, up, <=
    reasons: frozenset[str]  # words that only tell why
    strong: frozenset[str]  # parts of names and numbers: they say more than other words
    said: tuple[str, ...]  # the words as they were said, grammar included
    clauses: tuple[frozenset[str], ...]  # the words between two stops
    listed: frozenset[str]  # members of an enumeration, which may stand in any order
    parts: tuple[frozenset[str], ...]  # the words of each member of a sentence: between stops, "and", "then", "because"
    verbs: frozenset[str]  # what may be a verb by its place: first in a clause, behind must, to, not
    glossed: frozenset[str]  # words that are explained by code behind them: the Makefile (`make test`)
    phrases: tuple[frozenset[str], ...]  # the words of each circumstance: on Windows, after a rollback


# Words so common in rules that sharing or missing them says little.
_WEAK = words_of(
    "use prefer run keep put set add go take give get let call want work thing way repo code file start apply perform "
    "carry contain belong stay come happen bring provide handle explicit direct simple really now yourself"
)
# What a named thing is: "the main branch", "the load function".
_CLASSES = words_of(
    "branch file folder directory command flag option module function method class package tool library field type "
    "value name key call"
)
_NEG = words_of("not never no none nor cannot dont unlike nobody nothing")
# These turn a "not" before them round.
_UNDO = words_of("without avoid skip stop forbid refrain omit bypass circumvent prohibit ban")
_BACK = words_of(
    "fail fails failed break breaks miss misses lack lacks lose loses corrupt corrupts hang hangs crash crashes "
    "forbidden banned prohibited disallowed deprecated wrong"
)
_PREDICATE = words_of("use long allow permit welcome support need work accept valid recommend good")
_TURN = words_of("but because since so if when unless while until then use prefer choose")  # a negation ends here
_WHOSE = words_of("that which who you if when")  # "lines you don't change" negates no rule
_COND = words_of("if when while during unless")  # what they say reaches over "it is"
_TYING = TIES | _COND | words_of("behind beyond beside inside outside within toward towards across along around")
_TYING |= words_of("among against despite before after else otherwise")
_ALIKE = {"otherwise": "else"}
_CIRCUMSTANCE = _TYING | words_of("until since once whenever where between that which who whose")
_CIRCUMSTANCE -= words_of("of as than")
_JOINING = ARTICLES | words_of("and or all any both each every some such same")
_VERBAL = words_of("to be must should shall may can could will would not never always don't dont please and or then")
_FRONTED = words_of("unless until without except")
_CONJUNCTIONS = words_of("and or but nor then so because since as plus")
_PHRASE = 4  # words that one preposition reaches over
_PREFER = words_of("prefer favor favour choose pick better")
_ORDER = words_of("before after prior than then")
_NEEDLESS, _COPULA = words_of("optional unnecessary needless unneeded superfluous"), words_of("is are be was were stay")
# How often or how surely: "rarely" is not "always", "may" is not "must", "some" are not "all".
_DEGREE = words_of(
    "rarely seldom hardly barely sometimes occasionally sparingly usually often mostly may might some few own"
)
_LIMIT = words_of("only unless except until")
# What may deny a rule as a whole: "refuse to squash", "squashing is a mistake".
_DENIAL = words_of(
    "refuse decline reject resist cease quit hesitate forget wrong mistake bad harm harmful hurt dangerous "
    "pointless useless discourage forbidden prohibited banned disallowed outdated obsolete deprecated opposite false"
)
_PHRASAL = words_of("check log sign opt plug turn switch roll shut spin fill hand build type back look")  # check in
SMALL = words_of("up down on off in out under over first")
DIGITS = {"zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7"}
DIGITS |= {"eight": "8", "nine": "9", "ten": "10", "twelve": "12", "twenty": "20", "hundred": "100"}
UNITS = {"s": "second", "sec": "second", "min": "minute", "h": "hour", "ms": "millisecond"}
_UNIT = re.compile(r"(?<=\d)(ms|s|sec|min|h)\b")
WEAKER, CLASSES, _VAGUE, _DENIES = (frozenset(map(stem, w)) for w in (_WEAK, _CLASSES, _PREDICATE, _DENIAL))
_IDIOMS = tuple(
    (re.compile(rf"\b(?:{idiom})\b", re.I), meaning)
    for idiom, meaning in (
        ("(?:no|not) more than", "at most"),
        ("(?:no|not) (?:less|fewer) than", "at least"),
        ("not (?:only|just)", ""),
        ("once(?= (?:the|it|they|this)\\b)", "when"),
        ("(?:nobody|no[ -]?one|none) (?:but|except|other than)", "only"),
        ("(?:stop|avoid|forbid|prohibit|ban) (?:(?:the|any|all) )?(?:use|usage) of", "avoid"),
        ("(?<!not )(?<!not be )independent (?:of|from)", "not depend on"),
        ("stop(?= (?:the|an?|your|all|every|each) (?!practice|habit|[\\w-]+ing\\b))", "stopping"),
        ("shut(?:ting)? down", "stopping"),
        ("shut ((?:[\\w-]+ ){1,4})down", r"stopping \1"),
        ("(?:do not|don't|never) forget to", ""),
        ("(?:pull|merge) requests?", "pr"),
        ("(?:open|raise|file|create|submit|send)(?= an? (?:pr|issue|ticket)\\b)", "open"),
        ("by hand", "manually"),
        ("(?:no longer|not|isn't) (?:true|valid)", "outdated"),
        ("no longer|no more(?! than)", "not"),
        ("any ?more", ""),
        ("(?:bring|get|keep)(?= (?:[\\w-]+ ){0,3}up[ -]to[ -]date)", "update"),
        ("up[ -]to[ -]date", ""),
        ("up front|upfront", "first"),
        ("(?<=[\\d)`]-)only", ""),  # "3.12-only syntax" limits no rule
    )
)
_CJK_NOT = re.compile("不|没|沒|勿|禁|别|別|无|無|ない|ません|なし|않|지 마|금지|말고")
_TOKEN = re.compile(
    rf"(?P<cjk>[{CJK}]+)|(?P<num>(?<![^\W_{CJK}])[vV]?\d+(?:[.,]\d+)*)"
    rf"|(?P<word>[^\W\d_{CJK}][^\W_{CJK}]*(?:'[a-zA-Z]+)?)"
    r"|(?P<stop>[.,;:!?](?!\S)|[()\n;]|(?<=\s)[-–—]+(?=\s)|—)"
)
_NAME = re.compile(
    r"`+(?P<code>[^`\n]+)`+"
    r"|(?<![\w/.-])(?:--?[A-Za-z][\w-]*(?:=\S*\w)?"  # a flag
    r"|[\w.~@-]*/[\w./*-]*\w/?"  # a path
    r"|(?:[A-Za-z]\w*)?(?:\.[A-Za-z]\w*)+|\w*[A-Za-z]_\w+|[A-Za-z]\w*\(\)"  # dotted, with underscores, a call
    r"|[A-Za-z]*[a-z][A-Z]\w*"  # camel case
    r"|[A-Z][A-Z0-9]+(?![\w'])"  # capitals
    r"|(?<=[\w,] )[A-Z][a-z]\w*)"  # a proper name inside a sentence
)
_SAID = re.compile(rf"[^\W{CJK}](?:[\w.'-]*\w)?|[{CJK}]")
_LIST = re.compile(r"[\w`.-]+(?:, [\w`.-]+)*,? (?:and|or) [\w`.-]+")
BITS = re.compile(r"[^\W_]+")
_GLOSS = re.compile(r"(\w+) \(`[^`\n]+`\)")
_SIGNS = re.compile(r"[<>=!+#&|~^%$@*\\]+")
_WRITTEN = frozenset("/\\.-_:@#%&*!?()[]{}")  # such signs may belong to code; the literals tell
_QUOTES = str.maketrans("‘’“”´", "''\"\"'")
_LABEL = re.compile(r"^\W*(?:note to self|note|remember|reminder|important|tip|rule|fyi)\s*[:!–—-]\s*", re.I)
_BEGINS = re.compile(r"(?:^|[.!?:;\n\"'(\[*_>-])\s*$")
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_)(?=[^\W_])([^*_\n]+?)(?<=\w)\1(?![\w*])")


OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff\u00b5\u03bc]")  # letters that are not Latin
_POLITE = re.compile("请|請")


def _unspaced(text: str) -> str:
    """A text in another script without punctuation and politeness, and without spaces where none are needed."""
    kept = "".join(" " if unicodedata.category(c)[0] in "PZ" and c not in _WRITTEN else c for c in normal(text))
    kept = re.sub(rf"(?<=[{CJK}]) +| +(?=[{CJK}])", "", _POLITE.sub("", kept))
    return " ".join(kept.split())


def normal(text: str) -> str:
    """The text without case, spacing, emphasis and the punctuation around its words."""
    plain = EMPHASIS.sub(r"\2", text.replace("`", "")).casefold()
    pieces = (piece.lstrip("\"'([{").rstrip(".,;:!?\"')]}") or piece for piece in plain.split())
    return " ".join(piece for piece in pieces if piece.strip(".,;:!?\"'-–—…"))


def plain(text: str) -> str:
    """The text with plain quotes and letters, without a label like "Note:" before it."""
    return _LABEL.sub("", unicodedata.normalize("NFKC", text).translate(_QUOTES))


@lru_cache(maxsize=2_000)
def read(text: str) -> Shape:
    """What a rule says."""
    flat = plain(text)
    body = flat[:LONG]
    body = _UNIT.sub(lambda m: " " + UNITS[m[1]], body)
    for idiom, meaning in _IDIOMS:
        body = idiom.sub(meaning, body)
    found = [m for m in _NAME.finditer(body) if m["code"] or m[0].lower() not in STOP]
    spans = [(m.start(), m.end(), (m["code"] or m[0]).casefold().strip("/() ")) for m in found]
    reader, at = _Reader(), 0
    for m in _TOKEN.finditer(body):
        while at < len(spans) and spans[at][1] <= m.start():
            at += 1
        name = spans[at][2] if at < len(spans) and spans[at][0] <= m.start() else ""
        raw = m[0].casefold().removesuffix("'s")
        if m[0] == "A" and not _BEGINS.search(body, 0, m.start()):  # zone A, no article
            reader.add(["a"], name)
            continue
        following = body[m.end() : m.end() + 6].casefold()
        if m.lastgroup == "stop":
            if not name:
                reader.stop(raw)
        elif m.lastgroup == "cjk":
            reader.add([raw[i : i + 2] for i in range(max(1, len(raw) - 1))], name)
        elif m.lastgroup == "num":
            reader.add(["#" + raw.lstrip("v").replace(",", "")], name)
        elif name:
            reader.forms[stem(raw)] = raw
            reader.add([stem(raw)], name)
        else:
            joined = body[m.start() - 1 : m.start()] == "-" or following[:1] == "-"  # built-in, end-to-end
            reader.word(raw, following, joined=joined)
    reader.stop("")
    minus, plus = map(frozenset, reader.signs)
    if len(_CJK_NOT.findall(body)) % 2:
        minus, plus = plus, minus
    names = {name: frozenset(reader.names.get(name, ())) for _, _, name in spans}
    norm = normal(flat) if not OTHER_SCRIPT.search(flat) else _unspaced(flat)
    ends = [0, *(end for _, end, _ in spans)]
    bare = " ".join(body[end:start] for end, start in zip(ends, [*(a for a, _, _ in spans), len(body)], strict=True))
    small = frozenset(reader.small | set(_SIGNS.findall(bare)))
    strong = frozenset(word for word in reader.words if word[0] == "#").union(*names.values())
    reasons = frozenset(word for word, only in reader.why.items() if only)
    order, ties, forms = _order(reader.said), reader.ties, reader.forms
    words, said = tuple(reader.words), tuple(_SAID.findall(body.casefold()))
    clauses = tuple(frozenset(word for word in clause if word[0] != "<") for clause in reader.said)
    listed = frozenset(stem(word) for m in _LIST.finditer(body.casefold()) for word in BITS.findall(m[0]))
    parts = tuple(frozenset(part) for part in reader.parts if part)
    verbs = frozenset(reader.verbs)
    glossed = frozenset(stem(m[1]) for m in _GLOSS.finditer(body.casefold()))
    phrases = tuple(frozenset(phrase) for phrase in reader.phrases if phrase)
    return Shape(
        norm, words, names, plus, minus, order, ties, forms, small, reasons, strong, said, clauses, listed, parts,
        verbs, glossed, phrases,
    )  # fmt: skip


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
        self.verbs: set[str] = set()
        self.parts: list[set[str]] = [set()]
        self.phrases: list[list[str]] = []
        self.inside = False
        self.fronted, self.front = "", 0  # "unless asked, do not …": the word, and the number of its clause

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
        if self.negated and not self.clause and mark != ",":  # "don't: squash", "squash? no", but "no, squash"
            self.small.add("not")
        # "no emojis in code, comments": what follows the comma may be negated or not.
        unsure = mark == "," and self.sign is not True
        self.close()
        self.sign = None if unsure else True
        self.said.append([])
        self.parts.append(set())
        self.reason, self.last, self.tie = False, "", ""
        self.inside = False
        if mark != ",":
            self.fronted = ""

    def add(self, stems: list[str], name: str = "", tells: bool = True) -> None:
        for one in stems:
            self.words.append(one)
            self.clause.append((one, self.sign, tells))
            self.said[-1].append(one)
            self.parts[-1].add(one)
            self.ties.setdefault(one, set()).add(self.tie)
            self.why[one] = self.reason and self.why.get(one, True)
            if self.inside and len(self.phrases[-1]) < _PHRASE:
                self.phrases[-1].append(one)
        if name:
            self.names.setdefault(name, set()).update(stems)
            self.clause.append(("`" + name, self.sign, tells))  # apart from its words: `/users`, not `/user`
        if self.non:
            self.sign, self.non = True, False
        self.last = ""

    def word(self, raw: str, following: str, *, joined: bool = False) -> None:
        before, self.last, was = self.last, raw, self.sign
        self.place(raw, before, joined=joined)
        over = raw in {"over", "to"} and before not in _PREFER and any(w in _PREFER for w in self.said[-1])
        pair = (raw + following).startswith(("instead of ", "rather than ", "non-", "non "))
        against = over or pair or raw in _NEG or raw.endswith("n't")
        if raw in _UNDO | _LIMIT and self.sign is False:
            # "never push without tests" does not say never to push, but to test first
            if raw in _UNDO or raw == "until":
                self.said[-1].append("<after")
            self.small.add("an order" if raw in _UNDO else "not")
            self.clause = [(word, good or None, tells) for word, good, tells in self.clause]
        if raw in _UNDO:
            self.sign, self.negated = not self.sign, bool(self.sign)
        elif against and before in _WHOSE and self.clause:
            self.small.add("not")
        elif against and self.fronted:
            self.behind_a_condition()
        elif against:
            self.sign, self.negated, self.non = False, True, raw == "non"
        elif (raw in _TURN and before not in _NEG and before[-3:] != "n't") or (raw == "as" and not before):
            self.close()
            self.said[-1].append("<so")
            self.reason |= raw in {"because", "since", "as"}
        elif (raw in _BACK or (raw in _NEEDLESS and before in _COPULA)) and self.sign:
            self.back = len(self.clause)
        if raw in _ORDER or over:
            self.said[-1].append("<" + raw)
        if not over:
            self.note_small("unless" if raw == "until" and was is False else raw)  # "not until" is "not unless"
        if not (against or raw in STOP or raw in _UNDO or raw in _DEGREE):
            self.content(raw, before)

    def content(self, raw: str, before: str) -> None:
        """Keep a word that is no grammar."""
        one = "#" + DIGITS[raw] if raw in DIGITS else stem(raw)
        self.forms[one] = raw
        if before in _VERBAL or (not before and self.begins()):
            self.verbs.add(one)
        if raw.endswith("ly"):  # an adverb hangs on the verb: "on 8081 locally"
            self.tie = ""
        self.add([one], tells=one not in _VAGUE)
        self.last = raw

    def place(self, raw: str, before: str, *, joined: bool) -> None:
        """Keep what the words behind a grammar word hang on, and where a circumstance or a part ends."""
        if raw in _TYING or (raw in STOP and raw not in ARTICLES and self.tie not in _COND):
            self.tie = _ALIKE.get(raw, raw) if raw in _TYING and before not in _PHRASAL else ""
        if raw in _CONJUNCTIONS:
            self.parts.append(set())
        if raw in STOP and raw not in _JOINING:
            self.inside = False
        if raw in _CIRCUMSTANCE and before not in _PHRASAL and not joined:
            self.phrases.append([])
            self.inside = True
        if raw in _FRONTED and self.sign and self.begins():
            self.fronted, self.front = raw, len(self.said) - 1

    def begins(self) -> bool:
        """Whether a clause has no word yet."""
        return all(word[0] == "<" for word in self.said[-1])

    def behind_a_condition(self) -> None:
        """Read "without tests, never push" as "never push without tests"."""
        if self.fronted in ("without", "until"):
            self.said[self.front].insert(0, "<after")
        if self.fronted == "without":
            words = {word for word in self.said[self.front] if word[0] != "<"}
            self.signs[0].difference_update(words)
            self.signs[1].update(words)
            self.clause = [(word, True if word in words else good, tells) for word, good, tells in self.clause]
        if self.fronted == "until":  # as "not until": not unless
            self.small = self.small - {"until"} | {"unless"}
        self.small.add("an order" if self.fronted == "without" else "not")
        self.sign, self.negated, self.fronted = None, False, ""

    def note_small(self, raw: str) -> None:
        """Keep a grammar word that can change the meaning."""
        if raw in SMALL | _LIMIT | _DEGREE or (self.sign and not self.reason and stem(raw) in _DENIES):
            self.small.add(raw)
        if raw in _ORDER - {"than", "then"} or raw == "first":
            self.small.add("an order")


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
            both = {*left} & {*right}  # it stands on either side: that gives it no place
            pairs.update((a, b) for a in left for b in right if not {a, b} & both and a[0] != "<" != b[0])
    return frozenset(pairs)
