"""What must hold of each reader for any bytes. A child of LearnloopError is an answer; everything else is a crash."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from learnloop_md import guard, head, index, jsonedit, lessonfile, neutral, notebook, poison, transcript, yamlhead
from learnloop_md.errors import LearnloopError
from learnloop_md.lessonfile import Quarantined
from learnloop_md.tree import HeadError, Tree


def of_lessonfile(data: bytes) -> None:
    """Read or quarantined; a field that is set reads back, and taken out again the file is as it was."""
    found = lessonfile.read("a.md", data)
    if isinstance(found, Quarantined):
        assert found.reason
        assert found.line >= 1
        return
    text = data.decode("utf-8")
    assert "".join(lessonfile.body_parts(text).values()) == text
    try:
        changed = lessonfile.with_fields(text, {"reviewed": "2026-01-02"})
    except HeadError:
        return
    again = lessonfile.read("a.md", changed)
    assert not isinstance(again, Quarantined), again
    assert again.lesson.reviewed == "2026-01-02"
    assert (again.lesson.rule, again.lesson.why, again.lesson.how) == (
        found.lesson.rule, found.lesson.why, found.lesson.how,
    )  # fmt: skip


def of_head(data: bytes) -> None:
    """A split text joins to itself; the head is read or refused with a code."""
    text = data.decode("utf-8", "surrogateescape")
    parts = head.split(text)
    if parts is not None:
        assert head.join(parts) == text
        head.read(parts)


def of_yamlhead(data: bytes) -> None:
    """Texts, lists and mappings come of it, or a refusal with a line; no other reader sees other fields."""
    text = data.decode("utf-8", "replace")
    tree = yamlhead.load(text + "\n", 1)
    assert _is_tree(tree)
    if (plain := head.plain_tree(text.split("\n"))) is not None:
        assert plain == tree


def _is_tree(value: Tree) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_tree(inner) for key, inner in value.items())
    return all(map(_is_tree, value)) if isinstance(value, list) else isinstance(value, str)


def of_index(data: bytes) -> None:
    """Any document has entries; a second step changes nothing."""
    text = lessonfile.decode("MEMORY.md", data)
    if isinstance(text, str):
        assert all(entry.raw in text for entry in index.entries(text))
        once = index.in_step(text, {}, {}).text
        assert index.in_step(once, {}, {}).text == once


def of_notebook(data: bytes) -> None:
    """Any document has entries; a second step changes nothing."""
    text = lessonfile.decode("memory.md", data)
    if isinstance(text, str):
        assert all(entry.raw in text for entry in notebook.entries(text))
        once = notebook.in_step(text, {}, {})
        assert notebook.in_step(once, {}, {}) == once


def of_jsonedit(data: bytes) -> None:
    """It reads what json reads, or refuses; a key that is put in comes out to the last byte."""
    text = data.decode("utf-8", "surrogateescape")
    value = jsonedit.read(text)
    filled = bool(text.strip(" \t\r\n\ufeff"))  # what was blank is given up for an object
    if filled:
        assert repr(value) == repr(json.loads(text.removeprefix("\ufeff")))
    if isinstance(value, dict) and "new key" not in value:
        changed = jsonedit.set_key(text, ["new key"], [1])
        assert jsonedit.read(changed) == {**value, "new key": [1]} or "nan" in repr(value)
        if filled:
            assert jsonedit.remove(changed, ["new key"]) == text


def of_transcript(data: bytes) -> None:
    """Any file gives turns and runs, or is no transcript."""
    with tempfile.NamedTemporaryFile(dir=_quick()) as file:
        file.write(data)
        file.flush()
        for row in transcript.read(Path(file.name)):
            assert row.line >= 1
            if isinstance(row, transcript.Ran):
                transcript.captures(row)


def _quick() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # a file in memory, where there is one


def of_guards(data: bytes) -> None:
    """Any text is judged, with places inside it; what is made neutral twice is made so once."""
    text = data.decode("utf-8", "surrogateescape")
    rows = text.split("\n")
    for secret in guard.find_secrets(text):
        assert 1 <= secret.line <= len(rows)
        assert 1 <= secret.column <= len(rows[secret.line - 1]) + 1
    for found in poison.every(text):
        assert 1 <= found.line <= len(rows)
    once = neutral.neutral(text)
    assert neutral.neutral(once) == once


TARGETS: dict[str, Callable[[bytes], None]] = {
    name.removeprefix("of_"): target for name, target in globals().items() if name.startswith("of_")
}


def run(name: str, data: bytes) -> None:
    """Give one input to a reader. Raises whatever is no answer of ours."""
    with suppress(LearnloopError, HeadError):
        TARGETS[name](data)
