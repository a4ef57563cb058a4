"""Every item of bad input has the outcome, the reason and the cost that were promised (docs/security.md)."""

from __future__ import annotations

import pytest

from tests.bad_inputs import Item, QuickBench, items, judge


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> QuickBench:
    """One memory for all items, made anew for each."""
    return QuickBench(tmp_path_factory.mktemp("bench") / "bench")


# Ten thousand lesson files take half a minute to write: `python -m tests.bad_inputs` has them.
HERE = [item for item in items() if item.id != "fs-15-10k-files"]


@pytest.mark.parametrize("item", HERE, ids=lambda item: item.id)
def test_bad_input_ends_as_promised(bench: QuickBench, item: Item) -> None:
    """R004-20: refused, quarantined or escaped by its reason, nothing echoed, within 2 s and 200 MB."""
    assert judge(bench, item).wrong == ()
