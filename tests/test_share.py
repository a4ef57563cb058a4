"""Sharing lessons of a private memory with a team: scrubbed, on a branch; in doubt nothing leaves (design §10)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import scrub
from learnloop_md.scrub import Known
from tests.conftest import CopyOf, Failing, Run, git
from tests.homes import DAY, Home, fresh_copy, make_home, new_repository
from tests.reading import every_byte, subjects

KEY = "".join(("ghp_", "Zk3vQ9xT7mL2pR8wY5nB4cD6fG1hJ0aSqW2e"))
ADA = Known(("Ada Lovelace", "adal", "Bo Lind"), ("brightbox",), ("/home/adal",), ("Initech",))


@pytest.fixture
def mine(tmp_path: Path, copy_of: CopyOf, learnloop: Run) -> Home:
    """A private memory: a skill's, in a repository of a person."""
    home = fresh_copy("skill", tmp_path / "mine", copy_of, learnloop)
    git(home.root, "config", "user.name", "Ada Lovelace")
    return home


@pytest.fixture
def team(tmp_path: Path, copy_of: CopyOf, learnloop: Run) -> Home:
    return fresh_copy("project", tmp_path / "team", copy_of, learnloop)


def _share(mine: Home, team: Home, *words: str) -> Any:
    return mine.run("share", *words, "--to", str(team.folder), "--json")


def _on(team: Home, branch: str, path: str) -> str:
    return git(team.root, "show", f"{branch}:.claude/memory/{path}")


def test_each_lesson_is_a_commit_on_a_branch_and_nothing_else_moves(mine: Home, team: Home) -> None:
    mine.note("Stage files by name.", "r1", "--why", "Sweeping in took unrelated work.", "--tag", "git")
    mine.note("Quote paths in scripts.", "r1", "--context", "shell scripts")
    before = every_byte(mine.folder), every_byte(team.folder), git(team.root, "rev-parse", "HEAD")
    done = _share(mine, team, "stage", "quote")
    assert done.code == 0, done.out
    assert (every_byte(mine.folder), every_byte(team.folder), git(team.root, "rev-parse", "HEAD")) == before
    assert git(team.root, "status", "--porcelain") == ""
    branch = done.json["branch"]
    assert branch == f"learnloop/share-{DAY}-stage-files-by-name"
    assert subjects(team.root, f"main..{branch}") == [
        "learnloop: share quote-paths-in-scripts", "learnloop: share stage-files-by-name"
    ]  # fmt: skip
    assert done.json["commits"] == git(team.root, "rev-list", "--reverse", f"main..{branch}").split("\n")
    text = _on(team, branch, "stage-files-by-name.md")
    assert "**Why:** Sweeping in took unrelated work." in text
    assert "    - git\n" in text
    assert "(stage-files-by-name.md)" in _on(team, branch, "MEMORY.md")


def test_the_branch_merges_and_the_lessons_are_candidates_there(mine: Home, team: Home) -> None:
    """A lesson is proven anew in the team: many sightings of one person are one."""
    for run in ("r1", "r2", "r3"):
        mine.note("Stage files by name.", run)
    branch = _share(mine, team, "stage").json["branch"]
    git(team.root, "merge", "-q", branch)
    assert team.run("sync").code == 0
    assert team.run("check").code == 0
    assert team.run("status", "--json").json["lessons"] == {"candidate": 1, "current": 0, "archived": 0}
    assert _share(mine, team, "stage", "--branch", "again").json["action"] == "unchanged"


def test_what_the_team_knows_is_one_more_sighting(mine: Home, team: Home) -> None:
    team.note("Stage files by name.", "t1", "--why", "Theirs.")
    mine.note("stage files by name", "r1", "--why", "Mine.")
    done = _share(mine, team, "stage")
    assert done.json["shared"] == [
        {"from": "stage-files-by-name", "slug": "stage-files-by-name", "action": "graduated"}
    ]
    assert "Theirs." in _on(team, done.json["branch"], "stage-files-by-name.md")


def test_nothing_of_the_person_goes_along(mine: Home, team: Home) -> None:
    """Names, addresses, home folders, sessions, evidence, runs: neither in files nor in messages."""
    home = str(Path.home())
    mine.note(
        "Ask Ada Lovelace before renaming.", "f00dcafe", "--evidence", "mail of Ada, PR 7", "--how",
        f"Look into {home}/notes/names.md and /Users/ada.l/notes, or write to ada@example.org.",
        "--context", "when Ada is away",
    )  # fmt: skip
    done = _share(mine, team, "ask")
    assert done.code == 0, done.out
    branch = done.json["branch"]
    told = git(team.root, "log", "--format=%B", "-p", f"main..{branch}")
    for private in ("Ada", "Lovelace", "ada-lovelace", "ada.l", home, "/Users", "example.org", "f00dcafe", "PR 7"):
        assert private not in told, private
    assert "Ask somebody before renaming." in told
    assert "Look into ~/notes/names.md and ~/notes, or write to an address." in told
    assert "ada" not in branch


def test_a_word_can_be_hidden_and_so_is_everybody_who_committed(mine: Home, team: Home) -> None:
    git(mine.root, "-c", "user.name=Bo Lindqvist", "commit", "-q", "--allow-empty", "-m", "Theirs")
    mine.note("Ask Bo Lindqvist for the Initech key names.", "r1")
    done = _share(mine, team, "ask", "--hide", "initech")
    assert "Ask somebody for the somebody key names." in git(team.root, "log", "-p", done.json["branch"], "-1")
    assert "bo-lind" not in done.json["branch"] + done.json["slug"]


@pytest.mark.parametrize(
    "words",
    [
        "Call Dr. Who before a release.", "Ask @octo before a release.", "The build host is 10.2.3.4.",
        "Deploy from build7.corp every week.", "Read home/bo/notes first.", "Call +49 170 1234567 at night.",
        "Read ~bo/notes first.", "Mind the ada-lovelace branch.", "Mind AdaLovelace in the tests.",
        "Write to ada (at) example.org.",
    ],
)  # fmt: skip
def test_what_may_be_private_is_refused_and_nothing_is_shared(mine: Home, team: Home, words: str) -> None:
    """Fail closed: one lesson in doubt, and none leaves; the answer does not repeat what it found."""
    mine.note("Stage files by name.", "r1")
    mine.note(words, "r1", "--name", "doubtful")
    before = every_byte(team.root)
    done = _share(mine, team, "stage", "doubtful")
    assert (done.code, done.json["error"]["code"]) == (3, "private")
    assert "doubtful holds " in done.json["error"]["message"]
    assert every_byte(team.root) == before


def test_what_everybody_is_called_is_no_name_and_what_is_rewritten_is_shown(
    mine: Home, team: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/import.md: a home folder in a container has the name of an ordinary word."""
    (tmp_path / "node").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "node"))
    mine.note("Use node 20 and never node 18.", "r1")
    mine.note("Ask Ada about quotas.", "r1")
    done = _share(mine, team, "use-node", "ask-ada")
    assert "Use node 20 and never node 18." in _on(team, done.json["branch"], "use-node-20-and-never-node-18.md")
    assert done.json["rewritten"] == ["Ask somebody about quotas."]


def test_a_secret_never_leaves(mine: Home, team: Home) -> None:
    """R004-20: also one that got into the file behind our back; the lesson is quarantined."""
    mine.note("Stage files by name.", "r1")
    file = mine.file("stage-files-by-name")
    file.write_text(file.read_text().replace("\nStage files", f"\nUse {KEY}. Stage files"))
    done = _share(mine, team, "stage-files-by-name")
    assert (done.code, done.json["error"]["code"]) == (4, "quarantined")
    assert KEY not in done.out
    assert git(team.root, "branch", "--list", "learnloop/*") == ""


@pytest.mark.parametrize(
    ("prepare", "code"),
    [(("--type", "user"), "private"), ((), "archived")],
)
def test_what_is_private_by_type_or_out_of_force_stays(
    mine: Home, team: Home, prepare: tuple[str, ...], code: str
) -> None:
    mine.note("Stage files by name.", "r1", *prepare)
    if code == "archived":
        assert mine.run("forget", "stage").code == 0
    assert _share(mine, team, "stage").json["error"]["code"] == code


def test_a_name_that_is_taken_there_is_no_obstacle(mine: Home, team: Home) -> None:
    team.note("Name a release after its day.", "t1", "--name", "names")
    mine.note("Quote paths in scripts.", "r1", "--name", "names")
    done = _share(mine, team, "names")
    assert done.json["slug"] == "quote-paths-in-scripts"


def test_a_dry_run_shows_what_would_leave(mine: Home, team: Home) -> None:
    mine.note("Ask Ada Lovelace before renaming.", "r1")
    before = every_byte(team.root)
    done = _share(mine, team, "ask", "--dry-run")
    assert "+Ask somebody before renaming." in done.json["plans"][0]["diff"]
    assert every_byte(team.root) == before


def test_where_there_is_no_branch_to_make_nothing_is_shared(
    mine: Home, team: Home, tmp_path: Path, learnloop: Run
) -> None:
    mine.note("Stage files by name.", "r1")
    plain = make_home("project", tmp_path / "plain", learnloop, with_git=False)
    assert _share(mine, plain, "stage").json["error"]["code"] == "no-git"
    assert mine.run("share", "stage").code == 2
    assert mine.run("share", "stage", "--to", str(mine.folder)).code == 2
    assert mine.run("share", "nothing", "--to", str(team.folder)).code == 2
    git(team.root, "branch", "taken")
    assert _share(mine, team, "stage", "--branch", "taken").json["error"]["code"] == "branch-exists"
    (team.folder / "MEMORY.md").write_text("# Memory\n\nEdited.\n")
    assert _share(mine, team, "stage").json["error"]["code"] == "dirty-memory"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Ask Ada Lovelace or Ada.", "Ask somebody or somebody."), ("ada lovelace wrote it", "somebody wrote it"),
        ("on brightbox", "on a machine"), ("Initech's key", "somebody's key"), ("adal said", "somebody said"),
        ("/home/adal/x and /home/other/y", "~/x and ~/y"), (r"C:\Users\bo\x", r"~\x"), ("file:///home/bo/x", "~/x"),
        ("/root/x", "~/x"), ("a.b+c@mail.example.org", "an address"), ("Bo Lind and Ada", "somebody and somebody"),
        ("Use adapters; Adam adapts", "Use adapters; Adam adapts"), ("/homework/x", "/homework/x"),
        ("Ask ADA, or will it be ada's", "Ask somebody, or will it be ada's"),
        ("the router in /rooted", "the router in /rooted"), ("@types/node 1.2.3", "@types/node 1.2.3"),
    ],
)  # fmt: skip
def test_what_is_known_to_be_private_is_rewritten(text: str, clean: str) -> None:
    assert scrub.scrub(text, ADA) == clean
    assert list(scrub.left(clean, ADA)) == []


def test_hidden_characters_do_not_leave() -> None:
    assert list(scrub.left("Read a\u200bb first.", ADA)) == ["hidden characters"]


@pytest.mark.parametrize(
    "text", ["@types/node", "`@pytest.fixture` first", "127.0.0.1", "v1.2.3", "3 + 4 = 7", "home/"]
)
def test_what_only_looks_private_may_leave(text: str) -> None:
    assert list(scrub.left(text, ADA)) == []


@given(
    st.text(max_size=60), st.sampled_from(["Ada Lovelace", "/home/adal/x", "bo@example.org", "Initech", "BRIGHTBOX"])
)
def test_whatever_stands_around_it_a_private_word_never_leaves(text: str, private: str) -> None:
    """It is taken out, or the text is refused."""
    whole = f"{text} {private} {text}"
    clean = scrub.scrub(whole, ADA)
    assert private.casefold() not in clean.casefold() or list(scrub.left(clean, ADA))


def test_a_memory_without_a_repository_can_share_too(team: Home, tmp_path: Path, learnloop: Run) -> None:
    plain = make_home("project", tmp_path / "plain", learnloop, with_git=False)
    new_repository(tmp_path / "other")
    plain.note("Stage files by name.", "r1")
    assert _share(plain, team, "stage").code == 0


def test_where_nobody_knows_who_else_wrote_nothing_is_shared(mine: Home, team: Home, git_fails: Failing) -> None:
    """It fails closed: the names of those who committed are names to hide."""
    mine.note("Ask Grace Hopper before renaming.", "r1")
    with git_fails("--format=%an%n%cn"):
        done = mine.run("share", "ask", "--to", str(team.folder))
    assert (done.code, len(done.err.splitlines())) == (4, 1)
    assert git(team.root, "branch", "--format=%(refname:short)") == "main"
