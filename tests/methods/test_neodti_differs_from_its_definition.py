"""NeoDTI against the same model written down plainly, and the networks that it makes of a dataset's relations."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmarks.neodti import drawn, measure
from harness.base.layout import Layout
from harness.engine import Engine
from harness.images.identity import code_folders

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


@pytest.fixture
def networks(repository: Layout, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The method's own module, which needs no torch."""
    for folder in reversed(code_folders(repository, "neodti")):
        monkeypatch.syspath_prepend(folder)
    names = ("networks", "dti_sdk", "permafrost_sdk")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    yield importlib.import_module("networks")
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


def problem_of(inputs: dict[str, Any]) -> Any:
    """Three drugs (0-2), two targets (3, 4), five other nodes (5-9)."""
    sdk = importlib.import_module("dti_sdk")
    pairs = sdk.Pairs(np.array([[0, 1], [2, 0], [1, 1]]), np.array([1.0, 1.0, 0.0]))
    empty = np.empty((0, 0))
    full = {
        "edges": np.empty((0, 3), dtype=np.int32),
        "relation_names": [],
        "drug_similarity": empty,
        "target_similarity": empty,
        **inputs,
    }
    return sdk.Problem(3, 2, 10, False, pairs, np.empty((0, 2)), full, {}, 1)


def test_edges_come_from_either_side_once_and_others_stay_out(networks: ModuleType) -> None:
    """Diseases are 7 and 9, told from both sides; 5 and 6 are of kinds that the model does not have."""
    names = ["drug-disease", "disease-target", "drug-pathway", "target-target", "disease-disease"]
    edges = [[0, 0, 9], [0, 0, 9], [0, 2, 7], [1, 9, 4], [2, 1, 5], [3, 3, 4], [3, 4, 4], [4, 7, 8], [2, 0, 6]]
    problem = problem_of({"edges": np.array(edges, dtype=np.int32), "relation_names": names})
    made = networks.networks_of(problem, problem.train)
    expected = {
        "drug-disease": [[0, 1], [0, 0], [1, 0]],
        "target-disease": [[0, 0], [0, 1]],
        "target-target": [[0, 1], [1, 0]],
        "drug-target": [[0, 1], [0, 0], [1, 0]],
    }
    assert {name: one.dense.tolist() for name, one in made.items()} == expected
    assert networks.counts_of(made) == {"drug": 3, "target": 2, "disease": 2, "effect": 0}
    heard = networks.messages_of(made)
    np.testing.assert_allclose(heard["disease", "drug-disease"].dense, np.eye(3)[[2, 0]], rtol=1e-9)
    assert set(heard) == {
        *(("drug", name) for name in ("drug-disease", "drug-target")),
        *(("target", name) for name in ("target-target", "target-disease", "drug-target")),
        *(("disease", name) for name in ("drug-disease", "target-disease")),
    }


def test_weights_of_a_similarity_leave_the_node_itself_out(networks: ModuleType) -> None:
    similarity = np.array([[1, 0.2, 0.6], [0.2, 1, 0], [0.6, 0, 1]])
    problem = problem_of({"drug_similarity": similarity})
    heard = networks.messages_of(networks.networks_of(problem, problem.train))
    expected = np.array([[0, 0.25, 0.75], [1, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(heard["drug", "drug-similarity"].dense, expected, rtol=1e-9)


def test_data_without_networks_are_refused(networks: ModuleType) -> None:
    problem = problem_of({})
    with pytest.raises(ValueError, match="none but its bindings"):
        networks.networks_of(problem, problem.train)
