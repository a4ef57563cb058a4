"""What a proposal leaves out because a person has it staged, and what waits for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from learnloop_md import git, guard, heldback, history, lessonfile, patches
from learnloop_md.git import Repo
from learnloop_md.memory import Memory
from learnloop_md.patches import Patch
from learnloop_md.place import Place
from learnloop_md.store import Ledger


class Staged(NamedTuple):
    """The paths that a person has staged, by their path in the repository; and those that hold words of these."""

    paths: frozenset[str]
    words: frozenset[str]
    waits: tuple[str, ...]  # queued changes that are left out with them, as told

    @property
    def all(self) -> frozenset[str]:
        return self.paths | self.words


def look(place: Place, repo: Repo, ledger: Ledger | None) -> tuple[Staged, Ledger | None]:
    """What is staged, and the ledger without the queued changes that wait for it.

    A command that changed what is staged may have put its words into any file: with a rename they stand under another
    name. So its change waits as a whole, and so does what was made of its files later. The document counts for
    nothing here: it is rebuilt from the lessons.
    """
    queue = ledger.queue if ledger else ()
    document = place.followed(place.document)
    more = {path for item in queue for path in item["files"]} | {document, place.values_in_repo}
    paths = git.status(repo, place.inside, *sorted(filter(None, more))).paths
    staged = frozenset(path for path, flags in paths.items() if flags[0] not in " ?")
    heads = git.at_head(repo, sorted(more - {""})) if queue else {}
    held, waits, left = {path: path for path in staged if path != document}, dict[str, None](), []
    for item in queue:
        if why := _waits_for(place, item, held, heads, document):
            held |= dict.fromkeys((path for path in item["files"] if path not in held and path != document), why)
            tense, what = "have" if why in staged else "had", guard.unsecret(item["message"].partition("\n")[0])
            waits[f"left out, as it waits for what you {tense} staged: {guard.unsecret_path(why)} ({what})"] = None
        else:
            left.append(item)
    found = Staged(staged, frozenset(held) - staged, tuple(waits))
    return found, ledger._replace(queue=tuple(left)) if ledger else None


def _waits_for(
    place: Place, item: Mapping[str, Any], held: Mapping[str, str], heads: Mapping[str, str | None], document: str
) -> str:
    """The path for which a queued change waits, "" for none: one of its own, or that of a lesson that it names."""
    lacking = [path for path, entry in item["files"].items() if heads[path] != entry and path != document]
    below = item["below"]
    named = set(history.trailer(item["message"], "Lesson"))
    its = (held[path] for path in lacking if path in held)
    found = (path for path in lacking if path in below and heads[path] != below[path])
    told = (why for path, why in held.items() if history.lesson_of(place, path) and lessonfile.stem(path) in named)
    return next(its, "") or next(found, "") or next(told, "")


def without_entries(place: Place, repo: Repo, staged: Staged, rows: Sequence[Patch], loaded: Memory) -> list[Patch]:
    """The patches without what the document says of the staged lessons; of a staged document nothing is told."""
    document = place.followed(place.document)
    lessons = sorted(path for path in staged.all if history.lesson_of(place, path))
    last = max((n for n, row in enumerate(rows) if document in row.files), default=-1)
    if last < 0 or not (lessons or document in staged.paths):
        return list(rows)
    head = git.at_head(repo, [document])[document]
    entry = head
    if head and document not in staged.paths:
        text = heldback.document(place, loaded, lessons, git.head(repo))
        entry = git.entry(repo, text.encode("utf-8", "surrogateescape"), head, document)
    kept = []
    for n, row in enumerate(rows):
        files = {path: delta for path, delta in row.files.items() if path != document}
        if n == last and entry != head:
            files[document] = (head, entry)
        kept.append(row._replace(files=files))
    return [row for row in kept if row.files]


def told(place: Place, staged: Staged) -> list[str]:
    """What is left out and why, a line each."""
    ours = (path for path in sorted(staged.paths) if patches.belongs(place, path))
    return [*(f"left out, as you have staged it: {guard.unsecret_path(path)}" for path in ours), *staged.waits]
