"""The plain reader of heads agrees with the strict one, and an edit changes the lines of its field alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from learnloop_md import head, headedit, lessonfile, yamlhead
from learnloop_md.lesson import Event
from learnloop_md.tree import Field, HeadError, event_of, field_of
from tests.conftest import DATA

FILES = sorted(path for path in DATA.glob("*/**/*.md") if path.name != "MEMORY.md")
READ = [path for path in FILES if isinstance(lessonfile.read(path.name, path.read_bytes()), lessonfile.Reading)]


def raw(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


# --- values and heads ---------------------------------------------------------------------------------------------

TRICKY = [
    "|",
    "| a",
    *(
        "yes|no|on|off|y|N|true|null|~|Null|1|0123|0o17|0x1F|1e3|.5|1.10|1_000|12:30:45|-.inf|.NaN|2026-05-26|=|<<|2026-05-26T10:00:00Z"
        "|a: b|a:|a #b|#a|- a|-|? a|[a]|{a}|*a|&a|!a|%a|@a|`a`|'a'|\"a\"|a 'b' \"c\"| a|a |---|...|--- a"
        "|a\nb|a\tb|\t|\x00|\x1b[31m|\x7f|\x85|a\u2028type: b|\ufeff|\\n|C:\\new|对账|é|😀||a,b|a]|it's|>-|-x|:x|,x|3e5"
    ).split("|"),
]
texts = st.one_of(st.sampled_from(TRICKY), st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
events = st.builds(Event, st.sampled_from(["2026-05-26", "2026-11-30"]), words, texts)
TEXTS = "name description title kind context archive_note owner".split()
changes = st.one_of(
    st.tuples(st.sampled_from(TEXTS), words),
    st.tuples(st.sampled_from(TEXTS), st.sampled_from(TRICKY)),
    st.tuples(st.sampled_from(["state", "type"]), st.sampled_from(["current", "archived", "user"])),
    st.tuples(st.sampled_from(["created", "reviewed", "revived"]), st.sampled_from(["2026-05-26", "2026-11-30"])),
    st.tuples(st.sampled_from(["tags", "stack_tags"]), st.lists(words, min_size=1, max_size=3).map(tuple)),
    st.tuples(
        st.sampled_from(["seen", "confirmed", "disputed"]),
        st.lists(events, min_size=1, max_size=3, unique=True).map(tuple),
    ),
    st.tuples(st.just("pinned"), st.just(True)),
)


def rest(text: str, key: str) -> tuple[list[str], str]:
    """The head's lines without those of one field and the mapping that holds it, and the body."""
    parts = head.split(text)
    assert parts is not None
    kept: list[str] = []
    inside = -1
    for line in parts.lines:
        indent = len(line) - len(line.lstrip(" "))
        deeper = indent > inside or (indent == inside and line.lstrip().startswith("- "))
        inside = inside if inside >= 0 and line.strip() and deeper else -1
        inside = indent if re.match(rf"\s*{key}:", line) else inside
        kept += [] if inside >= 0 or line.strip() == "metadata:" else [line]
    return kept, parts.before + parts.open + parts.close + parts.body


def with_head(text: str) -> str:
    """text, or the same with an empty head where it has none."""
    end = "\r\n" if "\r\n" in text else "\n"
    bom = text[:1] if text.startswith("\ufeff") else ""
    return text if head.split(text) else f"{bom}---{end}---{end}{end}{text[len(bom) :]}"


def test_there_are_shapes_to_edit() -> None:
    assert len(READ) > 50


@given(st.sampled_from(READ), changes)
@example(DATA / "shapes/topic/04-hash-unquoted.md", ("description", "new words"))
@example(DATA / "shapes/topic/22-crlf.md", ("seen", (Event("2026-05-26", "3e5", "a: b"),)))
def test_an_edit_changes_the_lines_of_its_field_alone(path: Path, change: tuple[str, Field]) -> None:
    """Comments, order, quotes, unknown keys, line ends, BOM and final newline stay (design §3)."""
    key, value = change
    old = raw(path)
    new = headedit.with_fields(old, {key: value})
    assert rest(new, key) == rest(with_head(old), key)


@given(st.sampled_from(READ), changes)
def test_an_edit_reads_back_as_what_was_set(path: Path, change: tuple[str, Field]) -> None:
    key, value = change
    parts = head.split(headedit.with_fields(raw(path), {key: value}))
    assert parts is not None
    got = field_of(head.read(parts).tree, key)
    items = [event_of(item) if isinstance(item, dict) else item for item in got] if isinstance(got, list) else got
    assert items == {True: "true"}.get(value is True, list(value) if isinstance(value, tuple) else value)


@given(st.sampled_from([path for path in READ if path.name != "both.md"]), changes)
def test_a_field_taken_away_again_leaves_the_old_bytes(path: Path, change: tuple[str, Field]) -> None:
    """Also in a file that had no `metadata` (design §3)."""
    key, value = change
    old = headedit.with_fields(raw(path), {key: None})
    assume(head.split(old) is not None)
    assert headedit.with_fields(headedit.with_fields(old, {key: value}), {key: None}) == old


@given(st.sampled_from([path for path in READ if head.split(raw(path)) is None]), changes)
def test_a_head_given_to_a_plain_note_leaves_again_with_its_field(path: Path, change: tuple[str, Field]) -> None:
    """A file without a head gets a head of `metadata` alone, and only for as long as it is needed (design §3)."""
    key, value = change
    assume(key not in ("name", "description"))
    new = headedit.with_fields(raw(path), {key: value})
    assert headedit.with_fields(new, {key: None}) == raw(path)


@given(st.sampled_from(READ), st.lists(changes, min_size=1, max_size=4))
def test_several_edits_in_one_are_the_same_as_one_after_the_other(path: Path, several: list[tuple[str, Field]]) -> None:
    step = raw(path)
    for key, value in dict(several).items():
        step = headedit.with_fields(step, {key: value})
    assert headedit.with_fields(raw(path), dict(several)) == step


@pytest.mark.parametrize("path", READ, ids=[path.relative_to(DATA).as_posix() for path in READ])
def test_nothing_set_changes_nothing(path: Path) -> None:
    """A file not changed on purpose keeps its bytes (R002-05)."""
    text = raw(path)
    parts = head.split(text)
    assert headedit.with_fields(text, {"reviewed": None, "disputed": (), "pinned": False}) == text
    assert parts is None or head.join(parts) == text


# --- single edits -------------------------------------------------------------------------------------------------


def test_a_new_sighting_keeps_how_the_others_were_written() -> None:
    """Each sighting is added lines in a review (design §3)."""
    old = (
        "---\nname: x\nmetadata:\n  seen:\n  # first\n  - run: 'r1' # hand\n    on: 2026-05-26\n  state: current\n---\n"
    )
    new = headedit.with_fields(old, {"seen": (Event("2026-05-26", "r1"), Event("2026-05-27", "r2"))})
    added = "  - on: 2026-05-27\n    run: r2\n"
    assert new == old.replace("    on: 2026-05-26\n", "    on: 2026-05-26\n" + added)


def test_a_comment_behind_a_value_stays_when_the_value_changes() -> None:
    old = "---\nname: x\ntype: user # asked twice\n---\n"
    assert headedit.with_fields(old, {"type": "project"}) == old.replace("user", "project")


def test_a_description_cut_by_a_comment_is_replaced_whole() -> None:
    """What YAML takes for a comment was meant as text; it must not stay behind the new one (R001-01)."""
    old = "---\nname: x\ndescription: See #418 and more\n---\n"
    assert headedit.with_fields(old, {"description": "New #1"}) == '---\nname: x\ndescription: "New #1"\n---\n'


def test_metadata_in_one_line_is_unfolded_by_the_first_field_that_is_added() -> None:
    old = "---\nname: x\nmetadata: {type: user, tags: [a, b]}\n---\n"
    new = headedit.with_fields(old, {"state": "current"})
    block = "metadata:\n  type: user\n  tags:\n    - a\n    - b\n  state: current\n"
    assert new == f"---\nname: x\n{block}---\n"


def test_a_head_that_is_no_yaml_gets_our_lines_and_keeps_its_own() -> None:
    """A change appends our own lines to it and touches no other (design §3)."""
    old = "---\nname: x\ndescription: Tuesdays: never Fridays\n---\nBody\n"
    new = headedit.with_fields(old, {"state": "archived"})
    assert new == old.replace("---\nBody", "metadata:\n  state: archived\n---\nBody")


def test_an_own_head_taken_from_a_plain_note_goes_with_its_last_field() -> None:
    assert headedit.with_fields("---\nmetadata:\n  state: current\n---\n\n# Notes\n", {"state": None}) == "# Notes\n"


def test_a_head_of_the_person_stays_when_its_last_field_goes() -> None:
    assert headedit.with_fields("---\nstate: current\n---\n\nText\n", {"state": None}) == "---\n---\n\nText\n"


@pytest.mark.parametrize(
    ("old", "change"),
    [
        ("---\nmetadata: text\n---\n", {"state": "current"}),
        ("---\nmetadata: {a: {b: c}}\n---\n", {"state": "current"}),
        ("---\ntype: user\nmetadata:\n  type: user\n---\n", {"type": None}),
    ],
    ids=["metadata is a text", "metadata is deep", "the field stands twice"],
)
def test_an_edit_that_would_not_read_as_asked_is_refused(old: str, change: dict[str, Field]) -> None:
    with pytest.raises(HeadError) as refused:
        headedit.with_fields(old, change)
    assert refused.value.code == "head-not-editable"


# --- what is written reads the same everywhere --------------------------------------------------------------------

# The core schema of YAML 1.2.2, section 10.3.2: what a plain scalar must not look like to stay a string.
CORE = re.compile(
    r"null|Null|NULL|~|true|True|TRUE|false|False|FALSE|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)


def loaded(lines: list[str], loader: type[Any]) -> Any:
    return yaml.load("".join(lines), Loader=loader)  # noqa: S506  # BaseLoader and SafeLoader make no objects


@given(texts)
def test_a_written_text_is_the_same_text_in_yaml_1_1(value: str) -> None:
    """PyYAML types as YAML 1.1 does; every value comes back as the string it was (design §3)."""
    lines = headedit.render_field("title", value, 0)
    assert loaded(lines, yaml.SafeLoader) == {"title": value}
    assert loaded(lines, yaml.BaseLoader) == {"title": value}


@given(texts)
def test_a_written_text_is_the_same_text_in_yaml_1_2(value: str) -> None:
    written = headedit.scalar(value)
    assert written.startswith('"') or not CORE.fullmatch(written)
    assert written.startswith('"') or "\u0085" not in written


@given(st.lists(texts, min_size=1, max_size=4))
def test_written_lists_and_events_read_the_same_in_yaml(values: list[str]) -> None:
    event = Event("2026-05-26", values[0] or "r", values[-1])
    lines = [*headedit.render_field("tags", values, 0), *headedit.render_field("seen", (event,), 0)]
    tree = loaded(lines, yaml.BaseLoader)
    assert tree["tags"] == values
    assert [Event(x["on"], x["run"], x.get("evidence", "")) for x in tree["seen"]] == [event]


@given(st.lists(texts, min_size=1, max_size=4))
def test_written_heads_are_read_by_both_of_our_readers(values: list[str]) -> None:
    lines = headedit.render_field("context", values[0], 0) + headedit.render_field("tags", values, 0)
    assert head.plain_tree([line[:-1] for line in lines]) == {"context": values[0], "tags": values}
    assert yamlhead.load("".join(lines), 1) == {"context": values[0], "tags": values}


def test_days_are_written_bare_and_run_ids_that_look_like_numbers_in_quotes() -> None:
    """Dates are read as text; a run id 3e5 would be a number to YAML (design §3)."""
    lines = headedit.render_field("seen", (Event("2026-05-26", "3e5"),), 2)
    assert lines == ["  seen:\n", "    - on: 2026-05-26\n", '      run: "3e5"\n']


# --- both readers -------------------------------------------------------------------------------------------------

scalars = st.one_of(
    st.sampled_from(TRICKY),
    st.sampled_from(
        """[a, b]~[]~[a,]~[ a , 1.10 ]~'it' 's'~'o''k'~"a\\u00e9"~"\\x41"~'a' # c~a # c~{}~| """.split("~")
    ),
    st.text("ab:#-'\"[],{} \\", max_size=6),
)
keys = st.sampled_from(["name", "metadata", "tags", "seen", "on", "k-1", "a.b", "k ", '"q"', "ключ", "<<"])
pads = st.sampled_from(["", "", "", "  ", "  ", "    ", " "])
head_lines = st.one_of(
    st.builds("{}{}: {}".format, pads, keys, scalars),
    st.builds("{}{}:".format, pads, keys),
    st.builds("{}- {}".format, pads, scalars),
    st.builds("{}- {}: {}".format, pads, keys, scalars),
    st.sampled_from(["", "# comment", "  # comment", "  ", "-", "  -"]),
)


def strictly(lines: list[str]) -> object:
    """What the strict reader makes of the lines: a tree, or the code it refuses them with."""
    try:
        return yamlhead.load("\n".join(lines) + "\n", 1)
    except HeadError as error:
        return error.code


@given(st.lists(head_lines, min_size=1, max_size=7))
@example(["name: null", "tags: [ a , 1.10 ]", "seen:", "  - on: 2026-05-26 # day", "    run: 'r1'"])
def test_the_plain_reader_agrees_with_yaml_on_all_it_takes(lines: list[str]) -> None:
    """Two readers, one tree (design §3)."""
    assert head.plain_tree(lines) in (None, strictly(lines))


@given(st.lists(head_lines, max_size=7))
def test_a_head_is_read_or_refused_with_a_code_and_never_worse(lines: list[str]) -> None:
    reading = lessonfile.read("x.md", "\n".join(["---", *lines, "---", "", "Rule."]))
    refused = reading.reason if isinstance(reading, lessonfile.Quarantined) else "yaml"
    assert refused.startswith(("yaml", "frontmatter-not-mapping", "bad-type:", "bad-number"))


@given(st.text(st.sampled_from("-. \t\r\n\ufeffa:"), max_size=30))
def test_a_split_text_joins_to_itself(text: str) -> None:
    """Joining the parts gives back text, byte for byte (R002-05)."""
    closed = f"---\n{text}\n---\n"
    parts = head.split(closed)
    assert parts is not None
    assert head.join(parts) == closed


def test_lines_are_counted_in_the_file() -> None:
    parts = head.split("\n\n---\nname: x\n---\n")
    assert parts is not None
    assert parts.first_line == 4


def test_a_name_cut_by_yaml_is_read_whole_and_reported() -> None:
    parts = head.split("---\nname: x\ndescription: See #418 in titles\n---\n")
    assert parts is not None
    read = head.read(parts)
    assert read.tree["description"] == "See #418 in titles"
    assert [(fault.code, fault.line) for fault in read.faults] == [("value-cut-by-comment", 3)]
