"""The YAML head of a lesson file: read it, and change one field while every other byte stays.

Two readers give the same tree. The one here takes the block style that people, Claude and this tool write, costs
microseconds and knows each field's lines; whatever it does not take goes to `yamlhead`, the strict YAML reader. A head
that is not YAML in one of the common human ways (`: ` or ` #` unquoted, a stray quote, a tab) is read leniently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from learnloop_md.lesson import Event, fold

Tree: TypeAlias = "str | list[Tree] | dict[str, Tree]"
Field: TypeAlias = "str | bool | Sequence[str] | Sequence[Event] | None"


class HeadError(Exception):
    """The head is not one we may trust: a reason code, a line (from 1) and words."""

    def __init__(self, code: str, line: int, message: str) -> None:
        super().__init__(message)
        self.code, self.line, self.message = code, line, message


class Fault(NamedTuple):
    """Something a person should mend; the head could be read all the same."""

    code: str
    line: int
    message: str


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
    """What a head says: a tree of strings, lists and mappings, and what is wrong with it."""

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
            return Parts(before, lines[start][len(bom) :], tuple(lines[start + 1 : end]), lines[end], "".join(lines[end + 1 :]))
    raise HeadError("frontmatter-unclosed", start + 1, "the head opened by '---' is never closed")


def join(parts: Parts) -> str:
    """The file's text again."""
    return parts.before + parts.open + "".join(parts.lines) + parts.close + parts.body


def read(parts: Parts) -> Head:
    """What the head says, read by the first reader that may judge it.

    Raises HeadError for anchors, tags, merge keys, duplicate keys, a head that is no mapping, broken structure.
    """
    lines = [line.rstrip("\r\n") for line in parts.lines]
    try:
        tree = _strict(lines, parts.first_line)
    except HeadError as error:
        if error.code != "yaml-syntax":
            raise
        return _lenient(lines, parts.first_line, error)
    return Head(tree, tuple(_comment_faults(tree, lines, parts.first_line)))


def _strict(lines: Sequence[str], first: int) -> dict[str, Tree]:
    """The lines as a tree, read as YAML; raises HeadError where they are none or hold what we do not trust."""
    tree = _plain_tree(lines)
    if tree is not None:
        return tree
    for n, line in enumerate(lines):
        if _BREAKS.search(line):  # YAML 1.1 ends a line here and would see fields that no editor shows
            raise HeadError("yaml-syntax", first + n, "a hidden line separator")
    from learnloop_md import yamlhead  # lazy: PyYAML costs 60 ms, and few heads need it

    return yamlhead.load("\n".join(lines) + "\n", first)


# --- the plain reader -------------------------------------------------------------------------------------------------

_KEY = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)[ ]*:(?:[ ]+(?P<rest>.*))?$", re.ASCII)
_PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`][^\s].*|[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-[^\s\-].*")
_HEX = "[0-9a-fA-F]"
_CODE = rf"x{_HEX}{{2}}|u(?![dD][89a-fA-F]){_HEX}{{4}}|U000(?!0[dD][89a-fA-F])[0-9a-fA-F]{_HEX}{{4}}"
_DOUBLE = re.compile(rf'"((?:[^"\\\t]|\\(?:["\\/nt0]|{_CODE}))*)"')
_SINGLE = re.compile(r"'((?:[^'\t]|'')*)'")
_ESCAPE = re.compile(r"\\(?:x(..)|u(....)|U(.{8})|(.))")
_BREAKS = re.compile("[\x85\u2028\u2029]")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_DEPTH = 20  # levels; a head that is nested deeper goes to the strict reader, which refuses it
_LENIENT_FIELDS = 200  # no head that a person wrote by hand has more
_NULLS = {"", "~", "null", "Null", "NULL"}


class _OutsideError(Exception):
    """The line is not of the plain style."""


def _plain_tree(lines: Sequence[str]) -> dict[str, Tree] | None:
    """The head as a tree, or None where it is outside the plain block style."""
    rows = [(n, line) for n, line in enumerate(lines) if line.strip() and not line.lstrip(" ").startswith("#")]
    if any(_UNPRINTABLE.search(line) for line in lines) or any(line[:1] != " " and line.lstrip() != line for _, line in rows):
        return None
    stack = rows[::-1]  # the next row last: taking one off costs the same in a long head
    try:
        tree = _mapping(stack, 0)
    except _OutsideError:
        return None
    return None if stack else tree


_Rows: TypeAlias = "list[tuple[int, str]]"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _next_indent(rows: _Rows) -> int:
    return _indent(rows[-1][1]) if rows else -1


def _mapping(rows: _Rows, indent: int, depth: int = 1) -> dict[str, Tree]:
    if depth > _DEPTH:
        raise _OutsideError
    tree: dict[str, Tree] = {}
    while _next_indent(rows) == indent:
        match = _KEY.fullmatch(rows.pop()[1][indent:].rstrip(" "))
        if not match or match["key"] in tree:
            raise _OutsideError
        tree[match["key"]] = _value((match["rest"] or "").strip(" "), rows, indent, depth)
    if _next_indent(rows) > indent:
        raise _OutsideError
    return tree


def _value(rest: str, rows: _Rows, indent: int, depth: int) -> Tree:
    """The value after `key:`; the rows that it takes are gone from rows."""
    deep = _next_indent(rows)
    if rest and not rest.startswith("#"):
        if deep > indent:
            raise _OutsideError  # a scalar that goes on in the next line
        return _flow(rest)
    if deep < indent:
        return ""
    line = rows[-1][1].strip(" ")
    if line.startswith("- ") or line == "-":
        return _items(rows, deep, depth + 1)
    return "" if deep == indent else _mapping(rows, deep, depth + 1)


def _items(rows: _Rows, indent: int, depth: int) -> list[Tree]:
    items: list[Tree] = []
    while _next_indent(rows) == indent and rows[-1][1][indent:].startswith("- "):
        number, line = rows.pop()
        after = line[indent + 1 :]
        deep = indent + 1 + _indent(after)
        if _KEY.fullmatch(after.strip(" ")):
            rows.append((number, " " * deep + after.strip(" ")))
            items.append(_mapping(rows, deep, depth + 1))
        elif _next_indent(rows) > indent:
            raise _OutsideError
        else:
            items.append(_flow(after.strip(" ")))
    if _next_indent(rows) > indent:
        raise _OutsideError
    return items


def _flow(rest: str) -> Tree:
    """A one-line value: a scalar, or a flow list of plain words."""
    for pattern, unquote in ((_DOUBLE, _unescape), (_SINGLE, lambda s: s.replace("''", "'"))):
        match = pattern.match(rest)
        if match and re.fullmatch(r"(?:[ ]+#.*)?[ ]*", rest[match.end() :]):
            return unquote(match[1])
    if rest.startswith("["):
        match = re.fullmatch(r"\[([^\[\]{}\"'#&*!|>%@`:]*)\](?:[ ]+#.*)?", rest)
        if not match or any(not _PLAIN.fullmatch(w.strip()) for w in match[1].split(",") if match[1].strip()):
            raise _OutsideError
        return [word.strip() for word in match[1].split(",")] if match[1].strip() else []
    bare = rest.partition(" #")[0].rstrip(" ")
    if not _PLAIN.fullmatch(bare) or ": " in bare or bare.endswith(":") or bare.startswith(("---", "...", "<<")):
        raise _OutsideError
    return "" if bare in _NULLS else bare


def _unescape(quoted: str) -> str:
    simple = {"n": "\n", "t": "\t", "0": "\0"}
    return _ESCAPE.sub(lambda m: simple.get(m[4], m[4]) if m[4] else chr(int(m[1] or m[2] or m[3], 16)), quoted)


def _comment_faults(tree: dict[str, Tree], lines: Sequence[str], first: int) -> list[Fault]:
    """Values of name and description that YAML cuts at ` #`; the tree gets them whole."""
    faults = []
    for n, line in enumerate(lines):
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
    blocks = _blocks(lines)
    if len(blocks) > _LENIENT_FIELDS:
        raise error
    for key, block in blocks:
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


# --- the editor -------------------------------------------------------------------------------------------------------


def _blocks(lines: Sequence[str], indent: int = 0) -> list[tuple[str | None, tuple[int, int]]]:
    """Each key at this indent with the lines it holds; None stands for a line that fits nowhere."""
    blocks: list[tuple[str | None, tuple[int, int]]] = []
    key_at = re.compile(r"[ ]{%d}(?P<key>[^\s#\-'\"\[\]{}&*!|>%%@`?,:][^:\t]*?|\"[^\"]*\"|'[^']*')[ ]*:(?=[ \t]|$)" % indent)
    for n, line in enumerate(lines):
        match = key_at.match(line)
        bare = line.strip()
        if match:
            blocks.append((match["key"].strip("\"'"), (n, n + 1)))
        elif not bare or bare.startswith("#"):
            continue  # belongs to nobody until a deeper line follows
        elif blocks and (_indent(line) > indent or (_indent(line) == indent and bare.startswith("-"))) and line[0] != "\t":
            blocks[-1] = (blocks[-1][0], (blocks[-1][1][0], n + 1))
        else:
            blocks.append((None, (n, n + 1)))
    return blocks


def with_fields(text: str, changes: Mapping[str, Field]) -> str:
    """text with these fields set (None takes one away); only the lines of those fields change (R000, design §3).

    `name` and `description` stand at the top, the rest under `metadata`, but a field that stands elsewhere stays there.
    A file without a head gets one of `metadata` alone. Raises HeadError when the result would not read as asked.
    """
    parts = split(text)
    if parts is None:
        kept = {key: value for key, value in changes.items() if not _is_nothing(value)}
        if not kept:
            return text
        eol = "\r\n" if "\r\n" in text else "\n"
        bom = "﻿" if text.startswith("﻿") else ""
        parts = Parts(bom, f"---{eol}", (), f"---{eol}", eol + text[len(bom) :])
        changes = kept
    lines = list(parts.lines)
    eol = "\r\n" if parts.open.endswith("\r\n") else "\n"
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += eol
    for key, value in changes.items():
        _set(lines, key, value, eol)
    if parts.lines and not lines and parts.body.startswith(eol):  # the head that an edit gave a plain note goes with it
        return parts.before + parts.body[len(eol) :]
    result = join(parts._replace(lines=tuple(lines)))
    _verify(parts, result, changes)
    return result


def _is_nothing(value: Field) -> bool:
    """Whether a field of this value is left out (an empty text is a value)."""
    return not value and not isinstance(value, str)


def _set(lines: list[str], key: str, value: Field, eol: str) -> None:
    bare = [line.rstrip("\r\n") for line in lines]
    top = dict(_blocks(bare))
    inside = top.get("metadata")
    children: dict[str | None, tuple[int, int]] = {}
    indent = 2
    if inside:
        deeper = [line for line in bare[inside[0] + 1 : inside[1]] if line.strip() and not line.lstrip().startswith("#")]
        indent = _indent(deeper[0]) if deeper else 2
        shift = inside[0] + 1
        found = _blocks(bare[shift : inside[1]], indent)
        children = {name: (a + shift, b + shift) for name, (a, b) in found}
    if key in children and key not in ("name", "description"):
        _replace(lines, children[key], key, value, indent, eol)
        if inside and bare[inside[0]] == "metadata:" and len(bare) - len(lines) == inside[1] - inside[0] - 1:
            del lines[inside[0]]  # its only field went; a bare `metadata:` is how an edit began it
    elif key in top and key != "metadata":
        _replace(lines, top[key], key, value, 0, eol)
    elif _is_nothing(value):
        return
    elif key in ("name", "description"):
        at = top["name"][1] if "name" in top else 0
        lines[at:at] = render_field(key, value, 0, eol)
    elif inside and _is_flow(bare[inside[0]]):
        _unfold_metadata(lines, inside, eol)
        _set(lines, key, value, eol)
    elif inside:
        lines[inside[1] : inside[1]] = render_field(key, value, indent, eol)
    else:
        lines += [f"metadata:{eol}", *render_field(key, value, 2, eol)]


def _is_flow(line: str) -> bool:
    return line.partition(":")[2].strip().startswith("{")


def _unfold_metadata(lines: list[str], span: tuple[int, int], eol: str) -> None:
    """Write `metadata: {…}` as a block, so that a field can stand on a line of its own."""
    from learnloop_md import yamlhead  # lazy: rare

    tree = yamlhead.load("".join(lines[span[0] : span[1]]), 1)["metadata"]
    inner = tree if isinstance(tree, dict) else {}
    block = [f"metadata:{eol}"]
    for key, value in inner.items():
        if isinstance(value, str):
            block += render_field(key, value, 2, eol)
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            block += render_field(key, [str(item) for item in value], 2, eol)
        else:
            raise HeadError("head-not-editable", span[0] + 1, "metadata is written in one line; unfold it by hand first")
    lines[span[0] : span[1]] = block


def _replace(lines: list[str], span: tuple[int, int], key: str, value: Field, indent: int, eol: str) -> None:
    old = lines[span[0] : span[1]]
    if _is_nothing(value) and value is not False:
        del lines[span[0] : span[1]]
        return
    new = render_field(key, value, indent, eol)
    if len(old) == len(new) == 1:
        # Of a name or description the words behind ` #` are part of the value (see _comment_faults).
        bare = old[0].rstrip("\r\n")
        whole = key in ("name", "description") and not re.match(r"[^:]*:\s*[\"']", bare)
        comment = "" if whole else _trailing_comment(bare)
        new = [new[0].rstrip("\r\n") + comment + eol]
    elif isinstance(value, (list, tuple)) and value and isinstance(value[0], Event):
        new = _kept_items(old, new, [e for e in value if isinstance(e, Event)], key, indent, eol)
    lines[span[0] : span[1]] = new


def _trailing_comment(line: str) -> str:
    rest = line.partition(":")[2]
    quoted = re.match(r"\s*(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*')", rest)
    rest = rest[quoted.end() :] if quoted else rest
    match = re.search(r"[ \t]#", rest)
    return rest[len(rest[: match.start()].rstrip(" \t")) :] if match else ""


def _kept_items(old: Sequence[str], new: list[str], events: Sequence[Event], key: str, indent: int, eol: str) -> list[str]:
    """The event list with the lines of every event that was there before kept as they were written."""
    starts = [n for n, line in enumerate(old) if n and re.match(r"[ ]*- ", line)]
    if not starts or not _KEY.fullmatch(old[0].rstrip("\r\n ").strip(" ")):
        return new
    chunks = {}
    for a, b in zip(starts, [*starts[1:], len(old)], strict=True):
        tree = _plain_tree([f"{key}:", *(line.rstrip("\r\n") for line in old[a:b])])
        items = tree[key] if tree else None
        if not isinstance(items, list) or len(items) != 1:
            return new
        event = event_of(items[0])
        if event:
            chunks[event] = old[a:b]
    margin = _indent(old[starts[0]])
    result = list(old[: starts[0]])
    for event in events:
        result += chunks.get(event) or _render_event(event, margin, eol)
    return result


def render_field(key: str, value: Field, indent: int, eol: str = "\n") -> list[str]:
    """The lines of one field in our form: block style, two spaces, lists indented under their key."""
    pad = " " * indent
    if isinstance(value, bool):
        return [f"{pad}{key}: {'true' if value else 'false'}{eol}"]
    if isinstance(value, str):
        plain = key in _DAYS and re.fullmatch(r"\d{4}-\d\d-\d\d", value)
        return [f"{pad}{key}: {value if plain else scalar(value)}{eol}"]
    lines = [f"{pad}{key}:{eol}"]
    for item in value or ():
        lines += _render_event(item, indent + 2, eol) if isinstance(item, Event) else [f"{pad}  - {scalar(item)}{eol}"]
    return lines


_DAYS = {"created", "reviewed", "revived", "on"}


def _render_event(event: Event, indent: int, eol: str) -> list[str]:
    pad = " " * indent
    lines = [*render_field("on", event.on, indent + 2, eol), *render_field("run", event.run, indent + 2, eol)]
    if event.evidence:
        lines += render_field("evidence", event.evidence, indent + 2, eol)
    return [f"{pad}- {lines[0][indent + 2 :]}", *lines[1:]]


def event_of(item: Tree) -> Event | None:
    """The event that a list item stands for, None where it has no day and no run."""
    if not isinstance(item, dict):
        return None
    on, run, evidence = (item.get(key, "") for key in ("on", "run", "evidence"))
    if not (isinstance(on, str) and isinstance(run, str) and isinstance(evidence, str)) or not (on or run):
        return None
    return Event(on[:10], run, evidence)


# What YAML 1.1 or 1.2 would not read as a string; such values are quoted when written (design §3).
_AMBIGUOUS = re.compile(
    r"(?ix) ~ | null | true | false | yes | no | on | off | y | n | "
    r"[-+]? (?: 0b[01_]+ | 0o?[0-7_]+ | 0x[0-9a-f_]+ | [0-9][0-9_]* (?: :[0-5]?[0-9])+ (?: \.[0-9_]*)? |"
    r"(?: [0-9][0-9_]* \.? [0-9_]* | \.[0-9_]+ ) (?: e[-+]?[0-9]+ )? | \.inf ) | \.nan | <<|= |"
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2} (?: (?: t | [ \t]+) [0-9].* )?"
)


def scalar(value: str) -> str:
    """value as a one-line YAML scalar that YAML 1.1 and 1.2 both read back as that string."""
    plain = _PLAIN.fullmatch(value) and not _AMBIGUOUS.fullmatch(value) and value == value.strip()
    special = re.search(r": |:$| #", value) or _UNPRINTABLE.search(value) or value.startswith(("---", "..."))
    return value if plain and not special else '"' + "".join(map(_escaped, value)) + '"'


def _escaped(c: str) -> str:
    """One character inside double quotes."""
    if c in _NAMED:
        return _NAMED[c]
    if not _UNPRINTABLE.match(c):
        return c
    return f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}"


_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def field_of(tree: Mapping[str, Tree], key: str) -> Tree | None:
    """The field under metadata, else the one at the top (where people and older tools write it)."""
    inner = tree.get("metadata")
    if key not in ("name", "description") and isinstance(inner, dict) and key in inner:
        return inner[key]
    return tree.get(key)


def _verify(before: Parts, result: str, changes: Mapping[str, Field]) -> None:
    """Refuse an edit that would read back as anything but what was asked for."""
    parts = split(result)
    assert parts is not None, "an edit never takes the head away"
    old, new = read(before).tree if before.lines else {}, read(parts).tree
    for key in _keys(old) | _keys(new):
        got = field_of(new, key)
        want = field_of(old, key) if key not in changes else changes[key]
        if key in changes and not (want is None and not got) and not _reads_as(got, want):
            raise HeadError("head-not-editable", parts.first_line, f"the field {key!r} cannot be changed safely here")
        if key not in changes and got != want:
            raise HeadError("head-not-editable", parts.first_line, f"changing the head would alter {key!r}")


def _keys(tree: Mapping[str, Tree]) -> set[str]:
    inner = tree.get("metadata")
    return (set(tree) - {"metadata"}) | (set(inner) if isinstance(inner, dict) else set())


def _reads_as(got: Tree | None, want: Field) -> bool:
    if isinstance(want, bool):
        return got == ("true" if want else "false") or (not want and got is None)
    if want is None or isinstance(want, str):
        return (got or "") == (want or "")
    if not want:
        return not got
    return isinstance(got, list) and [event_of(i) if isinstance(i, dict) else i for i in got] == list(want)
