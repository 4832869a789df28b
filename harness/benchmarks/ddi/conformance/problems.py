"""Made-up problems with what real data have: single atoms, drugs of which nothing is known, types never trained.

The molecules are real ones, small enough for any method; which of them interact, and how, is drawn.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from harness.base.input_files import Array
from harness.benchmarks.ddi import BENCHMARK
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.parts import (
    KNOWN,
    OUTSIDE,
    TEST,
    TEST_NEW,
    TEST_S0,
    TEST_S2,
    TRAIN,
    VALID_NEW,
    VALID_S0,
    VALID_S2,
    PartSplit,
    expected_parts,
    part_split,
)
from harness.conformance.checks import MadeUp

# among them a single atom, an ion pair, two fragments, charges, rings, and elements beyond the usual
SMILES = (
    "CCO",
    "CC(=O)O",
    "[Li+]",
    "[Na+].[Cl-]",
    "c1ccccc1",
    "CC(=O)Nc1ccc(O)cc1",
    "CC(=O)Oc1ccccc1C(=O)O",
    "NCCO",
    "C[N+](C)(C)CCO",
    "CN1C=NC2=C1C(=O)N(C)C(=O)N2C",
    "OCC(O)CO",
    "NC(=O)N",
    "CS(C)=O",
    "ClC(Cl)Cl",
    "FC(F)F",
    "OP(O)(O)=O",
    "C1CCNCC1",
    "c1ccncc1",
    "CCN(CC)CC.Cl",
    "OC(=O)CCC(O)=O",
    "CC(C)C(N)C(O)=O",
    "C=CC=C",
    "C#N",
    "OB(O)c1ccccc1",
)
TYPES, RELATIONS = 7, 23
# the type of no training item
UNSEEN = TYPES - 1
WITHOUT_FINGERPRINT, WITHOUT_GRAPH_NODE, WITHOUT_TEXT = 5, 7, 9
_OTHER_ENTITIES, _EDGES, _FINGERPRINT = 12, 90, 32
_ROLES = np.repeat(np.array([KNOWN, VALID_NEW, TEST_NEW], dtype=np.int32), [16, 4, 4])
_PAIRS = 400


class Problem(MadeUp[DdiDataset, PartSplit]):
    """Made-up interactions, and a split of them."""

    benchmark = BENCHMARK

    def with_other_test_labels(self) -> Problem:
        """The same problem, with other types for every item that is not there to learn from or to choose by."""
        labels = self.dataset.labels.copy()
        test = np.isin(self.split.items, (*TEST, OUTSIDE))
        if self.dataset.multilabel:
            labels[test] = -np.roll(labels[test], 1, axis=1)
        else:
            labels[test] = (labels[test] + 1) % TYPES
        return Problem(replace(self.dataset, labels=labels), self.split)


def one_type() -> Problem:
    """An item has one type; some pairs have two, in two items."""
    generator = np.random.default_rng(20260104)
    pairs = _distinct_pairs(generator)
    parts = _held_out(expected_parts(pairs, _ROLES), generator)
    labels = _types_of(parts, generator)
    second = np.flatnonzero(generator.random(len(pairs)) < 0.1)
    pairs, parts = np.concatenate([pairs, pairs[second]]), np.concatenate([parts, parts[second]])
    labels = np.concatenate([labels, (labels[second] + 1) % UNSEEN])
    order = np.lexsort((labels, pairs[:, 1], pairs[:, 0]))
    return Problem(_dataset(pairs[order], labels[order]), part_split(_ROLES, parts[order]))


def several_types() -> Problem:
    """Pairs with several types; behind each a drawn pair of the same roles that stands for their absence."""
    generator = np.random.default_rng(20260105)
    positives = _distinct_pairs(generator)[::2]
    negatives = np.array([_alike(pair, generator) for pair in positives], dtype=np.int32)
    parts = _held_out(expected_parts(positives, _ROLES), generator)
    signs = (generator.random((len(positives), TYPES)) < 0.3).astype(np.int8)
    signs[np.arange(len(positives)), _types_of(parts, generator)] = 1
    signs[parts == TRAIN, UNSEEN] = 0
    pairs = np.stack([positives, negatives], axis=1).reshape(-1, 2)
    labels = np.stack([signs, -signs], axis=1).reshape(-1, TYPES)
    return Problem(_dataset(pairs, labels), part_split(_ROLES, np.repeat(parts, 2)))


def without_new_pairs() -> Problem:
    """No item joins two new drugs, neither to choose by nor to answer."""
    base = one_type()
    others = ~np.isin(base.split.items, (VALID_S2, TEST_S2))
    dataset = _dataset(base.dataset.pairs[others], base.dataset.labels[others])
    return Problem(dataset, part_split(base.split.drugs, base.split.items[others]))


def _distinct_pairs(generator: np.random.Generator) -> npt.NDArray[np.int32]:
    """Ordered pairs of two drugs, sorted."""
    heads, tails = np.nonzero(~np.eye(len(SMILES), dtype=bool))
    sample = np.sort(generator.choice(len(heads), size=_PAIRS, replace=False))
    return np.column_stack([heads, tails])[sample].astype(np.int32)


def _alike(pair: npt.NDArray[np.int32], generator: np.random.Generator) -> tuple[int, int]:
    """Another pair whose drugs have the same roles."""
    while True:
        head, tail = (int(generator.choice(np.flatnonzero(_ROLES[drug] == _ROLES))) for drug in pair)
        if head != tail:
            return head, tail


def _held_out(parts: npt.NDArray[np.int32], generator: np.random.Generator) -> npt.NDArray[np.int32]:
    """A tenth of the pairs of known drugs to choose by, a tenth for testing."""
    chance = generator.random(len(parts))
    train = parts == TRAIN
    codes = np.where(train & (chance < 0.1), VALID_S0, np.where(train & (chance > 0.9), TEST_S0, parts))
    return codes.astype(np.int32)


def _types_of(parts: npt.NDArray[np.int32], generator: np.random.Generator) -> npt.NDArray[np.int32]:
    """Types of unequal frequency; the unseen one stands at every fifth pair that does not train."""
    shares = np.arange(UNSEEN, 0, -1, dtype=np.float64)
    types = generator.choice(UNSEEN, size=len(parts), p=shares / shares.sum())
    types[np.flatnonzero(parts != TRAIN)[::5]] = UNSEEN
    return types.astype(np.int32)


def _dataset(pairs: npt.NDArray[np.int32], labels: Array) -> DdiDataset:
    generator = np.random.default_rng(20260106)
    drugs = len(SMILES)
    fingerprints = generator.poisson(0.5, size=(drugs, _FINGERPRINT)).astype(np.int32)
    fingerprints[WITHOUT_FINGERPRINT] = 0
    entities = drugs + _OTHER_ENTITIES
    ends = np.delete(np.arange(entities), WITHOUT_GRAPH_NODE)
    edges = [generator.choice(ends, size=_EDGES) for _ in range(2)]
    knowledge = np.column_stack([*edges, np.arange(_EDGES) % RELATIONS]).astype(np.int32)
    names = _names("Substance", drugs)
    texts = tuple(f"{name} is a made-up medicine. It is taken with water." for name in names)
    has_text = np.arange(drugs) != WITHOUT_TEXT
    return DdiDataset(
        name="made-up",
        pairs=pairs,
        labels=labels,
        fingerprints=fingerprints,
        knowledge=knowledge,
        years=np.zeros(drugs, dtype=np.int32),
        released=np.zeros((drugs + len(pairs), 0), dtype=np.int32),
        drug_ids=_names("drug", drugs),
        smiles=SMILES,
        drug_names=names,
        drug_texts=tuple(text if there else "" for text, there in zip(texts, has_text, strict=True)),
        graph_texts=tuple(
            f"{name} treats headache" if there else "" for name, there in zip(names, has_text, strict=True)
        ),
        type_names=_names("The one increases effect", TYPES),
        entity_names=_names("entity", entities),
        relation_names=_names("relation", RELATIONS),
        released_names=(),
    )


def _names(kind: str, count: int) -> tuple[str, ...]:
    return tuple(f"{kind} {number}" for number in range(count))
