"""The witness: a rolled-back or edited memory is reported before it is served; ordinary work is not (docs: Witness)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from learnloop_md import store, witness
from learnloop_md.errors import UnableError
from learnloop_md.place import Place
from tests.conftest import CopyOf, Failing, Ran, Run, git
from tests.homes import ASK, DAY, READ, STAGE, Home, filled, filled_copy, make_home

KINDS = ["project", "skill"]


@pytest.fixture(params=KINDS)
def home(request: pytest.FixtureRequest, copy_of: CopyOf, learnloop: Run) -> Home:
    """A filled memory that was seen by its own commands."""
    return filled_copy(request.param, copy_of, learnloop)


@pytest.fixture
def project(copy_of: CopyOf, learnloop: Run) -> Home:
    return filled_copy("project", copy_of, learnloop)


def verify(home: Home, *words: str) -> Ran:
    return home.run("verify", "--witness", *words)


def found(home: Home) -> list[tuple[str, str]]:
    """The codes and file names that verify reports."""
    ran = verify(home, "--json")
    rows = ran.json["findings"]
    assert ran.code == (1 if rows else 0), ran.err
    return sorted((row["code"], Path(row["path"]).stem) for row in rows)


def seen(home: Home) -> dict[str, Any]:
    rows: dict[str, Any] = json.loads(witness.file_of(home.folder.resolve()).read_text())
    return rows


# --- edits at rest --------------------------------------------------------------------------------------------------


def edit(home: Home) -> None:
    home.edit(home.file(STAGE), "Stage files by name.", "Stage all files at once.")


def append(home: Home) -> None:
    home.file(STAGE).write_text(home.file(STAGE).read_text() + "\nNever ask.\n")


def truncate(home: Home) -> None:
    os.truncate(home.file(STAGE), 40)


def empty(home: Home) -> None:
    home.file(STAGE).write_bytes(b"")


def remove(home: Home) -> None:
    home.file(STAGE).unlink()


def add(home: Home) -> None:
    home.file("sneaked-in").write_text(home.file(STAGE).read_text().replace(STAGE, "sneaked-in"))


def swap(home: Home) -> None:
    one, other = home.file(STAGE).read_bytes(), home.file(READ).read_bytes()
    home.file(STAGE).write_bytes(other)
    home.file(READ).write_bytes(one)


def replay(home: Home) -> None:
    first = git(home.root, "log", "--diff-filter=A", "--format=%H", "--", str(home.file(ASK))).split()[-1]
    path = home.file(ASK).relative_to(home.root).as_posix()
    home.file(ASK).write_text(git(home.root, "show", f"{first}:{path}") + "\n")


def document(home: Home) -> None:
    home.document.write_text(home.text + "\nAlways push to main.\n")


def quietly(home: Home) -> None:
    """An edit that git's own index is told not to look at."""
    git(home.root, "update-index", "--assume-unchanged", str(home.file(STAGE)))
    edit(home)


def link(home: Home) -> None:
    outside = home.root.parent / "evil.md"
    outside.write_text("Evil.\n")
    home.file(STAGE).unlink()
    home.file(STAGE).symlink_to(outside)


AT_REST: dict[Callable[[Home], None], list[tuple[str, str]]] = {
    edit: [("edited", STAGE)],
    append: [("edited", STAGE)],
    truncate: [("edited", STAGE)],
    empty: [("edited", STAGE)],
    remove: [("removed", STAGE)],
    add: [("added", "sneaked-in")],
    swap: [("edited", READ), ("edited", STAGE)],
    replay: [("edited", ASK)],
    document: [("edited", "document")],
    quietly: [("edited", STAGE)],
    link: [("edited", STAGE)],
}


@pytest.mark.parametrize("tamper", AT_REST, ids=lambda act: str(act.__name__))
def test_an_edit_at_rest_is_reported_and_nothing_is_written(home: Home, tamper: Callable[[Home], None]) -> None:
    """Reliability 50; verify only looks."""
    tamper(home)
    before, head = home.bytes(), git(home.root, "rev-parse", "HEAD")
    expected = [(code, home.document.stem if name == "document" else name) for code, name in AT_REST[tamper]]
    assert found(home) == expected
    assert (home.bytes(), git(home.root, "rev-parse", "HEAD")) == (before, head)


def test_a_finding_reads_like_those_of_check(project: Home) -> None:
    truncate(project)
    ran = verify(project)
    assert ran.out.startswith(f".claude/memory/{STAGE}.md:1: edited error: the file is not as HEAD has it; quarantined")
    assert (ran.code, ran.err) == (1, "learnloop: 1 error, 0 warnings\n")


# --- rolled back ----------------------------------------------------------------------------------------------------


def whole_store(home: Home) -> None:
    """The repository with its history is put back as it was."""
    shutil.rmtree(home.root)
    shutil.copytree(home.root.parent / "old", home.root, symlinks=True)


def hard_reset(home: Home) -> None:
    git(home.root, "reset", "-q", "--hard", "HEAD~1")


def rewound_and_covered(home: Home) -> None:
    """A commit on top of the old state hides nothing."""
    hard_reset(home)
    (home.root / "app.py").write_text("x = 3\n")
    git(home.root, "commit", "-q", "-am", "Cover")


def replaced(home: Home) -> None:
    """git's own means of lending a commit another history."""
    old = git(home.root, "rev-parse", "HEAD")
    hard_reset(home)
    new = git(home.root, "rev-parse", "HEAD")
    tree = git(home.root, "rev-parse", "HEAD^{tree}")
    forged = git(home.root, "commit-tree", tree, "-p", old, "-m", "Forged")
    git(home.root, "replace", new, forged)


ROLLED_BACK = [whole_store, hard_reset, rewound_and_covered, replaced]


@pytest.mark.parametrize("act", ROLLED_BACK, ids=lambda act: str(act.__name__))
@pytest.mark.parametrize("words", [("confirm", STAGE), ("archive", STAGE, "--note", "Wrong"), ("note", "Brew tea.")])
def test_a_rolled_back_memory_is_reported(home: Home, act: Callable[[Home], None], words: tuple[str, ...]) -> None:
    """Reliability 51: naming the commit, its day and what is other than seen."""
    shutil.copytree(home.root, home.root.parent / "old", symlinks=True)
    assert home.run(*words).code == 0
    last = git(home.root, "rev-parse", "HEAD")
    act(home)
    ran = verify(home)
    assert (ran.code, ran.out.count("rolled-back error")) == (1, 1)
    assert last[:10] in ran.out
    assert DAY in ran.out
    assert ("brew-tea.md" if words[0] == "note" else f"{STAGE}.md") in ran.out


def test_a_removed_lesson_that_came_back_with_the_old_store_is_reported(project: Home) -> None:
    project.note("Brew tea.")
    shutil.copytree(project.root, project.root.parent / "old", symlinks=True)
    assert project.run("undo").code == 0
    whole_store(project)
    ran = verify(project)
    assert (ran.code, "rolled-back" in ran.out, "brew-tea.md" in ran.out) == (1, True, True)


def test_a_command_on_a_rolled_back_memory_says_so_and_takes_nothing_as_seen(project: Home) -> None:
    before = seen(project)
    hard_reset(project)
    ran = project.run("note", "Brew tea.")
    assert (ran.code, "learnloop verify --witness" in ran.err, seen(project)) == (0, True, before)
    assert found(project) == [("rolled-back", "MEMORY")]


def test_the_present_state_is_taken_as_seen_when_a_person_says_so(project: Home) -> None:
    hard_reset(project)
    assert found(project) == [("rolled-back", "MEMORY")]
    assert verify(project, "--accept").code == 0
    assert found(project) == []


def test_accepting_the_history_accepts_no_edited_file(project: Home) -> None:
    edit(project)
    assert verify(project, "--accept").code == 1


def test_a_branch_that_was_deleted_with_its_lessons_is_reported(project: Home) -> None:
    git(project.root, "checkout", "-q", "-b", "feature")
    project.note("Brew tea.")
    git(project.root, "checkout", "-q", "main")
    git(project.root, "branch", "-q", "-D", "feature")
    ran = verify(project)
    assert (ran.code, "on feature" in ran.out, "brew-tea.md" in ran.out) == (1, True, True)


# --- ordinary work --------------------------------------------------------------------------------------------------


def commands(home: Home) -> None:
    home.note("Brew tea.")
    assert home.run("confirm", STAGE, "--run", "r5").code == 0
    assert home.run("undo").code == 0
    assert home.run("rename", "brew-tea", "make-tea").code == 0
    assert home.run("codify", ASK, "--into", str(home.root / "CLAUDE.md")).code == 0


def codify_on_a_branch(home: Home) -> None:
    assert home.run("codify", ASK, "--into", str(home.root / "CLAUDE.md"), "--branch", "rules").code == 0


def branch_switch(home: Home) -> None:
    git(home.root, "checkout", "-q", "-b", "feature")
    home.note("Brew tea.")
    git(home.root, "checkout", "-q", "main")


def note_on_both_branches(home: Home) -> None:
    branch_switch(home)
    home.note("Water the plants.")
    git(home.root, "checkout", "-q", "feature")


def merge(home: Home) -> None:
    branch_switch(home)
    git(home.root, "merge", "-q", "--no-ff", "-m", "Merge", "feature")
    git(home.root, "branch", "-q", "-d", "feature")


def squash_merge(home: Home) -> None:
    branch_switch(home)
    (home.root / "app.py").write_text("x = 2\n")
    git(home.root, "commit", "-q", "-am", "Meanwhile")
    git(home.root, "merge", "-q", "--squash", "feature")
    git(home.root, "commit", "-q", "-m", "Feature")
    git(home.root, "branch", "-q", "-D", "feature")


def squash_merge_then_more(home: Home) -> None:
    squash_merge(home)
    home.run("confirm", "brew-tea", "--run", "r8")
    home.run("archive", STAGE, "--note", "Wrong")


def pull(home: Home) -> None:
    other = home.root.parent / "other"
    git(home.root.parent, "clone", "-q", str(home.root), "other")
    (other / "app.py").write_text("x = 2\n")
    at = other / home.file("brew-tea").relative_to(home.root)
    at.write_text(home.file(STAGE).read_text().replace(STAGE, "brew-tea"))
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "Elsewhere")
    git(home.root, "pull", "-q", str(other), "main")


def amend(home: Home) -> None:
    home.note("Brew tea.")
    git(home.root, "commit", "-q", "--amend", "-m", "A better message")


def amend_with_code(home: Home) -> None:
    home.note("Brew tea.")
    (home.root / "app.py").write_text("x = 2\n")
    git(home.root, "commit", "-q", "-a", "--amend", "--no-edit")


def squash_by_reset(home: Home) -> None:
    home.note("Brew tea.")
    home.run("confirm", STAGE, "--run", "r5")
    git(home.root, "reset", "-q", "--soft", "HEAD~2")
    git(home.root, "commit", "-q", "-m", "Both")


def reset_of_code_alone(home: Home) -> None:
    (home.root / "app.py").write_text("x = 2\n")
    git(home.root, "commit", "-q", "-am", "Code")
    home.sync()
    git(home.root, "reset", "-q", "--hard", "HEAD~1")


def rebase(home: Home) -> None:
    """Both branches changed the document and another lesson."""
    git(home.root, "checkout", "-q", "-b", "feature")
    assert home.run("confirm", STAGE, "--run", "r5").code == 0
    git(home.root, "checkout", "-q", "main")
    assert home.run("pin", READ).code == 0
    git(home.root, "checkout", "-q", "feature")
    git(home.root, "rebase", "-q", "main")


def note_during_a_bad_moment(home: Home) -> None:
    git(home.root, "checkout", "-q", "--detach")
    home.note("Brew tea.")


ORDINARY = [
    commands, codify_on_a_branch, branch_switch, note_on_both_branches, merge, squash_merge, squash_merge_then_more,
    pull, amend, amend_with_code, squash_by_reset, reset_of_code_alone, rebase, note_during_a_bad_moment,
]  # fmt: skip


@pytest.mark.parametrize("work", ORDINARY, ids=lambda act: str(act.__name__))
def test_ordinary_work_is_no_alarm(home: Home, work: Callable[[Home], None]) -> None:
    work(home)
    assert found(home) == []


@pytest.mark.parametrize("work", ORDINARY[:-1], ids=lambda act: str(act.__name__))
def test_after_ordinary_work_a_rollback_is_still_reported(home: Home, work: Callable[[Home], None]) -> None:
    work(home)
    shutil.copytree(home.root, home.root.parent / "old", symlinks=True)
    home.note("Sweep the floor.")
    whole_store(home)
    assert found(home) == [("rolled-back", home.document.stem)]


def test_an_amended_text_is_reported_until_it_is_accepted(project: Home) -> None:
    """What was seen stands nowhere in the history any more: only a person can tell who did that."""
    project.note("Brew tea.")
    project.edit(project.file("brew-tea"), "\nBrew tea.\n", "\nBrew coffee.\n")
    git(project.root, "commit", "-q", "-a", "--amend", "--no-edit")
    assert found(project) == [("rolled-back", "MEMORY")]
    verify(project, "--accept")
    assert found(project) == []


def test_a_sighting_that_a_rebase_joined_with_another_is_no_alarm(project: Home) -> None:
    """Every line that was seen went into the joined file."""
    git(project.root, "checkout", "-q", "-b", "feature")
    assert project.run("confirm", STAGE, "--run", "r5").code == 0
    git(project.root, "checkout", "-q", "main")
    project.file(STAGE).write_text(project.file(STAGE).read_text() + "\nA thought of Bo's.\n")
    project.commit_all()
    git(project.root, "checkout", "-q", "feature")
    git(project.root, "rebase", "-q", "main")
    assert found(project) == []


def test_crlf_in_the_work_tree_is_no_edit(project: Home, tmp_path: Path, learnloop: Run) -> None:
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", str(project.root), "dos")
    dos = project._replace(root=tmp_path / "dos", folder=tmp_path / "dos" / ".claude" / "memory")
    assert b"\r\n" in dos.file(STAGE).read_bytes()
    assert found(dos) == []


def test_what_was_committed_with_crlf_is_no_edit(project: Home) -> None:
    project.file(STAGE).write_bytes(project.file(STAGE).read_bytes().replace(b"\n", b"\r\n"))
    project.commit_all()
    git(project.root, "config", "core.autocrlf", "true")
    assert found(project) == []


def test_a_private_lesson_is_no_finding_and_is_counted(project: Home) -> None:
    git(project.root, "remote", "add", "origin", "https://example.invalid/x.git")
    project.run("note", "Ada prefers short answers.", "--type", "user")
    ran = verify(project)
    assert (ran.code, "1 private" in ran.err) == (0, True)


def test_what_waits_for_its_commit_is_told(project: Home) -> None:
    note_during_a_bad_moment(project)
    assert "waiting for a commit: MEMORY.md, brew-tea.md" in verify(project).err


def test_what_waits_for_its_commit_is_watched_too(project: Home) -> None:
    note_during_a_bad_moment(project)
    project.edit(project.file("brew-tea"), "\nBrew tea.\n", "\nBrew coffee.\n")
    assert found(project) == [("edited", "brew-tea")]


# --- the witness itself ---------------------------------------------------------------------------------------------


def test_the_first_look_takes_the_witness(project: Home) -> None:
    witness.file_of(project.folder.resolve()).unlink()
    head = git(project.root, "rev-parse", "HEAD")
    ran = verify(project)
    assert (ran.code, ran.out, ran.err) == (0, f"taken as seen: {head[:10]}\n", "")
    assert verify(project).out == f"in order, as last seen on {DAY} ({head[:10]})\n"


def test_the_witness_lies_in_the_state_folder(project: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    verify(project)
    assert [path.parent for path in (tmp_path / "state").rglob("*.json")] == [tmp_path / "state/learnloop/witness"]


def test_two_memories_and_a_clone_have_each_its_own(tmp_path: Path, learnloop: Run) -> None:
    """The key is the memory's folder."""
    one = filled(make_home("project", tmp_path / "one", learnloop))
    other = filled(make_home("skill", tmp_path / "other", learnloop))
    git(tmp_path, "clone", "-q", str(one.root), "clone")
    clone = one._replace(root=tmp_path / "clone", folder=tmp_path / "clone" / ".claude" / "memory")
    assert verify(clone).out.startswith("taken as seen")
    hard_reset(one)
    assert [found(where) for where in (one, other, clone)] == [[("rolled-back", "MEMORY")], [], []]


def test_two_memories_of_one_repository_do_not_mix(project: Home, learnloop: Run) -> None:
    (project.root / "skill").mkdir()
    (project.root / "skill" / "SKILL.md").write_text("---\nname: s\ndescription: d\n---\n\n# S\n")
    project.commit_all()
    assert learnloop("init", "--skill", str(project.root / "skill"), cwd=project.root).code == 0
    skill = Home("skill", project.root, project.root / "skill" / "references", learnloop)
    skill.note("Brew tea.")
    edit(project)
    assert (found(project), found(skill)) == ([("edited", STAGE)], [])


def test_a_damaged_witness_is_one_line_until_it_is_taken_again(project: Home) -> None:
    witness.file_of(project.folder.resolve()).write_text("{")
    ran = verify(project)
    assert (ran.code, ran.err.count("\n"), "--accept" in ran.err) == (4, 1, True)
    assert project.run("confirm", STAGE).code == 0
    assert verify(project, "--accept").code == 0


def test_a_witness_that_cannot_be_kept_stops_no_command(
    project: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    ran = project.run("confirm", STAGE)
    assert (ran.code, ran.err) == (0, "")
    assert (verify(project).code, verify(project).err.count("\n")) == (4, 1)


def test_a_witness_that_cannot_be_kept_does_not_hide_the_answer(project: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only state directory: what was seen is compared all the same."""

    def refused(*_: object) -> None:
        raise UnableError("the folder is read-only", "check its permissions")

    monkeypatch.setattr(store, "write", refused)
    ran = verify(project)
    assert (ran.code, "in order" in ran.out, "cannot be kept" in ran.err) == (0, True, True)
    edit(project)
    ran = verify(project)
    assert (ran.code, STAGE in ran.out, "cannot be kept" in ran.err) == (1, True, True)


@pytest.mark.parametrize("commit", [5, "--all", None, ["x"]])
@pytest.mark.parametrize("part", ["commit", "tree"])
def test_a_witness_of_wrong_types_is_damaged(project: Home, part: str, commit: object) -> None:
    """It ends `verify` with its one line, and no other command."""
    row = {"commit": "0" * 40, "when": DAY, "tree": {}} | {part: commit if part == "commit" else {"a.md": commit}}
    witness.file_of(project.folder.resolve()).write_text(json.dumps({"main": row}))
    assert project.run("confirm", STAGE).code == 0
    ran = verify(project)
    assert (ran.code, ran.err.count("\n"), "damaged" in ran.err) == (4, 1, True)


def test_a_command_meanwhile_waits_until_verify_has_noted_what_it_saw(
    project: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an older commit would be noted over a newer one, and its rollback never seen."""
    command = [sys.executable, "-m", "learnloop_md", "note", "Name every unit.", "--memory", str(project.folder)]
    begun: list[subprocess.Popen[bytes]] = []
    save = witness.save

    def slowly(place: Place, rows: Mapping[str, witness.Seen]) -> None:
        begun.append(subprocess.Popen(command, cwd=project.root, stdout=subprocess.DEVNULL))
        with pytest.raises(subprocess.TimeoutExpired):
            begun[0].wait(1.5)
        save(place, rows)

    monkeypatch.setattr(witness, "save", slowly)
    verify(project)
    assert begun[0].wait(60) == 0
    assert seen(project)["main"]["commit"] == git(project.root, "rev-parse", "HEAD")


def test_a_branch_that_is_gone_is_no_alarm_while_something_contains_it(project: Home) -> None:
    """It was renamed, or stands on the remote still."""
    git(project.root, "switch", "-q", "-c", "feature")
    project.note("Name every unit.")
    git(project.root, "branch", "-m", "feature", "renamed")
    git(project.root, "switch", "-q", "main")
    assert found(project) == []


def test_git_that_fails_has_not_lost_a_branch(project: Home, git_fails: Failing) -> None:
    """Reliability 11: else all its lessons are reported as rolled back."""
    git(project.root, "switch", "-q", "-c", "feature")
    project.note("Name every unit.")
    git(project.root, "branch", "-m", "feature", "renamed")
    git(project.root, "switch", "-q", "main")
    with git_fails("for-each-ref --count=1"):
        done = verify(project)
    assert (done.code, "unable to read" in done.err) == (4, True)


def test_a_branch_that_nothing_contains_any_more_is_an_alarm(project: Home) -> None:
    git(project.root, "switch", "-q", "-c", "feature")
    project.note("Name every unit.")
    git(project.root, "switch", "-q", "main")
    git(project.root, "branch", "-q", "-D", "feature")
    assert [code for code, _ in found(project)] == ["rolled-back"]


def test_a_file_that_git_ignores_is_told_and_no_finding(project: Home) -> None:
    (project.root / ".gitignore").write_text("scratch.md\n")
    project.commit_all()
    (project.folder / "scratch.md").write_text("Scratch.\n")
    assert found(project) == []
    assert "scratch.md" in verify(project).err


def test_a_lesson_that_cannot_be_read_is_told_as_such(project: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends neither the look at the others nor passes as in order."""
    opened, read = os.open, Path.read_bytes

    def no_open(path: Any, *more: Any, **named: Any) -> int:
        if Path(path).name == f"{STAGE}.md":
            raise PermissionError(13, "Permission denied")
        return opened(path, *more, **named)

    def no_read(path: Path) -> bytes:
        if path.name == f"{STAGE}.md":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(os, "open", no_open)
    monkeypatch.setattr(Path, "read_bytes", no_read)
    project.edit(project.file(READ), "Read the lines above first.", "Read nothing.")
    assert found(project) == [("edited", READ), ("unreadable", STAGE)]


def test_no_more_than_ten_branches_are_kept(project: Home) -> None:
    for number in range(12):
        git(project.root, "checkout", "-q", "-b", f"b{number}")
        assert project.run("confirm", STAGE, "--run", f"c{number}").code == 0
    assert list(seen(project)) == [f"b{number}" for number in range(2, 12)]


def test_without_git_it_is_one_line(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("project", tmp_path / "plain", learnloop, with_git=False)
    ran = verify(home)
    assert (ran.code, ran.err.count("\n")) == (4, 1)


def test_without_a_commit_of_it_it_is_one_line(repo: Path, learnloop: Run) -> None:
    (repo / "m").mkdir()
    (repo / "m" / "MEMORY.md").write_text("# Memory\n")
    ran = learnloop("verify", "--witness", "--memory", "m", cwd=repo)
    assert (ran.code, ran.err.count("\n")) == (4, 1)
