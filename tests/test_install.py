"""Our hooks in Claude's settings: shown, asked, written once, and taken out to the last byte (design §7)."""

from __future__ import annotations

import json
import os
import pty
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import entries
from learnloop_md.claude import COMMAND, HOOKS
from tests.conftest import Run, git

THEIRS = {"hooks": [{"type": "command", "command": "make lint"}]}


def settings_of(repo: Path, name: str = "settings.json") -> Path:
    path = repo / ".claude" / name
    path.parent.mkdir(exist_ok=True)
    return path


def commands(settings: Any, event: str) -> list[str]:
    return [hook["command"] for group in settings["hooks"][event] for hook in group["hooks"]]


@contextmanager
def terminal(typed: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A terminal on which a person has typed these lines."""
    master, slave = pty.openpty()
    os.write(master, typed.encode())
    with os.fdopen(slave) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield
    os.close(master)


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called learnloop that PATH finds."""
    program = tmp_path / "bin" / "learnloop"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


@pytest.fixture
def off_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A PATH with git and without learnloop."""
    folder = tmp_path / "only git"
    folder.mkdir()
    git_program = next(
        Path(part) / "git" for part in os.environ["PATH"].split(os.pathsep) if (Path(part) / "git").exists()
    )
    (folder / "git").symlink_to(git_program)
    monkeypatch.setenv("PATH", str(folder))


# --- the shared settings ----------------------------------------------------------------------------------------------


def test_every_event_calls_the_hook_door(repo: Path, learnloop: Run, on_path: Path) -> None:
    """R000-21, design §7; SessionEnd would get 1.5 seconds without a timeout of its own."""
    ran = learnloop("install", "--yes", "--json", cwd=repo)
    settings = json.loads(settings_of(repo).read_text())
    assert (ran.code, ran.json["action"], ran.json["scope"]) == (0, "installed", "project")
    assert ran.json["path"] == str(repo / ".claude" / "settings.json")
    assert "+++ b/.claude/settings.json" in ran.json["diff"]
    assert list(settings["hooks"]) == list(HOOKS)
    for event, matcher in HOOKS.items():
        (group,) = settings["hooks"][event]
        assert group.get("matcher", "") == matcher
        assert group["hooks"] == [{"type": "command", "command": COMMAND, "timeout": 10}]


def test_the_shared_command_names_no_path_of_this_machine(repo: Path, learnloop: Run, off_path: None) -> None:
    """A teammate without the program must get no error at every event."""
    ran = learnloop("install", "--yes", cwd=repo)
    assert "not on PATH" in ran.err
    assert set(commands(json.loads(settings_of(repo).read_text()), "Stop")) == {COMMAND}


def test_the_command_ends_quietly_where_the_program_is_missing(repo: Path, off_path: None) -> None:
    done = subprocess.run(["/bin/sh", "-c", COMMAND], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_nothing_is_committed(repo: Path, learnloop: Run, on_path: Path) -> None:
    """settings.json is the person's file: it stays an ordinary change."""
    head = git(repo, "rev-parse", "HEAD")
    learnloop("install", "--yes", cwd=repo)
    assert git(repo, "rev-parse", "HEAD") == head
    assert git(repo, "status", "--porcelain") == "?? .claude/"


def test_a_second_time_nothing_is_written(repo: Path, learnloop: Run, on_path: Path) -> None:
    learnloop("install", "--yes", cwd=repo)
    path = settings_of(repo)
    os.utime(path, (1, 1))
    before = path.read_bytes()
    ran = learnloop("install", "--json", cwd=repo)
    assert (ran.code, ran.json["action"], ran.json["diff"]) == (0, "unchanged", "")
    assert (path.read_bytes(), path.stat().st_mtime) == (before, 1)


def test_from_a_folder_below_the_root_s_file_is_written(repo: Path, learnloop: Run, on_path: Path) -> None:
    (repo / "deep" / "er").mkdir(parents=True)
    learnloop("install", "--yes", cwd=repo / "deep" / "er")
    assert settings_of(repo).is_file()


def test_a_linked_worktree_has_shared_settings_of_its_own(
    repo: Path, tmp_path: Path, learnloop: Run, on_path: Path
) -> None:
    """Claude reads the checked-out settings.json, and the main checkout's settings.local.json (measured)."""
    git(repo, "worktree", "add", "-q", str(tmp_path / "side"))
    learnloop("install", "--yes", cwd=tmp_path / "side")
    learnloop("install", "--yes", "--scope", "local", cwd=tmp_path / "side")
    assert (tmp_path / "side" / ".claude" / "settings.json").is_file()
    assert sorted(p.name for p in (repo / ".claude").iterdir()) == ["settings.local.json"]


# --- consent ----------------------------------------------------------------------------------------------------------


def test_without_a_terminal_the_diff_is_shown_and_nothing_written(
    repo: Path, learnloop: Run, on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    ran = learnloop("install", cwd=repo)
    assert (ran.code, ran.out.startswith("--- /dev/null\n+++ b/.claude/settings.json\n")) == (1, True)
    assert ran.err == ("learnloop: nothing was written; to write it: learnloop install --scope project --yes\n")
    assert not (repo / ".claude").exists()
    assert learnloop("install", "--json", cwd=repo).json["action"] == "proposed"


@pytest.mark.parametrize(("typed", "written"), [("y\n", True), ("n\n", False), ("\n", False), ("\x04", False)])
def test_at_a_terminal_it_asks(
    repo: Path, learnloop: Run, on_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, written: bool
) -> None:
    with terminal(typed, monkeypatch):
        ran = learnloop("install", cwd=repo)
    assert (ran.code, settings_of(repo).is_file()) == (0 if written else 1, written)
    assert "write it? [y/N]" in ran.out
    assert ran.out.count("+++ b/.claude/settings.json") == 1


def test_a_program_at_a_terminal_reads_json_alone(
    repo: Path, learnloop: Run, on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal("y\n", monkeypatch):
        ran = learnloop("install", "--json", cwd=repo)
    assert (ran.json["action"], "write it?" in ran.err) == ("installed", True)


def test_a_file_that_changed_while_it_was_asked_is_left_alone(
    repo: Path, learnloop: Run, on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settings_of(repo)

    class Slow:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            path.write_text('{"model": "x"}')
            return "y\n"

    monkeypatch.setattr("sys.stdin", Slow())
    ran = learnloop("install", "--json", cwd=repo)
    assert (ran.code, json.loads(ran.out)["error"]["code"], path.read_text()) == (4, "changed", '{"model": "x"}')


def test_a_dry_run_writes_nothing(repo: Path, learnloop: Run, on_path: Path) -> None:
    ran = learnloop("install", "--dry-run", "--json", cwd=repo)
    assert (ran.code, ran.json["dry_run"], (repo / ".claude").exists()) == (0, True, False)


# --- what stands there already ----------------------------------------------------------------------------------------


def test_hooks_of_others_stay_byte_for_byte(repo: Path, learnloop: Run, on_path: Path) -> None:
    path = settings_of(repo)
    theirs = '        { "hooks": [ {"type" : "command", "command": "make lint"} ] }'
    before = '{\n    "model": "x",\n    "hooks": {\n      "Stop": [\n' + theirs + "\n      ]\n    }\n}"
    path.write_text(before)
    learnloop("install", "--yes", cwd=repo)
    after = path.read_text()
    assert theirs + "," in after
    assert commands(json.loads(after), "Stop") == ["make lint", COMMAND]
    learnloop("uninstall", "--yes", cwd=repo)
    assert path.read_text() == before


@pytest.mark.parametrize(
    "old",
    [
        "learnloop hook",
        "/opt/x/bin/learnloop hook",
        "'/opt/my tools/learnloop' hook",
        "learnloop-md hook",
        "exec learnloop-md hook",
        "python3 -m learnloop_md hook",
    ],
)
def test_an_entry_of_another_version_is_brought_up_to_date(repo: Path, learnloop: Run, on_path: Path, old: str) -> None:
    path = settings_of(repo)
    entry = {"hooks": [{"type": "command", "command": old, "timeout": 60}]}
    path.write_text(json.dumps({"hooks": {"Stop": [THEIRS, entry], "Notification": [entry]}}, indent=2))
    learnloop("install", "--yes", cwd=repo)
    settings = json.loads(path.read_text())
    assert settings["hooks"]["Stop"] == [THEIRS, {"hooks": [{"type": "command", "command": COMMAND, "timeout": 10}]}]
    assert "Notification" not in settings["hooks"]
    assert [commands(settings, event) for event in HOOKS if event != "Stop"] == [[COMMAND]] * (len(HOOKS) - 1)


@pytest.mark.parametrize(
    "theirs",
    [
        "learnloop hook | tee -a stop.log; notify-send done",
        "learnloop hook && make lint",
        "exec learnloop hook --quiet",
        "timeout 3 learnloop hook",
        "echo learnloop hook",
    ],
)
def test_a_line_that_a_person_wrote_around_a_call_stays_theirs(
    repo: Path, learnloop: Run, on_path: Path, theirs: str
) -> None:
    path = settings_of(repo)
    before = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": theirs}]}]}}, indent=2)
    path.write_text(before)
    learnloop("install", "--yes", cwd=repo)
    assert commands(json.loads(path.read_text()), "Stop") == [theirs, COMMAND]
    learnloop("uninstall", "--yes", cwd=repo)
    assert path.read_text() == before


@pytest.mark.parametrize(
    "other",
    ["learnloop note x", "mylearnloop hook", "echo 'learnloop hook'", "learnloop hook-up", "it's", "learnloop", ""],
)
def test_what_does_not_call_us_is_not_ours(other: str) -> None:
    assert not entries.calls_us(other)


def test_words_given_as_args_are_ours_too() -> None:
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "learnloop", "args": ["hook"]}]}]}}
    assert [entry.event for entry in entries.ours(settings)] == ["Stop"]


def test_ours_doubled_in_one_file_becomes_one(repo: Path, learnloop: Run, on_path: Path) -> None:
    path = settings_of(repo)
    learnloop("install", "--yes", cwd=repo)
    settings = json.loads(path.read_text())
    old = {"type": "command", "command": "learnloop hook"}
    settings["hooks"]["Stop"] += [{"hooks": [old, THEIRS["hooks"][0], old]}, {"hooks": [old, old]}]
    path.write_text(json.dumps(settings))
    learnloop("install", "--yes", cwd=repo)
    assert sorted(commands(json.loads(path.read_text()), "Stop")) == sorted([COMMAND, "make lint"])


def test_another_matcher_is_set_right(repo: Path, learnloop: Run, on_path: Path) -> None:
    path = settings_of(repo)
    learnloop("install", "--yes", cwd=repo)
    settings = json.loads(path.read_text())
    settings["hooks"]["PreToolUse"][0]["matcher"] = "Bash"
    settings["hooks"]["Stop"][0]["matcher"] = "*"  # says the same as none
    path.write_text(json.dumps(settings, indent=2))
    learnloop("install", "--yes", cwd=repo)
    after = json.loads(path.read_text())
    assert (after["hooks"]["PreToolUse"][0]["matcher"], after["hooks"]["Stop"][0]["matcher"]) == ("Skill", "*")


def test_a_hook_that_shares_our_group_stays(repo: Path, learnloop: Run, on_path: Path) -> None:
    path = settings_of(repo)
    group = {"matcher": "", "hooks": [*THEIRS["hooks"], {"type": "command", "command": "learnloop hook"}]}
    path.write_text(json.dumps({"hooks": {"Stop": [group]}}))
    learnloop("install", "--yes", cwd=repo)
    learnloop("uninstall", "--yes", cwd=repo)
    assert json.loads(path.read_text()) == {"hooks": {"Stop": [{"matcher": "", **THEIRS}]}}


# --- the way back -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    [
        None,
        "",
        "\n",
        "\ufeff",
        "{}",
        "{}\n",
        "{ }",
        "{\n}\n",
        '{"hooks": {}}',
        '{\n  "hooks": {}\n}\n',
        '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
        '{"hooks":{"Stop":[]}}',
        '\ufeff{\r\n\t"model": "x"\r\n}\r\n',
        '{"model":"x"}',
        '{\n    "permissions": {"allow": ["Bash(make:*)"]},\n    "hooks": {"Stop": [' + json.dumps(THEIRS) + "]}\n}",
        '{\n  "hooks": {\n    "Notification": [\n      ' + json.dumps(THEIRS) + "\n    ]\n  }\n}\n",
    ],
    ids=repr,
)
def test_uninstall_leaves_the_bytes_that_install_found(
    repo: Path, learnloop: Run, on_path: Path, before: str | None
) -> None:
    path = settings_of(repo)
    if before is not None:
        path.write_bytes(before.encode())
    assert learnloop("install", "--yes", cwd=repo).code == 0
    assert json.loads(path.read_text("utf-8-sig"))["hooks"].keys() >= HOOKS.keys()
    ran = learnloop("uninstall", "--yes", "--json", cwd=repo)
    assert (ran.code, ran.json["action"]) == (0, "uninstalled")
    assert (path.read_bytes().decode() if path.exists() else None) == before
    assert learnloop("uninstall", "--json", cwd=repo).json["action"] == "unchanged"


KEYS = st.sampled_from(["model", "env", "hooks", "Stop", "x"])
LAYOUTS = st.sampled_from([None, 1, 2, 4, "\t"])


@given(
    st.dictionaries(KEYS.filter(lambda key: key != "hooks"), st.integers() | st.text(max_size=3), max_size=3),
    st.dictionaries(
        st.sampled_from(["Stop", "SessionEnd", "Notification", "PreToolUse"]), st.lists(st.just(THEIRS), max_size=2)
    )
    | st.none(),
    LAYOUTS,
)
def test_what_goes_in_comes_out_of_any_settings(rest: Any, hooks: Any, layout: Any) -> None:
    text = json.dumps({**rest, **({} if hooks is None else {"hooks": hooks})}, indent=layout)
    new = entries.with_ours(text)
    assert entries.with_ours(new) == new
    assert entries.without_ours(new, entries.empty_places(text)) == text


def test_a_clone_that_did_not_install_takes_out_what_is_empty(
    repo: Path, learnloop: Run, on_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = settings_of(repo)
    path.write_text('{\n  "hooks": {},\n  "model": "x"\n}\n')
    learnloop("install", "--yes", cwd=repo)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    learnloop("uninstall", "--yes", cwd=repo)
    assert path.read_text() == '{\n  "model": "x"\n}\n'


def test_an_update_forgets_nothing_that_the_first_install_found(repo: Path, learnloop: Run, on_path: Path) -> None:
    path = settings_of(repo)
    path.write_text("{}")
    learnloop("install", "--yes", cwd=repo)
    path.write_text(path.read_text().replace(": 10", ": 99", 1))
    learnloop("install", "--yes", cwd=repo)
    learnloop("uninstall", "--yes", cwd=repo)
    assert path.read_text() == "{}"


def test_uninstall_asks_as_well(repo: Path, learnloop: Run, on_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learnloop("install", "--yes", cwd=repo)
    monkeypatch.setattr("sys.stdin", None)
    ran = learnloop("uninstall", cwd=repo)
    assert (ran.code, "learnloop uninstall --scope project --yes" in ran.err) == (1, True)
    assert settings_of(repo).is_file()


# --- the other scopes -------------------------------------------------------------------------------------------------


def test_local_settings_stay_out_of_git(repo: Path, learnloop: Run, on_path: Path) -> None:
    learnloop("install", "--yes", "--scope", "local", cwd=repo)
    assert settings_of(repo, "settings.local.json").is_file()
    assert git(repo, "status", "--porcelain") == ""


def test_user_settings_need_no_repository(tmp_path: Path, learnloop: Run, on_path: Path) -> None:
    path = Path(os.environ["HOME"]) / ".claude" / "settings.json"
    ran = learnloop("install", "--yes", "--scope", "user", "--json", cwd=tmp_path)
    assert (ran.json["path"], path.is_file()) == (str(path), True)


def test_claude_s_other_home_is_used(
    tmp_path: Path, learnloop: Run, on_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "cfg"))
    learnloop("install", "--yes", "--scope", "user", cwd=tmp_path)
    assert (tmp_path / "cfg" / "settings.json").is_file()


@pytest.mark.parametrize("scope", ["local", "user"])
def test_a_program_off_path_is_called_where_it_is(
    repo: Path, learnloop: Run, off_path: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scope: str
) -> None:
    program = tmp_path / "my $tools" / "learnloop"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho called $1\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(program)])
    ran = learnloop("install", "--yes", "--scope", scope, "--json", cwd=repo)
    (command,) = set(commands(json.loads(Path(ran.json["path"]).read_text()), "Stop"))
    assert command == f"'{program}' hook"
    assert subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=True).stdout == b"called hook\n"


def test_on_path_all_scopes_have_the_same_command(repo: Path, learnloop: Run, on_path: Path) -> None:
    """Claude runs one command line once, wherever it stands (measured)."""
    found = set()
    for scope in ("project", "local", "user"):
        path = learnloop("install", "--yes", "--scope", scope, "--json", cwd=repo).json["path"]
        found |= set(commands(json.loads(Path(path).read_text()), "Stop"))
    assert found == {COMMAND}


def test_an_unknown_scope_is_named(repo: Path, learnloop: Run) -> None:
    ran = learnloop("install", "--scope", "global", cwd=repo)
    assert (ran.code, "project, local, user" in ran.err) == (2, True)


# --- the file itself --------------------------------------------------------------------------------------------------


def test_a_link_of_a_dotfiles_repository_is_written_through(tmp_path: Path, learnloop: Run, on_path: Path) -> None:
    path = Path(os.environ["HOME"]) / ".claude" / "settings.json"
    goal = tmp_path / "dotfiles" / "claude.json"
    goal.parent.mkdir()
    path.parent.mkdir()
    goal.write_text('{"model": "x"}\n')
    path.symlink_to(goal)
    learnloop("install", "--yes", "--scope", "user", cwd=tmp_path)
    assert (path.is_symlink(), "learnloop hook" in goal.read_text()) == (True, True)
    learnloop("uninstall", "--yes", "--scope", "user", cwd=tmp_path)
    assert (path.is_symlink(), goal.read_text()) == (True, '{"model": "x"}\n')


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_that_leads_out_of_the_repository_is_refused(
    repo: Path, tmp_path: Path, learnloop: Run, on_path: Path, what: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text("{}")
    if what == "file":
        settings_of(repo).symlink_to(outside / "settings.json")
    else:
        (repo / ".claude").symlink_to(outside)
    ran = learnloop("install", "--yes", "--json", cwd=repo)
    assert (ran.code, ran.json["error"]["code"]) == (3, "symlink-escape")
    assert (outside / "settings.json").read_text() == "{}"


def test_a_link_inside_the_repository_is_written_through(repo: Path, learnloop: Run, on_path: Path) -> None:
    (repo / "shared.json").write_text("{}")
    settings_of(repo).symlink_to("../shared.json")
    assert learnloop("install", "--yes", cwd=repo).code == 0
    assert (settings_of(repo).is_symlink(), "learnloop hook" in (repo / "shared.json").read_text()) == (True, True)


def test_the_file_s_mode_is_kept(repo: Path, learnloop: Run, on_path: Path) -> None:
    path = settings_of(repo)
    path.write_text("{}")
    path.chmod(0o600)
    learnloop("install", "--yes", cwd=repo)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_read_only_file_is_left_alone(repo: Path, learnloop: Run, on_path: Path) -> None:
    path = settings_of(repo)
    path.write_text("{}")
    path.chmod(0o444)
    ran = learnloop("install", "--yes", cwd=repo)
    assert (ran.code, path.read_text()) == (4, "{}")
    assert f"{path} is read-only" in ran.err


def test_a_folder_that_install_made_goes_again_unless_it_holds_more(repo: Path, learnloop: Run, on_path: Path) -> None:
    folder = settings_of(repo).parent
    for kept in (False, True):
        learnloop("install", "--yes", cwd=repo)
        if kept:
            (folder / "notes.md").write_text("mine")
        learnloop("uninstall", "--yes", cwd=repo)
        assert folder.exists() == kept


BAD = [
    ('{\n  "a": 1,\n}\n', ":3:1: trailing comma"),
    ('{\n  // mine\n  "a": 1\n}\n', ":2:3: a comment"),
    ('{"a": 1, "a": 2}', ':1:10: the key "a" stands twice'),
    ("[]", ":1:1: the text is not an object"),
    ('{\n  "hooks": []\n}', ":2:12: hooks is not an object"),
    ('{"hooks": null}', ":1:11: hooks is not an object"),
    ('{\n "hooks": {\n  "Stop": {}\n }\n}', ":3:11: hooks.Stop is not a list"),
    ("\x00", ":1:1: a value is expected"),
]


@pytest.mark.parametrize(("text", "words"), BAD)
def test_a_file_that_cannot_be_edited_is_named_with_its_line(
    repo: Path, learnloop: Run, on_path: Path, text: str, words: str
) -> None:
    path = settings_of(repo)
    path.write_text(text)
    ran = learnloop("install", "--yes", cwd=repo)
    assert (ran.code, ran.err.count("\n"), path.read_text()) == (4, 1, text)
    assert f"settings.json{words}" in ran.err
    assert "nothing was changed" in ran.err


def test_a_folder_in_the_file_s_place_is_refused(repo: Path, learnloop: Run, on_path: Path) -> None:
    settings_of(repo).mkdir()
    assert learnloop("install", "--yes", cwd=repo).code == 4


def test_bytes_that_are_no_utf8_stay(repo: Path, learnloop: Run, on_path: Path) -> None:
    path = settings_of(repo)
    path.write_bytes(b'{"env": {"X": "\xff"}}')
    learnloop("install", "--yes", cwd=repo)
    assert b'"X": "\xff"' in path.read_bytes()
    learnloop("uninstall", "--yes", cwd=repo)
    assert path.read_bytes() == b'{"env": {"X": "\xff"}}'


@pytest.mark.parametrize("layout", [None, 2])
def test_a_token_in_the_settings_is_never_shown(repo: Path, learnloop: Run, on_path: Path, layout: int | None) -> None:
    """R004-20: an agent that reads the diff must not read the person's secrets."""
    token = "".join(("ghp", "_", "Zk3vQ8nR2xW7yT5bL9cJ4hM6pF1sD0gA8eUi"))
    path = settings_of(repo)
    path.write_text(json.dumps({"env": {"TOKEN": token}, "model": "x"}, indent=layout))
    ran = learnloop("install", "--yes", "--json", cwd=repo)
    assert (ran.code, "holds a secret" in ran.out, token in ran.out + ran.err) == (0, True, False)
    assert json.loads(path.read_text())["env"] == {"TOKEN": token}


def test_a_damaged_note_of_ours_stops_nothing(repo: Path, learnloop: Run, on_path: Path) -> None:
    note = Path(os.environ["HOME"]) / ".local" / "state" / "learnloop" / "installed.json"
    settings_of(repo).write_text("{}")
    learnloop("install", "--yes", cwd=repo)
    for damage in ("[", '{"x": 1}', json.dumps({str(settings_of(repo)): 7})):
        note.write_text(damage)
        learnloop("uninstall", "--yes", cwd=repo)
        assert not settings_of(repo).exists()
        learnloop("install", "--yes", cwd=repo)
