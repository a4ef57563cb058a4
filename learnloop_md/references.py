"""HEAD, locked before it moves: what goes along with it is put in place in between."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from learnloop_md import git
from learnloop_md.git import Repo


@contextmanager
def locked(repo: Repo, new: str, old: str, words: str, extra: Mapping[str, str]) -> Iterator[Callable[[], None]]:
    """Hold git's lock of HEAD, which is at old ("" for no commit yet); the function it yields moves it to new.

    words are for the reflog. Raises GitError where it is elsewhere or locked, and where it does not move; nothing has
    changed then.
    """
    with git.start(repo.root, "update-ref", "-m", words, "--stdin", extra=extra) as process:
        _ask(process, f"start\nupdate HEAD {new} {old or '0' * len(new)}\nprepare\n", "prepare: ok")

        def move() -> None:
            try:
                _ask(process, "commit\n", "commit: ok")
            except git.GitError:
                if git.head(repo) != new:
                    raise

        yield move  # git lets go of the lock when its input ends


def _ask(process: subprocess.Popen[bytes], words: str, answer: str) -> None:
    """Tell git something, and wait for its answer. Raises GitError where it ends instead."""
    assert process.stdin, "started with pipes"
    assert process.stdout, "started with pipes"
    assert process.stderr, "started with pipes"
    with suppress(BrokenPipeError):  # it has ended; its last line says why
        process.stdin.write(words.encode(errors="surrogateescape"))
    while row := process.stdout.readline():
        if row.decode().strip() == answer:
            return
    raise git.failed("update-ref", process.stderr.read(), process.wait())
