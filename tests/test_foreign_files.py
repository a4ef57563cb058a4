"""Files that people and other programs keep and that commands add to: never in two encodings (docs/commands.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import CopyOf, Run, git
from tests.homes import SKILL, STAGE, filled_copy, new_repository, work_tree

# The kind of memory ("" for none), a file of others, its text, the command that adds to it.
EDITS = [
    ("project", "CLAUDE.md", "# Führer\r\n\r\n- eins\r\n", ("codify", STAGE, "--into", "CLAUDE.md")),
    ("project", "AGENTS.md", "# Führer\n", ("codify", STAGE, "--into", "AGENTS.md")),
    ("project", "learnings.md", "# Führer\n", ("promote", STAGE)),
    ("project", "AGENTS.md", "# Führer\n", ("export", "agents")),
    ("skill", "skill/SKILL.md", SKILL + "\nFührer.\n", ("codify", STAGE)),
    ("skill", "skill/references/sql.md", "# Führer\n", ("codify", STAGE, "--into", "references/sql.md")),
    ("skill", "skill/learnings.md", "# Führer\n", ("export", "bundle")),
    ("project", ".claude/settings.json", '{"a": "Führer"}\n', ("install", "--yes")),
    ("", ".claude/settings.local.json", '{"a": "Führer"}\n', ("init", "--yes")),
    ("", "skill/SKILL.md", SKILL + "\nFührer.\n", ("init", "--skill", "skill")),
]


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "latin-1", "cp1252"])
@pytest.mark.parametrize(("kind", "name", "text", "words"), EDITS, ids=lambda value: str(value)[:24])
def test_a_file_in_another_encoding_is_refused_and_nothing_changes(
    kind: str, name: str, text: str, words: tuple[str, ...], coding: str, tmp_path: Path, copy_of: CopyOf,
    learnloop: Run,
) -> None:  # fmt: skip
    """What is added is UTF-8: a file in another encoding is left as it is, with one line that says so."""
    root = filled_copy(kind, copy_of, learnloop).root if kind else new_repository(tmp_path / "code")
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode(coding))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "By hand")
    before, head = work_tree(root), git(root, "rev-parse", "HEAD")
    cwd = root / "skill" if kind == "skill" else root
    done = learnloop(*words, cwd=cwd)
    assert done.code in (2, 4), done.out
    assert "UTF-8" in done.err or coding == "utf-16-le"  # which may be read as UTF-8 that is no JSON, or no head
    assert len(done.err.splitlines()) == 1
    assert (work_tree(root), git(root, "rev-parse", "HEAD")) == (before, head)


def test_a_block_can_be_taken_out_of_a_file_in_any_encoding(copy_of: CopyOf, learnloop: Run) -> None:
    """It was UTF-8 when the block came in."""
    file = filled_copy("project", copy_of, learnloop).root / "AGENTS.md"
    file.write_text("# Rules\n")
    assert learnloop("export", "agents", cwd=file.parent).code == 0
    file.write_bytes(file.read_bytes().replace(b"# Rules", "# Führer".encode("latin-1")))
    assert learnloop("export", "agents", "--remove", cwd=file.parent).code == 0
    assert file.read_bytes() == "# Führer\n".encode("latin-1")


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le"])
def test_attributes_that_no_git_can_read_are_refused(coding: str, tmp_path: Path, learnloop: Run) -> None:
    root = new_repository(tmp_path / "code")
    (root / ".gitattributes").write_bytes("*.md text\n".encode(coding))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "By hand")
    before = work_tree(root)
    done = learnloop("init", "--yes", cwd=root)
    assert (done.code, work_tree(root)) == (2, before)
    assert "UTF-8" in done.err


def test_patterns_are_bytes_and_keep_theirs(tmp_path: Path, learnloop: Run) -> None:
    """A name on disk may be in any encoding, and git compares its bytes."""
    root = new_repository(tmp_path / "code")
    old = "Führer.md text\n".encode("latin-1")
    (root / ".gitattributes").write_bytes(old)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "By hand")
    assert learnloop("init", "--yes", cwd=root).code == 0
    assert (root / ".gitattributes").read_bytes().startswith(old)
