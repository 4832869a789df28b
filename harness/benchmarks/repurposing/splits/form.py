"""Splits of drug repurposing are fold matrices: one small integer per pair of a drug and a disease."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.benchmarks.contract import Form, Strategy
from harness.benchmarks.repurposing.splits import folds
from harness.benchmarks.repurposing.splits.folds import FoldSplit
from harness.benchmarks.repurposing.splits.seeds import published_seeds

if TYPE_CHECKING:
    from harness.base.manifests import Strict
    from harness.benchmarks.repurposing.dataset import RepurposingDataset


class FoldForm(Form["RepurposingDataset", FoldSplit]):
    """A hundred seeds are published."""

    def published_seeds(self) -> tuple[int, ...]:
        """The 100 seeds of the paper."""
        return published_seeds()

    def content(self, split: FoldSplit) -> bytes:
        """The split file."""
        return folds.split_bytes(split.folds)

    def read(self, path: Path, load: Callable[[], RepurposingDataset]) -> FoldSplit:
        """A split file from anywhere, checked for its form."""
        return folds.read_split(path)

    def fits(self, split: FoldSplit, dataset: RepurposingDataset) -> bool:
        """Whether there is a fold for every pair."""
        return split.folds.shape == dataset.associations.shape

    def broken_promises(self, split: FoldSplit, dataset: RepurposingDataset) -> list[str]:
        """A fold for every pair, test and training pairs, inner folds whole and alike in size and in labels."""
        return folds.broken_promises(split.folds, dataset.associations)

    def describe(
        self,
        split: FoldSplit,
        dataset: RepurposingDataset,
        strategy: Strategy[RepurposingDataset, FoldSplit],
        parameters: Strict,
    ) -> dict[str, dict[str, Any]]:
        """Numbers of pairs."""
        return {"pairs": {"training": split.training, "test": split.test}}


FORM = FoldForm()
