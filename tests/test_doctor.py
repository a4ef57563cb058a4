"""`doctor`: where program, memory, hooks, settings and skills do not fit together it says so, with the way out."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import __version__, claude, wiring
from learnloop_md.claude import HOOKS
from tests.conftest import CopyOf, Run, git
from tests.homes import SKILL, Home, make_home

Rows = dict[str, list[dict[str, str]]]
Look = Callable[..., Rows]


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learnloop on PATH that says this version."""
    path = tmp_path / "bin" / "learnloop"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\necho {__version__}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    return path


@pytest.fixture
def look(learnloop: Run, repo: Path) -> Look:
    """The checks by name."""

    def run(*words: str, cwd: Path = repo) -> Rows:
        ran = learnloop("doctor", "--json", *words, cwd=cwd)
        found: Rows = {}
        for row in ran.json["checks"]:
            assert sorted(row) == ["fix", "message", "name", "state"]
            assert (row["state"] == "ok") == (row["fix"] == ""), f"{row} lacks a way out, or needs none"
            found.setdefault(row["name"], []).append(row)
        assert ran.code == (1 if any(r["state"] == "fail" for rows in found.values() for r in rows) else 0)
        return found

    return run


@pytest.fixture
def well(memory: Path, copy_of: CopyOf, learnloop: Run) -> Path:
    """A repository in which everything fits."""

    def build(root: Path) -> Home:
        made = make_home("project", root, learnloop)
        for words in (("install", "--yes"), ("git-config", "--enable")):
            assert learnloop(*words, cwd=root).code == 0
        return made

    return copy_of("well", build).root


def states(rows: Rows) -> dict[str, str]:
    return {name: "/".join(row["state"] for row in found) for name, found in rows.items()}


def put(path: Path, **values: Any) -> None:
    """Settings with these keys besides those that are there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    old = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**old, **values}))


def user_settings() -> Path:
    return Path(os.environ["HOME"]) / ".claude" / "settings.json"


def everything(folder: Path) -> dict[str, bytes | str]:
    """Every file and link below a folder, git's own included."""
    return {
        str(path): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


# --- the whole --------------------------------------------------------------------------------------------------------


def test_where_everything_fits_all_is_ok(well: Path, look: Look) -> None:
    found = look()
    assert set(states(found).values()) == {"ok"}
    assert found.keys() >= {"program", "python", "git", "memory", "claude-memory", "hooks", "merge-drivers", "queue"}


def test_people_read_one_line_for_each_check_and_its_fix_below(repo: Path, learnloop: Run) -> None:
    ran = learnloop("doctor", cwd=repo)
    lines = ran.out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("fail  hooks: "))
    assert (ran.code, lines[at + 1]) == (1, "      learnloop install")
    assert all(line.startswith(("ok    ", "warn  ", "fail  ", "      ")) for line in lines)


def test_it_writes_nothing(well: Path, look: Look, learnloop: Run) -> None:
    skill = well / ".claude" / "skills" / "brew"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    (well / ".claude" / "memory" / "by-hand.md").write_text("---\nname: by-hand\n---\n\nBy hand.\n")
    home = Path(os.environ["HOME"])
    before = everything(well), everything(home)
    look()
    assert (everything(well), everything(home)) == before


def test_outside_of_git_it_says_what_to_do(tmp_path: Path, look: Look) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    found = look(cwd=folder)
    assert (states(found)["git"], found["git"][0]["fix"], found["memory"][0]["fix"]) == (
        "warn",
        "git init",
        "learnloop init",
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["hooks", "command", "matcher", "Stop", "args"]), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["hooks", "autoMemoryDirectory", "autoMemoryEnabled", "disableAllHooks", "enabledPlugins", "Stop"]
)


@given(st.dictionaries(KEYS, JSON, max_size=4) | JSON, st.text(max_size=6))
def test_settings_of_any_shape_are_looked_at(tmp_path_factory: pytest.TempPathFactory, value: Any, tail: str) -> None:
    """Broken files are what it is for."""
    folder = tmp_path_factory.mktemp("any")
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.json").write_text(json.dumps(value) + tail, "utf-8", "surrogateescape")
    scene = wiring.look(folder, None)
    checks = [wiring.of_settings, wiring.of_folder, wiring.of_hooks, wiring.of_directories, wiring.of_loaded]
    found = [row for check in checks for row in check(scene)]
    assert all(row.fix or row.state == "ok" for row in found)


# --- the program and git ----------------------------------------------------------------------------------------------


def test_a_program_that_is_not_on_path_is_told(
    repo: Path, look: Look, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R004-86: hooks and skills call learnloop."""
    found = shutil.which("git")
    assert found
    program.rename(program.with_name("git-only"))
    program.with_name("git").symlink_to(found)
    monkeypatch.setenv("PATH", str(program.parent))
    elsewhere = program.parent.parent / "venv" / "learnloop"
    elsewhere.parent.mkdir()
    elsewhere.touch()
    monkeypatch.setattr("sys.argv", [str(elsewhere)])
    (row,) = look()["program"]
    assert (row["state"], row["fix"]) == ("fail", f'export PATH="{elsewhere.parent}:$PATH"')


def test_another_version_on_path_is_told(repo: Path, look: Look, program: Path) -> None:
    """R004-86."""
    program.write_text("#!/bin/sh\necho 0.0.1\n")
    (row,) = look()["program"]
    assert (row["state"], "version 0.0.1" in row["message"], __version__ in row["message"]) == ("warn", True, True)


def test_a_program_that_cannot_start_is_told(repo: Path, look: Look, program: Path) -> None:
    program.write_text("#!/nowhere/at/all\n")
    assert states(look())["program"] == "fail"


def test_claude_itself_is_not_started(repo: Path, look: Look, program: Path) -> None:
    mark = program.parent / "started"
    claude = program.with_name("claude")
    claude.write_text(f"#!/bin/sh\ntouch {mark}\n")
    claude.chmod(0o755)
    look()
    assert not mark.exists()


def test_a_missing_identity_is_told(well: Path, look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    git(well, "config", "user.useConfigOnly", "true")
    (row,) = look()["git"]
    assert (row["state"], "git config user.name" in row["fix"]) == ("warn", True)


def test_merge_drivers_that_this_clone_does_not_know_are_told(well: Path, look: Look, learnloop: Run) -> None:
    learnloop("git-config", "--disable", cwd=well)
    (row,) = look()["merge-drivers"]
    assert (row["state"], row["fix"]) == ("warn", "learnloop git-config --enable")


def test_changes_that_wait_are_told_with_the_reason(well: Path, look: Look, learnloop: Run) -> None:
    git(well, "checkout", "-q", "--detach")
    learnloop("note", "Warm the pot.", cwd=well)
    (row,) = look()["queue"]
    assert (row["state"], "HEAD is detached" in row["message"], row["fix"]) == ("warn", True, "learnloop sync")


# --- the memory that Claude loads -------------------------------------------------------------------------------------


def test_a_clone_that_is_not_initialised_is_told(well: Path, tmp_path: Path, look: Look) -> None:
    """The shared hook is there; Claude would write into a directory of its own."""
    git(well, "add", "-A")
    git(well, "commit", "-q", "-m", "Hooks")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(well), str(clone))
    (row,) = look(cwd=clone)["claude-memory"]
    assert (row["state"], row["fix"]) == ("fail", "learnloop init")
    assert "this clone is not initialised" in row["message"]


def test_a_repository_that_was_moved_is_told(well: Path, tmp_path: Path, look: Look) -> None:
    moved = well.rename(tmp_path / "moved")
    found = look(cwd=moved)
    (row,) = found["auto-memory-directory"]
    assert (row["state"], row["fix"], str(well) in row["message"]) == ("fail", "learnloop init", True)


@pytest.mark.parametrize("value", ["/", "~", "./memory", "memory", "$CLAUDE_PROJECT_DIR/memory", "", 7])
def test_a_directory_that_claude_ignores_is_told(well: Path, look: Look, value: object) -> None:
    """Measured: Claude takes absolute paths and ~/x alone."""
    put(well / ".claude" / "settings.local.json", autoMemoryDirectory=value)
    (row,) = look()["auto-memory-directory"]
    assert (row["state"], json.dumps(value) in row["message"], row["fix"]) == ("warn", True, "learnloop init")


def test_a_directory_in_the_home_is_no_fault(well: Path, look: Look) -> None:
    (Path(os.environ["HOME"]) / "mem").mkdir()
    put(well / ".claude" / "settings.local.json", autoMemoryDirectory="~/mem")
    assert "auto-memory-directory" not in look()


@pytest.mark.parametrize("scope", ["project", "user"])
def test_two_files_that_name_different_directories_are_told(well: Path, tmp_path: Path, look: Look, scope: str) -> None:
    """Measured: local wins over project, project over user."""
    other = tmp_path / "other"
    other.mkdir()
    put(user_settings() if scope == "user" else well / ".claude" / "settings.json", autoMemoryDirectory=str(other))
    found = look()
    (row,) = found["auto-memory-directory"]
    assert (row["state"], "settings.local.json names" in row["message"]) == ("warn", True)
    assert states(found)["claude-memory"] == "ok"


def test_another_memory_than_claude_s_is_told(well: Path, tmp_path: Path, look: Look) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "MEMORY.md").write_text("# Memory\n")
    (row,) = look("--memory", str(other))["claude-memory"]
    assert (row["state"], str(well / ".claude" / "memory") in row["message"]) == ("warn", True)


@pytest.mark.parametrize("where", ["local", "project", "user"])
def test_a_memory_that_is_switched_off_is_told(well: Path, look: Look, where: str) -> None:
    names = {"local": well / ".claude" / "settings.local.json", "project": well / ".claude" / "settings.json"}
    path = names.get(where, user_settings())
    put(path, autoMemoryEnabled=False)
    (row,) = look()["claude-memory"]
    assert (row["state"], str(path) in row["message"], str(path) in row["fix"]) == ("fail", True, True)


def test_the_environment_switches_it_off_and_on(well: Path, look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured: 1 is off, 0 forces it on over the settings."""
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")
    (row,) = look()["claude-memory"]
    assert (row["state"], row["fix"]) == ("fail", "unset CLAUDE_CODE_DISABLE_AUTO_MEMORY")
    put(user_settings(), autoMemoryEnabled=False)
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "0")
    assert states(look())["claude-memory"] == "ok"


def test_a_linked_memory_is_told(repo: Path, tmp_path: Path, look: Look) -> None:
    """Measured: Claude reads through the link and refuses to write."""
    folder = claude.default_memory(repo, None)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(tmp_path)
    (row,) = look()["links"]
    assert (row["state"], row["fix"]) == ("fail", "learnloop init")


@pytest.mark.parametrize("dangling", [False, True])
def test_a_linked_document_is_told(well: Path, tmp_path: Path, look: Look, dangling: bool) -> None:
    """Measured: Claude refuses to edit it."""
    document = well / ".claude" / "memory" / "MEMORY.md"
    goal = document.rename(tmp_path / "elsewhere.md")
    document.symlink_to(goal)
    if dangling:
        goal.unlink()
    (row,) = look()["links"]
    assert (row["state"], row["fix"]) == ("fail", f"rm {document}" if dangling else f"mv {goal} {document}")


@pytest.mark.parametrize(("lines", "state"), [(200, None), (201, "fail")])
def test_a_document_that_claude_loads_in_part_is_told(well: Path, look: Look, lines: int, state: str | None) -> None:
    """R001-42."""
    (well / ".claude" / "memory" / "MEMORY.md").write_text("\n".join(f"line {n}" for n in range(lines)) + "\n")
    assert states(look()).get("memory-size") == state


# --- settings and hooks -----------------------------------------------------------------------------------------------


def test_missing_hooks_are_told(memory: Path, look: Look) -> None:
    """R000-21: automatic, not optional."""
    (row,) = look()["hooks"]
    assert (row["state"], row["fix"]) == ("fail", "learnloop install")


def test_some_missing_events_are_told(well: Path, look: Look) -> None:
    path = well / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    del settings["hooks"]["Stop"], settings["hooks"]["SessionEnd"]
    path.write_text(json.dumps(settings))
    (row,) = look()["hooks"]
    assert (row["state"], row["fix"]) == ("warn", "learnloop install --scope project")
    assert row["message"] == "no hook for: Stop, SessionEnd"


def test_the_same_command_in_two_scopes_is_fine(well: Path, look: Look, learnloop: Run) -> None:
    """Measured: Claude runs one command line once."""
    learnloop("install", "--scope", "user", "--yes", cwd=well)
    (row,) = look()["hooks"]
    assert (row["state"], "(project, user)" in row["message"]) == ("ok", True)


def test_different_commands_in_two_scopes_are_told(well: Path, look: Look, learnloop: Run, program: Path) -> None:
    learnloop("install", "--scope", "user", "--yes", cwd=well)
    path = user_settings()
    path.write_text(path.read_text().replace("exec learnloop hook", f"exec {program} hook"))
    (row,) = look()["hooks"]
    assert (row["state"], row["fix"]) == ("warn", "learnloop uninstall --scope user")
    assert "twice" in row["message"]


def test_a_plugin_besides_the_settings_is_told(well: Path, look: Look) -> None:
    put(user_settings(), enabledPlugins={"learnloop@learnloop-md": True})
    (row,) = look()["hooks"]
    assert (row["state"], row["fix"]) == ("warn", "learnloop uninstall --scope project")


def test_a_plugin_alone_is_enough(memory: Path, look: Look) -> None:
    put(user_settings(), enabledPlugins={"learnloop@learnloop-md": True, "other@x": True})
    assert states(look())["hooks"] == "ok"


@pytest.mark.parametrize("where", ["project", "user"])
def test_hooks_that_are_switched_off_are_told(well: Path, look: Look, where: str) -> None:
    path = user_settings() if where == "user" else well / ".claude" / "settings.json"
    put(path, disableAllHooks=True)
    (row,) = look()["hooks"]
    assert (row["state"], str(path) in row["fix"]) == ("fail", True)


def test_hooks_of_another_version_are_told(well: Path, look: Look) -> None:
    path = well / ".claude" / "settings.json"
    path.write_text(path.read_text().replace('"timeout": 10', '"timeout": 60', 1))
    (row,) = look()["hooks"]
    assert (row["state"], row["fix"]) == ("warn", "learnloop install --scope project")


def test_hooks_whose_program_is_gone_are_told(well: Path, look: Look) -> None:
    path = well / ".claude" / "settings.json"
    path.write_text(path.read_text().replace("exec learnloop hook", "exec /gone/learnloop hook"))
    (row,) = look()["hooks"]
    assert (row["state"], "/gone/learnloop" in row["message"]) == ("fail", True)


def test_below_the_root_the_shared_hooks_are_lost(well: Path, look: Look, learnloop: Run) -> None:
    """Measured: Claude reads settings.json from the folder it is started in, and the local file of the root."""
    below = well / "sub"
    below.mkdir()
    found = look(cwd=below)
    (row,) = found["folder"]
    assert (row["state"], row["fix"]) == ("warn", "learnloop install --scope local")
    assert (f"{len(HOOKS)} hooks are lost" in row["message"], states(found)["hooks"]) == (True, "fail")
    learnloop("install", "--scope", "local", "--yes", cwd=below)
    found = look(cwd=below)
    assert ("folder" in found, states(found)["hooks"], states(found)["claude-memory"]) == (False, "ok", "ok")


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_malformed_settings_file_is_told_with_its_line(well: Path, look: Look, name: str) -> None:
    """Measured: Claude drops the whole file."""
    path = well / ".claude" / name
    path.write_text('{\n  "a": 1,\n}\n')
    (row,) = look()["settings"]
    assert (row["state"], f"{path}:3:1: trailing comma" in row["message"]) == ("fail", True)
    assert "ignores the whole file" in row["message"]


def test_a_key_that_stands_twice_is_a_warning(well: Path, look: Look) -> None:
    """Claude reads such a file, the last one counts; we do not edit it."""
    path = well / ".claude" / "settings.local.json"
    path.write_text(path.read_text().replace("{", '{"model": "x", "model": "y", ', 1))
    found = look()
    assert (states(found)["settings"], states(found)["claude-memory"]) == ("warn", "ok")


def test_a_link_that_leads_nowhere_is_told(well: Path, look: Look) -> None:
    user_settings().parent.mkdir(exist_ok=True)
    user_settings().symlink_to("/nowhere/settings.json")
    assert states(look())["settings"] == "fail"


def test_a_malformed_setting_of_ours_is_told(well: Path, look: Look) -> None:
    (well / ".learnloop.toml").write_text("nonsense = 1\n")
    (row,) = look()["memory"]
    assert (row["state"], "nonsense" in row["message"]) == ("fail", True)


# --- skills -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def skill(well: Path, learnloop: Run) -> Path:
    """A skill whose memory is read and written."""
    folder = well / ".claude" / "skills" / "brew"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.replace("review", "brew"))
    assert learnloop("init", "--skill", str(folder), cwd=well).code == 0
    return folder


def test_a_skill_with_both_halves_is_ok(skill: Path, look: Look) -> None:
    """R003-54."""
    assert states(look())["skill brew"] == "ok"


def test_a_skill_without_a_memory_is_no_matter_of_ours(well: Path, look: Look) -> None:
    folder = well / ".claude" / "skills" / "plain"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    assert "skill plain" not in look()


def test_a_write_only_skill_is_told(skill: Path, look: Look) -> None:
    """R003-54: nothing reads what is written."""
    text = (skill / "SKILL.md").read_text()
    (skill / "SKILL.md").write_text("\n".join(line for line in text.split("\n") if "before you begin" not in line))
    (row,) = look()["skill brew"]
    assert (row["state"], "write-only" in row["message"]) == ("fail", True)
    assert row["fix"] == f"learnloop init --skill {skill}"


def test_a_read_only_skill_is_told(skill: Path, look: Look) -> None:
    """R003-54: nothing says how lessons get into it."""
    text = (skill / "SKILL.md").read_text()
    (skill / "SKILL.md").write_text(text[: text.index("## Memory contract")])
    (row,) = look()["skill brew"]
    assert (row["state"], "read-only" in row["message"]) == ("warn", True)


def test_a_missing_notebook_is_told(skill: Path, look: Look) -> None:
    shutil.rmtree(skill / "references")
    (row,) = look()["skill brew"]
    assert (row["state"], "references/memory.md, which is not there" in row["message"]) == ("fail", True)


def test_a_skill_that_cannot_be_read_is_told(skill: Path, look: Look) -> None:
    (skill / "SKILL.md").unlink()
    (skill / "SKILL.md").mkdir()
    assert states(look())["skill brew"] == "fail"


def stop_hook(path: Path, command: str, event: str = "Stop") -> None:
    """One more hook in a settings file."""
    said = json.loads(path.read_text()) if path.exists() else {}
    said.setdefault("hooks", {}).setdefault(event, []).append({"hooks": [{"type": "command", "command": command}]})
    put(path, **said)


def test_of_two_that_call_us_the_dead_one_is_to_go(well: Path, look: Look) -> None:
    """The shared hooks of a team are not taken out for a stale line of one's own."""
    stop_hook(well / ".claude" / "settings.local.json", "/opt/old/bin/learnloop hook")
    twice = next(row for row in look()["hooks"] if "twice" in row["message"])
    assert twice["message"].startswith("Stop calls learnloop twice")
    assert twice["fix"] == "learnloop uninstall --scope local"


def test_an_event_that_needs_no_hook_of_ours_is_told(well: Path, look: Look) -> None:
    path = well / ".claude" / "settings.json"
    command = json.loads(path.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    stop_hook(path, command, "PreCompact")
    row = look()["hooks"][0]
    assert (row["state"], row["fix"]) == ("warn", "learnloop install --scope project")
    assert "PreCompact" in row["message"]


def test_settings_that_are_not_utf8_are_told(well: Path, look: Look, learnloop: Run) -> None:
    path = well / ".claude" / "settings.json"
    path.write_bytes(b'{"a": "\xff"}')
    assert states(look())["settings"] == "fail"
    done = learnloop("install", "--yes", cwd=well)
    assert (done.code, path.read_bytes()) == (4, b'{"a": "\xff"}')
    assert "settings.json:1: not UTF-8" in done.err


def test_a_filter_of_the_lessons_is_named(well: Path, look: Look) -> None:
    """Reliability §5: content goes through git-crypt and LFS, and doctor shows it."""
    assert "filter" not in look()
    with (well / ".gitattributes").open("a") as file:
        file.write("*.md filter=vault\n")
    assert "the filter vault" in look()["filter"][0]["message"]
