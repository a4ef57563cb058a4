"""The typer door: help, completion, judging wrong words; made from the same table as the quick parser."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Annotated, Any

import typer

from learnloop_md import __version__, door
from learnloop_md.answer import give_error
from learnloop_md.commands import TABLE, Command, Option, Word
from learnloop_md.errors import UsageError

_HELP = """A markdown-native, git-tracked memory for Claude Code and agent skills.

Exit codes: 0 fine, 1 findings or work to do, 2 wrong words, 3 refused by a guard,
4 memory or git cannot serve, 70 a bug."""


def run(argv: Sequence[str]) -> int:
    """Run through typer; usage errors become one line and exit code 2."""
    if not argv:  # no command: the help says which there are, on standard error as for every wrong call
        with redirect_stdout(sys.stderr):
            app(args=["--help"], standalone_mode=False, prog_name="learnloop")
        return UsageError.exit_code
    try:
        code = app(args=list(argv), standalone_mode=False, prog_name="learnloop")
    except Exception as error:  # click's own exceptions: typer carries its own click, so only their shape is known
        if not hasattr(error, "format_message"):
            raise
        return give_error(_told(str(error.format_message()), argv), as_json="--json" in argv)
    return code if isinstance(code, int) else 0


def _told(message: str, argv: Sequence[str]) -> UsageError:
    message = " ".join(message.split()) or "a command is missing"
    command = next((word for word in argv if not word.startswith("-")), "")
    known = command in {row.name for row in TABLE}
    hint = f"see: learnloop {command + ' ' if known else ''}--help"
    return UsageError(message[:1].lower() + message[1:].rstrip("."), hint)


def _made() -> typer.Typer:
    made = typer.Typer(
        help=_HELP,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @made.callback(invoke_without_command=True)
    def top(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
        if version:
            print(__version__)
            raise typer.Exit

    for command in TABLE:
        made.command(command.name, help=command.help, short_help=command.help, hidden=command.hidden)(
            _function(command)
        )
    return made


def _function(command: Command) -> Callable[..., int]:
    """A function with the signature that typer reads the command's words and options from."""

    def call(**words: Any) -> int:
        return door.execute(command.name, {name: value for name, value in words.items() if _is_given(value)})

    parameters = [
        inspect.Parameter(
            word.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if word.required else None,
            annotation=Annotated[_type_of(word), typer.Argument(help=word.help)],
        )
        for word in command.words
    ]
    parameters += [_parameter(option) for option in command.options]
    call.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _type_of(word: Word) -> Any:
    return list[str] if word.many else str if word.required else str | None


def _is_given(value: object) -> bool:
    return value is not None and value is not False and value != []


def _parameter(option: Option) -> inspect.Parameter:
    types: dict[str, Any] = {"text": str | None, "flag": bool, "list": list[str] | None, "number": int | None}
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if option.kind == "flag" else None,
        annotation=Annotated[types[option.kind], typer.Option(option.flag, help=option.help)],
    )


app = _made()
