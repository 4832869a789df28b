"""Where the environment of a tool can't be made, a person reads why and what to do, and no half of it is left."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.base.errors import EngineError
from scripts.tools import programs_of

_WITHOUT_VENV = "#!/bin/sh\necho 'ensurepip is not available'\nexit 1\n"
_WITHOUT_INDEX = """#!/bin/sh
[ "$2" = venv ] || { echo 'no way to an index' >&2; exit 1; }
mkdir -p "$3/bin" && cp "$0" "$3/bin/python"
"""


@pytest.mark.parametrize(
    ("script", "reason", "todo"),
    [
        (_WITHOUT_VENV, "ensurepip is not available", "install Python's module venv (python3-venv); then again"),
        (_WITHOUT_INDEX, "no way to an index", "connect this machine to a package index, or name one to pip"),
    ],
)
def test_the_reason_is_said(
    script: str, reason: str, todo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, python, cache = tmp_path / "tool.lock", tmp_path / "python", tmp_path / "cache"
    lock.write_text("tool==1\n")
    python.write_text(script)
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(EngineError) as refused:
        programs_of(lock, cache)
    assert refused.value.what == f"the tools of tool.lock could not be installed: {reason}"
    assert refused.value.todo.startswith(todo)
    assert [path.name for path in cache.iterdir()] == ["tool.lock"]
