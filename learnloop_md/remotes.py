"""A repository's remotes: which one is meant, what is known of it, and what its server says."""

from __future__ import annotations

import re
from typing import NamedTuple

from learnloop_md import git
from learnloop_md.errors import UnableError
from learnloop_md.git import GitError, Repo

_SAID_LIMIT = 300  # characters of a server's words


def chosen(repo: Repo, name: str = "") -> str:
    """The remote of this name; without one origin, or the only one. Raises UnableError where there is none."""
    names = git.out(repo.root, "remote").splitlines()
    if name and name not in names:
        known = f"this repository knows {', '.join(names)}" if names else "run: git remote add NAME URL"
        raise UnableError(f"there is no remote {name}", known, code="no-remote")
    if not names:
        raise UnableError("this repository has no remote", "run: git remote add origin URL", code="no-remote")
    if not name and "origin" not in names and len(names) > 1:
        raise UnableError("which remote is meant?", f"name one: {', '.join(names)}", code="no-remote")
    return name or ("origin" if "origin" in names else names[0])


class Known(NamedTuple):
    """What is known of a remote: its branches, the default one ("" for none), and why it could not be asked."""

    heads: dict[str, str]  # the commit of each branch
    default: str
    failed: str = ""


def ask(repo: Repo, remote: str) -> Known:
    """What the remote has, all of it fetched; what was last known of it where it cannot be reached.

    Tracking references outlive what they tell of, and nobody may have set origin/HEAD: the server is asked.
    """
    done = git.call(repo.root, "ls-remote", "--symref", remote, "HEAD", "refs/heads/*", check=False)
    failed = _failure(done.returncode, done.stderr) or _fetch(repo, remote, "")
    if failed:
        return known(repo, remote)._replace(failed=failed)
    rows = [row.split("\t", 1) for row in done.stdout.decode(errors="surrogateescape").splitlines()]
    root = "refs/heads/"
    heads = {name.removeprefix(root): commit for commit, name in rows if name.startswith(root)}
    told = [goal.removeprefix(f"ref: {root}") for goal, name in rows if name == "HEAD" and goal.startswith("ref: ")]
    return Known(heads, _default(heads, *told))


def known(repo: Repo, remote: str) -> Known:
    """What was last known of a remote."""
    root = f"refs/remotes/{remote}/"
    heads = {ref.removeprefix(root): commit for ref, commit in tips(repo, root).items() if ref != f"{root}HEAD"}
    return Known(heads, _default(heads, git.remote_head(repo, remote)))


def tip(repo: Repo, remote: str, there: Known, branch: str) -> str:
    """The newest commit of a remote's branch, "" for none; fetched where the clone follows other branches only."""
    commit = there.heads.get(branch, "")
    if commit and not there.failed and not git.has(repo, [commit]):
        _fetch(repo, remote, f"refs/heads/{branch}")
    return commit if commit and git.has(repo, [commit]) else ""


def _default(heads: dict[str, str], *told: str) -> str:
    return next((name for name in (*told, "main", "master") if name in heads), "")


def _fetch(repo: Repo, remote: str, what: str) -> str:
    words = ["fetch", "--quiet", "--no-write-fetch-head", "--recurse-submodules=no", remote, *([what] if what else [])]
    done = git.call(repo.root, *words, check=False)
    return _failure(done.returncode, done.stderr)


def _failure(code: int, stderr: bytes) -> str:
    return (said(stderr) or f"exit {code}") if code else ""


def tips(repo: Repo, *patterns: str) -> dict[str, str]:
    """The references below these names ("refs/heads/…") and the commit of each."""
    words = ["for-each-ref", "--format=%(refname)%09%(objectname)", *patterns]
    rows = git.out(repo.root, *words).splitlines()
    return dict(row.split("\t", 1) for row in rows)


def push(repo: Repo, remote: str, *refs: str, options: tuple[str, ...] = ()) -> None:
    """Send references. Raises GitError with the server's words in one line."""
    done = git.call(repo.root, "push", *options, remote, *refs, check=False)
    if done.returncode:
        raise GitError(f"{remote} did not take it: {said(done.stderr)}", code="push-failed")


def url(repo: Repo, remote: str) -> str:
    """Where pushes to the remote go, "" where that is not set."""
    return git.call(repo.root, "remote", "get-url", "--push", remote, check=False).stdout.decode().strip()


def said(raw: bytes) -> str:
    """What a server and git said, on one line: the server's own words and the reasons, without advice."""
    lines = [_bare(line) for line in raw.decode(errors="replace").splitlines()]
    told = [line for line in lines if line and not line.startswith(("hint:", "To ", "error: failed to push"))]
    return "; ".join(dict.fromkeys(told))[:_SAID_LIMIT]


def _bare(line: str) -> str:
    """A line without git's marks, and without names or passwords inside an address."""
    line = re.sub(r"^(?:remote:|fatal:)\s*", "", line.strip())
    line = re.sub(r"^!\s*\[(?:remote )?rejected\]\s*\S+ -> \S+\s*", "rejected ", line)
    return re.sub(r"(\w://)[^/@\s]+@", r"\1", " ".join(line.split()))
