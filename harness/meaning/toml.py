"""TOML as it is parsed: tables have no order, lists have one."""

from __future__ import annotations

import tomllib
from typing import Any

from harness.meaning.scripts import Unsure


def toml_meaning(content: bytes) -> str:
    """The content as text, the same for equal values."""
    try:
        return _text(tomllib.loads(content.decode()))
    except ValueError:  # no TOML, or no UTF-8
        raise Unsure from None


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{name!a}:{_text(one)}" for name, one in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_text(one) for one in value) + "]"
    # the representation of numbers, texts, dates and times shows their type, too
    return ascii(value)
