"""`why`: where each sighting, confirmation and dispute of a lesson comes from (design §6, §12)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from learnloop_md import chronicle
from tests.conftest import CopyOf, Run, git
from tests.homes import Home, make_home

SLUG = "read-the-failing-log-first"
RULE = "Read the failing log first."


@pytest.fixture(params=["project", "skill"])
def home(request: pytest.FixtureRequest, tmp_path: Path, copy_of: CopyOf, learnloop: Run) -> Home:
    """A memory of either kind with a lesson that was noted with evidence."""

    def build(root: Path) -> Home:
        made = make_home(request.param, root, learnloop)
        made.note(RULE, "r1", "--why", "A guess cost a day.", "--evidence", "review of PR 41")
        return made

    return copy_of(f"asked why {request.param}", build, tmp_path / "repo")


def head(home: Home) -> str:
    return git(home.root, "rev-parse", "HEAD")


def told(home: Home, name: str = SLUG) -> Any:
    done = home.run("why", name, "--json")
    assert done.code == 0, done.out
    return done.json


def by_hand(home: Home, old: str, new: str, slug: str = SLUG) -> str:
    home.edit(home.file(slug), old, new)
    git(home.root, "commit", "-q", "-am", "By hand")
    return head(home)


def test_it_answers_with_the_keys_of_the_contract(home: Home) -> None:
    """Design §12."""
    data = told(home)
    assert {"commits", "seen", "confirmed", "disputed"} <= data.keys()
    assert {"commit", "change", "slugs", "date", "author", "subject"} <= data["commits"][0].keys()
    assert (data["slug"], data["state"], data["confirmed"], data["disputed"]) == (SLUG, "candidate", [], [])


def test_a_sighting_has_day_run_author_commit_line_and_evidence(home: Home) -> None:
    (event,) = told(home)["seen"]
    path = home.file(SLUG).relative_to(home.root).as_posix()
    line = home.file(SLUG).read_text().split("\n")[event.pop("line") - 1]
    assert line.strip() == "- on: 2026-06-01"
    assert event.pop("date")
    assert event == {
        "on": "2026-06-01",
        "run": "r1",
        "evidence": "review of PR 41",
        "commit": head(home),
        "author": "Ada Test",
        "path": path,
        "removed_in": "",
    }


def test_each_event_has_the_commit_that_brought_it(home: Home) -> None:
    commits = [head(home)]
    for word in ("confirm", "dispute"):
        assert home.run(word, SLUG, "--run", word).code == 0
        commits.append(head(home))
    data = told(home)
    found = [data[field][0]["commit"] for field in ("seen", "confirmed", "disputed")]
    assert found == commits
    lines = home.file(SLUG).read_text().split("\n")
    assert [lines[data[f][0]["line"]].strip() for f in ("confirmed", "disputed")] == ["run: confirm", "run: dispute"]


def test_a_sighting_that_is_sorted_in_front_keeps_its_commit(home: Home) -> None:
    """git blame would take the equal line `- on: DAY` for the older one."""
    first = head(home)
    home.note(RULE, "a0")
    assert {row["run"]: row["commit"] == first for row in told(home)["seen"]} == {"a0": False, "r1": True}


def test_squashed_amended_and_hand_made_commits_tell_as_much(home: Home) -> None:
    """Design §6."""
    home.note(RULE, "r2")
    git(home.root, "reset", "-q", "--soft", "HEAD~3")
    git(home.root, "commit", "-q", "-m", "All at once")
    squash = head(home)
    by = by_hand(home, "  seen:\n", "  confirmed:\n    - on: 2026-06-02\n      run: r3\n  seen:\n")
    data = told(home)
    assert [row["commit"] for row in data["seen"]] == [squash, squash]
    assert (data["confirmed"][0]["commit"], data["commits"][0]["change"]) == (by, "confirm")


def test_what_is_not_committed_has_no_commit(home: Home) -> None:
    home.edit(home.file(SLUG), "  seen:\n", "  confirmed:\n    - on: 2026-06-02\n      run: r3\n  seen:\n")
    (event,) = told(home)["confirmed"]
    assert (event["commit"], event["author"], event["line"] > 0) == ("", "", True)
    assert "not committed yet" in home.run("why", SLUG).out


def test_an_event_that_was_taken_out_is_told_with_the_commit_that_did(home: Home) -> None:
    brought = head(home)
    home.note("Stage files by name.", "r1")
    home.edit(home.file(SLUG), "    - on: 2026-06-01\n      run: r1\n      evidence: review of PR 41\n", "")
    home.edit(home.file(SLUG), "  seen:\n", "")
    git(home.root, "commit", "-q", "-am", "Take it back")
    (event,) = told(home)["seen"]
    assert (event["commit"], event["line"], event["removed_in"]) == (brought, 0, head(home))
    assert f"taken out in {head(home)[:10]}" in home.run("why", SLUG).out


# --- archived, renamed, removed ---------------------------------------------------------------------------------------


def test_an_archived_lesson_tells_its_note(home: Home) -> None:
    assert home.run("archive", SLUG, "--note", "too narrow").code == 0
    data = told(home)
    assert (data["state"], data["commits"][0]["change"], data["commits"][0]["why"]) == (
        "archived",
        "archive",
        "too narrow",
    )


@pytest.mark.parametrize("name", ["log-first", SLUG, "read-the"])
def test_a_renamed_lesson_is_found_by_either_name(home: Home, name: str) -> None:
    brought = head(home)
    assert home.run("rename", SLUG, "log-first").code == 0
    data = told(home, name)
    assert (data["slug"], data["seen"][0]["commit"]) == ("log-first", brought)
    assert [row["change"] for row in data["commits"]] == ["rename", "note"]


def test_a_rename_by_hand_that_git_does_not_find_is_told_by_the_head(home: Home) -> None:
    text = home.file(SLUG).read_text()
    home.file(SLUG).unlink()
    tail = "Whatever it says now.\n" * 30
    new = text.replace("  type: feedback", f"  type: feedback\n  renamed_from: {SLUG}").replace(RULE, tail)
    home.file("other").write_text(new)
    brought = head(home)
    home.commit_all()
    data = told(home, "other")
    assert data["seen"][0]["commit"] == brought


def test_a_name_that_is_used_again_is_another_lesson(home: Home) -> None:
    first = head(home)
    assert home.run("rename", SLUG, "log-first").code == 0
    home.note("Count rows.", "r9", "--name", SLUG, "--new")
    assert [row["run"] for row in told(home)["seen"]] == ["r9"]
    assert [row["commit"] for row in told(home, "log-first")["seen"]] == [first]


@pytest.mark.parametrize("commit", [True, False])
def test_a_removed_lesson_is_told(home: Home, commit: bool) -> None:
    brought = head(home)
    home.file(SLUG).unlink()
    if commit:
        home.commit_all("Remove")
    data = told(home, "read-the")
    assert (data["state"], data["seen"][0]["commit"]) == ("removed", brought)
    assert data["seen"][0]["line"] > 0, "its line in the last version"


def test_a_quarantined_lesson_tells_its_past(home: Home) -> None:
    home.file(SLUG).write_text("---\nname: never closed\n")
    data = told(home)
    assert (data["state"], len(data["seen"])) == ("quarantined", 1)


def test_the_words_of_a_quarantined_lesson_are_not_told(home: Home) -> None:
    """Design §10: an agent may be reading."""
    home.edit(home.file(SLUG), "review of PR 41", "review of PR 41 and\u202e more")
    git(home.root, "commit", "-qam", "By hand")
    done = home.run("why", SLUG)
    assert (done.code, "its words are not shown" in done.out, "PR 41" in done.out) == (0, True, False)
    assert {row["evidence"] for row in told(home)["seen"]} == {""}


def test_nothing_of_a_version_with_a_secret_is_shown(home: Home) -> None:
    """R004-20: the value is never printed."""
    token = "".join(("gh", "p_", "A1b2C3d4E5f6", "G7h8I9j0K1l2", "M3n4O5p6Q7r8"))
    by_hand(home, "review of PR 41", f"with {token}")
    home.file(SLUG).unlink()
    done = home.run("why", SLUG)
    assert (done.code, token in done.out, "history" in done.out) == (0, False, True)
    assert token not in home.run("why", SLUG, "--json").out


def test_an_unknown_name_is_told_in_one_line(home: Home) -> None:
    done = home.run("why", "read-teh-failing-log-first")
    assert (done.code, done.err) == (
        2,
        f"learnloop: there is no lesson 'read-teh-failing-log-first' — did you mean {SLUG}?\n",
    )


def test_a_beginning_of_two_names_is_told(home: Home) -> None:
    home.note("Read the plan.", "r1")
    done = home.run("why", "read-the")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "may be read-the-failing-log-first, read-the-plan" in done.err


# --- branches, clones, no git -----------------------------------------------------------------------------------------


def test_an_event_of_a_merged_branch_has_the_branchs_commit(home: Home) -> None:
    git(home.root, "checkout", "-q", "-b", "side")
    home.note(RULE, "r2")
    side = git(home.root, "rev-parse", "HEAD~1")  # the sighting; then it graduated
    git(home.root, "checkout", "-q", "main")
    (home.root / "app.py").write_text("x = 2\n")
    git(home.root, "commit", "-q", "-am", "Other work")
    git(home.root, "merge", "-q", "--no-edit", "side")
    data = told(home)
    assert [row["commit"] for row in data["seen"] if row["run"] == "r2"] == [side]
    assert head(home) not in [row["commit"] for row in data["commits"]]


def test_a_lesson_of_a_branch_that_was_renamed_later_keeps_its_beginning(home: Home) -> None:
    git(home.root, "checkout", "-q", "-b", "side")
    home.note("Stage files by name.", "r1")
    brought = head(home)
    git(home.root, "checkout", "-q", "main")
    git(home.root, "merge", "-q", "--no-ff", "--no-edit", "side")
    assert home.run("rename", "stage-files-by-name", "stage").code == 0
    assert [row["commit"] for row in told(home, "stage")["seen"]] == [brought]


def test_a_shallow_clone_says_that_its_past_is_cut(home: Home, tmp_path: Path, learnloop: Run) -> None:
    home.note(RULE, "r2")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{home.root}", "clone")
    folder = tmp_path / "clone" / home.folder.relative_to(home.root)
    done = learnloop("why", SLUG, "--memory", str(folder), cwd=tmp_path / "clone")
    assert (done.code, "shallow" in done.err, "run r2" in done.out) == (0, True, True)


def test_without_git_the_events_are_told_alone(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("project", tmp_path / "plain", learnloop, with_git=False)
    home.note(RULE, "r1")
    done = home.run("why", SLUG)
    assert (done.code, "no git here" in done.err, "run r1" in done.out) == (0, True, True)


def test_a_lesson_cannot_steer_the_terminal(home: Home) -> None:
    by_hand(home, "review of PR 41", '"\\e[31mred\\e[0m"')
    out = home.run("why", SLUG).out
    assert ("\x1b" in out, "\\x1b[31mred" in out) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "---\nseen:\n- on: 2026-06-01\n  run: a\n- on: 2026-06-02\n  run: b\nname: x\n---\n\nR.\n",
        "---\nmetadata:\n  seen:\n    # first\n    - on: 2026-06-01\n      run: a\n\n    - run: b\n"
        "      on: 2026-06-02\n  x:\n    - on: 1\n---\n\nR.\n",
    ],
)
def test_the_line_of_an_event_is_found_in_any_style(text: str) -> None:
    lines = text.split("\n")
    found = {event.run: lines[at - 1].strip()[:1] for event, at in chronicle.event_lines(text, "seen").items()}
    assert found == {"a": "-", "b": "-"}
    assert len(set(chronicle.event_lines(text, "seen").values())) == 2


def test_the_line_of_events_in_one_line_is_that_of_their_key() -> None:
    text = "---\nmetadata:\n  type: user\n  seen: [{on: 2026-06-01, run: a}]\n---\n\nR.\n"
    assert list(chronicle.event_lines(text, "seen").values()) == [4]
