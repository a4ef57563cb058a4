"""Propose: what the remote does not have yet as a branch of its own; HEAD, index, work tree and queue stay."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import NamedTuple

from learnloop_md import apply, branch, git, guard, leftout, patches, remotes, store, transplant
from learnloop_md.apply import Done
from learnloop_md.commits import Asked
from learnloop_md.errors import UnableError
from learnloop_md.git import GitError, Repo
from learnloop_md.history import lesson_of, trailer
from learnloop_md.lesson import free_slug
from learnloop_md.patches import Outgoing, Patch
from learnloop_md.place import Place
from learnloop_md.remotes import Known
from learnloop_md.transplant import Carried, Goal

PREFIX = "learnloop"


class Proposed(NamedTuple):
    """What became of a proposal; no commits and a branch: it was made before; neither: there is nothing to propose."""

    branch: str
    remote: str
    base: str  # the remote's branch that it is built on
    commits: tuple[str, ...]
    patches: tuple[Patch, ...]
    pushed: bool
    done: Done
    notices: tuple[str, ...]


def propose(place: Place, asked: Asked, *, name: str = "", remote: str = "", push: bool = False) -> Proposed:
    """Make the branch, and send it where push is set (design §6).

    Raises UnableError without git, commit or remote, for a name that is taken and for a conflict; nothing is made then.
    """
    repo = place.repo
    if repo is None or not git.head(repo):
        raise UnableError("a proposal needs a git repository with a commit", "run: learnloop init", code="no-git")
    if rule := git.ignored_by(repo, place.in_repo(place.document)):
        raise UnableError(f"git ignores this memory ({rule})", "it cannot be proposed", code="ignored")
    remote = remotes.chosen(repo, remote)
    if name:
        branch.check_form(repo, name)
    there = remotes.known(repo, remote) if asked.dry_run else remotes.ask(repo, remote)
    goal, notices = _goal(repo, remote, there)
    with nullcontext() if asked.dry_run else store.locked(place):
        done = apply.look(place, asked)
        sent, told = _outgoing(place, repo, goal.tip, done)
    sign = not (asked.dry_run or place.own_repo) and git.signs(repo)
    carried = transplant.carry(place, repo, goal, sent, done.memory, sign=sign)
    notices = (*notices, *told, *done.notices, *carried.notices)
    made = Proposed("", remote, goal.name, (), (), False, done, notices)  # unless there is something
    if carried.commits:
        known = _same(repo, goal, carried, name)
        if name and not known:
            branch.check_name(repo, name)
        made = made._replace(branch=known, pushed=bool(known) and _is_there(repo, there, known))
        if not known:
            chosen = name or _free_name(place, repo, there, asked.today, carried)
            made = made._replace(branch=chosen, commits=carried.commits, patches=carried.patches)
            if not asked.dry_run:
                words = ["update-ref", "-m", "learnloop: propose", f"refs/heads/{chosen}", carried.tip]
                git.call(repo.root, *words, "0" * len(carried.tip))
    sends = push and made.branch and not made.pushed and not asked.dry_run
    return made._replace(pushed=_pushed(repo, made)) if sends else made


def _goal(repo: Repo, remote: str, there: Known) -> tuple[Goal, tuple[str, ...]]:
    """The tip of the remote's default branch, and what to tell of finding it."""
    name, failed = there.default, there.failed
    tip = remotes.tip(repo, remote, there, name)
    if not tip:
        why = f" ({failed})" if failed else ""
        hint = "push the branch that others build on first; what it holds of private lessons is pushed as well"
        raise UnableError(f"no default branch of {remote} is known{why}", hint, code="no-default-branch")
    goal = f"{remote}/{name}"
    hint = f"merge {goal} into your branch first, or wait until the other change is agreed on; nothing was made"
    told = f"{remote} cannot be reached ({failed}): built on what is known of {goal}"
    return Goal(tip, goal, hint), (told,) if failed else ()


def _outgoing(place: Place, repo: Repo, tip: str, done: Done) -> tuple[Outgoing, list[str]]:
    """Everything that the tip does not have: our commits, the queue, and what is not committed."""
    told, known = [], []
    for patch in patches.commits(place, repo, tip, only_memory=True):
        known.append((patch, patches.is_ours(place, repo, patch)))
        if not known[-1][1]:
            told.append(f"left out, as it holds more than the memory: {patch}")
    staged, ledger = leftout.look(place, repo, done.memory.ledger)
    waiting, state = patches.queued(place, repo, ledger)
    rest = patches.uncommitted(place, repo, done, state, staged.all)
    free = leftout.without_entries(place, repo, staged, [*waiting, *rest], done.memory)
    told += leftout.told(place, staged)
    sent = patches.with_renames(place, repo, [*known, *((patch, True) for patch in free)])
    return patches.outgoing(place, repo, sent, done.memory), told


def _same(repo: Repo, goal: Goal, carried: Carried, name: str) -> str:
    """The branch of an earlier proposal that holds these commits and nothing else, "" for none.

    A person's own branch may end in the same files and hold, further down, what nobody is to see: every commit counts.
    Neither the branch that all build on nor the one that is checked out is a proposal.
    """
    where = f"refs/heads/{name}" if name else "refs/heads"
    rows = git.out(repo.root, "for-each-ref", "--format=%(tree)%09%(refname)", where).splitlines()
    own = {goal.name.partition("/")[2], "" if name else git.status(repo, "").branch}
    wanted = _commits_of(repo, goal.tip, carried.tip)
    alike = [
        ref.removeprefix("refs/heads/")
        for tree, _, ref in (row.partition("\t") for row in rows)
        if tree == wanted[0][0]
    ]
    known = (row for row in sorted(alike, key=lambda row: not row.startswith(PREFIX)) if row not in own)
    found = (row for row in known if _commits_of(repo, goal.tip, f"refs/heads/{row}") == wanted)
    return next((row for row in found if not name or row == name), "")


def _commits_of(repo: Repo, old: str, new: str) -> list[tuple[str, str]]:
    """Tree and message of each commit that an older one does not have."""
    raw = git.out(repo.root, "log", "-z", "--format=%T%x09%B", "--topo-order", new, f"^{old}", "--")
    rows = (row.partition("\t") for row in raw.split("\0") if row)
    return [(tree, said.strip()) for tree, _, said in rows]


def _is_there(repo: Repo, there: Known, name: str) -> bool:
    """Whether the remote has that branch as it is here."""
    return there.heads.get(name) == git.resolve(repo, f"refs/heads/{name}")


def _free_name(place: Place, repo: Repo, there: Known, day: str, carried: Carried) -> str:
    """A name that neither this repository nor the remote has."""
    taken = {ref.removeprefix("refs/heads/") for ref in remotes.tips(repo, "refs/heads")} | set(there.heads)
    named = [
        slug
        for patch in carried.patches
        for slug in (*trailer(patch.message, "Lesson"), *(lesson_of(place, path) for path in sorted(patch.files)))
        if slug
    ]
    gap = "-" if PREFIX in taken else "/"  # git keeps no branch below another branch
    for slug in (*(slug for slug in named if not guard.in_name(slug)), "memory"):
        name = free_slug(f"{PREFIX}{gap}{day}-{slug}", taken)
        if git.asked(repo.root, "check-ref-format", f"refs/heads/{name}").returncode == 0:
            return name
    raise AssertionError("a name of letters and digits names a branch")


def _pushed(repo: Repo, made: Proposed) -> bool:
    ref = f"refs/heads/{made.branch}"
    try:
        remotes.push(repo, made.remote, f"{ref}:{ref}", options=("--quiet", "--set-upstream"))
    except GitError as error:
        again = f"the branch {made.branch} stays; try again: {push_command(made)}"
        raise UnableError(error.message, again, code=error.code) from error
    return True


def push_command(made: Proposed) -> str:
    """What sends the branch."""
    return f"git push -u {made.remote} {made.branch}"


def pull_request(place: Place, made: Proposed) -> str:
    """How to ask for its merge, "" where the remote is no GitHub address."""
    where = remotes.url(place.repo, made.remote) if place.repo else ""
    return f"gh pr create --head {made.branch}" if re.search(r"(?:^|[@/])[\w.-]*github[\w.-]*[:/]", where) else ""
