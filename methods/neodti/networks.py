"""The eight networks of NeoDTI between drugs, targets, diseases and side effects, out of a dataset's relations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from dti_sdk import Array, Pairs, Problem

KINDS = ("drug", "target", "disease", "effect")
# the kinds that a network joins, in the order in which the original makes its projections
NETWORKS = {
    "drug-drug": ("drug", "drug"),
    "drug-similarity": ("drug", "drug"),
    "drug-disease": ("drug", "disease"),
    "drug-effect": ("drug", "effect"),
    "target-target": ("target", "target"),
    "target-similarity": ("target", "target"),
    "target-disease": ("target", "disease"),
    "drug-target": ("drug", "target"),
}
# who hears from whom over which network, in the order in which the original makes its weights
MESSAGES = (
    ("drug", "drug-drug", "drug"),
    ("drug", "drug-similarity", "drug"),
    ("drug", "drug-disease", "disease"),
    ("drug", "drug-effect", "effect"),
    ("drug", "drug-target", "target"),
    ("target", "target-target", "target"),
    ("target", "target-similarity", "target"),
    ("target", "target-disease", "disease"),
    ("target", "drug-target", "drug"),
    ("disease", "drug-disease", "drug"),
    ("disease", "target-disease", "target"),
    ("effect", "drug-effect", "drug"),
)
BINDINGS = "drug-target"
RELATIONS = [name for name in NETWORKS if name != BINDINGS and "similarity" not in name]


@dataclass(frozen=True)
class Network:
    """The cells of a matrix that are not zero."""

    rows: Array
    columns: Array
    values: Array
    shape: tuple[int, int]

    @classmethod
    def of(cls, dense: Array) -> Network:
        """The same as a matrix holds."""
        rows, columns = np.nonzero(dense)
        return cls(rows, columns, np.asarray(dense[rows, columns], dtype=np.float64), dense.shape)

    @property
    def dense(self) -> Array:
        """All cells."""
        matrix = np.zeros(self.shape)
        matrix[self.rows, self.columns] = self.values
        return matrix

    @property
    def turned(self) -> Network:
        """The transpose."""
        return Network(self.columns, self.rows, self.values, self.shape[::-1])

    @property
    def without_diagonal(self) -> Network:
        """No node is its own neighbour."""
        kept = self.rows != self.columns
        return replace(self, rows=self.rows[kept], columns=self.columns[kept], values=self.values[kept])

    @property
    def row_normalised(self) -> Network:
        """Rows that sum to 1, or to 0 where they are empty."""
        sums = np.bincount(self.rows, weights=self.values, minlength=self.shape[0]) + 1e-12
        return replace(self, values=self.values / sums[self.rows])


def networks_of(problem: Problem, train: Pairs) -> dict[str, Network]:
    """Those of the eight that the dataset has, with the bindings of training; other relations are left out."""
    edges, names = np.asarray(problem.inputs["edges"]), list(problem.inputs["relation_names"])
    targets = problem.drugs + np.arange(problem.targets)
    ends = {name: _ends(edges, names, kinds) for name, kinds in NETWORKS.items() if name in RELATIONS}
    members = {"drug": np.arange(problem.drugs), "target": targets}
    for kind in KINDS[2:]:
        nodes = [pairs[:, 1] for name, pairs in ends.items() if NETWORKS[name][1] == kind]
        members[kind] = np.unique(np.concatenate(nodes))
    networks = {
        name: _joined(pairs, *(members[kind] for kind in NETWORKS[name]), own=_is_own(name))
        for name, pairs in ends.items()
        if len(pairs)
    }
    for kind in ("drug", "target"):
        similarity = np.asarray(problem.inputs[f"{kind}_similarity"])
        if similarity.size:
            # the diagonal is neither sent along nor reconstructed
            networks[f"{kind}-similarity"] = Network.of(similarity).without_diagonal
    if not networks:
        raise ValueError(
            "NeoDTI learns from networks, and this dataset has none but its bindings: choose one with a "
            f"similarity of drugs or of targets, or one of the relations {', '.join(RELATIONS)}"
        )
    bound = train.values != 0
    networks[BINDINGS] = Network(*train.pairs[bound].T, train.values[bound], (problem.drugs, problem.targets))
    return networks


def counts_of(networks: Mapping[str, Network]) -> dict[str, int]:
    """How many nodes of each kind there are."""
    counts = dict.fromkeys(KINDS, 0)
    for name, network in networks.items():
        counts |= dict(zip(NETWORKS[name], network.shape, strict=True))
    return counts


def messages_of(networks: Mapping[str, Network]) -> dict[tuple[str, str], Network]:
    """By receiver and network: the weights of what each receiver hears, which sum to 1."""
    return {
        (kind, name): (networks[name] if NETWORKS[name][0] == kind else networks[name].turned).row_normalised
        for kind, name, _ in MESSAGES
        if name in networks
    }


def _ends(edges: Array, names: list[str], kinds: tuple[str, str]) -> Array:
    """Both ends of a relation's edges, whichever way round its name has the two kinds."""
    pairs = [np.empty((0, 2), dtype=np.int64)]
    for number, name in enumerate(names):
        one, _, other = name.partition("-")
        if kinds in ((one, other), (other, one)):
            found = edges[edges[:, 0] == number, 1:].astype(np.int64)
            pairs.append(found if kinds == (one, other) else found[:, ::-1])
    return np.concatenate(pairs)


def _joined(pairs: Array, rows: Array, columns: Array, *, own: bool) -> Network:
    """Ones where two nodes are linked; both ways, and nothing on the diagonal, where both are of one kind."""
    places = np.stack(
        [np.searchsorted(kind, end) for kind, end in zip((rows, columns), pairs.T, strict=True)], axis=1
    )
    places = np.unique(np.concatenate([places, places[:, ::-1]]) if own else places, axis=0)
    network = Network(*places.T, np.ones(len(places)), (len(rows), len(columns)))
    return network.without_diagonal if own else network


def _is_own(name: str) -> bool:
    one, other = NETWORKS[name]
    return one == other
