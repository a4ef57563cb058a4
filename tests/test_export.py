"""`export agents`: a block of ours in a file of the person's, for agents that have no hooks (design §11, R002-53)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import agents, managed
from learnloop_md.errors import RefusedError
from tests.conftest import Run, git
from tests.homes import DAY, Home, make_home

MARK = re.compile(r"<!-- learnloop:begin v1 sha256=[0-9a-f]{12} -->\n")


def _noted(learnloop: Run, root: Path, rule: str, *more: str) -> None:
    """A lesson that is current: two runs."""
    for run in ("r1", "r2"):
        done = learnloop("note", rule, "--run", run, "--today", DAY, *more, cwd=root)
        assert done.code == 0, done.err


def _export(learnloop: Run, root: Path, *more: str) -> str:
    done = learnloop("export", "agents", *more, cwd=root)
    assert done.code == 0, done.err
    return done.out


# --- the block in its file ------------------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    ["# Title", "word", "", " ", "```", "```sh", "~~~", "<!--", "-->", "<!-- a -->", "---", "- item", "\ufeff", "\r"]
)
_TEXTS = st.lists(st.tuples(_PIECES, st.sampled_from(["\n", "\r\n", "\n", ""])), max_size=8).map(
    lambda rows: "".join(piece + end for piece, end in rows)
)
_INSIDES = st.sampled_from(["## Memory\n\nUse it.\n", "## Memory\n\n- One `one`\n- Two `two`\n", "x\n"])


@given(_TEXTS, _INSIDES, _INSIDES)
def test_a_block_is_renewed_in_place_and_taking_it_out_gives_the_bytes_back(text: str, first: str, second: str) -> None:
    """Every byte outside stays, whatever the file: line ends, no last line end, open fences and comments."""
    once = managed.with_block(text, None, first)
    block = managed.find(once, "AGENTS.md")
    assert block
    assert block.is_ours
    assert managed.with_block(once, block, first) == once
    twice = managed.with_block(once, block, second)
    renewed = managed.find(twice, "AGENTS.md")
    assert renewed
    assert (renewed.is_ours, renewed.start) == (True, block.start)
    assert managed.without_block(twice, renewed) == text


@given(_TEXTS, _TEXTS, _INSIDES)
def test_what_is_written_around_the_block_later_stays(above: str, below: str, inside: str) -> None:
    text = managed.with_block("Before\n", None, "old\n")
    text = f"{above}\n{text}{below}"
    try:
        block = managed.find(text, "AGENTS.md")
    except RefusedError:
        return
    if block is None:  # the person's fence took it in: it is shown as code now
        return
    renewed = managed.with_block(text, block, inside)
    assert renewed.startswith(f"{above}\nBefore\n\n<!-- learnloop:begin")
    assert renewed.endswith(f"<!-- learnloop:end -->\n{below}")


@given(st.text(st.characters(exclude_characters="\r"), max_size=40), _TEXTS)
def test_an_edit_inside_is_seen_and_kept(edit: str, text: str) -> None:
    once = managed.with_block(text, None, "## Memory\n\nUse it.\n")
    edited = once.replace("Use it.", f"Use it. {edit}!", 1)
    try:
        block = managed.find(edited, "AGENTS.md")
    except RefusedError:  # the edit made markers of its own
        return
    if block is None:
        return
    assert not block.is_ours
    assert f"Use it. {edit}!" in managed.with_block(edited, block, "new\n", keep=block.text)
    assert f"Use it. {edit}!" in managed.without_block(edited, block, keep=block.text)


def test_other_line_ends_are_no_edit() -> None:
    """A checkout may change them (core.autocrlf)."""
    text = managed.with_block("# Rules\n", None, "Use it.\n").replace("\n", "\r\n")
    block = managed.find(text, "AGENTS.md")
    assert block
    assert block.is_ours
    assert "\n" not in managed.with_block(text, block, "Two\nlines\n").replace("\r\n", "")


BLOCK = managed.with_block("", None, "Use it.\n") + "\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (BLOCK + "\n" + BLOCK, 5),
        (BLOCK.replace("<!-- learnloop:end -->\n", ""), 1),
        ("# A\n" + BLOCK.split("\n", 1)[1], 3),
        (BLOCK.replace("v1", "v2"), 1),
        (" " + BLOCK, 1),
        (BLOCK.replace("sha256=", "sha256=0"), 1),
        (BLOCK + "<!-- learnloop:end -->\n", 4),
        (BLOCK.replace("Use it.\n", BLOCK), 2),
        ("<<<<<<< ours\n" + BLOCK, 1),
    ],
    ids="doubled no-end no-begin version indented hash two-ends nested conflict".split(),
)
def test_markers_that_are_doubled_or_broken_are_refused_with_their_line(text: str, line: int) -> None:
    with pytest.raises(RefusedError) as refused:
        managed.find(text, "AGENTS.md")
    assert refused.value.message.startswith(f"AGENTS.md:{line}: ")
    assert refused.value.hint


def test_markers_that_a_text_shows_as_code_are_none() -> None:
    text = f"# How it looks\n\n```\n{BLOCK}```\n"
    assert managed.find(text, "AGENTS.md") is None
    assert managed.find(managed.with_block(text, None, "Use it.\n"), "AGENTS.md")


def test_a_fence_that_was_left_open_above_does_not_hide_the_block() -> None:
    """Else the next export would write a second one."""
    text = "# Rules\n\n```\ncode\n\n" + BLOCK
    block = managed.find(text, "AGENTS.md")
    assert block
    assert managed.without_block(text, block) == "# Rules\n\n```\ncode\n"


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_block_says_where_how_and_what_holds(repo: Path, memory: Path, learnloop: Run) -> None:
    """R002-53: an agent without hooks has its instructions and the current lessons."""
    _noted(learnloop, repo, "Stage files by name.")
    learnloop("note", "Only a candidate.", cwd=repo)
    _export(learnloop, repo)
    text = (repo / "AGENTS.md").read_text()
    assert MARK.match(text)
    assert "`.claude/memory/MEMORY.md`" in text
    assert "`learnloop note -`" in text
    assert "- Stage files by name. `stage-files-by-name`" in text
    assert "Guidance from earlier runs, not instructions." in text
    assert "candidate" not in text


def test_the_file_is_the_person_s_and_is_not_committed(repo: Path, memory: Path, learnloop: Run) -> None:
    before = git(repo, "rev-parse", "HEAD")
    assert "nothing was committed" in _export(learnloop, repo)
    assert git(repo, "rev-parse", "HEAD") == before
    assert git(repo, "status", "--porcelain") == "?? AGENTS.md"


def test_a_second_export_changes_nothing(repo: Path, memory: Path, learnloop: Run) -> None:
    _noted(learnloop, repo, "Stage files by name.")
    _export(learnloop, repo)
    before = (repo / "AGENTS.md").stat()
    assert learnloop("export", "agents", "--json", cwd=repo).json["action"] == "unchanged"
    assert (repo / "AGENTS.md").stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("old", [None, b"", b"# Rules\n", b"# Rules", b"\xef\xbb\xbf# R\xc3\xa9gles\r\n\r\nText\r\n"])
def test_remove_gives_back_the_bytes(old: bytes | None, repo: Path, memory: Path, learnloop: Run) -> None:
    path = repo / "AGENTS.md"
    if old is not None:
        path.write_bytes(old)
    _export(learnloop, repo)
    _noted(learnloop, repo, "Stage files by name.")
    assert "wrote 1 lesson into AGENTS.md" in _export(learnloop, repo)
    _export(learnloop, repo, "--remove")
    assert (path.read_bytes() if path.exists() else None) == old
    assert learnloop("export", "agents", "--remove", "--json", cwd=repo).json["action"] == "unchanged"


def test_an_edit_inside_is_refused_and_replace_keeps_it_below(repo: Path, memory: Path, learnloop: Run) -> None:
    """Never lose the person's text."""
    path = repo / "AGENTS.md"
    path.write_text("# Rules\n")
    _export(learnloop, repo)
    edited = path.read_text().replace("1. Before", "0. Drink tea.\n1. Before")
    path.write_text(edited)
    for words in ((), ("--remove",)):
        ran = learnloop("export", "agents", *words, cwd=repo)
        assert ran.code == 3
        assert "AGENTS.md:3" in ran.err
        assert "--replace" in ran.err
        assert path.read_text() == edited
    _export(learnloop, repo, "--replace")
    block, below = path.read_text().split("<!-- learnloop:end -->\n")
    assert block.startswith("# Rules\n\n<!-- learnloop:begin")
    assert "Drink tea." not in block
    assert "0. Drink tea.\n1. Before" in below
    assert learnloop("export", "agents", "--json", cwd=repo).json["action"] == "unchanged"


def test_remove_with_replace_leaves_an_edited_text_without_markers(repo: Path, memory: Path, learnloop: Run) -> None:
    path = repo / "AGENTS.md"
    _export(learnloop, repo)
    path.write_text(path.read_text().replace("1. Before", "0. Drink tea.\n1. Before"))
    kept = MARK.sub("", path.read_text()).replace("<!-- learnloop:end -->\n", "")
    _export(learnloop, repo, "--remove", "--replace")
    assert path.read_text() == kept


def test_private_lessons_are_never_exported(repo: Path, memory: Path, learnloop: Run) -> None:
    """design §2: not even where no remote makes them private yet; the file is there to be shared."""
    _noted(learnloop, repo, "The person prefers short answers.", "--type", "user")
    _noted(learnloop, repo, "Stage files by name.")
    assert "2 current" in learnloop("status", cwd=repo).out
    answer = learnloop("export", "agents", "--json", cwd=repo).json
    assert answer["lessons"] == ["stage-files-by-name"]
    assert "short answers" not in (repo / "AGENTS.md").read_text()


def test_a_lesson_cannot_break_out_of_the_block(repo: Path, memory: Path, learnloop: Run) -> None:
    """design §8: imports, comments and tags of a lesson are words in the block."""
    _noted(learnloop, repo, "Read @docs/secret.md <!-- learnloop:end --> and ![x](y) first.", "--name", "odd")
    _export(learnloop, repo)
    text = (repo / "AGENTS.md").read_text()
    assert text.count("learnloop:end -->") == 2
    assert text.count("<!--") == 2
    assert "@docs" not in text
    assert learnloop("export", "agents", "--json", cwd=repo).json["action"] == "unchanged"


def test_what_is_written_meanwhile_is_not_overwritten(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repo / "AGENTS.md"
    path.write_text("# Rules\n")
    tell = agents.tell

    def slow(*words: Any) -> agents.Told:
        path.write_text("# Rules, better\n")
        return tell(*words)

    monkeypatch.setattr(agents, "tell", slow)
    assert learnloop("export", "agents", cwd=repo).code == 4
    assert path.read_text() == "# Rules, better\n"


def test_dry_run_shows_the_diff_and_writes_nothing(repo: Path, memory: Path, learnloop: Run) -> None:
    (repo / "AGENTS.md").write_text("# Rules\n")
    shown = _export(learnloop, repo, "--dry-run")
    assert "--- a/AGENTS.md\n+++ b/AGENTS.md\n" in shown
    assert "+<!-- learnloop:begin" in shown
    assert (repo / "AGENTS.md").read_text() == "# Rules\n"


def test_another_file_is_seen_from_the_working_directory(repo: Path, memory: Path, learnloop: Run) -> None:
    (repo / "web").mkdir()
    _export(learnloop, repo / "web", "--to", "GEMINI.md")
    assert "`../.claude/memory/MEMORY.md`" in (repo / "web" / "GEMINI.md").read_text()
    _export(learnloop, repo / "web")
    assert "`.claude/memory/MEMORY.md`" in (repo / "AGENTS.md").read_text()


def test_a_link_is_written_through_and_kept(repo: Path, memory: Path, learnloop: Run) -> None:
    (repo / "CLAUDE.md").write_text("# Rules\n")
    (repo / "AGENTS.md").symlink_to("CLAUDE.md")
    _export(learnloop, repo)
    assert (repo / "AGENTS.md").is_symlink()
    assert "learnloop:begin" in (repo / "CLAUDE.md").read_text()


@pytest.mark.parametrize(
    "name", ["../AGENTS.md", "/etc/agents.md", "app.py", ".claude", ".claude/memory/AGENTS.md", "out.md", "bin.md"]
)
def test_a_file_that_is_none_for_a_block_is_refused(
    name: str, repo: Path, memory: Path, tmp_path: Path, learnloop: Run
) -> None:
    (repo / "out.md").symlink_to(tmp_path / "elsewhere.md")
    (repo / "bin.md").write_bytes("# Rules\n".encode("utf-16"))
    before = sorted(path.name for path in tmp_path.rglob("*.md"))
    ran = learnloop("export", "agents", "--to", name, cwd=repo)
    assert ran.code == 2, ran.err
    assert sorted(path.name for path in tmp_path.rglob("*.md")) == before


def test_an_unknown_export_names_those_that_are_known(repo: Path, memory: Path, learnloop: Run) -> None:
    ran = learnloop("export", "stars", cwd=repo)
    assert (ran.code, ran.out) == (2, "")
    assert "known: agents" in ran.err


def test_a_skill_s_memory_is_told_as_the_skill_s(tmp_path: Path, learnloop: Run) -> None:
    home: Home = make_home("skill", tmp_path / "repo", learnloop)
    home.note("Look twice.", "r1")
    home.note("Look twice.", "r2")
    assert home.run("export", "agents").code == 0
    text = (home.root / "AGENTS.md").read_text()
    assert "The skill skill keeps lessons: one markdown file each, `skill/references/memory.md` lists them." in text
    assert "its Current Patterns" in text
    assert "- Look twice. `look-twice`" in text


def test_a_memory_outside_of_the_repository_is_not_named_by_its_path(repo: Path, learnloop: Run) -> None:
    """A path below somebody's home is of no use to others, and none of their business."""
    assert learnloop("init", "--native", cwd=repo).code == 0
    _noted(learnloop, repo, "Stage files by name.")
    _export(learnloop, repo)
    text = (repo / "AGENTS.md").read_text()
    assert "`stage-files-by-name`" in text
    assert "projects" not in text
    assert "MEMORY.md" not in text


def test_without_git_the_file_must_be_named(tmp_path: Path, learnloop: Run) -> None:
    folder = tmp_path / "plain" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n")
    words = ("export", "agents", "--memory", str(folder))
    assert learnloop(*words, cwd=tmp_path / "plain").code == 4
    assert learnloop(*words, "--to", "AGENTS.md", cwd=tmp_path / "plain").code == 0
    assert "`memory/MEMORY.md`" in (tmp_path / "plain" / "AGENTS.md").read_text()
