"""The YAML head of a lesson file: cut it off, and read it.

Two readers give the same tree. The one here takes the block style that people, Claude and this tool write, costs
microseconds and knows each field's lines; whatever it does not take goes to `yamlhead`, the strict YAML reader. A head
that is not YAML in one of the common human ways (`: ` or ` #` unquoted, a stray quote, a tab) is read leniently.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from learnloop_md.lesson import fold
from learnloop_md.tree import Fault, HeadError, Tree


class Parts(NamedTuple):
    """A file cut at its head; joined, the parts give the file back byte for byte."""

    before: str  # BOM and blank lines
    open: str
    lines: tuple[str, ...]  # each with its line end
    close: str
    body: str

    @property
    def first_line(self) -> int:
        """The number of the head's first line in the file, from 1."""
        return self.before.count("\n") + 2


class Head(NamedTuple):
    """What a head says: a tree of strings, lists and mappings that nobody changes, and what is wrong with it."""

    tree: dict[str, Tree]
    faults: tuple[Fault, ...] = ()


def split(text: str) -> Parts | None:
    """text cut at its head, or None where it has none.

    Raises HeadError("frontmatter-unclosed") when the opening `---` has no closing one.
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    start = 0
    while start < len(lines) and not lines[start].strip("﻿ \t\r\n"):
        start += 1
    if start == len(lines) or lines[start].lstrip("﻿").rstrip() != "---":
        return None
    bom = lines[start][: len(lines[start]) - len(lines[start].lstrip("﻿"))]
    for end in range(start + 1, len(lines)):
        if lines[end].rstrip() in {"---", "..."} and not lines[end][0].isspace():
            before = "".join(lines[:start]) + bom
            return Parts(
                before, lines[start][len(bom) :], tuple(lines[start + 1 : end]), lines[end], "".join(lines[end + 1 :])
            )
    raise HeadError("frontmatter-unclosed", start + 1, "the head opened by '---' is never closed")


def join(parts: Parts) -> str:
    """The file's text again."""
    return parts.before + parts.open + "".join(parts.lines) + parts.close + parts.body


def read(parts: Parts) -> Head:
    """What the head says, read by the first reader that may judge it.

    Raises HeadError for anchors, tags, merge keys, duplicate keys, a head that is no mapping, broken structure.
    """
    return _read(parts.lines, parts.first_line)


@lru_cache(maxsize=4_096)  # commands ask for the head of one file in several places; three versions of 1,000 lessons
def _read(raw: tuple[str, ...], first: int) -> Head:
    lines = [line.rstrip("\r\n") for line in raw]
    try:
        tree = _strict(lines, first)
    except HeadError as error:
        if error.code != "yaml-syntax":
            raise
        return _lenient(lines, first, error)
    return Head(tree, tuple(_comment_faults(tree, lines, first)))


def _strict(lines: Sequence[str], first: int) -> dict[str, Tree]:
    """The lines as a tree, read as YAML; raises HeadError where they are none or hold what we do not trust."""
    tree = plain_tree(lines)
    if tree is not None:
        return tree
    for n, line in enumerate(lines):
        if _BREAKS.search(line):  # YAML 1.1 ends a line here and would see fields that no editor shows
            raise HeadError("yaml-syntax", first + n, "a hidden line separator")
    from learnloop_md import yamlhead  # lazy: PyYAML costs 60 ms, and few heads need it

    return yamlhead.load("\n".join(lines) + "\n", first)


# --- the plain reader -------------------------------------------------------------------------------------------------

KEY = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)[ ]*:(?:[ ]+(?P<rest>.*))?$", re.ASCII)
PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`][^\s].*|[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-[^\s\-].*")
_HEX = "[0-9a-fA-F]"
_CODE = rf"x{_HEX}{{2}}|u(?![dD][89a-fA-F]){_HEX}{{4}}|U000(?!0[dD][89a-fA-F])[0-9a-fA-F]{_HEX}{{4}}"
_DOUBLE = re.compile(rf'"((?:[^"\\\t]|\\(?:["\\/nt0]|{_CODE}))*)"')
_SINGLE = re.compile(r"'((?:[^'\t]|'')*)'")
_ESCAPE = re.compile(r"\\(?:x(..)|u(....)|U(.{8})|(.))")
_BREAKS = re.compile("[\x85\u2028\u2029]")
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_DEPTH = 20  # levels; a head that is nested deeper goes to the strict reader, which refuses it
_LENIENT_FIELDS = 200  # no head that a person wrote by hand has more
_NULLS = {"", "~", "null", "Null", "NULL"}


class _OutsideError(Exception):
    """The line is not of the plain style."""


def plain_tree(lines: Sequence[str]) -> dict[str, Tree] | None:
    """The head as a tree, or None where it is outside the plain block style."""
    if UNPRINTABLE.search("".join(lines)):
        return None
    rows = [line for line in lines if line.strip() and line.lstrip(" ")[0] != "#"]
    if any(line[0] != " " and line[0].isspace() for line in rows):
        return None
    # The next row last: taking one off costs the same in a long head.
    stack = [(indent_of(line), line.strip(" ")) for line in reversed(rows)]
    try:
        tree = _mapping(stack, 0)
    except _OutsideError:
        return None
    return None if stack else tree


_Rows: TypeAlias = "list[tuple[int, str]]"  # each with its indent, and without it


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _next_indent(rows: _Rows) -> int:
    return rows[-1][0] if rows else -1


def _mapping(rows: _Rows, indent: int, depth: int = 1) -> dict[str, Tree]:
    if depth > _DEPTH:
        raise _OutsideError
    tree: dict[str, Tree] = {}
    while rows and rows[-1][0] == indent:
        match = KEY.fullmatch(rows.pop()[1])
        if not match or match["key"] in tree:
            raise _OutsideError
        tree[match["key"]] = _value((match["rest"] or "").strip(" "), rows, indent, depth)
    if _next_indent(rows) > indent:
        raise _OutsideError
    return tree


def _value(rest: str, rows: _Rows, indent: int, depth: int) -> Tree:
    """The value after `key:`; the rows that it takes are gone from rows."""
    deep = _next_indent(rows)
    if rest and rest[0] != "#":
        if deep > indent:
            raise _OutsideError  # a scalar that goes on in the next line
        return _flow(rest)
    if deep < indent:
        return ""
    line = rows[-1][1]
    if line.startswith("- ") or line == "-":
        return _items(rows, deep, depth + 1)
    return "" if deep == indent else _mapping(rows, deep, depth + 1)


def _items(rows: _Rows, indent: int, depth: int) -> list[Tree]:
    items: list[Tree] = []
    while rows and rows[-1][0] == indent and rows[-1][1].startswith("- "):
        after = rows.pop()[1][1:]
        bare = after.strip(" ")
        if KEY.fullmatch(bare):
            deep = indent + 1 + indent_of(after)
            rows.append((deep, bare))
            items.append(_mapping(rows, deep, depth + 1))
        elif _next_indent(rows) > indent:
            raise _OutsideError
        else:
            items.append(_flow(bare))
    if _next_indent(rows) > indent:
        raise _OutsideError
    return items


def _flow(rest: str) -> Tree:
    """A one-line value: a scalar, or a flow list of plain words."""
    quoted = rest.startswith(('"', "'"))
    for pattern, unquote in () if not quoted else ((_DOUBLE, _unescape), (_SINGLE, lambda s: s.replace("''", "'"))):
        match = pattern.match(rest)
        if match and re.fullmatch(r"(?:[ ]+#.*)?[ ]*", rest[match.end() :]):
            return unquote(match[1])
    if rest.startswith("["):
        match = re.fullmatch(r"\[([^\[\]{}\"'#&*!|>%@`:]*)\](?:[ ]+#.*)?", rest)
        if not match or any(not PLAIN.fullmatch(w.strip()) for w in match[1].split(",") if match[1].strip()):
            raise _OutsideError
        return [_unnulled(word.strip()) for word in match[1].split(",")] if match[1].strip() else []
    bare = rest.partition(" #")[0].rstrip(" ")
    if not PLAIN.fullmatch(bare) or ": " in bare or bare.endswith(":") or bare.startswith(("---", "...", "<<")):
        raise _OutsideError
    return _unnulled(bare)


def _unnulled(word: str) -> str:
    return "" if word in _NULLS else word


def _unescape(quoted: str) -> str:
    simple = {"n": "\n", "t": "\t", "0": "\0"}
    return _ESCAPE.sub(lambda m: simple.get(m[4], m[4]) if m[4] else chr(int(m[1] or m[2] or m[3], 16)), quoted)


def _comment_faults(tree: dict[str, Tree], lines: Sequence[str], first: int) -> list[Fault]:
    """Values of name and description that YAML cuts at ` #`; the tree gets them whole."""
    faults = []
    for n, line in enumerate(lines):
        if "#" not in line:
            continue
        match = re.match(r"(name|description):[ \t]+(?=[^\s\"'#\[{|>])", line)
        whole = line[match.end() :].rstrip(" \t") if match else ""
        if match and re.search(r"[ \t]#", whole) and isinstance(tree.get(match[1]), str):
            tree[match[1]] = whole
            message = f"YAML cuts {match[1]!r} at ' #'; quote the value to keep it whole"
            faults.append(Fault("value-cut-by-comment", first + n, message))
    return faults


def _lenient(lines: Sequence[str], first: int, error: HeadError) -> Head:
    """The fields of a head that is not YAML in a common human way; anything worse raises the error.

    Each field is read strictly by itself first, so that a slip in one does not hide what is not trusted in another.
    """
    tree: dict[str, Tree] = {}
    found = blocks(lines)
    if len(found) > _LENIENT_FIELDS:
        raise error
    for key, block in found:
        if key is None:
            raise error
        if key in tree:
            raise HeadError("yaml-duplicate-key", first + block[0], f"the key {key!r} stands twice")
        try:
            tree |= _strict(lines[block[0] : block[1]], first + block[0])
            continue
        except HeadError as found:
            if found.code != "yaml-syntax":
                raise
        raw = lines[block[0]].partition(":")[2].strip()
        deeper = [n for n in range(block[0] + 1, block[1]) if lines[n].strip()]
        if deeper and (not raw or key not in {"name", "description"}):
            raise error
        tree[key] = fold(_stripped_quotes(" ".join([raw, *(lines[n].strip() for n in deeper)])))
    if not tree:
        raise error
    return Head(tree, (Fault("head-not-yaml", error.line, f"the head is not valid YAML ({error.message})"),))


def _stripped_quotes(raw: str) -> str:
    return raw[1:-1] if len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "\"'" else raw


def blocks(lines: Sequence[str], indent: int = 0) -> list[tuple[str | None, tuple[int, int]]]:
    """Each key at this indent with the lines it holds; None stands for a line that fits nowhere."""
    found: list[tuple[str | None, tuple[int, int]]] = []
    key_at = re.compile(
        rf"[ ]{{{indent}}}(?P<key>[^\s#\-'\"\[\]{{}}&*!|>%@`?,:][^:\t]*?|\"[^\"]*\"|'[^']*')[ ]*:(?=[ \t]|$)"
    )
    for n, line in enumerate(lines):
        match = key_at.match(line)
        bare = line.strip()
        if match:
            found.append((match["key"].strip("\"'"), (n, n + 1)))
        elif not bare or bare.startswith("#"):
            continue  # belongs to nobody until a deeper line follows
        elif (
            found
            and (indent_of(line) > indent or (indent_of(line) == indent and bare.startswith("-")))
            and line[0] != "\t"
        ):
            found[-1] = (found[-1][0], (found[-1][1][0], n + 1))
        else:
            found.append((None, (n, n + 1)))
    return found
