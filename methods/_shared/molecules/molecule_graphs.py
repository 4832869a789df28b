"""All drugs' molecules in one place, and the graph of those that a step needs, cut out by index arithmetic.

A molecule is encoded once per step, however many pairs it is in: `among` numbers the distinct drugs of some pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from molecules import Molecule
from torch import Tensor


@dataclass(frozen=True)
class Edges:
    """Bonds in both directions and a loop at every atom, by target, then source.

    `starts` has the first edge of each target, and their number at its end; `opposite` is the place of the edge
    that goes the other way.
    """

    source: Tensor
    target: Tensor
    starts: Tensor
    opposite: Tensor

    def copies(self, count: int) -> Edges:
        """So many of them, one after another, for as many copies of the atoms."""
        atoms, edges = len(self.starts) - 1, len(self.source)

        def moved(places: Tensor, by: int) -> Tensor:
            return (places + by * torch.arange(count, device=places.device)[:, None]).view(-1)

        starts = torch.cat([moved(self.starts[:-1], edges), self.starts[-1:] * count])
        return Edges(moved(self.source, atoms), moved(self.target, atoms), starts, moved(self.opposite, edges))

    def without_loops(self) -> tuple[Edges, Tensor]:
        """The bonds alone, and which of the edges they are."""
        kept = self.source != self.target
        places = kept.cumsum(0) - 1
        # every atom has one loop
        starts = self.starts - torch.arange(len(self.starts), device=kept.device)
        return Edges(self.source[kept], self.target[kept], starts, places[self.opposite[kept]]), kept


@dataclass(frozen=True)
class Graph:
    """Molecules side by side: their atoms, the molecule of each, `starts` of the molecules and their end; edges,
    and the kind of each (of a loop 0, which says nothing).
    """

    atoms: Tensor
    molecule: Tensor
    starts: Tensor
    edges: Edges
    kinds: Tensor


@dataclass(frozen=True)
class Molecules:
    """The graph of all drugs, whose edges count from the first atom or edge of their own molecule."""

    graph: Graph
    edge_starts: Tensor

    @classmethod
    def of(cls, molecules: Sequence[Molecule], device: torch.device) -> Molecules:
        """In the order of the drugs."""
        sizes = torch.tensor([len(one.atoms) for one in molecules], device=device)
        looped = [_with_loops(one) for one in molecules]
        counts = torch.tensor([one.shape[1] for one in looped], device=device)
        source, target, opposite, kinds = torch.from_numpy(np.concatenate(looped, axis=1)).to(device)
        absolute = target + _before(sizes).repeat_interleave(counts)
        edges = Edges(source, target, _starts(torch.bincount(absolute, minlength=int(sizes.sum()))), opposite)
        atoms = torch.from_numpy(np.concatenate([one.atoms for one in molecules])).to(device)
        owner = torch.arange(len(molecules), device=device).repeat_interleave(sizes)
        return cls(Graph(atoms, owner, _starts(sizes), edges, kinds), _starts(counts))

    def among(self, pairs: Tensor) -> tuple[Graph, Tensor]:
        """The graph of the distinct drugs of these pairs, and the pairs in its numbers."""
        drugs, places = torch.unique(pairs, return_inverse=True)
        return self.take(drugs), places

    def take(self, drugs: Tensor) -> Graph:
        """The graph of these drugs, in this order."""
        whole, edges = self.graph, self.graph.edges
        atoms, sizes = members(whole.starts, drugs)
        places, counts = members(self.edge_starts, drugs)
        by_atoms, by_edges = (_before(one).repeat_interleave(counts) for one in (sizes, counts))
        taken = Edges(
            edges.source[places] + by_atoms,
            edges.target[places] + by_atoms,
            _starts(edges.starts[atoms + 1] - edges.starts[atoms]),
            edges.opposite[places] + by_edges,
        )
        owner = torch.arange(len(drugs), device=drugs.device).repeat_interleave(sizes)
        return Graph(whole.atoms[atoms], owner, _starts(sizes), taken, whole.kinds[places])


def _with_loops(molecule: Molecule) -> npt.NDArray[np.int64]:
    """Sources, targets, opposites and kinds of all edges, by target, then source."""
    loops = np.arange(len(molecule.atoms))
    source, target = np.concatenate([molecule.bonds, [loops, loops]], axis=1)
    kinds = np.concatenate([molecule.kinds, np.zeros_like(loops)])
    order = np.lexsort((source, target))
    source, target = source[order], target[order]
    # sorted by source, then target, an edge stands where its opposite does in the order used here
    return np.stack([source, target, np.lexsort((target, source)), kinds[order]])


def _before(sizes: Tensor) -> Tensor:
    return sizes.cumsum(0) - sizes


def _starts(sizes: Tensor) -> Tensor:
    return torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])


def members(starts: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """All places of the chosen segments, one after another, and the segments' sizes."""
    first = starts[chosen]
    sizes = starts[chosen + 1] - first
    places = torch.arange(int(sizes.sum()), device=chosen.device)
    return places + (first - _before(sizes)).repeat_interleave(sizes), sizes
