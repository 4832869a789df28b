"""NeoDTI against the same model written down plainly, and the networks that it makes of a dataset's relations."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.neodti import drawn, measure
from harness.base.layout import Layout
from harness.engine import Engine

SIZES = {"drug": 31, "target": 44, "disease": 57, "effect": 23}
# few enough for sparse products and for reconstructions that are never made whole, and dense ones
EDGES: dict[str, int | None] = {
    "drug-drug": 40,
    "drug-similarity": None,
    "drug-disease": 90,
    "drug-effect": 300,
    "target-target": 60,
    "target-similarity": None,
    "target-disease": 120,
    "drug-target": 50,
}


@pytest.mark.engine
@pytest.mark.parametrize("lacking", [(), ("drug-effect", "target-similarity", "drug-drug")], ids=["all", "some"])
def test_training_goes_elsewhere(layout: Layout, engine: Engine, lacking: tuple[str, ...]) -> None:
    """Four steps from the same weights, with all networks and with some."""
    edges = {name: count for name, count in EDGES.items() if name not in lacking}
    arrays = drawn(SIZES, edges, np.random.default_rng(3))
    apart = measure(engine, layout, arrays, steps=4, width=14, projection=6)["apart"]
    assert apart["losses"] < 1e-6
    assert apart["scores"] < 2e-5
    assert apart["gradients"] < 1e-7
