"""git hooks that call the tool, and a commit message that is being written while a lesson is noted.

The person's git command succeeds, nothing recurs, the lesson is on disk, and in HEAD after the next command
(reliability: ten hook types, an open editor twenty times).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.stress import ground
from tests.stress.ground import DAY, INSIDE, git, process
from tests.stress.report import Failure, Result, end, table

# What a person does in a repository with a branch `side`, so that the hook runs; the last command is judged.
HOOKS: dict[str, tuple[tuple[str, ...], ...]] = {
    "pre-commit": (("commit", "-q", "-a", "-m", "Work"),),
    "prepare-commit-msg": (("commit", "-q", "-a", "-m", "Work"),),
    "commit-msg": (("commit", "-q", "-a", "-m", "Work"),),
    "post-commit": (("commit", "-q", "-a", "-m", "Work"),),
    "pre-merge-commit": (("merge", "-q", "--no-edit", "side"),),
    "post-merge": (("merge", "-q", "--no-edit", "side"),),
    "post-checkout": (("checkout", "-q", "side"),),
    "pre-rebase": (("rebase", "-q", "side"),),
    "post-rewrite": (("commit", "-q", "--amend", "-m", "Better"),),
    "pre-push": (("push", "-q", "origin", "main"),),
}
_EDITS = {"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"}
RULE = "Run the hooks once, not twice."
SLUG = "run-the-hooks-once-not-twice"


def make_scene(base: Path, name: str) -> Path:
    """A repository with a memory, a branch that parted before it, and a remote."""
    root = base / name / "repo"
    ground.new_repository(root)
    git(root, "branch", "side")
    ground.sure(root, "init")
    (root / "app.py").write_text("x = 2\n")
    git(root, "commit", "-q", "-a", "-m", "Two")
    git(root, "checkout", "-q", "side")
    (root / "side.py").write_text("y = 1\n")
    git(root, "add", "side.py")
    git(root, "commit", "-q", "-m", "Side")
    git(root, "checkout", "-q", "main")
    if name == "post-checkout":  # where the memory is on both branches
        git(root, "branch", "-f", "side", "main")
    git(base / name, "init", "-q", "--bare", "remote.git")
    git(root, "remote", "add", "origin", str(base / name / "remote.git"))
    return root


def install(root: Path, base: Path, hook: str) -> Path:
    """Put a hook there that notes and syncs; gives the file with a line for each time it ran."""
    ran = base / hook / "ran"
    tool = f"'{sys.executable}' -m learnloop_md"
    script = (
        f"#!/bin/sh\necho run >>'{ran}'\n[ $(wc -l <'{ran}') -gt 5 ] && exit 1\n"
        f"{tool} note '{RULE}' --run r1 --today {DAY} >>'{ran}.said' 2>&1 || exit 1\n"
        f"{tool} sync --today {DAY} >>'{ran}.said' 2>&1 || exit 1\n"
    )
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    file = root / ".git" / "hooks" / hook
    file.write_text(script)
    file.chmod(0o755)
    return ran


def one_hook(base: Path, hook: str) -> list[str]:
    """What goes wrong when a hook of this type calls the tool."""
    root = make_scene(base, hook)
    ran = install(root, base, hook)
    if hook in _EDITS:
        (root / "app.py").write_text("x = 3\n")
    wrong: list[str] = []
    for words in HOOKS[hook]:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            wrong.append(f"git {' '.join(words)} ends with {done.returncode}: {done.stderr.strip()[:300]}")
    times = len(ran.read_text().splitlines()) if ran.exists() else 0
    if times != 1:
        wrong.append(f"the hook ran {times} times")
    waits = hook == "pre-rebase"  # a file that is written then makes the rebase refuse: it is queued unwritten
    if (root / INSIDE / f"{SLUG}.md").exists() == waits:
        wrong.append(f"the lesson is {'already' if waits else 'not'} on disk after git's command")
    (root / ".git" / "hooks" / hook).unlink()
    said = ran.with_suffix(".said")
    wrong += after(root, said.read_text() if said.exists() else "")
    return wrong


def after(root: Path, said: str) -> list[str]:
    """What the next command does not bring in order."""
    next_one = process(root, "sync", "--today", DAY)
    wrong = [f"the next sync ends with {next_one.code}: {next_one.err.strip()}"] if next_one.code else []
    if f"{INSIDE}/{SLUG}.md" not in git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines():
        wrong.append("the lesson is not in HEAD after the next command")
    wrong += ground.uncommitted(root) + ground.unsound(root)
    wrong += [f"left over: {path}" for path in (*ground.locks(root), *ground.scraps(root))]
    return [*wrong, f"the hook's commands said: {said.strip()[-400:]}"] if wrong else []


# --- an open editor --------------------------------------------------------------------------------------------------


def make_editor(base: Path, seconds: float) -> Path:
    """An editor that says it is open, takes its time, and writes a message."""
    file = base / "editor"
    file.write_text(f'#!/bin/sh\ntouch "$OPEN"\nsleep {seconds}\necho "Work by hand" >"$1"\n')
    file.chmod(0o755)
    return file


def one_editor(base: Path, number: int, editor: Path, *, everything: bool) -> list[str]:
    """What goes wrong when a lesson is noted while a person writes a commit message."""
    root = base / f"editor-{number}-{everything}"
    ground.new_memory(root)
    (root / "app.py").write_text("x = 2\n")
    words = ["git", "commit", "-q", "-a"] if everything else ["git", "commit", "-q"]
    if not everything:
        git(root, "add", "app.py")
    is_open = base / f"open-{number}-{everything}"
    env = {**os.environ, "GIT_EDITOR": str(editor), "OPEN": str(is_open)}
    commit = subprocess.Popen(words, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + ground.PATIENCE_S
    while not is_open.exists() and time.monotonic() < until:
        time.sleep(0.005)
    noted = ground.call(root, "note", RULE, "--run", "r1", "--today", DAY)  # at once: a process would start too late
    _, said = commit.communicate(timeout=ground.PATIENCE_S)
    wrong = [f"the person's commit ends with {commit.returncode}: {said.strip()}"] if commit.returncode else []
    wrong += [f"the note ends with {noted.code}: {noted.err.strip()}"] if noted.code else []
    touched = git(root, "log", "-1", "--format=%s", "--name-only", "--grep=Work by hand").split("\n")
    if [path for path in touched if path.startswith(INSIDE)]:
        wrong.append("the person's commit holds a file of the memory")
    if not (root / INSIDE / f"{SLUG}.md").exists():
        wrong.append("the lesson is not on disk")
    return wrong + after(root, noted.err)


def run(options: argparse.Namespace) -> Result:
    """Every hook asked for, then the open editor."""
    failures: list[Failure] = []
    rows: list[tuple[object, ...]] = []
    hooks = list(HOOKS) if options.hook is None else [hook for hook in options.hook if hook in HOOKS]
    good = 0
    with ground.sandbox() as base:
        ground.preload()
        for hook in hooks:
            wrong = one_hook(base, hook)
            rows.append((hook, "no" if wrong else "yes"))
            if wrong:
                repeat = f"python -m tests.stress.hooks --hook {hook} --editors 0"
                failures.append(Failure(hook, tuple(wrong), repeat))
        editor = make_editor(base, options.seconds)
        for everything in (False, True):
            for number in range(options.editors):
                wrong = one_editor(base, number, editor, everything=everything)
                good += not any("person's commit ends" in row for row in wrong)
                if wrong:
                    where = f"editor open, commit {'-a' if everything else 'of what is staged'}, {number}"
                    repeat = "python -m tests.stress.hooks --hook none --editors 1"
                    failures.append(Failure(where, tuple(wrong), repeat))
    print(table(("hook", "fine"), rows))
    passed = sum(1 for row in rows if row[1] == "yes")
    figure = f"{passed} of {len(rows)} hooks, {good} of {2 * options.editors} commits with an open editor succeed"
    return Result(figure, tuple(failures))


def parser() -> argparse.ArgumentParser:
    """The script's options."""
    made = argparse.ArgumentParser(prog="python -m tests.stress.hooks", description=__doc__)
    made.add_argument(
        "--hook",
        action="append",
        choices=(*HOOKS, "none"),
        help="this type alone; may be repeated; none: no hook at all",
    )
    made.add_argument("--editors", type=int, default=20, help="commits with an open editor, of each of two forms")
    made.add_argument("--seconds", type=float, default=1.0, help="how long the editor is open")
    made.add_argument("--seed", type=int, default=1, help="taken for likeness with the others; nothing is random here")
    return made


def main(argv: list[str] | None = None) -> int:
    """Run the script; 0 where the goal is reached."""
    return end("hooks", run(parser().parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main())
