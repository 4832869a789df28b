"""Splits of a benchmark's own class, where shared functions promise no more than a split."""

from __future__ import annotations

from harness.benchmarks import Split
from harness.benchmarks.ddi.splits.parts import PartSplit
from harness.benchmarks.repurposing.splits.folds import FoldSplit


def as_folds(split: Split) -> FoldSplit:
    """A split of `repurposing`."""
    assert isinstance(split, FoldSplit)
    return split


def as_parts(split: Split) -> PartSplit:
    """A split of `ddi`."""
    assert isinstance(split, PartSplit)
    return split
