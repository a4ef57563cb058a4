"""What becomes of written files in git: a commit now, a commit later (the queue), or none."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from learnloop_md import busy, elsewhere, git, githooks, guard, heldback, mergestate, plumbing, store
from learnloop_md.errors import RefusedError, UnableError
from learnloop_md.journal import Journal
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.plan import Plan, message, without
from learnloop_md.store import Ledger

_TRIES = 3  # somebody else's commit may come between
_WAY_OUT = "commit or unstage it"


class Asked(NamedTuple):
    """How a command was asked for: on which day, in which run, and whether it may write."""

    today: str
    run: str = ""  # --run or the session; "" for author and day
    dry_run: bool = False
    commit: bool = True  # False in a pre-commit hook: files only, nothing queued
    after_commit: bool = False  # as git's post-commit hook, whose commit is done
    by_claude: bool = False  # as Claude's hooks start it: HEAD of a code repository stays
    command: str = ""  # the id of a command that makes several changes; "" for one of its own


class Partly(NamedTuple):
    """What a commit may have of a document, as "mode blob", and why it is not all."""

    entry: str
    why: str


class Commits:
    """One command's commits in the repository around a memory; used under the memory's lock."""

    def __init__(self, place: Place, ledger: Ledger | None, asked: Asked) -> None:
        self.place = place
        self.asked = asked
        self.notices: list[str] = []
        self.made: list[str] = []
        self.files: list[Collection[str]] = []  # of each commit that was made
        self.queued = False
        self.unfinished = False  # written, but neither committed nor queued
        self.private_paths: set[str] = set()  # paths of the memory that git must not get
        self.private_slugs: set[str] = set()
        self.memory: Memory | None = None  # as it will be
        self.queue: list[dict[str, Any]] = list(ledger.queue) if ledger else []
        self.name = git.author(place.repo.root) if place.repo else ""
        known = {*self.waiting(), *filter(None, [place.values_in_repo])}
        self.outside = [path for path in known if not self._is_inside(path)]
        self.now = git.Status("", "", {})
        self.tree: dict[str, str | None] = {}  # what a commit has of the memory, and which commit it is
        self.tree_of: str | None = None
        self.look_again()
        self.queue, self.elsewhere = elsewhere.split(place, self.now.head, self.queue)
        self.hold = self._why_not_now()

    def look_again(self) -> None:
        """See HEAD and what differs from it as they are now."""
        if self.place.repo:
            self.now = git.status(self.place.repo, self.place.inside, *self.outside)

    def at_head(self, paths: Collection[str]) -> dict[str, str | None]:
        """What HEAD has under each path, as "mode blob"; the whole memory is listed at once, until HEAD moves."""
        place = self.place
        assert place.repo is not None, "only asked inside a repository"
        is_new = self.tree_of != self.now.head
        known = {} if is_new else self.tree
        others = [path for path in paths if path not in known and not self._is_inside(path)]
        if is_new or others:
            asked = [place.inside or ".", place.followed(place.document), *others] if is_new else others
            found = git.entries(place.repo, self.now.head, asked) if self.now.head else {}
            self.tree, self.tree_of = {**known, **dict.fromkeys(others), **found}, self.now.head
        return {path: self.tree.get(path) for path in paths}

    @cached_property
    def _signs(self) -> bool:
        """Whether our commits are to be signed: a code repository's, where the person's are."""
        return self.place.repo is not None and not self.place.own_repo and git.signs(self.place.repo)

    @property
    def in_use(self) -> bool:
        """Whether a change becomes a commit, now or later."""
        return self.place.repo is not None and self.hold not in ("ignored", "hook")

    def _why_not_now(self) -> str:
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
        if self.asked.by_claude and place.with_code and not place.settings.hooks_commit:
            return "Claude's hooks leave HEAD alone (hooks.commit is off)"
        stays = not place.own_repo and not place.settings.commit_on_default_branch
        if stays and self.now.branch == git.default_branch(place.repo):
            return "commit_on_default_branch is off"
        return git.moment(
            place.repo, self.now, own=place.own_repo, known=bool(self.name), after_commit=self.asked.after_commit
        )

    def held(self, files: Collection[str]) -> str:
        """Why these files cannot be committed at this very moment, "" where they can."""
        repo = self.place.repo
        if repo and not self.hold and files:
            self.hold = busy.at_work(repo.root, repo.git_dir, after_commit=self.asked.after_commit)
        return self.hold or next((why for path in files if (why := self.in_the_way(path))), "")

    def keep_private(self, *memories: Memory) -> None:
        """Learn which lessons git must not get, by path and by name."""
        self.private_paths |= {row.lessons[slug].path for row in memories for slug in row.private}
        self.private_slugs |= {slug for row in memories for slug in row.private}
        self.memory = memories[-1]

    def ahead(self) -> set[str]:
        """New files of changes that wait for another branch, as their commands wrote them; by path in the memory.

        A checkout leaves them where they are: here they are nobody's yet, as a change is committed as a whole.
        """
        rows = {path: entry for item in self.elsewhere for path, entry in item["files"].items() if entry}
        came = {path for item in self.elsewhere for path, entry in item["was"].items() if entry is None}
        if self.place.repo is None or not (rows := {path: rows[path] for path in rows.keys() & came}):
            return set()
        heads = self.at_head(rows)
        on_disk = git.on_disk(self.place.repo, heads)
        return {
            self.place.inner(path) for path, entry in rows.items() if heads[path] is None and on_disk[path] == entry
        }

    # --- a person's work ---------------------------------------------------------------------------------------------

    def own(self, loaded: Memory) -> dict[str, str]:
        """Our files that differ from HEAD, by their path in the memory; not private, not quarantined."""
        place = self.place
        hurt = {q.path for q in loaded.quarantined}
        secret = {loaded.lessons[slug].path for slug in loaded.private}
        found, ahead = {}, self.ahead()
        for path, flags in self.now.paths.items():
            is_state = path == place.values_in_repo
            inner = place.values if is_state else place.inner(path)
            ours = is_state or inner == place.document or place.is_lesson(inner)
            is_link = (place.folder / inner).is_symlink()  # a person's: what it leads to is what we write and commit
            if ours and not is_link and inner not in hurt | secret | ahead and not (is_state and self._bad_state()):
                found[inner] = flags
        return found

    def left_alone(self, loaded: Memory) -> dict[str, str]:
        """Why our files that differ from HEAD and that nobody can read stay as they are; by path in the repository."""
        place, state = self.place, self.place.values_in_repo
        whys = {
            place.in_repo(q.path): _left(guard.unsecret_path(q.path), q.line, q.message) for q in loaded.quarantined
        }
        bad = {state: self._bad_state()} if state in self.now.paths else {}
        return {path: why for path, why in {**whys, **bad}.items() if why and path in self.now.paths}

    def _bad_state(self) -> str:
        """Why the state file must stay as it is, "" where it need not; that is told."""
        data = store.read_bytes(self.place.folder / self.place.values)
        if data is None or not (bad := mergestate.fault(data)):
            return ""
        self.notices.append(_left(self.place.values, bad.line, bad.message))
        return self.notices[-1]

    @property
    def kept(self) -> tuple[dict[str, Any], ...]:
        """All that is queued, whatever branch it waits for."""
        return (*self.elsewhere, *self.queue)

    @property
    def waits_elsewhere(self) -> str:
        """Which changes wait for another branch, in words; "" for none."""
        named = ", ".join(guard.unsecret(elsewhere.subject(item)) for item in self.elsewhere)
        number = "1 queued change waits" if len(self.elsewhere) == 1 else f"{len(self.elsewhere)} queued changes wait"
        made_on = "the branch it was made on" if len(self.elsewhere) == 1 else "the branches they were made on"
        return f"{number} for {made_on} ({named}): HEAD has not what it changes" if named else ""

    @property
    def waits(self) -> str:
        """How many changes wait for their commit, in words."""
        return f"{len(self.queue)} queued {'change waits' if len(self.queue) == 1 else 'changes wait'}"

    def waiting(self) -> set[str]:
        """The queued files, by their path in the repository."""
        return {path for item in self.queue for path in item["files"]}

    def queued_as_they_stand(self) -> set[str]:
        """The queued files that nobody has touched since: nothing of them is to be absorbed."""
        repo, heads = self.place.repo, self.at_head(self.waiting()) if self.queue else {}
        on_disk = git.on_disk(repo, heads) if repo and heads else {}
        last = {path: entry for item in self.queue for path, entry in item["files"].items()}
        return {path for path, entry in last.items() if on_disk.get(path) == entry}

    def refuse_foreign_work(self, plan: Plan) -> None:
        """A person's own edits of a file outside the memory never get into our commit (SKILL.md, .gitattributes …)."""
        repo = self.place.repo
        if repo is None or not self.in_use:
            return
        for edit in plan.edits:
            path = self.place.in_git(edit.path)
            if "U" in self.now.paths.get(path, ""):
                raise UnableError(f"{path} is in conflict", f"resolve it, then: git add {path}", code="conflict")
            if plan.change == "rename" and edit.after is None and self.in_the_way(path):
                # The new name would go into a commit, and what is staged under the old one with it.
                raise UnableError(f"{path} is staged", "commit or unstage it, then rename it", code="staged")
            flags = "" if not path or self._is_inside(path) else git.changed(repo, path).get(path, "")
            ours = plan.change == "state" or (flags == "??" and plan.change == "init")  # init adopts what is new to git
            if flags and not ours:
                hint = "commit or stash it first, so that your edit and ours stay apart"
                raise UnableError(f"{path} has changes that are not committed", hint, code="dirty-target")

    def refuse_private_rule(self, plan: Plan) -> None:
        """Raises RefusedError where codifying would put words and name of a private lesson into git (design §2)."""
        repo, private = self.place.repo, [slug for slug in plan.slugs if slug in self.private_slugs]
        if repo is None or plan.change != "codify" or not private:
            return
        for edit in plan.edits:
            path = "" if edit.path in self.private_paths else self.place.in_git(edit.path)
            if path and not git.ignored(repo, [path]):
                message = f"{private[0]} is private and stays out of git, {path} does not"
                hint = "use a file that git ignores, as --into CLAUDE.local.md, or give the lesson another type"
                raise RefusedError(message, hint, code="private")

    def in_the_way(self, path: str) -> str:
        """What a person has in git's index under a path of ours, "" where nothing."""
        flag, told = self._staged_as(path), guard.unsecret_path(path)
        return "" if flag in " ?" else f"{told} is in conflict" if flag == "U" else f"{told} is staged: {_WAY_OUT}"

    def held_back(self, loaded: Memory) -> Partly | None:
        """What of the document may be committed, None for all of it: half of what a person has staged never is."""
        place, path = self.place, self.document
        staged = [p for p in self.now.paths if place.is_lesson(place.inner(p)) and self.in_the_way(p)]
        head = self.at_head([path])[path] if staged else None
        if place.repo is None or head is None or self.in_the_way(path):
            return None
        text = heldback.document(place, loaded, staged, self.now.head).encode("utf-8", "surrogateescape")
        if text == store.read_bytes(place.folder / place.document):
            return None
        there = [p for p in staged if (place.repo.root / p).exists()]  # of a renamed file the new name
        return Partly(git.entry(place.repo, text, head, path), self.in_the_way((there or staged)[0]))

    def document_waits(self, loaded: Memory) -> str:
        """Why all that differs in the document waits for its person, "" where it does not."""
        partly = self.held_back(loaded) if self.document in self.now.paths else None
        return partly.why if partly and partly.entry == self.at_head([self.document])[self.document] else ""

    def differing(self, loaded: Memory) -> set[str]:
        """Our files that a commit is to bring to HEAD, by their path in the repository."""
        return {self.place.in_repo(path) for path in self.own(loaded)} | self.waiting()

    def what_waits(self, loaded: Memory) -> str:
        """What of ours is not committed and why, as far as no command can commit it now; "" where nothing is."""
        return "; ".join(filter(None, (self._what_waits_here(loaded), self.waits_elsewhere)))

    def _what_waits_here(self, loaded: Memory) -> str:
        if self.queue:
            return f"{self.waits}: {self.hold or self._in_the_way_of_the_queue or 'learnloop sync commits it'}"
        if self.made and (self.left_alone(loaded) or any(map(self.in_the_way, self.differing(loaded)))):
            self.look_again()  # what was committed differs no more
        return self._all_staged(loaded)

    @property
    def _in_the_way_of_the_queue(self) -> str:
        return next(filter(None, map(self.in_the_way, sorted(self.waiting()))), "")

    def _all_staged(self, loaded: Memory) -> str:
        """That only a person can commit what differs from HEAD, and why; "" where a command can."""
        alone = self.left_alone(loaded)
        whys = [
            self.in_the_way(path) or alone.get(path) or (self.document_waits(loaded) if path == self.document else "")
            for path in sorted(self.differing(loaded) | alone.keys())
        ]
        count = "1 of our files differs" if len(whys) == 1 else f"{len(whys)} of our files differ"
        return f"{count} from HEAD: {whys[0]}" if whys and all(whys) else ""

    @property
    def document(self) -> str:
        """The document as the repository names it."""
        return self.place.followed(self.place.document)

    def _staged_as(self, path: str) -> str:
        """git's letter for how the index differs from HEAD here."""
        known = self.now.paths
        if not self._is_inside(path) and path not in self.outside and self.place.repo:
            known = git.changed(self.place.repo, path)
        return known.get(path, "  ")[0]

    def _is_inside(self, path: str) -> bool:
        return not self.place.inside or path.startswith(f"{self.place.inside}/")

    # --- in and out of git -------------------------------------------------------------------------------------------

    def let_in(self, loaded: Memory) -> None:
        """A lesson that is private no more enters git: what kept it out is taken back."""
        repo = self.place.repo
        if repo is None or not self.in_use:
            return
        paths = [self.place.in_repo(lesson.path) for s, lesson in loaded.lessons.items() if s not in loaded.private]
        for path in git.excluded(repo, paths):
            git.include(repo, path)
            self.now.paths.setdefault(path, "??")

    def keep_out(self, loaded: Memory) -> None:
        """Private lessons that git would take with `add --all` are excluded (design §2)."""
        for slug in loaded.private:
            path = self.place.in_repo(loaded.lessons[slug].path)
            if self.place.repo and self.now.paths.get(path) == "??":
                git.exclude(self.place.repo, path)

    def commit(self, plan: Plan, scanned: Mapping[str, bytes | None]) -> None:
        """Commit what a plan has written, or queue it; scanned holds the files that it takes as they stand."""
        try:
            self._commit_or_queue(plan, scanned)
        except UnableError as error:  # the files are written: the next command finds the journal and commits them
            self.unfinished = True
            self.tell_queued(error.message, "written, not committed yet")

    def _commit_or_queue(self, plan: Plan, scanned: Mapping[str, bytes | None]) -> None:
        repo = self.place.repo
        assert repo is not None, "only called inside a repository"
        paths = self._paths_for_git(plan)
        told = message(without(plan, self.private_slugs))
        late: dict[str, str | None] = {}
        for _ in range(_TRIES):
            heads = self.at_head(paths)
            files = self._differing(plan, heads, scanned)
            if files.get(self.document) and self.memory and (partly := self.held_back(self.memory)):
                late = {self.document: files[self.document]}
                files[self.document] = partly.entry
                self.tell_queued(partly.why, "written, not committed yet")
            files = {path: entry for path, entry in files.items() if entry != heads[path]}
            if not files:
                return
            if not self.held(files):
                try:
                    self.make(files, told)
                    return
                except plumbing.MovedError:
                    self.look_again()
                    continue
                except git.GitError as error:
                    self.hold = error.message
            break
        self.enqueue(plan, files, heads, late=late)

    def _below(self, plan: Plan, heads: Mapping[str, str | None]) -> dict[str, str | None]:
        """What our edits found in the document and in files that a person has staged."""
        repo = self.place.repo
        found: dict[str, str | None] = {}
        for edit in plan.edits:
            path = self.place.in_git(edit.path)
            if repo and path in heads and edit.before is not None and (path == self.document or self.in_the_way(path)):
                found[path] = git.entry(repo, edit.before.encode("utf-8", "surrogateescape"), heads[path], path)
        return found

    def _differing(
        self, plan: Plan, heads: Mapping[str, str | None], scanned: Mapping[str, bytes | None]
    ) -> dict[str, str | None]:
        """The files of a plan that differ from HEAD, as they stand on disk."""
        repo = self.place.repo
        assert repo is not None, "only called inside a repository"
        files = {path: entry for path, entry in git.on_disk(repo, heads).items() if entry != heads[path]}
        self._check_scanned(plan, scanned)
        unheard = [path for path, entry in files.items() if entry and not heads[path] and path not in self.now.paths]
        for path in git.ignored(repo, unheard):
            self.notices.append(f"git ignores {path}: written, not committed")
            del files[path]
        return files

    def _check_scanned(self, plan: Plan, scanned: Mapping[str, bytes | None]) -> None:
        """Raises UnableError where git may have hashed other bytes than were scanned: a writer came between."""
        edited = {e.path: e.after and e.after.encode("utf-8", "surrogateescape") for e in plan.edits}
        for path, data in {**{path: scanned[path] for path in plan.also}, **edited}.items():
            if store.read_bytes(self.place.folder / path) != data:
                raise UnableError(f"{path} changed while the command ran", "run the command again", code="changed")

    def _paths_for_git(self, plan: Plan) -> list[str]:
        """The paths of a plan that git may have: in this repository, not private."""
        repo = self.place.repo
        assert repo is not None, "only called inside a repository"
        found = []
        for path in plan.paths:
            in_git = self.place.in_git(path)
            if not in_git:
                self.notices.append(f"{path} lies in another repository: written, not committed")
            elif path in self.private_paths:
                git.exclude(repo, in_git)
            else:
                found.append(in_git)
        return found

    def make(self, files: Mapping[str, str | None], told: str) -> None:
        """Commit these files. Raises GitError where it cannot be done."""
        repo = self.place.repo
        assert repo is not None, "only called inside a repository"
        who = git.NOBODY if self.place.own_repo and not self.name else None
        work = plumbing.Commit(files, told, who, self._signs)
        if self.place.settings.commit_run_hooks and self.now.head:
            work = work._replace(message=githooks.agreed(repo, self.now.head, work))
        made = plumbing.commit(repo, self.now.head, work)
        if self.tree_of == self.now.head:
            self.tree, self.tree_of = {**self.tree, **files}, made
        self.made.append(made)
        self.files.append(files.keys())
        self.now = self.now._replace(head=made)

    # --- later -------------------------------------------------------------------------------------------------------

    def enqueue(
        self,
        plan: Plan,
        files: Mapping[str, str | None],
        heads: Mapping[str, str | None],
        what: str = "written, not committed yet",
        *,
        late: Mapping[str, str | None] = MappingProxyType({}),
    ) -> None:
        """Let a plan's files wait for their commit, and say why.

        late: the whole document, where files has it without the entry of a lesson that a person has staged.
        """
        # What a person has staged may hold words of theirs: it is absorbed when they have committed or unstaged it.
        # What is new to HEAD is staged as a whole: unless it is known what was found there, it is not ours to commit.
        staged = {path: why for path in files if (why := self.in_the_way(path))}
        below = self._below(plan, heads)
        waits = {path: entry for item in self.queue for path, entry in item["files"].items()}
        free = {path: entry for path, entry in files.items() if path not in staged}
        if free:
            files = free | {path: entry for path, entry in late.items() if path in free and path in waits}
        elif files := {path: entry for path, entry in files.items() if heads[path] or path in below}:
            # A document that differed before holds other words than this command's.
            files |= {path: entry for path, entry in late.items() if below.get(path) == waits.get(path, heads[path])}
        elif staged:
            self.tell_queued(self.hold or next(iter(staged.values())), what)
        was = {path: waits.get(path, heads[path]) for path in files}
        files = {path: entry for path, entry in files.items() if entry != was[path]}
        self.queued = self.queued or bool(was)
        if files:  # else all of it waits already, which was told
            below = {path: entry for path, entry in below.items() if path in files and path in staged}
            told = message(without(plan, self.private_slugs))
            about = {"head": self.now.head}  # the history that it is about
            self.queue.append({"message": told, "files": files, "was": was, "below": below, **about})
            self.tell_queued(self.hold or next(iter(staged.values()), "somebody else commits here"), what)

    @property
    def before_rebase(self) -> bool:
        """Whether no tracked file may be touched now: a rebase is about to begin and would refuse."""
        repo = self.place.repo
        return repo is not None and self.in_use and busy.before_rebase(repo.root, repo.git_dir)

    def tell_queued(self, why: str, what: str) -> None:
        self.queued = True
        self.notices.append(f"{what}: {why}")

    def recover(self, left: Journal, begun: float) -> None:
        """Remove the locks that a killed command left in git's directory."""
        repo = self.place.repo
        if repo is None or not self.in_use:
            return
        if not busy.at_work(repo.root, repo.git_dir):  # a living git's lock of HEAD is empty too
            plumbing.clear_ref_locks(repo, self.now.branch, left.command, begun)


def _left(path: str, line: int, message: str) -> str:
    return f"{guard.unsecret_path(path)}:{line}: {message}; left as it is, not committed"


def named_after(author: str) -> str:
    """Whom a run is named after: git's author, else who works here; nobody whose name holds a secret (R004-20)."""
    name = author or user()
    return "someone" if guard.in_name(name) else name


def user() -> str:
    """Who works here, where git knows nobody."""
    import getpass  # lazy: only without a git identity

    try:
        return getpass.getuser() or "someone"
    except (KeyError, OSError):
        return "someone"
