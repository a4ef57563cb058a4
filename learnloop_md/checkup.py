"""The command `check`: which memories are looked at, read from where, what is new."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from learnloop_md import checks, git, memory, mistaken, objections, sides, standing, store, target
from learnloop_md.answer import Answer, visible
from learnloop_md.calls import Call
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.guard import unsecret, unsecret_path
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.sides import Side

if TYPE_CHECKING:
    from learnloop_md.gate import Between


def check(call: Call) -> Answer:
    """Findings as `path:line: CODE message`; in a hook the new ones of every memory here."""
    hook, staged = call.flag("hook"), call.flag("staged")
    if call.flag("fix") and (staged or call.flag("only_secrets")):
        raise UsageError("--fix goes with neither --staged nor --only-secrets", "leave one of them away")
    if call.flag("dry_run") and not call.flag("fix"):
        raise UsageError("--dry-run goes with --fix: else check only looks", "leave it away")
    places = call.hooked_places if hook else [call.place]
    fixed = _fixed(call, places) if call.flag("fix") else Answer(data={"fixed": []})
    rows: list[tuple[str, checks.Finding]] = []
    notices: list[str] = []
    for place in places:
        found = _found(place, call, notices, from_git=hook or staged)
        rows += [(_shown(place, finding.path, call.cwd), finding) for finding in found]
    answer = _told(rows)
    answer = answer._replace(notices=(*notices, *answer.notices))
    if not call.flag("fix"):
        return answer
    text = "\n".join(filter(None, [fixed.text, answer.text]))
    data = {**answer.data, **fixed.data}
    return Answer(text, data, (*fixed.notices, *answer.notices), max(answer.code, fixed.code))


def _found(place: Place, call: Call, notices: list[str], *, from_git: bool) -> list[checks.Finding]:
    only_new = (call.flag("hook") and not call.flag("all")) or call.flag("new")
    if call.flag("only_secrets"):
        from learnloop_md import secretscan  # lazy: one hook needs it

        found, old, stale = secretscan.findings(place, from_git=from_git, only_new=only_new), [], []
    elif from_git or only_new:
        found, old, stale = _against_head(place, call, notices, from_git=from_git, only_new=only_new)
    else:
        found, old, stale = tree_findings(place, call, notices), [], _stale(place, call.cwd)
    if call.flag("secrets"):
        found += checks.second_look(_staged_files(place) if from_git else _files(place), found)
    return sorted([*checks.new_only(found, old), *stale])


def _fixed(call: Call, places: list[Place]) -> Answer:
    """What could be mended without a decision; in a hook only files are changed, and exit code 1 says so."""
    from learnloop_md import account, apply, mend  # lazy: a check that only looks applies nothing
    from learnloop_md.unstaged import not_as_staged

    hook, dry_run = call.flag("hook"), call.flag("dry_run")
    said: list[str] = []
    notices: list[str] = []
    data: dict[str, list[object]] = {"fixed": [], "commits": [], "plans": []}
    for place in places:
        unstaged, unknown = not_as_staged(place) if hook else (set(), set())
        mended: list[str] = []
        done = apply.change(
            place,
            call.asked._replace(commit=not hook),
            lambda draft, busy=unstaged | unknown, into=mended: into.extend(mend.mend(draft, busy)),  # type: ignore[misc]
            absorbing=not hook,
        )
        notices += done.notices
        written = dict.fromkeys(path for row in done.plans for path in row.paths)
        mended += [f"{path}: absorbed" for path in written if not any(row.startswith(f"{path}: ") for row in mended)]
        said += [f"{'would mend' if dry_run else 'mended'} {_shown(place, row, call.cwd)}" for row in mended]
        paths = [place.in_repo(path) for row in done.plans for path in row.paths]
        data["fixed"] += dict.fromkeys(paths)
        data["commits"] += done.commits
        data["plans"] += account.plans_of(place, done)
    if not dry_run:
        del data["plans"]
    if hook and said and not dry_run:
        said.append(f"look at it, then: git add {' '.join(map(str, data['fixed']))}")
    return Answer("\n".join(map(visible, said)), data, tuple(notices), 1 if hook and said else 0)


def _told(rows: list[tuple[str, checks.Finding]]) -> Answer:
    """Findings, each with its path as shown; exit code 1 where one is an error."""
    errors = sum(1 for _, finding in rows if finding.severity == checks.ERROR)
    rows = [(unsecret_path(path), f._replace(message=unsecret(f.message))) for path, f in rows]
    text = "\n".join(f"{visible(path)}:{f.line}: {f.code} {f.severity}: {visible(f.message)}" for path, f in rows)
    data = {
        "findings": [
            {
                "code": f.code,
                "severity": f.severity,
                "path": path,
                "line": f.line,
                "message": f.message,
                "fixable": f.fixable,
            }
            for path, f in rows
        ]
    }
    summary = (f"{_count(errors, 'error')}, {_count(len(rows) - errors, 'warning')}",) if rows else ()
    return Answer(text, data, summary, 1 if errors else 0)


def findings_told(place: Place, cwd: Path, found: Iterable[checks.Finding]) -> Answer:
    """The findings of one memory; exit code 1 where one is an error."""
    return _told([(_shown(place, finding.path, cwd), finding) for finding in found])


def _shown(place: Place, path: str, cwd: Path) -> str:
    """A finding's path as a person reaches it: the shorter of the relative and the full one."""
    full = os.path.normpath(place.folder / path)
    return min(os.path.relpath(full, cwd), full, key=len)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def tree_findings(place: Place, call: Call, notices: list[str]) -> list[checks.Finding]:
    """The findings of the work tree; notices get a line where a model is asked for and there is none."""
    absorbed = call.look(place).absorbed

    def read_other(path: str) -> str | None:
        data = store.read_bytes(place.folder / path)
        return None if data is None else data.decode("utf-8", "replace")

    loaded = memory.load(place, scan_all=True)
    found = checks.findings(loaded, read_other, absorbed.conflicts, between=_between(place, notices))
    rows = [checks.Finding(row.path, row.line, row.reason, checks.WARNING, row.message) for _, row in absorbed.waiting]
    for row in mistaken.mistaken(place):
        rows.append(checks.Finding(row.path, 1, "mistaken-lesson", checks.ERROR, row.told))
    found = sorted({*found, *rows, *checks.doubled_rules(loaded, target.standing(place))})
    if store.is_open_to_all(place.folder):
        message = "everybody on this machine may write here: chmod o-w takes that away"
        found.insert(0, checks.Finding("", 1, "warn-permissions", checks.WARNING, message))
    return found


def _between(place: Place, notices: list[str]) -> Between | None:
    """Likeness by meaning, where the settings ask for it; the model is opened only for what words would name."""
    if not place.settings.semantic:
        return None
    from learnloop_md import meaning  # lazy: a model

    return meaning.between(lambda: meaning.told(place, notices))


def _files(place: Place) -> Mapping[str, bytes]:
    """Every file of the memory on disk, the document among them."""
    document = store.read(place.folder).data.get(place.document)
    return {**store.read(place.folder, place.lessons).data, **({place.document: document} if document else {})}


def _staged_files(place: Place) -> Mapping[str, bytes]:
    prefix = f"{place.inside}/" if place.inside else ""
    assert place.repo is not None, "what is staged was looked at before"
    blobs = git.staged(place.repo, place.inside)
    return {path.removeprefix(prefix): data for path, data in blobs.items() if path.endswith(".md")}


def _stale(place: Place, cwd: Path) -> list[checks.Finding]:
    """The lessons whose anchors changed or went (design §9)."""
    rows = memory.load(place)
    active = [row for row in rows.lessons.values() if row.is_active]
    return checks.stale_anchors(rows, standing.told(standing.stale(place, cwd, active)))


def _against_head(
    place: Place, call: Call, notices: list[str], *, from_git: bool, only_new: bool
) -> tuple[list[checks.Finding], ...]:
    """The findings of the index (never of what lies around) or the work tree, those of HEAD, and stale anchors."""
    repo = place.repo
    if repo is None:
        raise UnableError("there is no git here, so nothing is staged", "run: learnloop check", code="no-git")
    base = sides.at(repo, "HEAD") if git.head(repo) else sides.nothing(repo)
    head = sides.staged(repo) if from_git else sides.work_tree(repo)
    before, after = sides.assemble(base, place), sides.assemble(head, place)
    stale = objections.of_anchors(base, head, before, after)
    if from_git and only_new:
        return *objections.of_checks(base, head, before, after), stale
    found = _all(head, after) if from_git else tree_findings(place, call, notices)
    return found, _all(base, before) if only_new else [], stale


def _all(side: Side, rows: Memory) -> list[checks.Finding]:
    there = rows.has_document or rows.lessons or rows.quarantined
    return checks.findings(rows, sides.reader(side, rows.place)) if there else []
