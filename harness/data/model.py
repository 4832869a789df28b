"""The converted form of a repurposing dataset: drugs in rows, diseases in columns, nothing imputed, read-only."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.data.manifest import Statistics
from harness.data.npy import npy_bytes
from harness.files import digest_of

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

    def statistics(self, *, associated: bool = False) -> Statistics:
        """What the arrays show, of all drugs and diseases or of those with an association."""
        known = self.associations != 0
        return Statistics(
            associated=associated,
            drugs=int(known.any(axis=1).sum()) if associated else known.shape[0],
            diseases=int(known.any(axis=0).sum()) if associated else known.shape[1],
            positives=int((self.associations == 1).sum()),
            negatives=int((self.associations == -1).sum()),
            drug_features=self.drug_features.shape[1],
            disease_features=self.disease_features.shape[1],
        )


def content_digest(dataset: RepurposingDataset) -> str:
    """A hash over every value and name; the dataset's own name is not content."""
    content: dict[str, Any] = {
        name: hashlib.sha256(npy_bytes(getattr(dataset, name).astype(dtype))).hexdigest()
        for name, dtype in ARRAYS.items()
    }
    for name in NAMES:
        content[name] = list(getattr(dataset, name))
    return digest_of(content)
