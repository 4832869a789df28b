"""The graph that Decagon learns on, and of its convolutions what reaches a drug.

A node's second layer needs the first layer of those with an edge to it, and that needs the features of those with
an edge to them. Most edges start at drugs, so most other nodes reach nobody and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ddi_sdk import Array, Problem
from ddi_training import fingerprints
from sparse_rows import SparseRows

# CrC, CtD, CbG, CuG, CpD and CdG of Hetionet's relations
RELATIONS = (1, 5, 6, 7, 10, 18)


@dataclass(frozen=True)
class Neighbours:
    """Which nodes' first layers and features are needed (ascending ids), and what sums them up."""

    near: Array
    far: Array
    first: SparseRows
    second: SparseRows

    @classmethod
    def of(cls, edges: Array, nodes: int, wanted: int) -> Neighbours:
        """For the first so many nodes. Edges are (source, target); each node gets a loop besides those it has.

        A message weighs 1 / sqrt of both ends' numbers of incoming edges.
        """
        loops = np.arange(nodes)
        source, target = np.concatenate([edges, [loops, loops]], axis=1)
        share = np.bincount(target, minlength=nodes) ** -0.5
        weight = share[source] * share[target]
        second = target < wanted
        near = np.unique(source[second])
        first = np.isin(target, near)
        far = np.unique(source[first])

        def rows(kept: Array, targets: Array, sources: Array) -> SparseRows:
            places = np.searchsorted(targets, target[kept]), np.searchsorted(sources, source[kept])
            return SparseRows(*places, weight[kept], (len(targets), len(sources)))

        return cls(near, far, rows(first, near, far), rows(second, np.arange(wanted), near))


def graph_of(problem: Problem) -> tuple[Neighbours, int]:
    """Training pairs, from head to tail whatever their type, and the knowledge graph; and how many nodes it has.

    Nodes are the drugs, then the other entities of these relations, in ascending order.
    """
    train, knowledge = problem.train, np.asarray(problem.inputs["knowledge"]).astype(np.int64)
    has = (train.labels > 0).any(axis=1) if problem.multilabel else np.ones(len(train.pairs), dtype=bool)
    known = knowledge[np.isin(knowledge[:, 2], RELATIONS), :2]
    others = np.unique(known[known >= problem.drugs])
    numbered = np.where(known < problem.drugs, known, problem.drugs + np.searchsorted(others, known))
    nodes = problem.drugs + len(others)
    return Neighbours.of(np.concatenate([train.pairs[has], numbered]).T, nodes, problem.drugs), nodes


def features_of(problem: Problem, graph: Neighbours, nodes: int) -> Array:
    """The far nodes' features: drugs' fingerprints; of other entities Xavier's uniform numbers, never trained."""
    prints = fingerprints(problem)
    bound = np.sqrt(6 / (nodes + prints.shape[1]))
    others = np.random.uniform(-bound, bound, (int((graph.far >= problem.drugs).sum()), prints.shape[1]))
    return np.concatenate([prints[graph.far[graph.far < problem.drugs]], others.astype(np.float32)])
