"""A dataset that says which of its pairs to test on. No score depends on that: scorers do not know this class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from harness.benchmarks.repurposing.dataset import Labels, RepurposingDataset


@dataclass(frozen=True, eq=False)
class ReleasedDataset(RepurposingDataset):
    """Of every pair, in the codes of a fold matrix: it tests (-1), trains (0), or no line names it (-2).

    Most data say nothing.
    """

    released: Labels | None = None

    @property
    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """Every array in the type it is kept in."""
        parts = {} if self.released is None else {"released": self.released.astype("|i1", copy=False)}
        return {**super().arrays, **parts}
