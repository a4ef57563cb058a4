"""A repository's remotes: which one is meant, what is known of it, and what its server says."""

from __future__ import annotations

import re

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


def fetch(repo: Repo, remote: str) -> str:
    """Learn what the remote has; why that failed, "" where it did not."""
    words = ["fetch", "--quiet", "--no-write-fetch-head", "--recurse-submodules=no", remote]
    done = git.call(repo.root, *words, check=False)
    return said(done.stderr) or f"exit {done.returncode}" if done.returncode else ""


def branch_tip(repo: Repo, remote: str, branch: str) -> str:
    """The newest commit that is known of a remote's branch, "" where none is."""
    return _commit(repo, f"refs/remotes/{remote}/{branch}")


def default_branch(repo: Repo, remote: str) -> str:
    """The name of the remote's default branch, as told by it, else main or master; "" where none is known."""
    told = git.call(repo.root, "symbolic-ref", "--quiet", f"refs/remotes/{remote}/HEAD", check=False).stdout.decode()
    name = told.strip().removeprefix(f"refs/remotes/{remote}/")
    return next((row for row in (name, "main", "master") if row and branch_tip(repo, remote, row)), "")


def branches(repo: Repo, *patterns: str) -> dict[str, str]:
    """The branches below these names ("refs/heads/…") and the tree of each."""
    rows = git.out(repo.root, "for-each-ref", "--format=%(refname)%09%(tree)", *patterns).splitlines()
    return dict(row.split("\t", 1) for row in rows if row.partition("\t")[2])


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


def _commit(repo: Repo, ref: str) -> str:
    done = git.call(repo.root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", check=False)
    return done.stdout.decode().strip()
