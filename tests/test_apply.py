"""Plans become files and commits: one change one commit, bad moments queue, and nothing of a person's is touched."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from learnloop_md import apply, place, plumbing
from learnloop_md import git as door
from learnloop_md.commits import Asked
from learnloop_md.errors import RefusedError, UnableError
from learnloop_md.plan import PAST, Draft
from tests.conftest import Ran, Run, git

RULE = "Read the failing log before changing code."
SLUG = "read-the-failing-log-before-changing-code"
OTHER = "Stage files by name."


def subjects(root: Path) -> list[str]:
    return git(root, "log", "--format=%s").splitlines()


def paths_of(root: Path, commit: str = "HEAD") -> list[str]:
    return git(root, "show", "--format=", "--name-only", commit).splitlines()


def one_line(ran: Ran) -> bool:
    """Whether what went to standard error is one line of ours and no traceback."""
    return ran.err.count("\n") == 1 and ran.err.startswith("learnloop: ")


# --- one change, one commit --------------------------------------------------------------------------------


def test_one_change_is_one_commit_of_our_paths(repo: Path, memory: Path, learnloop: Run) -> None:
    """R001-50, R002-42, design §6."""
    assert learnloop("note", RULE, cwd=repo).code == 0
    assert subjects(repo) == [f"learnloop: note {SLUG}", "learnloop: init .claude/memory", "Start"]
    assert paths_of(repo) == [".claude/memory/MEMORY.md", f".claude/memory/{SLUG}.md"]


def test_the_message_has_why_and_trailers(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §6: body says why; Lesson, Learnloop-Change, Run, Learnloop-Command."""
    learnloop("note", RULE, "--why", "The log named the file.", "--run", "r1", cwd=repo)
    message = git(repo, "log", "-1", "--format=%B")
    command = git(repo, "log", "-1", "--format=%(trailers:key=Learnloop-Command,valueonly)").strip()
    assert message == (
        f"learnloop: note {SLUG}\n\nThe log named the file.\n\n"
        f"Lesson: {SLUG}\nLearnloop-Change: note\nRun: r1\nLearnloop-Command: {command}"
    )
    assert len(command) == 8


def test_commits_of_one_command_share_its_id(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", RULE, "--run", "r1", cwd=repo)
    learnloop("note", RULE, "--run", "r2", cwd=repo)
    key = "%(trailers:key=Learnloop-Command,valueonly)"
    ids = git(repo, "log", "-3", f"--format={key}").split()
    assert subjects(repo)[:2] == [f"learnloop: graduate {SLUG}", f"learnloop: see {SLUG}"]
    assert (ids[0] == ids[1], ids[1] == ids[2]) == (True, False)


def test_every_verb_of_a_subject_is_on_the_list(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", RULE, cwd=repo)
    for words in (("pin",), ("unpin",), ("confirm",), ("dispute",), ("graduate",), ("forget",), ("restore",)):
        assert learnloop(words[0], SLUG, cwd=repo).code == 0
    said = git(repo, "log", "--format=%(trailers:key=Learnloop-Change,valueonly)").split()
    assert set(said) <= set(PAST)
    assert len(said) == 9


def test_the_persons_work_stays_byte_for_byte(repo: Path, memory: Path, learnloop: Run) -> None:
    """R002-42: staged, staged-then-edited, unstaged and untracked files, index entries and modes."""
    for name in ("staged", "both", "intended", "tool"):
        (repo / name).write_text(f"{name}\n")
    git(repo, "add", "staged", "both", "tool")
    git(repo, "update-index", "--chmod=+x", "tool")
    git(repo, "add", "--intent-to-add", "intended")
    (repo / "both").write_text("edited again\n")
    (repo / "app.py").write_text("x = 22\n")
    (repo / "loose").write_text("untracked\n")
    (repo / "loose").chmod(0o600)

    def outside() -> tuple[object, ...]:
        rows = [row for row in git(repo, "ls-files", "-s").splitlines() if "\t.claude/memory/" not in row]
        files = sorted(path for path in repo.iterdir() if path.is_file())
        return rows, git(repo, "status", "--short"), [(f.read_bytes(), f.stat().st_mode) for f in files]

    before = outside()
    learnloop("note", RULE, "--run", "r1", cwd=repo)
    learnloop("note", RULE, "--run", "r2", cwd=repo)
    learnloop("undo", cwd=repo)
    assert outside() == before


def test_a_memory_files_mode_is_kept(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", RULE, cwd=repo)
    (memory / f"{SLUG}.md").chmod(0o755)
    git(repo, "commit", "-q", "-am", "Executable")
    learnloop("pin", SLUG, cwd=repo)
    assert git(repo, "ls-tree", "HEAD", f".claude/memory/{SLUG}.md").startswith("100755")
    assert stat.S_IMODE((memory / f"{SLUG}.md").stat().st_mode) == 0o755
    assert git(repo, "status", "--short") == ""


def test_hand_edits_are_a_commit_of_their_own(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", RULE, cwd=repo)
    file = memory / f"{SLUG}.md"
    file.write_text(file.read_text().replace("changing code.", "changing any code."))
    learnloop("note", OTHER, cwd=repo)
    assert subjects(repo)[:2] == ["learnloop: note stage-files-by-name", f"learnloop: absorb {SLUG}"]


def test_a_wrong_command_does_not_even_absorb(repo: Path, memory: Path, learnloop: Run) -> None:
    """A wrong command changes nothing: what it would have absorbed waits for the next one."""
    learnloop("note", RULE, cwd=repo)
    file = memory / f"{SLUG}.md"
    file.write_text(file.read_text() + "\nBy hand.\n")
    before = subjects(repo), file.read_bytes(), git(repo, "status", "--short")
    assert learnloop("pin", "no-such-lesson", cwd=repo).code == 2
    assert (subjects(repo), file.read_bytes(), git(repo, "status", "--short")) == before


def test_dry_run_writes_nothing_at_all(repo: Path, memory: Path, learnloop: Run) -> None:
    """R004-94: not a file, not an object, not a note of ours."""
    learnloop("note", RULE, cwd=repo)

    def everything() -> dict[Path, tuple[int, bytes]]:
        files = (path for path in sorted(repo.rglob("*")) if path.is_file())
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = everything()
    ran = learnloop("note", OTHER, "--dry-run", cwd=repo)
    assert (ran.code, everything()) == (0, before)
    assert "learnloop: note stage-files-by-name" in ran.out


def test_a_person_s_edit_outside_the_memory_is_refused_not_swept(skill: Path, learnloop: Run) -> None:
    """Design §6: SKILL.md with the person's own edits does not get into our commit."""
    learnloop("note", RULE, cwd=skill)
    (skill / "SKILL.md").write_text((skill / "SKILL.md").read_text() + "\nMine, not done yet.\n")
    before = git(skill, "status", "--short"), git(skill, "rev-parse", "HEAD")
    ran = learnloop("codify", SLUG, "--json", cwd=skill)
    assert (ran.code, ran.json["error"]["code"]) == (4, "dirty-target")
    assert (git(skill, "status", "--short"), git(skill, "rev-parse", "HEAD")) == before


def test_a_document_that_is_a_link_stays_one(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §11: written through; the commit has the target, and the link is still a link in the tree."""
    (memory / "MEMORY.md").rename(repo / "notes.md")
    (memory / "MEMORY.md").symlink_to("../../notes.md")
    git(repo, "add", "--all", ".")
    git(repo, "commit", "-q", "-m", "Link")
    assert learnloop("note", RULE, cwd=repo).code == 0
    assert (memory / "MEMORY.md").is_symlink()
    assert git(repo, "ls-tree", "HEAD", ".claude/memory/MEMORY.md").startswith("120000 ")
    assert paths_of(repo) == [f".claude/memory/{SLUG}.md", "notes.md"]
    assert git(repo, "status", "--short") == ""


def test_a_name_git_would_quote_is_committed(repo: Path, memory: Path, learnloop: Run) -> None:
    ran = learnloop("note", "暫存檔案要逐一加入。", cwd=repo)
    assert (ran.code, git(repo, "status", "--short")) == (0, "")


def test_a_single_ignored_lesson_is_never_force_added(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §2: nothing ignored is ever force-added, also when a rule hits one file alone."""
    (repo / ".gitignore").write_text("stage-*\n")
    git(repo, "add", ".gitignore")
    git(repo, "commit", "-q", "-m", "Ignore")
    ran = learnloop("note", OTHER, cwd=repo)
    assert (ran.code, paths_of(repo)) == (0, [".claude/memory/MEMORY.md"])
    assert "git ignores .claude/memory/stage-files-by-name.md: written, not committed" in ran.err


def test_the_git_processes_of_a_note_are_few(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design §11: what agents call inside a turn comes close to the hook door's cost."""
    started: list[str] = []
    real = subprocess.run

    def counted(words: list[str], **rest: object) -> object:
        started.append(words[0])
        return real(words, **rest)  # type: ignore[call-overload]

    monkeypatch.setattr("subprocess.run", counted)
    counts = []
    for number in (1, 2):  # the second sighting graduates the lesson: two commits
        assert learnloop("note", RULE, "--run", f"r{number}", cwd=repo).code == 0
        counts.append(len(started))
        started.clear()
    assert counts[0] <= 16
    assert counts[1] <= 23


# --- bad moments -------------------------------------------------------------------------------------------


def merging(root: Path) -> None:
    diverge(root)
    door.call(root, "merge", "other", check=False)


def rebasing(root: Path) -> None:
    diverge(root)
    door.call(root, "rebase", "other", check=False)


def picking(root: Path) -> None:
    diverge(root)
    door.call(root, "cherry-pick", "other", check=False)


def reverting(root: Path) -> None:
    (root / "app.py").write_text("x = 2\n")
    git(root, "commit", "-q", "-am", "Two")
    (root / "app.py").write_text("x = 3\n")
    git(root, "commit", "-q", "-am", "Three")
    door.call(root, "revert", "--no-edit", "HEAD~1", check=False)


def bisecting(root: Path) -> None:
    git(root, "bisect", "start")


def detached(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")


def diverge(root: Path) -> None:
    git(root, "switch", "-q", "-c", "other")
    (root / "app.py").write_text("x = 2\n")
    git(root, "commit", "-q", "-am", "Two")
    git(root, "switch", "-q", "main")
    (root / "app.py").write_text("x = 3\n")
    git(root, "commit", "-q", "-am", "Three")


def nobody(root: Path) -> None:
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("[user]\n\tuseConfigOnly = true\n")


def locked(root: Path) -> None:
    (root / ".git" / "index.lock").write_bytes(b"")


def somebody(root: Path) -> None:
    Path(os.environ["GIT_CONFIG_GLOBAL"]).write_text("[user]\n\tname = Ada\n\temail = ada@example.invalid\n")


def unlocked(root: Path) -> None:
    (root / ".git" / "index.lock").unlink()


def ends(*words: str) -> Callable[[Path], None]:
    """The git command that ends a bad moment."""

    def end(root: Path) -> None:
        git(root, *words)

    return end


BAD: dict[str, tuple[Callable[[Path], None], Callable[[Path], None], str]] = {
    "merge": (merging, ends("merge", "--abort"), "a merge is in progress"),
    "rebase": (rebasing, ends("rebase", "--abort"), "a rebase is in progress"),
    "cherry-pick": (picking, ends("cherry-pick", "--abort"), "a cherry-pick is in progress"),
    "revert": (reverting, ends("revert", "--abort"), "a revert is in progress"),
    "bisect": (bisecting, ends("bisect", "reset"), "a bisect is in progress"),
    "detached": (detached, ends("switch", "-q", "main"), "HEAD is detached"),
    "nobody": (nobody, somebody, "git knows no name"),
    "locked": (locked, unlocked, "git's index is locked"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_moment_queues_and_the_next_command_commits(
    name: str, repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design §6: written, queued, exit 0, one line; then committed once, with its own message."""
    monkeypatch.setattr(plumbing, "_LOCK_WAIT_S", 0.05)
    begin, end, reason = BAD[name]
    begin(repo)
    head = git(repo, "rev-parse", "HEAD")
    ran = learnloop("note", RULE, "--json", cwd=repo)
    assert (ran.code, ran.json["queued"], ran.json["commits"]) == (0, True, [])
    assert one_line(ran)
    assert f"written, not committed yet: {reason}" in ran.err
    assert (memory / f"{SLUG}.md").is_file()
    assert git(repo, "rev-parse", "HEAD") == head
    assert learnloop("status", "--json", cwd=repo).json["queued"] == 2
    end(repo)
    assert learnloop("sync", cwd=repo).code == 0
    assert subjects(repo).count(f"learnloop: note {SLUG}") == 1
    assert paths_of(repo) == [".claude/memory/MEMORY.md", f".claude/memory/{SLUG}.md"]
    assert learnloop("status", "--json", cwd=repo).json["queued"] == 0


def test_status_and_sync_say_what_waits_and_why(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §6: a queued change is never out of sight."""
    detached(repo)
    learnloop("note", RULE, cwd=repo)
    assert "git       1 queued change waits: HEAD is detached" in learnloop("status", cwd=repo).out
    assert "1 queued change waits: HEAD is detached" in learnloop("sync", cwd=repo).err
    git(repo, "switch", "-q", "main")
    assert "1 queued change waits: learnloop sync commits it" in learnloop("status", cwd=repo).out


def test_words_that_a_person_has_staged_are_not_queued(repo: Path, memory: Path, learnloop: Run) -> None:
    """Their line of the document waits for their own commit."""
    document = memory / "MEMORY.md"
    document.write_text(document.read_text() + "\nMy own words.\n")
    git(repo, "add", str(document))
    learnloop("note", RULE, cwd=repo)
    git(repo, "reset", "-q")
    git(repo, "checkout", "-q", "--", str(document))
    learnloop("sync", cwd=repo)
    assert "My own words" not in git(repo, "log", "-p")
    assert f"({SLUG}.md)" in git(repo, "show", "HEAD:.claude/memory/MEMORY.md")


def test_several_queued_changes_keep_their_messages_and_their_order(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §6: each change once; two changes of one file are two commits, not one."""
    detached(repo)
    learnloop("note", RULE, cwd=repo)
    learnloop("note", OTHER, cwd=repo)
    learnloop("pin", SLUG, cwd=repo)
    git(repo, "switch", "-q", "main")
    learnloop("sync", cwd=repo)
    assert subjects(repo)[:3] == [
        f"learnloop: pin {SLUG}",
        "learnloop: note stage-files-by-name",
        f"learnloop: note {SLUG}",
    ]
    assert "stage-files" not in git(repo, "show", "HEAD~2:.claude/memory/MEMORY.md")
    assert git(repo, "status", "--short") == ""


def test_a_hand_edit_on_top_of_a_queued_change_comes_after_it(repo: Path, memory: Path, learnloop: Run) -> None:
    detached(repo)
    learnloop("note", RULE, cwd=repo)
    file = memory / f"{SLUG}.md"
    file.write_text(file.read_text().replace("changing code.", "changing any code."))
    git(repo, "switch", "-q", "main")
    learnloop("sync", cwd=repo)
    assert subjects(repo)[:2] == [f"learnloop: absorb {SLUG}", f"learnloop: note {SLUG}"]
    assert git(repo, "status", "--short") == ""


def test_the_persons_own_commit_is_not_reverted_by_draining(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §6: somebody committed over a queued change: what they committed stays."""
    detached(repo)
    learnloop("note", RULE, cwd=repo)
    git(repo, "switch", "-q", "main")
    file = memory / f"{SLUG}.md"
    file.write_text(file.read_text().replace("changing code.", "changing any code."))
    git(repo, "add", "--all", ".claude/memory")
    git(repo, "commit", "-q", "-m", "Mine")
    learnloop("sync", cwd=repo)
    assert subjects(repo)[0] == "Mine"
    assert "changing any code." in git(repo, "show", f"HEAD:.claude/memory/{SLUG}.md")


def test_the_persons_commit_of_the_queued_files_empties_the_queue(repo: Path, memory: Path, learnloop: Run) -> None:
    detached(repo)
    learnloop("note", RULE, cwd=repo)
    git(repo, "switch", "-q", "main")
    git(repo, "add", "--all", ".claude/memory")
    git(repo, "commit", "-q", "-m", "Mine")
    learnloop("note", OTHER, cwd=repo)
    assert subjects(repo)[:2] == ["learnloop: note stage-files-by-name", "Mine"]


def test_a_queue_outlives_a_lock_that_comes_back(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock met while draining is a bad moment too, not an error."""
    monkeypatch.setattr(plumbing, "_LOCK_WAIT_S", 0.05)
    detached(repo)
    learnloop("note", RULE, cwd=repo)
    git(repo, "switch", "-q", "main")
    locked(repo)
    assert learnloop("note", OTHER, cwd=repo).code == 0
    unlocked(repo)
    learnloop("sync", cwd=repo)
    assert subjects(repo)[:2] == ["learnloop: note stage-files-by-name", f"learnloop: note {SLUG}"]


@pytest.mark.parametrize(("name", "value"), [("GIT_INDEX_FILE", ".git/index"), ("PRE_COMMIT", "1")])
def test_inside_a_hook_nothing_is_committed(
    name: str, value: str, repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 20."""
    with monkeypatch.context() as patch:
        patch.setenv(name, value)
        ran = learnloop("note", RULE, cwd=repo)
    assert (ran.code, subjects(repo)[0]) == (0, "learnloop: init .claude/memory")
    assert "a git hook is running" in ran.err


def test_a_real_pre_commit_hook_that_notes_lets_the_commit_through(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability 20, 21: the person's commit succeeds and holds only what they staged."""
    hook = repo / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexec {sys.executable} -m learnloop_md note {OTHER!r}\n")
    hook.chmod(0o755)
    (repo / "app.py").write_text("x = 2\n")
    git(repo, "commit", "-q", "-am", "Mine")
    assert paths_of(repo) == ["app.py"]
    assert (memory / "stage-files-by-name.md").is_file()
    learnloop("sync", cwd=repo)
    assert subjects(repo)[0] == "learnloop: note stage-files-by-name"


def test_our_own_staged_file_waits_for_its_person(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability 19: a memory file that the person has staged is theirs to commit; their hunk stays as it is."""
    learnloop("note", RULE, cwd=repo)
    file = memory / f"{SLUG}.md"
    file.write_text(file.read_text() + "\nStaged by hand.\n")
    git(repo, "add", str(file))
    ran = learnloop("pin", SLUG, cwd=repo)
    assert "is staged" in ran.err
    assert "pinned" not in git(repo, "show", f":.claude/memory/{SLUG}.md")
    git(repo, "commit", "-q", "-m", "Mine")
    learnloop("sync", cwd=repo)
    assert "Staged by hand." in git(repo, "show", f"HEAD:.claude/memory/{SLUG}.md")
    assert "pinned: true" in git(repo, "show", f"HEAD:.claude/memory/{SLUG}.md")
    assert git(repo, "status", "--short") == ""


def test_a_staged_file_is_told_as_staged(repo: Path, memory: Path, learnloop: Run) -> None:
    """docs/commands.md: what was staged waits for its person; nobody else is at work."""
    learnloop("note", RULE, cwd=repo)
    document = memory / "MEMORY.md"
    document.write_text(document.read_text() + "\nStaged by hand.\n")
    git(repo, "add", "-A")
    said = ".claude/memory/MEMORY.md is staged"
    ran = learnloop("sync", cwd=repo)
    assert (ran.code, said in ran.out, "everything is in step" in ran.out) == (0, True, False)
    assert said in learnloop("status", cwd=repo).out
    assert f"written, not committed yet: {said}" in learnloop("note", OTHER, cwd=repo).err


def test_an_unborn_branch_of_a_code_repository_queues(tmp_path: Path, learnloop: Run) -> None:
    """Reliability: nobody's project gets its first commit from us."""
    git(tmp_path, "init", "-q")
    assert learnloop("init", cwd=tmp_path).code == 0
    ran = learnloop("note", RULE, cwd=tmp_path)
    assert (ran.code, "the repository has no commit yet" in ran.err) == (0, True)
    assert door.call(tmp_path, "rev-parse", "--verify", "HEAD", check=False).returncode != 0
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Start")
    learnloop("sync", cwd=tmp_path)
    assert subjects(tmp_path) == [f"learnloop: note {SLUG}", "learnloop: init .claude/memory", "Start"]


def test_the_default_branch_can_be_left_alone(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §6: commit_on_default_branch = false queues there and commits elsewhere."""
    (repo / ".learnloop.toml").write_text("commit_on_default_branch = false\n")
    assert "commit_on_default_branch is off" in learnloop("note", RULE, cwd=repo).err
    git(repo, "switch", "-q", "-c", "topic")
    learnloop("sync", cwd=repo)
    assert subjects(repo)[0] == f"learnloop: note {SLUG}"


# --- a memory's own repository -----------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A memory in a repository of its own, without a commit."""
    folder = tmp_path / "own"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "MEMORY.md").write_text("# Memory\n")
    return folder


def test_an_own_repository_commits_on_an_unborn_branch(own: Path, learnloop: Run) -> None:
    ran = learnloop("note", RULE, "--memory", str(own), "--json", cwd=own)
    assert (ran.code, ran.json["queued"]) == (0, False)
    assert subjects(own)[0] == f"learnloop: note {SLUG}"


def test_an_own_repository_commits_without_an_identity(own: Path, learnloop: Run) -> None:
    """Reliability 23: the fallback identity, never somebody else's."""
    nobody(own)
    learnloop("note", RULE, "--memory", str(own), cwd=own)
    assert git(own, "log", "-1", "--format=%an <%ae> %cn <%ce>") == (
        "learnloop <learnloop@localhost> learnloop <learnloop@localhost>"
    )


# --- places that git does not keep -------------------------------------------------------------------------


def test_an_ignored_folder_is_files_only(repo: Path, learnloop: Run) -> None:
    """Reliability 30: one notice, nothing queued, never force-added."""
    folder = repo / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("# Memory\n")
    (repo / ".gitignore").write_text("notes/\n")
    ran = learnloop("note", RULE, "--memory", str(folder), "--json", cwd=repo)
    assert (ran.code, ran.json["queued"], ran.json["commits"]) == (0, False, [])
    assert one_line(ran)
    assert "git ignores" in ran.err
    assert (folder / f"{SLUG}.md").is_file()
    assert subjects(repo) == ["Start"]
    assert learnloop("status", "--memory", str(folder), "--json", cwd=repo).json["queued"] == 0


def test_without_git_the_tool_works_on_files_and_says_so(
    tmp_path: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 14; inside a repository it is refused, or the memory would part from its history."""
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    monkeypatch.setenv("PATH", "/nowhere")
    ran = learnloop("note", RULE, "--memory", str(tmp_path), cwd=tmp_path)
    shown = learnloop("show", "--memory", str(tmp_path), cwd=tmp_path)
    assert (ran.code, shown.code) == (0, 0)
    assert "no git here: files only, no history" in ran.err
    assert "failing log" in shown.out


def test_undo_without_git_is_refused_in_one_line(tmp_path: Path, learnloop: Run) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    ran = learnloop("undo", "--memory", str(tmp_path), cwd=tmp_path)
    assert (ran.code, one_line(ran)) == (4, True)


def test_a_bare_repository_is_refused_with_nothing_written(tmp_path: Path, learnloop: Run) -> None:
    """Reliability 15."""
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    bare = tmp_path / "bare.git"
    (bare / "MEMORY.md").write_text("# Memory\n")
    before = sorted(bare.rglob("*"))
    ran = learnloop("note", RULE, "--memory", str(bare), cwd=bare)
    assert (ran.code, one_line(ran), sorted(bare.rglob("*"))) == (4, True, before)


def test_a_symlinked_memory_is_refused(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability 31."""
    (repo / "link").symlink_to(memory)
    ran = learnloop("note", RULE, "--memory", "link", "--json", cwd=repo)
    assert (ran.code, ran.json["error"]["code"]) == (4, "symlink-escape")
    assert not (memory / f"{SLUG}.md").exists()


def test_a_folder_that_cannot_be_written_is_one_line(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 13: exit 4, nothing half written."""

    def read_only(source: str, target: str) -> None:
        raise OSError(30, "Read-only file system")

    before = {path: path.read_bytes() for path in memory.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr("learnloop_md.store.os.replace", read_only)
        ran = learnloop("note", RULE, cwd=repo)
    assert (ran.code, one_line(ran)) == (4, True)
    assert "Read-only file system" in ran.err
    assert {path: path.read_bytes() for path in memory.iterdir()} == before


def test_a_file_in_the_place_of_the_lessons_folder_is_one_line(skill: Path, learnloop: Run) -> None:
    (skill / "references" / "lessons").write_text("not a folder\n")
    before = (skill / "references" / "memory.md").read_bytes()
    ran = learnloop("note", RULE, cwd=skill)
    assert (ran.code, one_line(ran)) == (4, True)
    assert (skill / "references" / "memory.md").read_bytes() == before


def test_foreign_files_are_left_and_the_rest_is_served(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability 32: a pipe and a folder named like lessons neither hang nor stop anything."""
    os.mkfifo(memory / "pipe.md")
    (memory / "folder.md").mkdir()
    assert learnloop("note", RULE, cwd=repo).code == 0
    said = {row["path"]: row["reason"] for row in learnloop("status", "--json", cwd=repo).json["quarantined"]}
    assert said == {"pipe.md": "not-a-regular-file", "folder.md": "not-a-regular-file"}


def test_a_document_that_is_a_pipe_keeps_nobody_waiting(repo: Path, memory: Path) -> None:
    """Reliability 32: a command that waits for its other end would hold the lock for ever."""
    (memory / "MEMORY.md").unlink()
    os.mkfifo(memory / "MEMORY.md")
    for words in (["sync"], ["note", RULE], ["status"]):
        command = [sys.executable, "-m", "learnloop_md", *words]
        done = subprocess.run(command, cwd=repo, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (4, 1)
        assert "MEMORY.md is no regular file" in done.stderr


def test_a_lesson_that_changed_under_the_command_is_not_overwritten(repo: Path, memory: Path) -> None:
    found = place.find(repo)

    def build(draft: Draft) -> None:
        draft.edit("MEMORY.md", "something else\n", "ours\n")
        draft.cut("edit", [], "", document=False)

    before = (memory / "MEMORY.md").read_bytes()
    with pytest.raises(UnableError) as caught:
        apply.change(found, Asked("2026-06-01"), build)
    assert (caught.value.code, (memory / "MEMORY.md").read_bytes()) == ("changed", before)


def test_a_secret_in_the_second_plan_stops_the_first(repo: Path, memory: Path) -> None:
    """R004-20: everything is scanned before the first byte is written."""
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"

    def build(draft: Draft) -> None:
        draft.edit("one.md", None, "Fine.\n")
        draft.cut("edit", [], "", document=False)
        draft.edit("two.md", None, f"token = {secret}\n")
        draft.cut("edit", [], "", document=False)

    with pytest.raises(RefusedError):
        apply.change(place.find(repo), Asked("2026-06-01"), build)
    assert not (memory / "one.md").exists()


# --- many at once ------------------------------------------------------------------------------------------


def test_eight_notes_at_once_are_eight_lessons_in_eight_commits(repo: Path, memory: Path) -> None:
    """Reliability 1: real processes on one checkout; nothing is lost, everything is committed."""
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"]
    rules = [f"Check the {word} gauge before {word} starts." for word in words]
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "learnloop_md", "note", rule, "--new", "--run", f"r{n}"],
            cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for n, rule in enumerate(rules)
    ]  # fmt: skip
    codes = [(process.communicate(timeout=60), process.returncode)[1] for process in started]
    assert codes == [0] * 8
    assert len(list(memory.glob("check-the-*.md"))) == 8
    assert len([subject for subject in subjects(repo) if subject.startswith("learnloop: note")]) == 8
    assert git(repo, "status", "--short") == ""
    assert git(repo, "show", "HEAD:.claude/memory/MEMORY.md").count("- [Check the") == 8


# --- answers for programs ----------------------------------------------------------------------------------

CHANGE_COMMANDS = {
    "note": ("note", OTHER),
    "confirm": ("confirm", SLUG),
    "dispute": ("dispute", SLUG),
    "pin": ("pin", SLUG),
    "unpin": ("unpin", SLUG),
    "graduate": ("graduate", SLUG),
    "archive": ("archive", SLUG, "--note", "Old."),
    "forget": ("forget", SLUG),
    "restore": ("restore", SLUG),
    "rename": ("rename", SLUG, "read-logs"),
    "codify": ("codify", SLUG),
    "promote": ("promote", SLUG),
    "cleanup": ("cleanup", "--apply"),
    "sync": ("sync",),
    "undo": ("undo",),
    "init": ("init",),
}


@pytest.mark.parametrize("name", CHANGE_COMMANDS)
def test_every_change_answers_the_same_keys(name: str, repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §12: action, slug, state, commits, queued, paths."""
    learnloop("note", RULE, cwd=repo)
    ran = learnloop(*CHANGE_COMMANDS[name], "--json", cwd=repo)
    assert ran.code == 0
    assert {"action", "slug", "state", "commits", "queued", "paths"} <= ran.json.keys()
    assert all(git(repo, "cat-file", "-t", commit) == "commit" for commit in ran.json["commits"])


def test_a_change_answers_what_it_did(repo: Path, memory: Path, learnloop: Run) -> None:
    said = learnloop("note", RULE, "--json", cwd=repo).json
    assert (said["action"], said["slug"], said["state"], said["queued"]) == ("added", SLUG, "candidate", False)
    assert said["commits"] == [git(repo, "rev-parse", "HEAD")]
    assert sorted(said["paths"]) == ["MEMORY.md", f"{SLUG}.md"]


ERRORS = {
    "usage": (("pin", "nothing"), 2),
    "no memory": (("status", "--memory", "nowhere"), 4),
    "bad date": (("note", RULE, "--today", "soon"), 2),
}


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_answers_the_same_keys(name: str, repo: Path, memory: Path, learnloop: Run) -> None:
    words, code = ERRORS[name]
    ran = learnloop(*words, "--json", cwd=repo)
    assert (ran.code, ran.json["error"].keys()) == (code, {"code", "message", "hint"})


# --- a skill -----------------------------------------------------------------------------------------------


@pytest.fixture
def skill(repo: Path, learnloop: Run) -> Path:
    """A skill with a memory of its own in the repository."""
    folder = repo / "skills" / "review"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: review\ndescription: Review changes\n---\n\n# Review\n")
    git(repo, "add", "skills")
    git(repo, "commit", "-q", "-m", "Skill")
    assert learnloop("init", "--skill", ".", cwd=folder).code == 0
    return folder


def test_a_skills_change_is_one_commit_of_its_paths(skill: Path, learnloop: Run) -> None:
    learnloop("note", RULE, cwd=skill)
    assert paths_of(skill) == [
        f"skills/review/references/lessons/{SLUG}.md",
        "skills/review/references/memory.md",
    ]


def test_codifying_is_one_commit_of_skill_and_memory(skill: Path, learnloop: Run) -> None:
    """Design §5, issue: SKILL.md and memory in one commit."""
    learnloop("note", RULE, cwd=skill)
    learnloop("codify", SLUG, cwd=skill)
    assert paths_of(skill) == [
        "skills/review/SKILL.md",
        f"skills/review/references/lessons/{SLUG}.md",
        "skills/review/references/memory.md",
    ]


def test_the_queue_is_kept_beside_the_memory_not_in_it(repo: Path, memory: Path, learnloop: Run) -> None:
    detached(repo)
    learnloop("note", RULE, cwd=repo)
    kept = [json.loads(path.read_text()) for path in (repo / ".git" / "learnloop").rglob("ledger.json")]
    assert [len(ledger["queue"]) for ledger in kept] == [1]
    assert sorted(path.name for path in memory.iterdir()) == ["MEMORY.md", f"{SLUG}.md"]


def test_a_lesson_that_is_private_no_more_enters_git(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §2: what kept it out is taken back; its line and its file arrive together."""
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    learnloop("note", "Bo prefers long answers.", "--type", "user", "--name", "bo", cwd=repo)
    path = memory / "bo.md"
    path.write_text(path.read_text().replace("type: user", "type: feedback"))
    learnloop("sync", cwd=repo)
    assert ".claude/memory/bo.md" in git(repo, "ls-files")
    assert "bo.md" in git(repo, "show", "HEAD:.claude/memory/MEMORY.md")
    assert git(repo, "status", "--porcelain", "--ignored", ".claude/memory") == ""


@pytest.mark.parametrize("name", [b"gr\xfc.md", b"new\nline.md", b"bell\x07.md"])
def test_a_name_that_cannot_be_read_is_quarantined_and_stops_nobody(
    repo: Path, memory: Path, learnloop: Run, name: bytes
) -> None:
    (memory / os.fsdecode(name)).write_text("Plain.\n")
    ran = learnloop("note", RULE, "--json", cwd=repo)
    assert (ran.code, bool(ran.json["commits"])) == (0, True)
    before = (memory / "MEMORY.md").read_bytes()
    assert learnloop("sync", cwd=repo).code == 0
    assert (memory / "MEMORY.md").read_bytes() == before
    assert [row["reason"] for row in learnloop("status", "--json", cwd=repo).json["quarantined"]] == ["bad-name"]
    assert learnloop("check", cwd=repo).code == 1


def test_a_careful_line_end_setting_does_not_stop_a_commit(repo: Path, memory: Path, learnloop: Run) -> None:
    git(repo, "config", "core.autocrlf", "true")
    git(repo, "config", "core.safecrlf", "true")
    ran = learnloop("note", RULE, "--json", cwd=repo)
    assert (ran.code, len(ran.json["commits"])) == (0, 1)


def test_what_a_rebase_abort_took_back_is_there_again_after_draining(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §6: queued changes survive `rebase --abort`, and are not absorbed as a removal right after."""
    learnloop("note", RULE, "--run", "r1", cwd=repo)
    rebasing(repo)
    learnloop("confirm", SLUG, "--run", "c1", cwd=repo)
    git(repo, "rebase", "--abort")
    learnloop("sync", cwd=repo)
    assert "run: c1" in (memory / f"{SLUG}.md").read_text()
    assert "run: c1" in git(repo, "show", f"HEAD:.claude/memory/{SLUG}.md")
    assert git(repo, "status", "--porcelain") == ""


def test_a_branch_switch_is_no_removal_by_hand(repo: Path, memory: Path, learnloop: Run) -> None:
    git(repo, "switch", "-q", "-c", "side")
    learnloop("note", RULE, cwd=repo)
    git(repo, "switch", "-q", "main")
    assert "removed by hand" not in learnloop("sync", cwd=repo).err
    git(repo, "switch", "-q", "side")
    assert learnloop("sync", "--json", cwd=repo).json["action"] == "unchanged"


def test_codify_from_a_linked_worktree_is_refused(repo: Path, memory: Path, tmp_path: Path, learnloop: Run) -> None:
    learnloop("note", RULE, cwd=repo)
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    assert learnloop("codify", SLUG, cwd=tmp_path / "tree").code == 4
    assert not (repo / "CLAUDE.md").exists()


def test_what_waits_already_is_queued_once(tmp_path: Path, learnloop: Run) -> None:
    root = tmp_path / "new"
    root.mkdir()
    git(root, "init", "-q")
    for _ in range(3):
        learnloop("init", cwd=root)
        learnloop("sync", cwd=root)
    (root / "a").write_text("x")
    git(root, "add", "a")
    git(root, "commit", "-q", "-m", "Start")
    assert len(learnloop("sync", "--json", cwd=root).json["commits"]) == 1


# --- borders: other repositories, private lessons, other writers ---------------------------------------------------


def nested(repo: Path) -> Path:
    """A repository inside the repository, tracked as a link to its commit."""
    inner = repo / "sub"
    git(repo, "init", "-q", "sub")
    (inner / "CLAUDE.md").write_text("# S\n")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "S")
    git(repo, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    git(repo, "commit", "-q", "-m", "Link")
    return inner


def test_a_rule_for_an_embedded_repository_is_no_commit_of_ours(repo: Path, memory: Path, learnloop: Run) -> None:
    """It would replace the link to its commit by a folder."""
    inner = nested(repo)
    learnloop("note", OTHER, cwd=repo)
    link = git(repo, "ls-tree", "HEAD", "sub")
    ran = learnloop("codify", "stage-files", "--into", "sub/CLAUDE.md", cwd=repo)
    assert (ran.code, "lies in another repository" in ran.err) == (0, True)
    assert OTHER.rstrip(".") in (inner / "CLAUDE.md").read_text()
    assert (git(repo, "ls-tree", "HEAD", "sub"), git(inner, "diff", "--cached")) == (link, "")


def test_a_branch_holds_neither_another_repository_nor_an_ignored_file(
    repo: Path, memory: Path, learnloop: Run
) -> None:
    nested(repo)
    (repo / ".gitignore").write_text("CLAUDE.local.md\n")
    (repo / "CLAUDE.local.md").write_text("my own note\n")
    git(repo, "add", ".gitignore")
    git(repo, "commit", "-q", "-m", "Ignore")
    learnloop("note", OTHER, cwd=repo)
    for target, code in (("sub/CLAUDE.md", "outside"), ("CLAUDE.local.md", "ignored")):
        ran = learnloop("codify", "stage-files", "--into", target, "--branch", "rule", "--json", cwd=repo)
        assert (ran.code, ran.json["error"]["code"]) == (4, code)
    assert git(repo, "branch", "--list", "rule") == ""


def test_a_branch_of_nothing_new_with_a_hand_edit_pending_is_refused(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", RULE, cwd=repo)
    learnloop("note", OTHER, cwd=repo)
    learnloop("codify", "stage-files", cwd=repo)
    with (memory / f"{SLUG}.md").open("a") as file:
        file.write("More words.\n")
    ran = learnloop("codify", "stage-files", "--branch", "rule", "--json", cwd=repo)
    assert ran.json["error"]["code"] == "dirty-memory"


def test_a_queued_rule_waits_for_what_a_person_staged_in_its_target(repo: Path, memory: Path, learnloop: Run) -> None:
    """Their index entry keeps its bytes, their words are in no commit of ours."""
    (repo / "CLAUDE.md").write_text("# C\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "C")
    learnloop("note", OTHER, cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    learnloop("codify", "stage-files", "--into", "CLAUDE.md", cwd=repo)
    git(repo, "checkout", "-q", "main")
    with (repo / "CLAUDE.md").open("a") as file:
        file.write("MINE\n")
    git(repo, "add", "CLAUDE.md")
    staged = git(repo, "ls-files", "-s", "CLAUDE.md")
    learnloop("sync", cwd=repo)
    assert git(repo, "ls-files", "-s", "CLAUDE.md") == staged
    assert git(repo, "show", "HEAD:CLAUDE.md") == "# C"


def test_a_queued_lesson_that_became_private_never_enters_git(repo: Path, memory: Path, learnloop: Run) -> None:
    git(repo, "remote", "add", "origin", "/nowhere")
    git(repo, "checkout", "-q", "--detach")
    learnloop("note", RULE, cwd=repo)
    file = memory / f"{SLUG}.md"
    file.write_text(file.read_text().replace("type: feedback", "type: user"))
    git(repo, "checkout", "-q", "main")
    learnloop("sync", cwd=repo)
    assert SLUG not in git(repo, "log", "-p", "--format=%B")


def test_a_queued_change_whose_objects_git_has_pruned_is_committed_as_it_stands(
    repo: Path, memory: Path, learnloop: Run
) -> None:
    """The queue names objects that no commit holds: `git gc` may take them after two weeks."""
    git(repo, "checkout", "-q", "--detach")
    learnloop("note", RULE, cwd=repo)
    git(repo, "checkout", "-q", "main")
    (memory / f"{SLUG}.md").write_text((memory / f"{SLUG}.md").read_text() + "\nMore.\n")
    git(repo, "prune", "--expire=now")
    assert learnloop("sync", cwd=repo).code == 0
    assert "More." in git(repo, "show", f"HEAD:.claude/memory/{SLUG}.md")
    assert git(repo, "status", "--porcelain") == ""


def secret(letter: str) -> str:
    return "".join(("gh", "p_", letter, "1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"))


def test_a_secret_that_took_another_s_place_is_refused(repo: Path, memory: Path, learnloop: Run) -> None:
    """R004-20: that git knows one token does not let the next one in."""
    index = memory / "MEMORY.md"
    index.write_text(f"{index.read_text()}\nold {secret('A')}\n")
    git(repo, "commit", "-qam", "Oops")
    index.write_text(index.read_text().replace(secret("A"), secret("B")))
    assert learnloop("sync", cwd=repo).code == 3
    assert secret("B") not in git(repo, "show", "HEAD:.claude/memory/MEMORY.md")


def test_what_another_writer_adds_after_the_scan_is_not_committed(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R004-20: git gets the bytes that were scanned, or none."""
    index = memory / "MEMORY.md"
    index.write_text(index.read_text() + "\nA hand edit.\n")
    hash_all = door.on_disk

    def racing(*given: object) -> object:
        index.write_text(f"{index.read_text()}{secret('A')}\n")
        return hash_all(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(door, "on_disk", racing)
    ran = learnloop("sync", cwd=repo)
    assert "changed while the command ran" in ran.err
    assert secret("A") not in git(repo, "show", "HEAD:.claude/memory/MEMORY.md")


def test_a_memory_given_from_a_linked_worktree_does_not_move_the_main_checkout(
    repo: Path, memory: Path, learnloop: Run
) -> None:
    git(repo, "worktree", "add", "-q", "../side", "-b", "side")
    was = git(repo, "rev-parse", "main")
    ran = learnloop("note", RULE, "--memory", str(memory), cwd=repo.parent / "side")
    assert (ran.code, git(repo, "rev-parse", "main")) == (0, was)
    assert "must not move under its user" in ran.err


def test_an_index_in_conflict_is_refused_with_the_way_out(repo: Path, memory: Path, learnloop: Run) -> None:
    index = memory / "MEMORY.md"
    text = index.read_text()
    index.write_text(f"{text}\nMine.\n")
    git(repo, "stash")
    index.write_text(f"{text}\nTheirs.\n")
    git(repo, "commit", "-qam", "Theirs")
    subprocess.run(["git", "stash", "pop"], cwd=repo, capture_output=True, check=False)
    index.write_text(f"{text}\nTheirs.\n\nMine.\n")  # resolved on disk, not yet for git
    ran = learnloop("note", RULE, cwd=repo)
    assert (ran.code, "resolve it, then: git add" in ran.err, one_line(ran)) == (4, True, True)
    assert not (memory / f"{SLUG}.md").exists()


def test_a_person_s_link_to_a_lesson_is_left_alone(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", RULE, cwd=repo)
    (memory / "alias.md").symlink_to(f"{SLUG}.md")
    assert "in step" in learnloop("sync", cwd=repo).out
    assert learnloop("status", "--json", cwd=repo).json["queued"] == 0


def test_an_exclude_file_in_another_encoding_keeps_its_bytes(repo: Path, memory: Path, learnloop: Run) -> None:
    git(repo, "remote", "add", "origin", "/nowhere")
    exclude = repo / ".git" / "info" / "exclude"
    exclude.write_bytes(b"caf\xe9/\n")
    assert learnloop("note", RULE, "--type", "user", cwd=repo).code == 0
    assert exclude.read_bytes().startswith(b"caf\xe9/\n")
    assert SLUG in exclude.read_text("latin-1")


def test_a_command_that_stops_between_two_changes_says_which_one_is_made(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 11: each change is old or new, and nobody has to guess which."""
    assert learnloop("note", RULE, "--run", "r1", cwd=repo).code == 0
    before = (memory / "MEMORY.md").read_bytes()
    real = os.replace

    def full(source: Path, goal: Path) -> None:
        if Path(goal).name == "MEMORY.md":
            raise OSError(28, "No space left on device")
        real(source, goal)

    monkeypatch.setattr(os, "replace", full)
    ran = learnloop("note", RULE, "--run", "r2", cwd=repo)
    monkeypatch.setattr(os, "replace", real)
    assert (ran.code, len(ran.err.splitlines())) == (4, 1)
    assert f"done is see {SLUG}, the rest is not" in ran.err
    assert (memory / "MEMORY.md").read_bytes() == before
    assert learnloop("graduate", SLUG, cwd=repo).code == 0


def test_what_waited_goes_on_waiting_where_neither_index_nor_ledger_can_be_written(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 11: had HEAD moved without the index, a person's next commit would remove the lesson."""
    detached(repo)
    assert learnloop("note", RULE, cwd=repo).code == 0
    git(repo, "switch", "-q", "main")
    before = subjects(repo)[0]
    real = os.replace

    def full(source: Path, goal: Path) -> None:
        if Path(goal).name in ("index", "ledger.json"):
            raise OSError(28, "No space left on device")
        real(source, goal)

    monkeypatch.setattr(os, "replace", full)
    learnloop("sync", "--after-commit", cwd=repo)
    monkeypatch.setattr(os, "replace", real)
    assert (subjects(repo)[0], git(repo, "diff", "--cached", "--name-only")) == (before, "")
    assert learnloop("sync", cwd=repo).code == 0
    assert git(repo, "status", "--porcelain") == ""
    assert subjects(repo)[0] == f"learnloop: note {SLUG}"
