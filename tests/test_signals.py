"""Corrections, confirmations and failed tools are told from everything else (R004-81, R004-82)."""

from __future__ import annotations

import hashlib
import time

import pytest

from learnloop_md import signal_words
from learnloop_md.signals import Run, Signal, failed, is_human, key_of, of_tools, of_words
from learnloop_md.transcript import person_words
from tests.signals_report import HALVES, judge, precision, recall, turns

DONE = "I installed the dependencies with pip."
CHOSE = "I used a temporary table instead of a long list."


# --- The labelled turns ----------------------------------------------------------------------------


@pytest.mark.parametrize("half", HALVES)
def test_both_halves_reach_the_figures(half: str) -> None:
    """Goal: precision 0.95, recall 0.85, on the half that no rule was made on as well."""
    judged = judge(half)
    assert precision(judged, "correction", "success").share >= 0.95
    assert recall(judged, "correction", "success").share >= 0.85


def test_the_labelled_turns_are_two_halves_parted_by_their_ids() -> None:
    rows = {half: turns(half) for half in HALVES}
    for half, part in rows.items():
        assert len(part) >= 160
        for turn in part:
            assert HALVES[hashlib.sha256(turn["id"].encode()).digest()[0] & 1] == half
    texts = [(turn["before"], str(turn["row"]["message"])) for part in rows.values() for turn in part]
    assert len(texts) == len(set(texts)) >= 320


# --- Words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "No, use uv.",
        "no",
        "nope",
        "That's wrong.",
        "that’s not what I asked",
        "use tabs instead",
        "I meant the other file",
        "actually the default is 8081",
        "don't touch the lock file",
        "stop doing that",
        "not tabs, spaces",
        "I told you we are on 3.9",
        "again you used relative imports",
        "why did you remove the null check?",
        "good, but use tabs",
        "nein, nimm pnpm",
        "c'est faux",
        "está mal",
        "não, use a wiki",
    ],
)
def test_a_correction_is_told(words: str) -> None:
    """R004-81."""
    assert of_words(words, DONE) == "correction"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "no problem",
        "no idea",
        "No worries!",
        "no need",
        "stop the server and start it on 4000",
        "actually, can you also validate the phone number?",
        "don't worry",
        "does it not work on windows?",
        "perfect, thanks",
        "add a page; make sure there are no warnings and it never returns null",
        'he wrote "no, that\'s wrong, use a set instead"',
        "look at this:\n```\nno, wrong, use X instead\n```",
        "> don't use floats\n> that's wrong\n\nhas he a point?",
        "2026-02-01 12:00:01 wrong checksum\nno such file: a.txt\nwhere does it come from?",
        "no hay problema",
    ],
)
def test_what_only_looks_like_a_correction_is_none(words: str) -> None:
    assert of_words(words, DONE) == ""


@pytest.mark.parametrize("before", ["Should I also run the linter?", "There are two options: A or B."])
def test_an_answer_to_the_assistant_s_question_is_no_correction(before: str) -> None:
    assert of_words("no", DONE) == "correction"
    assert of_words("no", before) == ""
    assert of_words("No, keep them for now.", before) == ""
    assert of_words("No, that's wrong. This repo uses uv.", before) == "correction"


@pytest.mark.parametrize("words", ["yes exactly", "Perfect.", "that's right, keep doing that", "ja genau", "parfait"])
def test_praise_confirms_only_after_a_choice(words: str) -> None:
    """A bare "perfect" after a routine step teaches nothing."""
    assert of_words(words, CHOSE) == "success"
    assert of_words(words.removesuffix(", keep doing that"), "I ran the tests.") == ""


def test_praise_with_a_but_is_a_correction() -> None:
    assert of_words("perfect, but use a set", CHOSE) == "correction"


def test_a_correction_word_inside_a_long_task_is_none_and_in_its_first_sentence_is_one() -> None:
    task = "We move the billing service. " + "It reads a queue and writes invoices. " * 12 + "Don't touch the producer."
    assert of_words(task, DONE) == ""
    assert of_words("No, that's wrong. " + task, DONE) == "correction"


@pytest.mark.parametrize(
    "prompt",
    [
        "[Request interrupted by user for tool use]",
        "<task-notification>\nNo, wrong\n</task-notification>",
        "<command-name>/compact</command-name>",
        "<local-command-stdout>No, wrong</local-command-stdout>",
        "<system-reminder>\nNo, don't\n</system-reminder>",
        "Stop hook feedback:\nNo, not yet",
        "Base directory for this skill: /home/dev/x\n\nNo, don't",
        "This session is being continued from a previous conversation. No, use uv.",
        "Contents of /home/dev/.claude/memory/MEMORY.md:\n\nNo, don't use pip",
        "  \n",
    ],
)
def test_what_the_client_says_is_no_person_s_word(prompt: str) -> None:
    assert not is_human(prompt)
    assert of_words(prompt, DONE) == ""


def test_a_reminder_beside_a_person_s_words_is_left_out() -> None:
    assert is_human("use it\n<system-reminder>no, don't</system-reminder>")
    assert of_words("thanks\n<system-reminder>no, don't</system-reminder>", DONE) == ""


@pytest.mark.parametrize(
    ("word", "words"), [("違う", "違うよ、Bを使って"), ("inte så", "Inte så, tack"), ("źle", "to jest źle")]
)
def test_words_of_one_s_own_language_count(word: str, words: str) -> None:
    """Setting correction_words."""
    assert of_words(words, DONE) == ""
    assert of_words(words, DONE, (word,)) == "correction"


def test_one_s_own_word_counts_as_a_whole_word_and_an_empty_one_never() -> None:
    assert of_words("the sinter furnace", DONE, ("inte", "", " ")) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "x, not y " * 40_000,
        "a" * 400_000,
        "'" * 100_000,
        "ok " * 100_000,
        " \n" * 100_000 + "a",
        "it is wrong but:\n" * 20_000,
    ],
    ids=["commas", "one word", "quotes", "openers", "blank", "lines"],
)
def test_a_huge_prompt_is_judged_at_once(prompt: str) -> None:
    """A hook answers within its budget (design §7)."""
    of_words("warm up, not cold", DONE)
    start = time.process_time()
    of_words(prompt, DONE)
    assert time.process_time() - start < 1.5


def test_every_row_of_the_table_has_a_reason_and_a_known_place() -> None:
    for rule in signal_words.CORRECTIONS:
        assert rule.reason
        assert rule.where in {"turn", "clause", "any", "contrast", "question", "strong"}


# --- Tools -----------------------------------------------------------------------------------------


def bash(command: str, text: str = "", *, failed: bool = False) -> Run:
    return Run("Bash", command, failed, text)


def test_a_failed_tool_is_a_failure() -> None:
    """R004-81."""
    runs = [bash("npm test", "Exit code 1\nmissing script: test", failed=True), bash("ls", "package.json")]
    assert of_tools(runs) == [Signal("failure", "Bash: npm test → missing script: test", 0)]


@pytest.mark.parametrize("gap", ["\n", " ", ": "])
def test_what_a_failed_tool_said_may_stand_behind_its_exit_code(gap: str) -> None:
    (signal,) = of_tools([bash("npm test", f"Exit code 1{gap}missing script: test", failed=True)])
    assert signal.text == "Bash: npm test → missing script: test"


@pytest.mark.parametrize(
    ("then", "kind"), [("npm run test:unit", "workaround"), ("npm run lint", "failure"), ("npm install", "failure")]
)
def test_a_script_of_the_same_name_is_a_way_around(then: str, kind: str) -> None:
    assert [row.kind for row in of_tools([bash("npm test", "Exit code 1\nno", failed=True), bash(then)])] == [kind]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("python3 -m pytest -q", "python3 -m unittest"),
        ("npm install left", "pnpm install left"),
        ("cd app && make check", "cd app && make check ARGS=-k"),
        ("sudo FOO=1 docker compose up", "docker compose up --build"),
    ],
)
def test_what_worked_another_way_is_a_workaround(first: str, then: str) -> None:
    runs = [bash(first, "Exit code 2\nno", failed=True), bash("ls"), bash(then, "fine")]
    assert [(signal.kind, signal.text) for signal in of_tools(runs)] == [
        ("workaround", f"Bash: {first} → worked: {then}")
    ]


@pytest.mark.parametrize(
    "later",
    [
        [bash("git status")],
        [bash("ls")] * 6 + [bash("git push -u origin main")],
        [Run("Edit", "a.py", False), bash("git push -u origin main")],
        [bash("git push -u origin main", "Exit code 1\nno", failed=True)],
    ],
    ids=["another subcommand", "too late", "after an edit", "failed too"],
)
def test_what_is_not_related_or_too_late_is_no_way_around(later: list[Run]) -> None:
    kinds = [signal.kind for signal in of_tools([bash("git push", "Exit code 128\nno upstream", failed=True), *later])]
    assert set(kinds) == {"failure"}


def test_a_command_that_later_works_unchanged_is_no_signal() -> None:
    """A test that fails, and passes after the code was mended, teaches nothing of its own."""
    runs = [bash("make test", "Exit code 2\n1 failed", failed=True), Run("Edit", "a.py", False), bash("make test")]
    assert of_tools(runs) == []


def test_the_same_failure_is_told_once() -> None:
    assert len(of_tools([bash("make", "Exit code 2\nno rule", failed=True)] * 3)) == 1


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("rm -r x", "The user doesn't want to proceed with this tool use."),
        ("sleep 30", "<tool_use_error>Blocked: standalone sleep</tool_use_error>"),
        ("sleep 30", "Blocked: standalone sleep"),
        ("a.py", "File has not been read yet. Read it first."),
        ("a.py", "InputValidationError: Write failed"),
        ("curl x", "PreToolUse:Bash hook error: denied"),
        ("grep -r x .", "Exit code 1"),
        ("cat a | rg x", "Exit code 1\n"),
        ("test -f a", "Exit code 1"),
        ("diff a b", "Exit code 1\n1c1\n< a"),
    ],
)
def test_refusals_mistakes_in_the_call_and_exits_that_answer_are_no_failures(key: str, text: str) -> None:
    assert not failed(Run("Bash", key, True, text))
    assert of_tools([Run("Bash", key, True, text)]) == []


@pytest.mark.parametrize("name", ["mcp__learnloop__memory_remember", "mcp__plugin_learnloop_learnloop__memory_confirm"])
def test_a_refusal_of_our_own_tools_is_no_failure(name: str) -> None:
    """It says how the memory is used; another server's failure is one."""
    assert of_tools([Run(name, "Use uv.", True, "no-run: no run is open here")]) == []
    assert of_tools([Run("mcp__tracker__find_issue", "12", True, "timed out")]) != []


def test_grep_that_could_not_search_failed() -> None:
    assert failed(bash("grep x nowhere", "Exit code 2\ngrep: nowhere: No such file or directory", failed=True))
    assert failed(bash("make grep", "Exit code 10", failed=True))


def test_the_key_of_a_run_is_its_command_or_target() -> None:
    assert key_of({"description": "say hello", "command": "echo"}) == "echo"
    assert key_of({"file_path": "/a", "content": "x"}) == "/a"
    assert key_of({}) == ""


def test_a_row_of_another_shape_is_nobody_s_word() -> None:
    for row in (
        {},
        {"type": "user"},
        {"type": "user", "message": 3},
        {"type": "user", "message": {"content": [1, None]}},
    ):
        assert person_words(row) == ""
