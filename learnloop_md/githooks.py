"""The person's own commit hooks, run for a commit of ours before it is made (setting commit.run_hooks)."""

from __future__ import annotations

import tempfile
from pathlib import Path

from learnloop_md import guard, locks, plumbing
from learnloop_md.git import GitError, Repo, call
from learnloop_md.plumbing import Commit

LIMIT_S = 50.0  # of both hooks together; who waits for the memory's lock does so for 60


def agreed(repo: Repo, parent: str, work: Commit) -> str:
    """A commit's message as commit-msg leaves it. Raises GitError where a hook refuses.

    The hooks see a checkout of the commit to be, away from the person's: tools like pre-commit put aside what the index
    that they are given does not have, and there that would be all of the person's open work.
    """
    hooks = repo.root / call(repo.root, "rev-parse", "--git-path", "hooks", hooks=True).stdout.decode().rstrip("\n")
    with plumbing.index_of(repo, parent, work.files) as index, tempfile.TemporaryDirectory(prefix="learnloop-") as name:
        top, text = Path(name, repo.root.name), Path(name, "COMMIT_EDITMSG")
        top.mkdir()
        text.write_bytes(work.message.encode(errors="surrogateescape"))
        env = {**index, **(work.who or {}), "GIT_DIR": str(repo.git_dir), "GIT_WORK_TREE": str(top), locks.ACTIVE: "1"}
        call(top, "checkout-index", "--all", "--index", "--quiet", extra=env)
        for hook in (["pre-commit"], ["commit-msg", "--", str(text)]):
            _run(top, hooks, hook, {**env, "GIT_LITERAL_PATHSPECS": "0"})
        return _fit(text.read_bytes().decode(errors="surrogateescape"))


def _fit(message: str) -> str:
    """A message that a hook has left. Raises GitError for none, which is how git is told no, and for a secret in it."""
    if not message.strip():
        raise GitError("the commit-msg hook left no message")
    if guard.find_secrets(message):
        raise GitError("the commit-msg hook left what looks like a secret in the message")
    return message


def _run(top: Path, hooks: Path, hook: list[str], env: dict[str, str]) -> None:
    words = ["-c", f"core.hooksPath={hooks}", "hook", "run", "--ignore-missing", *hook]
    try:
        done = call(top, *words, given=b"", extra=env, check=False, limit_s=LIMIT_S / 2, hooks=True)
    except GitError as error:
        raise GitError(f"the {hook[0]} hook took more than {LIMIT_S / 2:g} s", error.hint) from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), f"exit {done.returncode}")
        told = "(a line that looks like a secret)" if guard.find_secrets(last) else last[:200]
        raise GitError(f"the {hook[0]} hook refuses it: {told}", "mend what it names, then: learnloop sync")
