"""`export`: lessons for programs and agents that know nothing of this tool."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import agents, git, managed, memory, outgoing, outline, runlog, skill, stats, store
from learnloop_md.answer import Answer, coloured, use_colour, visible_lines
from learnloop_md.calls import Call
from learnloop_md.errors import RefusedError, UnableError, UsageError
from learnloop_md.managed import Block
from learnloop_md.place import Place
from learnloop_md.plan import Edit, diff

KNOWN = ("agents", "jsonl", "mirror", "bundle")
FILE = "AGENTS.md"
BUNDLE = "learnings.md"
SUFFIXES = (".md", ".mdc")


class Target(NamedTuple):
    """The file that the block goes into: where it is, as people name it, its text (None where it is missing)."""

    path: Path
    name: str
    text: str | None


class Change(NamedTuple):
    """What becomes of the file: its new text (None removes it), the block's lessons, what to say on the side."""

    text: str | None
    lessons: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def export(call: Call) -> Answer:
    """agents, bundle: a block in a file that is the person's, so nothing is committed. jsonl, mirror: a text.

    Raises RefusedError where the block was edited by hand or its markers are broken, UsageError for a wrong file.
    """
    what = call.text("what")
    if what not in KNOWN:
        raise UsageError(f"there is no export {what!r}", f"known: {', '.join(KNOWN)}")
    if what in ("jsonl", "mirror"):
        return _told(call, what)
    if what == "bundle":
        return _bundled(call)
    if call.flag("remove"):
        target = _target(call.cwd, call.named("to") or FILE, named=bool(call.named("to")), adds=False)
        change = _removed(target, replace=call.flag("replace"))
    else:
        place = call.place
        target = _target(call.cwd, call.named("to") or FILE, named=bool(call.named("to")), place=place)
        change = _exported(target, place, replace=call.flag("replace"))
    return _written(call, target, change)


def _told(call: Call, what: str) -> Answer:
    """The lessons as a text, on standard output or in the file that --to names."""
    place = call.place
    found = memory.load(place)
    rows = outgoing.shared(found)
    if what == "mirror":
        ended = stats.collect(rows, runlog.load(place))
        text = outgoing.mirror(rows, _title(place, place.repo), call.today, ended)
    else:
        rows = [lesson for lesson in rows if lesson.is_active or call.flag("all")]
        text = outgoing.jsonl(found, rows, with_states=call.flag("all"))
    kept = len(found.private)
    notices = (f"{kept} private {'lesson stays' if kept == 1 else 'lessons stay'} here",) if kept else ()
    slugs = [lesson.slug for lesson in rows]
    if not call.named("to"):
        return Answer(visible_lines(text) if what == "mirror" else text, {"text": text, "lessons": slugs}, notices)
    return _saved(call, found, what, text, slugs)._replace(notices=notices)


def _saved(call: Call, found: memory.Memory, what: str, text: str, slugs: list[str]) -> Answer:
    """Write a text into a file; one that somebody else made is not overwritten without --replace."""
    name = call.named("to")
    path = Path(os.path.normpath(call.cwd / name)).resolve()
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise UsageError(f"--to {name}: not a file", "name one")
    if path.is_relative_to(found.place.folder):
        raise UsageError(f"{name} lies in the memory itself", "name a file outside of it")
    store.refuse_lost(path, name)
    old = (store.read_bytes(path) or b"").decode("utf-8", "surrogateescape") if path.exists() else None
    if old and not call.flag("replace"):
        _refuse_others(found, what, name, old)
    answer = _written(call, Target(path, name, old), Change(text, tuple(slugs)))
    if what == "jsonl" and not call.flag("dry_run"):
        _remember(found.place, text)
    return answer


def _refuse_others(found: memory.Memory, what: str, name: str, old: str) -> None:
    """Raises RefusedError where a file holds anything but what an export wrote."""
    hint = "name another file, or say --replace"
    if what == "mirror":
        ours = managed.is_sealed(old, outgoing.MIRROR_MARK)
        if ours is None:
            raise RefusedError(f"{name} is not ours", hint, code="exists")
        if not ours:
            raise RefusedError(f"{name} was edited by hand", f"move your lines out of it, {hint}", code="hand-edited")
    elif _hash(old) not in _remembered(found.place) and not outgoing.is_ours(found, old):
        raise RefusedError(f"{name} holds lines that are no records of this memory", hint, code="exists")


# JSON lines have no room for a mark: which bytes were written is remembered beside the queue.
_MOST = 100


def _remembered(place: Place) -> list[str]:
    with suppress(UnableError):
        return (store.read_bytes(place.state / "exported") or b"").decode("ascii", "replace").split()
    return []


def _remember(place: Place, text: str) -> None:
    """Let the next export write over this text. Where that cannot be kept it takes --replace."""
    known, made = _remembered(place), _hash(text)
    if made not in known:
        with suppress(UnableError):
            store.write(place.state / "exported", "".join(f"{row}\n" for row in [*known[1 - _MOST :], made]).encode())


def _hash(text: str) -> str:
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogateescape")).hexdigest()


def _bundled(call: Call) -> Answer:
    """The current lessons as a block in the learnings.md that ships with the skill."""
    place = call.place
    named = call.named("to")
    if place.kind != "skill" and not named:
        raise UsageError("this memory belongs to no skill", "name the file: --to learnings.md")
    remove = call.flag("remove")
    base = call.cwd if named else place.folder.parent
    target = _target(base, named or BUNDLE, named=True, place=place, adds=not remove)
    if remove:
        return _written(call, target, _removed(target, replace=call.flag("replace")))
    rows = [lesson for lesson in outgoing.shared(memory.load(place)) if lesson.state == "current"]
    if not rows and target.text is None:
        raise RefusedError("no lesson is current yet: candidates do not ship", "learnloop review", code="empty")
    inside, head = outgoing.bundle(rows), target.text if target.text is not None else outline.LEARNINGS
    block = managed.find(head, target.name)
    kept = _edited(target, block, replace=call.flag("replace"))
    text = managed.with_block(head, block, inside, keep=kept)
    notices = (f"{target.name}: the edited text now stands below the block",) if kept else ()
    return _written(call, target, Change(text, tuple(lesson.slug for lesson in rows), notices))


def _target(cwd: Path, name: str, *, named: bool, place: Place | None = None, adds: bool = True) -> Target:
    """The file: AGENTS.md at the root of the repository around cwd, or the one named, seen from cwd.

    adds: something comes into it. Raises UsageError for what is no markdown file in UTF-8, or leads out.
    """
    repo = git.find(cwd)
    if repo is None and not named:
        raise UnableError("this is not a git repository", "name the file: --to AGENTS.md", code="no-git")
    root = repo.root if repo else cwd
    path = Path(os.path.normpath((cwd if named else root) / name))
    real = path.resolve()
    if path.suffix not in SUFFIXES or (real.exists() and not real.is_file()):
        raise UsageError(f"--to {name}: not a markdown file", f"name one, such as {FILE} or GEMINI.md")
    if not real.is_relative_to(root.resolve()):
        raise UsageError(f"{name} leads out of {root}", "name a file inside it", code="path-traversal")
    if place and (real.parent == place.folder or real.is_relative_to(place.folder / (place.lessons or "."))):
        raise UsageError(f"{name} lies in the memory itself", f"name another file, such as {FILE}")
    store.refuse_lost(real, name)
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else name
    if adds:
        return Target(real, shown, store.read_text(real, name))
    data = store.read_bytes(real)  # what is taken out of a file in any encoding leaves the bytes around it
    return Target(real, shown, None if data is None else data.decode("utf-8", "surrogateescape"))


def _exported(target: Target, place: Place, *, replace: bool) -> Change:
    found = memory.load(place)
    document = place.folder / place.document
    repo = git.find(target.path.parent)
    inside = repo is not None and place.repo is not None and repo.common_dir == place.repo.common_dir
    path = place.in_repo(place.document) if inside and not place.own_repo else ""
    if repo and path:
        path = os.path.relpath(repo.root / path, target.path.parent)
    elif repo is None and document.is_relative_to(target.path.parent):
        path = document.relative_to(target.path.parent).as_posix()
    told = agents.tell(found, _title(place, repo), path, skill.version(place))
    slugs = tuple(lesson.slug for lesson in told.lessons)
    if target.text is None:
        return Change(managed.with_block("", None, told.text) + "\n", slugs)
    block = managed.find(target.text, target.name)
    kept = _edited(target, block, replace=replace)
    notices = (f"{target.name}: the edited text now stands below the block",) if kept else ()
    return Change(managed.with_block(target.text, block, told.text, keep=kept), slugs, notices)


def _title(place: Place, repo: git.Repo | None) -> str:
    if place.kind == "skill":
        return place.folder.parent.name
    return repo.main_root.name if repo else place.folder.parent.name


def _removed(target: Target, *, replace: bool) -> Change:
    text = target.text
    block = None if text is None else managed.find(text, target.name)
    if text is None or block is None:
        return Change(text)
    kept = _edited(target, block, replace=replace)
    after = managed.without_block(text, block, keep=kept)
    notices = (f"{target.name}: the edited text stays, the markers are gone",) if kept else ()
    made = not after and text.endswith("\n")  # a file that was empty before has a block without a last line end
    return Change(None if made else after, (), notices)


def _edited(target: Target, block: Block | None, *, replace: bool) -> str:
    """What a person made of the block, "" where it is as it was written.

    Raises RefusedError unless it is to be replaced.
    """
    if block is None or block.is_ours:
        return ""
    if not replace:
        raise RefusedError(
            f"{target.name}:{block.start + 1}: the block of ours was edited by hand",
            "move your text out of it and say --replace, which keeps the edited text outside the block; "
            "or export elsewhere: --to FILE",
            code="hand-edited",
        )
    return block.text


def _written(call: Call, target: Target, change: Change) -> Answer:
    dry_run, remove = call.flag("dry_run"), call.flag("remove")
    same = change.text == target.text
    action = "unchanged" if same else "removed" if remove else "exported"
    data: dict[str, Any] = {
        "action": action, "slug": "", "state": "", "commits": [], "queued": False,
        "paths": [] if same else [target.name], "path": str(target.path), "lessons": list(change.lessons),
    }  # fmt: skip
    if same:
        held = "holds no block of ours" if remove else "is up to date"
        return Answer(f"nothing to do: {target.name} {held}", data)
    if dry_run:
        shown = diff([Edit(target.name, target.text, change.text)])
        return Answer(coloured(shown, colour=use_colour()), {**data, "dry_run": True, "diff": shown}, change.notices)
    if store.read_bytes(target.path) != _bytes(target.text):
        raise UnableError(f"{target.name} changed meanwhile", "run the command again", code="changed")
    store.write(target.path, _bytes(change.text))
    count = f"{len(change.lessons)} lesson{'' if len(change.lessons) == 1 else 's'}"
    if remove:
        said = f"removed the block from {target.name}" if change.text is not None else f"removed {target.name}"
    else:
        said = f"wrote {count} into {target.name}"
    return Answer(f"{said}; it is your file: nothing was committed", data, change.notices)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")
