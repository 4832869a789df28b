"""A split of drug-target pairs: what is learned from, what is asked, and where the truth of each pair is.

The file is `<i4 [pairs, 4]`: part, drug, target and item, in the order of the task's original files. The item is
the row of the dataset's pairs; negatives and bindings that the dataset lacks have none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData
from harness.base.manifests import Strict
from harness.base.npy import NotNpy, npy_bytes, read_header, read_npy
from harness.benchmarks.contract import Form, Strategy
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
    parts = (pairs[start : start + _CHUNK + 1].astype(np.int64) for start in range(0, len(pairs), _CHUNK))
    return all((np.diff(part[:, 0] << 32 | part[:, 1]) >= 0).all() for part in parts)


def pair_split(rows: npt.NDArray[np.integer]) -> PairSplit:
    """A split with its digest: the sha256 of its file, which is not made, for it may be of a gigabyte."""
    own: Rows = np.ascontiguousarray(rows, dtype="<i4").reshape(-1, 4)
    own.setflags(write=False)
    # blanks behind a longer shape are fewer: the start of the file stays as long as it is
    shape = b"(%d, 4), }" % len(own)
    start = npy_bytes(own[:0]).replace(b"(0, 4), }".ljust(len(shape)), shape)
    content = hashlib.sha256(start)
    content.update(own.data)
    return PairSplit(own, content.hexdigest())


def split_of_items(dataset: DtiDataset, test: npt.NDArray[np.bool_]) -> PairSplit:
    """A split of the dataset's own pairs, those to ask last."""
    items = np.arange(len(dataset.pairs))
    parts = test.astype(np.int32)
    rows = np.column_stack([parts, dataset.pairs, items])
    return pair_split(rows[np.argsort(parts, kind="stable")])


def with_negatives(split: PairSplit, pairs: npt.NDArray[np.integer]) -> PairSplit:
    """The split with these pairs behind its own, to ask: they do not bind."""
    asked, none = (np.full(len(pairs), number) for number in (TEST, NEGATIVE))
    return pair_split(np.concatenate([split.rows, np.column_stack([asked, pairs, none])]))


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
        todo = "make it again with `harness split make`"
        raise CorruptData(f"the split file {error}", where=str(path), todo=todo) from None


class PairForm(Form[DtiDataset, PairSplit]):
    """Strategies make tasks whole. The usual seed is that of the original generator."""

    usual_seed = 1024

    def content(self, split: PairSplit) -> bytes:
        """The split file."""
        return npy_bytes(split.rows)

    def read(self, path: Path, load: Callable[[], DtiDataset]) -> PairSplit:
        """A split file from anywhere, checked for its form."""
        return read_pairs(path)

    def fits(self, split: PairSplit, dataset: DtiDataset) -> bool:
        """Whether the dataset has every drug, target and item of the split."""
        most = split.rows.max(axis=0, initial=-1)
        return bool((most[1:] < (dataset.drugs, dataset.targets, len(dataset.pairs))).all())

    def broken_promises(self, split: PairSplit, dataset: DtiDataset) -> list[str]:
        """Every row is a pair of the dataset's drugs and targets, once, with its own item if the dataset has the
        pair; there are training and test pairs."""
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
        wrong = np.flatnonzero(own)[(dataset.pairs[items[own]] != split.rows[own, 1:3]).any(axis=1)]
        hidden = int((~own & dataset.known[drugs, targets]).sum())
        twice = len(parts) - len(np.unique(drugs.astype(np.int64) * dataset.targets + targets))
        faults = (
            (len(wrong), f"rows are of another pair than their item, row {min(wrong, default=0)} for one"),
            (hidden, "rows are pairs of the dataset without their item"),
            (twice, "pairs are there twice"),
        )
        broken += [f"{count} {what}" for count, what in faults if count]
        counts = ("training", split.training), ("test", split.test)
        return broken + [f"there is no {part} pair" for part, count in counts if not count]

    def describe(
        self, split: PairSplit, dataset: DtiDataset, strategy: Strategy[DtiDataset, PairSplit], parameters: Strict
    ) -> dict[str, dict[str, Any]]:
        """Pairs, bindings, drugs and targets of both parts, and how much of the test part is new."""
        values, nodes = split.values_on(dataset), {"drugs": split.rows[:, 1], "targets": split.rows[:, 2]}
        table: dict[str, dict[str, Any]] = {
            name: {
                "pairs": int(rows.sum()),
                "positives": int((values[rows] > 0).sum()),
                "negatives": int((values[rows] == 0).sum()),
                **{kind: len(np.unique(numbers[rows])) for kind, numbers in nodes.items()},
            }
            for name, rows in (("train", split.is_train), ("test", ~split.is_train))
        }
        for kind, numbers in nodes.items():
            table["test"][f"new {kind}"] = len(np.setdiff1d(numbers[~split.is_train], numbers[split.is_train]))
        return table


FORM = PairForm()
