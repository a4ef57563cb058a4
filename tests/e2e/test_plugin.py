"""The repository as a plugin and as a marketplace: hooks, skill and commands without any settings of one's own."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.client import Client
from tests.e2e.hooked import CORRECTION

ROOT = Path(__file__).parents[2]


def test_a_plugin_that_is_given_for_a_session_works_in_it(client: Client, project: Path) -> None:
    """`--plugin-dir` is how a plugin is tried out."""
    session = client.run(CORRECTION, "I see.", "No.", cwd=project, words=("--plugin-dir", str(ROOT / "plugin")))
    assert len(session.asked) == 1
    assert "learnloop note" in session.asked[0].last
    assert "learnloop:learnloop" in session.turns[0].text  # the skill, by its name in the plugin
    assert session.err == ""


def test_an_installed_plugin_works_without_a_flag(client: Client, project: Path) -> None:
    """A team adds the marketplace and enables the plugin in the project's settings."""
    for words in (("marketplace", "add", str(ROOT)), ("install", "learnloop@learnloop-md", "--scope", "project")):
        done = client.claude("plugin", *words, cwd=project)
        assert done.code == 0, done.out + done.err
    settings = json.loads((project / ".claude" / "settings.json").read_text())
    assert settings["enabledPlugins"] == {"learnloop@learnloop-md": True}
    session = client.run([CORRECTION, "/learnloop:cleanup"], "I see.", "No.", cwd=project)
    assert len(session.asked) == 1
    assert "learnloop cleanup" in session.turns[-1].text
