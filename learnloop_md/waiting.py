"""Changes that wait for their commit: put off before their files are written, and committed when the moment is good."""

from __future__ import annotations

from learnloop_md import elsewhere, git, guard, store
from learnloop_md.commits import Commits
from learnloop_md.errors import UnableError
from learnloop_md.memory import Memory
from learnloop_md.plan import Plan


def put_off(commits: Commits, plan: Plan) -> None:
    """Queue a plan without writing it: draining writes its files."""
    repo = commits.place.repo
    assert repo is not None, "only called inside a repository"
    commits.hold = "git rebase is about to begin"
    paths = {edit.path: path for edit in plan.edits if (path := commits.place.in_git(edit.path))}
    heads = commits.at_head(list(paths.values()))
    files: dict[str, str | None] = {}
    for edit in plan.edits:
        path = paths.get(edit.path, "")
        if not path or edit.path in commits.private_paths:
            raise UnableError(f"{edit.path} cannot wait for a commit", "run the command after the rebase")
        content = None if edit.after is None else edit.after.encode("utf-8", "surrogateescape")
        files[path] = None if content is None else git.entry(repo, content, heads[path], path)
    commits.enqueue(plan, files, heads, "neither written nor committed yet")


def drain(commits: Commits, loaded: Memory) -> None:
    """Commit what was queued at a bad moment, each change once, unless somebody committed over it since.

    What was made on another branch waits until that one is there again; what is given up is told.
    """
    repo = commits.place.repo
    if repo is None:
        return
    _give_up(commits)
    if not commits.queue:
        return
    wanted = {path: entry for item in commits.queue for path, entry in item["files"].items()}
    if commits.at_head(wanted) == wanted:  # a person committed it all
        commits.queue.clear()
        return
    if why := commits.held(commits.waiting()):
        commits.notices.append(f"{commits.waits}: {why}")
        return
    commits.keep_private(loaded)
    secret = {commits.place.in_repo(path) for path in commits.private_paths}
    while commits.queue:
        item = commits.queue[0]
        heads = commits.at_head(item["files"])
        on_disk = git.on_disk(repo, heads)
        ours = store.owed(item, heads, on_disk, commits.document)
        if ours.keys() & secret or not git.has(repo, [entry.split()[1] for entry in ours.values() if entry]):
            ours = {}  # private by now, or pruned: what may be committed is absorbed as it stands on disk
        if ours:
            reset = {path: entry for path, entry in on_disk.items() if entry == item["was"][path]}
            if document := _document(commits, item, heads, on_disk):
                ours |= document
                reset |= document
            # Another branch or an aborted rebase took the written file back. Before the commit: what HEAD had anew and
            # the disk had not, a command that comes after a kill would take for an edit.
            for path in reset.keys() & ours.keys():
                entry = ours[path]
                store.write(repo.root / path, git.checked_out(repo, path, entry) if entry else None)
            try:
                commits.make(ours, item["message"])
            except git.GitError as error:
                commits.hold = error.message
                commits.notices.append(f"{commits.waits}: {error.message}")
                break
        elif others := [path for path, entry in item["files"].items() if heads[path] != entry]:
            path = next((path for path in others if path != commits.document), "")
            if path or len(item["files"]) == 1:  # else all is there: the document follows
                told = guard.unsecret_path(path or commits.document)
                _tell_dropped(commits, item, f"{told} is another since; what it holds now counts")
        commits.queue.pop(0)
    commits.look_again()


def _document(commits: Commits, item: elsewhere.Item, heads: store.Entries, on_disk: store.Entries) -> store.Entries:
    """HEAD's document with what a change did to another one; nothing where it has that, or a person edits it."""
    from learnloop_md import merging  # lazy: only where HEAD has another document

    place, path = commits.place, commits.document
    assert place.repo is not None, "only called inside a repository"
    now = heads.get(path)
    sides = [item["was"].get(path), now, item["files"].get(path)]
    if None in sides or now in (sides[0], sides[2]) or path in item["below"] or on_disk[path] != now:
        return {}
    try:
        texts = git.blobs(place.repo, [str(side).split()[1] for side in sides])
        merged = merging.merge("notebook" if place.kind == "skill" else "index", place.document, *texts)
    except merging.UnreadableSideError:
        return {}
    if not merged.clean or merged.content is None:
        return {}
    return {path: git.entry(place.repo, merged.content, now, path)}


def _give_up(commits: Commits) -> None:
    """Drop what waits for a branch that is gone: nothing can bring it in any more, and it is told."""
    waits = commits.elsewhere if not commits.hold else []
    for item, why in elsewhere.lost(commits.place, commits.now.head, waits):
        commits.elsewhere.remove(item)
        _tell_dropped(commits, item, why)


def _tell_dropped(commits: Commits, item: elsewhere.Item, why: str) -> None:
    commits.notices.append(f"dropped the queued change {guard.unsecret(elsewhere.subject(item))!r}: {why}")
