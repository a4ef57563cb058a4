"""sync --remote: memories in repositories of their own, and git remotes as the engine between them (design §6)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from learnloop_md import git as gits
from learnloop_md import lessonfile, memory, plumbing
from learnloop_md import place as places
from learnloop_md.lesson import Lesson
from tests.conftest import Ran, Run, git
from tests.homes import DAY, Home, cloned, lesson_text, work_tree
from tests.test_busy import writing
from tests.test_journal import killed, leftovers

REFUSING = """#!/bin/sh
while read old new ref; do
  [ $ref = refs/heads/main ] && echo 'main is protected: ask' && exit 1
done
exit 0
"""


class Own(Home):
    """A memory that is a repository, cloned from a bare one."""

    def sync(self) -> Ran:
        done = self.run("sync", "--remote", "--json")
        assert done.code == 0, done.out
        return done

    def refused(self, code: str) -> str:
        """The one line of a sync that must stop, which leaves HEAD, index and files alone."""
        before = self.state()
        done = self.run("sync", "--remote")
        assert done.code == 4, done.out
        assert len(done.err.strip().splitlines()) == 1
        assert self.state() == before
        assert self.run("sync", "--remote", "--json").json["error"]["code"] == code
        return done.err

    def state(self) -> dict[str, object]:
        return {"files": work_tree(self.root), "status": git(self.root, "status", "--porcelain"), "head": self.head}

    @property
    def head(self) -> str:
        return git(self.root, "rev-parse", "HEAD")

    @property
    def tree(self) -> str:
        return git(self.root, "rev-parse", "HEAD^{tree}")

    @property
    def lessons(self) -> dict[str, Lesson]:
        return memory.load(places.find(self.root, str(self.root))).lessons

    def is_clean(self) -> bool:
        return git(self.root, "status", "--porcelain") == ""


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A bare repository whose main holds an empty memory."""
    first = tmp_path / "first"
    first.mkdir()
    git(first, "init", "-q", "-b", "main")
    (first / "MEMORY.md").write_text("# Memory\n")
    git(first, "add", ".")
    git(first, "commit", "-q", "-m", "Start")
    git(tmp_path, "clone", "-q", "--bare", "first", "hub.git")
    return tmp_path / "hub.git"


def own(root: Path, learnloop: Run) -> Own:
    return Own("project", root, root, learnloop)


@pytest.fixture
def ours(bare: Path, learnloop: Run) -> Own:
    return own(cloned(bare, "ours"), learnloop)


@pytest.fixture
def theirs(bare: Path, learnloop: Run) -> Own:
    return own(cloned(bare, "theirs"), learnloop)


# --- to and fro -----------------------------------------------------------------------------------------------------


def test_a_lesson_reaches_another_clone(ours: Own, theirs: Own) -> None:
    ours.note("Stage files by name.", "r1")
    sent = ours.sync().json
    assert (sent["action"], sent["pulled"], len(sent["pushed"])) == ("synced", 0, 1)
    got = theirs.sync().json
    assert (got["pulled"], got["pushed"]) == (1, [])
    assert theirs.lessons["stage-files-by-name"].rule == "Stage files by name."
    assert theirs.head == ours.head
    assert theirs.is_clean()
    again = theirs.sync().json
    assert (again["action"], again["pulled"], again["pushed"]) == ("unchanged", 0, [])


def test_both_sides_neighbouring_lines_go_together(ours: Own, theirs: Own) -> None:
    """Each file is merged by what it says: neighbouring lines of the index do not conflict."""
    ours.note("Stage files by name.", "r1")
    theirs.note("Always pin the build image.", "r2")
    ours.sync()
    done = theirs.sync().json
    assert (done["pulled"], len(done["pushed"])) == (1, 1)
    ours.sync()
    assert ours.tree == theirs.tree
    for slug in ("stage-files-by-name", "always-pin-the-build-image"):
        assert ours.text.count(f"({slug}.md)") == 1
    assert git(theirs.root, "rev-list", "--merges", "HEAD") == ""


def test_the_same_lesson_on_both_sides_is_one_with_both_sightings(ours: Own, theirs: Own) -> None:
    ours.note("Stage files by name.", "r1")
    theirs.note("Stage files by name.", "r2")
    ours.sync()
    theirs.sync()
    ours.sync()
    assert ours.tree == theirs.tree
    assert list(ours.lessons) == ["stage-files-by-name"]
    assert {event.run for event in ours.lessons["stage-files-by-name"].seen} == {"r1", "r2"}


def test_different_rules_under_one_name_both_live(ours: Own, theirs: Own) -> None:
    """The later one gets a free name; its later sightings follow it."""
    ours.note("Write the tests first.", "r1", "--name", "tests")
    theirs.note("Never mock the database.", "r2", "--name", "tests")
    assert theirs.run("confirm", "tests", "--run", "r3").code == 0
    ours.sync()
    assert "tests-2" in theirs.sync().err
    ours.sync()
    assert ours.tree == theirs.tree
    found = ours.lessons
    assert {slug: lesson.rule for slug, lesson in found.items()} == {
        "tests": "Write the tests first.",
        "tests-2": "Never mock the database.",
    }
    assert (len(found["tests-2"].confirmed), len(found["tests"].confirmed)) == (1, 0)
    assert ours.text.count("(tests.md)") == ours.text.count("(tests-2.md)") == 1


@pytest.mark.parametrize("renamer_first", [True, False])
def test_a_lesson_renamed_here_and_confirmed_there_is_one(ours: Own, theirs: Own, *, renamer_first: bool) -> None:
    """The sighting follows the lesson to its new name, whoever was quicker."""
    ours.note("Stage files by name.", "r1", "--name", "stage")
    ours.sync()
    theirs.sync()
    assert ours.run("rename", "stage", "staging").code == 0
    assert theirs.run("confirm", "stage", "--run", "r2").code == 0
    first, second = (ours, theirs) if renamer_first else (theirs, ours)
    first.sync()
    second.sync()
    first.sync()
    assert ours.tree == theirs.tree
    assert list(ours.lessons) == ["staging"]
    assert [event.run for event in ours.lessons["staging"].confirmed] == ["r2"]
    assert ours.text.count("(staging.md)") == 1
    assert "(stage.md)" not in ours.text


def test_an_archived_lesson_is_archived_everywhere(ours: Own, theirs: Own) -> None:
    ours.note("Stage files by name.", "r1")
    ours.sync()
    theirs.sync()
    assert theirs.run("archive", "stage-files-by-name", "--note", "Not so").code == 0
    theirs.sync()
    done = ours.sync()
    assert "absorbed" not in done.err
    assert ours.lessons["stage-files-by-name"].state == "archived"
    assert ours.head == theirs.head


def test_a_hand_edit_that_others_pushed_is_absorbed_and_sent(ours: Own, theirs: Own) -> None:
    """Somebody without the tool edits and pushes; the next sync takes it up."""
    (ours.root / "ask-first.md").write_text(lesson_text("ask-first", "Ask first."))
    git(ours.root, "add", ".")
    git(ours.root, "commit", "-q", "-m", "By hand")
    git(ours.root, "push", "-q")
    theirs.note("Stage files by name.", "r1")
    theirs.sync()
    assert "(ask-first.md)" in theirs.text
    assert theirs.is_clean()
    assert git(theirs.root, "rev-parse", "origin/main") == theirs.head


def test_an_empty_remote_gets_everything(tmp_path: Path, learnloop: Run, bare: Path) -> None:
    """The first push; and two memories that began apart become one."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "empty.git")
    homes = []
    for name in ("one", "two"):
        root = tmp_path / name
        git(tmp_path, "init", "-q", "-b", "main", name)
        (root / "MEMORY.md").write_text("# Memory\n")
        home = own(root, learnloop)
        home.note(f"Lesson of clone {name}.", name)
        git(root, "remote", "add", "origin", str(tmp_path / "empty.git"))
        homes.append(home)
        home.sync()
    homes[0].sync()
    assert homes[0].tree == homes[1].tree
    assert len(homes[0].lessons) == 2


def test_five_clones_at_work_at_once_end_alike(bare: Path, learnloop: Run, tmp_path: Path) -> None:
    """Nothing is lost: every lesson and every event of every clone is in each of them at the end."""
    names = ("ada", "ben", "cleo", "dan", "eve")
    clones = {name: own(cloned(bare, name), learnloop) for name in names}
    told: list[str] = []

    def learn(root: Path, *words: str) -> int:
        command = [sys.executable, "-m", "learnloop_md", *words, "--memory", str(root), "--today", DAY]
        done = subprocess.run(command, cwd=root, env=dict(os.environ), capture_output=True, text=True, check=False)
        told.append(f"{root.name} {words[0]}: {done.stderr}")
        return done.returncode

    def work(name: str) -> None:
        root = clones[name].root
        assert learn(root, "note", f"Clone {name} learns a thing.", "--new", "--run", name) == 0
        assert learn(root, "note", "Stage files by name.", "--name", "stage", "--run", name) == 0
        learn(root, "sync", "--remote")
        assert learn(root, "confirm", "stage", "--run", name) == 0
        for _ in range(8):
            if learn(root, "sync", "--remote") == 0:
                return
        raise AssertionError("\n".join(row for row in told if row.startswith(name)))

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(work, names))
    for name in names:
        clones[name].sync()
    assert len({clone.tree for clone in clones.values()}) == 1
    assert all(clone.is_clean() for clone in clones.values())
    found = clones["ada"].lessons
    assert len(found) == 1 + len(names)
    assert {event.run for event in found["stage"].seen} == set(names)
    assert {event.run for event in found["stage"].confirmed} == set(names)
    for slug in found:
        assert clones["ada"].text.count(f"({slug}.md)") == 1
    assert learnloop("check", "--memory", str(clones["ada"].root)).code == 0


# --- a person's work ------------------------------------------------------------------------------------------------


def test_staged_and_unstaged_work_stays(ours: Own, theirs: Own) -> None:
    """Only the changed paths move: nothing of a person's is lost."""
    ours.note("Stage files by name.", "r1")
    ours.sync()
    (theirs.root / "plan.txt").write_text("staged\n")
    git(theirs.root, "add", "plan.txt")
    (theirs.root / "plan.txt").write_text("unstaged\n")
    (theirs.root / "scratch.txt").write_text("untracked\n")
    theirs.note("Always pin the build image.", "r2")
    theirs.sync()
    assert git(theirs.root, "show", ":plan.txt") == "staged"
    assert (theirs.root / "plan.txt").read_text() == "unstaged\n"
    assert git(theirs.root, "status", "--porcelain").splitlines() == ["AM plan.txt", "?? scratch.txt"]


def test_a_file_in_the_way_stops_it(ours: Own, theirs: Own) -> None:
    """What others pushed never overwrites what is here alone."""
    (ours.root / "plan.txt").write_text("theirs\n")
    git(ours.root, "add", "plan.txt")
    git(ours.root, "commit", "-q", "-m", "A plan")
    git(ours.root, "push", "-q")
    (theirs.root / "plan.txt").write_text("mine\n")
    theirs.note("Stage files by name.", "r1")
    assert "plan.txt" in theirs.refused("dirty-file")
    assert (theirs.root / "plan.txt").read_text() == "mine\n"


def test_a_link_that_others_pushed_is_not_made(ours: Own, theirs: Own) -> None:
    """Design §11: nothing is written through a link."""
    (ours.root / "away.md").symlink_to("/etc/hostname")
    git(ours.root, "add", ".")
    git(ours.root, "commit", "-q", "-m", "A link")
    git(ours.root, "push", "-q")
    assert "away.md" in theirs.refused("not-a-file")


def test_a_private_lesson_never_leaves(tmp_path: Path, ours: Own, bare: Path) -> None:
    """Also one that was committed before there was a remote: it stays here, as a file that git does not have."""
    git(ours.root, "remote", "remove", "origin")
    ours.note("I work in the evenings.", "r1", "--type", "user")
    ours.note("Stage files by name.", "r1")
    assert "i-work-in-the-evenings.md" in git(ours.root, "ls-files").splitlines()
    git(ours.root, "remote", "add", "origin", str(bare))
    ours.sync()
    assert "evenings" not in git(bare, "log", "-p", "main")
    assert (ours.root / "i-work-in-the-evenings.md").exists()
    assert "stage-files-by-name.md" in git(bare, "ls-tree", "--name-only", "main").splitlines()
    assert ours.is_clean()
    assert ours.sync().json["action"] == "unchanged"


def test_a_private_name_in_a_field_never_leaves(ours: Own, bare: Path) -> None:
    """Design §2: not even where nothing else keeps our commits from going as they are."""
    ours.note("I work in the evenings.", "r1", "--type", "user", "--name", "evenings")
    ours.note("Stage files by name.", "r1")
    file = ours.root / "stage-files-by-name.md"
    file.write_text(file.read_text().replace("metadata:\n", "metadata:\n  supersedes: evenings\n", 1))
    ours.sync()
    assert "evenings" not in git(bare, "log", "-p", "main")
    assert ours.is_clean()


# --- where it stops -------------------------------------------------------------------------------------------------


def test_a_commit_that_is_not_ours_stops_it(ours: Own) -> None:
    """Design §6: it stops where HEAD holds unpushed commits that are not ours."""
    (ours.root / "plan.txt").write_text("x\n")
    git(ours.root, "add", "plan.txt")
    git(ours.root, "commit", "-q", "-m", "A plan")
    assert "A plan" in ours.refused("foreign-commits")


def test_a_push_by_hand_is_not_advised_where_a_private_lesson_would_leave(ours: Own, bare: Path) -> None:
    """Design §2: what was committed before there was a remote goes nowhere by a hint of ours."""
    git(ours.root, "remote", "remove", "origin")
    ours.note("I work in the evenings.", "r1", "--type", "user")
    (ours.root / "plan.txt").write_text("x\n")
    git(ours.root, "add", "plan.txt")
    git(ours.root, "commit", "-q", "-m", "A plan")
    git(ours.root, "remote", "add", "origin", str(bare))
    assert ours.run("sync").code == 0
    told = ours.refused("foreign-commits")
    assert "git push" not in told
    assert "do not push" in told


def test_an_open_editor_stops_it(ours: Own, theirs: Own) -> None:
    """Measured: HEAD that moves under an open editor makes a person's commit fail."""
    theirs.note("Always pin the build image.", "r1")
    theirs.sync()
    (ours.root / "plan.txt").write_text("x\n")
    git(ours.root, "add", "plan.txt")
    person = writing(ours.root, "commit")
    try:
        assert "git commit is running" in ours.refused("bad-moment")
    finally:
        (ours.root.parent / "go").touch()
    assert person.wait(timeout=60) == 0


def test_an_emptied_remote_gets_everything_again(ours: Own, bare: Path) -> None:
    """A tracking reference outlives the branch it tells of."""
    ours.note("Stage files by name.", "r1")
    ours.sync()
    git(bare, "update-ref", "-d", "refs/heads/main")
    assert ours.sync().json["action"] == "synced"
    assert git(bare, "rev-parse", "main") == ours.head


def test_writing_our_commits_anew_is_no_alarm(ours: Own, theirs: Own) -> None:
    """docs, Witness: what was seen was ours, and is on top of others' commits now, if under another name."""
    theirs.note("Write the tests first.", "r1", "--name", "tests")
    theirs.sync()
    ours.note("Never mock the database.", "r2", "--name", "tests")
    assert ours.run("confirm", "tests", "--run", "r3").code == 0
    assert "tests-2" in ours.sync().err
    assert ours.run("verify", "--witness").code == 0


def test_what_was_rolled_back_before_is_still_an_alarm(ours: Own, theirs: Own) -> None:
    """Writing anew vouches only for what stood in the history that it wrote anew."""
    ours.note("Stage files by name.", "r1")
    git(ours.root, "reset", "-q", "--hard", "HEAD~1")
    theirs.note("Always pin the build image.", "r2")
    theirs.sync()
    ours.sync()
    assert ours.run("verify", "--witness").code == 1


@pytest.mark.parametrize("command", [("sync", "--remote"), ("propose",)])
def test_a_key_that_both_sides_set_otherwise_is_named_with_both_values(
    ours: Own, theirs: Own, command: tuple[str, ...]
) -> None:
    for home, value in ((theirs, "off"), (ours, "fast")):
        assert home.run("state", "set", "mode", value).code == 0
    theirs.sync()
    done = ours.run(*command)
    said = 'both sides set a key otherwise: mode is "fast" here and "off" there'
    assert f"memory.json was changed on origin/main too: {said}" in done.err
    assert (done.code, done.err.count("\n")) == (4, 1)


def test_a_secret_in_a_key_that_both_sides_set_otherwise_is_not_told(ours: Own, theirs: Own) -> None:
    secret = "".join(("ghp_", "Zk3vQ9xT7mL2pR8wY5nB4cD6fG1hJ0aSqW2e"))
    for home, value in ((theirs, secret), (ours, "fast")):
        (home.root / "memory.json").write_text(json.dumps({"mode": value}, indent=2) + "\n")
        git(home.root, "add", ".")
        git(home.root, "commit", "-q", "-m", "Set the mode by hand")
    git(theirs.root, "push", "-q")
    done = ours.run("sync", "--remote")
    assert (done.code, "both sides set a key otherwise: mode —" in done.err, secret[:9] in done.err) == (4, True, False)


def test_a_detached_head_stops_it(ours: Own) -> None:
    git(ours.root, "switch", "-q", "--detach")
    assert "detached" in ours.refused("detached")


def test_a_merge_in_progress_stops_it(ours: Own) -> None:
    ours.note("Stage files by name.", "r1")
    (ours.root / ".git" / "MERGE_HEAD").write_text(ours.head + "\n")
    assert "a merge is in progress" in ours.refused("bad-moment")


def test_a_staged_memory_file_stops_it(ours: Own) -> None:
    (ours.root / "ask-first.md").write_text(lesson_text("ask-first", "Ask first."))
    git(ours.root, "add", "ask-first.md")
    assert ours.run("sync", "--remote").code == 4


def test_a_quarantined_file_does_not_stop_it(ours: Own) -> None:
    (ours.root / "broken.md").write_bytes(b"---\nname: broken\n---\n\xff\xfe\n")
    ours.note("Stage files by name.", "r1")
    assert len(ours.sync().json["pushed"]) == 1
    assert "broken.md" not in git(ours.root, "ls-tree", "--name-only", "origin/main")


def test_words_changed_on_both_sides_stop_it(ours: Own, theirs: Own) -> None:
    ours.note("Stage files by name.", "r1")
    ours.sync()
    theirs.sync()
    for clone, words in ((ours, "Stage each file by its name."), (theirs, "Stage every file by hand.")):
        file = clone.root / "stage-files-by-name.md"
        file.write_text(file.read_text().replace("\nStage files by name.\n", f"\n{words}\n"))
        assert clone.run("sync").code == 0
    ours.sync()
    assert "stage-files-by-name.md" in theirs.refused("conflict")


def test_offline_it_stops_with_one_line(ours: Own, bare: Path) -> None:
    ours.note("Stage files by name.", "r1")
    bare.rename(bare.with_name("gone.git"))
    assert "cannot be reached" in ours.refused("offline")


def test_in_a_code_repository_propose_is_the_way(memory: Path, repo: Path, learnloop: Run) -> None:
    git(repo, "remote", "add", "origin", str(repo))
    done = learnloop("sync", "--remote", cwd=repo)
    assert (done.code, len(done.err.strip().splitlines())) == (4, 1)
    assert "learnloop propose" in done.err


def test_a_server_that_refuses_is_quoted_and_propose_passes(ours: Own, theirs: Own, bare: Path) -> None:
    """A protected branch: its words, the way out, and everything is still here."""
    theirs.note("Always pin the build image.", "r1")
    theirs.sync()
    hook = bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(REFUSING)
    hook.chmod(0o755)
    ours.note("Stage files by name.", "r1")
    done = ours.run("sync", "--remote")
    assert (done.code, len(done.err.strip().splitlines())) == (4, 1)
    assert "main is protected: ask" in done.err
    assert "learnloop propose --push" in done.err
    assert ours.is_clean()
    assert {"stage-files-by-name", "always-pin-the-build-image"} <= set(ours.lessons)
    proposed = ours.run("propose", "--push", "--json").json
    assert proposed["pushed"] is True
    assert git(bare, "rev-parse", proposed["branch"]) == git(ours.root, "rev-parse", proposed["branch"])


def test_a_lesson_changed_between_reading_and_moving_is_not_overwritten(
    ours: Own, theirs: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the branch moved under us, the files come back and nothing is half done."""
    theirs.note("Always pin the build image.", "r1")
    theirs.sync()
    ours.note("Stage files by name.", "r1")
    before = ours.state()

    def moved(*args: object) -> None:
        raise gits.GitError("the branch moved")

    monkeypatch.setattr(plumbing, "land", moved)
    assert ours.run("sync", "--remote").code == 4
    assert ours.state() == before
    monkeypatch.undo()
    assert lessonfile.stem("stage-files-by-name.md") in ours.lessons


@pytest.mark.parametrize("carries", [False, True], ids=["ahead", "both"])
def test_a_sync_that_is_killed_with_its_git_blocks_nothing(ours: Own, theirs: Own, *, carries: bool) -> None:
    """Reliability rows 7 and 10: the locks of HEAD and branch stay, and go with the proof that they are ours."""
    theirs.note("Stage files by name.", "r1")
    theirs.sync()
    if carries:
        ours.note("Pin the image.", "r2")
    head, locks = ours.head, [ours.root / ".git" / name for name in ("HEAD.lock", "refs/heads/main.lock")]
    killed(ours.root, "HEAD is locked", "sync", "--remote", "--memory", ".", "--today", DAY, group=True)
    assert (ours.head, [lock.exists() for lock in locks]) == (head, [True, True])
    done = ours.run("note", "Quote paths in scripts.", "--json")
    assert (done.code, done.json["queued"], leftovers(ours.root)) == (0, False, []), done
    ours.sync()
    theirs.sync()
    assert (ours.tree, ours.is_clean()) == (theirs.tree, True)
    wanted = {"stage-files-by-name", "quote-paths-in-scripts", *(["pin-the-image"] if carries else [])}
    assert set(ours.lessons) == wanted
    assert len(ours.lessons["stage-files-by-name"].seen) == 1


def test_a_branch_lock_of_somebody_else_outlives_a_killed_sync(ours: Own, theirs: Own) -> None:
    """It names another commit than the one that the sync was about to move to."""
    theirs.note("Stage files by name.", "r1")
    theirs.sync()
    killed(ours.root, "HEAD is locked", "sync", "--remote", "--memory", ".", "--today", DAY, group=True)
    lock = ours.root / ".git" / "refs" / "heads" / "main.lock"
    lock.write_text(f"{ours.head}\n")
    done = ours.run("note", "Quote paths in scripts.", "--json")
    assert (done.code, done.json["queued"], lock.exists()) == (0, True, True)


def test_an_index_that_cannot_be_written_leaves_the_clone_as_it_was(
    ours: Own, theirs: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 11: had HEAD moved without the index, every later sync would be refused."""
    theirs.note("Always pin the build image.", "r2")
    theirs.sync()
    ours.sync()
    theirs.note("Stage files by name.", "r3")
    theirs.sync()
    real = os.replace

    def once(source: Path, goal: Path) -> None:
        if Path(goal).name == "index":
            monkeypatch.setattr(os, "replace", real)
            raise OSError(28, "No space left on device")
        real(source, goal)

    monkeypatch.setattr(os, "replace", once)
    head = ours.head
    ours.run("sync", "--remote")
    assert (os.replace is real, ours.head, ours.is_clean()) == (True, head, True)
    ours.sync()
    assert ours.is_clean()
    assert ours.head == theirs.head
