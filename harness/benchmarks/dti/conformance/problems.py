"""Made-up problems with what real data have: single atoms, odd sequences, nodes that training does not know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from harness.base.input_files import Array
from harness.benchmarks.dti import BENCHMARK
from harness.benchmarks.dti.dataset import DtiDataset, Integers, Numbers
from harness.benchmarks.dti.splits.pairs import NEGATIVE, PairSplit, pair_split, split_of_items, with_negatives
from harness.conformance.checks import MadeUp

# small real molecules: single atoms, an ion pair, fragments, charges, rings, and elements beyond the usual
_KNOWN = """
CCO CC(=O)O [Li+] [Na+].[Cl-] c1ccccc1 CC(=O)Nc1ccc(O)cc1 CC(=O)Oc1ccccc1C(=O)O NCCO C[N+](C)(C)CCO
CN1C=NC2=C1C(=O)N(C)C(=O)N2C OCC(O)CO NC(=O)N CS(C)=O ClC(Cl)Cl O OP(O)(O)=O C1CCNCC1 c1ccncc1 CCN(CC)CC.Cl
OC(=O)CCC(O)=O CC(C)C(N)C(O)=O OB(O)c1ccccc1 CC(C)Cc1ccc(cc1)C(C)C(O)=O
"""
# the last drug is in no pair: its structure may be unknown
SMILES = (*_KNOWN.split(), "")
_DRUGS, _TARGETS, _OTHERS, _EDGES, _KINDS = len(SMILES), 18, 12, 160, 3
_RESIDUES = tuple("ACDEFGHIKLMNPQRSTVWY")
_RELATIONS = ("drug-drug", "drug-disease", "drug-effect", "target-target", "target-disease")
# of each kind of nodes those that may be in an edge: the last drugs and targets have none
_ENDS = {
    "drug": (0, _DRUGS - 3),
    "target": (_DRUGS, _DRUGS + _TARGETS - 3),
    "disease": (_DRUGS + _TARGETS, _DRUGS + _TARGETS + _OTHERS // 2),
    "effect": (_DRUGS + _TARGETS + _OTHERS // 2, _DRUGS + _TARGETS + _OTHERS),
}
# the last drug and the last target are in no pair; those before them are asked about, and in no training pair
_NEW_NODES = (_DRUGS - 2, _TARGETS - 2)
_SHARE, _CHANCE, _ASKED = 0.7, 0.1, 40


class Problem(MadeUp[DtiDataset, PairSplit]):
    """Made-up pairs of drugs and targets, and a split of them."""

    benchmark = BENCHMARK

    def with_other_test_labels(self) -> Problem:
        """The same problem, the truth turned round: what binds does not, strong is weak."""
        dataset, rows = self.dataset, self.split.rows.copy()
        asked = np.flatnonzero(~self.split.is_train)
        items = rows[asked, 3]
        own, negatives = asked[items >= 0], asked[items == NEGATIVE]
        if dataset.affinity:
            values = dataset.values.copy()
            values[rows[own, 3]] *= -1
            return Problem(replace(dataset, values=values), self.split)
        pairs = dataset.pairs.copy()
        pairs[rows[own, 3]] = rows[negatives, 1:3]
        rows[negatives, 3], rows[own, 3] = rows[own, 3], NEGATIVE
        return Problem(replace(dataset, pairs=pairs), pair_split(rows))

    def metrics(self, answer: Mapping[str, Array]) -> Mapping[str, float | None]:
        """The scores of an answer, by the truth."""
        return BENCHMARK.scoring.score(self.dataset, self.split, answer["scores.npy"], {})[0]


def bindings() -> Problem:
    """Drugs and targets of three kinds bind their like; as many pairs that do not bind are asked, all behind."""
    generator = np.random.default_rng(20260211)
    drugs, targets = (generator.permutation(count) % _KINDS for count in (_DRUGS, _TARGETS))
    same = drugs[:, None] == targets
    binds = generator.random(same.shape) < np.where(same, _SHARE, _CHANCE)
    pairs, free = (generator.permutation(np.argwhere(chosen[:-1, :-1])) for chosen in (binds, ~binds))
    test = _asked(pairs)
    dataset = _dataset(pairs, np.ones(len(pairs)), generator)
    return Problem(dataset, with_negatives(split_of_items(dataset, test), free[: int(test.sum())]))


def affinities() -> Problem:
    """Measured values of most pairs; many are the lowest that can be measured."""
    generator = np.random.default_rng(20260212)
    levels = np.add.outer(*(generator.permutation(count) % _KINDS for count in (_DRUGS, _TARGETS)))
    pairs = np.argwhere(generator.random(levels[:-1, :-1].shape) < _SHARE)
    values = np.maximum(4 + levels[tuple(pairs.T)] + generator.normal(scale=0.3, size=len(pairs)), 5)
    dataset = _dataset(pairs, values, generator)
    return Problem(dataset, split_of_items(dataset, _asked(pairs)))


def _asked(pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """All pairs of the new drug and target, and the first others."""
    test: npt.NDArray[np.bool_] = (pairs == _NEW_NODES).any(axis=1)
    test[np.flatnonzero(~test)[: _ASKED - int(test.sum())]] = True
    return test


def _dataset(pairs: npt.NDArray[np.int64], values: Numbers, generator: np.random.Generator) -> DtiDataset:
    """A dataset of these pairs; one sequence is short, one long, and one has letters beyond the usual."""
    lengths = [3, 1200, *generator.integers(20, 60, _TARGETS - 3).tolist()]
    sequences = ["".join(generator.choice(_RESIDUES, length)) for length in lengths]
    sequences[2] = f"{sequences[2][:9]}XUBZ"
    drugs, targets, nodes = (
        tuple(f"{kind} {number}" for number in range(count))
        for kind, count in (("drug", _DRUGS), ("target", _TARGETS), ("node", _OTHERS))
    )
    edges = _network(generator)
    halves = [np.triu(generator.random((count, count)), 1) for count in (_DRUGS, _TARGETS)]
    similarities = [half + half.T + np.eye(len(half)) for half in halves]
    return DtiDataset(
        name="made-up",
        pairs=pairs.astype(np.int32),
        values=values,
        drug_ids=drugs,
        target_ids=targets,
        smiles=SMILES,
        sequences=(*sequences, ""),
        edges=edges,
        node_names=nodes,
        relation_names=_RELATIONS,
        drug_similarity=similarities[0],
        target_similarity=similarities[1],
    )


def _network(generator: np.random.Generator) -> Integers:
    """Edges of all relations, not two of the same; some nodes have none."""
    edges: set[tuple[int, int, int]] = set()
    while len(edges) < _EDGES:
        relation = int(generator.integers(len(_RELATIONS)))
        head, tail = (int(generator.integers(*_ENDS[kind])) for kind in _RELATIONS[relation].split("-"))
        if head != tail and (relation, tail, head) not in edges:
            edges.add((relation, head, tail))
    return np.array(sorted(edges), dtype=np.int32)
