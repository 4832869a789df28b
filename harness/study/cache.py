"""Arithmetic that takes seconds is done once: its result is kept by a digest of its inputs and of its code."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from harness.base.files import digest_of, read_json, write_json
from harness.base.layout import Layout
from harness.meaning.modules import meaning_of_modules

_FOLDER = "studies"


@cache
def _code(module: str) -> str:
    return meaning_of_modules(Path(__file__).parents[1], [module])


def cached(layout: Layout, inputs: Any, module: str, compute: Callable[[], Any]) -> Any:
    """The JSON value that `compute` makes of these inputs, from the cache if that very code has made it before.

    `module` names the code: it counts with everything that it imports.
    """
    name = digest_of({"inputs": inputs, "code": _code(module)})
    path = layout.cache / _FOLDER / f"{name}.json"
    content = read_json(path)
    if isinstance(content, dict) and content.get("digest") == digest_of([name, content.get("value")]):
        return content["value"]
    value = compute()
    write_json(path, {"value": value, "digest": digest_of([name, value])})
    return value
