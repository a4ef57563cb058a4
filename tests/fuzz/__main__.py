"""Coverage-guided search for input that breaks a reader: `python -m tests.fuzz`, ten minutes by default.

It needs atheris (`pip install atheris`), each reader in a process of its own. What broke one is printed, and stays as
a file in tests/data/fuzz/READER, where tests/test_fuzz.py tries it from then on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"
KEPT = DATA / "fuzz"
ROOT = Path(__file__).parents[2]
LONGEST = 4096  # bytes of an input
HUNG = 10  # seconds for one input


def seeds(name: str) -> list[bytes]:
    """Inputs to begin with: the shapes and bad inputs of the suite, and what once broke the reader."""
    from tests import bad_inputs

    found = [path.read_bytes() for path in sorted(DATA.rglob("*.md")) + sorted((KEPT / name).glob("*"))]
    found += [item.content for item in bad_inputs.items()]
    if name == "yamlhead":
        found += [text.split(b"\n---\n")[0].removeprefix(b"---\n") for text in found]
    if name == "guards":
        found += [json.loads(row)["text"].encode() for row in (DATA / "hostile.jsonl").read_text("utf-8").splitlines()]
        key = "".join(("AKIA", "IOSFODNN7", "EXAMPLE"))
        rows = (DATA / "documented.jsonl").read_text("utf-8").splitlines()
        found += [json.loads(row)["text"].replace("{K}", key).encode() for row in rows]
    if name == "jsonedit":
        found += [
            b'{"hooks": {"Stop": [{"hooks": []}]}, "a": [1, "\\u00e9", null]}\n',
            b'\xef\xbb\xbf{\r\n\t"a": {}\r\n}',
        ]
    if name == "transcript":
        found += [
            b'{"type":"user","message":{"role":"user","content":"No, use pnpm."}}\n',
            b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"a"}}]}}\n'
            b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"x"}]}}',
        ]
    return [data for data in dict.fromkeys(found) if len(data) <= LONGEST]


def search(name: str, seconds: int, corpus: str, crashes: str) -> None:
    """Search one reader until the time is up or an input breaks it; ends this process."""
    import atheris

    with atheris.instrument_imports(include=["learnloop_md"]):
        from tests.fuzz import targets

    def one(data: bytes) -> None:
        targets.run(name, data)

    words: list[Any] = [
        sys.argv[0], f"-max_total_time={seconds}", f"-timeout={HUNG}", f"-max_len={LONGEST}", "-verbosity=0",
        f"-artifact_prefix={crashes}/", "-print_final_stats=1", corpus,
    ]  # fmt: skip
    atheris.Setup(words, one)
    atheris.Fuzz()


def main() -> int:
    """Search each reader for its share of the time; exit 1 where one broke, 2 where atheris is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=int, default=600, help="for all readers together")
    parser.add_argument("--only", action="append", help="a reader; may be given more than once")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--corpus", help=argparse.SUPPRESS)
    parser.add_argument("--crashes", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not _has_atheris():
        print("not run: atheris is missing: pip install atheris", file=sys.stderr)
        return 2
    if given.one:
        search(given.one, given.seconds, given.corpus, given.crashes)
    from tests.fuzz.targets import TARGETS

    names = given.only or list(TARGETS)
    if strange := set(names) - set(TARGETS):
        parser.error(f"no reader {', '.join(sorted(strange))}; there are {', '.join(TARGETS)}")
    broken = 0
    for name in names:
        broken += _searched(name, max(1, given.seconds // len(names)))
    print("not reached: tests/data/fuzz holds what broke a reader" if broken else "reached: no input broke a reader")
    return int(bool(broken))


def _has_atheris() -> bool:
    try:
        return find_spec("atheris") is not None
    except ValueError:  # somebody put None in its place
        return False


def _searched(name: str, seconds: int) -> int:
    """How many inputs broke a reader; each is kept and told."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, crashes = Path(folder, "corpus"), Path(folder, "crashes")
        corpus.mkdir()
        crashes.mkdir()
        for n, data in enumerate(seeds(name)):
            (corpus / str(n)).write_bytes(data)
        words = ["--one", name, "--seconds", str(seconds), "--corpus", str(corpus), "--crashes", str(crashes)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz", *words], cwd=ROOT, capture_output=True, check=False,
            timeout=seconds + 120,
        )  # fmt: skip
        told = done.stderr.decode("utf-8", "replace")
        runs = next((row.split()[-1] for row in told.splitlines() if "number_of_executed_units" in row), "?")
        found = sorted(crashes.iterdir())
        print(f"{name:12} {runs} inputs in {seconds} s, {len(found)} broke it", flush=True)
        for path in found:
            keep = KEPT / name / hashlib.sha256(path.read_bytes()).hexdigest()[:12]
            keep.parent.mkdir(parents=True, exist_ok=True)
            keep.write_bytes(path.read_bytes())
            print(f"  {keep.relative_to(ROOT)}")
        if found or done.returncode:
            print("\n".join(f"  {row}" for row in told.splitlines()[-30:]))
        return len(found) or int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
