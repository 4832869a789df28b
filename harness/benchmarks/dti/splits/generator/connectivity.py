"""The negatives of Tests 0 and 1: pairs of nodes that are asked (T), learned from (C) or neither (A).

In the original code the three are disjoint, in the paper's text each holds those before it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.base.errors import DataError
from harness.benchmarks.dti.splits.generator.bindings import Bindings, Ends, Nodes, without
from harness.benchmarks.dti.splits.generator.folds import Halves
from harness.benchmarks.dti.splits.java import Integers, JavaRandom, first_of_shuffled, iterated_at, shuffled

SEMI_ISOLATED = ("SS", "SU")
SCENARIOS = {"TT": 1, "TC": 1, "TA": 1, "CC": 1, "CA": 1, "AA": 1, "SS": 2, "SU": 2, "DI": 3}


def negatives_of(halves: Halves, space: str, others: Ends | None, seed: int) -> Integers:
    """The negatives of a task of Test 1 as the original code draws them, in the order of their file."""
    bindings, random = halves.bindings, JavaRandom(seed)
    if space == "CC":
        drugs, targets = (shuffled(nodes, random) for nodes in halves.only_learned)
        return bindings.pairs(bindings.pairs(_drawn(bindings, drugs, targets, len(halves.test), random)))
    if space in SEMI_ISOLATED:
        drawn = _of_neighbours(halves, space == "SS", random)
    elif space == "DI":
        drawn = _of_isolated(halves, random)
    else:
        return _enumerated(halves, space, others, random)
    collected = bindings.pairs(drawn)
    return bindings.pairs(collected[~bindings.known[collected]])


def general_negatives(halves: Halves, others: Ends, seed: int) -> Integers:
    """The negatives of a task of Test 0: of all drugs and targets."""
    bindings, random = halves.bindings, JavaRandom(seed)
    drugs, targets = zip(halves.asked, halves.only_learned, others, strict=True)
    lists = shuffled(bindings.drugs.set(*drugs), random), shuffled(bindings.targets.set(*targets), random)
    return bindings.pairs(_drawn(bindings, *lists, len(halves.test), random))


def _enumerated(halves: Halves, space: str, others: Ends | None, random: JavaRandom) -> Integers:
    """All pairs of a space in a set, the set as a list, the list shuffled, and the first of it."""
    bindings = halves.bindings
    nodes = {"T": halves.asked, "C": halves.only_learned} | ({"A": others} if others else {})
    blocks = dict.fromkeys([(space[0], space[1]), (space[1], space[0])])
    codes = np.concatenate([bindings.code(nodes[a].drugs[:, None], nodes[b].targets).ravel() for a, b in blocks])
    codes = codes[~bindings.known[codes]]
    places = first_of_shuffled(len(codes), len(halves.test), random)
    return bindings.pairs(codes[iterated_at(bindings.pair_hashes(codes), places)])


def _drawn(bindings: Bindings, drugs: Integers, targets: Integers, count: int, random: JavaRandom) -> Integers:
    """Distinct pairs that are not known to bind: a drug and a target are drawn until there are enough."""
    pairs = np.empty(0, dtype=np.int64)
    while len(pairs) < count:
        before = len(pairs)
        places = random.below_each(np.tile(np.array([len(drugs), len(targets)]), 2 * count)).reshape(-1, 2)
        codes = np.concatenate([pairs, bindings.code(drugs[places[:, 0]], targets[places[:, 1]])])
        codes = codes[~bindings.known[codes]]
        pairs = codes[np.sort(np.unique(codes, return_index=True)[1])]
        if len(pairs) == before:
            # chance alone, or there are no more
            every = bindings.code(drugs[:, None], targets).ravel()
            if (~bindings.known[every]).sum() < count:
                raise _too_few(f"fewer than {count} of its pairs are not known to bind")
    return pairs[:count]


def _neighbours(outer: Integers, inner: Integers, inners: Nodes) -> Mapping[int, Integers]:
    """Of every node the nodes of the other kind that it binds in training, as a set that is iterated."""
    order = np.argsort(outer, kind="stable")
    nodes, starts = np.unique(outer[order], return_index=True)
    parts = np.split(inner[order], starts[1:])
    return {int(node): inners.set(part) for node, part in zip(nodes, parts, strict=True)}


def _of_neighbours(halves: Halves, similar: bool, random: JavaRandom) -> Integers:
    """For every binding another one of the node that is isolated, with a node like or unlike the one it binds."""
    bindings, train = halves.bindings, halves.train
    drugs, targets = bindings.drugs_of(train), bindings.targets_of(train)
    targets_of = _neighbours(drugs, targets, bindings.targets)
    drugs_of = _neighbours(targets, drugs, bindings.drugs)
    drawn = []
    for drug, target in _visited(halves):
        if drug in targets_of:
            drugs = _candidates(drug, targets_of, drugs_of, None if similar else halves.learned.drugs)
            drawn += [bindings.code(_first(drugs, random), np.array([target]))]
        elif target in drugs_of:
            targets = _candidates(target, drugs_of, targets_of, None if similar else halves.learned.targets)
            drawn += [bindings.code(np.array([drug]), _first(targets, random))]
    return _all_of(drawn)


def _candidates(
    node: int, there: Mapping[int, Integers], back: Mapping[int, Integers], others: Integers | None
) -> Integers:
    """Nodes that share a neighbour with this one, itself among them; or all others of a set."""
    shared = np.concatenate([back[int(neighbour)] for neighbour in there[node]])
    if others is not None:
        return without(others, shared)
    return shared[np.sort(np.unique(shared, return_index=True)[1])]


def _of_isolated(halves: Halves, random: JavaRandom) -> Integers:
    """For every binding another pair of its drug, or of its target, with another node that is not learned from."""
    bindings, (drugs, targets) = halves.bindings, halves.only_asked
    drawn = []
    for drug, target in _visited(halves):
        if random.below(2) == 0:
            drawn.append(bindings.code(np.array([drug]), _first(targets, random)))
        else:
            drawn.append(bindings.code(_first(drugs, random), np.array([target])))
    return _all_of(drawn)


def _too_few(what: str) -> DataError:
    return DataError(f"these data have too few pairs for it: {what}", todo="take another space, or another split")


def _all_of(drawn: list[Integers]) -> Integers:
    if not drawn:
        raise _too_few("no binding that is asked has another pair beside it")
    return np.concatenate(drawn)


def _visited(halves: Halves) -> list[tuple[int, int]]:
    bindings = halves.bindings
    codes = bindings.pairs(halves.test)
    return list(zip(bindings.drugs_of(codes).tolist(), bindings.targets_of(codes).tolist(), strict=True))


def _first(items: Integers, random: JavaRandom) -> Integers:
    """The first of the shuffled items."""
    return items[first_of_shuffled(len(items), 1, random)]
