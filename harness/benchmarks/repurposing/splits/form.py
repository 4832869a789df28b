"""Splits of drug repurposing are fold matrices: one small integer per pair of a drug and a disease."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.benchmarks.repurposing.splits import folds

if TYPE_CHECKING:
    from harness.benchmarks.repurposing.dataset import RepurposingDataset
    from harness.benchmarks.repurposing.splits.folds import Folds, Split
    from harness.splits.strategies import Strategy

SHARED: tuple[Path, ...] = ()
# There are a hundred published ones to choose from.
USUAL_SEED = None


def finish(made: Folds) -> Split:
    """The matrix with its digest; read-only."""
    made.setflags(write=False)
    return folds.Split(folds=made, digest=folds.digest_of_folds(made))


def made(split: Split) -> Folds:
    """The matrix."""
    return split.folds


def content(split: Split) -> bytes:
    """The split file."""
    return folds.split_bytes(split.folds)


def read(path: Path, load: Callable[[], RepurposingDataset]) -> Split:
    """A split file from anywhere, checked for its form."""
    return folds.read_split(path)


def fits(split: Split, dataset: RepurposingDataset) -> bool:
    """Whether there is a fold for every pair."""
    return split.folds.shape == dataset.associations.shape


def broken_promises(split: Split, dataset: RepurposingDataset) -> list[str]:
    """A fold for every pair, test and training pairs, inner folds whole and alike in size and in labels."""
    return folds.broken_promises(split.folds, dataset.associations)


def describe(
    split: Split, dataset: RepurposingDataset, strategy: Strategy, parameters: Any
) -> dict[str, dict[str, Any]]:
    """Numbers of pairs."""
    return {"pairs": {"training": split.training, "test": split.test}}
