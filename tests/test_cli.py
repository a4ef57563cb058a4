"""The command line: every command's answer, dry run and errors; two doors that agree (design §11, §12)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import __main__, __version__, answer, cli, door, views
from learnloop_md.commands import BY_NAME, TABLE, Command
from tests.conftest import DATA, CopyOf, Ran, Run, git
from tests.homes import Home, new_repository
from tests.reading import every_byte, made_skill, subjects

CHANGES: list[dict[str, Any]] = json.loads((DATA / "commands.json").read_text())
BAD: list[dict[str, Any]] = json.loads((DATA / "bad_words.json").read_text())
KEYS = {"action", "slug", "state", "commits", "queued", "paths"}
LESSONS = {
    "down": (
        "Read the down step first.",
        "  state: candidate\n  seen:\n    - on: 2026-06-01\n      run: r1\n",
    ),
    "clock": ("Mock the clock in timer tests.", "  state: current\n  pinned: true\n"),
    "quote": ("Quote paths in scripts.", "  state: archived\n  archive_note: too narrow\n"),
    "cold": ("Restart the cold cache.", "  state: candidate\n  created: 2026-01-01\n"),
}


@pytest.fixture
def world(copy_of: CopyOf, learnloop: Run) -> Path:
    """A repository with a memory that has a lesson for every command, and an earlier command to undo."""

    def build(root: Path) -> Home:
        memory = new_repository(root) / ".claude" / "memory"
        memory.mkdir(parents=True)
        for name, (rule, fields) in LESSONS.items():
            head = f"---\nname: {name}\ndescription: {rule}\nmetadata:\n  type: feedback\n{fields}---\n\n"
            (memory / f"{name}.md").write_text(f"{head}{rule}\n\n**Why:** a\n\n**How to apply:** b\n")
        (memory / "MEMORY.md").write_text("# Memory\n")
        assert learnloop("init", cwd=root).code == 0
        assert learnloop("sync").code == 0
        assert learnloop("confirm", "down", "--run", "r0").code == 0
        return Home("project", root, memory, learnloop)

    return copy_of("world", build).root


def named(row: dict[str, Any]) -> str:
    return " ".join(row["words"])[:40]


# --- answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", CHANGES, ids=named)
def test_a_change_answers_with_the_keys_of_every_change(world: Path, learnloop: Run, row: dict[str, Any]) -> None:
    """R001-72; R004-95, design §12."""
    done = learnloop(*row["words"], "--json")
    assert done.code == 0, done.out
    assert set(done.json) == KEYS | set(row.get("more", []))
    expected = {key: row[key] for key in ("action", "slug", "state") if key in row}
    assert {key: done.json[key] for key in expected} == expected
    assert done.json["queued"] is False
    tip = "learn" if "--branch" in row["words"] else "HEAD"
    newest = git(world, "log", "--format=%H", f"-{len(done.json['commits'])}", tip).split("\n")
    assert done.json["commits"] == newest[::-1]


@pytest.mark.parametrize("row", CHANGES, ids=named)
def test_a_change_leaves_nothing_uncommitted(world: Path, learnloop: Run, row: dict[str, Any]) -> None:
    """R002-42: one change is one commit of our paths."""
    assert learnloop(*row["words"]).code == 0
    assert git(world, "status", "--porcelain") == ""


@pytest.mark.parametrize("row", CHANGES, ids=named)
def test_a_dry_run_writes_nothing_anywhere(world: Path, learnloop: Run, row: dict[str, Any]) -> None:
    """Issue part 5: the diff and the commit message are shown; not even state files are written."""
    outside = Path(os.environ["HOME"])
    before = every_byte(world), every_byte(outside)
    done = learnloop(*row["words"], "--dry-run")
    assert (every_byte(world), every_byte(outside)) == before
    assert done.code == 0
    assert "learnloop: " in done.out
    assert "Learnloop-Change: " in done.out
    assert "\n+++ " in done.out


@pytest.mark.parametrize("row", CHANGES, ids=named)
def test_what_a_dry_run_shows_is_what_is_committed(world: Path, learnloop: Run, row: dict[str, Any]) -> None:
    shown = [plan["message"].split("\n")[0] for plan in learnloop(*row["words"], "--dry-run", "--json").json["plans"]]
    done = learnloop(*row["words"], "--json")
    assert [git(world, "log", "-1", "--format=%s", commit) for commit in done.json["commits"]] == shown


def test_a_dry_run_of_init_shows_diff_and_message(repo: Path, learnloop: Run) -> None:
    """Issue part 5."""
    (repo / "SKILL.md").write_text("---\nname: repo\ndescription: Review\n---\n\n# Review\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Skill")
    before = every_byte(repo)
    done = learnloop("init", "--skill", ".", "--dry-run", cwd=repo)
    assert every_byte(repo) == before
    assert "learnloop: init repo\n" in done.out
    assert "+++ b/SKILL.md\n" in done.out


def test_the_diff_names_files_as_git_does(world: Path, learnloop: Run) -> None:
    assert "+++ b/CLAUDE.md\n" in learnloop("codify", "down", "--dry-run").out


def test_a_dry_run_of_what_changes_nothing_says_why(world: Path, learnloop: Run) -> None:
    done = learnloop("pin", "clock", "--dry-run")
    assert done.out == "nothing would change: clock is pinned already\n"


def test_the_commit_carries_its_trailers(world: Path, learnloop: Run) -> None:
    """Design §6."""
    learnloop("pin", "down", "--run", "3f2a81c0")
    lines = git(world, "log", "-1", "--format=%(trailers)").split("\n")
    assert lines[:3] == ["Lesson: down", "Learnloop-Change: pin", "Run: 3f2a81c0"]
    assert lines[3].startswith("Learnloop-Command: ")


def test_sync_answers_with_the_keys_of_every_change(world: Path, learnloop: Run) -> None:
    path = world / ".claude" / "memory" / "down.md"
    path.write_text(path.read_text().replace("Read the down", "Read each down"))
    done = learnloop("sync", "--json")
    assert set(done.json) >= KEYS
    assert (done.json["action"], len(done.json["commits"])) == ("absorbed", 1)


def test_sync_with_nothing_to_do(world: Path, learnloop: Run) -> None:
    done = learnloop("sync")
    assert (done.code, done.out) == (0, "everything is in step\n")


def test_init_answers_with_the_keys_of_every_change(repo: Path, learnloop: Run) -> None:
    assert set(learnloop("init", "--json", cwd=repo).json) >= KEYS | {"memory", "kind", "adopted", "open"}


def test_status_answers_with_its_keys(world: Path, learnloop: Run) -> None:
    """Design §12."""
    data = learnloop("status", "--json", "--today", "2026-01-02").json
    assert set(data.pop("index")) == {"lines", "characters", "left_out"}
    assert data == {
        "memory": str(world / ".claude" / "memory"),
        "kind": "project",
        "chosen_by": "autoMemoryDirectory in the local settings",
        "lessons": {"candidate": 2, "current": 1, "archived": 1},
        "quarantined": [],
        "conflicts": [],
        "queued": 0,
        "cleanup_due": False,
        "cleanup_reasons": [],
        "oldest_candidate": {"slug": "cold", "days": 1},
        "next": None,
        "runs": {"open": [], "abandoned": []},
    }


def test_status_counts_only_our_paths(repo: Path, learnloop: Run) -> None:
    """Design §12: how many of our paths differ from HEAD."""
    skill = made_skill(repo, learnloop)
    (skill / "references" / "guide.md").write_text("# A guide of the person\n")
    (skill / "references" / "memory.md").write_text((skill / "references" / "memory.md").read_text() + "\nText.\n")
    assert learnloop("status", "--json", cwd=skill).json["queued"] == 1


def test_status_without_git(tmp_path: Path, learnloop: Run) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    assert "git       none: files only" in learnloop("status", "--memory", str(tmp_path)).out


def test_show_all_is_not_bound_by_the_budget(world: Path, learnloop: Run) -> None:
    """R004-72."""
    assert len(learnloop("show", "--all", "--budget", "100", "--json").json["lessons"]) == 3


def test_status_names_what_is_quarantined(world: Path, learnloop: Run) -> None:
    (world / ".claude" / "memory" / "bad.md").write_text("---\nname: bad\n")
    done = learnloop("status")
    assert (done.code, "quarantined bad.md:1: frontmatter-unclosed" in done.out) == (0, True)


def test_status_names_a_secret_in_the_document_and_that_it_is_not_in_git(world: Path, learnloop: Run) -> None:
    """docs/security.md: what is quarantined is reported by `status` and `check`."""
    token = "".join(("ghp", "_", "Ab1" * 12))
    document = world / ".claude" / "memory" / "MEMORY.md"
    document.write_text(document.read_text() + f"- pw {token}\n")
    done = learnloop("status", "--json")
    assert {"path": "MEMORY.md", "reason": "secret:github-pat"} in done.json["quarantined"]
    assert (done.json["queued"], token in done.out + done.err) == (1, False)
    assert learnloop("sync").code == 3


def test_status_serves_where_a_guard_refuses_to_absorb(world: Path, learnloop: Run) -> None:
    token = "ghp_" + "Ab1" * 12
    path = world / ".claude" / "memory" / "MEMORY.md"
    path.write_text(path.read_text() + f"\nUse {token}.\n")
    done = learnloop("status")
    assert done.code == 0
    assert "not absorbed: MEMORY.md holds a secret" in done.err
    assert token not in done.out + done.err


def test_log_answers_with_its_keys(world: Path, learnloop: Run) -> None:
    """Design §12."""
    rows = learnloop("log", "down", "--json").json["commits"]
    assert [set(row) for row in rows] == [{"commit", "change", "slugs", "date", "author", "subject"}] * len(rows)
    assert rows[0] == {
        "commit": git(world, "rev-parse", "HEAD"), "change": "confirm", "slugs": ["down"],
        "date": rows[0]["date"], "author": "Ada Test", "subject": "learnloop: confirm down",
    }  # fmt: skip


def test_log_keeps_to_its_limit(world: Path, learnloop: Run) -> None:
    assert learnloop("log", "--limit", "1").out.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [["show"], ["status"], ["check"], ["log"], ["cleanup"], ["cleanup", "--check"], ["cleanup", "--apply"],
     ["cleanup", "--hook"], ["review", "--list"], ["sync"], ["check", "--staged"], ["check", "--hook"]],
    ids=" ".join,
)  # fmt: skip
def test_an_empty_memory_is_not_an_error(memory: Path, learnloop: Run, words: list[str]) -> None:
    done = learnloop(*words)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    "words", [["status"], ["check"], ["show"], ["log"], ["cleanup"], ["review", "--list"]], ids=" ".join
)
def test_looking_writes_nothing(world: Path, learnloop: Run, words: list[str]) -> None:
    before = every_byte(world)
    learnloop(*words)
    assert every_byte(world) == before


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", BAD, ids=named)
def test_wrong_words_end_in_one_line_and_exit_2(world: Path, learnloop: Run, row: dict[str, Any]) -> None:
    """Bad input: one line saying what is wrong and what to do, nothing changed."""
    before = every_byte(world)
    done = learnloop(*row["words"])
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert row["says"].lower() in done.err.lower()
    assert " — " in done.err
    assert every_byte(world) == before


def test_errors_are_json_too(world: Path, learnloop: Run) -> None:
    """R004-95."""
    ran = [learnloop(row["words"][0], "--json", *row["words"][1:]) for row in BAD]
    assert {(done.code, done.err) for done in ran} == {(2, "")}
    assert {frozenset(done.json["error"]) for done in ran} == {frozenset({"code", "message", "hint"})}


def test_no_memory_is_exit_4_and_says_what_to_do(repo: Path, learnloop: Run) -> None:
    for words in (["note", "x"], ["show"], ["status"], ["check"], ["cleanup"], ["review", "--list"]):
        done = learnloop(*words, cwd=repo)
        assert (done.code, done.out) == (4, "")
        assert done.err.endswith("— run: learnloop init\n")


def test_a_memory_that_is_not_there_is_exit_4(repo: Path, learnloop: Run) -> None:
    done = learnloop("show", "--memory", "nowhere", "--json", cwd=repo)
    assert (done.code, done.json["error"]["code"]) == (4, "no-memory")


def test_undo_without_git_says_so(tmp_path: Path, learnloop: Run) -> None:
    """Design §6."""
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    done = learnloop("undo", "--memory", str(tmp_path))
    assert (done.code, "no git history" in done.err) == (4, True)


def test_without_git_a_change_says_so(tmp_path: Path, learnloop: Run) -> None:
    """Issue part 5."""
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    done = learnloop("note", "Read it.", "--memory", str(tmp_path))
    assert (done.code, done.err) == (0, "learnloop: no git here: files only, no history\n")


def test_no_command_prints_the_help_to_standard_error(learnloop: Run) -> None:
    done = learnloop()
    assert (done.code, done.out) == (2, "")
    assert "Usage: learnloop" in done.err


@pytest.mark.parametrize("words", [["--help"], ["-h"], *([row.name, "--help"] for row in TABLE)], ids=" ".join)
def test_help_is_on_standard_output_and_exit_0(learnloop: Run, words: list[str]) -> None:
    done = learnloop(*words)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: learnloop")


def test_the_help_tells_every_command_in_full(learnloop: Run) -> None:
    text = " ".join(learnloop("--help").out.split())
    assert [row.name for row in TABLE if row.help not in text and not row.hidden] == []


def test_version(learnloop: Run) -> None:
    assert learnloop("--version").out == f"{__version__}\n"


@pytest.mark.parametrize(("options", "shown"), [([], ""), (["--json"], '"code": "bug"')])
def test_a_bug_is_exit_70_and_keeps_its_trace(
    world: Path,
    learnloop: Run,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    shown: str,
    tmp_path: Path,
) -> None:
    """Design §11."""

    def broken(call: object) -> answer.Answer:
        raise ZeroDivisionError

    monkeypatch.setattr(views, "status", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = learnloop("status", *options)
    assert done.code == 70
    assert shown in done.out
    trace = next(tmp_path.glob("learnloop-bug-*.txt"))
    assert str(trace) in done.out + done.err
    assert "ZeroDivisionError" in trace.read_text()


def test_a_bug_whose_trace_cannot_be_written_is_one_line_all_the_same(
    world: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design §11: never a traceback."""

    def broken(call: object) -> answer.Answer:
        raise ZeroDivisionError

    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(views, "status", broken)
    monkeypatch.setattr("tempfile.mkstemp", full)
    done = learnloop("status")
    assert (done.code, len(done.err.splitlines())) == (70, 1)
    assert "ZeroDivisionError" in done.err


def test_what_the_machine_refuses_is_exit_4(world: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(call: object) -> answer.Answer:
        raise OSError(28, "No space left on device", "/x")

    monkeypatch.setattr(views, "status", full)
    done = learnloop("status")
    assert (done.code, done.err.count("\n")) == (4, 1)
    assert "/x: No space left on device" in done.err


def test_an_interrupt_is_exit_130(world: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(call: object) -> answer.Answer:
        raise KeyboardInterrupt

    monkeypatch.setattr(views, "status", stopped)
    assert learnloop("status").code == 130


# --- the two doors ------------------------------------------------------------------------------------------


def typer_door(words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[str, dict[str, Any]]:
    """What the typer door makes of words."""
    calls: list[tuple[str, dict[str, Any]]] = []

    def execute(name: str, given: dict[str, Any]) -> int:
        calls.append((name, given))
        return 0

    with monkeypatch.context() as patched:
        patched.setattr(door, "execute", execute)
        assert cli.run(words) == 0
    return calls[0]


VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


def spelled(draw: st.DrawFn, command: Command) -> list[str]:
    """A well-formed call of a command: its options in any order, among its words."""
    parts: list[list[str]] = []
    for option in draw(st.lists(st.sampled_from(command.options), max_size=5)) if command.options else []:
        value = str(draw(st.integers(0, 99_999))) if option.kind == "number" else draw(VALUES)
        if option.kind == "flag":
            parts.append([option.flag])
        else:
            parts.append(draw(st.sampled_from([[option.flag, value], [f"{option.flag}={value}"]])))
    count = draw(st.integers(sum(word.required for word in command.words), len(command.words)))
    parts += [[draw(VALUES.filter(lambda text: not text.startswith("-")))] for _ in range(count)]
    return [word for part in draw(st.permutations(parts)) for word in part]


@st.composite
def calls(draw: st.DrawFn) -> list[str]:
    command = draw(st.sampled_from(TABLE))
    return [command.name, *spelled(draw, command)]


@given(words=calls())
def test_both_doors_read_a_well_formed_call_alike(words: list[str]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert door.parse(words) == typer_door(words, monkeypatch)


@pytest.mark.parametrize(
    "words",
    [["note", "-"], ["note", "--", "--json"], ["note", "--why", "--json", "x"],
     ["note", "x", "--tag=a", "--tag", "b"], ["note", "x", "--run", "a", "--run", "b"],
     ["show", "--budget=0"], ["note", "x", "--why="]],
    ids=" ".join,
)  # fmt: skip
def test_both_doors_agree_on_the_odd_ones(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert door.parse(words) == typer_door(words, monkeypatch)


@pytest.mark.parametrize(
    "words",
    [[], ["nope"], ["--json"], ["note"], ["note", "a", "b"], ["note", "a", "--nope"], ["note", "a", "--why"],
     ["note", "a", "--json=1"], ["show", "--budget", "²"], ["show", "--budget", "--5"], ["show", "-x"]],
    ids=" ".join,
)  # fmt: skip
def test_the_quick_parser_leaves_wrong_words_to_the_other_door(words: list[str]) -> None:
    assert door.parse(words) is None


def test_every_command_has_its_function() -> None:
    from importlib import import_module

    for row in TABLE:
        module, _, function = row.function.partition(":")
        assert callable(getattr(import_module(f"learnloop_md.{module}"), function))


def test_every_writing_command_takes_dry_run_and_every_command_json() -> None:
    """R004-95."""
    looks = {
        "show",
        "recall",
        "diff",
        "status",
        "log",
        "demo",
        "merge-driver",
        "reflect",
        "doctor",
        "why",
        "textconv",
        "report",
        "replay",
        "stats",
        "where",
    }  # a merge driver and a report write where they are told
    flags = {name: {option.flag for option in row.options} for name, row in BY_NAME.items()}
    assert flags.pop("hook") == set()  # the client alone calls it, and JSON is all it speaks
    assert flags.pop("mcp") == {"--memory"}  # its standard output carries the protocol alone
    assert all("--json" in given for given in flags.values())
    assert {name for name, given in flags.items() if "--dry-run" not in given} == looks


# --- the streams --------------------------------------------------------------------------------------------


def program(words: list[str], cwd: Path, **env: str) -> Ran:
    """Run the program as a process of its own, its output a pipe."""
    command = [sys.executable, "-m", "learnloop_md", *words]
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **env}, capture_output=True, check=False)
    return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


@pytest.mark.parametrize("env", [{"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C", "LANG": "C"}], ids=str)
def test_output_is_utf8_whatever_the_console_says(memory: Path, repo: Path, env: dict[str, str]) -> None:
    done = program(["note", "Prüfe 对账 🐍 zuerst."], repo, **env)
    assert done.code == 0
    assert "Saving as feedback: Prüfe 对账 🐍 zuerst" in done.out


def test_a_reader_that_goes_away_is_no_news(world: Path) -> None:
    command = [sys.executable, "-m", "learnloop_md", "show"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, cwd=world, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_answer_that_cannot_be_written_is_exit_4(world: Path) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "learnloop_md", "show"]
        done = subprocess.run(command, cwd=world, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (4, 1)
    assert b"No space left on device" in done.stderr


def test_closed_streams_are_no_bug(world: Path) -> None:
    script = f"exec {sys.executable} -m learnloop_md show <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", script], cwd=world, check=False).returncode == 0


def test_a_working_directory_that_is_gone_is_one_line(tmp_path: Path) -> None:
    script = f'mkdir gone; cd gone; rmdir ../gone; exec "{sys.executable}" -P -m learnloop_md show'
    package = str(Path(__main__.__file__).parent.parent)
    env = {**os.environ, "PYTHONPATH": package}
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (4, 1)


def test_control_characters_of_a_lesson_never_reach_the_terminal(world: Path, learnloop: Run) -> None:
    path = world / ".claude" / "memory" / "down.md"
    path.write_text(path.read_text().replace("description: Read", 'description: "\\e[2J\\u202e" # Read'))
    for words in (["review", "--list"], ["show", "down"], ["status"], ["check"]):
        done = learnloop(*words)
        assert "\x1b" not in done.out + done.err
        assert "\u202e" not in done.out + done.err


def test_a_diff_is_coloured_only_for_a_terminal_that_wants_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """NO_COLOR."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    assert answer.use_colour()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not answer.use_colour()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not answer.use_colour()


def test_a_coloured_diff() -> None:
    shown = answer.coloured("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+\x1b[2J\n y", colour=True)
    assert shown.split("\n") == [
        "\x1b[1m--- a\x1b[0m",
        "\x1b[1m+++ b\x1b[0m",
        "\x1b[36m@@ -1 +1 @@\x1b[0m",
        "\x1b[31m-x\x1b[0m",
        "\x1b[32m+\\x1b[2J\x1b[0m",
        " y",
    ]


def test_hints_use_the_spelling_by_which_it_was_called(
    memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R004-73."""
    monkeypatch.setattr("sys.argv", ["/usr/bin/learnloop-md"])
    assert "learnloop-md note" in learnloop("show").out


def test_the_log_reads_like_what_was_done(world: Path, learnloop: Run) -> None:
    learnloop("pin", "down")
    assert subjects(world)[:2] == ["learnloop: pin down", "learnloop: confirm down"]


@pytest.mark.parametrize(
    "words",
    [
        ["show", "TOKEN"],
        ["rename", "down", "TOKEN"],
        ["note", "Read it.", "--name", "TOKEN"],
        ["note", "Read it.", "--type", "TOKEN"],
        ["note", "Read it.", "--run", "TOKEN"],
        ["confirm", "down", "--evidence", "seen with TOKEN"],
        ["archive", "down", "--note", "TOKEN leaked"],
        ["log", "TOKEN"],
        ["undo", "TOKEN"],
        ["status", "--memory", "TOKEN"],
        ["codify", "down", "--into", "CLAUDE.md", "--branch", "fix-TOKEN"],
        ["codify", "down", "--into", "TOKEN.md"],
        ["propose", "--branch", "fix-TOKEN"],
        ["export", "agents", "--to", "TOKEN.md"],
        ["init", "--dir", "TOKEN", "--yes"],
        ["run", "start", "--run", "TOKEN"],
        ["replay", "--task", "TOKEN"],
        ["capture", "--prompt", "--task", "TOKEN"],
        ["show", "--today", "TOKEN"],
        ["TOKEN"],
        ["show", "--TOKEN"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_secret_that_was_given_is_never_repeated(
    memory: Path, repo: Path, learnloop: Run, words: list[str], form: tuple[str, ...]
) -> None:
    """R004-20: not in an error either, whatever it was given as."""
    token = "".join(("ghp", "_", "a7Kq2Zx9Rb4Tm1Wc8Ld5" * 2))[:40]
    learnloop("note", "Read the down step first.", "--name", "down", "--run", "r1")
    done = learnloop(*(word.replace("TOKEN", token) for word in words), *form)
    assert done.code != 0
    assert token[8:30] not in done.out + done.err
    there = [path for root in (repo, Path(os.environ["HOME"])) for path in root.rglob("*")]
    assert not [path for path in there if token[8:30] in path.name]
    assert all(token[8:30].encode() not in path.read_bytes() for path in there if path.is_file())
