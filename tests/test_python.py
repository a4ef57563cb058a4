"""The memory for Python programs: the commands with values instead of text (R004-97, design §11)."""

from __future__ import annotations

import doctest
import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import learnloop_md
from learnloop_md import (
    Learnings,
    LearnloopError,
    Lesson,
    Memory,
    RefusedError,
    UnableError,
    UsageError,
    add_learning,
    api,
    fetch_learnings,
    memory_recall,
    memory_remember,
    save_learning,
)
from learnloop_md.commands import BY_NAME
from tests.conftest import CopyOf, Run, git
from tests.homes import Home, make_home

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "system_prompt.py"
SECRET = "".join(("gh", "p_", "A1b2C3d4" * 5))


@pytest.fixture
def here(memory: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory is a repository with an empty memory."""
    monkeypatch.chdir(repo)
    return memory


@pytest.fixture
def skill(copy_of: CopyOf, learnloop: Run) -> Home:
    return copy_of("skill", lambda root: make_home("skill", root, learnloop))


# --- importing ------------------------------------------------------------------------------------------------------


def test_importing_the_package_loads_none_of_it() -> None:
    """design §1: each door loads only its own house."""
    code = "import sys, learnloop_md; print(*(m for m in sys.modules if m.startswith('learnloop_md')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["learnloop_md"]


def test_every_public_name_is_there_and_no_other() -> None:
    for name in learnloop_md.__all__:
        assert getattr(learnloop_md, name) is not None
        assert name in dir(learnloop_md)
    assert set(api.__all__) == set(learnloop_md.__all__) - {"__version__"}
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        _ = learnloop_md.Nonsense  # type: ignore[attr-defined]


def test_a_program_that_is_type_checked_sees_the_types(tmp_path: Path) -> None:
    """py.typed is shipped, and the names that are loaded late are known to a checker all the same."""
    program = tmp_path / "program.py"
    program.write_text(
        "from learnloop_md import Learnings, Lesson\n"
        "with Learnings('x') as learnings:\n"
        "    reveal_type(learnings.recall('y'))\n"
        "    one: Lesson = learnings.lesson('z')\n"
        "    learnings.pin(3)\n"
    )
    mypy = pytest.importorskip("mypy.api", reason="NOT TESTED: types, without mypy")
    env = {"MYPYPATH": str(ROOT)}
    os.environ.update(env)
    out, _, code = mypy.run(["--strict", "--cache-dir", str(tmp_path / "cache"), str(program)])
    assert code == 1
    assert "learnloop_md.api.Recalled" in out
    assert 'Argument 1 to "pin" of "Memory" has incompatible type "int"' in out
    assert "Found 1 error" in out


# --- the documents are true -----------------------------------------------------------------------------------------


def test_the_examples_in_the_docstrings_are_true(here: Path) -> None:
    found = doctest.testmod(api, optionflags=doctest.FAIL_FAST)
    assert found.attempted > 5
    assert found.failed == 0


def test_the_examples_in_the_docs_are_true(here: Path) -> None:
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False, optionflags=doctest.FAIL_FAST)
    assert found.attempted > 10
    assert found.failed == 0


CALLS = sorted({f".{n}" for c in (Memory, Learnings) for n in vars(c) if not n.startswith("_")})
FUNCTIONS = sorted(name for name in api.__all__ if name.islower())


@pytest.mark.parametrize("name", CALLS + FUNCTIONS)
def test_every_call_is_documented(name: str) -> None:
    assert re.search(rf"`{re.escape(name)}\b", (ROOT / "docs" / "python.md").read_text("utf-8"))
    assert getattr(*((Learnings, name[1:]) if name[0] == "." else (api, name))).__doc__


def test_the_options_of_note_are_those_of_the_command() -> None:
    """No rule and no default lives here."""
    import inspect

    mine = set(inspect.signature(Memory.note).parameters) - {"self", "rule"}
    options = {option.name for option in BY_NAME["note"].options}
    theirs = {"tags" if name == "tag" else name for name in options}
    assert theirs - mine == {"memory", "today", "json", "run", "dry_run"}
    assert mine - theirs == set()


# --- what the calls do ----------------------------------------------------------------------------------------------


def test_a_note_is_the_commit_that_the_command_makes(here: Path, repo: Path) -> None:
    change = Memory(run="r1", today="2026-06-01").note("Use uv, never pip.", why="A stale lock.", tags="tooling")
    assert change.action == "added"
    assert change.commits == (git(repo, "rev-parse", "HEAD"),)
    assert git(repo, "log", "-1", "--format=%s%n%(trailers:key=Run,valueonly)").split("\n")[:2] == [
        "learnloop: note use-uv-never-pip",
        "r1",
    ]
    lesson = Memory().lessons["use-uv-never-pip"]
    assert isinstance(lesson, Lesson)
    assert (lesson.tags, lesson.created) == (("tooling",), "2026-06-01")


def test_two_runs_make_a_lesson_current_and_one_run_does_not(here: Path) -> None:
    """R002-20."""
    assert Memory(run="r1").note("Use uv, never pip.").action == "added"
    assert Memory(run="r1").note("Use uv, never pip.").action == "unchanged"
    change = Memory(run="r2").note("Use uv, never pip.")
    assert (change.action, change.state) == ("graduated", "current")
    assert len(change.commits) == 2


def test_the_life_of_a_lesson(skill: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """R004-97: note, digest, confirm, dispute, pin, forget, promote."""
    monkeypatch.chdir(skill.root)
    with Learnings(skill.root / "skill", run="r1") as learnings:
        assert learnings.kind == "skill"
        assert learnings.note("Read the lines above first.").slug == "read-the-lines-above-first"
        learnings.note("Stage files by name.")
        assert learnings.pin("read").action == "pinned"
        assert learnings.confirm("read", "a review").action == "confirmed"
        assert learnings.dispute("stage").action == "disputed"
        digest = learnings.digest(300)
        assert "★ Read the lines above first." in digest
        assert len(digest) <= 300
        assert learnings.forget("stage").state == "archived"
        assert learnings.restore("stage").state == "candidate"
        assert learnings.pin("read", on=False).action == "unpinned"
        assert learnings.promote("read").action == "codified"
    assert "Read the lines above first." in (skill.root / "skill" / "learnings.md").read_text("utf-8")
    assert git(skill.root, "status", "--porcelain") == ""


def test_promote_takes_the_folder_that_learnings_md_goes_into(here: Path, repo: Path) -> None:
    """R004-97: promote(id, dir)."""
    (repo / "guides").mkdir()
    memory = Memory(run="r1")
    memory.note("Use uv, never pip.")
    assert memory.promote("use-uv", "guides").more["action"] == "codified"
    assert "Use uv, never pip." in (repo / "guides" / "learnings.md").read_text("utf-8")


def test_a_skill_is_found_by_its_name_from_any_folder_of_the_repository(
    skill: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = skill.root / ".claude" / "skills"
    home.mkdir(parents=True)
    (skill.root / "skill").rename(home / "review")
    below = skill.root / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert Learnings("review").folder == home / "review" / "references"


def test_edits_by_hand_are_absorbed_by_sync(here: Path) -> None:
    memory = Memory(run="r1")
    memory.note("Use uv, never pip.")
    path = memory.folder / "use-uv-never-pip.md"
    path.write_text(path.read_text().replace("Use uv, never pip.\n", "Use uv, never pip or conda.\n"))
    assert memory.sync().action == "absorbed"
    assert memory.sync().action == "unchanged"
    assert memory.lesson("use-uv").rule == "Use uv, never pip or conda."


def test_recall_of_an_empty_memory_is_empty(here: Path) -> None:
    """R003-53: reading never fails."""
    found = Memory().recall("anything")
    assert found == ((), "", 0)


def test_recall_keeps_its_limits_and_filters(here: Path) -> None:
    """R000-32, R000-42, R000-52: five, some tags, and a budget of tokens."""
    memory = Memory(run="r1")
    for name, tag in (("uv", "tooling"), ("ruff", "style"), ("mypy", "style")):
        memory.note(f"Use {name} before each commit of Python code in this repository.", name=name, tags=[tag])
    assert len(memory.recall("python commit", 2).lessons) == 2
    assert {row.slug for row in memory.recall("python commit", tags=["style"]).lessons} == {"ruff", "mypy"}
    small = memory.recall("python commit", budget=115)
    assert 0 < small.tokens <= 115
    assert len(small.lessons) < 3


def test_a_memory_stays_the_same_when_the_program_changes_its_folder(
    here: Path, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory(run="r1")
    monkeypatch.chdir(tmp_path)
    memory.note("Use uv, never pip.")
    assert memory.folder == here
    assert (here / "use-uv-never-pip.md").is_file()
    assert memory.status()["lessons"]["candidate"] == 1


def test_several_threads_lose_nothing(here: Path, repo: Path) -> None:
    """An agent framework calls from where it likes."""
    from concurrent.futures import ThreadPoolExecutor

    words = ("uv", "ruff", "mypy", "tox", "nox", "pdm")
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda w: Memory(run="r1").note(f"Run {w} twice.", name=w, new=True), words))
    assert {change.action for change in done} == {"added"}
    assert set(Memory().lessons) == set(words)
    assert git(repo, "status", "--porcelain") == ""


# --- runs -----------------------------------------------------------------------------------------------------------

RECORD = {
    "task_type": "file_refactor",
    "input_summary": "Split a settings module of 900 lines.",
    "approach": "Moved one group at a time, tests between.",
    "outcome": "success",
    "confidence": 0.8,
    "what_worked": "Re-exporting the old names kept every import alive.",
    "what_failed": None,
    "edge_cases": ["A cycle appeared when the defaults moved first."],
    "tags": ["refactor"],
}


def test_runs_are_counted(here: Path) -> None:
    """R004-90, R004-91, R004-94."""
    memory = Memory()
    assert memory.run("ok")["action"] == "recorded"
    assert memory.run("failed", note="The build broke.")["status"] == "failed"
    found = memory.stats()
    assert (found["runs"]["total"], found["runs"]["ok"], found["success_percent"]) == (2, 1, 50)


def test_notes_of_a_run_wait_until_it_is_verified(here: Path) -> None:
    """R003-20."""
    memory = Memory(run="r1")
    memory.run("start")
    assert memory.note("Count the rows first.").action == "held"
    assert memory.note("Use uv, never pip.", manual=True).action == "added"
    with pytest.raises(RefusedError) as caught:
        memory.run("finish", "ok")
    assert caught.value.code == "unverified"
    memory.run("finish", "ok", verified=True)
    assert set(memory.lessons) == {"count-the-rows-first", "use-uv-never-pip"}


@pytest.mark.parametrize("broken", [True, False])
def test_a_run_that_a_block_leaves_open_is_abandoned(here: Path, broken: bool) -> None:
    """R003-21: nothing half finished is kept."""
    try:
        with Learnings(".claude/memory", run="r1") as learnings:
            learnings.run("start")
            learnings.note("Count the rows first.")
            if broken:
                raise KeyError("the task failed")
    except KeyError:
        assert broken
    memory = Memory(run="r1")
    assert memory.lessons == {}
    assert memory.note("Count the rows first.").action == "added"
    (gone,) = memory.status()["runs"]["abandoned"]
    assert gone["dropped"] == 1


def test_a_run_that_was_begun_elsewhere_stays_open(here: Path) -> None:
    Memory(run="r1").run("start")
    with Learnings(".claude/memory", run="r1") as learnings:
        assert learnings.note("Count the rows first.").action == "held"
    assert [run["held"] for run in Memory().status()["runs"]["open"]] == [1]


def test_remember_keeps_the_strict_gate(here: Path) -> None:
    """R003-52, ruling C1: note is the free way in."""
    with pytest.raises(RefusedError) as caught:
        memory_remember("Count the rows before a backfill.", ["sql"])
    assert caught.value.code == "no-run"
    memory = Memory()
    done = memory.run("ok", verified=True)
    change = memory.remember("Count the rows before a backfill.", ["sql"], of_run=done["run"])
    assert change.action == "added"
    assert memory_recall("a backfill", 1).lessons[0].slug == change.slug


def test_a_record_is_saved_and_fetched(here: Path) -> None:
    """R000-25, R000-30: whatever the outcome, and only for its task type."""
    change = save_learning(RECORD)
    assert (change.action, change.state) == ("added", "candidate")
    assert Memory().lesson(change.slug).confidence == 0.8
    found = fetch_learnings("file_refactor", "split a module without breaking imports")
    assert [row.slug for row in found.lessons] == [change.slug]
    assert "Edge case: A cycle appeared when the defaults moved first." in found.text
    assert fetch_learnings("api_integration", "split a module without breaking imports").lessons == ()


def test_a_record_that_a_person_wrote_is_trusted(here: Path) -> None:
    """R000-63."""
    lesson = Memory().lesson(add_learning(RECORD).slug)
    assert (lesson.confidence, lesson.human_confirmed) == (1.0, True)


def test_every_wrong_field_of_a_record_is_named(here: Path) -> None:
    """R000-24."""
    with pytest.raises(RefusedError) as caught:
        save_learning({**RECORD, "outcome": "fine", "confidence": 2})
    assert caught.value.code == "bad-record"
    assert "outcome" in caught.value.message
    assert "confidence" in caught.value.message
    assert Memory().lessons == {}


def test_what_a_lesson_speaks_of_and_is_gone_is_to_be_verified_first(here: Path, repo: Path) -> None:
    """R001-60: recall says so, in values and in the text."""
    Memory(run="r1").note("Read the defaults in `app.py` before a change.")
    git(repo, "rm", "-q", "app.py")
    found = Memory().recall("change the defaults")
    assert found.lessons[0].verify_first
    assert "[verify first: " in found.text


# --- what goes wrong ------------------------------------------------------------------------------------------------


def test_a_secret_is_refused_and_never_shown(here: Path, repo: Path) -> None:
    """R004-20."""
    before = git(repo, "rev-parse", "HEAD")
    with pytest.raises(RefusedError) as caught:
        Memory().note(f"The token is {SECRET}.")
    assert SECRET not in f"{caught.value!r} {caught.value.hint}"
    assert git(repo, "rev-parse", "HEAD") == before


@pytest.mark.parametrize(
    ("act", "kind", "code"),
    [
        (lambda m: m.note("x" * 501), RefusedError, "too-long"),
        (lambda m: m.note("  "), UsageError, "empty"),
        (lambda m: m.note("-"), UsageError, "empty"),
        (lambda m: m.note("Use uv.", type="rumour"), UsageError, "usage"),
        (lambda m: m.confirm("nothing"), UsageError, "unknown-lesson"),
        (lambda m: m.lesson("nothing"), UsageError, "unknown-lesson"),
        (lambda m: m.digest(0), UsageError, "usage"),
        (lambda m: m.recall("x", 0), UsageError, "usage"),
        (lambda m: m.recall("x", format="yaml"), UsageError, "usage"),
        (lambda m: m.recall("x", type="rumour"), UsageError, "usage"),
        (lambda m: m.note(None), UsageError, "usage"),
        (lambda m: m.note(b"bytes"), UsageError, "usage"),
        (lambda m: m.note("Use uv.", why=5), UsageError, "usage"),
        (lambda m: m.note("Use uv.", tags=[1]), UsageError, "usage"),
        (lambda m: m.note("Use uv.", tags=1), UsageError, "usage"),
        (lambda m: m.lesson(None), UsageError, "usage"),
        (lambda m: m.confirm(5), UsageError, "usage"),
        (lambda m: m.promote("use", into=5), UsageError, "usage"),
        (lambda m: m.digest("x"), UsageError, "usage"),
        (lambda m: m.recall(5), UsageError, "usage"),
        (lambda m: fetch_learnings(memory="str"), UsageError, "usage"),  # type: ignore[arg-type]
        (lambda m: add_learning(None), RefusedError, "bad-record"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_call_is_an_error_with_a_way_out(
    here: Path, act: object, kind: type[LearnloopError], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R004-04 among others; "-" reads no standard input here."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from standard input")))
    with pytest.raises(kind) as caught:
        act(Memory())  # type: ignore[operator]
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: Memory("nowhere"), "no-memory"),
        (lambda: Learnings("no-such-skill"), "no-memory"),
        (lambda: Learnings("../outside"), "no-memory"),
        (lambda: Memory(5), "usage"),  # type: ignore[arg-type]
        (lambda: Memory(""), "usage"),
        (lambda: Memory(b"bytes"), "usage"),  # type: ignore[arg-type]
        (lambda: Learnings(""), "usage"),
        (lambda: Memory(run=5), "usage"),  # type: ignore[arg-type]
        (lambda: Memory(today="yesterday"), "usage"),
        (lambda: Memory(run="a\nb"), "usage"),
    ],
)
def test_a_memory_that_cannot_be_is_told_at_once(here: Path, make: object, code: str) -> None:
    with pytest.raises(LearnloopError) as caught:
        make()  # type: ignore[operator]
    assert caught.value.code == code
    assert caught.value.hint


def test_where_there_is_no_memory_the_way_out_is_said(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    with pytest.raises(UnableError) as caught:
        Memory()
    assert caught.value.hint == "run: learnloop init"


# --- the example ----------------------------------------------------------------------------------------------------


def _run_example(*words: str, given: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = [sys.executable, str(EXAMPLE), *words]
    return subprocess.run(line, input=given, capture_output=True, text=True, check=True, cwd=cwd, env=env)


def test_the_example_joins_the_block_to_the_system_prompt(here: Path, repo: Path) -> None:
    """R000-54, R000-72: a blank line between; any agent that takes a system prompt."""
    Memory(run="r1").note("Use uv, never pip.")
    done = _run_example("install a package with pip", given="You write code.\n", cwd=repo)
    base, _, rest = done.stdout.partition("\n\n")
    assert base == "You write code."
    assert rest.startswith("<learnloop-memory>\n## Past Run Learnings (auto-generated)\n")
    assert "Use uv, never pip" in rest
    assert rest.endswith("</learnloop-memory>\n")


def test_the_example_gives_the_base_prompt_alone_where_nothing_fits_or_nothing_is(here: Path, tmp_path: Path) -> None:
    for cwd, said in ((here, ""), (tmp_path, "no lessons: no memory here")):
        done = _run_example("anything", given="You write code.\n", cwd=cwd)
        assert done.stdout == "You write code.\n"
        assert done.stderr.startswith(said)
    assert runpy.run_path(str(EXAMPLE))["system_prompt"]("Base", "task", None) == "Base"
