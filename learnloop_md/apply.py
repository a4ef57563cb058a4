"""The one place where plans become files and commits: lock, compare, scan, write, commit or queue, remember."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import git, guard, history, index, lessonfile, memory, store
from learnloop_md.absorb import Absorber, Report
from learnloop_md.errors import UnableError
from learnloop_md.history import Sides
from learnloop_md.lesson import slugify
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.plan import Draft, Plan, message, without
from learnloop_md.plan import subject as plan_subject
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
    differing: tuple[str, ...] = ()  # our files that differ from HEAD, told by look() alone


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
        for path in [
            *also,
            *(lesson.path for s, lesson in loaded.lessons.items() if s not in loaded.private),
            place.document,
        ]:
            draft.also(path)
        draft.cut("init", sorted(adopted), "", subject=f"learnloop: init {place.inside or 'memory'}", document=False)

    return change(place, asked, build, absorbing=False)


def run_id(place: Place, asked: Asked, author: str = "") -> str:
    """The run that a sighting belongs to: as asked, else the author and the day (design §3)."""
    author = author or (git.author(place.repo.root) if place.repo else "") or _user()
    return asked.run or f"{slugify(author)}-{asked.today}"


def _user() -> str:
    import getpass  # lazy: only without a git identity

    try:
        return getpass.getuser() or "someone"
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
        self.private: set[str] = set()  # paths that git must not get
        self.private_slugs: set[str] = set()
        self.scanned: dict[str, bytes | None] = {}  # files that are committed as they stand, as they were scanned
        self.ledger = store.load_ledger(place)
        self.loose = self.ledger.loose if self.ledger else ""
        self.queue: list[dict[str, Any]] = list(self.ledger.queue) if self.ledger else []
        self.git_name = git.author(place.repo.root) if place.repo else ""
        self.author = self.git_name or _user()
        self.now = git.status(place.repo, place.inside) if place.repo else git.Status("", "", {})
        self.hold = self._why_not_commit()

    def work(self, build: Build, *, absorbing: bool = True) -> Done:
        self._drain()
        loaded = memory.load(self.place)
        self._let_in(loaded)
        run = run_id(self.place, self.asked, self.author)
        draft = Draft(loaded, today=self.asked.today, run=self.asked.run, command=self.command)
        report = self._absorb(draft, loaded) if absorbing else Report((), (), (), ())
        after = loaded._replace(lessons=draft.lessons, document=draft.document)
        second = Draft(after, today=self.asked.today, run=run, command=self.command)
        second.skip = set(draft.skip)
        build(second)
        # Everything is planned and checked before the first byte is written: a wrong command changes nothing.
        plans = (*draft.plans, *second.plans)
        for plan in plans:
            self._scan(plan)
            self._refuse_foreign_work(plan)
        final = after._replace(lessons=second.lessons, document=second.document)
        self.private |= {row.lessons[slug].path for row in (loaded, final) for slug in row.private}
        self.private_slugs = {slug for row in (loaded, final) for slug in row.private}
        if not self.asked.dry_run:
            self._keep_out(loaded)
            for plan in draft.plans:
                self._apply(plan)
            absorbed = len(self.commits)
            for plan in second.plans:
                self._apply(plan)
            if second.plans:
                in_git = len(self.commits) > absorbed or self.queued or not self._with_git
                self.loose = "" if in_git else plan_subject(second.plans[-1])
            self._remember(final, {conflict.slug for conflict in report.conflicts})
        left_out = second.left_out or draft.left_out
        return Done(
            plans,
            tuple(self.commits),
            self.queued,
            tuple(dict.fromkeys(self.notices)),
            report,
            final,
            left_out,
        )

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
        stays = not place.own_repo and not place.settings.commit_on_default_branch
        if stays and self.now.branch == git.default_branch(place.repo):
            return "commit_on_default_branch is off"
        return git.moment(place.repo, self.now, own=place.own_repo, known=bool(self.git_name))

    @property
    def _with_git(self) -> bool:
        """Whether a change becomes a commit, now or later."""
        return self.place.repo is not None and self.hold not in ("ignored", "hook")

    # --- absorbing ---------------------------------------------------------------------------------------------------

    def _absorb(self, draft: Draft, loaded: Memory) -> Report:
        place = self.place
        own = {path: flags for path, flags in self.own(loaded).items() if flags[0] in " ?!"}
        removed = [path for path, flags in own.items() if flags == " D" and path != place.document]
        report = Absorber(
            draft,
            author=self.author,
            base_of=self._base_of,
            removed=removed,
            sides=self._sides(),
            with_git=bool(place.repo),
        ).run()
        clashing = {loaded.lessons[c.slug].path for c in report.conflicts if c.slug in loaded.lessons}
        for path in own:
            if path not in clashing:
                draft.also(path)
        slugs = report.slugs or [lessonfile.stem(path) for path in own if path != place.document]
        if loaded.blocked is None:
            draft.cut("absorb", slugs, "\n".join(report.what) or f"edited by hand: {', '.join(own)}")
        return report

    def _sides(self) -> Sides:
        """What other branches that were merged since say of a lesson."""
        repo = self.place.repo
        since = self.ledger.commit if self.ledger and self.ledger.commit != self.now.head else ""
        return Sides(self.place, git.merged_sides(repo, since) if repo and self.now.head else [])

    def own(self, loaded: Memory) -> dict[str, str]:
        """Our files that differ from HEAD, by their path in the memory; not private, not quarantined."""
        place = self.place
        prefix = f"{place.inside}/" if place.inside else ""
        hurt = {q.path for q in loaded.quarantined}
        secret = {loaded.lessons[slug].path for slug in loaded.private}
        found = {}
        for path, flags in self.now.paths.items():
            inner = path.removeprefix(prefix)
            known = inner == place.document or not place.lessons or inner.startswith(f"{place.lessons}/")
            is_link = (place.folder / inner).is_symlink()  # a person's: what it leads to is what we write and commit
            if inner.endswith(".md") and known and not is_link and inner not in hurt | secret:
                found[inner] = flags
        return found

    def _base_of(self, slug_or_path: str) -> Agreed | None:
        """The base of a lesson whose file or entry changed: the newest agreeing commit, else what was remembered."""
        slug = lessonfile.stem(slug_or_path)
        row = self.ledger.agreed.get(slug) if self.ledger else None
        if self.place.repo is None:
            return row
        if row and self.ledger and self.ledger.commit == self.now.head:
            return row
        path = row.path if row else (f"{self.place.lessons}/{slug}.md" if self.place.lessons else f"{slug}.md")
        return history.agreed_at(self.place, path, self.ledger.commit if row and self.ledger else "") or row

    # --- applying ----------------------------------------------------------------------------------------------------

    def _apply(self, plan: Plan) -> None:
        folder = self.place.folder
        for edit in plan.edits:
            found = store.read_bytes(folder / edit.path)
            if (found.decode("utf-8", "surrogateescape") if found is not None else None) != edit.before:
                raise UnableError(f"{edit.path} changed while the command ran", "run the command again", code="changed")
        content = {
            edit.path: None if edit.after is None else edit.after.encode("utf-8", "surrogateescape")
            for edit in plan.edits
        }
        store.write_all(folder, content)
        if self._with_git:
            self._commit(plan)

    def _scan(self, plan: Plan) -> None:
        """No text enters a file or a commit unscanned (R004-20)."""
        for edit in plan.edits:
            if edit.after is not None:
                guard.refuse_new(edit.path, edit.before or "", edit.after)
        for path in plan.also:
            data = self.scanned[path] = store.read_bytes(self.place.folder / path)
            if data is not None and self.place.repo:
                old = git.blobs(self.place.repo, [f"HEAD:{self.place.in_repo(path)}"])[0]
                guard.refuse_new(path, old.decode("utf-8", "replace"), data.decode("utf-8", "replace"))
        guard.refuse_secrets({"the commit message": message(plan)})

    def _refuse_foreign_work(self, plan: Plan) -> None:
        """A person's own edits of a file outside the memory never get into our commit (SKILL.md, .gitattributes …)."""
        repo = self.place.repo
        if repo is None or not self._with_git:
            return
        for edit in plan.edits:
            path = self._path_in_git(edit.path)
            if "U" in self.now.paths.get(path, ""):
                raise UnableError(f"{path} is in conflict", f"resolve it, then: git add {path}", code="conflict")
            flags = "" if not path or self._is_inside(path) else git.changed(repo, path).get(path, "")
            if flags and not (flags == "??" and plan.change == "init"):  # init adopts a file that is new to git
                hint = "commit or stash it first, so that your edit and ours stay apart"
                raise UnableError(f"{path} has changes that are not committed", hint, code="dirty-target")

    def _is_inside(self, path: str) -> bool:
        return not self.place.inside or path.startswith(f"{self.place.inside}/")

    def _path_in_git(self, path: str) -> str:
        """A path of a plan as the repository names it, links followed; "" where it leads out of the repository."""
        repo = self.place.repo
        assert repo is not None, "only asked inside a repository"
        full = repo.root / self.place.in_repo(path)
        real = full.resolve() if full.is_symlink() else full
        return real.relative_to(repo.root).as_posix() if ".." not in real.parts and repo.holds(real.parent) else ""

    def _let_in(self, loaded: Memory) -> None:
        """A lesson that is private no more enters git: what kept it out is taken back."""
        repo = self.place.repo
        if repo is None or not self._with_git or self.asked.dry_run:
            return
        paths = [self.place.in_repo(lesson.path) for s, lesson in loaded.lessons.items() if s not in loaded.private]
        for path in git.excluded(repo, paths):
            git.include(repo, path)
            self.now.paths.setdefault(path, "??")

    def _keep_out(self, loaded: Memory) -> None:
        """Private lessons that git would take with `add --all` are excluded (design §2)."""
        for slug in loaded.private:
            path = self.place.in_repo(loaded.lessons[slug].path)
            if self.place.repo and self.now.paths.get(path) == "??":
                git.exclude(self.place.repo, path)

    def _commit(self, plan: Plan) -> None:
        repo = self.place.repo
        assert repo is not None, "only called inside a repository"
        heads = git.at_head(repo, self._paths_for_git(plan))
        try:
            files = {path: entry for path, entry in git.on_disk(repo, heads).items() if entry != heads[path]}
            self._check_scanned(plan)
        except UnableError as error:  # what git cannot store now is absorbed by a later command
            self.queued = True
            self.notices.append(f"written, not committed yet: {error.message}")
            return
        unheard = [path for path, entry in files.items() if entry and not heads[path] and path not in self.now.paths]
        for path in git.ignored(repo, unheard):
            self.notices.append(f"git ignores {path}: written, not committed")
            del files[path]
        if not files:
            return
        told = message(without(plan, self.private_slugs))
        held = self.hold or next((w for path in files if (w := self._in_the_way(path))), "")
        if not held:
            try:
                self._committed(git.commit(repo, files, told, self._who))
                return
            except git.GitError as error:
                held = self.hold = error.message
        waiting = {path: entry for item in self.queue for path, entry in item["files"].items()}
        was = {path: waiting.get(path, heads[path]) for path in files}
        files = {path: entry for path, entry in files.items() if entry != was[path]}
        if not files:
            return  # all of it waits already
        self.queue.append({"message": told, "files": files, "was": was})
        self.queued = True
        self.notices.append(f"written, not committed yet: {held}")

    def _check_scanned(self, plan: Plan) -> None:
        """Raises UnableError where git may have hashed other bytes than were scanned: a writer came between."""
        for path in {*plan.also}.difference(edit.path for edit in plan.edits):
            if store.read_bytes(self.place.folder / path) != self.scanned[path]:
                raise UnableError(f"{path} changed while the command ran", "run the command again", code="changed")

    def _paths_for_git(self, plan: Plan) -> list[str]:
        """The paths of a plan that git may have: in this repository, not private."""
        repo = self.place.repo
        assert repo is not None, "only called inside a repository"
        found = []
        for path in plan.paths:
            in_git = self._path_in_git(path)
            if not in_git:
                self.notices.append(f"{path} lies in another repository: written, not committed")
            elif path in self.private:
                git.exclude(repo, in_git)
            else:
                found.append(in_git)
        return found

    def _in_the_way(self, path: str) -> str:
        """What a person has in git's index under a path of ours, "" where nothing."""
        known = self.now.paths
        if not self._is_inside(path) and self.place.repo:
            known = git.changed(self.place.repo, path)
        flag = known.get(path, "  ")[0]
        return "" if flag in " ?" else f"{path} is in conflict" if flag == "U" else f"{path} is staged"

    @property
    def _who(self) -> dict[str, str] | None:
        return git.NOBODY if self.place.own_repo and not self.git_name else None

    def _committed(self, commit: str) -> None:
        self.commits.append(commit)
        self.now = self.now._replace(head=commit)

    def _drain(self) -> None:
        """Commit what was queued at a bad moment, each change once, unless somebody committed over it since."""
        repo = self.place.repo
        if repo is None or self.hold or not self.queue or self.asked.dry_run:
            return
        if any(self._in_the_way(path) for item in self.queue for path in item["files"]):
            return
        loaded = memory.load(self.place)
        secret = {self.place.in_repo(loaded.lessons[slug].path) for slug in loaded.private}
        while self.queue:
            item = self.queue[0]
            heads = git.at_head(repo, list(item["files"]))
            ours = {path: entry for path, entry in item["files"].items() if heads[path] == item["was"][path] != entry}
            if ours.keys() & secret or not git.has(repo, [entry.split()[1] for entry in ours.values() if entry]):
                ours = {}  # private by now, or pruned: what may be committed is absorbed as it stands on disk
            if ours:
                reset = {path: entry for path, entry in git.on_disk(repo, heads).items() if entry == item["was"][path]}
                try:
                    self._committed(git.commit(repo, ours, item["message"], self._who))
                except git.GitError as error:
                    self.hold = error.message
                    break
                for path in reset.keys() & ours.keys():  # an aborted rebase took the written file back
                    entry = ours[path]
                    store.write(repo.root / path, git.checked_out(repo, path, entry) if entry else None)
            self.queue.pop(0)
        self.now = git.status(repo, self.place.inside)

    def _remember(self, final: Memory, conflicts: set[str]) -> None:
        if self.hold == "hook":
            return
        rows = memory.agreed_now(final, skip=conflicts)
        for slug, row in (self.ledger.agreed if self.ledger else {}).items():
            if slug not in rows and slug not in conflicts:
                rows[slug] = row._replace(zone="removed")
        ledger = Ledger(rows, self.now.head, tuple(self.queue), self.loose)
        if ledger != self.ledger:
            store.save_ledger(self.place, ledger)


def look(place: Place, asked: Asked) -> Done:
    """The memory as it would stand after absorbing, without writing anything (status, show, check)."""
    session = _Session(place, asked._replace(dry_run=True))
    done = session.work(lambda draft: None)
    return done if session.hold == "ignored" else done._replace(differing=tuple(session.own(done.memory)))


def folder_in(place: Place, path: Path) -> str:
    """A path as the memory's edits name it: relative to the memory's folder."""
    return Path(os.path.relpath(path, place.folder)).as_posix()
