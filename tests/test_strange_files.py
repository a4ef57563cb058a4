"""Whatever lies in the folder, the memory is read: each file is served or quarantined with a reason (design §3)."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import guard, lessonfile, poison
from tests.homes import Model, lesson_text

GOOD = lesson_text("good", "Read the whole function first.")
words = st.text(st.characters(codec="utf-8"), max_size=12)
values = st.one_of(
    words,
    st.sampled_from(
        ["&a x", "*a", "!!binary x", "<<: *a", "[a, [b", "{a: {b: c}}", "'", '"', "|", ">-", "# x", ": ", "\t"]
    ),
    st.sampled_from(["~", "yes", ".nan", "1e999", "2026-05-26", "- a", "? a", "%TAG", "---", "...", "\u2028", "\x85"]),
)
keys = st.sampled_from(
    ["name", "description", "metadata", "type", "  state", "  seen", "    - on", "<<", "x", "", "\ufeff"]
)
lines = st.builds(
    lambda key, value, end: f"{key}: {value}{end}", keys, values, st.sampled_from(["\n", "\r\n", "\r", ""])
)
heads = st.builds(lambda rows, close, body: "---\n" + "".join(rows) + close + body, st.lists(lines, max_size=6),
                  st.sampled_from(["---\n", "...\n", "\n---\n", " ---\n", ""]), words)  # fmt: skip
mutations = st.builds(
    lambda text, at, new: text[: at % len(text)] + new + text[at % len(text) + len(new) :],
    st.just(GOOD), st.integers(0, 1 << 16), words,
)  # fmt: skip
contents = st.one_of(st.binary(max_size=200), heads.map(lambda text: text.encode("utf-8", "replace")),
                     mutations.map(lambda text: text.encode("utf-8", "replace")))  # fmt: skip


@given(contents)
def test_any_file_is_served_or_quarantined_and_the_others_are_served(content: bytes) -> None:
    reading = lessonfile.read("odd.md", content)
    if isinstance(reading, lessonfile.Quarantined):
        assert re.fullmatch(r"[a-z0-9:-]+", reading.reason)
        assert reading.line >= 1
    model = Model("project", {"good.md": GOOD})
    model.files["odd.md"] = content.decode("utf-8", "replace")
    memory = model.memory
    assert "good" in memory.lessons
    assert ("odd" in memory.lessons) != ("odd.md" in {q.path for q in memory.quarantined})


@given(contents)
def test_any_file_is_judged_by_every_guard(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    assert all(row.line <= text.count("\n") + 1 for row in poison.every(text))
    assert all(row.line <= text.count("\n") + 1 for row in guard.find_secrets(text))
