"""TOML as it is parsed: lists have an order, and tables have one where it is asked for."""

from __future__ import annotations

import tomllib
from typing import Any

from harness.meaning.scripts import Unsure


def toml_meaning(content: bytes, *, ordered: bool = False) -> str:
    """The content as text, the same for equal values. `ordered`: and names of a table in the same order."""
    try:
        return _text(tomllib.loads(content.decode()), ordered)
    except ValueError:  # no TOML, or no UTF-8
        raise Unsure from None


def _text(value: Any, ordered: bool) -> str:
    if isinstance(value, dict):
        items = value.items() if ordered else sorted(value.items())
        return "{" + ",".join(f"{name!a}:{_text(one, ordered)}" for name, one in items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_text(one, ordered) for one in value) + "]"
    # the representation of numbers, texts, dates and times shows their type, too
    return ascii(value)
