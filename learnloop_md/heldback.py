"""What a commit may have of a document while a person has lesson files staged: their entries as HEAD has them."""

from __future__ import annotations

from collections.abc import Collection

from learnloop_md import git, history, memory, store
from learnloop_md.carry import tree_of
from learnloop_md.lesson import Lesson
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.tree import field_of


def document(place: Place, loaded: Memory, staged: Collection[str], head: str) -> str:
    """The document on disk, but for what hangs together with the staged files, which HEAD is to have as a whole later.

    A renamed lesson goes back to its old name, a new one has no entry yet, a removed one keeps its own.
    """
    now, then, heads = _lessons(place, staged, head)
    on_disk = (store.read_bytes(place.folder / place.document) or b"").decode("utf-8", "surrogateescape")
    if memory.in_step(loaded, heads, now, then).text == on_disk:
        return heads  # nothing else changed: words that a person gave an entry, and its place, stay
    return memory.in_step(loaded, on_disk, then, now).text


def _lessons(place: Place, staged: Collection[str], head: str) -> tuple[dict[str, Lesson], dict[str, Lesson], str]:
    """The staged lessons as they are on disk, as HEAD has them (under their new names), and HEAD's document."""
    assert place.repo is not None, "only asked inside a repository"
    names = [*staged, place.in_git(place.document)]
    *blobs, heads = git.blobs(place.repo, [f"{head}:{path}" for path in names])
    now: dict[str, Lesson] = {}
    then: dict[str, Lesson] = {}
    for path, blob in zip(staged, blobs, strict=True):
        inner = place.inner(path)
        for found, data in ((now, store.read_bytes(place.folder / inner)), (then, blob or None)):
            if lesson := history.lesson_in(place, inner, data):
                found[lesson.slug] = lesson
    for slug, lesson in now.items():
        old = field_of(tree_of(lesson.text), "renamed_from")
        if slug not in then and isinstance(old, str) and old in then.keys() - now.keys():
            then[slug] = then.pop(old)
    return now, then, heads.decode("utf-8", "surrogateescape")
