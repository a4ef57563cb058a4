"""Lesson files: what is read, what is quarantined, and what an edit of the body leaves alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import lessonfile
from learnloop_md.lesson import Event, Lesson
from learnloop_md.lessonfile import Quarantined, Reading
from tests import shapes
from tests.conftest import DATA

FORM = """---
name: verify-existing-error-handling
description: Check that error handling is missing before suggesting it
metadata:
  type: feedback
  state: candidate
  created: 2026-05-26
  kind: correction
  tags:
    - false-positive
  seen:
    - on: 2026-05-26
      run: 3f2a81c0
      evidence: review of PR 41
---

Verify that error handling does not already exist before suggesting it.

**Why:** "Add error handling" was suggested on a line that already had try/catch.

**How to apply:** Read the enclosing block before commenting.
"""


def read(text: str) -> Lesson:
    outcome = lessonfile.read("x.md", text.encode())
    assert isinstance(outcome, Reading), outcome
    return outcome.lesson


def test_a_new_file_has_the_form() -> None:
    """R001-01, R001-03, design §3: name, description, metadata.type; rule, Why, How to apply."""
    lesson = read(FORM)
    assert lessonfile.render(lesson._replace(slug=lesson.name)) == FORM


def test_a_file_in_the_form_is_read_whole() -> None:
    lesson = read(FORM)
    assert (lesson.type, lesson.state, lesson.kind, lesson.tags) == (
        "feedback",
        "candidate",
        "correction",
        ("false-positive",),
    )
    assert lesson.seen == (Event("2026-05-26", "3f2a81c0", "review of PR 41"),)
    assert lesson.rule == "Verify that error handling does not already exist before suggesting it."
    assert (lesson.why[:5], lesson.how[:4]) == ('"Add ', "Read")


@pytest.mark.parametrize("path", shapes.TOPICS + shapes.LESSONS, ids=shapes.name)
def test_every_shape_is_read_or_quarantined_with_a_reason(path: Path) -> None:
    """Design §3: shapes of real memories; only the broken ones are quarantined."""
    outcome = lessonfile.read(path.name, path.read_bytes())
    expected = {"29-empty.md": "empty", "latin1.md": "not-utf8"}.get(path.name, "")
    assert (outcome.reason if isinstance(outcome, Quarantined) else "") == expected


BYTES: list[tuple[str, bytes, str]] = [
    ("empty", b"", "empty"),
    ("blank", b" \n\t\n", "empty"),
    ("nul in the body", b"---\nname: a\n---\nx\0y\n", "nul-byte"),
    ("nul in the head", b"---\nname: a\0\n---\nx\n", "nul-byte"),
    ("latin-1", "---\nname: é\n---\n".encode("latin-1"), "not-utf8"),
    ("truncated", "---\nname: é\n---\né".encode()[:-1], "not-utf8"),
    ("utf-16 le", "\ufeff---\nname: a\n---\n".encode("utf-16-le"), "not-utf8"),
    ("utf-16 be", "\ufeff---\nname: a\n---\n".encode("utf-16-be"), "not-utf8"),
    ("overlong", b"---\nname: \xc0\xaf\n---\n", "not-utf8"),
    ("surrogate", b"x\xed\xa0\x80y\n", "not-utf8"),
    ("bell", b"---\nname: a\n---\n\x07\n", "control-char"),
    ("escape", b"x\x1b[31mred\n", "control-char"),
    ("C1", "x\x9by\n".encode(), "control-char"),
    ("lone CR", b"one\rtwo\n", "control-char"),
    ("1 MiB and one", b"a" * ((1 << 20) + 1), "too-large"),
    ("conflict", b"---\nname: a\n---\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n", "conflict-markers"),
    ("name is a list", b"---\nname: [a, b]\n---\nx\n", "bad-type:name"),
    ("not a number", b"---\nname: a\nconfidence: .nan\n---\nx\n", "bad-number"),
    ("seen is a text", b"---\nmetadata:\n  seen: twice\n---\nx\n", "bad-type:seen"),
]


@pytest.mark.parametrize(("data", "reason"), [row[1:] for row in BYTES], ids=[row[0] for row in BYTES])
def test_bytes_we_do_not_read_have_their_reason(data: bytes, reason: str) -> None:
    """Design §3: quarantined, judged on the raw bytes."""
    outcome = lessonfile.read("x.md", data)
    assert isinstance(outcome, Quarantined)
    assert outcome.reason == reason


@pytest.mark.parametrize(
    "body", ["a\fb\vc\x85d\u2028e\u2029f", "+++\nname = 1\n+++\n", "    <<<<<<< HEAD\n", "```\n<<<<<<< a\n```\n"]
)
def test_odd_but_harmless_texts_are_read(body: str) -> None:
    assert read(f"---\nname: a\n---\n{body}").rule == body.strip()


PARTS = st.sampled_from(["rule", "why", "how"])


@given(st.sampled_from(shapes.readable()), PARTS, st.sampled_from(["One line.", "Two\nlines.", "`code` and — dash"]))
def test_changing_a_part_leaves_head_and_other_parts(path: Path, part: str, value: str) -> None:
    """R002-05."""
    text = path.read_bytes().decode()
    old, new = read(text), read(lessonfile.with_part(text, part, value))
    assert getattr(new, part) == value
    assert [getattr(new, other) for other in ("rule", "why", "how") if other != part] == [
        getattr(old, other) for other in ("rule", "why", "how") if other != part
    ]
    assert new.text.partition("\n---")[0] == old.text.partition("\n---")[0] or not old.has_head


def test_labels_in_a_fence_are_text() -> None:
    """design §3: structure is markdown's, not lines'."""
    assert read("Rule.\n\n```\n**Why:** not this\n```\n\n**Why:** this\n").why == "this"


@pytest.mark.parametrize("label", ["**Why:** x", "**Why**: x", "Why: x", "**why:** x"])
def test_the_why_is_found_in_its_common_forms(label: str) -> None:
    """R001-03."""
    assert read(f"Rule.\n\n{label}\n").why == "x"


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_quarantined(data: bytes) -> None:
    outcome = lessonfile.read("x.md", data)
    assert isinstance(outcome, (Reading, Quarantined))


def test_an_ordinary_file_needs_no_yaml() -> None:
    """Design §11: the reader of ordinary files is in the standard library's company only."""
    code = f"import sys; from learnloop_md import lessonfile; lessonfile.read('x.md', {FORM.encode()!r}); print('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_bad_heads_are_quarantined_with_their_reason() -> None:
    rows = json.loads((DATA / "bad-heads.json").read_text("utf-8"))
    outcomes = [lessonfile.read("x.md", row["text"].encode()) for row in rows]
    assert [row["code"] for row in rows] == [o.reason for o in outcomes if isinstance(o, Quarantined)]
