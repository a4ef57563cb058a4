"""What can go wrong, and the exit code each kind ends in (R004-95: errors are answers too)."""


class LearnloopError(Exception):
    """A fact that stops a command: one line, a way out, and a code that programs can read."""

    exit_code = 4
    code = "error"

    def __init__(self, message: str, hint: str = "", *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or type(self).code


class UsageError(LearnloopError):
    """The command's words are wrong: a name, a date, a type, a combination."""

    exit_code = 2
    code = "usage"


class RefusedError(LearnloopError):
    """A guard said no: a secret, a reserved name, a text that does not belong here."""

    exit_code = 3
    code = "refused"


class UnableError(LearnloopError):
    """Memory or git cannot serve: not a memory, locked, changed under us, no history."""

    exit_code = 4
    code = "unable"


class BugError(LearnloopError):
    """Something that must not happen; its trace is in a file."""

    exit_code = 70
    code = "bug"
