"""Let the n-th rename, fsync, open, write, unlink or git call fail, for every n, in every writing command.

After each fault: a known exit code, one-line messages, every file old or new and never half; once the fault is lifted
`sync` brings lessons, document and HEAD in step and nothing is lost (reliability: n-th call fails).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tests.stress import ground
from tests.stress.breaking import ERRORS, KINDS, Fault, shared
from tests.stress.ground import DAY, INSIDE, call, git
from tests.stress.report import Failure, Result, end, table

RULES = {
    "read": "Read the log before guessing.",
    "stage": "Stage files by name when committing.",
    "ask": "Ask before renaming a public function.",
    "quote": "Quote every path in shell scripts.",
    "mock": "Mock the clock in timer tests.",
    "bound": "Bound every retry of a network call.",
}
LATER = "2026-07-20"
COMMANDS: dict[str, tuple[str, ...]] = {
    "note": ("note", "Pin the compiler in every build.", "--name", "pin", "--run", "r9"),
    "again": ("note", RULES["read"], "--run", "r9"),
    "confirm": ("confirm", "stage"),
    "archive": ("archive", "stage", "--note", "Out of date"),
    "rename": ("rename", "stage", "stage-by-name"),
    "merge": ("merge", "bound", "mock"),
    "codify": ("codify", "ask", "--into", "CLAUDE.md"),
    "cleanup": ("cleanup", "--apply"),
    "undo": ("undo",),
    "sync": ("sync",),
    "init": ("init",),
}


class Trial(NamedTuple):
    """One fault in one command."""

    command: str
    kind: str
    n: int
    error: str
    once: bool

    @property
    def repeat(self) -> str:
        mode = "once" if self.once else "on"
        return (
            f"python -m tests.stress.faults --command {self.command} --kind {self.kind} --n {self.n} "
            f"--error {self.error} --mode {mode}"
        )


class Good(NamedTuple):
    """What an untouched run of a command does: its exit code, and the contents that each file has on the way."""

    code: int
    states: dict[str, set[bytes | None]]
    last: dict[str, bytes]


def words_of(command: str) -> tuple[str, ...]:
    """A command's words, with the day that it acts on."""
    return (*COMMANDS[command], "--today", LATER if command == "cleanup" else DAY)


def make_scene(root: Path, command: str) -> None:
    """A memory of six lessons, one of them current, a guide, and a person's staged work."""
    ground.new_repository(root)
    (root / "CLAUDE.md").write_text("# Guide\n\nBe brief.\n")
    git(root, "add", "CLAUDE.md")
    git(root, "commit", "-q", "-m", "Guide")
    if command != "init":
        ground.sure(root, "init")
        for name, rule in RULES.items():
            ground.sure(root, "note", rule, "--name", name, "--new", "--run", "r1", "--today", DAY)
        ground.sure(root, "graduate", "ask", "--today", DAY)
    if command == "sync":
        file = root / INSIDE / "quote.md"
        file.write_text(file.read_text().replace(RULES["quote"], "Quote every path and every name in scripts."))
    ground.stage_work(root)


def contents(root: Path) -> dict[str, bytes]:
    """Every file of the work tree."""
    paths = [p for p in root.rglob("*") if ".git" not in p.relative_to(root).parts and p.is_file()]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def untouched(template: Path, root: Path, command: str) -> Good:
    """Run the command without a fault, and learn which contents each file may have."""
    ground.copy(template, root)
    before, head = contents(root), git(root, "rev-parse", "HEAD")
    ran = call(root, *words_of(command))
    if ran.code not in (0, 1):
        raise RuntimeError(f"{command} fails untouched: {ran.err}{ran.out}")
    last = contents(root)
    states: dict[str, set[bytes | None]] = {path: {before.get(path), last.get(path)} for path in before | last}
    for commit in git(root, "rev-list", f"{head}..HEAD").splitlines():
        for path in git(root, "ls-tree", "-r", "--name-only", commit).splitlines():
            text = git(root, "cat-file", "blob", f"{commit}:{path}") + "\n"
            states.setdefault(path, {None}).add(text.encode())
        gone = set(states) - set(git(root, "ls-tree", "-r", "--name-only", commit).splitlines())
        for path in gone:
            states[path].add(None)
    return Good(ran.code, states, last)


def half(root: Path, good: Good) -> list[str]:
    """Files that are neither old nor new."""
    now = contents(root)
    odd = [path for path in now if now[path] not in good.states.get(path, ())]
    gone = [path for path, states in good.states.items() if path not in now and None not in states]
    return [f"neither old nor new: {path}" for path in odd] + [f"gone: {path}" for path in gone]


def lost(root: Path, good: Good, done: bool) -> list[str]:
    """Lessons and rules that are nowhere; with done, everything that the command said it had done."""
    names = {path.stem for path in ground.lesson_files(root / INSIDE)}
    old = {Path(p).stem for p, s in good.states.items() if p.startswith(f"{INSIDE}/") and None not in s}
    found = [f"lost: {name}" for name in sorted(old - names - {"MEMORY"})]
    if {"stage", "stage-by-name"} & {Path(path).stem for path in good.states} and not {
        "stage",
        "stage-by-name",
    } & names:
        found.append("lost: stage under both its names")
    if done:
        now = contents(root)
        found += [f"said done, yet not as it should be: {p}" for p in good.last if now.get(p) != good.last[p]]
    return found


def attempt(root: Path, template: Path, trial: Trial, good: Good) -> tuple[bool, tuple[str, ...]]:
    """Try one fault: whether it struck at all, and what went wrong."""
    ground.copy(template, root)
    entries = ground.theirs(root)
    met = shared()
    fault = Fault(trial.kind, trial.n, trial.error, trial.once, root, met)
    ran = call(root, *words_of(trial.command), before=fault.install)
    if not met[0]:
        return False, ()
    wrong = list(ground.rough(ran))
    if ran.code not in (0, 4, good.code):
        wrong.append(f"exit code {ran.code}: {(ran.err or ran.out).strip()[:300]}")
    wrong += half(root, good)
    if trial.once and trial.kind != "unlink":
        wrong += [f"left over at once: {path}" for path in (*ground.locks(root), *ground.scraps(root))]
    if trial.command == "init" and ran.code:
        after = call(root, "init", "--today", DAY)
        wrong += [f"init again ends with {after.code}: {after.err.strip()}"] if after.code else []
    after = call(root, "sync", "--today", DAY)
    if after.code:
        wrong.append(f"the next sync ends with {after.code}: {after.err.strip()}")
    wrong += [f"after sync: {what}" for what in (*ground.rough(after), *ground.damage(root, entries))]
    wrong += lost(root, good, ran.code == good.code)
    return True, tuple(wrong)


def trials(command: str, kind: str, options: argparse.Namespace) -> Iterator[Callable[[int], Trial]]:
    """The series of faults for one kind of call: each takes an n."""
    names = [options.error] if options.error else list(ERRORS)
    dice = random.Random(f"{options.seed}-{command}-{kind}")
    for once in {"once": (True,), "on": (False,)}.get(options.mode, (True, False)):
        for number in range(len(names) if options.all_errors else 1):
            shift = number if options.all_errors else dice.randrange(len(names))

            def made(n: int, once: bool = once, shift: int = shift) -> Trial:
                # Either every error for every n, or one that turns with n.
                name = names[(shift if options.all_errors else shift + n) % len(names)]
                return Trial(command, kind, n, name, once)

            yield made


def of_command(command: str, options: argparse.Namespace) -> tuple[dict[str, int], int, list[Failure]]:
    """Every fault in one command: how many n there are of each kind, how many were tried, what failed."""
    with ground.sandbox() as base:
        ground.preload()
        root, template = base / "repo", base / "template"
        make_scene(root, command)
        shutil.move(root, template)
        good = untouched(template, root, command)
        counts: dict[str, int] = {}
        failures: list[Failure] = []
        tried = 0
        for kind in [options.kind] if options.kind else KINDS:
            for made in trials(command, kind, options):
                n = options.n or 1
                while n <= options.most:
                    trial = made(n)
                    struck, wrong = attempt(root, template, trial, good)
                    if not struck:
                        break
                    tried += 1
                    counts[kind] = max(counts.get(kind, 0), n)
                    if wrong:
                        failures.append(Failure(f"{command}: {kind} {n} {trial.error}", wrong, trial.repeat))
                    if options.n:
                        break
                    n += options.step
        print(f"{command}: {tried} faults, {len(failures)} failed", file=sys.stderr, flush=True)
        return counts, tried, failures


def _die_with_parent() -> None:
    """A worker whose parent was ended would wait for work for ever (Linux: PR_SET_PDEATHSIG)."""
    import ctypes

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def run(options: argparse.Namespace) -> Result:
    """Every fault in every command asked for."""
    commands = [options.command] if options.command else list(COMMANDS)
    if options.workers == 1:
        found = [of_command(command, options) for command in commands]
    else:
        with ProcessPoolExecutor(options.workers, get_context("fork"), _die_with_parent) as pool:
            found = list(pool.map(of_command, commands, [options] * len(commands)))
    failures = [failure for _, _, broken in found for failure in broken]
    rows = [
        (name, *(counts.get(kind, 0) for kind in KINDS), tried, len(broken))
        for name, (counts, tried, broken) in zip(commands, found, strict=True)
    ]
    print(table(("command", *KINDS, "faults", "failed"), rows))
    total = sum(tried for _, tried, _ in found)
    return Result(f"{total - len(failures)} of {total} faults left everything old or new", tuple(failures))


def parser() -> argparse.ArgumentParser:
    """The script's options."""
    made = argparse.ArgumentParser(prog="python -m tests.stress.faults", description=__doc__)
    made.add_argument("--command", choices=COMMANDS)
    made.add_argument("--kind", choices=KINDS)
    made.add_argument("--n", type=int, help="this one call alone")
    made.add_argument("--error", choices=ERRORS)
    made.add_argument("--mode", choices=("once", "on"), help="one call fails, or every one from n on; else both")
    made.add_argument("--all-errors", action="store_true", help="every error for every n; else they take turns")
    made.add_argument("--step", type=int, default=1, help="try every step-th n")
    made.add_argument("--most", type=int, default=200, help="the highest n")
    made.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    made.add_argument("--seed", type=int, default=1)
    return made


def main(argv: list[str] | None = None) -> int:
    """Run the script; 0 where the goal is reached."""
    began = time.monotonic()
    result = run(parser().parse_args(argv))
    print(f"{time.monotonic() - began:.0f} s")
    return end("faults", result)


if __name__ == "__main__":
    sys.exit(main())
