"""What bioLNE's published network gives away: nearly every binding of BETA is an edge `Drug-Target` of it.

The datasets here have no such edge. Who uses the network as published needs no method: a pair that is an edge
binds, one that is none does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from harness.base.errors import MissingData
from harness.base.layout import Layout
from harness.base.manifests import Strict
from harness.benchmarks.dti.converters.beta.network import ARCHIVE, BINDS, triples_in
from harness.benchmarks.dti.converters.beta.records import short_id
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.metrics.bindings import area_under_roc, threshold_counts
from harness.benchmarks.dti.splits.pairs import PairSplit
from harness.benchmarks.dti.study.tasks import READINGS, SEED, tasks
from harness.data import load_dataset
from harness.data.datasets import fetch_dataset
from harness.splits.spec import parse_split
from harness.splits.splits import make_split

DATASET = "beta_network"
_ROWS = ("Test 0", "Test 1")


class Leak(Strict):
    """How many bindings there are, how many of them are edges, and by row of tasks the mean AUROC of edges."""

    bindings: int
    edges: int
    auroc: dict[str, float]
    tasks: dict[str, int]


def binding_edges(path: Path, dataset: DtiDataset) -> npt.NDArray[np.bool_]:
    """For every drug and target whether the network in an archive joins them."""
    drugs, targets = (
        {name.lower(): place for place, name in enumerate(names)}
        for names in (dataset.drug_ids, dataset.target_ids)
    )
    joined = np.zeros((dataset.drugs, dataset.targets), dtype=np.bool_)
    for where, head, relation, tail in triples_in(path):
        if relation == BINDS:
            drug, target = short_id(head, "db", where), short_id(tail, "be", where)
            if drug in drugs and target in targets:
                joined[drugs[drug], targets[target]] = True
    return joined


def edge_auroc(split: PairSplit, dataset: DtiDataset, joined: npt.NDArray[np.bool_]) -> float:
    """The AUROC of a task where the score of a pair is whether the network joins it."""
    asked = split.rows[~split.is_train]
    truth = split.values_on(dataset)[~split.is_train] > 0
    return area_under_roc(threshold_counts(truth, joined[asked[:, 1], asked[:, 2]].astype(np.float64)))


def measure_leak(layout: Layout, mirrors: Sequence[Path] = ()) -> Leak:
    """All tasks of Tests 0 and 1, as published where their negatives are public, else as defined."""
    dataset = load_dataset(layout, DATASET, DtiDataset, mirrors=mirrors)
    joined = binding_edges(fetch_dataset(layout, DATASET, mirrors=mirrors)[ARCHIVE], dataset)
    values: dict[str, list[float]] = {}
    for row, text in tasks():
        if row in _ROWS:
            values.setdefault(row, []).append(edge_auroc(_task(layout, text, mirrors), dataset, joined))
    return Leak(
        bindings=len(dataset.pairs),
        edges=int(joined[tuple(dataset.pairs.T)].sum()),
        auroc={row: round(float(np.mean(own)), 4) for row, own in values.items()},
        tasks={row: len(own) for row, own in values.items()},
    )


def _task(layout: Layout, text: str, mirrors: Sequence[Path]) -> PairSplit:
    published, defined = (parse_split(f"{text},reading={reading}", SEED) for reading in READINGS)
    try:
        return cast(PairSplit, make_split(layout, DATASET, published, mirrors))
    except MissingData:
        return cast(PairSplit, make_split(layout, DATASET, defined, mirrors))
