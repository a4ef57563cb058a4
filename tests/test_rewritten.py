"""Rewritten histories: `log` and `undo` find a lesson by what changed in its file, not by commit ids or trailers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import CopyOf, Run, git
from tests.homes import DAY, Home, make_home

TEA, DESK, PLANT = "brew-tea-first", "keep-the-desk-clear", "water-the-plants"
Rewrite = Callable[[Home], None]


@pytest.fixture(params=["project", "skill"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def home(kind: str, copy_of: CopyOf, learnloop: Run, tmp_path: Path) -> Home:
    return on_a_branch(kind, copy_of, learnloop, tmp_path / "repo")


@pytest.fixture
def rewritten(kind: str, rewrite: Rewrite, copy_of: CopyOf, learnloop: Run) -> Home:
    """The same, its history rewritten."""

    def build(root: Path) -> Home:
        made = on_a_branch(kind, copy_of, learnloop, root)
        rewrite(made)
        return made

    return copy_of(f"{named(rewrite)} {kind}", build)


def on_a_branch(kind: str, copy_of: CopyOf, learnloop: Run, root: Path) -> Home:
    """Three lessons noted on a branch; then the second is confirmed."""
    return copy_of(f"branch {kind}", lambda empty: noted(kind, empty, learnloop), root)


def noted(kind: str, root: Path, learnloop: Run) -> Home:
    made = make_home(kind, root, learnloop)
    git(made.root, "tag", "start")
    git(made.root, "checkout", "-q", "-b", "feature")
    for rule in ("Brew tea first.", "Keep the desk clear.", "Water the plants."):
        made.note(rule)
    assert made.run("confirm", DESK, "--run", "r5").code == 0
    return made


def named(act: object) -> str:
    return str(getattr(act, "__name__", act))


def rebase_i(home: Home, edit: str) -> None:
    """An interactive rebase of the branch with a scripted list and each message left as it is."""
    env = {**os.environ, "GIT_SEQUENCE_EDITOR": f"sed -i -e '{edit}'", "GIT_EDITOR": "true"}
    subprocess.run(["git", "rebase", "-q", "-i", "start"], cwd=home.root, env=env, check=True, capture_output=True)


def filtered(home: Home, script: str) -> None:
    env = {**os.environ, "FILTER_BRANCH_SQUELCH_WARNING": "1"}
    args = ["git", "filter-branch", "-f", "--msg-filter", script, "start..feature"]
    subprocess.run(args, cwd=home.root, env=env, check=True, capture_output=True)


def amended(home: Home) -> None:
    git(home.root, "commit", "-q", "--amend", "-m", "A better message")


def amended_with_code(home: Home) -> None:
    (home.root / "app.py").write_text("x = 2\n")
    git(home.root, "commit", "-q", "-a", "--amend", "--no-edit")


def squash_merged(home: Home) -> None:
    git(home.root, "checkout", "-q", "main")
    git(home.root, "merge", "-q", "--squash", "feature")
    git(home.root, "commit", "-q", "--no-edit")


def squashed_under_the_last_message(home: Home) -> None:
    message = git(home.root, "log", "-1", "--format=%B")
    git(home.root, "reset", "-q", "--soft", "start")
    git(home.root, "commit", "-q", "-m", message)


def fixed_up(home: Home) -> None:
    """One commit with the first one's message and trailers."""
    rebase_i(home, "2,$s/^pick/fixup/")


def squashed_by_rebase(home: Home) -> None:
    """One commit with all messages, one below the other."""
    rebase_i(home, "2,$s/^pick/squash/")


def rebased(home: Home) -> None:
    git(home.root, "checkout", "-q", "main")
    (home.root / "app.py").write_text("x = 2\n")
    git(home.root, "commit", "-q", "-am", "Meanwhile")
    git(home.root, "rebase", "-q", "main", "feature")


def cherry_picked(home: Home) -> None:
    git(home.root, "checkout", "-q", "main")
    (home.root / "app.py").write_text("x = 2\n")
    git(home.root, "commit", "-q", "-am", "Meanwhile")
    git(home.root, "cherry-pick", "-x", "start..feature")


def stripped(home: Home) -> None:
    """Every message without its trailers."""
    filtered(home, "sed -e '/^Lesson:/d' -e '/^Learnloop-/d' -e '/^Run:/d'")


def signed_below(home: Home) -> None:
    """A paragraph below our trailers, so that they are none any more."""
    filtered(home, "cat && printf '\\nReviewed by Bo, who liked it.\\n'")


ONE = [amended, amended_with_code, rebased, cherry_picked, stripped, signed_below]
SQUASHED = [squash_merged, squashed_under_the_last_message, fixed_up, squashed_by_rebase]


def slugs_of(home: Home, slug: str) -> list[list[str]]:
    return [row["slugs"] for row in home.run("log", slug, "--json").json["commits"]]


@pytest.mark.parametrize("rewrite", [*ONE, *SQUASHED], ids=named)
def test_the_log_finds_each_lesson(rewritten: Home, rewrite: Rewrite) -> None:
    """Reliability 59."""
    counts = {slug: len(slugs_of(rewritten, slug)) for slug in (TEA, DESK, PLANT)}
    assert counts == ({TEA: 1, DESK: 1, PLANT: 1} if rewrite in SQUASHED else {TEA: 1, DESK: 2, PLANT: 1})
    assert all(slug in slugs for slug in counts for slugs in slugs_of(rewritten, slug))


@pytest.mark.parametrize("rewrite", ONE, ids=named)
def test_undo_takes_a_lesson_s_last_change_back(rewritten: Home) -> None:
    before = rewritten.bytes()
    assert rewritten.run("undo", DESK).code == 0
    assert "confirmed" not in rewritten.file(DESK).read_text()
    after = rewritten.bytes()
    changed = {path for path in before if before[path] != after.get(path)}
    assert rewritten.file(DESK).relative_to(rewritten.folder).as_posix() in changed
    assert not changed & {rewritten.file(slug).relative_to(rewritten.folder).as_posix() for slug in (TEA, PLANT)}
    assert git(rewritten.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("rewrite", ONE, ids=named)
def test_undo_twice_goes_one_change_further_back(rewritten: Home) -> None:
    assert [rewritten.run("undo", DESK).code for _ in range(2)] == [0, 0]
    assert [rewritten.file(slug).exists() for slug in (DESK, TEA, PLANT)] == [False, True, True]
    assert "keep-the-desk-clear" not in rewritten.text
    assert git(rewritten.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("slug", [TEA, DESK, PLANT])
@pytest.mark.parametrize("rewrite", SQUASHED, ids=named)
def test_undo_takes_one_lesson_out_of_a_squash(rewritten: Home, slug: str) -> None:
    others = {other: rewritten.file(other).read_bytes() for other in (TEA, DESK, PLANT) if other != slug}
    ran = rewritten.run("undo", slug, "--json")
    assert (ran.code, ran.json["slug"], rewritten.file(slug).exists()) == (0, slug, False)
    assert {other: rewritten.file(other).read_bytes() for other in others} == others
    assert (slug in rewritten.text, all(other in rewritten.text for other in others)) == (False, True)
    assert git(rewritten.root, "status", "--porcelain") == ""
    assert rewritten.run("check").code == 0


@pytest.mark.parametrize("rewrite", SQUASHED, ids=named)
def test_the_lessons_of_a_squash_are_taken_back_one_by_one(rewritten: Home) -> None:
    for slug in (DESK, TEA, PLANT):
        assert rewritten.run("undo", slug).code == 0
    assert not any(rewritten.file(slug).exists() for slug in (TEA, DESK, PLANT))
    assert rewritten.run("undo", DESK, "--json").json["error"]["code"] == "nothing-to-undo"


@pytest.mark.parametrize("rewrite", [*ONE, *SQUASHED], ids=named)
def test_a_history_rewritten_after_an_undo_goes_on_further_back(home: Home, rewrite: Rewrite) -> None:
    """The commit that the undo named is gone; what the files say is not."""
    assert home.run("pin", DESK).code == 0
    assert home.run("undo", DESK).code == 0
    if rewrite in SQUASHED:
        rewrite(home)
        assert home.run("undo", DESK).code == 0
        assert not home.file(DESK).exists()
    else:
        rewrite(home)
        assert home.run("undo", DESK).code == 0
        told = home.run("log", "--limit", "1", "--json").json["commits"][0]
        assert told["slugs"] == [DESK]
        assert home.file(DESK).exists()


def test_undo_says_which_commit_it_took_back(home: Home) -> None:
    amended(home)
    commit = git(home.root, "rev-parse", "--short=10", "HEAD")
    assert f"took back {commit} A better message" in home.run("undo", DESK).out


def test_undo_without_a_name_leaves_what_was_squashed_into_the_last_command(home: Home) -> None:
    """The trailers are of the confirmation: the others were other commands. Here no reflog tells of the squash."""
    squashed_under_the_last_message(home)
    git(home.root, "reflog", "expire", "--expire=now", "--all")
    assert home.run("undo").code == 0
    assert (home.file(DESK).exists(), home.file(TEA).exists(), home.file(PLANT).exists()) == (False, True, True)


@pytest.mark.parametrize("rewrite", ["squash", "amend"])
def test_undo_without_a_name_stops_at_a_commit_that_was_rewritten_with_its_trailers(home: Home, rewrite: str) -> None:
    """docs/commands.md: what stands in it besides is the person's, or another command's."""
    if rewrite == "squash":
        squashed_under_the_last_message(home)
    else:
        assert home.run("confirm", DESK, "--run", "r7").code == 0
        home.file(DESK).write_text(f"{home.file(DESK).read_text()}\nMy own words.\n")
        git(home.root, "commit", "-q", "-a", "--amend", "--no-edit")
    before, commit = home.bytes(), git(home.root, "rev-parse", "--short=10", "HEAD")
    ran = home.run("undo")
    assert (ran.code, f"learnloop undo {commit}" in ran.err, home.bytes()) == (4, True, before), ran.err
    assert home.run("undo", commit).code == 0


def test_undo_without_a_name_goes_on_after_a_rebase(home: Home) -> None:
    """The commit is another, and changes the same."""
    git(home.root, "checkout", "-q", "-b", "side")
    home.note("Warm the cup.", "r9")
    git(home.root, "checkout", "-q", "-")
    git(home.root, "commit", "-q", "--allow-empty", "-m", "Go on")
    git(home.root, "checkout", "-q", "side")
    made = git(home.root, "rev-parse", "HEAD")
    git(home.root, "rebase", "-q", "-")
    assert git(home.root, "rev-parse", "HEAD") != made
    assert home.run("undo").code == 0
    assert not home.file("warm-the-cup").exists()


def test_a_squash_is_taken_back_whole_by_its_commit(home: Home) -> None:
    squash_merged(home)
    assert home.run("undo", git(home.root, "rev-parse", "HEAD")).code == 0
    assert not any(home.file(slug).exists() for slug in (TEA, DESK, PLANT))


def test_a_renamed_lesson_without_trailers_gets_its_old_name_back(home: Home) -> None:
    assert home.run("rename", DESK, "clear-desk").code == 0
    amended(home)
    assert home.run("undo", "clear-desk").code == 0
    assert (home.file(DESK).exists(), home.file("clear-desk").exists()) == (True, False)


def test_a_codified_rule_goes_back_without_trailers(home: Home) -> None:
    (home.root / "CLAUDE.md").write_text("# House\n\nRules.\n")
    home.commit_all()
    assert home.run("codify", DESK, "--into", str(home.root / "CLAUDE.md")).code == 0
    amended(home)
    assert home.run("undo", DESK).code == 0
    assert (home.root / "CLAUDE.md").read_text() == "# House\n\nRules.\n"


# --- the log follows ------------------------------------------------------------------------------------------------


def test_the_log_follows_a_rename(home: Home) -> None:
    assert home.run("rename", DESK, "clear-desk").code == 0
    assert home.run("pin", "clear-desk").code == 0
    assert home.run("rename", "clear-desk", "tidy-desk").code == 0
    changes = [row["change"] for row in home.run("log", "tidy-desk", "--json").json["commits"]]
    assert changes == ["rename", "pin", "rename", "confirm", "note"]


def test_the_log_follows_a_rename_by_hand(home: Home) -> None:
    git(home.root, "mv", str(home.file(DESK)), str(home.file("clear-desk")))
    home.commit_all("Renamed by hand")
    home.sync()
    rows = home.run("log", "clear-desk", "--json").json["commits"]
    assert [row["change"] for row in rows][-3:] == ["edit", "confirm", "note"]


def test_the_log_of_a_renamed_lesson_keeps_to_its_limit(home: Home) -> None:
    assert home.run("rename", DESK, "clear-desk").code == 0
    assert len(home.run("log", "clear-desk", "--limit", "2", "--json").json["commits"]) == 2


def test_the_log_follows_a_removed_and_restored_lesson(home: Home) -> None:
    home.file(DESK).unlink()
    home.sync()
    assert home.run("restore", DESK).code == 0
    changes = [row["change"] for row in home.run("log", DESK, "--json").json["commits"]]
    assert changes == ["restore", "absorb", "confirm", "note"]


def test_a_merge_of_lessons_stands_in_the_log_of_both(home: Home) -> None:
    home.note("Brew tea first.", "r2")
    assert home.run("merge", TEA, DESK).code == 0
    assert [home.run("log", slug, "--json").json["commits"][0]["change"] for slug in (TEA, DESK)] == ["merge", "merge"]


# --- revisions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", ["HEAD", "@", "feature", "done", "main@{0}"])
def test_undo_understands_a_revision(home: Home, revision: str) -> None:
    git(home.root, "branch", "-q", "-f", "main")
    git(home.root, "tag", "-a", "-m", "Done", "done")
    assert home.run("undo", revision).code == 0
    assert "confirmed" not in home.file(DESK).read_text()


def test_undo_understands_a_commit_before_head(home: Home) -> None:
    assert home.run("undo", "HEAD~1").code == 0
    assert (home.file(PLANT).exists(), "confirmed" in home.file(DESK).read_text()) == (False, True)


def test_a_lesson_s_name_wins_over_a_revision_of_the_same_name(home: Home) -> None:
    git(home.root, "tag", TEA)
    git(home.root, "tag", "keep")
    assert home.run("undo", TEA).code == 0
    assert (home.file(TEA).exists(), "confirmed" in home.file(DESK).read_text()) == (False, True)
    assert home.run("undo", "keep").code == 0
    assert "confirmed" not in home.file(DESK).read_text()


def test_a_lesson_named_like_a_commit_wins(home: Home) -> None:
    name = git(home.root, "rev-parse", "start")[:8]
    home.note("Mind the gap.", "r1", "--name", name)
    assert home.run("undo", name).code == 0
    assert not home.file(name).exists()


def test_a_commit_that_is_not_of_this_memory_is_told(home: Home) -> None:
    (home.root / "app.py").write_text("x = 2\n")
    git(home.root, "commit", "-q", "-am", "Code")
    ran = home.run("undo", "HEAD", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (4, "nothing-to-undo")


def test_nonsense_is_still_no_lesson(home: Home) -> None:
    assert [home.run("undo", what).code for what in ("HEAD~99", "no..thing", "@{upstream}", ":/Start~")] == [2] * 4


def test_a_lesson_is_found_behind_many_commits(home: Home) -> None:
    """The walk is not cut short at a few hundred commits."""
    path = home.file(PLANT).relative_to(home.root).as_posix()
    text = home.file(PLANT).read_text()
    tip = git(home.root, "rev-parse", "HEAD")
    stream = "".join(
        f"commit refs/heads/feature\nmark :{n}\ncommitter Bo <bo@b.invalid> {1800000000 + n} +0000\ndata 2\nn\n"
        f"from {tip if n == 1 else f':{n - 1}'}\nM 100644 inline {path}\ndata <<END\n{text}Line {n}.\nEND\n\n"
        for n in range(1, 301)
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=home.root, input=stream.encode(), check=True)
    git(home.root, "reset", "-q", "--hard")
    assert home.run("undo", DESK, "--today", DAY).code == 0
    assert "confirmed" not in home.file(DESK).read_text()
