"""Which tests run side by side, which are left for longer runs, and which are not begun any more."""

from __future__ import annotations

import json
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


def prepare(root: Path, answers: str) -> None:
    """A folder to run the tests' script in, whose Python answers in these cases of a shell's."""
    for name in ("run_tests.sh", "scripts/environment.sh"):
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy2(REPOSITORY / name, root / name)
    tools = ("harness", "mypy", "oxlint", "python", "ruff")
    for name in ("pyproject.toml", "requirements/dev.lock", *(f".venv/bin/{tool}" for tool in tools)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch(0o755)
    (root / ".venv" / ".made-from").write_text(f"made in {root}\n")
    (root / ".venv" / "bin" / "python").write_text(
        f"""#!/bin/bash
case "$*" in
    *"import harness"*) echo {root}/harness ;;{answers}esac
"""
    )


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
    prepare(
        tmp_path,
        f"""
    *"thorough and not alone"*" tests/x") echo "not alone"; exit {beside} ;;
    *"thorough and alone tests/x") echo alone; exit {alone} ;;
""",
    )
    command = [str(tmp_path / "run_tests.sh"), "--thorough", "tests/x"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (code, parts, "")


@pytest.mark.parametrize(
    ("failures", "beside", "again", "code", "asked"),
    [
        (1, 1, 0, 0, ["beside", "again", "alone"]),
        (3, 1, 0, 0, ["beside", "again", "alone"]),
        (1, 1, 1, 1, ["beside", "again"]),
        (4, 1, 0, 1, ["beside"]),
        # none is known, or they were not all run
        (0, 1, 0, 1, ["beside"]),
        (1, 2, 0, 2, ["beside"]),
        # what failed in an earlier run is not asked for
        (None, 0, 0, 0, ["beside", "alone"]),
        (None, 1, 0, 1, ["beside"]),
    ],
)
def test_a_test_that_failed_beside_others_is_asked_again_and_told(
    tmp_path: Path, failures: int | None, beside: int, again: int, code: int, asked: list[str]
) -> None:
    known = tmp_path / ".pytest_cache" / "v" / "cache" / "lastfailed"
    known.parent.mkdir(parents=True)
    names = [f"tests/test_it.py::test_{number}" for number in range(failures or 0)]
    (tmp_path / "failures").write_text(json.dumps(dict.fromkeys(names, True), indent=2))
    known.write_text(json.dumps({"tests/test_it.py::test_earlier": True}, indent=2))
    written = f"cp {tmp_path}/failures {known}" if failures is not None else ":"
    prepare(
        tmp_path,
        f"""
    *"--last-failed"*"not thorough and not alone --until inf") echo again; exit {again} ;;
    *"not thorough and not alone"*) echo beside; {written}; exit {beside} ;;
    *"not thorough and alone") echo alone ;;
""",
    )
    done = subprocess.run([str(tmp_path / "run_tests.sh")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (code, asked)
    assert [name for name in names if name in done.stderr] == (names if "alone" in asked else [])
