"""A killed command: the next one completes it, once, and nothing of it lies about."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from learnloop_md import git as door
from learnloop_md import journal, place, plumbing, references
from learnloop_md.plan import Edit, Plan
from tests.conftest import Run, git

RULE, SLUG = "Stage files by name.", "stage-files-by-name"
KILL = """
import os, signal, sys
from learnloop_md import __main__, {module} as module
kept, left = module.{name}, [{count}]
def killing(*given, **more):
    left[0] -= 1
    if not left[0] and {before}:
        {kill}
    got = kept(*given, **more)
    if not left[0]:
        {kill}
    return got
module.{name} = killing
sys.exit(__main__.main(sys.argv[1:]))
"""
# Where a command is killed: module, function, at which of its calls, before it (else right after it).
MOMENTS = {
    "the journal is written": ("journal", "save", 1, False),
    "one of two files is written": ("store", "write", 3, False),
    "both files are written": ("store", "write_all", 1, False),
    "a temporary file is written": ("store.os", "replace", 3, True),
    "the objects are written": ("plumbing", "tree_with", 1, False),
    "the index is locked": ("plumbing", "_take_lock", 1, False),
    "HEAD is locked": ("references", "_ask", 1, False),
    "the index is put in place, HEAD has not moved": ("plumbing.os", "replace", 4, False),
    "HEAD has moved, the old index is still kept": ("references", "_ask", 2, False),
    "HEAD and index have moved": ("plumbing", "commit", 1, False),
    "the ledger is not written": ("store", "save_ledger", 1, True),
    "the ledger is written": ("store", "save_ledger", 1, False),
}


# The same, of an end of a run that makes lessons of several held notes.
ENDS = {
    **MOMENTS,
    "a held note is about to be written": ("runs", "becomes", 1, False),
    "the first held note is kept": ("apply", "change", 1, False),
    "the second held note's files are written": ("store", "write_all", 2, False),
    "the second held note is kept": ("apply", "change", 2, False),
    "all held notes are kept": ("running", "record", 1, True),
    "the run is recorded": ("running", "record", 1, False),
    "the session is told": ("runs", "end", 1, True),
}


def killed(repo: Path, moment: str, *words: str, group: bool = False) -> None:
    """A command killed at a moment, alone or with every git that it has started."""
    kill = "os.killpg(0, signal.SIGKILL)" if group else "os.kill(os.getpid(), signal.SIGKILL)"
    module, name, count, before = ENDS[moment]
    first, _, rest = module.partition(".")
    code = KILL.format(module=first, name=f"{rest}.{name}" if rest else name, count=count, before=before, kill=kill)
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=repo,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=group,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def leftovers(repo: Path) -> list[str]:
    names = (".learnloop-", "index-", "marker-", "was-")
    found = [path for path in repo.rglob("*") if path.name.startswith(names) or path.name.endswith(".lock")]
    return [str(path) for path in found] + [str(path) for path in repo.rglob("journal.json")]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_note_is_completed_by_the_next_command(repo: Path, memory: Path, learnloop: Run, moment: str) -> None:
    """Reliability rows 7 and 8: nothing blocked, half, doubled or left over, the person's staged work as it was."""
    (repo / "mine.py").write_text("mine\n")
    git(repo, "add", "mine.py")
    staged = git(repo, "ls-files", "-s", "mine.py")
    killed(repo, moment, "note", RULE, "--run", "r1")
    ran = learnloop("sync", cwd=repo)
    assert (ran.code, "Traceback" in ran.err) == (0, False), ran.err
    assert git(repo, "log", "--format=%s").splitlines().count(f"learnloop: note {SLUG}") == 1
    assert git(repo, "status", "--porcelain") == "A  mine.py"
    assert git(repo, "ls-files", "-s", "mine.py") == staged
    assert (memory / "MEMORY.md").read_text().count(f"({SLUG}.md)") == 1
    assert leftovers(repo) == []
    git(repo, "fsck", "--strict")


def test_the_number_of_a_killed_command_may_be_another_process_s_by_now(
    repo: Path, memory: Path, learnloop: Run
) -> None:
    """In a container numbers begin anew at 1: the index is taken back all the same."""
    killed(repo, "the index is put in place, HEAD has not moved", "note", RULE)
    (kept,) = repo.rglob("was-*")
    kept.rename(kept.with_name(f"was-{os.getpid()}{kept.suffix}"))
    (repo / ".git" / "index.lock").write_text(f"learnloop-lock pid={os.getpid()}\n")
    assert learnloop("sync", cwd=repo).code == 0
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: note {SLUG}"
    assert list(repo.rglob("was-*")) == []


@pytest.mark.parametrize("moment", ENDS)
def test_a_killed_end_of_a_run_keeps_each_held_note_once(repo: Path, memory: Path, learnloop: Run, moment: str) -> None:
    """A held note that says it is new, has a name of its own or replaces a lesson is no second one when repeated."""
    learnloop("note", "Use the old formatter.", "--run", "r0", cwd=repo)
    learnloop("run", "start", "--run", "s", cwd=repo)
    for words in (
        (RULE, "--new"),
        ("Water the plants.", "--new", "--name", "plants"),
        ("Use the new formatter.", "--supersedes", "use-the-old-formatter"),
    ):
        assert learnloop("note", *words, "--run", "s", cwd=repo).code == 0
    killed(repo, moment, "run", "finish", "ok", "--verified", "--run", "s")
    ran = learnloop("run", "finish", "ok", "--verified", "--run", "s", "--json", cwd=repo)
    assert ran.code == 0, ran.err
    slugs = [SLUG, "plants", "use-the-new-formatter"]
    assert ran.json["kept"] == [{"action": "added", "slug": slug} for slug in slugs]
    assert sorted(path.stem for path in memory.glob("*.md") if path.stem != "MEMORY") == sorted(
        [*slugs, "use-the-old-formatter"]
    )
    told = [row.partition(" in place of ")[0] for row in git(repo, "log", "--format=%s").splitlines()]
    assert [told.count(f"learnloop: note {slug}") for slug in slugs] == [1, 1, 1]
    assert "state: archived" in (memory / "use-the-old-formatter.md").read_text()
    assert len(list((memory / ".runs").rglob("run_*.md"))) == 1
    assert git(repo, "status", "--porcelain") == ""
    assert leftovers(repo) == []


@pytest.mark.parametrize("words", [("finish", "failed"), ("abandon",)])
def test_a_note_that_a_killed_end_kept_is_not_told_as_held_or_dropped(
    repo: Path, memory: Path, learnloop: Run, words: tuple[str, ...]
) -> None:
    learnloop("run", "start", "--run", "s", cwd=repo)
    for rule in (RULE, "Water the plants."):
        learnloop("note", rule, "--new", "--run", "s", cwd=repo)
    killed(repo, "the first held note is kept", "run", "finish", "ok", "--verified", "--run", "s")
    assert learnloop("status", "--json", cwd=repo).json["runs"]["open"][0]["held"] == 1
    ran = learnloop("run", *words, "--run", "s", "--json", cwd=repo)
    assert ran.json["dropped"] == ["Water the plants."]


@pytest.mark.parametrize(
    "moment", ["the journal is written", "one of two files is written", "a held note is about to be written"]
)
@pytest.mark.parametrize("words", [("finish", "failed"), ("finish", "ok"), ("abandon",)])
def test_what_is_told_as_dropped_never_becomes_a_lesson(
    repo: Path, memory: Path, learnloop: Run, words: tuple[str, ...], moment: str
) -> None:
    """docs/runs.md: a journal that a killed end left is settled before it is told what became of its notes."""
    learnloop("run", "start", "--run", "s", cwd=repo)
    learnloop("note", RULE, "--new", "--run", "s", cwd=repo)
    killed(repo, moment, "run", "finish", "ok", "--verified", "--run", "s")
    begun = moment != "a held note is about to be written"
    refused = words == ("finish", "ok") and not begun  # it still waits: nothing is dropped
    before = learnloop("run", *words, "--dry-run", "--run", "s", cwd=repo)
    assert (before.code, "dropped" in before.out) == (3 if refused else 0, words == ("finish", "failed") and not begun)
    ran = learnloop("run", *words, "--run", "s", "--json", cwd=repo)
    assert (ran.code, ran.json.get("dropped", [])) == (3 if refused else 0, [] if begun or refused else [RULE])
    assert learnloop("sync", cwd=repo).code == 0
    assert (memory / f"{SLUG}.md").exists() is begun
    assert git(repo, "status", "--porcelain") == ""
    assert leftovers(repo) == []


def test_a_run_is_left_though_the_memory_of_its_note_is_gone(repo: Path, memory: Path, learnloop: Run) -> None:
    """What a killed end began there cannot be settled any more, nor become a lesson."""
    learnloop("run", "start", "--run", "s", cwd=repo)
    learnloop("note", RULE, "--new", "--run", "s", cwd=repo)
    killed(repo, "the journal is written", "run", "finish", "ok", "--verified", "--run", "s")
    shutil.rmtree(memory)
    ran = learnloop("run", "abandon", "--run", "s", "--json", cwd=repo)
    assert (ran.code, ran.json["dropped"]) == (0, [RULE])


@pytest.mark.parametrize("moment", ["one of two files is written", "the index is put in place, HEAD has not moved"])
def test_a_killed_codify_ends_with_rule_and_archive_together(
    repo: Path, memory: Path, learnloop: Run, moment: str
) -> None:
    """R002-42: a rule in a guide whose lesson stays a candidate would be half a change."""
    (repo / "CLAUDE.md").write_text("# Guide\n")
    git(repo, "add", "CLAUDE.md")
    git(repo, "commit", "-q", "-m", "Guide")
    learnloop("note", RULE, cwd=repo)
    killed(repo, moment, "codify", SLUG, "--into", "CLAUDE.md")
    assert learnloop("sync", cwd=repo).code == 0
    assert "codify" in git(repo, "log", "-1", "--format=%s")
    assert f"<!-- learnloop: {SLUG}" in git(repo, "show", "HEAD:CLAUDE.md")
    assert "state: archived" in git(repo, "show", f"HEAD:.claude/memory/{SLUG}.md")
    assert git(repo, "status", "--porcelain") == ""


def test_what_a_person_changed_after_the_crash_is_theirs(repo: Path, memory: Path, learnloop: Run) -> None:
    """A file that is neither as before nor as planned is not written over."""
    learnloop("note", RULE, "--run", "r1", cwd=repo)
    killed(repo, "the journal is written", "confirm", SLUG, "--run", "r2")
    file = memory / f"{SLUG}.md"
    file.write_text(file.read_text().replace("Stage files by name.", "Stage files by their names."))
    assert learnloop("sync", cwd=repo).code == 0
    assert "by their names" in git(repo, "show", f"HEAD:.claude/memory/{SLUG}.md")


def test_a_journal_of_half_a_line_was_never_begun(repo: Path, memory: Path, learnloop: Run) -> None:
    (place.find(repo).state / "journal.json").write_text('["a", "b", [[')
    assert learnloop("note", RULE, cwd=repo).code == 0
    assert git(repo, "status", "--porcelain") == ""


def test_a_journal_comes_back_as_it_was_written(repo: Path, memory: Path) -> None:
    found = place.find(repo)
    edits = (Edit("a\udcff.md", None, "text \udcff"), Edit("b.md", "x", None))
    kept = journal.Journal("c0ffee00", "main", (Plan("note", ("a",), "why", edits, ("c.md",), (("Run", "r"),), "s"),))
    journal.save(found, kept)
    assert journal.load(found) == kept
    command, branch, plans = kept
    file = found.state / "journal.json"
    file.write_text(json.dumps([command, branch, "abc", plans]))  # as the version before wrote it
    assert journal.load(found) == kept


# --- locks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "somebody else\n", "learnloop pid=1\n"])
def test_a_lock_of_somebody_else_is_never_removed(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Reliability row 9: an open editor holds the index's lock for as long as somebody types."""
    monkeypatch.setattr(plumbing, "_LOCK_WAIT_S", 0.05)
    killed(repo, "both files are written", "note", RULE)
    lock = repo / ".git" / "index.lock"
    lock.write_text(text)
    os.utime(lock, (0, 0))
    ran = learnloop("sync", cwd=repo)
    assert (ran.code, lock.read_text()) == (0, text)
    assert "git's index is locked" in ran.err
    lock.unlink()
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: note {SLUG}"


def branch_lock(repo: Path) -> Path:
    return repo / ".git" / "refs" / "heads" / "main.lock"


def test_a_branch_lock_that_names_our_commit_is_removed(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability row 10: the killed git left it, the commit it names bears the journal's command."""
    killed(repo, "the objects are written", "note", RULE)
    left = journal.load(place.find(repo))
    assert left
    tree = git(repo, "write-tree")
    commit = git(repo, "commit-tree", tree, "-m", f"learnloop: note x\n\nLearnloop-Command: {left.command}")
    branch_lock(repo).write_text(f"{commit}\n")
    assert learnloop("sync", cwd=repo).code == 0
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: note {SLUG}"
    assert leftovers(repo) == []


def test_a_branch_lock_that_names_another_commit_stays(repo: Path, memory: Path, learnloop: Run) -> None:
    killed(repo, "the objects are written", "note", RULE)
    branch_lock(repo).write_text(git(repo, "rev-parse", "HEAD") + "\n")
    assert learnloop("sync", cwd=repo).code == 0
    assert branch_lock(repo).exists()
    branch_lock(repo).unlink()
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: note {SLUG}"


def test_an_empty_branch_lock_is_ours_only_when_younger_than_the_journal(
    repo: Path, memory: Path, learnloop: Run
) -> None:
    killed(repo, "the objects are written", "note", RULE)
    branch_lock(repo).touch()
    os.utime(branch_lock(repo), (time.time() - 3600, time.time() - 3600))
    learnloop("sync", cwd=repo)
    assert branch_lock(repo).exists()
    branch_lock(repo).unlink()
    learnloop("sync", cwd=repo)
    killed(repo, "the objects are written", "note", "Read the failing log before changing code.")
    branch_lock(repo).touch()
    assert learnloop("sync", cwd=repo).code == 0
    assert not branch_lock(repo).exists()


@pytest.mark.parametrize("gone", ["index", "HEAD"])
def test_index_and_head_move_both_or_neither(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    """One without the other, and a person's next commit would take the lesson out again or bring it in as theirs."""
    (repo / "mine.py").write_text("mine\n")
    git(repo, "add", "mine.py")
    index, head = (repo / ".git" / "index").read_bytes(), git(repo, "rev-parse", "HEAD")
    with monkeypatch.context() as patch:
        patch.setattr(*_failing(gone))
        assert learnloop("note", RULE, cwd=repo).code == 0
    assert ((repo / ".git" / "index").read_bytes(), git(repo, "rev-parse", "HEAD")) == (index, head)
    assert leftovers(repo) == []
    assert learnloop("sync", cwd=repo).code == 0
    assert git(repo, "status", "--porcelain") == "A  mine.py"
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: note {SLUG}"


def _failing(gone: str) -> tuple[str, object]:
    """What does not work: putting the index in its place, or moving HEAD after that."""
    replace, ask = os.replace, references._ask

    def no_index(source: Path, target: Path) -> None:
        if Path(target).name == "index" and not Path(source).name.startswith("was-"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    def no_move(process: subprocess.Popen[bytes], words: str, answer: str) -> None:
        if words == "commit\n":
            raise door.GitError("git update-ref failed: No space left on device")
        ask(process, words, answer)

    return (
        ("learnloop_md.plumbing.os.replace", no_index) if gone == "index" else ("learnloop_md.references._ask", no_move)
    )


def test_a_commit_is_made_though_what_it_kept_cannot_be_removed(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HEAD and index have moved: to call that a failure would have the command done twice."""
    real = Path.unlink

    def failing(path: Path, missing_ok: bool = False) -> None:
        if path.name.startswith(("was-", "index.lock")):
            raise OSError(5, "Input/output error")
        real(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", failing)
        ran = learnloop("note", RULE, "--json", cwd=repo)
    assert (ran.code, ran.json["queued"], len(ran.json["commits"])) == (0, False, 1)
    learnloop("sync", cwd=repo)
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "log", "--format=%s").splitlines().count(f"learnloop: note {SLUG}") == 1


def test_a_first_commit_that_fails_leaves_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    found = door.find(tmp_path)
    assert found
    (tmp_path / "a.md").write_text("a\n")
    work = plumbing.Commit({"a.md": door.on_disk(found, {"a.md": None})["a.md"]}, "ours\n")
    with monkeypatch.context() as patch:
        patch.setattr(*_failing("HEAD"))
        with pytest.raises(door.GitError):
            plumbing.commit(found, "", work)
    assert not (tmp_path / ".git" / "index").exists()
    assert plumbing.commit(found, "", work) == git(tmp_path, "rev-parse", "HEAD")
    assert git(tmp_path, "status", "--porcelain") == ""


def test_head_is_locked_while_the_index_is_ahead_of_it(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's commit on the old HEAD with the new index, or the reverse, would swap a lesson's owner or undo it."""
    real, seen = plumbing._Own.put, list[tuple[str, str, int]]()

    def put(own: plumbing._Own, commit: str) -> None:
        real(own, commit)
        inside = git(repo, "ls-files", f"*{SLUG}.md"), git(repo, "ls-tree", "-r", "--name-only", "HEAD", str(memory))
        words = ["git", "update-ref", "HEAD", git(repo, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "x")]
        person = subprocess.run(words, cwd=repo, capture_output=True, check=False)
        seen.append((inside[0], "there" if SLUG in inside[1] else "", person.returncode))

    monkeypatch.setattr(plumbing._Own, "put", put)
    assert learnloop("note", RULE, cwd=repo).code == 0
    assert seen == [(f".claude/memory/{SLUG}.md", "", 128)]
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: note {SLUG}"


def test_what_a_person_took_out_of_the_index_stays_out(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", RULE, cwd=repo)
    git(repo, "rm", "-q", "--cached", f".claude/memory/{SLUG}.md")
    learnloop("note", "Read the failing log before changing code.", cwd=repo)
    assert git(repo, "diff", "--cached", "--name-status") == f"D\t.claude/memory/{SLUG}.md"


@pytest.mark.parametrize("way", ["revert", "reset", "switch"])
def test_what_a_person_took_back_is_not_done_again(repo: Path, memory: Path, learnloop: Run, way: str) -> None:
    """The command was killed after its commit: its journal is left, its work is done."""
    git(repo, "branch", "side")
    killed(repo, "the ledger is not written", "note", RULE)
    ways = {
        "revert": ("revert", "--no-edit", "HEAD"),
        "reset": ("reset", "-q", "--hard", "HEAD~1"),
        "switch": ("switch", "-q", "side"),
    }
    git(repo, *ways[way])
    assert learnloop("sync", cwd=repo).code == 0
    assert not (memory / f"{SLUG}.md").exists()
    assert git(repo, "log", "-1", "--format=%s") != f"learnloop: note {SLUG}"


def test_half_a_plan_is_never_completed(repo: Path, memory: Path, learnloop: Run) -> None:
    """The guide was edited after the crash: the lesson must not be archived without its rule."""
    (repo / "CLAUDE.md").write_text("# Guide\n")
    git(repo, "add", "CLAUDE.md")
    git(repo, "commit", "-q", "-m", "Guide")
    learnloop("note", RULE, cwd=repo)
    killed(repo, "the journal is written", "codify", SLUG, "--into", "CLAUDE.md")
    (repo / "CLAUDE.md").write_text("# My guide\n")
    learnloop("sync", cwd=repo)
    assert "state: candidate" in (memory / f"{SLUG}.md").read_text()
    assert (repo / "CLAUDE.md").read_text() == "# My guide\n"


def test_a_queue_that_a_failing_command_drained_is_drained_once(repo: Path, memory: Path, learnloop: Run) -> None:
    git(repo, "checkout", "-q", "--detach")
    learnloop("note", RULE, cwd=repo)
    git(repo, "switch", "-q", "main")
    assert learnloop("confirm", "nosuch", cwd=repo).code == 2
    git(repo, "revert", "--no-edit", "HEAD")
    learnloop("note", "Read the failing log before changing code.", cwd=repo)
    assert not (memory / f"{SLUG}.md").exists()


def test_a_temporary_file_of_somebody_else_is_left_alone(repo: Path, memory: Path, learnloop: Run) -> None:
    folder = place.find(repo).state
    (folder / ".learnloop-abcd1234").write_text("older")
    (memory / ".learnloop-99999-mine.md").write_text("mine")
    killed(repo, "the journal is written", "note", RULE)
    assert learnloop("sync", cwd=repo).code == 0
    assert (folder / ".learnloop-abcd1234").exists()
    assert (memory / ".learnloop-99999-mine.md").exists()


def test_a_person_s_own_staging_of_a_lesson_is_not_mended(repo: Path, memory: Path, learnloop: Run) -> None:
    learnloop("note", RULE, cwd=repo)
    file = memory / f"{SLUG}.md"
    text = file.read_text()
    file.write_text(text.replace("by name", "by their names"))
    git(repo, "add", str(file))
    file.write_text(text)
    entry = git(repo, "ls-files", "-s", str(file))
    learnloop("sync", cwd=repo)
    assert git(repo, "ls-files", "-s", str(file)) == entry


def test_who_waits_too_long_is_told_who_holds_the_lock(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability row 54."""
    lock = place.find(repo).state / "lock"
    code = (
        "import sys,time\nfrom pathlib import Path\nfrom learnloop_md import locks\n"
        "with locks.held(Path(sys.argv[1])):\n print('held', flush=True)\n time.sleep(30)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        monkeypatch.setattr("learnloop_md.locks.PATIENCE_S", 0.2)
        ran = learnloop("note", RULE, cwd=repo)
        holder.kill()
    assert (ran.code, ran.err.count("\n")) == (4, 1)
    assert f"process {holder.pid}" in ran.err
    assert not (memory / f"{SLUG}.md").exists()


# --- signing ---------------------------------------------------------------------------------------------------------


def gpg(repo: Path, script: str) -> None:
    program = repo.parent / "gpg.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    git(repo, "config", "commit.gpgsign", "true")
    git(repo, "config", "gpg.program", str(program))


def test_a_commit_is_signed_where_the_person_s_are(repo: Path, memory: Path, learnloop: Run) -> None:
    """Reliability row 24."""
    gpg(repo, 'cat >/dev/null; echo "[GNUPG:] SIG_CREATED " >&2; echo "SIGNED"')
    assert learnloop("note", RULE, "--json", cwd=repo).json["commits"]
    assert "SIGNED" in git(repo, "cat-file", "commit", "HEAD")


@pytest.mark.parametrize("script", ["exit 1", "sleep 60"])
def test_a_key_that_does_not_sign_queues_in_time(
    repo: Path, memory: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(plumbing, "_SIGN_LIMIT_S", 0.5)
    gpg(repo, script)
    start = time.monotonic()
    ran = learnloop("note", RULE, "--json", cwd=repo)
    assert (ran.code, ran.json["queued"], time.monotonic() - start < 30) == (0, True, True)
    assert "signing failed" in ran.err
    git(repo, "config", "commit.gpgsign", "false")
    learnloop("sync", cwd=repo)
    assert git(repo, "log", "-1", "--format=%s") == f"learnloop: note {SLUG}"


def test_a_split_index_is_kept_whole(repo: Path, memory: Path, learnloop: Run) -> None:
    git(repo, "update-index", "--split-index")
    learnloop("note", RULE, cwd=repo)
    learnloop("confirm", SLUG, cwd=repo)
    assert git(repo, "status", "--porcelain") == ""
    assert door.head_id(repo) == git(repo, "rev-parse", "main")
