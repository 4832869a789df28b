"""What arrives in the second layer: how often each class of a drug's neighbours sends to a node, by relation.

Counted once per graph for every drug that messages start at, because many pairs share a drug.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from graph import Graph
from ragged import Array, changes, elements


@dataclass(frozen=True)
class Reach:
    """Rows by start and node, sorted by `keys`: start x nodes + node. Elements: a class of the start's neighbours,
    counted within the start, with a relation (`codes` = class x relations + relation), and how often.
    """

    keys: Array
    starts: Array
    codes: Array
    counts: Array

    @classmethod
    def of(cls, graph: Graph, pairs: Array, layers: int) -> Reach:
        """From the first drug of each pair to the nodes whose second layer matters to the other drug."""
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        groups = np.split(pairs, changes(pairs[:, 0])[1:])
        found = [_from(graph, int(some[0, 0]), some[:, 1], layers - 2) for some in groups if len(some)]
        keys, lengths, codes, counts = (
            np.concatenate([one[place] for one in found]) if found else pairs[:0, 0] for place in range(4)
        )
        return cls(keys, np.append(0, np.cumsum(lengths)), codes, counts)

    def elements(self, keys: Array) -> tuple[Array, Array]:
        """The places of all elements of the rows with these keys, and for each the place of its key."""
        place = np.searchsorted(self.keys, keys)
        there = np.flatnonzero(self.keys.take(place, mode="clip") == keys) if len(self.keys) else place[:0]
        found, owner = elements(self.starts, place[there])
        return found, there[owner]


def _from(graph: Graph, start: int, ends: Array, steps: int) -> tuple[Array, Array, Array, Array]:
    """Keys and lengths of the rows of one start, codes and counts of their elements."""
    for _ in range(steps):
        ends = np.flatnonzero(_flags(graph.nodes, graph.into.nodes[elements(graph.into.starts, ends)[0]]))
    links = np.arange(graph.link_starts[start], graph.link_starts[start + 1])
    edges, link = elements(graph.out.starts, graph.link_nodes[links])
    kept = np.flatnonzero(_flags(graph.nodes, ends)[graph.out.nodes[edges]])
    edges, link = edges[kept], links[link[kept]]
    classes = graph.link_classes[link] - graph.class_starts[start]
    width = (int(classes.max(initial=0)) + 1) * graph.relations
    key = graph.out.nodes[edges] * width + classes * graph.relations + graph.out.relations[edges]
    # sorting key and count as one number needs no permutation
    counts = graph.out.counts[edges]
    bits = int(counts.max(initial=0)).bit_length()
    both = np.sort(key << bits | counts)
    key, counts = both >> bits, both & ((1 << bits) - 1)
    first = changes(key)
    nodes, codes = np.divmod(key[first], width)
    rows = changes(nodes)
    return (
        start * graph.nodes + nodes[rows],
        np.diff(rows, append=len(nodes)),
        codes.astype(np.int32),
        np.add.reduceat(counts, first).astype(np.int32) if len(first) else counts.astype(np.int32),
    )


def _flags(size: int, places: Array) -> Array:
    flags = np.zeros(size, dtype=bool)
    flags[places] = True
    return flags
