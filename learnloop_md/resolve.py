"""`sync --resolve`: rebuild what a merge left in conflict, from both of its sides and never from the mangled text.

The sides are the stages of git's index while a merge stands open; afterwards the parents of the merge commit that left
the text; and where a squash left no parents, what the conflict markers enclose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import NamedTuple

from learnloop_md import (
    git,
    guard,
    index,
    lessonfile,
    markers,
    memory,
    mergestate,
    merging,
    mistaken,
    notebook,
    plumbing,
    store,
)
from learnloop_md.carry import tree_of
from learnloop_md.lesson import Lesson, fold, free_slug
from learnloop_md.lines import conflict_line
from learnloop_md.markers import Sides
from learnloop_md.memory import Memory
from learnloop_md.mistaken import Mistaken
from learnloop_md.place import Place
from learnloop_md.tree import field_of


class Resolved(NamedTuple):
    """As it may be told: the files that were rebuilt, those that a person must settle (each with why), and notices."""

    files: tuple[str, ...]
    left: tuple[tuple[str, str], ...]
    notices: tuple[str, ...]
    was_open: bool = False  # git's index held files in conflict


def resolve(place: Place) -> Resolved:
    """Rebuild every conflicted or mangled file of the memory; the merge itself stays the person's to conclude."""
    with store.locked(place):
        work = _Work(place)
        work.lessons()
        work.state()
        work.document()
        work.restage()
        left = tuple((guard.unsecret_path(path), why) for path, why in work.left)
        files = tuple(map(guard.unsecret_path, dict.fromkeys(work.files)))
        return Resolved(files, left, tuple(map(guard.unsecret, work.notices)), bool(work.open))


class _Work:
    def __init__(self, place: Place) -> None:
        self.place = place
        self.files: list[str] = []
        self.left: list[tuple[str, str]] = []
        self.notices: list[str] = []
        self.added: list[str] = []
        self.parted: dict[str, str] = {}  # our lesson of a name that theirs had as well, and where theirs is now
        self.open = _unmerged(place)
        self.before = memory.load(place)

    def lessons(self) -> None:
        """Every lesson that is in conflict, or that nobody can read since a merge."""
        hurt = {q.path for q in self.before.quarantined if q.path != self.place.document}
        marked = {q.path for q in self.before.quarantined if q.reason == "conflict-markers"}
        lessons = {path for path in self.open if self.place.is_lesson(path)}
        for path in sorted((hurt | lessons) - self._two_names(lessons)):
            sides = self._sides(path)
            if sides is None:
                if path in marked:
                    self.left.append((path, "nothing tells its sides: settle what stands between the markers"))
                else:
                    self._keep(path)
            elif pair := merging.parted(path, *sides):
                self._part(path, *pair)
            elif sides.base is None and (other := self._another(path, sides)):
                self._name_apart(path, sides.ours, other)
            elif self._merge("lesson", path, sides):
                self._tell_kept(path, sides)
        for row in mistaken.mistaken(self.place):
            self._part_merged(row)

    def _two_names(self, lessons: Collection[str]) -> set[str]:
        """The pairs that git takes for two names of one lesson, where one is another: each as its side has it.

        git puts one text, of both, into both files and the index; the two commits alone tell what each was.
        """
        place, (head, tip) = self.place, _tips(self.place)
        stages = {path: [side is not None for side in self.open[path]] for path in lessons}
        gone, mine, theirs = (
            sorted(path for path, row in stages.items() if row.index(True) == n and sum(row) == 1) for n in range(3)
        )
        apart: set[str] = set()
        for old, ours, other in product(gone, mine, theirs) if tip else ():
            names = [f"{head}:{place.in_repo(ours)}", f"{tip}:{place.in_repo(other)}"]
            sides = git.blobs(place.repo, names) if place.repo else []
            if not apart & {ours, other} and all(sides) and merging.parted(old, self.open[old].base, *sides):
                self._put(ours, sides[0])
                self._put(other, sides[1])
                apart |= {ours, other}
                two = f"{lessonfile.stem(ours)} and {lessonfile.stem(other)}"
                self.notices.append(
                    f"git took {two} for two names of {lessonfile.stem(old)}: each is as its side had it"
                )
        return apart

    def _name_apart(self, path: str, ours: bytes | None, other: tuple[str, bytes]) -> None:
        """Two lessons of one name: ours keeps it, theirs has another."""
        if self._put(path, ours):
            slug = lessonfile.stem(other[0])
            self.notices.append(f"two lessons were named {lessonfile.stem(path)}: theirs is {slug} now")
            self._put(*other)
            self.added.append(other[0])
            self.parted[path] = other[0]

    def _tell_kept(self, path: str, sides: Sides) -> None:
        """Say that a lesson stays which one side removed and the other changed."""
        if sides.base and (sides.ours is None) != (sides.theirs is None):
            slug = lessonfile.stem(path)
            way_out = f"learnloop forget {slug} takes it out of force"
            self.notices.append(f"{slug} was removed on one side and changed on the other: it is kept; {way_out}")

    def _part(self, path: str, new: bytes, old: bytes) -> None:
        """Two lessons that git took for one, in a merge that is open: each in a file of its own."""
        gone = self._path_of(old) or path
        row = Mistaken(path, gone, store.read_bytes(self.place.folder / path) or b"", new, old)
        if store.read_bytes(self.place.folder / gone) not in (None, old):
            self.left.append((path, f"{row.told}, but another lesson stands in {gone} now: settle it by hand"))
        elif self._put(path, new):
            self._back(row)

    def _path_of(self, content: bytes) -> str:
        """Where one of the two commits in conflict has a lesson of this content, "" for nowhere."""
        place = self.place
        if place.repo is None:
            return ""
        blob = git.stored(place.repo, content)
        trees = (git.entries(place.repo, tip, [place.inside or "."]) for tip in _tips(place) if tip)
        paths = (path for tree in trees for path, entry in tree.items() if entry.split()[1] == blob)
        return next((place.inner(path) for path in paths if place.is_lesson(place.inner(path))), "")

    def _part_merged(self, row: Mistaken) -> None:
        """Two lessons of which a finished merge made one: the older one comes back, and its changes with it."""
        here = store.read_bytes(self.place.folder / row.path)
        try:
            parted = merging.merge("lesson", row.path, row.merged, here, row.new) if here else None
        except merging.UnreadableSideError:
            parted = merging.Merged(here, clean=False)
        if parted and not parted.clean:
            what = f"what was changed in {row.gone}, which is back, stands in this file too"
            self.left.append((row.path, f"{what}: take it out by hand"))
        elif parted:
            self._put(row.path, parted.content)
        self._back(row)

    def _back(self, row: Mistaken) -> None:
        if self._put(row.gone, row.old):
            self.added.append(row.gone)
            new, old = (lessonfile.stem(path) for path in (row.path, row.gone))
            self.notices.append(f"git took {new} for {old} renamed: {old} is back")

    def state(self) -> None:
        """The state by its keys; a key that both sides set otherwise is for a person."""
        path = self.place.values
        if path not in self.open and not conflict_line(_text(store.read_bytes(self.place.folder / path))):
            return
        sides = self._sides(path)
        found = mergestate.marked(*sides) if sides else None
        if not found:
            if not self._keep(path):
                self.left.append((path, "a side of it is missing or no state: settle it by hand, then git add"))
            return
        content, clashes = found
        if self._put(path, content) and clashes:
            way_out = "settle what stands between the markers, then git add"
            self.left.append((path, f"{mergestate.told(content, clashes)}: {way_out}"))

    def document(self) -> None:
        """The document from both sides, each lesson once."""
        path = self.place.document
        blocked = self.before.blocked is not None or bool(conflict_line(self.before.document))
        if path in self.open or blocked:
            sides = self._sides(path)
            if sides is None or not self._merge("index" if self.place.kind == "project" else "notebook", path, sides):
                return
        after = memory.load(self.place)
        if after.blocked is None and after.document:
            self._put(path, self._stepped(after).encode("utf-8", "surrogateescape"))

    def _stepped(self, after: Memory) -> str:
        """The document with one entry for what it said twice or not yet; a line that a side took out stays out."""
        rebuilt = (path for path in (*self.files, *self.added) if self.place.is_lesson(path))
        concerned = _said_twice(after) | {lessonfile.stem(path) for path in (*self.parted, *rebuilt)}
        known = {slug: lesson for slug, lesson in after.lessons.items() if slug not in concerned}
        # Their one line was merged as one lesson's: it may have the words of the other.
        rows = [(after.lessons.get(lessonfile.stem(path)), mine) for mine, path in self.parted.items()]
        words = {
            lessonfile.stem(mine): row._replace(slug=lessonfile.stem(mine), path=mine) for row, mine in rows if row
        }
        return memory.in_step(after, after.document, after.lessons, {**known, **words}, skip=known).text

    def _merge(self, kind: str, path: str, sides: Sides) -> bool:
        """Whether the merge left nothing to a person."""
        try:
            merged = merging.merge(kind, path, *sides)
        except merging.UnreadableSideError as error:
            if not self._keep(path):
                self.left.append((path, error.message))
            return False
        # A side that stays as it is may hold the markers of an earlier merge.
        clean = merged.clean and not conflict_line(_text(merged.content))
        if not self._put(path, merged.content):
            return False
        if not clean:
            self.left.append((path, "both sides changed the same words: settle what stands between the markers"))
        return clean

    def _another(self, path: str, sides: Sides) -> tuple[str, bytes] | None:
        """Where both sides added another lesson of one name: theirs under a free name."""
        ours, theirs = (_lesson(path, side) for side in sides[1:])
        if ours is None or theirs is None or fold(ours.rule).casefold() == fold(theirs.rule).casefold():
            return None
        taken = {theirs.slug, *self.before.lessons, *(lessonfile.stem(q.path) for q in self.before.quarantined)}
        for slug, row in self.before.lessons.items():  # a run that could not tell git's index has made it
            if slug != theirs.slug and row.text == lessonfile.with_fields(theirs.text, {"name": slug}):
                return row.path, row.text.encode("utf-8", "surrogateescape")
        slug = free_slug(theirs.slug, taken)
        text = lessonfile.with_fields(theirs.text, {"name": slug})
        return str(Path(path).with_name(f"{slug}.md")), text.encode("utf-8", "surrogateescape")

    def _put(self, path: str, content: bytes | None) -> bool:
        """Whether this stands in the file now: what a person settled by hand is kept."""
        full = self.place.folder / path
        if store.read_bytes(full) != content:
            if path not in self.files and self._keep(path):
                return False
            store.write(full, content)
            self.files.append(path)
        return True

    def _keep(self, path: str) -> bool:
        """Whether a person has settled a file that git's index holds as unmerged; it is named then.

        It has no markers, and is not what git itself left there; where git left a file, that it is gone is theirs too.
        """
        data = store.read_bytes(self.place.folder / path)
        if path not in self.open:
            return False
        if data and conflict_line(_text(data)):
            return self._keep_begun(path, data)
        if data is None:
            if is_theirs := any(side is not None for side in self.open[path][1:]):
                self.left.append((path, "settled by hand, kept as it stands: git add it, as it is deleted"))
            return is_theirs
        if data.replace(b"\r\n", b"\n") in [left.replace(b"\r\n", b"\n") for left in self._left_by_git(path)]:
            return False
        bad = mergestate.fault(data) if path == self.place.values else None
        faults = [bad.message] if bad else [q.message for q in self.before.quarantined if q.path == path]
        mend = f"{faults[0]}: mend it (git checkout --merge brings the conflict back), then " if faults else ""
        self.left.append((path, f"settled by hand, kept as it stands: {mend}git add it"))
        return True

    def _keep_begun(self, path: str, data: bytes) -> bool:
        """Whether a person has begun to settle what stands between markers; it is named then."""
        stages, sides = self.open[path], self._sides(path)
        made = [side for side in stages if side is not None]
        kind = "index" if self.place.kind == "project" else "notebook"
        kind = {self.place.values: "state", self.place.document: kind}.get(path, "lesson")
        for three in filter(None, (stages, sides)):  # what our drivers left, or --resolve before
            with suppress(merging.UnreadableSideError):
                made.append(merging.merge(kind, path, *three).content or b"")
        text = _text(data)
        if any(markers.unlabelled(text) == markers.unlabelled(_text(one)) for one in made):
            return False
        if not markers.is_begun(text, *map(_text, stages)):
            return False
        where = guard.unsecret_path(self.place.in_repo(path))
        back = f"git checkout --merge {where} brings the conflict back"
        self.left.append((path, f"begun by hand, kept as it stands: settle the rest, then git add it; {back}"))
        return True

    def _left_by_git(self, path: str) -> list[bytes]:
        """What git leaves in the work tree without markers: of one side alone that, of two their lines."""
        repo = self.place.repo
        assert repo is not None, "only asked of what git's index holds"
        base, ours, theirs = self.open[path]
        if ours is None or theirs is None:
            return [side for side in self.open[path] if side is not None]
        is_whole = git.attribute(repo, "merge", self.place.in_repo(path)) == "unset"
        return [ours] if is_whole else [git.merge_file(base or b"", ours, theirs)[0]]

    def restage(self) -> None:
        """Tell git's index of the files that are settled; the others stay unmerged there."""
        repo = self.place.repo
        left = {path for path, _ in self.left}
        ours = [*self.open, *self.files, *self.added]
        settled = [self.place.in_repo(path) for path in dict.fromkeys(ours) if path not in left]
        if repo and self.open and settled:
            heads = git.at_head(repo, settled)
            plumbing.restage(repo, git.on_disk(repo, heads))

    # --- the sides ---------------------------------------------------------------------------------------------------

    def _sides(self, path: str) -> Sides | None:
        """The three states of a file, None where nothing tells them."""
        if path in self.open:
            there = [side for side in self.open[path] if side is not None]
            text = _text(there[0]) if len(there) == 1 else ""
            # git puts the same text, markers and all, in the only stage of each of two names for one file.
            if conflict_line(text):
                return self._of_names(path, text)
            is_renamed = len(there) == 1 and self.place.is_lesson(path)
            return Sides(*(_named(path, side) for side in self.open[path])) if is_renamed else self.open[path]
        text = _text(store.read_bytes(self.place.folder / path))
        return self._of_merge(path, text) or self._of_names(path, text)

    def _of_names(self, path: str, text: str) -> Sides | None:
        """What the markers enclose; where two sides renamed the lesson, each of its files has its own name."""
        sides = markers.enclosed(text)
        lessons = [lesson for side in sides[1:] if (lesson := _lesson(path, side))] if sides else []
        if sides is None or not self.place.is_lesson(path) or len({lesson.name for lesson in lessons}) < 2:
            return sides
        old = field_of(tree_of(lessons[0].text), "renamed_from")
        stages = self.open.get(self.place.path_of(str(old)))
        base = sides.base or (stages.base if stages else None)
        return Sides(*(_named(path, side) for side in (base, sides.ours, sides.theirs)))

    def _of_merge(self, path: str, text: str) -> Sides | None:
        """What the merge commit that left this text was made of; nothing where the file was edited since."""
        repo = self.place.repo
        if repo is None or not git.head(repo):
            return None
        where = self.place.in_repo(path)
        found = git.out(repo.root, "rev-list", "--merges", "--parents", "-n", "20", "HEAD", "--").splitlines()
        for row in found:
            merge, *parents = row.split()
            left, *sides = git.blobs(repo, [f"{commit}:{where}" for commit in (merge, *parents[:2])])
            if left.decode("utf-8", "surrogateescape") == text and left not in sides and all(sides):
                base = git.asked(repo.root, "merge-base", *parents[:2]).stdout.decode().split()[:1]
                return Sides(git.blobs(repo, [f"{base[0]}:{where}"])[0] or None if base else None, *sides)
        return None


def _tips(place: Place) -> tuple[str, str]:
    """Our commit and the other one of what git has in conflict, "" where nothing tells it."""
    repo = place.repo
    if repo is None:
        return "", ""
    for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"):
        if (repo.git_dir / name).exists() and (tip := git.resolve(repo, name)):
            return git.head(repo), tip
    said = store.read_bytes(repo.git_dir / "SQUASH_MSG") or b""  # the newest commit of a squash comes first
    found = re.search(rb"^commit ([0-9a-f]{40,64})$", said, re.MULTILINE)
    return git.head(repo), found[1].decode() if found else ""


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")


def _unmerged(place: Place) -> dict[str, Sides]:
    """The files of the memory that git's index holds as unmerged, by their path in the memory."""
    repo = place.repo
    if repo is None:
        return {}
    raw = git.out(repo.root, "ls-files", "-u", "-z", "--", place.inside or ".", *filter(None, [place.values_in_repo]))
    stages: dict[str, list[str]] = {}
    for row in filter(None, raw.split("\0")):
        meta, _, path = row.partition("\t")
        is_state = path == place.values_in_repo
        inner = place.values if is_state else place.inner(path)
        if is_state or inner == place.document or place.is_lesson(inner):
            stages.setdefault(inner, ["", "", ""])[int(meta.split()[2]) - 1] = meta.split()[1]
    return {path: Sides(*(_blob(repo, oid) for oid in found)) for path, found in stages.items()}


def _blob(repo: git.Repo, oid: str) -> bytes | None:
    return git.blobs(repo, [oid])[0] if oid else None


def _lesson(path: str, data: bytes | None) -> Lesson | None:
    reading = lessonfile.read(path, data) if data is not None else None
    return reading.lesson if isinstance(reading, lessonfile.Reading) else None


def _named(path: str, data: bytes | None) -> bytes | None:
    """A side of a lesson under the name of the file in which it will stand."""
    lesson = _lesson(path, data)
    if lesson is None or lesson.name in ("", lessonfile.stem(path)):
        return data
    return lessonfile.with_fields(lesson.text, {"name": lessonfile.stem(path)}).encode("utf-8", "surrogateescape")


def _said_twice(found: Memory) -> set[str]:
    """The lessons with more than one entry of their own in the document."""
    if found.place.kind == "skill":
        rows = Counter(entry.path for entry in notebook.entries(found.document))
    else:
        rows = Counter(entry.target for entry in index.entries(found.document) if entry.alone)
    return {slug for slug, lesson in found.lessons.items() if rows[lesson.path] > 1}
