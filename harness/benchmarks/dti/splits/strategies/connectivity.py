"""Test 1 of BETA: how connected the nodes of a pair are without it.

Scenario 1 (TT, TC, TA, CC, CA, AA): both nodes are learned from. Scenario 2 (SS, SU): one. Scenario 3 (DI): none.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from harness.base.manifests import Strict
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.generator import folds, spaces
from harness.benchmarks.dti.splits.generator.bindings import Mask, bindings_of
from harness.benchmarks.dti.splits.generator.connectivity import SCENARIOS, negatives_of
from harness.benchmarks.dti.splits.generator.folds import Halves, fold_of, parts_of, split_of
from harness.benchmarks.dti.splits.generator.scenarios import chosen
from harness.benchmarks.dti.splits.pairs import PairSplit
from harness.benchmarks.dti.splits.strategies import general

SUMMARY = "Test 1 of BETA: a fold of bindings whose nodes stay connected, or do not, against nine spaces of pairs"


class Parameters(Strict):
    """As published, the spaces T, C and A are disjoint; as defined, each holds those before it."""

    reading: Literal["as-published", "as-defined"] = "as-published"
    space: Literal["TT", "TC", "TA", "CC", "CA", "AA", "SS", "SU", "DI"] = "TT"
    fold: int = Field(default=0, ge=0, lt=general.FOLDS)


def make(dataset: DtiDataset, seed: int, parameters: Parameters) -> PairSplit:
    """The task with its negatives."""
    halves, space = positives(dataset, seed, parameters), parameters.space
    if parameters.reading == "as-published":
        # of nodes without a binding the original has more than are public
        others = general.others_of(dataset, halves) if "A" in space else None
        return split_of(halves, negatives_of(halves, space, others, seed))
    within = _space(halves, parameters)
    # spaces that are nearly all pairs would give the same ones by the same seed alone
    seeds = (seed, list(SCENARIOS).index(parameters.space))
    return split_of(halves, spaces.uniform_negatives(within, halves.bindings.known, len(halves.test), *seeds))


def positives(dataset: DtiDataset, seed: int, parameters: Parameters) -> Halves:
    """The bindings of the task."""
    bindings = bindings_of(dataset)
    codes = chosen(bindings, SCENARIOS[parameters.space], seed)
    return fold_of(bindings, codes, parameters.fold, general.FOLDS, seed)


def _space(halves: Halves, parameters: Parameters) -> Mask:
    if SCENARIOS[parameters.space] == 3:
        return spaces.rectangle(halves, *halves.only_asked)
    if SCENARIOS[parameters.space] == 2:
        return spaces.neighbour_space(halves, parameters.space == "SS")
    return spaces.connected_space(halves, parameters.space, nested=parameters.reading == "as-defined")


def broken_draws(dataset: DtiDataset, split: PairSplit, seed: int, parameters: Parameters) -> list[str]:
    """The bindings that are asked are the fold of what the scenario chooses."""
    asked, again = parts_of(dataset, split)[0].test, positives(dataset, seed, parameters).test
    return [] if np.array_equal(np.sort(asked), np.sort(again)) else ["other bindings are asked than chosen"]


def broken_promises(dataset: DtiDataset, split: PairSplit, parameters: Parameters) -> list[str]:
    """Both nodes of what is asked are learned from (scenario 1) or neither is (3), all bindings are there, and
    negatives are of their space; there are as many as bindings, in SS, SU and DI as published a few less."""
    halves, negatives = parts_of(dataset, split)
    bindings, scenario = halves.bindings, SCENARIOS[parameters.space]
    lone_drugs = ~np.isin(bindings.drugs_of(halves.test), bindings.drugs_of(halves.train))
    lone_targets = ~np.isin(bindings.targets_of(halves.test), bindings.targets_of(halves.train))
    # a tenth of scenario 2 is not as it should be: a node's other bindings were removed before, into other folds
    wrong = lone_drugs | lone_targets if scenario == 1 else ~(lone_drugs & lone_targets)
    broken = [f"{int(wrong.sum())} bindings are not of the scenario"] if scenario != 2 and wrong.any() else []
    broken += folds.wrong_bindings(halves, bindings.known, len(halves.test))
    number = len(halves.test)
    if scenario > 1 and len(negatives) <= number:
        # what was drawn and binds is not drawn again
        number = len(negatives)
    return [*broken, *folds.wrong_negatives(halves, negatives, _space(halves, parameters), number)]
