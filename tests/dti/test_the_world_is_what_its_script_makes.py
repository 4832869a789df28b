"""The embedded world must be that of the script beside it, learnable, odd, and large enough for every test."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.metrics.bindings import area_under_roc, threshold_counts
from harness.benchmarks.dti.splits.strategies import (
    annotated_pairs,
    connectivity,
    drug_classes,
    general,
    new_pairs,
    single_nodes,
    target_classes,
)
from harness.data import load_dataset
from harness.planning.suites import load_suite
from harness.splits.spec import parse_split
from tests.data.generators import generator_of

NAMES = ("dti_world", "dti_world_affinity")
SPACES = ("TEO", "TRO", "TEE", "TRE")


@pytest.fixture
def script(repository: Layout) -> ModuleType:
    """The generator, as a module."""
    return generator_of(repository, "dti_world")


@pytest.fixture
def world(repository: Layout) -> DtiDataset:
    return load_dataset(repository, "dti_world", DtiDataset)


def test_tables_are_made_again_byte_for_byte(repository: Layout, script: ModuleType) -> None:
    tables = script.tables()
    assert set(tables) == set(NAMES)
    for dataset, files in tables.items():
        for file, content in files.items():
            assert (repository.datasets / dataset / file).read_bytes() == content, f"{dataset}/{file}"


@pytest.mark.parametrize("end", [0, 1])
def test_bindings_follow_from_both_ends(world: DtiDataset, end: int) -> None:
    """What is similar to a binding's drug, or target, binds, far better than chance."""
    known = np.zeros((world.drugs, world.targets))
    known[tuple(world.pairs.T)] = 1
    alike = (world.drug_similarity, world.target_similarity)[end].copy()
    np.fill_diagonal(alike, 0)
    # what is hardly similar counts little
    scores = alike**4 @ known if end == 0 else known @ alike**4
    several = (known.sum(axis=1) > 1)[:, None] & (known.sum(axis=0) > 1)
    assert area_under_roc(threshold_counts(known[several] > 0, scores[several])) > 0.65


def test_affinities_follow_from_both_ends(repository: Layout) -> None:
    dataset = load_dataset(repository, "dti_world_affinity", DtiDataset)
    assert dataset.affinity and sorted(set(dataset.released.tolist())) == [-1, 0, 1, 2, 3, 4]
    alike = dataset.drug_similarity[dataset.pairs[:, 0]][:, dataset.pairs[:, 0]]
    same = dataset.pairs[:, 1][:, None] == dataset.pairs[:, 1]
    alike = np.where(same & ~np.eye(len(same), dtype=bool), alike, -1)
    nearest = dataset.values[alike.argmax(axis=1)]
    assert np.corrcoef(nearest, dataset.values)[0, 1] > 0.5


@pytest.mark.parametrize("name", NAMES)
def test_odd_drugs_and_targets_are_among_them(repository: Layout, name: str) -> None:
    dataset = load_dataset(repository, name, DtiDataset)
    assert "[Li+]" in dataset.smiles and any("." in smiles for smiles in dataset.smiles)
    lengths = [len(sequence) for sequence in dataset.sequences]
    assert max(lengths) > 1000 and any("X" in sequence for sequence in dataset.sequences)
    assert {"drug-drug", "drug-disease", "drug-effect", "target-target", "target-disease"} < set(
        dataset.relation_names
    )
    unpaired = [
        set(range(count)) - set(column.tolist()) for count, column in zip((64, 48), dataset.pairs.T, strict=True)
    ]
    assert all(unpaired), "`harness predict` asks about these"


def _tasks() -> list[tuple[Any, Mapping[str, Any]]]:
    tasks: list[tuple[Any, Mapping[str, Any]]] = [(general, {"fold": fold}) for fold in range(10)]
    spaces = ("TT", "TC", "TA", "CC", "CA", "AA", "SS", "SU", "DI")
    tasks += [(connectivity, {"space": space, "fold": fold}) for space in spaces for fold in range(2)]
    tasks += [(family, {"space": space}) for family in (drug_classes, target_classes) for space in SPACES]
    tasks += [(single_nodes, {"kind": kind, "rank": rank}) for kind in ("drug", "target") for rank in range(10)]
    tasks += [(new_pairs, {"space": space, "rank": rank}) for space in SPACES for rank in range(5)]
    return tasks + [(annotated_pairs, {"space": space, "rank": rank}) for space in SPACES for rank in range(10)]


def test_every_test_has_bindings_and_negatives(world: DtiDataset) -> None:
    for strategy, parameters in _tasks():
        split = strategy.make(world, 1024, strategy.Parameters(**parameters))
        truth = split.values_on(world)[~split.is_train]
        assert truth.any() and not truth.all(), (strategy.__name__, parameters)


def test_the_smoke_suite_asks_all_seven_tests() -> None:
    asked = {parse_split(split, 1).strategy for block in load_suite("dti-smoke").blocks for split in block.splits}
    tests = (annotated_pairs, connectivity, drug_classes, general, new_pairs, single_nodes, target_classes)
    assert asked == {strategy.__name__.rpartition(".")[2] for strategy in tests} | {"released"}


def test_the_suites_ask_the_344_tasks_of_the_paper_once() -> None:
    splits = [
        (split, dataset)
        for number in range(7)
        for block in load_suite(f"dti-test{number}").blocks
        for split in block.splits
        for dataset in block.datasets
    ]
    assert len(splits) == len(set(splits)) == 344
    assert not any(block.methods for number in range(7) for block in load_suite(f"dti-test{number}").blocks)
    whole = {split for block in load_suite("full").blocks if block.benchmark == "dti" for split in block.splits}
    assert {split for split, _ in splits} <= whole
