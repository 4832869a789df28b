"""What bioLNE's published network gives away: nearly every binding of BETA is an edge `Drug-Target` of it.

The datasets here have no such edge. Who uses the network as published needs no method: a pair that is an edge
binds, one that is none does not.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.benchmarks.dti.converters.beta.network import BINDS, triples_in
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.metrics.bindings import area_under_roc, threshold_counts
from harness.benchmarks.dti.records import short_id
from harness.benchmarks.dti.splits.pairs import PairSplit

Edges = npt.NDArray[np.bool_]


def binding_edges(path: Path, dataset: DtiDataset) -> Edges:
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


def edge_auroc(split: PairSplit, dataset: DtiDataset, joined: Edges) -> float:
    """The AUROC of a task where the score of a pair is whether the network joins it."""
    asked = split.rows[~split.is_train]
    truth = split.values_on(dataset)[~split.is_train] > 0
    return area_under_roc(threshold_counts(truth, joined[asked[:, 1], asked[:, 2]].astype(np.float64)))
