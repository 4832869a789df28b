"""MRCGNN against its definition, encoded type by type in its own image, and against the original's arrays."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.graph_encoders import measure
from harness.base.layout import Layout
from harness.benchmarks.ddi.conformance.problems import one_type
from harness.benchmarks.ddi.splits.parts import TRAIN
from harness.engine import Engine


@pytest.mark.engine
def test_it_encodes_what_whole_graphs_would(layout: Layout, engine: Engine) -> None:
    """With drugs and types without edges, a drug without features, edges twice, and drugs twice in a batch."""
    problem = one_type()
    triplets = np.column_stack([problem.dataset.pairs, problem.dataset.labels]).astype(np.int64)
    graph = triplets[problem.split.items_in(TRAIN)]
    graph = np.concatenate([graph, graph[:9, [1, 0, 2]]])
    steps = np.random.default_rng(7).choice(graph, (3, 16))
    found = measure(engine, layout, "mrcgnn", problem.dataset, graph, steps)
    assert found["gradients_apart"] < 1e-5
    assert found["apart"] < 1e-4
    assert not found["untrained"]
