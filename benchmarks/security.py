"""How the memory stands up to measures that others made: `python -m benchmarks.security` prints the figures.

- agmi (agent-memory-integrity): nine edits of a store at rest behind its tool's back; each has to be reported by
  `verify --witness`. The witness lies in the state folder of the person's home: who holds the repository, git
  directory and all, does not hold it.
- AMSB (agent-memory-guard): 15 poisoned notes of which nothing may come back, and 6 harmless ones that must.

`pip install '.[outside]'` installs both; what is missing is said and counts as not reached.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tests.bad_inputs import QuickBench


class Row(NamedTuple):
    """One attack or harmless control: what came of it, and whether that is as it should be."""

    name: str
    verdict: str
    good: bool
    harmless: bool = False


# --- agmi -------------------------------------------------------------------------------------------------------------


def integrity(folder: Path, *, anchored: bool = True) -> list[Row]:
    """What agmi's edits at rest came to; without the anchor the witness is lost before each look.

    Raises ImportError where agmi is not installed.
    """
    check = import_module("agmi.check")
    store = _at_rest(QuickBench(folder), anchored=anchored)
    return [Row(row["edit"], row["verdict"], row["verdict"] == "REJECTED") for row in check.run(store)]


def _at_rest(bench: QuickBench, *, anchored: bool) -> Any:
    """A memory as agmi sees a store: a lesson file is a record, its slot is the file's name, its owner the memory."""
    base = import_module("agmi.adapters.base")
    second = bench.root / "second"
    state = bench.base / "home" / ".local"

    class Learnloop(base.MemoryAdapter):  # type: ignore[misc, name-defined]
        name = "learnloop-md"
        supports_replay = supports_metadata = supports_snapshot = True

        def setup(self) -> None:
            shutil.rmtree(state, ignore_errors=True)
            bench.fresh()

        def teardown(self) -> None:
            """Nothing: the next setup begins again."""

        def seed(self, n: int) -> None:
            for slot in range(n):
                self._note(slot, "Rule", bench.memory)

        def seed_other(self, n: int) -> None:
            second.mkdir()
            (second / "MEMORY.md").write_text("# Memory\n")
            for slot in range(n):
                self._note(slot, "Foreign rule", second)

        def append_genuine(self) -> None:
            self._note(len(self.read_all_raw()), "Rule", bench.memory)

        def _note(self, slot: int, what: str, memory: Path) -> None:
            words = (f"{what} number {slot} stands.", "--new", "--name", f"slot-{slot}", "--run", f"r{slot}")
            done = bench.run("note", *words, "--memory", str(memory))
            assert done.code == 0, done.err

        def read_all_raw(self) -> list[Any]:
            return self._records(bench.memory)

        def read_other_raw(self) -> list[Any]:
            return self._records(second)

        def _records(self, memory: Path) -> list[Any]:
            files = {int(path.stem.removeprefix("slot-")): path for path in memory.glob("slot-*.md")}
            return [
                base.Record(slot, {"text": files[slot].read_text(), "owner": memory.name}) for slot in sorted(files)
            ]

        def write_raw(self, record: Any) -> None:
            self._file(record.seq).write_text(record.fields["text"])

        def delete_raw(self, seq: int) -> None:
            self._file(seq).unlink()

        def replay_onto(self, victim_seq: int, donor: Any) -> None:
            self._file(victim_seq).write_text(donor.fields["text"])

        def _file(self, seq: int) -> Path:
            return bench.memory / f"slot-{seq}.md"

        def mutate_payload(self, record: Any) -> Any:
            record.fields["text"] = record.fields["text"].replace("stands.", "is void.")
            return record

        def identity_of(self, record: Any) -> str:
            return f"{record.fields['owner']}:{record.seq}"

        def payload_of(self, record: Any) -> str:
            return str(record.fields["text"]).split("\n---\n", 1)[1]

        def owner_of(self, record: Any) -> str:
            return str(record.fields["owner"])

        def read_meta(self, seq: int) -> dict[str, Any]:
            head = self._file(seq).read_text().split("\n---\n", 1)[0]
            return dict(re.findall(r"(?m)^ *([\w-]+): (.+)$", head))

        def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
            new = {key: value for key, value in meta.items() if key not in self.read_meta(seq)}
            lines = "".join(f"\n{key}: {value}" for key, value in new.items())
            self._file(seq).write_text(self._file(seq).read_text().replace("\n---\n", f"{lines}\n---\n", 1))

        def snapshot_store(self) -> str:
            return str(self._copy_store(bench.root))

        def restore_store(self, token: str) -> None:
            self._restore_store(token, bench.root)
            shutil.rmtree(Path(token).parent)

        def reload(self) -> None:
            if not anchored:
                shutil.rmtree(state, ignore_errors=True)

        def verify(self) -> bool:
            done = bench.run("verify", "--witness")
            self.verify_detail = (done.out + done.err).splitlines()[0]
            return done.code == 0

    return Learnloop()


# --- AMSB -------------------------------------------------------------------------------------------------------------


def poisoning(folder: Path) -> list[Row]:
    """What AMSB's scenarios came to. Raises ImportError where agent-memory-guard is not installed."""
    harness = import_module("agent_memory_guard.bench.harness")
    bench = QuickBench(folder)

    def made() -> _Recalled:
        bench.fresh()
        return _Recalled(bench)

    told = {(True, True): "stopped", (True, False): "came back", (False, True): "kept", (False, False): "kept out"}
    return [
        Row(run.scenario_id, told[run.malicious, run.passed], run.passed, not run.malicious)
        for run in harness.run_suite(made).runs
    ]


class _Recalled:
    """A memory as AMSB sees one: a value is noted with its key, and read back from what is served."""

    name, version, self_submission = "learnloop-md", "0", False

    def __init__(self, bench: QuickBench) -> None:
        self.bench = bench

    def remember(self, key: str, value: Any, *, source_class: str = "") -> Any:
        outcome = import_module("agent_memory_guard.bench.adapter").RememberOutcome
        done = self.bench.run("note", f"{key}: {value}", "--new", "--run", source_class or "r1")
        return outcome.STORED if done.code == 0 else outcome.BLOCKED

    def recall(self, key: str) -> str | None:
        from learnloop_md import memory, place

        served = memory.load(place.find(self.bench.root, str(self.bench.memory))).lessons.values()
        found = [row.rule.removeprefix(f"{key}: ") for row in served if row.rule.startswith(f"{key}: ")]
        return found[-1] if found else None

    def context_reset(self) -> None:
        """Nothing: a memory is files."""


# --- the table --------------------------------------------------------------------------------------------------------


def main() -> int:
    """Print each row and the figures; exit 1 where a goal is missed or a measure is not installed."""
    lines: list[str] = []
    good = True
    measures: tuple[tuple[str, Callable[[Path], list[Row]]], ...] = (("agmi", integrity), ("AMSB", poisoning))
    with tempfile.TemporaryDirectory() as folder:
        for name, measure in measures:
            try:
                rows = measure(Path(folder) / name)
            except ImportError as error:
                lines.append(f"{name}: not measured, {error.name} is missing: pip install '.[outside]'")
                good = False
                continue
            for row in rows:
                print(f"{name:5} {row.name:32} {row.verdict}")
            lines += _figures(name, rows)
            good = good and all(row.good for row in rows)
    print("\n".join(["", *lines, "reached" if good else "not reached"]))
    return int(not good)


def _figures(name: str, rows: list[Row]) -> Iterator[str]:
    attacks, controls = [row for row in rows if not row.harmless], [row for row in rows if row.harmless]
    yield f"{name}: {sum(row.good for row in attacks)} of {len(attacks)} attacks stopped or reported"
    if controls:
        yield f"{name}: {sum(row.good for row in controls)} of {len(controls)} harmless ones kept"


if __name__ == "__main__":
    sys.exit(main())
