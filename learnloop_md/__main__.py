"""The door: a well-formed command runs without loading typer; help and wrong words go to the typer door.

Measured on one machine: typer costs about 0.4 s of CPU to import, the whole quick path about a tenth of that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from learnloop_md.errors import LearnloopError

BUG = 70


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # whatever the console says (LANG=C, cp1252)
    try:
        parsed = parse(words)
        if parsed is None:
            from learnloop_md import cli  # lazy: typer

            return cli.run(words)
        return execute(*parsed)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("learnloop: interrupted; what was committed stays", file=sys.stderr)
        return 130


def parse(argv: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """The command's name and its words, or None where the typer door must judge (help, errors, abbreviations)."""
    from learnloop_md.commands import BY_NAME

    command = BY_NAME.get(argv[0]) if argv else None
    if command is None:
        return None
    options = {option.flag: option for option in command.options}
    given: dict[str, Any] = {}
    positional: list[str] = []
    rest = list(argv[1:])
    while rest:
        word = rest.pop(0)
        if word == "--":
            positional += rest
            break
        if not word.startswith("-") or word == "-":
            positional.append(word)
            continue
        flag, equals, value = word.partition("=")
        option = options.get(flag)
        if option is None or (option.kind == "flag" and equals) or (option.kind != "flag" and not equals and not rest):
            return None
        if option.kind == "flag":
            given[option.name] = True
            continue
        value = value if equals else rest.pop(0)
        if option.kind == "number" and not value.lstrip("-").isdigit():
            return None
        if option.kind == "list":
            given.setdefault(option.name, []).append(value)
        else:
            given[option.name] = int(value) if option.kind == "number" else value
    required = sum(1 for word in command.words if word.required)
    if not required <= len(positional) <= len(command.words):
        return None
    given.update({word.name: value for word, value in zip(command.words, positional, strict=False)})
    return command.name, given


def execute(name: str, words: dict[str, Any]) -> int:
    """Run a parsed command; the one place where errors become text and exit codes."""
    from learnloop_md import answer
    from learnloop_md.calls import Call
    from learnloop_md.commands import BY_NAME

    as_json = bool(words.get("json"))
    module, _, function = BY_NAME[name].function.partition(":")
    try:
        call = Call(words, Path.cwd(), Path(sys.argv[0]).name if sys.argv[0].endswith(("learnloop", "learnloop-md")) else "learnloop")
        return answer.give(getattr(import_module(f"learnloop_md.{module}"), function)(call), as_json=as_json)
    except LearnloopError as error:
        return answer.give_error(error, as_json=as_json)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except FileNotFoundError as error:
        if error.filename is None:  # the working directory itself is gone
            return answer.give_error(LearnloopError("the working directory does not exist any more", "change to another folder"), as_json=as_json)
        return _bug(error)
    except Exception as error:
        return _bug(error)


def _bug(error: Exception) -> int:
    """Keep the traceback in a file, say where, and exit 70."""
    import tempfile
    import traceback

    handle, path = tempfile.mkstemp(prefix="learnloop-bug-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        traceback.print_exception(error, file=file)
    print(f"learnloop: a bug ({type(error).__name__}); please report what {path} says", file=sys.stderr)
    return BUG


if __name__ == "__main__":
    sys.exit(main())
