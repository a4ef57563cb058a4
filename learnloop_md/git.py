"""The `git` program, called with a clean environment; every verb the tool needs, and nothing of a person's is swept.

Reads take no optional locks and run no code from the repository's configuration. Commits are made by plumbing: a tree
from a private index, then a compare-and-swap of the branch, then our own entries in the person's index. Measured against
ten other ways, this one lost no lesson and swept no staged file.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from learnloop_md.errors import UnableError

# What `git rev-parse --local-env-vars` prints; a surrounding git hook exports them and they would lead us astray.
LOCAL_ENVIRONMENT = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT GIT_OBJECT_DIRECTORY GIT_DIR "
    "GIT_WORK_TREE GIT_IMPLICIT_WORK_TREE GIT_GRAFT_FILE GIT_INDEX_FILE GIT_NO_REPLACE_OBJECTS GIT_REPLACE_REF_BASE "
    "GIT_PREFIX GIT_SHALLOW_FILE GIT_COMMON_DIR"
).split()
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.quotepath=false", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")
_LOCK_WAIT_S = 2.0


class GitError(UnableError):
    """git said no."""

    code = "git"


class Repo(NamedTuple):
    """A repository with a work tree: its root, its own git directory and the one shared by all work trees."""

    root: Path
    git_dir: Path
    common_dir: Path

    @property
    def is_linked_worktree(self) -> bool:
        return self.git_dir != self.common_dir

    @property
    def main_root(self) -> Path:
        """The root of the main checkout, also seen from a linked worktree."""
        return self.common_dir.parent if self.is_linked_worktree and self.common_dir.name == ".git" else self.root


def environment() -> dict[str, str]:
    """This process's environment without what a surrounding git hook put there."""
    env = {key: value for key, value in os.environ.items() if key not in LOCAL_ENVIRONMENT}
    return {**env, "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C.UTF-8"}


def call(
    where: Path, *args: str, given: bytes | None = None, extra: Mapping[str, str] | None = None, check: bool = True
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder. Raises GitError with git's last line unless check is off."""
    env = {**environment(), **(extra or {})}
    try:
        done = subprocess.run(["git", *_SAFE, *args], cwd=where, input=given, capture_output=True, env=env, check=False)
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror}", "install git, or work without it", code="no-git") from error
    if check and done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(f"git {args[0]} failed: {said[-1] if said else f'exit {done.returncode}'}")
    return done


def out(where: Path, *args: str) -> str:
    """What git prints, without the last line end."""
    return call(where, *args).stdout.decode(errors="surrogateescape").rstrip("\n")


def find(folder: Path) -> Repo | None:
    """The repository that holds folder (which need not exist yet), or None.

    Raises UnableError for a repository that may not be used: bare, or owned by somebody else.
    """
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    try:
        done = call(
            folder, "rev-parse", "--is-bare-repository", "--absolute-git-dir", "--git-common-dir", "--show-toplevel", check=False
        )
    except GitError as error:
        if error.code == "no-git":
            return None
        raise
    lines = done.stdout.decode(errors="surrogateescape").splitlines()
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        if "dubious ownership" in said:
            hint = f"run: git config --global --add safe.directory {folder}"
            raise GitError("git does not trust this repository: somebody else owns it", hint, code="unsafe-directory")
        if lines[:1] == ["true"]:
            raise GitError("this is a bare repository: it has no files to work on", "use a clone of it", code="bare-repository")
        if "not a git repository" in said or "must be run in a work tree" in said:
            return None
        raise GitError(f"git cannot read this repository: {said.strip().splitlines()[-1] if said.strip() else '?'}")
    if lines[0] == "true":
        raise GitError("this is a bare repository: it has no files to work on", "use a clone of it", code="bare-repository")
    git_dir, common, root = lines[1], lines[2], lines[3]
    return Repo(Path(root), Path(git_dir), (folder / common).resolve())


def head(repo: Repo) -> str:
    """The commit that HEAD names, "" before the first commit."""
    done = call(repo.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False)
    return done.stdout.decode().strip()


def author(where: Path) -> str:
    """The name git would write into a commit here, "" without one."""
    done = call(where, "var", "GIT_AUTHOR_IDENT", check=False)
    return done.stdout.decode(errors="replace").partition(" <")[0].strip() if not done.returncode else ""


def has_remote(repo: Repo) -> bool:
    return bool(out(repo.root, "remote"))


def changed(repo: Repo, folder: str) -> dict[str, str]:
    """Paths below folder that differ from HEAD, each with its two status letters; `??` are untracked."""
    raw = call(repo.root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", folder or ".").stdout
    rows = raw.decode(errors="surrogateescape").split("\0")
    return {row[3:]: row[:2] for row in rows if row}


def ignored_by(repo: Repo, path: str) -> str:
    """The rule (`file:line:pattern`) by which git ignores a path, "" where it does not."""
    done = call(repo.root, "check-ignore", "-v", "--no-index", "--", path, check=False)
    rule = done.stdout.decode(errors="replace").partition("\t")[0]
    return "" if rule.rpartition(":")[2].startswith("!") else rule


def tracked(repo: Repo, *paths: str) -> list[str]:
    """Those of the paths (or the files below them) that are in the index."""
    raw = call(repo.root, "ls-files", "-z", "--", *paths).stdout.decode(errors="surrogateescape")
    return [path for path in raw.split("\0") if path]


def exclude(repo: Repo, path: str) -> bool:
    """Keep a path out of git in this clone alone; False where it is kept out already."""
    if ignored_by(repo, path):
        return False
    file = repo.common_dir / "info" / "exclude"
    rule = "/" + "".join("\\" + c if c in "*?[]\\!# " else c for c in path)
    text = file.read_text("utf-8") if file.exists() else ""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + ("" if not text or text.endswith("\n") else "\n") + rule + "\n", "utf-8")
    return True


def staged(repo: Repo, folder: str) -> dict[str, bytes]:
    """What is staged below folder: path to content. Inside a hook, the index that the hook's commit uses."""
    inside = os.environ.get("GIT_INDEX_FILE")
    extra = {"GIT_INDEX_FILE": str((repo.root / inside).resolve())} if inside else None
    raw = call(repo.root, "ls-files", "-s", "-z", "--", folder or ".", extra=extra).stdout.decode(errors="surrogateescape")
    rows = [row.partition("\t") for row in raw.split("\0") if row]
    oids = {path: meta.split()[1] for meta, _, path in rows if meta.split()[0].startswith("100")}
    return dict(zip(oids, blobs(repo, list(oids.values())), strict=True))


def tree(repo: Repo, revision: str, folder: str) -> dict[str, bytes]:
    """The files below folder in a commit: path to content."""
    raw = call(repo.root, "ls-tree", "-r", "-z", revision, "--", folder or ".").stdout.decode(errors="surrogateescape")
    rows = [row.partition("\t") for row in raw.split("\0") if row]
    oids = {path: meta.split()[2] for meta, _, path in rows if meta.split()[1] == "blob" and meta.startswith("100")}
    return dict(zip(oids, blobs(repo, list(oids.values())), strict=True))


def blobs(repo: Repo, names: Sequence[str]) -> list[bytes]:
    """The contents of objects, by id or `revision:path`; empty where there is none."""
    if not names:
        return []
    raw = call(repo.root, "cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode()).stdout
    found, at = [], 0
    for _ in names:
        line_end = raw.index(b"\n", at)
        words = raw[at:line_end].split()
        at = line_end + 1
        if words[-1] == b"missing" or len(words) < 3:
            found.append(b"")
            continue
        size = int(words[2])
        found.append(raw[at : at + size])
        at += size + 1
    return found


def moment(repo: Repo, *, own: bool) -> str:
    """Why no commit should be made now, "" where one may (design §6). own: the repository is the memory's own."""
    if os.environ.get("GIT_INDEX_FILE") or os.environ.get("PRE_COMMIT"):
        return "a git hook is running"
    for name, what in (
        ("MERGE_HEAD", "a merge"),
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
        ("REVERT_HEAD", "a revert"),
        ("BISECT_LOG", "a bisect"),
    ):
        if (repo.git_dir / name).exists():
            return f"{what} is in progress"
    branch = call(repo.root, "symbolic-ref", "--quiet", "HEAD", check=False).stdout.decode().strip()
    if not branch:
        return "HEAD is detached"
    if not own and not head(repo):
        return "the repository has no commit yet"
    if not own and call(repo.root, "var", "GIT_COMMITTER_IDENT", check=False).returncode:
        return "git knows no name and e-mail to commit with (git config user.name, user.email)"
    return ""


def default_branch(repo: Repo) -> str:
    """The short name of the remote's default branch, else main or master where one exists, else ""."""
    remote = call(repo.root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD", check=False).stdout.decode().strip()
    if remote:
        return remote.partition("/")[2]
    names = out(repo.root, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()
    return next((name for name in ("main", "master") if name in names), "")


def branch(repo: Repo) -> str:
    """The short name of the checked-out branch, "" when detached."""
    return call(repo.root, "symbolic-ref", "--quiet", "--short", "HEAD", check=False).stdout.decode().strip()


def write_blob(repo: Repo, path: str, content: bytes) -> str:
    """Store content as the blob of path (through the path's filters) and give its id."""
    done = call(repo.root, "hash-object", "-w", "--stdin", "--path", path, given=content)
    return done.stdout.decode().strip()


def commit(repo: Repo, files: Mapping[str, str | None], message: str, *, own: bool) -> str:
    """Commit exactly these paths (blob id, or None for a removal) on the current branch; "" when HEAD has them all.

    The person's staged work stays: only our own entries of the index change, and only while its lock is ours.
    Raises GitError when the index stays locked or the branch moved.
    """
    parent = head(repo)
    identity = _identity(repo, own)
    tree_id = _tree_with(repo, parent, files)
    if parent and tree_id == out(repo.root, "rev-parse", f"{parent}^{{tree}}"):
        _sync_index(repo, files, lambda: None)
        return ""
    args = ["commit-tree", tree_id, *(["-p", parent] if parent else []), "-F", "-"]
    new = call(repo.root, *args, given=message.encode(), extra=identity).stdout.decode().strip()
    subject = message.partition("\n")[0]
    zero = "0" * len(new)
    _sync_index(
        repo,
        files,
        lambda: call(repo.root, "update-ref", "-m", f"commit: {subject}", "HEAD", new, parent or zero, extra=identity),
    )
    return new


def _identity(repo: Repo, own: bool) -> dict[str, str]:
    if own and call(repo.root, "var", "GIT_COMMITTER_IDENT", check=False).returncode:
        name, mail = "learnloop", "learnloop@localhost"
        return {f"GIT_{role}_{what}": v for role in ("AUTHOR", "COMMITTER") for what, v in (("NAME", name), ("EMAIL", mail))}
    return {}


def _index_lines(files: Mapping[str, str | None], zero: str) -> bytes:
    rows = [f"100644 {oid}\t{path}" if oid else f"0 {zero}\t{path}" for path, oid in files.items()]
    return "".join(row + "\0" for row in rows).encode(errors="surrogateescape")


def _tree_with(repo: Repo, parent: str, files: Mapping[str, str | None]) -> str:
    private = repo.git_dir / f"learnloop-index-{os.getpid()}"
    extra = {"GIT_INDEX_FILE": str(private)}
    try:
        call(repo.root, "read-tree", *([parent] if parent else ["--empty"]), extra=extra)
        zero = "0" * (len(parent) or 40)
        call(repo.root, "update-index", "-z", "--index-info", given=_index_lines(files, zero), extra=extra)
        return call(repo.root, "write-tree", extra=extra).stdout.decode().strip()
    finally:
        private.unlink(missing_ok=True)


def _sync_index(repo: Repo, files: Mapping[str, str | None], swap: object) -> None:
    """Move the branch and our entries of the person's index together, holding git's own lock on the index."""
    index, lock = repo.git_dir / "index", repo.git_dir / "index.lock"
    copy = repo.git_dir / f"learnloop-index-{os.getpid()}"
    _take_lock(lock)
    try:
        if index.exists():
            copy.write_bytes(index.read_bytes())
        zero = "0" * (len(next((oid for oid in files.values() if oid), "")) or 40)
        extra = {"GIT_INDEX_FILE": str(copy)}
        call(repo.root, "update-index", "-z", "--index-info", given=_index_lines(files, zero), extra=extra)
        call(repo.root, "update-index", "-q", "--refresh", "--", *files, extra=extra, check=False)
        assert callable(swap)
        swap()
        os.replace(copy, index)
    finally:
        copy.unlink(missing_ok=True)
        lock.unlink(missing_ok=True)


def _take_lock(lock: Path) -> None:
    deadline = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError as error:
            if time.monotonic() > deadline:
                hint = "wait for the other git command, or remove the lock if none is running"
                raise GitError(f"git's index is locked ({lock})", hint, code="index-locked") from error
            time.sleep(0.02)
        else:
            os.write(handle, f"learnloop-lock pid={os.getpid()}\n".encode())
            os.close(handle)
            return
