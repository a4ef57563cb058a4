"""What git remembers of a memory: read with GitPython, imported here and nowhere else (its import costs 200 ms)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from learnloop_md import git, lessonfile, outline
from learnloop_md import memory as memories
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.lesson import Lesson
from learnloop_md.lessonfile import Quarantined
from learnloop_md.memory import counting_state
from learnloop_md.place import Place
from learnloop_md.store import Agreed

if TYPE_CHECKING:
    from git import Commit
    from git import Repo as GitPython

LOOK_BACK = 200  # commits


class Step(NamedTuple):
    """One commit that touched the memory, told from its files; trailers only add to that."""

    commit: str
    change: str
    slugs: tuple[str, ...]
    date: str
    author: str
    subject: str
    command: str
    undoes: str
    paths: tuple[str, ...]  # as the repository names them


def _open(place: Place) -> GitPython:
    if place.repo is None:
        raise UnableError("there is no git history here", "run: git init, then learnloop init", code="no-git")
    from git import Repo as GitPython

    repo = GitPython(place.repo.root)
    repo.git.update_environment(**git.safe_environment())
    return repo


def _commits(place: Place, paths: list[str], limit: int = LOOK_BACK, revision: str = "HEAD") -> Iterator[Commit]:
    repo = _open(place)
    if place.repo and git.head(place.repo):
        yield from repo.iter_commits(revision, paths=paths, max_count=limit)


def _blob(commit: Commit, path: str) -> bytes | None:
    try:
        item = commit.tree / path
    except KeyError:
        return None
    return bytes(item.data_stream.read()) if item.type == "blob" else None


def trailer(message: str, key: str) -> list[str]:
    """The values of a trailer in a commit message; what a lesson says in the body is no trailer."""
    last = message.rstrip().rpartition("\n\n")[2]
    return [value.strip() for value in re.findall(rf"(?m)^{re.escape(key)}:[ \t]*(.+)$", last)]


def _said(commit: Commit) -> str:
    return commit.message if isinstance(commit.message, str) else commit.message.decode("utf-8", "replace")


@git.scrubbed()
def steps(place: Place, slug: str = "", limit: int = LOOK_BACK) -> list[Step]:
    """The commits that touched the memory (or one lesson), newest first (R002-42)."""
    if slug:
        folder = place.lessons
        paths = [place.in_repo(f"{folder}/{slug}.md" if folder else f"{slug}.md")]
    else:
        paths = [place.inside or "."]
    return [_step(place, commit) for commit in _commits(place, paths, limit)]


def _step(place: Place, commit: Commit) -> Step:
    message = _said(commit)
    base = commit.parents[0] if commit.parents else None
    paths = tuple(sorted(str(p) for p in commit.stats.files)) if base is None else tuple(_changed_paths(base, commit))
    inside = f"{place.inside}/" if place.inside else ""
    mine = [p.removeprefix(inside) for p in paths if p.startswith(inside) and p.endswith(".md")]
    files = [p for p in mine if p != place.document and (not place.lessons or p.startswith(f"{place.lessons}/"))]
    slugs = [*trailer(message, "Lesson"), *(lessonfile.stem(p) for p in files)]  # a squash names only some
    changes = trailer(message, "Learnloop-Change")
    return Step(
        commit.hexsha,
        changes[0] if changes else _told(place, commit, base, files),
        tuple(dict.fromkeys(slugs)),
        commit.committed_datetime.date().isoformat(),
        str(commit.author.name),
        message.partition("\n")[0],
        next(iter(trailer(message, "Learnloop-Command")), ""),
        next(iter(trailer(message, "Learnloop-Undoes")), ""),
        paths,
    )


def _changed_paths(base: Commit, commit: Commit) -> list[str]:
    found = set()
    for delta in base.diff(commit, no_renames=True):
        found |= {p for p in (delta.a_path, delta.b_path) if p}
    return sorted(found)


def _told(place: Place, commit: Commit, base: Commit | None, files: list[str]) -> str:
    """The change of a commit without our trailers, from what its lesson files say before and after."""
    kinds = set()
    for path in files:
        new = _lesson(place, path, _blob(commit, place.in_repo(path)))
        old = _lesson(place, path, _blob(base, place.in_repo(path))) if base else None
        kinds.add(_kind(old, new))
    return kinds.pop() if len(kinds) == 1 else "edit"


def _kind(old: Lesson | None, new: Lesson | None) -> str:
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


def _lesson(place: Place, path: str, data: bytes | None) -> Lesson | None:
    if data is None:
        return None
    reading = lessonfile.read(path, data)
    if isinstance(reading, Quarantined):
        return None
    return reading.lesson._replace(state=counting_state(reading.lesson, place.settings.adopted))


@git.scrubbed()
def agreed_at(place: Place, path: str, since: str = "") -> Agreed | None:
    """The newest commit's state in which a lesson's file and entry agree (design §4), after `since` if given."""
    if place.repo is None:
        return None
    revision = f"{since}..HEAD" if since and _is_known(place, since) else "HEAD"
    for commit in _commits(place, [place.in_repo(path), place.in_repo(place.document)], LOOK_BACK, revision):
        data, document = _blob(commit, place.in_repo(path)), _blob(commit, place.in_repo(place.document))
        lesson = _lesson(place, path, data)
        if lesson is None or document is None:
            continue
        entry = memories.entries(place, document.decode("utf-8", "replace"), {lesson.slug: lesson}).get(lesson.slug)
        if entry and lesson.stated and _agree(place, lesson, entry):
            return Agreed(path, lesson.text, entry.raw, entry.zone)
    return None


class Sides:
    """What merged branches say of a lesson: an entry that came from one of them is no edit by hand."""

    def __init__(self, place: Place, revisions: list[str]) -> None:
        self.place, self.revisions = place, revisions

    def __bool__(self) -> bool:
        return bool(self.revisions)

    def of(self, slug: str, raw: str) -> Agreed | None:
        """The side on which the lesson has this very entry, as a base; None where no side has it."""
        place = self.place
        for revision in self.revisions if place.repo else ():
            assert place.repo is not None, "sides are only found in a repository"
            document = git.blobs(place.repo, [f"{revision}:{place.in_repo(place.document)}"])[0]
            entry = memories.entries(place, document.decode("utf-8", "replace"), {}).get(slug)
            if entry is None or entry.raw != raw:
                continue
            path = entry.path or (f"{place.lessons}/{slug}.md" if place.lessons else f"{slug}.md")
            lesson = _lesson(place, path, git.blobs(place.repo, [f"{revision}:{place.in_repo(path)}"])[0] or None)
            if lesson and _agree(place, lesson, entry):
                return Agreed(path, lesson.text, raw, entry.zone)
        return None


def _is_known(place: Place, commit: str) -> bool:
    assert place.repo is not None, "only asked inside a repository"
    return git.call(place.repo.root, "merge-base", "--is-ancestor", commit, "HEAD", check=False).returncode == 0


def _agree(place: Place, lesson: Lesson, entry: memories.Entry) -> bool:
    if entry.zone != lesson.state and not (entry.zone == "" and lesson.state == "current" and place.kind == "project"):
        return False
    if place.kind == "project":
        return True
    said = entry.claims
    return all(" ".join(said.get(k, "").split()) == v for k, v in memories.claims_of(place, lesson).items())


@git.scrubbed()
def text_before(place: Place, slug: str) -> tuple[str, str] | None:
    """Path and newest text of a lesson whose file is gone."""
    folder = place.lessons
    path = f"{folder}/{slug}.md" if folder else f"{slug}.md"
    for commit in _commits(place, [place.in_repo(path)]):
        for at in (commit, *commit.parents):
            data = _blob(at, place.in_repo(path))
            if data is not None:
                return path, data.decode("utf-8", "replace")
    return None


@git.scrubbed()
def state_before(place: Place, path: str) -> str:
    """The last state of a lesson that was not archived, "" where history does not tell."""
    for commit in _commits(place, [place.in_repo(path)]):
        lesson = _lesson(place, path, _blob(commit, place.in_repo(path)))
        if lesson and lesson.state != "archived":
            return lesson.state
    return ""


def _undone(everything: list[Step]) -> set[str]:
    """The commands that were taken back; an undo that was itself taken back counts no more."""
    found: set[str] = set()
    for step in everything:  # newest first: what takes an undo back comes before it
        if step.undoes and step.command not in found:
            found.add(step.undoes)
    return found


def _meant(name: str, everything: list[Step]) -> str:
    """The slug of a commit that is named by it or by a unique beginning of it.

    Raises UsageError where none, or more than one, is meant.
    """
    slugs = {slug for step in everything for slug in step.slugs}
    wanted = lessonfile.stem(name)
    found = [wanted] if wanted in slugs else sorted(slug for slug in slugs if wanted and slug.startswith(wanted))
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{name!r} may be {', '.join(found[:5])}", "write more of the name", code="ambiguous-name")
    raise UsageError(
        f"no commit and no lesson {name!r}", "learnloop log shows what can be undone", code="unknown-lesson"
    )


Change = tuple[bytes | None, bytes | None]  # a file before and after a commit


def _ours(place: Place, step: Step, files: dict[str, Change], slug: str) -> dict[str, Change]:
    """The files of a commit that an undo may touch: never a person's code that went into the same commit.

    In the memory: lessons and the document, of one lesson alone where the commit is not ours. Outside it: what codify
    wrote. A file that absorbing found was there before: it stays.
    """
    prefix = f"{place.inside}/" if place.inside else ""
    found = {}
    for path, (before, after) in files.items():
        inner = path.removeprefix(prefix)
        if not path.startswith(prefix) or not is_memory_file(place, inner):
            if step.command and is_codified(before, after):
                found[path] = (before, after)
        elif step.command or inner == place.document or not slug or lessonfile.stem(inner) in {slug, *step.slugs[:1]}:
            found[path] = (before, after)
    was_there = {path for path, (before, _) in found.items() if step.change == "absorb" and before is None}
    stays = was_there | {place.in_repo(place.document)} if was_there else was_there
    return {path: change for path, change in found.items() if path not in stays}


def is_memory_file(place: Place, path: str) -> bool:
    """Whether a path, relative to the memory's folder, is that of a lesson or the document."""
    if path == place.document:
        return True
    return path.endswith(".md") and (not place.lessons or path.startswith(f"{place.lessons}/"))


def is_codified(before: bytes | None, after: bytes | None) -> bool:
    """Whether a change of a file holds nothing but rules that codify wrote or took away."""
    old, new = (Counter((data or b"").decode("utf-8", "replace").splitlines()) for data in (before, after))
    changed = [line.strip() for line in ((old - new) + (new - old))]
    return any("<!-- learnloop: " in line for line in changed) and all(
        not line or line.startswith("#") or "<!-- learnloop: " in line or line in outline.LEARNINGS for line in changed
    )


class Reversal(NamedTuple):
    """What an undo takes back: the commits, oldest text to return to and newest text to leave, by repository path."""

    steps: tuple[Step, ...]
    files: dict[str, Change]  # path: (before the commits, after them)


@git.scrubbed()
def reversal(place: Place, what: str) -> Reversal:
    """The commits that an undo of `what` (a commit, a slug, or "" for the last command) takes back.

    Raises UnableError when there is nothing to undo.
    """
    everything = steps(place)
    undone = _undone(everything)
    hint = "learnloop log shows what can be undone"
    slug = ""
    if not what:
        last = next((s for s in everything if s.command and s.change != "undo" and s.command not in undone), None)
        chosen = [s for s in everything if last and s.command == last.command]
        # A person's hand edits that the command absorbed on its way stay, unless absorbing was all it did.
        chosen = [s for s in chosen if s.change != "absorb"] or chosen
    else:
        chosen = [s for s in everything if len(what) >= 4 and s.commit.startswith(what)]
        if not chosen:
            slug = _meant(what, everything)
            of_slug = [s for s in everything if slug in s.slugs and s.change != "undo" and s.command not in undone]
            newest = of_slug[:1]
            chosen = [s for s in of_slug if s.command == newest[0].command] if newest[0].command else newest
    if not chosen:
        raise UnableError(f"there is nothing to undo{f' for {what!r}' if what else ''}", hint, code="nothing-to-undo")
    if any(step.change == "init" for step in chosen):
        message = "what init adopted was there before it: init is not taken back"
        raise UnableError(message, "remove the memory's folder yourself if you want it gone", code="nothing-to-undo")
    repo = _open(place)
    files: dict[str, Change] = {}
    for step in chosen:  # newest first: the first "after" and the last "before" count
        commit = repo.commit(step.commit)
        parent = commit.parents[0] if commit.parents else None
        changed = {path: (_blob(parent, path) if parent else None, _blob(commit, path)) for path in step.paths}
        for path, (before, after) in _ours(place, step, changed, slug).items():
            files[path] = (before, files[path][1] if path in files else after)
    return Reversal(tuple(chosen), files)
