"""`replay`: what an agent was given at a commit, told from git's objects alone (design §6)."""

from __future__ import annotations

from typing import Any

from learnloop_md import digest, git, guidance, index, recall, sides, skill
from learnloop_md.answer import Answer, visible, visible_lines
from learnloop_md.calls import Call
from learnloop_md.errors import UnableError
from learnloop_md.fence import tokens
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.sides import Side


def replay(call: Call) -> Answer:
    """The document as it was loaded then, the digest, and with --task the block of recall."""
    place = call.place
    if place.repo is None:
        raise UnableError("there is no git history here", "run: git init, then learnloop init", code="no-git")
    side = sides.at(place.repo, call.named("commit", "the commit") or "HEAD")
    there = _there(side, place)
    rows = sides.assemble(side, there)
    day = call.text("today") or git.out(place.repo.root, "show", "-s", "--format=%cs", side.commit)
    version = skill.version_in(side.text(there.in_repo("../SKILL.md")) or "") if there.kind == "skill" else ""
    document = rows.document if there.kind == "skill" else index.loaded_part(rows.document)
    made = _digest(call, there, rows, version)
    data: dict[str, Any] = {
        "commit": side.commit,
        "day": day,
        "memory": there.inside,
        "document": {"path": there.in_repo(there.document), "text": document, "tokens": tokens(document)},
        "digest": {
            "lessons": [row.slug for row in made.shown],
            "text": made.text,
            "tokens": tokens(made.text),
        },
    }
    parts = [
        f"{side.commit[:10]} of {day}, {visible(there.inside or '.')}",
        _part(f"{there.document} as it was loaded", document),
        _part("the digest (learnloop show)", made.text),
    ]
    if task := call.named("task"):
        data["recall"] = _recalled(call, rows, task, day, version)
        parts.append(_part(f"for the task: {task}", data["recall"]["text"]))
    return Answer("\n".join(parts), data, tuple(_notices(place, there, rows)))


def _there(side: Side, place: Place) -> Place:
    """The memory at the commit: in its folder of today, else the only one of its kind."""
    found = sides.named(side, place.inside, place)
    others = [row for row in sides.places(side).values() if row.kind == place.kind] if found is None else []
    if found is None and len(others) == 1:
        return others[0]
    if found is None:
        at = ", ".join(row.inside or "." for row in others) if others else "nowhere else either"
        message = f"there was no memory in {place.inside or '.'} at {side.commit[:10]}"
        hint = "learnloop log tells when it began" if not others else f"there were some in: {at}"
        raise UnableError(message, hint, code="no-memory")
    return found


def _digest(call: Call, place: Place, rows: Memory, version: str) -> digest.Digest:
    found = digest.order(rows.lessons.values())
    title = place.folder.parent.name if place.kind == "skill" else place.folder.parents[1].name
    if place.repo and place.kind == "project":
        title = place.repo.root.name
    budget = place.settings.show_characters
    return digest.make(found, title, budget=budget, program=call.program, skill_version=version)


def _recalled(call: Call, rows: Memory, task: str, day: str, version: str) -> dict[str, Any]:
    best, rest = recall.choose(recall.rank(rows.lessons.values(), recall.Query(task), day), 5)
    given = guidance.make(best, rest, guidance.BUDGET, guidance.Manner("block", call.program, version))
    shown = [{"slug": hit.lesson.slug, "score": hit.score, "why": hit.why} for hit in given.shown]
    return {"lessons": shown, "text": given.text, "tokens": tokens(given.text)}


def _part(title: str, text: str) -> str:
    return f"\n--- {visible(title)}: about {tokens(text)} tokens ---\n{visible_lines(text) or '(nothing)'}"


def _notices(place: Place, there: Place, rows: Memory) -> list[str]:
    said = []
    if there.inside != place.inside:
        said.append(f"the memory stood in {there.inside or '.'} then")
    if rows.quarantined:
        count = len(rows.quarantined)
        said.append(f"{count} {'file was' if count == 1 else 'files were'} quarantined and not served")
    if place.settings.private_types:
        said.append("private lessons are not in git: what the hooks served of them then is not known")
    return said
