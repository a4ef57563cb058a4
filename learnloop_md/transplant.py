"""Changes carried over to another commit, each as a three-way merge of its files; nothing that is checked out moves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from learnloop_md import git, guard, history, index, lessonfile, memory, mergestate, merging, plumbing, walk
from learnloop_md.errors import UnableError
from learnloop_md.git import Delta, Repo
from learnloop_md.lesson import Lesson, fold, free_slug
from learnloop_md.lessonfile import Reading
from learnloop_md.memory import Memory
from learnloop_md.merging import UnreadableSideError
from learnloop_md.patches import Outgoing, Patch, is_memory_path, old_name
from learnloop_md.place import Place
from learnloop_md.plan import naming
from learnloop_md.store import Files
from learnloop_md.tree import Field

Tree = dict[str, str]  # "mode blob" by repository path


class Carried(NamedTuple):
    """Commits on top of another one: the last of them, all of them, which was which, and what to tell."""

    tip: str
    commits: tuple[str, ...]
    made: dict[str, str]  # the commit that a commit became
    patches: tuple[Patch, ...]  # as they were committed
    notices: tuple[str, ...]


class Goal(NamedTuple):
    """The commit to build on ("" for none yet), what people call it, and the way out of a conflict."""

    tip: str
    name: str
    hint: str


def carry(place: Place, repo: Repo, goal: Goal, sent: Outgoing, known: Memory, *, sign: bool = False) -> Carried:
    """Commits with the patches on top of the goal, signed where asked; those that it has already make none.

    Raises UnableError naming the file where both sides changed the same words, RefusedError for a secret;
    no reference is moved in any case.
    """
    work = _Transplant(place, repo, goal, sent, known)
    planted = [work.plant(patch) for patch in work.fresh(sent.patches)]
    planted = work.in_step([patch for patch in planted if patch.files])
    tip, made, commits = goal.tip, dict[str, str](), list[str]()
    for patch in planted:
        guard.refuse_secrets({"the commit message": patch.message})
        tip = _commit(place, repo, tip, patch, sign=sign)
        commits.append(tip)
        made[patch.source] = tip
    return Carried(tip, tuple(commits), made, tuple(planted), tuple(dict.fromkeys(work.notices)))


def _commit(place: Place, repo: Repo, parent: str, patch: Patch, *, sign: bool) -> str:
    files = {path: after for path, (_, after) in patch.files.items()}
    nobody = git.NOBODY if place.own_repo and not git.author(repo.root) else {}
    return plumbing.commit_of(repo, parent, plumbing.Commit(files, patch.message, {**nobody, **patch.who}, sign))


class _Transplant:
    """The goal's files as patch after patch is merged in."""

    def __init__(self, place: Place, repo: Repo, goal: Goal, sent: Outgoing, known: Memory) -> None:
        self.place, self.repo, self.goal, self.known, self.hidden = place, repo, goal, known, sent.hidden
        self.document = place.followed(place.document)
        paths = sorted({path for patch in sent.patches for path in patch.files})
        outside = [path for path in (*paths, self.document) if not place.inner(path)]
        self.now: Tree = git.entries(repo, goal.tip, [place.inside or ".", *outside]) if goal.tip else {}
        self.taken = {lessonfile.stem(path) for path in (*paths, *self.now)} | set(known.lessons)
        self.names: dict[str, str] = {}  # slugs of ours that others had before us, and their new names
        self.lines: list[tuple[str, str]] = []  # of lessons that others renamed: as rendered before and after
        self.content: dict[str, bytes] = {}
        self.notices: list[str] = []
        self.first = self._memory()
        self.stood: dict[tuple[str, str], list[str]] = {}  # commits of the goal that gave a path this blob
        for row in walk.commits(repo, goal.tip, paths, full=True) if goal.tip and paths else ():
            for path, (_, blob) in row.changes.items():
                if blob:
                    self.stood.setdefault((path, blob), []).append(row.commit)

    # --- what has arrived ------------------------------------------------------------------------------------------

    def fresh(self, patches: tuple[Patch, ...]) -> list[Patch]:
        """The patches without what the goal has: up to a file's newest state that arrived, all of it has."""
        arrived: dict[str, int] = {}
        for n, patch in enumerate(patches):
            for path, (_, after) in patch.files.items():
                if after == self.now.get(path) or self._has_stood(path, after, patch):
                    arrived[path] = n
        return [
            patch._replace(files={path: delta for path, delta in patch.files.items() if n > arrived.get(path, -1)})
            for n, patch in enumerate(patches)
        ]

    def _has_stood(self, path: str, entry: str | None, patch: Patch) -> bool:
        """Whether a state of ours arrived there and was changed since; one that we had back from there is ours."""
        commits = self.stood.get((path, entry.split()[1]), []) if entry else []
        return any(not git.is_ancestor(self.repo, commit, patch.source or "HEAD") for commit in commits)

    # --- one patch -------------------------------------------------------------------------------------------------

    def plant(self, patch: Patch) -> Patch:
        """The patch as it is on the goal: what each file was there, and what it becomes."""
        was, files = dict(self.now), dict[str, str | None]()
        before = self._memory() if self.hidden else None
        rest = dict(patch.files)
        for before_path, path in self._renames(patch):
            files |= self._moved(before_path, path, rest.pop(before_path)[0], rest.pop(path)[1])
            self._put(files)
        for path, delta in sorted(rest.items(), key=lambda row: row[0] == self.document):
            if path == self.document:
                files[path] = self._document(delta, was)
            else:
                target, new_entry = self._file(path, delta, patch)
                files[target] = new_entry
            self._put(files)
        if self.hidden and self.document in files:
            files[self.document] = self._stepped(self._text(self.now.get(self.document)), before)
            self._put(files)
        changed = {path: (was.get(path), entry) for path, entry in files.items() if was.get(path) != entry}
        for path, (old, new) in changed.items():
            guard.refuse_new(path, self._text(old), self._text(new))
        return patch._replace(message=self._renamed(patch.message), files=changed)

    def _put(self, files: Mapping[str, str | None]) -> None:
        for path, entry in files.items():
            if entry is None:
                self.now.pop(path, None)
            else:
                self.now[path] = entry

    def _renames(self, patch: Patch) -> list[tuple[str, str]]:
        """The lessons that the patch gives another name while the goal changed them under the old one."""
        found = []
        for new, (before, after) in patch.files.items():
            lesson = self._reading(new, self._bytes(after)) if before is None and self._is_lesson(new) else None
            old = _beside(new, old_name(lesson)) if lesson and old_name(lesson) else ""
            was, goes = patch.files.get(old, (None, ""))
            if was and goes is None and new not in self.now and self.now.get(old) not in (None, was):
                found.append((old, new))
        return found

    def _moved(self, old: str, new: str, before: str | None, after: str | None) -> dict[str, str | None]:
        """A lesson that we renamed and others changed: their changes go with it."""
        names = {lessonfile.stem(old): lessonfile.stem(new)}
        base, theirs = (self._translated(old, self._bytes(entry), names) for entry in (before, self.now[old]))
        entry = self._merged("lesson", new, base, self._bytes(after), self._entry(theirs, self.now[old]), after)
        return {old: None, new: entry}

    def _file(self, path: str, delta: Delta, patch: Patch) -> tuple[str, str | None]:
        """A lesson, or a file outside the memory: where it stands now and what it becomes."""
        before, after = delta
        if not is_memory_path(self.place, path):
            theirs = self.now.get(path)
            if path == self.place.in_repo(self.place.values):
                both = mergestate.merge(*(self._bytes(entry) for entry in (before, after, theirs)))
                if both is not None:
                    return path, self._entry(both, theirs or after)
            return path, self._merged("", path, self._bytes(before), self._bytes(after), theirs, after)
        slug = lessonfile.stem(path)
        if slug not in self.names:
            self._name(path, slug, delta)
        target = _beside(path, self.names.get(slug, slug))
        base, ours = (self._translated(path, self._bytes(entry)) for entry in delta)
        if target != path and before is None and self._has_stood(target, self._entry(ours, after), patch):
            return target, self.now.get(target)
        return target, self._merged("lesson", target, base, ours, self.now.get(target), after)

    def _name(self, path: str, slug: str, delta: Delta) -> None:
        """Find the name that a lesson of ours has there, where it is not its own."""
        before, after = delta
        if before is None and self._is_another(path, after):
            self.names[slug] = self._earlier_name(path, slug, after) or free_slug(slug, self.taken)
            self.taken.add(self.names[slug])
            self.notices.append(f"{self.goal.name} has another lesson {slug}: yours is {self.names[slug]} now")
        elif before and after and path not in self.now:
            self._renamed_there(slug)

    def _renamed_there(self, slug: str) -> None:
        renamed = [row for row in self._memory().lessons.values() if old_name(row) == slug]
        if len(renamed) == 1:
            row = renamed[0]
            self.names[slug] = row.slug
            self.lines.append((index.render(row._replace(slug=slug, path=_beside(row.path, slug))), index.render(row)))
            self.notices.append(f"{slug} is called {row.slug} on {self.goal.name}")

    def _earlier_name(self, path: str, slug: str, after: str | None) -> str:
        """The name that the goal has this lesson under since an earlier clash, "" for none."""
        ours = self._reading(path, self._bytes(after))
        numbered = re.compile(rf"{re.escape(_beside(path, slug)[:-3])}-\d+\.md")
        for other in sorted(filter(numbered.fullmatch, {*self.now, *(path for path, _ in self.stood)})):
            name = lessonfile.stem(other)
            again = self._translated(path, self._bytes(after), {slug: name})
            blob = (self._entry(again, after) or "").rpartition(" ")[2]
            same = other in self.now and _words(self._reading(other, self._bytes(self.now[other]))) == _words(ours)
            if same or (other, blob) in self.stood:
                return name
        return ""

    def _is_another(self, path: str, after: str | None) -> bool:
        """Whether the goal has a lesson of this name that says something else."""
        ours, theirs = (self._reading(path, self._bytes(entry)) for entry in (after, self.now.get(path)))
        return bool(ours and theirs) and _words(ours) != _words(theirs)

    def _merged(
        self, kind: str, path: str, base: bytes | None, ours: bytes | None, theirs: str | None, after: str | None
    ) -> str | None:
        """What a file becomes, as "mode blob". Raises UnableError for a conflict."""
        other = self._bytes(theirs)
        try:
            new, clean = merging.merge(kind, path, base, ours, other) if kind else _plain(base, ours, other)
        except UnreadableSideError as error:
            raise UnableError(
                f"{path} cannot be merged with {self.goal.name}: {error.message}", self.goal.hint, code="conflict"
            ) from error
        if not clean:
            why = self._keys(path, base, ours, other) or ", in the same words"
            raise UnableError(f"{path} was changed on {self.goal.name} too{why}", self.goal.hint, code="conflict")
        return self._entry(new, theirs or after)

    def _keys(self, path: str, *sides: bytes | None) -> str:
        """Of the state, the keys that both sides set otherwise; "" for any other file, and for a side of none."""
        is_state = path == self.place.in_repo(self.place.values)
        found = mergestate.marked(*sides) if is_state else None
        return f": {mergestate.told(*found)}" if found and found[1] else ""

    def _document(self, delta: Delta, was: Tree) -> str | None:
        """The document merged; in step with the lessons where a merge of lines cannot tell."""
        self._name_lines(delta)
        base, ours = (self._translated(self.document, self._bytes(entry)) for entry in delta)
        theirs = was.get(self.document)
        kind = "notebook" if self.place.kind == "skill" else "index"
        try:
            new, clean = merging.merge(kind, self.document, base, ours, self._bytes(theirs))
        except UnreadableSideError:
            new, clean = None, False
        if clean:
            return self._entry(new, theirs or delta[1])
        prose = [self._prose(content) for content in (base, ours, self._bytes(theirs))]
        if prose[0] != prose[1] and prose[1] != prose[2] and prose[0] != prose[2]:
            message = f"the words around the entries of {self.document} were changed on {self.goal.name} too"
            raise UnableError(message, self.goal.hint, code="conflict")
        text = self._text(self._entry(ours, None)) if prose[0] == prose[2] != prose[1] else self._text(theirs)
        return self._stepped(text, self._memory(was), theirs or delta[1])

    def _name_lines(self, delta: Delta) -> None:
        """Find the names that lessons have there of which we changed the line alone."""
        was, now = (memory.entries(self.place, self._text(entry), {}) for entry in delta)
        for slug in sorted(was.keys() & now.keys() - self.names.keys()):
            path = self.place.in_repo(now[slug].path or self.place.path_of(slug))
            if now[slug].raw != was[slug].raw and path not in self.now:
                self._renamed_there(slug)

    def _prose(self, content: bytes | None) -> list[str]:
        """What people wrote around the entries of a document: no heading, no comment, no entry."""
        text = (content or b"").decode("utf-8", "replace")
        for entry in memory.entries(self.place, text, {}).values():
            text = text.replace(entry.raw, "\n")
        rows = (line.strip() for line in text.splitlines())
        return [row for row in rows if row and not row.startswith(("#", "<!--", "-->", "---"))]

    # --- names -----------------------------------------------------------------------------------------------------

    def _translated(self, path: str, data: bytes | None, names: Mapping[str, str] | None = None) -> bytes | None:
        """A file of ours with the new names of lessons that others had before us."""
        names = self.names if names is None else names
        if data is None or not names:
            return data
        if path == self.document:
            named = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, names))})(?=\.md)")
            text = data.decode("utf-8", "surrogateescape")
            for was, now in self.lines:  # words that are made of the name are no words of a person's
                text = re.sub(rf"(?m)^{re.escape(was)}(?=\r?$)", now.replace("\\", r"\\"), text)
            return named.sub(lambda found: names[found[1]], text).encode("utf-8", "surrogateescape")
        lesson = self._reading(path, data)
        if lesson is None:
            return data
        changes: dict[str, Field] = {}
        if lesson.slug in names and lesson.name:
            changes["name"] = names[lesson.slug]
        for field in ("supersedes", "superseded_by"):
            if getattr(lesson, field) in names:
                changes[field] = names[getattr(lesson, field)]
        return lessonfile.with_fields(lesson.text, changes).encode("utf-8", "surrogateescape") if changes else data

    def _renamed(self, said: str) -> str:
        """A commit message with the new names: in our own subject and in the trailers that name a lesson."""
        if not self.names:
            return said
        named = naming(self.names)
        first, *rest = said.split("\n")
        is_ours = bool(history.trailer(said, "Learnloop-Change"))
        if is_ours and first.startswith("learnloop: "):
            change, gap, slugs = first.removeprefix("learnloop: ").partition(" ")
            first = f"learnloop: {change}{gap}{named.sub(lambda found: self.names[found[0]], slugs)}"
        last = max((n for n, line in enumerate(rest) if not line.strip() and any(rest[n:])), default=-1)
        for n in range(last + 1, len(rest)):
            key, gap, slug = rest[n].partition(": ")
            if key == "Lesson" and slug.strip() in self.names:
                rest[n] = f"{key}{gap}{self.names[slug.strip()]}"
        return "\n".join([first, *rest])

    # --- the document in step ----------------------------------------------------------------------------------------

    def in_step(self, planted: list[Patch]) -> list[Patch]:
        """The patches, the last of them with the document in step with the lessons."""
        if not planted:
            return planted
        old = self.now.get(self.document)
        new = self._stepped(self._text(old), self.first, old)
        if new == old:
            return planted
        files = dict(planted[-1].files)
        before = files.pop(self.document, (old, old))[0]
        files |= {self.document: (before, new)} if before != new else {}
        return [*planted[:-1], *([planted[-1]._replace(files=files)] if files else [])]

    def _stepped(self, text: str, before: Memory | None, like: str | None = None) -> str | None:
        """The document's text in step with the lessons that were changed since; entries of all others stay."""
        now = self._memory()
        listed = memory.entries(self.place, text, now.lessons)
        was = before.lessons if before else {}
        # A lesson that is here and not there (private, staged by a person) has no entry there either.
        away = {s: row for s, row in {**self.known.lessons, **self.hidden}.items() if s not in now.lessons}
        same = {s for s, row in now.lessons.items() if s in listed and s in was and was[s].text == row.text}
        skip = same - now.private
        stepped = memory.in_step(now, text, now.lessons, {**away, **was}, skip).text
        if not text and not now.lessons:
            return like
        return self._entry(stepped.encode("utf-8", "surrogateescape"), like or self.now.get(self.document))

    def _memory(self, tree: Tree | None = None) -> Memory:
        """The memory as it stands in the tree."""
        tree = self.now if tree is None else tree
        ours = {path: entry for path, entry in tree.items() if entry.startswith("100") and self._is_lesson(path)}
        self._fetch(ours.values())
        data = {self.place.inner(path): self.content[entry.split()[1]] for path, entry in ours.items()}
        document = self._bytes(tree.get(self.document))
        return memory.assemble(self.place, Files(data), document, self.known.ledger, scan_all=False)

    def _is_lesson(self, path: str) -> bool:
        return path != self.document and is_memory_path(self.place, path)

    # --- contents --------------------------------------------------------------------------------------------------

    def _fetch(self, entries: Iterable[str]) -> None:
        ids = sorted({entry.split()[1] for entry in entries} - self.content.keys())
        self.content.update(zip(ids, git.blobs(self.repo, ids), strict=True))

    def _bytes(self, entry: str | None) -> bytes | None:
        if entry is None:
            return None
        self._fetch([entry])
        return self.content[entry.split()[1]]

    def _text(self, entry: str | None) -> str:
        return (self._bytes(entry) or b"").decode("utf-8", "surrogateescape")

    def _entry(self, content: bytes | None, like: str | None) -> str | None:
        """Content as "mode blob", with the mode of what stood there."""
        if content is None:
            return None
        if like and self._bytes(like) == content:
            return like
        entry = git.entry(self.repo, content, like)
        self.content[entry.split()[1]] = content
        return entry

    def _reading(self, path: str, data: bytes | None) -> Lesson | None:
        reading = lessonfile.read(self.place.inner(path), data) if data is not None else None
        return reading.lesson if isinstance(reading, Reading) else None


def _beside(path: str, slug: str) -> str:
    """The path of a lesson in the folder of another one."""
    return f"{path.rpartition('/')[0]}/{slug}.md".lstrip("/")


def _words(lesson: Lesson | None) -> str:
    """What a lesson says, whatever its case, spaces and last full stop."""
    return fold(lesson.rule or lesson.text).casefold().rstrip(".。") if lesson else ""


def _plain(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> tuple[bytes | None, bool]:
    """A file that is not the memory's, merged by lines."""
    if theirs in (base, ours):
        return ours, True
    if ours == base:
        return theirs, True
    if ours is None or theirs is None:
        return None, False
    return git.merge_file(base or b"", ours, theirs)
