"""`demo`: a lesson's whole life in a temporary repository, from a copy of the sample skill; no network, no identity."""

from __future__ import annotations

import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from learnloop_md import door, git, witness
from learnloop_md.answer import Answer, coloured, use_colour, visible
from learnloop_md.calls import Call
from learnloop_md.commands import BY_NAME
from learnloop_md.errors import UnableError

RULE = "Read the down step before approving a migration."
AGAIN = "Before approving a migration, read the down step."
SLUG = "read-the-down-step-before-approving-a-migration"
STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "A review is corrected: the lesson becomes a candidate",
        (
            *("note", RULE, "--why", "PR 231 could not be rolled back: its down step was empty."),
            *("--how", "Open the down step first; ask for one when it is missing.", "--kind", "correction"),
            *("--tag", "migrations", "--evidence", "review of PR 231", "--run", "a41c09d2", "--today", "2026-11-30"),
        ),
    ),
    (
        "Another session is corrected in other words: the second sighting graduates it",
        ("note", AGAIN, "--evidence", "review of PR 240", "--run", "c7d80b16", "--today", "2026-12-02"),
    ),
    ("Cleanup archives what was seen once and never again", ("cleanup", "--apply", "--today", "2026-12-08")),
    (
        "The proven rule is folded into SKILL.md and archived, in one commit",
        ("codify", SLUG, "--run", "e92f5a70", "--today", "2026-12-20"),
    ),
    (
        "A second thought: the last command is taken back, skill, memory and lesson together",
        ("undo", "--run", "e92f5a70", "--today", "2026-12-20"),
    ),
)


class Show:
    """A demonstration: runs real commands, and prints what each changed."""

    def __init__(self, root: Path, *, quiet: bool) -> None:
        self.root, self.quiet = root, quiet
        self.memory = root / ".claude" / "skills" / "pr-review" / "references"
        self.seen = ""

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, flush=True)

    def step(self, number: int, title: str, *argv: str) -> Answer:
        """Run one command, print its words, its answer and the diff of each commit it made."""
        parsed = door.parse([*argv, "--memory", str(self.memory)])
        assert parsed, f"the demonstration calls a command wrongly: {argv}"
        bold, off = ("\x1b[1m", "\x1b[0m") if use_colour() else ("", "")
        self.say(f"\n{bold}{number}. {title}{off}\n$ learnloop " + " ".join(f'"{w}"' if " " in w else w for w in argv))
        module, _, function = BY_NAME[parsed[0]].function.partition(":")
        answer: Answer = getattr(import_module(f"learnloop_md.{module}"), function)(Call(parsed[1], self.root))
        self.say(answer.text)
        for commit in git.out(self.root, "log", "--reverse", "--format=%H", f"{self.seen}..HEAD").splitlines():
            self.say(visible(git.out(self.root, "log", "-1", "--format=--- commit %h: %s", commit)))
            self.say(
                coloured(
                    git.out(self.root, "show", "--format=", "--no-ext-diff", "--no-textconv", "-U1", commit),
                    colour=use_colour(),
                )
            )
        self.seen = git.head_id(self.root)
        return answer


def demo(call: Call) -> Answer:
    """Show the loop and give the repository's folder and its log."""
    root = Path(tempfile.mkdtemp(prefix="learnloop-demo-"))
    show = Show(root, quiet=call.flag("json"))
    _build(root)
    show.seen = git.head_id(root)
    show.say(f"A repository with one skill, copied to {root}")
    for number, (title, words) in enumerate(STEPS, 1):
        show.step(number, title, *words)
    witness.file_of(show.memory.resolve()).unlink(missing_ok=True)  # nothing of the demonstration stays elsewhere
    return _end(show)


def _build(root: Path) -> None:
    sample = next(
        (
            p
            for p in (Path(__file__).parent / "sample-skill", Path(__file__).parent.parent / "sample-skill")
            if p.is_dir()
        ),
        None,
    )
    if sample is None:
        raise UnableError("the sample skill is not installed", "install learnloop-md again", code="no-sample")
    shutil.copytree(sample / "pr-review", root / ".claude" / "skills" / "pr-review")
    git.call(root, "init", "-q", "-b", "main")
    git.call(root, "config", "user.name", "Demo Reviewer")
    git.call(root, "config", "user.email", "reviewer@example.invalid")
    git.call(root, "add", ".claude")
    git.call(root, "-c", "commit.gpgsign=false", "commit", "-q", "-m", "Add the pr-review skill")


def _end(show: Show) -> Answer:
    log = git.out(show.root, "log", "--format=%h %s").splitlines()
    skill = show.root / ".claude" / "skills" / "pr-review"
    text = [
        "",
        "What git remembers:",
        *(f"  {visible(line)}" for line in log),
        "",
        "Where to look:",
        f"  {skill / 'references' / 'memory.md'}   the notebook, in three zones",
        f"  {skill / 'references' / 'lessons'}   one file for each lesson",
        f"  git -C {show.root} log -p   every change with its reason",
        f"  rm -r {show.root}   when you have seen enough",
    ]
    data: dict[str, Any] = {"folder": str(show.root), "log": log}
    return Answer("\n".join(text), data)
