"""Eight situations that teams met, rebuilt as repositories: what `diff` and `check` say of each."""

from __future__ import annotations

import hashlib
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import DATA, Ran, Run, git

ROUND = DATA / "round1"
Build = Callable[[str], Path]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Build a situation by the first letters of its name; gives the folder in which its repository stands."""

    def built(name: str) -> Path:
        script = next(path for path in sorted(ROUND.glob(f"{name}*/build.sh")))
        done = subprocess.run(["bash", script, tmp_path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return tmp_path

    return built


def kinds(told: Any, memory: str = "") -> list[tuple[str, str]]:
    """Kind and lesson of every change."""
    rows = [row for row in told["memories"] if not memory or row["memory"] == memory]
    return [(change["kind"], change["slug"]) for row in rows for change in row["changes"]]


def findings(told: Any) -> list[tuple[str, str, int]]:
    """Code, path and line of every finding."""
    rows = [*told["findings"], *(found for row in told["memories"] for found in row["findings"])]
    return sorted((row["code"], row["path"], row["line"]) for row in rows)


def codes(done: Ran) -> list[tuple[str, str]]:
    """Code and file of what `check` found."""
    return sorted((row["code"], Path(row["path"]).name) for row in done.json["findings"])


# --- a mirror that revives archived lessons ---------------------------------------------------------------------------


def test_what_a_mirror_brings_back_is_restored_and_neither_added_nor_seen(build: Build, learnloop: Run) -> None:
    repo = build("02") / "repo"
    told = learnloop("diff", "HEAD~1...HEAD", "--json", cwd=repo).json
    assert kinds(told) == [("document", ""), ("restored", "no-sleep-in-tests"), ("restored", "seat-lock-ttl")]
    back = [change for change in told["memories"][0]["changes"] if change["kind"] == "restored"]
    assert all("after it was archived on 2026-09-20, the same text" in change["why"] for change in back)
    assert "gate-scan-offline is lost" in told["memories"][0]["changes"][0]["why"]
    twice = [found for found in findings(told) if found[0] == "duplicate-slug"]
    assert [Path(path).parts[-2:] for _, path, _ in twice] == [
        ("archived", "no-sleep-in-tests.md"),
        ("archived", "seat-lock-ttl.md"),
    ]
    assert ("orphan-lesson", ".claude/memory/gate-scan-offline.md", 1) in findings(told)


def test_a_mirror_is_found_by_check_also_before_its_commit(build: Build, learnloop: Run) -> None:
    repo = build("02") / "repo"
    wanted = [
        ("duplicate-slug", "no-sleep-in-tests.md"),
        ("duplicate-slug", "seat-lock-ttl.md"),
        ("orphan-lesson", "gate-scan-offline.md"),
    ]
    assert codes(learnloop("check", "--json", "--memory", ".claude/memory", cwd=repo)) == wanted
    git(repo, "reset", "-q", "--soft", "HEAD~1")
    assert codes(learnloop("check", "--staged", "--json", "--memory", ".claude/memory", cwd=repo)) == wanted
    told = learnloop("diff", "--staged", "--json", cwd=repo).json
    assert [kind for kind, _ in kinds(told)] == ["document", "restored", "restored"]


# --- a union driver on lesson files -----------------------------------------------------------------------------------


def test_a_lesson_that_a_union_merge_broke_is_a_loss_and_its_twin_a_question(build: Build, learnloop: Run) -> None:
    repo = build("04") / "repo"
    told = learnloop("diff", "HEAD^1...HEAD", "--json", cwd=repo).json
    assert kinds(told) == [("broken", "ticket-number-format"), ("added", "scanner-offline")]
    found = {code: path for code, path, _ in findings(told)}
    assert found["yaml-duplicate-key"].endswith("ticket-number-format.md")
    assert found["duplicate-line"].endswith("MEMORY.md")
    near = next(row for row in told["memories"][0]["findings"] if row["code"] == "near-duplicate")
    assert "pier-wifi-off" in near["message"]
    assert near["severity"] == "warning"


def test_check_fails_on_a_lesson_that_a_union_merge_broke(build: Build, learnloop: Run) -> None:
    repo = build("04") / "repo"
    done = learnloop("check", "--json", "--memory", ".claude/memory", cwd=repo)
    assert done.code == 1
    assert ("yaml-duplicate-key", "ticket-number-format.md") in codes(done)
    assert ("duplicate-line", "MEMORY.md") in codes(done)


# --- a forge without drivers ------------------------------------------------------------------------------------------


def test_a_conflict_that_only_a_forge_will_have_is_told(build: Build, learnloop: Run) -> None:
    """Here the merge driver hides it; a forge runs none."""
    work = build("05") / "work"
    git(work, "switch", "-q", "pr-2")
    told = learnloop("diff", "main...HEAD", "--json", cwd=work).json
    assert kinds(told) == [("added", "new-pr-2")]
    assert findings(told) == [("forge-conflict", ".claude/memory/MEMORY.md", 1)]
    assert "both sides only added lines" in told["findings"][0]["message"]
    assert findings(learnloop("diff", "HEAD~1...pr-3", "--json", cwd=work).json) == []


# --- staged versus work tree ------------------------------------------------------------------------------------------


def test_what_is_staged_and_what_lies_there_are_told_apart(build: Build, learnloop: Run) -> None:
    repo = build("07") / "repo"
    staged = learnloop("diff", "--staged", "--json", cwd=repo).json
    assert kinds(staged) == [("broken", "gamma"), ("reworded", "alpha"), ("reworded", "beta")]
    assert [code for code, path, _ in findings(staged) if "gamma" in path] == ["secret:github-pat"]
    assert ("head-not-yaml", ".claude/memory/alpha.md", 3) in findings(staged)
    lying = learnloop("diff", "--worktree", "--json", cwd=repo).json
    assert kinds(lying) == [("removed", "delta"), ("broken", "beta"), ("reworded", "alpha")]
    assert {code for code, _, _ in findings(lying)} == {"frontmatter-unclosed", "dangling-line"}


def test_check_reads_what_is_staged_or_what_lies_there(build: Build, learnloop: Run) -> None:
    repo = build("07") / "repo"
    staged = learnloop("check", "--staged", "--json", "--memory", ".claude/memory", cwd=repo)
    assert {Path(row["path"]).stem for row in staged.json["findings"]} == {"alpha", "gamma"}
    lying = learnloop("check", "--json", "--memory", ".claude/memory", cwd=repo)
    told = {(row["code"], Path(row["path"]).name) for row in lying.json["findings"]}
    assert {("frontmatter-unclosed", "beta.md"), ("dangling-line", "MEMORY.md")} <= told


@pytest.mark.parametrize("form", ["text", "markdown", "summary", "json", "github", "sarif"])
def test_a_secret_is_shown_in_no_form_and_nothing_is_touched(build: Build, learnloop: Run, form: str) -> None:
    top = build("07")
    repo = top / "repo"
    for option, named in (("--staged", "gamma"), ("--worktree", "beta")):
        done = learnloop("diff", option, "--format", form, cwd=repo)
        assert "Ab1Ab1" not in done.out + done.err
        assert named in done.out
    sums = [line.split("  ./") for line in (top / "worktree.sha256").read_text().splitlines()]
    assert [hashlib.sha256((repo / path).read_bytes()).hexdigest() for _, path in sums] == [old for old, _ in sums]
    assert git(repo, "ls-files", "-s") == (top / "index.txt").read_text().rstrip("\n")


# --- colliding numbers ------------------------------------------------------------------------------------------------


def test_a_number_and_a_name_given_away_on_both_branches_are_named(build: Build, learnloop: Run) -> None:
    repo = build("09") / "repo"
    told = learnloop("diff", "left...right", "--json", cwd=repo).json
    skill = "skills/release-check/SKILL.md"
    assert ("added-twice", "memory/learn_20260921_003.md", 1) in findings(told)
    assert ("number-taken", skill, 22) in findings(told)
    assert ("codified", "licence-in-wheel") in kinds(told)
    message = next(row["message"] for row in told["findings"] if row["code"] == "number-taken")
    assert "number 11 is taken" in message


def test_check_names_a_number_given_twice_while_the_merge_waits(build: Build, learnloop: Run) -> None:
    repo = build("09") / "repo"
    done = learnloop("check", "--json", "--memory", "skills/release-check", cwd=repo)
    assert done.code == 1
    assert {("number-twice", "SKILL.md"), ("conflict-markers", "SKILL.md")} <= set(codes(done))
    told = learnloop("diff", "--staged", "--json", cwd=repo).json
    assert ("conflict", "memory/learn_20260921_003.md", 1) in findings(told)
    assert ("conflict", "skills/release-check/SKILL.md", 1) in findings(told)


# --- a folder move past CODEOWNERS ------------------------------------------------------------------------------------


def test_a_folder_that_moved_is_one_change_and_keeps_its_lessons(build: Build, learnloop: Run) -> None:
    repo = build("10") / "repo"
    told = learnloop("diff", "main...move", "--json", cwd=repo).json
    assert kinds(told, ".agents/memory") == [("moved", ""), ("reworded", "project-crane-api")]
    moved = told["memories"][0]["changes"][0]
    assert (moved["before"], moved["after"]) == (".claude/memory", ".agents/memory")
    assert moved["why"] == "9 lessons moved, 8 unchanged"
    assert kinds(told, "skills/pr-review/references") == [("added", "ask-for-the-migration-plan")]


def test_a_move_past_its_owners_is_a_matter_of_policy(build: Build, learnloop: Run) -> None:
    """Owners are those of the base, the last match wins: a branch cannot change who must review it."""
    repo = build("10") / "repo"
    done = learnloop("diff", "main...move", "--json", "--fail-on", "policy", cwd=repo)
    assert done.code == 1
    found = next(row for row in done.json["findings"] if row["code"] == "policy-owners")
    assert "@harbour/leads (6), @harbour/platform (3) must approve" in found["message"]
    assert "@harbour/everyone is enough" in found["message"]
    owners = {row["memory"]: row["owners"] for row in done.json["memories"]}
    assert owners["skills/pr-review/references"] == {"@harbour/leads": 1}
    assert owners[".agents/memory"] == {"@harbour/leads": 7, "@harbour/platform": 3}  # MEMORY.md is one of the seven


def test_lines_that_name_the_folder_a_memory_left_are_found(build: Build, learnloop: Run) -> None:
    repo = build("10") / "repo"
    told = learnloop("diff", "main...move", "--json", cwd=repo).json
    named = [found for found in findings(told) if found[1] == "CLAUDE.md"]
    assert named == [("import-missing", "CLAUDE.md", 1), ("old-place", "CLAUDE.md", 3)]


# --- paths outside the repository -------------------------------------------------------------------------------------


def test_a_path_outside_the_repository_is_no_finding(build: Build, learnloop: Run) -> None:
    repo = build("13") / "repo"
    told = learnloop("diff", "HEAD~1...HEAD", "--json", cwd=repo).json
    assert kinds(told) == []
    assert "no lesson changed" in learnloop("diff", "HEAD~1...HEAD", cwd=repo).out
    found = learnloop("check", "--json", "--memory", ".claude/memory", cwd=repo).json["findings"]
    stale = [(row["code"], row["path"].rpartition("/")[2]) for row in found]  # what left this repository is one
    assert stale == [("stale-anchor", "fare-table.md"), ("stale-anchor", "rounding-moved.md")]
    assert [(code, path.rpartition("/")[2]) for code, path, _ in findings(told)] == stale


# --- derived numbers in an index --------------------------------------------------------------------------------------


def test_numbers_that_a_script_wrote_into_an_index_are_one_line(build: Build, learnloop: Run) -> None:
    repo = build("14") / "repo"
    for branch, wanted in (
        ("left", [("reworded", "area-03")]),
        ("right", [("added", "area-09"), ("reworded", "area-07")]),
    ):
        told = learnloop("diff", f"main...{branch}", "--json", cwd=repo).json
        assert kinds(told) == [*wanted, ("document", "")]
        assert told["memories"][0]["changes"][-1]["why"] == "8 numbers changed"
        assert told["memories"][0]["findings"] == []


# --- a notebook that was never adopted --------------------------------------------------------------------------------


def test_a_notebook_without_lesson_files_is_compared_by_its_entries(tmp_path: Path, learnloop: Run) -> None:
    """Each pull request that an entry's Context names is a sighting."""
    subprocess.run(["bash", ROUND / "memories" / "b" / "merge.sh", tmp_path], capture_output=True, check=True)
    left, right = (
        learnloop("diff", f"main...{side}", "--json", cwd=tmp_path / "repo").json for side in ("left", "right")
    )
    assert kinds(left) == [("graduated", "rollback-note-for-schema-changes")]
    assert kinds(right) == [
        ("archived", "rollback-note-for-schema-changes"),
        ("added", "ask-which-depot"),
        ("seen", "generated-client-is-not-reviewed"),
    ]
    due = next(row for row in right["memories"][0]["findings"] if row["code"] == "graduation-due")
    assert re.match("generated-client-is-not-reviewed was seen in 2 runs", due["message"])


def test_a_stranger_cannot_make_a_comparison_last(tmp_path: Path, learnloop: Run) -> None:
    """Long runs without a break, thousands of equal lines, on both sides."""
    folder = tmp_path / "skill" / "references"
    folder.mkdir(parents=True)
    git(tmp_path, "init", "-q", "-b", "main")
    for n, branch in enumerate(("main", "left", "right")):
        if n:
            git(tmp_path, "switch", "-q", "-c", branch, "main")
        entry = f"### 2026-05-26 | Long\n- Context: {'a' * 200_000}{n}\n- Lesson: {'b-' * 50_000}{n}\n"
        same = f"- {n}\n" * 20_000
        (folder / "memory.md").write_text(f"# Review\n\n{same}\n## Candidate Patterns\n\n{entry}")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", branch)
    began = time.process_time()
    told = learnloop("diff", "left...right", "--json", cwd=tmp_path).json
    assert ("reworded", "long") in kinds(told)
    assert time.process_time() - began < 10
