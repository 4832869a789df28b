"""Scoring must choose as the original chose, and answer None with a reason where the original stopped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import benchmark
from harness.benchmark.repurposing.predictions import Predictions
from harness.benchmark.repurposing.scorer import choose, score_predictions
from harness.data import load_dataset
from harness.data.model import RepurposingDataset
from harness.errors import UsageError
from harness.layout import Layout
from harness.splits import SplitSpec, load_split
from harness.splits.folds import Folds


def _folds(drugs: int, diseases: int, seed: int, inner_folds: int = 3) -> Folds:
    codes = [-1, *range(max(inner_folds, 1))]
    folds = np.resize(np.array(codes, dtype=np.int8), drugs * diseases)
    return np.random.default_rng(seed).permutation(folds).reshape(drugs, diseases)


def _predictions(folds: Folds, seed: int, models: int = 3) -> Predictions:
    generator = np.random.default_rng(seed)
    return Predictions(
        test=generator.normal(size=(models, int((folds == -1).sum()))),
        validation=generator.normal(size=int((folds >= 0).sum())),
        lowest=np.full(models, -9.0),
    )


def test_first_model_is_chosen_where_all_scores_are_positive() -> None:
    """The published criterion is exactly 0.5 for each model then (card, finding 4)."""
    folds = _folds(20, 12, 1)
    labels = (np.random.default_rng(2).random(folds.shape) < 0.3).astype(np.int8)
    predictions = _predictions(folds, 3)
    assert predictions.validation is not None
    positive = Predictions(np.exp(predictions.test), np.exp(predictions.validation), np.full(3, 1e-9))
    chosen = choose(labels, folds, positive)
    assert chosen.published == 0
    assert chosen.published_values == (0.5, 0.5, 0.5)
    assert chosen.defined == int(np.argmax([value or 0.0 for value in chosen.defined_values]))


def test_zero_counts_as_negative_where_the_model_has_negative_scores() -> None:
    """The criterion sees zeros after they were replaced: by half the lowest score, anywhere in the matrix."""
    folds = np.array([[0, 0, -1], [0, 0, -1]], dtype=np.int8)
    labels = np.array([[1, 0, 1], [0, 1, 0]], dtype=np.int8)
    zeros = np.zeros(4)
    test = np.array([[0.5, -0.25]])
    with_negative = Predictions(test, zeros, np.array([-8.0]))
    metrics, _ = score_predictions(labels, folds, with_negative)
    assert metrics["accuracy/as-published"] == 1.0


def test_only_model_is_taken_without_inner_folds() -> None:
    folds = np.minimum(_folds(10, 8, 1), 0)
    labels = (np.random.default_rng(2).random(folds.shape) < 0.3).astype(np.int8)
    test = np.random.default_rng(3).normal(size=(1, int((folds == -1).sum())))
    predictions = Predictions(test, None, np.full(1, -9.0))
    metrics, notes = score_predictions(labels, folds, predictions)
    assert metrics["NS-AUC/as-published"] is not None
    assert not any(name.startswith("inner model") for name in notes)


@pytest.mark.parametrize("label", [-1, 0, 1])
def test_undefined_metric_is_none_with_a_reason(label: int) -> None:
    folds = _folds(6, 5, 1)
    labels = np.full(folds.shape, label, dtype=np.int8)
    metrics, notes = score_predictions(labels, folds, _predictions(folds, 2))
    undefined = {name for name, value in metrics.items() if value is None}
    assert "NS-AUC/as-published" in undefined
    assert undefined <= set(notes)
    assert all(notes[name] for name in undefined)
    assert set(metrics) == {metric.name for metric in benchmark.get("repurposing").METRICS}


@settings(max_examples=60, deadline=None)
@given(
    drugs=st.integers(1, 8),
    diseases=st.integers(1, 8),
    seed=st.integers(0, 2**32 - 1),
    kinds=st.sampled_from([[0, 1], [-1, 0, 1], [1], [0], [-1]]),
)
def test_metrics_stay_in_their_range(drugs: int, diseases: int, seed: int, kinds: list[int]) -> None:
    folds = _folds(drugs, diseases, seed)
    labels = np.random.default_rng(seed).choice(kinds, size=folds.shape).astype(np.int8)
    metrics, notes = score_predictions(labels, folds, _predictions(folds, seed))
    for metric in benchmark.get("repurposing").METRICS:
        value = metrics[metric.name]
        if value is None:
            assert notes[metric.name]
        elif metric.range:
            assert metric.range[0] <= value <= metric.range[1], metric.name


def test_perfect_and_reversed_rankings(layout: Layout) -> None:
    """The published NS-AUC gives a reversed ranking the 0.5 of a coin; the defined one gives it 0."""
    dataset = load_dataset(layout, "synthetic", RepurposingDataset)
    folds = load_split(layout, "synthetic", SplitSpec(strategy="random", seed=17263407)).folds
    module = benchmark.get("repurposing")
    split = load_split(layout, "synthetic", SplitSpec(strategy="random", seed=17263407))
    truth = dataset.associations[folds == -1].astype(np.float64)
    seen = dataset.associations[folds >= 0].astype(np.float64)
    perfect, _ = module.score(dataset, split, Predictions(np.tile(truth, (5, 1)), seen, np.full(5, -1.0)), {})
    reversed_, _ = module.score(dataset, split, Predictions(np.tile(-truth, (5, 1)), -seen, np.full(5, -1.0)), {})
    assert perfect["NS-AUC/as-published"] == perfect["NS-AUC/as-defined"] == 1.0
    assert perfect["AUC/as-published"] == perfect["AUC/as-defined"] == 1.0
    assert reversed_["NS-AUC/as-published"] == 0.5
    assert reversed_["NS-AUC/as-defined"] == 0.0
    assert reversed_["accuracy/as-defined"] == 0.0


def test_unknown_benchmark_is_explained() -> None:
    assert benchmark.names() == ["ddi", "repurposing"]
    with pytest.raises(UsageError, match="did you mean 'repurposing'"):
        benchmark.get("repurpose")
