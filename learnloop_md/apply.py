"""The one place where plans become files and commits: lock, compare, scan, write, commit or queue, remember."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from learnloop_md import (
    briefing,
    git,
    guard,
    history,
    index,
    journal,
    lessonfile,
    memory,
    mistaken,
    plumbing,
    store,
    trust,
    waiting,
    witness,
)
from learnloop_md.absorb import Absorber, Past, Report
from learnloop_md.commits import Asked, Commits, named_after
from learnloop_md.errors import RefusedError, UnableError
from learnloop_md.history import Sides
from learnloop_md.journal import Journal
from learnloop_md.lesson import slugify
from learnloop_md.memory import Memory
from learnloop_md.place import Place, all_gone
from learnloop_md.plan import Draft, Plan, message, without
from learnloop_md.plan import subject as plan_subject
from learnloop_md.store import Agreed, Ledger, WriteError


class Done(NamedTuple):
    """What became of a command's plans."""

    plans: tuple[Plan, ...]
    commits: tuple[str, ...]
    queued: bool
    notices: tuple[str, ...]
    absorbed: Report
    memory: Memory
    left_out: tuple[str, ...] = ()
    waiting: str = ""  # what is not committed and why
    left: int = 0  # queued changes
    differing: tuple[str, ...] = ()  # what a commit is to bring to HEAD, by path in the repository; look() alone tells
    unreadable: tuple[str, ...] = ()  # what differs from HEAD and is left as it is; the same
    earlier: int = 0  # how many of the commits are not the command's own: of the queue and of hand edits, made first

    @property
    def own(self) -> tuple[str, ...]:
        """The commits of what the command itself did."""
        return self.commits[self.earlier :]


Build = Callable[[Draft], object]


def change(place: Place, asked: Asked, build: Build, *, absorbing: bool = True) -> Done:
    """Absorb, then build a command's plans on the memory as it then stands, and apply them all.

    Raises LearnloopError before anything is written where the command cannot be done.
    """
    if asked.dry_run:
        return _Session(place, asked).work(build, absorbing=absorbing)
    with store.locked(place):
        return _Session(place, asked).work(build, absorbing=absorbing)


def drain(place: Place, asked: Asked) -> Done:
    """Commit what waits and nothing else: no hand edit is absorbed (git's post-commit hook)."""
    with store.locked(place):
        return _Session(place, asked).drain()


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
    author = author or named_after(git.author(place.repo.root) if place.repo else "")
    return asked.run or f"{slugify(author)}-{asked.today}"


class _Session:
    """One command's work on one memory, under its lock."""

    def __init__(self, place: Place, asked: Asked) -> None:
        self.place, self.asked = place, asked
        self.command = asked.command or os.urandom(4).hex()
        self.scanned: dict[str, bytes | None] = {}  # files that are committed as they stand, as they were scanned
        self.ledger = store.load_ledger(place)
        self.untold = (self.ledger or Ledger({}))._replace(agreed={}, commit="", queue=())  # what undo does not find
        self.earlier = 0  # commits that were made before those of the command itself
        self.waits = ""  # why the document's changes are not committed
        self.commits = Commits(place, self.ledger, asked)
        self.author = named_after(self.commits.name)
        self.before = self.commits.now.head

    def work(self, build: Build, *, absorbing: bool = True) -> Done:
        commits = self.commits
        loaded = self._tidy()
        self.earlier = len(commits.made)
        began_at = commits.now.head
        run = run_id(self.place, self.asked, self.author)
        draft = Draft(loaded, today=self.asked.today, run=self.asked.run, command=self.command)
        report = self._absorb(draft, loaded) if absorbing else Report((), (), (), ())
        after = loaded._replace(lessons=draft.lessons, document=draft.document)
        second = Draft(after, today=self.asked.today, run=run, command=self.command)
        second.skip = set(draft.skip)
        build(second)
        # Everything is planned and checked before the first byte is written: a wrong command changes nothing.
        plans = (*draft.plans, *second.plans)
        final = after._replace(lessons=second.lessons, document=second.document)
        commits.keep_private(loaded, final)
        for plan in plans:
            self._scan(plan)
            commits.refuse_private_rule(plan)
            commits.refuse_foreign_work(plan)
        for plan in second.plans:
            trust.refuse_new(self.place, plan.edits)
        if not self.asked.dry_run and commits.before_rebase:
            self._put_off(second.plans)
        elif not self.asked.dry_run:
            commits.keep_out(loaded)
            self._write(draft.plans, second.plans)
            self._tell_undo(second.plans, began_at)
            self._remember(final, report.left)
            if self.ledger is None or self.ledger.commit != commits.now.head:
                commits.notices += self._witness()
        left_out = second.left_out or draft.left_out
        notices = tuple(dict.fromkeys(commits.notices))
        waits = commits.what_waits(final) if commits.kept or not self.waits else self.waits
        left = len(commits.kept)
        made = tuple(commits.made)
        earlier = self.earlier
        return Done(plans, made, commits.queued, notices, report, final, left_out, waits, left, earlier=earlier)

    def drain(self) -> Done:
        loaded, commits = self._tidy(), self.commits
        if commits.made:
            commits.notices += self._witness()
            self._tell_hooks(loaded)
        nothing = Report((), (), (), ())
        return Done((), tuple(commits.made), bool(commits.kept), tuple(commits.notices), nothing, loaded)

    def _witness(self) -> tuple[str, ...]:
        """Take HEAD as seen; what to say where that is not the history that was."""
        commits = self.commits
        listed = commits.tree if commits.made and commits.tree_of == commits.now.head else None
        return witness.moved(self.place, self.before, commits.now, self.asked.today, listed)

    def _load(self) -> Memory:
        """The memory on disk, without the new files of changes that wait for another branch."""
        loaded, ahead = memory.load(self.place), self.commits.ahead()
        lessons = {slug: lesson for slug, lesson in loaded.lessons.items() if lesson.path not in ahead}
        return loaded._replace(lessons=lessons) if ahead else loaded

    def _tidy(self) -> Memory:
        """The memory once what a killed command and a bad moment left is done."""
        if self.asked.dry_run or self.commits.hold == "hook":
            return self._load()
        left = journal.load(self.place)
        if self.place.repo and plumbing.clear_scraps(self.place.repo):
            self.commits.look_again()
        store.clear_leftovers(self.place, [edit.path for plan in left.plans for edit in plan.edits] if left else [])
        if left:
            self._recover(left)
        loaded = self._load()
        if self.commits.kept:
            waiting.drain(self.commits, loaded)
            loaded = self._load()
        self.commits.let_in(loaded)
        self._keep_queue()
        return loaded

    def _keep_queue(self) -> None:
        """Remember at once what was committed of the queue: the command may yet fail."""
        if self.ledger:
            kept = self.ledger._replace(queue=self.commits.kept)
            if kept != self.ledger:
                store.save_ledger(self.place, kept)
                self.ledger = kept

    def _recover(self, left: Journal) -> None:
        """Complete what a killed command was about to do, on its branch alone.

        A plan is done as a whole or not at all: where a file was changed since, what stands there is the person's. What
        was committed before is done, though they may have taken it back.
        """
        commits, begun = self.commits, journal.begun(self.place)
        commits.keep_private(memory.load(self.place))
        is_here = left.branch == commits.now.branch
        plans = left.plans if is_here else ()
        if is_here and self.place.repo:
            commits.recover(left, begun)
        if plans and self.place.repo:
            made = git.recent_messages(self.place.repo)
            plans = tuple(p for p in plans if message(without(p, commits.private_slugs)).strip() not in made)
        for plan in plans:
            if any(self._on_disk(edit.path) not in (edit.before, edit.after) for edit in plan.edits):
                continue
            try:
                self._scan(plan)
            except RefusedError:  # somebody has written a secret into a file that was to be committed as it stands
                continue
            self._apply(plan)
        journal.clear(self.place)

    def _put_off(self, plans: Sequence[Plan]) -> None:
        for plan in plans:
            waiting.put_off(self.commits, plan)
        kept = self.ledger or Ledger({}, self.commits.now.head)
        if plans:
            kept = kept.later(self.commits.now.head)
        store.save_ledger(self.place, kept._replace(queue=self.commits.kept))

    def _write(self, absorbed: Sequence[Plan], built: Sequence[Plan]) -> None:
        """Write and commit the plans; a journal lets the next command finish what a crash interrupts."""
        plans = (*absorbed, *built)
        journalled = Journal(self.command, self.commits.now.branch, plans)
        if plans and self.commits.hold != "hook":
            journal.save(self.place, journalled)
        for done, plan in enumerate(plans):
            self.earlier = len(self.commits.made) if done <= len(absorbed) else self.earlier
            try:
                self._apply(plan)
            except WriteError as error:  # every file of this plan is as it was
                journal.shorten(self.place, journalled, done)
                if made := [plan_subject(row).removeprefix("learnloop: ") for row in plans[len(absorbed) : done]]:
                    hint = f"done is {', '.join(made)}, the rest is not; {error.hint}"
                    raise WriteError(error.message, hint, code=error.code) from error
                raise
            except KeyboardInterrupt:
                if all(self._on_disk(edit.path) == edit.before for edit in plan.edits):
                    journal.shorten(self.place, journalled, done)
                raise
        self.earlier = self.earlier if built else len(self.commits.made)

    def _tell_undo(self, built: Sequence[Plan], began_at: str) -> None:
        """Keep in mind a last change that undo does not find in the memory's history, or not all of it."""
        commits, place = self.commits, self.place
        private = [plan for plan in built if any(edit.path in commits.private_paths for edit in plan.edits)]
        inside = [path for files in commits.files[self.earlier :] for path in files if place.covers(path)]
        if not commits.in_use or (not private and (commits.queued or inside)):
            self.untold = self.untold.later(began_at) if built else self.untold
        elif built and (private or len(commits.made) > self.earlier or any(plan.edits for plan in built)):
            self.untold = Ledger({}, loose=plan_subject((private or built)[-1]))

    # --- absorbing ---------------------------------------------------------------------------------------------------

    def _absorb(self, draft: Draft, loaded: Memory) -> Report:
        place = self.place
        # A file named by a secret cannot be named in a commit: that it came or went is left to the person.
        differs = {path: flags for path, flags in self.commits.own(loaded).items() if not guard.in_name(path)}
        rows = self.ledger.agreed.values() if self.ledger else ()
        told = {row.path for row in rows if row.zone == "removed"}  # a staged removal waits, and is told once
        gone = {path: flags for path, flags in differs.items() if flags == " D" or (flags == "D " and path not in told)}
        queued = self.commits.queued_as_they_stand()  # what a command of ours removed is not removed by hand
        removed = [path for path in gone if place.is_lesson(path) and place.in_repo(path) not in queued]
        own = {path: flags for path, flags in differs.items() if flags[0] in " ?!"}
        elsewhere = place.document not in differs and self._is_elsewhere()
        if self.commits.in_use and place.document in own and (why := self.commits.document_waits(loaded)):
            del own[place.document]
            self.waits = f"{place.document} waits: {why}"
            self.commits.notices += [] if self.asked.dry_run else [self.waits]
        sides = self._sides(elsewhere=elsewhere)
        report = Absorber(
            draft,
            author=self.author,
            base_of=self._base_of,
            removed=removed,
            sides=sides,
            with_git=bool(place.repo),
            moved=bool(self.ledger and self.ledger.commit != self.commits.now.head and not own),
            stranger=trust.Strangers(place, place.document).author,
            elsewhere=elsewhere,
            past=Past(
                lambda path: place.is_lesson(path) and history.is_gone(place, path),
                lambda path: history.name_now(place, path) if place.is_lesson(path) else "",
            ),
        ).run()
        self._tell_merged(sides, report.went)
        if gone.get(place.values):
            report = report._replace(what=(*report.what, f"{Path(place.values).name} was removed by hand"))
        self._refuse_gone(loaded, [path for path in removed if lessonfile.stem(path) in report.slugs])
        own = {path: flags for path, flags in own.items() if place.in_repo(path) not in queued}
        clashing = {loaded.lessons[slug].path for slug in report.left if slug in loaded.lessons}
        for path in own:
            if path not in clashing:
                draft.also(path)
        slugs = report.slugs or [lessonfile.stem(path) for path in own if place.is_lesson(path)]
        if loaded.blocked is None:
            draft.cut("absorb", slugs, "\n".join(report.what) or (f"edited by hand: {', '.join(own)}" if own else ""))
        return report

    def _tell_merged(self, sides: Sides, went: Sequence[str]) -> None:
        """Say what commits that came in took along: lessons that are gone, and those that a merge took for others."""
        is_new = sides.revisions and self.ledger and self.ledger.commit != self.commits.now.head
        rows = mistaken.mistaken(self.place) if is_new else []
        said = [row.told for row in rows]
        if gone := self._gone([path for path in went if path not in {row.gone for row in rows}]):
            more = f" and {len(gone) - 5} more" if len(gone) > 5 else ""
            said.append(
                f"gone with the last commits: {', '.join(gone[:5])}{more}; learnloop restore {gone[0]} brings it back"
            )
        self.commits.notices += map(guard.unsecret, said)

    def _gone(self, went: Sequence[str]) -> list[str]:
        """The lessons of these paths that commits on top of what was seen last took; given up with a merge is none."""
        repo, seen = self.place.repo, self.ledger.commit if self.ledger else ""
        if not (went and repo and seen) or self._is_elsewhere():
            return []
        known = git.entries(repo, seen, [self.place.in_repo(path) for path in went])
        return [lessonfile.stem(path) for path in went if self.place.in_repo(path) in known]

    def _refuse_gone(self, loaded: Memory, removed: Sequence[str]) -> None:
        """Raises UnableError where all lessons of HEAD, two or more, are gone from the disk at once.

        That is a slip, not to be committed as a wish; one by one they are taken out by hand.
        """
        place, here = self.place, {lesson.path for lesson in loaded.lessons.values()}
        if len(removed) < 2 or place.repo is None:
            return
        self.commits.at_head([place.in_repo(place.document)])
        held = [place.inner(path) for path, entry in self.commits.tree.items() if entry]
        if not any(place.is_lesson(path) and (path in here or (place.folder / path).exists()) for path in held):
            raise all_gone(place, len(removed))

    def _is_elsewhere(self) -> bool:
        """Whether HEAD's history does not hold the commit at which file and entry were last seen to agree."""
        repo, head = self.place.repo, self.commits.now.head
        seen = self.ledger.commit if self.ledger else ""
        return bool(repo and head) and seen != head and not (seen and repo and git.is_ancestor(repo, seen, head))

    def _sides(self, *, elsewhere: bool) -> Sides:
        """What other branches that were merged since say of a lesson; where nobody knows since when, the newest."""
        repo, head = self.place.repo, self.commits.now.head
        since = self.ledger.commit if self.ledger and self.ledger.commit != head else ""
        if not (repo and head):
            return Sides(self.place, [])
        return Sides(self.place, git.merged_sides(repo, since), git.merges(repo, "HEAD") if elsewhere else [])

    def _base_of(self, slug_or_path: str) -> Agreed | None:
        """The base of a lesson whose file or entry changed: the newest agreeing commit, else what was remembered."""
        slug = lessonfile.stem(slug_or_path)
        row = self.ledger.agreed.get(slug) if self.ledger else None
        if self.place.repo is None:
            return row
        if row and self.ledger and self.ledger.commit == self.commits.now.head:
            return row
        path = row.path if row else self.place.path_of(slug)
        return history.agreed_at(self.place, path, self.ledger.commit if row and self.ledger else "", row)

    # --- applying ----------------------------------------------------------------------------------------------------

    def _apply(self, plan: Plan) -> None:
        content = {}
        for edit in plan.edits:
            if self._on_disk(edit.path) not in (edit.before, edit.after):
                raise WriteError(f"{edit.path} changed while the command ran", "run the command again", code="changed")
            content[edit.path] = None if edit.after is None else edit.after.encode("utf-8", "surrogateescape")
        trust.carry(self.place, ((edit.before, edit.after) for edit in plan.edits))
        store.write_all(self.place.folder, content)
        if self.commits.in_use:
            self.commits.commit(plan, self.scanned)

    def _on_disk(self, path: str) -> str | None:
        found = store.read_bytes(self.place.folder / path)
        return None if found is None else found.decode("utf-8", "surrogateescape")

    def _scan(self, plan: Plan) -> None:
        """No text enters a file or a commit unscanned (R004-20)."""
        for edit in plan.edits:
            if edit.after is not None:
                self._scan_text(edit.path, edit.before or "", edit.after)
        for path in plan.also:
            data = self.scanned[path] = store.read_bytes(self.place.folder / path)
            if data is not None and self.place.repo:
                text = data.decode("utf-8", "surrogateescape")
                self._scan_text(path, text, text)
        guard.refuse_secrets({"the commit message": message(plan)})

    def _scan_text(self, path: str, stands: str, text: str) -> None:
        """Raises RefusedError where a text has a secret that HEAD has not: what stands there may be a person's edit."""
        if not (found := guard.places(text)):
            return
        at_head = self._at_head(path)
        known = stands if at_head is None else at_head
        if new := found - guard.places(known):
            # Told where a person finds it: bringing the document in step moves lines.
            guard.refuse_new(path, known, stands if guard.places(stands) & new else text)

    def _at_head(self, path: str) -> str | None:
        """What HEAD has of a file, None where git does not get it."""
        repo, in_git = self.place.repo, self.place.in_git(path)
        if repo is None or not in_git or self.commits.hold == "ignored" or path in self.commits.private_paths:
            return None
        entry = self.commits.at_head([in_git])[in_git]
        if entry is None:
            return None if git.ignored(repo, [in_git]) else ""
        return git.checked_out(repo, in_git, entry).decode("utf-8", "surrogateescape")

    def _remember(self, final: Memory, conflicts: set[str]) -> None:
        if self.commits.hold == "hook":
            return
        rows = memory.agreed_now(final, skip=conflicts, author=self.commits.name)
        for slug, row in (self.ledger.agreed if self.ledger else {}).items():
            if slug not in rows and slug not in conflicts:
                rows[slug] = row._replace(zone="removed")
        commits = self.commits
        ledger = self.untold._replace(agreed=rows, commit=commits.now.head, queue=commits.kept)
        if ledger != self.ledger:
            store.save_ledger(self.place, ledger)
        if not commits.unfinished:
            journal.clear(self.place)
        self._tell_hooks(final)

    def _tell_hooks(self, final: Memory) -> None:
        """Record what Claude's hooks may serve; where that cannot be written, they serve nothing."""
        with suppress(UnableError):
            briefing.record(final, self.asked.today, waiting=len(self.commits.kept))


def look(place: Place, asked: Asked) -> Done:
    """The memory as it would stand after absorbing, without writing anything (status, show, check)."""
    session = _Session(place, asked._replace(dry_run=True))
    return _against_head(session.commits, session.work(lambda draft: None))


def unabsorbed(place: Place, asked: Asked, why: str, told: str) -> Done:
    """The memory as it stands, where what is to be absorbed is refused (status, check), and so what waits: told."""
    loaded, commits = memory.load(place), _Session(place, asked._replace(dry_run=True)).commits
    done = _against_head(commits, Done((), (), False, (why,), Report((), (), (), ()), loaded))
    return done._replace(waiting=done.waiting or told) if done.differing else done


def _against_head(commits: Commits, done: Done) -> Done:
    """What was looked at, with what HEAD has not of it."""
    if commits.hold == "ignored":
        return done
    differing = tuple(sorted(commits.differing(done.memory)))
    unreadable = tuple(sorted(commits.left_alone(done.memory)))
    return done._replace(differing=differing, unreadable=unreadable, waiting=commits.what_waits(done.memory))


def folder_in(place: Place, path: Path) -> str:
    """A path as the memory's edits name it: relative to the memory's folder."""
    return Path(os.path.relpath(path, place.folder)).as_posix()
