"""How rankings of unknown pairs are read."""

from __future__ import annotations

import numpy as np

from harness.benchmarks.reading import Reading
from harness.benchmarks.repurposing.dataset import RepurposingDataset

_KNOWN = {1: "associated", -1: "not associated"}


def reading(dataset: RepurposingDataset) -> Reading:
    """The scores of a model order pairs, nothing else."""
    pairs = zip(*(axis.tolist() for axis in np.nonzero(dataset.associations)), strict=True)
    return Reading(
        (
            "A score orders the unknown pairs of one answer. It is no probability, and scores of two methods or "
            "of two datasets can't be compared.",
            "A pair that ranks high is a hypothesis. Known pairs were learned from and are not ranked.",
        ),
        known=tuple(
            (
                (dataset.drug_ids[drug], dataset.disease_ids[disease]),
                _KNOWN[int(dataset.associations[drug, disease])],
            )
            for drug, disease in pairs
        ),
    )
