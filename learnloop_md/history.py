"""What git remembers of a memory: read with GitPython, imported here and nowhere else (its import costs 200 ms)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from learnloop_md import git, index, lessonfile, outline, walk
from learnloop_md import memory as memories
from learnloop_md.errors import LearnloopError, UnableError
from learnloop_md.guard import unsecret
from learnloop_md.lesson import Lesson
from learnloop_md.lessonfile import Quarantined
from learnloop_md.memory import counting_state
from learnloop_md.place import Place
from learnloop_md.store import Agreed

if TYPE_CHECKING:
    from git import Commit
    from git import Repo as GitPython

LOOK_BACK = 200  # commits
_LINE_BACK = 20  # of one lesson's file: a line that stayed behind stayed behind lately
CUT = "the history is cut off: its oldest commit stands for all before it (shallow clone: git fetch --unshallow)"
_TRANSPLANTED = 20  # commits of the document: a command follows a rebase soon


class Step(NamedTuple):
    """One commit that touched the memory, told from its files; trailers only add to that."""

    commit: str
    change: str  # "" where only its files would tell
    slugs: tuple[str, ...]
    date: str
    author: str
    subject: str
    command: str
    undoes: tuple[str, ...]  # commands, or commits of no command
    named: tuple[str, ...]  # the lessons of its trailers
    changes: dict[str, tuple[str, str]]  # as the repository names them: blob ids before and after
    renames: dict[str, str]  # new lesson: old lesson
    is_merge: bool = False
    why: str = ""  # the message without subject and trailers
    is_cut: bool = False  # the history was cut off here: what it did itself cannot be told from its files
    is_root: bool = False  # it has no parents

    @property
    def key(self) -> str:
        """What an undo names it by."""
        return self.command or self.commit

    @property
    def told(self) -> Step:
        """The commit as it may be shown: without names and words that hold a secret."""
        slugs = tuple(map(unsecret, self.slugs))
        return self._replace(slugs=slugs, subject=unsecret(self.subject), why=unsecret(self.why))

    @property
    def is_whole(self) -> bool:
        """Whether it is one command's own commit, and not one into which other changes were squashed."""
        return bool(self.command) and (self.change in _WIDE or set(self.slugs) == set(self.named))


_WIDE = ("absorb", "rename")  # they name fewer lessons than they may touch


@contextmanager
def _asking() -> Iterator[None]:
    """GitPython without a surrounding hook's environment; what goes wrong in it is a GitError like any other."""
    try:
        with git.scrubbed():
            yield
    except LearnloopError:
        raise
    except Exception as error:  # its own kinds are known only once it is imported, which may itself fail
        if not isinstance(error, (ImportError, OSError, ValueError)) and not type(error).__module__.startswith("git"):
            raise
        said = (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
        raise git.GitError(f"git's history cannot be read: {said}") from error


def _repo(place: Place) -> git.Repo:
    if place.repo is None:
        raise UnableError("there is no git history here", "run: git init, then learnloop init", code="no-git")
    return place.repo


def _open(place: Place) -> GitPython:
    from git import Repo as GitPython

    repo = GitPython(_repo(place).root)
    repo.git.update_environment(**git.safe_environment())
    return repo


def _commits(
    place: Place, paths: list[str], limit: int = LOOK_BACK, revision: str = "HEAD", **how: bool
) -> Iterator[Commit]:
    repo = _open(place)
    if place.repo and git.head(place.repo):
        yield from repo.iter_commits(revision, paths=paths, max_count=limit, **how)


def _blob(commit: Commit, path: str) -> bytes | None:
    try:
        item = commit.tree / path
    except KeyError:
        return None
    return bytes(item.data_stream.read()) if item.type == "blob" else None


def trailer(message: str, key: str) -> list[str]:
    """The values of a trailer in a commit message; what a lesson says in the body is no trailer."""
    return _trailers(message).get(key, [])


def command_of(value: str) -> str:
    """The id of the command in a Learnloop-Command trailer; one that made several changes numbers them (`id.2`)."""
    return value.partition(".")[0]


def _trailers(message: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in message.rstrip().rpartition("\n\n")[2].split("\n"):
        key, _, value = line.partition(":")
        if value:
            found.setdefault(key, []).append(value.strip())
    return found


@_asking()
def steps(place: Place, slug: str = "", limit: int = 0, *, full: bool = False) -> list[Step]:
    """The commits that touched the memory (or one lesson, under its earlier names too), newest first (R002-42).

    full takes every merged branch along, each commit before those it was made on.
    """
    repo = _repo(place)
    head = git.head(repo)
    if not head:
        return []
    if not slug:
        return [_step(place, row) for row in walk.commits(repo, head, paths_of(place), limit, full=full)]
    found: list[Step] = []
    names = {slug}
    while head and (not limit or len(found) < limit):
        rows = walk.commits(repo, head, [_path(place, slug)], limit and limit - len(found), full=True)
        found += [_step(place, row) for row in rows]
        slug = found[-1].renames.get(slug, "") if rows else ""
        head = rows[-1].parents[0] if slug and slug not in names and rows[-1].parents else ""
        names.add(slug)
    return found


def _path(place: Place, slug: str) -> str:
    """Where a lesson's file stands, as the repository names it."""
    return place.in_repo(place.path_of(slug))


def lesson_of(place: Place, path: str) -> str:
    """The lesson whose file a path of the repository is, "" for any other file."""
    inner = place.inner(path)
    return lessonfile.stem(inner) if place.is_lesson(inner) else ""


def is_beside(place: Place, path: str) -> bool:
    """Whether a path of the repository is ours without being a lesson's: the state, or how a run ended."""
    return path == place.values_in_repo or place.is_run(place.inner(path))


def paths_of(place: Place) -> list[str]:
    """Where in the repository everything of the memory stands."""
    return [place.inside or ".", *filter(None, [place.values_in_repo])]


def _step(place: Place, row: walk.Visited) -> Step:
    lessons = {path: slug for path in sorted(row.changes) if (slug := lesson_of(place, path))}
    said = _trailers(row.message)
    change, command = (next(iter(said.get(key, ())), "") for key in ("Learnloop-Change", "Learnloop-Command"))
    named = tuple(dict.fromkeys(said.get("Lesson", ())))
    command = command_of(command)
    renames = {lessons[new]: lessons[old] for new, old in row.renames.items() if new in lessons and old in lessons}
    return Step(
        row.commit,
        change,
        tuple(dict.fromkeys([*named, *lessons.values()])),  # a squash names only some
        row.day,
        unsecret(row.author),
        row.message.partition("\n")[0],
        command,
        tuple(said.get("Learnloop-Undoes", ())),
        named,
        row.changes,
        renames,
        len(row.parents) > 1,
        _reason(row.message),
        row.is_cut,
        not row.parents,
    )


def _reason(message: str) -> str:
    """What a commit message says between its subject and its trailers."""
    parts = message.rstrip().split("\n\n")[1:]
    if parts and re.match(r"[A-Za-z][\w-]*: ", parts[-1]):
        parts.pop()
    return "\n\n".join(parts).strip()


def change_of(place: Place, step: Step) -> str:
    """What a commit did: as its trailers say, else (squashed, amended, made by hand) as its lesson files say."""
    if step.is_cut:
        return step.change or "edit"
    return step.change if step.change and step.is_whole else _told(place, step)


def _told(place: Place, step: Step) -> str:
    kinds = set()
    for path in step.changes:
        if lesson_of(place, path):
            old, new = contents(place, step.changes[path])
            kinds.add(kind_of(lesson_in(place, path, old), lesson_in(place, path, new)))
    return kinds.pop() if len(kinds) == 1 else "edit"


def contents(place: Place, blobs: Sequence[str]) -> list[bytes | None]:
    """What is in blobs; None for no blob."""
    found = iter(git.blobs(_repo(place), [blob for blob in blobs if blob]))
    return [next(found) if blob else None for blob in blobs]


def kind_of(old: Lesson | None, new: Lesson | None) -> str:
    """The verb for what became of a lesson's file."""
    if old is None or new is None:
        return "note" if new else "edit"
    if old.state != new.state:
        return {"current": "graduate", "archived": "archive", "candidate": "restore"}[new.state]
    for field, kind in (
        ("seen", "see"),
        ("confirmed", "confirm"),
        ("disputed", "dispute"),
        ("pinned", "pin"),
    ):
        if getattr(old, field) != getattr(new, field):
            return kind
    return "edit"


def lesson_in(place: Place, path: str, data: bytes | None) -> Lesson | None:
    """The lesson in a file's bytes with the state that counts; None where there is no file, or one that is not read."""
    if data is None:
        return None
    reading = lessonfile.read(path, data)
    if isinstance(reading, Quarantined):
        return None
    lesson = reading.lesson
    state = counting_state(lesson, place.settings.adopted)
    return lesson if state == lesson.state else lesson._replace(state=state)


@_asking()
def agreed_at(place: Place, path: str, since: str = "", row: Agreed | None = None) -> Agreed | None:
    """The newest commit's state in which a lesson's file and entry agree (design §4), after `since` if given.

    `row` is the state before that, which is given where no newer one is found. A line of words of its own agrees as
    well, unless it is one that was in step and has not followed its file: then what it was in step with is the base.
    """
    if place.repo is None:
        return row
    revision = f"{since}..HEAD" if since and _is_known(place, since) else "HEAD"
    file = place.in_repo(path)
    states = (
        _agreed_in(place, path, at) for at in _commits(place, [file, place.in_repo(place.document)], revision=revision)
    )
    newest = next(filter(None, states), None)
    if newest is None:
        return row
    if _is_in_step(place, newest):
        return newest
    for changed in _commits(
        place, [file], _LINE_BACK, revision, first_parent=True
    ):  # what the line was when the file was another
        older = _agreed_in(place, path, changed.parents[0]) if changed.parents else None
        if older is None or (older.entry, older.zone) != (newest.entry, newest.zone):
            break
        if _is_in_step(place, older):
            return older
    has_line = row is not None and (row.entry, row.zone) == (newest.entry, newest.zone)
    return row if row and has_line and _is_in_step(place, row) else newest


def _is_in_step(place: Place, state: Agreed) -> bool:
    """Whether a lesson's line has no words of its own; an entry of a notebook that agrees has none."""
    lesson = lesson_in(place, state.path, state.text.encode("utf-8", "surrogateescape"))
    return place.kind == "skill" or (lesson is not None and index.is_ours(state.entry, lesson))


def _agreed_in(place: Place, path: str, commit: Commit) -> Agreed | None:
    """A lesson's file and entry at a commit, None where they do not agree."""
    data, document = _blob(commit, place.in_repo(path)), _blob(commit, place.in_repo(place.document))
    lesson = lesson_in(place, path, data)
    if lesson is None or document is None:
        return None
    entry = memories.entries(place, document.decode("utf-8", "replace"), {lesson.slug: lesson}).get(lesson.slug)
    agree = entry and lesson.stated and _agree(place, lesson, entry)
    return Agreed(path, lesson.text, entry.raw, entry.zone) if entry and agree else None


class Sides:
    """What merged branches say of a lesson: an entry that came from one of them is no edit by hand.

    Nor is one that a command's own commit brought to lessons that say otherwise: it was rebased or cherry-picked.
    """

    def __init__(self, place: Place, revisions: list[str], older: Sequence[str] = ()) -> None:
        self.place, self.revisions = place, revisions
        self.older = older  # of merges that may have been long known: they tell a side, and excuse no missing entry

    def __bool__(self) -> bool:
        # An index loses no lesson with a line, so there what was transplanted may always be asked for too.
        return bool(self.revisions) or (self.place.kind == "project" and self.place.repo is not None)

    def of(self, slug: str, raw: str, zone: str) -> Agreed | None:
        """The side on which the lesson has this very entry in this zone, as a base; None where no side has it."""
        for revision in (*self.revisions, *self.older) if self.place.repo else ():
            found = self._at(revision, slug, raw, zone)
            if found and found.agree:
                return found.base
        return self._transplanted(slug, raw, zone)

    class _Found(NamedTuple):
        base: Agreed
        agree: bool

    def _at(self, revision: str, slug: str, raw: str, zone: str) -> _Found | None:
        """The lesson at a revision where it has this very entry in this zone, and whether the two agree."""
        place = self.place
        assert place.repo is not None, "sides are only found in a repository"
        document = git.blobs(place.repo, [f"{revision}:{place.in_repo(place.document)}"])[0]
        entry = memories.entries(place, document.decode("utf-8", "replace"), {}).get(slug)
        if entry is None or (entry.raw, entry.zone) != (raw, zone):
            return None
        path = entry.path or place.path_of(slug)
        lesson = lesson_in(place, path, git.blobs(place.repo, [f"{revision}:{place.in_repo(path)}"])[0] or None)
        if lesson is None:
            return None
        return self._Found(Agreed(path, lesson.text, raw, zone), _agree(place, lesson, entry))

    def _transplanted(self, slug: str, raw: str, zone: str) -> Agreed | None:
        """The commit that brought the entry to this zone, where a command made it for this lesson elsewhere."""
        repo = self.place.repo
        if repo is None or self.place.kind != "project" or not git.head(repo):
            return None
        for row in walk.commits(repo, "HEAD", [self.place.in_repo(self.place.document)], _TRANSPLANTED):
            found = self._at(row.commit, slug, raw, zone)
            if found is None or row.is_cut:
                return None
            if row.parents and self._at(row.parents[0], slug, raw, zone):
                continue
            changed = trailer(row.message, "Learnloop-Change")  # what absorb commits may be a person's
            is_ours = slug in trailer(row.message, "Lesson") and bool(changed) and "absorb" not in changed
            return found.base if is_ours and not found.agree else None
        return None


def _is_known(place: Place, commit: str) -> bool:
    assert place.repo is not None, "only asked inside a repository"
    return git.is_ancestor(place.repo, commit, "HEAD")


def _agree(place: Place, lesson: Lesson, entry: memories.Entry) -> bool:
    if entry.zone != lesson.state and not (entry.zone == "" and lesson.state == "current" and place.kind == "project"):
        return False
    if place.kind == "project":
        return True
    said = entry.claims
    return all(" ".join(said.get(k, "").split()) == v for k, v in memories.claims_of(place, lesson).items())


def is_gone(place: Place, path: str) -> bool:
    """Whether the newest commit that removed a lesson's file is a command's: a rename, a merge, a removal."""
    if place.repo is None or not git.head(place.repo):
        return False
    words = ("log", "-1", "--format=%B", "--no-renames", "--diff-filter=D", "HEAD", "--", place.in_repo(path))
    return bool(trailer(git.out(place.repo.root, *words), "Learnloop-Command"))


def name_now(place: Place, path: str) -> str:
    """The slug of the lesson that had this path before, "" for none: renamed once or more, by a command or by hand."""
    at, seen = path, set[str]()
    while place.repo and git.head(place.repo) and at not in seen and not (place.folder / at).exists():
        seen.add(at)
        old = place.in_repo(at)
        rows = walk.commits(place.repo, "HEAD", [old], 1)
        new = next((new for new, was in rows[0].renames.items() if was == old), "") if rows else ""
        if not new or not lesson_of(place, new):
            return ""
        texts = contents(place, (rows[0].changes[old][0], rows[0].changes[new][1]))
        before, after = (
            lesson_in(place, inner, text) for inner, text in zip((at, place.inner(new)), texts, strict=True)
        )
        if before is None or after is None or before.rule != after.rule:  # git takes a new one for one that went
            return ""
        at = place.inner(new)
    return lessonfile.stem(at) if at != path and (place.folder / at).exists() else ""


@_asking()
def text_before(place: Place, slug: str) -> tuple[str, str] | None:
    """Path and newest text of a lesson whose file is gone."""
    path = place.path_of(slug)
    for commit in _commits(place, [place.in_repo(path)], full_history=True):
        data = _blob(commit, place.in_repo(path))
        if data is not None:
            return path, data.decode("utf-8", "replace")
    return None


@_asking()
def state_before(place: Place, path: str) -> str:
    """The last state of a lesson that was not archived, "" where history does not tell.

    Raises UnableError where a shallow clone holds no such state.
    """
    cut = git.cut_off(_repo(place))
    for commit in _commits(place, [place.in_repo(path)]):
        lesson = lesson_in(place, path, _blob(commit, place.in_repo(path)))
        if lesson and lesson.state != "archived":
            return lesson.state
        if commit.hexsha in cut:
            raise git.too_shallow(
                place.repo, f"the state of {lessonfile.stem(path)} before it was archived is not in it"
            )
    return ""


def is_codified(before: bytes | None, after: bytes | None, only: Collection[str] = ()) -> bool:
    """Whether a change of a file holds nothing but rules that codify wrote or took away, of the meant lessons."""
    old, new = (Counter((data or b"").decode("utf-8", "replace").splitlines()) for data in (before, after))
    changed = [line.strip() for line in ((old - new) + (new - old))]
    marks = [f"<!-- learnloop: {slug} " for slug in only] or ["<!-- learnloop: "]
    return any(mark in line for line in changed for mark in marks) and all(
        not line or line.startswith("#") or any(mark in line for mark in marks) or line in outline.LEARNINGS
        for line in changed
    )
