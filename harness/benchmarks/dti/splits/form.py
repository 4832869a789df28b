"""Splits of drug-target pairs list the pairs of a task in the order of its original files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.base.npy import npy_bytes
from harness.benchmarks.contract import Form, Strategy
from harness.benchmarks.dti.splits import pairs
from harness.benchmarks.dti.splits.pairs import PairSplit

if TYPE_CHECKING:
    from harness.base.manifests import Strict
    from harness.benchmarks.dti.dataset import DtiDataset


class PairForm(Form["DtiDataset", PairSplit]):
    """Strategies make tasks whole. The usual seed is that of the original generator."""

    usual_seed = 1024

    def content(self, split: PairSplit) -> bytes:
        """The split file."""
        return npy_bytes(split.rows)

    def read(self, path: Path, load: Callable[[], DtiDataset]) -> PairSplit:
        """A split file from anywhere, checked for its form."""
        return pairs.read_pairs(path)

    def fits(self, split: PairSplit, dataset: DtiDataset) -> bool:
        """Whether the dataset has every drug, target and item of the split."""
        most = split.rows.max(axis=0, initial=-1)
        return bool((most[1:] < (dataset.drugs, dataset.targets, len(dataset.pairs))).all())

    def broken_promises(self, split: PairSplit, dataset: DtiDataset) -> list[str]:
        """Every row is a pair of the dataset's drugs and targets, once, with its own item if the dataset has the
        pair; there are training and test pairs."""
        return pairs.broken_promises(split, dataset)

    def describe(
        self, split: PairSplit, dataset: DtiDataset, strategy: Strategy[DtiDataset, PairSplit], parameters: Strict
    ) -> dict[str, dict[str, Any]]:
        """Pairs, bindings, drugs and targets of both parts, and how much of the test part is new."""
        values = split.values_on(dataset)
        parts = {"train": split.is_train, "test": ~split.is_train}
        table: dict[str, dict[str, Any]] = {}
        for name, rows in parts.items():
            table[name] = {
                "pairs": int(rows.sum()),
                "positives": int((values[rows] > 0).sum()),
                "negatives": int((values[rows] == 0).sum()),
                "drugs": len(np.unique(split.rows[rows, 1])),
                "targets": len(np.unique(split.rows[rows, 2])),
            }
        for column, kind in ((1, "drugs"), (2, "targets")):
            new = np.setdiff1d(split.rows[~split.is_train, column], split.rows[split.is_train, column])
            table["test"][f"new {kind}"] = len(new)
        return table


FORM = PairForm()
