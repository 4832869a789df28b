"""SPECTRA: a dial from a random split (0) to one whose drugs are all unlike one another (1), by discarding drugs.

Ektefaie et al. (2024) join samples that share a property, here drugs more similar than gamma, walk through them in
random order, keep each that is still there, and drop each of its neighbours with a probability, the spectral
parameter; what is kept is dealt at random. Every edge has its own number from 0 to 1, drawn once per seed, and
acts where the parameter is above it; so splits of one seed differ by the parameter alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from harness.base.errors import DataError
from harness.benchmarks.ddi.splits.drugs.deal import Shares, deal_drugs, split_items, wrong_items, wrong_shares
from harness.benchmarks.ddi.splits.drugs.graph import similarity_graph
from harness.benchmarks.ddi.splits.drugs.measure import too_similar
from harness.benchmarks.ddi.splits.parts import DISCARDED, KNOWN, ROLES

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import PartSplit

SUMMARY = "similar drugs are discarded as far as the spectral parameter says (SPECTRA)"

_FEWEST = 3


class Parameters(Shares):
    """At 1 no two drugs that are kept are more similar than gamma."""

    spectral: float = Field(default=1.0, ge=0, le=1)
    gamma: float = Field(default=0.55, ge=0, lt=1)


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """Thin the drugs out, and deal those that are kept."""
    generator = np.random.RandomState([seed, 1])
    kept = _kept(similarity_graph(dataset, parameters.gamma), parameters.spectral, generator)
    if len(kept) < _FEWEST:
        raise DataError(
            f"{len(kept)} drugs are kept, too few for known, validation and test drugs",
            where=f"dataset {dataset.name}, gamma {parameters.gamma}, spectral {parameters.spectral}",
            todo="choose a higher gamma or a lower spectral parameter",
        )
    roles = np.full(dataset.drugs, DISCARDED, dtype=np.int32)
    roles[kept] = deal_drugs(generator.permutation(len(kept)), seed, parameters)
    return split_items(dataset, roles, seed)


def _kept(graph: csr_array[Any], spectral: float, generator: np.random.RandomState) -> npt.NDArray[np.int64]:
    """The drugs that are kept, in ascending order."""
    drugs = graph.shape[0]
    order = generator.permutation(drugs)
    draws = generator.random_sample(graph.nnz)
    waiting, kept = np.ones(drugs, dtype=bool), np.zeros(drugs, dtype=bool)
    for drug in order:
        if waiting[drug]:
            waiting[drug], kept[drug] = False, True
            edges = slice(graph.indptr[drug], graph.indptr[drug + 1])
            waiting[graph.indices[edges][draws[edges] < spectral]] = False
    return np.flatnonzero(kept)


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """The drugs that are kept have their shares, and each discarded drug is similar to one of them; at 0 all are
    kept, at 1 no two of them are more similar than gamma. S0 has its shares."""
    broken = [*wrong_shares(made.drugs, parameters, discards=True), *wrong_items(dataset, made)]
    discarded = made.drugs == DISCARDED
    if parameters.spectral == 0 and discarded.any():
        broken.append(f"{int(discarded.sum())} drugs are discarded at a spectral parameter of 0")
    graph = similarity_graph(dataset, parameters.gamma)
    near_kept = np.asarray(graph @ (~discarded).astype(np.int32)) > 0
    needless = int((discarded & ~near_kept).sum())
    if needless:
        broken.append(f"{needless} drugs are discarded that are similar to none that is kept")
    if parameters.spectral < 1:
        return broken
    broken += too_similar(dataset.fingerprints, made, parameters.gamma)
    for role in (role for role in ROLES if role >= KNOWN):
        these = made.drugs_in(role)
        alike = graph[these][:, these].nnz // 2
        if alike:
            broken.append(f"{alike} pairs of {ROLES[role]} drugs are more similar than {parameters.gamma:g}")
    return broken


def broken_draws(dataset: DdiDataset, made: PartSplit, seed: int, parameters: Parameters) -> list[str]:
    """The kept drugs are those that the seed keeps: between 0 and 1 nothing else tells how many may be."""
    generator = np.random.RandomState([seed, 1])
    kept = np.zeros(dataset.drugs, dtype=bool)
    kept[_kept(similarity_graph(dataset, parameters.gamma), parameters.spectral, generator)] = True
    wrong = int((kept != (made.drugs != DISCARDED)).sum())
    return [f"{wrong} drugs are kept or discarded otherwise than seed {seed} does"] if wrong else []
