"""The GitHub Action: its file is what GitHub takes, and its steps run as they stand (design §11)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.conftest import Run, git
from tests.test_precommit import made_hooks
from tests.test_precommit import shared as shared  # noqa: PLC0414 - a fixture

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
GUIDE = (ROOT / "docs" / "action.md").read_text("utf-8")
HOSTILE = "main$(touch owned)`touch owned`;touch owned"


class Step(NamedTuple):
    """A step that ran: its exit code, what it printed, and GitHub's files."""

    code: int
    log: str
    temp: Path

    @property
    def outputs(self) -> dict[str, str]:
        rows = (self.temp / "output").read_text().splitlines()
        return dict(row.split("=", 1) for row in rows)

    @property
    def summary(self) -> str:
        return (self.temp / "summary").read_text("utf-8")


def run(name: str, cwd: Path, temp: Path, **env: str) -> Step:
    """Run a step's script as GitHub does (`shell: bash`), with its variables set."""
    temp.mkdir(exist_ok=True)
    for file in ("output", "summary"):
        (temp / file).touch()
    script = temp / "script.sh"
    script.write_text(STEPS[name]["run"], "utf-8")
    given = dict.fromkeys(STEPS[name].get("env", {}), "")
    paths = {
        "RUNNER_TEMP": str(temp),
        "GITHUB_OUTPUT": str(temp / "output"),
        "GITHUB_STEP_SUMMARY": str(temp / "summary"),
    }
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    done = subprocess.run(
        words, cwd=cwd, env={**os.environ, **given, **paths, **env}, capture_output=True, text=True, check=False
    )
    return Step(done.returncode, done.stdout + done.stderr, temp)


@pytest.fixture
def temp(tmp_path: Path) -> Path:
    """The runner's folder, in which the program is installed already."""
    programs = tmp_path / "runner" / "learnloop-venv" / "bin"
    programs.mkdir(parents=True)
    for name, words in (("learnloop", "-m learnloop_md"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" {words} "$@"\n')
        (programs / name).chmod(0o755)
    return tmp_path / "runner"


@pytest.fixture
def branch(memory: Path, repo: Path, learnloop: Run) -> Path:
    """A repository on a branch that adds a lesson to the one of main."""
    assert learnloop("note", "Read it.", "--run", "r1", "--why", "a", "--how", "b", cwd=repo).code == 0
    git(repo, "checkout", "-q", "-b", "side")
    assert learnloop("note", "Stage files by name.", "--run", "r1", "--why", "a", "--how", "b", cwd=repo).code == 0
    return repo


def compare(branch: Path, temp: Path, **env: str) -> Step:
    return run("Compare the lessons", branch, temp, **{"BASE": "main", "HEAD": "side", **env})


# --- the file ---------------------------------------------------------------------------------------------------------


def test_it_has_the_keys_that_github_asks_for() -> None:
    """Checked by hand against the published JSON schema; here the part that a change may break."""
    assert set(ACTION) == {"name", "description", "branding", "inputs", "outputs", "runs"}
    assert ACTION["runs"]["using"] == "composite"
    assert all(set(row) == {"description", "default"} for row in ACTION["inputs"].values())
    assert all(isinstance(row["default"], str) for row in ACTION["inputs"].values())
    assert all(set(row) == {"description", "value"} for row in ACTION["outputs"].values())
    known = {"name", "id", "if", "shell", "run", "uses", "with", "env", "working-directory"}
    for step in STEPS.values():
        assert set(step) <= known
        assert ("run" in step) == ("shell" in step) != ("uses" in step)


def test_nothing_from_outside_is_a_part_of_a_script() -> None:
    """A branch may be called `$(…)`."""
    assert not [name for name, step in STEPS.items() if "${{" in step.get("run", "")]


def test_every_input_is_used_and_every_one_that_is_used_is_there() -> None:
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert used == set(ACTION["inputs"])
    documented = set(re.findall(r"`([a-z-]+)`", "".join(re.findall(r"(?m)^\| `.*", GUIDE))))
    assert set(ACTION["inputs"]) | set(ACTION["outputs"]) <= documented


# --- its steps --------------------------------------------------------------------------------------------------------


def test_it_installs_from_its_own_files(shared: Path, tmp_path: Path, branch: Path) -> None:
    made_hooks(shared / "hooks")
    done = run("Install learnloop", branch, tmp_path / "runner", GITHUB_ACTION_PATH=str(shared / "hooks"))
    assert done.code == 0, done.log
    assert (tmp_path / "runner" / "learnloop-venv" / "bin" / "learnloop").exists()


def test_it_tells_what_the_branch_does(branch: Path, temp: Path) -> None:
    done = compare(branch, temp, NUMBER="7", SARIF="true", REPORT="true")
    assert done.code == 0, done.log
    assert set(done.outputs) == {
        "changed", "losses", "errors", "warnings", "folder", "comment-file", "sarif-file",
    }  # fmt: skip
    assert set(done.outputs) == {row["value"].split(".")[-1].rstrip(" }") for row in ACTION["outputs"].values()}
    assert (done.outputs["changed"], done.outputs["losses"], done.outputs["errors"]) == ("true", "0", "0")
    folder = Path(done.outputs["folder"])
    assert sorted(path.name for path in folder.iterdir()) == [
        "changed", "comment.md", "diff.json", "learnloop.sarif", "pull-request", "report.html",
    ]  # fmt: skip
    assert (folder / "comment.md").read_text("utf-8").startswith("<!-- learnloop:diff -->\n")
    assert "Stage files by name" in done.summary
    assert (folder / "pull-request").read_text() == "7\n"


def test_where_no_lesson_changed_nothing_is_told(branch: Path, temp: Path) -> None:
    done = compare(branch, temp, BASE="side")
    assert (done.code, done.outputs["changed"], done.summary) == (0, "false", "")
    assert not (temp / "learnloop" / "changed").exists()
    assert not (temp / "learnloop" / "report.html").exists()


@pytest.mark.parametrize("base", ["", "0" * 40])
def test_without_a_base_it_says_so(branch: Path, temp: Path, base: str) -> None:
    done = compare(branch, temp, BASE=base)
    assert (done.code, "::error title=learnloop::there is nothing to compare with" in done.log) == (2, True)


@pytest.mark.parametrize("step", ["Compare the lessons", "Judge"])
def test_a_hostile_name_is_a_name(branch: Path, temp: Path, step: str) -> None:
    done = run(step, branch, temp, BASE=HOSTILE, HEAD="side", MEMORY=HOSTILE, FAIL_ON="error")
    assert done.code != 0
    assert "::error" in done.log
    assert not list(branch.parent.rglob("owned"))


def test_it_fails_on_what_it_is_told_to_fail_on(branch: Path, temp: Path) -> None:
    path = branch / ".claude" / "memory" / "read-it.md"
    path.write_text("---\nname: never closed\n")
    git(branch, "commit", "-qam", "Break it")
    judged = [
        run("Judge", branch, temp, BASE="main", HEAD="side", FAIL_ON=what) for what in ("error,policy", "", "policy")
    ]
    assert [step.code for step in judged] == [1, 0, 0]
    assert all("::error file=.claude/memory/read-it.md" in step.log for step in judged)


def test_one_memory_can_be_named(branch: Path, temp: Path) -> None:
    done = compare(branch, temp, MEMORY="elsewhere")
    assert (done.code, "::error" in done.log) == (4, True)
    assert run("Judge", branch, temp, BASE="main", HEAD="side", MEMORY=".claude/memory").code == 0


def test_a_report_that_cannot_be_made_is_a_warning(branch: Path, temp: Path) -> None:
    shutil.rmtree(branch / ".claude" / "memory")  # git has it, and the comparison reads git
    done = compare(branch, temp, MEMORY=".claude/memory", REPORT="true")
    assert (done.code, "::warning title=learnloop::the report could not be made" in done.log) == (0, True)


# --- the workflows of the guide ---------------------------------------------------------------------------------------


def workflows() -> list[dict[str, Any]]:
    blocks = re.findall(r"```yaml\n(name: .*?)```", GUIDE, re.DOTALL)
    return [yaml.safe_load(block) for block in blocks]


def test_who_sees_the_branch_may_not_write_and_who_may_write_does_not_see_it() -> None:
    reader, writer = workflows()
    assert reader["permissions"] == {"contents": "read"}
    assert "contents" not in writer["permissions"]
    text = yaml.safe_dump(writer)
    assert ("uses:" in text, "pull_request_target" in yaml.safe_dump([reader, writer])) == (False, False)
    script = writer["jobs"]["comment"]["steps"][0]["run"]
    assert "${{" not in script
    assert set(reader["jobs"]["diff"]["steps"][1]["with"]) <= set(ACTION["inputs"])


GH = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in
  "run download"*) cp -r "$ARTIFACT" learnloop ;;
  *"--jq .head.sha") echo c0ffee ;;
  *"/comments --jq"*) echo "$OLD" ;;
esac
"""


@pytest.mark.parametrize(
    ("files", "old", "looked_at", "call"),
    [
        ({}, "", "c0ffee", "api repos/o/r/issues/7/comments -F body=@body.md --silent"),
        ({}, "99", "c0ffee", "api -X PATCH repos/o/r/issues/comments/99 -F body=@body.md --silent"),
        ({"changed": None}, "", "c0ffee", None),
        ({"changed": None}, "99", "c0ffee", "api -X PATCH repos/o/r/issues/comments/99 -F body=@body.md --silent"),
        ({"pull-request": "7/../8\n"}, "", "c0ffee", None),
        ({}, "", "another", None),
        ({"comment.md": "Buy this\n"}, "", "c0ffee", None),
    ],
    ids=["first", "again", "nothing-changed", "nothing-left", "no-number", "another-commit", "another-text"],
)
def test_the_comment_is_written_for_the_pull_request_that_was_looked_at(
    tmp_path: Path, files: dict[str, str | None], old: str, looked_at: str, call: str | None
) -> None:
    artifact = tmp_path / "artifact"
    artifact.mkdir()
    whole = {"changed": "", "pull-request": "7\n", "comment.md": "<!-- learnloop:diff -->\n### Lessons\n", **files}
    for name, text in whole.items():
        if text is not None:
            (artifact / name).write_text(text)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text(GH)
    (tmp_path / "bin" / "gh").chmod(0o755)
    script = tmp_path / "script.sh"
    script.write_text(workflows()[1]["jobs"]["comment"]["steps"][0]["run"])
    env = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CALLS": str(tmp_path / "calls"),
        "ARTIFACT": str(artifact),
        "OLD": old,
        "REPO": "o/r",
        "RUN": "1",
        "LOOKED_AT": looked_at,
    }
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, check=False)
    calls = (tmp_path / "calls").read_text().splitlines()
    wrote = [row for row in calls if "body=" in row]
    assert wrote == ([call] if call else [])
