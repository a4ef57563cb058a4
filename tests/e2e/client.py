"""The real Claude Code in a clean world: its own HOME, a scripted model on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sysconfig
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.conftest import Ran
from tests.e2e.fake_api import FakeApi, Reply, Request

# Read when the module is loaded: each test then runs without the variables of ours.
NAMED = os.environ.get("LEARNLOOP_TEST_CLAUDE", "")
CLAUDE = os.path.abspath(NAMED) if NAMED else shutil.which("claude") or ""  # one that is named must be there
SECONDS = 180
GITCONFIG = "[user]\n\tname = Ada Test\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n"


class Session(NamedTuple):
    """What one run of the client printed and asked of the model."""

    id: str
    code: int
    out: str
    err: str
    requests: list[Request]

    @property
    def turns(self) -> list[Request]:
        """The requests of the session itself."""
        return [request for request in self.requests if request.main]

    @property
    def asked(self) -> list[Request]:
        """The turns to which a Stop hook sent the model back."""
        return [turn for turn in self.turns if "Stop hook feedback:" in turn.last]


class Client:
    """Claude Code and `learnloop` for one HOME; `run` is one session."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        (self.home / ".gitconfig").write_text(GITCONFIG)

    @property
    def environment(self) -> dict[str, str]:
        """What commands and the client share. `learnloop` is the one of the Python that runs the tests."""
        scripts = sysconfig.get_path("scripts")
        paths = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        return {
            **({"PYTHONPATH": os.pathsep.join(paths)} if paths else {}),
            "PATH": f"{scripts}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "NO_COLOR": "1",
        }

    def learnloop(self, *words: str, cwd: Path) -> Ran:
        """A command as a person types it; it must succeed."""
        done = subprocess.run(
            ["learnloop", *words], cwd=cwd, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"learnloop {' '.join(words)}: {done.stdout}{done.stderr}"
        return Ran(done.returncode, done.stdout, done.stderr)

    def claude(
        self,
        *words: str,
        cwd: Path,
        more: dict[str, str] | None = None,
        prompts: Sequence[str] = (),
        at_once: bool = False,
    ) -> Ran:
        """The client with these words, given the prompts one after the other; what it started ends with it."""
        process = subprocess.Popen(
            [CLAUDE, *words],
            cwd=cwd,
            env={**self.environment, **(more or {})},
            stdin=subprocess.PIPE if prompts else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        late = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        late.start()
        try:
            out = "".join(_turn(process, prompt, wait=not at_once) for prompt in prompts)
            rest, err = process.communicate()
        finally:
            late.cancel()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return Ran(process.returncode, out + rest, err)

    def run(
        self,
        prompt: str | Sequence[str],
        *replies: Reply,
        cwd: Path,
        resume: str = "",
        words: Sequence[str] = (),
        rules: Sequence[tuple[str, Reply]] = (),
        more: dict[str, str] | None = None,
        at_once: bool = False,
    ) -> Session:
        """One session without a terminal that may use every tool; the model says the replies in turn, then "done".

        Several prompts are several turns of one process (at_once: one that comes while the model works joins its turn);
        the output is then the client's events, a line each.
        """
        identity = resume or str(uuid.uuid4())
        named = ("--resume" if resume else "--session-id", identity)
        prompts = () if isinstance(prompt, str) else prompt
        form = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        how = (prompt,) if isinstance(prompt, str) else form
        with FakeApi(replies, rules) as api:
            done = self.claude(
                *("-p", *how, "--permission-mode", "bypassPermissions", *named, *words),
                cwd=cwd,
                more={**_secluded(api.address), **(more or {})},
                prompts=prompts,
                at_once=at_once,
            )
        assert done.code == 0, f"claude ended with {done.code}: {done.out}{done.err}"
        return Session(identity, done.code, done.out, done.err, api.requests)

    def transcript(self, session: Session) -> list[dict[str, Any]]:
        """The rows that the client wrote of a session."""
        (path,) = self.home.glob(f".claude/projects/*/{session.id}.jsonl")
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _turn(process: subprocess.Popen[str], prompt: str, *, wait: bool) -> str:
    """Give a prompt, and read what comes until its turn has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    message = {"type": "user", "message": {"role": "user", "content": prompt}}
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    out = ""
    for line in process.stdout if wait else ():
        out += line
        if json.loads(line).get("type") == "result":
            break
    return out


def _secluded(address: str) -> dict[str, str]:
    """Where anything but the scripted model would be asked for, nobody answers."""
    return {
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "-".join(("sk", "ant", "dummy", "0000")),
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # root is refused bypassPermissions elsewhere
    }


def eventually(fact: Callable[[], object], seconds: float = 60) -> None:
    """Wait for a detached process: bounded, and failing with the last that was seen."""
    end = time.monotonic() + seconds
    while not (seen := fact()):
        assert time.monotonic() < end, f"not within {seconds} s: {seen!r}"
        time.sleep(0.05)
