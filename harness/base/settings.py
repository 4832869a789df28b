"""Settings as a person writes them: `name=value`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from harness.base.errors import UsageError

# one for all, as `json.dumps` makes an encoder for each text: splits are named for every cell of a plan
_to_json = json.JSONEncoder(ensure_ascii=False).encode
_PIECE = re.compile(r"""(?:^|,)((?:="(?:\\.|[^"\\])*"|[^,])*)""")


def parse_settings(texts: Iterable[str], where: str, todo: str) -> dict[str, Any]:
    """All settings by name. A value is read as JSON where it is JSON, else as text.

    `where` they stand and what `todo` about it are told of one that can't be read; a name may be set once.
    """
    settings: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"'{text}' sets nothing", where=where, todo=todo)
        if _is_endless(value):
            raise UsageError(f"'{value}' is no finite number", where=f"{where} {text}", todo="give one")
        read = _value(value)
        if name in settings:
            raise UsageError(f"{name} is set twice: {settings[name]} and {read}", where=where, todo="set it once")
        settings[name] = read
    return settings


def setting_text(value: Any) -> str:
    """How a value is written so that `parse_settings` reads this one: a text that is read otherwise in quotes."""
    return _quoted_if_needed(value) if isinstance(value, str) else _to_json(value)


@lru_cache
def _quoted_if_needed(text: str) -> str:
    return text if "," not in text and not _is_endless(text) and _value(text) == text else _to_json(text)


def split_settings(text: str) -> list[str]:
    """What stands between the commas of a text; one in the quotes of a value divides nothing."""
    return [match[1] for match in _PIECE.finditer(text)]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _is_endless(text: str) -> bool:
    """Whether the text is a number that JSON cannot write, and no key can hold: nan or infinite."""
    try:
        return not math.isfinite(float(text))
    except ValueError:
        return False
