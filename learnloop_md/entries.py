"""Our hook entries in the text of a Claude settings file: put in, brought up to date, taken out; pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from learnloop_md import jsonedit
from learnloop_md.claude import COMMAND, HOOKS, TIMEOUT_S

_PROGRAMS = {"learnloop", "learnloop-md", "learnloop_md"}
_ALL = {"", "*"}  # matchers that say the same as none

Path = tuple[str | int, ...]


class Entry(NamedTuple):
    """A hook of ours: its event, the number of its group, its number in the group, both as they are written."""

    event: str
    at: int
    inside: int
    group: Mapping[str, Any]
    hook: Mapping[str, Any]

    @property
    def command(self) -> str:
        """The command line; words given as `args` are joined to it."""
        args = self.hook.get("args")
        return " ".join([str(self.hook["command"]), *map(str, args if isinstance(args, list) else [])])

    @property
    def alone(self) -> bool:
        """Whether nobody else's hook stands in its group."""
        return len(self.group["hooks"]) == 1

    @property
    def path(self) -> Path:
        group = ("hooks", self.event, self.at)
        return group if self.alone else (*group, "hooks", self.inside)


def ours(settings: object) -> list[Entry]:
    """The entries of a parsed settings file that call us, in its order; what has another shape is not ours."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    rows = hooks.items() if isinstance(hooks, dict) else ()
    return [entry for event, groups in rows for entry in _of(event, groups)]


def _of(event: str, groups: object) -> Iterator[Entry]:
    for at, group in enumerate(groups if isinstance(groups, list) else ()):
        hooks = group.get("hooks") if isinstance(group, dict) else None
        for inside, hook in enumerate(hooks if isinstance(hooks, list) else ()):
            if isinstance(hook, dict) and isinstance(hook.get("command"), str):
                entry = Entry(event, at, inside, group, hook)
                if calls_us(entry.command):
                    yield entry


def calls_us(command: str) -> bool:
    """Whether a command line runs `learnloop hook`, wherever the program stands and however it is spelt."""
    return bool(program_of(command))


def program_of(command: str) -> str:
    """The program that a command line of ours runs, as it is written there; "" for any line that does more.

    Ours is COMMAND, or nothing but the call itself; what a person wrote around a call is theirs.
    """
    call = command.removeprefix(COMMAND.partition("exec ")[0]).removeprefix("exec ")
    try:
        words = shlex.split(call)
    except ValueError:  # a quote that is never closed
        return ""
    *before, program, last = words if len(words) > 1 else ("", "", "")
    module = before[-1:] == ["-m"] and len(before) == 2  # PYTHON -m learnloop_md hook
    plain = not before or module
    return program if plain and last == "hook" and program.rpartition("/")[2] in _PROGRAMS else ""


def with_ours(text: str, command: str = COMMAND) -> str:
    """A settings file's text with our entries, each once and as HOOKS says. Raises JsonError."""
    for event in HOOKS:
        jsonedit.append(text, ("hooks", event), {})  # a place that cannot be written to is named by its line as it is
    for event in _events(text):
        text = text if event in HOOKS else _without_event(text, event)
    for event, matcher in reversed(list(HOOKS.items())):  # a new one stands first: they end in this order
        text = _with_event(text, event, _group(matcher, command))
    return text


def _events(text: str) -> list[str]:
    return list({entry.event: 0 for entry in ours(jsonedit.read(text))})


def _group(matcher: str, command: str) -> dict[str, Any]:
    hook = {"type": "command", "command": command, "timeout": TIMEOUT_S}
    return {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}


def _with_event(text: str, event: str, group: Mapping[str, Any]) -> str:
    found = [entry for entry in ours(jsonedit.read(text)) if entry.event == event]
    if len(found) == 1:
        entry = found[0]
        if _matcher(entry.group) == _matcher(group):
            return jsonedit.set_key(text, ("hooks", event, entry.at, "hooks", entry.inside), group["hooks"][0])
        if entry.alone:
            return jsonedit.set_key(text, entry.path, group)
    return jsonedit.append(_cleared(text, event), ("hooks", event), group)


def _matcher(group: Mapping[str, Any]) -> object:
    matcher = group.get("matcher", "")
    return "" if isinstance(matcher, str) and matcher in _ALL else matcher


def _cleared(text: str, event: str) -> str:
    """text without our entries of an event; the list stays."""
    while found := [entry for entry in ours(jsonedit.read(text)) if entry.event == event]:
        text = jsonedit.remove(text, found[-1].path)  # one by one: a group of two of ours is alone after the first
    return text


def _without_event(text: str, event: str) -> str:
    """text without our entries of an event, and without its list where they leave it empty."""
    text = _cleared(text, event)
    return text if jsonedit.read(text)["hooks"][event] else jsonedit.remove(text, ("hooks", event))


def without_ours(text: str, keep: Collection[Path] = ()) -> str:
    """A settings file's text without our entries and what they leave empty, but for the places in keep.

    Raises JsonError.
    """
    events = _events(text)
    for event in events:
        text = _cleared(text, event) if ("hooks", event) in keep else _without_event(text, event)
    if events and ("hooks",) not in keep and not jsonedit.read(text)["hooks"]:
        text = jsonedit.remove(text, ("hooks",))
    return text


def empty_places(text: str) -> list[Path]:
    """The objects and lists that hold nothing although somebody wrote them: an uninstall leaves them there."""
    settings = jsonedit.read(text)
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    places: list[tuple[Path, object]] = [((), settings), (("hooks",), hooks)]
    places += [(("hooks", event), groups) for event, groups in (hooks if isinstance(hooks, dict) else {}).items()]
    return [path for path, value in places if value in ({}, []) and isinstance(value, dict | list)]


def is_current(settings: object, command: str) -> bool:
    """Whether a settings file's entries are just those that `with_ours` would write."""
    text = json.dumps(settings)
    return with_ours(text, command) == text
