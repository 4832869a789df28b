"""JSON that says the same to every reader: a name that stands twice in an object is refused.

The standard library takes the last of two, other programs and people the first.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.base.openers import without_waiting


def parse_plain(text: bytes | str) -> Any:
    """The value of a JSON text; `ValueError` where it is none, or not plain."""
    return json.loads(text, object_pairs_hook=_named_once, parse_constant=_refuse)


def read_plain(path: Path, *, most_bytes: int = 1 << 20) -> Any:
    """The value of a small JSON file, or None where there is none, it is too large, or it is not plain JSON."""
    try:
        if path.stat().st_size > most_bytes:
            return None
        with open(path, "rb", opener=without_waiting) as stream:
            return parse_plain(stream.read())
    except (OSError, ValueError, RecursionError):
        return None


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name stands twice")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
