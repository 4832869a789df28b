"""Made-up datasets of drug interactions for the tests of splits: fingerprints in families, items at random."""

from __future__ import annotations

import numpy as np

from harness.benchmarks.ddi.dataset import DdiDataset

# Rings and chains, some of them twice, some without a ring.
SMILES = (
    "c1ccccc1",
    "Cc1ccccc1",
    "Clc1ccccc1",
    "c1ccncc1",
    "Cc1ccncc1",
    "C1CCCCC1",
    "OC1CCCCC1",
    "c1ccc2ccccc2c1",
    "CCO",
    "CCN",
    "CC(=O)O",
    "C1CCNCC1",
)


def made_up_drugs(
    drugs: int, seed: int, *, items: int = 400, types: int = 5, multilabel: bool = False, families: int = 0
) -> DdiDataset:
    """`drugs` drugs in about a third as many families, and at most `items` items."""
    generator = np.random.default_rng(seed)
    prototypes = generator.poisson(0.25, size=(families or max(drugs // 3, 1), 60))
    counts = prototypes[generator.integers(len(prototypes), size=drugs)]
    changed = generator.random(counts.shape) < generator.random(drugs)[:, None] * 0.3
    counts = np.where(changed, generator.poisson(0.25, size=counts.shape), counts)
    pairs = generator.integers(drugs, size=(items, 2))
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    kinds = generator.integers(types, size=len(pairs))
    signs = np.eye(types, dtype=np.int8)[kinds] * np.where(np.arange(len(pairs)) % 2, -1, 1)[:, None]
    years = np.where(generator.random(drugs) < 0.6, generator.integers(1982, 2025, size=drugs), 0)
    nothing = ("",) * drugs
    return DdiDataset(
        name="made",
        pairs=pairs.astype(np.int32),
        labels=signs.astype(np.int8) if multilabel else kinds.astype(np.int32),
        fingerprints=counts.astype(np.int32),
        knowledge=np.zeros((0, 3), dtype=np.int32),
        years=years.astype(np.int32),
        released=np.zeros((drugs + len(pairs), 0), dtype=np.int32),
        drug_ids=tuple(f"drug{number}" for number in range(drugs)),
        smiles=tuple(SMILES[number % len(SMILES)] for number in range(drugs)),
        drug_names=nothing,
        drug_texts=nothing,
        graph_texts=nothing,
        type_names=tuple(f"type{number}" for number in range(types)),
        entity_names=tuple(f"drug{number}" for number in range(drugs)),
        relation_names=(),
        released_names=(),
    )
