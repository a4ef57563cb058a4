"""How often plain git, without a merge driver, conflicts where two branches each add one thing to a memory.

`python -m tests.stress.conflicts 200` tries that many pairs for each number of neighbours, by `git merge-tree`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from learnloop_md import index, lessonfile
from learnloop_md.lesson import Event, merged_events

NEIGHBOURS = range(5)
LESSON = "---\nname: a\ndescription: Do it\nmetadata:\n  type: feedback\n  state: candidate\n---\n\nDo it.\n"


def memory(slugs: list[str]) -> str:
    """MEMORY.md with a candidate for each slug, as the tool sorts them in."""
    lines = {(f"{slug}.md", 0): ("candidate", f"- [{slug.capitalize()}]({slug}.md) — hook") for slug in slugs}
    return index.with_lines(index.NEW, lines)


def lesson(runs: list[str]) -> str:
    """A lesson with a sighting by each run, as the tool sorts them in."""
    return lessonfile.with_fields(LESSON, {"seen": merged_events(Event("2026-05-26", run) for run in runs)})


def word(random: Random) -> str:
    return "".join(random.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(8))


def run(random: Random) -> str:
    return f"{random.randrange(1 << 32):08x}"


def conflicts(form: Callable[[list[str]], str], name: Callable[[Random], str], neighbours: int, pairs: int) -> int:
    """Of so many pairs of branches, how many git cannot merge by itself."""
    random = Random(neighbours)
    with tempfile.TemporaryDirectory(prefix="learnloop-") as folder:
        root = Path(folder)
        git(root, "init", "-q", "-b", "main")
        stream: list[str] = []
        for pair in range(pairs):
            base = [name(random) for _ in range(neighbours)]
            for mark, texts in enumerate((base, [*base, name(random)], [*base, name(random)])):
                text = form(texts)
                parent = f"from refs/heads/{pair}-0\n" if mark else ""
                stream.append(
                    f"commit refs/heads/{pair}-{mark}\ncommitter A <a@example.invalid> 0 +0000\ndata 1\nx\n{parent}"
                    f"M 100644 inline MEMORY.md\ndata {len(text.encode())}\n{text}\n"
                )
        git(root, "fast-import", "--quiet", given="".join(stream))
        return sum(git(root, "merge-tree", "--write-tree", f"{pair}-1", f"{pair}-2") == 1 for pair in range(pairs))


def git(root: Path, *args: str, given: str = "") -> int:
    """git's exit code; 1 is a conflict, anything above is no answer."""
    done = subprocess.run(["git", *args], cwd=root, input=given.encode(), capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.returncode


def main(pairs: int) -> None:
    """Print a row for each form."""
    print(f"neighbours           {'  '.join(f'{n:>4}' for n in NEIGHBOURS)}   (of {pairs} pairs each)")
    for title, form, name in (("a line in MEMORY.md", memory, word), ("an event in seen", lesson, run)):
        shares = [100 * conflicts(form, name, n, pairs) / pairs for n in NEIGHBOURS]
        print(f"{title:<20} {'  '.join(f'{share:3.0f}%' for share in shares)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
