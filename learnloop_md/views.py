"""The commands that only look: status, show, log, check, and cleanup's plan."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from learnloop_md import apply, checks, curate, digest, git, head, history, index, memory, store
from learnloop_md.answer import Answer, visible
from learnloop_md.calls import Call
from learnloop_md.errors import UsageError
from learnloop_md.lesson import STATES, Lesson, confidence
from learnloop_md.lessonfile import stem
from learnloop_md.life import Outcome
from learnloop_md.memory import Memory, find_slug
from learnloop_md.place import Place
from learnloop_md.verbs import told, visible_lines


def status(call: Call) -> Answer:
    """Which memory, why this one, and how it stands."""
    place = call.place
    done = apply.look(place, call.asked)
    rows = done.memory
    counts = Counter(lesson.state for lesson in rows.lessons.values() if not lesson.is_note)
    reasons = curate.reasons(rows, call.today)
    lines, characters = index.loaded_size(rows.document) if place.kind == "project" else (rows.document.count("\n"), len(rows.document))
    left_out = list(memory.in_step(rows, rows.document, rows.lessons, rows.lessons).left_out)
    queued = _differing(place, rows)
    data: dict[str, Any] = {
        "memory": str(place.folder),
        "kind": place.kind,
        "chosen_by": place.chosen_by,
        "lessons": {state: counts[state] for state in STATES},
        "quarantined": [{"path": q.path, "reason": q.reason} for q in rows.quarantined],
        "conflicts": [{"slug": clash.slug, "field": clash.field} for clash in done.absorbed.conflicts],
        "queued": queued,
        "cleanup_due": bool(reasons),
        "cleanup_reasons": reasons,
        "index": {"lines": lines, "characters": characters, "left_out": left_out},
    }
    text = [
        f"memory    {place.folder}",
        f"kind      {place.kind}, document {place.document}",
        f"chosen by {place.chosen_by}",
        f"lessons   {counts['candidate']} candidate, {counts['current']} current, {counts['archived']} archived",
        f"document  {lines} lines, {characters} characters" + (f", left out: {', '.join(left_out)}" if left_out else ""),
        f"cleanup   {'due: ' + '; '.join(reasons) if reasons else 'not due'}",
        "git       " + (f"{queued} of our files differ from HEAD" if place.repo and queued else "in step" if place.repo else "none: files only"),
    ]
    text += [f"quarantined {visible(q.path)}:{q.line}: {q.reason} {visible(q.message)}" for q in rows.quarantined]
    text += [f"conflict  {clash.slug}: {clash.field}" for clash in done.absorbed.conflicts]
    text += [f"unsynced  {what}" for what in done.absorbed.what]
    return Answer("\n".join(text), data)


def _differing(place: Place, rows: Memory) -> int:
    """How many of our paths differ from HEAD."""
    if place.repo is None or git.ignored_by(place.repo, place.in_repo(place.document)):
        return 0
    private = {place.in_repo(rows.lessons[slug].path) for slug in rows.private}
    return sum(1 for path in git.changed(place.repo, place.inside) if path.endswith(".md") and path not in private)


def show(call: Call) -> Answer:
    """The digest of the memory, or one lesson."""
    place = call.place
    rows = memory.load(place)
    name = call.text("slug")
    if name:
        lesson = rows.lessons[find_slug(rows, name)]
        data = {"lessons": [_row(lesson, "asked for")], "text": lesson.text, "tokens": digest.tokens(lesson.text)}
        return Answer(visible_lines(lesson.text), data)
    budget = int(call.words.get("budget") or place.settings.show_characters)
    if budget < 1:
        raise UsageError(f"--budget {budget} is not a number of characters", "give a number above 0")
    found = digest.order(rows.lessons.values())
    version = skill_version(place)
    title = place.folder.parent.name if place.kind == "skill" else _project_name(place)
    if call.flag("all"):
        budget = 1 << 30
    made = digest.make(found, title, budget=budget, program=call.program, skill_version=version)
    shown = [_row(lesson, "pinned" if lesson.pinned else lesson.state) for lesson in made.shown]
    data = {"lessons": shown, "text": made.text, "tokens": digest.tokens(made.text)}
    return Answer(visible_lines(made.text), data)


def _project_name(place: Place) -> str:
    return place.repo.root.name if place.repo and not place.own_repo else place.folder.parent.name


def _row(lesson: Lesson, why: str) -> dict[str, Any]:
    return {"slug": lesson.slug, "type": lesson.type, "state": lesson.state, "score": confidence(lesson), "why": why, "text": lesson.rule}


def skill_version(place: Place) -> str:
    """The version in the skill's SKILL.md, "" without one."""
    if place.kind != "skill":
        return ""
    data = store.read_bytes(place.folder.parent / "SKILL.md")
    try:
        parts = head.split(data.decode("utf-8", "replace")) if data else None
        tree = head.read(parts).tree if parts else {}
    except head.HeadError:
        return ""
    version = head.field_of(tree, "version")
    return version if isinstance(version, str) else ""


def log(call: Call) -> Answer:
    """The commits that touched the memory or one lesson."""
    place = call.place
    slug = call.text("slug")
    if slug:
        rows = memory.load(place)
        known = slug in rows.lessons or any(s.startswith(stem(slug)) for s in rows.lessons)
        slug = find_slug(rows, slug) if known else stem(slug)
    limit = int(call.words.get("limit") or 20)
    found = history.steps(place, slug, limit)
    if slug and not found and slug not in memory.load(place).lessons:
        raise UsageError(f"there is no lesson {slug!r}, and no commit of one", "learnloop log shows all", code="unknown-lesson")
    data = {
        "commits": [
            {"commit": s.commit, "change": s.change, "slugs": list(s.slugs), "date": s.date, "author": s.author, "subject": s.subject}
            for s in found
        ]
    }
    lines = [f"{s.commit[:10]} {s.date} {s.change:<9} {visible(s.subject)} ({visible(s.author)})" for s in found]
    return Answer("\n".join(lines) or "no commit has touched this memory yet", data)


# --- check -------------------------------------------------------------------------------------------------------------


def check(call: Call) -> Answer:
    """Findings as `path:line: CODE message`; in a hook those of every memory in the repository that HEAD does not have."""
    hook = call.flag("hook")
    if hook:
        repo = git.find(call.cwd)
        found_places = _places(repo) if repo and not call.text("memory") else [call.place]
    else:
        found_places = [call.place]
    rows: list[tuple[str, checks.Finding]] = []
    for place in found_places:
        staged = hook or call.flag("staged")
        found = staged_findings(place) if staged else tree_findings(place, call)
        if (hook and not call.flag("all")) or call.flag("new"):
            found = checks.new_only(found, head_findings(place))
        base = _shown_base(place, call.cwd)
        rows += [(shown_path(base, finding.path), finding) for finding in found]
    errors = sum(1 for _, finding in rows if finding.severity == checks.ERROR)
    text = "\n".join(f"{visible(path)}:{f.line}: {f.code} {f.severity}: {visible(f.message)}" for path, f in rows)
    data = {
        "findings": [
            {"code": f.code, "severity": f.severity, "path": path, "line": f.line, "message": f.message, "fixable": f.fixable}
            for path, f in rows
        ]
    }
    summary = (f"{errors} errors, {len(rows) - errors} warnings",) if rows else ()
    return Answer(text, data, summary, 1 if errors else 0)


def _places(repo: git.Repo) -> list[Place]:
    from learnloop_md import place  # lazy: only hooks look at all memories

    return place.in_repo(repo)


def _shown_base(place: Place, cwd: Path) -> Path:
    import os

    return Path(os.path.relpath(place.folder, cwd))


def shown_path(base: Path, path: str) -> str:
    """A finding's path from the working directory."""
    import os

    return os.path.normpath(base / path)


def tree_findings(place: Place, call: Call) -> list[checks.Finding]:
    """The findings of the work tree."""
    done = apply.look(place, call.asked)
    rows = memory.load(place, scan_all=True)

    def read_other(path: str) -> str | None:
        data = store.read_bytes(place.folder / path)
        return None if data is None else data.decode("utf-8", "replace")

    return checks.findings(rows, read_other, done.absorbed.conflicts)


def staged_findings(place: Place) -> list[checks.Finding]:
    """The findings of what is staged: never of what happens to lie in the folder."""
    return _findings_of(place, git.staged(_repo_of(place), "") if place.repo else {})


def head_findings(place: Place) -> list[checks.Finding]:
    """The findings that HEAD has already."""
    repo = _repo_of(place)
    return _findings_of(place, git.tree(repo, "HEAD", "")) if git.head(repo) else []


def _repo_of(place: Place) -> git.Repo:
    if place.repo is None:
        raise UsageError("there is no git here, so nothing is staged", "run: learnloop check", code="no-git")
    return place.repo


def _findings_of(place: Place, everything: dict[str, bytes]) -> list[checks.Finding]:
    prefix = f"{place.inside}/" if place.inside else ""
    inside = {path.removeprefix(prefix): data for path, data in everything.items() if path.startswith(prefix)}
    lessons = f"{place.lessons}/" if place.lessons else ""
    files = {path: data for path, data in inside.items() if path.endswith(".md") and path.startswith(lessons)}
    if not files and place.document not in inside:
        return []
    rows = memory.assemble(place, store.Files(files), inside.get(place.document), None)

    def read_other(path: str) -> str | None:
        data = everything.get(place.in_repo(path))
        return None if data is None else data.decode("utf-8", "replace")

    return checks.findings(rows, read_other)


# --- cleanup -----------------------------------------------------------------------------------------------------------


def cleanup(call: Call) -> Answer:
    """Whether cleanup is due, its plan, or the plan carried out."""
    if call.flag("hook"):
        return _cleanup_hook(call)
    place = call.place
    if call.flag("apply"):
        items: list[curate.Item] = []
        reasons: list[str] = []

        def build(draft: apply.Draft) -> None:
            reasons.extend(curate.reasons(draft.memory, call.today))
            items.extend(curate.plan(draft.memory, call.today))
            curate.carry_out(draft, items)

        done = apply.change(place, call.asked, build)
        outcome = Outcome("cleaned" if done.plans else "unchanged", "", "", (), _plan_data(items, reasons))
        answer = told(place, done, outcome, dry_run=call.flag("dry_run"))
        text = answer.text if call.flag("dry_run") else _plan_text(items, reasons, done=True)
        return answer._replace(text=text)
    look = apply.look(place, call.asked).memory
    reasons = curate.reasons(look, call.today)
    if call.flag("check"):
        text = "cleanup is due: " + "; ".join(reasons) if reasons else "cleanup is not due"
        return Answer(text, _plan_data([], reasons), (), 1 if reasons else 0)
    items = curate.plan(look, call.today)
    return Answer(_plan_text(items, reasons, done=False), _plan_data(items, reasons))


def _plan_data(items: list[curate.Item], reasons: list[str]) -> dict[str, Any]:
    plan = [{"change": item.change, "slugs": list(item.slugs), "why": item.why} for item in items]
    return {"due": bool(reasons), "reasons": reasons, "plan": plan}


def _plan_text(items: list[curate.Item], reasons: list[str], *, done: bool) -> str:
    lines = [f"cleanup is due: {'; '.join(reasons)}" if reasons else "cleanup is not due"]
    for item in items:
        mark = "proposed" if item.change in ("codify", "decide") else "done" if done else "would"
        lines.append(f"  {mark:<8} {item.change:<8} {', '.join(item.slugs)}: {visible(item.why)}")
    if not items:
        lines.append("  nothing to do")
    elif not done and any(item.change not in ("codify", "decide") for item in items):
        lines.append("carry it out with: learnloop cleanup --apply")
    return "\n".join(lines)


def _cleanup_hook(call: Call) -> Answer:
    """In pre-commit: act only when due, change files only, leave unstaged edits alone, exit 1 if anything was written."""
    repo = git.find(call.cwd)
    found = _places(repo) if repo and not call.text("memory") else [call.place]
    written: list[str] = []
    notices: list[str] = []
    items: list[curate.Item] = []
    reasons: list[str] = []
    for place in found:
        due = curate.reasons(memory.load(place), call.today)
        if not due:
            continue
        busy = _unstaged(place)
        if place.document in busy:
            notices.append(f"{place.in_repo(place.document)} has unstaged edits: cleanup left it alone")
            continue
        rows: list[curate.Item] = []

        def build(draft: apply.Draft, busy: set[str] = busy, rows: list[curate.Item] = rows) -> None:
            for item in curate.plan(draft.memory, call.today):
                mine = {draft.memory.lessons[slug].path for slug in item.slugs}
                if item.change in ("codify", "decide"):
                    continue
                if mine & busy:
                    notices.append(f"{', '.join(sorted(mine & busy))}: unstaged edits, cleanup left it alone")
                else:
                    rows.append(item)
            curate.carry_out(draft, rows)

        done = apply.change(place, call.asked._replace(commit=False), build, absorbing=False)
        written += [place.in_repo(path) for row in done.plans for path in row.paths]
        items += rows
        reasons += due
    written = list(dict.fromkeys(written))
    text = _plan_text(items, reasons, done=True) + "\nchanged: " + ", ".join(written) + "\nadd them and commit again" if written else ""
    return Answer(text, {**_plan_data(items, reasons), "commits": [], "paths": written}, tuple(notices), 1 if written else 0)


def _unstaged(place: Place) -> set[str]:
    if place.repo is None:
        return set()
    prefix = f"{place.inside}/" if place.inside else ""
    return {path.removeprefix(prefix) for path, flags in git.changed(place.repo, place.inside).items() if flags[1] != " " and flags != "??"}
