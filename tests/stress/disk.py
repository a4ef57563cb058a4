"""A disk that is full, and one that may only be read: files whole, nothing left over, exit 4 and one line.

Mounts a small tmpfs and a read-only bind mount in a mount namespace of its own, which ends with the script; this needs
root (reliability: disk full, read-only).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from tests.stress import ground, worlds
from tests.stress.faults import Good, half, lost, make_scene, untouched, words_of
from tests.stress.ground import DAY, call
from tests.stress.report import Failure, Result, end, table
from tests.stress.scenes import CASES, Case

_INSIDE = "LEARNLOOP_STRESS_NAMESPACE"
FULL = ("note", "again", "archive", "codify", "undo")
COMMANDS = (*FULL, "confirm", "rename", "merge", "cleanup", "sync", "init")  # that write into the repository alone
READS = (("show",), ("status",), ("check",), ("log",), ("cleanup",))
_MB = 1024 * 1024


def fill(mount: Path, free: int) -> Path:
    """A file that leaves this many bytes free."""
    ballast = mount / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass
        size = file.tell()
        file.truncate(max(0, size - free))
    return ballast


def full(base: Path, command: str, options: argparse.Namespace) -> tuple[list[Failure], list[int]]:
    """A command on disks with ever more room: what goes wrong, and the exit codes."""
    mount, template, case = base / "small", base / f"template-{command}", CASES[command]
    root = mount / "repo"
    make_scene(root, case)
    worlds.keep(mount, template)
    good = untouched(template, mount, case)
    dice = random.Random(f"{options.seed}-{command}")
    failures, codes = [], []
    for number in range(options.fills):
        free = 4096 * (number if number < 8 else dice.randrange(8, 30))
        worlds.put_back(template, mount)
        ballast = fill(mount, free)
        ran = call(root, *words_of(case))
        codes.append(ran.code)
        wrong = ground.rough(ran)
        if ran.code not in (0, 4):
            wrong.append(f"exit code {ran.code}: {(ran.err or ran.out).strip()[:300]}")
        if ran.code and len(ran.err.splitlines()) != 1:
            wrong.append(f"not one line: {ran.err}")
        if not number and ran.code != 4 and not codes_queued(ran.err):
            wrong.append(f"nothing fits on the disk, yet the exit code is {ran.code}")
        wrong += half(mount, case, good)
        wrong += [f"left over at once: {path}" for path in (*ground.locks(root), *ground.scraps(root))]
        ballast.unlink()
        wrong += recovered(mount, case, good, done=ran.code == good.codes[0])
        if wrong:
            repeat = f"python -m tests.stress.disk --command {command} --seed {options.seed}"
            failures.append(Failure(f"{command} with {free} bytes free", tuple(wrong), repeat))
    shutil.rmtree(root)
    return failures, codes


def codes_queued(err: str) -> bool:
    """Whether the command said that its commit waits."""
    return "not committed yet" in err


def recovered(mount: Path, case: Case, good: Good, *, done: bool) -> list[str]:
    """What one sync does not bring in step once there is room again."""
    root = mount / "repo"
    ran = call(root, "sync", "--today", DAY)
    wrong = [f"the next sync ends with {ran.code}: {ran.err.strip()}"] if ran.code else []
    wrong += [f"after sync: {what}" for what in ground.damage(root, good.entries)]
    return wrong + lost(mount, case, good, done=done)


def read_only(base: Path) -> list[Failure]:
    """Every command on a repository that nobody may write: those that read work, the others say so in one line."""
    failures = []
    roots: dict[str, Path] = {}
    for command in COMMANDS:
        scene = command if command in ("init", "sync") else "note"  # nothing changes, so most can share one
        if scene not in roots:
            roots[scene] = base / f"ro-{scene}" / "repo"
            make_scene(roots[scene], CASES[scene])
        root = roots[scene]
        for words in (words_of(CASES[command]), *(READS if command == "note" else ())):
            before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
            _mount("--bind", root, root)
            _mount("-o", "remount,bind,ro", root)
            try:
                ran = call(root, *words)
            finally:
                subprocess.run(["umount", str(root)], check=True)
            wrong = ground.rough(ran)
            reads = words in READS
            if ran.code not in ((0, 1) if reads else (4,)):
                wrong.append(f"exit code {ran.code}: {(ran.err or ran.out).strip()[:300]}")
            if not reads and len(ran.err.splitlines()) != 1:
                wrong.append(f"not one line: {ran.err}")
            if {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} != before:
                wrong.append("a file changed")
            if wrong:
                failures.append(
                    Failure(f"read-only: {' '.join(words)}", tuple(wrong), "python -m tests.stress.disk --fills 0")
                )
    return failures


def _mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True, capture_output=True)


def run(options: argparse.Namespace) -> Result:
    """The full disk for each command, then the read-only one; inside the mount namespace."""
    failures: list[Failure] = []
    rows = []
    with ground.sandbox() as base:
        ground.preload()
        commands = [options.command] if options.command else list(FULL)
        if options.fills:
            (base / "small").mkdir()
            _mount("-t", "tmpfs", "-o", f"size={options.size * _MB}", "none", base / "small")
            for command in commands:
                broken, codes = full(base, command, options)
                rows.append((command, len(codes), codes.count(4), codes.count(0), len(broken)))
                failures += broken
            subprocess.run(["umount", str(base / "small")], check=True)
        locked = [] if options.command else read_only(base)
    print(table(("command", "fills", "exit 4", "exit 0", "failed"), rows))
    tries = sum(row[1] for row in rows)
    figure = f"{tries - len(failures)} of {tries} full disks, {len(locked)} of {len(COMMANDS)} read-only commands wrong"
    return Result(figure, (*failures, *locked))


def parser() -> argparse.ArgumentParser:
    """The script's options."""
    made = argparse.ArgumentParser(prog="python -m tests.stress.disk", description=__doc__)
    made.add_argument("--command", choices=FULL, help="this command alone, on the full disk alone")
    made.add_argument("--fills", type=int, default=20, help="disks for each command, each with other room")
    made.add_argument("--size", type=int, default=2, help="MB of the tmpfs")
    made.add_argument("--seed", type=int, default=1)
    return made


def main(argv: list[str] | None = None) -> int:
    """Run the script in a mount namespace of its own; 0 where the goal is reached or mounting is not permitted."""
    words = sys.argv[1:] if argv is None else argv
    options = parser().parse_args(words)
    if os.environ.get(_INSIDE):
        return end("disk", run(options))
    if why := not_permitted():
        return end("disk", Result("", skipped=why))
    command = ["unshare", "--mount", sys.executable, "-m", "tests.stress.disk", *words]
    sys.stdout.flush()
    return subprocess.run(command, env={**os.environ, _INSIDE: "1"}, cwd=ground.PROJECT, check=False).returncode


def not_permitted() -> str:
    """Why no disk can be mounted here, "" where one can."""
    script = "d=$(mktemp -d) && mount -t tmpfs -o size=1m none $d && umount $d; s=$?; rmdir $d; exit $s"
    try:
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False)
    except OSError as error:
        return f"unshare cannot be run: {error.strerror}"
    return f"mounting is not permitted here: {done.stderr.strip()}" if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
