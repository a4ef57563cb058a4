"""A three-way merge of a lesson file by field, on top of our bytes; of its body by part (rule, Why, How to apply).

No rule asks which of the two sides is ours, so merging the other way says the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from learnloop_md import carry, head, headedit, lessonfile
from learnloop_md.lesson import TYPES, Event, Lesson
from learnloop_md.lines import line_end
from learnloop_md.mergelines import Woven, cut, weave, with_line_ends
from learnloop_md.mergerules import merged_state
from learnloop_md.tree import Field, HeadError, Tree, event_of, field_of

EVENTS = ("seen", "confirmed", "disputed")
_OF_ARCHIVE = ("archive_note", "superseded_by", "codified_in")


class _Side(NamedTuple):
    text: str
    lesson: Lesson
    tree: dict[str, Tree]
    lines: tuple[str, ...] | None  # of the head
    body: str

    @property
    def keys(self) -> list[str]:
        inner = self.tree.get("metadata")
        top = [key for key in self.tree if key != "metadata" or not isinstance(inner, dict)]
        return [*top, *(inner if isinstance(inner, dict) else ())]

    def field(self, key: str) -> Tree | None:
        return field_of(self.tree, key)


def merge(path: str, base: str, ours: str, theirs: str) -> Woven:
    """The lesson that holds what both sides changed. Raises HeadError where a side cannot be read or edited."""
    eol = line_end(ours)
    was, mine, other = (_read(path, with_line_ends(text, eol) if n != 1 else text)
                        for n, text in enumerate((base, ours, theirs)))  # fmt: skip
    if mine.lesson.name != other.lesson.name and (_is_another(was, mine) or _is_another(was, other)):
        raise HeadError("another-lesson", 1, "one side has another lesson here, which git takes for this one renamed")
    text = _with_head(was, mine, other)
    parts = head.split(text)
    body = _body(was.body, mine.body, other.body, eol)
    return Woven(head.join(parts._replace(body=body.text)) if parts else body.text, body.clean)


def newcomer(path: str, base: str, ours: str, theirs: str) -> str:
    """The side, "ours" or "theirs", that has a new lesson which git takes for the base's renamed, "" for neither.

    Raises HeadError where a side cannot be read.
    """
    was, *sides = (_read(path, text) for text in (base, ours, theirs))
    if sides[0].lesson.name == sides[1].lesson.name:
        return ""
    new = [name for name, side in zip(("ours", "theirs"), sides, strict=True) if _is_another(was, side)]
    return new[0] if len(new) == 1 else ""


def _is_another(was: _Side, side: _Side) -> bool:
    """Whether a side has a lesson of other words under another name: git takes a file that came for one that went."""
    is_renamed = side.field("renamed_from") is not None or side.lesson.name == was.lesson.name
    return bool(was.text) and not is_renamed and side.lesson.rule != was.lesson.rule


def _read(path: str, text: str) -> _Side:
    if not text.strip("\ufeff \t\r\n"):  # no base: both sides added the file
        return _Side("", Lesson("", path, "", state=""), {}, None, "")
    reading = lessonfile.read(path, text)
    if isinstance(reading, lessonfile.Quarantined):
        raise HeadError(reading.reason, reading.line, reading.message)
    parts = head.split(text)
    if parts is None:
        return _Side(text, reading.lesson, {}, None, text)
    return _Side(text, reading.lesson, head.read(parts).tree, parts.lines, parts.body)


# --- the head ---------------------------------------------------------------------------------------------------------


def _with_head(was: _Side, mine: _Side, other: _Side) -> str:
    """Our file with the head that both sides mean; the body is still ours."""
    wanted = {key: _merged(key, was, mine, other) for key in dict.fromkeys([*mine.keys, *other.keys, *was.keys])}
    wanted |= _of_state(was, mine, other, wanted)
    by_lines = _by_lines(was, mine, other)
    if by_lines and _means(carry.tree_of(by_lines), wanted):  # it keeps the comments and the order of both sides
        return by_lines
    text = mine.text
    for key, value in wanted.items():
        if not _same(value, mine.field(key)):
            text = _with_field(text, key, value, mine, other)
    if not _means(carry.tree_of(text), wanted):
        raise HeadError("head-not-editable", 1, "the head cannot take the fields of both sides")
    return text


def _by_lines(was: _Side, mine: _Side, other: _Side) -> str:
    """Our file with a head that was merged line by line, "" where that is not possible."""
    parts = head.split(mine.text)
    if parts is None or mine.lines is None or other.lines is None or was.lines is None:
        return ""
    eol = line_end(mine.text)
    (_, a), (_, b), (_, c) = (cut("".join(side.lines or ())) for side in (was, mine, other))
    woven = weave(a, b, c, eol)
    text = head.join(parts._replace(lines=(woven.text,))) if woven.clean else ""
    try:
        carry.tree_of(text)
    except HeadError:
        return ""
    return text


def _means(tree: dict[str, Tree], wanted: Mapping[str, Tree | None]) -> bool:
    there = _Side("", Lesson("", "", ""), tree, None, "")
    return all(_same(there.field(key), wanted.get(key)) for key in {*there.keys, *wanted})


def _same(one: Tree | None, other: Tree | None) -> bool:
    """Whether two values mean the same; the order of a list does not count."""
    if isinstance(one, list) and isinstance(other, list):
        return sorted(map(_key, one)) == sorted(map(_key, other))
    return one == other


def _key(value: Tree | None) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _merged(key: str, was: _Side, mine: _Side, other: _Side) -> Tree | None:
    """The value of one field: a list by its items, anything else from the side that changed it."""
    a, b, c = was.field(key), mine.field(key), other.field(key)
    if key == "tags":
        a, b, c = (_words(value) for value in (a, b, c))
    if _same(a, b):
        return c
    if _same(a, c) or _same(b, c):
        return b
    if isinstance(b or [], list) and isinstance(c or [], list) and (isinstance(b, list) or isinstance(c, list)):
        return _merged_list(key, _listed(a), b, c)
    return _chosen(key, b, c)


def _words(value: Tree | None) -> Tree | None:
    """Tags are read from a text with commas too."""
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


def _listed(value: Tree | None) -> list[Tree]:
    return value if isinstance(value, list) else []


def _merged_list(key: str, was: list[Tree], mine: Tree | None, other: Tree | None) -> Tree | None:
    """The base's items, what both sides added, without what either took away; the same event counts once."""
    before, ours, theirs = (_by_name(key, _listed(side)) for side in (was, mine, other))
    kept = [name for name in {**ours, **theirs} if name not in before or (name in ours and name in theirs)]
    items: dict[str, Tree] = {}
    for name in kept:
        here = [side[name] for side in (ours, theirs) if name in side]
        changed = [item for item in here if item != before.get(name)]
        items[name] = max(changed or here, key=_weight)
    if items == ours and len(items) == len(_listed(mine)):
        return mine
    if not items:
        return None
    if key in EVENTS:
        return [items[name] for name in sorted(items, key=lambda name: _order(items[name]))]
    return list(items.values())


def _by_name(key: str, items: list[Tree]) -> dict[str, Tree]:
    """The items by name; of one that stands twice the one that says more."""
    return (
        {_name(key, item): item for item in sorted(items, key=_weight)}
        if key in EVENTS
        else {_name(key, item): item for item in items}
    )


def _weight(value: Tree | None) -> tuple[int, str]:
    return len(_key(value)), _key(value)


def _name(key: str, item: Tree) -> str:
    """What makes two items the same: of an event its day, run and evidence, whatever else stands in it."""
    event = event_of(item) if key in EVENTS else None
    return "\0".join(event) if event else _key(item)


def _order(item: Tree) -> tuple[str, str, str]:
    event = event_of(item) or Event("", "")
    return event.run, event.on, event.evidence


def _chosen(key: str, one: Tree | None, other: Tree | None) -> Tree | None:
    """One of two values that both differ from the base, whichever side it is on."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, dict) or isinstance(other, dict):
        raise HeadError("both-changed", 1, f"both sides changed {key!r}, which has fields of its own")
    if key == "created":  # it was there from the earlier day on
        return min(one, other, key=_key)
    if key in ("reviewed", "revived", "modified"):
        return max(one, other, key=_key)
    if key == "type" and one in TYPES and other in TYPES:  # what may be private stays private
        return min(one, other, key=lambda value: TYPES.index(str(value)))
    if key == "pinned":
        return max(one, other, key=lambda value: (_is_true(value), _key(value)))
    return max(one, other, key=_weight)


# --- the state --------------------------------------------------------------------------------------------------------


def _of_state(was: _Side, mine: _Side, other: _Side, wanted: Mapping[str, Tree | None]) -> dict[str, Tree | None]:
    """The state that the merged events give, and the fields that belong to an archived lesson."""
    events = {key: tuple(e for item in _listed(wanted.get(key)) if (e := event_of(item))) for key in EVENTS}
    seen, confirmed, disputed = (events[key] for key in EVENTS)
    revived = str(wanted.get("revived") or "")[:10]
    pinned = _is_true(wanted.get("pinned"))
    merged = mine.lesson._replace(seen=seen, confirmed=confirmed, disputed=disputed, revived=revived, pinned=pinned)
    state = merged_state(was.lesson, mine.lesson, other.lesson, merged)
    one, two = mine.lesson.state == "archived", other.lesson.state == "archived"
    found: dict[str, Tree | None] = {}
    said = [side.field("state") for side in (mine, other) if side.lesson.state == state]
    if state or any(side.field("state") is not None for side in (mine, other)):
        found["state"] = said[0] if said else state or None
    if state != "archived" and one != two:
        active = other if one else mine
        found |= {key: active.field(key) for key in _OF_ARCHIVE if key in wanted}
    return found


def _is_true(value: Tree | None) -> bool:
    return str(value).lower() in ("true", "yes", "on")


# --- writing a field --------------------------------------------------------------------------------------------------


def _with_field(text: str, key: str, value: Tree | None, mine: _Side, other: _Side) -> str:
    if value is None:
        return headedit.with_fields(text, {key: None})
    if value == other.field(key):
        if key in other.tree and key not in ("name", "description", *mine.keys) and head.split(text):
            return carry.with_field_at_top(text, other.text, key)
        return carry.with_fields_of(text, other.text, [key])
    if isinstance(value, list) and not all(_is_plain(item) for item in value):
        return carry.with_items(text, key, value, [mine.text, other.text])
    field: Field = carry.typed(value)
    return headedit.with_fields(text, {key: field})


def _is_plain(item: Tree) -> bool:
    """Whether an item can be written anew without loss."""
    if isinstance(item, dict):
        return set(item) <= {"on", "run", "evidence"} and {"on", "run"} <= set(item) and len(str(item["on"])) <= 10
    return isinstance(item, str)


# --- the body ---------------------------------------------------------------------------------------------------------


def _body(was: str, mine: str, other: str, eol: str) -> Woven:
    """The body's parts, each merged by itself: lines that both sides changed stand between markers in that part."""
    a, b, c = (lessonfile.body_parts(body) for body in (was, mine, other))
    order = list(b)
    for part in c:
        if part not in b:
            order.insert(order.index("how") if part == "why" and "how" in order else len(order), part)
    out, clean, last = "", True, "rule"
    for part in order:
        (_, x), (lead, y), (lead_there, z) = (cut(side.get(part, "")) for side in (a, b, c))
        woven = weave(x, y, z, eol, lead if part in b else lead_there)
        clean = clean and woven.clean
        out = _joined(out, woven.text, eol, is_new=not (part in b and last in b))
        last = part
    if mine.endswith(("\n", " ")) and not mine.endswith(eol * 2):
        out = out.rstrip("\r\n") + eol
    return Woven(out, clean)


def _joined(before: str, text: str, eol: str, *, is_new: bool) -> str:
    if not before.strip() or not text.strip():
        return before + text
    before = before if before.endswith("\n") else before + eol
    gap = eol if is_new and not before.endswith(eol * 2) else ""
    return before + gap + text
