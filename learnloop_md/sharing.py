"""Share: lessons of a private memory, scrubbed, as commits on a branch of a team's repository; it fails closed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from learnloop_md import branch, git, life, memory, scrub
from learnloop_md import lesson as lessons
from learnloop_md.apply import Done
from learnloop_md.commits import Asked, user
from learnloop_md.errors import RefusedError, UnableError, UsageError
from learnloop_md.lesson import Lesson
from learnloop_md.life import Outcome, Saying
from learnloop_md.place import Place
from learnloop_md.plan import Draft
from learnloop_md.scrub import Known

_AUTHORS = 2_000  # commits whose authors are names to hide

_TEXTS = ("rule", "why", "how", "context")


class Shared(NamedTuple):
    """What was shared: the branch, and for each lesson its name here and what became of it there."""

    branch: str
    rows: tuple[tuple[str, Outcome], ...]
    rewritten: tuple[tuple[str, str], ...]  # a lesson's name here, and what a text of it says now
    done: Done


def share(
    source: Place, slugs: Sequence[str], team: Place, asked: Asked, *, name: str = "", hide: Iterable[str] = ()
) -> Shared:
    """Put lessons on a branch of the team's repository, one commit each; nothing is checked out, here nothing changes.

    Raises RefusedError where one of them may not leave: then none does.
    """
    if source.folder == team.folder:
        raise UsageError("both memories are the same one", "name the team's: --to PATH")
    if team.repo is None or not git.head(team.repo):
        raise UnableError(
            f"{team.folder} is not in a git repository", "share needs a branch to put it on", code="no-git"
        )
    loaded = memory.load(source)
    known = whose(source, hide)
    named = list(dict.fromkeys(memory.find_slug(loaded, slug) for slug in slugs))
    sayings = [(slug, told(loaded.lessons[slug], known)) for slug in named]
    texts = [(slug, getattr(saying, field), field) for slug, saying in sayings for field in _TEXTS]
    rewritten = tuple((slug, text) for slug, text, field in texts if text != getattr(loaded.lessons[slug], field))
    run = "shared-" + hashlib.sha256(f"{source.folder}\n{known.people[:1]}".encode(errors="replace")).hexdigest()[:8]
    rows: list[tuple[str, Outcome]] = []

    def build(draft: Draft) -> None:
        rows.extend((slug, _put(draft, saying)) for slug, saying in sayings)

    branch_name = name or f"learnloop/share-{asked.today}-{sayings[0][1].name or 'lessons'}"
    done = branch.change(team, asked._replace(run=run), build, branch_name)
    return Shared(branch_name if done.plans else "", tuple(rows), rewritten, done)


def _put(draft: Draft, saying: Saying) -> Outcome:
    """One lesson, one commit: new there, or one more sighting of what is known there."""
    taken = saying.name in draft.lessons
    draft.gathering = True
    try:
        outcome = life.note(draft, saying._replace(name="") if taken else saying)
    finally:
        draft.gathering = False
    if outcome.action != "unchanged":
        draft.cut("share", [outcome.slug], saying.why or saying.rule)
    return outcome._replace(captures=False)


def told(lesson: Lesson, known: Known) -> Saying:
    """A lesson as it may leave: its words scrubbed, without events, evidence, sessions, records and links.

    Raises RefusedError for one that is private by its type, out of force, or still holds what looks private.
    """
    if lesson.type == "user":
        hint = "it says something of a person; note the rule anew with another --type if it holds for all"
        raise RefusedError(f"{lesson.slug} is of the type user and stays here", hint, code="private")
    if not lesson.is_active:
        raise RefusedError(
            f"{lesson.slug} is archived", f"restore it first: learnloop restore {lesson.slug}", code="archived"
        )

    def clean(text: str) -> str:
        return scrub.scrub(text, known)

    name = lesson.slug if clean(lesson.slug.replace("-", " ")) == lesson.slug.replace("-", " ") else ""
    saying = Saying(
        rule=clean(lesson.rule),
        why=clean(lesson.why),
        how=clean(lesson.how),
        title=clean(lesson.title) if name else "",
        name=name,
        type=lesson.type if lesson.type in lessons.TYPES else "feedback",
        kind=lesson.kind if lesson.kind in lessons.KINDS else "note",
        context=clean(lesson.context),
        tags=tuple(dict.fromkeys(clean(tag) for tag in lesson.tags)),
        skill_version=lesson.skill_version,
    )
    text = "\n".join([saying.rule, saying.why, saying.how, saying.title, saying.context, *saying.tags])
    if why := next(scrub.left(text, known), ""):
        hint = "reword it here, then share it; --hide WORD takes out a word"
        raise RefusedError(f"{lesson.slug} holds {why}: nothing was shared", hint, code="private")
    return saying


def whose(source: Place, hide: Iterable[str] = ()) -> Known:
    """Whose memory it is: the author, the login, everybody who has committed to its repository, machine and home."""
    own = [git.author(source.repo.root)] if source.repo else []
    people = scrub.people_of([*own, user(), Path.home().name, *_authors(source)])
    return Known(people, (os.uname().nodename,), (str(Path.home()),), tuple(hide))


def _authors(source: Place) -> list[str]:
    if source.repo is None or not git.head(source.repo):
        return []
    log = git.call(source.repo.root, "log", f"--max-count={_AUTHORS}", "--format=%an%n%cn", "--all")
    return log.stdout.decode("utf-8", "replace").splitlines()
