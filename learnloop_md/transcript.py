"""Claude Code's transcript of a session: what the person said, and which tools ran with what result.

Only rows of type user and assistant are read, and prompts that came while the model worked: the others repeat prompts,
documents and the memory itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from learnloop_md.errors import UnableError, UsageError
from learnloop_md.signals import REFUSED, WRITERS, Run, is_human, key_of

LINE_LIMIT = 4 << 20  # bytes; a longer line is skipped: no turn of a person is that long
TEXT_LIMIT = 4_000  # characters kept of an answer or a command
_TOLD = (b'"user"', b'"assistant"', b'"queued_command"')  # one of them stands in each row that is read


class Turn(NamedTuple):
    """What a person said, in which line, and the assistant's last text before it."""

    line: int
    words: str
    before: str


class Ran(NamedTuple):
    """A tool that ran and answered: in which line it was called, and what it was given."""

    line: int
    run: Run
    given: Mapping[str, Any]


def read(path: Path) -> Iterator[Turn | Ran]:
    """The turns and runs of a transcript in order, line by line.

    Raises UnableError where the file cannot be read, UsageError where it is no transcript.
    """
    before = ""
    called: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for line, row in _rows(path):
        if row.get("isSidechain"):
            continue  # a subagent's
        for block in _blocks(row):
            kind = block.get("type")
            if kind == "tool_use" and row["type"] == "assistant":
                called[str(block.get("id"))] = line, block
            elif kind == "tool_result" and row["type"] == "user" and str(block.get("tool_use_id")) in called:
                at, call = called.pop(str(block.get("tool_use_id")))
                yield Ran(at, _run(call, block, row), _table(call.get("input")))
            elif kind == "text" and row["type"] == "assistant":
                before = _text(block.get("text"))[-TEXT_LIMIT:] or before
        if words := person_words(row):
            yield Turn(line, words, before)


def person_words(row: Mapping[str, Any]) -> str:
    """What a person says in a row, or "": hooks, notices, summaries, interrupts and subagents are no persons."""
    if row.get("type") != "user" or any(row.get(key) for key in ("isMeta", "isSidechain", "isCompactSummary")):
        return ""
    if row.get("promptSource") == "system" or row.get("rowSource") in ("hook", "harness"):
        return ""
    if _table(row.get("origin")).get("kind", "human") != "human":
        return ""
    blocks = _blocks(row)
    if any(block.get("type") == "tool_result" for block in blocks):
        return ""
    words = "\n".join(_text(block.get("text")) for block in blocks if block.get("type") == "text")
    return words if is_human(words) else ""


# A command position: after the words that only start another program.
_STARTERS = r"(?:(?:\w+=\S*|sudo|env|time|uv run|uvx|pipx run|poetry run|python3? -m|\S+/python3? -m)\s+)*"
_CAPTURE = rf"^\s*{_STARTERS}(?:\S*/)?learnloop(?:[-_]md)?\s+(?:note|capture|remember)\b(?!.*(?:--dry-run|--help))"
_HEREDOC = r"(?ms)<<-?\s*(['\"]?)(\w+)\1([^\n]*)\n.*?^\s*\2\s*$"
_QUOTED = r"'[^']*'|\"(?:\\.|[^\"\\])*\"|(?m:(?:^|(?<=\s))#.*$)"
_MEMORY_FILE = r"(?:^|/)(?:\.claude/(?:.*/)?memory/.*\.md|references/(?:memory|lessons/[^/]+)\.md)$"


def captures(ran: Ran, is_lesson: Callable[[Path], bool] | None = None) -> bool:
    """Whether a run captured a lesson: `learnloop note` really run, or Claude's own write into a memory (R004-82)."""
    if ran.run.failed:
        return False
    if ran.run.name == "Bash":
        bare = re.sub(_QUOTED, " x ", re.sub(_HEREDOC, r" x \3\n", _text(ran.given.get("command"))))
        return any(re.search(_CAPTURE, part) for part in re.split(r"&&|\|\||[;|&\n()]", bare))
    if ran.run.name in WRITERS:
        path = _text(ran.given.get("file_path"))
        return bool(re.search(_MEMORY_FILE, path)) or (is_lesson is not None and is_lesson(Path(path)))
    return ran.run.name.endswith("memory_remember")


def _run(call: Mapping[str, Any], result: Mapping[str, Any], row: Mapping[str, Any]) -> Run:
    content, outcome = result.get("content"), _table(row.get("toolUseResult"))
    text = content if isinstance(content, str) else "\n".join(_text(block.get("text")) for block in _tables(content))
    refused = row.get("toolDenialKind") or outcome.get("interrupted") is True
    return Run(
        _text(call.get("name")),
        key_of(_table(call.get("input")))[:TEXT_LIMIT],
        result.get("is_error") is True or bool(refused),
        (REFUSED if refused else "") + text[:TEXT_LIMIT],
    )


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of people and assistants with their line numbers."""
    known = empty = False
    try:
        with path.open("rb") as file:
            for number, line in enumerate(_lines(file), 1):
                if known and not any(word in line for word in _TOLD):
                    continue  # spares the parser most of a long file
                row = _typed_meanwhile(_parsed(line))
                known = known or isinstance(row.get("type"), str)
                if row.get("type") in ("user", "assistant"):
                    yield number, row
            empty = file.tell() == 0
    except IsADirectoryError as error:
        raise UsageError(f"{path} is a folder", "name the transcript's file, SESSION.jsonl") from error
    except OSError as error:
        raise UnableError(
            f"cannot read the transcript {path}: {error.strerror}", "hooks get its path as transcript_path"
        ) from error
    if not known and not empty:
        raise UsageError(
            f"{path} is not a transcript of Claude Code (no line of it is a JSON object with a type)",
            "transcripts stand in ~/.claude/projects, one SESSION.jsonl each",
        )


def _typed_meanwhile(row: dict[str, Any]) -> dict[str, Any]:
    """A prompt that came while the model worked, as a row like any other's: the client keeps it as an attachment."""
    held = _table(row.get("attachment"))
    if row.get("type") != "attachment" or held.get("type") != "queued_command" or held.get("commandMode") != "prompt":
        return row
    return {**row, **held, "type": "user", "message": {"content": held.get("prompt")}}


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Each line, an empty one in place of one that is too long."""
    while line := file.readline(LINE_LIMIT + 1):
        whole = len(line) <= LINE_LIMIT or line.endswith(b"\n")
        yield line if whole else b""
        while not whole:
            rest = file.readline(LINE_LIMIT)
            whole = not rest or rest.endswith(b"\n")


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # half a line of a client that was killed
        return {}
    return row if isinstance(row, dict) else {}


def _blocks(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = _table(row.get("message")).get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else _tables(content)


def _tables(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
