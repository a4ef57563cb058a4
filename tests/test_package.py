"""The package as it is shipped: one version, no network code, one home for each dependency, true docs."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from learnloop_md import __version__
from learnloop_md.commands import BY_NAME, TABLE
from learnloop_md.settings import Settings

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "learnloop_md").glob("*.py"))


COMPUTED = "a computed name"


@cache
def _dotted(path: Path) -> set[str]:
    """The names that a module imports in full, also inside functions and by `import_module`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            named = node.args[0] if node.args else None
            ours = isinstance(named, ast.JoinedStr) and ast.unparse(named).startswith("f'learnloop_md.")
            found.add(str(named.value) if isinstance(named, ast.Constant) else "learnloop_md" if ours else COMPUTED)
    return found


@cache
def _imports(path: Path) -> set[str]:
    """The top-level names that a module imports."""
    return {name.split(".")[0] for name in _dotted(path)}


def test_the_version_stands_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    entry = json.loads((ROOT / "server.json").read_text("utf-8"))
    assert {entry["version"], *(package["version"] for package in entry["packages"])} == {__version__}


def test_the_entry_for_the_mcp_registry_is_that_of_this_package() -> None:
    """The registry looks for its name in the package's description, which is README.md; it takes 100 characters."""
    entry = json.loads((ROOT / "server.json").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (package,) = entry["packages"]
    assert f"<!-- mcp-name: {entry['name']} -->" in (ROOT / "README.md").read_text("utf-8")
    assert len(entry["description"]) <= 100
    assert (package["registryType"], package["identifier"]) == ("pypi", project["name"])
    assert package["identifier"] in project["scripts"]  # uvx starts the command of the package's name
    assert [row["value"] for row in package["runtimeArguments"]] == project["optional-dependencies"]["mcp"]
    words = [row.get("value") or row["name"] for row in package["packageArguments"]]
    command = BY_NAME[words[0]]
    assert set(words[1:]) <= {option.flag for option in command.options}


def test_the_tests_are_run_with_the_mcp_sdk_that_the_extra_asks_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(extras["mcp"]) <= set(extras["test"])


NETWORK = set(
    "socket socketserver ssl http urllib.request urllib.error urllib.robotparser urllib3 requests httpx aiohttp ftplib "
    "smtplib poplib imaplib nntplib telnetlib xmlrpc asyncio websockets paramiko pycurl selectors".split()
)


def test_no_module_has_network_code() -> None:
    """R001-23: nothing leaves the machine; nor is a module loaded whose name stands nowhere."""
    found = {
        path.name: names
        for path in MODULES
        if (names := {name for name in _dotted(path) if {name, name.split(".")[0]} & {*NETWORK, COMPUTED}})
    }
    assert found == {}


def _project() -> dict[str, Any]:
    read: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return read


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def test_gitpython_is_one_without_known_advisories() -> None:
    """docs/security.md: older ones run what an option or a path names (CVE-2022-24439, CVE-2023-40590, …)."""
    from importlib.metadata import version

    least = next(row for row in _project()["dependencies"] if row.startswith("GitPython"))
    assert re.fullmatch(r"GitPython>=[\d.]+", least)
    assert _number(least.partition(",")[0]) >= (3, 1, 60)
    assert _number(version("GitPython")) >= _number(least.partition(",")[0])


def test_the_locked_environment_holds_what_the_project_asks_for() -> None:
    """docs/testing.md: every package with hashes, none older than pyproject.toml allows."""
    locked: dict[str, tuple[int, ...]] = {}
    for row in (ROOT / "tests" / "requirements.txt").read_text("utf-8").replace("\\\n", " ").splitlines():
        if not row.startswith("#"):
            name, _, rest = row.partition("==")
            assert "--hash=sha256:" in rest, name
            locked[_plain(name)] = _number(rest.split()[0])
    for wanted in _project()["dependencies"] + _project()["optional-dependencies"]["test"]:
        name, _, least = wanted.partition(">=")
        assert locked[_plain(name)] >= _number(least.partition(",")[0]), wanted


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(
    ("package", "home"),
    [
        ("typer", "cli.py"),
        ("frontmatter", "yamlhead.py"),
        ("yaml", "yamlhead.py"),
        ("mistune", "outline.py"),
        ("git", "history.py"),
        ("mcp", "mcpserver.py"),
        ("betterleaks", "outside.py"),
    ],
)
def test_each_dependency_has_one_home(package: str, home: str) -> None:
    """R002-65: few dependencies, each in one module."""
    assert [path.name for path in MODULES if package in _imports(path)] == [home]


def test_no_secret_shape_stands_in_the_repository() -> None:
    """R004-20."""
    from learnloop_md.guard import find_secrets

    texts = [
        path
        for path in ROOT.rglob("*")
        if path.suffix in {".py", ".md", ".toml", ".json", ".yaml"} and ".venv" not in path.parts
    ]
    assert {
        str(path.relative_to(ROOT)): found
        for path in texts
        if (found := find_secrets(path.read_text("utf-8", "replace")))
    } == {}


@pytest.mark.parametrize("command", [command.name for command in TABLE])
def test_every_command_is_documented(command: str) -> None:
    assert f"`{command}" in (ROOT / "docs" / "commands.md").read_text("utf-8")


@pytest.mark.parametrize("command", TABLE, ids=lambda command: command.name)
def test_every_option_named_in_the_docs_exists(command: object) -> None:
    from learnloop_md.commands import Command

    assert isinstance(command, Command)
    rows = [
        row
        for row in (ROOT / "docs" / "commands.md").read_text("utf-8").splitlines()
        if row.startswith(f"| `{command.name}")
    ]
    named = set(re.findall(r"--[a-z-]+", rows[0].split(" | ")[0])) if rows else set()
    assert named <= {option.flag for option in command.options}


@pytest.mark.parametrize("setting", Settings._fields)
def test_every_setting_is_documented(setting: str) -> None:
    assert f"`{setting}`" in (ROOT / "docs" / "settings.md").read_text("utf-8")


def test_every_requirement_in_the_table_is_named_by_a_test() -> None:
    """docs/requirements.md: what is promised, and the tests that prove it."""
    told = set(
        re.findall(r"^\| (R\d{3}-\d\d) \|", (ROOT / "docs" / "requirements.md").read_text("utf-8"), re.MULTILINE)
    )
    proved = "".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("test_*.py"))
    assert told
    assert {number for number in told if number not in proved} == set()
