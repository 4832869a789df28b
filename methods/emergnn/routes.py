"""Which messages a batch of pairs needs, layer by layer, so that nothing else is computed.

For a pair (u, v) the published network computes, for every node e and layer l,

    h_e^0 = [e = u] h_u,    h_e^l = relu(W^l sum over edges (s, r, e) of a_r^l(u, v) * h_s^(l-1) * h_r^l)

and reads h_v^L; a_r^l is the pair's gate for the relation r, * multiplies element by element, and W^l has a bias.
The same plainly, node by node and edge by edge: tests/methods/plain_emergnn.py.

A pair is asked in both directions: messages start at one drug only and are read at the other only. So in the first
layer only neighbours of the start receive anything, and neighbours of one class the same; all other nodes hold one
and the same constant. In the last layer only edges into the end count, before it only edges into its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from graph import Graph
from ragged import Array, elements
from reach import Reach
from sparse_products import Fixed
from torch import Tensor


@dataclass(frozen=True)
class Layer:
    """Vectors are collected into groups, each group is multiplied by its relation and its gate, and groups are
    summed to the next vectors. `gates` are places in a table of pairs x relations.
    """

    collect: Fixed
    relations: Tensor
    gates: Tensor
    combine: Fixed
    # of the first layer: which vectors are not the constant
    reached: Tensor | None = None


@dataclass(frozen=True)
class Routes:
    """All that batches of certain pairs share."""

    graph: Graph
    layers: int
    reach: Reach

    @classmethod
    def of(cls, graph: Graph, pairs: Array, layers: int) -> Routes:
        """For batches of these pairs, in both directions."""
        both = np.concatenate([pairs, pairs[:, ::-1]])
        # a single layer has no second one
        return cls(graph, layers, Reach.of(graph, both if layers > 1 else both[:0], layers))

    def batch(self, pairs: Array) -> list[Layer]:
        """The layers, first to last, for pairs head -> tail, followed by the same pairs tail -> head."""
        start, end = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
        if self.layers == 1:
            return [self._only(start, end)]
        # from the last layer to the second: whose node, which node
        owner, node, later = np.arange(len(start)), end, []
        for _ in range(self.layers - 2):
            layer, owner, node = self._later(len(pairs), owner, node)
            later.append(layer)
        first, begins = self._first(start)
        return [first, self._second(start, begins, owner, node), *reversed(later)]

    def _only(self, start: Array, end: Array) -> Layer:
        """A single layer: edges from start to end."""
        out = self.graph.out
        edges, row = elements(out.starts, start)
        kept = out.nodes[edges] == end[row]
        edges, row = edges[kept], row[kept]
        combine = _sums(row, np.arange(len(edges)), out.counts[edges], (len(start), len(edges)))
        return self._layer(_picked(row, len(start)), out.relations[edges], row % (len(start) // 2), combine)

    def _first(self, start: Array) -> tuple[Layer, Array]:
        """From every start to the classes of its neighbours; the last row of each start is the value shared by all
        nodes that receive no message. And where the vectors of each start begin.
        """
        graph = self.graph
        classes, sender = elements(graph.class_starts, start)
        members, row = elements(graph.member_starts, classes)
        begins = np.searchsorted(sender, np.arange(len(start) + 1)) + np.arange(len(start) + 1)
        place = np.arange(len(classes)) + sender
        reached = np.zeros(begins[-1], dtype=bool)
        reached[place] = True
        layer = self._layer(
            _picked(sender[row], len(start)),
            graph.member_relations[members],
            sender[row] % (len(start) // 2),
            _sums(place[row], np.arange(len(members)), graph.member_counts[members], (begins[-1], len(members))),
            torch.from_numpy(reached),
        )
        return layer, begins

    def _second(self, start: Array, begins: Array, owner: Array, node: Array) -> Layer:
        """From classes to nodes as often as `reach` says, and from the constant along every edge into a node."""
        graph, reach = self.graph, self.reach
        some, row = reach.elements(start[owner] * graph.nodes + node)
        every, target = elements(graph.profile_starts, node)
        used = np.concatenate(
            [
                begins[owner[row]] * graph.relations + reach.codes[some],
                (begins[owner[target] + 1] - 1) * graph.relations + graph.profile_relations[every],
            ]
        )
        groups, group = _numbered(used, begins[-1] * graph.relations)
        vector, relation = np.divmod(groups, graph.relations)
        counts = np.concatenate([reach.counts[some], graph.profile_counts[every]])
        return self._layer(
            _picked(vector, begins[-1]),
            relation,
            (np.searchsorted(begins, vector, side="right") - 1) % (len(start) // 2),
            _sums(np.concatenate([row, target]), group, counts, (len(node), len(groups))),
        )

    def _later(self, pairs: int, owner: Array, node: Array) -> tuple[Layer, Array, Array]:
        """Messages into these nodes, grouped by node and relation, and the nodes that they come from."""
        graph, into = self.graph, self.graph.into
        edges, row = elements(into.starts, node)
        groups, group = np.unique(row * graph.relations + into.relations[edges], return_inverse=True)
        before, source = np.unique(owner[row] * graph.nodes + into.nodes[edges], return_inverse=True)
        row, relation = np.divmod(groups, graph.relations)
        collect = _sums(group, source, into.counts[edges], (len(groups), len(before)))
        layer = self._layer(collect, relation, owner[row] % pairs, _picked(row, len(node)).turned)
        return layer, *np.divmod(before, graph.nodes)

    def _layer(
        self, collect: Fixed, relations: Array, pair: Array, combine: Fixed, reached: Tensor | None = None
    ) -> Layer:
        gates = torch.from_numpy(pair * self.graph.relations + relations)
        return Layer(collect, torch.from_numpy(relations), gates, combine, reached)


def _numbered(values: Array, size: int) -> tuple[Array, Array]:
    """Distinct values below `size`, ascending, and the place of each value among them, without sorting."""
    flags = np.zeros(size, dtype=bool)
    flags[values] = True
    distinct = np.flatnonzero(flags)
    places = np.empty(size, dtype=np.int32)
    places[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, places[values]


def _sums(rows: Array, columns: Array, counts: Array, shape: tuple[int, int]) -> Fixed:
    """Row i of a product is the sum of count x row j over all elements (i, j, count)."""
    row, column = (torch.from_numpy(np.asarray(one, dtype=np.int32)) for one in (rows, columns))
    return Fixed.of(row, column, torch.from_numpy(np.asarray(counts, dtype=np.float32)), shape)


def _picked(places: Array, size: int) -> Fixed:
    """Row i of a product is row `places[i]` of so many; turned, the sum of all rows picked from the same place."""
    return _sums(np.arange(len(places)), places, np.ones(len(places)), (len(places), size))
