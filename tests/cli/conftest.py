"""Commands in the process of the tests: made-up runs as they meet them, and handlers of signals as they were."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.planning.plan import Plan
from tests.conftest import REPOSITORY
from tests.evidence import go_to
from tests.fabricate import planned_of


@pytest.fixture(autouse=True)
def handlers_of_signals() -> Iterator[None]:
    """What a command that was interrupted does about signals is for its own end."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def repository_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository as a person without runs and without a mirror has it; the folder for their runs."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("PERMAFROST_RESULTS", str(tmp_path / "local"))
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)
    return tmp_path / "local"


def _go(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> Layout:
    go_to(layout, monkeypatch)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/engine.sock")
    monkeypatch.delenv("PERMAFROST_MIRROR", raising=False)
    return layout


@pytest.fixture
def here(evidence: Layout, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """Four made-up runs, as a command meets them: constant twice, als_wr, and an als_wr that failed."""
    return _go(evidence, monkeypatch)


@pytest.fixture
def looked_at(fabricated: Layout, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """The same without a copy of its own: for commands that change nothing there."""
    return _go(fabricated, monkeypatch)


@pytest.fixture
def keys(made_up: Plan) -> list[str]:
    """Of the planned cells; the first four have a run, the last of these failed."""
    return [planned_of(cell).key for cell in made_up.cells]
