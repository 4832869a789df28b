"""How combinations that a method found in texts are read."""

from __future__ import annotations

from harness.benchmarks.combos.dataset import CombosDataset
from harness.benchmarks.reading import Reading


def reading(dataset: CombosDataset) -> Reading:
    """Documents are asked whole: what is listed was found."""
    return Reading(
        (
            "A score is a model's own probability, and not a calibrated one; a rule without a model says 1.",
            "A combination that is not listed was not found, which is no proof that the text has none.",
        ),
        answers=("label",),
    )
