"""A crate of the made-up runs, and copies of it that may be tampered with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.export import export
from harness.planning.plan import Plan
from tests.fabricate import plan_of, planned_of


@pytest.fixture(scope="session")
def whole(fabricated: Layout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crate of the made-up runs. Not to be changed."""
    folder = tmp_path_factory.mktemp("whole") / "crate"
    export(fabricated, plan_of(fabricated), folder)
    return folder


@pytest.fixture
def crate(whole: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may tamper with."""
    shutil.copytree(whole, tmp_path / "crate")
    return tmp_path / "crate"


@pytest.fixture
def empty(repository: Layout, tmp_path: Path) -> Layout:
    """This repository without a result and without a cache."""
    return Layout(root=repository.root, cache=tmp_path / "cache", local=tmp_path / "local")


@pytest.fixture
def keys(made_up: Plan) -> list[str]:
    """Those of the made-up runs: three that ended ok, and a failed one."""
    return [planned_of(cell).key for cell in made_up.cells[:4]]
