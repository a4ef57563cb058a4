"""Kill a running command at random points: the next command works, repairs, and finds nothing half done.

Half of the kills hit the whole process group, half the tool alone, whose git children run on (reliability: kill -9).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.stress import ground
from tests.stress.ground import DAY, INSIDE, call, git, start
from tests.stress.report import Failure, Result, end, table

COMMANDS = ("note", "graduate", "codify")
_BATCH = 24  # kills before the repository is made anew: each kind of command has a third of the lessons
_BLOCKED_S = 10.0
_WORDS = "amber basalt cedar delta ember flint garnet harbor indigo jasper kelp linden".split()


class Kill(NamedTuple):
    """One kill: which command, on which of the scene's lessons, after which share of its time, and whom it hits."""

    command: str
    number: int
    share: float
    group: bool


def rule(number: int, what: str) -> str:
    """A rule like no other."""
    first, second = _WORDS[number % 12], _WORDS[(number // 12 + 5) % 12]
    return f"{what} {first} before {second} in step {number}."


def words_of(command: str, number: int) -> tuple[str, ...]:
    """The words of a command on a lesson of the scene."""
    if command == "note":
        words: tuple[str, ...] = ("note", rule(number, "Check"), "--name", f"new-{number}", "--new", "--run", "r5")
    elif command == "graduate":
        words = ("graduate", f"candidate-{number}")
    else:
        words = ("codify", f"current-{number}", "--into", "CLAUDE.md")
    return (*words, "--today", DAY)


def make_scene(root: Path, kills: int) -> None:
    """Candidates to graduate, current lessons to codify, a guide, and a person's staged work."""
    ground.new_repository(root)
    (root / "CLAUDE.md").write_text("# Guide\n\nBe brief.\n")
    git(root, "add", "CLAUDE.md")
    git(root, "commit", "-q", "-m", "Guide")
    ground.sure(root, "init")
    for number in range(max(3, min(_BATCH, kills + 2) // 3)):
        for kind in ("candidate", "current"):
            name = f"{kind}-{number}"
            ground.sure(root, "note", rule(number, kind), "--name", name, "--new", "--run", "r1", "--today", DAY)
        ground.sure(root, "graduate", f"current-{number}", "--today", DAY)
    ground.stage_work(root)


def durations(template: Path, root: Path) -> dict[str, float]:
    """How long each command takes when nobody kills it: the median of three."""
    found = {}
    for command in COMMANDS:
        ground.copy(template, root)
        found[command] = statistics.median(call(root, *words_of(command, n)).seconds for n in range(3))
    return found


def wreck(root: Path) -> list[str]:
    """What a kill left behind, before anything repairs it."""
    found = [] if not (root / ".git" / "index.lock").exists() else ["index.lock"]
    found += ["ref lock"] if [p for p in ground.locks(root) if p != ".git/index.lock"] else []
    found += ["half file"] if ground.half_files(root / INSIDE) else []
    found += ["scraps"] if ground.scraps(root) else []
    found += ["out of step"] if ground.out_of_step(root / INSIDE) else []
    return found + (["not committed"] if ground.uncommitted(root) else [])


def kill(root: Path, which: Kill, delay: float) -> bool:
    """Start the command and kill it; False where it had ended before."""
    child = start(root, words_of(which.command, which.number))
    time.sleep(delay)
    # Not waited for yet, so the number is still its own.
    try:
        (os.killpg if which.group else os.kill)(child.pid, signal.SIGKILL)
    except ProcessLookupError:  # not yet a leader of its group
        os.kill(child.pid, signal.SIGKILL)
    return child.wait().code == -signal.SIGKILL


def halves(root: Path, which: Kill) -> list[str]:
    """A rule in the guide whose lesson is not archived, or the other way round."""
    if which.command != "codify":
        return []
    text = (root / "CLAUDE.md").read_text()
    lesson = (root / INSIDE / f"current-{which.number}.md").read_text()
    there, archived = rule(which.number, "current").rstrip(".") in text, "state: archived" in lesson
    return [f"half codified: rule in the guide {there}, lesson archived {archived}"] if there != archived else []


def aftermath(root: Path, which: Kill, entries: str) -> tuple[bool, list[str]]:
    """Run the one next command: whether it was blocked, and what is wrong after it."""
    ran = call(root, "sync", "--today", DAY)
    blocked = bool(ran.code) or ran.seconds > _BLOCKED_S or "not committed yet" in ran.err
    wrong = [f"blocked: exit {ran.code} after {ran.seconds:.1f} s: {ran.err.strip()[:200]}"] if blocked else []
    return blocked, wrong + ground.rough(ran) + ground.damage(root, entries) + halves(root, which)


def planned(options: argparse.Namespace) -> list[Kill]:
    """The kills of a run, all from the seed."""
    dice = random.Random(options.seed)
    found = []
    for turn in range(options.kills):
        command = COMMANDS[turn % 3]
        found.append(Kill(command, turn % _BATCH // 3, dice.random(), group=turn // 3 % 2 == 0))
    return found


def run(options: argparse.Namespace) -> Result:
    """Every kill, each with its next command."""
    tally: dict[tuple[str, str], Counter[str]] = {}
    failures: list[Failure] = []
    blocked = hit = 0
    with ground.sandbox() as base:
        ground.preload()
        root, template = base / "repo", base / "template"
        make_scene(root, options.kills)
        shutil.move(root, template)
        for turn, which in enumerate(planned(options)):
            if turn % _BATCH == 0:
                took = durations(template, root)  # again for each batch: other work may slow the machine
            if turn % _BATCH == 0 or (failures and failures[-1].where.startswith(f"kill {turn - 1}:")):
                ground.copy(template, root)  # a broken repository must not speak for the next kill
            entries = ground.theirs(root)
            delay = which.share * took[which.command]
            killed = kill(root, which, delay)
            row = tally.setdefault((which.command, "group" if which.group else "tool alone"), Counter())
            row["kills"] += 1
            row["hit"] += killed
            hit += killed
            row.update(wreck(root))
            stuck, wrong = aftermath(root, which, entries)
            blocked += stuck
            row["blocked"] += stuck
            row["broken after"] += bool(wrong)
            if wrong:
                where = f"kill {turn}: {which.command} after {delay * 1000:.1f} ms"
                where += ", group" if which.group else ", tool alone"
                repeat = f"python -m tests.stress.crash --seed {options.seed} --kills {turn + 1}"
                failures.append(Failure(where, tuple(wrong), repeat))
    columns = "kills, hit, index.lock, ref lock, half file, scraps, out of step, not committed, blocked, broken after"
    head = columns.split(", ")
    print(table(("command", "killed", *head), [(*key, *(row[name] for name in head)) for key, row in tally.items()]))
    print("untouched: " + ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in took.items()))
    figure = f"{blocked} of {options.kills} next commands blocked, {len(failures)} left something broken ({hit} hit)"
    return Result(figure, tuple(failures))


def parser() -> argparse.ArgumentParser:
    """The script's options."""
    made = argparse.ArgumentParser(prog="python -m tests.stress.crash", description=__doc__)
    made.add_argument("--kills", type=int, default=300)
    made.add_argument("--seed", type=int, default=1)
    return made


def main(argv: list[str] | None = None) -> int:
    """Run the script; 0 where the goal is reached."""
    return end("crash", run(parser().parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main())
