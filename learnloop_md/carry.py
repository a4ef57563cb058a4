"""Fields carried from one lesson file's head into another's as they are written: value form, quotes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from learnloop_md import head, headedit
from learnloop_md.tree import Field, HeadError, Tree, event_of, field_of


def tree_of(text: str) -> dict[str, Tree]:
    """What a file's head says, empty without one. Raises HeadError."""
    parts = head.split(text)
    return head.read(parts).tree if parts else {}


def with_fields_of(text: str, other: str, keys: Iterable[str]) -> str:
    """text with fields as they are written in another file's head: value form, quotes and comments included.

    Raises HeadError where the head cannot take them.
    """
    tree = tree_of(other)
    for key in keys:
        value = field_of(tree, key)
        block = written(other, key, value)
        # A head in one line has no lines to copy.
        text = with_block(text, key, block) if block else headedit.with_fields(text, {key: typed(value)})
        if field_of(tree_of(text), key) != value:
            raise HeadError("head-not-editable", 1, f"the field {key!r} cannot be brought back safely here")
    return text


def with_block(text: str, key: str, block: list[str]) -> str:
    """text with a field written as in block: the head's editor finds the place, the block takes it."""
    marked = headedit.with_fields(text, {key: _MARK})
    line = rf"(?m)^([ ]*){re.escape(key)}: {_MARK}(?:[ \t]+#.*?)?(\r?\n)"
    return re.sub(line, lambda m: "".join(m[1] + row + m[2] for row in block), marked, count=1)


_MARK = "brought-back"


def written(text: str, key: str, value: Tree | None) -> list[str]:
    """The lines of a field in a file's head, without line ends and outer indent; empty where it has none."""
    parts = head.split(text)
    lines = [line.rstrip("\r\n") for line in parts.lines] if parts else []
    for n, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if not re.match(rf"{re.escape(key)}[ ]*:(?=[ ]|$)", line[indent:]):
            continue
        end = n + 1
        while end < len(lines) and re.match(rf"[ ]{{{indent}}}(?:[ ]|-[ ])", lines[end]):
            end += 1
        block = [row[indent:] for row in lines[n:end]]
        reading = tree_of("---\n" + "".join(f"{row}\n" for row in block) + "---\n")
        if reading == {key: value}:
            return block
    return []


def typed(value: Tree | None) -> Field:
    """A value as the head's editor takes it."""
    if isinstance(value, list):
        events = [event for item in value if (event := event_of(item))]
        return tuple(events) if events else tuple(item for item in value if isinstance(item, str))
    return value == "true" if value in ("true", "false") else str(value)


def with_field_at_top(text: str, other: str, key: str) -> str:
    """text with a field at the end of its head, as it stands at the top level of another file's head.

    Raises HeadError where the head cannot take it.
    """
    parts, value = head.split(text), tree_of(other)[key]
    block = written(other, key, value)
    if parts is None or not block:
        raise HeadError("head-not-editable", 1, f"the field {key!r} cannot be carried over safely here")
    eol = "\r\n" if parts.open.endswith("\r\n") else "\n"
    result = head.join(parts._replace(lines=(*parts.lines, *(row + eol for row in block))))
    if tree_of(result) != {**tree_of(text), key: value}:
        raise HeadError("head-not-editable", 1, f"the field {key!r} cannot be carried over safely here")
    return result


def with_items(text: str, key: str, items: Sequence[Tree], sources: Sequence[str]) -> str:
    """text with a list of these items, each as it is written in one of the sources.

    Raises HeadError where one is written in none of them on lines of its own.
    """
    chunks: list[str] = []
    known = [pair for source in sources for pair in _chunks(source, key)]
    for item in items:
        found = next((rows for there, rows in known if there == item), None)
        if found is None:
            raise HeadError("head-not-editable", 1, f"the list {key!r} is not written with one item a line")
        chunks += found
    text = with_block(text, key, [f"{key}:", *("  " + row for row in chunks)])
    if field_of(tree_of(text), key) != list(items):
        raise HeadError("head-not-editable", 1, f"the list {key!r} cannot be changed safely here")
    return text


def _chunks(text: str, key: str) -> list[tuple[Tree, list[str]]]:
    """The items of a list in a file's head, each with its lines, the first of which begins with the dash."""
    block = written(text, key, field_of(tree_of(text), key))
    dashes = [n for n, row in enumerate(block) if n and re.match(r"[ ]*-(?:[ ]|$)", row)]
    margin = min((head.indent_of(block[n]) for n in dashes), default=0)
    starts = [n for n in dashes if head.indent_of(block[n]) == margin]
    if not starts:
        return []
    found: list[tuple[Tree, list[str]]] = []
    for start, end in zip(starts, [*starts[1:], len(block)], strict=True):
        rows = [row[margin:] for row in block[start:end]]
        tree = tree_of("---\nitems:\n" + "".join(f"  {row}\n" for row in rows) + "---\n").get("items")
        if isinstance(tree, list) and len(tree) == 1:
            found.append((tree[0], rows))
    return found
