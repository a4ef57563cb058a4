"""Every reader against any bytes: what once broke one, bent seeds, bytes out of nothing (docs/testing.md, Fuzzing)."""

from __future__ import annotations

import subprocess
import sys
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import __main__ as fuzz
from tests.fuzz.targets import TARGETS, run

KEPT = [(path.parent.name, path.name) for path in sorted(fuzz.KEPT.glob("*/*"))]


@pytest.mark.parametrize(("name", "file"), KEPT, ids=["-".join(row) for row in KEPT])
def test_what_once_broke_a_reader_does_so_no_more(name: str, file: str) -> None:
    run(name, (fuzz.KEPT / name / file).read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes_have_an_answer(name: str) -> None:
    """Design §3: what cannot be read is refused with a code; no reader ends in anything else."""

    @settings(max_examples=60)
    @given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
    def holds(data: bytes) -> None:
        run(name, data)

    holds()


@pytest.mark.parametrize("name", TARGETS)
def test_any_bent_seed_has_an_answer(name: str) -> None:
    """The same of real files with bytes taken out, doubled and exchanged."""
    known = fuzz.seeds(name)

    @settings(max_examples=60)
    @given(st.randoms(use_true_random=False))
    def holds(random: Random) -> None:
        run(name, bent(random, known))

    holds()


def bent(random: Random, known: list[bytes]) -> bytes:
    """One of the seeds, changed in a few places."""
    data = random.choice(known)
    for _ in range(random.randint(1, 4)):
        at, until = sorted(random.randint(0, len(data)) for _ in range(2))
        until = min(until, at + 40)
        other = random.choice(known)
        start = random.randint(0, len(other))
        piece = random.choice([b"", data[at:until] * 2, other[start : start + 40], bytes([random.randint(0, 255)])])
        data = data[:at] + piece + data[until:]
    return data


def test_without_atheris_the_search_says_so() -> None:
    """Loud, and never taken for a search that found nothing."""
    code = (
        "import sys; sys.modules['atheris'] = None; sys.argv = ['x']; "
        "from tests.fuzz.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=fuzz.ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install atheris" in done.stderr) == (2, True)
