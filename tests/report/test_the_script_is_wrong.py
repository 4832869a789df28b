"""The page's script is strict, and the linter that `run_tests.sh` runs on it sees what a browser would not say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

_SCRIPT = REPOSITORY / "harness" / "report" / "page" / "page.js"


def _complaints(script: Path) -> str:
    linter = Path(sys.executable).with_name("oxlint")
    if not linter.is_file():
        pytest.skip(f"needs the linter in {linter.parent}: ./run_tests.sh installs it")
    options = ["--deny-warnings", "--config", str(REPOSITORY / ".oxlintrc.json"), "--format", "unix"]
    command = [str(linter), *options, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not done.stdout.strip()), done.stderr
    return str(done.stdout)


def test_the_script_is_strict() -> None:
    assert _SCRIPT.read_text().startswith('"use strict";\n')


def test_the_script_is_clean() -> None:
    assert _complaints(_SCRIPT) == ""


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ("function unneeded() {}", "no-unused-vars"),
        ("rows.append(nowhere);", "no-undef"),
        ("eval(location.hash);", "no-eval"),
        ("if (rows == null) more.remove();", "eqeqeq"),
        ("const again = rows => rows; again();", "no-shadow"),
        ("const broken = ;", "Unexpected token"),
    ],
)
def test_a_fault_is_seen(tmp_path: Path, fault: str, rule: str) -> None:
    script = tmp_path / "page.js"
    script.write_text(f"{_SCRIPT.read_text()}{fault}\n")
    assert rule in _complaints(script)
