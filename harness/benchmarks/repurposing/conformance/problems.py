"""Made-up problems with what real data have: unknown features, lonely drugs, negatives, more rows than columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from harness.base.input_files import Array
from harness.benchmarks.repurposing import BENCHMARK
from harness.benchmarks.repurposing.answer import Predictions
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, FoldSplit, split_of
from harness.benchmarks.repurposing.splits.strategies import random
from harness.conformance.checks import SEED, MadeUp

INNER_FOLDS = 5
_DRUGS, _DISEASES, _FEATURES = 24, 17, 6
_MANY_DRUGS, _MANY_DISEASES, _GROUPS = 60, 40, 4


class Problem(MadeUp[RepurposingDataset, FoldSplit]):
    """Made-up associations, and a split of them."""

    benchmark = BENCHMARK

    def with_other_test_labels(self) -> Problem:
        """The same problem, the truth about its test pairs turned round."""
        labels = self.dataset.associations.copy()
        test = self.split.folds == TEST
        labels[test] = np.where(labels[test] == 1, 0, 1)
        return Problem(replace(self.dataset, associations=labels), self.split)

    def metrics(self, answer: Mapping[str, Array]) -> Mapping[str, float | None]:
        """The scores of an answer, by the truth."""
        predictions = Predictions(answer["predictions.npy"], answer.get("validation.npy"), answer["lowest.npy"])
        return BENCHMARK.scoring.score(self.dataset, self.split, predictions, {})[0]


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
    return Problem(dataset, split_of(folds))


def as_published() -> Problem:
    """A published split of labels that features explain: large enough for a score to tell what was learned."""
    generator = np.random.default_rng(20260107)
    groups = [np.arange(size) % _GROUPS for size in (_MANY_DRUGS, _MANY_DISEASES)]
    same = groups[0][:, None] == groups[1]
    labels = (generator.random(same.shape) < np.where(same, 0.6, 0.02)).astype(np.int8)
    features = [group[:, None] == np.arange(_GROUPS) for group in groups]
    drugs, diseases = (part + generator.normal(scale=0.3, size=part.shape) for part in features)
    dataset = _dataset(labels, drugs, diseases)
    return Problem(dataset, random.make(dataset, SEED, random.Parameters()))


def _problem(labels: Array, drugs: Array, diseases: Array, generator: np.random.Generator) -> Problem:
    flat = np.full(labels.size, TEST, dtype=np.int8)
    training = generator.permutation(labels.size)[: labels.size * 4 // 5]
    flat[training] = np.arange(len(training)) % INNER_FOLDS
    return Problem(_dataset(labels, drugs, diseases), split_of(flat.reshape(labels.shape)))


def _dataset(labels: Array, drugs: Array, diseases: Array) -> RepurposingDataset:
    return RepurposingDataset(
        name="made-up",
        associations=labels,
        drug_features=drugs,
        disease_features=diseases,
        drug_ids=_names("drug", labels.shape[0]),
        disease_ids=_names("disease", labels.shape[1]),
        drug_feature_names=_names("feature", drugs.shape[1]),
        disease_feature_names=_names("feature", diseases.shape[1]),
    )


def _names(kind: str, count: int) -> tuple[str, ...]:
    return tuple(f"{kind} {number}" for number in range(count))
