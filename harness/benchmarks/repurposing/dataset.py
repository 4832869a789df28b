"""The converted form of a repurposing dataset: drugs in rows, diseases in columns, nothing imputed, read-only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.benchmarks.repurposing.statistics import RepurposingStatistics

Labels = npt.NDArray[np.int8]
Features = npt.NDArray[np.float64]

ARRAYS = {"associations": "|i1", "drug_features": "<f8", "disease_features": "<f8"}
NAMES = ("drug_ids", "disease_ids", "drug_feature_names", "disease_feature_names")


@dataclass(frozen=True, eq=False)
class RepurposingDataset:
    """Associations in {-1, 0, +1} and features (NaN where unknown), with the names of rows and columns."""

    name: str
    associations: Labels
    drug_features: Features
    disease_features: Features
    drug_ids: tuple[str, ...]
    disease_ids: tuple[str, ...]
    drug_feature_names: tuple[str, ...]
    disease_feature_names: tuple[str, ...]
    digest: str = ""
    remarks: tuple[str, ...] = field(default=())

    @property
    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """Every array in the type it is kept in."""
        return {name: getattr(self, name).astype(dtype, copy=False) for name, dtype in ARRAYS.items()}

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Every list of texts."""
        return {name: getattr(self, name) for name in NAMES}

    def statistics(self, *, associated: bool = False) -> RepurposingStatistics:
        """What the arrays show, of all drugs and diseases or of those with an association."""
        known = self.associations != 0
        return RepurposingStatistics(
            associated=associated,
            drugs=int(known.any(axis=1).sum()) if associated else known.shape[0],
            diseases=int(known.any(axis=0).sum()) if associated else known.shape[1],
            positives=int((self.associations == 1).sum()),
            negatives=int((self.associations == -1).sum()),
            drug_features=self.drug_features.shape[1],
            disease_features=self.disease_features.shape[1],
        )
