"""Fixtures of the image tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.layout import Layout
from tests.images.making import Workbench


@pytest.fixture
def bench(request: pytest.FixtureRequest, repository: Layout, tmp_path: Path) -> Iterator[Workbench]:
    """A private copy of the environments over the real cache, which has what a build stands on."""
    workbench = Workbench(repository, tmp_path)
    if request.node.get_closest_marker("engine"):
        workbench.fetch("_base")
    yield workbench
    workbench.clean()
