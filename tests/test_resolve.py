"""`sync --resolve`: what plain git, a forge or another driver left in conflict is rebuilt from both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

from learnloop_md import mergestate
from tests.conftest import Ran, Run, git
from tests.scenarios import BASE, SCENARIOS, Result, Scenario, lesson, memory
from tests.test_merge_drivers import Branches, run

WAYS = ("merge", "rebase", "cherry-pick")
GO_ON = {"merge": ("commit", "--no-edit"), "rebase": ("rebase", "--continue"), "cherry-pick": ("commit", "--no-edit")}
BOTH_ADD, BOTH_COUNT = SCENARIOS[0], SCENARIOS[2]


def branches(root: Path, scenario: Scenario) -> Branches:
    """Both branches, with no word of our drivers."""
    made = Branches(root, scenario.base)
    git(root, "rm", "-q", ".gitattributes")
    git(root, "commit", "-q", "-m", "No drivers")
    made.branch("ours", scenario.ours)
    made.branch("theirs", scenario.theirs)
    return made


def resolved(made: Branches, learnloop: Run, *more: str) -> Ran:
    return learnloop("sync", "--resolve", "--memory", str(made.folder), *more, cwd=made.root)


def result(made: Branches, *, clean: bool) -> Result:
    return Result(clean, {path.name: path.read_bytes() for path in made.folder.glob("*.md")})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_without_a_driver_the_same_comes_of_it(scenario: Scenario, way: str, tmp_path: Path, learnloop: Run) -> None:
    """Design §6, R000-71: seventeen situations that a clone without the drivers, or a forge, left to a person."""
    made = branches(tmp_path / "repo", scenario)
    if made.joined(way).clean and scenario.name.startswith("07"):
        return  # plain git sees no conflict where one side archives and the other adds a line: both are kept
    ran = resolved(made, learnloop)
    assert ran.code in (0, 1), ran.err
    # git never merges a file that one side deleted: here that is settled too
    after = result(made, clean=ran.code == 0 and not scenario.name.startswith("10"))
    assert scenario.holds(after), (ran, after.files)


@pytest.mark.parametrize("way", WAYS)
def test_git_can_go_on_afterwards(way: str, tmp_path: Path, learnloop: Run) -> None:
    """The merge stays the person's: their staged files are in it, nothing is committed before they say so."""
    made = branches(tmp_path / "repo", BOTH_ADD)
    made.joined(way)
    (made.root / "mine.py").write_text("mine\n")
    git(made.root, "add", "mine.py")
    head = git(made.root, "rev-parse", "HEAD")
    ran = resolved(made, learnloop)
    assert (ran.code, git(made.root, "rev-parse", "HEAD")) == (0, head)
    assert "is in progress" in ran.out
    assert run(made.root, *GO_ON[way])[0] == 0
    assert git(made.root, "status", "--porcelain") == ""
    assert git(made.root, "show", "HEAD:mem/MEMORY.md") + "\n" == memory("", "abc")


def test_what_both_sides_reworded_stays_to_a_person(tmp_path: Path, learnloop: Run) -> None:
    """Only the part that both changed stands between markers, and git still says that it is unmerged."""
    rules = (("r2", "Do this."), ("r3", "Do that."))
    rows: list[dict[str, str | None]] = [{"a.md": lesson("a", "r1", run, rule=rule)} for run, rule in rules]
    made = branches(tmp_path / "repo", Scenario("", BASE, rows[0], rows[1], lambda r: True))
    made.joined("merge")
    ran = resolved(made, learnloop)
    assert (ran.code, "settle what stands between the markers" in ran.err) == (1, True)
    text = (made.folder / "a.md").read_text()
    assert (text.count("<<<<<<<"), text.count("run: r")) == (1, 3)
    assert git(made.root, "diff", "--name-only", "--diff-filter=U") == "mem/a.md"


def test_a_key_that_both_sides_set_is_named_and_the_others_are_merged(tmp_path: Path, learnloop: Run) -> None:
    """docs/runs.md: two other values of one key are told as a conflict; what was settled by hand stays."""

    def state(**values: object) -> dict[str, str | None]:
        return {"memory.json": mergestate.rendered(values)}

    base = {**BASE, **{name: text or "" for name, text in state(mode="slow", page=1).items()}}
    ours, theirs = state(mode="fast", page=4, a=1), state(mode="off", page=9)
    made = branches(tmp_path / "repo", Scenario("", base, ours, theirs, lambda r: True))
    made.joined("merge")
    ran = resolved(made, learnloop)
    assert ran.code == 1
    assert (
        'both sides set a key otherwise: mode is "fast" here and "off" there: settle what stands between the markers'
        in ran.err
    )
    file = made.folder / "memory.json"
    both = '<<<<<<< ours\n  "mode": "fast",\n=======\n  "mode": "off",\n>>>>>>> theirs\n'
    assert file.read_text() == '{\n  "a": 1,\n' + both + '  "page": 9\n}\n'
    file.write_text(mergestate.rendered({"mode": "off", "page": 9}))
    resolved(made, learnloop)
    assert '"mode": "off"' in file.read_text()


def test_two_lessons_of_one_name_both_live(tmp_path: Path, learnloop: Run) -> None:
    """Both sides added another lesson under it: theirs gets a free name, and its line."""
    sides: list[dict[str, str | None]] = [
        {"n.md": lesson("n", run, rule=rule), "MEMORY.md": memory("", "an")}
        for run, rule in (("r2", "Never commit on Fridays."), ("r3", "Pin the image."))
    ]
    made = branches(tmp_path / "repo", Scenario("", BASE, sides[0], sides[1], lambda r: True))
    made.joined("merge")
    ran = resolved(made, learnloop)
    assert (ran.code, "theirs is n-2 now" in ran.err) == (0, True), ran
    assert "Fridays" in (made.folder / "n.md").read_text()
    assert "Pin" in (made.folder / "n-2.md").read_text()
    assert (made.folder / "MEMORY.md").read_text().count("(n-2.md)") == 1
    assert run(made.root, "commit", "--no-edit")[0] == 0
    assert git(made.root, "status", "--porcelain") == ""


def test_markers_that_were_committed_are_rebuilt_from_the_merge_s_parents(tmp_path: Path, learnloop: Run) -> None:
    made = branches(tmp_path / "repo", BOTH_COUNT)
    made.joined("merge")
    git(made.root, "commit", "-qam", "Merge, markers and all")
    assert "conflict-markers" in learnloop("check", "--memory", str(made.folder), cwd=made.root).out
    ran = resolved(made, learnloop)
    assert ran.code == 0, ran.err
    assert BOTH_COUNT.holds(result(made, clean=True))
    assert git(made.root, "status", "--porcelain") == ""
    assert "absorb" in git(made.root, "log", "-1", "--format=%s")


def test_markers_that_a_squash_committed_are_rebuilt_from_what_they_enclose(tmp_path: Path, learnloop: Run) -> None:
    made = branches(tmp_path / "repo", BOTH_COUNT)
    git(made.root, "checkout", "-q", "ours")
    run(made.root, "merge", "--squash", "theirs")
    git(made.root, "commit", "-qam", "Squash, markers and all")
    ran = resolved(made, learnloop)
    assert ran.code == 0, ran.err
    assert BOTH_COUNT.holds(result(made, clean=True))


def test_what_a_union_merge_mangled_is_rebuilt_from_its_sides(tmp_path: Path, learnloop: Run) -> None:
    """Two descriptions in one head: no reader takes it, both sides' words and sightings are still in git."""
    texts = (("r2", "Also here"), ("r3", "And there too, in more words"))
    here, there = (lesson("a", "r1", run).replace("description: ", f"description: {more}. ") for run, more in texts)
    ours: dict[str, str | None] = {"a.md": here, "b.md": lesson("b", "r2"), "MEMORY.md": memory("", "ab")}
    theirs: dict[str, str | None] = {"a.md": there, "c.md": lesson("c", "r3"), "MEMORY.md": memory("a", "c")}
    made = Branches(tmp_path / "repo", BASE)
    (made.root / ".gitattributes").write_text("mem/*.md merge=union\n")
    git(made.root, "commit", "-qam", "Union")
    made.branch("ours", ours)
    made.branch("theirs", theirs)
    assert made.joined("merge").clean
    found = learnloop("check", "--memory", str(made.folder), cwd=made.root)
    assert found.code == 1
    ran = resolved(made, learnloop)
    assert ran.code == 0, ran.err
    after = result(made, clean=True)
    assert (after.slugs, after.runs()) == (["a", "b", "c"], ["r1", "r2", "r3"])
    assert [(made.folder / "MEMORY.md").read_text().count(f"({slug}.md)") for slug in "abc"] == [1, 1, 1]
    assert learnloop("check", "--memory", str(made.folder), cwd=made.root).code == 0


def test_a_line_that_a_forge_doubled_is_one_again(tmp_path: Path, learnloop: Run) -> None:
    made = branches(tmp_path / "repo", BOTH_ADD)
    git(made.root, "checkout", "-q", "ours")
    document = made.folder / "MEMORY.md"
    line = next(row for row in document.read_text().splitlines() if "(b.md)" in row)
    document.write_text(document.read_text() + line.replace("[", "[Other ", 1) + "\n")
    assert "duplicate-line" in learnloop("check", "--memory", str(made.folder), cwd=made.root).out
    assert resolved(made, learnloop).code == 0
    assert document.read_text().count("(b.md)") == 1


def test_nothing_in_conflict_is_an_ordinary_sync(memory_in_step: Branches, learnloop: Run) -> None:
    ran = resolved(memory_in_step, learnloop)
    assert (ran.code, ran.out) == (0, "everything is in step\n")


@pytest.fixture
def memory_in_step(tmp_path: Path, learnloop: Run) -> Branches:
    made = branches(tmp_path / "repo", BOTH_ADD)
    learnloop("sync", "--memory", str(made.folder), cwd=made.root)
    return made
