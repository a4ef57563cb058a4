"""The `cleanup` command: whether it is due, its plan, the plan carried out, and all that in pre-commit."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import Any

from learnloop_md import account, apply, curate, git, memory
from learnloop_md.answer import Answer, visible
from learnloop_md.calls import Call
from learnloop_md.curate import BY_HAND, Item
from learnloop_md.errors import UsageError
from learnloop_md.life import Outcome
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.plan import Draft


def cleanup(call: Call) -> Answer:
    """Whether cleanup is due, its plan, or the plan carried out."""
    if sum(map(call.flag, ("check", "apply", "hook"))) > 1:
        raise UsageError("--check, --apply and --hook exclude each other", "give one of them")
    if call.flag("hook"):
        return _in_hook(call)
    if call.flag("apply"):
        return _applied(call)
    looked = call.look(call.place)
    seen = looked.memory
    reasons = curate.reasons(seen, call.today)
    if call.flag("check"):
        text = "cleanup is due: " + "; ".join(reasons) if reasons else "cleanup is not due"
        return Answer(text, _data([], reasons), looked.notices, 1 if reasons else 0)
    items = curate.plan(seen, call.today)
    return Answer(_text(items, reasons, done=False), _data(items, reasons), looked.notices)


def _applied(call: Call) -> Answer:
    place = call.place
    items: list[Item] = []
    reasons: list[str] = []

    def build(draft: Draft) -> None:
        reasons.extend(curate.reasons(draft.memory, call.today))
        items.extend(curate.plan(draft.memory, call.today))
        curate.carry_out(draft, items)

    done = apply.change(place, call.asked, build)
    outcome = Outcome("cleaned" if done.plans else "unchanged", "", "", (), _data(items, reasons))
    answer = account.told(place, done, outcome, dry_run=call.flag("dry_run"))
    return answer if call.flag("dry_run") else answer._replace(text=_text(items, reasons, done=True))


def _data(items: Iterable[Item], reasons: list[str]) -> dict[str, Any]:
    plan = [{"change": item.change, "slugs": list(item.slugs), "why": item.why} for item in items]
    return {"due": bool(reasons), "reasons": reasons, "plan": plan}


def _text(items: list[Item], reasons: list[str], *, done: bool) -> str:
    lines = [f"cleanup is due: {'; '.join(reasons)}" if reasons else "cleanup is not due"]
    for item in items:
        mark = "for you" if item.change in BY_HAND else "done" if done else "would"
        lines.append(f"  {mark:<7} {item.change:<8} {visible(', '.join(item.slugs))}: {visible(item.why)}")
    if not items:
        lines.append("  no rule decides anything yet: learnloop review asks you" if reasons else "  nothing to do")
    elif not done and any(item.change not in BY_HAND for item in items):
        lines.append("carry it out with: learnloop cleanup --apply")
    return "\n".join(lines)


# --- in pre-commit ------------------------------------------------------------------------------------------


def _in_hook(call: Call) -> Answer:
    """Act only when due, change files only, leave alone what is not as staged; exit 1 if it wrote."""
    written: list[str] = []
    plans: list[dict[str, str]] = []
    notices: list[str] = []
    items: list[Item] = []
    reasons: list[str] = []
    for place in call.hooked_places:
        loaded = memory.load(place)
        unstaged, unknown = _not_as_staged(place)
        busy = unstaged | unknown
        known = [lesson for lesson in loaded.lessons.values() if lesson.path not in unknown]
        due = curate.reasons(loaded, call.today, known)
        if not due:
            continue
        if place.document in busy:
            notices.append(f"{place.in_repo(place.document)} has unstaged edits: cleanup left it alone")
            continue
        rows = _allowed(place, curate.plan(loaded, call.today), loaded, busy, notices)
        done = apply.change(
            place,
            call.asked._replace(commit=False),
            partial(_carry_out, rows=rows, busy=busy),
            absorbing=False,
        )
        plans += account.plans_of(place, done)
        written += [place.in_repo(path) for row in done.plans for path in row.paths]
        items += rows
        reasons += due
    written = list(dict.fromkeys(written))
    data = {**_data(items, reasons), "commits": [], "paths": written}
    if call.flag("dry_run"):
        data = {**data, "dry_run": True, "plans": plans}
    if not written:
        return Answer("", data, tuple(notices))
    did = "would change" if call.flag("dry_run") else "changed"
    text = f"{_text(items, reasons, done=not call.flag('dry_run'))}\n{did}: {visible(', '.join(written))}"
    return Answer(f"{text}\nlook at it, then: git add {visible(' '.join(written))}", data, tuple(notices), 1)


def _allowed(place: Place, plan: list[Item], loaded: Memory, busy: set[str], notices: list[str]) -> list[Item]:
    """The items that a hook may carry out: none that is for a person, none on unstaged edits."""
    rows = []
    for item in plan:
        held = sorted({loaded.lessons[slug].path for slug in item.slugs} & busy)
        if item.change in BY_HAND:
            continue
        if held:
            shown = ", ".join(place.in_repo(path) for path in held)
            notices.append(f"{shown}: not as staged, cleanup left it alone")
        else:
            rows.append(item)
    return rows


def _carry_out(draft: Draft, *, rows: list[Item], busy: set[str]) -> None:
    # The document must not speak of what this commit does not hold, so those entries stay as they are.
    draft.skip |= {slug for slug, lesson in draft.lessons.items() if lesson.path in busy}
    if rows:
        curate.carry_out(draft, rows)


def _not_as_staged(place: Place) -> tuple[set[str], set[str]]:
    """The memory's files that differ from the index of the hook's commit, and those that are not in it."""
    if place.repo is None:
        return set(), set()
    # `git commit -a` builds its index in index.lock, and only this variable says so.
    index = os.environ.get("GIT_INDEX_FILE")
    extra = {"GIT_INDEX_FILE": str((place.repo.root / index).resolve())} if index else None

    def listed(*words: str) -> set[str]:
        raw = git.call(place.folder, *words, "-z", "--", ".", extra=extra).stdout
        rows = raw.decode(errors="surrogateescape").split("\0")
        return {place.inner(path) for path in rows if path}

    unstaged = listed("diff", "--name-only", "--no-ext-diff", "--no-textconv")
    return unstaged, listed("ls-files", "--others", "--full-name")
