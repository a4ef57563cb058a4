"""A change as a commit on a branch that is not checked out: HEAD, index and work tree stay as they are."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop_md import apply, git, plan, plumbing, store
from learnloop_md.apply import Build, Done
from learnloop_md.commits import Asked
from learnloop_md.errors import LearnloopError, UnableError, UsageError
from learnloop_md.place import Place
from learnloop_md.plan import Edit, Plan
from learnloop_md.store import Ledger


def change(place: Place, asked: Asked, build: Build, name: str) -> Done:
    """Plan a change here and commit its plans on the new branch `name`, made from HEAD; here nothing changes.

    Raises UnableError where files of the change differ from HEAD: the branch could not hold just this change.
    """
    repo = place.repo
    if repo is None or not git.head(repo):
        raise UnableError("a branch needs a git repository with a commit", "leave --branch away", code="no-git")
    check_name(repo, name)
    done = apply.change(place, asked._replace(dry_run=True), build)
    if any(row.change == "absorb" for row in done.plans):  # hand edits on the way: they are not in HEAD
        raise UnableError("the memory holds changes that are not committed", "run: learnloop sync", code="dirty-memory")
    for row in done.plans:
        _check_fit(done, place, repo, row.edits)
    if asked.dry_run or not done.plans:
        return done
    made = [git.head(repo)]
    for row in done.plans:
        made.append(_commit(place, repo, row, made[-1]))
    with store.locked(place):
        ledger = store.load_ledger(place) or Ledger({}, made[0])
        store.save_ledger(place, ledger._replace(loose="", aside=name, until=""))
        try:
            git.call(repo.root, "update-ref", "-m", "learnloop", f"refs/heads/{name}", made[-1], "0" * len(made[-1]))
        except LearnloopError:
            store.save_ledger(place, ledger)
            raise
    return done._replace(commits=tuple(made[1:]), notices=())


def check_form(repo: git.Repo, name: str) -> None:
    """Raises UsageError for what cannot name a branch."""
    well_formed = git.asked(repo.root, "check-ref-format", f"refs/heads/{name}").returncode == 0
    if not well_formed or name.startswith(("@", "-")) or name == "HEAD":
        raise UsageError(f"--branch {name!r} cannot name a branch", "use letters, digits, '-' and '/'")


def check_name(repo: git.Repo, name: str) -> None:
    """Raises UsageError for what cannot name a branch, UnableError where there is one of that name."""
    check_form(repo, name)
    known = git.asked(repo.root, "show-ref", "--verify", "--quiet", f"refs/heads/{name}")
    if known.returncode == 0:
        raise UnableError(f"there is a branch {name} already", "choose another name", code="branch-exists")


def _check_fit(done: Done, place: Place, repo: git.Repo, edits: Sequence[Edit]) -> None:
    """Every file of the change is in this repository, may be in it, and is as in HEAD."""
    private = {done.memory.lessons[slug].path for slug in done.memory.private}
    hint = "leave --branch away"
    for edit in edits:
        path = place.in_repo(edit.path)
        if path.startswith("..") or not repo.holds((repo.root / path).parent):
            raise UnableError(f"{edit.path} lies in another repository", hint, code="outside")
        if edit.path in private:
            raise UnableError(f"{path} is private and stays out of git", hint, code="private")
        if git.ignored(repo, [path]):
            raise UnableError(f"git ignores {path}: it stays out of git", hint, code="ignored")
        if git.changed(repo, path):
            raise UnableError(f"{path} is not as in HEAD", f"commit it first, or {hint}", code="dirty-memory")


def _commit(place: Place, repo: git.Repo, row: Plan, parent: str) -> str:
    files = {place.in_repo(edit.path): _entry(repo, place.in_repo(edit.path), edit) for edit in row.edits}
    sign = not place.own_repo and git.signs(repo)
    return plumbing.commit_of(repo, parent, plumbing.Commit(files, plan.message(row), sign=sign))


def _entry(repo: git.Repo, path: str, edit: Edit) -> str:
    """The edit's text as "mode blob"; codifying removes no file."""
    content = (edit.after or "").encode("utf-8", "surrogateescape")
    return git.entry(repo, content, git.at_head(repo, [path])[path], path)
