"""How rankings of drugs and targets are read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.base.plurals import counted
from harness.benchmarks.dti.dataset import NEW_NODES, DtiDataset
from harness.benchmarks.reading import Reading


def reading(dataset: DtiDataset) -> Reading:
    """Affinities have a unit; scores of bindings have none."""
    meaning = (
        "A score is the affinity that the method expects, in the unit of the data it learned from: how far off it "
        "usually is, only splits of known pairs tell."
        if dataset.affinity
        else "A score orders the pairs of one answer. It is no probability, and scores of two methods or of two "
        "datasets can't be compared."
    )
    known = zip(dataset.pairs.tolist(), dataset.values.tolist(), strict=True)
    return Reading(
        (
            meaning,
            "A pair that ranks high is a hypothesis. Known pairs were learned from and are not ranked.",
            *_not_asked(dataset),
        ),
        known=tuple(
            (
                (dataset.drug_ids[drug], dataset.target_ids[target]),
                f"affinity {value:g}" if dataset.affinity else "binds",
            )
            for (drug, target), value in known
        ),
    )


def _not_asked(dataset: DtiDataset) -> Iterator[str]:
    """That there are unknown pairs that nobody asks, as strategy `new_nodes` makes the split."""
    without = [
        (word, len(names) - len(np.unique(dataset.pairs[:, column])))
        for column, (word, names) in enumerate((("drug", dataset.drug_ids), ("target", dataset.target_ids)))
    ]
    things = " and ".join(counted(count, word) for word, count in without if count)
    if things and NEW_NODES not in dataset.group_names:
        yield (
            f"Asked are the pairs of what has no known pair: {things}. Ask about another one as your own, under "
            "another name: --drug NAME=SMILES, --target NAME=SEQUENCE."
        )
