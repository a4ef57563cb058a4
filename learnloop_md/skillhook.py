"""The Stop hook in a skill's own head: Claude Code runs it once the skill is in use (R004-80); pure."""

from __future__ import annotations

from collections.abc import Sequence

from learnloop_md import head
from learnloop_md.claude import COMMAND
from learnloop_md.errors import RefusedError
from learnloop_md.tree import HeadError, Tree

TIMEOUT_S = 15
EVENT = "Stop"
PASTE = f'{EVENT}: [{{hooks: [{{type: command, command: "{COMMAND}", timeout: {TIMEOUT_S}}}]}}]'


def with_stop_hook(text: str) -> str:
    """A SKILL.md with the hook in its head; hooks of others and every other byte stay, a second time changes nothing.

    Raises RefusedError with the line to paste where the head cannot be edited surely.
    """
    try:
        parts = head.split(text)
        found = head.read(parts) if parts else None
    except HeadError as error:
        raise _refused(f"{error.message} (line {error.line})") from error
    if parts is None or found is None:
        raise _refused("there is none")
    broken = next((fault for fault in found.faults if fault.code == "head-not-yaml"), None)
    if broken:
        raise _refused(broken.message)
    if _is_there(found.tree):
        return text
    new = head.join(parts._replace(lines=_inserted(parts)))
    try:
        after = head.split(new)
        good = after and after.body == parts.body and head.read(after).tree == _wanted(found.tree)
    except HeadError:
        good = False
    if not good:
        raise _refused("its hooks are not written as a block, one key a line")
    return new


def _refused(why: str) -> RefusedError:
    return RefusedError(
        f"the head of SKILL.md cannot be edited: {why}", f"add below hooks: {PASTE}", code="head-not-editable"
    )


def _groups(tree: dict[str, Tree]) -> list[Tree]:
    """The head's entries for the event, whatever they are."""
    hooks = tree.get("hooks")
    groups = hooks.get(EVENT) if isinstance(hooks, dict) else None
    return groups if isinstance(groups, list) else []


def _is_there(tree: dict[str, Tree]) -> bool:
    """Whether a hook of the event calls us, be it with a path or a timeout of the person's."""
    hooks = [group.get("hooks") for group in _groups(tree) if isinstance(group, dict)]
    rows = [row for rows in hooks if isinstance(rows, list) for row in rows]
    return any(isinstance(row, dict) and "learnloop hook" in str(row.get("command", "")) for row in rows)


def _wanted(tree: dict[str, Tree]) -> dict[str, Tree]:
    """What the head must say afterwards: all that it said, and ours as the event's last entry."""
    hooks = tree.get("hooks")
    others = dict(hooks) if isinstance(hooks, dict) else {}
    ours: Tree = {"hooks": [{"type": "command", "command": COMMAND, "timeout": str(TIMEOUT_S)}]}
    return {**tree, "hooks": {**others, EVENT: [*_groups(tree), ours]}}


def _inserted(parts: head.Parts) -> tuple[str, ...]:
    """The head's lines with ours among them: below the event, below `hooks`, or at the end."""
    bare = [line.rstrip("\r\n") for line in parts.lines]
    eol = "\r\n" if parts.open.endswith("\r\n") else "\n"
    at, rows = _placed(bare)
    return (*parts.lines[:at], *(row + eol for row in rows), *parts.lines[at:])


def _placed(bare: Sequence[str]) -> tuple[int, list[str]]:
    hooks = dict(head.blocks(bare)).get("hooks")
    if hooks is None:
        return len(bare), ["hooks:", f"  {EVENT}:", *_entry(4)]
    first = hooks[0] + 1
    inside = [line for line in bare[first : hooks[1]] if line.strip() and not line.lstrip().startswith("#")]
    indent = head.indent_of(inside[0]) if inside else 2
    event = dict(head.blocks(bare[first : hooks[1]], indent)).get(EVENT)
    if event is None:
        return _behind(bare, hooks[1], 0), [f"{' ' * indent}{EVENT}:", *_entry(indent + 2)]
    start, end = first + event[0] + 1, first + event[1]
    dashes = [line for line in bare[start:end] if line.lstrip().startswith("-")]
    return _behind(bare, end, indent), _entry(head.indent_of(dashes[0]) if dashes else indent + 2)


def _behind(bare: Sequence[str], at: int, indent: int) -> int:
    """The line behind a block and the deeper comments that follow it: they speak of the block."""
    end = at
    for n in range(at, len(bare)):
        line = bare[n]
        if line.strip() and not (head.indent_of(line) > indent and line.lstrip().startswith("#")):
            break
        end = n + 1 if line.strip() else end
    return end


def _entry(indent: int) -> list[str]:
    rows = ["- hooks:", "    - type: command", f'      command: "{COMMAND}"', f"      timeout: {TIMEOUT_S}"]
    return [" " * indent + row for row in rows]
