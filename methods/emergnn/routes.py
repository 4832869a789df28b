"""Which messages a batch of pairs needs, layer by layer, so that nothing else is computed.

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
from sums import Sums
from torch import Tensor


@dataclass(frozen=True)
class Layer:
    """Vectors are collected into groups, each group is multiplied by its relation and its gate, and groups are
    summed to the next vectors. `gates` are places in a table of pairs x relations.
    """

    collect: Sums
    relations: Tensor
    gates: Tensor
    combine: Sums
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
        owner, node, found = np.arange(len(start)), end, []
        for _ in range(self.layers - 2):
            layer, owner, node = self._later(len(pairs), owner, node)
            found.append(layer)
        if self.layers == 1:
            return [self._only(start, end)]
        return [*self._first_two(len(pairs), start, owner, node), *reversed(found)]

    def _later(self, pairs: int, owner: Array, node: Array) -> tuple[Layer, Array, Array]:
        """Messages into these nodes, grouped by target and relation, and the nodes that they come from."""
        into = self.graph.into
        edges, row = elements(into.starts, node)
        groups, group = np.unique(row * self.graph.relations + into.relations[edges], return_inverse=True)
        sources = owner[row] * self.graph.nodes + into.nodes[edges]
        before, source = np.unique(sources, return_inverse=True)
        row, relation = np.divmod(groups, self.graph.relations)
        layer = self._layer(
            Sums.of(group, source, into.counts[edges], (len(groups), len(before))),
            relation,
            owner[row] % pairs,
            Sums.of(row, np.arange(len(groups)), np.ones(len(groups)), (len(node), len(groups))),
        )
        return layer, *np.divmod(before, self.graph.nodes)

    def _only(self, start: Array, end: Array) -> Layer:
        """A single layer: edges from start to end."""
        out = self.graph.out
        edges, row = elements(out.starts, start)
        kept = out.nodes[edges] == end[row]
        edges, row = edges[kept], row[kept]
        shape, each = (len(edges), len(start)), np.arange(len(edges))
        return self._layer(
            Sums.of(each, row, np.ones(len(edges)), shape),
            out.relations[edges],
            row % (len(start) // 2),
            Sums.of(row, each, out.counts[edges], shape[::-1]),
        )

    def _first_two(self, pairs: int, start: Array, owner: Array, node: Array) -> list[Layer]:
        """From the starts to classes of their neighbours and the constant, and from these to the nodes."""
        graph, reach = self.graph, self.reach
        classes, sender = elements(graph.class_starts, start)
        members, row = elements(graph.member_starts, classes)
        # behind a start's classes comes the constant, to which nothing is sent
        offset = np.arange(len(classes)) + sender
        first = np.searchsorted(sender, np.arange(len(start) + 1)) + np.arange(len(start) + 1)
        vectors, each = int(first[-1]), np.arange(len(members))
        reached = np.zeros(vectors, dtype=bool)
        reached[offset] = True
        one = self._layer(
            Sums.of(each, sender[row], np.ones(len(members)), (len(members), len(start))),
            graph.member_relations[members],
            sender[row] % pairs,
            Sums.of(offset[row], each, graph.member_counts[members], (vectors, len(members))),
            torch.from_numpy(reached),
        )
        found, place = reach.elements(start[owner] * graph.nodes + node)
        always, row = elements(graph.profile_starts, node)
        keys = np.concatenate(
            [
                first[owner[place]] * graph.relations + reach.codes[found],
                (first[owner[row] + 1] - 1) * graph.relations + graph.profile_relations[always],
            ]
        )
        flags = np.zeros(vectors * graph.relations, dtype=bool)
        flags[keys] = True
        groups = np.flatnonzero(flags)
        numbers = np.zeros(len(flags), dtype=np.int32)
        numbers[groups] = np.arange(len(groups))
        vector, relation = np.divmod(groups, graph.relations)
        sender = np.searchsorted(first, vector, side="right") - 1
        two = self._layer(
            Sums.of(np.arange(len(groups)), vector, np.ones(len(groups)), (len(groups), vectors)),
            relation,
            sender % pairs,
            Sums.of(
                np.concatenate([place, row]),
                numbers[keys],
                np.concatenate([reach.counts[found], graph.profile_counts[always]]),
                (len(node), len(groups)),
            ),
        )
        return [one, two]

    def _layer(
        self, collect: Sums, relations: Array, pair: Array, combine: Sums, reached: Tensor | None = None
    ) -> Layer:
        gates = torch.from_numpy(pair * self.graph.relations + relations)
        return Layer(collect, torch.from_numpy(relations), gates, combine, reached)
