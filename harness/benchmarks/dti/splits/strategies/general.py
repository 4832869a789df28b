"""Test 0 of BETA: a fold of all bindings, and as many pairs of all drugs and targets."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from harness.base.errors import MissingData
from harness.base.manifests import Strict
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.generator import folds
from harness.benchmarks.dti.splits.generator.bindings import Ends, bindings_of, without
from harness.benchmarks.dti.splits.generator.connectivity import general_negatives
from harness.benchmarks.dti.splits.generator.folds import Halves, fold_of, parts_of, split_of
from harness.benchmarks.dti.splits.generator.spaces import rectangle, uniform_negatives
from harness.benchmarks.dti.splits.java import Integers
from harness.benchmarks.dti.splits.pairs import PairSplit

SUMMARY = "Test 0 of BETA: a fold of all bindings, and pairs drawn from all drugs and targets"

FOLDS = 10
# the group whose members are all nodes of the network, in the order of its file
NETWORK = "network"


class Parameters(Strict):
    """As published, negatives are drawn by Java's random numbers; as defined, all pairs are as likely."""

    reading: Literal["as-published", "as-defined"] = "as-published"
    fold: int = Field(default=0, ge=0, lt=FOLDS)
    isolate_free: bool = Field(default=True, description="ask only pairs of which both nodes are learned from")


def make(dataset: DtiDataset, seed: int, parameters: Parameters) -> PairSplit:
    """The task with its negatives."""
    bindings = bindings_of(dataset)
    whole = fold_of(bindings, bindings.codes, parameters.fold, FOLDS, seed)
    if parameters.reading == "as-published":
        negatives = general_negatives(whole, others_of(dataset, whole), seed)
    else:
        everything = np.ones((dataset.drugs, dataset.targets), dtype=np.bool_)
        negatives = uniform_negatives(everything, bindings.known, len(whole.test), seed)
    if parameters.isolate_free:
        negatives = _connected(whole, negatives)
    return split_of(positives(dataset, seed, parameters), negatives)


def positives(dataset: DtiDataset, seed: int, parameters: Parameters) -> Halves:
    """The bindings of the task."""
    bindings = bindings_of(dataset)
    whole = fold_of(bindings, bindings.codes, parameters.fold, FOLDS, seed)
    return Halves(bindings, whole.train, _connected(whole, whole.test)) if parameters.isolate_free else whole


def others_of(dataset: DtiDataset, halves: Halves) -> Ends:
    """Drugs and targets that are in no binding, in the order in which the original code meets them."""
    if NETWORK not in dataset.group_names:
        what = "as published, these negatives depend on all drugs and targets, in pairs or not, and their order"
        where = f"dataset {dataset.name}: group 'network' (of BETA: drugbank.nq and sequence.txt, not public)"
        todo = "take reading=as-defined, which draws from those that are known; or list them as group 'network'"
        raise MissingData(what, where=where, todo=todo)
    bindings, nodes = halves.bindings, dataset.members_of(NETWORK)
    drugs, targets = nodes[nodes < dataset.drugs], nodes[nodes >= dataset.drugs] - dataset.drugs
    all_nodes = Ends(bindings.drugs.set(drugs), bindings.targets.set(targets))
    return all_nodes.without(Ends(bindings.drugs_of(bindings.codes), bindings.targets_of(bindings.codes)))


def _connected(halves: Halves, codes: Integers) -> Integers:
    """The pairs of which both nodes are learned from."""
    bindings = halves.bindings
    drugs = np.isin(bindings.drugs_of(codes), halves.learned.drugs)
    return codes[drugs & np.isin(bindings.targets_of(codes), halves.learned.targets)]


def broken_promises(dataset: DtiDataset, split: PairSplit, parameters: Parameters) -> list[str]:
    """A tenth of the bindings is not learned from and is asked, without isolated nodes if these are left out;
    negatives bind nowhere, and there are as many."""
    halves, negatives = parts_of(dataset, split)
    bindings = halves.bindings
    number = folds.fold_size(len(bindings.codes), parameters.fold, FOLDS)
    held = without(bindings.codes, halves.train)
    asked = _connected(halves, held) if parameters.isolate_free else held
    broken = [] if np.array_equal(np.sort(asked), np.sort(halves.test)) else ["not what was held back is asked"]
    whole, space = Halves(bindings, halves.train, held), np.ones_like(bindings.known)
    broken += folds.wrong_bindings(whole, bindings.known, number)
    if parameters.isolate_free:
        # those with an isolated node were left out
        space, number = rectangle(halves, *halves.learned), min(number, len(negatives))
    return broken + folds.wrong_negatives(whole, negatives, space, number)
