"""Which lessons fit a task: a ranking by words alone, no model, no network, no state (design §8, R003-30, R003-31).

A lesson is scored field by field (BM25F): rare words count more, a word in the title or a tag more than one in the
reasons. A word may be met by itself, by a near relation of it, or by the field of work it belongs to.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from learnloop_md import lesson as lessons
from learnloop_md.lesson import Lesson
from learnloop_md.vocabulary import FIELDS, KIN
from learnloop_md.words import terms

# What a word counts by where it stands; tags are how one will look for it (R003-31).
WEIGHTS = {
    "title": 2.0, "tags": 2.0, "description": 1.0, "task_type": 1.5, "rule": 1.0, "why": 1.0, "how": 0.7,
    "context": 1.0, "input_summary": 1.0, "what_worked": 0.7, "what_failed": 0.7, "edge_cases": 0.7,
}  # fmt: skip
_BEND, _LENGTH = 1.2, 0.3  # how soon a repeated word counts no more, how much a long field counts against its words
_BACKGROUND = 10  # lessons that are imagined besides, so that in a small memory no word is common at once
_KIN, _FIELD = 0.6, 1.5  # the weight of a related word; that of a common field of work
# Of the relevance of the best: below it a pin lifts nothing; below it a lesson is not told as left out.
_LIFT, _CLEAR = 0.5, 0.25
_LONG = 8000  # characters of a field that are looked at
_DECAY, _DECAY_DAYS = 0.9, 30  # R000-36


class Query(NamedTuple):
    """A task in the words of whoever does it, and what the lessons must be of; empty means any."""

    text: str
    task_type: str = ""
    type: str = ""
    tags: tuple[str, ...] = ()
    stack: tuple[str, ...] = ()


class Hit(NamedTuple):
    """A lesson that fits, how well (relevance × effective confidence), and which of its words made it so."""

    lesson: Lesson
    score: float
    why: str
    relevance: float = 0.0
    likeness: float = 0.0  # by meaning, where a model was asked


class Index:
    """The words of some lessons, ready to be asked."""

    def __init__(self, rows: Iterable[Lesson], stored: Mapping[str, Any] | None = None) -> None:
        self.rows = tuple(rows)
        self._met: dict[str, dict[int, float]] = {}  # term -> lesson -> weighted count
        self._areas: list[Mapping[str, float]] = []
        if stored is None:
            self._read()
        else:
            pairs = {term: iter(found) for term, found in stored["met"].items()}
            self._met = {term: dict(zip(found, found, strict=True)) for term, found in pairs.items()}
            self._areas = stored["areas"]

    def _read(self) -> None:
        fields = [{name: terms(text) for name, text in texts(row).items()} for row in self.rows]
        sizes: Counter[str] = Counter()
        for row in fields:
            sizes.update({name: len(found) for name, found in row.items()})
        for n, row in enumerate(fields):
            for name, found in row.items():
                share = len(found) * len(self.rows) / (sizes[name] or 1)
                weight = WEIGHTS[name] / (1 - _LENGTH + _LENGTH * share)
                for term, _ in found:
                    counts = self._met.setdefault(term, {})
                    counts[n] = counts.get(n, 0.0) + weight
            self._areas.append(_areas([term for name in row if name != "description" for term, _ in row[name]]))

    def relevance(self, text: str) -> list[float]:
        """How well each lesson fits a text; 0 for one that does not at all."""
        asked = dict(terms(text))
        scores = [0.0] * len(self.rows)
        for term in asked:
            best: dict[int, float] = {}
            for other, weight in ((term, 1.0), *((kin, _KIN) for kin in kin_of(term))):
                for n, count in self._met.get(other, {}).items():
                    best[n] = max(best.get(n, 0.0), weight * self._rarity(other) * count / (_BEND + count))
            for n, value in best.items():
                scores[n] += value
        wanted = _areas(list(asked))
        for n, areas in enumerate(self._areas if wanted else ()):
            scores[n] += _FIELD * sum(value * areas[area] for area, value in wanted.items() if area in areas)
        return scores

    def stored(self) -> dict[str, Any]:
        """What an index of the same lessons can be made of without reading them again."""
        met = {
            term: [part for n, weight in found.items() for part in (n, round(weight, 3))]
            for term, found in self._met.items()
        }
        return {"met": met, "areas": [{area: round(part, 3) for area, part in row.items()} for row in self._areas]}

    def met(self, text: str) -> list[int]:
        """How many words of a text each lesson meets, by themselves or by a relation of theirs."""
        counts = [0] * len(self.rows)
        for term in dict(terms(text)):
            for n in {n for other in (term, *kin_of(term)) for n in self._met.get(other, ())}:
                counts[n] += 1
        return counts

    def _rarity(self, term: str) -> float:
        count = len(self._met.get(term, ()))
        return math.log(1 + (len(self.rows) + _BACKGROUND - count + 0.5) / (count + 0.5))

    def nearest(self, text: str, limit: int, likeness: Sequence[float] | None = None) -> list[tuple[Lesson, float]]:
        """The lessons that fit a text best, with a score of 0 to 1 relative to a perfect fit."""
        scores = self.relevance(text) if likeness is None else joined(self.relevance(text), likeness)
        best = sorted(
            (-score, row.slug, n) for n, (score, row) in enumerate(zip(scores, self.rows, strict=True)) if score
        )
        whole = sum(self._rarity(term) for term in dict(terms(text))) + _FIELD
        return [(self.rows[n], round(min(-score / whole, 0.99), 2)) for score, _, n in best[:limit]]


def texts(lesson: Lesson) -> dict[str, str]:
    """The texts of a lesson that a search looks at, by field."""
    said = {
        "title": lesson.title, "tags": " ".join(lesson.tags), "rule": lesson.rule, "why": lesson.why, "how": lesson.how,
        "task_type": lesson.task_type, "context": lesson.context, "input_summary": lesson.input_summary,
        "what_worked": lesson.what_worked, "what_failed": lesson.what_failed,
        "edge_cases": "; ".join(lesson.edge_cases),
    }  # fmt: skip
    if not lessons.fold(lesson.rule).startswith(lesson.description.rstrip("….")):  # it says more than the rule
        said["description"] = lesson.description
    return {name: text[:_LONG] for name, text in said.items() if text}


@lru_cache(maxsize=1)
def _kin() -> dict[str, frozenset[str]]:
    groups = [[term for term, _ in terms(line.replace("/", " "))] for line in KIN.splitlines()]
    near: dict[str, set[str]] = defaultdict(set)
    for group in groups:
        for term in group:
            near[term].update(group)
    return {term: frozenset(found - {term}) for term, found in near.items()}


def kin_of(term: str) -> frozenset[str]:
    """The terms that people use for nearly the same."""
    return _kin().get(term, frozenset())


@lru_cache(maxsize=1)
def _fields() -> dict[str, list[str]]:
    areas: dict[str, list[str]] = defaultdict(list)
    for line in FIELDS.replace("\n ", " ").strip().splitlines():
        name, _, said = line.partition(":")
        for term in {term for term, _ in terms(said)}:
            areas[term].append(name)
    return areas


def _areas(found: Sequence[str]) -> Mapping[str, float]:
    """The fields of work that words belong to, as a direction of length 1."""
    known = _fields()
    total: dict[str, float] = defaultdict(float)
    for term in found:
        for area in known.get(term, ()):
            total[area] += 1 / len(known[term])
    length = math.sqrt(sum(value * value for value in total.values()))
    return {area: value / length for area, value in total.items()}


def rank(rows: Iterable[Lesson], query: Query, today: str, alike: Alike | None = None) -> list[Hit]:
    """The active lessons that fit a task, best first: pinned, confirmed by a person, then relevance × confidence.

    A pin or a person's word lifts only what is clearly relevant. Without a text all that pass the filters fit.
    """
    known = tuple(rows)
    index = Index(row for row in in_force(known) if passes(row, query))
    # It is asked of all: vectors are kept for those that it was asked of last.
    likeness = dict(zip(known, alike(query.text, known), strict=True)) if alike and terms(query.text) else {}
    return ranked(index, query.text, today, [likeness[row] for row in index.rows] if likeness else None)


def in_force(rows: Iterable[Lesson]) -> list[Lesson]:
    """The active lessons that no other one supersedes, whichever of the two says so (R000-34)."""
    found = tuple(rows)
    over = superseded(found)
    return [row for row in found if row.is_active and row.slug not in over]


def superseded(rows: Iterable[Lesson]) -> set[str]:
    """The slugs of lessons that another one took the place of; in a circle the lessons hold each other up."""
    newer: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.supersedes:
            newer[row.supersedes].add(row.slug)
        if row.superseded_by:
            newer[row.slug].add(row.superseded_by)

    def ends_elsewhere(slug: str) -> bool:
        """Whether a chain from here leads to a lesson that nothing supersedes."""
        seen, open_ = {slug}, list(newer[slug])
        while open_:
            one = open_.pop()
            if not newer.get(one):
                return True
            fresh = newer[one] - seen
            seen |= fresh
            open_ += fresh
        return False

    return {slug for slug in tuple(newer) if ends_elsewhere(slug)}


Alike = Callable[[str, Sequence[Lesson]], Sequence[float]]  # how like each lesson is to a text by its meaning
_MEANING, _UNLIKE, _ALIKE = 10.0, 0.1, 0.3  # the weight of that; nothing below; without a common word at least so much


def joined(scores: Sequence[float], likeness: Sequence[float]) -> list[float]:
    """Relevance by words and by meaning as one: either may find what the other misses."""
    both = zip(scores, likeness, strict=True)
    return [s + _MEANING * max(like - _UNLIKE, 0.0) if s or like >= _ALIKE else 0.0 for s, like in both]


def ranked(index: Index, text: str, today: str, likeness: Sequence[float] | None = None) -> list[Hit]:
    """The lessons of an index that fit a text, in the order of rank()."""
    asked = bool(terms(text))
    scores = index.relevance(text) if asked else [1.0] * len(index.rows)
    scores = joined(scores, likeness) if likeness is not None else scores
    clear = _LIFT * max(scores, default=0.0)
    hits = [
        Hit(row, round(score * effective_confidence(row, today), 4), "", score, like)
        for row, score, like in zip(index.rows, scores, likeness or [0.0] * len(scores), strict=True)
        if score > 0
    ]

    def key(hit: Hit) -> tuple[bool, bool, float, float, str]:
        sure = hit.relevance >= clear
        row = hit.lesson
        return not (sure and row.pinned), not (sure and row.human_confirmed), -hit.score, -hit.relevance, row.slug

    return sorted(hits, key=key)


# Of what a hook may add to a prompt: at least so relevant, by so many words, at most so many lessons.
_SURE, _WORDS, _PROMPTED = 3.5, 2, 3


def prompted(index: Index, text: str, today: str) -> list[Hit]:
    """The few lessons that surely fit a prompt; mostly none: a prompt is no search, and what is off costs attention."""
    hits = ranked(index, text, today) if terms(text) else []
    met = dict(zip((row.slug for row in index.rows), index.met(text), strict=True))
    least = max(_SURE, _LIFT * max((hit.relevance for hit in hits), default=0.0))
    return choose([h for h in hits if h.relevance >= least and met[h.lesson.slug] >= _WORDS], _PROMPTED)[0]


def stored(rows: Iterable[Lesson]) -> dict[str, Any]:
    """The index of lessons in force, and of each what its rank depends on, as JSON keeps it (design §7)."""
    index = Index(in_force(rows))
    told = [[row.slug, row.pinned, row.human_confirmed, lessons.confidence(row), lessons.newest_sighting(row),
             row.outcome, row.kind, row.approach] for row in index.rows]  # fmt: skip
    return {"lessons": told, **index.stored()}


def loaded(raw: Mapping[str, Any]) -> Index:
    """The index that stored() was made of."""
    rows = [
        Lesson(slug, "", "", state="current", pinned=pinned, human_confirmed=confirmed, confidence=confidence)._replace(
            created=day, outcome=outcome, kind=kind, approach=approach
        )
        for slug, pinned, confirmed, confidence, day, outcome, kind, approach in raw["lessons"]
    ]
    return Index(rows, raw)


def effective_confidence(lesson: Lesson, today: str) -> float:
    """Confidence × 0.9 for every 30 whole days since the lesson was last seen (R000-36)."""
    day = lessons.newest_sighting(lesson)
    age = max(lessons.days_between(day, today), 0) if day else 0
    return lessons.confidence(lesson) * float(_DECAY ** (age // _DECAY_DAYS))


def choose(hits: Sequence[Hit], limit: int) -> tuple[list[Hit], list[Hit]]:
    """The best hits, one of each approach and a failure among them, and the others that are clearly relevant.

    R000-32, R000-33, R000-39.
    """
    clear = _CLEAR * max((hit.relevance for hit in hits), default=0.0)
    taken, met = [], set()
    for hit in hits:
        approach = " ".join(lessons.fold(hit.lesson.approach).casefold().split())
        if not approach or approach not in met:
            taken.append(hit)
            met.add(approach)
    best, rest = taken[:limit], taken[limit:]
    if best and not any(is_failure(hit.lesson) for hit in best):
        failure = next((hit for hit in rest if is_failure(hit.lesson) and hit.relevance >= clear), None)
        if failure:
            rest = [best[-1], *(hit for hit in rest if hit is not failure)]
            best[-1] = failure
    return best, [hit for hit in rest if hit.relevance >= clear]


def is_failure(lesson: Lesson) -> bool:
    """Whether a lesson comes from something that went wrong; what went half well counts as wrong (R000-33)."""
    return lesson.outcome.lower() in {"failure", "partial"} or lesson.kind.lower() in {"failure", "correction"}


def tells_failure(lesson: Lesson) -> bool:
    """Whether a lesson is told as a failure (R000-51): not a correction, whose rule is the right way."""
    return is_failure(lesson) and (lesson.outcome.lower() in {"failure", "partial"} or lesson.kind.lower() == "failure")


def passes(lesson: Lesson, query: Query) -> bool:
    """Whether a lesson is of what was asked for (R000-30, R000-35, R000-42); what says nothing of its stack passes."""
    if query.task_type and lesson.task_type and lesson.task_type.casefold() != query.task_type.casefold():
        return False
    if query.type and lesson.type.casefold() != query.type.casefold():
        return False
    if query.tags and not {tag.casefold() for tag in query.tags} & {tag.casefold() for tag in lesson.tags}:
        return False
    return not query.stack or _fits_stack(lesson, query.stack)


def _fits_stack(lesson: Lesson, stack: Sequence[str]) -> bool:
    here = dict(map(_versioned, stack))
    own = [_versioned(tag) for tag in lesson.stack_tags]
    plain = [(name, version) for name, version in map(_versioned, lesson.tags) if version]
    for name, version in (*own, *plain):
        other = here.get(name, "")
        if version and other and not _same_version(version, other):
            return False
    return not own or any(name in here for name, _ in own)


def _versioned(tag: str) -> tuple[str, str]:
    """A tag as name and version: react-18, node@20.1, python3.11."""
    name = tag.strip().casefold()
    bare = name.rstrip("0123456789.")
    version = name[len(bare) :].strip(".")
    bare = bare.rstrip("-@:=v ") or name
    return (bare, version) if version else (name, "")


def _same_version(a: str, b: str) -> bool:
    return (a + ".").startswith(b + ".") or (b + ".").startswith(a + ".")


def explained(hit: Hit, text: str, most: int = 4) -> Hit:
    """The hit with why it was found: the words of the task that met words of the lesson, in which fields."""
    found = {name: dict(terms(said)) for name, said in texts(hit.lesson).items()}
    told = []
    for term, word in dict(terms(text)).items():
        met = next((other for other in (term, *sorted(kin_of(term))) if any(other in f for f in found.values())), "")
        fields = [name for name in found if met in found[name]]
        if met:
            said = found[fields[0]][met]
            same = met == term
            told.append((not same, f"{word if same else f'{word} ~ {said}'} in {', '.join(fields)}"))
    said = "; ".join(words for _, words in sorted(told, key=lambda row: row[0])[:most])
    if hit.likeness:
        said = "; ".join(filter(None, [said, f"like it in meaning ({hit.likeness:.2f})"]))
    return hit._replace(why=said or ("the same field of work" if text.strip() else "nothing was asked for"))
