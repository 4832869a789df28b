"""A store of made-up runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.results.store import Store
from tests.core.factories import planned_job, put_run


@pytest.fixture
def here(tmp_path: Path) -> Store:
    """A store with one run, of seed 1."""
    made = Store(tmp_path / "local" / "runs")
    put_run(made, planned_job(), tmp_path / "made")
    return made
