"""The skill-scoped Stop hook: `init --skill PATH --auto-learn` writes it into SKILL.md and touches nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import claude
from learnloop_md.errors import RefusedError
from learnloop_md.portability import CLAUDE_KEYS, claude_only
from learnloop_md.skillhook import PASTE, with_stop_hook
from tests.conftest import Run, git

OURS = {"hooks": [{"type": "command", "command": claude.COMMAND, "timeout": 15}]}
PLAIN = "---\nname: brew\ndescription: Brew tea.\n---\n\n# Brew\n\nBoil water.\n"
THEIRS = """---
# how tea is brewed
description: 'Brew tea: green, black'   # quoted
name: brew
hooks:
    # before the kettle
    PreToolUse:
      - matcher: "Bash"
        hooks:
          - type: command
            command: |
              ./kettle.sh
              # not a comment
    # nothing after the kettle
license: MIT

---

# Brew
"""
STOPS = """---
name: brew
description: Brew tea.
hooks:
  Stop:
  - hooks:
    - type: command
      command: ./wash-up.sh
    # that was the washing up
  SubagentStop:
  - hooks:
    - {type: command, command: ./sip.sh}
metadata:
  version: "2"
---
# Brew
"""


def _hooks(text: str) -> Any:
    return yaml.safe_load(text.replace("\r\n", "\n").split("\n---\n")[0])["hooks"]


def _added(before: str, after: str) -> list[str]:
    """The lines that after has besides before, whose bytes must all be there in their order."""
    rows, added = before.splitlines(keepends=True), []
    for line in after.splitlines(keepends=True):
        if rows and rows[0] == line:
            rows.pop(0)
        else:
            added.append(line)
    assert rows == []
    return added


@pytest.fixture
def skill(repo: Path) -> Path:
    folder = repo / ".claude" / "skills" / "brew"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(PLAIN)
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "Add a skill")
    return folder


# --- the text -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [PLAIN, THEIRS, STOPS], ids=["none", "others", "the same event"])
@pytest.mark.parametrize("eol", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_the_hook_is_added_and_every_other_byte_stays(text: str, eol: str) -> None:
    """R004-80: type command, timeout 15; comments, order, quoting and line ends are the person's."""
    before = text.replace("\n", eol)
    after = with_stop_hook(before)
    assert _hooks(after)["Stop"][-1] == OURS
    added = _added(before, after)
    assert len(added) <= 6
    assert all(line.endswith(eol) for line in added)


@pytest.mark.parametrize("text", [THEIRS, STOPS], ids=["others", "the same event"])
def test_hooks_of_others_are_kept(text: str) -> None:
    """R004-80."""
    before, after = _hooks(text), _hooks(with_stop_hook(text))
    assert after == {**before, "Stop": [*before.get("Stop", []), OURS]}


@pytest.mark.parametrize("text", [PLAIN, THEIRS, STOPS], ids=["none", "others", "the same event"])
def test_a_second_time_changes_nothing(text: str) -> None:
    once = with_stop_hook(text)
    assert with_stop_hook(once) == once


def test_a_timeout_or_path_of_the_person_s_is_left() -> None:
    own = with_stop_hook(PLAIN).replace("timeout: 15", "timeout: 40").replace("exec learnloop", "exec ~/bin/learnloop")
    assert with_stop_hook(own) == own


def test_a_hook_of_another_event_is_not_ours_yet() -> None:
    text = with_stop_hook(PLAIN).replace("  Stop:", "  SessionEnd:")
    assert _hooks(with_stop_hook(text))["Stop"] == [OURS]


@pytest.mark.parametrize(
    "head",
    [
        "name: brew\ndescription: Brew tea.\nhooks: {PreToolUse: []}\n",
        "name: brew\ndescription: Brew tea.\nhooks: null\n",
        "name: brew\ndescription: Brew tea.\nhooks:\n  Stop: []\n",
        "name: brew\ndescription: Brew tea.\nhooks:\n  Stop: [{hooks: [{type: command, command: x}]}]\n",
        "name: brew\ndescription: Brew tea.\nhooks:\n  - Stop\n",
        "name: brew\ndescription: Brew tea.\nhooks: &all\n  Stop:\n",
        "{name: brew, description: Brew tea.}\n",
        "name: brew\ndescription: Brew: tea\n",
        "name: brew\ndescription: Brew tea.\nhooks:\n\tStop:\n",
    ],
    ids="flow null flow-list flow-item list anchor flow-head not-yaml tab".split(),
)
def test_a_head_that_cannot_be_edited_surely_is_refused_with_the_line_to_paste(head: str) -> None:
    """R004-80: never a guess."""
    with pytest.raises(RefusedError) as refused:
        with_stop_hook(f"---\n{head}---\n\n# Brew\n")
    assert refused.value.code == "head-not-editable"
    assert refused.value.hint.endswith(PASTE)


def test_a_head_that_ends_in_a_block_of_text_keeps_it_whole() -> None:
    text = "---\nname: brew\ndescription: |+\n  Brew tea.\n\n---\n# Brew\n"
    found = yaml.safe_load(with_stop_hook(text).split("---\n")[1])
    assert found == {"name": "brew", "description": "Brew tea.\n\n", "hooks": {"Stop": [OURS]}}


def test_the_line_to_paste_is_the_hook() -> None:
    assert yaml.safe_load(f"hooks:\n  {PASTE}") == {"hooks": {"Stop": [OURS]}}
    assert with_stop_hook(pasted := PLAIN.replace("tea.\n", f"tea.\nhooks:\n  {PASTE}\n", 1)) == pasted


_LINES = st.sampled_from(
    [
        "hooks:", "  Stop:", "    - hooks:", "        - type: command", "          command: x", "  # note", "# note",
        "", "  PreToolUse:", "license: MIT", "metadata:", '  version: "1"', "description: |", "  text", "  - hooks: []",
    ]
)  # fmt: skip


@given(st.lists(_LINES, max_size=9))
def test_an_edited_head_says_all_that_it_said(lines: list[str]) -> None:
    """Whatever the head: refused, or the same values in YAML's own reader, and the hook besides."""
    text = "---\nname: brew\n" + "".join(f"{line}\n" for line in lines) + "---\n# Brew\n"
    try:
        after = with_stop_hook(text)
    except RefusedError:
        return
    _added(text, after)
    before, found = (yaml.safe_load(said.split("---\n")[1]) for said in (text, after))
    hooks = before.get("hooks") or {}
    assert found == {**before, "hooks": {**hooks, "Stop": [*(hooks.get("Stop") or []), OURS]}}


# --- the command ----------------------------------------------------------------------------------------------------


def test_init_writes_hook_and_rules_in_one_commit_and_a_second_changes_nothing(
    repo: Path, skill: Path, learnloop: Run
) -> None:
    """R004-80, R004-86, R002-53: the instructions stay, and they say that the command must be on PATH."""
    words = ("init", "--skill", str(skill), "--auto-learn")
    before = git(repo, "rev-parse", "HEAD")
    assert learnloop(*words, cwd=repo).code == 0
    assert git(repo, "rev-list", "--count", f"{before}..HEAD") == "1"
    text = (skill / "SKILL.md").read_text()
    assert _hooks(text)["Stop"] == [OURS]
    assert "learnloop note" in text
    assert "must be on `PATH`" in text
    assert git(repo, "status", "--porcelain") == ""
    head = git(repo, "rev-parse", "HEAD")
    assert learnloop(*words, cwd=repo).code == 0
    assert git(repo, "rev-parse", "HEAD") == head
    assert (skill / "SKILL.md").read_text() == text


def test_init_without_auto_learn_leaves_hooks_alone(repo: Path, skill: Path, learnloop: Run) -> None:
    learnloop("init", "--skill", str(skill), cwd=repo)
    assert "hooks:" not in (skill / "SKILL.md").read_text()
    learnloop("init", "--skill", str(skill), "--auto-learn", cwd=repo)
    text = (skill / "SKILL.md").read_text()
    learnloop("init", "--skill", str(skill), cwd=repo)
    assert (skill / "SKILL.md").read_text() == text
    assert _hooks(text) == {"Stop": [OURS]}


def test_an_older_contract_gets_the_sentence_about_path(repo: Path, skill: Path, learnloop: Run) -> None:
    """R004-86: at the end of its own list; nothing else of it changes."""
    contract = "\n## The contract\n\nRead `references/memory.md`.\n\n- Keep the zones.\n\n## Thanks\n\nTo all.\n"
    (skill / "SKILL.md").write_text(PLAIN + "\nRead `references/memory.md` first.\n" + contract)
    git(repo, "commit", "-qam", "Write a contract")
    assert learnloop("init", "--skill", str(skill), "--auto-learn", cwd=repo).code == 0
    text = (skill / "SKILL.md").read_text()
    assert "- Keep the zones.\n- `learnloop` must be on `PATH`" in text
    assert text.endswith("\n\n## Thanks\n\nTo all.\n")


def test_a_head_that_is_refused_leaves_the_skill_without_a_memory(repo: Path, skill: Path, learnloop: Run) -> None:
    text = PLAIN.replace("tea.\n", "tea.\nhooks: {}\n", 1)
    (skill / "SKILL.md").write_text(text)
    git(repo, "commit", "-qam", "Write hooks")
    ran = learnloop("init", "--skill", str(skill), "--auto-learn", cwd=repo)
    assert ran.code == 3
    assert PASTE in ran.err
    assert (skill / "SKILL.md").read_text() == text
    assert git(repo, "status", "--porcelain") == ""


def test_auto_learn_is_for_a_skill(repo: Path, learnloop: Run) -> None:
    ran = learnloop("init", "--auto-learn", cwd=repo)
    assert ran.code == 2
    assert "--skill" in ran.err
    assert not (repo / ".claude").exists()


def test_the_hook_is_silent_where_the_program_is_missing(tmp_path: Path) -> None:
    """R004-83: a teammate without it must not get an error at every stop."""
    done = subprocess.run(
        ["/bin/sh", "-c", claude.COMMAND],
        env={"PATH": str(tmp_path)},
        input="{}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# --- what other agents cannot do ------------------------------------------------------------------------------------


def _told(learnloop: Run, skill: Path) -> list[tuple[int, str, str]]:
    ran = learnloop("check", "--json", cwd=skill)
    assert ran.code == 0, ran.out
    return [(row["line"], row["code"], row["severity"]) for row in ran.json["findings"]]


def test_check_tells_that_the_hook_works_in_claude_code_alone(repo: Path, skill: Path, learnloop: Run) -> None:
    """R004-85: a warning, at the line; other agents follow the instructions."""
    learnloop("init", "--skill", str(skill), "--auto-learn", cwd=repo)
    assert _told(learnloop, skill) == [(4, "portability", "warning")]
    ran = learnloop("check", cwd=skill)
    assert "Claude Code alone; other agents follow the instructions instead" in ran.out


def test_check_names_each_substitution_once(repo: Path, skill: Path, learnloop: Run) -> None:
    """R004-85."""
    learnloop("init", "--skill", str(skill), cwd=repo)
    path = skill / "SKILL.md"
    body = "\nRun ${CLAUDE_SKILL_DIR}/a.sh for $ARGUMENTS in ${CLAUDE_SESSION_ID}.\n\nAgain $ARGUMENTS: !`date`\n"
    path.write_text(path.read_text().replace("tea.\n", "tea.\nallowed-tools: Read\nmodel: small\n", 1) + body)
    rows = learnloop("check", "--json", cwd=skill).json["findings"]
    assert [row["message"].split(" ")[0] for row in rows] == [
        "'allowed-tools'", "'model'", "$ARGUMENTS", "${CLAUDE_SESSION_ID}", "${CLAUDE_SKILL_DIR}", "!`command`",
    ]  # fmt: skip
    assert {row["code"] for row in rows} == {"portability"}


@pytest.mark.parametrize("text", ["Cost: $ARGUMENT or \\$ARGUMENTS.", "$CLAUDE_SKILL_DIR", "Wow!`x` is code.", "`!`"])
def test_what_claude_code_leaves_as_it_stands_is_not_told(text: str) -> None:
    assert claude_only(f"{PLAIN}\n{text}\n") == []


def test_a_key_that_nobody_knows_is_still_an_error(repo: Path, skill: Path, learnloop: Run) -> None:
    """R004-85: a warning only where Claude Code reads the key."""
    learnloop("init", "--skill", str(skill), cwd=repo)
    path = skill / "SKILL.md"
    path.write_text(path.read_text().replace("tea.\n", "tea.\nsteeping: 3\n", 1))
    ran = learnloop("check", "--json", cwd=skill)
    assert (ran.code, [row["code"] for row in ran.json["findings"]]) == (1, ["invalid-skill"])
    assert "steeping" not in CLAUDE_KEYS
