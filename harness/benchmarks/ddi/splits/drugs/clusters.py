"""Clusters of drugs: the connected components of the graph that joins drugs more similar than gamma (Algorithm 1).

Edges are merged as they are found and then forgotten, so that memory grows with the drugs and not with the edges.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.benchmarks.ddi.splits.drugs.similarity import Counts, similar_pairs

Integers = npt.NDArray[np.int64]

_EDGES_AT_ONCE = 1 << 20


def clusters_of(fingerprints: Counts, gamma: float) -> Integers:
    """The number of every drug's cluster; clusters are numbered by their first drug."""
    clusters = np.arange(len(fingerprints))
    first: list[Integers] = []
    second: list[Integers] = []
    waiting = 0
    for piece in similar_pairs(fingerprints, gamma):
        new = clusters[piece.first] != clusters[piece.second]
        first.append(piece.first[new])
        second.append(piece.second[new])
        waiting += int(new.sum())
        if waiting >= _EDGES_AT_ONCE:
            clusters = _merged(clusters, first, second)
            first, second, waiting = [], [], 0
    return _numbered(_merged(clusters, first, second) if waiting else clusters)


def _merged(clusters: Integers, first: list[Integers], second: list[Integers]) -> Integers:
    """The clusters after more edges: components of the graph whose nodes are the clusters."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = clusters[np.concatenate(first)], clusters[np.concatenate(second)]
    size = len(clusters)
    graph = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(size, size))
    joined = connected_components(graph, directed=False)[1]
    return np.asarray(joined[clusters], dtype=np.int64)


def _numbered(clusters: Integers) -> Integers:
    """The same clusters, numbered in the order of their first drugs."""
    _, first, inverse = np.unique(clusters, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return np.asarray(numbers[inverse], dtype=np.int64)
