"""Scoring must choose as the original chose, and answer None with a reason where the original stopped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.benchmarks.repurposing.answer import Predictions
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.metrics.selection import first_best
from harness.benchmarks.repurposing.names import METRICS
from harness.benchmarks.repurposing.ranking import rank_pairs
from harness.benchmarks.repurposing.scoring import SCORING, _told, choose, score_predictions
from harness.benchmarks.repurposing.splits.folds import Folds, FoldSplit
from harness.data import load_dataset
from harness.splits import load_split
from harness.splits.spec import SplitSpec
from tests.repurposing.brute_force import area_of, is_mixed, mean


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
    assert set(metrics) == {metric.name for metric in METRICS}


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
    for metric in METRICS:
        value = metrics[metric.name]
        if value is None:
            assert notes[metric.name]
        elif metric.range:
            assert metric.range[0] <= value <= metric.range[1], metric.name


def test_perfect_and_reversed_rankings(layout: Layout) -> None:
    """The published NS-AUC gives a reversed ranking the 0.5 of a coin; the defined one gives it 0."""
    dataset = load_dataset(layout, "synthetic", RepurposingDataset)
    split = load_split(layout, "synthetic", SplitSpec(strategy="random", seed=17263407))
    assert isinstance(split, FoldSplit)
    folds = split.folds
    truth = dataset.associations[folds == -1].astype(np.float64)
    seen = dataset.associations[folds >= 0].astype(np.float64)
    best = Predictions(np.tile(truth, (5, 1)), seen, np.full(5, -1.0))
    perfect, notes = SCORING.score(dataset, split, best, {})
    assert (perfect, notes) == score_predictions(dataset.associations, folds, best)
    assert {"inner model/as-published", "inner model/as-defined"} <= set(notes)
    reversed_, _ = SCORING.score(dataset, split, Predictions(np.tile(-truth, (5, 1)), -seen, np.full(5, -1.0)), {})
    assert perfect["NS-AUC/as-published"] == perfect["NS-AUC/as-defined"] == 1.0
    assert perfect["AUC/as-published"] == perfect["AUC/as-defined"] == 1.0
    assert reversed_["NS-AUC/as-published"] == 0.5
    assert reversed_["NS-AUC/as-defined"] == 0.0
    assert reversed_["accuracy/as-defined"] == 0.0


def test_unknown_benchmark_is_explained() -> None:
    with pytest.raises(UsageError, match="did you mean 'repurposing'"):
        benchmarks.get("repurpose")


def _cut(score: float, lowest: float) -> bool:
    """Whether the published criterion takes a pair for a positive, after zeros were replaced."""
    if score == 0:
        score = lowest / 2 if lowest < 0 else 1e-31
    return score > 0


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), models=st.integers(2, 4))
def test_an_inner_model_is_judged_by_the_pairs_it_did_not_see(seed: int, models: int) -> None:
    """Pair by pair: model by model, its own pairs, its own lowest score."""
    generator = np.random.default_rng(seed)
    folds = _folds(9, 7, seed, models)
    labels = (generator.random(folds.shape) < 0.4).astype(np.int8)
    lowest = generator.choice([-3.0, 1e-3], size=models)
    validation = generator.choice([-1.0, 0.0, 0.5, 2.0], size=int((folds >= 0).sum()))
    test = generator.normal(size=(models, int((folds == -1).sum())))
    chosen = choose(labels, folds, Predictions(test, validation, lowest))
    held_out = [(int(drug), int(disease)) for drug, disease in np.argwhere(folds >= 0)]
    published, defined = [], []
    for model in range(models):
        own = [
            (place, score)
            for place, score in zip(held_out, validation.tolist(), strict=True)
            if folds[place] == model
        ]
        areas = []
        for disease in range(folds.shape[1]):
            row = [
                (int(labels[place]), float(_cut(score, lowest[model])))
                for place, score in own
                if place[1] == disease
            ]
            if is_mixed(row):
                areas.append(area_of(row) or 0.0)
        published.append(mean(areas))
        defined.append(area_of([(int(labels[place]), score) for place, score in own]))
    assert chosen.published_values == pytest.approx(tuple(published))
    assert chosen.defined_values == pytest.approx(tuple(defined))
    for values, number in ((published, chosen.published), (defined, chosen.defined)):
        known = [value for value in values if value is not None]
        if known and values[number] is not None:
            assert values[number] == pytest.approx(max(known))
        assert (values[number] is None) is (not known)


def test_the_first_of_the_best_is_chosen_and_one_without_a_value_never() -> None:
    assert first_best([0.5, 0.7, 0.7]) == 1
    assert first_best([None, 0.0, None]) == 1
    assert first_best([None, None]) == 0
    assert first_best([0.9, None, 0.95]) == 2


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_zeros_become_the_lowest_score_of_the_model_that_answers(seed: int) -> None:
    """The metrics are those of the chosen models alone, each with a lowest score of its own."""
    generator = np.random.default_rng(seed)
    folds = _folds(12, 8, seed)
    labels = (generator.random(folds.shape) < 0.4).astype(np.int8)
    test = generator.choice([-1.0, -0.3, 0.0, 0.5, 2.0], size=(3, int((folds == -1).sum())))
    validation = generator.normal(size=int((folds >= 0).sum()))
    # half of these is above, between and below the scores
    lowest = generator.permutation([-9.0, -1.0, 0.25])
    predictions = Predictions(test, validation, lowest)
    chosen = choose(labels, folds, predictions)
    metrics, notes = score_predictions(labels, folds, predictions)
    for kind, number in (("as-published", chosen.published), ("as-defined", chosen.defined)):
        alone = Predictions(test[number : number + 1], None, lowest[number : number + 1])
        if kind == "as-published":
            replacement = min(1e-31, lowest[number] / 2)
            filled = np.where(alone.test == 0, replacement, alone.test)
            alone = Predictions(filled, None, lowest[number : number + 1])
        expected, _ = score_predictions(labels, folds, alone)
        for name, value in expected.items():
            if name.endswith(kind):
                assert metrics[name] == value, name
        assert notes[f"inner model/{kind}"].startswith(f"{number}, chosen among ")


def test_a_note_tells_what_was_chosen_among() -> None:
    folds = _folds(20, 12, 1)
    labels = (np.random.default_rng(2).random(folds.shape) < 0.3).astype(np.int8)
    predictions = _predictions(folds, 3)
    chosen = choose(labels, folds, predictions)
    _, notes = score_predictions(labels, folds, predictions)
    told = [f"{value:.6f}" for value in chosen.defined_values]
    assert notes["inner model/as-defined"] == f"{chosen.defined}, chosen among {', '.join(told)}"
    nothing = choose(np.zeros_like(labels), folds, predictions)
    assert nothing.defined_values == (None, None, None)
    _, notes = score_predictions(np.zeros_like(labels), folds, predictions)
    assert notes["inner model/as-defined"] == "0, chosen among none, none, none"
    assert _told(1, (None, 0.0, -0.25)) == "1, chosen among none, 0.000000, -0.250000", "a score of 0 is one"


@pytest.mark.parametrize(
    ("labels", "defined", "undefined"),
    [
        ([[1, 1], [1, 1]], ["accuracy", "global NDCG"], {"AUC": "does not have both"}),
        ([[0, 0], [0, 0]], [], {"accuracy": "no label is known", "global NDCG": "no positive"}),
        (
            [[1, 0], [1, 0]],
            ["AUC", "drug-wise AUC"],
            {"disease-wise AUC": "no disease has both", "NS-AUC": "no disease has two different"},
        ),
    ],
)
def test_a_reason_says_what_is_wanting(
    labels: list[list[int]], defined: list[str], undefined: dict[str, str]
) -> None:
    folds = np.full((2, 2), -1, dtype=np.int8)
    predictions = Predictions(np.array([[0.1, 0.2, 0.3, 0.4]]), None, np.array([0.1]))
    metrics, notes = score_predictions(np.array(labels, dtype=np.int8), folds, predictions)
    for name in defined:
        assert metrics[f"{name}/as-defined"] is not None and f"{name}/as-defined" not in notes
    for name, reason in undefined.items():
        assert metrics[f"{name}/as-defined"] is None and reason in notes[f"{name}/as-defined"]


def test_the_best_pairs_that_were_asked_for_are_listed_first(repository: Layout) -> None:
    dataset = load_dataset(repository, "synthetic", RepurposingDataset)
    folds = np.zeros(dataset.associations.shape, dtype=np.int8)
    asked = [(0, 3), (2, 1), (2, 5), (4, 0)]
    for place in asked:
        folds[place] = -1
    # the first model answers; equal scores stay in the order of the dataset
    test = np.array([[0.25, 0.5, 0.75, 0.5], [9.0, 8.0, 7.0, 6.0]])
    ranking = rank_pairs(dataset, folds, Predictions(test, None, np.ones(2)), None)
    assert ranking.columns == ("drug", "disease", "score")
    expected = [
        (dataset.drug_ids[drug], dataset.disease_ids[disease], score)
        for (drug, disease), score in zip(
            (asked[2], asked[1], asked[3], asked[0]), (0.75, 0.5, 0.5, 0.25), strict=True
        )
    ]
    assert list(ranking.rows) == expected
    first = rank_pairs(dataset, folds, Predictions(test, None, np.ones(2)), 2)
    assert list(first.rows) == expected[:2]


def test_many_equal_scores_stay_in_the_order_of_the_dataset(repository: Layout) -> None:
    dataset = load_dataset(repository, "synthetic", RepurposingDataset)
    folds = np.full(dataset.associations.shape, -1, dtype=np.int8)
    scores = np.zeros((1, folds.size))
    scores[0, 1::2] = 1.0
    rows = rank_pairs(dataset, folds, Predictions(scores, None, np.ones(1)), None).rows
    places = [
        divmod(place, len(dataset.disease_ids)) for place in [*range(1, folds.size, 2), *range(0, folds.size, 2)]
    ]
    expected = [(dataset.drug_ids[drug], dataset.disease_ids[disease]) for drug, disease in places]
    assert [row[:2] for row in rows] == expected
