"""The pairs that a method must score, in an order that tells nothing of labels, and their items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.splits.parts import KNOWN, TEST_NEW, TEST_S1, TEST_S2, VALID_NEW, PartSplit

Integers = npt.NDArray[np.int64]

# The settings that are asked: a known drug with a new one, two new ones. S0, two known drugs, is not.
SETTINGS = {1: TEST_S1, 2: TEST_S2}


@dataclass(frozen=True, eq=False)
class AskedPairs:
    """The distinct ordered pairs of the test items, sorted by setting, head and tail."""

    pairs: npt.NDArray[np.int32]
    setting: npt.NDArray[np.int8]
    # of each setting: its items in their order, and the row of each one's pair
    items: Mapping[int, Integers]
    rows: Mapping[int, Integers]


def asked_pairs(dataset: DdiDataset, split: PartSplit) -> AskedPairs:
    """The pairs of the test items of a split, or where it has no test items, all pairs with new drugs."""
    items = {setting: split.items_in(part) for setting, part in SETTINGS.items()}
    wanted = {setting: dataset.pairs[chosen] for setting, chosen in items.items()}
    new = split.drugs_in(TEST_NEW)
    if not split.test and not np.isin(dataset.pairs, new).any():
        wanted = _all_pairs(split)
    pairs, settings, rows, before = [], [], {}, 0
    for setting, chosen in wanted.items():
        distinct, inverse = np.unique(chosen, axis=0, return_inverse=True)
        rows[setting] = before + inverse.reshape(-1)
        before += len(distinct)
        pairs.append(distinct)
        settings.append(np.full(len(distinct), setting, dtype=np.int8))
    return AskedPairs(np.concatenate(pairs), np.concatenate(settings), items, rows)


def _all_pairs(split: PartSplit) -> dict[int, npt.NDArray[np.int32]]:
    """Every pair of a new drug with one that is not, then of two new drugs, in both orders."""
    new = split.drugs_in(TEST_NEW)
    others = np.flatnonzero(np.isin(split.drugs, (KNOWN, VALID_NEW)))
    mixed = np.stack(np.meshgrid(new, others, indexing="ij"), axis=-1).reshape(-1, 2)
    both = np.stack(np.meshgrid(new, new, indexing="ij"), axis=-1).reshape(-1, 2)
    one, two = SETTINGS
    return {
        one: np.concatenate([mixed, mixed[:, ::-1]]).astype(np.int32),
        two: both[both[:, 0] != both[:, 1]].astype(np.int32),
    }
