"""One place of a JSON text changed, every other byte kept: indentation, line ends, BOM, order and escapes; pure.

What `set_key` and `append` put in, `remove` takes out to the last byte. A new key stands first in its object, so that
a diff of the file adds lines and touches none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from learnloop_md.errors import LearnloopError, UnableError
from learnloop_md.lines import line_end

Path = Sequence[str | int]  # keys of objects and places in lists, from the outside in

DEEPEST = 200  # levels; settings have six
_BOM = "\ufeff"
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_ATOM = re.compile(r"(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(?![\w.+-])")


class JsonError(UnableError):
    """The text is no JSON, or not of the shape that an edit needs: where, and why."""

    code = "malformed-json"

    def __init__(self, line: int, column: int, words: str, *, code: str = "") -> None:
        super().__init__(f"line {line}, column {column}: {words}", "mend it first; nothing was changed", code=code)
        self.line, self.column, self.words = line, column, words

    def of(self, file: object, kind: type[LearnloopError] = UnableError) -> LearnloopError:
        """The same error with the file's name in front."""
        return kind(f"{file}:{self.line}:{self.column}: {self.words}", self.hint, code=self.code)


class Node(NamedTuple):
    """A value and where it stands in the text."""

    start: int
    end: int
    value: Any
    items: tuple[Item, ...] = ()


class Item(NamedTuple):
    """A member of an object or an item of a list: its key or number, where it begins, its value."""

    key: str | int
    start: int
    node: Node
    colon: str = ""


def read(text: str) -> Any:
    """The value of a JSON text; nothing but blanks is an empty object. Raises JsonError, also for a doubled key."""
    return {} if _is_blank(text) else _Text(text).root.value


def set_key(text: str, path: Path, value: object) -> str:
    """text with the value at path, made with the objects on the way where it is missing. Raises JsonError."""
    if _is_blank(text):
        return _fresh(text, _nested(path, value))
    found = _Text(text)
    items, node = found.walk(path)
    if len(items) == len(path):
        return text if _same(node.value, value) else found.with_value(node, value)
    missing = path[len(items)]
    assert isinstance(missing, str), f"{_named(path)}: a list is made longer by append"
    return found.with_key(node, missing, _nested(path[len(items) + 1 :], value))


def append(text: str, path: Path, value: object) -> str:
    """text with one more item in the list at path, made where it is missing. Raises JsonError."""
    if _is_blank(text):
        return set_key(text, path, [value])
    found = _Text(text)
    items, node = found.walk(path)
    if len(items) < len(path):
        return set_key(text, path, [value])
    if not isinstance(node.value, list):
        raise found.error(node.start, f"{_named(path)} is not a list", code="wrong-shape")
    return found.with_item(node, value)


def remove(text: str, path: Path) -> str:
    """text without the key or item at path; as it is where there is none. Raises JsonError."""
    if _is_blank(text) or not path:
        return text
    found = _Text(text)
    items, _ = found.walk(path)
    if len(items) < len(path):
        return text
    _, holder = found.walk(path[:-1])
    return found.without(holder, holder.items.index(items[-1]))


def _is_blank(text: str) -> bool:
    return not text.removeprefix(_BOM).strip(" \t\r\n")


def _fresh(text: str, value: object) -> str:
    bom = _BOM if text.startswith(_BOM) else ""
    return bom + json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _nested(path: Path, value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _same(one: object, other: object) -> bool:
    """Whether two values are written alike: 1 and true are not."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _named(path: Path) -> str:
    return ".".join(map(str, path)) or "the text"


# --- editing ----------------------------------------------------------------------------------------------------------


class _Text:
    """A text that was read, and how it is laid out."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = _Reader(text).document()
        self.end = line_end(text)
        self.is_long = "\n" in text[self.root.start : self.root.end] or not self.root.items
        self.colon, self.step = ": ", "  "
        for node in reversed(list(_inside(self.root))):  # the outermost says how the rest is laid out
            first = node.items[0]
            if first.colon and "\n" not in first.colon:
                self.colon = first.colon
            step = self._lead(first.start).removeprefix(self._indent(node.start))
            if self._begins_line(first.start) and step:
                self.step = step

    def error(self, at: int, words: str, *, code: str) -> JsonError:
        return _error(self.text, at, words, code=code)

    def walk(self, path: Path) -> tuple[list[Item], Node]:
        """The items along a path as far as they are there, and the last one's value.

        Raises JsonError where a key is looked for in what is no object, or a number in what is no list.
        """
        found: list[Item] = []
        node = self.root
        for key in path:
            shape, name = (dict, "an object") if isinstance(key, str) else (list, "a list")
            if not isinstance(node.value, shape):
                raise self.error(node.start, f"{_named(path[: len(found)])} is not {name}", code="wrong-shape")
            item = next((item for item in node.items if item.key == key), None)
            if item is None:
                break
            found.append(item)
            node = item.node
        return found, node

    def with_key(self, node: Node, key: str, value: object) -> str:
        name = json.dumps(key, ensure_ascii=False) + self.colon
        if not node.items:
            return self._filled(node, name, value)
        first = node.items[0]
        gap = self.text[node.start + 1 : first.start]
        said = self._written(value, first.start, long="\n" in self.text[node.start : node.end])
        gap = self.end + self._lead(first.start) if "\n" in gap else gap or self._blank
        return self._with(first.start, first.start, name + said + "," + gap)

    def with_item(self, node: Node, value: object) -> str:
        if not node.items:
            return self._filled(node, "", value)
        last = node.items[-1]
        before = node.items[-2].node.end if len(node.items) > 1 else node.start
        gap = re.split(r"[\[,]", self.text[before : last.start])[-1]
        said = self._written(value, last.start, long="\n" in gap or "\n" in self.text[last.start : last.node.end])
        gap = self.end + self._lead(last.start) if "\n" in gap else gap or self._blank
        return self._with(last.node.end, last.node.end, "," + gap + said)

    def with_value(self, node: Node, value: object) -> str:
        is_long = "\n" in self.text[node.start : node.end] if node.items else self.is_long
        return self._with(node.start, node.end, self._written(value, node.start, long=is_long))

    def without(self, node: Node, at: int) -> str:
        items = node.items
        if at + 1 < len(items):
            return self._with(items[at].start, items[at + 1].start, "")
        if at:
            return self._with(items[at - 1].node.end, items[at].node.end, "")
        before = self.text[node.start + 1 : items[0].start]
        return self._with(node.start + 1, node.end - 1, re.sub(r"\r?\n[ \t]*\Z", "", before))

    def _filled(self, node: Node, name: str, value: object) -> str:
        """The text with a first item in an empty object or list, whose blanks stay in front of it."""
        blanks = self.text[node.start + 1 : node.end - 1]
        if not self.is_long:
            return self._with(node.start + 1, node.end - 1, blanks + name + self._written(value, 0, long=False))
        outer = self._indent(node.start)
        begin = "\r\n" if blanks.endswith("\r") else self.end  # or its last sign would be taken for a part of ours
        said = self._dumped(value, outer + self.step)
        return self._with(
            node.start + 1, node.end - 1, f"{blanks}{begin}{outer}{self.step}{name}{said}{self.end}{outer}"
        )

    def _written(self, value: object, at: int, *, long: bool) -> str:
        if long:
            return self._dumped(value, self._indent(at))
        return json.dumps(value, ensure_ascii=False, separators=("," + self._blank, self.colon))

    def _dumped(self, value: object, indent: str) -> str:
        said = json.dumps(value, ensure_ascii=False, indent=self.step, separators=(",", self.colon))
        return said.replace("\n", self.end + indent)

    @property
    def _blank(self) -> str:
        return " " if self.colon.endswith(" ") else ""

    def _lead(self, at: int) -> str:
        """The spaces and tabs right before a place."""
        found = re.search(r"[ \t]*\Z", self.text[self._line(at) : at])
        return found[0] if found else ""

    def _begins_line(self, at: int) -> bool:
        return "\n" in self.text[:at] and self._line(at) + len(self._lead(at)) == at

    def _indent(self, at: int) -> str:
        """The spaces and tabs that the line of a place begins with."""
        found = re.compile(r"[ \t]*").match(self.text, self._line(at))
        return found[0] if found else ""

    def _line(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _with(self, start: int, end: int, new: str) -> str:
        return self.text[:start] + new + self.text[end:]


def _inside(node: Node) -> list[Node]:
    """The objects and lists in a node that hold something, itself first."""
    if not node.items:
        return []
    return [node, *(inner for item in node.items for inner in _inside(item.node))]


# --- reading ----------------------------------------------------------------------------------------------------------


def _error(text: str, at: int, words: str, *, code: str = "") -> JsonError:
    line = text.count("\n", 0, at) + 1
    return JsonError(line, at - text.rfind("\n", 0, at), words, code=code)


class _Reader:
    """Strict JSON, as Claude Code reads it: no comments, no trailing commas; and no key twice."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, len(_BOM) if text.startswith(_BOM) else 0, 0

    def document(self) -> Node:
        node = self._value()
        self._skip()
        if self.at < len(self.text):
            raise self._wrong("something stands behind the end")
        return node

    def _value(self) -> Node:
        self._skip()
        sign = self.text[self.at : self.at + 1]
        if sign in ("{", "["):
            return self._holder(sign)
        if sign == '"':
            return self._string()
        found = _ATOM.match(self.text, self.at)
        if not found:
            raise self._wrong("a value is expected" if sign else "the text ends too early")
        start, self.at = self.at, found.end()
        return Node(start, self.at, _atom(found[0]))

    def _string(self) -> Node:
        found = _STRING.match(self.text, self.at)
        if not found:
            raise self._wrong("a string that does not end on its line, or holds a wrong escape")
        start, self.at = self.at, found.end()
        return Node(start, self.at, json.loads(found[0]))

    def _holder(self, sign: str) -> Node:
        """An object or a list."""
        close, name = ("}", "object") if sign == "{" else ("]", "list")
        start, self.at, self.depth = self.at, self.at + 1, self.depth + 1
        if self.depth > DEEPEST:
            raise _error(self.text, start, f"nested deeper than {DEEPEST} levels")
        items: list[Item] = []
        keys: set[str | int] = set()
        self._skip()
        while not items or self._next() == ",":
            if items:
                self.at += 1
                self._skip()
            if self._next() == close:
                if not items:
                    break
                raise self._wrong("trailing comma")
            items.append(self._member(keys) if sign == "{" else self._item(len(items)))
            self._skip()
        if self._next() != close:
            line = self.text.count("\n", 0, start) + 1
            end = f"the text ends inside the {name} that begins in line {line}"
            raise self._wrong(f"a comma or {close} is expected" if self._next() else end)
        self.at, self.depth = self.at + 1, self.depth - 1
        value = {i.key: i.node.value for i in items} if sign == "{" else [i.node.value for i in items]
        return Node(start, self.at, value, tuple(items))

    def _member(self, keys: set[str | int]) -> Item:
        start = self.at
        if self._next() != '"':
            raise self._wrong("a key in double quotes is expected" if self._next() else "the text ends too early")
        key = self._string().value
        if key in keys:
            raise _error(self.text, start, f"the key {json.dumps(key)} stands twice", code="duplicate-key")
        keys.add(key)
        end = self.at
        self._skip()
        if self._next() != ":":
            raise self._wrong("a colon is expected")
        self.at += 1
        node = self._value()
        return Item(key, start, node, self.text[end : node.start])

    def _item(self, number: int) -> Item:
        node = self._value()
        return Item(number, node.start, node)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _wrong(self, words: str) -> JsonError:
        if self.text[self.at : self.at + 2] in ("//", "/*") or self._next() == "#":
            words = "a comment, which JSON does not know"
        return _error(self.text, self.at, words)


def _atom(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:  # more digits than Python reads as a whole number
        return float(text)
