"""The bindings of Test 1: chosen by what becomes of their nodes when they are removed from the graph of all.

Scenario 1 asks bindings of which neither node is isolated without them, scenario 2 those of which one is, scenario
3 those of which both are. In 1 and 2 each is drawn from a new set of all that can still be removed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from harness.benchmarks.dti.splits.generator.bindings import Bindings, Mask
from harness.benchmarks.dti.splits.java import Integers, JavaRandom, buckets_of, table_of

# whether pairs of nodes of these degrees can be removed
Rule = Callable[[Integers, Integers], Mask]


@dataclass(frozen=True, eq=False)
class _Pool:
    """Places of bindings, each under the rule by which it is in the pool, in the order in which they are added."""

    places: Integers
    sections: Integers
    rules: tuple[Rule, ...]


@cache
def chosen(bindings: Bindings, scenario: int, seed: int) -> Integers:
    """The bindings of a scenario, in the order in which they were chosen."""
    if scenario == 3:
        ordered = bindings.codes[bindings.by_drug]
        drugs, targets = bindings.drugs_of(ordered), bindings.targets_of(ordered)
        isolated: Integers = ordered[(np.bincount(drugs)[drugs] == 1) & (np.bincount(targets)[targets] == 1)]
        return isolated
    rules: tuple[Rule, ...] = (_connected,)
    orders = [bindings.by_drug]
    if scenario == 2:
        rules = (_lone_first, lambda drug, target: _lone_first(target, drug))
        orders = [bindings.by_drug, bindings.by_target]
    sections = np.repeat(np.arange(len(orders)), len(bindings.codes))
    return bindings.codes[_removed(bindings, _Pool(np.concatenate(orders), sections, rules), seed)]


def _connected(one: Integers, other: Integers) -> Mask:
    connected: Mask = np.logical_and(one > 1, other > 1)
    return connected


def _lone_first(one: Integers, other: Integers) -> Mask:
    lone: Mask = np.logical_and(one == 1, other > 1)
    return lone


def _removed(bindings: Bindings, pool: _Pool, seed: int) -> Integers:
    drugs, targets = (
        bindings.drugs_of(bindings.codes)[pool.places],
        bindings.targets_of(bindings.codes)[pool.places],
    )
    degrees = np.bincount(drugs[pool.sections == 0]), np.bincount(targets[pool.sections == 0])
    of_drug, of_target = _places_of(drugs), _places_of(targets)
    there = np.ones(len(pool.places), dtype=np.bool_)
    free = np.zeros(len(pool.places), dtype=np.bool_)
    hashes = bindings.pair_hashes(bindings.codes)[pool.places]
    everything = np.arange(len(pool.places))
    # the pool in the order of its table, for every size of table; the first is no table but a list
    orders = {0: everything}
    removed: list[int] = []

    def assess(entries: Integers) -> None:
        for section, rule in enumerate(pool.rules):
            own = entries[pool.sections[entries] == section]
            free[own] = there[own] & rule(degrees[0][drugs[own]], degrees[1][targets[own]])

    assess(everything)
    while size := int(np.count_nonzero(free)):
        table = table_of(size) if removed else 0
        if table not in orders:
            orders[table] = np.argsort(buckets_of(hashes, table), kind="stable")
        order = orders[table]
        entry = order[np.flatnonzero(free[order])[JavaRandom(seed).below(size)]]
        drug, target = drugs[entry], targets[entry]
        degrees[0][drug] -= 1
        degrees[1][target] -= 1
        near = np.concatenate([of_drug[drug], of_target[target]])
        there[near[pool.places[near] == pool.places[entry]]] = False
        assess(near)
        removed.append(int(pool.places[entry]))
    return np.array(removed, dtype=np.int64)


def _places_of(nodes: Integers) -> list[Integers]:
    """Of every node the entries it is in."""
    order = np.argsort(nodes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(nodes))[:-1])
