"""Counts of a dataset of `repurposing`, and what its runs may be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from harness.benchmarks.contract import Options, Statistics


class RepurposingOptions(Options):
    """Inner cross-validation."""

    inner_folds: int = Field(
        default=5, ge=0, le=100, description="Inner models; 0 for one fitted on all training pairs."
    )


class RepurposingStatistics(Statistics):
    """Counts of a dataset of drugs and diseases."""

    drugs: int = Field(ge=1)
    associated: bool = Field(
        default=False, description="drugs and diseases are those with an association, as in Table 1 of the paper"
    )
    diseases: int = Field(ge=1)
    positives: int = Field(ge=0)
    negatives: int = Field(ge=0)
    drug_features: int = Field(ge=0)
    disease_features: int = Field(ge=0)

    def result_bytes(self, options: Mapping[str, int]) -> int:
        """A score of eight bytes per test pair and inner model, and one per training pair."""
        pairs = self.drugs * self.diseases
        return 8 * pairs * max(options["inner_folds"], 1) // 5 + 8 * pairs * 4 // 5

    @property
    def settings(self) -> dict[str, Any]:
        """Whether drugs and diseases without an association count."""
        return {"associated": self.associated}

    @property
    def line(self) -> str:
        """Drugs, diseases and labels."""
        return f"{self.drugs:>5} drugs {self.diseases:>5} diseases {self.positives:>6} + {self.negatives:>6} -"
