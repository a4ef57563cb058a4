"""Propose: a branch of its own from what a remote does not have, and nothing here moves (design §6)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from learnloop_md import place as places
from tests.conftest import Failing, Ran, Run, git
from tests.homes import DAY, SKILL, Home, cloned, lesson_text, work_tree

MEMORY = ".claude/memory"


class Clone(Home):
    """A code repository with a memory, cloned from a bare one on disk."""

    def propose(self, *words: str) -> Ran:
        return self.run("propose", *words, "--json")

    def proposed(self, *words: str) -> str:
        """The branch of a proposal that must succeed."""
        done = self.propose(*words)
        assert done.code == 0, done.out
        assert done.json["action"] == "proposed", done.out
        return str(done.json["branch"])

    def commit(self, path: str, text: str, message: str) -> None:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text)
        git(self.root, "add", path)
        git(self.root, "commit", "-q", "-m", message, "--", path)

    def show(self, revision: str, path: str) -> str:
        return git(self.root, "show", f"{revision}:{MEMORY}/{path}")

    def changed(self, branch: str) -> set[str]:
        """What a branch changes against the remote's."""
        found = git(self.root, "diff", "--name-only", "origin/main", branch).splitlines()
        return {path.removeprefix(f"{MEMORY}/") for path in found}

    def state(self) -> dict[str, object]:
        """Everything that a proposal must leave as it is, byte for byte."""
        place = places.find(self.folder, str(self.folder))
        refs = git(self.root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return {
            "status": git(self.root, "status", "--porcelain=v2", "--branch", "-z"),
            "head": (self.root / ".git" / "HEAD").read_bytes(),
            "index": (self.root / ".git" / "index").read_bytes(),
            "files": work_tree(self.root),
            "ledger": (place.state / "ledger.json").read_bytes(),
            "refs": [ref for ref in refs if "refs/heads/learnloop/" not in ref and "refs/remotes/" not in ref],
        }


@pytest.fixture
def bare(tmp_path: Path, memory: Path, repo: Path) -> Path:
    """A bare repository that has the initialised memory on main."""
    git(tmp_path, "clone", "-q", "--bare", str(repo), "hub.git")
    return tmp_path / "hub.git"


def clone_of(bare: Path, name: str, learnloop: Run) -> Clone:
    root = cloned(bare, name)
    clone = Clone("project", root, root / MEMORY, learnloop)
    clone.sync()
    return clone


@pytest.fixture
def ours(bare: Path, learnloop: Run) -> Clone:
    return clone_of(bare, "ours", learnloop)


@pytest.fixture
def theirs(bare: Path, learnloop: Run) -> Clone:
    return clone_of(bare, "theirs", learnloop)


# --- nothing here moves ---------------------------------------------------------------------------------------------


def test_a_proposal_leaves_everything_as_it_is(ours: Clone) -> None:
    """Design §6: without touching HEAD, index or work tree."""
    ours.note("Stage files by name.")
    (ours.root / "app.py").write_text("x = 2\n")
    (ours.root / "new.py").write_text("y = 1\n")
    git(ours.root, "add", "app.py")
    before = ours.state()
    branch = ours.proposed()
    assert ours.state() == before
    assert ours.changed(branch) == {"stage-files-by-name.md", "MEMORY.md"}
    assert "(stage-files-by-name.md)" in ours.show(branch, "MEMORY.md")


def test_queued_changes_are_proposed_from_a_detached_head(ours: Clone) -> None:
    """Design §6: queued and uncommitted lessons become commits; the queue stays."""
    git(ours.root, "switch", "-q", "--detach")
    assert ours.run("note", "Stage files by name.", "--run", "r1", "--json").json["queued"] is True
    before = ours.state()
    branch = ours.proposed()
    assert ours.state() == before
    assert ours.changed(branch) == {"stage-files-by-name.md", "MEMORY.md"}
    said = git(ours.root, "log", "-1", "--format=%B", branch)
    assert said.startswith("learnloop: note stage-files-by-name\n")
    assert "Learnloop-Change: note" in said
    assert "Learnloop-Command: " in said


def test_a_queued_change_is_committed_here_once_its_branch_was_merged(ours: Clone, bare: Path) -> None:
    """The queue is left alone, and what the merge brought is not committed a second time."""
    git(ours.root, "switch", "-q", "--detach")
    ours.note("Stage files by name.")
    branch = ours.proposed("--push")
    git(bare, "update-ref", "refs/heads/main", f"refs/heads/{branch}")
    git(ours.root, "stash", "-q", "--include-untracked")
    git(ours.root, "switch", "-q", "main")
    git(ours.root, "pull", "-q")
    head = git(ours.root, "rev-parse", "HEAD")
    assert ours.run("sync").code == 0
    assert git(ours.root, "rev-parse", "HEAD") == head
    assert ours.propose().json["action"] == "unchanged"


def test_what_is_not_committed_is_proposed(ours: Clone) -> None:
    """A hand-written lesson is absorbed on the branch as the commands do; here it stays untracked."""
    (ours.folder / "ask-first.md").write_text(lesson_text("ask-first", "Ask first."))
    before = ours.state()
    branch = ours.proposed()
    assert ours.state() == before
    assert "(ask-first.md)" in ours.show(branch, "MEMORY.md")
    assert ours.show(branch, "ask-first.md") == lesson_text("ask-first", "Ask first.").rstrip("\n")
    assert "Learnloop-Change: absorb" in git(ours.root, "log", "-1", "--format=%B", branch)


@pytest.mark.parametrize("text", [lesson_text("ask-first", "Ask first."), "---\nname: ask-first\n---\nAsk first.\n"])
def test_what_a_person_has_staged_is_left_out_and_named(ours: Clone, text: str) -> None:
    """What is staged is a person's, also where absorbing would add to it."""
    ours.note("Stage files by name.")
    (ours.folder / "ask-first.md").write_text(text)
    git(ours.root, "add", f"{MEMORY}/ask-first.md")
    before = ours.state()
    done = ours.propose()
    assert ours.state() == before
    assert "ask-first.md" in done.err
    assert "ask-first.md" not in ours.changed(done.json["branch"])
    assert "ask-first" not in ours.show(done.json["branch"], "MEMORY.md")


# --- what waits for what a person has staged ------------------------------------------------------------------------

UNREADY = "NOT READY"
ON_STAGED = {
    "confirm": ("confirm", "stage-files-by-name", "--run", "r9"),
    "pin": ("pin", "stage-files-by-name"),
    "archive": ("archive", "stage-files-by-name", "--note", "no"),
    "same": ("note", "Stage files by name", "--same", "stage-files-by-name", "--run", "r9"),
}


def staged_words(ours: Clone) -> None:
    """A lesson that the remote has, with a person's words that are staged only: in its rule and in its description."""
    ours.note("Stage files by name.")
    git(ours.root, "push", "-q", "origin", "main")
    file = ours.folder / "stage-files-by-name.md"
    file.write_text(file.read_text().replace("Stage files by name", f"Stage files {UNREADY}"))
    git(ours.root, "add", f"{MEMORY}/{file.name}")


def sent(ours: Clone, bare: Path) -> str:
    """All words of all commits that the remote has."""
    git(ours.root, "fetch", "-q")
    return git(bare, "log", "--all", "-p")


@pytest.mark.parametrize("words", ON_STAGED.values(), ids=ON_STAGED)
def test_no_queued_command_sends_words_that_are_only_staged(ours: Clone, bare: Path, words: tuple[str, ...]) -> None:
    """docs/teams.md: the command's change waits with what it was made on, whatever file it put the words into."""
    staged_words(ours)
    assert ours.run(*words).code == 0
    before = ours.state()
    done = ours.propose("--push")
    waits = f"left out, as it waits for what you have staged: {MEMORY}/stage-files-by-name.md (learnloop: "
    assert (done.code, waits in done.err, ours.state()) == (0, True, before), done
    assert UNREADY not in sent(ours, bare)


@pytest.mark.parametrize("words", ON_STAGED.values(), ids=ON_STAGED)
def test_other_lessons_are_proposed_beside_a_staged_one(ours: Clone, bare: Path, words: tuple[str, ...]) -> None:
    """A queued and an uncommitted change of other files go as ever, without its line in the document."""
    staged_words(ours)
    assert ours.run(*words).code == 0
    git(ours.root, "switch", "-q", "--detach")
    ours.note("Ask before renaming names.")
    (ours.folder / "by-hand.md").write_text(lesson_text("by-hand", "Read by hand."))
    ours.document.write_text(ours.document.read_text().replace("# Memory\n", "# Memory\n\nMy prose.\n", 1))
    branch = ours.proposed("--push")
    assert ours.changed(branch) == {"ask-before-renaming-names.md", "by-hand.md", "MEMORY.md"}
    text = ours.show(branch, "MEMORY.md")
    assert all(word in text for word in ("(ask-before", "(by-hand.md)", "(stage-files-by-name.md)", "My prose."))
    assert UNREADY not in sent(ours, bare)


def test_a_staged_line_of_the_document_is_in_no_proposal(ours: Clone, bare: Path) -> None:
    """An edited description is in the line of MEMORY.md, which the look itself brings in step."""
    staged_words(ours)
    (ours.folder / "by-hand.md").write_text(lesson_text("by-hand", "Read by hand."))
    ours.proposed("--push")
    assert UNREADY not in sent(ours, bare)


def test_a_staged_document_keeps_no_note_back(ours: Clone, bare: Path) -> None:
    """It is rebuilt from the lessons on the branch: what is staged in it is nobody's else."""
    ours.document.write_text(ours.document.read_text().replace("# Memory\n", f"# Memory\n\n{UNREADY}\n", 1))
    git(ours.root, "add", f"{MEMORY}/MEMORY.md")
    ours.note("Stage files by name.")
    done = ours.propose("--push")
    assert f"left out, as you have staged it: {MEMORY}/MEMORY.md" in done.err
    assert "waits for what you have staged" not in done.err
    assert ours.changed(done.json["branch"]) == {"stage-files-by-name.md", "MEMORY.md"}
    assert "(stage-files-by-name.md)" in ours.show(done.json["branch"], "MEMORY.md")
    assert UNREADY not in sent(ours, bare)


def test_a_staged_state_is_left_out_with_what_was_counted_in_it(ours: Clone, bare: Path) -> None:
    """docs/teams.md: of memory.json as of a lesson, and both are told."""
    ours.run("state", "set", "a", "1")
    git(ours.root, "push", "-q", "origin", "main")
    (ours.folder / "memory.json").write_text(f'{{\n  "a": 1,\n  "b": "{UNREADY}"\n}}\n')
    git(ours.root, "add", f"{MEMORY}/memory.json")
    assert ours.run("state", "incr", "a").code == 0
    done = ours.propose("--push")
    assert f"left out, as you have staged it: {MEMORY}/memory.json" in done.err
    assert f"left out, as it waits for what you have staged: {MEMORY}/memory.json" in done.err
    assert UNREADY not in sent(ours, bare)


def test_what_waited_is_proposed_once_its_person_has_committed(ours: Clone, bare: Path) -> None:
    """HEAD has their words then: they, and the command's change on top, go as ever."""
    staged_words(ours)
    ours.run("confirm", "stage-files-by-name", "--run", "r9")
    git(ours.root, "commit", "-q", "-m", "Mine")
    branch = ours.proposed("--push")
    assert UNREADY in ours.show(branch, "stage-files-by-name.md")
    assert "learnloop: confirm stage-files-by-name" in git(ours.root, "log", "--format=%s", branch)


# --- which commits --------------------------------------------------------------------------------------------------


def test_only_the_lessons_of_a_feature_branch_get_in(ours: Clone) -> None:
    """Commits all of whose paths are the memory's; one that is mixed is left out and named."""
    git(ours.root, "switch", "-q", "-c", "feature")
    ours.commit("feature.py", "z = 1\n", "Add a feature")
    ours.note("Stage files by name.")
    ours.commit("feature.py", "z = 2\n", "Change it")
    ours.note("Ask before renaming names.")
    (ours.folder / "by-hand.md").write_text(lesson_text("by-hand", "Read by hand."))
    (ours.root / "feature.py").write_text("z = 3\n")
    git(ours.root, "add", ".")
    git(ours.root, "commit", "-q", "-m", "Both at once")
    before = ours.state()
    done = ours.propose()
    assert ours.state() == before
    assert "Both at once" in done.err
    branch = done.json["branch"]
    assert "feature.py" not in "".join(ours.changed(branch))
    assert {"stage-files-by-name.md", "ask-before-renaming-names.md"} <= ours.changed(branch)
    assert "by-hand.md" not in ours.changed(branch)
    assert "by-hand" not in ours.show(branch, "MEMORY.md")
    assert len(done.json["commits"]) == 2
    assert git(ours.root, "merge-base", "origin/main", branch) == git(ours.root, "rev-parse", "origin/main")


def test_a_lesson_renamed_with_code_is_proposed_under_its_new_name_alone(ours: Clone, bare: Path) -> None:
    """The commit is left out, as it holds code; what changed later takes the rename along, or it would stand twice."""
    ours.note("Stage files by name.")
    git(ours.root, "push", "-q", "origin", "main")
    for old, new in (("stage-files-by-name", "staging"), ("staging", "stage")):
        git(ours.root, "mv", f"{MEMORY}/{old}.md", f"{MEMORY}/{new}.md")
        (ours.root / "app.py").write_text(f"x = '{new}'\n")
        git(ours.root, "add", "app.py")
        git(ours.root, "commit", "-q", "-m", "Both at once")
        ours.edit(ours.document, ours.entry(old), f"- [{new.capitalize()}]({new}.md) — Stage files by name\n")
        git(ours.root, "commit", "-q", "-a", "--amend", "--no-edit")
    assert ours.propose().json["action"] == "unchanged"  # no word of a lesson changed yet
    assert ours.run("confirm", "stage", "--run", "r2").code == 0
    branch = ours.proposed()
    assert ours.changed(branch) == {"stage.md", "MEMORY.md"}
    there = git(ours.root, "ls-tree", "--name-only", f"{branch}:{MEMORY}").split()
    assert [name for name in there if name.startswith("stag")] == ["stage.md"]
    assert "run: r2" in ours.show(branch, "stage.md")
    assert ours.show(branch, "MEMORY.md").count("stage.md") == 1
    assert "stage-files" not in ours.show(branch, "MEMORY.md")


def test_a_rename_that_stays_behind_touches_no_lesson_of_the_name_before_it(ours: Clone) -> None:
    """One was removed, and then another got its name together with code: the removal goes, and that alone."""
    ours.note("Stage files by name.")
    ours.note("Brew tea first.")
    git(ours.root, "push", "-q", "origin", "main")
    ours.file("brew-tea-first").unlink()
    ours.sync()
    git(ours.root, "mv", f"{MEMORY}/stage-files-by-name.md", f"{MEMORY}/brew-tea-first.md")
    (ours.root / "app.py").write_text("x = 7\n")
    git(ours.root, "commit", "-q", "-a", "-m", "Both at once")
    branch = ours.proposed()
    assert "Stage files by name." in ours.show(branch, "stage-files-by-name.md")
    there = git(ours.root, "ls-tree", "--name-only", f"{branch}:{MEMORY}").split()
    assert "brew-tea-first.md" not in there


def test_a_line_reworded_by_hand_goes_to_the_new_name_that_others_gave_its_lesson(ours: Clone, theirs: Clone) -> None:
    """The file is renamed there, and the commit holds nothing but the line."""
    ours.note("Stage files by name.")
    git(ours.root, "push", "-q", "origin", "main")
    git(theirs.root, "pull", "-q")
    assert theirs.run("rename", "stage-files-by-name", "staging").code == 0
    git(theirs.root, "push", "-q", "origin", "main")
    line = ours.entry("stage-files-by-name")
    ours.edit(ours.document, line, line.replace(")\n", ") — Mine\n"))
    git(ours.root, "commit", "-q", "-a", "-m", "By hand")
    branch = ours.proposed()
    assert "(staging.md) — Mine" in ours.show(branch, "MEMORY.md")
    assert "stage-files" not in ours.show(branch, "MEMORY.md")


def test_the_author_and_the_words_of_a_commit_are_kept(ours: Clone) -> None:
    """log and undo recognise the commits of a proposal."""
    ours.note("Stage files by name.")
    keep = "%an %ae %ad%n%B"
    old = git(ours.root, "log", "-1", f"--format={keep}", "HEAD")
    branch = ours.proposed()
    assert git(ours.root, "log", "-1", f"--format={keep}", branch) == old
    git(ours.root, "switch", "-q", branch)
    assert ours.run("undo", "stage-files-by-name", "--json").json["action"] == "undone"


def test_a_rule_that_was_codified_goes_with_its_lesson(ours: Clone) -> None:
    """What codify wrote outside the memory is the tool's, and belongs to the same change."""
    ours.note("Stage files by name.")
    ours.note("Stage files by name.", "r2")
    assert ours.run("codify", "stage-files-by-name", "--into", "CLAUDE.md").code == 0
    branch = ours.proposed()
    assert "Stage files by name" in git(ours.root, "show", f"{branch}:CLAUDE.md")


def test_a_code_commit_dressed_as_ours_stays_out(ours: Clone) -> None:
    """A person's amended code does not pass as ours because of a trailer."""
    ours.note("Stage files by name.")
    (ours.root / "app.py").write_text("x = 5\n")
    git(ours.root, "commit", "-q", "-a", "--amend", "--no-edit")
    done = ours.propose()
    assert done.json["action"] == "unchanged"
    assert "left out" in done.err


# --- twice ----------------------------------------------------------------------------------------------------------


def test_proposing_twice_finds_the_first_branch(ours: Clone) -> None:
    """The second time the changes are on a branch already."""
    ours.note("Stage files by name.")
    branch = ours.proposed()
    again = ours.propose()
    assert (again.code, again.json["action"], again.json["branch"]) == (0, "unchanged", branch)
    assert again.json["commits"] == []
    assert git(ours.root, "branch", "--list", "learnloop/*").split() == [branch]


def test_the_first_branch_can_be_pushed_later(ours: Clone, bare: Path) -> None:
    ours.note("Stage files by name.")
    branch = ours.proposed()
    assert ours.propose("--push").json["pushed"] is True
    assert git(bare, "rev-parse", branch) == git(ours.root, "rev-parse", branch)


def test_more_lessons_get_another_branch(ours: Clone) -> None:
    ours.note("Stage files by name.")
    first = ours.proposed()
    ours.note("Ask before renaming names.")
    second = ours.proposed()
    assert second == f"{first}-2"
    assert first == f"learnloop/{DAY}-stage-files-by-name"


def test_a_branch_that_exists_is_refused(ours: Clone) -> None:
    ours.note("Stage files by name.")
    before = git(ours.root, "rev-parse", "main")
    done = ours.propose("--branch", "main")
    assert (done.code, done.json["error"]["code"]) == (4, "branch-exists")
    assert git(ours.root, "rev-parse", "main") == before


def test_a_branch_of_a_persons_own_is_never_pushed(ours: Clone, bare: Path) -> None:
    """What ends in the same files may hold anything further down: each commit must be one of the proposal's."""
    ours.commit("key.env", "once\n", "Oops")
    git(ours.root, "rm", "-q", "key.env")
    git(ours.root, "commit", "-q", "-m", "Take it out")
    ours.note("Stage files by name.")
    git(ours.root, "branch", "learnloop-wip")
    branch = ours.proposed("--push")
    assert branch != "learnloop-wip"
    assert "Oops" not in git(bare, "log", "--all", "--format=%s")


def test_the_branch_that_is_checked_out_is_no_proposal(ours: Clone, bare: Path) -> None:
    """A feature branch with nothing but lessons stays a person's own."""
    git(ours.root, "switch", "-q", "-c", "feature")
    ours.note("Stage files by name.")
    assert ours.proposed("--push") == f"learnloop/{DAY}-stage-files-by-name"
    assert "feature" not in git(bare, "branch", "--list")


def test_a_named_branch_that_holds_just_this_is_found_and_pushed(ours: Clone, bare: Path) -> None:
    """Repeating the command after a push that was rejected works."""
    hook = bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    ours.note("Stage files by name.")
    assert ours.propose("--push", "--branch", "lessons").code == 4
    hook.unlink()
    again = ours.propose("--push", "--branch", "lessons").json
    assert (again["action"], again["branch"], again["pushed"]) == ("unchanged", "lessons", True)
    assert git(bare, "rev-parse", "lessons") == git(ours.root, "rev-parse", "lessons")
    assert ours.propose().json["branch"] == "lessons"


def test_a_branch_that_the_remote_has_already_is_told_as_pushed(ours: Clone) -> None:
    ours.note("Stage files by name.")
    ours.proposed("--push")
    assert ours.propose().json["pushed"] is True


@pytest.mark.parametrize("option", ["--branch", "--remote"])
def test_an_empty_name_is_a_usage_error(ours: Clone, option: str) -> None:
    ours.note("Stage files by name.")
    assert ours.propose(option, "").code == 2
    assert git(ours.root, "branch", "--list", "learnloop/*") == ""


def test_git_that_cannot_judge_a_name_has_not_refused_it(ours: Clone, git_fails: Failing) -> None:
    ours.note("Stage files by name.")
    before = ours.state()
    with git_fails("check-ref-format"):
        done = ours.propose()
    assert (done.code, "unable to read" in done.json["error"]["message"]) == (4, True)
    assert ours.state() == before


def test_nothing_to_propose_is_no_error(ours: Clone) -> None:
    done = ours.propose()
    assert (done.code, done.json["action"], done.json["branch"]) == (0, "unchanged", "")


def test_a_squashed_merge_leaves_nothing_to_propose(ours: Clone, theirs: Clone) -> None:
    """What a forge squashed into one commit has arrived, though no commit of ours is there."""
    ours.note("Stage files by name.")
    ours.note("Stage files by name.", "r2")
    branch = ours.proposed("--push")
    git(theirs.root, "fetch", "-q")
    git(theirs.root, "merge", "-q", "--squash", f"origin/{branch}")
    git(theirs.root, "commit", "-q", "-m", "Lessons (#1)")
    git(theirs.root, "push", "-q", "origin", "main")
    assert ours.propose().json["action"] == "unchanged"


# --- others changed it too ------------------------------------------------------------------------------------------


def test_neighbouring_lines_of_the_index_do_not_conflict(ours: Clone, theirs: Clone) -> None:
    """Design §6: propose resolves before it pushes."""
    theirs.note("Always pin the build image.")
    git(theirs.root, "push", "-q", "origin", "main")
    ours.note("Ask before renaming names.")
    branch = ours.proposed()
    document = ours.show(branch, "MEMORY.md")
    assert document.count("(always-pin-the-build-image.md)") == 1
    assert document.count("(ask-before-renaming-names.md)") == 1
    assert ours.changed(branch) == {"ask-before-renaming-names.md", "MEMORY.md"}
    plain = subprocess.run(
        ["git", "merge-tree", "--write-tree", "origin/main", branch], cwd=ours.root, capture_output=True, check=False
    )
    assert plain.returncode == 0


def test_words_changed_on_both_sides_are_refused_and_nothing_is_made(ours: Clone, theirs: Clone) -> None:
    """A real conflict is one line that names the file; no branch is made."""
    theirs.note("Stage files by name.")
    git(theirs.root, "push", "-q", "origin", "main")
    git(ours.root, "pull", "-q")
    for clone, words in ((theirs, "Stage each file by its name."), (ours, "Stage every file by hand.")):
        file = clone.folder / "stage-files-by-name.md"
        file.write_text(file.read_text().replace("\nStage files by name.\n", f"\n{words}\n"))
        assert clone.run("sync").code == 0
    git(theirs.root, "push", "-q", "origin", "main")
    git(ours.root, "fetch", "-q")
    before = ours.state()
    done = ours.run("propose")
    assert done.code == 4
    assert len(done.err.strip().splitlines()) == 1
    assert f"{MEMORY}/stage-files-by-name.md" in done.err
    assert ours.state() == before
    assert git(ours.root, "branch", "--list", "learnloop/*") == ""


def test_two_lessons_of_one_name_both_live(ours: Clone, theirs: Clone) -> None:
    """Different rules under one slug: the later one gets a free name, also in its message."""
    theirs.run("note", "Write the tests first.", "--name", "tests", "--run", "r1")
    git(theirs.root, "push", "-q", "origin", "main")
    ours.run("note", "Never mock the database.", "--name", "tests", "--run", "r2")
    done = ours.propose()
    branch = done.json["branch"]
    assert "Write the tests first." in ours.show(branch, "tests.md")
    assert "Never mock the database." in ours.show(branch, "tests-2.md")
    assert "name: tests-2" in ours.show(branch, "tests-2.md")
    assert "Lesson: tests-2" in git(ours.root, "log", "-1", "--format=%B", branch)
    assert {"(tests.md)", "(tests-2.md)"} <= {
        f"({line.partition('](')[2].partition(')')[0]})" for line in ours.show(branch, "MEMORY.md").splitlines()
    }
    assert "tests-2" in done.err


def test_a_lesson_that_was_merged_under_another_name_is_not_proposed_again(ours: Clone, theirs: Clone) -> None:
    """Neither as it was merged nor after others reworded it: no third lesson, no fourth."""
    theirs.run("note", "Write the tests first.", "--name", "tests", "--run", "r1")
    git(theirs.root, "push", "-q", "origin", "main")
    ours.run("note", "Never mock the database.", "--name", "tests", "--run", "r2")
    branch = ours.proposed("--push")
    git(theirs.root, "pull", "-q", "--no-rebase", "origin", branch)
    git(theirs.root, "push", "-q", "origin", "main")
    assert ours.propose().json["action"] == "unchanged"
    file = theirs.folder / "tests-2.md"
    file.write_text(file.read_text().replace("Never mock the database.", "Mock no database."))
    git(theirs.root, "commit", "-q", "-am", "Reword")
    git(theirs.root, "push", "-q", "origin", "main")
    assert ours.propose().json["action"] == "unchanged"


def test_a_squashed_lesson_that_others_reworded_is_not_proposed_again(ours: Clone, theirs: Clone) -> None:
    """What arrived counts, also where it does not stand there any more."""
    ours.note("Stage files by name.")
    branch = ours.proposed("--push")
    git(theirs.root, "fetch", "-q")
    git(theirs.root, "merge", "-q", "--squash", f"origin/{branch}")
    git(theirs.root, "commit", "-q", "-m", "Lessons (#1)")
    file = theirs.folder / "stage-files-by-name.md"
    file.write_text(file.read_text().replace("\nStage files by name.\n", "\nStage each file by its name.\n"))
    git(theirs.root, "commit", "-q", "-am", "Reword")
    git(theirs.root, "push", "-q", "origin", "main")
    assert ours.propose().json["action"] == "unchanged"
    git(ours.root, "pull", "-q", "--no-rebase", "--no-edit", "-X", "theirs")
    assert ours.propose().json["action"] == "unchanged"


def test_a_lesson_that_was_taken_back_and_restored_is_proposed(ours: Clone) -> None:
    """What stood there once and was had from there is a change of ours when it comes back."""
    ours.note("Stage files by name.")
    assert ours.run("forget", "stage-files-by-name").code == 0
    git(ours.root, "push", "-q", "origin", "main")
    assert ours.run("undo").code == 0
    assert "stage-files-by-name.md" in ours.changed(ours.proposed())


def test_a_new_name_changes_no_words_of_a_message(ours: Clone, theirs: Clone) -> None:
    """Only the trailer and the name in our own subject are names; the rest is what somebody wrote."""
    theirs.run("note", "Write the tests first.", "--name", "tests", "--run", "r1")
    git(theirs.root, "push", "-q", "origin", "main")
    ours.run("note", "Never mock the database.", "--name", "tests", "--run", "r2")
    message = git(ours.root, "log", "-1", "--format=%B").replace("\n\n", "\n\nThe tests lied.\n\n", 1)
    git(ours.root, "commit", "-q", "--amend", "-m", message)
    said = git(ours.root, "log", "-1", "--format=%B", ours.proposed())
    assert said.startswith("learnloop: note tests-2\n\nThe tests lied.\n")
    assert "\nLesson: tests-2\n" in said


def test_a_conflict_that_was_resolved_here_is_proposed_as_resolved(ours: Clone) -> None:
    """What a merge made of its two sides stands in none of its commits: it goes as one patch."""
    ours.note("Stage files by name.")
    git(ours.root, "push", "-q", "origin", "main")
    file = ours.folder / "stage-files-by-name.md"
    git(ours.root, "branch", "side")
    for branch, words in (("side", "Stage each file by its name."), ("main", "Stage every file by hand.")):
        git(ours.root, "switch", "-q", branch)
        file.write_text(file.read_text().replace("\nStage files by name.\n", f"\n{words}\n"))
        assert ours.run("sync").code == 0
    subprocess.run(["git", "merge", "-q", "side"], cwd=ours.root, capture_output=True, check=False)
    git(ours.root, "checkout", "-q", "--ours", ".")
    file.write_text(file.read_text().replace("Stage every file by hand.", "Stage each file by hand."))
    git(ours.root, "add", "-A")
    git(ours.root, "commit", "-q", "-m", "Merge side")
    branch = ours.proposed()
    assert "\nStage each file by hand." in ours.show(branch, "stage-files-by-name.md")
    assert git(ours.root, "rev-list", "--count", f"origin/main..{branch}") == "1"
    assert "Lesson: stage-files-by-name" in git(ours.root, "log", "-1", "--format=%B", branch)


def test_the_commits_are_signed_where_a_persons_are(ours: Clone, tmp_path: Path) -> None:
    """Design §6: commit.gpgsign is honoured; a key that fails is one line and no branch."""
    ours.note("Stage files by name.")
    program = tmp_path / "signer"
    program.write_text('#!/bin/sh\ncat >/dev/null; echo "[GNUPG:] SIG_CREATED " >&2\necho SIGNED\n')
    program.chmod(0o755)
    git(ours.root, "config", "commit.gpgsign", "true")
    git(ours.root, "config", "gpg.program", str(program))
    branch = ours.proposed()
    assert "gpgsig SIGNED" in git(ours.root, "cat-file", "commit", branch)
    program.write_text("#!/bin/sh\nexit 1\n")
    done = ours.run("propose", "--branch", "other")
    assert (done.code, len(done.err.strip().splitlines())) == (4, 1)
    assert git(ours.root, "branch", "--list", "other") == ""


# --- what stays here ------------------------------------------------------------------------------------------------


def test_a_private_lesson_is_never_proposed(ours: Clone) -> None:
    """Design §2: neither its file nor its name gets into git."""
    assert ours.run("note", "I work in the evenings.", "--type", "user", "--run", "r1").code == 0
    ours.note("Stage files by name.")
    branch = ours.proposed()
    everything = git(ours.root, "log", "-p", f"origin/main..{branch}")
    assert "evenings" not in everything
    assert ours.changed(branch) == {"stage-files-by-name.md", "MEMORY.md"}


def test_a_lesson_committed_before_it_was_private_is_left_out(ours: Clone) -> None:
    """What was committed while there was no remote does not leave with the others."""
    git(ours.root, "remote", "rename", "origin", "hub")
    url = git(ours.root, "remote", "get-url", "hub")
    git(ours.root, "remote", "remove", "hub")
    assert ours.run("note", "I work in the evenings.", "--type", "user", "--run", "r1").code == 0
    ours.note("Stage files by name.")
    git(ours.root, "remote", "add", "origin", url)
    branch = ours.proposed()
    assert "evenings" not in git(ours.root, "log", "-p", f"origin/main..{branch}")
    assert ours.changed(branch) == {"stage-files-by-name.md", "MEMORY.md"}


def test_the_name_of_a_private_lesson_leaves_in_no_field(ours: Clone) -> None:
    """Design §2: a lesson that names a private one goes without that name."""
    assert ours.run("note", "I work in the evenings.", "--type", "user", "--name", "evenings").code == 0
    ours.note("Stage files by name.")
    file = ours.folder / "stage-files-by-name.md"
    file.write_text(file.read_text().replace("metadata:\n", "metadata:\n  supersedes: evenings\n", 1))
    assert "supersedes: evenings" in file.read_text()
    assert ours.run("sync").code == 0
    branch = ours.proposed()
    assert "evenings" not in git(ours.root, "log", "-p", f"origin/main..{branch}")
    assert "Stage files by name." in ours.show(branch, "stage-files-by-name.md")


def test_a_file_that_cannot_be_read_is_not_proposed(ours: Clone) -> None:
    """Quarantined files stay where they are."""
    (ours.folder / "broken.md").write_bytes(b"---\nname: broken\n---\n\xff\xfe\n")
    ours.note("Stage files by name.")
    assert "broken.md" not in ours.changed(ours.proposed())


def test_a_secret_in_an_older_commit_is_refused(ours: Clone) -> None:
    """R004-20: no text enters a commit unscanned, also one that a later commit took out again."""
    secret = "".join(("ghp", "_", "A1b2C3d4E5f6G7h8", "I9j0K1l2M3n4O5p6Q7r8"))
    path = f"{MEMORY}/tokens.md"
    ours.commit(path, lesson_text("tokens", "Keep tokens out.", why=f"It was {secret}."), "By hand")
    ours.commit(path, lesson_text("tokens", "Keep tokens out."), "Take it out")
    done = ours.propose()
    assert done.code == 3
    assert git(ours.root, "branch", "--list", "learnloop/*") == ""


# --- remotes --------------------------------------------------------------------------------------------------------


def test_offline_it_builds_on_what_is_known(ours: Clone, bare: Path) -> None:
    ours.note("Stage files by name.")
    bare.rename(bare.with_name("gone.git"))
    done = ours.propose()
    assert (done.code, done.json["action"]) == (0, "proposed")
    assert "cannot be reached" in done.err


def test_it_builds_on_the_branch_that_the_remote_names(ours: Clone, bare: Path) -> None:
    """What the server says counts: neither a missing origin/HEAD nor a branch main beside the default one misleads."""
    git(bare, "branch", "develop", "main")
    git(bare, "symbolic-ref", "HEAD", "refs/heads/develop")
    git(ours.root, "symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    ours.note("Stage files by name.")
    assert ours.propose().json["base"] == "origin/develop"


def test_a_default_branch_that_is_gone_is_not_built_on(ours: Clone, bare: Path) -> None:
    """A tracking reference outlives the branch; the server's word does not."""
    git(bare, "update-ref", "-d", "refs/heads/main")
    ours.note("Stage files by name.")
    done = ours.propose()
    assert (done.code, done.json["error"]["code"]) == (4, "no-default-branch")


def test_a_push_that_fails_leaves_the_branch(ours: Clone, bare: Path) -> None:
    ours.note("Stage files by name.")
    bare.rename(bare.with_name("gone.git"))
    done = ours.run("propose", "--push")
    assert done.code == 4
    assert len([line for line in done.err.splitlines() if "git push -u origin" in line]) == 1
    assert git(ours.root, "branch", "--list", "learnloop/*").strip().startswith("learnloop/")


def test_a_pushed_branch_is_on_the_remote(ours: Clone, bare: Path) -> None:
    ours.note("Stage files by name.")
    done = ours.propose("--push", "--branch", "lessons")
    assert (done.json["branch"], done.json["pushed"]) == ("lessons", True)
    assert git(bare, "rev-parse", "lessons") == done.json["commits"][-1]


def test_the_ways_on_are_printed(ours: Clone) -> None:
    ours.note("Stage files by name.")
    git(ours.root, "remote", "set-url", "--push", "origin", "git@github.com:someone/hub.git")
    done = ours.run("propose", "--branch", "lessons")
    assert "git push -u origin lessons" in done.out
    assert "gh pr create --head lessons" in done.out


def test_a_dry_run_makes_no_branch(ours: Clone) -> None:
    ours.note("Stage files by name.")
    before = ours.state()
    done = ours.propose("--dry-run")
    assert done.json["dry_run"] is True
    assert "+Stage files by name." in done.json["plans"][0]["diff"]
    assert ours.state() == before
    assert git(ours.root, "branch", "--list", "learnloop/*") == ""


@pytest.mark.parametrize("words", [(), ("--remote", "elsewhere")])
def test_without_a_remote_it_is_one_line(memory: Path, learnloop: Run, words: tuple[str, ...]) -> None:
    done = learnloop("propose", *words, cwd=memory)
    assert (done.code, len(done.err.strip().splitlines())) == (4, 1)


def test_without_git_it_is_one_line(tmp_path: Path, learnloop: Run) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    done = learnloop("propose", "--json", "--memory", str(tmp_path), cwd=tmp_path)
    assert (done.code, json.loads(done.out)["error"]["code"]) == (4, "no-git")


# --- the notebook of a skill ----------------------------------------------------------------------------------------


def test_a_skills_notebook_is_proposed_beside_others_entries(tmp_path: Path, repo: Path, learnloop: Run) -> None:
    """The other kind of memory: entries that stand next to each other do not conflict."""
    skill = repo / "review"
    skill.mkdir()
    (skill / "SKILL.md").write_text(SKILL)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Add a skill")
    assert learnloop("init", "--skill", str(skill), cwd=repo).code == 0
    git(tmp_path, "clone", "-q", "--bare", str(repo), "hub.git")
    for name, rule in (("ours", "Stage files by name."), ("theirs", "Always pin the build image.")):
        git(tmp_path, "clone", "-q", "hub.git", name)
        where = str(tmp_path / name / "review" / "references")
        assert learnloop("note", rule, "--memory", where, "--run", name, cwd=tmp_path / name).code == 0
    git(tmp_path / "theirs", "push", "-q", "origin", "main")
    folder = tmp_path / "ours" / "review" / "references"
    done = learnloop("propose", "--json", "--branch", "lessons", "--memory", str(folder), cwd=tmp_path / "ours")
    assert done.code == 0, done.out
    notebook = git(tmp_path / "ours", "show", "lessons:review/references/memory.md")
    for slug in ("stage-files-by-name", "always-pin-the-build-image"):
        assert notebook.count(f"lessons/{slug}.md") == 1
