"""The one place where plans become files and commits: lock, compare, scan, write, commit or queue, remember."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import git, guard, history, index, memory, store
from learnloop_md.absorb import Absorber, Report
from learnloop_md.errors import UnableError
from learnloop_md.lesson import slugify
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.plan import Draft, Plan, message
from learnloop_md.store import Agreed, Ledger


class Asked(NamedTuple):
    """How a command was asked for: on which day, in which run, and whether it may write."""

    today: str
    run: str = ""  # --run or the session; "" for author and day
    dry_run: bool = False
    commit: bool = True  # False in a pre-commit hook: files only, nothing queued


class Done(NamedTuple):
    """What became of a command's plans."""

    plans: tuple[Plan, ...]
    commits: tuple[str, ...]
    queued: bool
    notices: tuple[str, ...]
    absorbed: Report
    memory: Memory
    left_out: tuple[str, ...] = ()


Build = Callable[[Draft], object]


def change(place: Place, asked: Asked, build: Build, *, absorbing: bool = True) -> Done:
    """Absorb, then build a command's plans on the memory as it then stands, and apply them all.

    Raises LearnloopError before anything is written where the command cannot be done.
    """
    if asked.dry_run:
        return _Session(place, asked).work(build, absorbing=absorbing)
    with store.locked(place):
        return _Session(place, asked).work(build, absorbing=absorbing)


def first(place: Place, asked: Asked, also: Iterable[str], adopted: Iterable[str]) -> Done:
    """The commit that ends `init`: what it wrote and what was already there, byte for byte, but for private lines."""

    def build(draft: Draft) -> None:
        loaded = draft.memory
        if not draft.document and loaded.blocked is None:
            draft.set_document(None, index.NEW)
        elif loaded.private:
            text = index.without(draft.document, [loaded.lessons[slug].path for slug in loaded.private])
            if text != draft.document:
                draft.set_document(draft.document, text)
        for path in [*also, *(lesson.path for s, lesson in loaded.lessons.items() if s not in loaded.private), place.document]:
            draft.also(path)
        draft.cut("init", sorted(adopted), "", subject=f"learnloop: init {place.inside or 'memory'}", document=False)

    return change(place, asked, build, absorbing=False)


def run_id(place: Place, asked: Asked, author: str = "") -> str:
    """The run that a sighting belongs to: as asked, else the author and the day (design §3)."""
    return asked.run or f"{slugify(author or _author(place) or 'someone')}-{asked.today}"


def _author(place: Place) -> str:
    name = git.author(place.repo.root) if place.repo else ""
    if name:
        return name
    import getpass  # lazy: only without a git identity

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "someone"


class _Session:
    """One command's work on one memory, under its lock."""

    def __init__(self, place: Place, asked: Asked) -> None:
        self.place, self.asked = place, asked
        self.command = os.urandom(4).hex()
        self.notices: list[str] = []
        self.commits: list[str] = []
        self.queued = False
        self.dirty: dict[str, str] = {}
        self.ledger = store.load_ledger(place)
        self.queue: list[dict[str, Any]] = list(self.ledger.queue) if self.ledger else []
        self.hold = self._why_not_commit()

    def work(self, build: Build, *, absorbing: bool = True) -> Done:
        repo, author = self.place.repo, _author(self.place)
        if repo:
            self._drain()
            self.dirty = git.changed(repo, self.place.inside)
        loaded = memory.load(self.place)
        run = run_id(self.place, self.asked, author)
        draft = Draft(loaded, today=self.asked.today, run=self.asked.run, command=self.command)
        report = self._absorb(draft, loaded, author) if absorbing else Report((), (), (), ())
        absorbed = list(draft.plans)
        for plan in absorbed:
            self._apply(plan, loaded)
        after = loaded._replace(lessons=draft.lessons, document=draft.document)
        second = Draft(after, today=self.asked.today, run=run, command=self.command)
        second.skip = set(draft.skip)
        build(second)
        for plan in second.plans:
            self._apply(plan, after)
        final = after._replace(lessons=second.lessons, document=second.document)
        if not self.asked.dry_run:
            self._remember(final, {conflict.slug for conflict in report.conflicts})
        plans = (*absorbed, *second.plans)
        left_out = second.left_out or draft.left_out
        return Done(plans, tuple(self.commits), self.queued, tuple(dict.fromkeys(self.notices)), report, final, left_out)

    def _why_not_commit(self) -> str:
        place = self.place
        if place.repo is None:
            return ""
        if git.ignored_by(place.repo, place.in_repo(place.document)):
            self.notices.append(f"git ignores {place.folder}: files only, no history")
            return "ignored"
        if not self.asked.commit:
            return "hook"
        if place.linked:
            return "the memory is in the main checkout, which must not move under its user"
        if not place.own_repo and not place.settings.commit_on_default_branch:
            if git.branch(place.repo) == git.default_branch(place.repo):
                return "commit_on_default_branch is off"
        return git.moment(place.repo, own=place.own_repo)

    # --- absorbing ---------------------------------------------------------------------------------------------------

    def _absorb(self, draft: Draft, loaded: Memory, author: str) -> Report:
        place = self.place
        own = {path: flags for path, flags in self._own(loaded).items() if flags[0] in " ?!"}
        removed = [path for path, flags in own.items() if flags == " D" and path != place.document]
        report = Absorber(draft, author=author, base_of=self._base_of, removed=removed).run()
        clashing = {loaded.lessons[c.slug].path for c in report.conflicts if c.slug in loaded.lessons}
        for path in own:
            if path not in clashing:
                draft.also(path)
        slugs = report.slugs or [memory.lessonfile.stem(path) for path in own if path != place.document]
        if loaded.blocked is None:
            draft.cut("absorb", slugs, "\n".join(report.what) or f"edited by hand: {', '.join(own)}")
        return report

    def _own(self, loaded: Memory) -> dict[str, str]:
        """Our files that differ from HEAD, by their path in the memory; not private, not quarantined."""
        place = self.place
        prefix = f"{place.inside}/" if place.inside else ""
        hurt = {q.path for q in loaded.quarantined}
        secret = {loaded.lessons[slug].path for slug in loaded.private}
        found = {}
        for path, flags in self.dirty.items():
            inner = path.removeprefix(prefix)
            known = inner == place.document or not place.lessons or inner.startswith(f"{place.lessons}/")
            if inner.endswith(".md") and known and inner not in hurt | secret:
                found[inner] = flags
        return found

    def _base_of(self, slug_or_path: str) -> Agreed | None:
        """The base of a lesson whose file or entry changed: the newest agreeing commit, else what was remembered."""
        slug = memory.lessonfile.stem(slug_or_path)
        row = self.ledger.agreed.get(slug) if self.ledger else None
        if self.place.repo is None:
            return row
        if row and self.ledger and self.ledger.commit == git.head(self.place.repo):
            return row
        path = row.path if row else (f"{self.place.lessons}/{slug}.md" if self.place.lessons else f"{slug}.md")
        return history.agreed_at(self.place, path, self.ledger.commit if row and self.ledger else "") or row

    # --- applying ----------------------------------------------------------------------------------------------------

    def _apply(self, plan: Plan, before: Memory) -> None:
        self._scan(plan)
        if self.asked.dry_run:
            return
        folder = self.place.folder
        for edit in plan.edits:
            found = store.read_bytes(folder / edit.path)
            if (found.decode("utf-8", "surrogateescape") if found is not None else None) != edit.before:
                raise UnableError(f"{edit.path} changed while the command ran", "run the command again", code="changed")
        content = {edit.path: None if edit.after is None else edit.after.encode("utf-8", "surrogateescape") for edit in plan.edits}
        store.write_all(folder, content)
        if self.place.repo and self.hold not in ("ignored", "hook"):
            self._commit(plan, before)

    def _scan(self, plan: Plan) -> None:
        """No text enters a file or a commit unscanned (R004-20)."""
        for edit in plan.edits:
            if edit.after is not None:
                self._refuse_new(edit.path, edit.before or "", edit.after)
        for path in plan.also:
            data = store.read_bytes(self.place.folder / path)
            if data is not None and self.place.repo:
                old = git.blobs(self.place.repo, [f"HEAD:{self.place.in_repo(path)}"])[0]
                self._refuse_new(path, old.decode("utf-8", "replace"), data.decode("utf-8", "replace"))
        guard.refuse_secrets({"the commit message": message(plan)})

    def _refuse_new(self, path: str, before: str, after: str) -> None:
        if not (found := guard.find_secrets(after)):
            return
        known = [secret.kind for secret in guard.find_secrets(before)]
        for secret in found:
            if secret.kind in known:
                known.remove(secret.kind)
            else:
                guard.refuse_secrets({path: after})

    def _commit(self, plan: Plan, before: Memory) -> None:
        repo = self.place.repo
        assert repo is not None, "only called inside a repository"
        secret = {before.lessons[slug].path for slug in before.private}
        private = {edit.path for edit in plan.edits if self._is_private(edit.after)}
        paths = {}
        for path in plan.paths:
            in_repo = self.place.in_repo(path)
            if in_repo.startswith(".."):
                self.notices.append(f"{path} lies in another repository: written, not committed")
            elif path in secret | private:
                git.exclude(repo, in_repo)
            else:
                paths[path] = in_repo
        if not paths:
            return
        files = _blob_ids(repo, paths.values())
        held = self.hold or next((f"{p} is staged" for p in paths.values() if self.dirty.get(p, "  ")[0] not in " ?"), "")
        if not held:
            try:
                commit = git.commit(repo, files, message(plan), own=self.place.own_repo)
                self.commits += [commit] if commit else []
                return
            except git.GitError as error:
                held = error.message
        was = dict(zip(files, _head_ids(repo, list(files)), strict=True))
        self.queue.append({"message": message(plan), "files": files, "was": was})
        self.queued = True
        self.notices.append(f"written, not committed yet: {held}")

    def _is_private(self, text: str | None) -> bool:
        if text is None or self.place.repo is None:
            return False
        reading = memory.lessonfile.read("x.md", text)
        types = self.place.settings.private_types
        return isinstance(reading, memory.lessonfile.Reading) and reading.lesson.type in types and git.has_remote(self.place.repo)

    def _drain(self) -> None:
        """Commit what was queued at a bad moment, each change once, unless somebody committed over it since."""
        if self.hold or not self.queue or self.asked.dry_run:
            return
        repo = self.place.repo
        assert repo is not None, "only called inside a repository"
        dirty = git.changed(repo, self.place.inside)
        if any(dirty.get(path, "  ")[0] not in " ?" for item in self.queue for path in item["files"]):
            return
        for item in self.queue:
            now = dict(zip(item["files"], _head_ids(repo, list(item["files"])), strict=True))
            files = {path: oid for path, oid in item["files"].items() if now[path] == item["was"][path] or now[path] == oid}
            if files:
                commit = git.commit(repo, files, item["message"], own=self.place.own_repo)
                self.commits += [commit] if commit else []
        self.queue = []

    def _remember(self, final: Memory, conflicts: set[str]) -> None:
        if self.hold == "hook":
            return
        commit = git.head(self.place.repo) if self.place.repo else ""
        rows = memory.agreed_now(final, skip=conflicts)
        for slug, row in (self.ledger.agreed if self.ledger else {}).items():
            if slug not in rows and slug not in conflicts:
                rows[slug] = row._replace(zone="removed")
        ledger = Ledger(rows, commit, tuple(self.queue))
        if ledger != self.ledger:
            store.save_ledger(self.place, ledger)


def _blob_ids(repo: git.Repo, paths: Iterable[str]) -> dict[str, str | None]:
    """The blob of each path as it stands on disk (through git's filters), None for one that is gone."""
    paths = list(paths)
    there = [path for path in paths if (repo.root / path).exists()]
    ids: dict[str, str | None] = dict.fromkeys(paths)
    if there:
        given = "".join(f"{path}\n" for path in there).encode(errors="surrogateescape")
        printed = git.call(repo.root, "hash-object", "-w", "--stdin-paths", given=given).stdout.decode().split()
        ids.update(zip(there, printed, strict=True))
    return ids


def _head_ids(repo: git.Repo, paths: list[str]) -> list[str | None]:
    raw = git.call(repo.root, "ls-tree", "-r", "-z", "HEAD", "--", *paths, check=False).stdout.decode(errors="surrogateescape")
    rows = [row.partition("\t") for row in raw.split("\0") if row]
    found = {path: meta.split()[2] for meta, _, path in rows}
    return [found.get(path) for path in paths]


def look(place: Place, asked: Asked) -> Done:
    """The memory as it would stand after absorbing, without writing anything (status, show, check)."""
    return _Session(place, asked._replace(dry_run=True)).work(lambda draft: None)


def folder_in(place: Place, path: Path) -> str:
    """A path as the memory's edits name it: relative to the memory's folder."""
    return Path(os.path.relpath(path, place.folder)).as_posix()
