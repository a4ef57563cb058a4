"""Lesson files: every shape is read or quarantined with its code, and one part changes at a time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import head, lessonfile
from learnloop_md.lesson import Event, Lesson
from learnloop_md.lessonfile import Quarantined, Reading
from tests.conftest import DATA, Run
from tests.homes import make_home

FILES = sorted(DATA.glob("*/**/*.md"))
HURT = {"29-empty.md": "empty", "latin1.md": "not-utf8"}
BAD = json.loads((DATA / "bad-heads.json").read_text("utf-8"))
ODD = json.loads((DATA / "odd-heads.json").read_text("utf-8"))
CANONICAL = """---
name: verify-existing-error-handling
description: Check that error handling is missing before suggesting it
metadata:
  type: feedback
  state: candidate
  created: 2026-05-26
  kind: correction
  tags:
    - false-positive
    - error-handling
  seen:
    - on: 2026-05-26
      run: 3f2a81c0
      evidence: review of PR 41
---

Verify that error handling does not already exist before suggesting it.

**Why:** "Add error handling" was suggested on a line that already had try/catch.

**How to apply:** Read the enclosing block before commenting.
"""


def lesson_of(text: str | bytes) -> Lesson:
    reading = lessonfile.read("x.md", text)
    assert isinstance(reading, Reading), reading
    return reading.lesson


# --- reading ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=[path.relative_to(DATA).as_posix() for path in FILES])
def test_every_shape_is_read_or_quarantined_with_its_code(path: Path) -> None:
    """All real shapes are read, none is tidied (design §3)."""
    data = path.read_bytes()
    reading = lessonfile.read(path.name, data)
    assert (reading.reason if isinstance(reading, Quarantined) else "") == HURT.get(path.name, "")
    assert isinstance(reading, Quarantined) or reading.lesson.text.encode() == data


@pytest.mark.parametrize("case", BAD, ids=[f"{case['reason']}: {case['name']}" for case in BAD])
def test_what_cannot_be_trusted_is_quarantined(case: dict[str, Any]) -> None:
    """With the reason and the line that shows it (design §3)."""
    data = bytes.fromhex(case["hex"]) if "hex" in case else case["text"].encode()
    reading = lessonfile.read("x.md", data)
    assert isinstance(reading, Quarantined)
    assert (reading.path, reading.reason, reading.line) == ("x.md", case["reason"], case["line"])


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("project", 'description: "red \\e[31m text"'),
        ("skill", 'title: "\\x9d0;own\\a"'),
        ("skill", 'tags: ["a\\0b"]'),
    ],
)
def test_a_control_character_that_yaml_decodes_never_gets_into_the_document(
    tmp_path: Path, learnloop: Run, kind: str, field: str
) -> None:
    """It is escaped where it is shown, so `sync` writes no document that it would refuse to read (design §3)."""
    home = make_home(kind, tmp_path / "repo", learnloop)
    home.note("Stage files by name.")
    home.edit(home.file("stage-files-by-name"), "description: Stage files by name", field)
    home.sync()
    assert lessonfile.decode(home.document.name, home.document.read_bytes()) == home.text
    assert "conflict" not in home.run("check").out
    assert home.run("note", "Ask before renaming names.").code == 0


@pytest.mark.parametrize("case", ODD, ids=[case["name"] for case in ODD])
def test_what_people_write_is_read(case: dict[str, Any]) -> None:
    """Heads that are no YAML in a common way are read leniently and reported (design §3)."""
    reading = lessonfile.read("x.md", case["text"].encode())
    assert isinstance(reading, Reading), reading
    said = json.loads(json.dumps({key: getattr(reading.lesson, key) for key in case["fields"]}))
    assert (said, [fault.code for fault in reading.faults]) == (case["fields"], case["faults"])


def test_the_canonical_form_is_read_whole() -> None:
    """The example of design §3 (R001-01, R001-03)."""
    got = lesson_of(CANONICAL)
    assert got == Lesson(
        slug="x",
        path="x.md",
        text=CANONICAL,
        name="verify-existing-error-handling",
        description="Check that error handling is missing before suggesting it",
        type="feedback",
        state="candidate",
        stated=True,
        created="2026-05-26",
        kind="correction",
        tags=("false-positive", "error-handling"),
        seen=(Event("2026-05-26", "3f2a81c0", "review of PR 41"),),
        rule="Verify that error handling does not already exist before suggesting it.",
        why='"Add error handling" was suggested on a line that already had try/catch.',
        how="Read the enclosing block before commenting.",
    )


RECORD = """---
name: batch
metadata:
  task_type: import
  approach: batches
  outcome: partial
  what_failed: One by one.
  edge_cases:
    - Empty files, as from the scanner.
  stack_tags: [node-20, react-18]
  human_confirmed: true
---

Import in batches.
"""


def test_the_record_of_a_run_is_read() -> None:
    """What recall ranks and tells besides (R000-30, R000-35, R000-37, R000-51)."""
    got = lesson_of(RECORD)
    assert (got.task_type, got.approach, got.outcome, got.what_failed) == (
        "import",
        "batches",
        "partial",
        "One by one.",
    )
    assert got.edge_cases == ("Empty files, as from the scanner.",)
    assert got.stack_tags == ("node-20", "react-18")
    assert got.human_confirmed


def test_a_new_file_has_the_canonical_form() -> None:
    """What is written reads back and is written the same again (R002-05)."""
    assert lessonfile.render(lesson_of(CANONICAL)) == CANONICAL


def test_the_slug_is_the_stem_of_the_path() -> None:
    reading = lessonfile.read("sub/对账规则.md", "Rule.\n")
    assert isinstance(reading, Reading)
    assert (reading.lesson.slug, reading.lesson.is_note) == ("对账规则", True)


def test_claude_s_stamps_are_read() -> None:
    text = (DATA / "shapes" / "topic" / "01-nested-metadata-stamped.md").read_text("utf-8")
    got = lesson_of(text)
    assert (got.type, got.session[:8], got.how) == ("feedback", "00000000", "any test that touches `pump/`.")


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_quarantined(data: bytes) -> None:
    reading = lessonfile.read("x.md", b"---\n" + data + b"\n---\n" + data)
    assert isinstance(reading, (Reading, Quarantined))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---\nname: x\na: " + "[" * 100_000 + "]" * 100_000 + "\n---\n", "yaml-too-deep"),
        ("---\nname: x\n" + "".join(" " * n + f"k{n}:\n" for n in range(1_300)) + "---\n", "yaml-too-deep"),
        ("---\nname: x\ndescription: a" + " " * 900_000 + "#\n---\n", ""),
        ('---\nname: x\ndescription: "a' + " " * 900_000 + "\n---\n", ""),
        ("---\nname: x\ndescription: " + "a" * 900_000 + "\n---\n", ""),
        ("---\nname: x\n" + "".join(f"k{n}: v\n" for n in range(60_000)) + "---\n", ""),
        ("---\nname: a: x\n" + "".join(f"k{n}: v\n" for n in range(50_000)) + "---\n", "yaml-syntax"),
        ("---\nname: x\n" + "".join(f'k{n}: "v\n' for n in range(30_000)) + "---\n", "yaml-syntax"),
        ("---\nname: x\n---\n" + "**Why:** \n" * 90_000, ""),
        ("`" * 1_000_000, ""),
        (">" * 1_000_000, ""),
        ("[" * 1_000_000, ""),
        ("a" * ((1 << 20) + 1), "too-large"),
    ],
    ids="deep-flow deep-block gap open long-line keys no-yaml quotes whys ticks nested brackets large".split(),
)
def test_hostile_text_costs_little_time(text: str, reason: str) -> None:
    start = time.process_time()
    reading = lessonfile.read("x.md", text.encode())
    assert (reading.reason if isinstance(reading, Quarantined) else "") == reason
    assert time.process_time() - start < 2


def test_a_canonical_file_is_read_without_yaml_in_less_than_a_millisecond() -> None:
    """Commands that agents call stay near the cost of a hook (design §11)."""
    program = (
        "import sys, time\n"
        "from learnloop_md import head, lessonfile\n"
        "data = sys.stdin.buffer.read()\n"
        "start = time.process_time()\n"
        "for _ in range(500):\n"
        "    lessonfile.read('x.md', data)\n"
        "    for kept in (lessonfile._read, head._read): kept.cache_clear()\n"
        "print((time.process_time() - start) / 500 < 0.001, 'yaml' in sys.modules, 'frontmatter' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], input=CANONICAL.encode(), capture_output=True, check=True)
    assert done.stdout.split() == [b"True", b"False", b"False"]


# --- the body -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("Rule.\n\n**Why:** w\n\n**How to apply:** h\n", ("Rule.", "w", "h")),
        ("Rule.\n**Why:** w\n**How to apply:** h\n", ("Rule.", "w", "h")),
        ("Rule.\n\n**How to apply**: h\n\n**Why**: w\n", ("Rule.", "w", "h")),
        ("Rule.\n\nWhy: w\nmore\n\nNext pass: h\n", ("Rule.", "w\nmore", "h")),
        ("Rule.\r\n\r\n**Why:** w\r\n", ("Rule.", "w", "")),
        ("**Why:** w\n", ("", "w", "")),
        ("Rule.\n\n```\n**Why:** code\n```\n", ("Rule.\n\n```\n**Why:** code\n```", "", "")),
        ("Rule.\n\n**Why:** w\n\nWhy: again\n", ("Rule.", "w\n\nWhy: again", "")),
        ("---\nRule.\n---\n", ("---\nRule.\n---", "", "")),
        ("Whyever: not\n", ("Whyever: not", "", "")),
        ("", ("", "", "")),
    ],
)
def test_a_body_falls_into_rule_why_and_how(body: str, parts: tuple[str, str, str]) -> None:
    """The rule first, then Why and How to apply (R001-03)."""
    assert lessonfile.parse_body(body)[:3] == parts


READ = [path for path in FILES if path.name not in HURT]
texts = st.text(st.sampled_from("ab .:*#\n"), max_size=12).map(str.strip).filter(lambda x: x and not x.startswith("#"))


@given(st.sampled_from(READ), st.sampled_from(["rule", "why", "how"]), texts)
def test_a_part_of_the_body_changes_alone(path: Path, part: str, value: str) -> None:
    """The head and the other two parts stay (design §3)."""
    old = path.read_bytes().decode()
    new = lessonfile.with_part(old, part, value)
    before, after = lesson_of(old), lesson_of(new)
    assert {"rule": after.rule, "why": after.why, "how": after.how} == {
        "rule": before.rule,
        "why": before.why,
        "how": before.how,
        part: value,
    }
    parts, old_parts = head.split(new), head.split(old)
    assert (parts and parts._replace(body="")) == (old_parts and old_parts._replace(body=""))


def test_a_changed_part_leaves_every_other_line() -> None:
    new = lessonfile.with_part(CANONICAL, "why", "It was wrong.")
    line = '"Add error handling" was suggested on a line that already had try/catch.'
    assert new == CANONICAL.replace(line, "It was wrong.")


def test_a_part_taken_away_takes_its_label_along() -> None:
    new = lessonfile.with_part(CANONICAL, "how", "")
    assert new == CANONICAL.replace("\n\n**How to apply:** Read the enclosing block before commenting.", "")


def test_a_why_is_put_in_front_of_how_to_apply() -> None:
    text = "---\r\nname: x\r\n---\r\n\r\nRule.\r\n\r\n**How to apply:** h\r\n"
    assert lessonfile.with_part(text, "why", "w") == text.replace("\r\n\r\n**How", "\r\n\r\n**Why:** w\r\n\r\n**How")


def test_a_part_is_added_to_a_file_without_a_final_newline() -> None:
    """Appending must not glue to the last line."""
    assert lessonfile.with_part("---\nname: x\n---\nRule.", "why", "w") == "---\nname: x\n---\nRule.\n\n**Why:** w\n"


def test_a_rule_is_put_in_front_of_the_labels() -> None:
    assert lessonfile.with_part("---\nname: x\n---\n\n**Why:** w\n", "rule", "R.") == (
        "---\nname: x\n---\n\nR.\n\n**Why:** w\n"
    )


def test_a_description_is_the_first_sentence_of_the_rule() -> None:
    assert lessonfile.describe("Read the\nblock first. Then comment.") == "Read the block first"
    assert len(lessonfile.describe("word " * 100)) <= 120
