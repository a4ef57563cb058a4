"""Changes that wait for their commit: every sync says that they do, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from learnloop_md import plumbing, store
from tests.conftest import CopyOf, Run, git
from tests.homes import Home, make_home
from tests.test_busy import writing

SLUG = "stage-files-by-name"
NOTE = "Stage files by name."
LOCKS = {"index.lock": "git's index is locked", "refs/heads/main.lock": "main.lock': File exists"}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that nobody will free is not waited for."""
    monkeypatch.setattr(plumbing, "_LOCK_WAIT_S", 0.05)


def locked(repo: Path, lock: str) -> Path:
    """A lock that another git left."""
    file = repo / ".git" / lock
    file.touch()
    return file


@pytest.mark.parametrize("lock", LOCKS)
def test_every_sync_says_why_a_queued_change_still_waits(repo: Path, memory: Path, learnloop: Run, lock: str) -> None:
    """Design §6: what is not committed is told each time, also where the command before has queued it."""
    file = locked(repo, lock)
    assert LOCKS[lock] in learnloop("note", NOTE, cwd=repo).err
    for _ in range(2):
        done = learnloop("sync", cwd=repo)
        assert (done.code, done.out) == (0, "everything else is in step\n")
        assert done.err.startswith("learnloop: 1 queued change waits: ")
        assert LOCKS[lock] in done.err
    told = learnloop("sync", "--json", cwd=repo).json
    assert (told["action"], told["queued"], told["commits"]) == ("unchanged", True, [])
    assert LOCKS[lock] in told["waiting"]
    assert "1 queued change waits" in learnloop("status", cwd=repo).out
    file.unlink()
    told = learnloop("sync", "--json", cwd=repo).json
    assert (len(told["commits"]), told["queued"], told["waiting"]) == (1, False, "")
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: note {SLUG}"
    assert git(repo, "status", "--short") == ""


@pytest.mark.parametrize("lock", LOCKS)
def test_a_hand_edit_joins_the_queue_and_no_step_is_claimed(
    repo: Path, memory: Path, learnloop: Run, lock: str
) -> None:
    """What waits already is queued no second time; what is new is."""
    file = locked(repo, lock)
    learnloop("note", NOTE, cwd=repo)
    document = memory / "MEMORY.md"
    document.write_text(document.read_text() + "\nProse of a person.\n")
    done = learnloop("sync", cwd=repo)
    assert "brought in step" not in done.out
    assert "written, not committed yet" in done.err
    assert learnloop("sync", "--json", cwd=repo).json["waiting"].startswith("2 queued changes wait: ")
    file.unlink()
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-2", "--format=%s").splitlines() == ["learnloop: absorb", f"learnloop: note {SLUG}"]
    assert git(repo, "status", "--short") == ""


def test_while_an_editor_is_open_sync_claims_no_step(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability row 22."""
    (repo / "app.py").write_text("x = 2\n")
    git(repo, "add", "app.py")
    person = writing(repo, "commit")
    try:
        learnloop("note", NOTE, cwd=repo)
        done = learnloop("sync", cwd=repo)
        told = learnloop("sync", "--json", cwd=repo).json
    finally:
        (repo.parent / "go").touch()
    assert person.wait(timeout=60) == 0
    assert (done.out, told["queued"]) == ("everything else is in step\n", True)
    assert "1 queued change waits: git commit is running here" in done.err


def test_in_a_rebase_sync_claims_no_step(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability row 20."""
    (repo / ".git" / "rebase-merge").mkdir()
    learnloop("note", NOTE, cwd=repo)
    document = memory / "MEMORY.md"
    document.write_text(document.read_text() + "\nProse of a person.\n")
    outs = [learnloop("sync", cwd=repo) for _ in range(2)]
    assert [("brought in step" in done.out, "rebase" in done.err) for done in outs] == [(False, True)] * 2
    assert learnloop("sync", "--json", cwd=repo).json["queued"] is True


def test_what_is_committed_beside_a_staged_lesson_is_not_everything(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §6: a staged lesson waits for its person."""
    learnloop("note", NOTE, cwd=repo)
    lesson, document = memory / f"{SLUG}.md", memory / "MEMORY.md"
    lesson.write_text(lesson.read_text() + "\n**Why:** A person's words.\n")
    git(repo, "add", str(lesson))
    learnloop("sync", cwd=repo)
    document.write_text(document.read_text() + "\nProse of a person.\n")
    told = learnloop("sync", cwd=repo)
    assert "; everything else is in step (" in told.out
    assert "A person's words" not in git(repo, "show", f"HEAD:.claude/memory/{SLUG}.md")


BAD_STATES = {
    "comma": '{"a":1,}',
    "twice": '{"a": 1, "a": 2}',
    "NaN": '{"a": NaN}',
    "list": "[1]",
    "surrogate": '{"a": "' + "\\ud800" + '"}',
}


@pytest.mark.parametrize("text", BAD_STATES.values(), ids=BAD_STATES)
def test_a_state_that_nobody_can_read_is_no_state_in_step(repo: Path, memory: Path, learnloop: Run, text: str) -> None:
    """Design §6: it is left as it is, and every answer says that HEAD has another."""
    learnloop("state", "set", "a", "1", cwd=repo)
    (memory / "memory.json").write_text(text)
    done, told = learnloop("sync", cwd=repo), learnloop("sync", "--json", cwd=repo).json
    assert done.out.startswith("1 of our files differs from HEAD: memory.json:1: ")
    assert done.out.endswith("; left as it is, not committed; everything else is in step\n")
    assert told["waiting"] in done.out
    assert "git       1 of our files differs from HEAD: memory.json:1: " in learnloop("status", cwd=repo).out
    assert learnloop("status", "--json", cwd=repo).json["queued"] == 1
    assert (memory / "memory.json").read_text() == text


MANGLED = {
    "markers": b"<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n",
    "bytes": b"\xff\n",
    "secret": b"".join((b"key AKIA", b"IOSFODNN7EXAMPLQ\n")),
}


@pytest.mark.parametrize("more", MANGLED.values(), ids=MANGLED)
def test_a_quarantined_lesson_is_not_in_step(repo: Path, memory: Path, learnloop: Run, more: bytes) -> None:
    """The same of a lesson file that no commit may have."""
    learnloop("note", NOTE, cwd=repo)
    lesson = memory / f"{SLUG}.md"
    lesson.write_bytes(lesson.read_bytes() + more)
    first = learnloop("sync", cwd=repo)  # its line is for the readable ones
    done = learnloop("sync", cwd=repo)
    for out in (first.out, done.out):
        assert out.startswith(f"1 of our files differs from HEAD: {SLUG}.md:")
        assert "; left as it is, not committed; everything else is in step" in out
    assert f"git       1 of our files differs from HEAD: {SLUG}.md:" in learnloop("status", cwd=repo).out
    assert git(repo, "status", "--short") == f" M .claude/memory/{SLUG}.md"


HOW = "\n**How to apply:** A person's words.\n"
LESSON = f".claude/memory/{SLUG}.md"
VERBS = {
    "confirm": ("confirm", SLUG, "--evidence", "PR 9", "--run", "s-77"),
    "archive": ("archive", SLUG, "--note", "It is over.", "--run", "s-77"),
    "pin": ("pin", SLUG, "--run", "s-77"),
}


@pytest.fixture
def staged(repo: Path, memory: Path, learnloop: Run) -> Path:
    """A lesson with words that a person has staged."""
    learnloop("note", NOTE, "--why", "Others commit beside us.", cwd=repo)
    lesson = memory / f"{SLUG}.md"
    lesson.write_text(lesson.read_text() + HOW)
    git(repo, "add", str(lesson))
    return lesson


def added(repo: Path, commit: str = "HEAD") -> str:
    """What a commit adds, line by line."""
    return git(repo, "show", "--format=", commit)


@pytest.mark.parametrize("verb", VERBS)
def test_a_command_keeps_its_name_when_the_staged_words_are_committed(
    repo: Path, staged: Path, learnloop: Run, verb: str
) -> None:
    """Design §6: subject, reason and trailers are the command's, and what is committed under them is its alone."""
    assert "is staged" in learnloop(*VERBS[verb], cwd=repo).err
    git(repo, "commit", "-qm", "Mine")
    assert "A person's words" in added(repo)
    learnloop("sync", cwd=repo)
    subjects = git(repo, "log", "-2", "--format=%s").splitlines()
    assert subjects == [f"learnloop: {verb} {SLUG}", "Mine"]
    message = git(repo, "log", "-1", "--format=%B")
    assert (f"Learnloop-Change: {verb}" in message, "Run: s-77" in message) == (True, True)
    assert ("PR 9" in message, "It is over." in message) == (verb == "confirm", verb == "archive")
    assert "+**How to apply:**" not in added(repo)
    assert git(repo, "status", "--short") == ""


def test_a_line_that_follows_the_staged_words_is_absorbed_after_the_command(
    repo: Path, staged: Path, learnloop: Run
) -> None:
    """The reason of a lesson stands in its line too: that change of the document is no part of the command."""
    staged.write_text(staged.read_text().replace("Others commit beside us.", "A person's reason."))
    git(repo, "add", str(staged))
    learnloop(*VERBS["confirm"], cwd=repo)
    git(repo, "commit", "-qm", "Mine")
    learnloop("sync", cwd=repo)
    subjects = git(repo, "log", "-3", "--format=%s").splitlines()
    assert subjects == ["learnloop: absorb", f"learnloop: confirm {SLUG}", "Mine"]
    assert "A person's reason" not in added(repo, "HEAD^")
    assert git(repo, "status", "--short") == ""


def test_two_commands_on_a_staged_lesson_are_two_commits(repo: Path, staged: Path, learnloop: Run) -> None:
    learnloop(*VERBS["confirm"], cwd=repo)
    learnloop(*VERBS["archive"], cwd=repo)
    git(repo, "commit", "-qm", "Mine")
    assert learnloop("log", cwd=repo).code == 0
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-3", "--format=%s").splitlines() == [
        f"learnloop: archive {SLUG}",
        f"learnloop: confirm {SLUG}",
        "Mine",
    ]
    assert git(repo, "status", "--short") == ""


def test_a_count_beside_a_staged_state_keeps_its_name(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("state", "set", "a", "1", cwd=repo)
    state = memory / "memory.json"
    state.write_text('{\n  "a": 1,\n  "b": 7\n}\n')
    git(repo, "add", str(state))
    learnloop("state", "incr", "a", cwd=repo)
    git(repo, "commit", "-qm", "Mine")
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-2", "--format=%s").splitlines() == ["learnloop: state a", "Mine"]
    assert [line for line in added(repo).splitlines() if line[0] in "+-"][2:] == ['-  "a": 1,', '+  "a": 2,']
    assert git(repo, "status", "--short") == ""


@pytest.mark.parametrize("way", [("reset", "-q", "--hard"), ("checkout", "-q", "HEAD", "--", LESSON)])
def test_staged_words_that_are_taken_back_do_not_return(
    repo: Path, staged: Path, learnloop: Run, way: tuple[str, ...]
) -> None:
    """Neither they nor what a command made of them."""
    learnloop(*VERBS["confirm"], cwd=repo)
    git(repo, *way)
    learnloop("sync", cwd=repo)
    assert "A person's words" not in staged.read_text()
    assert "A person's words" not in git(repo, "show", f"HEAD:{LESSON}")
    assert git(repo, "status", "--short") == ""


def test_other_words_than_the_staged_ones_are_no_part_of_a_queued_command(
    repo: Path, staged: Path, learnloop: Run
) -> None:
    """What a person committed instead is not overwritten: what stands on disk is absorbed."""
    learnloop(*VERBS["confirm"], cwd=repo)
    staged.write_text(staged.read_text() + "\nMore of them.\n")
    kept = staged.read_text()
    git(repo, "add", str(staged))
    git(repo, "commit", "-qm", "Mine")
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s") == "Mine"
    assert (staged.read_text(), git(repo, "status", "--short")) == (kept, "")


def test_a_document_edited_before_is_not_committed_under_a_command_s_name(
    repo: Path, memory: Path, staged: Path, learnloop: Run
) -> None:
    """Words of a person in the line of a staged lesson are absorbed as theirs."""
    document = memory / "MEMORY.md"
    document.write_text(document.read_text().replace(f"({SLUG}.md)", f"({SLUG}.md) — a hook of a person's"))
    learnloop(*VERBS["confirm"], cwd=repo)
    git(repo, "commit", "-qm", "Mine")
    learnloop("sync", cwd=repo)
    mine = git(repo, "log", "--format=%H", "--grep=^learnloop: confirm").strip()
    assert "a hook of a person's" not in added(repo, mine)
    assert "a hook of a person's" in git(repo, "show", "HEAD:.claude/memory/MEMORY.md")
    assert git(repo, "status", "--short") == ""


def test_what_waits_with_a_staged_lesson_is_proposed_once_its_words_are_committed(
    repo: Path, staged: Path, learnloop: Run
) -> None:
    """`propose` tells what waits as the next command would commit it."""
    git(repo, "init", "-q", "--bare", "../bare.git")
    git(repo, "remote", "add", "origin", "../bare.git")
    git(repo, "push", "-qu", "origin", "main")
    learnloop(*VERBS["confirm"], cwd=repo)
    git(repo, "commit", "-qm", "Mine")
    done = learnloop("propose", "--branch", "proposal", cwd=repo)
    assert done.code == 0, done.err
    assert f"learnloop: confirm {SLUG}" in git(repo, "log", "proposal", "--format=%s").splitlines()


@pytest.mark.parametrize("is_locked", [False, True])
def test_a_note_beside_an_archived_staged_lesson_loses_neither(
    repo: Path, staged: Path, learnloop: Run, *, is_locked: bool
) -> None:
    """Whether the note is committed at once or waits behind the other: both keep their names, one after the other."""
    learnloop(*VERBS["archive"], cwd=repo)
    file = locked(repo, "index.lock") if is_locked else None
    learnloop("note", "Read the log.", cwd=repo)
    if file:
        file.unlink()
    git(repo, "commit", "-qm", "Mine")
    learnloop("sync", cwd=repo)
    subjects = git(repo, "log", "-4", "--format=%s").splitlines()
    assert {f"learnloop: archive {SLUG}", "learnloop: note read-the-log"} < set(subjects)
    assert subjects.index("learnloop: absorb") == 0 if "learnloop: absorb" in subjects else is_locked
    assert "(read-the-log.md)" in git(repo, "show", "HEAD:.claude/memory/MEMORY.md")
    assert git(repo, "status", "--short") == ""


def test_a_queued_change_is_not_told_with_another_s_commit(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §12: the commits of a change are its own, and none where it is queued."""
    learnloop("note", NOTE, cwd=repo)
    document = memory / "MEMORY.md"
    document.write_text(document.read_text() + "\nProse of a person.\n")
    git(repo, "add", ".claude/memory/MEMORY.md")
    learnloop("note", "Brew tea first.", cwd=repo)
    told = learnloop("archive", SLUG, "--note", "old", "--json", cwd=repo).json
    assert (told["commits"], told["queued"]) == ([], True)
    assert git(repo, "log", "-1", "--format=%H %s") == f"{told['earlier'][0]} learnloop: note brew-tea-first"


def test_a_change_is_told_with_its_own_commit_alone(repo: Path, memory: Path, learnloop: Run) -> None:
    """What waited and what was edited by hand is committed first."""
    file = locked(repo, "index.lock")
    learnloop("note", NOTE, cwd=repo)
    file.unlink()
    document = memory / "MEMORY.md"
    document.write_text(document.read_text() + "\nProse of a person.\n")
    told = learnloop("pin", SLUG, "--json", cwd=repo).json
    made = git(repo, "log", "-3", "--format=%H %s").splitlines()
    assert [line.partition(" ")[2] for line in made] == [
        f"learnloop: pin {SLUG}",
        "learnloop: absorb",
        f"learnloop: note {SLUG}",
    ]
    ids = [line.partition(" ")[0] for line in made]
    assert (told["commits"], told["earlier"]) == (ids[:1], ids[:0:-1])


@pytest.mark.parametrize("command", [("rename", SLUG, "stage"), ("undo", SLUG)])
def test_what_a_queued_command_removed_was_not_removed_by_hand(
    repo: Path, memory: Path, learnloop: Run, command: tuple[str, ...]
) -> None:
    learnloop("note", NOTE, cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    assert learnloop(*command, cwd=repo).code == 0
    assert not (memory / f"{SLUG}.md").exists()
    for words in (("status",), ("sync",), ("check",)):
        ran = learnloop(*words, cwd=repo)
        assert "by hand" not in ran.out + ran.err, words
    git(repo, "switch", "-q", "main")
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s").startswith(f"learnloop: {command[0]}")


@pytest.fixture
def parted(repo: Path, memory: Path, learnloop: Run) -> Path:
    """A change that was queued on main, and a branch that has not the lesson checked out."""
    git(repo, "branch", "other")
    learnloop("note", NOTE, cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    learnloop("confirm", SLUG, "--run", "c1", cwd=repo)
    git(repo, "checkout", "-q", "-f", "other")
    return memory / f"{SLUG}.md"


def test_a_change_queued_on_another_branch_waits_and_is_told(repo: Path, parted: Path, learnloop: Run) -> None:
    """Nothing is lost: it is committed once the lesson is there again."""
    for _ in range(2):
        ran = learnloop("sync", cwd=repo)
        assert "1 queued change waits for the branch it was made on (confirm" in ran.out + ran.err
        assert learnloop("sync", "--json", cwd=repo).json["queued"] is True
    assert "1 queued change waits" in learnloop("status", cwd=repo).out
    git(repo, "checkout", "-q", "main")
    assert learnloop("sync", cwd=repo).code == 0
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: confirm {SLUG}"
    assert "c1" in parted.read_text()
    assert git(repo, "status", "--porcelain") == ""
    assert learnloop("sync", "--json", cwd=repo).json["waiting"] == ""


def test_the_branch_in_between_goes_on_as_ever(repo: Path, parted: Path, learnloop: Run) -> None:
    learnloop("sync", cwd=repo)
    assert learnloop("note", "Brew tea first.", cwd=repo).code == 0
    assert git(repo, "log", "-1", "--format=%s") == "learnloop: note brew-tea-first"
    assert learnloop("undo", cwd=repo).code == 0
    git(repo, "checkout", "-q", "--detach")
    assert learnloop("note", "Warm the cup.", cwd=repo).code == 0
    git(repo, "checkout", "-q", "other")
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s") == "learnloop: note warm-the-cup"
    git(repo, "checkout", "-q", "main")
    learnloop("sync", cwd=repo)
    assert "c1" in parted.read_text()
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: confirm {SLUG}"


def test_a_change_queued_on_a_branch_that_comes_in_is_committed_there(repo: Path, parted: Path, learnloop: Run) -> None:
    learnloop("sync", cwd=repo)
    git(repo, "merge", "-q", "--no-edit", "main")
    learnloop("sync", cwd=repo)
    assert "c1" in parted.read_text()
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: confirm {SLUG}"


def test_what_no_branch_can_take_any_more_is_dropped_aloud(repo: Path, parted: Path, learnloop: Run) -> None:
    git(repo, "branch", "-q", "-D", "main")
    ran = learnloop("sync", cwd=repo)
    assert f"dropped the queued change 'confirm {SLUG}'" in ran.err
    assert "queued" not in learnloop("sync", cwd=repo).err


def test_a_change_that_somebody_committed_over_is_dropped_aloud(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", NOTE, cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    learnloop("confirm", SLUG, "--run", "c1", cwd=repo)
    path = memory / f"{SLUG}.md"
    git(repo, "checkout", "-q", "-f", "main")
    path.write_text(path.read_text().replace(NOTE, "Stage every file by its name."))
    git(repo, "commit", "-q", "-a", "-m", "By hand")
    ran = learnloop("sync", cwd=repo)
    assert f"dropped the queued change 'confirm {SLUG}': .claude/memory/{SLUG}.md is another since" in ran.err


OTHER = "use-tabs-in-makefiles"
WHOLE = [
    ["archive", SLUG, "--note", "no"],
    ["merge", SLUG, OTHER],
    ["supersede", OTHER, SLUG],
    ["codify", SLUG, "--into", "CLAUDE.md"],
    ["rename", SLUG, "new-name-here"],
    ["confirm", SLUG],
    ["dispute", SLUG],
    ["pin", SLUG],
    ["state", "set", "a", "2"],
]


@pytest.fixture(params=["reworded", "removed"])
def changed(request: pytest.FixtureRequest, copy_of: CopyOf, learnloop: Run) -> Path:
    """Two lessons and a state on main, and a branch on top of it where one lesson and the state are others."""

    def build(root: Path) -> Home:
        home = make_home("project", root, learnloop)
        learnloop("note", NOTE, cwd=root)
        learnloop("note", "Use tabs in makefiles.", cwd=root)
        learnloop("state", "set", "a", "1", cwd=root)
        git(root, "checkout", "-q", "-b", "other")
        learnloop("state", "set", "a", "9", cwd=root)
        path = home.folder / f"{SLUG}.md"
        if request.param == "removed":
            path.unlink()
        else:
            path.write_text(path.read_text().replace(NOTE, "Stage every file by its name."))
        git(root, "commit", "-q", "-a", "-m", "By hand")
        learnloop("sync", cwd=root)
        git(root, "checkout", "-q", "--detach", "main")
        return home

    return copy_of(f"queue {request.param}", build).folder / f"{SLUG}.md"


def forced(repo: Path, branch: str) -> None:
    """Another branch, nothing kept of what was written."""
    git(repo, "checkout", "-q", "-f", branch)
    git(repo, "clean", "-f", "-d", "-q")


@pytest.mark.parametrize("command", WHOLE, ids=lambda words: words[0])
def test_a_queued_change_waits_whole_where_a_later_branch_has_another_lesson(
    repo: Path, changed: Path, learnloop: Run, command: list[str]
) -> None:
    """docs/commands.md: it waits until a branch is checked out that has the lesson as the command found it."""
    assert learnloop(*command, cwd=repo).code == 0
    forced(repo, "other")
    before = git(repo, "rev-parse", "HEAD")
    for _ in range(2):
        ran = learnloop("sync", cwd=repo)
        assert "1 queued change waits" in ran.out + ran.err
    assert "1 queued change waits" in learnloop("status", cwd=repo).out
    assert git(repo, "rev-parse", "HEAD") == before
    assert git(repo, "status", "--porcelain") == ""
    forced(repo, "main")
    assert learnloop("sync", cwd=repo).code == 0
    assert git(repo, "log", "-1", "--format=%s").startswith(f"learnloop: {command[0]}")
    assert git(repo, "status", "--porcelain") == ""
    assert "in step" in learnloop("sync", cwd=repo).out
    assert learnloop("check", cwd=repo).code == 0


@pytest.mark.parametrize("command", WHOLE[:-1], ids=lambda words: words[0])
def test_a_change_that_no_branch_can_take_whole_is_dropped_aloud(
    repo: Path, changed: Path, learnloop: Run, command: list[str]
) -> None:
    """Never half of it: a line in the document or a rule without its lesson says what is not so."""
    learnloop(*command, cwd=repo)
    forced(repo, "main")
    git(repo, "merge", "-q", "--ff-only", "other")
    git(repo, "branch", "-q", "-d", "other")
    before = git(repo, "rev-parse", "HEAD")
    ran = learnloop("sync", cwd=repo)
    assert f"dropped the queued change '{command[0]} " in ran.err
    assert f"{SLUG}.md is another since" in ran.err
    assert git(repo, "rev-parse", "HEAD") == before
    assert "everything is in step" in learnloop("sync", cwd=repo).out


def test_the_line_of_a_lesson_that_a_queued_command_renamed_goes(repo: Path, memory: Path, learnloop: Run) -> None:
    """Where HEAD has another document than the command found, the lines of its lessons follow them all the same."""
    learnloop("note", NOTE, cwd=repo)
    learnloop("note", "Use tabs in makefiles.", cwd=repo)
    git(repo, "checkout", "-q", "-b", "longer")
    learnloop("note", "Brew tea first.", cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    learnloop("rename", OTHER, "tabs-only", cwd=repo)
    forced(repo, "main")
    assert "which does not exist" not in learnloop("sync", cwd=repo).err
    index = (memory / "MEMORY.md").read_text()
    assert f"({OTHER}.md)" not in index
    assert index.count("(tabs-only.md)") == 1
    assert learnloop("check", cwd=repo).code == 0
    assert git(repo, "status", "--porcelain") == ""
    assert "everything is in step" in learnloop("sync", cwd=repo).out


def test_a_dead_line_that_no_command_of_ours_left_stays(repo: Path, memory: Path, learnloop: Run) -> None:
    """Words of a person, about a file that is still to come."""
    learnloop("note", NOTE, cwd=repo)
    index = memory / "MEMORY.md"
    index.write_text(index.read_text().rstrip("\n") + "\n- [Tea](brew-tea-first.md) — soon\n")
    learnloop("sync", cwd=repo)
    assert "which does not exist" in learnloop("sync", cwd=repo).err
    assert "(brew-tea-first.md)" in index.read_text()


@pytest.mark.parametrize(
    "command", [["rename", OTHER, "tabs-only"], ["archive", OTHER, "--note", "no"]], ids=lambda words: words[0]
)
def test_a_queued_change_takes_its_line_along_into_another_document(
    repo: Path, memory: Path, learnloop: Run, command: list[str]
) -> None:
    """One commit holds all of it, so `undo` takes back all of it, and nothing is left to bring in step."""
    learnloop("note", NOTE, cwd=repo)
    learnloop("note", "Use tabs in makefiles.", cwd=repo)
    git(repo, "checkout", "-q", "-b", "longer")
    learnloop("note", "Brew tea first.", cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    learnloop(*command, cwd=repo)
    forced(repo, "main")
    before = (memory / "MEMORY.md").read_text()
    assert learnloop("sync", cwd=repo).code == 0
    assert git(repo, "log", "-1", "--format=%s").startswith(f"learnloop: {command[0]}")
    assert "brew-tea-first" not in (memory / "MEMORY.md").read_text()
    assert git(repo, "status", "--porcelain") == ""
    assert learnloop("undo", cwd=repo).code == 0
    assert (memory / "MEMORY.md").read_text() == before
    assert (memory / f"{OTHER}.md").exists()
    assert "everything is in step" in learnloop("sync", cwd=repo).out


def test_a_kill_while_a_queued_change_is_committed_loses_nothing(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that HEAD has anew and the disk has not would be absorbed as an edit that takes the change back."""
    learnloop("note", NOTE, cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    learnloop("archive", SLUG, "--note", "no", cwd=repo)
    forced(repo, "main")
    write = store.write

    def killed(path: Path, data: bytes | None) -> None:
        if path.name == f"{SLUG}.md":
            raise KeyboardInterrupt
        write(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(store, "write", killed)
        assert learnloop("sync", cwd=repo).code != 0
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: archive {SLUG}"
    assert "state: archived" in (memory / f"{SLUG}.md").read_text()
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    "command",
    [["rename", SLUG, "new-name-here"], ["note", "Ask before staging.", "--supersedes", SLUG]],
    ids=lambda words: words[0],
)
def test_a_new_file_of_a_change_that_waits_elsewhere_is_not_taken_in(
    repo: Path, memory: Path, learnloop: Run, command: list[str]
) -> None:
    """docs/commands.md: as a whole or not at all; a forced checkout leaves new files where they are."""
    learnloop("note", NOTE, cwd=repo)
    git(repo, "branch", "other")
    learnloop("confirm", SLUG, "--run", "c1", cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    assert learnloop(*command, cwd=repo).code == 0
    git(repo, "checkout", "-q", "-f", "other")
    before = git(repo, "rev-parse", "HEAD"), git(repo, "status", "--porcelain")
    assert before[1].startswith("??")
    for _ in range(2):
        assert "1 queued change waits" in learnloop("sync", cwd=repo).out
    assert (git(repo, "rev-parse", "HEAD"), git(repo, "status", "--porcelain")) == before
    git(repo, "checkout", "-q", "main")
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s").startswith(f"learnloop: {command[0]}")
    assert git(repo, "status", "--porcelain") == ""
    assert learnloop("check", cwd=repo).code == 0


def test_a_new_file_is_taken_in_once_nothing_waits_for_it(repo: Path, memory: Path, learnloop: Run) -> None:
    """Nothing is lost: the change is dropped aloud, and its file counts as it stands."""
    learnloop("note", NOTE, cwd=repo)
    git(repo, "branch", "other")
    learnloop("confirm", SLUG, "--run", "c1", cwd=repo)
    learnloop("rename", SLUG, "before-here", cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    learnloop("rename", "before-here", "new-name-here", cwd=repo)
    git(repo, "checkout", "-q", "-f", "other")
    learnloop("sync", cwd=repo)
    git(repo, "branch", "-q", "-D", "main")
    ran = learnloop("sync", cwd=repo)
    assert "dropped the queued change 'rename" in ran.err
    assert git(repo, "ls-files", str(memory / "new-name-here.md"))
