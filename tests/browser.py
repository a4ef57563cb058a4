"""A real browser for tests: headless Chromium by the WebDriver protocol, on the loopback address."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest

_WAIT_S = 120


class Browser(NamedTuple):
    """One window."""

    port: int
    session: str

    def call(self, path: str, **data: Any) -> Any:
        """One command of the protocol."""
        return _asked(self.port, "POST", f"/session/{self.session}/{path}", data)

    def open(self, file: Path, *, dark: bool = False, width: int = 1200, height: int = 900) -> None:
        """Show a file."""
        self.devtools("Emulation.setEmulatedMedia", features=[_scheme(dark)])
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        self.call("url", url=file.as_uri())

    def devtools(self, command: str, **params: Any) -> Any:
        return self.call("goog/cdp/execute", cmd=command, params=params)

    def run(self, script: str) -> Any:
        """What a script returns; the driver's scripts run whatever the page's policy says."""
        return self.call("execute/sync", script=script, args=[])

    def press(self, keys: str) -> None:
        """Press keys one after the other."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def log(self) -> list[str]:
        """What the page complained of."""
        return [row["message"] for row in self.call("se/log", type="browser")]

    def screenshot(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(_asked(self.port, "GET", f"/session/{self.session}/screenshot")))


def _scheme(dark: bool) -> dict[str, str]:
    return {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}


def _asked(port: int, method: str, path: str, data: dict[str, Any] | None = None) -> Any:
    connection = HTTPConnection("127.0.0.1", port, timeout=_WAIT_S)
    connection.request(method, path, None if data is None else json.dumps(data))
    answer = connection.getresponse()
    value = json.load(answer)["value"]
    assert answer.status == 200, value
    return value


def _programs() -> tuple[str, str]:
    """Chromium and its driver; the test is skipped where they are missing, and fails where TEST_BROWSER=required."""
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if all(found):
        return str(found[0]), str(found[1])
    said = "NO BROWSER: the page was not looked at (apt-get install chromium chromium-driver)"
    if os.environ.get("TEST_BROWSER") == "required":
        pytest.fail(said)
    pytest.skip(said)


@contextmanager
def started(folder: Path) -> Iterator[Browser]:
    """A browser with a profile of its own, ended afterwards."""
    chromium, driver = _programs()
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}"]
    options = {"binary": chromium, "args": flags}
    wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
    words = [driver, "--port=0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            port = next(int(match[1]) for line in process.stdout if (match := re.search(r"on port (\d+)\.", line)))
            made = _asked(port, "POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            yield Browser(port, made["sessionId"])
            _asked(port, "DELETE", f"/session/{made['sessionId']}")
        finally:
            process.terminate()
