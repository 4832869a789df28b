"""Splits of drug-target pairs list the pairs of a task in the order of its original files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.base.npy import npy_bytes
from harness.benchmarks.contract import Form, Strategy
from harness.benchmarks.dti.splits.pairs import NEW, TEST, TRAIN, PairSplit, read_pairs

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
