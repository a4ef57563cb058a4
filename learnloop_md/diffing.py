"""The command `diff`: which two sides are meant, in which form they are told, and when it fails."""

from __future__ import annotations

import os
from pathlib import Path

from learnloop_md import comparing, diffci, diffmarkdown, difftext, git, sides
from learnloop_md.answer import Answer, json_text
from learnloop_md.calls import Call
from learnloop_md.changes import KINDS
from learnloop_md.comparison import CODES, GROUPS, Comparison, data, fails, is_known
from learnloop_md.errors import LearnloopError, UnableError, UsageError
from learnloop_md.sides import Side

FORMATS = ("text", "markdown", "summary", "json", "github", "sarif")


def diff(call: Call) -> Answer:
    """What changed between two states of the repository's memories, by meaning."""
    form = call.named("format") or "text"
    try:
        if form not in FORMATS:
            raise UsageError(f"--format {form!r} is not known", f"one of {', '.join(FORMATS)}")
        wanted = _wanted(call.named("fail_on"))
        found = _compare(call)
    except LearnloopError as error:
        if form != "github" or call.flag("json"):
            raise
        return Answer(diffci.told_error(error), code=error.exit_code)
    code = 1 if fails(found, wanted) else 0
    return Answer(_rendered(found, form), data(found), found.notices, code)


def _rendered(found: Comparison, form: str) -> str:
    if form == "markdown":
        return diffmarkdown.rendered(found)
    if form == "summary":
        return diffmarkdown.rendered(found, diffmarkdown.SUMMARY_LIMIT)
    if form == "github":
        return diffci.annotated(found)
    if form == "sarif":
        return diffci.sarif(found)
    return json_text(data(found)) if form == "json" else difftext.rendered(found)


def _wanted(text: str) -> list[str]:
    """What to fail on. Raises UsageError for a word that we do not know: it would never fail."""
    import difflib  # lazy: only with --fail-on

    names = [name.strip().lower() for name in text.split(",") if name.strip()] or [text] * bool(text)
    for name in (name for name in names if not is_known(name)):
        close = difflib.get_close_matches(name, [*GROUPS, *KINDS, *CODES], n=1)
        hint = f"did you mean {close[0]}?" if close else f"{', '.join(GROUPS)}, a kind of change or a code"
        raise UsageError(f"--fail-on {name!r} is not known", hint)
    return names


def _compare(call: Call) -> Comparison:
    repo = git.find(call.cwd)
    if repo is None:
        raise UnableError("there is no git here, so there is nothing to compare", "run: git init", code="no-git")
    asked = call.named("range", "the range")
    only = _folder(repo, call.cwd, call.named("memory")) if call.text("memory") else None
    if call.flag("staged") and call.flag("worktree"):
        raise UsageError("--staged and --worktree are two different things", "choose one")
    if call.flag("staged") or call.flag("worktree") or not asked:
        if ".." in asked:
            raise UsageError(f"{asked!r} names both sides already", "leave --staged and --worktree away")
        head = sides.staged(repo) if call.flag("staged") else sides.work_tree(repo)
        base = sides.at(repo, asked or "HEAD") if asked or git.head(repo) else sides.nothing(repo)
        return comparing.compare(base, head, asked=f"{asked or 'HEAD'} → {head.name}", only=only)
    base, head, theirs = _sides(repo, asked)
    return comparing.compare(base, head, asked=asked, only=only, theirs=theirs)


def _sides(repo: git.Repo, asked: str) -> tuple[Side, Side, Side | None]:
    """The sides of `A..B`, `A...B` (from where they parted, as in a pull request) or `A` (against HEAD)."""
    dots = "..." if "..." in asked else ".."
    left, found, right = asked.partition(dots)
    if found and (".." in right or right.startswith(".")):
        raise UsageError(f"{asked!r} is no range", "write BASE...HEAD or BASE..HEAD")
    base, head = sides.at(repo, left or "HEAD"), sides.at(repo, right or "HEAD")
    if dots != "..." or not base.commit or not head.commit:
        return base, head, None
    parted = sides.merge_base(repo, base, head)
    return parted, head, None if parted.commit == base.commit else base


def _folder(repo: git.Repo, cwd: Path, named: str) -> str:
    """A memory's folder as the repository names it; it need not be on disk."""
    full = (cwd / Path(named).expanduser()).resolve()
    if named.endswith(".md"):
        full = full.parent
    inside = os.path.relpath(full, repo.root.resolve())
    if inside.startswith(".."):
        raise UnableError(f"{named} is not in this repository", "compare where its repository is", code="no-git")
    return "" if inside == "." else Path(inside).as_posix()
