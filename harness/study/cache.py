"""Arithmetic that takes seconds is done once: its result is kept by a digest of its inputs and of its code."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from harness.base.files import digest_of
from harness.base.layout import Layout
from harness.base.seal import read_note, write_note
from harness.meaning.modules import meaning_of_modules

_FOLDER = "studies"


@cache
def _code(module: str) -> str:
    return meaning_of_modules(Path(__file__).parents[1], [module])


def cached(layout: Layout, inputs: Any, module: str, compute: Callable[[], Any]) -> Any:
    """The JSON value that `compute` makes of these inputs, from the cache if that very code has made it before.

    `module` names the code: it counts with everything that it imports.
    """
    about = ["study", digest_of({"inputs": inputs, "code": _code(module)})]
    folder = layout.cache / _FOLDER
    # in a list, because a value may be None
    note = read_note(folder, about)
    if note is not None:
        return note[0]
    value = compute()
    write_note(folder, about, [value])
    return value
