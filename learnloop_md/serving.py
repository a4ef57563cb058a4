"""What Claude's hooks tell the model: lessons that Claude does not load itself, and what is to be done."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path

from learnloop_md import brief, claude, fence, moment
from learnloop_md import place as places
from learnloop_md.brief import Brief
from learnloop_md.fence import Budget, tokens
from learnloop_md.moment import Moment
from learnloop_md.place import Place

LIMIT = 9_500  # characters as JSON counts them; the client cuts a hook's answer at 10,000
_SKILL_TOKENS = 2_000
_PROMPT = 4_000  # characters of a prompt that are looked at


def at_start(now: Moment, first: str = "") -> str:
    """Private lessons, those of a memory that Claude does not load itself, and a line for each thing to be done.

    first comes before it and takes its part of the budget.
    """
    place = now.place
    if place is None:
        return first
    known = brief.load(place)
    loaded = claude.loaded_memory(now.cwd, now.repo)
    itself = place.kind == "project" and loaded is not None and loaded.resolve() == place.folder
    lines = [*filter(None, [first]), *_uninitialised(now, place), *(_open_work(place, known) if known else [])]
    if not known:
        return "\n".join(lines)
    bullets = brief.served(place, known, lambda row: row.private or not itself)
    told = "\n".join(lines)
    # What was told already, and the line end behind it, take their part.
    budget = Budget(place.settings.session_tokens - tokens(told) - 1, quoted=LIMIT - fence.size(told).quoted - 2)
    title = "Lessons from earlier runs" + (" that stay on this machine" if itself else "")
    block = fence.block(title, bullets, budget, rest="learnloop show")
    return "\n".join([*lines, *filter(None, [block])])


def _open_work(place: Place, known: Brief) -> list[str]:
    """A line for each thing that waits for somebody."""
    lines = []
    reasons = [f"{known.crowd} candidates"] if known.crowd else []
    if known.due_on and known.due_on <= datetime.now(UTC).date().isoformat():
        reasons.append(f"{known.oldest} is older than {place.settings.stale_days} days")
    if reasons:
        would = f"; it would {known.plan}" if known.plan else ""
        lines.append(f"learnloop: cleanup is due, {' and '.join(reasons)}{would}: `learnloop cleanup`")
    if known.waiting:
        waits = "1 queued change waits" if known.waiting == 1 else f"{known.waiting} queued changes wait"
        lines.append(f"learnloop: {waits} for a commit: `learnloop sync`")
    if known.quarantined:
        files = "1 file is" if known.quarantined == 1 else f"{known.quarantined} files are"
        lines.append(f"learnloop: {files} quarantined and not served: `learnloop check`")
    return lines


def _uninitialised(now: Moment, place: Place) -> list[str]:
    """A teammate's clone that does not use its memory yet is told so, once in a session (design §2)."""
    repo, session = now.repo, now.session
    if repo is None or session is None or place.own_repo or place.kind != "project" or not repo.holds(place.folder):
        return []
    local = repo.main_root / ".claude" / "settings.local.json"
    if claude.memory_named_in(local) or not session.once("told"):
        return []
    return [f"learnloop: this clone does not use the memory in {place.inside} yet: run `learnloop init`"]


def of_skill(now: Moment, name: str) -> str:
    """The current lessons of a skill that is being invoked; its memory becomes the one that notes go to."""
    folder = _skill_folder(now, name)
    memory = moment.at(folder, now.cwd) if folder else None
    if folder is None or memory is None or memory.kind != "skill":
        return ""
    if now.session and now.session.target != str(memory.folder):
        now.session.add("target", memory=str(memory.folder))
    known = brief.load(memory)
    if brief.is_stale(memory, known):
        moment.start_sync(memory)
    if known is None:
        return ""
    bullets = brief.served(memory, known, lambda row: row.state == "current")
    title = f"Current patterns of the skill {folder.name}"
    rest = f"learnloop show --memory {shlex.quote(str(memory.folder))}"
    return fence.block(title, bullets, Budget(_SKILL_TOKENS, quoted=LIMIT), rest=rest)


def of_prompt(now: Moment, prompt: str) -> str:
    """The lessons that surely fit a prompt, each once in a session; by the setting recall_on_prompt alone."""
    asked = [memory for memory in now.memories if memory.settings.recall_on_prompt]
    if not asked or not now.session:
        return ""
    from learnloop_md import recall  # lazy: 30 ms, and few want it

    told = {slug for row in now.session.rows("recalled") for slug in row.get("slugs", ())}
    today = datetime.now(UTC).date().isoformat()
    bullets: dict[str, str] = {}
    for memory in asked:
        known, words = brief.load(memory), brief.words(memory)
        rows = {row.slug: row for row in known.rows} if known else {}
        for hit in recall.prompted(recall.loaded(words), prompt[:_PROMPT], today) if words else ():
            row = rows.get(hit.lesson.slug)
            if row and row.slug not in told and brief.is_served(memory, row):
                bullets.setdefault(row.slug, row.bullet)
    block = fence.block(
        "Lessons that may fit this prompt",
        list(bullets.values()),
        Budget(asked[0].settings.session_tokens, quoted=LIMIT),
        rest="learnloop recall",
    )
    if block:
        now.session.add("recalled", slugs=list(bullets))
    return block


def _skill_folder(now: Moment, name: str) -> Path | None:
    roots = [now.cwd, *([now.repo.root, now.repo.main_root] if now.repo else [])]
    return places.skill_named(name, roots)
