"""What `--json` prints: one object, with the version of its form, the command, and its answer or its error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import click

from harness.base.errors import HarnessError

# Raised when a field is renamed, removed or gets another meaning; a new field is no new version.
VERSION = 1
# The field that a list of rows gets.
ROWS = "rows"
_OPTION = "--json"


def document(value: Mapping[str, Any] | list[Any]) -> dict[str, Any]:
    """The answer of the command that runs, in its envelope."""
    fields = {ROWS: value} if isinstance(value, list) else dict(value)
    envelope = _envelope(_command_words())
    if twice := sorted(envelope.keys() & fields.keys()):
        raise AssertionError(f"fields of the envelope: {', '.join(twice)}")
    return envelope | fields


def error_document(error: HarnessError, exit_code: int, words: str) -> dict[str, Any]:
    """An error in the envelope of the command that failed."""
    return {
        **_envelope(words),
        "error": {
            "kind": type(error).__name__,
            "what": error.what,
            "where": error.where,
            "todo": error.todo,
            "exit_code": exit_code,
        },
    }


def json_text(value: object) -> str:
    """The text of a JSON value: equal values give equal texts."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)


def is_asked_for(arguments: Iterable[str]) -> bool:
    """Whether these arguments of a command line ask for JSON, however wrong the rest of them may be."""
    for argument in arguments:
        if argument == "--":
            return False
        if argument == _OPTION:
            return True
    return False


def _envelope(words: str) -> dict[str, Any]:
    return {"permafrost": VERSION, "command": words}


def _command_words() -> str:
    """The words of the command that runs, without the name of the program."""
    return " ".join(click.get_current_context().command_path.split()[1:])
