"""A drug's graph in one of TIGER's channels: nodes, and the paths along which they attend to each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """Ordered pairs of nodes (source, target), each with a value and a relation; a pair may come several times."""

    source: Integers
    target: Integers
    value: npt.NDArray[np.float32]
    relation: Integers

    @classmethod
    def of(cls, ends: Integers, value: npt.ArrayLike, relation: npt.ArrayLike) -> Links:
        """From sources over targets."""
        told = np.asarray(value, dtype=np.float32), np.asarray(relation, dtype=np.int64)
        return cls(ends[0], ends[1], *told)

    def by_target(self) -> Links:
        """In order of target, source, relation."""
        order = np.lexsort((self.relation, self.source, self.target))
        return Links(self.source[order], self.target[order], self.value[order], self.relation[order])

    def opposites(self) -> Integers:
        """Of links by target the places of those that go the other way; each has one."""
        # in order of source, target, relation a link stands where its opposite does in the order it has
        return np.lexsort((self.relation, self.target, self.source))

    def counts(self, nodes: int) -> Integers:
        """How many links go from a node (column) to another (row)."""
        found = np.zeros((nodes, nodes), dtype=np.int64)
        np.add.at(found, (self.target, self.source), 1)
        return found


@dataclass(frozen=True)
class Graph:
    """Nodes are features (<f4 [nodes, features]) or ids (<i8 [nodes]); `degree` counts edges that end in a node.

    `own` is the place of the drug itself, where it is one of the nodes.
    """

    nodes: npt.NDArray[np.float32] | Integers
    degree: Integers
    paths: Links
    own: int = 0

    def groups(self) -> tuple[Integers, Links]:
        """A number per node, and what is missing for paths to join all nodes of a number once: `value` times more.

        Nearly all graphs are pieces in which every node has one path to every node, so that sums over paths are
        sums over pieces; the links are the few exceptions.
        """
        counts = self.paths.counts(len(self.nodes))
        _, group = connected_components(coo_array(counts), directed=False)
        missing = counts - (group[:, None] == group)
        target, source = missing.nonzero()
        value = missing[target, source]
        return group.astype(np.int64), Links.of(np.stack([source, target]), value, np.zeros(len(value)))


def distances(ends: Integers, nodes: int) -> npt.NDArray[np.float64]:
    """Lengths of shortest paths between all nodes, infinite where there is none; edges go both ways."""
    joined = coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(nodes, nodes)).tocsr()
    found: npt.NDArray[np.float64] = shortest_path(joined, directed=False, unweighted=True)
    return found
