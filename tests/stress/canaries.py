"""A repository whose configuration names programs, a canary for each key: no command of the tool lets one sing.

Each canary is first shown to be alive by a command of git's own that runs it (reliability: hostile configuration).
"""

from __future__ import annotations

import argparse
import os
import pty
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.stress import ground
from tests.stress.ground import DAY, git
from tests.stress.report import Failure, Result, end, table

# Each key with a command of git's own that runs its program; "" where git gives no simple one.
KEYS: dict[str, tuple[str, ...]] = {
    "core.fsmonitor": ("status",),
    "core.hooksPath": ("commit", "-q", "--allow-empty", "-m", "Live"),
    "core.pager": ("-p", "log", "-1"),
    "core.editor": ("commit", "--allow-empty"),
    "sequence.editor": (),
    "core.sshCommand": ("ls-remote", "ssh://nowhere.invalid/x"),
    "core.askPass": (),
    "core.alternateRefsCommand": (),
    "credential.helper": ("credential", "fill"),
    "diff.external": ("diff", "--", "work.txt"),
    "diff.x.textconv": ("log", "-p", "-1", "--", "app.py"),
    "diff.x.command": ("diff", "--ext-diff"),
    "merge.x.driver": (),
    "gpg.program": ("log", "-1", "--show-signature"),
    "interactive.diffFilter": (),
    "trailer.x.command": ("interpret-trailers", "--trailer", "x", "app.py"),
    "alias.canary": ("canary",),
    "pager.log": (),
    "pager.status": (),
}
_ALIASED = "status add commit log show diff rev-parse cat-file ls-tree ls-files update-ref update-index hash-object"
READS = (
    ("show",), ("show", "read"), ("status",), ("check",), ("check", "--staged"), ("check", "--only-secrets"), ("log",),
    ("cleanup",), ("diff",), ("diff", "HEAD~1...HEAD"), ("why", "read"), ("replay", "HEAD"), ("report",), ("stats",),
    ("state", "list"), ("verify",), ("doctor",), ("export", "jsonl"), ("recall", "log"), ("review", "--list"),
)  # fmt: skip
WRITES = (
    ("note", "Pin the compiler in every build.", "--name", "pin", "--run", "r2"),
    ("note", "Read the log before guessing.", "--run", "r2"),
    ("confirm", "stage"),
    ("dispute", "stage"),
    ("archive", "stage", "--note", "Out of date"),
    ("restore", "stage"),
    ("rename", "stage", "stage-by-name"),
    ("merge", "bound", "mock"),
    ("codify", "read", "--into", "CLAUDE.md"),
    ("codify", "mock", "--into", "AGENTS.md", "--branch", "rules"),
    ("cleanup", "--apply"),
    ("state", "set", "builds", "3"),
    ("run", "ok", "--note", "Built"),
    ("graduate", "pin"),
    ("verify", "--fix", "--yes"),
    ("sync",),
    ("undo",),
)
RULES = {
    "read": "Read the log before guessing.",
    "stage": "Stage files by name when committing.",
    "mock": "Mock the clock in timer tests.",
    "bound": "Bound every retry of a network call.",
}


class Cage:
    """The canaries of one repository: a program for each key that leaves a mark when it runs."""

    def __init__(self, base: Path) -> None:
        self.folder, self.marks = base / "canaries", base / "marks"
        self.folder.mkdir(parents=True)
        self.marks.mkdir()

    def program(self, key: str) -> Path:
        """A program that marks a key, takes what it is given, and fails."""
        file = self.folder / key.replace(".", "-")
        file.write_text(f"#!/bin/sh\ntr '\\0' ' ' </proc/$PPID/cmdline >>'{self.marks / key}'\nexit 1\n")
        file.chmod(0o755)
        return file

    def install(self, root: Path) -> None:
        """Write every key into the repository's own configuration, and the attributes that name drivers."""
        hooks = self.folder / "hooks"
        hooks.mkdir(exist_ok=True)
        program = self.program("core.hooksPath")
        for hook in "pre-commit commit-msg post-commit post-checkout reference-transaction post-index-change".split():
            (hooks / hook).unlink(missing_ok=True)
            (hooks / hook).symlink_to(program)
        for key in KEYS:
            value = str(hooks) if key == "core.hooksPath" else str(self.program(key))
            git(root, "config", key, f"!{value}" if key.startswith(("alias.", "credential.")) else value)
        for verb in _ALIASED.split():
            git(root, "config", f"alias.{verb}", f"!{self.program('alias.canary')}")
        git(root, "config", "log.showSignature", "true")
        (root / ".git" / "info").mkdir(exist_ok=True)
        (root / ".git" / "info" / "attributes").write_text("*.py diff=x\n*.md diff=x merge=x\n")

    def sung(self) -> dict[str, str]:
        """The keys whose program ran, each with the command that ran it; the marks are taken away."""
        found = {mark.name: mark.read_text("utf-8", "replace").strip() for mark in sorted(self.marks.iterdir())}
        for mark in self.marks.iterdir():
            mark.unlink()
        return found


def sign_head(root: Path) -> None:
    """Give HEAD a signature that git would check by gpg.program, as a commit that was pulled may have."""
    raw = git(root, "cat-file", "commit", "HEAD")
    head, _, text = raw.partition("\n\n")
    name = "PGP SIGNATURE"
    sign = f"gpgsig -----BEGIN {name}-----\n \n abcd\n -----END {name}-----"
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=root,
        input=f"{head}\n{sign}\n\n{text}\n".encode(),
        capture_output=True,
        check=True,
    )
    git(root, "update-ref", "HEAD", done.stdout.decode().strip())


def make_scene(root: Path) -> None:
    """A memory of four lessons and a guide, made before the configuration turns hostile."""
    ground.new_repository(root)
    for name in ("CLAUDE.md", "AGENTS.md"):
        (root / name).write_text("# Guide\n\nBe brief.\n")
    git(root, "add", "CLAUDE.md", "AGENTS.md")
    git(root, "commit", "-q", "-m", "Guides")
    ground.sure(root, "init")
    for name, rule in RULES.items():
        ground.sure(root, "note", rule, "--name", name, "--new", "--run", "r1", "--today", DAY)
    ground.stage_work(root)
    sign_head(root)


def alive(cage: Cage, root: Path) -> list[str]:
    """The keys whose canary git itself does not wake by the command that should."""
    silent = []
    for key, words in KEYS.items():
        if not words:
            continue
        _in_terminal(root, words) if key == "core.pager" else subprocess.run(
            ["git", *words],
            cwd=root,
            input=b"protocol=https\nhost=nowhere.invalid\n\n",
            capture_output=True,
            check=False,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"} | _without(key),
        )
        if key not in cage.sung():
            silent.append(key)
    return silent


def _without(key: str) -> dict[str, str]:
    """Settings that keep other canaries from standing before this one."""
    off = {"core.hooksPath": "/dev/null", "core.fsmonitor": "false"} if key == "core.editor" else {}
    env = {"GIT_CONFIG_COUNT": str(len(off))} if off else {}
    for number, (name, value) in enumerate(off.items()):
        env |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return env


def _in_terminal(root: Path, words: tuple[str, ...]) -> None:
    """git with a terminal, which is when it pages."""
    ours, its = pty.openpty()
    try:
        env = {**os.environ, "TERM": "xterm"}
        subprocess.run(["git", *words], cwd=root, stdin=its, stdout=its, stderr=its, env=env, check=False, timeout=20)
    finally:
        os.close(ours)
        os.close(its)


def tried(cage: Cage, root: Path, words: tuple[str, ...], allowed: frozenset[str]) -> list[str]:
    """What goes wrong when a command runs in the hostile repository."""
    ran = ground.call(root, *words, "--today", DAY)
    wrong = [f"{key} ran: {by}" for key, by in cage.sung().items() if key not in allowed]
    wrong += ground.rough(ran)
    return wrong + ([f"exit code {ran.code}: {ran.err.strip()}"] if ran.code not in (0, 1) else [])


def run(options: argparse.Namespace) -> Result:
    """Every command in a repository full of canaries, without and with commit.gpgsign."""
    failures: list[Failure] = []
    sung: Counter[str] = Counter()
    count = 0
    commands = tuple(words for words in (*READS, *WRITES) if not options.command or words[0] == options.command)
    with ground.sandbox() as base:
        ground.preload()
        for signing in (False, True):
            root = base / f"repo-{signing}"
            cage = Cage(base / f"cage-{signing}")
            make_scene(root)
            cage.install(root)
            if signing:
                git(root, "config", "commit.gpgsign", "true")
            else:
                silent = alive(cage, root)
                if silent:
                    failures.append(Failure("the canaries", (f"not alive: {', '.join(silent)}",), "git itself"))
            allowed = frozenset({"gpg.program"}) if signing else frozenset()
            for words in commands if not signing else READS + WRITES[:1] + WRITES[8:9]:
                count += 1
                wrong = tried(cage, root, words, frozenset() if words in READS else allowed)
                sung.update(row.partition(" ran")[0] for row in wrong if " ran: " in row)
                if wrong:
                    repeat = f"python -m tests.stress.canaries --command {words[0]}"
                    where = f"{' '.join(words)}{', commit.gpgsign on' if signing else ''}"
                    failures.append(Failure(where, tuple(wrong), repeat))
        fresh = base / "fresh"
        ground.new_repository(fresh)
        cage = Cage(base / "cage-init")
        cage.install(fresh)
        wrong = tried(cage, fresh, ("init",), frozenset())
        sung.update(row.partition(" ran")[0] for row in wrong if " ran: " in row)
        if wrong:
            failures.append(Failure("init", tuple(wrong), "python -m tests.stress.canaries --command init"))
    print(table(("key", "shown to be alive", "sang"), [(key, "yes" if KEYS[key] else "-", sung[key]) for key in KEYS]))
    return Result(f"{sum(sung.values())} canaries sang in {count + 1} commands with {len(KEYS)} keys", tuple(failures))


def parser() -> argparse.ArgumentParser:
    """The script's options."""
    made = argparse.ArgumentParser(prog="python -m tests.stress.canaries", description=__doc__)
    made.add_argument("--command", help="this command alone")
    made.add_argument("--seed", type=int, default=1, help="taken for likeness with the others; nothing is random here")
    return made


def main(argv: list[str] | None = None) -> int:
    """Run the script; 0 where the goal is reached."""
    return end("canaries", run(parser().parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main())
