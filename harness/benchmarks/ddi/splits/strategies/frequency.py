"""The drugs with the fewest interactions are new: models learn from frequent drugs and are asked of rare ones.

The paper names Jamal et al. (2020) for it, who take the change from frequent to rare classes as one of domains.
Read here: drugs are ranked by the number of items they are part of (negatives not counted), the last by rank are
new, ties are broken by chance, and chance deals the new ones to validation and test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.benchmarks.ddi.splits.drugs.deal import (
    Integers,
    Shares,
    deal_drugs,
    split_items,
    wrong_items,
    wrong_shares,
)
from harness.benchmarks.ddi.splits.drugs.usage import types_of_drugs
from harness.benchmarks.ddi.splits.parts import KNOWN

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit

SUMMARY = "the drugs with the fewest interactions are new"


class Parameters(Shares):
    """The shares of new drugs."""


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """Rank drugs by their interactions, most first."""
    chance = np.random.RandomState([seed, 1]).permutation(dataset.drugs)
    order = np.lexsort([chance, -frequencies(dataset)])
    ranks = np.empty(dataset.drugs, dtype=np.int64)
    ranks[order] = np.arange(dataset.drugs)
    return split_items(dataset, deal_drugs(ranks, seed, parameters), seed)


def frequencies(dataset: DdiDataset) -> Integers:
    """How many interactions every drug is part of; of several types, each counts."""
    return np.asarray(types_of_drugs(dataset).sum(axis=1), dtype=np.int64)


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """The roles have their shares, S0 has its shares, and no known drug has fewer interactions than a new one."""
    counts, known = frequencies(dataset), made.drugs == KNOWN
    broken = [*wrong_shares(made.drugs, parameters), *wrong_items(dataset, made)]
    least, most = counts[known].min(initial=np.iinfo(np.int64).max), counts[~known].max(initial=0)
    if least < most:
        broken.append(f"a known drug has {least} interactions, fewer than the {most} of a new one")
    return broken
