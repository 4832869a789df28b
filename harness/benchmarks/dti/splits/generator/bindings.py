"""The known bindings as BETA's generator sees them: texts in hash tables.

A pair is a code, drug * targets + target. The generator hashes a binding as a line of N-Triples, any other pair as
two identifiers, and a node as one; their hash codes are put together from those of the nodes.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.base.errors import UsageError
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.splits.java import Integers, buckets_of, hash_codes, iterated, joined, table_of

Mask = npt.NDArray[np.bool_]

NODE = "<http://bio2rdf.org/drugbank:{}>"
_BINDS = " <http://bio2rdf.org/drugbank_vocabulary:drug-target> "
_END = " ."


class Nodes:
    """Drugs or targets, by number."""

    def __init__(self, identifiers: tuple[str, ...]) -> None:
        texts = [NODE.format(name.lower()) for name in identifiers]
        self.hashes = hash_codes(texts)
        self.lengths = np.array([len(text) for text in texts], dtype=np.int64)

    def set(self, *parts: Integers) -> Integers:
        """A new set that the parts were added to, as it is iterated."""
        items = np.concatenate(parts)
        return iterated(items, self.hashes[items])


class Ends(NamedTuple):
    """Drugs and targets, as sets that are iterated."""

    drugs: Integers
    targets: Integers

    def without(self, others: Ends) -> Ends:
        """The sets after others were deleted from them."""
        return Ends(*map(without, self, others))


def without(items: Integers, others: Integers) -> Integers:
    """A set after the others were deleted from it: its table stays as it is."""
    return items[~np.isin(items, others)]


class Bindings:
    """All known bindings in their order, and the sets of the generator."""

    def __init__(self, dataset: DtiDataset) -> None:
        self.targets_end = dataset.targets
        self.codes = self.code(dataset.pairs[:, 0], dataset.pairs[:, 1])
        self.drugs, self.targets = Nodes(dataset.drug_ids), Nodes(dataset.target_ids)

    def code(self, drugs: npt.NDArray[np.integer], targets: npt.NDArray[np.integer]) -> Integers:
        """The codes of pairs."""
        return drugs.astype(np.int64) * self.targets_end + targets

    def drugs_of(self, codes: Integers) -> Integers:
        """The drug of every pair."""
        return codes // self.targets_end

    def targets_of(self, codes: Integers) -> Integers:
        """The target of every pair."""
        return codes % self.targets_end

    def ends(self, codes: Integers) -> Ends:
        """New sets that the drugs and the targets of pairs were added to."""
        return Ends(self.drugs.set(self.drugs_of(codes)), self.targets.set(self.targets_of(codes)))

    def mask(self, *parts: Integers) -> Mask:
        """For every possible pair whether it is among the parts."""
        mask = np.zeros(len(self.drugs.hashes) * self.targets_end, dtype=np.bool_)
        for codes in parts:
            mask[codes] = True
        return mask

    @cached_property
    def known(self) -> Mask:
        """For every possible pair whether it is known to bind."""
        return self.mask(self.codes)

    def pair_hashes(self, codes: Integers, between: str = " ", end: str = "") -> Integers:
        """The hash codes of pairs as texts: a drug, what stands between, a target, and the end."""
        (binds, last), target = hash_codes([between, end]), self.targets_of(codes)
        left = joined(self.drugs.hashes[self.drugs_of(codes)], binds, len(between))
        right = joined(self.targets.hashes[target], last, len(end))
        return joined(left, right, self.targets.lengths[target] + len(end))

    def lines(self, *parts: Integers) -> Integers:
        """A new set of bindings that the parts were added to, as it is iterated."""
        codes = np.concatenate(parts)
        return iterated(codes, self.pair_hashes(codes, _BINDS, _END))

    def pairs(self, *parts: Integers) -> Integers:
        """A new set of other pairs that the parts were added to, as it is iterated."""
        codes = np.concatenate(parts)
        return iterated(codes, self.pair_hashes(codes))

    @cached_property
    def nested(self) -> tuple[Integers, Integers]:
        """The places of all bindings in the order of a map from drugs to sets of targets, and the reverse."""
        drugs, targets = (self.drugs_of(self.codes), self.drugs), (self.targets_of(self.codes), self.targets)
        return _nested(*drugs, *targets), _nested(*targets, *drugs)


def _nested(outer: Integers, outers: Nodes, inner: Integers, inners: Nodes) -> Integers:
    order = outers.set(outer)
    rank = np.empty(len(outers.hashes), dtype=np.int64)
    rank[order] = np.arange(len(order))
    tables = np.array([table_of(int(size)) for size in np.bincount(outer)], dtype=np.int64)
    return np.lexsort([buckets_of(inners.hashes[inner], tables[outer]), rank[outer]])


@lru_cache(maxsize=2)
def bindings_of(dataset: DtiDataset) -> Bindings:
    """The bindings of a dataset; made once, for all its tasks."""
    if dataset.affinity:
        what = f"dataset '{dataset.name}' has affinities, and these tasks are of bindings"
        raise UsageError(what, where="split strategy", todo="take a dataset of bindings, or another strategy")
    return Bindings(dataset)
