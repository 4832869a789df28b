"""The paper's Synthetic dataset: two groups of drugs and diseases, drawn from two normal distributions.

Each feature of a drug or disease is drawn from N(+mean, sd) in the positive, from N(-mean, sd) in the other group.
The published arrays are those of numpy's legacy generator: positives first, one row per feature, the first half of
the rows for the diseases and the second half for the drugs (the paper's text has the halves the other way round).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic import Field

from harness.base.manifests import Strict
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.data.manifest import DatasetManifest
from harness.data.parameters import parameters_of


class Parameters(Strict):
    """The arguments of the generator; `features` counts those of drugs and diseases together."""

    positives: int = Field(ge=1)
    negatives: int = Field(ge=0)
    features: int = Field(ge=2, multiple_of=2)
    mean: float = 0.5
    standard_deviation: float = Field(default=1.0, gt=0)
    seed: int = Field(ge=0, lt=2**32)


def convert(manifest: DatasetManifest, files: Mapping[str, Path]) -> RepurposingDataset:
    """The dataset, drawn from its seed."""
    parameters = parameters_of(manifest, Parameters)
    generator = np.random.RandomState(parameters.seed)
    mean, deviation = parameters.mean, parameters.standard_deviation
    positive = generator.normal(mean, deviation, size=(parameters.features, parameters.positives))
    negative = generator.normal(-mean, deviation, size=(parameters.features, parameters.negatives))
    values = np.concatenate([positive, negative], axis=1).T
    size, half = parameters.positives + parameters.negatives, parameters.features // 2
    associations = np.zeros((size, size), dtype=np.int8)
    associations[: parameters.positives, : parameters.positives] = 1
    associations[parameters.positives :, parameters.positives :] = -1
    return RepurposingDataset(
        name=manifest.name,
        associations=associations,
        drug_features=np.ascontiguousarray(values[:, half:]),
        disease_features=np.ascontiguousarray(values[:, :half]),
        drug_ids=_names("drug", size),
        disease_ids=_names("disease", size),
        drug_feature_names=_names("feature", half),
        disease_feature_names=_names("feature", half),
    )


def _names(kind: str, count: int) -> tuple[str, ...]:
    return tuple(f"{kind}{number}" for number in range(1, count + 1))
