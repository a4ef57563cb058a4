"""`reflect` tells what a transcript has to teach, and whether it was captured (R004-81…R004-84)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from learnloop_md import hindsight, transcript
from learnloop_md.errors import UsageError
from learnloop_md.transcript import Ran, Turn
from tests.conftest import DATA, Run

TRANSCRIPTS = DATA / "transcripts"


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": text}, "promptSource": "typed", **more}


def answered(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}


def ran(tool: str, given: dict[str, Any], result: Any = "", *, error: bool | None = None, **more: Any) -> list[Any]:
    """A tool's call and its result; error None leaves is_error away, as the client does for Write."""
    use = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": given}
    back = {"type": "tool_result", "tool_use_id": "toolu_1", "content": result}
    return [
        {"type": "assistant", "message": {"role": "assistant", "content": [use]}},
        {"type": "user", "message": {"content": [back if error is None else back | {"is_error": error}]}, **more},
    ]


def bash(command: str, result: str = "", *, error: bool = False, **more: Any) -> list[Any]:
    return ran("Bash", {"command": command}, result, error=error, **more)


@pytest.fixture
def session(tmp_path: Path) -> Any:
    """Write rows as a transcript: session(row, [row, row], "a broken line")."""

    def write(*rows: Any) -> Path:
        flat = [row for part in rows for row in (part if isinstance(part, list) else [part])]
        path = tmp_path / "3f2a81c0-0000-4000-8000-000000000001.jsonl"
        path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in flat), "utf-8")
        return path

    return write


CORRECTION = said("No, don't use pip. This repo uses uv.")
NOTE = "learnloop note 'Use uv.' --why x"


# --- The transcript --------------------------------------------------------------------------------


def test_the_person_s_turns_and_the_runs_are_read_in_order() -> None:
    events = list(transcript.read(TRANSCRIPTS / "user_correction.jsonl"))
    assert [type(event) for event in events] == [Turn, Ran, Turn, Ran]
    turn = events[2]
    assert isinstance(turn, Turn)
    assert turn.line == 15
    assert turn.before == "Installed with pip."
    assert turn.words.startswith("No, don't use pip here.")


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("user_correction", ["correction"]),
        ("failed_then_success", ["workaround"]),
        ("interrupted_sigint_tool", []),
        ("interrupted_sigint_stream", []),
    ],
)
def test_a_session_of_claude_code_shows_its_signals(name: str, kinds: list[str]) -> None:
    found, captured = hindsight.scan(TRANSCRIPTS / f"{name}.jsonl")
    assert [one.kind for one in found] == kinds
    assert not captured


@pytest.mark.parametrize(
    "more",
    [
        {"isMeta": True},
        {"isSidechain": True},
        {"isCompactSummary": True},
        {"rowSource": "harness"},
        {"rowSource": "hook"},
        {"promptSource": "system"},
        {"origin": {"kind": "task-notification"}},
    ],
    ids=str,
)
def test_rows_that_no_person_wrote_are_no_turns(session: Any, more: dict[str, Any]) -> None:
    """Contract of the client's transcripts: only these fields tell."""
    assert list(transcript.read(session(CORRECTION | more))) == []


def meanwhile(prompt: Any, mode: str = "prompt") -> dict[str, Any]:
    """A prompt that came while the model worked, as the client keeps it."""
    held = {"type": "queued_command", "prompt": prompt, "commandMode": mode, "rowSource": "local"}
    return {"type": "attachment", "isSidechain": False, "attachment": held, "rendered": [{"content": "The user sent"}]}


def test_a_prompt_that_came_while_the_model_worked_is_a_turn(session: Any) -> None:
    """Most corrections come so: the person sees what goes wrong and says it."""
    blocks = [{"type": "text", "text": "No, use uv instead of pip"}]
    path = session(said("Install"), bash("pip install x"), meanwhile("No, use uv, not pip"), meanwhile(blocks))
    found, _ = hindsight.scan(path)
    assert [(one.line, one.kind) for one in found] == [(4, "correction"), (5, "correction")]


@pytest.mark.parametrize("mode", ["task-notification", "bash", None])
def test_what_else_the_client_holds_for_the_model_is_no_turn(session: Any, mode: Any) -> None:
    assert hindsight.scan(session(said("Install"), meanwhile("No, use uv, not pip", mode))) == ([], False)


def test_a_tool_s_result_is_no_person_s_word(session: Any) -> None:
    """R004-81."""
    path = session(bash("cat notes", "No, that's wrong: use uv instead"))
    assert hindsight.scan(path) == ([], False)


def test_a_subagent_s_failure_is_not_the_session_s(session: Any) -> None:
    rows = [row | {"isSidechain": True} for row in bash("make", "Exit code 2\nno rule", error=True)]
    assert hindsight.scan(session(rows)) == ([], False)


@pytest.mark.parametrize(
    "more", [{"toolDenialKind": "user-rejected"}, {"toolUseResult": {"stdout": "", "interrupted": True}}], ids=str
)
def test_a_refused_or_interrupted_tool_did_not_fail(session: Any, more: dict[str, Any]) -> None:
    assert hindsight.scan(session(bash("make", "stopped", error=True, **more))) == ([], False)


def test_bad_lines_and_wrong_types_are_passed_over(session: Any) -> None:
    junk = [
        "{",
        "[1]",
        "null",
        '"user"',
        '{"type": "user", "message": 7}',
        "[" * 9_000,
        "\ud800".encode("utf-8", "replace").decode(),
    ]
    odd = {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": None, "input": 3}, 4]}}
    found, _ = hindsight.scan(session(*junk, odd, {"type": "user", "message": {"content": None}}, CORRECTION))
    assert [one.kind for one in found] == ["correction"]


def test_a_line_that_is_too_long_is_skipped_and_counted(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "LINE_LIMIT", 2_000)
    found, _ = hindsight.scan(session(answered("x"), said("no, wrong " + "x" * 5_000), CORRECTION))
    assert [one.line for one in found] == [3]


def test_a_long_transcript_is_never_held_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    block = "".join(json.dumps(row) + "\n" for row in bash("cat log", "x" * 200_000))
    with path.open("w") as file:
        for _ in range(150):
            file.write(block)
        file.write(json.dumps(CORRECTION) + "\n")
    assert path.stat().st_size > 30_000_000
    tracemalloc.start()
    found, _ = hindsight.scan(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one.line for one in found] == [301]
    assert peak < 8_000_000


# --- What was captured -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        NOTE,
        "cd /home/dev/app && learnloop-md note 'Use uv.'",
        "printf 'Use uv.\\n' | learnloop note - --tag a",
        "uv run learnloop note x",
        "learnloop remember x",
        "python3 -m learnloop_md note x",
        "/usr/local/bin/learnloop note x",
        "learnloop note - <<'EOF'\nUse uv.\n\nWhy: a; b\nEOF",
        "learnloop capture x",
    ],
)
def test_a_note_that_ran_captures(session: Any, command: str) -> None:
    """R004-82."""
    assert hindsight.scan(session(CORRECTION, bash(command)))[1]


@pytest.mark.parametrize(
    "rows",
    [
        bash(NOTE, "Exit code 3\nrefused", error=True),
        bash("echo 'learnloop note x'"),
        bash("cat <<EOF\nlearnloop note x\nEOF"),
        bash("# learnloop note x\nls"),
        bash("learnloop note x --dry-run"),
        bash("learnloop show"),
        bash("grep -r 'learnloop note' ."),
        bash(NOTE)[:1],  # called, never answered
        [answered(f"I ran `{NOTE}`."), said(NOTE)],
        [row | {"isSidechain": True} for row in bash("echo; learnlop note x")],
        ran("Write", {"file_path": "/home/dev/app/src/memory.py", "content": ""}),
        ran("Write", {"file_path": "/home/dev/.claude/memory/a.md", "content": ""}, "no", error=True),
        ran("Read", {"file_path": "/home/dev/.claude/memory/a.md"}),
    ],
    ids=str,
)
def test_only_what_was_really_executed_captures(session: Any, rows: list[Any]) -> None:
    """R004-82: words about a command are no command."""
    assert not hindsight.scan(session(CORRECTION, rows))[1]


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
def test_claude_s_own_write_into_a_memory_captures(session: Any, tool: str, tmp_path: Path) -> None:
    rows = ran(tool, {"file_path": "/home/dev/.claude/projects/-home-dev-app/memory/uv.md"})
    assert hindsight.scan(session(rows))[1]
    other = ran(tool, {"file_path": str(tmp_path / "lore" / "uv.md")})
    assert not hindsight.scan(session(other))[1]
    assert hindsight.scan(session(other), lambda path: path.is_relative_to(tmp_path / "lore"))[1]


# --- The command -----------------------------------------------------------------------------------


def test_signals_without_a_capture_end_in_1(session: Any, learnloop: Run, tmp_path: Path) -> None:
    """R004-84."""
    done = learnloop("reflect", "--scan-only", "--transcript", str(session(CORRECTION)), "--json", cwd=tmp_path)
    assert done.code == 1
    assert done.json == {
        "signals": [{"kind": "correction", "line": 1, "text": "No, don't use pip. This repo uses uv."}],
        "captured": False,
        "enough": True,
    }


def test_captured_signals_end_in_0(session: Any, learnloop: Run, tmp_path: Path) -> None:
    done = learnloop("reflect", "--scan-only", "--transcript", str(session(CORRECTION, bash(NOTE))), cwd=tmp_path)
    assert (done.code, done.out.splitlines()[-1]) == (0, "1 signal, captured")


def test_fewer_signals_than_asked_for_end_in_0(session: Any, learnloop: Run, tmp_path: Path) -> None:
    """R004-84: --min-signals, 1 by default."""
    words = ("reflect", "--scan-only", "--transcript", str(session(CORRECTION, answered("So?"), CORRECTION)))
    assert learnloop(*words, "--min-signals", "2", cwd=tmp_path).code == 1
    done = learnloop(*words, "--min-signals", "3", "--json")
    assert (done.code, done.json["enough"], len(done.json["signals"])) == (0, False, 2)


def test_without_scan_only_each_signal_has_its_command(session: Any, learnloop: Run, tmp_path: Path) -> None:
    done = learnloop("reflect", "--transcript", str(session(CORRECTION)), cwd=tmp_path)
    assert done.out.splitlines()[1].startswith("learnloop note - --trigger correction")
    assert "<<'LESSON'" in done.out  # free text that no shell reads
    assert "'session 3f2a81c0, line 1'" in done.out


def test_the_command_that_reflect_prints_is_one_that_a_shell_and_note_take(
    session: Any, learnloop: Run, memory: Path, repo: Path, tmp_path: Path
) -> None:
    rows = [CORRECTION, *bash("npm test", "Exit code 1\nmissing script", error=True)]
    done = learnloop("reflect", "--transcript", str(session(*rows)), "--json", cwd=repo)
    program = tmp_path / "learnloop"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m learnloop_md "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for signal, rule in zip(done.json["signals"], ("Use `uv`, $HOME and all.", "Run the tests by make."), strict=True):
        command = signal["command"].replace("THE RULE, one sentence that holds in general.", rule)
        ran = subprocess.run(["/bin/sh", "-c", command], cwd=repo, env=env, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
    texts = [path.read_text() for path in memory.glob("*.md")]
    assert len(texts) == 3
    assert any("Use `uv`, $HOME and all." in text and "**Why:** WHAT WENT WRONG" in text for text in texts)


def test_a_secret_in_a_signal_is_never_printed(session: Any, learnloop: Run, tmp_path: Path) -> None:
    """R004-20."""
    token = "".join(("gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"))
    path = session(said(f"no, use {token} instead"), bash(f"curl -H {token} x", "Exit code 22\nno", error=True))
    for words in (("--json",), ()):
        done = learnloop("reflect", "--transcript", str(path), *words, cwd=tmp_path)
        assert token[:12] not in done.out + done.err
        assert done.out.count(hindsight.WITHHELD) == 2


def test_control_characters_cannot_steer_the_terminal(session: Any, learnloop: Run, tmp_path: Path) -> None:
    done = learnloop("reflect", "--transcript", str(session(said("no, \x1b[31mred\u202e"))), cwd=tmp_path)
    assert "\x1b" not in done.out
    assert "\\x1b" in done.out


def test_a_long_text_is_shortened(session: Any) -> None:
    found, _ = hindsight.scan(session(said("no, " + "long words " * 50)))
    assert len(found[0].text) == hindsight.SHOWN


def test_the_project_s_own_words_count(session: Any, learnloop: Run, memory: Path, repo: Path) -> None:
    """Setting correction_words."""
    path = str(session(said("違うよ、uvを使って")))
    assert learnloop("reflect", "--transcript", path, cwd=repo).code == 0
    (repo / ".learnloop.toml").write_text('correction_words = ["違う"]\n', "utf-8")
    assert learnloop("reflect", "--transcript", path, cwd=repo).code == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "reflect needs --transcript FILE"),
        (("--transcript", "missing.jsonl"), 4, "cannot read the transcript"),
        (("--transcript", "."), 2, "is a folder"),
        (("--transcript", "notes.md"), 2, "is not a transcript"),
        (("--transcript", "bytes.bin"), 2, "is not a transcript"),
        (("--transcript", "empty.jsonl", "--min-signals", "0"), 2, "--min-signals 0 is not above 0"),
        (("--transcript", "empty.jsonl", "--min-signals", "many"), 2, "--min-signals"),
        (("--transcript", "empty.jsonl", "--memory", "nowhere"), 4, "there is no folder"),
    ],
    ids=str,
)
def test_bad_words_and_files_get_one_clear_line(
    learnloop: Run, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    """R004-95."""
    (tmp_path / "notes.md").write_text("# Notes\n\nno, wrong\n")
    (tmp_path / "bytes.bin").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "empty.jsonl").touch()
    done = learnloop("reflect", *words, cwd=tmp_path)
    assert done.code == code
    assert said in done.err
    assert done.out == ""
    assert "Traceback" not in done.err


def test_a_session_without_turns_has_no_signals(session: Any, learnloop: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    for path in (tmp_path / "empty.jsonl", session({"type": "queue-operation", "content": "no, wrong"})):
        assert learnloop("reflect", "--transcript", str(path), cwd=tmp_path).out == "0 signals, nothing captured\n"


def test_a_transcript_that_is_a_folder_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        list(transcript.read(tmp_path))
