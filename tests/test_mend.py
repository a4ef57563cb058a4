"""`check --fix` mends what needs no decision, and `check --only-secrets` looks into every file (design §11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from learnloop_md import mend
from tests.conftest import CopyOf, Run, git
from tests.homes import Home, make_home
from tests.test_checks import TOKEN

HEAD = "---\nname: a\ndescription: {}\nmetadata:\n  type: feedback\n  state: candidate\n---\n\nDo it.\n"


@pytest.fixture
def home(copy_of: CopyOf, learnloop: Run) -> Home:
    def build(root: Path) -> Home:
        made = make_home("project", root, learnloop)
        made.note("Read it.", "r1", "--why", "a", "--how", "b")
        return made

    return copy_of("to be mended", build)


def codes(home: Home) -> list[str]:
    return [row["code"] for row in home.run("check", "--json").json["findings"]]


@pytest.mark.parametrize("value", ["one: two", "one # two", "'one", "a: b: c #d", '"half', "one\ttwo: x"])
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_a_head_that_people_write_becomes_yaml_that_says_the_same(value: str, eol: str) -> None:
    text = HEAD.format(value).replace("\n", eol)
    new = mend.with_sound_head(text)
    assert new != text
    old_lines, new_lines = text.split(eol), new.split(eol)
    assert [n for n, line in enumerate(old_lines) if line != new_lines[n]] == [2], "only its line changes"
    assert mend.with_sound_head(new) == new


@pytest.mark.parametrize("value", ["fine", '"one: two"', "one#two"])
def test_a_sound_head_stays_as_it_is(value: str) -> None:
    assert mend.with_sound_head(HEAD.format(value)) == HEAD.format(value)


def test_what_is_mended_is_one_commit_and_nothing_else_changes(home: Home) -> None:
    home.file("a").write_text(HEAD.format("Do: it: now") + "\n**Why:** a\n\n**How to apply:** b\n")
    assert home.run("sync").code == 0
    assert codes(home) == ["head-not-yaml"]
    before = len(home.commits())
    done = home.run("check", "--fix", "--json")
    assert (done.code, done.json["findings"], len(done.json["commits"])) == (0, [], 1)
    assert done.json["fixed"] == [".claude/memory/a.md"]
    assert (len(home.commits()), home.commits()[0]) == (before + 1, "learnloop: mend what check found")
    assert home.run("undo").code == 0
    assert codes(home) == ["head-not-yaml"]


def test_lines_that_stand_twice_word_for_word_become_one(home: Home) -> None:
    line = home.entry("read-it")
    home.document.write_text(home.text.replace(line, line + line + line.replace("Read it", "Read that", 1)))
    git(home.root, "commit", "-qam", "Doubled")
    assert codes(home).count("duplicate-line") == 2
    assert home.run("check", "--fix").code == 0
    assert home.text.count("(read-it.md)") == 2, "other words are a person's to choose between"


def test_a_lesson_that_was_deleted_is_told_with_its_way_out_and_what_was_done(home: Home) -> None:
    """commands: `check --fix` mends what needs no decision and says so; its commit is no surprise."""
    git(home.root, "rm", "-q", str(home.file("read-it")))
    git(home.root, "commit", "-qm", "Remove")
    assert "read-it.md, which does not exist: learnloop sync" in home.run("check").out
    done = home.run("check", "--fix")
    assert (done.code, done.out) == (0, f"mended {home.document.relative_to(home.root)}: absorbed\n")


def test_a_dry_run_says_what_would_be_mended(home: Home) -> None:
    home.file("a").write_text(HEAD.format("Do: it"))
    before = home.bytes()
    done = home.run("check", "--fix", "--dry-run")
    assert ("would mend" in done.out, home.bytes() == before) == (True, True)


@pytest.mark.parametrize("words", [("--staged",), ("--only-secrets",)])
def test_fix_goes_with_no_look_at_something_else(home: Home, words: tuple[str, ...]) -> None:
    assert home.run("check", "--fix", *words).code == 2
    assert home.run("check", "--dry-run").code == 2


def test_with_nothing_to_mend_nothing_is_committed(home: Home) -> None:
    before = home.commits()
    assert home.run("check", "--fix").code == 0
    assert home.commits() == before


@pytest.mark.parametrize("kind", ["project", "skill"])
def test_a_hook_decides_nothing_that_only_the_base_can_tell(kind: str, tmp_path: Path, learnloop: Run) -> None:
    """An entry in another zone is a person's decision; an entry that is gone archives the lesson of a notebook."""
    home = make_home(kind, tmp_path / "other", learnloop)
    for rule in ("Read it.", "Stage files."):
        home.note(rule, "r1", "--why", "a", "--how", "b")
    home.move("read-it", "current")
    if kind == "skill":
        home.edit(home.document, home.entry("stage-files"), "")
    git(home.root, "add", "-A")
    before = home.bytes()
    learnloop("check", "--hook", "--fix", cwd=home.root)
    assert home.bytes() == before


# --- secrets ----------------------------------------------------------------------------------------------------------


# A notebook without git has no home to stand in here.
@pytest.mark.parametrize(("kind", "with_git"), [("project", True), ("project", False), ("skill", True)])
def test_secrets_are_found_in_every_file_of_the_memory(
    kind: str, with_git: bool, tmp_path: Path, learnloop: Run
) -> None:
    """R004-20: with the line, never with the value."""
    home = make_home(kind, tmp_path / "other", learnloop, with_git=with_git)
    (home.folder / "data.json").write_text(f'{{\n"key": "{TOKEN}"}}\n')
    (home.folder / "wide.txt").write_bytes(f"Use {TOKEN}".encode("utf-16"))
    done = home.run("check", "--only-secrets", "--json")
    found = {Path(row["path"]).name: row["line"] for row in done.json["findings"]}
    assert (done.code, found, TOKEN in done.out) == (1, {"data.json": 2, "wide.txt": 1}, False)


def test_a_file_that_is_too_large_to_look_through_is_named(tmp_path: Path, learnloop: Run) -> None:
    """What was not looked through is not called clean; a sparse file takes no memory."""
    home = make_home("project", tmp_path / "other", learnloop)
    with (home.folder / "dump.bin").open("wb") as file:
        file.truncate(4 << 30)
    done = home.run("check", "--only-secrets", "--json")
    found = [(Path(row["path"]).name, row["code"]) for row in done.json["findings"]]
    assert (done.code, found) == (1, [("dump.bin", "too-large")])


def test_a_secret_that_was_codified_into_the_skill_is_found(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("skill", tmp_path / "other", learnloop)
    (home.root / "skill" / "learnings.md").write_text(f"- Use {TOKEN}\n")
    assert home.run("check", "--only-secrets").code == 1
    git(home.root, "add", "-A")
    assert learnloop("check", "--hook", "--only-secrets", cwd=home.root).code == 1


def test_staged_secrets_need_git(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("project", tmp_path / "plain", learnloop, with_git=False)
    assert home.run("check", "--only-secrets", "--staged").code == 4
