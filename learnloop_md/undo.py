"""Undo: a new commit that takes back lessons, documents and targets of earlier commits together."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

from learnloop_md import codify, elsewhere, git, history, lessonfile, memory, reversal, store
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.lesson import Lesson, merged_events
from learnloop_md.life import Outcome
from learnloop_md.place import Place
from learnloop_md.plan import Draft
from learnloop_md.reversal import Beside, Reversal
from learnloop_md.store import Ledger
from learnloop_md.tree import Field

_SINCE = "changed-since"


def undo(draft: Draft, place: Place, taken: Reversal) -> Outcome:
    """Take the commits of a reversal back; what was changed since is kept by a three-way merge.

    Raises UnableError where a later change stands in the way; nothing is changed then.
    """
    exact = place.in_repo(place.document) in taken.files
    by_rule = taken.beside.keys() - taken.files.keys()
    for path, (before, after) in sorted(taken.files.items()):
        inner = Path(os.path.relpath(_root(place) / path, place.folder)).as_posix()
        current = _current(draft, place, inner)
        dos = _is_converted(current, after)
        plain = current.replace(b"\r\n", b"\n") if current and dos else current
        new = before
        if plain not in (after, before):
            is_document = inner == place.document
            exact = exact and not is_document
            try:
                new = _merged(path, plain, after, before, strict=not is_document)
            except UnableError:  # lines beside the rule, not the rule itself, may have changed
                if path not in taken.beside:
                    raise
                by_rule |= {path}
                continue
            _check_state(inner, place, new)
        new = new.replace(b"\n", b"\r\n") if new and dos else new
        if new != current:
            _put(draft, place, inner, current, new)
    for path in sorted(by_rule):
        _take_rules(draft, place, path, taken.beside[path], taken)
    steps, slugs = [part.step.told for part in taken.parts], taken.slugs
    what = "\n".join(f"takes back {step.commit[:10]} {step.subject}" for step in steps)
    trailers = [("Learnloop-Undoes", key) for key in sorted({step.key for step in steps})]
    if draft.cut("undo", slugs, what, document=not exact, trailers=trailers) is None:
        _refuse_renamed(place, taken)
        why = "what it did is taken back already" if taken.files else "what was absorbed was there before it: it stays"
        return Outcome("unchanged", ", ".join(slugs), "", (why,))
    slug = slugs[0] if len(slugs) == 1 else ""
    lesson = draft.lessons.get(slug)
    more = {"undone": [step.commit for step in steps]}
    named = ", ".join(slugs) or ", ".join(step.subject for step in steps)
    said = (*(f"took back {step.commit[:10]} {step.subject}" for step in steps), *_left_behind(draft, place, taken))
    return Outcome("undone", ", ".join(slugs), lesson.state if lesson else "", said, more, headline=f"undone {named}")


def _refuse_renamed(place: Place, taken: Reversal) -> None:
    """Raises UnableError where a lesson that is to be changed back has another name by now."""
    for path, (_, after) in taken.files.items():
        old = history.lesson_of(place, path)
        if old and after is not None and (new := history.name_now(place, place.inner(path))):
            raise UnableError(f"{old} is called {new} now", f"take that back first: learnloop undo {new}", code=_SINCE)


def _take_rules(draft: Draft, place: Place, path: str, rules: Beside, taken: Reversal) -> None:
    """Take the rules that codify wrote out of a file, which keeps what a person changed in the same commits or since.

    Raises UnableError where that cannot be done.
    """
    inner = Path(os.path.relpath(_root(place) / path, place.folder)).as_posix()
    current = (_current(draft, place, inner) or b"").decode("utf-8", "surrogateescape")
    standing = {slug for slug, _ in codify.codified_slugs(current)}
    text, before = current, (rules.before or b"").decode("utf-8", "replace")
    for slug in sorted(rules.came | rules.went):
        was, became = _versions(place, slug, taken)
        if slug in rules.went - standing and was and was.codified_in and not (became and became.codified_in):
            message = f"{path} was changed in the same commit or since, and the rule of {slug} is not put back"
            raise UnableError(message, f"say instead: learnloop codify {slug} --into {path}", code=_SINCE)
        if slug in rules.came & standing and became and became.codified_in and not (was and was.codified_in):
            known = [lesson for lesson in (became, was, draft.lessons.get(slug)) if lesson]
            texts = (codify.without_rule(text, lesson, before) for lesson in known)
            found = next((new for new in texts if new is not None), None)
            if found is None:
                message = f"{path} was changed since: the rule of {slug} is not as codify wrote it"
                raise UnableError(message, f"take it out of {path} by hand, then undo again", code=_SINCE)
            text = found
    if text != current:
        draft.edit(inner, current, text)


def _versions(place: Place, slug: str, taken: Reversal) -> list[Lesson | None]:
    """A lesson before the commits and after them."""
    path = place.in_repo(place.path_of(slug))
    return [history.lesson_in(place, path, data) for data in taken.files.get(path, (None, None))]


def _left_behind(draft: Draft, place: Place, taken: Reversal) -> tuple[str, ...]:
    """Rules that were codified into a file that git ignores or of another repository: no commit here holds them."""
    told = []
    for path, (_, after) in taken.files.items():
        reading = lessonfile.read(path, after or b"")
        target = reading.lesson.codified_in if isinstance(reading, lessonfile.Reading) else ""
        now = draft.lessons.get(lessonfile.stem(path))
        inside = any(f"/{path}".endswith(f"/{target}") for path in (*taken.files, *taken.beside))
        if target and now and not now.codified_in and not inside:
            where = "this repository" if place.own_repo else "git"
            told.append(f"{target} is not in {where}: take the rule out of it by hand")
    return tuple(told)


def _check_state(inner: str, place: Place, new: bytes | None) -> None:
    """Lines that merge may still be no JSON: then nothing is changed."""
    if inner == place.values and new is not None:
        try:
            json.loads(new)
        except ValueError as error:
            hint = "set the key by hand: learnloop state set KEY VALUE"
            raise UnableError(f"{inner} was changed since", hint, code=_SINCE) from error


def _is_converted(current: bytes | None, committed: bytes | None) -> bool:
    """Whether a checkout with CRLF line ends (core.autocrlf, eol) stands for a commit without."""
    return bool(current and committed) and b"\r\n" in (current or b"") and b"\r\n" not in (committed or b"")


def _root(place: Place) -> Path:
    return place.repo.root if place.repo else place.folder


def _current(draft: Draft, place: Place, inner: str) -> bytes | None:
    """A file as it stands once the draft is applied: what was absorbed on the way is not on disk yet."""
    if inner == place.document and draft.document:
        return draft.document.encode("utf-8", "surrogateescape")
    lesson = draft.lessons.get(lessonfile.stem(inner))
    if lesson and lesson.path == inner:
        return lesson.text.encode("utf-8", "surrogateescape")
    return store.read_bytes(place.folder / inner)


def _put(draft: Draft, place: Place, inner: str, current: bytes | None, new: bytes | None) -> None:
    old_text = None if current is None else current.decode("utf-8", "surrogateescape")
    text = None if new is None else new.decode("utf-8", "surrogateescape")
    slug = lessonfile.stem(inner)
    if inner == place.document:
        draft.set_document(old_text, text)
    elif place.is_lesson(inner):
        if text is None:
            draft.lessons.pop(slug, None)
            draft.edit(inner, old_text, None)
        else:
            draft.put(slug, text, inner)
    else:
        draft.edit(inner, old_text, text)


def _merged(path: str, current: bytes | None, base: bytes | None, other: bytes | None, *, strict: bool) -> bytes | None:
    """current with the change from base to other brought in.

    Not strict (the document, which the lessons bring in step): current where that cannot be done.
    """
    hint = "undo the later change first; learnloop log shows it"
    if current is None or base is None or other is None:
        if not strict:
            return current
        how = "removed" if current is None else "changed"
        raise UnableError(f"{path} was {how} since", hint, code=_SINCE)
    merged, clean = git.merge_file(base, current, other)
    if clean:
        return merged
    if not strict:
        return current
    if (fields := _by_fields(path, current, base, other)) is not None:
        return fields
    raise UnableError(f"{path} was changed since in the same lines", hint, code=_SINCE)


_FIELDS = (
    "name description type state title kind created tags pinned reviewed revived archive_note codified_in supersedes "
    "superseded_by context skill_version"
).split()
_EVENTS = ("seen", "confirmed", "disputed")


def _by_fields(path: str, current: bytes, base: bytes, other: bytes) -> bytes | None:
    """A lesson with the fields that changed from base to other; None where a later change of one stands in the way.

    Neighbouring lists (a confirmation, then a dispute) conflict as lines and not as fields.
    """
    readings = [lessonfile.read(path, data) for data in (current, base, other)]
    rows = [reading.lesson for reading in readings if isinstance(reading, lessonfile.Reading)]
    if len(rows) != len(readings):
        return None
    now, after, before = rows
    if any(getattr(after, part) != getattr(before, part) for part in ("rule", "why", "how")):
        return None
    changes: dict[str, Field] = {}
    for name in _FIELDS:
        if getattr(after, name) != getattr(before, name):
            if getattr(now, name) != getattr(after, name):
                return None
            changes[name] = getattr(before, name) or None
    for name in _EVENTS:
        came, went = (set(getattr(a, name)) - set(getattr(b, name)) for a, b in ((after, before), (before, after)))
        if came or went:
            changes[name] = merged_events(set(getattr(now, name)) - came, went)
    return lessonfile.with_fields(now.text, changes).encode("utf-8", "surrogateescape")


_BACK = {
    "note": "forget",
    "capture": "forget",
    "codify": "restore",
    "archive": "restore",
    "pin": "unpin",
    "unpin": "pin",
}


def _refuse_untold(place: Place, ledger: Ledger) -> None:
    """Raises UnableError where a command made the last change elsewhere: what the history tells last is another's."""
    other = "or name what to undo: learnloop undo COMMIT"
    if ledger.loose:
        verb, _, slug = ledger.loose.removeprefix("learnloop: ").partition(" ")
        is_plain = verb in _BACK and " " not in slug
        back = f"take it back: learnloop {_BACK[verb]} {slug}, {other}" if is_plain else other.removeprefix("or ")
        message = f"the last change ({ledger.loose}) is not in this memory's history, or not all of it"
        raise UnableError(message, back, code="private")
    tip = git.resolve(place.repo, f"refs/heads/{ledger.aside}") if ledger.aside and place.repo else ""
    if tip and place.repo and not git.is_ancestor(place.repo, tip, "HEAD"):
        message = f"the last change is on the branch {ledger.aside}, and here it changed nothing"
        raise UnableError(
            message, f"take it back: git branch -D {shlex.quote(ledger.aside)}, {other}", code="on-branch"
        )


def _refuse_private(place: Place, what: str) -> None:
    """Raises UnableError for a lesson that git does not have."""
    if slug := memory.meant(lessonfile.stem(what), memory.load(place).private):
        raise UnableError(f"{slug} is private: git has no history of it", "edit its file yourself", code="private")


def reversal_of(place: Place, what: str) -> Reversal:
    """What `undo WHAT` takes back."""
    ledger = store.load_ledger(place)
    if ledger and not what and not ledger.until:
        _refuse_untold(place, ledger)
    try:
        found = reversal.reversal(place, what)
    except UsageError:
        _refuse_private(place, what)
        raise
    is_later = ledger and not what and ledger.until  # what the history tells last may be older than that all the same
    if ledger and is_later and place.repo and git.is_ancestor(place.repo, found.parts[0].step.commit, ledger.until):
        _refuse_untold(place, ledger)
    queued: list[str] = []
    if ledger and ledger.queue and place.repo:
        queued = [item["message"] for item in elsewhere.split(place, git.head(place.repo), ledger.queue)[0]]
    if what:
        queued = [text for text in queued if lessonfile.stem(what) in history.trailer(text, "Lesson")]
    known = {step.command for step in history.steps(place)} if queued else set[str]()
    waiting = (value for text in queued for value in history.trailer(text, "Learnloop-Command"))
    if any(history.command_of(value) not in known for value in waiting):
        hint = "commit it first (learnloop sync), or name what to undo: learnloop undo COMMIT"
        raise UnableError("the last change is not committed yet", hint, code="queued")
    return found
