"""A shallow clone: what a commit before its oldest one would tell is not guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run, git

RULE = "Stage files by name."
SLUG = "stage-files-by-name"


def shallow(repo: Path, depth: int) -> Path:
    """A clone that holds the newest commits alone."""
    where = repo.parent / "shallow"
    git(repo.parent, "clone", "-q", "--depth", str(depth), f"file://{repo}", where.name)
    return where


def state(repo: Path) -> tuple[str, str, dict[str, bytes]]:
    memory = repo / ".claude/memory"
    files = {path.name: path.read_bytes() for path in memory.iterdir()}
    return git(repo, "rev-parse", "HEAD"), git(repo, "status", "--porcelain"), files


@pytest.fixture
def noted(memory: Path, repo: Path, learnloop: Run) -> Path:
    """A lesson that was noted and confirmed, and another one."""
    learnloop("note", "Brew tea first.", "--run", "r1", cwd=repo)
    learnloop("note", RULE, "--run", "r1", cwd=repo)
    learnloop("confirm", SLUG, "--run", "c1", cwd=repo)
    return repo


@pytest.mark.parametrize("what", [(), (SLUG,), ("brew-tea-first",), ("HEAD",), ("HEAD~1",)])
def test_undo_takes_back_nothing_that_the_clone_does_not_tell(
    noted: Path, learnloop: Run, what: tuple[str, ...]
) -> None:
    """Its oldest commit seems to have added all that it holds: taken back, the memory would be gone."""
    clone = shallow(noted, 1)
    before = state(clone)
    ran = learnloop("undo", *what, cwd=clone)
    assert (ran.code, ran.err.count("\n"), "git fetch --unshallow" in ran.err) == (4, 1, True), ran.err
    assert state(clone) == before


def test_undo_names_no_commit_of_code_to_take_back_either(noted: Path, learnloop: Run) -> None:
    (noted / "app.py").write_text("x = 2\n")
    git(noted, "commit", "-q", "-a", "-m", "Code alone")
    clone = shallow(noted, 1)
    ran = learnloop("undo", cwd=clone)
    assert (ran.code, "--unshallow" in ran.err) == (4, True)


def test_undo_works_in_a_shallow_clone_that_holds_the_change(noted: Path, learnloop: Run) -> None:
    clone = shallow(noted, 2)
    assert learnloop("undo", cwd=clone).code == 0
    assert "c1" not in (clone / f".claude/memory/{SLUG}.md").read_text()
    assert learnloop("undo", SLUG, cwd=clone).code == 4  # the note is where the clone ends


def test_what_is_noted_in_a_shallow_clone_is_undone_there(noted: Path, learnloop: Run) -> None:
    clone = shallow(noted, 1)
    before = state(clone)[2]
    learnloop("note", "Warm the cup.", cwd=clone)
    assert learnloop("undo", cwd=clone).code == 0
    assert state(clone)[2] == before


def test_once_the_history_is_there_undo_works(noted: Path, learnloop: Run) -> None:
    clone = shallow(noted, 1)
    git(clone, "fetch", "-q", "--unshallow")
    assert learnloop("undo", cwd=clone).code == 0
    assert (clone / f".claude/memory/{SLUG}.md").exists()


def test_log_says_that_its_oldest_commit_stands_for_all_before_it(noted: Path, learnloop: Run) -> None:
    """It names what the commit's message names, not all that the clone holds."""
    clone = shallow(noted, 1)
    ran = learnloop("log", "--json", cwd=clone)
    assert [(row["change"], row["slugs"]) for row in ran.json["commits"]] == [("confirm", [SLUG])]
    assert "shallow" in learnloop("log", cwd=clone).err
    assert "shallow" not in learnloop("log", "--limit", "1", cwd=shallow_of_two(noted)).err


def shallow_of_two(repo: Path) -> Path:
    where = repo.parent / "deeper"
    git(repo.parent, "clone", "-q", "--depth", "2", f"file://{repo}", where.name)
    return where


@pytest.mark.parametrize("command", ["log", "why", "restore"])
def test_a_lesson_that_only_the_missing_history_knows_is_no_unknown_name(
    noted: Path, learnloop: Run, command: str
) -> None:
    (noted / f".claude/memory/{SLUG}.md").unlink()
    learnloop("sync", cwd=noted)
    ran = learnloop(command, SLUG, cwd=shallow(noted, 1))
    assert (ran.code, ran.err.count("\n"), "git fetch --unshallow" in ran.err) == (4, 1, True), ran.err


def test_restore_guesses_no_state_that_the_clone_does_not_tell(noted: Path, learnloop: Run) -> None:
    """Design §5: restore brings back the state before."""
    learnloop("graduate", SLUG, cwd=noted)
    learnloop("archive", SLUG, "--note", "old", cwd=noted)
    clone = shallow(noted, 1)
    before = state(clone)
    ran = learnloop("restore", SLUG, cwd=clone)
    assert (ran.code, "git fetch --unshallow" in ran.err) == (4, True), ran.err
    assert state(clone) == before
    deeper = shallow_of_two(noted)
    assert learnloop("restore", SLUG, "--json", cwd=deeper).json["state"] == "current"


def test_why_says_nothing_of_a_cut_where_it_holds_all_of_the_lesson(noted: Path, learnloop: Run) -> None:
    clone = shallow(noted, 3)
    assert "shallow" not in learnloop("why", SLUG, cwd=clone).err
    assert "shallow" in learnloop("why", "brew-tea-first", cwd=clone).err


def test_why_tells_of_no_other_lesson_and_no_author_where_the_clone_ends(noted: Path, learnloop: Run) -> None:
    clone = shallow(noted, 1)
    ran = learnloop("why", "brew-tea-first", cwd=clone)
    assert ("confirm" in ran.out, "or before it" in ran.out) == (False, True), ran.out
    told = learnloop("why", "brew-tea-first", "--json", cwd=clone).json
    assert [row["author"] for row in told["seen"]] == [""]


def test_the_report_says_that_the_past_is_cut(noted: Path, learnloop: Run) -> None:
    assert "shallow" in learnloop("report", cwd=shallow(noted, 1)).err


def test_propose_sends_no_commit_that_seems_to_add_everything(noted: Path, learnloop: Run) -> None:
    """A branch whose start is not in the clone: what its oldest commit changed is not known."""
    git(noted, "checkout", "-q", "-b", "side", "HEAD~1")
    learnloop("dispute", SLUG, "--run", "d1", cwd=noted)
    git(noted, "checkout", "-q", "main")
    where = noted.parent / "shallow"
    git(noted.parent, "clone", "-q", "--depth", "1", "--no-single-branch", "-b", "side", f"file://{noted}", where.name)
    before = git(where, "for-each-ref")
    ran = learnloop("propose", cwd=where)
    assert (ran.code, ran.err.count("\n"), "git fetch --unshallow" in ran.err) == (4, 1, True), ran.err
    assert git(where, "for-each-ref") == before


def test_propose_works_in_a_shallow_clone_of_the_default_branch(noted: Path, learnloop: Run) -> None:
    clone = shallow(noted, 1)
    learnloop("note", "Warm the cup.", "--today", "2026-06-01", cwd=clone)
    ran = learnloop("propose", "--branch", "mine", cwd=clone)
    assert (ran.code, git(clone, "log", "--format=%s", "origin/main..mine")) == (0, "learnloop: note warm-the-cup")


# --- a history that was cut by a graft -------------------------------------------------------------------------------


@pytest.mark.parametrize("what", [(), (SLUG,), ("brew-tea-first",), ("HEAD",)])
@pytest.mark.parametrize("packed", [False, True])
def test_undo_takes_back_nothing_that_a_graft_hides(
    noted: Path, learnloop: Run, what: tuple[str, ...], packed: bool
) -> None:
    """A grafted root seems to have added all that it holds."""
    git(noted, "replace", "--graft", "HEAD")
    if packed:
        git(noted, "pack-refs", "--all", "--prune")
    before = state(noted)
    ran = learnloop("undo", *what, cwd=noted)
    commit = git(noted, "rev-parse", "HEAD")
    assert (ran.code, ran.err.count("\n"), f"git replace -d {commit}" in ran.err) == (4, 1, True), ran.err
    assert state(noted) == before
    git(noted, "replace", "-d", commit)
    assert learnloop("undo", cwd=noted).code == 0


def test_undo_takes_back_nothing_that_an_old_graft_file_hides(noted: Path, learnloop: Run) -> None:
    (noted / ".git/info").mkdir(exist_ok=True)
    (noted / ".git/info/grafts").write_text("# old\n" + git(noted, "rev-parse", "HEAD") + "\n")
    before = state(noted)
    ran = learnloop("undo", cwd=noted)
    assert (ran.code, "info/grafts" in ran.err, state(noted)) == (4, True, before), ran.err


def test_what_a_replacement_does_not_hide_is_undone(noted: Path, learnloop: Run) -> None:
    """A replaced blob, and a commit that was given one more parent, hide nothing."""
    git(
        noted,
        "replace",
        git(noted, "rev-parse", "HEAD:.gitattributes"),
        git(noted, "rev-parse", "HEAD:.claude/memory/MEMORY.md"),
    )
    git(noted, "replace", "--graft", "HEAD~1", "HEAD~2", "HEAD~3")
    assert learnloop("undo", cwd=noted).code == 0
    assert "c1" not in (noted / f".claude/memory/{SLUG}.md").read_text()


@pytest.mark.parametrize("what", ["HEAD", SLUG])
def test_a_first_commit_of_a_person_is_not_taken_back(noted: Path, learnloop: Run, what: str) -> None:
    """A history that was begun anew: its first commit brought what was there before it."""
    git(noted, "checkout", "-q", "--orphan", "anew")
    git(noted, "commit", "-q", "-m", "Begin anew")
    before = state(noted)
    ran = learnloop("undo", what, cwd=noted)
    assert (ran.code, ran.err.count("\n"), "learnloop forget" in ran.err) == (4, 1, True), ran.err
    assert state(noted) == before
