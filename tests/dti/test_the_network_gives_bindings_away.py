"""The published network holds the bindings of the test files: that must be shown, and must not reach a method."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.dti.converters.beta.network import ARCHIVE, binding_edges
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.input_arrays import inputs_of
from harness.benchmarks.dti.splits.pairs import NEGATIVE, NEW, TEST, TRAIN, pair_split
from harness.benchmarks.dti.splits.strategies import connectivity
from harness.benchmarks.dti.study import TaskFacts, edge_auroc
from harness.data import load_dataset
from harness.data.datasets import fetch_dataset
from harness.study.measurements import load_measured
from tests.dti.beta_files import EDGES, FILES, NODE, converted, network


def test_edges_in_any_case_and_of_known_nodes_are_told_from_others(tmp_path: Path) -> None:
    more = [
        (NODE.format("db00001"), "Drug-Target", NODE.format("be0000009")),
        (NODE.format("DB7"), "Drug-Target", NODE.format("BE7")),
    ]
    archive = network(tmp_path, [*EDGES, *more])
    dataset = converted(tmp_path, {**FILES, ARCHIVE: archive})
    joined = binding_edges(tmp_path / ARCHIVE, dataset)
    edges = [
        (dataset.drug_ids[drug], dataset.target_ids[target])
        for drug, target in zip(*joined.nonzero(), strict=True)
    ]
    assert edges == [("db00002", "be0000007"), ("db00001", "be0000009")]


@pytest.mark.parametrize(
    ("asked", "auroc"), [([1, 0, 0], 1.0), ([0, 1, 1], 0.0), ([1, 1, 0], 0.75), ([1, 1, 1], 0.5)]
)
def test_the_area_is_that_of_edges_as_scores(tmp_path: Path, asked: list[int], auroc: float) -> None:
    dataset = converted(tmp_path)
    rows = [[TRAIN, 1, 1, 0], [TEST, 2, 2, NEGATIVE], [TEST, 0, 3, NEW], [TEST, 0, 0, NEGATIVE]]
    split = pair_split(np.array(rows))
    joined = np.zeros((dataset.drugs, dataset.targets), dtype=np.bool_)
    joined[0, 3], joined[2, 2], joined[0, 0] = map(bool, asked)
    assert edge_auroc(split, dataset, joined) == auroc


def test_what_was_measured_says_so(repository: Layout) -> None:
    facts = load_measured(repository, "dti", TaskFacts)
    assert facts is not None and (facts.edges, facts.bindings) == (12_201, 12_240)
    rows = {(one.row, one.reading): one.means[-1] for one in facts.rows if one.made}
    assert rows["Test 0", "as-defined"] > 0.99 and rows["Test 1", "as-published"] > 0.99
    # what is not known yet is no edge
    assert rows["Test 5", "as-published"] < 0.7 and rows["Test 6", "as-published"] < 0.6


def test_nearly_all_bindings_are_edges_and_none_reaches_a_method(repository: Layout, shared: Path) -> None:
    mirrors = [shared / "mirror"]
    dataset = load_dataset(repository, "beta_network", DtiDataset, mirrors=mirrors)
    joined = binding_edges(fetch_dataset(repository, "beta_network", mirrors=mirrors)[ARCHIVE], dataset)
    assert int(joined[tuple(dataset.pairs.T)].sum()) == 12_201 and len(dataset.pairs) == 12_240
    split = connectivity.make(dataset, 1024, connectivity.Parameters(space="CC"))
    assert edge_auroc(split, dataset, joined) > 0.99
    edges = np.asarray(inputs_of(dataset, split, ["edges"])["edges"])
    kinds = np.searchsorted([dataset.drugs, dataset.drugs + dataset.targets], edges[:, 1:], side="right")
    assert len(edges) == 153_714 and not (np.sort(kinds, axis=1) == [0, 1]).all(axis=1).any()
