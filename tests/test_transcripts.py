"""What `status` and `review` print on a terminal without colours, word for word (tests/data/transcripts)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import DATA, CopyOf, Run
from tests.homes import Home, make_home
from tests.test_review import terminal

TODAY = "2026-06-10"
ANSWERS = "g\ns\nx\na\n\na\ntoo narrow\nm\nquote-paths-in-scripts\nq\n"


@pytest.fixture
def home(copy_of: CopyOf, learnloop: Run, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Candidates of several ages, two of them alike, one that would steer a terminal; a current and an archived one."""
    monkeypatch.setenv("COLUMNS", "80")

    def build(root: Path) -> Home:
        home = make_home("project", root, learnloop)
        rows = [
            ("2026-05-20", "Count rows before a backfill.", "r1"),
            ("2026-06-02", "Quote paths in scripts.", "r1"),
            ("2026-06-03", "Mock the clock in timer tests.", "r1"),
            ("2026-06-04", "Read the failing log first.", "r1"),
            ("2026-06-05", "Bound every retry of a call.", "r1"),
            ("2026-06-06", "Stage files by name.", "r1"),
            ("2026-06-07", "Stage files by name.", "r2"),
            ("2026-06-08", "Use the old formatter.", "r1"),
        ]
        for day, rule, run in rows:
            words = ("--run", run, "--today", day, "--why", "It went wrong.", "--evidence", f"PR {day[-1]}")
            assert learnloop("note", rule, *words, cwd=home.root).code == 0
        archived = ("archive", "use-the-old", "--note", "Replaced", "--today", "2026-06-09")
        assert learnloop(*archived, cwd=home.root).code == 0
        path = home.file("mock-the-clock-in-timer-tests")
        text = path.read_text().replace("It went wrong.", "It was \u202ewrong.")
        path.write_text(text.replace("evidence: PR 3", 'evidence: "\\e[2J\\e]0;owned\\a"'))
        for command in (("accept", "mock-the-clock-in-timer-tests"), ("sync",)):
            done = learnloop(*command, "--today", "2026-06-09", cwd=home.root)
            assert done.code == 0, done.err
        return home

    return copy_of("recorded", build)


def compare(home: Home, name: str, shown: str) -> None:
    """Fail with a diff where a command prints something else than what was recorded."""
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", shown), "nothing steers the terminal"
    shown = re.sub(r"\b[0-9a-f]{10}\b", "COMMIT", shown.replace(str(home.root), "REPO"))
    recorded = DATA / "transcripts" / name
    if os.environ.get("RECORD_TRANSCRIPTS"):
        recorded.write_text(shown, "utf-8")
    assert shown == recorded.read_text("utf-8")


def test_status_reads_as_recorded(home: Home) -> None:
    compare(home, "status.txt", home.learnloop("status", "--today", TODAY, cwd=home.root).out)


def test_review_reads_as_recorded(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(ANSWERS) as slave, os.fdopen(slave) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        done = home.learnloop("review", "--today", TODAY, "--run", "r9", cwd=home.root)
    compare(home, "review.txt", done.out + "--- standard error\n" + done.err)


def test_on_a_terminal_the_diff_is_coloured_and_the_lessons_still_steer_nothing(home: Home) -> None:
    """The colours are ours: NO_COLOR and a terminal that knows none get plain text."""
    code = "import os, sys, pty; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
    words = [sys.executable, "-c", code, sys.executable, "-m", "learnloop_md", "status", "--today", TODAY]
    env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    shown = []
    for more in ({"TERM": "xterm"}, {"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}):
        done = subprocess.run(
            words, cwd=home.root, env={**env, **more}, capture_output=True, stdin=subprocess.DEVNULL, check=True
        )
        shown.append(done.stdout.decode())
    assert ["\x1b[32m+" in text for text in shown] == [True, False, False]
    assert ["\x1b" in text for text in shown] == [True, False, False]
    assert set(re.findall("\x1b[^m]*m", shown[0])) <= {f"\x1b[{n}m" for n in (0, 1, 31, 32, 36)}
