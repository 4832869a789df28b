"""Whole domains of use are new: models learn from drugs of some uses and are asked of drugs of others.

The paper names Glorot et al. (2011) for it, who adapt between the product domains that reviews are written about.
Read here: the domain of a drug is its commonest type of interaction (the lowest on ties; negatives not counted),
which is what every dataset tells of the use of every drug. Whole domains are dealt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.benchmarks.ddi.splits.drugs.deal import Integers, Shares, split_groups, wrong_groups, wrong_items
from harness.benchmarks.ddi.splits.drugs.usage import types_of_drugs

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit

SUMMARY = "whole domains of use, told by a drug's commonest type of interaction, are new"


class Parameters(Shares):
    """The shares of new drugs."""


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """Deal whole domains."""
    return split_groups(dataset, groups(dataset, parameters), seed, parameters, what="domains of use")


def groups(dataset: DdiDataset, parameters: Parameters) -> Integers:
    """The number of every drug's domain; drugs without interactions share one."""
    counts = types_of_drugs(dataset)
    commonest = np.where(counts.any(axis=1), counts.argmax(axis=1), dataset.types)
    return np.asarray(np.unique(commonest, return_inverse=True)[1], dtype=np.int64)


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """Shares of roles as far as whole domains allow, one role per domain, and S0 has its shares."""
    wrong = wrong_groups(groups(dataset, parameters), made.drugs, parameters, what="domains of use")
    return [*wrong, *wrong_items(dataset, made)]
