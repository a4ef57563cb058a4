"""Every stress script in its long form, one after the other: python -m tests.stress."""

from __future__ import annotations

import sys
import time

from tests.stress import branches, canaries, concurrency, crash, diff, disk, faults, hooks

SCRIPTS = {
    "hooks": hooks.main,
    "branches": branches.main,
    "diff": diff.main,
    "canaries": canaries.main,
    "disk": disk.main,
    "faults": faults.main,
    "crash": crash.main,
    "concurrency": concurrency.main,
}


def main() -> int:
    """Run them all; 0 where every goal is reached."""
    codes = {}
    for name, script in SCRIPTS.items():
        print(f"--- {name}", flush=True)
        began = time.monotonic()
        codes[name] = script([])
        print(f"({time.monotonic() - began:.0f} s)\n", flush=True)
    missed = [name for name, code in codes.items() if code]
    print(f"not reached: {', '.join(missed)}" if missed else f"reached: all {len(codes)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
