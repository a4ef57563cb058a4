"""The hooks at work in the real client (design §7): what reaches the model, what is asked, what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import git
from tests.e2e.client import Client, eventually
from tests.e2e.fake_api import tool
from tests.e2e.hooked import CORRECTION, NEW, change_of_head, commit_all, note, waiting


@pytest.fixture
def hooked(client: Client, repo: Path) -> Path:
    """A repository with a memory, and the hooks."""
    client.learnloop("init", "--yes", cwd=repo)
    client.learnloop("install", "--yes", cwd=repo)
    commit_all(repo)
    return repo


def test_what_was_corrected_in_two_sessions_is_known_in_the_third(client: Client, hooked: Path) -> None:
    """The whole loop: the Stop hook asks, the model notes, the second sighting graduates, the client loads it."""
    first = client.run(CORRECTION, "I see.", note("Use uv instead of pip."), "Noted.", cwd=hooked)
    assert len(first.asked) == 1
    assert "learnloop note" in first.asked[0].last
    lesson = hooked / ".claude" / "memory" / "use-uv-instead-of-pip.md"
    assert "\n  state: candidate\n" in lesson.read_text()
    assert first.id[:8] in lesson.read_text()

    second = client.run("No, don't use pip, use uv", note("Use uv instead of pip."), "Noted.", cwd=hooked)
    assert second.asked == []  # it noted by itself
    assert "graduated" in "".join(turn.last for turn in second.turns)
    assert "\n  state: current\n" in lesson.read_text()

    third = client.run("Install the dependencies", "Done with uv.", cwd=hooked)
    assert "(use-uv-instead-of-pip.md)" in third.turns[0].text.partition("## Candidate")[0]
    assert third.asked == []  # nothing happened
    assert [session.err for session in (first, second, third)] == ["", "", ""]
    assert git(hooked, "status", "--porcelain") == ""


def test_stop_asks_once_in_a_session_and_then_yields(client: Client, hooked: Path) -> None:
    """A model that will not note is not kept from ending, nor asked again in a later turn."""
    session = client.run([CORRECTION, "No, I said uv, not pip"], "I see.", "No.", "I see.", "Never.", cwd=hooked)
    assert len(session.asked) == 1
    assert [turn.last.count("learnloop note") > 0 for turn in session.turns] == [False, True, False]
    resumed = client.run("No, that's wrong, use uv", "I see.", cwd=hooked, resume=session.id)
    assert resumed.asked == []


def test_what_the_model_wrote_into_a_code_repository_is_absorbed_and_queued(client: Client, hooked: Path) -> None:
    """No command is run by hand, HEAD does not move, and a write counts as captured (design §6, hooks.commit)."""
    head, folder = git(hooked, "rev-parse", "HEAD"), hooked / ".claude" / "memory"
    lesson = folder / "pin-the-base-image.md"
    session = client.run(CORRECTION, tool("Write", file_path=str(lesson), content=NEW), "Saved.", cwd=hooked)
    assert session.asked == []
    eventually(lambda: "\n  state: candidate\n" in lesson.read_text())
    eventually(lambda: "(pin-the-base-image.md)" in (folder / "MEMORY.md").read_text())
    assert session.id[:8] in lesson.read_text()
    eventually(lambda: waiting(client, hooked) > 0)
    assert git(hooked, "rev-parse", "HEAD") == head


def test_what_the_model_wrote_into_a_memory_of_its_own_is_committed(client: Client, repo: Path) -> None:
    """A repository that holds nothing but the memory is ours to commit to."""
    client.learnloop("init", "--native", "--yes", cwd=repo)
    client.learnloop("install", "--yes", cwd=repo)
    (memory,) = client.home.glob(".claude/projects/*/memory")
    lesson = memory / "pin-the-base-image.md"
    client.run("Remember", tool("Write", file_path=str(lesson), content=NEW), "Saved.", cwd=repo)
    eventually(lambda: change_of_head(memory) == "absorb")
    eventually(lambda: git(memory, "status", "--porcelain") == "")
    assert "\n  state: candidate\n" in lesson.read_text()
    assert "(pin-the-base-image.md)" in (memory / "MEMORY.md").read_text()


def test_a_failure_that_was_worked_around_is_asked_about(client: Client, hooked: Path) -> None:
    """A failed tool is a signal without any word of the person's."""
    session = client.run(
        "Run the tests",
        tool("Bash", command="echo no such option: --fast >&2; exit 3"),
        tool("Bash", command="echo passed"),
        "They pass.",
        tool("Bash", command="learnloop note 'Run the tests without --fast.' --trigger tool-failure"),
        "Noted.",
        cwd=hooked,
    )
    assert len(session.asked) == 1
    assert "no such option: --fast" in session.asked[0].last
    assert (hooked / ".claude" / "memory" / "run-the-tests-without-fast.md").exists()


def test_a_correction_that_comes_while_the_model_works_is_noticed(client: Client, hooked: Path) -> None:
    """The client hands it over within the running turn, and keeps it apart from prompts in its transcript."""
    slow = tool("Bash", command="python3 -c 'import time; time.sleep(1)'")
    session = client.run(["Install", CORRECTION], slow, "With uv.", "No.", cwd=hooked, at_once=True)
    assert "The user sent a new message while you were working" in session.turns[1].last
    assert len(session.asked) == 1
    assert CORRECTION in session.asked[0].last
    (path,) = client.home.glob(f".claude/projects/*/{session.id}.jsonl")
    told = client.learnloop("reflect", "--scan-only", "--transcript", str(path), "--min-signals", "9", cwd=hooked)
    assert f"correction: {CORRECTION}" in told.out


SKILL = "---\nname: tidy\ndescription: Tidy the code up\n---\n\n# Tidy\n\nTidy it up.\n"


@pytest.fixture
def skilled(client: Client, hooked: Path) -> Path:
    """The repository with a skill that has learned something."""
    skill = hooked / ".claude" / "skills" / "tidy"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    commit_all(hooked)
    client.learnloop("init", "--skill", str(skill), "--yes", cwd=hooked)
    for run in ("r1", "r2"):
        client.learnloop("note", "Keep imports sorted.", "--run", run, cwd=skill)
    return hooked


@pytest.mark.parametrize("way", ["tool", "prompt"])
def test_a_skill_that_is_invoked_gets_its_patterns_and_the_notes(client: Client, skilled: Path, way: str) -> None:
    """The model calls the Skill tool, or the person types /name: the session's notes then go to the skill."""
    call = [tool("Skill", skill="tidy")] if way == "tool" else []
    prompt = "Tidy up" if way == "tool" else "/tidy the tests"
    session = client.run(prompt, *call, note("Leave no dead code."), "Done.", cwd=skilled)
    told = session.turns[len(call)].text
    assert "Keep imports sorted." in told
    lessons = skilled / ".claude" / "skills" / "tidy" / "references" / "lessons"
    assert (lessons / "leave-no-dead-code.md").exists()
    assert not (skilled / ".claude" / "memory" / "leave-no-dead-code.md").exists()


def test_a_skill_with_a_hook_of_its_own_asks_for_its_own_memory(client: Client, repo: Path) -> None:
    """`init --skill --auto-learn` needs no settings (R004-80); with other hooks beside it, still one asks."""
    skill = repo / ".claude" / "skills" / "tidy"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    client.learnloop("init", "--skill", str(skill), "--auto-learn", "--yes", cwd=repo)
    alone = client.run(["/tidy the tests", CORRECTION], "Tidied.", "I see.", note("Use uv."), "Noted.", cwd=repo)
    assert len(alone.asked) == 1
    assert (skill / "references" / "lessons" / "use-uv.md").exists()

    client.learnloop("install", "--yes", cwd=repo)
    both = client.run(["/tidy the docs", CORRECTION], "Tidied.", "I see.", "No.", cwd=repo)
    assert len(both.asked) == 1
    assert both.asked[0].last.count("learnloop noticed") <= 2  # one reason, which the client tells the model twice


def test_private_lessons_come_by_the_hook_again_after_a_compaction(client: Client, hooked: Path) -> None:
    """In a repository with a remote they have no line in MEMORY.md; compaction drops what a hook said (design §2)."""
    git(hooked, "remote", "add", "origin", "https://example.invalid/x.git")
    client.learnloop("note", "Ada reads diffs, not prose.", "--type", "user", cwd=hooked)
    assert "Ada" not in (hooked / ".claude" / "memory" / "MEMORY.md").read_text()
    session = client.run(
        ["hi", "/compact", "go on"],
        "Hello.",
        cwd=hooked,
        rules=[("Respond with TEXT ONLY", "<summary>A greeting.</summary>")],
    )
    first, _, last = session.turns
    assert "Ada reads diffs, not prose." in first.text
    assert "A greeting." in last.text  # it was compacted
    assert last.text.count("Ada reads diffs, not prose.") == 1
    assert git(hooked, "status", "--porcelain") == ""


def test_hooks_installed_locally_are_called_in_every_checkout_until_they_are_taken_out(
    client: Client, repo: Path
) -> None:
    """settings.local.json of the main checkout is read in its subfolders and linked worktrees; settings.json is not."""
    client.learnloop("init", "--yes", cwd=repo)
    client.learnloop("install", "--scope", "local", "--yes", cwd=repo)
    (repo / "src").mkdir()
    git(repo, "worktree", "add", "-q", "../other")
    for where in (repo / "src", repo.parent / "other"):
        client.learnloop("doctor", cwd=where)
        session = client.run(CORRECTION, "I see.", "No.", cwd=where)
        assert len(session.asked) == 1, where
    client.learnloop("uninstall", "--scope", "local", "--yes", cwd=repo)
    session = client.run(CORRECTION, "I see.", "No.", cwd=repo)
    assert (session.asked, len(session.turns)) == ([], 1)


def test_without_the_program_a_session_is_as_it_always_was(client: Client, hooked: Path) -> None:
    """A teammate who has not installed learnloop gets no error from the shared settings."""
    session = client.run(CORRECTION, "I see.", cwd=hooked, more={"PATH": "/usr/bin:/bin"})
    assert (session.out.strip(), session.err, len(session.turns)) == ("I see.", "", 1)
