"""Counts of a dataset of `dti`."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from harness.benchmarks.contract import Statistics


class DtiStatistics(Statistics):
    """Counts of a dataset of drug-target pairs; None where nobody has seen the files yet."""

    drugs: int = Field(ge=1)
    targets: int = Field(ge=1)
    pairs: int | None = Field(default=None, ge=1)
    affinity: bool = False
    structures: int = Field(default=0, ge=0, description="drugs with a SMILES")
    sequences: int | None = Field(default=None, ge=0, description="targets with a sequence")
    nodes: int | None = Field(
        default=None, ge=0, description="diseases, effects and other nodes beside drugs and targets"
    )
    relations: int = Field(default=0, ge=0)
    edges: int | None = Field(default=None, ge=0)
    groups: int | None = Field(default=None, ge=0, description="classes and diseases that tasks are about")

    def result_bytes(self, options: Mapping[str, int]) -> int:
        """A score of eight bytes per test pair; about a fifth as many as there are pairs."""
        return 8 * (self.pairs or 0) // 5

    @property
    def line(self) -> str:
        """Drugs, targets and pairs."""
        return f"{self.drugs:>5} drugs {self.targets:>5} targets  {self.pairs or '?':>6} pairs         "
