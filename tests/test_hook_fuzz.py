"""Whatever Claude Code, settings or a broken disk hand to the hook: it ends in 0, quietly, with JSON or nothing.

A hook that fails stops the person's prompt (exit 2) or prints an error at every event (design §7).
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from learnloop_md.claude import HOOKS
from tests.clock import ran_within
from tests.conftest import CopyOf, Run, git
from tests.homes import Home, make_home

SECONDS = 5.0  # the client waits 10; one takes 0.1 on an idle machine
SESSION = "3f2a81c0-0000-4000-8000-000000000000"
EXTRA: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "No, use uv instead of pip"},
    "PreToolUse": {"tool_name": "Skill", "tool_input": {"skill": "tidy", "args": "a"}, "tool_use_id": "toolu_1"},
    "PostToolUse": {
        "tool_name": "Write",
        "tool_input": {"file_path": "/nowhere/a.md", "content": "A."},
        "tool_response": {"type": "create", "filePath": "/nowhere/a.md", "content": "A."},
        "duration_ms": 3,
    },
    "PostToolUseFailure": {
        "tool_name": "Bash",
        "tool_input": {"command": "make tset"},
        "error": "Exit code 2\nno rule",
        "is_interrupt": False,
    },
    "Stop": {"stop_hook_active": False, "last_assistant_message": "done", "background_tasks": []},
    "PreCompact": {"trigger": "manual", "custom_instructions": None},
    "SubagentStop": {
        "agent_id": "a1",
        "agent_type": "",
        "stop_hook_active": False,
        "agent_transcript_path": "/nowhere",
    },
    "SessionEnd": {"reason": "other"},
}
JUNK: list[Any] = [
    None,
    True,
    -1,
    10**400,
    1.5e308,
    float("nan"),
    "",
    "\x00",
    "\ud800 alone",
    "../../../evil",
    "/",
    "/dev/zero",
    "/proc/self/mem",
    "x" * 300_000,
    "-" * 5_000 + "\u202e\u2028",
    [],
    [[[{}]]],
    {},
    {"": {"\x00": [None]}},
]


def event(name: str, cwd: Path, **more: Any) -> dict[str, Any]:
    """An event as the client sends it."""
    (cwd / "session.jsonl").write_text(
        '{"type": "user", "message": {"role": "user", "content": "Install"}}\n'
        '{"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "pip it is"}]}}\n'
    )
    common = {"session_id": SESSION, "transcript_path": str(cwd / "session.jsonl"), "cwd": str(cwd)}
    return {**common, "hook_event_name": name, "permission_mode": "default", **EXTRA.get(name, {}), **more}


def encoded(value: object) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass") + b"\n"


def hooked(data: bytes, cwd: Path, env: dict[str, str] | None = None, why: object = "") -> str:
    """What the hook prints for an input; it must have ended as promised."""
    words, told = [sys.executable, "-m", "learnloop_md", "hook"], f"{why} {data[:300]!r}"
    try:
        done = ran_within(SECONDS, words, cwd=cwd, input=data, env=env)
    except subprocess.TimeoutExpired:
        pytest.fail(f"no answer within {SECONDS} s to {told}")
    assert done.returncode == 0, f"{done.returncode} for {told}: {done.stderr!r}"
    assert done.stderr.count(b"\n") <= 1, f"{told}: {done.stderr!r}"
    assert b"Traceback" not in done.stderr, told
    out: str = done.stdout.decode("utf-8")  # strictly
    assert len(out) <= 10_000, f"{len(out)} characters for {told}"
    if out:
        assert isinstance(json.loads(out), dict), told
    return out


@pytest.fixture
def learned(copy_of: CopyOf, learnloop: Run) -> Path:
    """The repository with a memory that holds something to serve."""

    def build(root: Path) -> Home:
        made = make_home("project", root, learnloop)
        assert learnloop("note", "Use uv, never pip.", "--run", "r1", cwd=root).code == 0
        assert learnloop("note", "Use uv, never pip.", "--run", "r2", cwd=root).code == 0
        return made

    return copy_of("learned", build).root


def mutations(name: str, cwd: Path, dice: random.Random) -> Iterator[dict[str, Any]]:
    """An event with one to three of its values, at any depth, taken away or replaced by junk."""
    for _ in range(8):
        value = event(name, cwd)
        for _ in range(dice.choice((1, 1, 2, 3))):
            holder: dict[str, Any] = value
            while True:
                key = dice.choice(sorted(holder))
                inner = holder[key]
                if not (isinstance(inner, dict) and inner and dice.random() < 0.7):
                    break
                holder = inner
            if dice.random() < 0.2 and len(holder) > 1:
                del holder[key]
            else:
                holder[key] = dice.choice(JUNK)
        yield value


@pytest.mark.parametrize("name", HOOKS)
def test_wrong_values_of_an_event_never_make_the_hook_fail(learned: Path, name: str) -> None:
    """Missing keys and values of any type, in each event that we ask for."""
    before = git(learned, "rev-parse", "HEAD")
    for value in mutations(name, learned, random.Random(name)):
        hooked(encoded(value), learned)
    assert not list(learned.parent.rglob("*evil*"))
    assert git(learned, "rev-parse", "HEAD") == before


def not_events(cwd: Path) -> dict[str, bytes]:
    """Bytes that are no event, or one that no client sends."""
    good = encoded(event("UserPromptSubmit", cwd))
    return {
        "nothing": b"",
        "blank": b" \n\n",
        "half": good[: len(good) // 2],
        "two": good + good,
        "BOM": b"\xef\xbb\xbf" + good,
        "UTF-16": good.decode().encode("utf-16"),
        "not UTF-8": good.replace(b"uv", b"\xff\xfe"),
        "NUL": good.replace(b"uv", b"\x00"),
        "all NUL": b"\x00" * 100_000,
        "surrogate": encoded(event("UserPromptSubmit", cwd, prompt="No, use \ud800 instead")),
        "surrogate bytes": '{"hook_event_name": "Stop", "prompt": "\ud800"}'.encode("utf-8", "surrogatepass"),
        "list": b"[1, 2]",
        "text": b'"Stop"',
        "number": b"7",
        "null": b"null",
        "empty": b"{}",
        "long number": b'{"hook_event_name": ' + b"9" * 5_000 + b"}",
        "infinity": b'{"hook_event_name": "Stop", "cwd": Infinity}',
        "same key twice": b'{"hook_event_name": "Stop", "hook_event_name": ["SessionEnd"]}',
        "deep lists": b"[" * 200_000,
        "deep objects": b'{"hook_event_name": "Stop", "a": ' * 50_000,
        "deep and closed": b'{"hook_event_name": "PostToolUse", "tool_input": ' + b"[" * 9_000 + b"]" * 9_000 + b"}",
        "a prompt of 5 MB": encoded(event("UserPromptSubmit", cwd, prompt="No, use uv not pip. " * 250_000)),
        "an answer of 5 MB": encoded(event("PostToolUse", cwd, tool_response={"stdout": "e" * 5_000_000})),
        "an error of 5 MB": encoded(event("PostToolUseFailure", cwd, error="Exit code 1\n" * 400_000)),
        "words of 5 MB": encoded(event("Stop", cwd, last_assistant_message="\u2028- " * 1_000_000)),
        "unknown event": encoded(event("TeammateIdle", cwd)),
        "event of the future": encoded(event("MemoryWrite", cwd, tool_name="Write")),
        "event in small letters": encoded(event("stop", cwd)),
        "long session": encoded(event("Stop", cwd, session_id="a" * 100_000)),
        "travelling session": encoded(event("Stop", cwd, session_id="../../../../evil")),
    }


def test_what_is_no_event_is_answered_by_nothing_or_json(learned: Path) -> None:
    for why, data in not_events(learned).items():
        hooked(data, learned, why=why)
    assert not list(learned.parent.rglob("*evil*"))


State = Callable[[Path], dict[str, Any]]  # breaks the repository's world, gives more values of the event


def _own(repo: Path) -> Path:
    return repo / ".git" / "learnloop"


def _state_is_a_file(repo: Path) -> dict[str, Any]:
    shutil.rmtree(_own(repo))
    _own(repo).write_text("")
    return {}


def _state_leads_nowhere(repo: Path) -> dict[str, Any]:
    shutil.rmtree(_own(repo))
    _own(repo).symlink_to("/nowhere/at/all")
    return {}


def _notes_are_read_only(repo: Path) -> dict[str, Any]:
    """Root is not kept out by modes: there a file in the folder's place does it."""
    sessions = _own(repo) / "sessions"
    if os.geteuid() == 0:
        sessions.write_text("")
    else:
        sessions.mkdir(mode=0o500)
    return {}


def _every_note_is_damaged(repo: Path) -> dict[str, Any]:
    (_own(repo) / "sessions").mkdir(exist_ok=True)
    (_own(repo) / "sessions" / f"{SESSION}.jsonl").write_bytes(b'{"what": 7}\n[]\n\xff\x00\n{"what": "asked"\nnull\n')
    for file in _own(repo).rglob("*.json"):
        file.write_bytes(b'{"rows": [[1, 2], null, "a"], "agreed": 7, "quarantined": {}, "waiting": "x"}')
    return {}


def _every_note_is_a_folder(repo: Path) -> dict[str, Any]:
    for file in list(_own(repo).rglob("*.json")):
        file.unlink()
        file.mkdir()
    (_own(repo) / "sessions" / f"{SESSION}.jsonl").mkdir(parents=True)
    return {}


def _memory_is_a_file(repo: Path) -> dict[str, Any]:
    shutil.rmtree(repo / ".claude" / "memory")
    (repo / ".claude" / "memory").write_text("")
    return {}


def _memory_is_a_ring(repo: Path) -> dict[str, Any]:
    shutil.rmtree(repo / ".claude" / "memory")
    (repo / ".claude" / "memory").symlink_to("memory")
    return {}


def _memory_is_unreadable(repo: Path) -> dict[str, Any]:
    for file in (repo / ".claude" / "memory").iterdir():
        file.chmod(0)
    (repo / ".claude" / "memory" / "MEMORY.md").unlink()
    os.mkfifo(repo / ".claude" / "memory" / "MEMORY.md")
    return {}


def _settings_are_broken(repo: Path) -> dict[str, Any]:
    (repo / ".claude" / "settings.local.json").write_text('{"autoMemoryDirectory": 7,}')
    (repo / ".learnloop.toml").write_text("candidates_due = [[[")
    return {}


def _folder_is_gone(repo: Path) -> dict[str, Any]:
    return {"cwd": str(repo / "gone")}


def _no_git(repo: Path) -> dict[str, Any]:
    (repo / ".git").rename(repo / "git")
    (repo / ".git").write_text("gitdir: \x00\n")
    return {}


def _transcript_is(path: str) -> State:
    return lambda repo: {"transcript_path": path.format(repo=repo)}


def _transcript_waits(repo: Path) -> dict[str, Any]:
    os.mkfifo(repo / "pipe")
    return {"transcript_path": str(repo / "pipe")}


def _transcript_is_no_text(repo: Path) -> dict[str, Any]:
    (repo / "noise").write_bytes(random.Random(7).randbytes(2_000_000) + b"\n" + b"[" * 100_000)
    return {"transcript_path": str(repo / "noise")}


STATES: dict[str, State] = {
    "state is a file": _state_is_a_file,
    "state leads nowhere": _state_leads_nowhere,
    "notes are read-only": _notes_are_read_only,
    "notes are damaged": _every_note_is_damaged,
    "notes are folders": _every_note_is_a_folder,
    "memory is a file": _memory_is_a_file,
    "memory is a ring": _memory_is_a_ring,
    "memory is unreadable": _memory_is_unreadable,
    "settings are broken": _settings_are_broken,
    "folder is gone": _folder_is_gone,
    "no git": _no_git,
    "transcript is missing": _transcript_is("{repo}/none.jsonl"),
    "transcript is a folder": _transcript_is("{repo}"),
    "transcript is endless": _transcript_is("/dev/zero"),
    "transcript waits": _transcript_waits,
    "transcript is no text": _transcript_is_no_text,
}


@pytest.mark.parametrize("state", STATES)
def test_a_broken_world_is_no_reason_to_fail(learned: Path, state: str) -> None:
    """The hook serves what it can, and is silent about the rest."""
    more = STATES[state](learned)
    alone = {**event("Stop", learned), "session_id": "of-a-skill", **more}  # no other hook told of the session
    hooked(encoded(alone), learned, why=state)
    for name in ("SessionStart", "UserPromptSubmit", "Stop"):
        hooked(encoded({**event(name, learned), **more}), learned, why=state)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Every lock of ours is held by somebody who does not let go."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    handles = [os.open(path, os.O_RDONLY) for path in files]
    for handle in handles:
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        for handle in handles:
            os.close(handle)


def test_a_lock_that_is_never_freed_keeps_no_hook_waiting(learned: Path) -> None:
    """A hook only reads, and appends: it takes no lock (design §7)."""
    with locked(_own(learned)):
        for name in HOOKS:
            if name not in ("PostToolUse", "SessionEnd"):  # these start a command, which waits by itself
                hooked(encoded(event(name, learned)), learned)


ENVIRONMENTS: dict[str, dict[str, str | None]] = {
    "no HOME": {"HOME": None},
    "no environment": dict.fromkeys(os.environ),
    "a HOME that is none": {"HOME": "/nowhere"},
    "an empty HOME": {"HOME": ""},
    "a memory that is none": {"LEARNLOOP_MEMORY": "/nowhere"},
    "a session that is none": {"CLAUDE_CODE_SESSION_ID": "../../evil"},
    "a folder that is none": {"CLAUDE_CONFIG_DIR": "/dev/null", "CLAUDE_PROJECT_DIR": "\udcff"},
    "another language": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "a state that is none": {"XDG_STATE_HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/null"},
}


def test_an_odd_environment_is_no_reason_to_fail(learned: Path) -> None:
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}  # the copy under test
    for why, changes in ENVIRONMENTS.items():
        changed = {**os.environ, **changes, **kept}
        env = {key: value for key, value in changed.items() if value is not None}
        for name in ("SessionStart", "UserPromptSubmit"):
            hooked(encoded({**event(name, learned), "prompt": "Nö, nimm uv 🦊"}), learned, env, why=why)
    assert not list(learned.parent.rglob("*evil*"))


ENDS = ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "</dev/null", "<&- 2>&- | :")


def test_closed_and_full_ends_are_no_reason_to_fail(learned: Path) -> None:
    """Nobody may be there to ask or to listen."""
    data = learned.parent / "event.json"
    for name in ("SessionStart", "UserPromptSubmit", "Stop"):
        data.write_bytes(encoded(event(name, learned)))
        for ends in ENDS:
            given = "" if "<" in ends else f"< {data}"
            script = f"set -o pipefail; {sys.executable} -m learnloop_md hook {given} {ends}"
            quiet(script, learned)


def quiet(script: str, cwd: Path) -> None:
    """The script, which runs the hook, ends in 0 and says one line at most."""
    words = ["bash", "-c", script]
    done = ran_within(SECONDS, words, cwd=cwd, text=True)
    assert done.returncode == 0, f"{script}: {done.stderr}"
    assert done.stderr.count("\n") <= 1, f"{script}: {done.stderr}"


def test_a_working_folder_that_was_removed_is_no_reason_to_fail(learned: Path) -> None:
    gone = learned / "gone"
    gone.mkdir()
    data = learned.parent / "event.json"
    data.write_bytes(encoded({**event("SessionStart", learned), "cwd": str(gone)}))
    quiet(f"cd {gone} && rmdir {gone} && exec {sys.executable} -P -m learnloop_md hook < {data}", learned)
