"""The way in: a well-formed command goes to the quick door; help and wrong words go to the typer door."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from learnloop_md.errors import LearnloopError

INTERRUPTED = 130  # 128 + SIGINT


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None and sys.getfilesystemencoding() != "utf-8":  # LANG=C without coercion: names would be misread
        os.environ["PYTHONUTF8"] = "1"
        # Ourselves again; -P: no module of the working directory stands in for one of ours.
        os.execv(sys.executable, [sys.executable, "-P", "-m", "learnloop_md", *words])  # noqa: S606
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
    if words[:1] == ["hook"] and not {"-h", "--help"} & set(words):  # any other word: exit 2 would erase the prompt
        from learnloop_md import hooks

        return hooks.main()
    from learnloop_md import door  # lazy: a hook needs none of it

    parsed = door.parse(words)
    if parsed is not None:
        return door.execute(*parsed)
    from learnloop_md import cli  # lazy: typer

    return cli.run(words)


if __name__ == "__main__":
    sys.exit(main())
