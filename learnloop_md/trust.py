"""What waits for a person: lessons that no model may read before somebody accepted them (design §10)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import sha1
from pathlib import Path

from learnloop_md import git, guard, lessonfile, poison, readings, store
from learnloop_md.errors import RefusedError, UnableError
from learnloop_md.lesson import STATES, Lesson, slugify
from learnloop_md.place import Place
from learnloop_md.poison import Poison

# What a person may accept; whatever else keeps a file from being read has to be mended.
ACCEPTABLE = frozenset(
    "hidden-unicode bidi-control confusable-name other-author "
    "instruction-shaped autonomy-shaped exfiltration-shaped".split()
)
_FIELDS = ("name", "title", "description", "context", "archive_note")


def suspicion(lesson: Lesson) -> Poison | None:
    """Why a lesson has to wait for a person, None where it need not. A claim in its head counts for nothing."""
    for name in (lesson.name, lesson.slug):
        if readings.confuses(name):
            return Poison("confusable-name", 1, "its name holds letters that look like others")
    found = poison.find(lesson.text)
    apart = [] if found else list(_apart(lesson))
    return poison.find("\n\n".join(apart)) if apart else found


def _apart(lesson: Lesson) -> Iterator[str]:
    """What a lesson says otherwise than its file: what YAML decodes (`"\u0069gnore"`), the words of its name, and its
    title and description in one breath, as they stand in the line that Claude loads.
    """
    yield from _spoken(lesson.slug)
    title, hook = lesson.title or next(_spoken(lesson.slug), ""), lesson.description or lesson.rule
    if title and not set(re.findall(r"\w+", title.lower())) <= set(re.findall(r"\w+", hook.lower())):
        yield f"{title} {hook}"
    for value in filter(None, lesson[3:]):  # most fields of most lessons are empty
        rows = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
        for row in rows:
            for text in (row,) if isinstance(row, str) else row:
                if text and text not in lesson.text and text not in STATES:
                    yield text


def _spoken(slug: str) -> Iterator[str]:
    """The words of a name, where they are so many that they may say something."""
    said = slug.replace("-", " ").replace("_", " ")
    if said.count(" ") > 1:
        yield said


def slug_for(words: str) -> str:
    """A slug for words, with as many of them as are no order once the quotes around them are gone."""
    slug = slugify(words)
    while any(map(poison.find, _spoken(slug))):
        slug = slug.rpartition("-")[0]
    return slug


def refuse(name: str, doubt: Poison | None) -> None:
    """Nothing, when there is nothing that would steer a model. Raises RefusedError (design §10)."""
    if doubt:
        hint = "write it again without them" if doubt.code in ("hidden-unicode", "bidi-control") else _DOUBT_HINT
        raise RefusedError(f"{name} {doubt.message}", hint, code=doubt.code)


_DOUBT_HINT = (
    "say it in other words; what a person wrote into the file by hand, they let in with: learnloop accept NAME"
)


def refuse_new(place: Place, edits: Iterable[tuple[str, str | None, str | None]]) -> None:
    """Nothing, when no lesson comes to wait by edits (path, before, after) of a command, so that no other clone
    quarantines what is served here. Raises RefusedError (design §10).
    """
    rows = [row for row in edits if place.is_lesson(row[0])]
    known = accepted(place)
    for path, _, after in rows:
        doubt = _doubt(path, after) if after is not None and blob(after) not in known else None
        if doubt and not any(_doubt(old, before) for old, before, _ in rows):
            refuse(lessonfile.stem(path), doubt)


def _doubt(path: str, text: str | None) -> Poison | None:
    reading = lessonfile.read(path, text) if text is not None else None
    return suspicion(reading.lesson) if isinstance(reading, lessonfile.Reading) else None


def unfit(text: str) -> str:
    """Why a text of a document must not become a lesson's, "" where it may."""
    if guard.find_secrets(text):
        return "holds what looks like a secret"
    found = poison.find(text)
    return found.message if found else ""


def foreign(
    place: Place, lessons: Iterable[Lesson], agreed: Mapping[str, store.Agreed]
) -> Iterator[tuple[Lesson, str]]:
    """Lessons whose words another author committed and nobody accepted here, with the author; events are no words."""
    if place.repo is None:
        return
    me = git.author(place.repo.root)
    strange = [lesson for lesson in lessons if not _is_known(lesson, agreed.get(lesson.slug), me)]
    if not strange:
        return
    authors, known = git.last_authors(place.repo, place.inside), accepted(place)
    for lesson in strange:
        author = authors.get(place.in_repo(lesson.path), me)
        if author != me and blob(lesson.text) not in known:
            yield lesson, author


class Strangers:
    """Who else's words a document brings; asked only where it says something new, and with trust = "own" alone."""

    def __init__(self, place: Place, document: str) -> None:
        self.place, self.path = place, place.followed(document)

    def author(self, line: int, raw: str, before: str) -> str:
        """Who committed what an entry at a line says since before; "" for oneself, and where it was accepted.

        What nobody has committed yet is one's own.
        """
        repo = self.place.repo
        if repo is None or self.place.settings.trust != "own" or blob(raw) in accepted(self.place):
            return ""
        me, known = git.author(repo.root), set(before.split("\n"))
        rows = enumerate(raw.split("\n"), line - 1)
        authors = [self._lines[n] for n, row in rows if n < len(self._lines) and row.strip() and row not in known]
        if not authors and self._is_committed(raw):  # words were only taken out of it
            authors = list(git.last_authors(repo, self.path).values())
        return next((name for name in authors if name not in ("", me)), "")

    @cached_property
    def _lines(self) -> list[str]:
        return git.line_authors(self.place.repo, self.path) if self.place.repo else []

    def _is_committed(self, raw: str) -> bool:
        assert self.place.repo is not None, "only asked inside a repository"
        text = git.blobs(self.place.repo, [f"HEAD:{self.path}"])[0].decode("utf-8", "surrogateescape")
        return raw.replace("\r\n", "\n").rstrip() in text.replace("\r\n", "\n")


def _is_known(lesson: Lesson, row: store.Agreed | None, me: str) -> bool:
    """Whether its words were served to me before; what was served without distrust, or to another, tells nothing."""
    if row is None or not me or row.reader != me or row.zone == "removed":
        return False
    reading = lessonfile.read(row.path, row.text)
    return isinstance(reading, lessonfile.Reading) and _words(reading.lesson) == _words(lesson)


def _words(lesson: Lesson) -> tuple[str, ...]:
    return (*(getattr(lesson, field) for field in _FIELDS), lesson.rule, lesson.why, lesson.how)


def blob(text: str) -> str:
    """What git names a text by: one changed byte, and what was accepted is another text."""
    data = text.encode("utf-8", "surrogateescape")
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def accepted(place: Place) -> frozenset[str]:
    """The blobs that a person accepted in this clone; kept beside the queue, never in a file of the memory."""
    try:
        found = store.read_bytes(_file(place))
    except UnableError:
        return frozenset()
    return frozenset((found or b"").decode("ascii", "replace").split())


def accept(place: Place, blobs: Iterable[str]) -> None:
    """Remember that a person accepted these texts. Raises UnableError where that cannot be written."""
    known = accepted(place)
    if fresh := sorted(set(blobs) - known):
        store.write(_file(place), "".join(f"{row}\n" for row in [*sorted(known), *fresh]).encode())


def carry(place: Place, edits: Iterable[tuple[str | None, str | None]]) -> None:
    """Let what was accepted stay so when the tool writes into its file: (before, after), nothing new in it."""
    known = accepted(place)
    rows = list(edits) if known else []
    before = {old for old, _ in rows if old is not None and blob(old) in known}
    moves = any(new is None and old in before for old, new in rows)  # then its text comes in a new file
    seen = frozenset().union(*map(_places, before))
    heirs = [new for old, new in rows if new is not None and (old in before or (moves and old is None))]
    if before:
        accept(place, [blob(new) for new in heirs if _places(new) <= seen])


def _places(text: str) -> frozenset[tuple[str, str]]:
    """What a person had to look at in a text: the reason and the line, so that another order is not taken for it."""
    lines = text.split("\n")
    return frozenset((row.code, lines[row.line - 1].strip()) for row in poison.every(text))


def _file(place: Place) -> Path:
    return place.state / "accepted"
