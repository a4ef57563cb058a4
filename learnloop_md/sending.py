"""The commands that send a memory to others: `propose` as a branch, `sync --remote` as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnloop_md import absorb, account, git, verbs
from learnloop_md.answer import Answer, coloured, use_colour, visible_lines
from learnloop_md.apply import Done
from learnloop_md.calls import Call
from learnloop_md.errors import UsageError
from learnloop_md.history import trailer
from learnloop_md.life import Outcome

if TYPE_CHECKING:
    from learnloop_md.propose import Proposed

_QUIET = ("--no-ext-diff", "--no-textconv")  # no code of the configuration is run


def sync(call: Call) -> Answer:
    """Absorb and commit; with --remote also bring in what others sent, and send."""
    if not call.flag("remote"):
        return verbs.sync(call)
    from learnloop_md import remote  # lazy: only with --remote

    place = call.place
    remote.check(place)
    answer = verbs.sync(call)
    if call.flag("dry_run"):
        return answer._replace(notices=(*answer.notices, "then it would fetch, and push what others do not have"))
    synced = remote.sync(place, call.asked)
    commits = [synced.made.get(commit, commit) for commit in answer.data["commits"]]
    changes = synced.pulled or synced.pushed or answer.data["action"] != "unchanged"
    data = {
        **answer.data,
        "action": "synced" if changes else "unchanged",
        "commits": commits,
        "upstream": synced.upstream,
        "pulled": synced.pulled,
        "pushed": list(synced.pushed),
    }
    went = f"{synced.upstream}: {_count(synced.pulled)} in, {_count(len(synced.pushed))} out"
    return answer._replace(
        text=went if changes else f"{synced.upstream} has the same",
        data=data,
        notices=tuple(dict.fromkeys([*answer.notices, *synced.notices])),
    )


def _count(number: int) -> str:
    return "1 commit" if number == 1 else f"{number} commits"


def propose(call: Call) -> Answer:
    """A branch of its own with what the remote does not have."""
    from learnloop_md import propose as proposing  # lazy: one command needs it

    place = call.place
    for option in ("branch", "remote"):
        if call.words.get(option) is not None and not call.text(option).strip():
            raise UsageError(f"--{option} has no name", f"name one, or leave --{option} away")
    made = proposing.propose(
        place, call.asked, name=call.named("branch"), remote=call.text("remote"), push=call.flag("push")
    )
    slugs = tuple(dict.fromkeys(slug for patch in made.patches for slug in trailer(patch.message, "Lesson")))
    paths = sorted({path for patch in made.patches for path in patch.files})
    more = {"branch": made.branch, "base": made.base, "pushed": made.pushed, "paths": paths}
    sent = f"pushed to {made.remote}" if made.pushed else f"send it with: {proposing.push_command(made)}"
    hint = proposing.pull_request(place, made)
    ways = [sent, *([f"ask for its merge: {hint}"] if hint else [])]
    if not made.branch:
        outcome = Outcome("unchanged", "", "", (f"{made.base} has everything",), more)
    elif not made.patches:
        outcome = Outcome("unchanged", "", "", (f"the branch {made.branch} holds it all", *ways), more)
    else:
        shown = [
            f"{commit[:10]} {patch.message.partition(chr(10))[0]}"
            for commit, patch in zip(made.commits, made.patches, strict=True)
        ]
        headline = f"proposed {made.branch} on {made.base}"
        outcome = Outcome("proposed", ", ".join(slugs), "", (*shown, *ways), more, headline=headline)
    done = Done((), made.commits, False, made.notices, absorb.Report((), (), (), ()), made.done.memory)
    answer = account.told(place, done, outcome)
    return _previewed(call, answer, made) if call.flag("dry_run") else answer


def _previewed(call: Call, answer: Answer, made: Proposed) -> Answer:
    """What --dry-run shows: the messages and diffs of the commits; no branch has them."""
    repo = call.place.repo
    assert repo is not None, "there is no proposal without a repository"
    diffs = [git.out(repo.root, "diff-tree", "-p", "--no-commit-id", *_QUIET, commit) for commit in made.commits]
    plans = [{"message": patch.message, "diff": diff} for patch, diff in zip(made.patches, diffs, strict=True)]
    shown = [f"{visible_lines(row['message'])}\n{coloured(row['diff'], colour=use_colour())}" for row in plans]
    text = "\n".join(shown) or answer.text
    return answer._replace(text=text, data={**answer.data, "dry_run": True, "plans": plans})


def share(call: Call) -> Answer:
    """Put lessons, scrubbed, on a branch of a team's memory."""
    from learnloop_md import place, sharing  # lazy: as above

    if not call.named("to"):
        raise UsageError("the team's memory is missing", "name it: learnloop share SLUG --to PATH")
    team = place.given(call.cwd, call.named("to"), "--to")
    made = sharing.share(
        call.place, call.many("slugs"), team, call.asked, name=call.named("branch"), hide=call.many("hide")
    )
    rows = [{"from": slug, "slug": row.slug, "action": row.action} for slug, row in made.rows]
    said = [f"{row['from']}: {row['action']} as {row['slug']}" for row in rows]
    said += [f"rewritten in {slug}, look at it: {text}" for slug, text in made.rewritten]
    if made.done.commits:
        said.append(f"on the branch {made.branch}; send it: git -C {team.folder} push -u origin {made.branch}")
    action = "shared" if made.branch else "unchanged"
    state = made.rows[0][1].state if len(made.rows) == 1 else ""
    more = {"shared": rows, "branch": made.branch, "to": str(team.folder)}
    more["rewritten"] = [text for _, text in made.rewritten]
    outcome = Outcome(action, ", ".join(row["slug"] for row in rows), state, tuple(said), more, headline=action)
    return account.told(team, made.done, outcome, dry_run=call.flag("dry_run"))
