"""Fixtures over made-up runs: one set is fabricated per test session and copied for each test that asks for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.planning.plan import Plan
from tests.fabricate import copy_repository, plan_of, planned_of, put_run


@pytest.fixture(scope="session")
def fabricated(repository: Layout, tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """Six planned cells: three ok (constant twice, als_wr once), one error, two pending. Not to be changed."""
    layout = copy_repository(repository, tmp_path_factory.mktemp("fabricated"))
    cells = plan_of(layout).cells
    for cell in cells[:3]:
        put_run(layout, planned_of(cell), log="reading\nfitting\ndone\n")
    reason = "exit code 3: no such matrix"
    put_run(layout, planned_of(cells[3]), verdict=Verdict.ERROR, reason=reason, log="no such matrix\n")
    return layout


@pytest.fixture
def evidence(fabricated: Layout, tmp_path: Path) -> Layout:
    """A copy of the fabricated repository, cache and store that a test may tamper with."""
    return copy_of(fabricated, tmp_path / "copy")


@pytest.fixture(scope="session")
def made_up(fabricated: Layout) -> Plan:
    """The plan of the fabricated runs, which is that of every copy."""
    return plan_of(fabricated)


def go_to(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be where a person types commands about this repository, its cache and its results."""
    monkeypatch.chdir(layout.root)
    monkeypatch.setenv("PERMAFROST_CACHE", str(layout.cache))
    monkeypatch.setenv("PERMAFROST_RESULTS", str(layout.local))


def copy_of(fabricated: Layout, folder: Path) -> Layout:
    """All of it in a new folder."""
    shutil.copytree(fabricated.root.parent, folder)
    return Layout(root=folder / "repository", cache=folder / "cache", local=folder / "local")
