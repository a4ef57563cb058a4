"""Claude Code's own rules, as measured: where its memory is, which settings it reads, which hooks call us."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from learnloop_md.repos import Repo

# In shared settings a teammate without the program must not get an error at every event.
COMMAND = "command -v learnloop >/dev/null 2>&1 || exit 0; exec learnloop hook"
# The tools that do something: a failed look at a file teaches nothing.
_TOOLS = "Bash|Write|Edit|MultiEdit|NotebookEdit|WebFetch|mcp__.*"
HOOKS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": "Skill",
    "PostToolUse": _TOOLS,
    "PostToolUseFailure": _TOOLS,
    "Stop": "",
    "SessionEnd": "",
}  # event to matcher, "" for all
TIMEOUT_S = 10  # SessionEnd would get 1.5 s by itself


def home() -> Path:
    """Claude Code's configuration folder."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


def session() -> str:
    """The session that this process works for, "" outside of one."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def project_id(root: Path) -> str:
    """Claude Code's name for a project: every UTF-16 unit but A-Z a-z 0-9 becomes "-"; over 200, a hash."""
    if os.environ.get("CLAUDE_CONFIG_DIR") and os.environ.get("CLAUDE_CODE_PROJECT_DIR_NAME"):
        return os.environ["CLAUDE_CODE_PROJECT_DIR_NAME"]
    path = os.path.realpath(root)
    units = path.encode("utf-16-le", "surrogatepass")
    codes = [units[n] | units[n + 1] << 8 for n in range(0, len(units), 2)]
    name = "".join(chr(c) if c < 128 and re.match(r"[A-Za-z0-9]", chr(c)) else "-" for c in codes)
    if len(name) <= 200:
        return name
    hashed = 0
    for code in codes:
        hashed = (hashed * 31 + code) & 0xFFFFFFFF
    return f"{name[:200]}-{_base36(abs(hashed - (1 << 32) if hashed >> 31 else hashed))}"


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, rest = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits


def settings_in(path: Path) -> dict[str, Any]:
    """What a settings file says; a malformed one says nothing, as to Claude."""
    try:
        found = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def memory_named_in(path: Path) -> Path | None:
    """The directory that a settings file names, None where it names none that Claude takes."""
    return directory(settings_in(path).get("autoMemoryDirectory"))


def directory(value: object) -> Path | None:
    """The folder that autoMemoryDirectory names; Claude ignores relative paths, "/" and "~"."""
    if not isinstance(value, str) or value in {"/", "~"}:
        return None
    if value.startswith("~/"):
        return Path.home() / value[2:]
    return Path(value) if value.startswith("/") else None


def settings_files(cwd: Path, repo: Repo | None) -> list[tuple[str, Path]]:
    """The scopes and files of the settings that Claude started in cwd reads, the stronger first.

    The project file is read from cwd alone; the local one of the main checkout also below it and in a linked work tree.
    """
    root = repo.main_root if repo else cwd
    local = [("local", folder / ".claude" / "settings.local.json") for folder in dict.fromkeys((cwd, root))]
    return [*local, ("project", cwd / ".claude" / "settings.json"), ("user", home() / "settings.json")]


def default_memory(cwd: Path, repo: Repo | None) -> Path:
    """Claude's own directory for the project that cwd belongs to."""
    return home() / "projects" / project_id(repo.main_root if repo else cwd) / "memory"


def loaded_memory(cwd: Path, repo: Repo | None) -> Path | None:
    """The memory that Claude started in cwd loads by itself, None where it is switched off."""
    forced = os.environ.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "")
    files = [path for _, path in settings_files(cwd, repo)]
    said = [settings_in(path).get("autoMemoryEnabled") for path in files]
    enabled = next((value for value in said if isinstance(value, bool)), True)
    if forced not in ("", "0") or (not enabled and forced != "0"):
        return None
    named = next((folder for path in files if (folder := memory_named_in(path))), None)
    return named or default_memory(cwd, repo)
