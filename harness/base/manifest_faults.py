"""What is wrong with a manifest, in plain words: the library that validates it speaks to programmers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from harness.base.errors import ManifestError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MISSING, _EXTRA = "missing", "extra_forbidden"
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a finite number",
    "string": "a text in quotes",
    "bool": "true or false",
    "list": "a list",
    "dict": "a table",
    "model": "a table",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "{} or more"),
    "greater_than": ("gt", "more than {}"),
    "less_than_equal": ("le", "{} or less"),
    "less_than": ("lt", "less than {}"),
}


@contextmanager
def plain_faults(path: Path, model: type[BaseModel]) -> Iterator[None]:
    """Reading a manifest: what breaks its schema is raised with a line in plain words for each field."""
    try:
        yield
    except ManifestError as error:
        fault = error.__context__
        if not isinstance(fault, ValidationError):
            raise
        lines = [f"{path}: {line}" for line in plain_lines(fault, list(model.model_fields))]
        raise ManifestError(error.what, where="\n         ".join(lines), todo=error.todo) from None


def plain_lines(error: ValidationError, names: Sequence[str]) -> list[str]:
    """`field.sub: what is wrong`, a line for each fault; `names` are the fields that a manifest may have."""
    faults = error.errors()
    missing = [fault["loc"] for fault in faults if fault["type"] == _MISSING]
    lines, meant = [], set()
    for fault in faults:
        place = fault["loc"]
        if fault["type"] == _EXTRA:
            beside = [str(one[-1]) for one in missing if one[:-1] == place[:-1]]
            near = get_close_matches(str(place[-1]), beside or (names if len(place) == 1 else ()), n=1)
            meant |= {(*place[:-1], name) for name in near}
            lines.append((place, "there is no such field" + (f"; did you mean '{near[0]}'?" if near else "")))
        else:
            lines.append((place, _words(fault)))
    # a field under another name is one fault, not two
    return [
        f"{'.'.join(map(str, place)) or '(top level)'}: {text}"
        for place, text in lines
        if not (place in missing and place in meant)
    ]


def _words(fault: ErrorDetails) -> str:
    kind, about = fault["type"], fault.get("ctx", {})
    if kind == _MISSING:
        return "is missing"
    if kind == "value_error":
        return str(about["error"])
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"has to be {words.format(about[name])}, not {fault['input']}"
    if kind == "literal_error":
        return f"has to be {about['expected']}, not {fault['input']!r:.60}"
    if (first := kind.partition("_")[0]) in _KINDS:
        return f"has to be {_KINDS[first]}, not {fault['input']!r:.60}"
    return fault["msg"]
