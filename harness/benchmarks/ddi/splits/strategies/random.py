"""Drugs drawn at random: the common setting, without a change of distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.benchmarks.ddi.splits.drugs.deal import Shares, deal_drugs, split_items, wrong_items, wrong_shares

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit

SUMMARY = "new drugs drawn at random (the common setting)"


class Parameters(Shares):
    """The shares of new drugs."""


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """Every drug is as likely to be new as any other."""
    ranks = np.random.RandomState([seed, 1]).permutation(dataset.drugs)
    return split_items(dataset, deal_drugs(ranks, seed, parameters), seed)


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """The roles have their shares, no drug is discarded, and S0 has its shares."""
    return [*wrong_shares(made.drugs, parameters), *wrong_items(dataset, made)]
