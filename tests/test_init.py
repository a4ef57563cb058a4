"""Init: make or adopt a memory; one commit, and nothing of a person's changes unasked."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from learnloop_md import claude, place
from tests.conftest import Run, git

OLD = "---\nname: brew\ndescription: Brew tea first\ntype: feedback\n---\n\nBrew tea first.\n"


def tree(repo: Path) -> list[str]:
    return git(repo, "show", "--format=", "--name-only", "HEAD").splitlines()


def test_a_repository_gets_a_memory_in_one_commit(repo: Path, learnloop: Run) -> None:
    """Design §2: .claude/memory, the local setting, .gitattributes; ends in one commit."""
    before = git(repo, "rev-parse", "HEAD")
    assert learnloop("init", cwd=repo).code == 0
    assert git(repo, "rev-parse", "HEAD~1") == before
    assert tree(repo) == [".claude/memory/MEMORY.md", ".gitattributes"]
    local = json.loads((repo / ".claude" / "settings.local.json").read_text())
    assert local == {"autoMemoryDirectory": str(repo / ".claude" / "memory")}
    assert git(repo, "status", "--porcelain") == ""


def test_init_twice_changes_nothing(memory: Path, repo: Path, learnloop: Run) -> None:
    head = git(repo, "rev-parse", "HEAD")
    assert learnloop("init", cwd=repo).code == 0
    assert git(repo, "rev-parse", "HEAD") == head


def test_the_local_settings_keep_every_other_byte(repo: Path, learnloop: Run) -> None:
    path = repo / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{\n    "model": "x",  \n    "hooks": {}\n}\n')
    learnloop("init", cwd=repo)
    added = f'"autoMemoryDirectory": "{repo}/.claude/memory",\n    '
    assert path.read_text() == "{\n    " + added + '"model": "x",  \n    "hooks": {}\n}\n'


def test_malformed_settings_are_refused_with_the_line(repo: Path, learnloop: Run) -> None:
    path = repo / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{\n  "a": 1,\n}\n')
    ran = learnloop("init", cwd=repo)
    assert (ran.code, "settings.local.json:3" in ran.err, ran.err.count("\n")) == (2, True, 1)
    assert not (repo / ".claude" / "memory").exists()


def test_an_existing_memory_is_adopted_byte_for_byte(repo: Path, learnloop: Run) -> None:
    """Design §2: what was loaded every session counts as current; prose and lines stay."""
    memory = repo / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "brew.md").write_text(OLD)
    (memory / "MEMORY.md").write_text("# Mine\n\nProse.\n- [Brew](brew.md) - tea\n")
    before = {path.name: path.read_bytes() for path in memory.iterdir()}
    learnloop("init", cwd=repo)
    assert {path.name: path.read_bytes() for path in memory.iterdir()} == before
    assert 'adopted = [\n  "brew",\n]' in (repo / ".learnloop.toml").read_text()
    assert learnloop("status", "--json", cwd=repo).json["lessons"]["current"] == 1


def test_a_dry_run_writes_nothing(repo: Path, learnloop: Run) -> None:
    before = sorted(path for path in repo.rglob("*") if ".git" not in path.parts)
    assert learnloop("init", "--dry-run", cwd=repo).code == 0
    assert sorted(path for path in repo.rglob("*") if ".git" not in path.parts) == before
    assert not (repo / ".git" / "learnloop").exists()


def test_an_ignored_place_is_named_with_its_rule(repo: Path, learnloop: Run) -> None:
    (repo / ".gitignore").write_text("*.log\n.claude/\n")
    ran = learnloop("init", cwd=repo)
    assert (ran.code, ".gitignore:2" in ran.err, "--dir" in ran.err) == (4, True, True)
    assert not (repo / ".claude").exists()


def test_consent_lifts_the_rule_for_the_memory_alone(repo: Path, learnloop: Run) -> None:
    """Design §2: after `.claude/` a negation has no effect, so it becomes `.claude/*` first."""
    (repo / ".gitignore").write_text("*.log\n.claude/\n")
    assert learnloop("init", "--yes", cwd=repo).code == 0
    assert ".claude/memory/MEMORY.md" in git(repo, "ls-files")
    (repo / ".claude" / "other.json").write_text("{}")
    assert git(repo, "status", "--porcelain") == ""


def test_another_folder_is_found_by_a_fresh_clone(repo: Path, tmp_path: Path, learnloop: Run) -> None:
    assert learnloop("init", "--dir", "docs/memory", cwd=repo).code == 0
    git(tmp_path, "clone", "-q", str(repo), "clone")
    assert place.find(tmp_path / "clone").folder == tmp_path / "clone" / "docs" / "memory"


@pytest.mark.parametrize("folder", ["../out", "/abs", "~/x", ".git/x"])
def test_a_folder_outside_the_repository_is_refused(repo: Path, folder: str, learnloop: Run) -> None:
    assert learnloop("init", "--dir", folder, cwd=repo).code == 2


def claude_s_own(repo: Path) -> Path:
    folder = Path(os.environ["HOME"]) / ".claude" / "projects" / claude.project_id(repo) / "memory"
    folder.mkdir(parents=True)
    (folder / "brew.md").write_text(OLD)
    (folder / "MEMORY.md").write_text("- [Brew](brew.md) — tea\n")
    return folder


def test_lessons_that_claude_has_are_named_and_copied_on_consent(repo: Path, learnloop: Run) -> None:
    own = claude_s_own(repo)
    assert "could be copied: MEMORY.md, brew.md" in learnloop("init", "--dry-run", cwd=repo).out
    learnloop("init", "--yes", cwd=repo)
    assert (repo / ".claude" / "memory" / "brew.md").read_text() == OLD == (own / "brew.md").read_text()


def test_native_gives_claude_s_directory_a_repository_of_its_own(repo: Path, learnloop: Run) -> None:
    own = claude_s_own(repo)
    head = git(repo, "rev-parse", "HEAD")
    assert learnloop("init", "--native", cwd=repo).code == 0
    assert git(own, "ls-files").splitlines() == [".gitattributes", ".learnloop.toml", "MEMORY.md", "brew.md"]
    assert (git(repo, "rev-parse", "HEAD"), git(repo, "status", "--porcelain")) == (head, "")
    assert learnloop("note", "Warm the pot.", "--json", cwd=repo).json["commits"]


def test_native_inside_a_dotfiles_repository_commits_to_that_one(repo: Path, learnloop: Run) -> None:
    """Design §2: never nested inside a tracked ~/.claude."""
    own = claude_s_own(repo)
    home = Path(os.environ["HOME"])
    git(home, "init", "-q")
    git(home, "commit", "-q", "--allow-empty", "-m", "Dotfiles")
    assert learnloop("init", "--native", cwd=repo).code == 0
    assert not (own / ".git").exists()
    assert (own / "brew.md").relative_to(home).as_posix() in git(home, "ls-files")


def test_a_skill_s_notebook_is_adopted_in_its_order(repo: Path, learnloop: Run) -> None:
    """R002-62: every entry kept; only State and File lines are added."""
    skill = repo / "skills" / "brew"
    (skill / "references").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: brew\ndescription: Brew tea.\n---\n\n# Brew\n")
    book = skill / "references" / "memory.md"
    book.write_text(
        "# Notes\n\n## Current Patterns\n\n### 2026-05-02 | Warm the pot\n- Lesson: Warm the pot.\n\n"
        "### 2026-05-01 | Ask first\n- Lesson: Ask first.\n\n## Candidate Patterns\n\n## Archived Patterns\n"
    )
    old = book.read_text().splitlines()
    assert learnloop("init", "--skill", "skills/brew", cwd=repo).code == 0
    new = book.read_text().splitlines()
    assert [line for line in new if not line.startswith(("- File: ", "- State: "))] == old
    lesson = (skill / "references" / "lessons" / "warm-the-pot.md").read_text()
    assert (lesson.count("- on: 2026-05-02"), "state: current" in lesson) == (2, True)


def test_a_skill_gets_the_load_instruction_and_the_contract(repo: Path, learnloop: Run) -> None:
    """R002-60, R002-63; a contract alone does not load the memory."""
    skill = repo / "skills" / "brew"
    skill.mkdir(parents=True)
    head = "---\nname: brew\ndescription: Brew tea.\n---\n\n"
    (skill / "SKILL.md").write_text(head + "# Brew\n\n## Memory contract\n\n- Keep `references/memory.md`.\n")
    learnloop("init", "--skill", "skills/brew", cwd=repo)
    assert "Read [references/memory.md]" in (skill / "SKILL.md").read_text()
    assert learnloop("check", "--json", cwd=skill).json["findings"] == []


@pytest.mark.parametrize("words", [("--skill", "nowhere"), ("--skill", "x", "--native")])
def test_wrong_words_of_init_are_one_line(repo: Path, learnloop: Run, words: tuple[str, ...]) -> None:
    ran = learnloop("init", *words, cwd=repo)
    assert (ran.code in (2, 4), ran.err.count("\n")) == (True, 1)


def test_private_lessons_leave_the_index_and_stay_out_of_git(repo: Path, learnloop: Run) -> None:
    """Design §2: type user, in a repository that has a remote."""
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    memory = repo / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "ada.md").write_text(OLD.replace("feedback", "user"))
    (memory / "MEMORY.md").write_text("# Mine\n- [Ada](ada.md) — who\n- [Gone](gone.md) — x\n")
    learnloop("init", cwd=repo)
    assert (memory / "MEMORY.md").read_text() == "# Mine\n- [Gone](gone.md) — x\n"
    assert ".claude/memory/ada.md" not in git(repo, "ls-files")
    assert git(repo, "status", "--porcelain") == ""


def test_a_tracked_private_lesson_is_an_error(repo: Path, learnloop: Run) -> None:
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    memory = repo / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "ada.md").write_text(OLD.replace("feedback", "user"))
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Oops")
    learnloop("init", cwd=repo)
    codes = [row["code"] for row in learnloop("check", "--json", cwd=repo).json["findings"]]
    assert "private-tracked" in codes


def everything(folder: Path) -> dict[Path, tuple[int, bytes]]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.mark.parametrize("words", [(), ("--yes",), ("--native",), ("--skill", "."), ("--dir", "docs/memory")])
def test_no_form_of_a_dry_run_writes_a_byte(repo: Path, words: tuple[str, ...], learnloop: Run) -> None:
    """R004-94: trying out the rules of .gitignore happens elsewhere."""
    (repo / "SKILL.md").write_text("---\nname: repo\ndescription: Brew tea.\n---\n\n# Brew\n")
    (repo / ".gitignore").write_text(".claude/\n")
    claude_s_own(repo)
    before = everything(repo), everything(Path(os.environ["HOME"]))
    learnloop("init", "--dry-run", *words, cwd=repo)
    assert (everything(repo), everything(Path(os.environ["HOME"]))) == before


@pytest.mark.parametrize("rule", [".claude", "/.claude/", ".claude/*", "**/.claude/", ".claude/memory/"])
def test_every_form_of_the_rule_is_lifted(repo: Path, rule: str, learnloop: Run) -> None:
    (repo / ".gitignore").write_text(f"*.log\n{rule}")
    ran = learnloop("init", "--yes", cwd=repo)
    assert (ran.code, ".claude/memory/MEMORY.md" in git(repo, "ls-files")) == (0, True)
    assert git(repo, "status", "--porcelain") == ""


def test_a_rule_that_hides_the_lessons_too_is_not_lifted_by_half(repo: Path, learnloop: Run) -> None:
    (repo / ".gitignore").write_text(".claude/\n*.md\n")
    before = everything(repo)
    ran = learnloop("init", "--yes", "--json", cwd=repo)
    assert (ran.code, ran.json["error"]["code"], everything(repo)) == (4, "ignored", before)


def test_a_rule_outside_the_repository_s_gitignore_is_not_ours_to_edit(repo: Path, learnloop: Run) -> None:
    (repo / ".git" / "info" / "exclude").write_text(".claude/\n")
    ran = learnloop("init", "--yes", cwd=repo)
    assert (ran.code, "info/exclude:1" in ran.err) == (4, True)


def test_a_person_s_edits_of_gitattributes_are_not_swept(repo: Path, learnloop: Run) -> None:
    """Design §6: never anything of the person's; refused before anything is written."""
    (repo / ".gitattributes").write_text("*.png binary\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Attributes")
    (repo / ".gitattributes").write_text("*.png binary\n*.jpg binary\n")
    ran = learnloop("init", "--json", cwd=repo)
    assert (ran.code, ran.json["error"]["code"]) == (4, "dirty-target")
    assert not (repo / ".claude").exists()


def test_a_later_edit_of_gitattributes_is_not_swept_by_a_second_init(repo: Path, memory: Path, learnloop: Run) -> None:
    path = repo / ".gitattributes"
    path.write_text(path.read_text() + "*.jpg binary\n")
    assert learnloop("init", cwd=repo).code == 0
    assert git(repo, "status", "--porcelain") == " M .gitattributes"


def test_a_second_init_does_not_adopt_what_came_since(repo: Path, memory: Path, learnloop: Run) -> None:
    """Design §2: any other file without state is a candidate."""
    (memory / "brew.md").write_text(OLD)
    learnloop("init", cwd=repo)
    assert not (repo / ".learnloop.toml").exists()
    assert learnloop("status", "--json", cwd=repo).json["lessons"]["candidate"] == 1


def test_a_private_lesson_is_kept_out_of_git_add(repo: Path, learnloop: Run) -> None:
    """Design §2: excluded from the moment of init, so that `git add --all` does not take it."""
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    memory = repo / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "ada.md").write_text(OLD.replace("feedback", "user"))
    learnloop("init", cwd=repo)
    learnloop("note", "Ada likes short answers.", "--type", "user", cwd=repo)
    git(repo, "add", "--all")
    assert git(repo, "diff", "--cached", "--name-only") == ""


def test_native_in_a_folder_that_the_dotfiles_ignore_has_its_own_repository(repo: Path, learnloop: Run) -> None:
    """Design §2: not nested inside a tracked ~/.claude; an ignored one would keep no history."""
    own = claude_s_own(repo)
    home = Path(os.environ["HOME"])
    git(home, "init", "-q")
    (home / ".gitignore").write_text("*\n")
    assert learnloop("init", "--native", cwd=repo).code == 0
    assert (own / ".git").is_dir()
    assert learnloop("note", "Warm the pot.", "--json", cwd=repo).json["commits"]


@pytest.mark.parametrize("text", ["", "# No head\n", "---\nname: other-name\n---\n", "---\nname: [x\n---\n"])
def test_an_invalid_skill_is_refused_and_left(repo: Path, text: str, learnloop: Run) -> None:
    skill = repo / "brew"
    skill.mkdir()
    (skill / "SKILL.md").write_text(text)
    ran = learnloop("init", "--skill", "brew", cwd=repo)
    assert (ran.code == 4, ran.err.count("\n")) == (True, 1)
    assert (skill / "SKILL.md").read_text() == text
    assert git(repo, "rev-list", "--count", "HEAD") == "1"


def test_review_patterns_with_zones_are_the_notebook(repo: Path, learnloop: Run) -> None:
    """Design §2: `review-patterns.md` is read as well."""
    skill = repo / "brew"
    (skill / "references").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: brew\ndescription: Brew tea.\n---\n\n# Brew\n")
    (skill / "references" / "review-patterns.md").write_text(
        "# Patterns\n\n## Current Review Patterns\n\n### 2026-05-02 | Warm the pot\n- Lesson: Warm the pot.\n"
    )
    assert learnloop("init", "--skill", "brew", cwd=repo).code == 0
    assert not (skill / "references" / "memory.md").exists()
    assert "references/review-patterns.md" in (skill / "SKILL.md").read_text()
    assert (skill / "references" / "lessons" / "warm-the-pot.md").is_file()


@pytest.mark.parametrize("text", ["[]", '{"a": 1', "x"])
def test_settings_that_are_no_object_are_refused(repo: Path, text: str, learnloop: Run) -> None:
    path = repo / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text(text)
    ran = learnloop("init", cwd=repo)
    assert (ran.code, ran.err.count("\n"), path.read_text()) == (2, 1, text)


def test_a_linked_folder_on_the_way_is_refused(repo: Path, tmp_path: Path, learnloop: Run) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo / ".claude").symlink_to(tmp_path / "elsewhere")
    ran = learnloop("init", "--json", cwd=repo)
    assert (ran.code, ran.json["error"]["code"]) == (4, "symlink-escape")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_outside_git_init_names_the_ways_out(tmp_path: Path, learnloop: Run) -> None:
    ran = learnloop("init", cwd=tmp_path)
    assert (ran.code, "git init" in ran.err, "--native" in ran.err) == (4, True, True)


def token() -> str:
    return "".join(("gh", "p_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"))


def test_a_secret_in_the_index_is_refused_before_anything_is_written(repo: Path, learnloop: Run) -> None:
    """R004-20: nothing is half done."""
    folder = repo / ".claude" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text(f"# Memory\n\n- the token is {token()}\n")
    ran = learnloop("init", cwd=repo)
    assert (ran.code, token() in ran.err) == (3, False)
    assert git(repo, "status", "--porcelain", "--untracked-files=all") == "?? .claude/memory/MEMORY.md"


def test_a_quarantined_lesson_of_claude_s_own_directory_is_not_copied(repo: Path, learnloop: Run) -> None:
    claudes = claude.home() / "projects" / claude.project_id(repo) / "memory"
    claudes.mkdir(parents=True)
    head = "---\nname: {0}\ndescription: d\nmetadata:\n  type: feedback\n---\n"
    (claudes / "leak.md").write_text(head.format("leak") + f"Token {token()} here.\n")
    (claudes / "fine.md").write_text(head.format("fine") + "Use uv.\n")
    assert learnloop("init", "--yes", cwd=repo).code == 0
    assert [p.name for p in (repo / ".claude" / "memory").glob("*.md") if p.name != "MEMORY.md"] == ["fine.md"]


def test_a_private_lesson_is_adopted_without_its_name_in_git(repo: Path, learnloop: Run) -> None:
    """Design §2: user lessons of a repository with a remote stay on this machine, their names too."""
    git(repo, "remote", "add", "origin", "/nowhere")
    folder = repo / ".claude" / "memory"
    folder.mkdir(parents=True)
    for name, kind in (("ada-is-ill", "User"), ("use-uv", "feedback")):
        text = f"---\nname: {name}\ndescription: d\nmetadata:\n  type: {kind}\n---\nRule.\n"
        (folder / f"{name}.md").write_text(text)
    (folder / "MEMORY.md").write_text("# Memory\n\n- [Ada](ada-is-ill.md) — d\n- [Uv](use-uv.md) — d\n")
    assert learnloop("init", cwd=repo).code == 0
    assert "ada-is-ill" not in git(repo, "log", "-p", "--format=%B")
    assert learnloop("status", "--json", cwd=repo).json["lessons"] == {"candidate": 0, "current": 2, "archived": 0}
    assert "in step" in learnloop("sync", cwd=repo).out
