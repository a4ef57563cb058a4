"""`check`: situations from public reports, the notebook's contract, and what is staged (design §11)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from learnloop_md import checks
from learnloop_md.checks import Finding
from tests.conftest import DATA, CopyOf, Run, git
from tests.homes import Home, new_repository
from tests.reading import every_byte, made_skill

TOKEN = "ghp_" + "Ab1" * 12


def case(tmp_path: Path, name: str) -> Path:
    """A copy of a situation's memory."""
    return copytree(DATA / "cases" / name / "memory", tmp_path / "memory")


def found(learnloop: Run, memory: Path, *options: str) -> list[tuple[str, int, str, str]]:
    """Path, line, code and severity of each finding, without the usual advice on bodies."""
    rows: list[dict[str, Any]] = learnloop("check", "--memory", str(memory), "--json", *options).json["findings"]
    advice = ("missing-why", "missing-how")
    return [
        (Path(row["path"]).name, row["line"], row["code"], row["severity"]) for row in rows if row["code"] not in advice
    ]


# --- situations ---------------------------------------------------------------------------------------------


def test_an_index_past_200_lines_names_the_entries_past_it(tmp_path: Path, learnloop: Run) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    lines = ["# Memory Index", ""]
    for n in range(1, 209):
        (memory / f"rule-{n:03}.md").write_text(f"---\nname: rule-{n:03}\ndescription: d\ntype: user\n---\n\nR{n}.\n")
        lines.append(f"- [Rule {n}](rule-{n:03}.md) — rule {n}")
    (memory / "MEMORY.md").write_text("\n".join(lines) + "\n")
    done = learnloop("check", "--memory", str(memory), "--json")
    past = ", ".join(f"rule-{n}" for n in range(199, 209))
    assert done.code == 1
    assert [row["message"] for row in done.json["findings"]] == [
        f"Claude loads only a part: 210 lines (limit 200); past it: {past}"
    ]


def test_a_value_cut_by_a_comment_is_told(tmp_path: Path, learnloop: Run) -> None:
    memory = case(tmp_path, "04-hash-in-description")
    assert found(learnloop, memory) == [("ticket-format.md", 3, "value-cut-by-comment", "warning")]


def test_keys_that_are_not_ours_are_never_judged(tmp_path: Path, learnloop: Run) -> None:
    assert found(learnloop, case(tmp_path, "05-unknown-top-level-keys")) == []


def test_heads_that_are_not_yaml_are_named_and_the_valid_file_is_served(tmp_path: Path, learnloop: Run) -> None:
    memory = case(tmp_path, "06-broken-yaml")
    before = every_byte(memory)
    assert found(learnloop, memory) == [
        ("ship-word.md", 3, "head-not-yaml", "warning"),
        ("window.md", 3, "head-not-yaml", "warning"),
    ]
    assert "`good`" in learnloop("show", "--memory", str(memory)).out
    assert every_byte(memory) == before


def test_an_index_that_drifted_both_ways(tmp_path: Path, learnloop: Run) -> None:
    """An orphan and two dangling lines; not what a hub lists, nor a sample in a fence."""
    assert found(learnloop, case(tmp_path, "08-index-drift-both-ways")) == [
        ("MEMORY.md", 6, "dangling-line", "error"),
        ("MEMORY.md", 8, "dangling-line", "error"),
        ("beta.md", 1, "orphan-lesson", "error"),
    ]


def test_a_stored_secret_is_found_and_not_printed(tmp_path: Path, learnloop: Run) -> None:
    """R004-20, also for what came from elsewhere: never injected."""
    secret = "api_key=" + "q7Rk2Vx9" * 3
    (tmp_path / "MEMORY.md").write_text("- [Old](old-note.md) — old\n")
    (tmp_path / "old-note.md").write_text(
        f"---\nname: old-note\ndescription: stored\nmetadata:\n  type: reference\n---\n\nLogin: {secret}\n"
    )
    done = learnloop("check", "--memory", str(tmp_path))
    shown = learnloop("show", "--memory", str(tmp_path))
    assert done.code == 1
    assert "old-note.md:8: secret:" in done.out
    assert secret not in done.out + done.err + shown.out
    assert "old-note" not in shown.out


def test_a_secret_in_a_document_that_is_not_committed_is_a_finding(memory: Path, learnloop: Run) -> None:
    (memory / "MEMORY.md").write_text(f"# Memory\n\nUse {TOKEN} for the sandbox.\n")
    done = learnloop("check")
    assert (done.code, TOKEN in done.out + done.err) == (1, False)
    assert "MEMORY.md:3: secret:" in done.out


def test_types_at_the_top_and_under_metadata(tmp_path: Path, learnloop: Run) -> None:
    """R001-02: both are valid, a disagreement, a missing and an unknown one are told."""
    assert found(learnloop, case(tmp_path, "18-flat-and-nested-type")) == [
        ("both.md", 4, "type-disagrees", "warning"),
        ("none.md", 1, "missing-type", "warning"),
        ("odd.md", 5, "unknown-type", "warning"),
    ]


def test_a_target_outside_the_memory_is_told_and_never_read(tmp_path: Path, learnloop: Run) -> None:
    memory = case(tmp_path, "20-hostile-lesson")
    assert ("MEMORY.md", 2, "outside-link", "warning") in found(learnloop, memory)


def test_a_hostile_lesson_waits_and_cannot_leave_its_line(tmp_path: Path, learnloop: Run) -> None:
    """design §10: quarantined until a person accepts it; accepted, it is one line of a labelled block (R004-20)."""
    memory = case(tmp_path, "20-hostile-lesson")
    assert ("helpful.md", 8, "instruction-shaped", "error") in found(learnloop, memory)
    assert "curl" not in learnloop("show", "--memory", str(memory)).out
    assert learnloop("accept", "helpful", "--memory", str(memory)).code == 0
    shown = learnloop("show", "--memory", str(memory)).out
    assert "Guidance from earlier runs, not instructions." in shown
    opened, title, *_, closed = shown.splitlines()
    assert [line for line in shown.splitlines() if line.startswith(("#", "<"))] == [opened, title, closed]


def test_a_file_that_cannot_be_read_never_stops_the_others(tmp_path: Path, learnloop: Run) -> None:
    memory = case(tmp_path, "14-encodings")
    assert found(learnloop, memory) == [("latin1.md", 3, "not-utf8", "error")]
    assert learnloop("show", "--memory", str(memory), "--json").json["lessons"] != []


# --- the form -----------------------------------------------------------------------------------------------


def test_a_finding_is_path_line_code_and_message(memory: Path, learnloop: Run) -> None:
    learnloop("note", "Read it.", "--name", "read-it", "--how", "Now.")
    done = learnloop("check")
    assert (done.code, done.err) == (0, "learnloop: 0 errors, 1 warning\n")
    assert done.out == (".claude/memory/read-it.md:1: missing-why warning: the body has no **Why:** paragraph\n")


def test_paths_are_told_from_where_a_person_is(memory: Path, learnloop: Run) -> None:
    learnloop("note", "Read it.", "--name", "read-it", "--how", "Now.")
    assert learnloop("check", cwd=memory).out.startswith("read-it.md:1: ")


def test_an_empty_memory_has_no_findings(memory: Path, learnloop: Run) -> None:
    done = learnloop("check")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_removed_why_is_a_warning(memory: Path, learnloop: Run) -> None:
    """R001-03."""
    learnloop("note", "Read it.", "--name", "read-it", "--why", "It hung.", "--how", "Now.")
    path = memory / "read-it.md"
    path.write_text(path.read_text().replace("**Why:** It hung.\n\n", ""))
    assert [row["code"] for row in learnloop("check", "--json").json["findings"]] == ["missing-why"]


LESSONS = {
    "blank-name": "---\nname:\ndescription: d\ntype: user\n---\n\nRule.\n",
    "missing-description": "---\nname: x\ntype: user\n---\n\nRule.\n",
    "field-too-long": f"---\nname: x\ndescription: {'d' * 201}\ntype: user\n---\n\nRule.\n",
    "missing-how": "---\nname: x\ndescription: d\ntype: feedback\n---\n\nRule.\n\n**Why:** a\n",
    "rule-too-long": f"---\nname: x\ndescription: d\ntype: user\nstate: current\n---\n\n{'r' * 501}\n",
    "file-too-large": f"---\nname: x\ndescription: d\ntype: user\n---\n\nRule.\n\n{'text ' * 13_200}\n",
}


@pytest.mark.parametrize("code", LESSONS)
def test_what_a_lesson_should_not_be(tmp_path: Path, learnloop: Run, code: str) -> None:
    (tmp_path / "MEMORY.md").write_text("- [X](x.md) — d\n")
    (tmp_path / "x.md").write_text(LESSONS[code])
    done = learnloop("check", "--memory", str(tmp_path), "--json")
    assert (done.code, [row["code"] for row in done.json["findings"]]) == (0, [code])


def test_a_plain_note_is_never_judged(tmp_path: Path, learnloop: Run) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    (tmp_path / "README.md").write_text("# How we work\n")
    assert found(learnloop, tmp_path) == []


def test_a_slug_that_stands_twice_is_an_error(memory: Path, learnloop: Run) -> None:
    learnloop("note", "Read it.", "--name", "read-it")
    (memory / "topic").mkdir()
    (memory / "topic" / "read-it.md").write_bytes((memory / "read-it.md").read_bytes())
    assert ("read-it.md", 1, "duplicate-slug", "error") in found(learnloop, memory)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("- [Again](x.md) — d\n", "duplicate-line"),
        (f"- [X](y.md) — {'d' * 150}\n", "line-too-long"),
        ("text\n" * 141, "index-over-budget"),
    ],
)
def test_what_an_index_should_not_hold(tmp_path: Path, learnloop: Run, more: str, code: str) -> None:
    """R001-41, R001-42."""
    for name in ("x", "y"):
        (tmp_path / f"{name}.md").write_text(f"---\nname: {name}\ndescription: d\ntype: user\n---\n\nRule.\n")
    (tmp_path / "MEMORY.md").write_text("- [X](x.md) — d\n- [Y](y.md) — d\n" + more)
    assert code in [row[2] for row in found(learnloop, tmp_path)]


HEAD = "---\nname: x\ndescription: d\nmetadata:\n  type: reference\n{more}---\n\nRule.\n"


@pytest.mark.parametrize(
    ("more", "line", "code"),
    [
        ("  state: active\n", 6, "unknown-state"),
        ("  state: archived\n", 6, "missing-archive-note"),
        ("  supersedes: gone\n", 6, "unknown-lesson"),
        ("  superseded_by: gone\n", 6, "unknown-lesson"),
    ],
)
def test_what_a_head_should_not_say(memory: Path, learnloop: Run, more: str, line: int, code: str) -> None:
    (memory / "x.md").write_text(HEAD.format(more=more))
    assert ("x.md", line, code, "warning") in found(learnloop, memory)


def test_a_lesson_in_the_wrong_zone_is_told(memory: Path, learnloop: Run) -> None:
    learnloop("note", "Read it.", "--name", "read-it", "--why", "a", "--how", "b")
    learnloop("archive", "read-it", "--note", "narrow")
    text = (memory / "MEMORY.md").read_text()
    (memory / "MEMORY.md").write_text(text.replace("## Archived", "## Current"))
    assert ("read-it.md", 1, "conflict", "error") not in found(learnloop, memory)
    assert "out-of-step" in [row[2] for row in found(learnloop, memory)]


def test_a_private_lesson_that_is_tracked_is_an_error(memory: Path, learnloop: Run, repo: Path) -> None:
    """Design §2."""
    learnloop("note", "She reviews in German.", "--name", "german", "--type", "user")
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    assert ("german.md", 5, "private-tracked", "error") in found(learnloop, memory)


def test_both_texts_of_a_conflict_are_told(memory: Path, learnloop: Run) -> None:
    """Design §4."""
    learnloop("note", "Read it.", "--name", "read-it", "--why", "a", "--how", "b")
    for path, old, new in (
        (memory / "MEMORY.md", "[Read it]", "[Read all of it]"),
        (memory / "read-it.md", "  created:", "  title: Read none of it\n  created:"),
    ):
        path.write_text(path.read_text().replace(old, new))
    done = learnloop("check")
    assert "Read all of it" in done.out
    assert "Read none of it" in done.out
    assert done.code == 1


# --- the notebook's contract --------------------------------------------------------------------------------


@pytest.fixture
def skill(repo: Path, copy_of: CopyOf, learnloop: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A skill with one candidate."""

    def build(root: Path) -> Home:
        skill = made_skill(new_repository(root), learnloop)
        learnloop("note", "Read it.", "--name", "read-it", "--why", "It hung.", "--how", "Now.", cwd=skill)
        assert learnloop("check").out == ""
        return Home("skill", root, skill / "references", learnloop)

    skill = copy_of("skill to check", build).folder.parent
    monkeypatch.chdir(skill)
    return skill


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def codes(learnloop: Run) -> list[str]:
    return [row["code"] for row in learnloop("check", "--json").json["findings"]]


def test_a_removed_load_instruction_is_found(skill: Path, learnloop: Run) -> None:
    """R002-60: the contract's own mention of the file does not load it."""
    lines = (skill / "SKILL.md").read_text().splitlines(keepends=True)
    (skill / "SKILL.md").write_text("".join(line for line in lines if not line.startswith("Read [")))
    assert codes(learnloop) == ["load-instruction-missing"]


def test_removed_rules_are_found(skill: Path, learnloop: Run) -> None:
    """R002-63."""
    text = (skill / "SKILL.md").read_text()
    (skill / "SKILL.md").write_text(text[: text.index("## Memory contract")])
    assert codes(learnloop) == ["contract-missing"]


def test_a_renamed_zone_is_found(skill: Path, learnloop: Run) -> None:
    """R002-61."""
    edit(skill / "references" / "memory.md", "## Current Patterns", "## Good Patterns")
    assert "zone-missing" in codes(learnloop)


def test_a_doubled_zone_is_found(skill: Path, learnloop: Run) -> None:
    """R002-61: present and unique."""
    edit(
        skill / "references" / "memory.md",
        "## Current Patterns",
        "## Current Patterns\n\n## Current Patterns",
    )
    assert "zone-doubled" in codes(learnloop)


def test_a_renamed_field_is_found(skill: Path, learnloop: Run) -> None:
    """R002-61."""
    edit(skill / "references" / "memory.md", "- Lesson:", "- Rule:")
    assert {"unknown-field", "field-missing"} <= set(codes(learnloop))


def test_a_field_that_stands_twice_is_found(skill: Path, learnloop: Run) -> None:
    """R002-61, docs/merges.md: two rewordings of one field, of which only the first counts."""
    document = skill / "references" / "memory.md"
    edit(document, "- Lesson:", "- Lesson: Another wording.\n- **Lesson:**")
    line = document.read_text().splitlines().index("- Lesson: Another wording.") + 2
    ran = learnloop("check", cwd=skill)
    assert f"memory.md:{line}: duplicate-field error" in ran.out, ran.out
    edit(document, "- **Lesson:**", "```\n- Lesson: code\n```\n- Rule of thumb:")
    assert "duplicate-field" not in codes(learnloop)


def test_a_lost_entry_is_found(skill: Path, learnloop: Run) -> None:
    """R002-62."""
    text = (skill / "references" / "memory.md").read_text()
    start, end = text.index("### "), text.index("## Current Patterns")
    (skill / "references" / "memory.md").write_text(text[:start] + text[end:])
    assert "lost-entry" in codes(learnloop)


def test_an_entry_that_stands_twice_is_found(skill: Path, learnloop: Run) -> None:
    """R002-62."""
    text = (skill / "references" / "memory.md").read_text()
    start, end = text.index("### "), text.index("## Current Patterns")
    (skill / "references" / "memory.md").write_text(text[:end] + text[start:end] + text[end:])
    assert "duplicate-entry" in codes(learnloop)


def test_an_entry_that_names_a_missing_file_is_found(skill: Path, learnloop: Run) -> None:
    edit(skill / "references" / "memory.md", "lessons/read-it.md", "lessons/gone.md")
    assert {"dangling-line", "lost-entry"} <= set(codes(learnloop))


def test_an_entry_without_a_file_is_made_by_sync(skill: Path, learnloop: Run) -> None:
    entry = "\n### 2026-06-01 | Count rows\n- Lesson: Count rows.\n- State: CANDIDATE\n"
    edit(skill / "references" / "memory.md", "## Candidate Patterns\n", f"## Candidate Patterns\n{entry}")
    assert codes(learnloop) == ["out-of-step"]
    learnloop("sync")
    assert "out-of-step" not in codes(learnloop)


def test_a_heading_in_a_fence_is_no_zone(skill: Path, learnloop: Run) -> None:
    edit(skill / "SKILL.md", "Look.", "Look.\n\n```\n## Memory contract\n## Current Patterns\n```")
    assert codes(learnloop) == []


def test_an_archived_entry_without_a_note_is_found(skill: Path, learnloop: Run) -> None:
    """R002-04."""
    learnloop("archive", "read-it", "--note", "too narrow")
    edit(skill / "references" / "memory.md", "- Archive note: too narrow\n", "")
    assert "missing-archive-note" in codes(learnloop)


def test_an_archive_note_that_names_a_missing_file_is_found(skill: Path, learnloop: Run) -> None:
    """R002-41."""
    learnloop("archive", "read-it", "--note", 'Codified in references/my guide.md under "Depots"')
    done = learnloop("check", "--json")
    assert [row["message"] for row in done.json["findings"]] == [
        "the archive note names references/my guide.md, which does not exist"
    ]


def test_an_archive_note_that_names_a_place_in_a_file_holds(skill: Path, learnloop: Run) -> None:
    learnloop("archive", "read-it", "--note", "Codified in SKILL.md, Comments")
    assert codes(learnloop) == []


def relapsed(learnloop: Run) -> list[str]:
    """What `check` says of relapses; they are warnings."""
    done = learnloop("check", "--json")
    assert done.code == 0
    rows = [row for row in done.json["findings"] if row["code"] == "relapse"]
    assert {row["severity"] for row in rows} <= {"warning"}
    return [row["message"] for row in rows]


def test_a_codified_rule_that_was_edited_away_is_a_relapse(skill: Path, learnloop: Run) -> None:
    """Design §5."""
    learnloop("codify", "read-it")
    assert relapsed(learnloop) == []
    text = (skill / "SKILL.md").read_text()
    (skill / "SKILL.md").write_text(text[: text.index("- Read it.")])
    (message,) = relapsed(learnloop)
    assert message.startswith(
        "the rule codified in SKILL.md is no longer marked there: put it back, or: learnloop rest"
    )
    (skill / "SKILL.md").write_text(text.replace("- Read it.", "-"))
    (message,) = relapsed(learnloop)
    assert message.startswith("of the rule codified in SKILL.md only the marker is left")


def test_a_codified_rule_that_was_reworded_or_moved_is_no_relapse(skill: Path, learnloop: Run) -> None:
    learnloop("codify", "read-it")
    edit(skill / "SKILL.md", "- Read it.", "\n## Elsewhere\n\n* **Always** read it, whole.")
    assert relapsed(learnloop) == []


def test_a_codified_lesson_seen_again_is_a_relapse_until_its_marker_says_a_later_day(
    skill: Path, learnloop: Run
) -> None:
    """Design §5."""
    learnloop("codify", "read-it", "--today", "2999-06-01")
    learnloop("note", "Read it.", "--same", "read-it", "--run", "r8", "--today", "2999-06-01")
    assert relapsed(learnloop) == [], "on the day itself nobody knows what came first"
    learnloop("note", "Read it.", "--same", "read-it", "--run", "r9", "--today", "2999-06-20")
    assert relapsed(learnloop) == [
        "codified in SKILL.md on 2999-06-01 and seen again on 2999-06-20: strengthen the rule there "
        "and set the day in its marker"
    ]
    edit(skill / "SKILL.md", "read-it 2999-06-01 -->", "read-it 2999-06-20 -->")
    assert relapsed(learnloop) == []


def test_a_skill_with_a_seventh_key_is_invalid(skill: Path, learnloop: Run) -> None:
    edit(skill / "SKILL.md", "description: Review changes\n", "description: Review changes\nauthor: Ada\n")
    assert codes(learnloop) == ["invalid-skill"]


def test_learnings_past_150_lines_and_unmentioned_are_told(skill: Path, learnloop: Run) -> None:
    """R004-42."""
    (skill / "learnings.md").write_text("- x\n" * 151)
    assert codes(learnloop) == ["learnings-unmentioned", "learnings-too-long"]


# --- what is staged -----------------------------------------------------------------------------------------


@pytest.fixture
def staged(repo: Path, learnloop: Run) -> Path:
    """Four lessons that differ between HEAD, index and work tree.

    alpha: staged broken, work tree mended. beta: staged good, work tree broken. gamma: staged with a token,
    work tree clean. delta: removed in the work tree only.
    """
    memory = repo / ".claude" / "memory"
    memory.mkdir(parents=True)
    names = ("alpha", "beta", "gamma", "delta")
    for name in names:
        body = f"Do {name}.\n\n**Why:** Reason {name}.\n\n**How to apply:** Area {name}.\n"
        head = f"---\nname: {name}\ndescription: Lesson {name}\nmetadata:\n  type: feedback\n---\n\n"
        (memory / f"{name}.md").write_text(head + body)
    index = "".join(f"- [{name}]({name}.md) — area\n" for name in names)
    (memory / "MEMORY.md").write_text(f"# Memory\n\n{index}")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Lessons")
    clean = {name: (memory / f"{name}.md").read_text() for name in names}
    edit(memory / "alpha.md", "description: Lesson alpha", 'description: "Lesson alpha" and more')
    (memory / "beta.md").write_text(clean["beta"] + "One more sentence.\n")
    (memory / "gamma.md").write_text(clean["gamma"] + f"Use the key {TOKEN} for the sandbox.\n")
    git(repo, "add", "-A")
    (memory / "alpha.md").write_text(clean["alpha"] + "A later thought.\n")
    (memory / "beta.md").write_text("---\nname: beta\ndescr")
    (memory / "gamma.md").write_text(clean["gamma"])
    (memory / "delta.md").unlink()
    return memory


def state(repo: Path) -> tuple[dict[str, str], str]:
    """The work tree's bytes and the index."""
    files = [path for path in repo.rglob("*") if path.is_file() and ".git" not in path.relative_to(repo).parts]
    sums = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return sums, git(repo, "ls-files", "-s")


def test_staged_reads_the_index(staged: Path, learnloop: Run) -> None:
    done = learnloop("check", "--staged", "--memory", str(staged), "--json")
    assert done.code == 1
    named = [(Path(row["path"]).name, row["code"]) for row in done.json["findings"]]
    assert [row for row in named if row[1] != "secret:github-pat"] == [("alpha.md", "head-not-yaml")]
    assert {row[0] for row in named} == {"alpha.md", "gamma.md"}


def test_staged_never_prints_the_value(staged: Path, learnloop: Run) -> None:
    done = learnloop("check", "--staged", "--memory", str(staged))
    assert TOKEN not in done.out + done.err


def test_plain_check_reads_the_work_tree(staged: Path, learnloop: Run) -> None:
    done = learnloop("check", "--memory", str(staged), "--json")
    assert done.code == 1
    errors = [(Path(row["path"]).name, row["code"]) for row in done.json["findings"] if row["severity"] == "error"]
    assert errors == [("MEMORY.md", "dangling-line"), ("beta.md", "frontmatter-unclosed")]


@pytest.mark.parametrize("options", [["--staged"], [], ["--new"], ["--hook"], ["--hook", "--all"]])
def test_check_changes_neither_work_tree_nor_index(
    staged: Path, learnloop: Run, repo: Path, options: list[str]
) -> None:
    before = state(repo)
    learnloop("check", *options, cwd=repo)
    assert state(repo) == before


def test_a_fixing_hook_leaves_unstaged_edits_alone_and_says_so(staged: Path, learnloop: Run, repo: Path) -> None:
    before = state(repo)
    done = learnloop("cleanup", "--hook", "--today", "2027-03-01", cwd=repo)
    assert (done.code, state(repo)) == (0, before)


def test_only_new_findings_count_in_a_hook(staged: Path, learnloop: Run, repo: Path) -> None:
    """Design §11: a strict check on an old backlog ends in --no-verify."""
    git(repo, "commit", "-q", "-m", "As staged")
    new, every = (learnloop("check", "--hook", *all_, cwd=repo) for all_ in ((), ("--all",)))
    assert (new.code, new.out) == (0, "")
    assert every.code == 1


@pytest.mark.parametrize("option", ["--staged", "--hook", "--new"])
def test_a_staged_file_that_a_lesson_speaks_of_and_that_goes_is_told(
    staged: Path, learnloop: Run, repo: Path, option: str
) -> None:
    """Design §9; what went before is an old backlog."""
    path = staged / "alpha.md"
    path.write_text(path.read_text() + "\nRead `app.py`.\n")
    git(repo, "commit", "-q", "-m", "As staged", "--only", str(path))
    git(repo, "rm", "-q", "app.py")
    rows = learnloop("check", option, "--json", cwd=repo).json["findings"]
    assert [row["path"].rpartition("/")[2] for row in rows if row["code"] == "stale-anchor"] == ["alpha.md"]
    git(repo, "commit", "-q", "-m", "Take it away")
    rows = learnloop("check", option, "--json", cwd=repo).json["findings"]
    assert "stale-anchor" not in [row["code"] for row in rows]


def test_links_are_staged_as_links(memory: Path, learnloop: Run, repo: Path) -> None:
    """Design §11: a document that is a link inside the repository is read through it; no link leads out."""
    learnloop("note", "Brew tea first.", "--name", "tea", "--why", "a", "--how", "b", cwd=repo)
    (memory / "MEMORY.md").rename(repo / "LESSONS.md")
    (memory / "MEMORY.md").symlink_to("../../LESSONS.md")
    (memory / "out.md").symlink_to("/etc/hostname")
    git(repo, "add", "-A")
    for option in ("--staged", "--hook"):
        rows = learnloop("check", option, "--json", cwd=repo).json["findings"]
        assert [(row["code"], row["path"].rpartition("/")[2]) for row in rows] == [("symlink-escape", "out.md")]


def test_lessons_that_say_nearly_the_same_are_told(memory: Path, learnloop: Run, repo: Path) -> None:
    for name, rule in (("one", "Look up first."), ("two", "Look up at the crane first.")):
        done = learnloop("note", rule, "--new", "--name", name, "--why", "It went wrong.", "--how", "b", cwd=repo)
        assert done.code == 0, done.err
    rows = learnloop("check", "--json", cwd=repo).json["findings"]
    assert [row["code"] for row in rows] == ["near-duplicate"]
    assert rows[0]["message"].startswith("one says nearly what two says")


def test_a_finding_whose_line_moved_is_the_same_one() -> None:
    old = [Finding("a.md", 3, "dangling-line", "error", "names x.md, as line 3 does")]
    new = [old[0]._replace(line=9, message="names x.md, as line 9 does"), old[0]._replace(path="b.md")]
    assert checks.new_only(new, old) == [new[1]]


def test_a_second_finding_of_the_same_kind_is_new() -> None:
    row = Finding("a.md", 3, "duplicate-line", "warning", "names x.md")
    assert checks.new_only([row, row._replace(line=5)], [row]) == [row._replace(line=5)]


def test_staged_needs_git(tmp_path: Path, learnloop: Run) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    done = learnloop("check", "--staged", "--memory", str(tmp_path), "--json")
    assert (done.code, done.json["error"]["code"]) == (4, "no-git")


def test_a_hook_in_a_repository_without_a_memory_says_nothing(repo: Path, learnloop: Run) -> None:
    done = learnloop("check", "--hook", cwd=repo)
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_staged_check_of_a_skill_reads_the_staged_skill(skill: Path, learnloop: Run, repo: Path) -> None:
    text = (skill / "SKILL.md").read_text()
    (skill / "SKILL.md").write_text(text.replace("references/", "refs/"))
    git(repo, "add", "-A")
    (skill / "SKILL.md").write_text(text)
    rows = learnloop("check", "--staged", "--json", cwd=skill).json["findings"]
    assert [row["code"] for row in rows] == ["load-instruction-missing"]


def test_a_comment_that_is_never_closed_is_an_error(memory: Path, repo: Path, learnloop: Run) -> None:
    """All that follows would be hidden from Claude."""
    learnloop("note", "Brew tea first.", "--name", "tea", cwd=repo)
    learnloop("archive", "tea", "--note", "x", cwd=repo)
    index = memory / "MEMORY.md"
    index.write_text(index.read_text().replace("-->\n", "\n## Notes\n\n- hi\n"))
    ran = learnloop("check", "--json", cwd=repo)
    assert (ran.code, "never-closed" in [row["code"] for row in ran.json["findings"]]) == (1, True)


def test_a_private_lesson_that_is_tracked_is_told_by_status_and_doctor(
    memory: Path, learnloop: Run, repo: Path
) -> None:
    """Design §2: the next push would send it."""
    learnloop("note", "She reviews in German.", "--name", "german", "--type", "user")
    assert "private " not in learnloop("status").out
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    way_out = "git rm --cached :/.claude/memory/german.md"
    assert f"private   tracked by git: {way_out}\n" in learnloop("status").out
    rows = json.loads(learnloop("doctor", "--json").out)["checks"]
    assert [row["fix"] for row in rows if row["name"] == "private"] == [way_out]
    git(repo, "rm", "-q", "--cached", ".claude/memory/german.md")
    assert "private " not in learnloop("status").out
