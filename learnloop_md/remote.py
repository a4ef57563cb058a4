"""Sync with a remote: our commits on top of what others sent, and sent in turn; git remotes are the engine (design §6).

Only for a memory in a repository of its own. What a person has staged or edited stays, or stops us before a byte moves.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import NamedTuple

from learnloop_md import apply, busy, git, journal, patches, plumbing, remotes, store, transplant, witness
from learnloop_md.apply import Done
from learnloop_md.commits import Asked
from learnloop_md.errors import LearnloopError, UnableError
from learnloop_md.git import Delta, GitError, Repo, Status
from learnloop_md.journal import Journal
from learnloop_md.lesson import Lesson
from learnloop_md.memory import Memory
from learnloop_md.patches import Outgoing
from learnloop_md.place import Place
from learnloop_md.plan import Draft
from learnloop_md.transplant import Goal

TRIES = 5
_PRIVATE = "do not push, as private lessons would leave with it"
_UNSENT = f"take it out (git rebase -i; {_PRIVATE})"
_WAIT_S = 0.4  # at most, before the second try; a little more before each further one


class Synced(NamedTuple):
    """What went to and fro."""

    upstream: str
    pulled: int  # commits that others had sent
    pushed: tuple[str, ...]
    made: dict[str, str]  # commits of ours that were written anew, and what they are now
    notices: tuple[str, ...]


class _Upstream(NamedTuple):
    remote: str
    branch: str
    tip: str

    def __str__(self) -> str:
        return f"{self.remote}/{self.branch}"


def check(place: Place) -> Repo:
    """The memory's own repository. Raises UnableError where it has none of its own, or no remote."""
    if place.repo is None:
        raise UnableError("there is no git here to sync with a remote", "run: git init", code="no-git")
    if not place.own_repo or place.linked:
        hint = "send a branch instead: learnloop propose --push"
        raise UnableError("this memory stands in a code repository, which is yours to push", hint, code="not-own-repo")
    remotes.chosen(place.repo)
    return place.repo


def sync(place: Place, asked: Asked) -> Synced:
    """Bring in what others sent and send what they do not have; everything of ours is committed already.

    Raises UnableError where that cannot be done; our commits and a person's files are as they were then.
    """
    repo = check(place)
    said: list[str] = []
    made: dict[str, str] = {}
    pulled = 0
    for turn in range(TRIES):
        if turn:
            time.sleep(random.uniform(0.05, _WAIT_S * turn))  # noqa: S311 — so that those who met do not meet again
        goal = _upstream(repo)
        with store.locked(place):
            came, anew, told = _integrate(place, repo, asked, goal)
        pulled += came
        made = {old: anew.get(new, new) for old, new in {**{old: old for old in anew}, **made}.items()}
        settled = apply.change(place, asked, _in_step)  # what others edited by hand
        said += [*told, *settled.notices, *(f"absorbed: {what}" for what in settled.absorbed.what)]
        head = git.head(repo)
        if head == goal.tip or not head:
            return Synced(str(goal), pulled, (), made, tuple(dict.fromkeys(said)))
        words = ["rev-list", "--reverse", head, *([f"^{goal.tip}"] if goal.tip else [])]
        sent = tuple(git.out(repo.root, *words).split())
        refused = _push(repo, goal, head)
        if refused is None:
            return Synced(str(goal), pulled, sent, made, tuple(dict.fromkeys(said)))
        if _upstream(repo).tip == goal.tip:  # nobody was quicker: the server does not want it
            hint = "your commits stay here; where the branch is protected, ask for a merge: learnloop propose --push"
            raise UnableError(refused.message, hint, code="push-rejected")
    hint = "run it again; your commits stay here"
    raise UnableError(f"others were quicker {TRIES} times", hint, code="push-raced")


def _in_step(draft: Draft) -> None:
    draft.cut("absorb", [], "the document is brought in step")


def _push(repo: Repo, goal: _Upstream, head: str) -> GitError | None:
    try:
        remotes.push(repo, goal.remote, f"{head}:refs/heads/{goal.branch}", options=("--quiet",))
    except GitError as error:
        return error
    return None


def _upstream(repo: Repo) -> _Upstream:
    """The branch that the current one goes to, as the remote has it now; a tip of "" is yet to be sent."""
    branch = git.branch(repo)
    if not branch:
        raise UnableError("HEAD is detached", "switch to a branch first: git switch main", code="detached")
    remote = _config(repo, f"branch.{branch}.remote")
    there = _config(repo, f"branch.{branch}.merge").removeprefix("refs/heads/") or branch
    remote = remotes.chosen(repo, "" if remote == "." else remote)
    known = remotes.ask(repo, remote)
    if known.failed:
        hint = "everything is committed here; try again later"
        raise UnableError(f"{remote} cannot be reached: {known.failed}", hint, code="offline")
    tip = remotes.tip(repo, remote, known, there)
    if known.heads and not tip:
        hint = f"say which of its branches is meant: git branch -u {remote}/{known.default or next(iter(known.heads))}"
        raise UnableError(f"{remote} has no branch {there}", hint, code="no-upstream")
    return _Upstream(remote, there, tip)


def _config(repo: Repo, key: str) -> str:
    return git.asked(repo.root, "config", "--get", key).stdout.decode().strip()


# --- bringing in ----------------------------------------------------------------------------------------------------


def _integrate(place: Place, repo: Repo, asked: Asked, goal: _Upstream) -> tuple[int, dict[str, str], tuple[str, ...]]:
    """Put our commits on top of the goal: how many commits came in, what ours became, what to tell."""
    done = apply.look(place, asked)
    head = _check_still(place, repo, done)
    ours = patches.commits(place, repo, goal.tip, only_memory=False) if head else []
    sent = patches.outgoing(place, repo, ours, done.memory)
    whole = tuple(ours) == sent.patches
    if foreign := next((patch for patch in ours if not patches.is_ours(place, repo, patch)), None):
        push = f"push it yourself: git push -u {goal.remote} HEAD:{goal.branch}"
        hint = f"{push if whole else _UNSENT}, then run this again"
        raise UnableError(f"HEAD holds a commit that is not the memory's: {foreign}", hint, code="foreign-commits")
    if whole and (not goal.tip or (head and git.is_ancestor(repo, goal.tip, head))):
        return 0, {}, ()
    if head and git.out(repo.root, "rev-list", "--merges", "--max-count=1", head, *([f"^{goal.tip}"] * bool(goal.tip))):
        push = f"merge it once more and push: git pull --no-rebase {goal.remote} {goal.branch}, then git push"
        hint = push if whole else f"make it one line of commits: git rebase {goal}; {_PRIVATE}"
        raise UnableError(f"HEAD holds a merge that {goal} does not have", hint, code="unsent-merge")
    way_out = f"merge by hand: git merge {goal}, learnloop sync --resolve, git commit; nothing was changed"
    carried = transplant.carry(place, repo, Goal(goal.tip, str(goal), way_out), sent, done.memory)
    new = carried.tip
    came = git.out(repo.root, "rev-list", "--count", goal.tip, *([f"^{head}"] if head else [])) if goal.tip else "0"
    if new and new != head:
        _advance(place, repo, head, new, done.memory, sent)
        witness.followed(place, head, git.status(repo, ""), asked.today)
    return int(came), carried.made, carried.notices


def _check_still(place: Place, repo: Repo, done: Done) -> str:
    """HEAD, where nothing stands in the way. Raises UnableError where something does."""
    now = git.status(repo, "")
    if why := git.moment(repo, now, own=True, known=True) or busy.at_work(repo.root, repo.git_dir):
        raise UnableError(why, "finish it first, then run this again", code="bad-moment")
    if done.memory.ledger and done.memory.ledger.queue:
        raise UnableError("a change waits for its commit", "run: learnloop sync, which says why", code="queued")
    if done.plans or done.differing:
        named = [*done.differing, *(path for plan in done.plans for path in plan.paths)]
        hint = "commit or unstage it, or see what learnloop sync says of it"
        raise UnableError(f"{named[0]} has changes that are not committed", hint, code="dirty-memory")
    return now.head


def _advance(place: Place, repo: Repo, old: str, new: str, known: Memory, sent: Outgoing) -> None:
    """Bring work tree, index and branch from one commit to another, in this order, for the changed paths only.

    The files come first: whatever stops us then, they are edits by hand that the next command absorbs, and never
    look like a return to what was before.
    """
    changed = git.deltas(repo, old, new)
    secret = {place.followed(lesson.path) for lesson in (*sent.hidden.values(), *_private(known))}
    kept = {path for path, (_, after) in changed.items() if after is None and path in secret}
    _check_free(repo, {path: delta for path, delta in changed.items() if path not in kept}, git.status(repo, ""))
    files = {
        path: git.checked_out(repo, path, after) if after else None
        for path, (_, after) in changed.items()
        if path not in kept
    }
    before = {path: store.read_bytes(repo.root / path) for path in files}
    journal.save(place, Journal(new, git.branch(repo), ()))  # whose the locks are, where a kill leaves them
    try:
        store.write_all(repo.root, files)
        try:
            plumbing.land(repo, new, old, {path: row[1] for path, row in changed.items()}, "learnloop: sync --remote")
        except LearnloopError:
            store.write_all(repo.root, before)
            raise
    finally:
        journal.clear(place)
    for path in kept:
        git.exclude(repo, path)


def _private(known: Memory) -> list[Lesson]:
    return [known.lessons[slug] for slug in known.private]


def _check_free(repo: Repo, changed: Mapping[str, Delta], now: Status) -> None:
    """Every path may be written: what stands there is what git has. Raises UnableError."""
    heads = {path: before for path, (before, _) in changed.items()}
    there = git.on_disk(repo, {path: entry for path, entry in heads.items() if (repo.root / path).is_file()})
    for path, (before, after) in changed.items():
        full = repo.root / path
        if after and not after.startswith("100"):
            hint = "bring it in yourself: git pull --rebase"
            raise UnableError(f"others made {path} a link or a repository", hint, code="not-a-file")
        strange = any(part in ("", ".", "..") or part.casefold() == ".git" for part in path.split("/"))
        if strange or full.is_symlink() or full.parent.resolve() != full.parent:
            raise UnableError(f"{path} would be written through a link", "take the link away", code="symlink-escape")
        in_the_way = full.exists() and there.get(path) not in ({before, after} - {None})
        if path in now.paths or in_the_way:
            hint = "commit it, or put it elsewhere, then run this again; nothing was changed"
            raise UnableError(f"{path} was changed here and by others", hint, code="dirty-file")
