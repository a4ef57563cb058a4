"""Many writers in one memory while a person stages and commits: nothing lost, nothing swept, hardly anybody waits.

Also how long git's index is locked by one commit: another process watches for index.lock without a pause, so the figure
is what a person's git would have met (reliability: 20 writers × 25 lessons; lock held p95).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

from learnloop_md.__main__ import main as learnloop
from tests.stress import ground
from tests.stress.ground import DAY, INSIDE, git
from tests.stress.report import Failure, Result, end, percentile, table

HELD_GOAL_S = 0.030
FAILED_GOAL = 0.02  # of a person's `git add` calls, at one commit a second
_OWN = ("work.txt", "own.txt")


class Found(NamedTuple):
    """What one run found; everything but the person's share and the time should be 0."""

    lost_disk: int
    lost_head: int
    lost_lines: int
    swept: int  # commits of ours that hold a path outside the memory
    touched: int  # a person's commits that hold one inside
    errors: int
    adds: int
    failed: int
    seconds: float
    last: str = ""  # the last line of a worker that failed
    wrong: tuple[str, ...] = ()  # what else is damaged after the last sync


def name_of(writer: int, number: int) -> str:
    """The name of a writer's lesson."""
    return f"w{writer:02}-l{number:03}"


def fork(work: Callable[[], int]) -> int:
    """Do some work in a process of its own; its number."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    pid = os.fork()
    if not pid:
        _end(work)
    return pid


def _end(work: Callable[[], int]) -> NoReturn:
    code = 99
    try:
        code = work()
    finally:
        os._exit(code)


def write(root: Path, writer: int, lessons: int, pace: float, said: Path) -> int:
    """A writer: its notes one after the other, in one process; how many failed."""
    os.chdir(root)
    failed = 0
    with said.open("w") as out:
        sys.stdout = sys.stderr = out
        began = time.monotonic()
        for number in range(lessons):
            rule = f"Writer {writer} says {number}: keep step {writer * 1000 + number} apart."
            words = ("--name", name_of(writer, number), "--new", "--run", f"r{writer}", "--today", DAY)
            code = learnloop(["note", rule, *words])
            if code:
                failed += 1
                print(f"exit {code}: note {number}")
            if pace:
                time.sleep(max(0.0, began + (number + 1) * pace - time.monotonic()))
    return min(failed, 100)


def person(root: Path, stop: Path, said: Path, seed: int) -> int:
    """A person: edits and stages a file of their own, and commits every sixth time."""
    dice = random.Random(seed)
    adds = failed = 0
    while not stop.exists():
        (root / "own.txt").write_text(f"edit {adds}\n")
        adds += 1
        failed += _quiet(root, "add", "own.txt")
        if adds % 6 == 0:
            _quiet(root, "commit", "-q", "-m", f"Edit {adds}")
        time.sleep(dice.uniform(0, 0.01))
    said.write_text(f"{adds} {failed}")
    return 0


def _quiet(root: Path, *args: str) -> bool:
    """Whether git failed."""
    return subprocess.run(["git", *args], cwd=root, capture_output=True, check=False).returncode != 0


def load(base: Path, options: argparse.Namespace, *, writers: int, lessons: int, pace: float, seed: int) -> Found:
    """One run: all the writers and the person at once, then one sync, then the count."""
    root = base / f"repo-{seed}-{writers}"
    ground.new_memory(root)
    first = git(root, "rev-parse", "HEAD")
    stop, said = base / f"stop-{seed}-{writers}", base / f"person-{seed}-{writers}"
    began = time.monotonic()
    logs = [base / f"writer-{number}" for number in range(writers)]
    hand = fork(lambda: person(root, stop, said, seed))
    works = [fork(lambda n=n, log=log: write(root, n, lessons, pace, log)) for n, log in enumerate(logs)]  # type: ignore[misc]
    errors = gather(works, options.limit)
    stop.touch()
    gather([hand], ground.PATIENCE_S)
    seconds = time.monotonic() - began
    adds, failed = (int(word) for word in said.read_text().split()) if said.exists() else (0, 0)
    entries = ground.theirs(root)
    ran = ground.call(root, "sync", "--today", DAY)
    wrong = [f"the last sync ends with {ran.code}: {ran.err.strip()}"] if ran.code else []
    names = {name_of(w, n) for w in range(writers) for n in range(lessons)}
    status = json.loads(ground.call(root, "status", "--json").out or "{}")
    left_out = tuple(Path(name).stem for name in status.get("index", {}).get("left_out", ()))
    lines = [row for row in ground.out_of_step(root / INSIDE, left_out) if "index" in row]
    damage = [row for row in ground.damage(root, entries) if "index:" not in row and "own.txt" not in row]
    in_head = git(root, "ls-tree", "-r", "--name-only", "HEAD", INSIDE).splitlines()
    swept, touched = sides(root, first)
    last = next((line for log in logs for line in _bad(log)), "")
    return Found(
        len(names - {path.stem for path in ground.lesson_files(root / INSIDE)}),
        len(names - {Path(path).stem for path in in_head}),
        len(lines),
        swept,
        touched,
        errors,
        adds,
        failed,
        seconds,
        last,
        (*wrong, *damage),
    )


def _bad(log: Path) -> list[str]:
    """What a writer said of its failures: its last lines with a word on it."""
    rows = log.read_text("utf-8", "replace").splitlines()
    return [" / ".join(rows[max(0, n - 2) : n + 1]) for n, row in enumerate(rows) if row.startswith("exit ")][-1:]


def gather(works: list[int], limit: float) -> int:
    """Wait for processes of ours, kill those over the limit, and add up their exit codes."""
    until = time.monotonic() + limit
    waiting, total = set(works), 0
    while waiting:
        for pid in list(waiting):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                waiting.discard(pid)
                total += abs(os.waitstatus_to_exitcode(status))
            elif time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    return total


def sides(root: Path, first: str) -> tuple[int, int]:
    """Commits of ours with a path outside the memory, and a person's with one inside."""
    swept = touched = 0
    raw = git(root, "log", "--format=%x01%(trailers:key=Learnloop-Command,valueonly)%x02", "--name-only", f"{first}..")
    for row in raw.split("\x01")[1:]:
        trailer, _, rest = row.partition("\x02")
        paths = rest.split()
        inside = [path for path in paths if path.startswith(f"{INSIDE}/")]
        swept += bool(trailer.strip()) and len(inside) < len(paths)
        touched += not trailer.strip() and bool(inside)
    return swept, touched


# --- how long the index is locked ------------------------------------------------------------------------------------


def watch(lock: Path, stop: Path, said: Path) -> int:
    """Look for the lock file without a pause and write down how long it stood each time."""
    held: list[float] = []
    since = 0.0
    turn = 0
    name = os.fspath(lock)
    while turn % 1000 or not stop.exists():
        turn += 1
        there = os.access(name, os.F_OK)
        if there and not since:
            since = time.perf_counter()
        elif since and not there:
            held.append(time.perf_counter() - since)
            since = 0.0
    said.write_text(" ".join(map(str, held)))
    return 0


def held(base: Path, repeats: int) -> list[float]:
    """How long index.lock stood, for each time it did, over this many notes in an idle small repository."""
    root = base / "held"
    ground.new_memory(root)
    for number in range(8):
        (root / f"file-{number}.txt").write_text(f"{number}\n")
    git(root, "add", "-A", ":(exclude).claude")
    git(root, "commit", "-q", "-m", "Ten files")
    ground.stage_work(root)
    stop, said = base / "held-stop", base / "held-said"
    eye = fork(lambda: watch(root / ".git" / "index.lock", stop, said))
    for number in range(repeats):
        words = ("--name", f"held-{number}", "--new", "--run", "r1", "--today", DAY)
        ground.sure(root, "note", f"Keep step {number} apart from the others.", *words)
    stop.touch()
    gather([eye], ground.PATIENCE_S)
    return [float(word) for word in said.read_text().split()]


def judged(found: Found, what: str, repeat: str) -> list[Failure]:
    """What must be 0 and is not."""
    names = ("lost_disk", "lost_head", "lost_lines", "swept", "touched", "errors")
    wrong = [f"{name}: {getattr(found, name)}" for name in names if getattr(found, name)]
    wrong += [f"a writer said: {found.last}"] if found.last else []
    wrong += found.wrong
    return [Failure(what, tuple(wrong), repeat)] if wrong else []


def run(options: argparse.Namespace) -> Result:
    """The runs at saturation, one at a pace, and the lock's time."""
    failures: list[Failure] = []
    rows: list[tuple[object, ...]] = []
    base_repeat = f"python -m tests.stress.concurrency --writers {options.writers} --lessons {options.lessons}"
    shares: Counter[str] = Counter()
    with ground.sandbox() as base:
        ground.preload()
        for number in range(options.runs):
            seed = options.seed + number
            found = load(base, options, writers=options.writers, lessons=options.lessons, pace=0, seed=seed)
            rows.append((f"run {number + 1}", *_row(found)))
            failures += judged(found, f"run {number + 1}", f"{base_repeat} --runs 1 --pace 0 --seed {seed}")
            shares.update(adds=found.adds, failed=found.failed)
        if options.pace:
            count = max(1, int(options.paced_seconds / options.pace))
            found = load(base, options, writers=1, lessons=count, pace=options.pace, seed=options.seed)
            rows.append((f"one a {options.pace:g} s", *_row(found)))
            repeat = f"python -m tests.stress.concurrency --runs 0 --pace {options.pace:g} --seed {options.seed}"
            failures += judged(found, "at a pace", repeat)
            share = found.failed / max(1, found.adds)
            if share > FAILED_GOAL:
                failures.append(Failure("at a pace", (f"{share:.1%} of the person's git add failed",), repeat))
        times = held(base, options.repeats) if options.repeats else []
    head = "lost disk, lost HEAD, lost lines, swept, touched, errors, adds, failed, share, s".split(", ")
    print(table(("", *head), rows))
    figure = f"0 lost in {options.runs} runs of {options.writers} × {options.lessons}"
    if shares["adds"]:
        figure += f"; {shares['failed'] / shares['adds']:.1%} of the person's git add failed at saturation"
    if options.pace:
        figure += f", {share:.1%} at one commit a {options.pace:g} s"
    if times:
        middle, high = percentile(times, 0.5), percentile(times, 0.95)
        said = f"index.lock held p50 {middle * 1000:.1f} ms, p95 {high * 1000:.1f} ms"
        said += f" ({len(times)} times, load average {os.getloadavg()[0]:.1f})"
        figure += f"; {said}"
        if high > HELD_GOAL_S:
            failures.append(Failure("the lock", (said,), "python -m tests.stress.concurrency --runs 0 --pace 0"))
    if failures:
        figure = f"{len(failures)} goals missed; {figure.partition('; ')[2]}"
    return Result(figure, tuple(failures))


def _row(found: Found) -> tuple[object, ...]:
    share = f"{found.failed / max(1, found.adds):.1%}"
    return (*found[:8], share, f"{found.seconds:.0f}")


def parser() -> argparse.ArgumentParser:
    """The script's options."""
    made = argparse.ArgumentParser(prog="python -m tests.stress.concurrency", description=__doc__)
    made.add_argument("--writers", type=int, default=20)
    made.add_argument("--lessons", type=int, default=25, help="of each writer")
    made.add_argument("--runs", type=int, default=3)
    made.add_argument("--pace", type=float, default=1.0, help="seconds between two notes of the slow run; 0: none")
    made.add_argument("--paced-seconds", type=float, default=60.0, help="how long the slow run takes")
    made.add_argument("--repeats", type=int, default=40, help="notes over which the lock is timed; 0: none")
    made.add_argument("--limit", type=float, default=600.0, help="seconds after which a writer is ended")
    made.add_argument("--seed", type=int, default=1)
    return made


def main(argv: list[str] | None = None) -> int:
    """Run the script; 0 where the goal is reached."""
    return end("concurrency", run(parser().parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main())
