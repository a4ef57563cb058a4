"""The door: a well-formed command runs without loading typer; help and wrong words go to the typer door.

Measured on one machine: typer costs about 0.4 s of CPU to import, the whole quick path about a tenth of that.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from learnloop_md.errors import LearnloopError

BUG = 70
INTERRUPTED = 130  # 128 + SIGINT


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # whatever the console says (LANG=C, cp1252)
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = _run(words)
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a reader that went away is no news
        return code
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:  # what was printed cannot be written: a full disk
        _drop_output()
        print(f"learnloop: the answer cannot be written: {error.strerror}", file=sys.stderr)
        return LearnloopError.exit_code
    except KeyboardInterrupt:
        print("learnloop: interrupted; what was committed stays", file=sys.stderr)
        return INTERRUPTED


def _drop_output() -> None:
    """Keep the interpreter from complaining at its end about output that nobody takes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: Sequence[str]) -> int:
    parsed = parse(words)
    if parsed is not None:
        return execute(*parsed)
    from learnloop_md import cli  # lazy: typer

    return cli.run(words)


def parse(argv: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """The command's name and its words, or None where the typer door must judge (help, errors)."""
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
        if (
            option is None
            or (option.kind == "flag" and equals)
            or (option.kind != "flag" and not equals and not rest)
        ):
            return None
        if option.kind == "flag":
            given[option.name] = True
            continue
        value = value if equals else rest.pop(0)
        if option.kind == "number" and not re.fullmatch(r"[0-9]{1,9}", value):
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
        call = Call(words, Path.cwd(), _program())
        _ = call.today  # a wrong day is told by every command, also by one that needs none
        return answer.give(getattr(import_module(f"learnloop_md.{module}"), function)(call), as_json=as_json)
    except LearnloopError as error:
        return answer.give_error(error, as_json=as_json)
    except BrokenPipeError:
        raise
    except OSError as error:  # the machine's doing: no space, no permission, the working directory is gone
        return answer.give_error(_told(error), as_json=as_json)
    except Exception as error:
        return _bug(error, as_json=as_json)


def _program() -> str:
    """The command's name as it was called (R004-73)."""
    name = Path(sys.argv[0]).name
    return name if name in ("learnloop", "learnloop-md") else "learnloop"


def _told(error: OSError) -> LearnloopError:
    if error.filename is None:
        return LearnloopError(
            f"the system says: {error.strerror or error}", "change to another folder, or free the disk"
        )
    return LearnloopError(f"{error.filename}: {error.strerror}", "check the path and its permissions")


def _bug(error: Exception, *, as_json: bool) -> int:
    """Keep the traceback in a file, say where, and exit 70."""
    import tempfile
    import traceback

    from learnloop_md import answer

    handle, path = tempfile.mkstemp(prefix="learnloop-bug-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        traceback.print_exception(error, file=file)
    bug = LearnloopError(
        f"a bug ({type(error).__name__}); its trace is in {path}", "please report it", code="bug"
    )
    answer.give_error(bug, as_json=as_json)
    return BUG


if __name__ == "__main__":
    sys.exit(main())
