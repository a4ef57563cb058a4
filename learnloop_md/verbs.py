"""The commands that change a memory: each plans on a Draft, has it applied, and says what became of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from learnloop_md import account, advice, apply, git, guard, lessonfile, life, runs, skill
from learnloop_md.answer import Answer, told_error, visible
from learnloop_md.calls import Call
from learnloop_md.errors import LearnloopError, RefusedError, UnableError, UsageError
from learnloop_md.lesson import check_slug
from learnloop_md.lessonfile import stem
from learnloop_md.life import Outcome, Saying
from learnloop_md.memory import find_slug, meant
from learnloop_md.place import Place
from learnloop_md.plan import Draft, way_out
from learnloop_md.runs import OpenRun

if TYPE_CHECKING:
    from learnloop_md.codify import Standing
    from learnloop_md.gate import Between
    from learnloop_md.recall import Alike  # lazy: see life.note


def changed(call: Call, build: Callable[[Draft], Outcome], place: Place | None = None) -> Answer:
    """Apply one change and answer it."""
    where = place or call.target
    outcomes: list[Outcome] = []
    done = apply.change(where, call.asked, lambda draft: outcomes.append(build(draft)))
    return account.told(where, done, outcomes[0], dry_run=call.flag("dry_run"))


def note(call: Call) -> Answer:
    """Capture a lesson, or count it when it is known."""
    by_trigger = advice.of_trigger(call.text("trigger"))
    saying = Saying(
        rule=call.text("rule"),
        why=call.text("why"),
        how=call.text("how"),
        title=call.text("title"),
        name=call.text("name"),
        type=call.text("type") or by_trigger[0],
        kind=call.text("kind") or by_trigger[1],
        context=call.text("context"),
        evidence=call.text("evidence"),
        tags=call.many("tag"),
        manual=call.flag("manual"),
    )
    try:
        if call.words.get("name") == "":  # given and empty: no name, not none
            check_slug("")
        saying = checked(saying)
        same, new, old = call.text("same"), call.flag("new"), call.text("supersedes")
        place = call.target
        saying = saying._replace(skill_version=skill.version(place))
        if held := _held(call, place, saying):
            return held
        notices: list[str] = []
        alike, between = _by_meaning(place, notices)

        def noted(draft: Draft) -> Outcome:
            return life.note(draft, saying, same=same, new=new, supersedes=old, alike=alike, between=between)

        answer = changed(call, noted, place)
        answer = answer._replace(notices=(*answer.notices, *notices))
        remembered(call, answer)
        return _advised(answer, saying.rule, place)
    except RefusedError as error:  # never silent, and in the form of R001-71
        return refused(error)


def refused(error: RefusedError) -> Answer:
    """The answer for what was not kept."""
    hints = (error.hint,) if error.hint else ()
    return Answer(account.not_saved(error.message), told_error(error), hints, error.exit_code)


def _held(call: Call, place: Place, saying: Saying) -> Answer | None:
    """The answer for a note that waits for the end of the run it is made in (R003-10), None where none waits."""
    if runs.current(call.session) is None:
        return None
    from learnloop_md import memory, running  # lazy: only inside a run

    if not running.waits(saying):
        return None
    same, new, old = call.text("same"), call.flag("new"), call.text("supersedes")
    for name in filter(None, (same, old)):  # what is wrong is told now, not at the end of the run
        find_slug(memory.load(place), name)
    if call.flag("dry_run"):
        return Answer("would be held until the run is verified", {**HELD, "dry_run": True, "plans": []})
    opened = running.hold(call.session, place, saying, call.asked, same=same, new=new, supersedes=old)
    if opened is None:
        return None
    call.captured("")
    return told_held(saying, opened)


def told_held(saying: Saying, opened: OpenRun) -> Answer:
    """The answer for a note that was just added to those of an open run."""
    count = len(opened.held) + 1
    text = f"[LearnLoop] Held until the run is verified: {lessonfile.describe(saying.rule)}"
    end = f"  → learnloop run finish ok --verified keeps it ({count} held)"
    return Answer(f"{visible(text)}\n{end}", {**HELD, "run": opened.id, "held": count})


HELD = {"action": "held", "slug": "", "state": "held", "commits": [], "queued": False, "paths": []}


def remembered(call: Call, answer: Answer) -> None:
    """Remember for the session, and for the run that is open, what was kept in it without waiting."""
    if call.flag("dry_run"):
        return
    call.captured(str(answer.data["slug"]))
    if opened := runs.current(call.session):
        runs.keep(opened, str(answer.data["slug"]))


def _by_meaning(place: Place, notices: list[str]) -> tuple[Alike | None, Between | None]:
    """Likeness by meaning, where the settings ask for it and the extra is there; else a line why not."""
    if not place.settings.semantic:
        return None, None
    from learnloop_md import meaning  # lazy: a model

    found = meaning.told(place, notices)
    return (found.likeness, meaning.between(lambda: found)) if found else (None, None)


def _advised(answer: Answer, rule: str, place: Place) -> Answer:
    """The answer with what speaks against keeping the note; it is kept all the same (R001-20, R001-21)."""
    found = advice.advise(rule, skill.instructions(place)) if answer.data["action"] == "added" else []
    told = tuple(f"advice: {row.why}" for row in found)
    return answer._replace(
        data={**answer.data, "advice": [row._asdict() for row in found]}, notices=answer.notices + told
    )


def checked(saying: Saying) -> Saying:
    """A saying that may be noted, taken from standard input where its rule is "-"."""
    if saying.rule == "-":
        said = standard_input()
        guard.refuse_secrets({"standard input": said})  # as it came: taking it apart folds lines
        saying = life.from_text(said, saying)
    life.check_saying(saying)
    return saying


def standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except (AttributeError, UnicodeDecodeError) as error:
        raise UsageError(
            "standard input holds no UTF-8 text", "pipe the rule in as UTF-8, or give it as a word"
        ) from error


def _on_lesson(call: Call, act: Callable[[Draft, str], Outcome]) -> Answer:
    return changed(call, lambda draft: act(draft, find_slug(draft.memory, call.text("slug"))))


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
    return changed(
        call,
        lambda d: life.supersede(d, find_slug(d.memory, call.text("new")), find_slug(d.memory, call.text("old"))),
    )


def merge(call: Call) -> Answer:
    return changed(
        call,
        lambda d: life.merge(d, find_slug(d.memory, call.text("new")), find_slug(d.memory, call.text("old"))),
    )


def restore(call: Call) -> Answer:
    """Bring a lesson back; a removed file comes from git, else from what the tool remembers."""
    from learnloop_md import history, store, target  # lazy: GitPython's door

    place = call.place

    def build(draft: Draft) -> Outcome:
        name = _removed(place, stem(call.text("slug")), draft)
        if name not in draft.lessons:
            gone = history.text_before(place, name) if place.repo else None
            row = (store.load_ledger(place) or store.Ledger({})).agreed.get(name)
            if gone is None and row and row.text:
                gone = row.path, row.text
            if gone:
                return life.restore(draft, name, "", gone[1], gone[0])
            if place.repo and git.cut_off(place.repo) and not meant(name, draft.lessons):
                raise git.too_shallow(place.repo, f"it holds no lesson {name!r} and no commit of one")
        slug = find_slug(draft.memory, name)
        lesson = draft.lesson(slug)
        state = history.state_before(place, lesson.path) if place.repo and lesson.state == "archived" else ""
        outcome = life.restore(draft, slug, state)
        still = [row for row in target.standing(place) if row.slug == slug] if outcome.action == "restored" else []
        said = [f"its rule still stands in {row.name}:{row.line}: {_take_out(row)}" for row in still]
        return outcome._replace(said=(*outcome.said, *said))

    return changed(call, build, place)


def _take_out(row: Standing) -> str:
    return f"take that line out, or archive the lesson again: learnloop codify {row.slug} --into {row.name}"


def _removed(place: Place, name: str, draft: Draft) -> str:
    """The removed lesson that a unique beginning names, else the name as it is."""
    from learnloop_md import store

    rows = (store.load_ledger(place) or store.Ledger({})).agreed
    if name in draft.lessons or name in rows:
        return name
    if any(slug.startswith(name) for slug in draft.lessons):
        return name
    found = [slug for slug in rows if slug.startswith(name) and slug not in draft.lessons]
    return found[0] if len(found) == 1 else name


def codify_lesson(call: Call) -> Answer:
    return _codify(call, call.named("into"), call.named("section"))


def promote(call: Call) -> Answer:
    return _codify(call, call.named("into") or "learnings.md", "")


def _codify(call: Call, into: str, heading: str) -> Answer:
    """Codify here, or with --branch as a commit on a new branch while here nothing changes."""
    from learnloop_md import branch, codify, target  # lazy: two commands need them

    place, name = call.place, call.named("branch")
    if place.linked and not name:
        hint = "run it in the main checkout, or make a branch of it: --branch NAME"
        raise UnableError(
            "this is a linked worktree: the rule would land in the main checkout", hint, code="linked-worktree"
        )
    goal = target.find(place, call.cwd, into)

    def build(draft: Draft) -> Outcome:
        slug = find_slug(draft.memory, call.text("slug"))
        return codify.codify(draft, slug, goal, heading or codify.SECTION)

    if not name:
        return changed(call, build, place)
    outcomes: list[Outcome] = []
    done = branch.change(place, call.asked, lambda draft: outcomes.append(build(draft)), name)
    outcome = outcomes[0]._replace(more={**outcomes[0].more, "branch": name})
    if done.commits:
        said = f"on the branch {name}; here nothing changed. Send it with: git push -u origin {name}"
        outcome = outcome._replace(said=(*outcome.said, said))
    return account.told(place, done, outcome, dry_run=call.flag("dry_run"))


def undo_last(call: Call) -> Answer:
    from learnloop_md import undo  # lazy: GitPython's door

    place = call.place
    if place.repo is None:
        hint = "run: git init, then learnloop init"
        raise UnableError("there is no git history here to undo from", hint, code="no-git")
    return changed(call, lambda draft: undo.undo(draft, place, undo.reversal_of(place, call.text("what"))), place)


def sync(call: Call) -> Answer:
    """Absorb what people and Claude changed, and commit what was queued."""
    if call.flag("after_commit"):
        return _after_commit(call)
    if call.flag("resolve"):
        return _resolve(call)
    return _synced_for_claude(call) if call.flag("from_claude") else _synced(call, call.place)


def _synced(call: Call, place: Place) -> Answer:
    done = apply.change(place, call.asked, lambda draft: draft.cut("absorb", [], "the document is brought in step"))
    if hurt := done.memory.blocked:
        raise UnableError(f"{hurt.path}:{hurt.line}: {hurt.message}", way_out(hurt.reason), code=hurt.reason)
    slugs = done.absorbed.slugs
    changes = bool(done.plans or done.commits)
    state = done.memory.lessons[slugs[0]].state if len(slugs) == 1 and slugs[0] in done.memory.lessons else ""
    more = {
        "conflicts": [clash._asdict() for clash in done.absorbed.conflicts],
        "absorbed": list(done.absorbed.what),
        "queued": done.queued or done.left > 0,
        "waiting": done.waiting,
    }
    waits = done.absorbed.waiting
    stays = bool(done.waiting or done.queued or done.left)
    nothing = f"everything {'else ' if stays else ''}is in step"
    if done.waiting and done.waiting not in done.notices:
        nothing = f"{visible(done.waiting)}; {nothing}"
    said = () if changes else ("what others wrote waits",) if waits else (nothing,)
    in_git = "brought in step" if done.plans else "committed what was queued"
    headline = "" if slugs else nothing if stays else in_git
    outcome = Outcome("absorbed" if changes else "unchanged", ", ".join(slugs), state, said, more, headline=headline)
    if changes and done.waiting and done.waiting not in done.notices:
        done = done._replace(notices=(*done.notices, done.waiting))
    answer = account.told(place, done._replace(earlier=0), outcome, dry_run=call.flag("dry_run"))
    in_step = not (changes or waits or call.flag("dry_run") or done.absorbed.conflicts)
    return answer._replace(text=nothing if in_step else answer.text, code=1 if done.absorbed.conflicts else 0)


def _synced_for_claude(call: Call) -> Answer:
    """As ever, and the cleanup plan and what to verify first are ready when the next session begins (R002-52)."""
    from learnloop_md import briefing, curate, memory, sessions, standing  # lazy: Claude's hooks alone need them

    place = call.place
    answer = _synced(call, place)
    sessions.forget_old()
    loaded = memory.load(place)
    plan = curate.summary(curate.plan(loaded, call.today)) if curate.reasons(loaded, call.today) else ""
    active = [row for row in loaded.lessons.values() if row.is_active]
    stale = standing.stale(place, call.cwd, active, limit_s=30)  # nobody waits for it
    briefing.complete(place, plan, standing.told(stale))
    return answer


def _resolve(call: Call) -> Answer:
    """Rebuild what a merge left in conflict, then absorb and commit as ever."""
    from learnloop_md import git, resolve  # lazy: only after a merge

    place = call.place
    if call.flag("dry_run"):
        raise UsageError("--resolve has no --dry-run", "run it: git checkout --merge FILE brings a conflict back")
    found = resolve.resolve(place)
    said = [f"rebuilt {path} from both sides" for path in found.files]
    data: dict[str, Any] = {"resolved": list(found.files), "left": [path for path, _ in found.left]}
    notices = (*found.notices, *(f"{place.in_repo(path)}: {why}" for path, why in found.left))
    if found.left:
        return Answer("\n".join(said), {"action": "unresolved", "commits": [], **data}, notices, code=1)
    operation = git.unfinished(place.repo) if place.repo else ""
    if operation:
        said.append(f"{operation} is in progress: git add what else you settled, then let git continue")
        return Answer("\n".join(said), {"action": "resolved", "commits": [], **data}, notices)
    if found.was_open:
        said.append(
            "nothing tells git what this conflict is of (a squash, a stash): git commit it, then learnloop sync"
        )
        return Answer("\n".join(said), {"action": "resolved", "commits": [], **data}, notices)
    answer = _synced(call, place)
    text = "\n".join([*said, answer.text])
    return answer._replace(text=text, data={**answer.data, **data}, notices=(*notices, *answer.notices))


def _after_commit(call: Call) -> Answer:
    """Every memory of the repository: what a person's commit kept waiting gets its own now."""
    made: list[str] = []
    notices: list[str] = []
    for place in call.hooked_places:
        try:
            done = apply.drain(place, call.asked._replace(after_commit=True))
        except LearnloopError as error:  # the person's commit is made: a hook of theirs must not seem to fail
            notices.append(error.message)
        else:
            made += done.commits
            notices += done.notices
    text = f"committed what was queued ({', '.join(commit[:10] for commit in made)})" if made else ""
    data = {"action": "committed" if made else "unchanged", "commits": made}
    return Answer(text, data, tuple(notices))


def init(call: Call) -> Answer:
    from learnloop_md import initialise  # lazy: once in a memory's life

    options = initialise.Options(
        call.cwd,
        call.asked,
        call.flag("native"),
        call.text("skill"),
        call.named("dir"),
        yes=call.flag("yes"),
        auto_learn=call.flag("auto_learn"),
    )
    made = initialise.initialise(options)
    place = made.place
    more = {"memory": str(place.folder), "kind": place.kind, "adopted": made.adopted}
    outcome = Outcome("initialised", "", "", (), more)
    answer = account.told(place, made.done, outcome, dry_run=call.flag("dry_run"))
    count = f", {made.adopted} {'lesson' if made.adopted == 1 else 'lessons'} adopted" if made.adopted else ""
    lines = [f"memory: {place.folder} ({place.kind}{count})", *made.said]
    lines += [f"{consent.what} — {consent.how}" for consent in made.open]
    if made.done.own:
        lines.append(f"commit {made.done.own[-1][:10]}")
    if call.flag("dry_run") and made.done.plans:
        lines += ["", answer.text]
    return answer._replace(text="\n".join(lines), data={**answer.data, "open": [c._asdict() for c in made.open]})
