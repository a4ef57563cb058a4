"""What a command answers, for people and for programs (design §11, §12); the one place that prints."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from learnloop_md.errors import LearnloopError


class Answer(NamedTuple):
    """A command's result: text for people, keys for programs, what to say on the side, and the exit code."""

    text: str = ""
    data: Mapping[str, Any] = {}
    notices: tuple[str, ...] = ()
    code: int = 0


_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]|[\ud800-\udfff]"
)
# What GitHub's runner takes for a command: the first at a line's start alone.
_WORKFLOW = re.compile(r"^(\s*)(?=::)|(?<=##)(?=\[)")
_RED, _GREEN, _CYAN, _BOLD, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"


def visible(text: str) -> str:
    """One line with control and hidden characters written out: no lesson steers a terminal or a workflow by it."""
    if text.isascii() and text.isprintable() and "::" not in text and "##[" not in text:
        return text  # nearly every line, and ten times faster

    def written(match: re.Match[str]) -> str:
        code = ord(match[0])
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"

    return _WORKFLOW.sub(r"\1\\", _UNPRINTABLE.sub(written, text))


def json_text(data: Any, indent: int | None = None) -> str:
    """data as JSON in which no text is a workflow command, however it is printed."""
    return json.dumps(data, ensure_ascii=False, indent=indent).replace("##[", "#\\u0023[")


def visible_lines(text: str) -> str:
    """Several lines, each made visible."""
    return "\n".join(visible(line) for line in text.split("\n"))


def use_colour() -> bool:
    """Whether standard output is a terminal that wants colour (NO_COLOR)."""
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )


def coloured(diff: str, *, colour: bool) -> str:
    """A unified diff as shown: control characters written out, removed lines red, added green."""
    out = []
    for line in diff.split("\n"):
        shown = visible(line)
        if colour and line.startswith(("+++", "---")):
            shown = f"{_BOLD}{shown}{_OFF}"
        elif colour and line[:1] in "+-@" and line:
            shown = {"+": _GREEN, "-": _RED, "@": _CYAN}[line[0]] + shown + _OFF
        out.append(shown)
    return "\n".join(out)


def excerpt(text: str, most: int = 24) -> list[str]:
    """The first lines of a text, and how many more there are."""
    lines = text.rstrip("\n").split("\n") if text else []
    return lines if len(lines) <= most else [*lines[: most - 1], f"… {len(lines) - most + 1} more lines"]


def give(answer: Answer, *, as_json: bool) -> int:
    """Print an answer and give its exit code: results on stdout, everything else on stderr."""
    for notice in answer.notices:
        print(f"learnloop: {visible(notice)}", file=sys.stderr)
    if as_json:
        print(json_text(dict(answer.data)))
    elif answer.text:
        print(answer.text.rstrip("\n"))
    return answer.code


def told_error(error: LearnloopError) -> dict[str, Any]:
    """An error as programs read it."""
    return {"error": {"code": error.code, "message": _kept_back(error.message), "hint": _kept_back(error.hint)}}


def give_error(error: LearnloopError, *, as_json: bool) -> int:
    """Print an error as one line and its way out, and give its exit code (R004-95)."""
    if as_json:
        print(json_text(told_error(error)))
    else:
        print(f"learnloop: {error_line(error)}", file=sys.stderr)
    return error.exit_code


def error_line(error: LearnloopError) -> str:
    """An error and its way out on one line."""
    said = f"{error.message} — {error.hint}" if error.hint else error.message
    return visible(_kept_back(said).replace("\n", " "))


def _kept_back(said: str) -> str:
    """What an error says, unless it repeats a secret that somebody gave as a name, an option or a path (R004-20)."""
    from learnloop_md import guard  # lazy: errors alone need it

    found = guard.find_secrets(said)
    return f"what was given holds a secret ({found[0].label}); it is not repeated" if found else said
