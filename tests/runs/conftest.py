"""A bench per test: engine, image, folders; nothing may be left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from harness.base.ownership import LABEL_HARNESS, own_folder
from harness.engine import Engine
from tests.engines import ProbeImage
from tests.runs.helpers import Bench

# a machine that is busy with containers is slow now and then
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture
def bench(any_engine: Engine, probe_image: ProbeImage, tmp_path: Path) -> Iterator[Bench]:
    """Checks after every test that the container of the run is gone."""
    yield Bench(any_engine, probe_image, tmp_path)
    ours = f"{LABEL_HARNESS}={own_folder(tmp_path / 'work') / 'owner.lock'}"
    left = any_engine.client.api.containers(all=True, filters={"label": ours})
    assert not left, f"containers left behind: {left}"
