"""Compares two sides of a repository: pairs their memories, and asks git which commit brought what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from learnloop_md import changes as meaning
from learnloop_md import clashes, objections, owners, policy, sides, walk
from learnloop_md.changes import Change
from learnloop_md.codify import codified_slugs
from learnloop_md.comparison import Compared, Comparison, Found, budget
from learnloop_md.errors import UnableError
from learnloop_md.guard import unsecret, unsecret_path
from learnloop_md.lesson import STATES, Lesson, fold
from learnloop_md.lessonfile import Quarantined
from learnloop_md.lines import split_lines
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.sides import Side

_COMMITS = 5_000  # that are looked at: a change older than so many is told without its commit
_STATES = {f"  state: {name}".encode() for name in STATES}
_MARK = b"<!-- learnloop: "


class Pair(NamedTuple):
    """One memory on both sides; None where a side does not have it."""

    before: Memory | None
    after: Memory | None

    @property
    def here(self) -> Memory:
        """The newer of the two."""
        found = self.after or self.before
        assert found, "a pair has at least one side"
        return found


class History(NamedTuple):
    """What the commits between the sides touched: path to commits, newest first."""

    of_path: Mapping[str, list[walk.Visited]]

    def commit(self, *paths: str) -> str:
        """The newest commit that touched one of the paths; a merge only where nothing else did."""
        rows = [row for path in paths for row in self.of_path.get(path, ())]
        return next((row.commit for row in sorted(rows, key=lambda row: len(row.parents) > 1)), "")

    def revert(self, *paths: str) -> str:
        """The revert that touched one of the paths, in words."""
        for row in (row for path in paths for row in self.of_path.get(path, ())):
            if match := re.search(r"This reverts commit ([0-9a-f]{7,40})", row.message):
                subject = row.message.partition("\n")[0]
                what = re.sub(r'^Revert "(.*)"$', r"\1", subject)
                return f'taken along by the revert of "{unsecret(what)}" ({match[1][:7]})'
        return ""


def compare(base: Side, head: Side, *, asked: str, only: str | None = None, theirs: Side | None = None) -> Comparison:
    """Everything that is to be said of head against base; theirs is where base has gone since (for pull requests).

    Raises UnableError where a memory was named and neither side has it.
    """
    head.share(base)
    places = _places(base, head, only)
    if only is not None and not places:
        raise UnableError(f"neither side has a memory in {only or '.'}", "name its folder", code="no-memory")
    rules = _Rules(base, head)
    gone = bool(sides.gone(base, head))  # a lesson may speak of it
    pairs = [_read(base, head, *two) for two in places if rules.changed or gone or not _is_same(base, head, *two)]
    history = _history(base, head, pairs, rules)
    judge = policy.Judge(base, head, owners.read(base.text))
    rows = [_compared(base, head, pair, rules, history, judge) for pair in pairs]
    rows = _with_rules(rows, rules, history)
    both = [(pair.before, pair.after) for pair in pairs if pair.before and pair.after]
    moved = [(old, new) for old, new in both if old.place.inside != new.place.inside]
    findings = [
        *objections.of_settings(base, head, [before.inside for before, _ in places if before]),
        *judge.of_repository(moved, rows),
        *objections.of_old_places(head, moved),
    ]
    if theirs:
        findings += clashes.find(base, head, theirs, {path for two in places for path in _files(base, head, *two)})
    findings = [_told(found, history) for found in findings]
    told = tuple(row for row in rows if row.changes or row.findings)
    notices = () if places else ("there is no memory on either side",)
    return Comparison(asked, base.commit or base.name, head.commit or head.name, told, tuple(findings), notices)


# --- pairing ----------------------------------------------------------------------------------------------------------

Two = tuple[Place | None, Place | None]


def _places(base: Side, head: Side, only: str | None) -> list[Two]:
    """The memories of both sides, each with its other side; of a named one only those, wherever it went."""
    old, new = sides.places(base), sides.places(head)
    wanted: set[str] = set()
    for side, known in ((base, old), (head, new)):
        if only is not None and (place := sides.named(side, only)):
            known.setdefault(place.inside, place)
            wanted.add(place.inside)
    for here, there, side in ((old, new, head), (new, old, base)):
        for folder, place in list(here.items()):  # a document that is gone leaves a memory all the same
            if folder not in there and (found := sides.named(side, folder, place)):
                there[folder] = found
    moved = _moved(base, head, old, new)
    folders = sorted({*old, *new} - set(moved.values()))
    pairs = [(old.get(folder), new.get(moved.get(folder, folder))) for folder in folders]
    return [two for two in pairs if only is None or any(place and place.inside in wanted for place in two)]


def _read(base: Side, head: Side, before: Place | None, after: Place | None) -> Pair:
    now = sides.assemble(head, after) if after else None
    if before is None or now is None:
        return Pair(sides.assemble(base, before) if before else None, now)
    # What was held back is asked where it still is, and where something of it went: else head's scan tells.
    hurt = {q.path for q in now.quarantined}
    start = len(before.inside) + 1 if before.inside else 0
    paths = [path for path in base.below(before.inside) if path.endswith(".md")]
    base.fetch(paths)
    texts = {path[start:]: base.content(path) for path in paths if path[start:] not in hurt}
    unscanned = {
        path: data
        for path, data in texts.items()
        if isinstance(data, bytes) and _is_kept(data, head.content(now.place.in_repo(path)))
    }
    return Pair(sides.assemble(base, before, unscanned=unscanned), now)


def _is_kept(before: bytes, after: bytes | Quarantined | None) -> bool:
    """Whether every line of a file still stands in it; one that is gone is told as removed, and its words withheld."""
    if not isinstance(after, bytes) or before == after:
        return True
    return set(before.split(b"\n")) - _STATES <= set(after.split(b"\n"))


def _moved(base: Side, head: Side, old: Mapping[str, Place], new: Mapping[str, Place]) -> dict[str, str]:
    """Old folder to new one, for memories of which at least half the files came up elsewhere under their names."""
    gone = [folder for folder in old if folder not in new]
    fresh = [folder for folder in new if folder not in old]
    found: dict[str, str] = {}
    for folder in gone:
        names = _names(base, folder)
        likely = [
            (len(names & _names(head, other)), other)
            for other in fresh
            if other not in found.values() and new[other].kind == old[folder].kind
        ]
        number, other = max(likely, default=(0, ""))
        if number and 2 * number >= len(names):
            found[folder] = other
    return found


def _names(side: Side, folder: str) -> set[str]:
    start = len(folder) + 1 if folder else 0
    return {path[start:] for path in side.below(folder) if path.endswith(".md")}


def _is_same(base: Side, head: Side, before: Place | None, after: Place | None) -> bool:
    if not before or not after or before.inside != after.inside or before.settings != after.settings:
        return False
    return all(base.same(head, path) for path in _files(base, head, before, after)) and not head.unmerged


def _files(base: Side, head: Side, before: Place | None, after: Place | None) -> list[str]:
    """The paths of a memory's files on both sides, with the skill that loads it."""
    found: set[str] = set()
    for place in filter(None, (before, after)):
        found |= {path for side in (base, head) for path in side.below(place.inside) if path.endswith(".md")}
        if place.kind == "skill":
            found |= {place.in_repo("../SKILL.md"), place.in_repo("../learnings.md")}
    return sorted(found)


# --- rules in skills and instructions ---------------------------------------------------------------------------------


class _Rules:
    """The codified rules that came, went or changed between the sides: slug to path, line and words."""

    def __init__(self, base: Side, head: Side) -> None:
        paths = [path for path in {**base.listed, **head.listed} if path.endswith(".md")]
        self.paths = [path for path in paths if not base.same(head, path)]
        base.fetch(self.paths)
        head.share(base)
        head.fetch(self.paths)
        old, new = self._all(base), self._all(head)
        self.added = {slug: at for (slug, path), at in new.items() if (slug, path) not in old}
        gone = {slug: at for (slug, path), at in old.items() if (slug, path) not in new}
        self.lost = {slug: at for slug, at in gone.items() if slug not in self.added}
        self.moved = {slug: (gone[slug], at) for slug, at in self.added.items() if slug in gone}
        stayed = {slug: (old[slug, path], at) for (slug, path), at in new.items() if (slug, path) in old}
        both = {**stayed, **self.moved}
        self.reworded = {slug: (was, now) for slug, (was, now) in both.items() if fold(was[2]) != fold(now[2])}

    @property
    def changed(self) -> bool:
        return bool(self.added or self.lost or self.reworded)

    def changes(self, history: History) -> Iterator[Change]:
        """What became of each rule."""
        for slug, (path, line, said) in sorted(self.added.items()):
            if slug in self.moved:
                yield Change("moved", slug, self.moved[slug][0][0], path, "its rule moved", path, line)
            else:
                yield Change("codified", slug, "", said, f"the rule stands in {path}", path, line)
        for slug, (path, line, said) in sorted(self.lost.items()):
            why = "; ".join(filter(None, [f"its rule no longer stands in {path}", history.revert(path)]))
            yield Change("removed", slug, said, "", why, path, line, True)
        for slug, ((_, _, before), (path, line, after)) in sorted(self.reworded.items()):
            less = meaning.narrower(*(Lesson(slug, path, "", rule=said) for said in (before, after)))
            why = "; ".join(filter(None, [f"its rule in {path}", less]))
            yield Change("reworded", slug, before, after, why, path, line, bool(less))

    def _all(self, side: Side) -> dict[tuple[str, str], tuple[str, int, str]]:
        found = {}
        for path in self.paths:
            data = side.read(path)
            if data is None or _MARK not in data:
                continue
            text = data.decode("utf-8", "replace")
            lines = split_lines(text)
            for slug, line in codified_slugs(text):
                said = lines[line - 1].partition(_MARK.decode())[0].strip().lstrip("-*+ \t")
                if said:  # of some only the marker is left
                    found[slug, path] = (path, line, unsecret(said))
        return found


def _with_rules(rows: list[Compared], rules: _Rules, history: History) -> list[Compared]:
    """The memories with what became of the rules beside their lessons."""
    told = {change.slug for row in rows for change in row.changes if change.kind == "codified"}
    more: dict[int, list[Change]] = {}
    for change in rules.changes(history):
        if change.kind != "codified" or change.slug not in told:
            dated = change._replace(commit=history.commit(change.path))
            more.setdefault(_nearest(rows, change.path), []).append(dated)
    if more and not rows:
        rows = [Compared("", "", (), (), (0, 0))]
    return [
        row._replace(changes=tuple(meaning.in_order([*row.changes, *more.get(n, ())]))) for n, row in enumerate(rows)
    ]


def _nearest(rows: list[Compared], path: str) -> int:
    """The memory that a file outside belongs to: its skill's, else the project's, else the first."""
    for n, row in enumerate(rows):
        if row.kind == "skill" and path.startswith(row.memory.removesuffix("references")):
            return n
    return next((n for n, row in enumerate(rows) if row.kind == "project"), 0)


# --- one memory -------------------------------------------------------------------------------------------------------


def _compared(base: Side, head: Side, pair: Pair, rules: _Rules, history: History, judge: policy.Judge) -> Compared:
    here = pair.here
    empty = here._replace(lessons={}, quarantined=(), doubled=(), document="", has_document=False, faults={})
    before, after = pair.before or empty, pair.after or empty
    place = here.place
    found = _of_move(before, after, meaning.changes(before, after))
    found = [_placed(change, before, after, rules, history) for change in found]
    found = _dated(base, before, found)
    findings = objections.of_memory(base, head, before, after, found)
    findings += judge.of_memory(before, after, found)
    document = after.place.in_repo(after.place.document)
    findings = [_told(found, history, document) for found in findings]
    files = _files(base, head, before.place, after.place)
    named = judge.owners_of({path for path in files if not base.same(head, path) and path in base.listed})
    cost = (budget(before), budget(before if after.blocked else after))
    return Compared(place.inside or ".", place.kind, tuple(found), tuple(findings), cost, named)


def _told(found: Found, history: History, *documents: str) -> Found:
    """A finding with the commit that brought it; no secret in it."""
    asked = () if found.commit or found.code == "stale-anchor" else (found.path, *documents)
    commit = next(filter(None, map(history.commit, asked)), found.commit)
    return found._replace(commit=commit, path=unsecret_path(found.path), message=unsecret(found.message))


def _of_move(before: Memory, after: Memory, found: list[Change]) -> list[Change]:
    """A memory that moved as a whole is one change; what else happened on the way stays."""
    old, new = before.place.inside, after.place.inside
    if old == new or not before.lessons or not after.lessons:
        return found
    both = before.lessons.keys() & after.lessons.keys()
    same = sum(before.lessons[slug].text == after.lessons[slug].text for slug in both)
    lessons = f"{len(both)} {'lesson' if len(both) == 1 else 'lessons'} moved, {same} unchanged"
    return [*found, Change("moved", "", old, new, lessons, after.place.document)]


def _placed(change: Change, before: Memory, after: Memory, rules: _Rules, history: History) -> Change:
    """A change with its path in the repository, its commit, and the revert that brought a loss; no secret in it."""
    gone = change.kind == "removed"
    path = (before if gone else after).place.in_repo(change.path)
    paths = [path, before.place.in_repo(change.path)]
    if change.slug in before.lessons:
        paths.append(before.place.in_repo(before.lessons[change.slug].path))
    why = unsecret(change.why) if change.kind in ("restored", "uncounted", "document") else change.why
    if change.is_loss or change.kind == "restored":
        why = "; ".join(filter(None, [why, history.revert(*paths)]))
    commit = history.commit(*paths)
    if change.kind == "codified" and change.slug in rules.added:
        path, line, said = rules.added[change.slug]
        return change._replace(path=path, line=line, after=said, why=why, commit=commit)
    slug, shown = unsecret(change.slug), unsecret(change.before)
    return change._replace(path=unsecret_path(path), slug=slug, before=shown, why=why, commit=commit)


def _dated(base: Side, before: Memory, found: list[Change]) -> list[Change]:
    """Lessons that came back, each with the day on which it had been archived."""
    back = {c.slug: before.lessons[c.slug] for c in found if c.kind == "restored" and c.slug in before.lessons}
    if not back or not base.commit:
        return found
    days = _days(base, {slug: before.place.in_repo(lesson.path) for slug, lesson in back.items()})
    return [
        c._replace(why=c.why.replace("archived", f"archived on {days[c.slug]}", 1))
        if c.kind == "restored" and c.slug in days
        else c
        for c in found
    ]


def _days(base: Side, paths: Mapping[str, str]) -> dict[str, str]:
    """The day of the newest commit that touched each path."""
    rows = walk.commits(base.repo, base.commit, sorted(paths.values()), limit=_COMMITS)
    day_of: dict[str, str] = {}
    for row in rows:
        for path in row.changes:
            day_of.setdefault(path, row.day)
    return {slug: day_of[path] for slug, path in paths.items() if path in day_of}


def _history(base: Side, head: Side, pairs: Iterable[Pair], rules: _Rules) -> History:
    """The commits between the sides that touched a memory or a codified rule."""
    folders = {memory.place.inside or "." for pair in pairs for memory in pair if memory}
    targets = {change.path for change in rules.changes(History({}))}
    paths = sorted(folders | targets)
    if not head.commit or not paths:
        return History({})
    revision = f"{base.commit}..{head.commit}" if base.commit else head.commit
    found: dict[str, list[walk.Visited]] = {}
    for row in walk.commits(head.repo, revision, paths, limit=_COMMITS):
        for path in row.changes:
            found.setdefault(path, []).append(row)
    return History(found)
