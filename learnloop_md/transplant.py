"""Changes carried over to another commit, each as a three-way merge of its files; nothing that is checked out moves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from learnloop_md import git, guard, lessonfile, memory, merging, plumbing
from learnloop_md.errors import UnableError
from learnloop_md.git import Delta, Repo
from learnloop_md.lesson import Lesson, fold, free_slug
from learnloop_md.lessonfile import Reading
from learnloop_md.memory import Memory
from learnloop_md.merging import UnreadableSideError
from learnloop_md.patches import Outgoing, Patch, in_repo, is_memory_path
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


def carry(place: Place, repo: Repo, goal: Goal, sent: Outgoing, known: Memory) -> Carried:
    """Commits with the patches on top of the goal; those that it has already make none.

    Raises UnableError naming the file where both sides changed the same words, RefusedError for a secret;
    no reference is moved in any case.
    """
    work = _Transplant(place, repo, goal, sent, known)
    planted = [work.plant(patch) for patch in _fresh(sent.patches, work.now)]
    planted = work.in_step([patch for patch in planted if patch.files])
    tip, made, commits = goal.tip, dict[str, str](), list[str]()
    for patch in planted:
        guard.refuse_secrets({"the commit message": patch.message})
        tip = _commit(place, repo, tip, patch)
        commits.append(tip)
        made[patch.source] = tip
    return Carried(tip, tuple(commits), made, tuple(planted), tuple(dict.fromkeys(work.notices)))


def _fresh(patches: tuple[Patch, ...], there: Tree) -> list[Patch]:
    """The patches without what the goal has: up to a file's newest state that stands there, all of it has arrived."""
    arrived: dict[str, int] = {}
    for n, patch in enumerate(patches):
        arrived.update({path: n for path, (_, after) in patch.files.items() if after == there.get(path)})
    return [
        patch._replace(files={path: delta for path, delta in patch.files.items() if n > arrived.get(path, -1)})
        for n, patch in enumerate(patches)
    ]


def _commit(place: Place, repo: Repo, parent: str, patch: Patch) -> str:
    files: Mapping[str, str | None] = {path: after for path, (_, after) in patch.files.items()}
    args = ["commit-tree", plumbing.tree_with(repo, parent, files), *(["-p", parent] if parent else []), "-F", "-"]
    nobody = git.NOBODY if place.own_repo and not git.author(repo.root) else {}
    words = patch.message.encode(errors="surrogateescape")
    return git.call(repo.root, *args, given=words, extra={**nobody, **patch.who}).stdout.decode().strip()


class _Transplant:
    """The goal's files as patch after patch is merged in."""

    def __init__(self, place: Place, repo: Repo, goal: Goal, sent: Outgoing, known: Memory) -> None:
        self.place, self.repo, self.goal, self.known, self.hidden = place, repo, goal, known, sent.hidden
        self.prefix = f"{place.inside}/" if place.inside else ""
        self.document = in_repo(place, repo, place.document)
        paths = sorted({path for patch in sent.patches for path in patch.files})
        outside = [path for path in (*paths, self.document) if not path.startswith(self.prefix)]
        self.now: Tree = git.entries(repo, goal.tip, [place.inside or ".", *outside]) if goal.tip else {}
        self.taken = {lessonfile.stem(path) for path in (*paths, *self.now)} | set(known.lessons)
        self.names: dict[str, str] = {}  # slugs of ours that others had before us, and their new names
        self.content: dict[str, bytes] = {}
        self.notices: list[str] = []
        self.first = self._memory()

    # --- one patch -------------------------------------------------------------------------------------------------

    def plant(self, patch: Patch) -> Patch:
        """The patch as it is on the goal: what each file was there, and what it becomes."""
        was, files = dict(self.now), dict[str, str | None]()
        before = self._memory() if self.hidden else None
        for path, delta in sorted(patch.files.items(), key=lambda row: row[0] == self.document):
            if path == self.document:
                files[path] = self._document(delta, was)
            else:
                target, entry = self._file(path, delta)
                files[target] = entry
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

    def _file(self, path: str, delta: Delta) -> tuple[str, str | None]:
        """A lesson, or a file outside the memory: where it stands now and what it becomes."""
        before, after = delta
        if not is_memory_path(self.place, path):
            theirs = self.now.get(path)
            return path, self._merged("", path, self._bytes(before), self._bytes(after), theirs, after)
        slug = lessonfile.stem(path)
        if before is None and slug not in self.names and self._is_another(path, after):
            self.names[slug] = free_slug(slug, self.taken)
            self.taken.add(self.names[slug])
            self.notices.append(f"{self.goal.name} has another lesson {slug}: yours is {self.names[slug]} now")
        target = f"{path.rpartition('/')[0]}/{self.names[slug]}.md".lstrip("/") if slug in self.names else path
        base, ours = (self._translated(path, self._bytes(entry)) for entry in delta)
        return target, self._merged("lesson", target, base, ours, self.now.get(target), after)

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
            message = f"{path} was changed on {self.goal.name} too, in the same words"
            raise UnableError(message, self.goal.hint, code="conflict")
        return self._entry(new, theirs or after)

    def _document(self, delta: Delta, was: Tree) -> str | None:
        """The document merged; in step with the lessons where a merge of lines cannot tell."""
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

    def _prose(self, content: bytes | None) -> list[str]:
        """What people wrote around the entries of a document: no heading, no comment, no entry."""
        text = (content or b"").decode("utf-8", "replace")
        for entry in memory.entries(self.place, text, {}).values():
            text = text.replace(entry.raw, "\n")
        rows = (line.strip() for line in text.splitlines())
        return [row for row in rows if row and not row.startswith(("#", "<!--", "-->", "---"))]

    # --- names -----------------------------------------------------------------------------------------------------

    def _translated(self, path: str, data: bytes | None) -> bytes | None:
        """A file of ours with the new names of lessons that others had before us."""
        if data is None or not self.names:
            return data
        if path == self.document:
            named = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, self.names))})(?=\.md)")
            text = data.decode("utf-8", "surrogateescape")
            return named.sub(lambda found: self.names[found[1]], text).encode("utf-8", "surrogateescape")
        lesson = self._reading(path, data)
        if lesson is None:
            return data
        changes: dict[str, Field] = {}
        if lesson.slug in self.names and lesson.name:
            changes["name"] = self.names[lesson.slug]
        for field in ("supersedes", "superseded_by"):
            if getattr(lesson, field) in self.names:
                changes[field] = self.names[getattr(lesson, field)]
        return lessonfile.with_fields(lesson.text, changes).encode("utf-8", "surrogateescape") if changes else data

    def _renamed(self, said: str) -> str:
        return naming(self.names).sub(lambda found: self.names[found[0]], said) if self.names else said

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
        data = {path.removeprefix(self.prefix): self.content[entry.split()[1]] for path, entry in ours.items()}
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
        blob = git.stored(self.repo, content)
        self.content[blob] = content
        return f"{like.split()[0] if like else '100644'} {blob}"

    def _reading(self, path: str, data: bytes | None) -> Lesson | None:
        reading = lessonfile.read(path.removeprefix(self.prefix), data) if data is not None else None
        return reading.lesson if isinstance(reading, Reading) else None


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
