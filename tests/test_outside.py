"""Measures and scanners made by others (`pip install '.[outside,secrets]'`; without them skipped)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from learnloop_md import memory as memories
from learnloop_md import place as places
from tests.conftest import Run

# A documentation key of AWS, which passes by rule: `AKIA…EXAMPLE` is in every manual.
PASSES_BY_RULE = {"leak-aws-key"}


class Adapter:
    """A memory as AMSB sees one: a value is noted with its key, and read back from what is served."""

    name, version, self_submission = "learnloop-md", "0", False

    def __init__(self, learnloop: Run, folder: Path) -> None:
        self.learnloop, self.folder = learnloop, folder
        folder.mkdir()
        (folder / "MEMORY.md").write_text("# Memory\n")

    def remember(self, key: str, value: Any, *, source_class: str = "") -> Any:
        from agent_memory_guard.bench.adapter import RememberOutcome

        words = ("note", f"{key}: {value}", "--new", "--run", source_class or "r1", "--memory", str(self.folder))
        done = self.learnloop(*words, cwd=self.folder)
        return RememberOutcome.STORED if done.code == 0 else RememberOutcome.BLOCKED

    def recall(self, key: str) -> str | None:
        served = memories.load(places.find(self.folder, str(self.folder))).lessons.values()
        found = [row.rule.removeprefix(f"{key}: ") for row in served if row.rule.startswith(f"{key}: ")]
        return found[-1] if found else None

    def context_reset(self) -> None:
        """Nothing: a memory is files."""


def test_amsb_attacks_do_not_come_back_and_benign_notes_do(tmp_path: Path, learnloop: Run) -> None:
    """docs/security.md: 14 of 15 attacks, 6 of 6 benign controls."""
    pytest.importorskip("agent_memory_guard")
    from agent_memory_guard.bench.harness import run_suite

    count = iter(range(1000))
    report = run_suite(lambda: Adapter(learnloop, tmp_path / f"memory{next(count)}"))
    attacks = [run for run in report.runs if run.malicious]
    assert {run.scenario_id for run in attacks if not run.passed} == PASSES_BY_RULE
    assert [run.scenario_id for run in report.runs if not run.malicious and not run.passed] == []
    assert (len(attacks), len(report.runs)) == (15, 21)


def test_check_secrets_lets_betterleaks_look_too(memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What only the other scanner knows is an error at its place; what both know is told once; no value is repeated."""
    pytest.importorskip("betterleaks")
    value = "".join(("a1B2c3D4", "e5F6g7H8", "i9J0k1L2", "m3N4o5P6"))
    token = "".join(("ghp", "_", value, "q7R8"))
    (memory / "notes.md").write_text(f"# Notes\n\nUse {token} here.\n")
    done = learnloop("check", "--secrets")
    assert (done.code, done.out.count("notes.md:3: secret:"), value in done.out + done.err) == (1, 1, False)
    from learnloop_md import outside

    monkeypatch.setattr(outside, "secrets", lambda text: [(1, "other-rule")] if "# Notes" in text else [])
    assert "notes.md:1: secret:other-rule error" in learnloop("check", "--secrets").out


def test_check_secrets_says_how_to_get_the_scanner(
    memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "betterleaks", None)
    done = learnloop("check", "--secrets")
    assert (done.code, "learnloop-md[secrets]" in done.err) == (2, True)
