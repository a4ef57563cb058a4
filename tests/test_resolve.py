"""`sync --resolve`: what plain git, a forge or another driver left in conflict is rebuilt from both sides."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

from learnloop_md import mergestate
from tests.conftest import Ran, Run, git
from tests.homes import make_home
from tests.scenarios import BASE, SCENARIOS, Result, Scenario, lesson, memory
from tests.test_merge_drivers import Branches, run
from tests.test_merge_drivers import branches as with_drivers

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


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_without_a_driver_the_same_comes_of_it(scenario: Scenario, tmp_path: Path, learnloop: Run) -> None:
    """Design §6, R000-71: seventeen situations that a clone without the drivers, or a forge, left to a person."""
    begun = branches(tmp_path / "repo", scenario)
    for way in WAYS:
        made = begun.copied(tmp_path / way)
        if made.joined(way).clean and scenario.name.startswith("07"):
            continue  # plain git sees no conflict where one side archives and the other adds a line: both are kept
        ran = resolved(made, learnloop)
        assert ran.code in (0, 1), (way, ran.err)
        # git never merges a file that one side deleted: here that is settled too
        after = result(made, clean=ran.code == 0 and not scenario.name.startswith("10"))
        assert scenario.holds(after), (way, ran, after.files)


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


SETTLED = {
    "state": ("memory.json", mergestate.rendered({"page": 2, "word": "mine"})),
    "lesson": ("a.md", lesson("a", "r1", "r2", rule="Do it my way.")),
    "document": ("MEMORY.md", memory("", "a").replace("# Memory\n", "# Memory\n\nMy words.\n", 1)),
}


def in_conflict(root: Path) -> Branches:
    """A state, a lesson and a document that plain git leaves in conflict, each of which both sides make one."""
    states = ({"page": 1}, {"ours": 1, "page": 2}, {"page": 3})
    counts = [{"memory.json": mergestate.rendered(state)} for state in states]
    sides: list[dict[str, str | None]] = [
        {"a.md": lesson("a", "r1", run), f"{new}.md": lesson(new, run), "MEMORY.md": memory("", f"a{new}"), **count}
        for run, new, count in (("r2", "b", counts[1]), ("r3", "c", counts[2]))
    ]
    base = {"a.md": lesson("a", "r1"), "MEMORY.md": memory("", "a"), **counts[0]}
    made = branches(root, Scenario("", base, sides[0], sides[1], lambda r: True))
    assert not made.joined("merge").clean
    assert unmerged(made) == ["mem/MEMORY.md", "mem/a.md", "mem/memory.json"]
    return made


def unmerged(made: Branches) -> list[str]:
    return git(made.root, "diff", "--name-only", "--diff-filter=U").split()


@pytest.mark.parametrize(("name", "text"), SETTLED.values(), ids=SETTLED)
def test_what_a_person_settled_by_hand_is_kept(name: str, text: str, tmp_path: Path, learnloop: Run) -> None:
    """docs/merges.md: without markers it is their text, though git's index knows three versions yet."""
    made = in_conflict(tmp_path / "repo")
    (made.folder / name).write_text(text)
    ran = resolved(made, learnloop)
    assert ((made.folder / name).read_text(), unmerged(made)) == (text, [f"mem/{name}"])
    assert (ran.code, f"mem/{name}: settled by hand, kept as it stands: git add it" in ran.err) == (1, True), ran
    git(made.root, "add", f"mem/{name}")
    assert resolved(made, learnloop).code == 0
    assert (made.folder / name).read_text() == text


def test_a_notebook_that_a_person_settled_by_hand_is_kept(tmp_path: Path, learnloop: Run) -> None:
    """The same of a skill's memory.md, whose entries both branches added in one place."""
    home = make_home("skill", tmp_path / "repo", learnloop)
    for branch, rule in (("theirs", "Stage files by name."), ("main", "Pin the image.")):
        git(home.root, "checkout", "-q", *(["-b", branch] if branch == "theirs" else [branch]))
        home.note(rule)
    assert run(home.root, "merge", "--no-edit", "theirs")[0] == 1
    text = home.text.replace("=======\n", "\n")
    text = "".join(row for row in text.splitlines(keepends=True) if row[:7] not in ("<<<<<<<", ">>>>>>>"))
    home.document.write_text(text.replace("Pin the image.", "Pin every image."))
    ran = home.run("sync", "--resolve")
    assert (ran.code, "references/memory.md: settled by hand" in ran.err) == (1, True), ran
    assert "Pin every image." in home.text


@pytest.mark.parametrize("side", ["ours", "theirs"])
@pytest.mark.parametrize("name", [name for name, _ in SETTLED.values()])
def test_the_side_that_a_person_took_is_kept(name: str, side: str, tmp_path: Path, learnloop: Run) -> None:
    """`git checkout --ours FILE`: git itself would have left markers there."""
    made = in_conflict(tmp_path / "repo")
    git(made.root, "checkout", "-q", f"--{side}", f"mem/{name}")
    text = (made.folder / name).read_text()
    assert (resolved(made, learnloop).code, (made.folder / name).read_text()) == (1, text)
    assert unmerged(made) == [f"mem/{name}"]


def test_a_file_that_git_merges_by_no_lines_is_rebuilt(tmp_path: Path, learnloop: Run) -> None:
    """The attribute -merge: git leaves our side as it is, which nobody settled."""
    made = branches(tmp_path / "repo", BOTH_ADD)
    (made.root / ".git" / "info").mkdir(exist_ok=True)
    (made.root / ".git" / "info" / "attributes").write_text("MEMORY.md -merge\n")
    assert not made.joined("merge").clean
    assert resolved(made, learnloop).code == 0
    assert (made.folder / "MEMORY.md").read_text() == memory("", "abc")


def test_a_text_settled_by_hand_that_cannot_be_read_is_kept_too(tmp_path: Path, learnloop: Run) -> None:
    """A comma too many is no reason to take a person's work away: it is named, and how git brings the conflict back."""
    made = in_conflict(tmp_path / "repo")
    (made.folder / "memory.json").write_text('{"page": 7,}\n')
    (made.folder / "a.md").write_text("---\nname: a\nname: b\n---\n\nMine.\n")
    ran = resolved(made, learnloop)
    assert (ran.code, ran.err.count("settled by hand, kept as it stands: git add it")) == (1, 0), ran
    assert ran.err.count("mend it (git checkout --merge brings the conflict back), then git add it") == 2, ran
    assert (made.folder / "memory.json").read_text() == '{"page": 7,}\n'
    assert (made.folder / "a.md").read_text().endswith("Mine.\n")


def test_what_was_rebuilt_and_never_told_to_git_is_no_person_s(tmp_path: Path, learnloop: Run) -> None:
    """A lock of somebody's kept the index as it was: the next run tells it, as there is nothing to keep."""
    made = in_conflict(tmp_path / "repo")
    lock = made.root / ".git" / "index.lock"
    lock.touch()
    assert resolved(made, learnloop).code == 4
    lock.unlink()
    assert (resolved(made, learnloop).code, unmerged(made)) == (0, [])


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


@pytest.mark.parametrize("how", [("merge", "--squash", "theirs"), ("cherry-pick", "-n", "theirs")], ids=lambda h: h[0])
def test_a_conflict_of_which_git_keeps_no_sign_is_a_persons_to_commit(
    tmp_path: Path, learnloop: Run, how: tuple[str, ...]
) -> None:
    """Design §6: a squash and a pick without a commit leave only files in conflict; none of ours comes between."""
    made = branches(tmp_path / "repo", BOTH_ADD)
    git(made.root, "checkout", "-q", "ours")
    learnloop("sync", "--memory", str(made.folder), cwd=made.root)
    assert run(made.root, *how)[0] == 1
    head = git(made.root, "rev-parse", "HEAD")
    ran = resolved(made, learnloop)
    assert (ran.code, "git commit it, then learnloop sync" in ran.out) == (0, True), ran
    assert (git(made.root, "rev-parse", "HEAD"), unmerged(made)) == (head, [])
    git(made.root, "commit", "-q", "-m", "Squash")
    assert git(made.root, "status", "--porcelain") == ""
    assert BOTH_ADD.holds(result(made, clean=True))
    assert "in step" in learnloop("sync", "--memory", str(made.folder), cwd=made.root).out


def test_the_line_of_a_rebuilt_lesson_stands_where_its_file_says(tmp_path: Path, learnloop: Run) -> None:
    """Confirmed here, archived there: the lesson is a candidate again, which a squash leaves no sides to tell later."""
    ours: dict[str, str | None] = {"a.md": lesson("a", "r1", confirmed="r7")}
    archived = lesson("a", "r1", state="archived").replace("---\n\n", "  archive_note: No more.\n---\n\n")
    theirs: dict[str, str | None] = {"a.md": archived, "MEMORY.md": memory("", "", "a")}
    base = {"a.md": lesson("a", "r1"), "MEMORY.md": memory("", "a")}
    made = branches(tmp_path / "repo", Scenario("", base, ours, theirs, lambda r: True))
    git(made.root, "checkout", "-q", "ours")
    run(made.root, "merge", "--squash", "theirs")
    assert resolved(made, learnloop).code == 0
    git(made.root, "commit", "-q", "-m", "Squash")
    assert "in step" in learnloop("sync", "--memory", str(made.folder), cwd=made.root).out
    text = (made.folder / "MEMORY.md").read_text()
    assert "state: candidate" in (made.folder / "a.md").read_text()
    assert text.index("## Candidate") < text.index("(a.md)"), text
    assert "Archived" not in text.partition("(a.md)")[0], text


@pytest.mark.parametrize("removed", ["ours", "theirs"])
def test_a_lesson_that_one_side_removed_and_the_other_changed_is_told_as_kept(
    tmp_path: Path, learnloop: Run, removed: str
) -> None:
    changed: dict[str, str | None] = {"a.md": lesson("a", "r1", "r2")}
    sides: list[dict[str, str | None]] = [{"a.md": None}, changed] if removed == "ours" else [changed, {"a.md": None}]
    made = branches(tmp_path / "repo", Scenario("", BASE, sides[0], sides[1], lambda r: True))
    made.joined("merge")
    assert "a was removed on one side and changed on the other: it is kept" in resolved(made, learnloop).err
    assert "r2" in (made.folder / "a.md").read_text()


TOLD = "git took n for b renamed"


@pytest.fixture(params=["", "driven"])
def mistaken(request: pytest.FixtureRequest, tmp_path: Path, learnloop: Run) -> Branches:
    """A lesson that theirs removed, with another like it, and that ours confirmed: with our drivers, and without."""
    base = {**BASE, "b.md": lesson("b", "r1", rule="Pin the image."), "MEMORY.md": memory("", "ab")}
    ours: dict[str, str | None] = {"b.md": lesson("b", "r1", rule="Pin the image.", confirmed="r7")}
    theirs: dict[str, str | None] = {
        "b.md": None,
        "n.md": lesson("n", "r1", rule="Pull it first."),
        "MEMORY.md": memory("", "an"),
    }
    scenario = Scenario("", base, ours, theirs, lambda r: True)
    if request.param:
        return with_drivers(tmp_path / "repo", scenario, learnloop)
    return branches(tmp_path / "repo", scenario)


def both_apart(made: Branches) -> bool:
    """Whether each of the two lessons is as its side had it, with its line."""
    b, n = ((made.folder / f"{name}.md").read_text() for name in "bn")
    lines = [(made.folder / "MEMORY.md").read_text().count(f"({name}.md)") for name in "bn"]
    return ("run: r7" in b, "run: r7" in n, "Pull" in n, lines) == (True, False, True, [1, 1])


@pytest.mark.parametrize("into", ["ours", "theirs"])
def test_two_lessons_that_git_took_for_one_are_parted(mistaken: Branches, learnloop: Run, into: str) -> None:
    """Design §6: without a driver git merges it clean, the change in the wrong lesson: check and sync say so."""
    made, other = mistaken, {"ours": "theirs", "theirs": "ours"}[into]
    git(made.root, "checkout", "-q", into)
    learnloop("sync", "--memory", str(made.folder), cwd=made.root)
    code, _ = run(made.root, "merge", "--no-edit", other)
    is_driven = ".gitattributes" in git(made.root, "ls-files")
    assert code == is_driven
    if not is_driven:
        assert TOLD in learnloop("sync", "--memory", str(made.folder), cwd=made.root).err
        learnloop("confirm", "n", "--run", "r8", "--memory", str(made.folder), cwd=made.root)
        found = learnloop("check", "--memory", str(made.folder), cwd=made.root)
        assert (found.code, f"mistaken-lesson error: {TOLD}" in found.out) == (1, True)
    ran = resolved(made, learnloop)
    assert (ran.code, "git took n for b renamed: b is back" in ran.err) == (0, True), ran
    assert both_apart(made)
    run(made.root, "commit", "--no-edit")
    assert git(made.root, "status", "--porcelain") == ""
    after = learnloop("check", "--memory", str(made.folder), cwd=made.root)
    assert (after.code, "mistaken" in after.out, unmerged(made)) == (0, False, []), after
    assert "was confirmed" not in resolved(made, learnloop).err
    assert both_apart(made)


def taken(root: Path, new: str = "n", rule: str = "Pull it first.") -> Branches:
    """Theirs removed a lesson and has another one, ours confirmed it: git merges that clean."""
    base = {"b.md": lesson("b", "r1", rule="Pin the image."), "MEMORY.md": memory("", "b")}
    ours: dict[str, str | None] = {"b.md": lesson("b", "r1", rule="Pin the image.", confirmed="r7")}
    theirs: dict[str, str | None] = {"b.md": None, f"{new}.md": lesson("n", "r1", rule=rule)}
    made = branches(root, Scenario("", base, ours, theirs, lambda r: True))
    assert made.joined("merge").clean
    return made


def test_a_lesson_taken_for_another_is_left_alone_once_a_person_saw_to_it(tmp_path: Path, learnloop: Run) -> None:
    """It was brought back, and removed again: that is what somebody wants."""
    made = taken(tmp_path / "repo")
    resolved(made, learnloop)
    git(made.root, "rm", "-q", "mem/b.md")
    git(made.root, "commit", "-q", "-m", "No more of it")
    ran = resolved(made, learnloop)
    assert (ran.code, TOLD in ran.err, (made.folder / "b.md").exists()) == (0, False, False), ran


def test_a_lesson_that_a_merge_changed_and_one_side_had_removed_is_no_new_one(tmp_path: Path, learnloop: Run) -> None:
    """A person edits in the merge what one side alone still has, beside a lesson that was changed and removed."""
    base = {**BASE, "b.md": lesson("b", "r1"), "MEMORY.md": memory("", "ab")}
    ours: dict[str, str | None] = {"a.md": None, "b.md": lesson("b", "r1", "r2"), "MEMORY.md": memory("", "b")}
    theirs: dict[str, str | None] = {"b.md": None, "MEMORY.md": memory("", "a")}
    made = branches(tmp_path / "repo", Scenario("", base, ours, theirs, lambda r: True))
    git(made.root, "checkout", "-q", "ours")
    run(made.root, "merge", "--no-commit", "theirs")
    (made.folder / "a.md").write_text(lesson("a", "r1", why="Another reason."))
    git(made.root, "rm", "-q", "--cached", "mem/b.md")
    (made.folder / "b.md").unlink()
    (made.folder / "MEMORY.md").write_text(memory("", "a"))
    git(made.root, "add", "mem")
    git(made.root, "commit", "-q", "-m", "Join")
    for words in (("sync",), ("check",), ("sync", "--resolve")):
        ran = learnloop(*words, "--memory", str(made.folder), cwd=made.root)
        assert (ran.code, "git took" in ran.err + ran.out) == (0, False), ran


def test_a_name_that_is_no_utf_8_stops_no_command_after_a_merge(tmp_path: Path, learnloop: Run) -> None:
    name = os.fsdecode(b"caf\xe9")
    made = taken(tmp_path / "repo", new=name)
    for words in (("sync",), ("check",), ("sync", "--resolve"), ("check",)):
        ran = learnloop(*words, "--memory", str(made.folder), cwd=made.root)
        assert ran.code in (0, 1, 4), ran.err
    assert "run: r7" in (made.folder / "b.md").read_text()


def test_a_lesson_that_was_renamed_and_reworded_by_hand_may_be_called_the_same(tmp_path: Path, learnloop: Run) -> None:
    """git may be right: the way to say so is named, and once it is said nothing is parted."""
    made = taken(tmp_path / "repo", rule="Pin each image.")
    found = learnloop("check", "--memory", str(made.folder), cwd=made.root)
    assert "if they are the same, write renamed_from: b in its head" in found.out
    file = made.folder / "n.md"
    file.write_text(file.read_text().replace("---\n\n", "  renamed_from: b\n---\n\n"))
    assert learnloop("sync", "--memory", str(made.folder), cwd=made.root).code == 0
    assert "mistaken" not in learnloop("check", "--memory", str(made.folder), cwd=made.root).out
    assert (TOLD in resolved(made, learnloop).err, (made.folder / "b.md").exists()) == (False, False)
    assert "run: r7" in file.read_text()


def test_a_lesson_comes_back_under_the_name_of_its_file(tmp_path: Path, learnloop: Run) -> None:
    """The head may call it otherwise."""
    pinned = lesson("b", "r1", rule="Pin the image.").replace("name: b", "name: Pin the image")
    ours = {"b.md": pinned.replace("---\n\n", "  pinned: true\n---\n\n")}
    new = lesson("n", "r1", rule="Pull it first.")
    scenario = Scenario("", {"b.md": pinned}, {**ours}, {"b.md": None, "n.md": new}, lambda r: True)
    made = with_drivers(tmp_path / "repo", scenario, learnloop)
    assert not made.joined("merge").clean
    assert resolved(made, learnloop).code == 0
    assert ((made.folder / "b.md").read_text(), (made.folder / "n.md").read_text()) == (ours["b.md"], new)


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("how", [("merge",), ("merge", "--squash"), ("rebase",)], ids=lambda how: how[-1])
def test_a_new_lesson_that_git_takes_for_another_name_of_one_renamed_here_stays_another(
    tmp_path: Path, learnloop: Run, how: tuple[str, ...], *, driven: bool
) -> None:
    """git puts one text of both into both files: the two commits tell what each was."""
    base = {"b.md": lesson("b", "r1", rule="Pin the image."), "MEMORY.md": memory("", "b")}
    renamed = lesson("c", "r1", rule="Pin the image.", confirmed="r7")
    renamed = renamed.replace("---\n\n", "  renamed_from: b\n---\n\n")
    ours: dict[str, str | None] = {"b.md": None, "c.md": renamed, "MEMORY.md": memory("", "c")}
    new = lesson("n", "r1", rule="Pull it first.")
    theirs: dict[str, str | None] = {"b.md": None, "n.md": new, "MEMORY.md": memory("", "n")}
    scenario = Scenario("", base, ours, theirs, lambda r: True)
    root = tmp_path / "repo"
    made = with_drivers(root, scenario, learnloop) if driven else branches(root, scenario)
    git(made.root, "checkout", "-q", "theirs" if how == ("rebase",) else "ours")
    assert run(made.root, *how, "ours" if how == ("rebase",) else "theirs")[0] == 1
    ran = resolved(made, learnloop)
    assert (ran.code, "for two names of b: each is as its side had it" in ran.err) == (0, True), ran
    assert ((made.folder / "c.md").read_text(), (made.folder / "n.md").read_text()) == (renamed, new)
    assert ((made.folder / "b.md").exists(), unmerged(made)) == (False, [])
    document = (made.folder / "MEMORY.md").read_text()
    assert [document.count(f"({name}.md)") for name in "bcn"] == [0, 1, 1], document
    assert resolved(made, learnloop).code == 0
    assert ((made.folder / "c.md").read_text(), (made.folder / "n.md").read_text()) == (renamed, new)


def test_what_a_person_reworded_of_a_lesson_taken_for_another_stays(tmp_path: Path, learnloop: Run) -> None:
    """The older lesson is back, and the new one's words are for the person who changed them since to part."""
    base = {"b.md": lesson("b", "r1", rule="Pin the image."), "MEMORY.md": memory("", "b")}
    ours: dict[str, str | None] = {"b.md": lesson("b", "r1", rule="Pin the image.", why="The tag moved.")}
    theirs: dict[str, str | None] = {"b.md": None, "n.md": lesson("n", "r1", rule="Pull it first.")}
    made = branches(tmp_path / "repo", Scenario("", base, ours, theirs, lambda r: True))
    assert made.joined("merge").clean
    file = made.folder / "n.md"
    assert "The tag moved." in file.read_text()
    file.write_text(file.read_text().replace("moved", "moved twice"))
    git(made.root, "commit", "-q", "-a", "-m", "Reword")
    before = file.read_text()
    ran = resolved(made, learnloop)
    assert (ran.code, "what was changed in b.md, which is back, stands in this file too" in ran.err) == (1, True), ran
    assert (file.read_text(), "The tag moved." in (made.folder / "b.md").read_text()) == (before, True)


def test_two_lessons_of_one_name_stay_two_when_it_is_run_again(tmp_path: Path, learnloop: Run) -> None:
    """Somebody's lock kept the index as it was: theirs has its free name already."""
    sides: list[dict[str, str | None]] = [
        {"n.md": lesson("n", run, rule=rule)}
        for run, rule in (("r2", "Never commit on Fridays."), ("r3", "Pin the image."))
    ]
    made = branches(tmp_path / "repo", Scenario("", BASE, sides[0], sides[1], lambda r: True))
    made.joined("merge")
    lock = made.root / ".git" / "index.lock"
    lock.touch()
    assert resolved(made, learnloop).code == 4
    lock.unlink()
    assert (resolved(made, learnloop).code, unmerged(made)) == (0, [])
    assert git(made.root, "ls-files", "mem/n*.md").split() == ["mem/n-2.md", "mem/n.md"]
    assert sorted(path.name for path in made.folder.glob("n*.md")) == ["n-2.md", "n.md"]


def renamed_twice(root: Path, *, rules: tuple[str, str] = ("Do it.", "Do it."), driven: Run | None = None) -> Branches:
    """A lesson that ours calls c and theirs b; git writes markers of 8 characters into both files."""
    sides: list[dict[str, str | None]] = [
        {
            "a.md": None,
            f"{slug}.md": lesson(slug, "r1", run, rule=rule).replace("---\n\n", "  renamed_from: a\n---\n\n"),
            "MEMORY.md": memory("", slug),
        }
        for slug, run, rule in (("c", "r2", rules[0]), ("b", "r3", rules[1]))
    ]
    base = {"a.md": lesson("a", "r1"), "MEMORY.md": memory("", "a")}
    scenario = Scenario("", base, sides[0], sides[1], lambda r: True)
    made = with_drivers(root, scenario, driven) if driven else branches(root, scenario)
    assert not made.joined("merge").clean
    assert ("<<<<<<<< " in (made.folder / "b.md").read_text()) == (driven is None)
    return made


@pytest.mark.parametrize("committed", [False, True], ids=["open", "committed"])
def test_a_lesson_that_two_sides_renamed_is_kept_under_both_names(
    committed: bool, tmp_path: Path, learnloop: Run
) -> None:
    """docs/merges.md, rename/rename: git holds one text, markers and all, for both files, each in a stage alone."""
    made = renamed_twice(tmp_path / "repo")
    if committed:
        git(made.root, "commit", "-qam", "Merge, markers and all")
    found = learnloop("check", "--memory", str(made.folder), cwd=made.root).out
    assert (found.count("conflict-markers"), "yaml-syntax" in found) == (3, False)
    assert resolved(made, learnloop).code == 0
    for slug in "bc":
        text = (made.folder / f"{slug}.md").read_text()
        assert (f"name: {slug}\n" in text, [text.count(f"run: r{n}") for n in (1, 2, 3)]) == (True, [1, 1, 1])
        assert (made.folder / "MEMORY.md").read_text().count(f"({slug}.md)") == 1
    if not committed:
        git(made.root, "commit", "-q", "--no-edit")
    assert git(made.root, "status", "--porcelain") == ""
    assert learnloop("check", "--memory", str(made.folder), cwd=made.root).code == 0


def test_each_file_of_a_lesson_that_two_sides_renamed_says_its_own_name(tmp_path: Path, learnloop: Run) -> None:
    """The driver merges both into one text, which git puts in both files."""
    made = renamed_twice(tmp_path / "repo", driven=learnloop)
    assert resolved(made, learnloop).code == 0
    names = [(made.folder / f"{slug}.md").read_text().split("name: ")[1][0] for slug in "bc"]
    assert (names, git(made.root, "diff", "--name-only", "--diff-filter=U")) == (["b", "c"], "")


def test_what_two_sides_renamed_and_reworded_stays_unmerged(tmp_path: Path, learnloop: Run) -> None:
    """Each of its files is named, and git goes on saying that it is in conflict."""
    made = renamed_twice(tmp_path / "repo", rules=("Do this.", "Do that."))
    ran = resolved(made, learnloop)
    assert (ran.code, ran.err.count("settle what stands between the markers")) == (1, 2), ran
    assert git(made.root, "diff", "--name-only", "--diff-filter=U").split() == ["mem/b.md", "mem/c.md"]


def test_markers_of_any_length_that_a_squash_committed_are_rebuilt(tmp_path: Path, learnloop: Run) -> None:
    """git's attribute conflict-marker-size."""
    made = branches(tmp_path / "repo", BOTH_COUNT)
    git(made.root, "checkout", "-q", "ours")
    (made.root / ".git" / "info").mkdir(exist_ok=True)
    (made.root / ".git" / "info" / "attributes").write_text("* conflict-marker-size=12\n")
    run(made.root, "merge", "--squash", "theirs")
    git(made.root, "commit", "-qam", "Squash, markers and all")
    assert any("<" * 12 in path.read_text() for path in made.folder.glob("*.md"))
    ran = resolved(made, learnloop)
    assert ran.code == 0, ran.err
    assert BOTH_COUNT.holds(result(made, clean=True))


def test_markers_that_enclose_no_two_sides_are_named(tmp_path: Path, learnloop: Run) -> None:
    """What a person half took away is left to them, and never passed over in silence."""
    made = branches(tmp_path / "repo", BOTH_COUNT)
    (made.folder / "a.md").write_text((made.folder / "a.md").read_text() + "<<<<<<< HEAD\n")
    git(made.root, "commit", "-qam", "Half settled")
    ran = resolved(made, learnloop)
    assert (ran.code, "a.md" in ran.err) == (1, True), ran


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


def test_a_base_that_was_left_in_is_told_and_not_taken_for_settled(tmp_path: Path, learnloop: Run) -> None:
    """The style diff3 writes the old words between bars: who takes the other marks alone away has not settled it."""
    made = in_conflict(tmp_path / "repo")
    file = made.folder / "a.md"
    file.write_text(lesson("a", "r1", "r2") + "||||||| abc123\nold words\n")
    ran = resolved(made, learnloop)
    assert "mem/a.md: settled by hand" not in ran.err, ran
    file.write_text(lesson("a", "r1", "r2") + "||||||| abc123\nold words\n")
    git(made.root, "add", "-A")
    git(made.root, "commit", "-q", "-m", "Merged")
    ran = learnloop("check", "--memory", str(made.folder), cwd=made.root)
    assert (ran.code, "conflict-markers" in ran.out) == (1, True), ran
    assert "old words" not in learnloop("show", "a", "--memory", str(made.folder), cwd=made.root).out


def one_deleted(root: Path, gone: str) -> Branches:
    """A lesson that one branch deleted and the other reworded: git leaves the reworded file, and the conflict."""
    words: dict[str, str | None] = {"a.md": lesson("a", "r1", rule="Do it otherwise."), "MEMORY.md": memory("", "ab")}
    away: dict[str, str | None] = {"a.md": None, "MEMORY.md": memory("", "b")}
    base = {**BASE, "b.md": lesson("b", "r1"), "MEMORY.md": memory("", "ab")}
    sides = (away, words) if gone == "ours" else (words, away)
    return branches(root, Scenario("", base, *sides, lambda r: True))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("gone", ["ours", "theirs"])
def test_a_file_that_a_person_settled_by_deleting_it_stays_away(
    gone: str, way: str, tmp_path: Path, learnloop: Run
) -> None:
    """docs/merges.md: git left the file in the work tree, so that it is gone is theirs, as words of theirs would be."""
    made = one_deleted(tmp_path / "repo", gone)
    assert not made.joined(way).clean
    file = made.folder / "a.md"
    assert "Do it otherwise." in file.read_text()
    file.unlink()
    ran = resolved(made, learnloop)
    assert (file.exists(), unmerged(made)) == (False, ["mem/a.md"]), ran
    assert (ran.code, "mem/a.md: settled by hand, kept as it stands: git add it" in ran.err) == (1, True), ran
    git(made.root, "add", "mem/a.md")
    assert resolved(made, learnloop).code == 0
    assert not file.exists()
    assert "(a.md)" not in (made.folder / "MEMORY.md").read_text()
    assert unmerged(made) == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("gone", ["ours", "theirs"])
def test_a_file_that_one_side_deleted_and_nobody_touched_is_kept(
    gone: str, way: str, tmp_path: Path, learnloop: Run
) -> None:
    """docs/merges.md: the changed file stays."""
    made = one_deleted(tmp_path / "repo", gone)
    assert not made.joined(way).clean
    resolved(made, learnloop)
    assert ("Do it otherwise." in (made.folder / "a.md").read_text(), unmerged(made)) == (True, [])


def test_a_name_that_git_itself_left_without_a_file_is_no_person_s(tmp_path: Path, learnloop: Run) -> None:
    """Both sides renamed a lesson: the old name stands in git's index with its base alone."""
    made = renamed_twice(tmp_path / "repo")
    assert "mem/a.md" in unmerged(made)
    ran = resolved(made, learnloop)
    assert (ran.code, ran.err.count("settled by hand"), unmerged(made)) == (0, 0, [])


def test_a_side_that_both_reworded_and_a_person_deleted_stays_away(tmp_path: Path, learnloop: Run) -> None:
    """git left markers in it; who deletes it has settled that."""
    made = in_conflict(tmp_path / "repo")
    (made.folder / "a.md").unlink()
    ran = resolved(made, learnloop)
    assert ("mem/a.md: settled by hand" in ran.err, (made.folder / "a.md").exists()) == (True, False), ran
    assert "mem/a.md" in unmerged(made)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_what_a_driver_left_in_conflict_is_nobody_s_settlement(
    scenario: Scenario, tmp_path: Path, learnloop: Run
) -> None:
    """docs/merges.md: our drivers write other words than git would, which are no person's."""
    begun = with_drivers(tmp_path / "repo", scenario, learnloop)
    for way in WAYS:
        made = begun.copied(tmp_path / way)
        made.joined(way)
        for _ in range(2):
            assert "by hand" not in resolved(made, learnloop).err, way


BEGUN = "begun by hand, kept as it stands: settle the rest, then git add it; git checkout --merge mem/"


def replaced(text: str, words: str) -> str:
    """The text with its first conflict settled to these words."""
    return re.sub(r"<<<<<<<.*?>>>>>>>[^\n]*\n", words, text, count=1, flags=re.DOTALL)


@pytest.mark.parametrize("words", ["MY WORDS\n>>>>>>> f\n", "<<<<<<< f\nMY WORDS\n", "MY WORDS\n||||||| b\n"])
@pytest.mark.parametrize("name", ["a.md", "MEMORY.md", "memory.json"])
def test_a_settlement_that_still_has_a_marker_is_kept(name: str, words: str, tmp_path: Path, learnloop: Run) -> None:
    """docs/merges.md: one line too many is no reason to throw a person's work away."""
    made = in_conflict(tmp_path / "repo")
    file = made.folder / name
    text = replaced(file.read_text(), words)
    file.write_text(text)
    ran = resolved(made, learnloop)
    assert (ran.code, file.read_text(), unmerged(made)) == (1, text, [f"mem/{name}"]), ran
    assert f"mem/{name}: {BEGUN}{name} brings the conflict back" in ran.err
    git(made.root, "checkout", "--merge", f"mem/{name}")
    assert resolved(made, learnloop).code == 0


@pytest.fixture
def two_conflicts(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Branches:
    """A lesson whose rule and whose reason both sides reworded, in two places; a copy of what is made once."""
    return _two_conflicts(tmp_path_factory.getbasetemp() / "two-conflicts").copied(tmp_path / "repo")


@cache
def _two_conflicts(root: Path) -> Branches:
    tail = "\n**Why:** {}\n\nlong\n\nenough\n\nto part them\n"
    words = ("Do it.", "was"), ("Do this.", "mine"), ("Do that.", "theirs")
    rows = [lesson("a", "r1", rule=rule) + tail.format(why) for rule, why in words]
    base, *sides = [{"a.md": row} for row in rows]
    return branches(root, Scenario("", {**BASE, **base}, dict(sides[0]), dict(sides[1]), lambda r: True))


@pytest.mark.parametrize("words", ["My own words.\n", "Do this.\n"], ids=["own", "ours"])
def test_one_of_two_conflicts_that_a_person_settled_stays_settled(
    words: str, two_conflicts: Branches, learnloop: Run
) -> None:
    """Their own words, or those of one side: the other's are gone, which no merge does."""
    made = two_conflicts
    assert not made.joined("merge").clean
    file = made.folder / "a.md"
    assert file.read_text().count("<<<<<<<") == 2
    text = replaced(file.read_text(), words)
    file.write_text(text)
    ran = resolved(made, learnloop)
    assert (file.read_text(), BEGUN in ran.err) == (text, True), ran


STYLES = ("merge", "diff3", "zdiff3")


@pytest.mark.parametrize("crlf", [False, True], ids=["lf", "crlf"])
@pytest.mark.parametrize("driven", [False, True], ids=["plain", "drivers"])
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("way", [*WAYS, "stash", "recursive", "checkout", "again"])
def test_an_untouched_conflict_is_rebuilt_however_git_wrote_it(
    way: str, style: str, driven: bool, crlf: bool, two_conflicts: Branches, learnloop: Run
) -> None:
    """docs/merges.md: nobody has begun to settle it, whatever the style, the labels and the line ends are."""
    made = two_conflicts
    if driven:
        (made.root / ".git" / "info").mkdir(exist_ok=True)
        (made.root / ".git" / "info" / "attributes").write_text("mem/*.md merge=learnloop-lesson\n")
        assert learnloop("git-config", "--enable", cwd=made.root).code == 0
    git(made.root, "config", "merge.conflictStyle", style)
    file = made.folder / "a.md"
    if way == "stash":
        text = git(made.root, "show", "theirs:mem/a.md") + "\n"
        git(made.root, "checkout", "-q", "main")
        file.write_text(text)
        git(made.root, "stash", "-q")
        git(made.root, "checkout", "-q", "ours")
        assert run(made.root, "stash", "pop")[0] == 1
    elif way == "recursive":
        git(made.root, "checkout", "-q", "ours")
        assert run(made.root, "merge", "-q", "-s", "recursive", "-X", "patience", "theirs")[0] == 1
    else:
        assert not made.joined(way if way in WAYS else "merge").clean
    if way == "checkout":
        git(made.root, "checkout", f"--conflict={style}", "mem/a.md")
    if way == "again":
        resolved(made, learnloop)
    if crlf:
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert "<<<<<<<" in file.read_text()
    ran = resolved(made, learnloop)
    assert ("by hand" in ran.err, "settle what stands between the markers" in ran.err) == (False, True), ran
    text = file.read_text()
    assert all(f"{mark * 7} {side}\n" in text for mark, side in (("<", "ours"), (">", "theirs"))), text


@pytest.mark.parametrize("drivers", [False, True])
@pytest.mark.parametrize(
    "how", [["cherry-pick", "-n"], ["merge", "--squash"], ["rebase"], ["merge"]], ids=lambda how: how[0]
)
def test_each_of_two_lessons_of_one_name_has_a_line_of_its_own_words(
    repo: Path, memory: Path, learnloop: Run, how: list[str], *, drivers: bool
) -> None:
    """The two lines of one name are no two wordings of one line."""
    if drivers:
        learnloop("git-config", "--enable", cwd=repo)
    git(repo, "checkout", "-q", "-b", "f")
    learnloop("note", "Ask the database owner before migrations.", "--name", "same", cwd=repo)
    git(repo, "checkout", "-q", "main")
    learnloop("note", "Never deploy on a Friday afternoon.", "--name", "same", cwd=repo)
    if how == ["rebase"]:
        git(repo, "checkout", "-q", "f")
    with pytest.raises(AssertionError, match="git "):
        git(repo, *how, "main" if how == ["rebase"] else "f")
    learnloop("sync", "--resolve", cwd=repo)
    document = (memory / "MEMORY.md").read_text()
    for name, words in (("same", "Never deploy on a Friday"), ("same-2", "Ask the database owner")):
        text = (memory / f"{name}.md").read_text()
        assert text.count(words) == 2, text
        assert f"]({name}.md) — {words}" in document, document
