"""A real browser for the tests of the page: what it makes of the page, read back as HTML."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=8000",
)


def find_browser() -> str:
    """A Chromium, or the test skips."""
    for program in _PROGRAMS:
        if found := shutil.which(program):
            return found
    pytest.skip("needs chromium to look at the page")


def rendered(page: Path, state: str, profile: Path, width: int = 1400) -> str:
    """The document after its scripts ran, with the address ending in `#state`."""
    shape = [f"--user-data-dir={profile}", f"--window-size={width},1200"]
    command = [find_browser(), *_QUIET, *shape, "--dump-dom", f"{page.as_uri()}#{state}"]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    return done.stdout.decode()


def measured(page: Path, state: str, profile: Path, expression: str) -> Any:
    """What an expression of JavaScript says of the page as it is laid out, of a copy that tells it."""
    told = f"<script>document.documentElement.dataset.told = JSON.stringify({expression})</script></body>"
    copy = page.with_name("measured.html")
    copy.write_text(page.read_text().replace("</body>", told))
    found = re.search(r'data-told="([^"]*)"', rendered(copy, state, profile))
    assert found
    return json.loads(html.unescape(found[1]))
