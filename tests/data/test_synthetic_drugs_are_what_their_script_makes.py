"""The embedded drugs must be those of the script beside them, learnable, and odd as methods must bear it."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.data import load_dataset
from tests.data.generators import generator_of


@pytest.fixture
def script(repository: Layout) -> ModuleType:
    """The generator, as a module."""
    return generator_of(repository, "synthetic_ddi")


def test_tables_are_made_again_byte_for_byte(repository: Layout, script: ModuleType) -> None:
    for dataset, files in script.tables().items():
        for file, content in files.items():
            assert (repository.datasets / dataset / file).read_bytes() == content, f"{dataset}/{file}"


def test_types_follow_from_substructures(repository: Layout) -> None:
    """Half of the items tell the other half by the most similar drugs, far better than chance."""
    dataset = load_dataset(repository, "synthetic_ddi", DdiDataset)
    counts = dataset.fingerprints.astype(np.float64)
    counts /= np.linalg.norm(counts, axis=1, keepdims=True)
    alike = counts @ counts.T
    train, test = np.arange(0, len(dataset.pairs), 2), np.arange(1, len(dataset.pairs), 2)
    (heads, tails), (other_heads, other_tails) = dataset.pairs[train].T, dataset.pairs[test].T
    nearest = train[(alike[np.ix_(other_heads, heads)] * alike[np.ix_(other_tails, tails)]).argmax(axis=1)]
    right = (dataset.labels[nearest] == dataset.labels[test]).mean()
    assert right > 3 * np.bincount(dataset.labels).max() / len(dataset.labels)


@pytest.mark.parametrize("name", ["synthetic_ddi", "synthetic_ddi_multilabel"])
def test_odd_drugs_are_among_them(repository: Layout, name: str) -> None:
    dataset = load_dataset(repository, name, DdiDataset)
    assert "[Li+]" in dataset.smiles and any("." in smiles for smiles in dataset.smiles)
    assert "" in dataset.drug_texts
    linked = set(dataset.knowledge[:, :2].ravel().tolist())
    assert any(drug not in linked for drug in range(dataset.drugs))
    positives = (dataset.labels > 0).sum(axis=0) if dataset.multilabel else np.bincount(dataset.labels)
    assert positives.min() == 1, "a type with a single item is absent from some training set"
    several = (
        (dataset.labels > 0).sum(axis=1).max() > 1
        if dataset.multilabel
        else len(np.unique(dataset.pairs, axis=0)) < len(dataset.pairs)
    )
    assert several
