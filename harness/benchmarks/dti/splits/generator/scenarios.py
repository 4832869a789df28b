"""The bindings of Test 1: chosen by what becomes of their nodes when they are removed from the graph of all.

Scenario 1 asks bindings of which neither node is isolated without them, scenario 2 those of which one is, scenario
3 those of which both are. In 1 and 2 each is drawn from a new set of all that can still be removed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from harness.benchmarks.dti.splits.generator.bindings import Bindings, Mask
from harness.benchmarks.dti.splits.java import Integers, JavaRandom, buckets_of, table_of

# whether pairs of nodes of these degrees can be removed
Rule = Callable[[Integers, Integers], Mask]


@cache
def chosen(bindings: Bindings, scenario: int, seed: int) -> Integers:
    """The bindings of a scenario, in the order in which they were chosen."""
    if scenario == 3:
        ordered = bindings.codes[bindings.nested[0]]
        drugs, targets = bindings.drugs_of(ordered), bindings.targets_of(ordered)
        isolated: Integers = ordered[(np.bincount(drugs)[drugs] == 1) & (np.bincount(targets)[targets] == 1)]
        return isolated
    rules: tuple[Rule, ...] = (lambda drug, target: (drug > 1) & (target > 1),)
    orders: tuple[Integers, ...] = bindings.nested[:1]
    if scenario == 2:
        rules = (lambda drug, target: (drug == 1) & (target > 1), lambda drug, target: (target == 1) & (drug > 1))
        orders = bindings.nested
    return bindings.codes[_removed(bindings, orders, rules, seed)]


def _removed(bindings: Bindings, orders: tuple[Integers, ...], rules: tuple[Rule, ...], seed: int) -> Integers:
    """Places of bindings in the order of their removal; each rule adds to the pool in an order of its own."""
    places, section = np.concatenate(orders), np.repeat(np.arange(len(rules)), len(bindings.codes))
    drugs, targets = bindings.drugs_of(bindings.codes)[places], bindings.targets_of(bindings.codes)[places]
    degrees = np.bincount(drugs[section == 0]), np.bincount(targets[section == 0])
    of_drug, of_target = _places_of(drugs), _places_of(targets)
    there = np.ones(len(places), dtype=np.bool_)
    free = np.zeros(len(places), dtype=np.bool_)
    hashes = bindings.pair_hashes(bindings.codes)[places]
    everything = np.arange(len(places))
    # the pool in the order of its table, for every size of table; the first is no table but a list
    tables = {0: everything}
    removed: list[int] = []

    def assess(entries: Integers) -> None:
        for number, rule in enumerate(rules):
            own = entries[section[entries] == number]
            free[own] = there[own] & rule(degrees[0][drugs[own]], degrees[1][targets[own]])

    assess(everything)
    while size := int(np.count_nonzero(free)):
        table = table_of(size) if removed else 0
        if table not in tables:
            tables[table] = np.argsort(buckets_of(hashes, table), kind="stable")
        order = tables[table]
        entry = order[np.flatnonzero(free[order])[JavaRandom(seed).below(size)]]
        drug, target = drugs[entry], targets[entry]
        degrees[0][drug] -= 1
        degrees[1][target] -= 1
        near = np.concatenate([of_drug[drug], of_target[target]])
        there[near[places[near] == places[entry]]] = False
        assess(near)
        removed.append(int(places[entry]))
    return np.array(removed, dtype=np.int64)


def _places_of(nodes: Integers) -> list[Integers]:
    """Of every node the entries it is in."""
    order = np.argsort(nodes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(nodes))[:-1])
