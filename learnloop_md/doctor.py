"""`doctor`: whether program, memory, git, hooks, settings and skills work together here; nothing is written."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from learnloop_md import __version__, codify, drivers, git, place, store, wiring
from learnloop_md import memory as memories
from learnloop_md.answer import Answer, visible
from learnloop_md.calls import Call
from learnloop_md.errors import LearnloopError
from learnloop_md.guard import unsecret
from learnloop_md.place import Place
from learnloop_md.wiring import FAIL, OK, WARN, Check, Scene

_PATIENCE_S = 10


def doctor(call: Call) -> Answer:
    """One line for each check; exit 1 where one fails (R000-21, R003-54, R004-86)."""
    checks = list(_all(call))
    lines = []
    for check in checks:
        lines.append(f"{check.state:<4}  {check.name}: {visible(check.message)}")
        lines += [f"      {visible(check.fix)}"] if check.fix else []
    failed = any(check.state == FAIL for check in checks)
    return Answer("\n".join(lines), {"checks": [check._asdict() for check in checks]}, (), 1 if failed else 0)


def _all(call: Call) -> Iterator[Check]:
    yield from _guarded("program", _program)
    yield Check("python", OK, f"Python {platform.python_version()} ({sys.executable})")
    cwd = call.cwd.resolve()
    repos: list[git.Repo | None] = []
    yield from _guarded("git", partial(_git, cwd, repos))
    repo = repos[0] if repos else None
    scene = wiring.look(cwd, repo)
    places: list[Place] = []
    yield from _guarded("memory", partial(_memory, call, places))
    here = places[0] if places else None
    yield from _guarded("claude-memory", partial(_claude_memory, scene, here))
    for name, look in (
        ("auto-memory-directory", wiring.of_directories),
        ("links", wiring.of_loaded),
        ("settings", wiring.of_settings),
        ("folder", wiring.of_folder),
        ("hooks", wiring.of_hooks),
    ):
        yield from _guarded(name, partial(look, scene))
    if here:
        yield from _guarded("merge-drivers", partial(_merge_drivers, here))
        yield from _guarded("filter", partial(_filter, here))
        yield from _guarded("queue", partial(_queue, call, here))
    for skill in sorted(_skills(scene)):
        yield from _guarded(f"skill {skill.name}", partial(_skill, skill))


def _guarded(name: str, look: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """The findings of a check; one that cannot be made is a finding too."""
    try:
        yield from look()
    except LearnloopError as error:
        yield Check(name, FAIL, error.message, error.hint.removeprefix("run: ") or "learnloop status")
    except (OSError, ValueError, RecursionError) as error:
        yield Check(name, WARN, f"cannot be looked at: {error}", "look at its permissions")


# --- the program and git ----------------------------------------------------------------------------------------------


def _program() -> Iterator[Check]:
    """R004-86: hooks and skills call `learnloop`, so it must be on PATH, in this version."""
    found = shutil.which("learnloop")
    if found is None:
        yield Check("program", FAIL, "learnloop is not on PATH: hooks and skills cannot call it", _onto_path())
        return
    version = __version__ if os.path.realpath(found) == os.path.realpath(sys.argv[0]) else _version_of(found)
    if version == __version__:
        yield Check("program", OK, f"learnloop {version} ({found})")
    elif version:
        message = f"hooks call {found}, which is version {version}; this one is {__version__}"
        yield Check("program", WARN, message, _onto_path())
    else:
        yield Check("program", FAIL, f"hooks call {found}, which does not start", _onto_path())


def _version_of(program: str) -> str:
    """The version that another program of our name says, "" where it does not start."""
    try:
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_PATIENCE_S
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode(errors="replace").strip()[:40]


def _onto_path() -> str:
    """The command that brings this very program onto PATH."""
    folders = (Path(sys.argv[0]).absolute().parent, Path(sys.executable).parent)
    here = next((folder for folder in folders if (folder / "learnloop").is_file()), None)
    return f'export PATH="{here}:$PATH"' if here else f"pipx install --force learnloop-md=={__version__}"


def _git(cwd: Path, repos: list[git.Repo | None]) -> Iterator[Check]:
    repo = git.find(cwd)
    repos.append(repo)
    if repo is None:
        yield Check("git", WARN, f"{cwd} lies in no git repository", "git init")
        return
    if author := git.author(repo.root):
        yield Check("git", OK, f"commits are by {unsecret(author)} in {repo.root}")
    else:
        message = "git knows no name and e-mail to commit with: changes are queued"
        yield Check("git", WARN, message, 'git config user.name "…" && git config user.email "…"')


# --- the memory -------------------------------------------------------------------------------------------------------


def _memory(call: Call, places: list[Place]) -> Iterator[Check]:
    found = call.place
    places.append(found)
    yield Check("memory", OK, f"{found.folder} ({found.kind}; {found.chosen_by})")


def _claude_memory(scene: Scene, here: Place | None) -> Iterator[Check]:
    """Whether Claude started here loads the memory that commands work on."""
    why, fix = wiring.switched_off(scene)
    if why:
        yield Check("claude-memory", FAIL, f"Claude Code loads no memory: {why}", fix)
        return
    loaded = wiring.loaded_memory(scene)
    if here is None or here.kind == "skill":
        yield Check("claude-memory", OK, f"Claude Code loads {loaded}")
    elif os.path.realpath(loaded) == os.path.realpath(here.folder):
        yield Check("claude-memory", OK, f"Claude Code loads the same folder when it is started in {scene.cwd}")
    else:
        message = f"Claude Code started in {scene.cwd} loads {loaded}, not {here.folder}"
        if here.chosen_by == place.IN_REPOSITORY:
            message += ": this clone is not initialised"
        own = here.chosen_by in ("--memory", "LEARNLOOP_MEMORY")
        mended = scene.repo and here.folder.is_relative_to(scene.repo.main_root)
        line = f'"autoMemoryDirectory": {json.dumps(str(here.folder), ensure_ascii=False)}'
        by_hand = f"put {line} into .claude/settings.local.json"
        yield Check("claude-memory", WARN if own else FAIL, message, _init(scene, here) if mended else by_hand)


def _init(scene: Scene, here: Place) -> str:
    root = scene.repo.main_root if scene.repo else scene.cwd
    inside = here.folder.relative_to(root).as_posix()
    words = "learnloop init" + ("" if inside == ".claude/memory" else f" --dir {shlex.quote(inside)}")
    return words if scene.cwd.is_relative_to(root) and not _linked(scene) else f"cd {shlex.quote(str(root))} && {words}"


def _linked(scene: Scene) -> bool:
    return scene.repo is not None and scene.repo.is_linked_worktree


def _merge_drivers(here: Place) -> Iterator[Check]:
    missing = drivers.unregistered(here)
    if missing:
        message = f"this clone does not know the merge drivers {', '.join(missing)}: git merges by lines"
        yield Check("merge-drivers", WARN, message, "learnloop git-config --enable")
    elif here.repo:
        yield Check("merge-drivers", OK, "nothing that .gitattributes names is missing")


def _filter(here: Place) -> Iterator[Check]:
    """Reliability §5: a filter (git-crypt, LFS) is applied, and shown here."""
    if here.repo and (name := git.filter_of(here.repo, here.in_repo(here.path_of("lesson")))):
        yield Check("filter", OK, f"git compares and stores lessons through the filter {name}")


def _queue(call: Call, here: Place) -> Iterator[Check]:
    done = call.look(here)
    if done.waiting:
        yield Check("queue", WARN, f"changes wait for their commit: {done.waiting}", "learnloop sync")
    elif differing := {*done.differing, *done.unreadable}:
        count = len(differing)
        message = f"{count} of our files {'differs' if count == 1 else 'differ'} from HEAD"
        yield Check("queue", WARN, message, "learnloop sync")
    else:
        yield Check("queue", OK, "nothing waits for a commit")
    if tracked := memories.tracked_private(done.memory):
        message = f"git tracks {len(tracked)} private {'lesson' if len(tracked) == 1 else 'lessons'}: a push sends it"
        yield Check("private", FAIL, message, memories.untracking(tracked))


# --- skills -----------------------------------------------------------------------------------------------------------


def _skills(scene: Scene) -> set[Path]:
    folders = {scene.cwd / ".claude" / "skills", scene.root / ".claude" / "skills"}
    return {path.parent for folder in folders if folder.is_dir() for path in folder.glob("*/SKILL.md")}


def _skill(skill: Path) -> Iterator[Check]:
    """R003-54: a skill with a memory both reads it and says how lessons get into it."""
    text = (store.read_bytes(skill / "SKILL.md") or b"").decode("utf-8", "replace")
    folder = skill / "references"
    prose, contract = codify.prose_and_contract(text)
    loads = re.search(r"references/(memory|review-patterns)\.md", prose)
    writes = contract or "learnloop note" in prose
    exists = place.is_notebook(folder)
    name, fix = f"skill {skill.name}", f"learnloop init --skill {shlex.quote(str(skill))}"
    if exists and not loads:
        yield Check(name, FAIL, "write-only: it has a memory, and SKILL.md never says to read it", fix)
    elif loads and not exists:
        yield Check(name, FAIL, f"SKILL.md says to read {loads[0]}, which is not there", fix)
    elif loads and not writes:
        yield Check(name, WARN, "read-only: it loads a memory, and SKILL.md never says how lessons get into it", fix)
    elif loads:
        yield Check(name, OK, f"reads {loads[0]} and says how lessons get into it")
