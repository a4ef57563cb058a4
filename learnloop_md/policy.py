"""What a team asks of changes to its memory, judged by what the base says: a branch cannot change its own judge."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from learnloop_md import git, lessonfile, sides, walk
from learnloop_md.changes import Change
from learnloop_md.checks import ERROR, WARNING
from learnloop_md.comparison import Compared, Found
from learnloop_md.lesson import Event, Lesson
from learnloop_md.memory import Memory
from learnloop_md.owners import Owners
from learnloop_md.sides import Side

_UNCOMMITTED = "(not committed)"


class _Version(NamedTuple):
    """A lesson as a commit left it; path is the one it has now."""

    path: str
    commit: str
    author: str
    lesson: Lesson
    is_cut: bool  # whether a shallow clone ends here: who brought its events is not known


class Judge:
    """The base's policy settings and CODEOWNERS, asked of one comparison."""

    def __init__(self, base: Side, head: Side, code_owners: Owners | None) -> None:
        self.base, self.head, self.owners = base, head, code_owners

    def owners_of(self, paths: Collection[str]) -> tuple[tuple[str, int], ...]:
        """Who must approve changes of these paths, and how many each; as the base has it."""
        if self.owners is None:
            return ()
        found = Counter(" ".join(self.owners.of(path)) for path in paths)
        return tuple(sorted((names, number) for names, number in found.items() if names))

    def of_memory(self, before: Memory, after: Memory, found: Iterable[Change]) -> list[Found]:
        """What the policy has against the changes of one memory."""
        chosen, _ = sides.settings_of(self.base, before.place.inside)
        rows = list(found)
        judged = []
        if chosen.policy_authors > 1:
            judged += self._too_few_authors(before, after, rows, chosen.policy_authors)
        if chosen.policy_no_codify_on_default:
            judged += self._codified_directly(rows)
        return judged

    def of_repository(self, moved: Iterable[tuple[Memory, Memory]], rows: Iterable[Compared]) -> list[Found]:
        """What CODEOWNERS has to do with the changes: guarded rules, and moves that get past their owners."""
        chosen, _ = sides.settings_of(self.base)
        if self.owners is None:
            return []
        severity = ERROR if chosen.policy_owners else WARNING
        changes = [change for row in rows for change in row.changes]
        found = [row for before, after in moved for row in self._unguarded_memory(before, after, severity)]
        found += [row for old, new in _moves(changes) for row in self._unguarded([(old, new)], old, new, new, severity)]
        for change in (c for c in changes if c.kind == "codified" and chosen.policy_owners):
            if names := self.owners.of(change.path):
                message = f"the rule of {change.slug} goes into {change.path}: {' '.join(names)} must approve"
                found.append(Found("policy-owners", WARNING, change.path, change.line, message, change.commit))
        return found

    def _unguarded_memory(self, before: Memory, after: Memory, severity: str) -> list[Found]:
        both = before.lessons.keys() & after.lessons.keys()
        paths = [tuple(side.place.in_repo(side.lessons[slug].path) for side in (before, after)) for slug in both]
        where = after.place.in_repo(after.place.document)
        return self._unguarded(paths, before.place.inside, after.place.inside, where, severity)

    def _unguarded(
        self, paths: Iterable[tuple[str, ...]], left: str, entered: str, where: str, severity: str
    ) -> list[Found]:
        """Files that lost their owners, because only the rule for everything holds where they are now."""
        assert self.owners is not None, "asked only where there is a CODEOWNERS"
        lost: Counter[str] = Counter()
        now: set[str] = set()
        for pair in paths:
            old, new = map(self.owners.rule, pair)
            if old and old.owners and not old.is_catch_all and (new is None or new.is_catch_all):
                lost[" ".join(old.owners)] += 1
                now.add(" ".join(new.owners) if new and new.owners else "nobody")
        if not lost:
            return []
        who = ", ".join(f"{names} ({number})" for names, number in sorted(lost.items()))
        number = "1 lesson leaves" if lost.total() == 1 else f"{lost.total()} lessons leave"
        message = f"{number} {left}, which {who} must approve; in {entered} {' and '.join(sorted(now))} is enough"
        return [Found("policy-owners", severity, where, 1, message)]

    def _too_few_authors(self, before: Memory, after: Memory, found: list[Change], wanted: int) -> list[Found]:
        """What came into force between the sides, whatever became of it since, on sightings of too few."""
        names = {c.slug: c.before for c in found if c.kind == "renamed"}
        changed = {c.slug: c for c in reversed(found) if c.slug in after.lessons}
        paths = {
            slug: after.place.in_repo(after.lessons[slug].path)
            for slug in sorted(changed)
            if not _is_in_force(before.lessons.get(slug) or before.lessons.get(names.get(slug, "")))
            and after.lessons[slug].state in ("current", "archived")
        }
        versions = self._versions(sorted(set(paths.values()))) if paths else []
        since = self._since() if versions else set()
        risen = {v.path for v in versions if v.commit in since and v.lesson.state == "current"}
        who: dict[tuple[str, Event], str] = {}
        for version in versions:
            for event in version.lesson.seen:
                who.setdefault((version.path, event), "" if version.is_cut else version.author)
        judged = []
        for slug, path in paths.items():
            lesson = after.lessons[slug]
            by = {who.get((path, event), _UNCOMMITTED) for event in lesson.seen}
            authors = sorted(by - {""})
            if len(authors) < wanted and (_is_in_force(lesson) or path in risen):
                if "" in by:
                    raise git.too_shallow(
                        self.head.repo, f"who saw {slug} is not in it, and policy.authors asks for it"
                    )
                done = "is codified" if lesson.state == "archived" and lesson.codified_in else "is made current"
                number = f"{len(authors)} {'author' if len(authors) == 1 else 'authors'}"
                on = f"on sightings of {number} ({', '.join(authors) or 'nobody'})"
                message = f"{slug} {done} {on}; {wanted} are asked for"
                judged.append(Found("policy-authors", ERROR, path, 1, message, changed[slug].commit))
        return judged

    def _since(self) -> set[str]:
        """The commits that head has and base has not."""
        commit = self.head.commit or git.head(self.head.repo)
        words = [commit, *([f"^{self.base.commit}"] if self.base.commit else [])]
        return set(git.out(self.head.repo.root, "rev-list", *words, "--").split())

    def _versions(self, paths: list[str]) -> list[_Version]:
        """What each commit made of the lessons of these paths, oldest first, under their earlier names too."""
        commit = self.head.commit or git.head(self.head.repo)
        if not commit:
            return []
        rows = walk.commits(self.head.repo, commit, paths, full=True)
        names: dict[str, set[str]] = {path: {path} for path in paths}
        for row in rows:
            for new, old in row.renames.items():
                for known in names.values():
                    if new in known:
                        known.add(old)
        earlier = sorted({old for known in names.values() for old in known} - set(paths))
        if earlier:
            rows = walk.commits(self.head.repo, commit, [*paths, *earlier], full=True)
        blobs = sorted({after for row in rows for _, after in row.changes.values() if after})
        texts = dict(zip(blobs, git.blobs(self.head.repo, blobs), strict=True))
        owner = {old: path for path, known in names.items() for old in known}
        found = []
        for row in reversed(rows):
            for path, (_, blob) in row.changes.items():
                reading = lessonfile.read(path, texts[blob]) if path in owner and blob else None
                if isinstance(reading, lessonfile.Reading):
                    found.append(_Version(owner[path], row.commit, row.author, reading.lesson, row.is_cut))
        return found

    def _codified_directly(self, found: list[Change]) -> list[Found]:
        """Rules that a commit put straight on the default branch: neither merged nor squashed from a request."""
        repo = self.head.repo
        name = git.default_branch(repo)
        tip = git.resolve(repo, name) or git.resolve(repo, f"origin/{name}") if name else ""
        if not tip or tip != self.head.commit:
            return []
        judged = []
        for change in (c for c in found if c.kind == "codified" and c.commit):
            row = git.out(repo.root, "show", "-s", "--format=%P%x00%s", change.commit, "--").split("\0")
            on_line = change.commit in _first_parents(repo, self.base.commit, tip)
            if on_line and " " not in row[0] and not re.search(r"\(#\d+\)$", row[1]):
                message = f"{change.slug} was codified straight on {name}, not by a reviewed request"
                judged.append(Found("policy-codify", ERROR, change.path, change.line, message, change.commit))
        return judged


def _moves(changes: Iterable[Change]) -> Iterator[tuple[str, str]]:
    """Where single lessons and rules stood and stand: in one memory, from one to another, from guide to guide."""
    rows = list(changes)
    came = {key: c.path for c in rows if c.kind == "added" for key in (c.slug, c.after) if key}
    for change in rows:
        if change.kind == "moved" and change.path.endswith(change.after):
            yield change.path.removesuffix(change.after) + change.before, change.path
        elif change.kind == "removed" and (new := came.get(change.slug) or came.get(change.before)):
            yield change.path, new


def _is_in_force(lesson: Lesson | None) -> bool:
    """Whether its rule holds: as a current lesson, or where it was codified."""
    return bool(lesson and (lesson.state == "current" or (lesson.state == "archived" and lesson.codified_in)))


def _first_parents(repo: git.Repo, base: str, tip: str) -> set[str]:
    words = [tip, *([f"^{base}"] if base else [])]
    return set(git.out(repo.root, "rev-list", "--first-parent", *words, "--").split())
