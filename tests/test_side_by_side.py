"""Which tests run side by side, which are left for longer runs, and which are not begun any more."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.conftest import (
    REPOSITORY,
    pytest_collection_modifyitems,
    pytest_itemcollected,
    pytest_runtest_setup,
)


class Item:
    """A test as pytest collects it, as far as it is asked about."""

    def __init__(self, path: str, *marks: str) -> None:
        self.path, self.marks, self.added = Path(path), marks, list[str]()

    def get_closest_marker(self, name: str) -> object:
        return name if name in self.marks else None

    def add_marker(self, mark: Any) -> None:
        self.added.append(mark.name)


def config_of(until: float | None = None, **told: Any) -> pytest.Config:
    return cast(pytest.Config, SimpleNamespace(getoption={"--until": until}.__getitem__, **told))


def collected(workers: int | None, until: float | None = None) -> list[Item]:
    items = [Item("a"), Item("b", "engine"), Item("b"), Item("c"), Item("d", "engine", "alone")]
    told = {} if workers is None else {"workerinput": {"workercount": workers}}
    pytest_collection_modifyitems(config_of(until, **told), cast(list[pytest.Item], items))
    return items


def test_beside_others_nothing_runs_that_needs_the_machine() -> None:
    assert [(str(item.path), item.added) for item in collected(2)] == [
        ("b", []),
        ("b", []),
        ("d", ["skip"]),
        ("a", []),
        ("c", []),
    ]


@pytest.mark.parametrize("workers", [None, 1])
def test_one_at_a_time_everything_runs_in_its_order(workers: int | None) -> None:
    assert [(str(item.path), item.added) for item in collected(workers)] == [
        (name, []) for name in ("a", "b", "b", "c", "d")
    ]


def test_where_time_may_end_files_come_in_another_order_each_time() -> None:
    orders = {"".join(str(item.path) for item in collected(1, float(until))) for until in range(50)}
    assert len(orders) > 10 and all("bb" in order and sorted(order) == [*"abbcd"] for order in orders)
    # every worker must collect the same, and those with containers still come first
    assert [item.path for item in collected(2, 7.0)] == [item.path for item in collected(2, 7.0)]
    assert {str(item.path) for item in collected(2, 7.0)[:3]} == {"b", "d"}


def test_what_there_is_no_time_for_is_skipped() -> None:
    for until in (None, time.time() + 1000):
        pytest_runtest_setup(cast(pytest.Item, SimpleNamespace(config=config_of(until))))
    with pytest.raises(pytest.skip.Exception, match="no time was left for it"):
        pytest_runtest_setup(cast(pytest.Item, SimpleNamespace(config=config_of(time.time() - 1))))


@pytest.mark.parametrize(
    ("folder", "marks", "added"),
    [
        ("methods", ("engine",), ["thorough"]),
        ("parity", ("engine",), ["thorough"]),
        ("methods", (), []),
        ("runs", ("engine",), []),
    ],
)
def test_what_methods_compute_in_containers_is_thorough(
    folder: str, marks: tuple[str, ...], added: list[str]
) -> None:
    item = Item(str(REPOSITORY / "tests" / folder / "test_it.py"), *marks)
    pytest_itemcollected(cast(pytest.Item, item))
    assert item.added == added


def test_all_parts_together_are_all_tests() -> None:
    script = (REPOSITORY / "run_tests.sh").read_text()
    assert re.findall(r'^ *kind="?(not thorough|thorough)"?$', script, re.M) == ["not thorough", "thorough"]
    parts = re.findall(r'pytest -m "\$kind and (not alone|alone)"(.*)', script)
    assert [part for part, _ in parts] == ["not alone", "alone"]
    assert "--numprocesses" in parts[0][1] and "--numprocesses" not in parts[1][1]
    assert "./run_tests.sh --thorough" in (REPOSITORY / ".ci" / "run").read_text()


@pytest.mark.parametrize(
    ("alone", "beside", "code", "parts"),
    [
        (0, 0, 0, ["alone", "not alone"]),
        (1, 0, 1, ["alone"]),
        (0, 1, 1, ["alone", "not alone"]),
        # 5: of the tests that are named none is of this part
        (5, 0, 0, ["alone", "not alone"]),
        (5, 1, 1, ["alone", "not alone"]),
        (0, 5, 0, ["alone", "not alone"]),
        (5, 5, 5, ["alone", "not alone"]),
    ],
)
def test_a_part_without_a_test_of_those_that_are_named_hides_no_other(
    tmp_path: Path, alone: int, beside: int, code: int, parts: list[str]
) -> None:
    for name in ("run_tests.sh", "scripts/environment.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy2(REPOSITORY / name, tmp_path / name)
    for name in ("pyproject.toml", "requirements/dev.lock", ".venv/bin/harness", ".venv/bin/python"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch(0o755)
    # an environment that is as it should be, whose Python writes down which part it was asked for
    (tmp_path / ".venv" / ".made-from").write_text(f"made in {tmp_path}\n")
    (tmp_path / ".venv" / "bin" / "python").write_text(
        f"""#!/bin/bash
case "$*" in
    *"import harness"*) echo {tmp_path}/harness ;;
    *"thorough and not alone"*" tests/x") echo "not alone"; exit {beside} ;;
    *"thorough and alone tests/x") echo alone; exit {alone} ;;
esac
"""
    )
    command = [str(tmp_path / "run_tests.sh"), "--thorough", "tests/x"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (code, parts, "")
