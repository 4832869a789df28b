"""How rankings of drugs and targets are read."""

from __future__ import annotations

from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.reading import Reading


def reading(dataset: DtiDataset) -> Reading:
    """Affinities have a unit; scores of bindings have none."""
    meaning = (
        "A score is the affinity that the method expects, in the unit of the data it learned from: how far off it "
        "usually is, only splits of known pairs tell."
        if dataset.affinity
        else "A score orders the pairs of one answer. It is no probability, and scores of two methods or of two "
        "datasets can't be compared."
    )
    known = zip(dataset.pairs.tolist(), dataset.values.tolist(), strict=True)
    return Reading(
        (meaning, "A pair that ranks high is a hypothesis. Known pairs were learned from and are not ranked."),
        known=tuple(
            (
                (dataset.drug_ids[drug], dataset.target_ids[target]),
                f"affinity {value:g}" if dataset.affinity else "binds",
            )
            for (drug, target), value in known
        ),
    )
