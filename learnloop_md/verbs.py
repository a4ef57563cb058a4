"""The commands that change a memory: each plans on a Draft, has it applied, and says what became of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from learnloop_md import apply, codify, history, initialise, life, plan, store, undo
from learnloop_md.answer import Answer, coloured, use_colour, visible
from learnloop_md.apply import Done
from learnloop_md.calls import Call
from learnloop_md.errors import UsageError
from learnloop_md.lessonfile import stem
from learnloop_md.life import Outcome, Saying
from learnloop_md.memory import find_slug
from learnloop_md.place import Place
from learnloop_md.plan import Draft


def _change(call: Call, build: Callable[[Draft], Outcome], place: Place | None = None) -> Answer:
    """Apply one change and answer it."""
    where = place or call.place
    outcomes: list[Outcome] = []
    done = apply.change(where, call.asked, lambda draft: outcomes.append(build(draft)))
    return told(where, done, outcomes[0], dry_run=call.flag("dry_run"))


def told(place: Place, done: Done, outcome: Outcome, *, dry_run: bool = False) -> Answer:
    """The answer to a change, in words and as the keys of design §12."""
    paths = list(dict.fromkeys(path for row in done.plans for path in row.paths))
    data: dict[str, Any] = {
        "action": outcome.action,
        "slug": outcome.slug,
        "state": outcome.state,
        "commits": list(done.commits),
        "queued": done.queued,
        "paths": paths,
        **outcome.more,
    }
    notices = [*done.notices, *_absorbed(done)]
    if place.repo is None and paths and not dry_run:
        notices.append("no git here: files only, no history")
    if dry_run:
        data["dry_run"] = True
        data["plans"] = [{"message": plan.message(row), "diff": plan.diff(row.edits)} for row in done.plans]
        return Answer(_previewed(done), data, tuple(notices))
    return Answer("\n".join(_words(place, done, outcome)), data, tuple(notices))


def _previewed(done: Done) -> str:
    """What --dry-run shows: for each commit its message and its diff."""
    if not done.plans:
        return "nothing would change"
    shown = [visible_lines(plan.message(row)) + "\n" + coloured(plan.diff(row.edits), colour=use_colour()) for row in done.plans]
    return "\n".join(shown)


def visible_lines(text: str) -> str:
    """Several lines, each made visible."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _words(place: Place, done: Done, outcome: Outcome) -> list[str]:
    """What people read: the exact forms of R001-70 and R001-71 for captures, one line for the rest."""
    if outcome.saved:
        lesson = done.memory.lessons[outcome.slug]
        lines = [f"[LearnLoop] Saving as {lesson.type or 'note'}: {visible(lesson.description or lesson.shown_title)}"]
        lines.append(f"  → {place.folder.name}/{lesson.path}")
        if any(place.document in row.paths for row in done.plans):
            lines.append(f"  → {place.document} updated")
        if outcome.action != "added":
            lines.append(f"  {outcome.action}: {len(lesson.seen)} sightings, {outcome.state}")
        return lines + [f"  {visible(said)}" for said in outcome.said]
    if outcome.action == "unchanged":
        return [f"[LearnLoop] Noted but not saved — {visible('; '.join(outcome.said))}"]
    commit = f" ({done.commits[-1][:10]})" if done.commits else ""
    state = f", {outcome.state}" if outcome.state else ""
    return [f"{outcome.action} {outcome.slug}{state}{commit}", *(visible(said) for said in outcome.said)]


def _absorbed(done: Done) -> list[str]:
    lines = [f"absorbed: {what}" for what in done.absorbed.what]
    for clash in done.absorbed.conflicts:
        lines.append(f"conflict in {clash.slug}, {clash.field}: the document says {clash.document!r}, the file says {clash.file!r}")
    lines += [f"the index names {path}, which does not exist" for path in done.absorbed.dangling]
    return lines


# --- capture -----------------------------------------------------------------------------------------------------------


def note(call: Call) -> Answer:
    """Capture a lesson, or count it when it is known."""
    saying = Saying(
        rule=call.text("rule"),
        why=call.text("why"),
        how=call.text("how"),
        title=call.text("title"),
        name=call.text("name"),
        type=call.text("type") or "feedback",
        kind=call.text("kind") or "note",
        context=call.text("context"),
        evidence=call.text("evidence"),
        tags=call.many("tag"),
    )
    if saying.rule == "-":
        saying = life.from_text(sys.stdin.buffer.read().decode("utf-8", "replace"), saying)
    life.check_saying(saying)
    same, new, old = call.text("same"), call.flag("new"), call.text("supersedes")
    return _change(call, lambda draft: life.note(draft, saying, same=same, new=new, supersedes=old))


def _on_lesson(call: Call, act: Callable[[Draft, str], Outcome]) -> Answer:
    return _change(call, lambda draft: act(draft, find_slug(draft.memory, call.text("slug"))))


def confirm(call: Call) -> Answer:
    return _on_lesson(call, lambda draft, slug: life.confirm(draft, slug, call.text("evidence")))


def dispute(call: Call) -> Answer:
    return _on_lesson(call, lambda draft, slug: life.dispute(draft, slug, call.text("evidence")))


def pin(call: Call) -> Answer:
    return _on_lesson(call, lambda draft, slug: life.pin(draft, slug, on=True))


def unpin(call: Call) -> Answer:
    return _on_lesson(call, lambda draft, slug: life.pin(draft, slug, on=False))


def graduate(call: Call) -> Answer:
    return _on_lesson(call, life.graduate)


def archive(call: Call) -> Answer:
    return _on_lesson(call, lambda draft, slug: life.archive(draft, slug, call.text("note")))


def forget(call: Call) -> Answer:
    return _on_lesson(call, lambda draft, slug: life.archive(draft, slug, "forgotten", "forget"))


def rename(call: Call) -> Answer:
    return _on_lesson(call, lambda draft, slug: life.rename(draft, slug, call.text("new")))


def supersede(call: Call) -> Answer:
    return _change(
        call, lambda d: life.supersede(d, find_slug(d.memory, call.text("new")), find_slug(d.memory, call.text("old")))
    )


def merge(call: Call) -> Answer:
    return _change(call, lambda d: life.merge(d, find_slug(d.memory, call.text("new")), find_slug(d.memory, call.text("old"))))


def restore(call: Call) -> Answer:
    """Bring a lesson back; a removed file comes from git, else from what the tool remembers."""
    place = call.place

    def build(draft: Draft) -> Outcome:
        name = stem(call.text("slug"))
        if name not in draft.lessons and not any(slug.startswith(name) for slug in draft.lessons):
            gone = history.text_before(place, name) if place.repo else None
            row = (store.load_ledger(place) or store.Ledger({})).agreed.get(name)
            if gone is None and row and row.text:
                gone = row.path, row.text
            if gone:
                return life.restore(draft, name, "", gone[1], gone[0])
        slug = find_slug(draft.memory, name)
        lesson = draft.lesson(slug)
        state = history.state_before(place, lesson.path) if place.repo and lesson.state == "archived" else ""
        return life.restore(draft, slug, state)

    return _change(call, build, place)


def codify_lesson(call: Call) -> Answer:
    return _codify(call, call.text("into"), call.text("section") or codify.SECTION, "codify")


def promote(call: Call) -> Answer:
    return _codify(call, call.text("into") or "learnings.md", codify.SECTION, "codify")


def _codify(call: Call, into: str, heading: str, change: str) -> Answer:
    place = call.place
    target = codify_target(place, call, into)
    return _change(call, lambda d: codify.codify(d, find_slug(d.memory, call.text("slug")), target, heading, change), place)


def codify_target(place: Place, call: Call, into: str) -> codify.Target:
    """The file that a rule goes into: named from the skill's folder, the repository's root or the working directory."""
    from learnloop_md import git  # lazy: one use

    root = place.folder.parent if place.kind == "skill" else place.repo.root if place.repo and not place.own_repo else call.cwd
    name = into or ("SKILL.md" if place.kind == "skill" else "CLAUDE.md")
    path = next((p for p in (root / name, call.cwd / name) if p.exists()), root / name).absolute()
    real = path.resolve()
    if real.is_dir() or path.suffix != ".md":
        raise UsageError(f"--into {name}: not a markdown file", "name a .md file: SKILL.md, CLAUDE.md, AGENTS.md or a guide")
    if not real.is_relative_to(root.resolve()) and not real.is_relative_to(call.cwd.resolve()):
        raise UsageError(f"--into {name} leads out of {root}", "name a file inside it", code="path-traversal")
    if real.is_relative_to(place.folder) and (real.name == place.document or place.kind == "project" or "lessons" in real.parts[-2:-1]):
        raise UsageError(f"--into {name} lies in the memory itself", "name SKILL.md, CLAUDE.md, AGENTS.md or a guide")
    data = store.read_bytes(path)
    inside = place.repo is not None and real.is_relative_to(place.repo.root)
    if place.repo and inside and git.changed(place.repo, path.relative_to(place.repo.root).as_posix()):
        hint = "commit or stash it first, so that your edit and the rule stay apart"
        raise codify.UnableError(f"{name} has changes that are not committed", hint, code="dirty-target")
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    text = data.decode("utf-8", "surrogateescape") if data is not None else ""
    return codify.Target(apply.folder_in(place, path), shown, text, data is not None)


def undo_last(call: Call) -> Answer:
    place = call.place
    if place.repo is None:
        raise codify.UnableError("there is no git history here to undo from", "run: git init, then learnloop init", code="no-git")

    def build(draft: Draft) -> Outcome:
        return undo.undo(draft, place, undo.reversal_of(place, call.text("what")))

    return _change(call, build, place)


def sync(call: Call) -> Answer:
    """Absorb what people and Claude changed, and commit what was queued."""
    place = call.place
    done = apply.change(place, call.asked, lambda draft: draft.cut("absorb", [], "the document is brought in step"))
    slugs = done.absorbed.slugs
    action = "absorbed" if done.plans or done.commits else "unchanged"
    state = done.memory.lessons[slugs[0]].state if len(slugs) == 1 and slugs[0] in done.memory.lessons else ""
    said = () if done.plans else ("everything is in step",)
    more = {"conflicts": [clash._asdict() for clash in done.absorbed.conflicts], "absorbed": list(done.absorbed.what)}
    outcome = Outcome(action, ", ".join(slugs), state, said, more)
    answer = told(place, done, outcome, dry_run=call.flag("dry_run"))
    text = "everything is in step" if action == "unchanged" and not call.flag("dry_run") else answer.text
    return answer._replace(text=text, code=1 if done.absorbed.conflicts else 0)


def init(call: Call) -> Answer:
    options = initialise.Options(
        call.cwd, call.asked, call.flag("native"), call.text("skill"), call.text("dir"), yes=call.flag("yes")
    )
    made = initialise.initialise(options)
    place = made.place
    outcome = Outcome("initialised", "", "", (), {"memory": str(place.folder), "kind": place.kind, "adopted": made.adopted})
    answer = told(place, made.done, outcome, dry_run=call.flag("dry_run"))
    count = f", {made.adopted} {'lesson' if made.adopted == 1 else 'lessons'} adopted" if made.adopted else ""
    lines = [f"memory: {place.folder} ({place.kind}{count})", *made.said]
    lines += [f"{consent.what} — {consent.how}" for consent in made.open]
    commit = [f"commit {made.done.commits[-1][:10]}"] if made.done.commits else []
    return answer._replace(text="\n".join([*lines, *commit]), data={**answer.data, "open": [c._asdict() for c in made.open]})


