"""The command `verify`: what lessons speak of against the tree (design §9); with --witness the memory against git."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from learnloop_md import account, apply, checks, lessonfile, memory, standing
from learnloop_md.answer import Answer
from learnloop_md.calls import Call
from learnloop_md.checkup import findings_told
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.lesson import Lesson
from learnloop_md.life import Outcome
from learnloop_md.memory import Memory, find_slug
from learnloop_md.plan import Draft


def verify_memory(call: Call) -> Answer:
    """The lessons whose anchors changed or went; --fix records them as they are now, --witness looks at the memory."""
    if call.flag("witness"):
        if call.flag("fix") or call.text("slug"):
            raise UsageError("--witness looks at the whole memory and mends nothing", "run: learnloop verify --witness")
        return _witnessed(call)
    if call.flag("accept"):
        raise UsageError("--accept goes with --witness", "run: learnloop verify --witness --accept")
    if standing.code_of(call.place, call.cwd) is None:
        hint = "run it in the repository that the lessons speak of"
        raise UnableError("there is no git here to compare with", hint, code="no-git")
    return _fixed(call) if call.flag("fix") else _looked(call, memory.load(call.place))


def _witnessed(call: Call) -> Answer:
    from learnloop_md.verify import verify  # lazy: the other half of the command

    place = call.place
    found = verify(place, call.today, accept=call.flag("accept"))
    answer = findings_told(place, call.cwd, found.findings)
    text = answer.text or found.said
    return answer._replace(text=text, notices=(*answer.notices, *found.notices))


def _meant(rows: Memory, call: Call) -> list[Lesson]:
    """The lesson that is named, else every active one."""
    if call.text("slug"):
        return [rows.lessons[find_slug(rows, call.text("slug"))]]
    return [row for row in rows.lessons.values() if row.is_active]


def _looked(call: Call, rows: Memory) -> Answer:
    """What is stale, as findings; exit code 1 where anything is."""
    meant = _meant(rows, call)
    stale = standing.stale(call.place, call.cwd, meant)
    answer = findings_told(call.place, call.cwd, checks.stale_anchors(rows, standing.told(stale)))
    if stale:
        return answer._replace(code=1)
    count = f"{len(meant)} {'lesson' if len(meant) == 1 else 'lessons'}"
    return answer._replace(text=f"{count} looked at: nothing that they speak of has changed or gone")


def _fixed(call: Call) -> Answer:
    """Record anchors as they stand, after a person said yes; what went is accepted for a lesson that is named."""
    place, named = call.place, call.text("slug")
    wanted: dict[str, tuple[str, ...]] = {}

    def build(draft: Draft) -> None:
        rows = [row for row in _meant(draft.memory, call) if lessonfile.is_editable(row)]
        wanted.update(standing.verified(place, call.cwd, rows, gone_too=bool(named)))
        for slug, entries in wanted.items():
            draft.set(slug, anchors=entries or None)
        count = "1 lesson" if len(wanted) == 1 else f"{len(wanted)} lessons"
        subject = f"learnloop: verify {count}" if len(wanted) > 3 else ""
        draft.cut("verify", sorted(wanted), "what they speak of was looked at and holds", subject=subject)

    if call.flag("dry_run") or not call.flag("yes"):
        done = apply.change(place, call.asked._replace(dry_run=True), build)
        shown = account.told(place, done, _outcome(wanted), dry_run=True)
        if call.flag("dry_run") or not wanted:
            return shown
        if sys.stdin is None or not sys.stdin.isatty():
            notice = f"nothing was written; to write it: learnloop verify {f'{named} ' if named else ''}--fix --yes"
            return shown._replace(notices=(*shown.notices, notice), code=1)
        out = sys.stderr if call.flag("json") else sys.stdout
        print(f"{shown.text}\nthese lessons still hold? [y/N] ", end="", file=out, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return Answer("nothing was written", {**shown.data, "action": "declined"}, (), 1)
        wanted.clear()
    done = apply.change(place, call.asked, build)
    answer = account.told(place, done, _outcome(wanted))
    left = _looked(call, memory.load(place))
    if not left.code:
        return answer
    return answer._replace(text=f"{answer.text}\n{left.text}", data={**answer.data, **left.data}, code=1)


def _outcome(wanted: Mapping[str, tuple[str, ...]]) -> Outcome:
    slugs = sorted(wanted)
    if not slugs:
        return Outcome("unchanged", "", "", ("what the lessons speak of is recorded as it is",))
    headline = f"verified {', '.join(slugs[:3])}" + (f" and {len(slugs) - 3} more" if slugs[3:] else "")
    return Outcome("verified", ", ".join(slugs), "", (), {"verified": slugs}, headline=headline)
