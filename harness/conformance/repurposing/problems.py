"""Made-up problems with what real data have: unknown features, lonely drugs, negatives, more rows than columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.conformance.checks import inputs_of
from harness.data.model import RepurposingDataset
from harness.methods import MethodCard
from harness.splits.folds import TEST, Split, digest_of_folds

Array = npt.NDArray[Any]

INNER_FOLDS = 5
_DRUGS, _DISEASES, _FEATURES = 24, 17, 6


@dataclass(frozen=True)
class Problem:
    """A dataset nobody published, and a split of it."""

    dataset: RepurposingDataset
    split: Split

    def inputs(self, card: MethodCard, inner_folds: int) -> dict[str, Array]:
        """The arrays a method declares, and no other, made as for any run."""
        given = inputs_of("repurposing", self.dataset, self.split, card.inputs, inner_folds)
        return {name: np.asarray(array) for name, array in given.items()}

    def with_other_test_labels(self) -> Problem:
        """The same problem, the truth about its test pairs turned round."""
        labels = self.dataset.associations.copy()
        hidden = self.split.folds == TEST
        labels[hidden] = np.where(labels[hidden] == 1, 0, 1)
        return Problem(replace(self.dataset, associations=labels), self.split)


def ordinary() -> Problem:
    """Positives, unknown features, a drug without any association, a feature that is known of no drug."""
    generator = np.random.default_rng(20260101)
    drugs = generator.normal(size=(_DRUGS, _FEATURES))
    diseases = generator.normal(size=(_DISEASES, _DISEASES))
    drugs[3, :4] = np.nan
    drugs[:, 5] = np.nan
    diseases[2, 7] = np.nan
    labels = (generator.random((_DRUGS, _DISEASES)) < 0.25).astype(np.int8)
    labels[11] = 0
    return _problem(labels, drugs, diseases, generator)


def with_negatives() -> Problem:
    """Labels of -1 beside those of +1."""
    base = ordinary()
    generator = np.random.default_rng(20260102)
    labels = base.dataset.associations.copy()
    labels[(labels == 0) & (generator.random(labels.shape) < 0.1)] = -1
    return Problem(replace(base.dataset, associations=labels), base.split)


def with_one_positive() -> Problem:
    """A single association, which one inner model and not the others must do without."""
    base = ordinary()
    labels = np.zeros_like(base.dataset.associations)
    labels.reshape(-1)[np.flatnonzero(base.split.folds == 0)[0]] = 1
    return Problem(replace(base.dataset, associations=labels), base.split)


def with_more_diseases() -> Problem:
    """Fewer drugs than diseases."""
    base = ordinary()
    folds = np.ascontiguousarray(base.split.folds.T)
    dataset = replace(
        base.dataset,
        associations=np.ascontiguousarray(base.dataset.associations.T),
        drug_features=base.dataset.disease_features,
        disease_features=base.dataset.drug_features,
        drug_ids=base.dataset.disease_ids,
        disease_ids=base.dataset.drug_ids,
        drug_feature_names=base.dataset.disease_feature_names,
        disease_feature_names=base.dataset.drug_feature_names,
    )
    return Problem(dataset, Split(folds=folds, digest=digest_of_folds(folds)))


def _problem(labels: Array, drugs: Array, diseases: Array, generator: np.random.Generator) -> Problem:
    flat = np.full(labels.size, TEST, dtype=np.int8)
    training = generator.permutation(labels.size)[: labels.size * 4 // 5]
    flat[training] = np.arange(len(training)) % INNER_FOLDS
    folds = flat.reshape(labels.shape)
    dataset = RepurposingDataset(
        name="made-up",
        associations=labels,
        drug_features=drugs,
        disease_features=diseases,
        drug_ids=_names("drug", labels.shape[0]),
        disease_ids=_names("disease", labels.shape[1]),
        drug_feature_names=_names("feature", drugs.shape[1]),
        disease_feature_names=_names("feature", diseases.shape[1]),
    )
    return Problem(dataset, Split(folds=folds, digest=digest_of_folds(folds)))


def _names(kind: str, count: int) -> tuple[str, ...]:
    return tuple(f"{kind} {number}" for number in range(count))
