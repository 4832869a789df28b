"""Splits of drug repurposing are fold matrices: one small integer per pair of a drug and a disease."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.benchmarks.contract import Form, Strategy
from harness.benchmarks.repurposing.splits import folds
from harness.benchmarks.repurposing.splits.folds import Folds, Split
from harness.benchmarks.repurposing.splits.seeds import published_seeds

if TYPE_CHECKING:
    from harness.base.manifests import Strict
    from harness.benchmarks.repurposing.dataset import RepurposingDataset


class FoldForm(Form["RepurposingDataset", Split]):
    """A strategy makes the matrix; its digest follows from it. A hundred seeds are published."""

    def published_seeds(self) -> tuple[int, ...]:
        """The 100 seeds of the paper."""
        return published_seeds()

    def finish(self, made: Folds) -> Split:
        """The matrix with its digest; read-only."""
        made.setflags(write=False)
        return Split(folds=made, digest=folds.digest_of_folds(made))

    def made(self, split: Split) -> Folds:
        """The matrix."""
        return split.folds

    def content(self, split: Split) -> bytes:
        """The split file."""
        return folds.split_bytes(split.folds)

    def read(self, path: Path, load: Callable[[], RepurposingDataset]) -> Split:
        """A split file from anywhere, checked for its form."""
        return folds.read_split(path)

    def fits(self, split: Split, dataset: RepurposingDataset) -> bool:
        """Whether there is a fold for every pair."""
        return split.folds.shape == dataset.associations.shape

    def broken_promises(self, split: Split, dataset: RepurposingDataset) -> list[str]:
        """A fold for every pair, test and training pairs, inner folds whole and alike in size and in labels."""
        return folds.broken_promises(split.folds, dataset.associations)

    def describe(
        self, split: Split, dataset: RepurposingDataset, strategy: Strategy, parameters: Strict
    ) -> dict[str, dict[str, Any]]:
        """Numbers of pairs."""
        return {"pairs": {"training": split.training, "test": split.test}}


FORM = FoldForm()
