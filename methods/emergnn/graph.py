"""The graph messages travel on: interactions and knowledge in both directions, and a loop at every node.

Equal edges are one edge with a count, because their messages are summed. For the first layer the neighbours of a
drug fall into classes: those it is joined to by the same relations receive the same message.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ragged import Array, changes, starts_of


@dataclass(frozen=True)
class Numbering:
    """Which id a relation has. Of a multilabel dataset all types of interaction are relation 0, both ways, and the
    knowledge graph's ids are used as they are, so that its relation 0 is one with the interactions.
    """

    types: int
    kinds: int
    multilabel: bool

    @property
    def loop(self) -> int:
        """The relation of a node to itself, the highest id."""
        return 2 * (self.types + self.kinds) - self.types * self.multilabel

    @property
    def count(self) -> int:
        """How many relations there are, with inverses and loops."""
        return self.loop + 1

    def knowledge(self, triplets: Array) -> Array:
        """A knowledge graph's triplets (head, tail, kind from 0) under their ids here."""
        return triplets if self.multilabel else triplets + np.array([0, 0, self.types])

    def edges(self, facts: Array, knowledge: Array, nodes: int) -> Array:
        """Source, target, relation of every edge: from head to tail, back by the inverse relation, and loops."""
        inverse = self.types + self.kinds - self.types * self.multilabel
        there = [facts * np.array([1, 1, not self.multilabel]), knowledge]
        back = [
            there[0] + np.array([0, 0, inverse * (not self.multilabel)]),
            knowledge + np.array([0, 0, inverse]),
        ]
        loops = np.repeat(np.arange(nodes), 3).reshape(-1, 3)
        loops[:, 2] = self.loop
        return np.concatenate([*there, *(one[:, [1, 0, 2]] for one in back), loops])


@dataclass(frozen=True)
class Edges:
    """Edges in rows, one row per node: the node at the other end, relation, count."""

    starts: Array
    nodes: Array
    relations: Array
    counts: Array


@dataclass(frozen=True)
class Graph:
    """Edges by source (`out`) and by target (`into`); how many arrive at a node by each relation, whoever sends;
    and of every drug the classes of its neighbours.
    """

    nodes: int
    relations: int
    out: Edges
    into: Edges
    # rows by node; relations and counts
    profile_starts: Array
    profile_relations: Array
    profile_counts: Array
    # rows by drug: each neighbour once, with its class
    link_starts: Array
    link_nodes: Array
    link_classes: Array
    # rows by drug: its classes; rows by class: relations and counts
    class_starts: Array
    member_starts: Array
    member_relations: Array
    member_counts: Array

    @classmethod
    def of(cls, edges: Array, nodes: int, relations: int, drugs: int) -> Graph:
        """From edges (source, target, relation), of which drugs send first."""
        source, target, relation = edges.T
        keys, counts = np.unique((source * nodes + target) * relations + relation, return_counts=True)
        pairs, relation = np.divmod(keys, relations)
        source, target = np.divmod(pairs, nodes)
        out = Edges(starts_of(source, nodes), target, relation, counts)
        order = np.lexsort((source, target))
        into = Edges(starts_of(target[order], nodes), source[order], relation[order], counts[order])
        arriving, place = np.unique(target * relations + relation, return_inverse=True)
        totals = np.bincount(place, weights=counts).astype(np.int64)
        return cls(
            nodes,
            relations,
            out,
            into,
            starts_of(arriving // relations, nodes),
            arriving % relations,
            totals,
            *_classes(out, drugs),
        )


def _classes(out: Edges, drugs: int) -> tuple[Array, ...]:
    """Links of drugs to their neighbours, and their classes: equal lists of relations and counts, drug by drug."""
    used = slice(out.starts[drugs])
    source = np.repeat(np.arange(drugs), np.diff(out.starts[: drugs + 1]))
    target, relation, counts = out.nodes[used], out.relations[used], out.counts[used]
    first = changes(source * (target.max(initial=0) + 1) + target)
    lengths = np.diff(first, append=len(target))
    letters = np.unique(np.stack([relation, counts]), axis=1, return_inverse=True)[1].reshape(-1)
    # a list's name grows letter by letter; the drug comes first, so that names stay sorted by drug
    names = source[first]
    for place in range(int(lengths.max(initial=0))):
        letter = np.where(lengths > place, letters[np.minimum(first + place, len(letters) - 1)] + 1, 0)
        names = np.unique(names * (len(letters) + 1) + letter, return_inverse=True)[1]
    _, example, classes = np.unique(names, return_index=True, return_inverse=True)
    lengths = lengths[example]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    members = np.arange(starts[-1]) + np.repeat(first[example] - starts[:-1], lengths)
    owners = source[first]
    return (
        starts_of(owners, drugs),
        target[first],
        classes,
        starts_of(owners[example], drugs),
        starts,
        relation[members],
        counts[members],
    )
