"""The merge drivers with real git: merge, rebase and cherry-pick; a clone that does not know them; odd names."""

from __future__ import annotations

import os
import shutil
import subprocess
from copy import copy
from pathlib import Path

import pytest

from learnloop_md import place
from tests.conftest import Failing, Run, git
from tests.scenarios import BASE, SCENARIOS, Files, Result, Scenario, lesson, memory

WAYS = ("merge", "rebase", "cherry-pick")


def run(where: Path, *args: str) -> tuple[int, str]:
    done = subprocess.run(["git", *args], cwd=where, capture_output=True, check=False, env=environment())
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def environment() -> dict[str, str]:
    return {**os.environ, "GIT_EDITOR": "true"}


class Branches:
    """A repository with a memory and two branches, ours and theirs."""

    def __init__(self, root: Path, base: Files, folder: str = "mem") -> None:
        self.root, self.folder = root, root / folder
        root.mkdir()
        git(root, "init", "-q", "-b", "main")
        pattern = f'"{folder}/' if " " in folder else f"{folder}/"
        end = '"' if " " in folder else ""
        lines = f"{pattern}*.md{end} merge=learnloop-lesson\n{pattern}MEMORY.md{end} merge=learnloop-index\n"
        (root / ".gitattributes").write_text(lines, "utf-8")
        self.folder.mkdir(parents=True)
        self.commit(dict(base))

    def copied(self, root: Path) -> Branches:
        shutil.copytree(self.root, root)
        twin = copy(self)
        twin.root, twin.folder = root, root / self.folder.relative_to(self.root)
        return twin

    def commit(self, files: dict[str, str | None]) -> None:
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
            else:
                path.write_bytes(text.encode())
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "Change")

    def branch(self, name: str, files: dict[str, str | None]) -> None:
        git(self.root, "checkout", "-q", "-b", name, "main")
        self.commit(files)

    def joined(self, way: str) -> Result:
        """What stands in the work tree when theirs is brought to ours by merge or cherry-pick, or rebased on it."""
        git(self.root, "checkout", "-q", "theirs" if way == "rebase" else "ours")
        words = {"merge": ["merge", "--no-edit", "theirs"], "rebase": ["rebase", "-q", "ours"]}
        code, _ = run(self.root, *words.get(way, ["cherry-pick", "--keep-redundant-commits", "theirs"]))
        return Result(code == 0, {path.name: path.read_bytes() for path in self.folder.glob("*.md")})


def branches(root: Path, scenario: Scenario, learnloop: Run, folder: str = "mem") -> Branches:
    made = Branches(root, scenario.base, folder)
    made.branch("ours", scenario.ours)
    made.branch("theirs", scenario.theirs)
    assert learnloop("git-config", "--enable", cwd=root).code == 0
    return made


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_git_gives_what_both_branches_meant(scenario: Scenario, tmp_path: Path, learnloop: Run) -> None:
    """Design §6: seventeen situations, each by merge, rebase and cherry-pick."""
    made = branches(tmp_path / "repo", scenario, learnloop)
    for way in WAYS:
        result = made.copied(tmp_path / way).joined(way)
        assert scenario.holds(result), (way, result.files)
    assert not any(path.name.startswith(".merge_file") for path in tmp_path.rglob("*"))


BOTH_ADD = SCENARIOS[0]


@pytest.mark.parametrize("folder", ["my notes/mém", "notiz-büro", "a'b c"])
@pytest.mark.parametrize("way", WAYS)
def test_names_with_spaces_and_other_letters(folder: str, way: str, tmp_path: Path, learnloop: Run) -> None:
    result = branches(tmp_path / "my repö", BOTH_ADD, learnloop, folder).joined(way)
    assert BOTH_ADD.holds(result), result.files


def test_a_linked_worktree_merges_with_the_same_drivers(tmp_path: Path, learnloop: Run) -> None:
    made = branches(tmp_path / "repo", BOTH_ADD, learnloop)
    git(made.root, "checkout", "-q", "main")
    git(made.root, "worktree", "add", "-q", str(tmp_path / "linked"), "ours")
    assert run(tmp_path / "linked", "merge", "--no-edit", "theirs")[0] == 0
    text = (tmp_path / "linked" / "mem" / "MEMORY.md").read_text()
    assert text == memory("", "abc")


def test_a_clone_that_does_not_know_the_drivers_gets_an_ordinary_conflict(tmp_path: Path, learnloop: Run) -> None:
    """Design §6: nothing is lost silently."""
    made = branches(tmp_path / "repo", BOTH_ADD, learnloop)
    assert learnloop("git-config", "--disable", cwd=made.root).code == 0
    result = made.joined("merge")
    text = result.files["MEMORY.md"].decode()
    assert (result.clean, "<<<<<<<" in text, "(b.md)" in text, "(c.md)" in text) == (False, True, True, True)


BROKEN = [
    ("unclosed", lesson("a", "r1").replace("---\n\nDo it.", "\nDo."), lesson("a", "r1", rule="Not this.")),
    ("anchor", lesson("a", "r1").replace("feedback", "&x feedback"), lesson("a", "r1").replace("feedback", "user")),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("ours", "theirs"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_side_that_cannot_be_read_is_an_ordinary_conflict(
    ours: str, theirs: str, way: str, tmp_path: Path, learnloop: Run
) -> None:
    """Both texts stand in the file, between git's own markers, and git knows all three versions."""
    scenario = Scenario("", BASE, {"a.md": ours}, {"a.md": theirs}, lambda _: True)
    made = branches(tmp_path / "repo", scenario, learnloop)
    result = made.joined(way)
    text = result.files["a.md"].decode()
    assert (result.clean, text.count("<<<<<<< ours"), text.count(">>>>>>> theirs")) == (False, 1, 1)
    stages = git(made.root, "ls-files", "-u").splitlines()
    assert [row.split()[2] for row in stages] == ["1", "2", "3"]
    blobs = {git(made.root, "cat-file", "-p", row.split()[1]).strip() for row in stages}
    assert {ours.strip(), theirs.strip()} <= blobs


def test_a_driver_that_is_gone_is_an_ordinary_conflict(tmp_path: Path, learnloop: Run) -> None:
    """The program was moved or removed after it was registered: ours alone must not stand there as the result."""
    made = branches(tmp_path / "repo", BOTH_ADD, learnloop)
    for kind in ("lesson", "index"):
        key = f"merge.learnloop-{kind}.driver"
        command = git(made.root, "config", key)
        git(made.root, "config", key, f"/nowhere/learnloop {command[command.index('merge-driver') :]}")
    text = made.joined("merge").files["MEMORY.md"].decode()
    assert ("<<<<<<< ours" in text, "(b.md)" in text, "(c.md)" in text) == (True, True, True)


@pytest.mark.parametrize("code", [1, 2, 120, 255])
def test_a_driver_that_cannot_start_is_an_ordinary_conflict(code: int, tmp_path: Path, learnloop: Run) -> None:
    """A broken install ends as Python ends, with 1: theirs must not be gone without a word."""
    made = branches(tmp_path / "repo", BOTH_ADD, learnloop)
    broken = tmp_path / "learnloop"
    broken.write_text(f"#!/bin/sh\nexit {code}\n")
    broken.chmod(0o755)
    for kind in ("lesson", "index"):
        key = f"merge.learnloop-{kind}.driver"
        command = git(made.root, "config", key)
        git(made.root, "config", key, f"{broken} {command[command.index('merge-driver') :]}")
    result = made.joined("merge")
    text = result.files["MEMORY.md"].decode()
    shown = ("<<<<<<< ours" in text, "(b.md)" in text, "(c.md)" in text)
    assert (result.clean, *shown) == (False, True, True, True)


def test_an_older_command_is_told_and_written_anew(memory: Path, repo: Path, learnloop: Run) -> None:
    """Older ones took a driver that could not start for one that wrote a conflict."""
    learnloop("git-config", "--enable", cwd=repo)
    key = "merge.learnloop-lesson.driver"
    new = git(repo, "config", key)
    git(repo, "config", key, new.replace("test $? = 65", "test $? = 1"))
    assert "drivers are not registered" in learnloop("status", cwd=repo).out
    assert learnloop("git-config", "--enable", cwd=repo).out.rstrip().endswith(": learnloop-lesson")
    assert git(repo, "config", key) == new
    assert "drivers are not registered" not in learnloop("status", cwd=repo).out


@pytest.mark.parametrize("way", ["--enable", "--disable"])
def test_a_driver_of_a_person_s_own_stays(way: str, repo: Path, learnloop: Run) -> None:
    git(repo, "config", "merge.learnloop-lesson.driver", "mine %A %O %B")
    ran = learnloop("git-config", way, cwd=repo)
    assert (ran.code, "learnloop-lesson: a driver of your own has this name" in ran.out) == (0, True)
    found = git(repo, "config", "--get-regexp", "^merge.learnloop-lesson")
    assert found == "merge.learnloop-lesson.driver mine %A %O %B"
    assert ("learnloop-index" in git(repo, "config", "--list")) is (way == "--enable")


def test_a_side_that_cannot_be_read_is_never_merged_as_if_it_were(tmp_path: Path, learnloop: Run) -> None:
    """The lines of both sides fit together, yet nobody read what they mean: a person looks at it."""
    ours = {"a.md": lesson("a", "r1").replace("name: a", "name: &x a")}
    scenario = Scenario("", BASE, dict(ours), {"a.md": lesson("a", "r1", why="It is new.")}, lambda _: True)
    made = branches(tmp_path / "repo", scenario, learnloop)
    result = made.joined("merge")
    text = result.files["a.md"].decode()
    assert (result.clean, "&x a" in text, "It is new." in text) == (False, True, True)
    assert len(git(made.root, "ls-files", "-u").splitlines()) == 3


# --- the command that git runs ----------------------------------------------------------------------------------------


def sides(folder: Path, *texts: str | bytes) -> list[str]:
    paths = [folder / name for name in ("base", "ours", "theirs")]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [str(path) for path in paths]


def test_the_driver_says_clean_or_conflict_by_its_exit_code(tmp_path: Path, learnloop: Run) -> None:
    base = lesson("a", "r1")
    files = sides(tmp_path, base, lesson("a", "r1", "r2"), lesson("a", "r1", "r3"))
    assert learnloop("merge-driver", "lesson", *files, "mem/a.md") == (0, "", "")
    assert Path(files[1]).read_text().count("run:") == 3
    files = sides(tmp_path, base, base.replace("Do it.", "Yes."), base.replace("Do it.", "No."))
    assert learnloop("merge-driver", "lesson", *files, "mem/a.md").code == 65


@pytest.mark.parametrize("kind", ["lesson", "index", "notebook", "state", "odd"])
def test_a_driver_that_cannot_merge_leaves_ours_and_exits_above_128(kind: str, tmp_path: Path, learnloop: Run) -> None:
    files = sides(tmp_path, "x\n", b"\xff ours\n", "theirs\n")
    ran = learnloop("merge-driver", kind, *files, "a.md")
    assert (ran.code > 128, ran.out, ran.err.count("\n")) == (True, "", 1)
    assert Path(files[1]).read_bytes() == b"\xff ours\n"
    assert len(list(tmp_path.glob("ours*"))) == 1


def test_a_driver_without_its_files_exits_above_128(tmp_path: Path, learnloop: Run) -> None:
    ran = learnloop("merge-driver", "lesson", "no-base", "no-ours", "no-theirs", "a.md", cwd=tmp_path)
    assert (ran.code > 128, ran.err.count("\n")) == (True, 1)


# --- registration -----------------------------------------------------------------------------------------------------


def test_registering_twice_changes_nothing_and_disabling_removes_exactly_that(repo: Path, learnloop: Run) -> None:
    config = repo / ".git" / "config"
    before = config.read_bytes()
    assert "registered" in learnloop("git-config", "--enable", cwd=repo).out
    after = config.read_bytes()
    assert learnloop("git-config", "--enable", cwd=repo).out.startswith("nothing to do")
    assert config.read_bytes() == after != before
    assert "taken out" in learnloop("git-config", "--disable", cwd=repo).out
    assert config.read_bytes() == before
    assert learnloop("git-config", "--disable", cwd=repo).out.startswith("nothing to do")


@pytest.mark.parametrize("way", ["--enable", "--disable"])
def test_a_dry_run_registers_nothing(way: str, repo: Path, learnloop: Run) -> None:
    if way == "--disable":
        learnloop("git-config", "--enable", cwd=repo)
    before = (repo / ".git" / "config").read_bytes()
    assert learnloop("git-config", way, "--dry-run", cwd=repo).out.startswith("would be ")
    assert (repo / ".git" / "config").read_bytes() == before


def test_disabling_keeps_what_a_person_added(repo: Path, learnloop: Run) -> None:
    learnloop("git-config", "--enable", cwd=repo)
    git(repo, "config", "merge.learnloop-lesson.recursive", "binary")
    learnloop("git-config", "--disable", cwd=repo)
    assert git(repo, "config", "--get-regexp", "^merge") == "merge.learnloop-lesson.recursive binary"


def test_global_registration_serves_every_repository(repo: Path, learnloop: Run, tmp_path: Path) -> None:
    assert learnloop("git-config", "--enable", "--global", cwd=tmp_path).code == 0
    assert "merge-driver lesson %O %A %B %P" in git(repo, "config", "merge.learnloop-lesson.driver")
    assert "learnloop" not in (repo / ".git" / "config").read_text()


@pytest.mark.parametrize("words", [(), ("--enable", "--disable")], ids=["neither", "both"])
def test_one_of_enable_and_disable_is_needed(words: tuple[str, ...], repo: Path, learnloop: Run) -> None:
    assert learnloop("git-config", *words, cwd=repo).code == 2


def test_outside_a_repository_only_global_makes_sense(tmp_path: Path, learnloop: Run) -> None:
    assert learnloop("git-config", "--enable", cwd=tmp_path).code == 4


def test_status_says_that_a_clone_has_not_registered_them(memory: Path, repo: Path, learnloop: Run) -> None:
    said = "merge     drivers are not registered: learnloop git-config --enable"
    assert said in learnloop("status", cwd=repo).out.splitlines()
    learnloop("git-config", "--enable", cwd=repo)
    assert said not in learnloop("status", cwd=repo).out


def test_another_line_for_the_same_files_is_named_with_the_one_that_wins(
    memory: Path, repo: Path, learnloop: Run
) -> None:
    """The last matching line wins, and a file in a folder below wins over one above."""
    (repo / ".gitattributes").open("a").write("*.md merge=union\n*.py merge=union\n")
    out = learnloop("git-config", "--enable", cwd=repo).out
    winner = "the line that wins is .gitattributes:4: *.md merge=union"
    assert out.count(winner) == 2
    assert ".py" not in out
    (memory / ".gitattributes").write_text("MEMORY.md merge=learnloop-index\n")
    out = learnloop("git-config", "--enable", cwd=repo).out
    assert "the line that wins is .claude/memory/.gitattributes:1: MEMORY.md merge=learnloop-index" in out


# --- .gitattributes ---------------------------------------------------------------------------------------------------

OURS = (
    ".claude/memory/*.md diff=learnloop-lesson merge=learnloop-lesson\n"
    ".claude/memory/memory.json merge=learnloop-state\n"
    ".claude/memory/MEMORY.md linguist-generated merge=learnloop-index\n"
)


def test_init_names_the_drivers_the_document_last(memory: Path, repo: Path) -> None:
    assert (repo / ".gitattributes").read_text() == OURS
    said = git(repo, "check-attr", "merge", ".claude/memory/MEMORY.md", ".claude/memory/x.md").splitlines()
    assert [row.rsplit(" ", 1)[-1] for row in said] == ["learnloop-index", "learnloop-lesson"]


def test_init_again_upgrades_the_old_line_and_nothing_else(memory: Path, repo: Path, learnloop: Run) -> None:
    old = "# mine\r\n*.png binary\r\n.claude/memory/MEMORY.md linguist-generated\r\n*.x text\r\n"
    (repo / ".gitattributes").write_bytes(old.encode())
    git(repo, "commit", "-qam", "An old line")
    (repo / ".git" / "learnloop").rename(repo / "elsewhere")  # a fresh clone: the line alone tells
    (memory / "late.md").write_text("---\nname: late\ndescription: Late\n---\n\nCome late.\n")
    assert learnloop("init", cwd=repo).code == 0
    new = old.replace(".claude/memory/MEMORY.md linguist-generated\r\n", OURS.replace("\n", "\r\n"))
    assert (repo / ".gitattributes").read_bytes() == new.encode()
    assert learnloop("status", "--json", cwd=repo).json["lessons"] == {"candidate": 1, "current": 0, "archived": 0}


def test_a_folder_with_spaces_and_signs_is_matched(repo: Path, learnloop: Run) -> None:
    assert learnloop("init", "--dir", "my notes/mém", cwd=repo).code == 0
    said = git(repo, "-c", "core.quotepath=false", "check-attr", "-a", "my notes/mém/MEMORY.md").splitlines()
    assert said == [
        "my notes/mém/MEMORY.md: diff: learnloop-lesson",
        "my notes/mém/MEMORY.md: merge: learnloop-index",
        "my notes/mém/MEMORY.md: linguist-generated: set",
    ]


def test_a_skill_s_lessons_and_notebook_get_theirs(tmp_path: Path, learnloop: Run) -> None:
    root = tmp_path / "repo"
    (root / "skill").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "skill" / "SKILL.md").write_text("---\nname: skill\ndescription: Reviews\n---\n\n# Skill\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Add a skill")
    assert learnloop("init", "--skill", "skill", cwd=root).code == 0
    names = ("skill/references/memory.md", "skill/references/lessons/x.md")
    said = git(root, "check-attr", "merge", *names).splitlines()
    assert [row.rsplit(" ", 1)[-1] for row in said] == ["learnloop-notebook", "learnloop-lesson"]


def test_sync_after_a_merge_finds_document_and_files_in_step(memory: Path, repo: Path, learnloop: Run) -> None:
    """Archived here, confirmed there: the lesson comes back, and sync moves its line along."""
    learnloop("git-config", "--enable", cwd=repo)
    for name in ("one", "two"):
        learnloop("note", f"Do {name}.", "--name", name, "--run", "r1", cwd=repo)
    git(repo, "checkout", "-q", "-b", "theirs")
    learnloop("confirm", "one", "--run", "r2", cwd=repo)
    learnloop("note", "Do three.", "--name", "three", "--run", "r2", cwd=repo)
    git(repo, "checkout", "-q", "main")
    learnloop("archive", "one", "--note", "Old", "--run", "r3", cwd=repo)
    learnloop("note", "Do four.", "--name", "four", "--run", "r3", cwd=repo)
    assert run(repo, "merge", "--no-edit", "theirs")[0] == 0
    assert learnloop("sync", cwd=repo).code == 0
    ran = learnloop("status", "--json", cwd=repo).json
    assert ran["lessons"] == {"candidate": 4, "current": 0, "archived": 0}
    assert ran["conflicts"] == []
    assert place.find(repo).kind == "project"


@pytest.mark.parametrize("way", ["merge", "merge-back", "rebase", "cherry-pick", "resolve"])
def test_archived_here_and_confirmed_there_the_lesson_decides(
    way: str, memory: Path, repo: Path, learnloop: Run
) -> None:
    """Design §6: the line came with the other branch; nobody edited it, and the lesson comes back."""
    if way == "resolve":
        git(repo, "rm", "-q", ".gitattributes")
        git(repo, "commit", "-q", "-m", "No drivers")
    else:
        learnloop("git-config", "--enable", cwd=repo)
    learnloop("note", "Never force push.", "--name", "never", "--run", "r1", cwd=repo)
    git(repo, "checkout", "-q", "-b", "f1")
    learnloop("archive", "never", "--note", "bad because X", "--run", "f2", cwd=repo)
    git(repo, "checkout", "-q", "main")
    learnloop("confirm", "never", "--run", "m2", cwd=repo)
    git(repo, "checkout", "-q", "f1" if way in ("merge-back", "rebase") else "main")
    words = {"merge-back": ["merge", "--no-edit", "main"], "rebase": ["rebase", "main"], "cherry-pick": [way, "f1"]}
    run(repo, *words.get(way, ["merge", "--no-edit", "f1"]))
    if way == "resolve":
        assert learnloop("sync", "--resolve", cwd=repo).code == 0
        git(repo, "commit", "-q", "--no-edit")
    ran = learnloop("sync", cwd=repo)
    assert (ran.code, "edited in MEMORY.md" in ran.out + ran.err) == (0, False)
    assert "state: candidate" in (memory / "never.md").read_text()
    text = (memory / "MEMORY.md").read_text()
    assert text.index("## Candidate") < text.index("(never.md)") < text.index("## Archived")
    assert git(repo, "status", "--porcelain") == ""


def test_a_line_that_a_person_moved_on_top_of_a_rebase_is_their_edit(memory: Path, repo: Path, learnloop: Run) -> None:
    learnloop("note", "Never force push.", "--name", "never", "--run", "r1", cwd=repo)
    learnloop("archive", "never", "--note", "Old", cwd=repo)
    learnloop("restore", "never", cwd=repo)
    document = memory / "MEMORY.md"
    text = document.read_text()
    line = next(row for row in text.splitlines(keepends=True) if "(never.md)" in row)
    document.write_text(text.replace(line, "").replace("## Archived\n", f"## Archived\n\n{line}"))
    git(repo, "commit", "-qam", "Forget it")
    assert "edited in MEMORY.md" in learnloop("sync", cwd=repo).err
    assert "state: archived" in (memory / "never.md").read_text()


@pytest.mark.parametrize("way", ["--enable", "--disable"])
def test_a_configuration_that_cannot_be_read_is_not_an_empty_one(
    way: str, repo: Path, learnloop: Run, git_fails: Failing
) -> None:
    """Reliability 11: a person's own driver would be written over, and ours be said to be gone."""
    git(repo, "config", "merge.learnloop-lesson.driver", "mine %A")
    before = (repo / ".git" / "config").read_bytes()
    with git_fails("config --local -z"):
        done = learnloop("git-config", way, cwd=repo)
    assert (done.code, len(done.err.splitlines())) == (4, 1)
    assert (repo / ".git" / "config").read_bytes() == before
