"""The sample skill is a valid Agent Skill whose notebook and lesson files agree."""

from __future__ import annotations

import shutil
from pathlib import Path

from skills_ref import validate

from tests.conftest import Run, git

SAMPLE = Path(__file__).parent.parent / "sample-skill" / "pr-review"


def _copied(repo: Path) -> Path:
    skill = repo / ".claude" / "skills" / "pr-review"
    shutil.copytree(SAMPLE, skill)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Add the skill")
    return skill


def test_sample_skill_is_valid_for_the_specification() -> None:
    """R001-90: shipped as an installable skill."""
    assert validate(SAMPLE) == []


def test_sample_memory_has_lessons_in_all_three_zones(repo: Path, learnloop: Run) -> None:
    """R002-43."""
    counts = learnloop("status", "--json", cwd=_copied(repo)).json["lessons"]
    assert min(counts.values()) >= 3


def test_sample_memory_is_in_step(repo: Path, learnloop: Run) -> None:
    """design §4: nothing to absorb, no finding."""
    skill = _copied(repo)
    assert learnloop("sync", "--json", cwd=skill).json["action"] == "unchanged"
    assert learnloop("check", "--json", cwd=skill).json["findings"] == []
    assert git(repo, "status", "--porcelain") == ""


def test_init_on_the_sample_changes_no_byte(repo: Path, learnloop: Run) -> None:
    """R002-62: entries are kept, the skill has its contract already."""
    skill = _copied(repo)
    assert learnloop("init", "--skill", ".", cwd=skill).code == 0
    assert git(repo, "diff", "--stat", "HEAD", "--", ".claude") == ""


def test_a_skill_given_a_memory_stays_valid(repo: Path, learnloop: Run) -> None:
    """R002-43, R002-63, R002-64 (any kind of skill): init writes the load instruction and the rules into SKILL.md."""
    skill = repo / "skills" / "brewing"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        "---\nname: brewing\ndescription: Brew tea when asked for tea.\n---\n\n# Brewing\n\nBoil water.\n"
    )
    assert learnloop("init", "--skill", "skills/brewing", cwd=repo).code == 0
    assert validate(skill) == []
    assert "references/memory.md" in (skill / "SKILL.md").read_text()
    assert learnloop("check", "--json", cwd=skill).json["findings"] == []
