"""Splits of drug-drug interactions give every drug a role and every item a part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.benchmarks.contract import Form, Strategy
from harness.benchmarks.ddi.splits import parts
from harness.benchmarks.ddi.splits.parts import PartSplit

if TYPE_CHECKING:
    from harness.base.manifests import Strict
    from harness.benchmarks.ddi.dataset import DdiDataset

_RELEASED_GAMMA = 0.55


class PartForm(Form["DdiDataset", PartSplit]):
    """Strategies make splits whole. The usual seed is that of the original code."""

    usual_seed = 124

    def content(self, split: PartSplit) -> bytes:
        """The split file."""
        return parts.parts_bytes(split)

    def read(self, path: Path, load: Callable[[], DdiDataset]) -> PartSplit:
        """A split file from anywhere, checked for its form."""
        return parts.read_parts(path, load().drugs)

    def fits(self, split: PartSplit, dataset: DdiDataset) -> bool:
        """Whether there is a role for every drug and a part for every item."""
        return (len(split.drugs), len(split.items)) == (dataset.drugs, len(dataset.pairs))

    def broken_promises(self, split: PartSplit, dataset: DdiDataset) -> list[str]:
        """A role for every drug and a part for every item, every item in the part where its drugs belong, none
        lost, places without a gap, training and test drugs."""
        from harness.benchmarks.ddi.splits.drugs.usage import negatives

        return parts.broken_promises(split, dataset.pairs, dataset.drugs, negatives(dataset))

    def describe(
        self, split: PartSplit, dataset: DdiDataset, strategy: Strategy[DdiDataset, PartSplit], parameters: Strict
    ) -> dict[str, dict[str, Any]]:
        """Groups the strategy deals, roles, parts, and how similar the drugs of different roles are."""
        from harness.benchmarks.ddi.splits.drugs.measure import describe_groups, measure_split

        groups = getattr(strategy, "groups", None)
        tables = describe_groups(groups(dataset, parameters), split) if groups else {}
        threshold = getattr(parameters, "gamma", getattr(parameters, "threshold", _RELEASED_GAMMA))
        return {**tables, **measure_split(dataset, split, threshold)}


FORM = PartForm()
