"""The two files as the authors of the data released them; the seed plays no part."""

from __future__ import annotations

import numpy as np

from harness.base.errors import UsageError
from harness.base.manifests import Strict
from harness.benchmarks.combos.dataset import TEST_FILE, CombosDataset
from harness.benchmarks.combos.splits.form import DocumentSplit, split_of

SUMMARY = "learn from the released training file, ask for the test file"


class Parameters(Strict):
    """There are none."""


def make(dataset: CombosDataset, seed: int, parameters: Parameters) -> DocumentSplit:
    """Nothing is drawn: the parts are numbered as the files."""
    if not (dataset.released == TEST_FILE).any():
        what = f"dataset '{dataset.name}' was released without a test file"
        raise UsageError(what, where="split released", todo="choose another strategy, such as random")
    return split_of(dataset.released)


def broken_promises(dataset: CombosDataset, split: DocumentSplit, parameters: Parameters) -> list[str]:
    """Every document is in the part of its file."""
    return [] if np.array_equal(split.parts, dataset.released) else ["the parts are not those of the two files"]
