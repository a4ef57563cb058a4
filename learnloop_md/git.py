"""The `git` program, called with a clean environment: every look at a repository that the tool needs.

They take no optional locks and run no code from the repository's configuration but the filters of its attributes
(git-crypt, LFS), which may not be passed by.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from learnloop_md.errors import UnableError
from learnloop_md.repos import Repo as Repo  # noqa: PLC0414 - it is named git.Repo by all who ask git

if TYPE_CHECKING:
    import subprocess  # lazy: Claude's hooks read, and start nothing

# What `git rev-parse --local-env-vars` prints; a surrounding git hook exports them and they would lead us astray.
LOCAL_ENVIRONMENT = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT "
    "GIT_OBJECT_DIRECTORY GIT_DIR GIT_WORK_TREE GIT_IMPLICIT_WORK_TREE GIT_GRAFT_FILE GIT_INDEX_FILE "
    "GIT_NO_REPLACE_OBJECTS GIT_REPLACE_REF_BASE GIT_PREFIX GIT_INTERNAL_SUPER_PREFIX GIT_SHALLOW_FILE "
    "GIT_COMMON_DIR"
).split()  # newer versions of git no longer know GIT_INTERNAL_SUPER_PREFIX
_SAFE = {
    "core.fsmonitor": "false",
    "core.quotepath": "false",
    "core.hooksPath": "/dev/null",
    "core.safecrlf": "false",  # it would refuse the blob of a file that is written already
    "gc.auto": "0",
}
_OWN_NAME, _OWN_MAIL = "learnloop", "learnloop@localhost"
NOBODY = {
    "GIT_AUTHOR_NAME": _OWN_NAME,
    "GIT_AUTHOR_EMAIL": _OWN_MAIL,
    "GIT_COMMITTER_NAME": _OWN_NAME,
    "GIT_COMMITTER_EMAIL": _OWN_MAIL,
}  # who commits in a memory's own repository where git knows nobody


class GitError(UnableError):
    """git said no."""

    code = "git"


class Status(NamedTuple):
    """How the files below a folder stand against HEAD."""

    head: str  # the commit, "" before the first one
    branch: str  # "" when detached
    paths: dict[str, str]  # those that differ, each with git's two status letters; `??` are untracked


def environment() -> dict[str, str]:
    """This process's environment without what a surrounding git hook put there."""
    env = {key: value for key, value in os.environ.items() if key not in LOCAL_ENVIRONMENT}
    return {**env, "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C.UTF-8"}


@contextmanager
def scrubbed() -> Iterator[None]:
    """This process without what a surrounding git hook put into its environment (GitPython copies os.environ)."""
    kept = {key: os.environ.pop(key) for key in LOCAL_ENVIRONMENT if key in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


def safe_environment() -> dict[str, str]:
    """Variables by which somebody else's calls of git (GitPython's) run no code of the configuration either."""
    env = {"GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1", "GIT_CONFIG_COUNT": str(len(_SAFE))}
    for number, (key, value) in enumerate(_SAFE.items()):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env


def call(
    where: Path,
    *args: str,
    given: bytes | None = None,
    extra: Mapping[str, str] | None = None,
    check: bool = True,
    limit_s: float | None = None,
    hooks: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder. Raises GitError with git's last line unless check is off.

    With a limit it runs without a terminal, and is ended when the time is up. hooks leaves the person's own in force.
    """
    import subprocess

    env = {**environment(), **(extra or {})}
    words = _words(args, hooks=hooks)
    try:
        if limit_s is None:
            done = subprocess.run(words, cwd=where, input=given, capture_output=True, env=env, check=False)
        else:
            done = _limited(words, where, given or b"", env, limit_s)
    except subprocess.TimeoutExpired as error:
        raise GitError(f"git {args[0]} took more than {limit_s:g} s") from error
    except OSError as error:
        raise _not_run(error) from error
    if check and done.returncode:
        raise failed(args[0], done.stderr, done.returncode)
    return done


def asked(where: Path, *args: str, extra: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    """What git answers where exit code 1 is an answer too: no, or nothing found.

    Raises GitError for every other failure, which would else be taken for a no.
    """
    done = call(where, *args, extra=extra, check=False)
    if done.returncode not in (0, 1):
        raise failed(args[0], done.stderr, done.returncode)
    return done


def start(where: Path, *args: str, extra: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """git in a folder as a process to talk with, without buffers. Raises GitError where it cannot be started."""
    import subprocess

    pipe, env = subprocess.PIPE, {**environment(), **(extra or {})}
    try:
        return subprocess.Popen(_words(args), cwd=where, stdin=pipe, stdout=pipe, stderr=pipe, env=env, bufsize=0)
    except OSError as error:
        raise _not_run(error) from error


def failed(command: str, said: bytes, code: int) -> GitError:
    """The error of a git that failed: its reason (advice may follow it), else its last line, else its exit code."""
    rows = said.decode(errors="replace").strip().splitlines()
    reasons = [row for row in rows if row.startswith("fatal: ")] or rows
    return GitError(f"git {command} failed: {reasons[-1] if reasons else f'exit {code}'}")


def _words(args: Sequence[str], *, hooks: bool = False) -> list[str]:
    held = {key: value for key, value in _SAFE.items() if not (hooks and key == "core.hooksPath")}
    return ["git", *(word for key, value in held.items() for word in ("-c", f"{key}={value}")), *args]


def _not_run(error: OSError) -> GitError:
    return GitError(f"git cannot be run: {error.strerror}", "install git, or work without it", code="no-git")


def _limited(
    words: list[str], where: Path, given: bytes, env: Mapping[str, str], limit_s: float
) -> subprocess.CompletedProcess[bytes]:
    """A program without a terminal; when its time is up, whatever it started ends with it."""
    import subprocess

    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, cwd=where, stdin=pipe, stdout=pipe, stderr=pipe, env=env, start_new_session=True
    ) as started:
        try:
            printed, said = started.communicate(given, limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(words, started.returncode, printed, said)


def out(where: Path, *args: str) -> str:
    """What git prints, without the last line end."""
    return call(where, *args).stdout.decode(errors="surrogateescape").rstrip("\n")


def _unless_gone(
    repo: Repo, done: subprocess.CompletedProcess[bytes], name: str, *commits: str
) -> subprocess.CompletedProcess[bytes]:
    """What git answered; where it failed though these commits are there, it has not answered. Raises GitError then."""
    if done.returncode not in (0, 1) and has(repo, commits):
        raise failed(name, done.stderr, done.returncode)
    return done


def find(folder: Path) -> Repo | None:
    """The repository that holds folder (which need not exist yet), or None.

    Raises UnableError for a repository that may not be used: bare, or owned by somebody else.
    """
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    try:
        done = call(
            folder,
            "rev-parse",
            "--is-bare-repository",
            "--absolute-git-dir",
            "--git-common-dir",
            "--show-toplevel",
            check=False,
        )
    except GitError as error:
        if error.code == "no-git" and not any((parent / ".git").exists() for parent in (folder, *folder.parents)):
            return None  # else a memory in git would be worked on as if it had no history
        raise
    lines = done.stdout.decode(errors="surrogateescape").splitlines()
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        if "dubious ownership" in said:
            hint = f"run: git config --global --add safe.directory {folder}"
            raise GitError("git does not trust this repository: somebody else owns it", hint, code="unsafe-directory")
        if lines[:1] == ["true"]:
            raise GitError(
                "this is a bare repository: it has no files to work on",
                "use a clone of it",
                code="bare-repository",
            )
        if "not a git repository" in said or "must be run in a work tree" in said:
            return None
        raise GitError(f"git cannot read this repository: {said.strip().splitlines()[-1] if said.strip() else '?'}")
    if lines[0] == "true":
        raise GitError(
            "this is a bare repository: it has no files to work on",
            "use a clone of it",
            code="bare-repository",
        )
    git_dir, common, root = lines[1], lines[2], lines[3]
    return Repo(Path(root), Path(git_dir), (folder / common).resolve())


def head(repo: Repo) -> str:
    """The commit that HEAD names, "" before the first commit."""
    done = asked(repo.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return done.stdout.decode().strip()


def resolve(repo: Repo, revision: str) -> str:
    """The commit that a revision names, "" for none."""
    args = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    done = call(repo.root, *args, check=False)
    if done.returncode not in (0, 1) and "@{" not in revision:  # of what a reflog does not hold git says 128
        raise failed(args[0], done.stderr, done.returncode)
    found = "" if done.returncode else done.stdout.decode().strip()  # of a range git says no, and prints it
    return "" if found.startswith("^") else found  # `^base` is all that is not in base


def is_shallow(repo: Repo) -> bool:
    """Whether the clone's history was cut off."""
    return (repo.common_dir / "shallow").exists()


def cut_off(repo: Repo) -> frozenset[str]:
    """The commits at which the history was cut off: git shows all that they hold as added by them."""
    return frozenset(_own_file(repo, "shallow").decode("ascii", "replace").split()) | _grafted(repo)


def _own_file(repo: Repo, name: str) -> bytes:
    """A file of git's own, empty where there is none."""
    try:
        return (repo.common_dir / name).read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise GitError(f"git's own file {name} cannot be read: {error}") from error


def _grafted(repo: Repo) -> frozenset[str]:
    """The commits that have parents which git does not show (git replace, info/grafts).

    git is asked only where something is replaced: that is rare, and its files tell.
    """
    asked_for = _ID.findall(_own_file(repo, "info/grafts").decode("ascii", "replace"))
    loose, tables = ((repo.common_dir / name).is_dir() for name in ("refs/replace", "reftable"))
    if loose or tables or b" refs/replace/" in _own_file(repo, "packed-refs"):
        asked_for += out(repo.root, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/replace/").split()
    if not asked_for:
        return frozenset()
    shown = _parents(repo, asked_for)
    real = _parents(repo, asked_for, {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull})
    return frozenset(commit for commit, parents in real.items() if parents - shown.get(commit, set()))


def _parents(repo: Repo, ids: Sequence[str], extra: Mapping[str, str] | None = None) -> dict[str, set[str]]:
    """The parents of those ids that are commits'."""
    args = ["rev-list", "--no-walk", "--parents", "--ignore-missing", "--stdin"]
    listed = call(repo.root, *args, given="".join(f"{word}\n" for word in ids).encode(), extra=extra).stdout
    rows = (row.split() for row in listed.decode().splitlines())
    return {row[0]: set(row[1:]) for row in rows if row}


_ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


def too_shallow(repo: Repo | None, what: str) -> UnableError:
    """What to say where only a commit before those that the history holds could tell."""
    if repo is None or is_shallow(repo):
        return UnableError(f"this clone is shallow: {what}", "run: git fetch --unshallow", code="shallow-clone")
    grafts = sorted(_grafted(repo))
    undo = "".join(f" {commit}" for commit in grafts if _is_replaced(repo, commit))
    hint = f"run: git replace -d{undo}" if undo else "take its lines out of info/grafts in git's folder"
    return UnableError(f"a graft hides a part of the history: {what}", hint, code="grafted")


def _is_replaced(repo: Repo, commit: str) -> bool:
    return asked(repo.root, "show-ref", "--verify", "--quiet", f"refs/replace/{commit}").returncode == 0


def is_sparse(repo: Repo) -> bool:
    """Whether only a part is checked out: what is not there is not gone."""
    return (repo.git_dir / "info" / "sparse-checkout").exists()


def head_id(where: Path) -> str:
    """The commit that HEAD names in a folder that has one."""
    return out(where, "rev-parse", "HEAD")


def author(where: Path) -> str:
    """The name git would write into a commit here, "" where it knows none."""
    done = call(where, "var", "GIT_AUTHOR_IDENT", check=False)
    if done.returncode:
        if b"auto-detect" in done.stderr or b"ident name" in done.stderr:
            return ""
        raise GitError(f"git var failed: {done.stderr.decode(errors='replace').strip() or done.returncode}")
    return done.stdout.decode(errors="replace").partition(" <")[0].strip()


def last_authors(repo: Repo, folder: str) -> dict[str, str]:
    """Who made the newest commit of each file in a folder, by name; not of files that are not committed.

    Of what the oldest commit of a shallow clone holds nobody knows: it is nobody's own.
    """
    if not head(repo):
        return {}
    raw = call(
        repo.root, "log", "--format=%x01%H%an", "--name-only", "--no-renames", "-z", "HEAD", "--", folder or "."
    ).stdout
    found: dict[str, str] = {}
    name, cut, width = "", cut_off(repo), len(head(repo))
    for word in raw.decode(errors="surrogateescape").split("\0"):
        said = word.lstrip("\n")
        if said.startswith("\x01"):
            name = _UNTOLD if said[1 : width + 1] in cut else said[width + 1 :]
        elif said:
            found.setdefault(said, name)
    return found


def line_authors(repo: Repo, path: str) -> list[str]:
    """Who committed each line of a file as it stands on disk, by name; "" for lines that no commit has."""
    if not head(repo) or at_head(repo, [path])[path] is None:
        return []
    raw = call(repo.root, "blame", "--porcelain", "--ignore-revs-file", "", "--", path).stdout
    lines = [row.partition(b" ")[0].decode() for row in raw.split(b"\n") if _BLAMED.match(row)]
    commits = sorted({commit for commit in lines if commit.strip("0")})
    if not commits:
        return [""] * len(lines)
    # blame itself would ask .mailmap, in which whoever commits may give their lines to another.
    told = call(repo.root, "log", "--no-walk", "--no-mailmap", "--format=%H %an", *commits, "--").stdout
    names = dict(row.split(" ", 1) for row in told.decode(errors="surrogateescape").split("\n") if row)
    names |= dict.fromkeys(cut_off(repo), _UNTOLD)
    return [names.get(commit, "") for commit in lines]


_UNTOLD = "somebody (the history is cut off)"
_BLAMED = re.compile(rb"[0-9a-f]{40,64} \d+ \d+")  # what stands above each line, which begins with a tab


def signs(repo: Repo) -> bool:
    """Whether the person's commits here are to be signed."""
    return asked(repo.root, "config", "--type=bool", "commit.gpgsign").stdout.strip() == b"true"


def has_remote(repo: Repo) -> bool:
    return bool(out(repo.root, "remote"))


_FIELDS = {"1": 8, "u": 10}  # what stands before the path in `git status --porcelain=v2`


def status(repo: Repo, folder: str, *more: str) -> Status:
    """HEAD, the branch, and the paths below folder (and some more) that differ from HEAD, in one call."""
    args = ["--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"]
    raw = call(repo.root, "status", *args, "--", folder or ".", *more).stdout.decode(errors="surrogateescape")
    heads: dict[str, str] = {}
    paths: dict[str, str] = {}
    for row in filter(None, raw.split("\0")):
        kind, _, rest = row.partition(" ")
        if kind == "#":
            key, _, value = rest.partition(" ")
            heads[key] = value
        elif kind == "?":
            paths[rest] = f"{paths[rest][0]}?" if rest in paths else "??"  # removed from the index, still on disk
        else:
            words = row.split(" ", _FIELDS[kind])
            paths[words[-1]] = words[1].replace(".", " ")
    commit, name = heads["branch.oid"], heads["branch.head"]
    return Status("" if commit == "(initial)" else commit, "" if name == "(detached)" else name, paths)


def changed(repo: Repo, folder: str) -> dict[str, str]:
    """Paths below folder that differ from HEAD, each with its two status letters; `??` are untracked."""
    return status(repo, folder).paths


class Rule(NamedTuple):
    """A line of an ignore file."""

    file: str
    line: int
    pattern: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.pattern}"


def ignored(repo: Repo, paths: Sequence[str], *, at: Path | None = None) -> dict[str, Rule]:
    """Those of the paths that git ignores, each with the rule; `at` is another folder that is read as the work tree."""
    if not paths:
        return {}
    where = ["--git-dir", str(repo.git_dir), "--work-tree", str(at)] if at else []
    # This command alone does not take literal pathspecs; "./" keeps a leading ":" from being magic.
    given = "".join(f"./{path}\0" for path in paths).encode(errors="surrogateescape")
    args = [*where, "check-ignore", "-v", "-z", "--no-index", "--stdin"]
    done = call(at or repo.root, *args, given=given, extra={"GIT_LITERAL_PATHSPECS": "0"}, check=False)
    if done.returncode > 1:
        raise GitError(f"git check-ignore failed: {done.stderr.decode(errors='replace').strip()}")
    words = done.stdout.decode(errors="surrogateescape").split("\0")
    rows = [words[n : n + 4] for n in range(0, len(words) - 3, 4)]
    return {path[2:]: Rule(file, int(line), rule) for file, line, rule, path in rows if rule[0] != "!"}


def ignored_by(repo: Repo, path: str) -> str:
    """The rule (`file:line:pattern`) by which git ignores a path, "" where it does not."""
    return str(ignored(repo, [path]).get(path, ""))


def tracked(repo: Repo, *paths: str) -> list[str]:
    """Those of the paths (or the files below them) that are in the index."""
    raw = call(repo.root, "ls-files", "-z", "--", *paths).stdout.decode(errors="surrogateescape")
    return [path for path in raw.split("\0") if path]


def exclude(repo: Repo, path: str) -> bool:
    """Keep a path out of git in this clone alone; False where it is kept out already."""
    if ignored_by(repo, path):
        return False
    file = repo.common_dir / "info" / "exclude"
    rule = _exclude_rule(path)
    text = file.read_text("utf-8", "surrogateescape") if file.exists() else ""
    if "\0" in text:
        raise GitError(f"{file} is not UTF-8 text: save it as UTF-8 first")
    file.parent.mkdir(parents=True, exist_ok=True)
    gap = "" if not text or text.endswith("\n") else "\n"
    file.write_text(f"{text}{gap}{rule}\n", "utf-8", "surrogateescape")
    return True


def _exclude_rule(path: str) -> str:
    return "/" + "".join("\\" + c if c in "*?[]\\!# " else c for c in path)


def excluded(repo: Repo, paths: Sequence[str]) -> list[str]:
    """Those of the paths that `exclude` keeps out of git here."""
    file = repo.common_dir / "info" / "exclude"
    rules = set(file.read_text("utf-8", "surrogateescape").split("\n")) if paths and file.exists() else set[str]()
    return [path for path in paths if _exclude_rule(path) in rules]


def include(repo: Repo, path: str) -> None:
    """Take back what `exclude` did."""
    file = repo.common_dir / "info" / "exclude"
    lines = file.read_text("utf-8", "surrogateescape").split("\n")
    kept = "\n".join(line for line in lines if line != _exclude_rule(path))
    file.write_text(kept, "utf-8", "surrogateescape")


def recent_messages(repo: Repo) -> set[str]:
    """The messages of the commits that HEAD named lately, whether or not it still leads to them."""
    done = call(repo.root, "log", "-g", "-n", "100", "--format=%B%x00", "HEAD", "--", check=False)
    said = _unless_gone(repo, done, "log", "HEAD").stdout
    return {row.strip() for row in said.decode(errors="surrogateescape").split("\0")}


def merged_sides(repo: Repo, since: str) -> list[str]:
    """The sides of the merge in progress and of the merges since a commit, newest first, of each our own side last."""
    sides = ["MERGE_HEAD", "HEAD"] if (repo.git_dir / "MERGE_HEAD").exists() else []
    if since and is_ancestor(repo, since, "HEAD"):
        sides += merges(repo, f"{since}..HEAD")
    return sides


def merges(repo: Repo, revision: str) -> list[str]:
    """The sides of the newest merges, of each our own side last."""
    rows = out(repo.root, "rev-list", "--merges", "--parents", "--max-count=5", revision).splitlines()
    return [side for row in rows for side in (*row.split()[2:], row.split()[1])]


def attribute(repo: Repo, name: str, path: str) -> str:
    """What the attributes of a path say, in the words of git check-attr."""
    return out(repo.root, "check-attr", "-z", name, "--", path).split("\0")[2]


def filter_of(repo: Repo, path: str) -> str:
    """The filter that the attributes of a path name, "" for none."""
    said = attribute(repo, "filter", path)
    return "" if said in ("unspecified", "unset", "set") else said


def checked_out(repo: Repo, path: str, entry: str) -> bytes:
    """What a checkout would write for "mode blob" at a path, through the path's filters."""
    return call(repo.root, "cat-file", "--filters", f"--path={path}", entry.split()[1]).stdout


def staged(repo: Repo, folder: str) -> dict[str, bytes]:
    """What is staged below folder: path to content. Inside a hook, the index that the hook's commit uses."""
    inside = os.environ.get("GIT_INDEX_FILE")
    extra = {"GIT_INDEX_FILE": str((repo.root / inside).resolve())} if inside else None
    raw = call(repo.root, "ls-files", "-s", "-z", "--", folder or ".", extra=extra).stdout.decode(
        errors="surrogateescape"
    )
    rows = [row.partition("\t") for row in raw.split("\0") if row]
    oids = {path: meta.split()[1] for meta, _, path in rows if meta.split()[0].startswith("100")}
    return dict(zip(oids, blobs(repo, list(oids.values())), strict=True))


def tree(repo: Repo, revision: str, folder: str) -> dict[str, bytes]:
    """The files below folder in a commit: path to content."""
    found = entries(repo, revision, [folder or "."], check=True)
    oids = {path: entry.split()[1] for path, entry in found.items() if entry.startswith("100")}
    return dict(zip(oids, blobs(repo, list(oids.values())), strict=True))


def blobs(repo: Repo, names: Sequence[str]) -> list[bytes]:
    """The contents of objects, by id or `revision:path`; empty where there is none."""
    if not names:
        return []
    raw = call(
        repo.root, "cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode(errors="surrogateescape")
    ).stdout
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


_UNFINISHED = (
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a cherry-pick or revert"),
    ("BISECT_LOG", "a bisect"),
)


def unfinished(repo: Repo) -> str:
    """The operation of git that waits to be continued, as "a merge"; "" for none."""
    return next((what for name, what in _UNFINISHED if (repo.git_dir / name).exists()), "")


def moment(repo: Repo, now: Status, *, own: bool, known: bool, after_commit: bool = False) -> str:
    """Why no commit should be made now, "" where one may (design §6).

    own: the repository is the memory's own, where the first commit and one by nobody are fine; known: git knows a name;
    after_commit: we are the post-commit hook, whose commit is done.
    """
    if not after_commit and (os.environ.get("GIT_INDEX_FILE") or os.environ.get("PRE_COMMIT")):
        return "a git hook is running"
    if operation := unfinished(repo):
        return f"{operation} is in progress"
    if not now.branch:
        return "HEAD is detached"
    if not own and not now.head:
        return "the repository has no commit yet"
    if not own and not known:
        return "git knows no name and e-mail to commit with (git config user.name, user.email)"
    return ""


def branch(repo: Repo) -> str:
    """The branch that is checked out, "" where HEAD is detached."""
    return _named(repo, "HEAD", "refs/heads/")


def remote_head(repo: Repo, remote: str) -> str:
    """The short name of a remote's default branch as the clone knows it, "" where it does not."""
    return _named(repo, f"refs/remotes/{remote}/HEAD", f"refs/remotes/{remote}/")


def _named(repo: Repo, symbolic: str, below: str) -> str:
    said = asked(repo.root, "symbolic-ref", "--quiet", symbolic).stdout
    return said.decode(errors="surrogateescape").strip().removeprefix(below)


def default_branch(repo: Repo) -> str:
    """The short name of the remote's default branch, else main or master where one exists, else ""."""
    if remote := remote_head(repo, "origin"):
        return remote
    names = out(repo.root, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()
    return next((name for name in ("main", "master") if name in names), "")


def at_head(repo: Repo, paths: Sequence[str]) -> dict[str, str | None]:
    """What HEAD has under each path, as "mode blob"; None where it has nothing."""
    found = entries(repo, "HEAD", paths)
    return {path: found.get(path) for path in paths}


def entries(
    repo: Repo, revision: str, paths: Sequence[str], *, extra: Mapping[str, str] | None = None, check: bool = False
) -> dict[str, str]:
    """What a commit has under these paths and below them, as "mode blob".

    Where there is no such commit nothing, or GitError with check; GitError where git fails otherwise.
    """
    done = call(repo.root, "ls-tree", "-r", "-z", revision, "--", *paths, extra=extra, check=check)
    _unless_gone(repo, done, "ls-tree", revision)
    rows = [row.partition("\t") for row in done.stdout.decode(errors="surrogateescape").split("\0") if row]
    return {path: " ".join(meta.split()[::2]) for meta, _, path in rows}


Delta = tuple[str | None, str | None]  # a path's "mode blob" before and after


def deltas(repo: Repo, old: str, new: str, *paths: str) -> dict[str, Delta]:
    """The paths (of these and below them, or of all) that differ between two commits; an old one of "" is none."""
    before = old or call(repo.root, "mktree", given=b"").stdout.decode().strip()
    raw = call(repo.root, "diff-tree", "-r", "-z", "--no-renames", before, new, "--", *paths).stdout
    words = raw.decode(errors="surrogateescape").split("\0")
    found: dict[str, Delta] = {}
    for meta, path in zip(words[::2], words[1::2], strict=False):
        old_mode, new_mode, before, after, _ = meta.lstrip(":").split()
        found[path] = (
            None if old_mode == "000000" else f"{old_mode} {before}",
            None if new_mode == "000000" else f"{new_mode} {after}",
        )
    return found


def stored(repo: Repo, content: bytes, path: str = "") -> str:
    """The id of a blob with this content, which is in the repository from now on; a path's filters are applied."""
    through = ["--path", path] if path else []
    return call(repo.root, "hash-object", "-w", "--stdin", *through, given=content).stdout.decode().strip()


def entry(repo: Repo, content: bytes, like: str | None, path: str = "") -> str:
    """Content as "mode blob", stored for a path, with the mode of what stood there."""
    return f"{like.split()[0] if like else '100644'} {stored(repo, content, path)}"


def merge_file(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, bool]:
    """git's own three-way merge of lines, and whether it is without conflict."""
    import tempfile  # lazy: one question in a hundred needs it

    with tempfile.TemporaryDirectory(prefix="learnloop-") as folder:
        for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
            (Path(folder) / name).write_bytes(content)
        done = call(Path(folder), "merge-file", "-p", "-q", "ours", "base", "theirs", check=False)
    return done.stdout, done.returncode == 0


def is_ancestor(repo: Repo, old: str, new: str, extra: Mapping[str, str] | None = None) -> bool:
    """Whether a commit is another or comes before it; one that is not there comes before none."""
    done = call(repo.root, "merge-base", "--is-ancestor", old, new, extra=extra, check=False)
    return _unless_gone(repo, done, "merge-base", old, new).returncode == 0


def has(repo: Repo, blobs_: Sequence[str]) -> bool:
    """Whether all of these objects are there."""
    given = "".join(f"{blob}\n" for blob in blobs_).encode()
    return b" missing" not in call(repo.root, "cat-file", "--batch-check", given=given).stdout


def _line(path: str) -> str:
    """A path as git reads it from a line: one that begins with a quote is written as git quotes it."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"' if path.startswith('"') else path


def on_disk(repo: Repo, heads: Mapping[str, str | None]) -> dict[str, str | None]:
    """Each path as it stands on disk (through git's filters), as "mode blob"; None where it is gone.

    heads says what HEAD has: a known file keeps its mode there, a new one brings its own.
    """
    there = [path for path in heads if (repo.root / path).is_file()]
    found: dict[str, str | None] = dict.fromkeys(heads)
    if there:
        given = "".join(f"{_line(path)}\n" for path in there).encode(errors="surrogateescape")
        printed = call(repo.root, "hash-object", "-w", "--stdin-paths", given=given).stdout.decode().split()
        for path, blob in zip(there, printed, strict=True):
            old = heads[path]
            mode = old.split()[0] if old else "100755" if os.access(repo.root / path, os.X_OK) else "100644"
            found[path] = f"{mode} {blob}"
    return found
