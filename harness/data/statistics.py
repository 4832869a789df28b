"""What the converted arrays of a dataset must show, as its manifest says it: one model for each benchmark."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from harness.base.manifests import Strict


class Statistics(Strict):
    """What every benchmark can be asked for."""

    drugs: int = Field(ge=1)

    def result_bytes(self, inner_models: int) -> int:
        """How large the predictions of one run are, about."""
        raise NotImplementedError

    @property
    def options(self) -> dict[str, Any]:
        """How the arrays are to be counted."""
        return {}

    @property
    def told(self) -> str:
        """The numbers in one line."""
        raise NotImplementedError


class RepurposingStatistics(Statistics):
    """Counts of a dataset of drugs and diseases."""

    associated: bool = Field(
        default=False, description="drugs and diseases are those with an association, as in Table 1 of the paper"
    )
    diseases: int = Field(ge=1)
    positives: int = Field(ge=0)
    negatives: int = Field(ge=0)
    drug_features: int = Field(ge=0)
    disease_features: int = Field(ge=0)

    def result_bytes(self, inner_models: int) -> int:
        """A score of eight bytes per test pair and inner model, and one per training pair."""
        pairs = self.drugs * self.diseases
        return 8 * pairs * max(inner_models, 1) // 5 + 8 * pairs * 4 // 5

    @property
    def options(self) -> dict[str, Any]:
        """Whether drugs and diseases without an association count."""
        return {"associated": self.associated}

    @property
    def told(self) -> str:
        """Drugs, diseases and labels."""
        return f"{self.drugs:>5} drugs {self.diseases:>5} diseases {self.positives:>6} + {self.negatives:>6} -"


class DdiStatistics(Statistics):
    """Counts of a dataset of pairs of drugs; None where nobody has seen the files yet."""

    multilabel: bool
    types: int = Field(ge=1)
    items: int | None = Field(default=None, ge=1)
    negatives: int | None = Field(default=None, ge=0, description="items that say where a type is not")
    fingerprint: int = Field(ge=1)
    entities: int | None = Field(default=None, ge=2)
    relations: int = Field(ge=0)
    edges: int | None = Field(default=None, ge=0)
    dated: int = Field(ge=0, description="drugs with a year of approval")
    drug_texts: int = Field(ge=0)
    graph_texts: int = Field(ge=0)
    released: int = Field(ge=0, description="splits that the authors released")

    def result_bytes(self, inner_models: int) -> int:
        """A score of four bytes for every type of a test pair; a fifth of the items are test pairs."""
        return 4 * (self.items or 0) * self.types // 5

    @property
    def told(self) -> str:
        """Drugs, types and items."""
        return f"{self.drugs:>5} drugs {self.types:>5} types    {self.items or '?':>6} items         "


MODELS: dict[str, type[Statistics]] = {"repurposing": RepurposingStatistics, "ddi": DdiStatistics}
