"""The environments of the judging tools are what their locks say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.judges import judge


@pytest.mark.parametrize(
    "name, program", [("proof", "rocrate-validator"), ("proof", "swh.identify"), ("files", "reuse")]
)
def test_programs_of_a_judge_start(name: str, program: str) -> None:
    done = subprocess.run([judge(name) / program, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_environment_is_made_once() -> None:
    made = judge("files").parent / ".made"
    before = made.stat().st_mtime_ns
    judge.cache_clear()
    judge("files")
    assert Path(made).stat().st_mtime_ns == before
