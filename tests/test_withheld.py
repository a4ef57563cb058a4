"""A path that holds a secret is never told and never stored: files of a memory, sources, sides of a merge (R004-20)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import CopyOf, Run, git
from tests.homes import Home, filled_copy, lesson_text

TOKEN = "".join(("ghp_", "Zk3vQ9xT7mL2pR8wY5nB4cD6fG1hJ0aSqW2e"))


@pytest.fixture(params=["project", "skill"])
def home(request: pytest.FixtureRequest, copy_of: CopyOf, learnloop: Run) -> Home:
    return filled_copy(request.param, copy_of, learnloop)


def _stored(home: Home) -> list[str]:
    """The tool's own notes that hold the name: beside the queue, and below the person's home."""
    roots = [home.root / ".git" / "learnloop", Path(os.environ["HOME"])]
    files = [path for root in roots for path in root.rglob("*") if path.is_file()]
    return [path.name for path in files if TOKEN.encode() in path.read_bytes() or TOKEN in path.name]


LOOKS = [
    ("sync",), ("status",), ("check",), ("show", "--all"), ("verify",), ("verify", "--witness"), ("doctor",), ("log",),
    ("report",), ("report", "--html", "-"), ("stats",), ("review", "--list"), ("cleanup",),
    ("note", "Quote paths."), ("diff", "--worktree"),
    ("export", "jsonl", "--all"),
]  # fmt: skip


@pytest.mark.parametrize("committed", [False, True])
def test_a_lesson_file_whose_name_is_a_secret_is_named_nowhere(home: Home, committed: bool) -> None:
    """docs/security.md: nothing of it goes to the output, a log, a temporary file."""
    home.file(TOKEN).write_text(lesson_text("x", "Keep it short."))
    if committed:
        home.commit_all()
    for words in LOOKS:
        for more in ((), ("--json",)):
            done = home.run(*words, *more)
            assert TOKEN not in done.out + done.err, words
    assert _stored(home) == []


def test_a_file_with_such_a_name_that_went_stops_no_command(home: Home) -> None:
    """The commit that tells of it would name it: it is the person's."""
    home.file(TOKEN).write_text(lesson_text("x", "Keep it short."))
    home.commit_all()
    home.sync()
    home.file(TOKEN).unlink()
    for words in LOOKS:
        done = home.run(*words)
        assert TOKEN not in done.out + done.err, words
        assert "not absorbed" not in done.err
    home.note("Never amend pushed commits.")
    (left,) = git(home.root, "status", "--porcelain").splitlines()
    assert left.split()[0] == "D"
    assert _stored(home) == []


def test_a_file_that_is_withheld_is_known_to_the_hooks_all_the_same(home: Home) -> None:
    """Else each session would absorb it anew."""
    from learnloop_md import brief, place

    home.file(TOKEN).write_text(lesson_text("x", "Keep it short."))
    where = place.find(home.folder, str(home.folder))
    assert brief.is_stale(where, brief.load(where))
    home.sync()
    assert not brief.is_stale(where, brief.load(where))


_ENTRY = "## [LRN-20260526-AAA] best_practice\n\n### Summary\nQuote every path.\n"
SOURCES = {
    f"{TOKEN}.jsonl": json.dumps({"key": "k", "insight": "Quote every path."}) + "\n",
    f"{TOKEN}.md": "## Candidate\n\n### 2026-05-26 - One\n- Lesson: Quote every path.\n",
    f"{TOKEN}/learnings.md": "- Quote every path.\n",
    f"{TOKEN}/LEARNINGS.md": _ENTRY,
    f"{TOKEN}.txt": _ENTRY,
}


@pytest.mark.parametrize("name", SOURCES, ids=lambda name: str(name).replace(TOKEN, "it"))
def test_a_source_whose_name_is_a_secret_comes_in_unnamed(home: Home, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(SOURCES[name])
    more = ("--format", "learnings") if name.endswith("txt") else ()
    for last in (("--dry-run",), ("--dry-run", "--json"), (), ("--json",)):
        done = home.run("import", str(file), *more, *last)
        assert done.code == 0, done.err
        assert TOKEN not in done.out + done.err
    assert done.json["known"]
    assert _stored(home) == []
    assert not [path for path, data in home.bytes().items() if TOKEN in path or TOKEN.encode() in data]


@pytest.mark.parametrize("row", [{"input_summary": "a", "outcome": TOKEN}, {"approach": "a", TOKEN: 1}])
def test_a_refused_line_is_told_without_its_values(home: Home, tmp_path: Path, row: dict[str, object]) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps(row) + "\n")
    for more in ((), ("--json",)):
        done = home.run("import", str(file), "--partial", *more)
        assert (done.code, TOKEN in done.out + done.err) == (1, False)


def test_a_side_of_a_merge_whose_name_is_a_secret_is_not_told(home: Home) -> None:
    done = home.learnloop("merge-driver", "lesson", "o", "a", "b", f"{TOKEN}.md", cwd=home.root)
    again = home.learnloop("merge-driver", "lesson", TOKEN, TOKEN, TOKEN, TOKEN, cwd=home.root)
    assert (done.code, again.code, TOKEN in done.err + again.err + done.out + again.out) == (129, 129, False)


def test_no_proposal_takes_such_a_file_along(home: Home, tmp_path: Path) -> None:
    """What a person committed stays theirs to send."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "there.git")
    git(home.root, "remote", "add", "origin", str(tmp_path / "there.git"))
    git(home.root, "push", "-q", "-u", "origin", "main")
    home.file(TOKEN).write_text(lesson_text("x", "Keep it short."))
    home.commit_all()
    home.note("Never amend pushed commits.")
    for words in (("propose",), ("propose", "--json"), ("propose", "--branch", "mine", "--push")):
        done = home.run(*words)
        assert (done.code, TOKEN in done.out + done.err) == (0, False)
    refs = git(home.root, "for-each-ref", "--format=%(refname)", "refs/heads/learnloop", "refs/heads/mine").split()
    assert refs
    assert TOKEN not in "".join(git(home.root, "ls-tree", "-r", "--name-only", ref) for ref in refs) + "".join(refs)


def test_a_conflict_in_such_a_file_is_told_without_its_name(home: Home) -> None:
    home.file(TOKEN).write_text(lesson_text("x", "Keep it short."))
    home.commit_all()
    for branch, word in (("other", "plain"), ("main", "bare")):
        git(home.root, "checkout", "-q", *(["-b"] if branch == "other" else []), branch)
        home.edit(home.file(TOKEN), "Keep it short.", f"Keep it {word}.")
        home.commit_all()
    subprocess.run(["git", "merge", "-q", "other"], cwd=home.root, capture_output=True, check=False)
    for words in (("status",), ("check",), ("sync",), ("sync", "--resolve"), ("sync", "--resolve", "--json")):
        done = home.run(*words)
        assert TOKEN not in done.out + done.err, words


def test_init_offers_no_copy_by_such_a_name(repo: Path, learnloop: Run) -> None:
    from learnloop_md import claude, git

    own = claude.default_memory(repo, git.find(repo))
    own.mkdir(parents=True)
    (own / f"{TOKEN}.md").write_text(lesson_text("x", "Keep it short."))
    for words in (("--dry-run",), (), ("--yes",)):
        done = learnloop("init", *words, cwd=repo)
        assert TOKEN not in done.out + done.err
