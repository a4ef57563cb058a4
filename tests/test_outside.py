"""Measures and scanners made by others (`pip install '.[outside,secrets]'`; without them skipped)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import security
from tests.conftest import Run


def test_agmi_edits_at_rest_are_reported(tmp_path: Path) -> None:
    """docs/security.md: nine of nine; without the witness the rollback of the whole store goes unseen."""
    pytest.importorskip("agmi")
    assert [row for row in security.integrity(tmp_path / "anchored") if not row.good] == []
    unseen = [row.name for row in security.integrity(tmp_path / "alone", anchored=False) if not row.good]
    assert unseen == ["T9 snapshot rollback"]


def test_amsb_attacks_do_not_come_back_and_benign_notes_do(tmp_path: Path) -> None:
    """docs/security.md: 15 of 15 attacks, 6 of 6 benign controls."""
    pytest.importorskip("agent_memory_guard")
    rows = security.poisoning(tmp_path / "bench")
    assert [row for row in rows if not row.good] == []
    assert (len(rows), sum(row.harmless for row in rows)) == (21, 6)


def test_a_measure_that_is_missing_is_said_and_not_reached(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("agmi", "agmi.check", "agent_memory_guard", "agent_memory_guard.bench.harness"):
        monkeypatch.setitem(sys.modules, name, None)
    assert security.main() == 1
    out = capsys.readouterr().out
    assert (out.count("not measured"), out.endswith("not reached\n")) == (2, True)


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
