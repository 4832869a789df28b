"""Tools that are not ours and judge what we write: validators of formats, statistics, signatures.

Each set of them has an environment of its own, from a hash-locked list under requirements/judges/: they are no
part of the harness, and need not agree with what it is installed from.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from harness.base.errors import EngineError
from harness.base.layout import find_layout
from scripts.tools import programs_of


@cache
def judge(name: str) -> Path:
    """The folder of programs of one set of tools, made on first use; skips the test where it can't be."""
    layout = find_layout()
    try:
        return programs_of(layout.root / "requirements" / "judges" / f"{name}.lock", layout.cache / "judges")
    except EngineError as error:
        pytest.skip(error.what)
