"""Undo: a new commit that takes back lessons, documents and targets of earlier commits together."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from learnloop_md import git, history, lessonfile
from learnloop_md.errors import UnableError
from learnloop_md.history import Reversal
from learnloop_md.life import Outcome
from learnloop_md.place import Place
from learnloop_md.plan import Draft


def undo(draft: Draft, place: Place, reversal: Reversal) -> Outcome:
    """Take the commits of a reversal back; what was changed since is kept by a three-way merge.

    Raises UnableError where a later change stands in the way; nothing is changed then.
    """
    exact = True
    for path, (before, after) in sorted(reversal.files.items()):
        full = place.repo.root / path if place.repo else Path(path)
        inner = Path(os.path.relpath(full, place.folder)).as_posix()
        current = full.read_bytes() if full.exists() else None
        new = before
        if current != after and current != before:
            exact = exact and inner != place.document
            new = _merged(path, current, after, before)
        if new != current:
            _put(draft, place, inner, current, new)
    slugs = tuple(dict.fromkeys(slug for step in reversal.steps for slug in step.slugs))
    commands = {step.command for step in reversal.steps if step.command}
    what = "\n".join(f"takes back {step.commit[:10]} {step.subject}" for step in reversal.steps)
    draft.cut("undo", slugs, what, document=not exact, trailers=[("Learnloop-Undoes", c) for c in sorted(commands)])
    slug = slugs[0] if len(slugs) == 1 else ""
    lesson = draft.lessons.get(slug)
    return Outcome("undone", ", ".join(slugs), lesson.state if lesson else "", (), {"undone": [s.commit for s in reversal.steps]})


def _put(draft: Draft, place: Place, inner: str, current: bytes | None, new: bytes | None) -> None:
    old_text = None if current is None else current.decode("utf-8", "surrogateescape")
    text = None if new is None else new.decode("utf-8", "surrogateescape")
    slug = lessonfile.stem(inner)
    in_lessons = inner.endswith(".md") and not inner.startswith("..") and inner != place.document
    if inner == place.document:
        draft.set_document(old_text, text)
    elif in_lessons and (not place.lessons or inner.startswith(f"{place.lessons}/")):
        if text is None:
            draft.lessons.pop(slug, None)
            draft.edit(inner, old_text, None)
        else:
            draft.put(slug, text, inner)
    else:
        draft.edit(inner, old_text, text)


def _merged(path: str, current: bytes | None, base: bytes | None, other: bytes | None) -> bytes | None:
    """current with the change from base to other brought in."""
    if current is None or base is None or other is None:
        hint = "undo the later change first; learnloop log shows it"
        raise UnableError(f"{path} was {'removed' if current is None else 'changed'} since", hint, code="changed-since")
    with tempfile.TemporaryDirectory(prefix="learnloop-") as folder:
        names = []
        for name, content in (("current", current), ("base", base), ("other", other)):
            (Path(folder) / name).write_bytes(content)
            names.append(name)
        done = git.call(Path(folder), "merge-file", "-p", "-q", *names, check=False)
    if done.returncode:
        hint = "undo the later change first; learnloop log shows it"
        raise UnableError(f"{path} was changed since in the same lines", hint, code="changed-since")
    return done.stdout


def reversal_of(place: Place, what: str) -> Reversal:
    """What `undo WHAT` takes back."""
    return history.reversal(place, what)
