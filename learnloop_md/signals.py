"""Recognises what is worth a lesson: a person's correction or confirmation, a tool that failed (R004-81, R004-82)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from learnloop_md import signal_words as words

LOOKED_AT = 20_000  # characters of a prompt; who corrects says so before that
NEAR = 5  # runs within which another way counts as the way around a failure


class Signal(NamedTuple):
    """What was noticed: "correction", "success", "failure" or "workaround", the text that shows it, and which run."""

    kind: str
    text: str
    run: int = 0  # its place among the runs


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
_ANSWER = 4  # words; what is shorter answers a question that was asked
_AGAINST = r"(?:no|nope|nah|not|that'?s not|wrong|don'?t|nein|non|n[aã]o|nee)\b"
_REMINDER = r"<system-reminder>.*?(?:</system-reminder>|\Z)"
_MEMORY = r"Contents of \S[^\n]*\.md\b"


def is_human(prompt: str) -> bool:
    """Whether a prompt is a person's own words, not a notice, a summary, a command's wrapper or injected text."""
    own = _found(_REMINDER, "s").sub("", prompt).strip()
    return bool(own) and not own.startswith(_NOT_A_PERSON) and not _found(_MEMORY).match(own)


def of_words(prompt: str, before: str = "", more: Sequence[str] = ()) -> str:
    """What a person's words are: "correction", "success" (of what the assistant said before) or "".

    more are the correction words of their own (setting correction_words). R004-81.
    """
    prompt = prompt[:LOOKED_AT]
    if not is_human(prompt):
        return ""
    own, said = _own(prompt), before[-LOOKED_AT:].lower()
    corrects = _corrects(own, asked=bool(_found(words.OFFERS).search(said)), more=more)
    if _confirms(own, said) and not (corrects and _found(_AGAINST).match(own)):
        return "success"
    return "correction" if corrects else ""


# What is not said but shown: code, quotations, pasted lines, and what follows a line that introduces it.
_SHOWN = (
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)"
    r"|^[ \t]*>[^\n]*$"
    r"|^[ \t]*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[\w+\]|\$ |at \S+\(|Traceback|File \""
    r"|\w*(?:Error|Exception|Warning)\b:?|(?:error|warning|fatal|npm ERR!|FAIL(?:ED)?)\b[:\[ ])[^\n]*$"
)
_INTRODUCED = (
    r"^(?![^\n]*\b(?:things|points|notes|remarks|feedback|corrections)\b)([^\n]{1,200}:)"
    r"[ \t]*\n(?:\s*\n|(?=[ \t]*(?:[-*•]|\d+[.)]) )).*\Z"
)
_QUOTED = r"\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|„[^„“”\n]*[“”]|(?<!\w)'[^'\n]{3,}'(?!\w)"


def _own(prompt: str) -> str:
    """What the person says themselves, in lower case with straight apostrophes."""
    text = _found(_REMINDER, "s").sub("", prompt)
    text = _found(_SHOWN, "sm").sub(" ", text)
    text = _found(_INTRODUCED, "sm").sub(r"\1", text)
    text = _found(r"`[^`\n]*`").sub("code", text).replace("’", "'").replace("‘", "'")
    text = _found(_QUOTED).sub("quote", text).lower()
    for pattern, _ in words.HARMLESS:
        text = _found(rf"(?<!\w)(?:{pattern})(?!\w)").sub(" ", text)
    return text.strip()


class _Part(NamedTuple):
    """A sentence, or a clause of one, without its openers."""

    text: str
    begins: bool  # begins the turn
    contrasts: bool  # follows a "but"
    asks: bool


def _parts(text: str, *, clauses: bool) -> Iterator[_Part]:
    begins = True
    for match in _found(r"([^.!?;\n]*(?:[.](?=\w)[^.!?;\n]*)*)([.!?;\n]+|\Z)").finditer(text):
        turns = _found(rf"(?:^|[\s,]+)(?:{words.CONTRAST})\b[\s,:]*").split(match[1])
        for number, turn in enumerate(turns):
            conditional = _found(r"\s*(?:if|when|unless|once|until|whenever)\b").match(turn)
            pieces = _found(r"\s[—–-]+\s|:\s").split(turn)
            pieces += turn.split(", ")[1:] if clauses and not conditional else []
            for place, piece in enumerate(pieces):
                if plain := _found(rf"^(?:(?:{words.OPENERS})\b[\s,:.!-]*)*").sub("", piece.strip(" ,-")):
                    asks = "?" in match[2] or bool(_found(words.ASKS).match(plain))
                    yield _Part(plain, begins, number > 0 and place == 0, asks)
                    begins = False


def _corrects(text: str, *, asked: bool, more: Sequence[str]) -> bool:
    if _found(words.PLEASED).search(text):
        return False
    size = len(text.split())
    task = bool(_found(rf"(?:(?:{words.OPENERS})[\s,]+)*(?:{words.TASKS})\b").match(text))
    agrees = bool(_found(words.YES).match(text))
    if asked and size < _ANSWER:
        return False
    for part in _parts(text, clauses=size <= words.SHORT and not task and not agrees):
        for rule in words.CORRECTIONS:
            if _counts(rule, part, size, task=task, agrees=agrees, asked=asked) and _matches(rule, part.text):
                return True
        if not part.asks and size <= words.LONG and any(_word(word).search(part.text) for word in more if word.strip()):
            return True
    return False


def _counts(rule: words.Rule, part: _Part, size: int, *, task: bool, agrees: bool, asked: bool) -> bool:
    """Whether a rule may be looked for in a part of a turn of so many words."""
    if rule.where == "strong":
        return not part.asks
    if (rule.where == "question") != part.asks:
        return False
    if size > rule.words and not (part.begins and rule.words >= words.LONG):
        return False
    if rule.where == "question":
        return True
    if (task or (agrees and part.begins)) and not part.contrasts:
        return False
    first = (part.begins and not asked) or part.contrasts
    return {"turn": first, "contrast": part.contrasts}.get(rule.where, True)


def _matches(rule: words.Rule, text: str) -> bool:
    find = _found(rf"(?<!\w)(?:{rule.pattern})")
    return bool(find.search(text) if rule.where in ("any", "strong") else find.match(text))


def _word(word: str) -> re.Pattern[str]:
    """A person's own correction word; scripts without spaces have no edges of words."""
    plain = word.strip().lower()
    left, right = (r"(?<!\w)" if ord(plain[0]) < 0x2E80 else "", r"(?!\w)" if ord(plain[-1]) < 0x2E80 else "")
    return _found(left + re.escape(plain) + right)


def _confirms(text: str, before: str) -> bool:
    if "?" in text or len(text.split()) > words.LONG or _found(rf"(?<!\w)(?:{words.CONTRAST})(?!\w)").search(text):
        return False
    if _found(rf"(?<!\w)(?:{words.KEEP})").search(text):
        return True
    chose = _found(rf"(?<!\w)(?:{words.CHOICE})(?!\w)").search(before)
    return bool(chose and _found(rf"(?<!\w)(?:{words.PRAISE})(?!\w)").search(text))


# --- Tools -----------------------------------------------------------------------------------------

# An answer of the client, or of the person at its prompt, not of a tool.
_CLIENT = (
    r"<tool_use_error>|Blocked: |InputValidationError|File has (?:not been read yet|been modified since)"
    r"|String to replace not found|The user doesn't want to|User rejected|\[Request interrupted|Permission to use"
    r"|Claude requested permissions|This command requires approval|\w+:\w+ hook error|No such tool available"
)
REFUSED = "User rejected tool use\n"  # stands before the text of a run that was refused or interrupted
_KEYS = ("command", "file_path", "notebook_path", "url", "pattern", "query", "skill", "description")
WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")
# Our own MCP tools: a refusal of theirs says how the memory is used, and is no lesson.
_OURS = r"mcp__.*__memory_(?:remember|recall|confirm|dispute|status)$"
_PREFIX = r"(?:(?:\w+=\S*|sudo|env|time|timeout \S+|nice|command|exec)\s+)*"


def key_of(given: Mapping[str, object]) -> str:
    """What a tool was called with: its command, its file, its address."""
    return next((str(given[key]) for key in _KEYS if given.get(key)), "")


def of_tools(runs: Sequence[Run]) -> list[Signal]:
    """The failures among runs, and for each that worked another way soon after, the way around it.

    A command that failed and later worked unchanged is no signal: what it tested was mended.
    """
    worked = {(run.name, run.key): number for number, run in enumerate(runs) if not run.failed}
    found: dict[tuple[str, str], Signal] = {}
    for number, run in enumerate(runs):
        if not failed(run) or worked.get((run.name, run.key), -1) > number:
            continue
        way = _way_around(run, runs[number + 1 : number + 1 + NEAR])
        text = f"{run.name}: {run.key} → " + (f"worked: {way.key}" if way else _first_line(run.text))
        found[run.name, run.key] = Signal("workaround" if way else "failure", text, number)
    return list(found.values())


def failed(run: Run) -> bool:
    """Whether a run is a tool's failure: no refusal, no interrupt, no mistake in the call, no exit that answers."""
    if not run.failed or _found(_OURS).match(run.name):
        return False
    return not _found(rf"\s*(?:Error: )?(?:{_CLIENT})").match(run.text) and not _answers(run)


def _answers(run: Run) -> bool:
    """Whether exit code 1 is an answer: grep, test and their like found nothing, diff found a difference."""
    one = _found(r"\s*(?:Error: )?Exit code 1(?!\d)(.*)", "s").match(run.text)
    if not one:
        return False
    program = _program(_found(_JOINS).split(run.key.strip())[-1])
    return program in ("diff", "cmp") or (program in _ASKING and not one[1].strip())


_JOINS = r"&&|\|\||[;|\n]"  # between commands
_ASKING = ("grep", "egrep", "fgrep", "rg", "ag", "test", "[", "[[", "pgrep", "which", "command", "type", "git")


def _program(command: str) -> str:
    match = _found(rf"\s*{_PREFIX}(\S+)").match(command)
    return match[1].rsplit("/", 1)[-1] if match else ""


def _way_around(run: Run, later: Sequence[Run]) -> Run | None:
    for other in later:
        if other.name in WRITERS and run.name not in WRITERS:
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
        verbs = [verb for verb in map(_verb, (first, second)) if verb]
        return len(verbs) < 2 or verbs[0] == verbs[1]
    targets = [{word for word in row[1:] if len(word) > 2 and word[0] != "-"} for row in (first, second)]
    return bool(targets[0] & targets[1])


_SCRIPTS = ("npm", "pnpm", "yarn", "bun")  # `run` before a script's name says no more than the name does


def _verb(heart: list[str]) -> str:
    """The subcommand of a program, without the part of it that a script's name tells: of `npm run test:unit` "test"."""
    named = heart[0] in _SCRIPTS
    rest = heart[2:] if named and heart[1:2] == ["run"] else heart[1:]
    verb = rest[0].split(":")[0] if rest and named else "".join(rest[:1])
    return verb if _found(r"[a-z][a-z-]*$").match(verb) else ""


def _heart(command: str) -> list[str]:
    """The words of the first command that is not a change of folder."""
    for part in _found(_JOINS).split(command):
        plain = _found(rf"^\s*{_PREFIX}").sub("", part)
        if plain.strip() and not plain.startswith(("cd ", "set ", "export ")):
            return plain.split()
    return []


def _first_line(text: str) -> str:
    said = _found(r"\s*(?:Error: )?Exit code \d+\b[:,]?").sub("", text, count=1) if "Exit code" in text[:40] else text
    return next((line.strip() for line in said.splitlines() if line.strip()), "no output")


@cache
def _found(pattern: str, flags: str = "") -> re.Pattern[str]:
    """A pattern, compiled when it is first needed: all of them at import would cost every hook."""
    return re.compile(pattern, sum((re.S if "s" in flags else 0, re.M if "m" in flags else 0)))
