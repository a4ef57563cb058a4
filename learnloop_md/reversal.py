"""What an undo takes back: which commits of a history still stand, and which of their files are the lesson's."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from learnloop_md import codify, git, history, lessonfile, memory, walk
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.history import Step
from learnloop_md.place import Place

Change = tuple[bytes | None, bytes | None]  # a file before and after a commit
_HINT = "learnloop log shows what can be undone"
_BUNDLES = ("absorb", "import", "verify")  # one commit of lessons that have nothing to do with each other
_WITH_STATE = (*_BUNDLES, "undo")  # commits that may change lessons and the state together


class Standing(NamedTuple):
    """A commit that was not taken back, or not of all its lessons."""

    step: Step
    slugs: tuple[str, ...]  # the lessons for which it stands


class Part(NamedTuple):
    """A commit, and the lessons of it that are meant; none are all."""

    step: Step
    only: frozenset[str] = frozenset()


class Beside(NamedTuple):
    """Whose rules came to a file outside of the memory and went; it may hold a person's changes too."""

    before: bytes | None
    came: frozenset[str]
    went: frozenset[str]


class Reversal(NamedTuple):
    """What an undo takes back: the commits, oldest text to return to and newest text to leave, by repository path."""

    parts: tuple[Part, ...]
    files: dict[str, Change]  # path: (before the commits, after them)
    beside: dict[str, Beside] = {}  # noqa: RUF012 - never mutated; a NamedTuple's default. Not all are in files

    @property
    def slugs(self) -> tuple[str, ...]:
        """The lessons that are taken back."""
        found = [slug for step, only in self.parts for slug in step.slugs if not only or slug in only]
        return tuple(dict.fromkeys(found))


def _standing(place: Place, everything: list[Step]) -> list[Standing]:
    """The commits that still stand, newest first; an undo that was itself taken back counts no more.

    An undo names a command, or a commit of none. Where the history was rewritten since and no longer has what it names,
    what the files hold tells; else the same bytes may come back by any other change.
    """
    keys = {step.key for step in everything}
    undone: dict[str, set[str]] = {}
    returned: set[tuple[str, str]] = set()  # what newer undos brought back: path and blob
    found = []
    for step in everything:
        if step.is_merge:  # what it brought stands in the commits of its sides
            continue
        back = {
            history.lesson_of(place, path) for path, (before, _) in step.changes.items() if (path, before) in returned
        }
        gone = undone.get(step.key, set()) | back
        left = tuple(slug for slug in step.slugs if slug not in gone)
        if not left and (step.slugs or step.key in undone):
            continue
        if step.change == "undo" and step.is_whole and not step.is_cut:
            for key in step.undoes:
                undone.setdefault(key, set()).update(step.slugs)
            if not keys.issuperset(step.undoes):
                lessons = [path for path in step.changes if history.lesson_of(place, path)]
                returned |= {(path, step.changes[path][1]) for path in lessons}
        else:
            found.append(Standing(step, left))
    return found


@git.scrubbed()
def reversal(place: Place, what: str) -> Reversal:
    """What an undo of `what` (a lesson, a commit or other revision, or "" for the last command) takes back.

    A lesson's name wins over a revision of the same name. Raises UnableError when there is nothing to undo.
    """
    everything = history.steps(place)
    by_id = [step for step in everything if len(what) >= 4 and step.commit.startswith(what)]
    known = {slug for step in everything for slug in step.slugs}
    if not what:
        parts = _last_command(place, everything)
    elif by_id and lessonfile.stem(what) not in known:
        parts = [Part(step) for step in by_id]
    elif slug := memory.meant(lessonfile.stem(what), known):
        parts = _last_change(place, everything, slug)
    else:
        parts = _of_revision(place, everything, what)
    _refuse_cut(place, (part.step.told for part in parts))
    if not parts and any(step.is_cut for step in everything):
        raise git.too_shallow(place.repo, "what is to be undone is not in it")
    if not parts:
        raise UnableError(f"there is nothing to undo{f' for {what!r}' if what else ''}", _HINT, code="nothing-to-undo")
    if any(part.step.change == "init" for part in parts):
        message = "what init adopted was there before it: init is not taken back"
        raise UnableError(message, "remove the memory's folder yourself if you want it gone", code="nothing-to-undo")
    _refuse_first(parts)
    return _reversal(place, parts)


def _refuse_first(parts: Iterable[Part]) -> None:
    """Raises UnableError for the first commit of a history that is no command's own: what it brought was there."""
    for step in (part.step.told for part in parts):
        if step.is_root and step.slugs and not step.is_whole:
            message = f"{step.commit[:10]} ({step.subject}) begins the history: what it brought was there before it"
            raise UnableError(message, "take a lesson out by its name: learnloop forget NAME", code="nothing-to-undo")


def _refuse_cut(place: Place, steps: Iterable[Step]) -> None:
    """Raises UnableError where the history was cut off at a commit: all that it holds seems to have come with it."""
    if cut := next((step for step in steps if step.is_cut), None):
        raise git.too_shallow(place.repo, f"what {cut.commit[:10]} ({cut.subject}) changed is not in it")


def _last_command(place: Place, everything: list[Step]) -> list[Part]:
    rows = [row.step for row in _standing(place, everything)]
    _refuse_cut(place, rows[:1])
    if rows and rows[0].slugs and not rows[0].command:
        message = f"the last change is {rows[0].commit[:10]} ({rows[0].subject}), which is no command's own commit"
        raise UnableError(message, f"name it: learnloop undo {rows[0].commit[:10]}", code="no-command")
    standing = [step for step in rows if step.command]
    chosen = [step for step in standing if step.command == standing[0].command]
    _refuse_rewritten(place, everything, chosen)
    # A person's hand edits that the command absorbed on its way stay, unless absorbing was all it did.
    chosen = [step for step in chosen if step.change != "absorb"] or chosen
    return [Part(step) if step.is_whole else Part(step, frozenset(step.named)) for step in chosen]


def _refuse_rewritten(place: Place, everything: list[Step], steps: list[Step]) -> None:
    """Raises UnableError where a command's commit was amended or squashed and kept its trailers, as the reflog knows.

    A rebased one changes the same lessons in the same way.
    """
    repo = place.repo
    if repo is None or not steps:
        return
    trailer = f"--grep=Learnloop-Command: {steps[0].command}"
    made = git.asked(repo.root, "log", "-g", "--format=%H", "--max-count=20", "-F", trailer, "HEAD").stdout
    earlier = set(made.decode().split()) - {step.commit for step in everything}
    before = [_of_memory(place, row.changes) for row in map(partial(_visited, repo), sorted(earlier)) if row]
    for step in steps if before else ():
        if _of_memory(place, step.changes) not in before:
            message = (
                f"the last change is {step.commit[:10]} ({step.told.subject}), which was amended or squashed since"
            )
            raise UnableError(message, f"name it: learnloop undo {step.commit[:10]}", code="no-command")


def _visited(repo: git.Repo, commit: str) -> walk.Visited | None:
    return next(iter(walk.commits(repo, commit, [], 1)), None)


def _of_memory(place: Place, changes: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """What a commit changed in lessons and state: the document has the lines of others too."""
    is_ours = (path for path in changes if history.lesson_of(place, path) or path == place.in_repo(place.values))
    return {path: changes[path] for path in is_ours}


def _last_change(place: Place, everything: list[Step], slug: str) -> list[Part]:
    rows = _standing(place, everything)
    first = next((row.step for row in rows if slug in row.slugs or slug in _bound(place, row.step, slug)), None)
    chosen = [
        row.step for row in rows if first and row.step.key == first.key and (row.step is first or slug in row.slugs)
    ]
    together = [step.is_whole and step.change not in _BUNDLES for step in chosen]
    return [
        Part(step) if whole else Part(step, frozenset({slug}) | _bound(place, step, slug))
        for step, whole in zip(chosen, together, strict=True)
    ]


def _bound(place: Place, step: Step, slug: str) -> frozenset[str]:
    """The lessons that a commit bound to one: its other name, what took its place, whose place it took.

    Asked of a commit whose trailers do not tell which lessons one command changed together.
    """
    pairs = [{new, old} for new, old in step.renames.items()]
    for path, (before, after) in () if step.is_whole else _lessons(place, step):
        old, new = (history.lesson_in(place, path, data) for data in (before, after))
        for field in ("superseded_by", "supersedes") if new else ():
            other = getattr(new, field)
            if other and other != getattr(old, field, ""):
                pairs.append({history.lesson_of(place, path), other})
    return frozenset[str]().union(*(pair for pair in pairs if slug in pair))


def _lessons(place: Place, step: Step) -> list[tuple[str, Change]]:
    return [row for row in _contents(place, step).items() if history.lesson_of(place, row[0])]


def _of_revision(place: Place, everything: list[Step], what: str) -> list[Part]:
    """The commit that git knows by a name. Raises UsageError where there is none, UnableError for one not of ours."""
    commit = git.resolve(place.repo, what) if place.repo else ""
    if not commit and place.repo and git.cut_off(place.repo):
        raise git.too_shallow(place.repo, f"it holds no lesson and no commit {what!r}")
    if not commit:
        raise UsageError(f"no commit and no lesson {what!r}", _HINT, code="unknown-lesson")
    found = [Part(step) for step in everything if step.commit == commit]
    if not found:
        message = f"{what} is the commit {commit[:10]}, which changed nothing of this memory here"
        raise UnableError(message, _HINT, code="nothing-to-undo")
    return found


def _reversal(place: Place, parts: list[Part]) -> Reversal:
    files: dict[str, Change] = {}
    beside: dict[str, Beside] = {}
    mixed: set[str] = set()  # a person changed them too
    for part in parts:  # newest first: the first "after" and the last "before" count
        contents = _contents(place, part.step)
        ours = _ours(place, part, contents)
        for path, (before, after) in ours.items():
            files[path] = (before, files[path][1] if path in files else after)
        for path, (before, after) in contents.items():
            if not _is_memorys(place, path) and (rules := _rules(part, before, after)):
                newer = beside.get(path, rules)
                beside[path] = Beside(before, rules.came | newer.came, rules.went | newer.went)
                mixed |= {path} - set(ours)
    whole = {path: change for path, change in files.items() if path not in mixed}
    return Reversal(tuple(parts), whole, beside)


def _is_memorys(place: Place, path: str) -> bool:
    is_lesson = bool(history.lesson_of(place, path))
    return is_lesson or path == place.in_repo(place.document) or history.is_beside(place, path)


def _rules(part: Part, before: bytes | None, after: bytes | None) -> Beside | None:
    """The meant lessons whose rules a commit brought to a file or took from it; None where there are none."""
    texts = [(data or b"").decode("utf-8", "replace") for data in (before, after)]
    old, new = ({slug for slug, _ in codify.codified_slugs(text)} for text in texts)
    meant = part.only or frozenset(part.step.slugs)
    came, went = meant & (new - old), meant & (old - new)
    return Beside(before, came, went) if came or went else None


def _ours(place: Place, part: Part, contents: dict[str, Change]) -> dict[str, Change]:
    """The files of a commit that an undo may touch: never a person's code that went into the same commit.

    In the memory: lessons and the document; of the meant lessons alone where others were squashed into the commit, and
    then the document follows. Outside it: a file that codify alone changed. What absorbing found was there before: it
    stays.
    """
    step, only = part
    found = {}
    for path, (before, after) in contents.items():
        slug = history.lesson_of(place, path)
        if slug:
            meant = not only or slug in only
        elif path == place.in_repo(place.document):
            meant = not only or only.issuperset(step.slugs)
        elif path == place.in_repo(place.values):  # a lesson's own commit holds no state: it was squashed into it
            meant = not only and (not step.named or step.change in _WITH_STATE)
        elif history.is_beside(place, path):
            meant = not only
        else:
            meant = history.is_codified(before, after, only)
        if meant:
            found[path] = (before, after)
    was_there = {path for path, (before, _) in found.items() if step.change == "absorb" and before is None}
    stays = was_there | {place.in_repo(place.document)} if was_there else was_there
    return {path: change for path, change in found.items() if path not in stays}


def _contents(place: Place, step: Step) -> dict[str, Change]:
    """The markdown files of a commit, and the state, before and after it."""
    paths = [path for path in step.changes if path.endswith(".md") or path == place.in_repo(place.values)]
    texts = history.contents(place, [blob for path in paths for blob in step.changes[path]])
    return {path: (texts[2 * n], texts[2 * n + 1]) for n, path in enumerate(paths)}
