"""Change one field of a head while every other byte of the file stays (R002-05, design §3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from learnloop_md.head import KEY, PLAIN, UNPRINTABLE, Parts, blocks, indent_of, join, plain_tree, read, split
from learnloop_md.lesson import Event
from learnloop_md.tree import Field, HeadError, Tree, event_of, field_of


def with_fields(text: str, changes: Mapping[str, Field]) -> str:
    """text with these fields set (None takes one away); only the lines of those fields change (R000, design §3).

    `name` and `description` stand at the top, the rest under `metadata`, but a field that stands elsewhere stays there.
    A file without a head gets one of `metadata` alone. Raises HeadError when the result would not read as asked.
    """
    parts = split(text)
    if parts is None:
        kept = {key: value for key, value in changes.items() if not _is_nothing(key, value)}
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
    ours = any(line.rstrip("\r\n") == "metadata:" for line in parts.lines)
    if ours and not lines and parts.body.startswith(eol):  # the head that an edit gave a plain note goes with it
        return parts.before + parts.body[len(eol) :]
    result = join(parts._replace(lines=tuple(lines)))
    _verify(parts, result, changes)
    return result


_ANSWERS = {"human_confirmed"}  # where false is an answer; elsewhere it is what a missing field says


def _is_nothing(key: str, value: Field) -> bool:
    """Whether a field of this value is left out (an empty text and zero are values)."""
    if isinstance(value, bool):
        return not value and key not in _ANSWERS
    return not value and not isinstance(value, (str, int, float))


def _set(lines: list[str], key: str, value: Field, eol: str) -> None:
    bare = [line.rstrip("\r\n") for line in lines]
    top = dict(blocks(bare))
    inside = top.get("metadata")
    children: dict[str | None, tuple[int, int]] = {}
    indent = 2
    if inside:
        deeper = [
            line for line in bare[inside[0] + 1 : inside[1]] if line.strip() and not line.lstrip().startswith("#")
        ]
        indent = indent_of(deeper[0]) if deeper else 2
        shift = inside[0] + 1
        found = blocks(bare[shift : inside[1]], indent)
        children = {name: (a + shift, b + shift) for name, (a, b) in found}
    if key in children and key not in ("name", "description"):
        _replace(lines, children[key], key, value, indent, eol)
        if inside and bare[inside[0]] == "metadata:" and len(bare) - len(lines) == inside[1] - inside[0] - 1:
            del lines[inside[0]]  # its only field went; a bare `metadata:` is how an edit began it
    elif key in top and key != "metadata":
        _replace(lines, top[key], key, value, 0, eol)
    elif _is_nothing(key, value):
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
        elif isinstance(value, list) and all(_is_event(item) for item in value):
            block += render_field(key, [event for item in value if (event := event_of(item))], 2, eol)
        else:
            raise HeadError(
                "head-not-editable", span[0] + 1, "metadata is written in one line; unfold it by hand first"
            )
    lines[span[0] : span[1]] = block


def _is_event(item: Tree) -> bool:
    """Whether a list item is an event and nothing more, so that it can be written anew without loss."""
    return event_of(item) is not None and isinstance(item, dict) and set(item) <= {"on", "run", "evidence"}


def _replace(lines: list[str], span: tuple[int, int], key: str, value: Field, indent: int, eol: str) -> None:
    old = lines[span[0] : span[1]]
    if _is_nothing(key, value) and value is not False:
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


def _kept_items(
    old: Sequence[str], new: list[str], events: Sequence[Event], key: str, indent: int, eol: str
) -> list[str]:
    """The event list with the lines of every event that was there before kept as they were written."""
    starts = [n for n, line in enumerate(old) if n and re.match(r"[ ]*- ", line)]
    if not starts or not KEY.fullmatch(old[0].rstrip("\r\n ").strip(" ")):
        return new
    chunks = {}
    for a, b in zip(starts, [*starts[1:], len(old)], strict=True):
        tree = plain_tree([f"{key}:", *(line.rstrip("\r\n") for line in old[a:b])])
        items = tree[key] if tree else None
        if not isinstance(items, list) or len(items) != 1:
            return new
        event = event_of(items[0])
        if event:
            chunks[event] = old[a:b]
    margin = indent_of(old[starts[0]])
    result = list(old[: starts[0]])
    for event in events:
        result += chunks.get(event) or _render_event(event, margin, eol)
    return result


def render_field(key: str, value: Field, indent: int, eol: str = "\n") -> list[str]:
    """The lines of one field in our form: block style, two spaces, lists indented under their key."""
    pad = " " * indent
    if isinstance(value, bool):
        return [f"{pad}{key}: {'true' if value else 'false'}{eol}"]
    if isinstance(value, (int, float)):
        return [f"{pad}{key}: {value!r}{eol}"]
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


# What YAML 1.1 or 1.2 would not read as a string; such values are quoted when written (design §3).
_AMBIGUOUS = re.compile(
    r"(?ix) ~ | null | true | false | yes | no | on | off | y | n | "
    r"[-+]? (?: 0b[01_]+ | 0o?[0-7_]+ | 0x[0-9a-f_]+ | [0-9][0-9_]* (?: :[0-5]?[0-9])+ (?: \.[0-9_]*)? |"
    r"(?: [0-9][0-9_]* \.? [0-9_]* | \.[0-9_]+ ) (?: e[-+]?[0-9]+ )? | \.inf ) | \.nan | <<|= |"
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2} (?: (?: t | [ \t]+) [0-9].* )?"
)


def scalar(value: str) -> str:
    """value as a one-line YAML scalar that YAML 1.1 and 1.2 both read back as that string."""
    plain = PLAIN.fullmatch(value) and not _AMBIGUOUS.fullmatch(value) and value == value.strip()
    special = re.search(r": |:$| #", value) or UNPRINTABLE.search(value) or value.startswith(("---", "..."))
    return value if plain and not special else '"' + "".join(map(_escaped, value)) + '"'


def _escaped(c: str) -> str:
    """One character inside double quotes."""
    if c in _NAMED:
        return _NAMED[c]
    if not UNPRINTABLE.match(c):
        return c
    return f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}"


_NAMED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def _verify(before: Parts, result: str, changes: Mapping[str, Field]) -> None:
    """Refuse an edit that would read back as anything but what was asked for."""
    parts = split(result)
    assert parts is not None, "an edit never takes the head away"
    old = read(before).tree if before.lines else {}
    try:
        new = read(parts).tree
    except HeadError as error:
        message = f"the head would not be readable any more ({error.message})"
        raise HeadError("head-not-editable", error.line, message) from error
    for key in _keys(old) | _keys(new):
        got = field_of(new, key)
        if key in changes and not _reads_as(got, changes[key]):
            raise HeadError("head-not-editable", parts.first_line, f"the field {key!r} cannot be changed safely here")
        if key not in changes and got != field_of(old, key):
            raise HeadError("head-not-editable", parts.first_line, f"changing the head would alter {key!r}")


def _keys(tree: Mapping[str, Tree]) -> set[str]:
    inner = tree.get("metadata")
    return (set(tree) - {"metadata"}) | (set(inner) if isinstance(inner, dict) else set())


def _reads_as(got: Tree | None, want: Field) -> bool:
    if isinstance(want, bool):
        return got == ("true" if want else "false") or (not want and got is None)
    if isinstance(want, (int, float)):
        return got == repr(want)
    if want is None or isinstance(want, str):
        return (got or "") == (want or "")
    if not want:
        return not got
    return isinstance(got, list) and [event_of(i) if isinstance(i, dict) else i for i in got] == list(want)
