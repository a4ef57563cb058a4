"""The gate: what is noted in a run becomes durable when the run is verified, and not before (R003-20, R003-21)."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from learnloop_md import busy, runlog, running, runs, waiting
from learnloop_md import place as places
from learnloop_md.errors import UnableError
from learnloop_md.runlog import Run as Ended
from learnloop_md.settings import Settings
from tests.conftest import CopyOf, Failing, Run, git
from tests.homes import DAY, Home, fresh_copy, make_home
from tests.reading import every_byte, lesson, subjects

KEY = "".join(("ghp_", "Zk3vQ9xT7mL2pR8wY5nB4cD6fG1hJ0aSqW2e"))


@pytest.fixture
def home(tmp_path: Path, copy_of: CopyOf, learnloop: Run) -> Home:
    return fresh_copy("project", tmp_path / "code", copy_of, learnloop)


def _told(home: Home, *words: str) -> Any:
    done = home.run(*words, "--json")
    assert done.code == 0, done.out + done.err
    return done.json


def _runs(home: Home) -> list[Ended]:
    return runlog.load(places.find(home.folder, str(home.folder)))


def _lessons(home: Home) -> list[str]:
    return sorted(path.stem for path in home.folder.glob("*.md") if path != home.document)


# --- the gate -----------------------------------------------------------------------------------------------------


def test_a_note_in_a_run_is_held_and_kept_when_the_run_is_verified(home: Home) -> None:
    """R003-10, R003-20: nothing in the memory, in git's view or in the work tree until then."""
    before = home.bytes(), git(home.root, "rev-parse", "HEAD"), git(home.root, "status", "--porcelain")
    started = _told(home, "run", "start", "--task", "Split the module")
    held = _told(home, "note", "Move fixtures first.", "--why", "Paths broke.", "--tag", "tests")
    assert (held["action"], held["held"], held["run"]) == ("held", 1, started["run"])
    assert (home.bytes(), git(home.root, "rev-parse", "HEAD"), git(home.root, "status", "--porcelain")) == before
    ended = _told(home, "run", "finish", "ok", "--verified")
    assert ended["kept"] == [{"action": "added", "slug": "move-fixtures-first"}]
    kept = lesson(home.folder, "move-fixtures-first")
    assert (kept.why, kept.tags, kept.state) == ("Paths broke.", ("tests",), "candidate")
    assert subjects(home.root)[0] == "learnloop: note move-fixtures-first"
    assert git(home.root, "status", "--porcelain") == ""


def test_a_successful_run_that_is_not_verified_keeps_waiting(home: Home) -> None:
    """R003-20: refused, and what is held stays held."""
    _told(home, "run", "start")
    _told(home, "note", "Move fixtures first.")
    done = home.run("run", "finish", "ok", "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "unverified")
    assert _lessons(home) == []
    assert _runs(home) == []
    assert _told(home, "run", "finish", "ok", "--verified")["kept"][0]["slug"] == "move-fixtures-first"


@pytest.mark.parametrize("status", ["failed", "partial"])
def test_a_run_that_did_not_succeed_keeps_no_note_and_says_so(home: Home, status: str) -> None:
    """R003-20, R001-71: only how it ended is kept."""
    _told(home, "run", "start")
    _told(home, "note", "Move fixtures first.")
    done = home.run("run", "finish", status, "--note", "The registry was down.")
    assert done.code == 0
    assert f"[LearnLoop] Noted but not saved — the run ended {status}: Move fixtures first." in done.out
    assert _lessons(home) == []
    assert [(run.status, run.note) for run in _runs(home)] == [(status, "The registry was down.")]


def test_no_run_is_finished_that_is_not_open(home: Home) -> None:
    """docs/runs.md: only run ok|partial|failed records a run without a start; a forgotten --run is told."""
    _told(home, "run", "start", "--run", "r1")
    done = home.run("run", "finish", "ok", "--verified", "--json")
    assert (done.code, done.json["error"]["code"], _runs(home)) == (2, "no-run", [])
    assert "open in other sessions: r1-" in done.json["error"]["hint"]
    _told(home, "run", "finish", "ok", "--verified", "--run", "r1")
    assert home.run("run", "finish", "ok", "--verified", "--run", "r1").code == 2
    assert len(_runs(home)) == 1


def test_an_abandoned_run_leaves_nothing_but_a_line(home: Home) -> None:
    """R003-21: status tells it; no file, no commit, no record."""
    before = home.bytes(), git(home.root, "rev-parse", "HEAD")
    _told(home, "run", "start")
    _told(home, "note", "Move fixtures first.")
    gone = _told(home, "run", "abandon")
    assert gone["dropped"] == ["Move fixtures first."]
    assert (home.bytes(), git(home.root, "rev-parse", "HEAD"), _runs(home)) == (*before, [])
    assert f"run       abandoned on {DAY}, 1 held dropped" in home.run("status").out
    assert home.run("run", "abandon").code == 2


def test_a_crashed_run_is_told_by_status_and_never_served(home: Home) -> None:
    """R003-21: the process that held the notes is gone; nobody ends the run."""
    _told(home, "run", "start", "--run", "s1")
    _told(home, "note", "Move fixtures first.", "--run", "s1")
    said = home.run("status", "--json").json["runs"]["open"]
    assert [(row["session"][:3], row["held"]) for row in said] == [("s1-", 1)]
    for view in (("show",), ("show", "--all"), ("log",), ("export", "agents")):
        assert "fixtures" not in home.run(*view).out
    assert b"fixtures" not in b"".join(home.bytes().values())
    assert ", 1 held: learnloop run finish|abandon" in home.run("status").out


@pytest.mark.parametrize(
    "words",
    [
        ("--kind", "correction"), ("--kind", "preference"), ("--trigger", "correction"), ("--trigger", "role"),
        ("--type", "user"), ("--manual",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_persons_own_word_does_not_wait(home: Home, words: tuple[str, ...]) -> None:
    """A correction or preference holds whatever becomes of the run."""
    _told(home, "run", "start")
    assert _told(home, "note", "Ask before renaming.", *words)["action"] == "added"
    _told(home, "run", "abandon")
    assert _lessons(home) == ["ask-before-renaming"]


@pytest.mark.parametrize("kind", ["failure", "success", "workaround", "note"])
def test_all_other_kinds_wait(home: Home, kind: str) -> None:
    _told(home, "run", "start")
    assert _told(home, "note", "Ask before renaming.", "--kind", kind)["action"] == "held"


def test_what_is_wrong_with_a_note_is_told_when_it_is_made(home: Home) -> None:
    """R004-20, R004-04: a secret gets into no held note; a lesson that is not there is told at once."""
    _told(home, "run", "start")
    done = home.run("note", f"Use {KEY} here.")
    assert done.code == 3
    assert home.run("note", "x" * 501).code == 3
    assert home.run("note", "Read first.", "--same", "nowhere").code == 2
    assert home.run("status", "--json").json["runs"]["open"][0]["held"] == 0
    assert not any(KEY.encode() in data for data in every_byte(home.root).values())


def test_one_run_at_a_time_in_a_session_and_sessions_do_not_meet(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held notes belong to their session; another session's note does not wait for this run."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "aaaaaaaa-1")
    _told(home, "run", "start")
    assert home.run("run", "start", "--json").json["error"]["code"] == "open"
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "bbbbbbbb-2")
    assert _told(home, "note", "Stage by name.")["action"] == "added"
    assert home.run("run", "abandon").code == 2
    _told(home, "run", "start")
    _told(home, "run", "finish", "ok")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "aaaaaaaa-1")
    assert _told(home, "note", "Quote paths.")["action"] == "held"


def test_two_notes_of_the_same_session_are_one_sighting(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """R001-30: two runs in one session prove nothing twice."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "aaaaaaaa-1")
    for _ in range(2):
        _told(home, "run", "start")
        _told(home, "note", "Stage by name.")
        _told(home, "run", "finish", "ok", "--verified")
    assert len(lesson(home.folder, "stage-by-name").seen) == 1


def test_a_held_note_keeps_its_day_its_memory_and_what_it_replaces(home: Home, tmp_path: Path) -> None:
    home.note("Use the old formatter.")
    _told(home, "run", "start")
    _told(home, "note", "Use the new formatter.", "--supersedes", "use-the-old-formatter")
    done = home.learnloop(
        "run", "finish", "ok", "--verified", "--memory", str(home.folder), "--today", "2026-06-20", cwd=home.root
    )
    assert done.code == 0
    assert lesson(home.folder, "use-the-new-formatter").created == DAY
    assert lesson(home.folder, "use-the-old-formatter").state == "archived"


def test_one_held_note_that_is_refused_does_not_stop_the_others(home: Home) -> None:
    """Nothing is lost silently: it is told with its reason."""
    _told(home, "run", "start")
    _told(home, "note", "Move fixtures first.", "--name", "fixtures")
    _told(home, "note", "Quote paths in scripts.")
    home.file("fixtures").write_text("---\nname: fixtures\nmetadata:\n  type: project\n---\n\nOther.\n")
    done = home.run("run", "finish", "ok", "--verified", "--json")
    assert done.code == 1
    assert [row["slug"] for row in done.json["kept"]] == ["quote-paths-in-scripts"]
    assert [(row["rule"], row["code"]) for row in done.json["refused"]] == [("Move fixtures first.", "exists")]


@pytest.mark.parametrize("run", ["测试", "a b/c", "..", "x" * 99])
def test_a_run_of_any_name_has_its_session(home: Home, run: str) -> None:
    _told(home, "run", "start", "--run", run)
    assert _told(home, "note", "Quote paths.", "--run", run)["action"] == "held"
    assert _told(home, "note", "Stage by name.", "--run", f"{run}2")["action"] == "added"


def _start(home: Home, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "learnloop_md", *words, "--memory", str(home.folder), "--today", DAY]
    return subprocess.Popen(command, cwd=home.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_no_note_is_lost_between_a_run_and_its_end(home: Home) -> None:
    """Four processes note while a fifth ends the run: each note is kept by it, or made after it."""
    rules = ["Quote paths in scripts.", "Stage files by name.", "Mock the clock in tests.", "Read headers on 429."]
    _told(home, "run", "start")
    procs = [_start(home, "note", rule) for rule in rules]
    procs.append(_start(home, "run", "finish", "ok", "--verified"))
    assert [proc.wait(120) for proc in procs] == [0] * 5
    assert len(_lessons(home)) == 4
    assert home.run("status", "--json").json["runs"]["open"] == []
    assert git(home.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("after_s", [0.1, 0.3, 0.5, 0.8])
def test_a_run_whose_end_is_killed_can_be_ended_again(home: Home, after_s: float) -> None:
    """What was kept already is known, what was not is kept now; the run is recorded once."""
    _told(home, "run", "start")
    for rule in ("Quote paths in scripts.", "Stage files by name."):
        _told(home, "note", rule)
    proc = _start(home, "run", "finish", "ok", "--verified")
    time.sleep(after_s)
    proc.kill()
    proc.wait(30)
    again = home.run("run", "finish", "ok", "--verified")
    assert (again.code == 0) is ("no run is open" not in again.err)  # it may have ended before it was killed
    assert len(_runs(home)) == 1
    assert home.run("sync").code == 0
    assert _lessons(home) == ["quote-paths-in-scripts", "stage-files-by-name"]
    assert all(len(lesson(home.folder, slug).seen) == 1 for slug in _lessons(home))
    assert git(home.root, "status", "--porcelain") == ""


def test_a_damaged_session_file_ends_no_command(home: Home) -> None:
    _told(home, "run", "start")
    file = next(Path(os.environ["HOME"]).rglob("*.run.jsonl"))
    gone = json.dumps(
        {"what": "ended", "status": "abandoned", "home": json.loads(file.read_bytes())["home"], "dropped": "x"}
    )
    damaged = [
        b'{"what": 3}',
        b"\xff\xfe",
        b"not json",
        gone.encode(),
        file.read_bytes(),
        b'{"what": "held", "run": 4}',
    ]
    file.write_bytes(b"\n".join(damaged) + b"\n")
    assert home.run("status").code == 0
    assert _told(home, "note", "Quote paths.")["action"] == "held"


@pytest.mark.parametrize(
    "words",
    [
        ("start",), ("finish", "won"), ("finish", "ok"), ("failed", "--verified"), ("ok", "--note", KEY),
        ("feedback", "no"),
    ],
    ids=["second", "word", "unverified", "failed", "secret", "no run"],
)  # fmt: skip
def test_a_dry_run_is_refused_where_the_command_is(home: Home, words: tuple[str, ...]) -> None:
    """And ends nothing: the run is still open, its note still held."""
    _told(home, "run", "start")
    _told(home, "note", "Quote paths in scripts.")
    dry, done = home.run("run", *words, "--dry-run"), home.run("run", *words)
    assert (dry.code, dry.err) == (done.code, done.err)
    assert done.code != 0
    _told(home, "run", "finish", "ok", "--verified", "--dry-run")
    _told(home, "run", "abandon", "--dry-run")
    assert [row["held"] for row in _told(home, "status")["runs"]["open"]] == [1]


def test_a_dry_run_shows_what_would_be_kept_and_what_would_be_dropped(home: Home) -> None:
    """docs/commands.md: the diff and the commit message."""
    _told(home, "run", "start")
    _told(home, "note", "Quote paths in scripts.")
    kept = home.run("run", "finish", "ok", "--verified", "--dry-run", "--json")
    (plan,) = kept.json["plans"]
    assert plan["message"].startswith("learnloop: note quote-paths-in-scripts")
    assert "+Quote paths in scripts." in plan["diff"]
    assert "would be dropped: Quote paths in scripts." in home.run("run", "finish", "failed", "--dry-run").out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("failed", "--note", "x" * 501), 3), (("failed", "--note", "a\x1b[31m"), 3),
        (("start", "--task", "x" * 501), 3), (("start", "--skill", "../../etc"), 2),
    ],
)  # fmt: skip
def test_what_is_told_of_a_run_is_a_sentence(home: Home, words: tuple[str, ...], code: int) -> None:
    """docs/commands.md: --note tells in a sentence how it went; control characters reach no file."""
    before = every_byte(home.root)
    assert home.run("run", *words).code == code
    assert every_byte(home.root) == before


def test_a_dry_run_of_a_run_writes_nothing(home: Home) -> None:
    before = every_byte(home.root)
    for words in (("run", "start"), ("run", "ok"), ("capture", "--prompt")):
        assert home.run(*words, *(["--dry-run"] if words[0] == "run" else [])).code == 0
    assert every_byte(home.root) == before


@pytest.mark.parametrize(
    "words",
    [
        ("run", "win"), ("run", "finish"), ("run", "finish", "won"), ("run", "start", "ok"),
        ("run", "feedback", "maybe"),
        ("run", "failed", "--verified"), ("run", "abandon", "now"), ("run", "abandon", "--dry-run"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_words_are_told_with_the_right_ones(home: Home, words: tuple[str, ...]) -> None:
    done = home.run(*words)
    assert done.code == 2
    assert re.search(r"say|leave --verified away|begin one", done.err)


# --- how runs ended -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["ok", "failed", "partial", "success", "failure"])
def test_an_outcome_can_be_recorded_without_a_start(home: Home, word: str) -> None:
    """R004-90, R004-99, ruling C19: both vocabularies are read."""
    _told(home, "run", word, "--note", "It went\nas it went.")
    (run,) = _runs(home)
    assert run.status == {"success": "ok", "failure": "failed"}.get(word, word)
    assert (run.note, run.workspace, run.created_at[:11]) == ("It went\nas it went.", "code", f"{DAY}T")
    assert not Path(run.workspace).is_absolute()


def test_a_run_carries_the_version_of_its_skill(tmp_path: Path, learnloop: Run) -> None:
    """R004-99."""
    home = make_home("skill", tmp_path / "code", learnloop)
    text = (home.root / "skill" / "SKILL.md").read_text()
    (home.root / "skill" / "SKILL.md").write_text(text.replace("\n---\n", "\nmetadata:\n  version: 1.4.0\n---\n", 1))
    _told(home, "run", "ok")
    assert [(run.skill, run.skill_version) for run in _runs(home)] == [("skill", "1.4.0")]


def test_runs_in_a_code_repository_are_no_noise_in_a_pull_request(home: Home) -> None:
    """docs/runs.md: git does not see them; no lesson is read from them, Claude loads nothing of them."""
    _told(home, "run", "ok", "--note", "Rare words stand here.")
    assert git(home.root, "status", "--porcelain", "--untracked-files=all") == ""
    assert home.run("sync").out == "everything is in step\n"
    assert "Rare words" not in home.run("show", "--all").out
    assert home.run("status", "--json").json["lessons"] == {"candidate": 0, "current": 0, "archived": 0}


def test_runs_of_two_branches_never_conflict(tmp_path: Path, learnloop: Run) -> None:
    """docs/runs.md: with commit_runs each run is a file of its own, whatever the merge."""
    home = make_home("project", tmp_path / "code", learnloop)
    (home.root / ".learnloop.toml").write_text("commit_runs = true\n")
    home.commit_all("Keep runs")
    git(home.root, "switch", "-q", "-c", "other")
    _told(home, "run", "ok")
    git(home.root, "switch", "-q", "main")
    _told(home, "run", "failed", "--note", "Down.")
    assert git(home.root, "status", "--porcelain") == ""
    git(home.root, "merge", "-q", "--no-edit", "other")
    assert sorted(run.status for run in _runs(home)) == ["failed", "ok"]
    assert home.run("sync").code == 0
    assert home.run("check").code == 0
    changed = git(home.root, "log", "-1", "--no-merges", "--name-only", "--format=", "--grep", "run ok").split("\n")
    assert [path for path in changed if not path.startswith(".claude/memory/.runs/2026-06/")] == []


def test_a_committed_run_is_no_lesson_to_anybody(tmp_path: Path, learnloop: Run) -> None:
    """Neither in the work tree nor in the index, nor in a comparison of branches."""
    home = make_home("project", tmp_path / "code", learnloop)
    (home.root / ".learnloop.toml").write_text("commit_runs = true\n")
    home.commit_all("Keep runs")
    git(home.root, "switch", "-q", "-c", "other")
    _told(home, "run", "ok")
    assert _told(home, "check")["findings"] == []
    assert _told(home, "check", "--staged")["findings"] == []
    assert home.learnloop("diff", "main...HEAD", "--json", cwd=home.root).json["summary"]["changes"] == {}


def test_a_committed_run_can_be_undone(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("project", tmp_path / "code", learnloop)
    (home.root / ".learnloop.toml").write_text("commit_runs = true\n")
    home.commit_all("Keep runs")
    _told(home, "run", "ok")
    assert home.run("undo").code == 0
    assert _runs(home) == []
    assert git(home.root, "status", "--porcelain") == ""


def test_a_run_does_not_name_a_private_lesson_in_git(tmp_path: Path, learnloop: Run) -> None:
    """design §2: private lessons are not even named."""
    home = make_home("project", tmp_path / "code", learnloop)
    (home.root / ".learnloop.toml").write_text("commit_runs = true\n")
    home.commit_all("Keep runs")
    git(home.root, "remote", "add", "origin", "https://example.invalid/x.git")
    _told(home, "run", "start")
    _told(home, "note", "Talk to me in French.", "--type", "user")
    _told(home, "run", "finish", "ok", "--verified")
    assert "talk-to-me" not in git(home.root, "log", "-p")
    assert _runs(home)[0].lessons == ()


def test_without_git_a_run_is_a_file(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("project", tmp_path / "code", learnloop, with_git=False)
    _told(home, "run", "ok")
    assert [run.status for run in _runs(home)] == ["ok"]


def test_the_answer_tells_every_commit_and_whether_one_waits(tmp_path: Path, learnloop: Run) -> None:
    """design §12: of the notes that were kept, of the run itself and of the answer to its question."""
    home = make_home("project", tmp_path / "code", learnloop)
    (home.root / ".learnloop.toml").write_text("commit_runs = true\n")
    home.commit_all("Keep runs")
    _told(home, "run", "start")
    _told(home, "note", "Quote paths in scripts.")
    for words in (("finish", "ok", "--verified"), ("feedback", "no")):
        head = git(home.root, "rev-parse", "HEAD")
        said = _told(home, "run", *words)
        assert said["commits"] == git(home.root, "rev-list", "--reverse", f"{head}..").split()
        assert len(said["commits"]) == 2
        assert {"quote-paths-in-scripts.md", runlog.path_of(said["run"])} <= set(said["paths"])
        assert said["queued"] is False
    git(home.root, "switch", "-q", "--detach")
    done = home.run("run", "ok", "--json")
    assert (done.json["queued"], done.json["commits"]) == (True, [])


def test_a_run_is_written_nowhere_but_in_its_folder(home: Home, tmp_path: Path) -> None:
    """A file that came with a repository may name anything, its folder may be a link."""
    folder = home.folder / ".runs" / "2026-06"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("---\nid: ../../../away\nstatus: ok\n---\n")
    (folder / "b.md").write_text('---\nid: "a\\0b"\nstatus: ok\n---\n')
    assert home.run("run", "feedback", "no", "--json").json["error"]["code"] == "no-run"
    assert git(home.root, "status", "--porcelain") == "?? .claude/memory/.runs/"
    shutil.rmtree(folder.parent)
    (tmp_path / "there").mkdir()
    folder.parent.symlink_to(tmp_path / "there")
    assert home.run("run", "ok").code == 4
    assert list((tmp_path / "there").iterdir()) == []


def test_a_file_that_is_no_run_is_passed_over(home: Home) -> None:
    _told(home, "run", "ok")
    folder = home.folder / ".runs" / "2026-06"
    (folder / "a.md").write_text("no head\n")
    (folder / "b.md").write_text("---\nid: [\n---\n")
    (folder / "c.md").write_text("---\nid: c\nstatus: odd\n---\n")
    (folder / "d.md").write_bytes(b"\xff\xfe\n")
    assert len(_runs(home)) == 1
    assert home.run("stats").code == 0


@pytest.mark.parametrize("note", ["", "Two\n\nparagraphs.", "---\nid: x\n---", "# Heading"])
def test_a_run_comes_back_from_its_file(note: str) -> None:
    run = Ended(
        "run_20260601_101112_ab12", "partial", "2026-06-01T10:11:12Z", note, "review", "1.10", "shop", "a: b",
        "2026-06-01T10:00:00Z", False, False, ("one", "two"),
    )  # fmt: skip
    assert runlog.parse(runlog.render(run)) == run
    assert runlog.path_of(run.id) == ".runs/2026-06/run_20260601_101112_ab12.md"


def test_names_of_runs_differ() -> None:
    assert len({running.new_id("2026-06-01") for _ in range(20)}) > 15
    assert Settings().commit_runs is False


# --- the question -------------------------------------------------------------------------------------------------


def test_the_question_is_asked_once_after_a_successful_run_and_after_no_other(home: Home) -> None:
    """R000-61: exact words."""
    question = "Did this output need modification before use?"
    assert home.run("run", "ok").out.count(question) == 1
    assert question not in home.run("run", "failed").out + home.run("run", "partial").out + home.run("status").out
    assert _told(home, "run", "ok")["question"] == question


@pytest.mark.parametrize(("word", "confirmed"), [("no", True), ("yes", False)])
def test_the_answer_stands_on_the_run_and_on_its_lessons(home: Home, word: str, confirmed: bool) -> None:
    """R000-61, R000-62: needed changes, so it is not confirmed."""
    _told(home, "run", "start")
    _told(home, "note", "Move fixtures first.")
    _told(home, "run", "finish", "ok", "--verified")
    said = _told(home, "run", "feedback", word)
    assert (said["human_confirmed"], said["lessons"]) == (confirmed, ["move-fixtures-first"])
    assert lesson(home.folder, "move-fixtures-first").human_confirmed is confirmed
    assert _runs(home)[0].human_confirmed is confirmed
    assert git(home.root, "status", "--porcelain") == ""
    assert subjects(home.root)[0] == "learnloop: feedback move-fixtures-first"
    before = home.bytes()
    _told(home, "run", "feedback", word)
    assert home.bytes() == before


def test_the_answer_reaches_what_was_captured_in_the_run(home: Home) -> None:
    """R000-62."""
    _told(home, "run", "start")
    file = home.root.parent / "record.json"
    told = {"task_type": "docs", "input_summary": "A", "approach": "B", "outcome": "success", "confidence": 1}
    file.write_text(json.dumps(told))
    slug = _told(home, "capture", "--from", str(file))["slug"]
    _told(home, "run", "finish", "ok")
    _told(home, "run", "feedback", "no")
    assert lesson(home.folder, slug).human_confirmed is True


def test_without_a_successful_run_there_is_nothing_to_answer(home: Home) -> None:
    _told(home, "run", "failed")
    assert home.run("run", "feedback", "no", "--json").json["error"]["code"] == "no-run"


def test_a_note_by_hand_is_sure_and_confirmed(home: Home) -> None:
    """R000-63: confidence 1.0, human_confirmed true, in a new lesson and in one that was there."""
    assert _told(home, "note", "Ask before renaming.", "--manual")["action"] == "added"
    made = lesson(home.folder, "ask-before-renaming")
    assert (made.confidence, made.human_confirmed) == (1.0, True)
    home.note("Quote paths in scripts.", "r1")
    assert _told(home, "note", "Quote paths in scripts.", "--manual", "--run", "r1")["action"] == "edited"
    assert _told(home, "note", "Quote paths in scripts.", "--manual", "--run", "r1")["action"] == "unchanged"
    old = lesson(home.folder, "quote-paths-in-scripts")
    assert (old.confidence, old.human_confirmed, len(old.seen)) == (1.0, True, 1)


def test_half_a_row_of_a_full_disk_does_not_swallow_the_next_one(home: Home) -> None:
    """Reliability 11: what is appended after it begins a line of its own."""
    _told(home, "run", "start")
    file = next(Path(os.environ["HOME"]).rglob("*.run.jsonl"))
    file.write_bytes(file.read_bytes() + b'{"what":"held","run":"run_2026')
    _told(home, "note", "Quote paths in scripts.")
    _told(home, "run", "finish", "ok", "--verified")
    assert _lessons(home) == ["quote-paths-in-scripts"]


def test_a_held_note_that_cannot_be_written_keeps_its_run_open(home: Home, git_fails: Failing) -> None:
    """Reliability 11: the run would be recorded as verified, and the note be gone with it."""
    _told(home, "run", "start")
    _told(home, "note", "Quote paths in scripts.")
    with git_fails("check-ignore"):
        done = home.run("run", "finish", "ok", "--verified")
    assert (done.code, len(done.err.splitlines())) == (4, 1)
    assert "the run stays open" in done.err
    assert (_lessons(home), _runs(home)) == ([], [])
    _told(home, "run", "finish", "ok", "--verified")
    assert _lessons(home) == ["quote-paths-in-scripts"]


def test_a_held_note_whose_memory_is_gone_does_not_keep_its_run_open(home: Home, tmp_path: Path) -> None:
    """It will not come back by waiting: it is told, and the others are kept."""
    other = make_home("skill", tmp_path / "other", home.learnloop)
    _told(home, "run", "start")
    home.learnloop("note", "Move fixtures first.", "--memory", str(other.folder), "--today", DAY, cwd=home.root)
    _told(home, "note", "Quote paths in scripts.")
    shutil.rmtree(other.root)
    done = home.run("run", "finish", "ok", "--verified", "--json")
    assert (done.code, [row["rule"] for row in done.json["refused"]]) == (1, ["Move fixtures first."])
    assert _lessons(home) == ["quote-paths-in-scripts"]


def _stopped_before_its_end(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finish that did everything but tell the session."""

    def full(*_given: object, **_more: object) -> None:
        raise UnableError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(runs, "end", full)
        assert home.run("run", "finish", "ok", "--verified").code == 4


def test_a_held_note_that_waits_for_a_rebase_waits_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither written nor committed yet: the queue alone knows that a stopped end kept it."""
    _told(home, "run", "start")
    _told(home, "note", "Water the plants.", "--new")
    with monkeypatch.context() as patch:
        patch.setattr(busy, "before_rebase", lambda *_: True)
        _stopped_before_its_end(home, monkeypatch)
    (home.root / ".git" / "rebase-merge").mkdir()  # it stands still, and the queue with it
    again = _told(home, "run", "finish", "ok", "--verified")
    assert ([row["slug"] for row in again["kept"]], _lessons(home)) == (["water-the-plants"], [])
    (home.root / ".git" / "rebase-merge").rmdir()
    assert home.run("sync").code == 0
    assert _lessons(home) == ["water-the-plants"]
    assert subjects(home.root).count("learnloop: note water-the-plants") == 1


def test_a_run_whose_end_was_stopped_is_recorded_in_git_once(
    tmp_path: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_home("project", tmp_path / "code", learnloop)
    (home.root / ".learnloop.toml").write_text("commit_runs = true\n")
    home.commit_all("Keep runs")
    _told(home, "run", "start")
    _stopped_before_its_end(home, monkeypatch)
    monkeypatch.setattr(running, "now_of", lambda today: f"{today}T23:59:00Z")  # a second end tells another second
    _told(home, "run", "finish", "ok", "--verified")
    assert sum(subject.startswith("learnloop: run ok") for subject in subjects(home.root)) == 1


def test_a_run_whose_file_is_full_can_be_ended(home: Home) -> None:
    """What to do about a full file is to end the run."""
    _told(home, "run", "start")
    _told(home, "note", "Water the plants.", "--new")
    with next(Path(os.environ["HOME"]).rglob("*.run.jsonl")).open("a") as file:
        file.write("x" * 1_000_000 + "\n")
    assert "learnloop run finish" in home.run("note", "Brew tea first.", "--new").err
    assert _told(home, "run", "finish", "ok", "--verified")["kept"] == [{"action": "added", "slug": "water-the-plants"}]
    assert home.run("status", "--json").json["runs"]["open"] == []


@pytest.mark.parametrize("keeping", ["", "commit_runs = true\n"])
def test_all_that_the_end_of_a_run_kept_goes_back_together(tmp_path: Path, learnloop: Run, keeping: str) -> None:
    """docs/commands.md: all commits of one command carry one id, and `undo` takes them back together."""
    home = make_home("project", tmp_path / "code", learnloop)
    (home.root / ".learnloop.toml").write_text(keeping)
    home.commit_all("Settings")
    assert home.run("note", "Brew tea first.").code == 0
    before = home.document.read_bytes()
    _told(home, "run", "start")
    for rule in ("Water the plants.", "Quote paths in scripts."):
        _told(home, "note", rule)
    _told(home, "run", "finish", "ok", "--verified")
    ids = git(home.root, "log", "-2", "--format=%(trailers:key=Learnloop-Command,valueonly,separator=)").split()
    assert len({word.partition(".")[0] for word in ids}) == 1
    assert home.run("undo").code == 0
    assert (_lessons(home), home.document.read_bytes()) == (["brew-tea-first"], before)
    assert len(_runs(home)) == (0 if keeping else 1)  # how a run ended that git does not know stays
    assert home.run("undo").code == 0
    assert _lessons(home) == []


def test_the_answer_to_a_run_goes_back_together(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("project", tmp_path / "code", learnloop)
    (home.root / ".learnloop.toml").write_text("commit_runs = true\n")
    home.commit_all("Settings")
    _told(home, "run", "start")
    _told(home, "note", "Water the plants.")
    _told(home, "run", "finish", "ok", "--verified")
    before = home.bytes()
    _told(home, "run", "feedback", "no")
    assert home.bytes() != before
    assert home.run("undo").code == 0
    assert home.bytes() == before


def test_a_held_note_whose_fellow_waits_for_a_rebase_is_not_taken_for_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An end that is stopped between two notes: the first is queued, the second was begun and is neither."""
    _told(home, "run", "start")
    for rule in ("Water the plants.", "Quote paths in scripts."):
        _told(home, "note", rule, "--new")
    put_off = waiting.put_off

    def stops(commits: Any, plan: Any) -> None:
        if "quote" in str(plan.slugs):
            raise UnableError("the disk is full")
        put_off(commits, plan)

    with monkeypatch.context() as patch:
        patch.setattr(busy, "before_rebase", lambda *_: True)
        patch.setattr(waiting, "put_off", stops)
        assert home.run("run", "finish", "ok", "--verified").code == 4
    _told(home, "run", "finish", "ok", "--verified")
    assert home.run("sync").code == 0
    assert _lessons(home) == ["quote-paths-in-scripts", "water-the-plants"]
    assert home.run("undo").code == 0
    assert _lessons(home) == []
