"""Fixtures of the image tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.layout import Layout
from tests.images.making import Workbench


@pytest.fixture
def bench(repository: Layout, tmp_path: Path) -> Iterator[Workbench]:
    """A private copy of the environments over the real cache."""
    workbench = Workbench(repository, tmp_path)
    yield workbench
    workbench.clean()
