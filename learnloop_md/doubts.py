"""Each reason why two rules that look alike are not the same: a doubt ends in "near"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import dropwhile, pairwise, product, takewhile
from typing import NamedTuple

from learnloop_md.opposites import Turned, swapped
from learnloop_md.reading import BITS, CLASSES, LONG, OTHER_SCRIPT, SMALL, WEAKER, Shape
from learnloop_md.words import ARTICLES, STOP, akin, is_foreign, stem

# What they must share where a name stands in one alone, or a word in the place of another.
NAMED, REWORDED = 0.75, 0.65
TEMPLATE = 0.6  # so much word for word, and the words that differ are the point
_RESTRICTS = frozenset("in on at for when if under unless from while during".split())
_PLACES = frozenset("behind beyond beside inside outside within across along around among against despite".split())

_NEEDS, _MUST = frozenset("need needs require requires".split()), frozenset("must should shall".split())


class Pair(NamedTuple):
    """Two rules side by side: the words they share, slips of the fingers, and what each has alone."""

    a: Shape
    b: Shape
    shared: frozenset[str]
    typos: frozenset[str]
    left: frozenset[str]
    right: frozenset[str]
    known: frozenset[str]  # words that stand in the reasons of either lesson
    score: float
    against: Turned  # how one says the contrary of the other
    apart: frozenset[str] = frozenset()  # code, flags, paths, numbers that only one holds, as written
    traded: frozenset[str] = frozenset()  # words on another side of "X, not Y"
    programs: frozenset[str] = frozenset()  # the first words of commands


class Doubt(NamedTuple):
    """Why two rules may not be the same, and the words that tell."""

    why: str
    words: Iterable[str]


def numbers_differ(pair: Pair) -> Doubt | None:
    """Another number, version or unit is another rule."""
    left, right = numbers_apart(pair)
    return Doubt("the numbers differ", left | right) if left or right else None


def numbers_apart(pair: Pair) -> tuple[set[str], set[str]]:
    return {w for w in pair.left if w[0] == "#"}, {w for w in pair.right if w[0] == "#"}


def written_otherwise(pair: Pair) -> Doubt | None:
    """Code, a flag, a path, a sign, an identifier or a number is not the same unless it is written the same."""
    return Doubt("written otherwise", pair.apart) if pair.apart else None


def names_differ(pair: Pair) -> Doubt | None:
    """Each names a command, path, flag or product that the other does not."""
    left, right = names_apart(pair)
    return Doubt("the names differ", left | right) if left and right else None


def a_name_for_another_word(pair: Pair) -> Doubt | None:
    """One names a thing, and the other has a word instead that this one lacks."""
    for names, own, shape in zip(names_apart(pair), (pair.right, pair.left), (pair.b, pair.a), strict=True):
        other = own - WEAKER - shape.reasons
        if names and other:
            return Doubt("the names differ", names | other)
    return None


def actions_differ(pair: Pair) -> Doubt | None:
    """Each wants something else done: rotate them, freeze them."""
    mine, theirs = (
        {
            word
            for word in one.verbs - other.verbs - other.strong - one.reasons - WEAKER  # a command does what it says
            if one.words.count(word) > other.words.count(word)
        }
        for one, other in ((pair.a, pair.b), (pair.b, pair.a))
    )
    if mine and theirs and not _same_contrast(pair):
        return Doubt("other words", mine | theirs)
    return None


def a_name_more(pair: Pair) -> Doubt | None:
    """One names a command, path or flag that the other does not, and the rest is not clearly the same."""
    more = {name for side in names_apart(pair) for name in side if not name.isalpha()}
    return Doubt("one names more", more) if more and pair.score < NAMED else None


def names_apart(pair: Pair) -> tuple[set[str], set[str]]:
    known = pair.shared | pair.typos
    return _apart(pair.a, pair.b, known), _apart(pair.b, pair.a, known)


def _apart(a: Shape, b: Shape, known: frozenset[str]) -> set[str]:
    """The named things of a that b does not name."""
    away = set()
    for name, parts in a.names.items():
        rivals = [
            more
            for other, more in b.names.items()
            if other not in a.names and " " not in name + other and not more <= parts
        ]
        told = name in b.names or f" {name} " in f" {b.norm} " or f" {name} " in f" {b.norm.replace('-', ' ')} "
        meant = parts and (parts - WEAKER or parts) <= known and not any(parts & more for more in rivals)
        if not told and not meant:
            away.add(name)
    return away


def one_is_turned(pair: Pair) -> Doubt | None:
    """What one wants the other does not."""
    return Doubt(pair.against.why, pair.against.words) if pair.against.why else None


def other_words(pair: Pair, but: frozenset[str] = frozenset()) -> Doubt | None:
    """In the same place of the sentence stands another word; in a sentence worded anew that may mean the same."""
    a, b = (_slots(shape, pair.shared | pair.typos) for shape in (pair.a, pair.b))
    for place in sorted(a.keys() & b.keys()):  # a set's own order is another in every process
        mine, other = a[place], b[place]
        if (mine | other) - WEAKER and not but & (mine | other):
            reworded = (pair.score >= REWORDED or _same_contrast(pair)) and _verbatim(
                pair.a.said, pair.b.said
            ) < TEMPLATE
            if not reworded:
                return Doubt("other words", mine | other)
    return None


def another_thing(pair: Pair) -> Doubt | None:
    """Before one and the same word stands another word: billing address, shipping address; revoke tokens, rotate them.

    Verbs that are used for nearly the same thing may take each other's place, and any words may where both rules
    want one thing and reject another, the same two by name.
    """
    if _same_contrast(pair):
        return None
    a, b = (_before(shape, alone) for shape, alone in ((pair.a, pair.left), (pair.b, pair.right)))
    for word in sorted(a.keys() & b.keys()):
        if not pair.a.ties[word] & pair.b.ties[word]:
            continue
        for (mine, verb), (other, too) in product(sorted(a[word]), sorted(b[word])):
            if not ((verb or too) and akin(mine, other)):
                return Doubt("other words", (mine, other))
    behind = [_behind(shape, alone) for shape, alone in ((pair.a, pair.left), (pair.b, pair.right))]
    for word in sorted(behind[0].keys() & behind[1].keys()):
        for mine, other in product(sorted(behind[0][word]), sorted(behind[1][word])):
            if pair.a.ties[mine] & pair.b.ties[other] & pair.a.ties[word] & pair.b.ties[word]:
                return Doubt("other words", (mine, other))
    return None


def _same_contrast(pair: Pair) -> bool:
    """Whether two rules set the same thing against the same other thing, and name one of them."""
    a, b = pair.a, pair.b
    wanted, rejected = (a.plus - a.minus) & (b.plus - b.minus), (a.minus - a.plus) & (b.minus - b.plus)
    return bool(
        wanted - WEAKER
        and rejected - WEAKER
        and (wanted | rejected) & (a.strong & b.strong | {"`" + name for name in a.names})
    )


def _before(shape: Shape, alone: frozenset[str]) -> dict[str, set[tuple[str, bool]]]:
    """The words that a rule has alone, by the shared word right behind them, each with whether it may be a verb."""
    found: dict[str, set[tuple[str, bool]]] = {}
    for word, after in pairwise(shape.words):
        if word in alone - shape.reasons - WEAKER and after not in alone:
            found.setdefault(after, set()).add((word, word in shape.verbs))
    return found


def _behind(shape: Shape, alone: frozenset[str]) -> dict[str, set[str]]:
    """The words that a rule has alone, by the shared word right before them: error code, error text."""
    found: dict[str, set[str]] = {}
    for before, word in pairwise(shape.words):
        if word in alone - shape.reasons and before not in alone:
            found.setdefault(before, set()).add(word)
    return found


def _verbatim(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    """How much of two sentences is the same words in the same order, 0 to 1."""
    row = [0] * (len(b) + 1)
    for word in a:
        diagonal = 0
        for j, other in enumerate(b, 1):
            diagonal, row[j] = row[j], diagonal + 1 if word == other else max(row[j], row[j - 1])
    return 2 * row[-1] / ((len(a) + len(b)) or 1)


def _slots(shape: Shape, shared: frozenset[str]) -> dict[tuple[str, str], frozenset[str]]:
    """The words of a rule that the other lacks, by the shared words before and after them."""
    slots: dict[tuple[str, str], frozenset[str]] = {}
    before, run = "", set[str]()
    for word in (*shape.words, ""):
        if word and word not in shared:
            run.add(word)
            continue
        if run - shape.reasons:
            slots[before, word] = slots.get((before, word), frozenset()) | run
        before, run = word, set()
    return slots


def roles_swapped(pair: Pair) -> Doubt | None:
    """The same words in other roles: alpha calls beta, beta calls alpha."""
    words = swapped(pair.a, pair.b, pair.shared) or pair.traded
    return Doubt("roles swapped", words) if words else None


def limits_differ(pair: Pair) -> Doubt | None:
    """Only, unless, until, an order, or a sign like <= stands in one alone."""
    words = (pair.a.small ^ pair.b.small) - SMALL
    return Doubt("a limit or sign differs", words) if words else None


def one_says_more(pair: Pair) -> Doubt | None:
    """One is the other and something besides: a narrower rule."""
    for alone, other, shape in ((pair.left, pair.right, pair.a), (pair.right, pair.left, pair.b)):
        more = alone - WEAKER - shape.reasons - pair.known - pair.programs - _classes_of_names(pair, shape)
        bound = any(shape.ties.get(word, set()) & _RESTRICTS for word in more - CLASSES)
        apart = any(part and part - WEAKER and part <= more for part in shape.parts)  # "and refund the card"
        vague = not other and not pair.shared & pair.a.strong & pair.b.strong
        if more and (vague or (not other and bound) or (not other - WEAKER and apart)):
            return Doubt("one says more", more)
    return None


def _classes_of_names(pair: Pair, shape: Shape) -> frozenset[str]:
    """Words that only say what a named thing is: `main`, the main branch."""
    named = pair.shared & (pair.a.strong | pair.b.strong)
    return frozenset(word for before, word in pairwise(shape.words) if word in CLASSES and before in named)


def little_in_common(pair: Pair) -> Doubt | None:
    """Both speak of one thing, and what one wants of it the other does not say."""
    if len(pair.shared - WEAKER) > 1:
        return None
    left, right = pair.left - pair.a.reasons, pair.right - pair.b.reasons
    more = (left | right) - WEAKER - pair.known
    return Doubt("one says more", more) if more else None


def another_need(pair: Pair) -> Doubt | None:
    """One says what a thing needs, and the other does not name that."""
    for shape, other in ((pair.a, pair.b), (pair.b, pair.a)):
        more = _needed(shape) - WEAKER - frozenset(other.words) - pair.typos
        if more:
            return Doubt("one says more", more)
    return None


def _needed(shape: Shape) -> frozenset[str]:
    """What a rule of one clause says that something needs, or must have: a docstring."""
    if shape.reasons or sum(map(bool, shape.clauses)) != 1:
        return frozenset()
    for i, (before, word, after) in enumerate(zip(shape.said, shape.said[1:], shape.said[2:], strict=False), 2):
        if (word in _NEEDS or (before in _MUST and word == "have")) and after not in {"to", "be"}:
            behind = dropwhile(ARTICLES.__contains__, shape.said[i:])
            thing = takewhile(lambda w: w not in STOP, behind)
            return frozenset(stem(part) for w in thing for part in BITS.findall(w) if part.isalpha())
    return frozenset()


def each_says_more(pair: Pair) -> Doubt | None:
    """One has a clause of its own, and the other has more than that too."""
    for shape, other in ((pair.a, pair.right), (pair.b, pair.left)):
        apart = frozenset(w for clause in shape.clauses if not clause & (pair.shared | pair.known) for w in clause)
        if apart - WEAKER - shape.reasons and len(other - WEAKER - pair.known) > 1:
            return Doubt("each says more", apart | other)
    return None


def circumstances_differ(pair: Pair) -> Doubt | None:
    """Each holds under circumstances of its own: on Windows runners, for the mobile client."""
    mine, theirs = (
        frozenset(w for phrase in shape.phrases for w in phrase & alone - WEAKER - CLASSES - shape.reasons)
        for shape, alone in ((pair.a, pair.left), (pair.b, pair.right))
    )
    return Doubt("other circumstances", mine | theirs) if mine and theirs else None


def a_circumstance_more(pair: Pair) -> Doubt | None:
    """One names a circumstance of which the other says nothing."""
    for shape, alone in ((pair.a, pair.left), (pair.b, pair.right)):
        for phrase in shape.phrases:
            own = phrase - WEAKER - shape.reasons - shape.glossed
            if own and own <= alone:
                return Doubt("one says more", own)
    return None


def places_differ(pair: Pair) -> Doubt | None:
    """The same thing, and another preposition before it that says another place or way: within a branch, across it."""
    for word in sorted(pair.shared):
        here, there = pair.a.ties[word] - {""}, pair.b.ties[word] - {""}
        if here and there and not here & there and any(_apart_in_place(x, y) for x in here for y in there):
            return Doubt("other words", (*here, *there))
    return None


def _apart_in_place(one: str, other: str) -> bool:
    if {one, other} <= {"in", "inside", "within"}:
        return False
    return bool({one, other} & _PLACES) or any({one, other} == {"from", to} for to in ("to", "into", "onto"))


def other_language(pair: Pair) -> Doubt | None:
    """Of other languages and scripts no grammar is known: there only equal texts are the same."""
    told = any(OTHER_SCRIPT.search(shape.norm) or is_foreign(shape.said) for shape in (pair.a, pair.b))
    return Doubt("a language that is only compared letter by letter", ()) if told else None


def too_short(pair: Pair) -> Doubt | None:
    """With fewer than two words in common nothing is sure."""
    return Doubt("too short to tell", pair.shared) if len(pair.shared) < 2 else None


def too_long(pair: Pair) -> Doubt | None:
    """What lies beyond the part that is weighed could differ."""
    return Doubt("too long to tell", ()) if 2 * max(len(pair.a.norm), len(pair.b.norm)) > LONG else None


GUARDS: tuple[Callable[[Pair], Doubt | None], ...] = (
    numbers_differ, names_differ, written_otherwise, one_is_turned, other_words, another_thing, roles_swapped,
    limits_differ, one_says_more, little_in_common, another_need, a_name_for_another_word, actions_differ, a_name_more,
    each_says_more, circumstances_differ, a_circumstance_more, places_differ, other_language, too_short, too_long,
)  # fmt: skip
