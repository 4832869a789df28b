"""MRCGNN against its definition, encoded type by type in its own image, and against the original's arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.graph_encoders import measure
from harness.conformance.ddi.problems import one_type
from harness.engine import Engine
from harness.layout import Layout
from harness.methods import load_method
from harness.parity import check_cases, find_cases
from harness.splits.parts import TRAIN
from harness.trials import InContainers


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


@pytest.mark.engine
def test_it_meets_its_goldens(layout: Layout, engine: Engine, shared: Path) -> None:
    cases = [one for one in find_cases(shared / "golden" / "ddi") if one.name.startswith("MRCGNN/")]
    found = list(check_cases(layout, cases, [load_method(layout, "mrcgnn")], InContainers(layout, engine)))
    assert [one for one in found if one.arrays]
    assert not [one for one in found if one.worst.is_bad]
