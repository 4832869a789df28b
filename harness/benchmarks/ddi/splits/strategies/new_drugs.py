"""Drugs of which no interaction is known are new: for using a method, not for judging it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.base.errors import DataError
from harness.base.manifests import Strict
from harness.benchmarks.ddi.splits.drugs.deal import HELD_OUT
from harness.benchmarks.ddi.splits.parts import (
    KNOWN,
    TEST_NEW,
    TRAIN,
    VALID_NEW,
    VALID_S0,
    expected_parts,
    part_split,
)

if TYPE_CHECKING:
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.splits.parts import Codes, PartSplit

SUMMARY = "drugs without a known interaction are new, their pairs are asked (for `harness predict`; has no truth)"


class Parameters(Strict):
    """There is nothing to choose."""


def make(dataset: DdiDataset, seed: int, parameters: Parameters) -> PartSplit:
    """A tenth of the drugs that interact, and of the other drugs' items, are kept to choose a model by."""
    new = _without_items(dataset)
    if not new.any():
        raise DataError(
            "every drug has a known interaction: none is new",
            where=f"dataset {dataset.name}",
            todo="name what you ask about: --drug NAME, --pair NAME NAME, or one of your own: --drug NAME=SMILES",
        )
    generator = np.random.RandomState(seed)
    roles = np.where(new, TEST_NEW, KNOWN).astype(np.int32)
    known = np.flatnonzero(~new)
    roles[generator.permutation(known)[: int(HELD_OUT * len(known))]] = VALID_NEW
    items = expected_parts(dataset.pairs, roles)
    among = generator.permutation(np.flatnonzero(items == TRAIN))
    items[among[: int(HELD_OUT * len(among))]] = VALID_S0
    return part_split(roles, items)


def broken_promises(dataset: DdiDataset, made: PartSplit, parameters: Parameters) -> list[str]:
    """The new drugs are those without an interaction, and no others."""
    same = ((made.drugs == TEST_NEW) == _without_items(dataset)).all()
    return [] if same else ["the new drugs are not exactly those without an interaction"]


def _without_items(dataset: DdiDataset) -> Codes:
    new = np.ones(dataset.drugs, dtype=bool)
    new[dataset.pairs.reshape(-1)] = False
    return new
