"""Which tests run side by side: none that needs the machine to itself, and files with containers first."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.conftest import REPOSITORY, pytest_collection_modifyitems


class Item:
    """A test as pytest collects it, as far as it is asked about."""

    def __init__(self, path: str, *marks: str) -> None:
        self.path, self.marks, self.skipped = Path(path), marks, list[str]()

    def get_closest_marker(self, name: str) -> object:
        return name if name in self.marks else None

    def add_marker(self, mark: Any) -> None:
        self.skipped.append(mark.name)


def collected(workers: int | None) -> list[Item]:
    items = [Item("a"), Item("b", "engine"), Item("b"), Item("c"), Item("d", "engine", "alone")]
    told = {} if workers is None else {"workerinput": {"workercount": workers}}
    pytest_collection_modifyitems(cast(pytest.Config, SimpleNamespace(**told)), cast(list[pytest.Item], items))
    return items


def test_beside_others_nothing_runs_that_needs_the_machine() -> None:
    assert [(str(item.path), item.skipped) for item in collected(2)] == [
        ("b", []),
        ("b", []),
        ("d", ["skip"]),
        ("a", []),
        ("c", []),
    ]


@pytest.mark.parametrize("workers", [None, 1])
def test_one_at_a_time_everything_runs_in_its_order(workers: int | None) -> None:
    assert [(str(item.path), item.skipped) for item in collected(workers)] == [
        (name, []) for name in ("a", "b", "b", "c", "d")
    ]


def test_both_parts_together_are_all_tests() -> None:
    script = (REPOSITORY / "run_tests.sh").read_text()
    parts = re.findall(r'pytest -m ("not alone"|alone)(.*)', script)
    assert [part for part, _ in parts] == ['"not alone"', "alone"]
    assert "--numprocesses" in parts[0][1] and not parts[1][1]
