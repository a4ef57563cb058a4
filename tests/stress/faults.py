"""Let the n-th rename, fsync, open, write, unlink or git call fail, for every n, in every writing command.

After each fault: a known exit code, one-line messages, every file old or new and never half; once the fault is lifted
the command once more (or `sync`) brings the wanted end, lessons, document and HEAD in step, and nothing is lost
(reliability: n-th call fails). Commands that only read have one row: a known exit code, one line, nothing changed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tests.stress import ground, scenes, worlds
from tests.stress.breaking import ERRORS, KINDS, Fault, shared
from tests.stress.ground import INSIDE, Ran, call, git
from tests.stress.report import Failure, Result, end, table
from tests.stress.scenes import CASES, Case
from tests.stress.worlds import contents

READERS = "readers"
FULL = ("note", "codify", "cleanup", "undo", "sync")  # the others get a shorter series


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
    """What an untouched run of a command does: how it ends, and the contents that each file has on the way."""

    codes: tuple[int, int]  # of the first run, and of one more
    states: dict[str, set[bytes | None]]
    ends: tuple[dict[str, bytes], dict[str, bytes]]  # after the first run, and after one more
    entries: str


def words_of(case: Case) -> tuple[str, ...]:
    """A command's words, with the day that it acts on."""
    return scenes.dated(case.words, case.day)


def make_scene(root: Path, case: Case) -> None:
    """What the command finds, and a person's staged work."""
    case.scene(root)
    ground.stage_work(root)


def seen(world: Path, case: Case) -> dict[str, bytes]:
    """The files of a world, and what else the command changes."""
    return {**contents(world), **case.facts(world)}


def run_case(root: Path, case: Case, before: Callable[[], None] | None = None) -> Ran:
    """The command in its scene."""
    return call(root, *words_of(case), before=before, given=case.given)


def untouched(template: Path, world: Path, case: Case) -> Good:
    """Run the command twice without a fault, and learn which contents each file may have."""
    root = world / "repo"
    worlds.put_back(template, world)
    entries, old, head = ground.theirs(root), seen(world, case), git(root, "rev-parse", "HEAD")
    ran = run_case(root, case)
    if ran.code not in (0, 1):
        raise RuntimeError(f"{' '.join(case.words)} fails untouched: {ran.err}{ran.out}")
    new = seen(world, case)
    states: dict[str, set[bytes | None]] = {path: {old.get(path), new.get(path)} for path in old | new}
    for commit in git(root, "rev-list", f"{head}..HEAD").splitlines():
        paths = [f"repo/{path}" for path in git(root, "ls-tree", "-r", "--name-only", commit).splitlines()]
        for path in paths:
            text = git(root, "cat-file", "blob", f"{commit}:{path.removeprefix('repo/')}") + "\n"
            states.setdefault(worlds.timeless(path), {None}).add(worlds.timeless(text).encode())
        for path in {path for path in states if path.startswith("repo/")} - set(paths):
            states[path].add(None)
    again = run_case(root, case)
    return Good((ran.code, again.code), states, (new, seen(world, case)), entries)


def half(world: Path, case: Case, good: Good) -> list[str]:
    """Files that are neither old nor new."""
    now = seen(world, case)
    odd = [path for path in now if now[path] not in good.states.get(path, ())]
    gone = [path for path, states in good.states.items() if path not in now and None not in states]
    return [f"neither old nor new: {path}" for path in odd] + [f"gone: {path}" for path in gone] + worlds.unwhole(world)


def lost(world: Path, case: Case, good: Good, *, done: bool) -> list[str]:
    """Lessons that are nowhere; with done, everything that the command said it had done."""
    folder = f"repo/{INSIDE}/"
    now = seen(world, case)
    old = {Path(p).stem for p, s in good.states.items() if p.startswith(folder) and None not in s}
    found = [f"lost: {name}" for name in sorted(old - {Path(path).stem for path in now if path.startswith(folder)})]
    if case.words[0] == "rename" and not any(f"{folder}{name}.md" in now for name in case.words[1:]):
        found.append("lost: the lesson under both its names")
    if done:
        found += [f"said done, yet not as it should be: {path}" for path in differing(now, good.ends[0])]
    return found


def differing(now: dict[str, bytes], wanted: dict[str, bytes]) -> list[str]:
    """The paths at which two worlds differ."""
    return sorted(path for path in now | wanted if now.get(path) != wanted.get(path))


def scraps(world: Path) -> list[str]:
    """Locks of git and temporary files of ours, anywhere."""
    found = [f"{name}/{path}" for name in ("repo", "team") for path in ground.locks(world / name)]
    found += [path for name in worlds.PARTS for path in ground.scraps(world / name)]
    return found + sorted(path.name for path in (world / "tmp").glob("learnloop-*") if "-bug-" not in path.name)


def attempt(world: Path, template: Path, trial: Trial, case: Case, good: Good) -> tuple[bool, tuple[str, ...]]:
    """Try one fault: whether it struck at all, and what went wrong."""
    worlds.put_back(template, world)
    root, met = world / "repo", shared()
    fault = Fault(trial.kind, trial.n, trial.error, trial.once, world, met)
    ran = run_case(root, case, before=fault.install)
    if not met[0]:
        return False, ()
    wrong = list(ground.rough(ran))
    if ran.code not in (0, case.fails, good.codes[0]):
        wrong.append(f"exit code {ran.code}: {(ran.err or ran.out).strip()[:300]}")
    wrong += half(world, case, good)
    if trial.once and trial.kind != "unlink":
        # What a hook started works on behind it, with files of its own that come and go.
        late = time.monotonic() + (3 if case.words[0] == "hook" else 0)
        while (found := scraps(world)) and time.monotonic() < late:
            time.sleep(0.05)
        wrong += [f"left over at once: {path}" for path in found]
    return True, (*wrong, *mended(world, case, good, ran))


def mended(world: Path, case: Case, good: Good, ran: Ran) -> list[str]:
    """What is not as it should be once the fault is lifted and the command has run again, or sync has."""
    root, wrong = world / "repo", list[str]()
    done = ran.code == good.codes[0]
    sync = ("sync", "--today", case.day, *(("--memory", ".") if case.inside == "." else ()))
    ends = []
    if case.mended == "again":
        ends.append(after := run_case(root, case))
        if after.code not in good.codes:
            wrong.append(f"once more it ends with {after.code}: {(after.err or after.out).strip()[:300]}")
        found = [differing(seen(world, case), wanted) for wanted in good.ends]
        wrong += [f"once more, yet not as it should be: {path}" for path in min(found, key=len)]
    waits = ground.locks(root) or (case.clean and ground.uncommitted(root))  # for the next command that writes
    if case.mended == "sync" or waits:
        ends.append(after := call(root, *sync))
        if after.code:
            wrong.append(f"the next sync ends with {after.code}: {after.err.strip()}")
        wrong += lost(world, case, good, done=done)
    wrong += [f"afterwards: {what}" for after in ends for what in ground.rough(after)]
    return wrong + [f"afterwards: {what}" for what in ground.damage(root, good.entries, case.inside, clean=case.clean)]


def in_turn(kind: str, n: int, *, once: bool) -> bool:
    """Whether the short series has this fault: git fails in one way or the other, and from n on at every twelfth n."""
    if kind in ("git", "exec") and n % 2 != (kind == "git"):
        return False
    return once or n % 12 in (1, 2)


def trials(command: str, kind: str, options: argparse.Namespace) -> Iterator[Callable[[int], Trial | None]]:
    """The series of faults for one kind of call: each takes an n, and gives None where it leaves that n out."""
    names = [options.error] if options.error else list(ERRORS)
    dice = random.Random(f"{options.seed}-{command}-{kind}")
    turns = command not in FULL and not (options.full or options.n)
    for once in {"once": (True,), "on": (False,)}.get(options.mode, (True, False)):
        for number in range(len(names) if options.all_errors else 1):
            shift = number if options.all_errors else dice.randrange(len(names))

            def made(n: int, once: bool = once, shift: int = shift) -> Trial | None:
                if turns and not in_turn(kind, n, once=once):
                    return None
                # Either every error for every n, or one that turns with n.
                name = names[(shift if options.all_errors else shift + n) % len(names)]
                return Trial(command, kind, n, name, once)

            yield made


def of_command(command: str, options: argparse.Namespace) -> tuple[dict[str, int], int, list[Failure]]:
    """Every fault in one command: how many n there are of each kind, how many were tried, what failed."""
    began = time.process_time(), sum(os.times()[2:4])
    with ground.sandbox() as world:
        ground.preload()
        if command == READERS:
            tryout = of_readers(world)
        else:
            case, template = CASES[command], world / "template"
            make_scene(world / "repo", case)
            worlds.keep(world, template)
            good = untouched(template, world, case)

            def tryout(trial: Trial) -> tuple[bool, tuple[str, ...]]:
                return attempt(world, template, trial, case, good)

        counts, failures, tried = dict[str, int](), list[Failure](), 0
        for kind in [options.kind] if options.kind else KINDS:
            for made in trials(command, kind, options):
                n = options.n or 1
                while n <= options.most:
                    if (trial := made(n)) is None:
                        n += options.step
                        continue
                    struck, wrong = tryout(trial)
                    if not struck:
                        break
                    tried += 1
                    counts[kind] = max(counts.get(kind, 0), n)
                    if wrong:
                        failures.append(Failure(f"{command}: {kind} {n} {trial.error}", wrong, trial.repeat))
                    if options.n:
                        break
                    n += options.step
        used = time.process_time() + sum(os.times()[2:4]) - sum(began)
        print(f"{command}: {tried} faults, {len(failures)} failed, {used:.0f} s of CPU", file=sys.stderr, flush=True)
        return counts, tried, failures


def of_readers(world: Path) -> Callable[[Trial], tuple[bool, tuple[str, ...]]]:
    """A fault in each command that only reads; it strikes where it strikes in any of them."""
    root = world / "repo"
    make_scene(root, CASES["pin"])
    before = contents(world)

    def tryout(trial: Trial) -> tuple[bool, tuple[str, ...]]:
        struck, wrong = False, list[str]()
        for words in scenes.READERS:
            met = shared()
            fault = Fault(trial.kind, trial.n, trial.error, trial.once, world, met)
            ran = call(root, *words, before=fault.install)
            if not met[0]:
                continue
            struck = True
            found = list(ground.rough(ran)) + [f"left over: {path}" for path in scraps(world)]
            if ran.code not in (0, 1, 4):
                found.append(f"exit code {ran.code}: {(ran.err or ran.out).strip()[:300]}")
            found += [f"changed: {path}" for path in differing(contents(world), before)]
            wrong += [f"{' '.join(words)}: {what}" for what in found]
        return struck, tuple(wrong)

    return tryout


def _die_with_parent() -> None:
    """A worker whose parent was ended would wait for work for ever (Linux: PR_SET_PDEATHSIG)."""
    import ctypes

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def run(options: argparse.Namespace) -> Result:
    """Every fault in every command asked for."""
    commands = [options.command] if options.command else [*CASES, READERS]
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
    made.add_argument("--command", choices=(*CASES, READERS))
    made.add_argument("--kind", choices=KINDS)
    made.add_argument("--n", type=int, help="this one call alone")
    made.add_argument("--error", choices=ERRORS)
    made.add_argument("--mode", choices=("once", "on"), help="one call fails, or every one from n on; else both")
    made.add_argument("--full", action="store_true", help="every fault for every command; else most take turns")
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
