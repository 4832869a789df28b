"""A split of drug-target pairs: what is learned from, what is asked, and where the truth of each pair is.

The file is `<i4 [pairs, 4]`: part, drug, target and item, in the order of the task's original files. The item is
the row of the dataset's pairs; negatives and bindings that the dataset lacks have none.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData
from harness.base.npy import NotNpy, npy_bytes, read_header, read_npy
from harness.benchmarks.dti.dataset import DtiDataset

TRAIN, TEST = 0, 1
# in place of an item: a pair that does not bind, and one that binds though the dataset does not say so
NEGATIVE, NEW = -1, -2

_CHUNK = 1 << 20

Rows = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PairSplit:
    """The rows of the file, read-only, and its sha256."""

    rows: Rows
    digest: str

    @cached_property
    def is_train(self) -> npt.NDArray[np.bool_]:
        """Which rows are learned from."""
        return np.equal(self.rows[:, 0], TRAIN)

    @property
    def train_pairs(self) -> Rows:
        """Drugs and targets that are learned from."""
        return self.rows[self.is_train, 1:3]

    @cached_property
    def asked(self) -> slice | npt.NDArray[np.int64]:
        """The rows that are asked, by drug and target: the order of files, bindings first, would tell the truth.

        A slice where they already lie so, as all pairs of many drugs and targets do.
        """
        start = len(self.rows) - self.test
        if not self.is_train[start:].any() and _is_sorted(self.rows[start:, 1:3]):
            return slice(start, None)
        rows = np.flatnonzero(~self.is_train)
        return rows[np.lexsort((self.rows[rows, 2], self.rows[rows, 1]))]

    @property
    def test_pairs(self) -> Rows:
        """Drugs and targets that are asked, in the order of an answer."""
        return np.ascontiguousarray(self.rows[self.asked, 1:3])

    @property
    def training(self) -> int:
        """How many pairs train."""
        return int(self.is_train.sum())

    @property
    def test(self) -> int:
        """How many pairs are asked of a method."""
        return len(self.rows) - self.training

    def values_on(self, dataset: DtiDataset) -> npt.NDArray[np.float64]:
        """The truth of every row."""
        items = self.rows[:, 3]
        return np.where(items >= 0, dataset.values[np.maximum(items, 0)], (items == NEW).astype(np.float64))


def _is_sorted(pairs: Rows) -> bool:
    """Whether no pair stands behind a larger one."""
    for start in range(0, len(pairs), _CHUNK):
        drugs, targets = pairs[start : start + _CHUNK + 1].T
        rises = (drugs[:-1] < drugs[1:]) | ((drugs[:-1] == drugs[1:]) & (targets[:-1] <= targets[1:]))
        if not rises.all():
            return False
    return True


def pair_split(rows: npt.NDArray[np.integer]) -> PairSplit:
    """A split with its digest."""
    own: Rows = np.ascontiguousarray(rows, dtype="<i4").reshape(-1, 4)
    own.setflags(write=False)
    return PairSplit(own, hashlib.sha256(npy_bytes(own)).hexdigest())


def split_of_items(dataset: DtiDataset, test: npt.NDArray[np.bool_]) -> PairSplit:
    """A split of the dataset's own pairs, those to ask last."""
    items = np.arange(len(dataset.pairs))
    parts = test.astype(np.int32)
    rows = np.column_stack([parts, dataset.pairs, items])
    return pair_split(rows[np.argsort(parts, kind="stable")])


def read_pairs(path: Path) -> PairSplit:
    """A split file from anywhere, checked for its form."""
    try:
        shape = read_header(path)[1]
        if len(shape) != 2 or shape[1] != 4:
            raise NotNpy(f"has the shape {shape} instead of four columns")
        return pair_split(read_npy(path, "<i4", shape))
    except OSError as error:
        raise CorruptData(f"the split can't be read: {error.strerror}", where=str(path)) from None
    except NotNpy as error:
        raise CorruptData(
            f"the split file {error}", where=str(path), todo="make it again with `harness split make`"
        ) from None


def broken_promises(split: PairSplit, dataset: DtiDataset) -> list[str]:
    """What every split promises, as `PairForm.broken_promises` says."""
    parts, drugs, targets, items = split.rows.T
    broken = [f"part {code} has no meaning" for code in np.unique(parts[(parts != TRAIN) & (parts != TEST)])]
    for name, numbers, least, end in (
        ("drug", drugs, 0, dataset.drugs),
        ("target", targets, 0, dataset.targets),
        ("item", items, NEW, len(dataset.pairs)),
    ):
        if outside := int(((numbers < least) | (numbers >= end)).sum()):
            broken.append(f"{outside} rows name no {name} of the dataset")
    if broken:
        return broken
    own = items >= 0
    wrong = np.flatnonzero((dataset.pairs[items[own]] != split.rows[own, 1:3]).any(axis=1))
    if len(wrong):
        broken.append(
            f"{len(wrong)} rows are of another pair than their item, row {np.flatnonzero(own)[wrong[0]]} for one"
        )
    keys = drugs.astype(np.int64) * dataset.targets + targets
    is_item = np.isin(keys, dataset.pairs[:, 0].astype(np.int64) * dataset.targets + dataset.pairs[:, 1])
    if hidden := int((~own & is_item).sum()):
        broken.append(f"{hidden} rows are pairs of the dataset without their item")
    if twice := len(keys) - len(np.unique(keys)):
        broken.append(f"{twice} pairs are there twice")
    if not split.training:
        broken.append("there is no training pair")
    if not split.test:
        broken.append("there is no test pair")
    return broken
