"""The two commands of the merge drivers: the one that git runs, and the one that registers it."""

from __future__ import annotations

import os
import sys
from operator import itemgetter
from pathlib import Path

from learnloop_md.answer import Answer, error_line
from learnloop_md.calls import Call
from learnloop_md.errors import LearnloopError, UnableError, UsageError
from learnloop_md.merging import KINDS, merge

CONFLICT = 65  # as drivers.CONFLICT, which is not imported: git starts this once a file
FAILED = 129  # above 128 it is no conflict of ours: whoever called leaves an ordinary one


def merge_driver(call: Call) -> Answer:
    """git's %O %A %B %P: the merge is written over ours; exit 0 clean, 65 a conflict, 129 nothing was written."""
    kind, path = call.text("kind"), call.text("path")
    base, ours, theirs = (call.cwd / call.text(side) for side in ("base", "ours", "theirs"))
    try:
        if kind not in KINDS:
            raise UsageError(f"{kind!r} is no kind of file", f"use one of: {', '.join(KINDS)}")
        # git gives an empty file where there is no base: both sides added the file.
        merged = merge(kind, path, base.read_bytes() or None, ours.read_bytes(), theirs.read_bytes())
        _replace(ours, merged.content or b"")
    except LearnloopError as error:
        return _failed(error)
    except OSError as error:
        return _failed(UnableError(f"{error.filename}: {error.strerror}"))
    except Exception as error:  # a bug must leave both sides to git, not a half-merged file
        return _failed(UnableError(f"a bug ({type(error).__name__}) in the merge of {path}: merged by lines instead"))
    return Answer(code=0 if merged.clean else CONFLICT)


def _failed(error: LearnloopError) -> Answer:
    print(f"learnloop: {error_line(error)}", file=sys.stderr)
    return Answer(code=FAILED)


def _replace(path: Path, data: bytes) -> None:
    """The file with other bytes, or as it was."""
    new = path.with_name(path.name + ".learnloop")
    try:
        new.write_bytes(data)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def git_config(call: Call) -> Answer:
    """Register the drivers in this repository's configuration (--global: in the person's), or take them out."""
    from learnloop_md import drivers, git  # lazy: the driver itself needs neither

    enable, everywhere = call.flag("enable"), call.flag("global_")
    if enable == call.flag("disable"):
        raise UsageError("say --enable or --disable", "learnloop git-config --enable registers the drivers")
    repo = git.find(call.cwd)
    if repo is None and not everywhere:
        raise UnableError("this is not a git repository", "go into one, or say --global", code="no-git")
    where, scope = repo.root if repo else call.cwd, "--global" if everywhere else "--local"
    dry_run = call.flag("dry_run")
    changed = (drivers.register if enable else drivers.unregister)(where, scope, dry_run=dry_run)
    place = "for every repository of yours" if everywhere else f"in {where}"
    verb = "registered" if enable else "taken out"
    names = ", ".join(changed.drivers)
    would = "would be " if dry_run else ""
    said = f"{would}{verb} {place}: {names}" if names else f"nothing to do: the drivers are {verb} {place} already"
    if changed.kept and not names:
        said = "nothing to do"
    elif not enable and not names:
        said = f"nothing to do: no driver of ours is registered {place}"
    others = _others(repo) if repo and enable else []
    others = [f"{name}: a driver of your own has this name; it stays as it is" for name in changed.kept] + others
    data = {"action": verb.replace(" ", "-") if names else "unchanged", "drivers": changed.drivers, "others": others}
    return Answer("\n".join([said, *others]), data)


def _others(repo: object) -> list[str]:
    """What else .gitattributes says of our files, and which line wins; and what it does not say yet."""
    from learnloop_md import drivers, git, place

    assert isinstance(repo, git.Repo)
    found: list[str] = []
    for where in place.in_repo(repo):
        lesson = where.in_repo("a-lesson.md" if where.kind == "project" else "lessons/a-lesson.md")
        files = {
            "lesson files": lesson,
            place.STATE: where.values_in_repo,
            where.document: where.in_repo(where.document),
        }
        for what, path in filter(itemgetter(1), files.items()):
            rules = drivers.rules(repo, path)
            ours = [rule for rule in rules if rule.merge.startswith("merge=learnloop-")]
            if not ours:
                found.append(f"{path}: no line of .gitattributes gives it our driver: learnloop init")
            shown = drivers.shown_by(repo, lesson)
            if ours and not shown:
                found.append(f"{lesson}: no line of .gitattributes says diff=learnloop-lesson: learnloop init adds it")
            elif shown not in ("", "learnloop-lesson"):
                found.append(f"{lesson}: .gitattributes says diff={shown} of it, so git diff does not use our driver")
            found += [
                f"{rule} also says how {what} are merged; the line that wins is {rules[-1]}"
                for rule in rules
                if rule not in ours
            ]
    return list(dict.fromkeys(found))
