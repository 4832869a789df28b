"""Commands called in the process of the tests: their exit code is `return_value`, and errors are raised."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from harness.base.heartbeat import silence
from harness.cli import group


def harness_of(*words: str) -> Result:
    """What a command printed and returned, without the signs of life that a slow machine gives."""
    with silence():
        return CliRunner().invoke(group, words, standalone_mode=False, catch_exceptions=False)


def document(result: Result) -> dict[str, Any]:
    """The only document of its standard output."""
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer
