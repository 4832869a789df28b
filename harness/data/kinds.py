"""The kinds of datasets, one for each benchmark: the class of the converted arrays, and what they are refused for.

Adding a benchmark is adding a line here and a model of its statistics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.benchmarks.ddi import checks as ddi_checks
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.repurposing import checks
from harness.benchmarks.repurposing.dataset import RepurposingDataset

Dataset = RepurposingDataset | DdiDataset


@dataclass(frozen=True)
class Kind:
    """What `datasets` needs to know of one benchmark's data."""

    model: type[Dataset]
    checked_remarks: Callable[[Any], tuple[str, ...]]


KINDS = {
    "repurposing": Kind(RepurposingDataset, checks.checked_remarks),
    "ddi": Kind(DdiDataset, ddi_checks.checked_remarks),
}
