"""Recognises what is worth a lesson: a person's correction or confirmation, a tool that failed (R004-81, R004-82)."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from learnloop_md import signal_words as words

LONG = 60  # words; from here on a turn is a task description, in which only strong rules count
NEAR = 5  # runs within which another way counts as the way around a failure


class Signal(NamedTuple):
    """What was noticed: "correction", "success", "failure" or "workaround", and the text that shows it."""

    kind: str
    text: str


class Run(NamedTuple):
    """One tool run: the tool, its command or target, whether it failed, and what it answered."""

    name: str
    key: str
    failed: bool
    text: str = ""


# --- Words -----------------------------------------------------------------------------------------

_NOT_A_PERSON = (
    "<task-notification",
    "<command-",
    "<local-command-",
    "<bash-",
    "<user-memory-input",
    "[Request interrupted by user",
    "Stop hook feedback:",
    "SubagentStop hook feedback:",
    "Base directory for this skill:",
    "This session is being continued from a previous conversation",
    "Caveat: The messages below were generated",
    "The user doesn't want to proceed",
)
_REMINDER = r"<system-reminder>.*?(?:</system-reminder>|\Z)"
_MEMORY = r"Contents of \S[^\n]*\.md\b"


def is_human(prompt: str) -> bool:
    """Whether a prompt is a person's own words, not a notice, a summary, a command's wrapper or injected text."""
    own = _found(_REMINDER, "s").sub("", prompt).strip()
    return bool(own) and not own.startswith(_NOT_A_PERSON) and not _found(_MEMORY).match(own)


def of_words(prompt: str, before: str = "", more: Sequence[str] = ()) -> str:
    """ "correction", "success" or "" for a person's words after the assistant's, with correction words of their own."""
    if not is_human(prompt):
        return ""
    own = _own(prompt)
    if _corrects(own, asked=before.rstrip().endswith("?"), more=more):
        return "correction"
    return "success" if _confirms(own, before) else ""


# What is not said but shown: code, quotations, pasted lines.
_SHOWN = (
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)"
    r"|^[ \t]*>.*?$"
    r"|^[^\n]{0,200}:[ \t]*\n[ \t]*\n(?:.|\n)*\Z"
    r"|^[ \t]*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[\w+\]|\$ |at \S+\(|Traceback|File \""
    r"|\w*(?:Error|Exception|Warning)\b:?|(?:error|warning|fatal|npm ERR!|FAIL(?:ED)?)\b[:\[ ])[^\n]*$"
)
_QUOTED = r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|(?<!\w)'[^'\n]{3,}'(?!\w)"


def _own(prompt: str) -> str:
    """What the person says themselves, in lower case with straight apostrophes."""
    text = _found(_REMINDER, "s").sub("", prompt)
    text = _found(_SHOWN, "sm").sub(" ", text)
    text = _found(r"`[^`\n]*`").sub("code", text)
    text = _found(_QUOTED).sub("quote", text).lower().replace("’", "'").replace("‘", "'")
    for pattern, _ in words.HARMLESS:
        text = _found(rf"(?<!\w)(?:{pattern})").sub(" ", text)
    return text.strip()


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences of a text without their openers, and whether each asks."""
    for match in _found(r"([^.!?;\n]*(?:[.](?=\w)[^.!?;\n]*)*)([.!?;\n]+|\Z)").finditer(text):
        for part in _found(r"\s[—–-]+\s|:\s|,? (?:but|except|although|aber|mais|pero|mas)\b").split(match[1]):
            if plain := _found(rf"^(?:(?:{words.OPENERS})\b[\s,:.!-]*)*").sub("", part.strip(" ,-")):
                yield plain, "?" in match[2]


def _corrects(text: str, *, asked: bool, more: Sequence[str]) -> bool:
    long = len(text.split()) >= LONG
    task = bool(_found(rf"(?:(?:{words.OPENERS})[\s,]+)*(?:{words.TASKS})\b").match(text))
    for number, (sentence, asks) in enumerate(_sentences(text)):
        for rule in words.CORRECTIONS:
            if asks and rule.reason != "a question that blames":
                continue
            if rule.where == "turn" and (number or asked):
                continue
            if rule.where != "strong" and (long or (task and number)):
                continue
            find = _found(rf"(?<!\w)(?:{rule.pattern})")
            if find.match(sentence) if rule.where in ("turn", "sentence") else find.search(sentence):
                return True
        if not asks and any(_word(word).search(sentence) for word in more if word.strip()):
            return True
    return False


def _word(word: str) -> re.Pattern[str]:
    """A person's own correction word; scripts without spaces have no edges of words."""
    plain = word.strip().lower()
    left, right = (r"(?<!\w)" if ord(plain[0]) < 0x2E80 else "", r"(?!\w)" if ord(plain[-1]) < 0x2E80 else "")
    return _found(left + re.escape(plain) + right)


def _confirms(text: str, before: str) -> bool:
    if "?" in text or len(text.split()) >= LONG:
        return False
    if _found(rf"(?<!\w)(?:{words.KEEP})").search(text):
        return True
    chose = _found(rf"(?<!\w)(?:{words.CHOICE})(?!\w)").search(before.lower())
    return bool(chose and _found(rf"(?<!\w)(?:{words.PRAISE})(?!\w)").search(text))


# --- Tools -----------------------------------------------------------------------------------------

# An answer of the client, or of the person at its prompt, not of a tool.
_CLIENT = (
    r"<tool_use_error>|Blocked: |InputValidationError|File has (?:not been read yet|been modified since)"
    r"|String to replace not found|The user doesn't want to|User rejected|\[Request interrupted|Permission to use"
    r"|Claude requested permissions|This command requires approval|\w+:\w+ hook error|No such tool available"
)
_WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")
_PREFIX = r"(?:(?:\w+=\S*|sudo|env|time|timeout \S+|nice|command|exec)\s+)*"


def of_tools(runs: Sequence[Run]) -> list[Signal]:
    """The failures among runs, and for each that worked another way soon after, the way around it.

    A command that failed and later worked unchanged is no signal: what it tested was mended.
    """
    found: dict[tuple[str, str], Signal] = {}
    for number, run in enumerate(runs):
        if not failed(run):
            continue
        later = runs[number + 1 :]
        if any(other.name == run.name and other.key == run.key and not other.failed for other in later):
            continue
        way = _way_around(run, later[:NEAR])
        text = f"{run.name}: {run.key}" + (f" → worked: {way.key}" if way else f" → {_first_line(run.text)}")
        found[run.name, run.key] = Signal("workaround" if way else "failure", text)
    return list(found.values())


def failed(run: Run) -> bool:
    """Whether a run is a tool's failure: no refusal, no interrupt, no mistake in the call, no exit that answers."""
    return run.failed and not _found(rf"\s*(?:Error: )?(?:{_CLIENT})").match(run.text) and not _answers(run)


def _answers(run: Run) -> bool:
    """Whether exit code 1 is an answer: grep, test and their like found nothing, diff found a difference."""
    exit_1 = _found(r"\s*(?:Error: )?Exit code 1\s*(.*)", "s").match(run.text)
    last = _found(r"&&|\|\||[;|\n]").split(run.key.strip())[-1]
    program = _program(last)
    quiet = bool(exit_1) and not exit_1[1].strip() if exit_1 else False
    return bool(exit_1) and (program in ("diff", "cmp") or (quiet and program in _ASKING))


_ASKING = ("grep", "egrep", "fgrep", "rg", "ag", "test", "[", "[[", "pgrep", "which", "command", "type", "git", "false")


def _program(command: str) -> str:
    match = _found(rf"\s*{_PREFIX}(\S+)").match(command)
    return match[1].rsplit("/", 1)[-1] if match else ""


def _way_around(run: Run, later: Sequence[Run]) -> Run | None:
    for other in later:
        if other.name in _WRITERS and run.name not in _WRITERS:
            return None  # what was tried was mended by an edit
        if other.name == run.name and not other.failed and other.key != run.key and _related(run.key, other.key):
            return other
    return None


def _related(one: str, other: str) -> bool:
    """Whether two commands have the program (and its subcommand) or a target in common."""
    first, second = _heart(one), _heart(other)
    if not first or not second:
        return False
    if first[0] == second[0]:
        verbs = [words[1] for words in (first, second) if len(words) > 1 and _found(r"[a-z][a-z-]*$").match(words[1])]
        return len(verbs) < 2 or verbs[0] == verbs[1]
    targets = [{word for word in words[1:] if len(word) > 2 and word[0] != "-"} for words in (first, second)]
    return bool(targets[0] & targets[1])


def _heart(command: str) -> list[str]:
    """The words of the first command that is not a change of folder."""
    for part in _found(r"&&|\|\||[;|\n]").split(command):
        plain = _found(rf"^\s*{_PREFIX}").sub("", part)
        if plain.strip() and not plain.startswith(("cd ", "set ", "export ")):
            return plain.split()
    return []


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Exit code")]
    return lines[0] if lines else "no output"


@cache
def _found(pattern: str, flags: str = "") -> re.Pattern[str]:
    """A pattern, compiled when it is first needed: all of them at import would cost every hook."""
    return re.compile(pattern, sum((re.S if "s" in flags else 0, re.M if "m" in flags else 0)))
