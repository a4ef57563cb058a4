"""Changes of a memory that a remote does not have: what was committed, what is queued, what is not committed yet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from learnloop_md import elsewhere, git, guard, history, lessonfile, settings, store
from learnloop_md.apply import Done
from learnloop_md.carry import tree_of
from learnloop_md.git import Delta, Repo
from learnloop_md.lesson import Lesson
from learnloop_md.lessonfile import Quarantined
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.plan import Plan, message, naming, without
from learnloop_md.store import Ledger
from learnloop_md.tree import field_of


class Patch(NamedTuple):
    """A commit to be: its message, whose it is, and its files before and after, by repository path."""

    message: str
    files: dict[str, Delta]
    who: Mapping[str, str] = MappingProxyType(
        {}
    )  # the author as git's environment names him; else who runs the command
    source: str = ""  # the commit that it is

    def __str__(self) -> str:
        return f"{self.source[:10]} {self.message.partition(chr(10))[0]}".strip()


class Outgoing(NamedTuple):
    """What may be sent: patches, oldest first, and the lessons that were taken out of them because they are private."""

    patches: tuple[Patch, ...]
    hidden: dict[str, Lesson]


# --- where they come from -------------------------------------------------------------------------------------------


def commits(place: Place, repo: Repo, tip: str, *, only_memory: bool) -> list[Patch]:
    """The commits of HEAD that tip does not have, merges excepted; only_memory leaves out those without our paths.

    What a merge made of both of its sides stands in none of its commits: with only_memory, such a history is one patch.
    """
    where = ["--", *history.paths_of(place)] if only_memory else []
    span = ["HEAD", *([f"^{tip}"] if tip else []), *where]
    cut = git.cut_off(repo)
    if cut and (found := cut & set(git.out(repo.root, "rev-list", *span).split())):
        raise git.too_shallow(repo, f"what {min(found)[:10]} changed is not in it, and the remote may lack it")
    if only_memory and git.out(repo.root, "rev-list", "--merges", "--max-count=1", *span):
        return _at_once(place, repo, tip)
    words = ["rev-list", "--reverse", "--topo-order", "--no-merges", *span]
    return [_patch_of(repo, commit) for commit in git.out(repo.root, *words).split()]


def _at_once(place: Place, repo: Repo, tip: str) -> list[Patch]:
    """All that HEAD changes in the memory since it left tip, as one patch."""
    base = git.asked(repo.root, "merge-base", "HEAD", tip).stdout.decode().strip()
    changed = git.deltas(repo, base, git.head(repo))
    files = {path: delta for path, delta in changed.items() if belongs(place, path)}
    slugs = tuple(slug for path in sorted(files) if (slug := history.lesson_of(place, path)))
    why = "All at once, as the history of these lessons holds a merge."
    return [Patch(message(Plan("merge", slugs, why, ())), files)] if files else []


def _patch_of(repo: Repo, commit: str) -> Patch:
    shown = git.out(repo.root, "show", "-s", "--date=raw", "--format=%P%x00%an%x00%ae%x00%ad%x00%B", commit)
    parents, name, mail, date, said = shown.split("\0", 4)
    who = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail, "GIT_AUTHOR_DATE": f"@{date}"}
    return Patch(said.rstrip("\n") + "\n", git.deltas(repo, parents.partition(" ")[0], commit), who, commit)


_INIT_FILES = (".gitattributes", ".gitignore", settings.FILE, "SKILL.md")


def is_ours(place: Place, repo: Repo, patch: Patch) -> bool:
    """Whether a commit holds nothing but the memory, or what the tool itself wrote outside it (codify, init)."""
    outside = [path for path in patch.files if not belongs(place, path)]
    if not outside or not history.trailer(patch.message, "Learnloop-Command"):
        return not outside
    if history.trailer(patch.message, "Learnloop-Change") == ["init"]:
        return all(path.rpartition("/")[2] in _INIT_FILES for path in outside)
    sides = git.blobs(repo, [_oid(entry) for path in outside for entry in patch.files[path]])
    return all(history.is_codified(*pair) for pair in zip(sides[::2], sides[1::2], strict=True))


def with_renames(place: Place, repo: Repo, patches: Iterable[tuple[Patch, bool]]) -> list[Patch]:
    """The patches that are sent, of all in order, where they change a lesson that one before renamed which is not sent.

    They take that rename along: else the lesson would arrive under its new name, and stay under the old one.
    """
    renamed: dict[str, tuple[str, str | None]] = {}  # new path: the old one, and what stood there first
    found = []
    for patch, is_sent in patches:
        if not is_sent:
            for new, old in _renames(place, repo, patch).items():
                renamed[new] = renamed.pop(old, (old, patch.files[old][0]))
            continue
        files = dict(patch.files)
        for new in sorted(files.keys() & renamed.keys()):
            old, before = renamed.pop(new)
            after = files.pop(new)[1]
            files |= {old: (before, None), **({new: (None, after)} if after else {})}
        found.append(patch._replace(files=files))
    return found


def _renames(place: Place, repo: Repo, patch: Patch) -> dict[str, str]:
    """The lessons that a patch has under another name, new path to old: told by their field, or by their body."""
    gone = _lessons(place, repo, {path: was for path, (was, now) in patch.files.items() if was and not now})
    come = _lessons(place, repo, {path: now for path, (was, now) in patch.files.items() if now and not was})
    found: dict[str, str] = {}
    for new, lesson in come.items():
        same = [old for old, row in gone.items() if row.slug == old_name(lesson)]
        same = same or [old for old, row in gone.items() if row.rule == lesson.rule]
        if len(same) == 1 and same[0] not in found.values():
            found[new] = same[0]
    return found


def _lessons(place: Place, repo: Repo, entries: Mapping[str, str]) -> dict[str, Lesson]:
    """The lessons among files, by path."""
    data = zip(entries, git.blobs(repo, list(map(_oid, entries.values()))), strict=True)
    read = {path: history.lesson_in(place, path, text) for path, text in data if history.lesson_of(place, path)}
    return {path: lesson for path, lesson in read.items() if lesson}


def old_name(lesson: Lesson) -> str:
    """The name that a lesson had before, "" for none."""
    return str(field_of(tree_of(lesson.text), "renamed_from") or "")


def is_memory_path(place: Place, path: str) -> bool:
    """Whether a repository path is that of a lesson or the document."""
    return path == place.in_repo(place.document) or bool(history.lesson_of(place, path))


def belongs(place: Place, path: str) -> bool:
    """Whether a repository path is the memory's: also the state, and how a run ended."""
    return is_memory_path(place, path) or history.is_beside(place, path)


def _oid(entry: str | None) -> str:
    return entry.split()[1] if entry else "0" * 40


def queued(place: Place, repo: Repo, ledger: Ledger | None) -> tuple[list[Patch], dict[str, str | None]]:
    """What waits for its commit, as the next command would commit it, and how its paths stand afterwards."""
    queue, _ = elsewhere.split(place, git.head(repo), ledger.queue if ledger else ())
    state = git.at_head(repo, sorted({path for item in queue for path in item["files"]})) if queue else {}
    on_disk = git.on_disk(repo, state)
    found = []
    for item in queue:
        ours = store.owed(item, state, on_disk, place.followed(place.document))
        if git.has(repo, [_oid(entry) for entry in ours.values() if entry]):
            found.append(Patch(item["message"], {path: (state[path], entry) for path, entry in ours.items()}))
            state.update(ours)
    return [patch for patch in found if patch.files], state


def uncommitted(
    place: Place, repo: Repo, done: Done, state: dict[str, str | None], staged: Collection[str] = ()
) -> list[Patch]:
    """What absorbing would commit, told by apply.look, after the queue, without files that a person has staged."""
    secret = done.memory.private
    found = []
    for row in done.plans:
        entries = {path: entry for path, entry in _entries(place, repo, row).items() if path not in staged}
        new = {path: entry for path, entry in entries.items() if _may_enter(repo, path, entry)}
        before = {**git.at_head(repo, list(new)), **state} if new else {}
        files = {path: (before[path], entry) for path, entry in new.items() if before[path] != entry}
        state.update(new)
        if files:
            found.append(Patch(message(without(row, secret)), files))
    return found


def _may_enter(repo: Repo, path: str, entry: str | None) -> bool:
    return entry is None or bool(git.tracked(repo, path)) or not git.ignored(repo, [path])


def _entries(place: Place, repo: Repo, row: Plan) -> dict[str, str | None]:
    """A plan's files as git would store them, through its filters."""
    links = {path: place.followed(path) for path in row.paths}
    heads = git.at_head(repo, list(links.values()))
    found = git.on_disk(repo, {links[path]: heads[links[path]] for path in row.also}) if row.also else {}
    for edit in row.edits:
        path = links[edit.path]
        content = None if edit.after is None else edit.after.encode("utf-8", "surrogateescape")
        found[path] = None if content is None else git.entry(repo, content, heads[path], path)
    return found


# --- what of them may leave -----------------------------------------------------------------------------------------


def outgoing(place: Place, repo: Repo, patches: Iterable[Patch], known: Memory) -> Outgoing:
    """The patches without private lessons and without files that cannot be read; neither is named in a message."""
    sieve = _Sieve(place, repo, known, list(patches))
    told = []
    for patch, kept in [(patch, sieve.kept(patch)) for patch in sieve.patches]:  # all that is private is known then
        files = sieve.unnamed(kept)
        less = len(files) < len(patch.files)
        if files and not (less and files.keys() <= {sieve.document}):
            words = _untold(_bare(patch.message) if less else patch.message, sieve.hidden.keys())
            told.append(patch._replace(message=words, files=files))
    return Outgoing(tuple(told), sieve.hidden)


_NAMING = ("supersedes", "superseded_by", "renamed_from")  # fields that name another lesson


class _Sieve:
    """Takes files out of patches; the next patch of such a file starts where the last one that was kept ended."""

    def __init__(self, place: Place, repo: Repo, known: Memory, patches: Sequence[Patch]) -> None:
        self.place, self.repo, self.known, self.patches = place, repo, known, patches
        self.hidden = {slug: known.lessons[slug] for slug in known.private}
        self.held: dict[str, str | None] = {}
        ids = sorted({_oid(after) for patch in patches for _, after in patch.files.values() if after})
        self.content = dict(zip(ids, git.blobs(repo, ids), strict=True))
        self.document = place.followed(place.document)

    def kept(self, patch: Patch) -> dict[str, Delta]:
        files: dict[str, Delta] = {}
        for path, (was, after) in patch.files.items():
            before = self.held.pop(path) if path in self.held else was
            if after and self._stays(path, self.content[_oid(after)]):
                self.held[path] = before
            elif before != after:
                files[path] = (before, after)
        return files

    def unnamed(self, files: dict[str, Delta]) -> dict[str, Delta]:
        """The files without the names of private lessons in the fields that name another lesson."""
        if not self.hidden:
            return files
        told = {path: (self._unnamed(path, old), self._unnamed(path, new)) for path, (old, new) in files.items()}
        return {path: (old, new) for path, (old, new) in told.items() if old != new}

    def _unnamed(self, path: str, entry: str | None) -> str | None:
        if entry is None or path == self.document or not is_memory_path(self.place, path):
            return entry
        data = self.content.get(_oid(entry)) or git.blobs(self.repo, [_oid(entry)])[0]
        reading = lessonfile.read(self.place.inner(path), data)
        if isinstance(reading, Quarantined):
            return entry
        head = tree_of(reading.lesson.text)
        gone = {field: None for field in _NAMING if field_of(head, field) in self.hidden}
        if not gone:
            return entry
        text = lessonfile.with_fields(reading.lesson.text, gone)
        return git.entry(self.repo, text.encode("utf-8", "surrogateescape"), entry)

    def _stays(self, path: str, data: bytes) -> bool:
        """Whether this state of a file stays here."""
        if guard.in_name(path.rpartition("/")[2]):
            return True
        if path == self.document:
            return bool(data.strip()) and isinstance(lessonfile.decode(path, data), Quarantined)
        if not is_memory_path(self.place, path):
            return False
        reading = lessonfile.read(self.place.inner(path), data)
        if isinstance(reading, Quarantined):
            return True
        lesson = reading.lesson
        is_private = lesson.type.lower() in self.known.private_types
        if is_private and lesson.slug not in self.known.lessons:
            self.hidden.setdefault(lesson.slug, lesson)
        return is_private or lesson.slug in self.hidden


def _bare(said: str) -> str:
    """A commit message without its body, which may quote what was taken out."""
    first, _, rest = said.rstrip("\n").partition("\n")
    last = rest.rpartition("\n\n")[2]
    return f"{first}\n\n{last}\n" if history.trailer(said, "Learnloop-Change") else f"{first}\n"


def _untold(said: str, slugs: Collection[str]) -> str:
    """A commit message that does not name these lessons."""
    if not slugs or not (named := naming(slugs)).search(said):
        return said
    first, *rest = said.split("\n")
    if named.search(first):
        change = next(iter(history.trailer(said, "Learnloop-Change")), "edit")
        left = [slug for slug in history.trailer(said, "Lesson") if slug not in slugs]
        first = f"learnloop: {change} {', '.join(left[:3])}".rstrip()
    return "\n".join([first, *(line for line in rest if not named.search(line))])
