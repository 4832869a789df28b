"""The Hi split of Lo-Hi: no new drug is more similar to a known one than a threshold, at the price of few drugs.

Steshin (2023) asks for parts of given sizes without similar drugs across them, and for as few discarded drugs as
can be; he solves it as an integer program on a coarsened graph. Here a region is grown in the graph of similar
drugs, always by the drug that adds the fewest neighbours to its border, and the border is what is discarded: of
all regions met that have nearly the size wanted, the one with the smallest border. The test drugs are such a
region, then the validation drugs are one of what is left. It is fast and repeats exactly, but proves no minimum.
Lo-Hi's threshold is 0.4, of binary fingerprints; here it is of equation (1) on counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from harness.base.errors import DataError
from harness.benchmarks.ddi.splits.drugs.deal import Shares, split_items, targets, wrong_items
from harness.benchmarks.ddi.splits.drugs.graph import similarity_graph
from harness.benchmarks.ddi.splits.drugs.measure import too_similar
from harness.benchmarks.ddi.splits.parts import DISCARDED, KNOWN, ROLES, Codes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit

SUMMARY = "no new drug is similar to a known one; few drugs are discarded for it (Lo-Hi's Hi split)"

# Share of the wanted size that is enough, where fewer drugs are discarded for it.
_ENOUGH = 0.9

Mask = npt.NDArray[np.bool_]


class Parameters(Shares):
    """Lo-Hi's threshold is the default."""

    threshold: float = Field(default=0.4, ge=0, lt=1)


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """Carve test drugs out of all, then validation drugs out of what is left."""
    graph = similarity_graph(dataset, parameters.threshold)
    generator = np.random.RandomState([seed, 1])
    roles = np.full(dataset.drugs, KNOWN, dtype=np.int32)
    for role, size in targets(dataset.drugs, parameters).items():
        region, border = _carved(graph, roles == KNOWN, size, generator)
        roles[region], roles[border] = role, DISCARDED
    _give_back(graph, roles, targets(dataset.drugs, parameters))
    if not (roles == KNOWN).any():
        raise DataError(
            "no drug is left to be known: the drugs are too similar to one another",
            where=f"dataset {dataset.name}, threshold {parameters.threshold}",
            todo="choose a higher threshold",
        )
    return split_items(dataset, roles, seed)


def _carved(graph: csr_array[Any], free: Mask, size: int, generator: np.random.RandomState) -> tuple[Mask, Mask]:
    """A region of at most `size` free drugs, and its border: the free drugs similar to one of them."""
    drugs = len(free)
    chance = generator.permutation(drugs)
    region, border = np.zeros(drugs, dtype=bool), np.zeros(drugs, dtype=bool)
    # How many drugs each one would add to the border.
    adds = np.asarray(graph @ free.astype(np.int32))
    best, fewest = (region.copy(), border.copy()), drugs + 1
    for count in range(1, size + 1):
        candidates = np.flatnonzero(free & ~region)
        if not len(candidates):
            break
        costs = adds[candidates] - border[candidates]
        cheapest = candidates[costs == costs.min()]
        chosen = cheapest[np.argmin(chance[cheapest])]
        neighbours = _neighbours(graph, chosen)
        fresh = neighbours[free[neighbours] & ~region[neighbours] & ~border[neighbours]]
        settled = fresh if border[chosen] else np.append(fresh, chosen)
        region[chosen], border[chosen] = True, False
        border[fresh] = True
        for drug in settled:
            adds[_neighbours(graph, drug)] -= 1
        if int(border.sum()) <= fewest and count >= _ENOUGH * size:
            best, fewest = (region.copy(), border.copy()), int(border.sum())
    return best


def _give_back(graph: csr_array[Any], roles: Codes, most: dict[int, int]) -> None:
    """Give discarded drugs that are similar to drugs of one new role only to that role, while it has room."""
    for drug in np.flatnonzero(roles == DISCARDED):
        near = set(roles[_neighbours(graph, drug)].tolist()) - {DISCARDED}
        for role, size in most.items():
            if near == {role} and int((roles == role).sum()) < size:
                roles[drug] = role


def _neighbours(graph: csr_array[Any], drug: np.integer[Any]) -> npt.NDArray[np.int32]:
    found: npt.NDArray[np.int32] = graph.indices[graph.indptr[drug] : graph.indptr[drug + 1]]
    return found


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """New drugs are nearly as many as asked for, no two roles are similar, discarded drugs are near a new one,
    S0 has its shares."""
    most = targets(dataset.drugs, parameters)
    broken = [
        f"{int((made.drugs == role).sum())} drugs are {ROLES[role]}, not between {_ENOUGH * size:g} and {size}"
        for role, size in most.items()
        if not _ENOUGH * size <= int((made.drugs == role).sum()) <= size
    ]
    broken += [*too_similar(dataset.fingerprints, made, parameters.threshold), *wrong_items(dataset, made)]
    graph = similarity_graph(dataset, parameters.threshold)
    near_new = np.asarray(graph @ (made.drugs > KNOWN).astype(np.int32)) > 0
    needless = int(((made.drugs == DISCARDED) & ~near_new).sum())
    return [*broken, f"{needless} drugs are discarded that are similar to no new one"] if needless else broken
