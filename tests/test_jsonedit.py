"""Edits of one place in a JSON text: everything else keeps its bytes, and what was put in comes out again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import jsonedit
from learnloop_md.jsonedit import JsonError

BOM = "\ufeff"
NEW = {"command": "learnloop hook", "list": [1, {"deep": True}], "none": None}
KEY = "a new key"

ATOMS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=6).filter(lambda key: key != KEY), VALUES, max_size=4)
INDENTS = st.sampled_from([None, "", " ", "  ", "    ", "\t"])
BLANKS = st.text(" \t\r\n", max_size=3)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A JSON object as some program or person wrote it."""
    value = draw(OBJECTS)
    if draw(st.booleans()):
        text = _scattered(draw, value)
    else:
        separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
        indent = draw(INDENTS)
        text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", BOM])) + text + draw(st.sampled_from(["", "\n", "\r\n", "\n\n"]))


def _scattered(draw: st.DrawFn, value: Any) -> str:
    """A value with blanks wherever JSON allows them."""

    def blank() -> str:
        return draw(BLANKS)

    if isinstance(value, dict):
        rows = [f"{blank()}{json.dumps(k)}{blank()}:{blank()}{_scattered(draw, v)}{blank()}" for k, v in value.items()]
        return "{" + (",".join(rows) if rows else blank()) + "}"
    if isinstance(value, list):
        rows = [blank() + _scattered(draw, item) + blank() for item in value]
        return "[" + (",".join(rows) if rows else blank()) + "]"
    return json.dumps(value)


def parsed(text: str) -> Any:
    return json.loads(text.removeprefix(BOM))


def paths_of(value: Any, kind: type, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of all objects or lists in a value."""
    found = [path] if isinstance(value, kind) else []
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [inner for key, item in rows for inner in paths_of(item, kind, (*path, key))]


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def assert_only_adds(old: str, new: str) -> None:
    """The old text is the new one without one stretch."""
    size = len(new) - len(old)
    assert any(new[:n] + new[n + size :] == old for n in range(len(old) + 1))


@given(texts(), st.data())
def test_a_new_key_touches_nothing_else_and_comes_out_again(text: str, data: st.DataObject) -> None:
    path = (*data.draw(st.sampled_from(paths_of(parsed(text), dict))), KEY)
    value = data.draw(VALUES)
    new = jsonedit.set_key(text, path, value)
    expected = parsed(text)
    at(expected, path[:-1])[KEY] = value
    assert parsed(new) == expected
    assert_only_adds(text, new)
    assert jsonedit.remove(new, path) == text


@given(texts(), st.data())
def test_a_new_item_touches_nothing_else_and_comes_out_again(text: str, data: st.DataObject) -> None:
    expected = parsed(text)
    paths = paths_of(expected, list)
    path = data.draw(st.sampled_from(paths)) if paths else (KEY,)
    new = jsonedit.append(text, path, NEW)
    if not paths:
        expected[KEY] = []
    at(expected, path).append(NEW)
    assert parsed(new) == expected
    assert_only_adds(text, new)
    assert jsonedit.remove(new, (*path, len(at(expected, path)) - 1) if paths else path) == text


@given(texts(), st.lists(VALUES, min_size=1, max_size=4), st.data())
def test_several_items_come_out_in_any_order(text: str, values: list[Any], data: st.DataObject) -> None:
    """An uninstall finds its entries in the order of the file, not in the order they were written in."""
    paths = paths_of(parsed(text), list)
    path = data.draw(st.sampled_from(paths)) if paths else (KEY,)
    before = len(at(parsed(text), path)) if paths else 0
    new = text
    for value in values:
        new = jsonedit.append(new, path, value)
    while len(at(parsed(new), path)) > before:
        last = len(at(parsed(new), path)) - 1
        new = jsonedit.remove(new, (*path, data.draw(st.integers(before, last))))
    assert (new if paths else jsonedit.remove(new, path)) == text


@given(texts(), st.data())
def test_a_value_is_replaced_where_it_stands(text: str, data: st.DataObject) -> None:
    expected = parsed(text)
    holders = [path for path in paths_of(expected, dict) if at(expected, path)]
    if not holders:
        return
    path = data.draw(st.sampled_from(holders))
    key = data.draw(st.sampled_from(sorted(at(expected, path))))
    new = jsonedit.set_key(text, (*path, key), NEW)
    at(expected, path)[key] = NEW
    assert (parsed(new), list(at(parsed(new), path))) == (expected, list(at(expected, path)))
    assert jsonedit.set_key(new, (*path, key), NEW) == new


@given(texts(), st.data())
def test_taking_out_anything_leaves_the_rest(text: str, data: st.DataObject) -> None:
    expected = parsed(text)
    holders = [path for path in paths_of(expected, dict) + paths_of(expected, list) if at(expected, path)]
    if not holders:
        return
    path = data.draw(st.sampled_from(holders))
    holder = at(expected, path)
    key = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
    new = jsonedit.remove(text, (*path, key))
    del holder[key]
    assert parsed(new) == expected


@given(texts())
def test_reading_says_what_json_says(text: str) -> None:
    assert jsonedit.read(text) == parsed(text)


@given(st.text('{}[]",:/ \n\\au01.-+eE#tfn', max_size=24))
def test_what_json_refuses_is_refused_with_its_place(text: str) -> None:
    try:
        parsed(text)
    except ValueError:
        if text.strip(" \n"):
            with pytest.raises(JsonError) as caught:
                jsonedit.read(text)
            lines = text.split("\n")
            assert 1 <= caught.value.line <= len(lines)
            assert 1 <= caught.value.column <= len(lines[caught.value.line - 1]) + 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "k": {\n    "a": 1\n  }\n}'),
        ("", '{\n  "k": {\n    "a": 1\n  }\n}\n'),
        (BOM, BOM + '{\n  "k": {\n    "a": 1\n  }\n}\n'),
        ('{"x":1}', '{"k":{"a":1},"x":1}'),
        ('{ "x": 1 }\n', '{ "k": {"a": 1}, "x": 1 }\n'),
        ('{\n\t"x": 1\n}\n', '{\n\t"k": {\n\t\t"a": 1\n\t},\n\t"x": 1\n}\n'),
        ('{\r\n    "x": 1\r\n}', '{\r\n    "k": {\r\n        "a": 1\r\n    },\r\n    "x": 1\r\n}'),
        ('{\n  "k": {"b" : 2}\n}', '{\n  "k": {"a": 1, "b" : 2}\n}'),
        ('{\n  "k": {}\n}', '{\n  "k": {\n    "a": 1\n  }\n}'),
        ('{\n  "k": {"a": 7 }\n}', '{\n  "k": {"a": 1 }\n}'),
    ],
    ids=repr,
)
def test_the_layout_that_is_there_is_kept(before: str, after: str) -> None:
    assert jsonedit.set_key(before, ["k", "a"], 1) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"k": [1]}', '{"k": [1, 2]}'),
        ('{"k":[1]}', '{"k":[1,2]}'),
        ('{\n  "k": [\n    1\n  ]\n}', '{\n  "k": [\n    1,\n    2\n  ]\n}'),
        ('{\n  "k": []\n}', '{\n  "k": [\n    2\n  ]\n}'),
        ('{\n  "x": 1\n}', '{\n  "k": [\n    2\n  ],\n  "x": 1\n}'),
    ],
    ids=repr,
)
def test_an_item_is_laid_out_like_its_neighbours(before: str, after: str) -> None:
    assert jsonedit.append(before, ["k"], 2) == after


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{\n  "a": 1,\n}\n', 3, 1, "trailing comma"),
        ('{"a": [1,]}', 1, 10, "trailing comma"),
        ('{\n  // mine\n  "a": 1\n}', 2, 3, "a comment, which JSON does not know"),
        ('{"a": 1 /* mine */}', 1, 9, "a comment"),
        ('{"a" 1}', 1, 6, "a colon is expected"),
        ('{"a": 1 "b": 2}', 1, 9, "a comma or } is expected"),
        ("{'a': 1}", 1, 2, "a key in double quotes is expected"),
        ('{\n"a": {\n"b": 1', 3, 7, "the text ends inside the object that begins in line 2"),
        ('{"a": }', 1, 7, "a value is expected"),
        ('{"a": NaN}', 1, 7, "a value is expected"),
        ('{"a": 01}', 1, 7, "a value is expected"),
        ('{"a": "x\ny"}', 1, 7, "a string that does not end on its line"),
        ('{"a": "\\x"}', 1, 7, "a wrong escape"),
        ("{} {}", 1, 4, "something stands behind the end"),
        ('{"a": 1,\n "a": 2}', 2, 2, 'the key "a" stands twice'),
        ('{"x": [' + '{"a": 1, "\\u0061": 2}]}', 1, 17, 'the key "a" stands twice'),
        ("[" * 300, 1, 201, "nested deeper than 200 levels"),
        ("\x00", 1, 1, "a value is expected"),
    ],
)
def test_a_malformed_text_is_refused_with_line_and_column(text: str, line: int, column: int, words: str) -> None:
    for edit in (jsonedit.set_key, jsonedit.append):
        with pytest.raises(JsonError) as caught:
            edit(text, ["k"], 1)
        assert (caught.value.line, caught.value.column) == (line, column)
        assert words in caught.value.words


def test_an_error_names_its_file_and_the_way_out() -> None:
    with pytest.raises(JsonError) as caught:
        jsonedit.read('{\n"a": 1,}')
    error = caught.value.of("settings.json")
    assert (error.message, error.hint) == (
        "settings.json:2:8: trailing comma",
        "mend it first; nothing was changed",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "the text is not an object"),
        ('{"k": 1}', "k is not an object"),
        ('{"k": {"l": {}}}', "k.l is not a list"),
    ],
)
def test_a_place_of_another_shape_is_refused(text: str, words: str) -> None:
    with pytest.raises(JsonError, match=words) as caught:
        jsonedit.append(text, ["k", "l"], 1)
    assert caught.value.code == "wrong-shape"


def test_what_is_not_there_cannot_be_taken_out() -> None:
    assert jsonedit.remove('{"a": [1]}', ["a", 1]) == '{"a": [1]}'
    assert jsonedit.remove('{"a": [1]}', ["b", "c"]) == '{"a": [1]}'
    assert jsonedit.remove("", ["a"]) == ""


def test_bytes_that_are_no_utf8_stay() -> None:
    text = b'{"a": "\xff\xfe", "b": 1}'.decode("utf-8", "surrogateescape")
    new = jsonedit.set_key(text, ["b"], 2)
    assert new.encode("utf-8", "surrogateescape") == b'{"a": "\xff\xfe", "b": 2}'


def test_true_is_not_one() -> None:
    """Python takes them for equal; JSON does not."""
    assert jsonedit.set_key('{"a": 1}', ["a"], True) == '{"a": true}'


def test_a_number_longer_than_python_reads_is_kept() -> None:
    text = '{"a": ' + "9" * 5000 + ', "b": 1}'
    assert jsonedit.set_key(text, ["b"], 2) == text.replace('"b": 1', '"b": 2')
