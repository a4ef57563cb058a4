"""What the tests with the client say and look at."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import git
from tests.e2e.client import Client
from tests.e2e.fake_api import Block, tool

CORRECTION = "No, use uv instead of pip"
NEW = """---
name: pin-the-base-image
description: Pin the base image by digest
metadata:
  type: feedback
---

Pin the base image by digest.

**Why:** A rebuild pulled another one.
"""


def commit_all(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Set up")


def note(rule: str) -> Block:
    """The model notes a rule."""
    return tool("Bash", command=f"learnloop note '{rule}' --trigger correction")


def change_of_head(folder: Path) -> str:
    """What the newest commit says it did."""
    return git(folder, "log", "-1", "--format=%(trailers:key=Learnloop-Change,valueonly)").strip()


def waiting(client: Client, root: Path) -> int:
    """How many changes are queued."""
    return int(json.loads(client.learnloop("status", "--json", cwd=root).out)["queued"])
