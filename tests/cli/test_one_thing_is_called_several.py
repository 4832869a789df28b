"""A number and its noun agree: no message says "1 runs". Messages put numbers before nouns with `counted`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.plurals import counted
from tests.conftest import REPOSITORY

# What commands print comes from these packages. In others a number that stands before a noun is a size of data.
_PACKAGES = ("api", "audit", "cli", "export", "handles", "images", "planning", "results", "status", "upkeep")
# Nouns that stand in messages behind a number which is counted when the message is made.
_COUNTED = re.compile(
    r" (?:[a-z]+ ){0,2}?(?:runs|cells|seeds|splits|files|folders|containers|methods|datasets|metrics|parts|values|"
    r"leaves|warnings|claims|keys|paths|packages|wheels|entries|components|dependencies|comparisons|audits|replays)\b"
)
# Where a number is never 1, or the noun is not its own.
_OTHERS = {
    # several keys begin so
    ("harness/audit/selection.py", " keys begin with '"),
    ("harness/handles/lookup.py", " keys begin with '"),
}


@pytest.mark.parametrize(
    ("count", "nouns", "text"),
    [
        (0, ("run",), "0 runs"),
        (1, ("run",), "1 run"),
        (2, ("stored run",), "2 stored runs"),
        (1, ("leaf", "leaves"), "1 leaf"),
        (3, ("leaf", "leaves"), "3 leaves"),
    ],
)
def test_a_noun_agrees_with_its_number(count: int, nouns: tuple[str, ...], text: str) -> None:
    assert counted(count, *nouns) == text


def _without(source: str) -> Iterator[str]:
    """What stands behind a number in the f-strings of a module, if it is a noun in the plural."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, text in zip(node.values, node.values[1:], strict=False):
            if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant):
                is_counted = isinstance(value.value, ast.Call) and ast.unparse(value.value).startswith("counted(")
                if not is_counted and _COUNTED.match(str(text.value)):
                    yield str(text.value)


def test_a_plural_behind_a_number_is_found() -> None:
    assert list(_without('f"{n} stored runs here"')) == [" stored runs here"]
    assert list(_without("f\"{counted(n, 'run')} of {m} cells\"")) == [" cells"]
    assert list(_without('f"{n} run"')) == list(_without('f"{n}: runs"')) == []


def test_no_message_puts_a_plural_behind_any_number() -> None:
    found = {
        (str(path.relative_to(REPOSITORY)), text)
        for package in _PACKAGES
        for path in sorted(Path(REPOSITORY, "harness", package).rglob("*.py"))
        for text in _without(path.read_text())
    }
    assert found - _OTHERS == set()
