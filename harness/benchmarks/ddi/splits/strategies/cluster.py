"""Whole clusters of similar drugs are new, so that no new drug is more similar to a known one than gamma.

The paper's Algorithm 1: drugs are joined where their similarity, equation (1) on count fingerprints, is above
gamma; each connected component is a cluster; clusters are dealt at random. The largest is known, as in the
released splits: at gamma 0.55 it holds three quarters of DrugBank. A smaller gamma changes the distribution more.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import Field

from harness.benchmarks.ddi.splits.drugs.clusters import clusters_of
from harness.benchmarks.ddi.splits.drugs.deal import Integers, Shares, split_groups, wrong_groups, wrong_items
from harness.benchmarks.ddi.splits.drugs.measure import too_similar

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit

SUMMARY = "whole clusters of drugs more similar than gamma are new (the paper's)"


class Parameters(Shares):
    """The released splits were made with gamma 0.55."""

    gamma: float = Field(default=0.55, ge=0, lt=1)


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """Deal whole clusters."""
    what = f"clusters at gamma {parameters.gamma}"
    return split_groups(dataset, groups(dataset, parameters), seed, parameters, what=what)


def groups(dataset: DdiDataset, parameters: Parameters) -> Integers:
    """What is dealt: clusters."""
    return clusters(dataset, parameters.gamma)


@lru_cache(maxsize=8)
def clusters(dataset: DdiDataset, gamma: float) -> Integers:
    """The number of every drug's cluster; the same for all seeds."""
    return clusters_of(dataset.fingerprints, gamma)


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """What it promises of drugs, and S0 has its shares."""
    return [*wrong_drugs(dataset, made, parameters), *wrong_items(dataset, made)]


def wrong_drugs(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """Shares as far as whole clusters allow, one role per cluster, no two roles nearer than gamma."""
    return [
        *wrong_groups(groups(dataset, parameters), made.drugs, parameters, what="clusters"),
        *too_similar(dataset.fingerprints, made, parameters.gamma),
    ]
