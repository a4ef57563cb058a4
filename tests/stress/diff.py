"""How long `diff` takes over many commits that touch many lessons.

`python -m tests.stress.diff` compares 200 commits that touch each of 1,000 lessons. On a busy machine the seconds of
the clock tell of the others; the CPU time of `diff` and its git processes is what an idle machine would take at most.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from learnloop_md import index, lessonfile
from learnloop_md.lesson import Event, Lesson
from tests.stress.ground import PROJECT, sandbox
from tests.stress.report import Failure, Result, end, table

GOAL_S = 2.0
FOLDER = ".claude/memory"
_WORDS = (
    "count verify read ask stage retry bound print label parcel carrier queue table index column step lock test rule "
    "branch before after without every twice first slow broken empty late open names rows files calls dates zones"
).split()


def lesson(number: int, random: Random) -> Lesson:
    """A lesson of invented words."""
    rule, why, how = (" ".join(random.choices(_WORDS, k=length)).capitalize() + "." for length in (9, 12, 10))
    slug = f"{'-'.join(random.choices(_WORDS, k=3))}-{number}"
    event = Event("2026-05-26", f"{random.randrange(1 << 32):08x}", f"review of PR {number}")
    made = Lesson(slug, f"{slug}.md", "", slug, rule[:-1], "feedback", rule=rule, why=why, how=how)
    return made._replace(created="2026-05-26", seen=(event,))


def changed(known: Lesson, turn: int, random: Random) -> Lesson:
    """The lesson after a sighting, a graduation, other words, or an archiving."""
    event = Event("2026-06-01", f"{random.randrange(1 << 32):08x}", "seen once more")
    if turn % 4 == 0:
        return known._replace(seen=(*known.seen, event))
    if turn % 4 == 1:
        return known._replace(seen=(*known.seen, event), state="current")
    if turn % 4 == 2:
        return known._replace(rule=f"{known.rule[:-1]} {random.choice(_WORDS)}.")
    return known._replace(state="archived", archive_note="Seen once and never again")


def build(root: Path, commits: int, lessons: int) -> None:
    """A repository whose last commits touch every lesson, and the index each time."""
    random = Random(1)
    known = [lesson(number, random) for number in range(lessons)]
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    stream = [_commit(0, known, known)]
    for turn in range(commits):
        mine = range(turn * lessons // commits, (turn + 1) * lessons // commits)
        for number in mine:
            known[number] = changed(known[number], number, random)
        stream.append(_commit(turn + 1, [known[number] for number in mine], known))
    given = "".join(stream).encode()
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=given, check=True)
    subprocess.run(["git", "reset", "-q", "--hard"], cwd=root, check=True)


def _commit(number: int, touched: Sequence[Lesson], known: Sequence[Lesson]) -> str:
    lines = {(x.path, 0): (x.state, index.render(x)) for x in known}
    files = {x.path: lessonfile.render(x) for x in touched} | {"MEMORY.md": index.with_lines(index.NEW, lines)}
    said = f"docs(memory): step {number}"
    rows = [f"commit refs/heads/main\ncommitter Ada <ada@example.invalid> {1_780_000_000 + number} +0000\n"]
    rows.append(f"data {len(said)}\n{said}\n")
    rows += [f"M 100644 inline {FOLDER}/{path}\ndata {len(text.encode())}\n{text}\n" for path, text in files.items()]
    return "".join(rows)


def timed(root: Path, revisions: str, *more: str) -> tuple[float, float, bytes]:
    """Seconds of the clock, of the CPU (git included), and what was printed; with bytecode, as an installed package."""
    command = [sys.executable, "-m", "learnloop_md", "diff", revisions, *more]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, cwd=root, capture_output=True, check=False, env=env)
    after, took = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    assert done.returncode == 0, done.stderr.decode()
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def run(args: argparse.Namespace) -> Result:
    """Compare, several times; the best run counts."""
    failures: list[Failure] = []
    repeat = f"python -m tests.stress.diff --commits {args.commits} --lessons {args.lessons}"
    with sandbox() as base:
        root = base / "repo"
        build(root, args.commits, args.lessons)
        revisions = f"main~{args.commits}...main"
        rows = [timed(root, revisions) for _ in range(args.runs)]
        told = json.loads(timed(root, revisions, "--json")[2])
    number = len({change["slug"] for row in told["memories"] for change in row["changes"]} - {""})
    print(table(("clock s", "CPU s", "printed"), ((f"{a:.2f}", f"{b:.2f}", len(c)) for a, b, c in rows)))
    best = min(cpu for _, cpu, _ in rows)
    if number != args.lessons:
        failures.append(Failure("changes", (f"{number} of {args.lessons} lessons told",), repeat))
    if best >= args.goal:
        failures.append(Failure("time", (f"{best:.2f} s of CPU, the goal is {args.goal} s",), repeat))
    return Result(f"{args.commits} commits, {args.lessons} lessons: {best:.2f} s of CPU", tuple(failures))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.stress.diff", description=__doc__)
    made.add_argument("--commits", type=int, default=200)
    made.add_argument("--lessons", type=int, default=1_000)
    made.add_argument("--runs", type=int, default=3)
    made.add_argument("--goal", type=float, default=GOAL_S, help="seconds of CPU")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and 0 where the goal is reached."""
    return end("diff", run(parser().parse_args(argv)))


if __name__ == "__main__":
    assert PROJECT.is_dir(), "run from the project"
    sys.exit(main())
