"""What every command answers as JSON, as types: the schemas in docs/schemas/ are generated from these.

Whatever any test makes a command print is validated against them, so a field that is not there fails a test.
"""

from __future__ import annotations

from typing import Any, Union

from pydantic import TypeAdapter

from harness import benchmarks
from harness.cli.documents import claims, evidence, images, inventory, machine, products, runs, splits
from harness.cli.documents.forms import Answer, ErrorAnswer

_PARTS = (claims, evidence, images, inventory, machine, products, runs, splits)


def answers() -> dict[str, tuple[type[Answer], ...]]:
    """By the words of a command what it may answer, benchmarks' own commands included."""
    every = {words: forms for part in _PARTS for words, forms in part.ANSWERS.items()}
    for name in benchmarks.names():
        every |= getattr(benchmarks.part(name, "documents"), "ANSWERS", {})
    return dict(sorted(every.items()))


def form_of(words: str) -> TypeAdapter[Any]:
    """What a command prints with `--json`: one of its answers, or an error."""
    forms = (*answers()[words], ErrorAnswer)
    union: Any = Union[forms]  # noqa: UP007 made at run time
    return TypeAdapter(union)


def schema_of(words: str) -> dict[str, Any]:
    """The JSON schema of what a command prints with `--json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"harness {words} --json",
        **form_of(words).json_schema(mode="serialization"),
    }
