"""Undo: lessons, documents and targets go back together, and nobody's later work is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run, git

RULE = "Stage files by name."
SLUG = "stage-files-by-name"


def files(memory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in memory.iterdir()}


@pytest.fixture
def noted(memory: Path, repo: Path, learnloop: Run) -> Path:
    learnloop("note", RULE, "--run", "r1", cwd=repo)
    return memory


def test_all_commits_of_the_last_command_go_back_together(noted: Path, repo: Path, learnloop: Run) -> None:
    """Design §6: a sighting and its graduation carry one command id."""
    before = files(noted)
    learnloop("note", RULE, "--run", "r2", cwd=repo)
    assert learnloop("undo", cwd=repo).code == 0
    assert files(noted) == before
    assert git(repo, "status", "--porcelain") == ""


def test_a_second_undo_goes_one_command_further_back(memory: Path, repo: Path, learnloop: Run) -> None:
    before = files(memory)
    learnloop("note", RULE, cwd=repo)
    learnloop("pin", SLUG, cwd=repo)
    learnloop("undo", cwd=repo)
    learnloop("undo", cwd=repo)
    assert files(memory) == before


def test_an_undo_is_undone_by_its_commit(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("pin", SLUG, cwd=repo)
    pinned = files(noted)
    commit = learnloop("undo", "--json", cwd=repo).json["commits"][0]
    assert learnloop("undo", commit[:10], cwd=repo).code == 0
    assert files(noted) == pinned


def test_a_lesson_s_last_change_goes_back_by_its_name(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("pin", SLUG, cwd=repo)
    learnloop("note", "Brew tea first.", cwd=repo)
    learnloop("undo", SLUG, cwd=repo)
    assert "pinned" not in (noted / f"{SLUG}.md").read_text()
    assert (noted / "brew-tea-first.md").exists()


def test_later_changes_of_other_lines_are_kept(noted: Path, repo: Path, learnloop: Run) -> None:
    commit = learnloop("confirm", SLUG, "--run", "c1", "--json", cwd=repo).json["commits"][0]
    learnloop("dispute", SLUG, "--run", "d1", cwd=repo)
    ran = learnloop("undo", commit, cwd=repo)
    text = (noted / f"{SLUG}.md").read_text()
    assert (ran.code, "c1" in text, "d1" in text) == (0, False, True)


def test_what_cannot_be_taken_back_is_refused_and_nothing_changes(noted: Path, repo: Path, learnloop: Run) -> None:
    path = noted / f"{SLUG}.md"
    path.write_text(path.read_text().replace(RULE, "Stage every file by its name."))
    commit = learnloop("sync", "--json", cwd=repo).json["commits"][0]
    path.write_text(path.read_text().replace("Stage every file by its name.", "Name each file you stage."))
    learnloop("sync", cwd=repo)
    before, head = files(noted), git(repo, "rev-parse", "HEAD")
    ran = learnloop("undo", commit, cwd=repo)
    assert (ran.code, ran.err.count("\n"), files(noted), git(repo, "rev-parse", "HEAD")) == (4, 1, before, head)


def test_hand_edits_absorbed_on_the_way_stay(noted: Path, repo: Path, learnloop: Run) -> None:
    path = noted / f"{SLUG}.md"
    path.write_text(path.read_text() + "\nA thought of Bo's.\n")
    learnloop("pin", SLUG, cwd=repo)
    learnloop("undo", cwd=repo)
    text = path.read_text()
    assert ("A thought of Bo's." in text, "pinned" in text) == (True, False)


def test_codify_goes_back_with_its_target(noted: Path, repo: Path, learnloop: Run) -> None:
    (repo / "CLAUDE.md").write_text("# House\n\nRules.\n")
    git(repo, "add", "CLAUDE.md")
    git(repo, "commit", "-q", "-m", "Rules")
    before = files(noted)
    assert learnloop("codify", SLUG, cwd=repo).code == 0
    assert RULE in (repo / "CLAUDE.md").read_text()
    learnloop("undo", cwd=repo)
    assert ((repo / "CLAUDE.md").read_text(), files(noted)) == ("# House\n\nRules.\n", before)


def test_nothing_to_undo_is_one_line(memory: Path, repo: Path, learnloop: Run) -> None:
    """Design §11: a wrong name is exit 2; a memory in which nothing is left to take back is exit 4."""
    named, last = learnloop("undo", "nobody", cwd=repo), learnloop("undo", cwd=repo)
    assert (named.code, named.err.count("\n")) == (2, 1)
    assert (last.code, last.err.count("\n")) == (4, 1)


def test_the_log_tells_commits_without_trailers_by_what_changed(noted: Path, repo: Path, learnloop: Run) -> None:
    """Design §6: amended and hand-made commits tell as much."""
    path = noted / f"{SLUG}.md"
    path.write_text(path.read_text().replace("state: candidate", "state: current"))
    git(repo, "commit", "-q", "-am", "By hand")
    git(repo, "commit", "-q", "--amend", "-m", "Amended by hand")
    found = learnloop("log", "--json", cwd=repo).json["commits"][0]
    assert (found["change"], found["slugs"], found["subject"]) == ("graduate", [SLUG], "Amended by hand")


LONG = "Read the failing log before changing code."
LONG_SLUG = "read-the-failing-log-before-changing-code"


def markdown(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*.md"))}


@pytest.fixture
def graduated(repo: Path, memory: Path, learnloop: Run) -> dict[str, bytes]:
    """A lesson noted, then graduated by its second sighting; what was there between the two."""
    learnloop("note", LONG, "--run", "r1", cwd=repo)
    between = markdown(memory)
    learnloop("note", LONG, "--run", "r2", cwd=repo)
    return between


def test_after_an_undone_undo_the_command_can_be_undone_again(
    repo: Path, memory: Path, learnloop: Run, graduated: dict[str, bytes]
) -> None:
    learnloop("undo", cwd=repo)
    learnloop("undo", git(repo, "rev-parse", "HEAD"), cwd=repo)
    learnloop("undo", cwd=repo)
    assert markdown(memory) == graduated


def test_a_commit_is_undone_by_its_id(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", LONG, cwd=repo)
    first = git(repo, "rev-parse", "HEAD")
    learnloop("note", RULE, cwd=repo)
    assert learnloop("undo", first[:8], cwd=repo).code == 0
    assert list(markdown(memory)) == ["MEMORY.md", f"{SLUG}.md"]
    assert LONG_SLUG not in (memory / "MEMORY.md").read_text()
    assert "(stage-files-by-name.md)" in (memory / "MEMORY.md").read_text()


def test_hand_edits_that_the_undo_itself_absorbs_stay(repo: Path, memory: Path, learnloop: Run) -> None:
    """An undo takes back the last command, not what a person wrote meanwhile."""
    learnloop("note", LONG, "--how", "Scroll up.", cwd=repo)
    learnloop("pin", LONG_SLUG, cwd=repo)
    file = memory / f"{LONG_SLUG}.md"
    file.write_text(file.read_text().replace("Scroll up.", "Scroll up to the first error."))
    assert learnloop("undo", cwd=repo).code == 0
    assert "pinned" not in file.read_text()
    assert "Scroll up to the first error." in file.read_text()
    assert git(repo, "log", "-2", "--format=%s").splitlines() == [
        f"learnloop: undo {LONG_SLUG}",
        f"learnloop: absorb {LONG_SLUG}",
    ]


def test_prose_added_to_the_document_since_stays(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", LONG, cwd=repo)
    document = memory / "MEMORY.md"
    document.write_text(document.read_text().replace("# Memory\n", "# Memory\n\nKeep it short.\n"))
    learnloop("sync", cwd=repo)
    learnloop("undo", LONG_SLUG, cwd=repo)
    assert "Keep it short." in document.read_text()


def test_a_lesson_removed_since_refuses(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", LONG, cwd=repo)
    learnloop("pin", LONG_SLUG, cwd=repo)
    pinned = git(repo, "rev-parse", "HEAD")
    (memory / f"{LONG_SLUG}.md").unlink()
    learnloop("sync", cwd=repo)
    ran = learnloop("undo", pinned, "--json", cwd=repo)
    assert (ran.code, ran.json["error"]["code"]) == (4, "changed-since")


def test_a_queued_change_is_not_mistaken_for_the_one_before(repo: Path, memory: Path, learnloop: Run) -> None:
    """The last change is not committed yet: undo must not take back the command before it."""
    learnloop("note", LONG, cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    learnloop("note", RULE, cwd=repo)
    before = markdown(memory)
    ran = learnloop("undo", "--json", cwd=repo)
    assert (ran.code, ran.json["error"]["code"], markdown(memory)) == (4, "queued", before)


def test_a_dry_run_of_undo_writes_nothing(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", LONG, cwd=repo)
    before = markdown(memory), git(repo, "rev-parse", "HEAD")
    ran = learnloop("undo", "--dry-run", cwd=repo)
    assert (ran.code, f"learnloop: undo {LONG_SLUG}" in ran.out) == (0, True)
    assert (markdown(memory), git(repo, "rev-parse", "HEAD")) == before


def test_an_undone_codify_takes_skill_and_memory_back(repo: Path, learnloop: Run) -> None:
    skill = repo / "review"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: review\ndescription: Review changes\n---\n\n# Review\n")
    learnloop("init", "--skill", ".", cwd=skill)
    learnloop("note", LONG, cwd=skill)
    before = markdown(skill)
    assert learnloop("codify", LONG_SLUG, cwd=skill).code == 0
    assert markdown(skill) != before
    assert learnloop("undo", cwd=skill).code == 0
    assert markdown(skill) == before


def test_a_merge_and_its_undo_give_back_both_lessons(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", LONG, "--run", "r1", cwd=repo)
    learnloop("note", RULE, "--run", "r2", cwd=repo)
    before = markdown(memory)
    learnloop("merge", "stage-files-by-name", LONG_SLUG, cwd=repo)
    learnloop("undo", cwd=repo)
    assert markdown(memory) == before


def test_a_rename_and_its_undo_give_back_the_file(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", LONG, cwd=repo)
    before = markdown(memory)
    learnloop("rename", LONG_SLUG, "read-logs", cwd=repo)
    learnloop("undo", cwd=repo)
    assert markdown(memory) == before


def test_an_undo_after_an_amended_message_finds_the_commit(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability 59: by what changed, not by trailers alone."""
    learnloop("note", LONG, cwd=repo)
    git(repo, "commit", "-q", "--amend", "-m", "A better message")
    assert learnloop("undo", LONG_SLUG, cwd=repo).code == 0
    assert list(markdown(memory)) == ["MEMORY.md"]


def test_a_unique_beginning_names_what_to_undo(noted: Path, repo: Path, learnloop: Run) -> None:
    """R004-98."""
    learnloop("pin", SLUG, cwd=repo)
    assert learnloop("undo", "stage", cwd=repo).code == 0
    assert "pinned" not in (noted / f"{SLUG}.md").read_text()


def test_init_is_never_taken_back(repo: Path, learnloop: Run) -> None:
    """What it adopted was there before it."""
    memory = repo / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "old.md").write_text("---\nname: old\ndescription: o\nmetadata:\n  type: feedback\n---\n\nOld.\n")
    commit = learnloop("init", "--json", cwd=repo).json["commits"][0]
    before = files(memory)
    assert [learnloop("undo", *what, cwd=repo).code for what in ((), (commit,))] == [4, 4]
    assert files(memory) == before


def test_a_private_change_is_not_mistaken_for_the_one_before(noted: Path, repo: Path, learnloop: Run) -> None:
    """git has nothing of it, so undo says so instead of taking back another lesson."""
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    learnloop("note", "Ada prefers short answers.", "--type", "user", cwd=repo)
    ran = learnloop("undo", cwd=repo)
    assert (ran.code, ran.err.count("\n"), (noted / f"{SLUG}.md").exists()) == (4, 1, True)
    ran = learnloop("undo", "ada", cwd=repo)  # by the beginning of its name
    assert (ran.code, "ada-prefers-short-answers is private: git has no history of it" in ran.err) == (4, True), ran.err
    learnloop("pin", SLUG, cwd=repo)
    assert learnloop("undo", cwd=repo).code == 0


def test_undo_of_a_lesson_takes_no_state_along_that_was_squashed_into_its_commit(
    noted: Path, repo: Path, learnloop: Run
) -> None:
    """docs/commands.md: that lesson's change alone."""
    assert learnloop("state", "set", "count", "1", cwd=repo).code == 0
    git(repo, "reset", "-q", "--soft", "HEAD~1")
    git(repo, "commit", "-q", "--amend", "--no-edit")
    assert learnloop("undo", SLUG, cwd=repo).code == 0
    assert ((noted / f"{SLUG}.md").exists(), (noted / "memory.json").exists()) == (False, True)


def test_undo_of_an_older_commit_says_under_which_name_its_lesson_stands(
    noted: Path, repo: Path, learnloop: Run
) -> None:
    commit = git(repo, "rev-parse", "HEAD")
    assert learnloop("rename", SLUG, "named", cwd=repo).code == 0
    ran = learnloop("undo", commit, cwd=repo)
    assert (ran.code, f"{SLUG} is called named now" in ran.err, (noted / "named.md").exists()) == (4, True, True), ran


def test_a_change_that_git_has_half_of_is_not_taken_back_by_half(noted: Path, repo: Path, learnloop: Run) -> None:
    """A cleanup that changed a private lesson too: of that git has nothing."""
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    learnloop("note", "Ada prefers short answers.", "--type", "user", "--name", "ada", cwd=repo)
    noted_down = files(noted)
    assert learnloop("cleanup", "--apply", "--today", "2029-01-01", cwd=repo).code == 0
    before = files(noted)
    assert all(before[f"{slug}.md"] != noted_down[f"{slug}.md"] for slug in (SLUG, "ada"))
    ran = learnloop("undo", cwd=repo)
    assert (ran.code, ran.err.count("\n"), files(noted)) == (4, 1, before), ran.err
    assert learnloop("undo", "HEAD", cwd=repo).code == 0


def test_a_change_on_another_branch_is_not_mistaken_for_the_one_before(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("codify", SLUG, "--into", "CLAUDE.md", "--branch", "rules", cwd=repo)
    before = files(noted)
    for command in ("undo", "sync", "undo"):
        ran = learnloop(command, cwd=repo)
    assert (ran.code, ran.err.count("\n"), "git branch -D rules" in ran.err) == (4, 1, True), ran.err
    assert files(noted) == before
    git(repo, "branch", "-q", "-D", "rules")
    assert learnloop("undo", cwd=repo).code == 0
    assert not (noted / f"{SLUG}.md").exists()


def test_a_change_on_a_branch_is_undone_once_it_is_merged(noted: Path, repo: Path, learnloop: Run) -> None:
    before = files(noted)
    learnloop("codify", SLUG, "--into", "CLAUDE.md", "--branch", "rules", cwd=repo)
    git(repo, "merge", "-q", "--ff-only", "rules")
    assert learnloop("undo", cwd=repo).code == 0
    assert (files(noted), (repo / "CLAUDE.md").exists()) == (before, False)


def test_a_later_command_is_undone_whatever_stands_on_a_branch(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("codify", SLUG, "--into", "CLAUDE.md", "--branch", "rules", cwd=repo)
    learnloop("pin", SLUG, cwd=repo)
    assert learnloop("undo", cwd=repo).code == 0
    assert "pinned" not in (noted / f"{SLUG}.md").read_text()


def test_an_init_that_changed_only_its_own_lines_is_not_mistaken_for_a_lesson_s_change(
    noted: Path, repo: Path, learnloop: Run
) -> None:
    git(repo, "rm", "-q", ".gitattributes")
    git(repo, "commit", "-q", "-m", "Without it")
    learnloop("init", cwd=repo)
    before = files(noted)
    assert (learnloop("undo", cwd=repo).code, files(noted)) == (4, before)


def test_an_init_that_changed_nothing_is_no_last_change(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("init", cwd=repo)
    assert learnloop("undo", cwd=repo).code == 0
    assert not (noted / f"{SLUG}.md").exists()


def test_a_rule_in_a_file_that_git_ignores_is_told(noted: Path, repo: Path, learnloop: Run) -> None:
    with (repo / ".git/info/exclude").open("a") as file:
        file.write("CLAUDE.local.md\n")
    learnloop("codify", SLUG, "--into", "CLAUDE.local.md", cwd=repo)
    assert "CLAUDE.local.md is not in git" in learnloop("undo", cwd=repo).out


@pytest.mark.parametrize("command", [("confirm", SLUG), ("graduate", SLUG)])
def test_a_checkout_with_crlf_can_be_undone(
    noted: Path, repo: Path, tmp_path: Path, learnloop: Run, command: tuple[str, ...]
) -> None:
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", str(repo), "dos")
    clone = tmp_path / "dos"
    learnloop("init", cwd=clone)
    before = files(clone / ".claude" / "memory")
    learnloop(*command, "--run", "c1", cwd=clone)
    assert learnloop("undo", cwd=clone).code == 0
    assert files(clone / ".claude" / "memory") == before
    assert git(clone, "status", "--porcelain") == ""


def test_what_is_taken_back_already_is_unchanged(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("pin", SLUG, cwd=repo)
    commit = learnloop("undo", "--json", cwd=repo).json["commits"][0]
    actions = [learnloop("undo", commit, "--json", cwd=repo).json["action"] for _ in range(2)]
    assert actions == ["undone", "unchanged"]


def test_a_rule_in_another_repository_is_named_when_it_is_left(repo: Path, learnloop: Run) -> None:
    learnloop("init", "--native", cwd=repo)
    learnloop("note", RULE, cwd=repo)
    learnloop("codify", SLUG, "--into", "CLAUDE.md", cwd=repo)
    assert "CLAUDE.md is not in this repository" in learnloop("undo", cwd=repo).out


SQUASHED = """---
name: new-rule
description: d
metadata:
  type: feedback
  state: candidate
---

Do the new rule.
"""


@pytest.mark.parametrize("with_trailers", [False, True])
def test_code_that_went_into_the_same_commit_stays(
    repo: Path, memory: Path, learnloop: Run, with_trailers: bool
) -> None:
    """A squashed feature holds code and lessons; an undo is of lessons (design §6)."""
    (memory / "new-rule.md").write_text(SQUASHED)
    (repo / "app.py").write_text("x = 2\n")
    (repo / "new.py").write_text("y = 1\n")
    git(repo, "add", "-A")
    trailers = "\n\nLesson: new-rule\nLearnloop-Change: note\nLearnloop-Command: 0a1b2c3d" if with_trailers else ""
    git(repo, "commit", "-q", "-m", f"Feature{trailers}")
    learnloop("sync", cwd=repo)
    assert learnloop("undo", "new-rule", cwd=repo).code == 0
    assert not (memory / "new-rule.md").exists()
    assert ((repo / "app.py").read_text(), (repo / "new.py").read_text()) == ("x = 2\n", "y = 1\n")
    assert git(repo, "status", "--porcelain") == ""


def test_what_was_absorbed_first_stays_when_absorbing_is_undone(repo: Path, memory: Path, learnloop: Run) -> None:
    """Claude or a person wrote that file; no command of ours made it (R004-01)."""
    (memory / "new-rule.md").write_text(SQUASHED)
    learnloop("sync", cwd=repo)
    ran = learnloop("undo", cwd=repo)
    assert "what was absorbed was there before it: it stays" in ran.out
    assert (memory / "new-rule.md").exists()


def test_without_a_name_a_rewritten_commit_is_not_passed_over(repo: Path, memory: Path, learnloop: Run) -> None:
    """Silently taking back an older command would undo what nobody meant."""
    learnloop("note", "Stage files by name.", cwd=repo)
    git(repo, "checkout", "-q", "-b", "side")
    learnloop("note", "Read the failing log before changing code.", cwd=repo)
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--squash", "side")
    git(repo, "commit", "-q", "-m", "Squashed")
    ran = learnloop("undo", "--json", cwd=repo)
    assert (ran.code, ran.json["error"]["code"]) == (4, "no-command")
    assert learnloop("undo", git(repo, "rev-parse", "HEAD"), cwd=repo).code == 0
    assert [path.stem for path in memory.glob("s*.md")] == ["stage-files-by-name"]


def test_undoing_a_lesson_after_a_merge_takes_its_last_change_alone(repo: Path, memory: Path, learnloop: Run) -> None:
    git(repo, "checkout", "-q", "-b", "side")
    learnloop("note", "Stage files by name.", "--run", "r1", cwd=repo)
    learnloop("confirm", "stage-files-by-name", "--run", "r2", cwd=repo)
    git(repo, "checkout", "-q", "main")
    (repo / "app.py").write_text("x = 2\n")
    git(repo, "commit", "-qam", "Code")
    git(repo, "merge", "-q", "--no-edit", "side")
    assert learnloop("undo", "stage-files-by-name", cwd=repo).code == 0
    text = (memory / "stage-files-by-name.md").read_text()
    assert ("run: r1" in text, "confirmed" in text) == (True, False)


def test_a_lesson_goes_back_alone_out_of_an_import(repo: Path, memory: Path, learnloop: Run) -> None:
    """docs/commands.md: `undo NAME` takes that lesson's change alone out of a commit that holds others'."""
    source = repo / "learnings.md"
    source.write_text("# Learnings\n\n- Use uv, not pip.\n- Stage files by name.\n- Read the log.\n")
    learnloop("import", str(source), cwd=repo)
    assert learnloop("undo", "use-uv", "--json", cwd=repo).json["slug"] == "use-uv-not-pip"
    assert {path.stem for path in memory.glob("*.md")} == {"MEMORY", SLUG, "read-the-log"}
    assert f"({SLUG}.md)" in (memory / "MEMORY.md").read_text()
    learnloop("undo", SLUG, cwd=repo)
    assert {path.stem for path in memory.glob("*.md")} == {"MEMORY", "read-the-log"}
    learnloop("undo", git(repo, "rev-parse", "HEAD~1"), cwd=repo)
    assert {path.stem for path in memory.glob("*.md")} == {"MEMORY", "use-uv-not-pip", "read-the-log"}


def test_a_lesson_goes_back_alone_out_of_what_was_absorbed(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("note", "Read the log.", cwd=repo)
    for path in noted.glob("[rs]*.md"):
        path.write_text(path.read_text() + "\nWords by hand.\n")
    learnloop("sync", cwd=repo)
    assert git(repo, "status", "--short") == ""
    learnloop("undo", SLUG, cwd=repo)
    assert [p.stem for p in noted.glob("*.md") if "Words by hand." in p.read_text()] == ["read-the-log"]
    learnloop("undo", "read", cwd=repo)
    assert not [p.stem for p in noted.glob("*.md") if "Words by hand." in p.read_text()]


# --- a rule in a file that a person changed in the same commit ------------------------------------------------------

GUIDE = "# C\n\nfirst\n\nsecond\n\nthird\n"


def codified(repo: Path, learnloop: Run, into: str = "CLAUDE.md", guide: str = GUIDE) -> Path:
    """A guide with the rule of a lesson as codify wrote it."""
    path = repo / into
    path.write_text(guide)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Guide")
    for words in (("note", RULE), ("graduate", SLUG), ("codify", SLUG, "--into", into)):
        assert learnloop(*words, cwd=repo).code == 0
    return path


def squashed(repo: Path, path: Path, text: str, commits: int = 2) -> None:
    """The guide as a person edited it, in one commit with the codify."""
    path.write_text(text)
    git(repo, "commit", "-qam", "x")
    git(repo, "reset", "-q", "--soft", f"HEAD~{commits}")
    git(repo, "commit", "-qm", "sq")


@pytest.mark.parametrize("into", ["CLAUDE.md", "AGENTS.md"])
@pytest.mark.parametrize("what", [SLUG, "HEAD"])
@pytest.mark.parametrize("commits", [2, 3])
def test_a_rule_squashed_with_a_persons_edit_goes_back_and_the_edit_stays(
    memory: Path, repo: Path, learnloop: Run, into: str, what: str, commits: int
) -> None:
    """Else the rule would stand in the guide while the lesson is in force again."""
    path = codified(repo, learnloop, into)
    squashed(repo, path, path.read_text().replace("first", "FIRST"), commits)
    ran = learnloop("undo", what, cwd=repo)
    assert (ran.code, path.read_text()) == (0, GUIDE.replace("first", "FIRST")), ran.err
    assert "state: archived" not in (memory / f"{SLUG}.md").read_text()
    assert git(repo, "status", "--porcelain") == ""


def test_a_rule_amended_with_a_neighbouring_edit_goes_back_alone(memory: Path, repo: Path, learnloop: Run) -> None:
    path = codified(repo, learnloop, guide=f"{GUIDE}\n## Learned rules\n\n- Be brief.\n")
    path.write_text(path.read_text().replace("- Be brief.", "- Be very brief.") + "- Be kind.\n")
    git(repo, "commit", "-qa", "--amend", "--no-edit")
    assert learnloop("undo", SLUG, cwd=repo).code == 0
    assert path.read_text() == f"{GUIDE}\n## Learned rules\n\n- Be very brief.\n- Be kind.\n"


def test_one_of_two_rules_that_were_squashed_together_goes_back_alone(memory: Path, repo: Path, learnloop: Run) -> None:
    path = codified(repo, learnloop)
    with_one = path.read_text()
    learnloop("note", "Water the plants.", cwd=repo)
    learnloop("codify", "water-the-plants", "--into", "CLAUDE.md", cwd=repo)
    git(repo, "reset", "-q", "--soft", "HEAD~3")
    git(repo, "commit", "-qm", "sq")
    assert learnloop("undo", "water-the-plants", cwd=repo).code == 0
    assert path.read_text() == with_one


def test_a_rule_squashed_with_an_edit_of_a_skill_goes_back(repo: Path, learnloop: Run) -> None:
    skill = repo / "review"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: review\ndescription: Review changes\n---\n\n# Review\n\nLook.\n")
    learnloop("init", "--skill", ".", cwd=skill)
    before = (skill / "SKILL.md").read_text()
    learnloop("note", RULE, cwd=skill)
    learnloop("codify", SLUG, cwd=skill)
    squashed(repo, skill / "SKILL.md", (skill / "SKILL.md").read_text().replace("Look.", "Look hard."))
    assert learnloop("undo", SLUG, cwd=skill).code == 0
    assert (skill / "SKILL.md").read_text() == before.replace("Look.", "Look hard.")


@pytest.mark.parametrize("what", [SLUG, "HEAD"])
def test_a_squashed_rule_that_a_person_reworded_is_refused_and_nothing_changes(
    memory: Path, repo: Path, learnloop: Run, what: str
) -> None:
    path = codified(repo, learnloop)
    squashed(repo, path, path.read_text().replace("first", "FIRST").replace(RULE, "Stage each file by name."))
    before = files(memory), path.read_text(), git(repo, "rev-parse", "HEAD")
    ran = learnloop("undo", what, cwd=repo)
    assert (ran.code, ran.err.count("\n"), "CLAUDE.md was changed since" in ran.err) == (4, 1, True)
    assert (files(memory), path.read_text(), git(repo, "rev-parse", "HEAD")) == before
    path.write_text(GUIDE)
    git(repo, "commit", "-qam", "Take the rule out")
    assert learnloop("undo", what.replace("HEAD", "HEAD~1"), cwd=repo).code == 0
    assert (path.read_text(), "state: archived" in (memory / f"{SLUG}.md").read_text()) == (GUIDE, False)


def test_a_rule_that_went_with_a_persons_edit_is_not_lost_silently(memory: Path, repo: Path, learnloop: Run) -> None:
    """The undo of a squashed undo would archive the lesson for a rule that stands nowhere."""
    path = codified(repo, learnloop)
    assert learnloop("undo", cwd=repo).code == 0
    squashed(repo, path, GUIDE.replace("first", "FIRST"))
    ran = learnloop("undo", "HEAD", cwd=repo)
    assert (ran.code, ran.err.count("\n"), f"learnloop codify {SLUG} --into CLAUDE.md" in ran.err) == (4, 1, True)


def test_a_rule_that_a_person_moved_to_another_guide_stays_there(memory: Path, repo: Path, learnloop: Run) -> None:
    path = codified(repo, learnloop)
    learnloop("confirm", SLUG, "--run", "c1", cwd=repo)
    (repo / "GUIDE.md").write_text("# Guide\n\nBe brief.\n" + path.read_text().partition("third\n")[2])
    git(repo, "add", ".")
    squashed(repo, path, GUIDE.replace("first", "FIRST"))
    assert learnloop("undo", "HEAD", cwd=repo).code == 0
    assert RULE in (repo / "GUIDE.md").read_text()


def test_a_branch_that_cannot_be_made_leaves_undo_as_it_was(memory: Path, learnloop: Run, repo: Path) -> None:
    """What git refuses changed nothing: the private change stays the last one."""
    learnloop("note", "Use tabs in makefiles.", "--name", "tabs")
    git(repo, "branch", "feat/one")
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    learnloop("note", "My desk is in room four.", "--type", "user", "--name", "desk")
    assert learnloop("undo").code == 4
    assert learnloop("promote", "tabs", "--branch", "feat").code == 4
    done = learnloop("undo")
    assert (done.code, "learnloop forget desk" in done.err) == (4, True)
    assert (memory / "tabs.md").exists()


@pytest.mark.parametrize("words", [("run", "ok"), ("export", "agents")])
def test_what_changed_no_lesson_is_not_what_undo_takes_back(
    noted: Path, repo: Path, learnloop: Run, words: tuple[str, ...]
) -> None:
    """docs/commands.md: the last change that a command made to the memory, which it names."""
    learnloop("pin", SLUG, cwd=repo)
    assert learnloop(*words, cwd=repo).code == 0
    ran = learnloop("undo", cwd=repo)
    assert (ran.code, f"learnloop: pin {SLUG}" in ran.out) == (0, True), ran.out
    assert "the memory" in learnloop("undo", "--help").out


def test_an_older_private_change_is_not_passed_over_by_a_second_undo(noted: Path, repo: Path, learnloop: Run) -> None:
    """It came before the command that was taken back: what git tells before it is older still."""
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    learnloop("note", "Ada prefers short answers.", "--type", "user", "--name", "ada", cwd=repo)
    for words in (("confirm", SLUG), ("pin", SLUG), ("undo",), ("undo",)):
        assert learnloop(*words, cwd=repo).code == 0
    before = files(noted)
    for command in ("undo", "sync", "undo"):
        ran = learnloop(command, cwd=repo)
    assert (ran.code, ran.err.count("\n"), "learnloop forget ada" in ran.err) == (4, 1, True), ran.err
    assert files(noted) == before
    learnloop("pin", SLUG, cwd=repo)
    assert learnloop("undo", cwd=repo).code == 0
    assert files(noted) == before


def test_a_change_on_a_branch_is_not_passed_over_by_a_second_undo(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("codify", SLUG, "--into", "CLAUDE.md", "--branch", "rules", cwd=repo)
    for words in (("confirm", SLUG), ("undo",)):
        assert learnloop(*words, cwd=repo).code == 0
    before = files(noted)
    ran = learnloop("undo", cwd=repo)
    assert (ran.code, "git branch -D rules" in ran.err, files(noted)) == (4, True, before), ran.err
    git(repo, "branch", "-q", "-D", "rules")
    assert learnloop("undo", cwd=repo).code == 0
    assert not (noted / f"{SLUG}.md").exists()


def test_what_waited_when_a_private_change_was_made_is_older_than_it(noted: Path, repo: Path, learnloop: Run) -> None:
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    git(repo, "checkout", "-q", "--detach")
    learnloop("confirm", SLUG, cwd=repo)
    learnloop("note", "Ada prefers short answers.", "--type", "user", "--name", "ada", cwd=repo)
    git(repo, "checkout", "-q", "main")
    for words in (("pin", SLUG), ("undo",)):
        assert learnloop(*words, cwd=repo).code == 0
    before = files(noted)
    assert (learnloop("undo", cwd=repo).code, files(noted)) == (4, before)


# --- a rule beside which lines were written since -------------------------------------------------------------------


@pytest.mark.parametrize("what", [(), (SLUG,)])
def test_a_line_beside_a_rule_does_not_hold_its_undo_up(
    memory: Path, repo: Path, learnloop: Run, what: tuple[str, ...]
) -> None:
    """docs/commands.md: a rule goes out of its file, and what was changed there stays."""
    path = codified(repo, learnloop)
    path.write_text(path.read_text() + "- mine later\n")
    git(repo, "commit", "-qam", "Mine")
    ran = learnloop("undo", *what, cwd=repo)
    assert (ran.code, path.read_text()) == (0, f"{GUIDE}\n## Learned rules\n\n- mine later\n"), ran.err
    assert "state: archived" not in (memory / f"{SLUG}.md").read_text()
    assert git(repo, "status", "--porcelain") == ""


def test_a_rule_goes_back_from_above_another(memory: Path, repo: Path, learnloop: Run) -> None:
    path = codified(repo, learnloop)
    learnloop("note", "Water the plants.", cwd=repo)
    learnloop("codify", "water-the-plants", "--into", "CLAUDE.md", cwd=repo)
    other = path.read_text().splitlines(keepends=True)[-1]
    assert learnloop("undo", SLUG, cwd=repo).code == 0
    assert path.read_text() == f"{GUIDE}\n## Learned rules\n\n{other}"
    assert learnloop("undo", "water-the-plants", cwd=repo).code == 0
    assert RULE not in path.read_text()
    assert "Water" not in path.read_text()


def test_a_rule_that_was_reworded_since_holds_its_undo_up(memory: Path, repo: Path, learnloop: Run) -> None:
    path = codified(repo, learnloop)
    path.write_text(path.read_text().replace(RULE, "Stage each file by name.") + "- mine later\n")
    git(repo, "commit", "-qam", "Mine")
    before = files(memory), path.read_text()
    ran = learnloop("undo", cwd=repo)
    assert (ran.code, ran.err.count("\n"), "CLAUDE.md was changed since" in ran.err) == (4, 1, True), ran.err
    assert (files(memory), path.read_text()) == before


def test_the_undo_of_an_undone_codify_is_not_lost_beside_a_line(memory: Path, repo: Path, learnloop: Run) -> None:
    """A rule that would have to be put back is not put back silently in the wrong place, nor forgotten."""
    path = codified(repo, learnloop)
    path.write_text(path.read_text() + "- mine later\n")
    git(repo, "commit", "-qam", "Mine")
    undone = learnloop("undo", "--json", cwd=repo).json["commits"][0]
    path.write_text(path.read_text().replace("- mine later", "- mine now"))
    git(repo, "commit", "-qam", "Mine again")
    ran = learnloop("undo", undone, cwd=repo)
    assert (ran.code == 0) is (RULE in path.read_text()), ran.err
    assert ("state: archived" in (memory / f"{SLUG}.md").read_text()) is (RULE in path.read_text())


CATS, ZEBRA = "cats-purr-at-midnight", "zebras-run-in-the-meadow"


@pytest.fixture
def two(memory: Path, repo: Path, learnloop: Run) -> Path:
    learnloop("note", "Cats purr at midnight.", cwd=repo)
    learnloop("note", "Zebras run in the meadow.", cwd=repo)
    return memory


@pytest.mark.parametrize("slug", [CATS, ZEBRA])
@pytest.mark.parametrize("verb", ["supersede", "merge"])
def test_two_lessons_that_one_commit_bound_go_back_together_without_its_trailers(
    two: Path, repo: Path, learnloop: Run, verb: str, slug: str
) -> None:
    """Design §6: found by what changed in the files after an amend."""
    before = files(two)
    learnloop(verb, CATS, ZEBRA, cwd=repo)
    git(repo, "commit", "-q", "--amend", "-m", "Amended")
    ran = learnloop("undo", slug, cwd=repo)
    assert ran.code == 0, ran.err
    assert files(two) == before


def test_two_lessons_that_one_commit_bound_go_back_together_from_a_squash(
    two: Path, repo: Path, learnloop: Run
) -> None:
    learnloop("note", "Brew tea first.", cwd=repo)
    before = files(two)
    base = git(repo, "rev-parse", "HEAD")
    learnloop("pin", "brew-tea-first", cwd=repo)
    learnloop("supersede", CATS, ZEBRA, cwd=repo)
    git(repo, "reset", "-q", "--soft", base)
    git(repo, "commit", "-q", "-m", "Squashed")
    assert learnloop("undo", ZEBRA, cwd=repo).code == 0
    after = files(two)
    assert "pinned: true" in after["brew-tea-first.md"].decode()
    assert [after[f"{slug}.md"] for slug in (CATS, ZEBRA)] == [before[f"{slug}.md"] for slug in (CATS, ZEBRA)]


@pytest.mark.parametrize(
    "pair", [[["archive", SLUG, "--note", "x"], ["restore", SLUG]], [["pin", SLUG], ["unpin", SLUG]],
             [["codify", SLUG, "--into", "CLAUDE.md"], ["restore", SLUG]],
             [["rename", SLUG, "other-name"], ["rename", "other-name", SLUG]]],
    ids=lambda pair: pair[0][0],
)  # fmt: skip
def test_undo_goes_on_past_two_changes_that_cancel_out(
    memory: Path, repo: Path, learnloop: Run, pair: list[list[str]]
) -> None:
    """docs/commands.md: once more goes one change further back, though the bytes came back by another change before."""
    before = files(memory)
    for words in (["note", RULE], *pair):
        assert learnloop(*words, cwd=repo).code == 0
    for _ in range(3):
        ran = learnloop("undo", cwd=repo)
        assert ran.code == 0, ran.err
    assert files(memory) == before


def test_a_lesson_s_last_change_that_waits_is_not_passed_over(noted: Path, repo: Path, learnloop: Run) -> None:
    learnloop("confirm", SLUG, "--run", "c1", cwd=repo)
    git(repo, "checkout", "-q", "--detach")
    learnloop("archive", SLUG, "--note", "x", cwd=repo)
    before = files(noted)
    ran = learnloop("undo", SLUG, cwd=repo)
    assert (ran.code, "not committed yet" in ran.err) == (4, True), ran.err
    assert files(noted) == before
