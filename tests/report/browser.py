"""A real browser for the tests of the page: what it makes of the page, read back as HTML."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

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


def rendered(page: Path, state: str, profile: Path) -> str:
    """The document after its scripts ran, with the address ending in `#state`."""
    command = [find_browser(), *_QUIET, f"--user-data-dir={profile}", "--dump-dom", f"{page.as_uri()}#{state}"]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    return done.stdout.decode()
