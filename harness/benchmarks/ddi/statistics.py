"""Counts of a dataset of `ddi`."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from harness.benchmarks.contract import Statistics


class DdiStatistics(Statistics):
    """Counts of a dataset of pairs of drugs; None where nobody has seen the files yet."""

    drugs: int = Field(ge=1)
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

    def result_bytes(self, options: Mapping[str, int]) -> int:
        """A score of four bytes for every type of a test pair; a fifth of the items are test pairs."""
        return 4 * (self.items or 0) * self.types // 5

    @property
    def line(self) -> str:
        """Drugs, types and items."""
        return f"{self.drugs:>5} drugs {self.types:>5} types    {self.items or '?':>6} items         "
