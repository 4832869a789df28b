"""Made-up runs for the tests of this folder, some of them committed as reference results."""

from __future__ import annotations

import pytest

from harness.api import Repository
from harness.base.layout import Layout
from harness.results.reference import save_reference
from harness.results.store import Store
from tests.evidence import go_to


@pytest.fixture
def committed(evidence: Layout) -> Repository:
    """The made-up runs are committed, and those of this machine are still there."""
    save_reference(evidence, Store(evidence.runs))
    return Repository(evidence)


@pytest.fixture
def here(committed: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The same as a command meets it."""
    layout = committed.layout
    go_to(layout, monkeypatch)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/engine.sock")
    return committed
