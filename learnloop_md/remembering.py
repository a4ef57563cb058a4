"""`remember`: the strict way in. What a run taught is kept only when it is verified (R003-20, R003-52, ruling C1)."""

from __future__ import annotations

from learnloop_md import claude, life, runlog, running, runs, skill, tiers, verbs
from learnloop_md.answer import Answer
from learnloop_md.calls import Call
from learnloop_md.errors import RefusedError, UsageError
from learnloop_md.life import Saying
from learnloop_md.place import Place
from learnloop_md.runs import OpenRun

_BEGIN = "begin one: learnloop run start; learnloop run finish ok --verified keeps what was held in it"


def remember(call: Call) -> Answer:
    """Hold a rule until its open run is verified, or keep it of a run that was; refused outside of both."""
    saying = Saying(
        rule=call.text("text"),
        why=call.text("why"),
        how=call.text("how"),
        type=call.text("type") or "feedback",
        kind=call.text("kind") or "note",
        evidence=call.text("evidence"),
        tags=call.many("tag"),
    )
    try:
        saying = verbs.checked(saying)
        _refuse_what_is_no_lesson(saying.rule)
        place = call.target
        saying = saying._replace(skill_version=skill.version(place))
        opened = _open_run(call)
        if opened:
            return _held(call, place, saying, opened)
        _refuse_unverified(call, place)
        answer = verbs.changed(call, lambda draft: life.note(draft, saying), place)
    except RefusedError as error:
        return verbs.refused(error)
    if not call.flag("dry_run"):
        call.captured(str(answer.data["slug"]))
    return answer


def _refuse_what_is_no_lesson(text: str) -> None:
    """R003-22: no conversation, no tool output, nothing that the repository tells anyway; counters belong elsewhere."""
    tier = tiers.where(text)
    if tier.name != "lesson":
        hint = tier.command or "write down the rule that holds for the next run"
        raise RefusedError(f"no lesson: {tier.why}", hint, code=f"no-lesson-{tier.name}")


def _open_run(call: Call) -> OpenRun | None:
    """The open run that is meant: the one named, else this session's.

    A caller that knows no session (another program than Claude Code) means the only one that is open here.
    """
    named = call.text("of_run")
    here = runs.current(call.session)
    if here and not named:
        return here
    if not named and claude.session():
        return None
    found = [run for run in runs.open_runs(call.home) if run.id.startswith(named)]
    if len(found) > 1:
        ids = ", ".join(run.id for run in found[:5])
        raise UsageError(f"several runs are open: {ids}", "say which: --of-run ID", code="ambiguous-run")
    return found[0] if found else None


def _held(call: Call, place: Place, saying: Saying, opened: OpenRun) -> Answer:
    if call.flag("dry_run"):
        return Answer("would be held until the run is verified", {**verbs.HELD, "dry_run": True, "plans": []})
    held = running.hold(opened.session, place, saying, call.asked)
    if held is None:
        raise RefusedError("the run has just ended", _BEGIN, code="no-run")
    call.captured("")
    return verbs.told_held(saying, held)


def _refuse_unverified(call: Call, place: Place) -> None:
    """Raises RefusedError unless a run is named that ended verified."""
    named = call.text("of_run")
    if not named:
        raise RefusedError("no run is open here, and only a verified run is remembered", _BEGIN, code="no-run")
    found = [run for run in runlog.load(place) if run.id.startswith(named)]
    if not found:
        raise UsageError(f"there is no run {named!r} here", "learnloop run start prints the id", code="unknown-run")
    if not all(run.verified for run in found):
        raise RefusedError(f"the run {found[-1].id} was not verified", _BEGIN, code="unverified")
