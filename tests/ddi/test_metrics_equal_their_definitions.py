"""The metrics must be what their definitions say: on ties, empty types, several types of a pair, one class."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, cohen_kappa_score, f1_score, roc_auc_score

from harness.benchmarks.ddi.answer import question_on
from harness.benchmarks.ddi.conformance import problems
from harness.benchmarks.ddi.conformance.problems import Problem
from harness.benchmarks.ddi.metrics import multiclass, multilabel
from harness.benchmarks.ddi.names import DEFINED, METRICS, PUBLISHED, flat_name
from harness.benchmarks.ddi.scoring import SCORING
from harness.benchmarks.ddi.splits.parts import OUTSIDE, TEST_S0, TEST_S1, TRAIN, VALID_S1, part_split
from tests.ddi import brute_force as plain

Scores = np.typing.NDArray[np.float32]
ONE_TYPE, SEVERAL_TYPES = problems.one_type(), problems.several_types()
LOWEST = plain.lowest_types(ONE_TYPE)


def _scores(problem: Problem, seed: int, step: float) -> Scores:
    """Probabilities; a coarse step makes ties."""
    wanted = question_on(problem.dataset, problem.split)
    drawn = np.random.default_rng(seed).random((wanted.pairs, wanted.types))
    return (np.round(drawn / step) * step).clip(0, 1).astype(np.float32)


def _by_item(problem: Problem, scores: Scores, items: list[int]) -> Scores:
    """The row of each item's pair, found by the rule of the protocol: distinct, by setting, head and tail."""
    asked_for = [(setting, item) for setting in (1, 2) for item in plain.rows_of(problem, setting)]
    order = sorted({(setting, *_pair(problem, item)) for setting, item in asked_for})
    row = {(head, tail): number for number, (_, head, tail) in enumerate(order)}
    return scores[[row[_pair(problem, item)] for item in items]]


def _pair(problem: Problem, item: int) -> tuple[int, int]:
    head, tail = problem.dataset.pairs[item].tolist()
    return head, tail


def _reordered(problem: Problem, seed: int) -> Problem:
    """The same parts, their items in another order."""
    split = problem.split
    places = split.places.copy()
    generator = np.random.default_rng(seed)
    for part in range(7):
        inside = np.flatnonzero(split.items == part)
        places[inside] = generator.permutation(len(inside))
    return Problem(problem.dataset, part_split(split.drugs, split.items, places))


def _near(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) < 1e-12


@given(seed=st.integers(0, 2**32 - 1), drugs=st.integers(2, 6), items=st.integers(1, 30))
def test_the_lowest_type_of_a_pair_is_found_wherever_its_item_stands(seed: int, drugs: int, items: int) -> None:
    generator = np.random.default_rng(seed)
    pairs = generator.integers(0, drugs, (items, 2)).astype(np.int32)
    labels = generator.integers(0, 9, items)
    asked = generator.permutation(np.unique(pairs, axis=0))
    wanted = [min(labels[(pairs == pair).all(axis=1)].tolist()) for pair in asked]
    assert multiclass.lowest_types(pairs, labels, asked).tolist() == wanted


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    step=st.sampled_from([1e-6, 0.25, 1.0]),
    batch=st.sampled_from([0, 5, 16, 200]),
    own=st.booleans(),
)
def test_one_type(seed: int, step: float, batch: int, own: bool) -> None:
    problem = _reordered(ONE_TYPE, seed)
    scores = _scores(problem, seed, step)
    parameters = {"evaluation_batch": batch, "evaluation_type": "own" if own else "lowest"}
    metrics, notes = SCORING.score(problem.dataset, problem.split, scores, parameters)
    assert set(metrics) == {metric.name for metric in METRICS}
    for setting in (1, 2):
        items = plain.rows_of(problem, setting)
        guesses = [plain.first_best(row.tolist()) for row in _by_item(problem, scores, items)]
        truth = [int(problem.dataset.labels[item]) for item in items]
        lowest = truth if own else [LOWEST[_pair(problem, item)] for item in items]
        whole = len(items) // batch * batch if batch else len(items)
        expected = {
            PUBLISHED: plain.of_one_type(lowest[:whole], guesses[:whole], over_truth=False),
            DEFINED: plain.of_one_type(truth, guesses, over_truth=True),
        }
        for kind, values in expected.items():
            for name, value in values.items():
                flat = flat_name(f"S{setting}", name, kind)
                assert _near(metrics[flat], value), flat
    assert all(notes[name] for name, value in metrics.items() if value is None)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    step=st.sampled_from([1e-6, 0.25, 1.0]),
    batch=st.sampled_from([0, 2, 5]),
    skip=st.booleans(),
    told=st.sampled_from([0.02, 0.3, 1.0]),
)
def test_several_types(seed: int, step: float, batch: int, skip: bool, told: float) -> None:
    generator = np.random.default_rng(seed)
    labels = np.where(generator.random(SEVERAL_TYPES.dataset.labels.shape) < told, SEVERAL_TYPES.dataset.labels, 0)
    dataset = replace(SEVERAL_TYPES.dataset, labels=labels.astype(np.int8))
    problem = _reordered(Problem(dataset, SEVERAL_TYPES.split), seed)
    scores = _scores(problem, seed, step)
    parameters = {"evaluation_batch": batch, "evaluation_empty": "skip" if skip else "zero"}
    metrics, notes = SCORING.score(problem.dataset, problem.split, scores, parameters)
    for setting in (1, 2):
        items = plain.rows_of(problem, setting)
        signs, rows = problem.dataset.labels[items].astype(np.int8), _by_item(problem, scores, items)
        whole = len(items) // batch * batch if batch else len(items)
        expected = {
            **plain.of_several_types(signs[:whole], rows[:whole], skip=skip),
            DEFINED: plain.of_several_types(signs, rows, skip=skip)[DEFINED],
        }
        for kind, values in expected.items():
            for name, value in values.items():
                flat = flat_name(f"S{setting}", name, kind)
                assert _near(metrics[flat], value), flat
        decided = int(((signs > 0).any(axis=0) & (signs < 0).any(axis=0)).sum())
        assert notes[f"S{setting} types/{DEFINED}"].startswith(f"{decided} of 7 types")
    assert all(notes[name] for name, value in metrics.items() if value is None)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 60), types=st.sampled_from([2, 5, 86]))
def test_one_type_is_what_the_published_library_gives(seed: int, count: int, types: int) -> None:
    generator = np.random.default_rng(seed)
    truth, guesses = generator.integers(0, types, size=(2, count))
    found = multiclass.metrics(truth, guesses, types, over_truth=False)
    assert found["F1"] == pytest.approx(f1_score(truth, guesses, average="macro"), abs=1e-14)
    if isinstance(found["kappa"], float):
        assert found["kappa"] == pytest.approx(cohen_kappa_score(truth, guesses), abs=1e-13)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(4, 60), step=st.sampled_from([1e-6, 0.1, 0.5]))
def test_several_types_are_what_the_published_library_gives(seed: int, count: int, step: float) -> None:
    generator = np.random.default_rng(seed)
    signs = generator.choice(np.array([-1, 1], dtype=np.int8), size=(count, 3))
    signs[:2] = [[1], [-1]]
    scores = (np.round(generator.random((count, 3)) / step) * step).astype(np.float32)
    found = multilabel.by_type(signs, scores)
    for kind in range(3):
        truth, column = signs[:, kind] > 0, scores[:, kind]
        assert found.values["ROC-AUC"][kind] == pytest.approx(roc_auc_score(truth, column), abs=1e-13)
        assert found.values["PR-AUC"][kind] == pytest.approx(average_precision_score(truth, column), abs=1e-13)


def test_a_pair_with_several_types_counts_by_its_lowest_as_published_and_by_each_as_defined() -> None:
    dataset, split = ONE_TYPE.dataset, ONE_TYPE.split
    items = plain.rows_of(ONE_TYPE, 1)
    item = next(item for item in items if LOWEST[_pair(ONE_TYPE, item)] != dataset.labels[item])
    only = np.where(split.items == 5, -2, split.items)
    only[[item, item - 1]] = 5
    lonely = Problem(dataset, part_split(split.drugs, only.astype(np.int32)))
    assert (dataset.pairs[item] == dataset.pairs[item - 1]).all()
    for guess, published, defined in ((item - 1, 1.0, 0.5), (item, 0.0, 0.5)):
        scores = np.zeros((question_on(dataset, lonely.split).pairs, dataset.types), dtype=np.float32)
        scores[:, dataset.labels[guess]] = 1
        metrics, _ = SCORING.score(dataset, lonely.split, scores, {})
        assert metrics["S1 accuracy/as-published"] == published
        assert metrics["S1 accuracy/as-defined"] == defined


@pytest.mark.parametrize(
    ("part", "counts"), [(TRAIN, True), (VALID_S1, True), (TEST_S0, True), (TEST_S1, True), (OUTSIDE, False)]
)
def test_the_lowest_type_of_a_pair_counts_in_whatever_part_it_is(part: int, counts: bool) -> None:
    """Released splits have pairs of which one type is learned and another asked."""
    dataset = ONE_TYPE.dataset
    item = next(
        item for item in plain.rows_of(ONE_TYPE, 1) if LOWEST[_pair(ONE_TYPE, item)] != dataset.labels[item]
    )
    parts = np.full(len(dataset.pairs), OUTSIDE, dtype=np.int32)
    parts[[item - 1, item]] = part, TEST_S1
    split = part_split(ONE_TYPE.split.drugs, parts)
    scores = np.zeros((question_on(dataset, split).pairs, dataset.types), dtype=np.float32)
    scores[:, LOWEST[_pair(ONE_TYPE, item)]] = 1
    assert SCORING.score(dataset, split, scores, {})[0]["S1 accuracy/as-published"] == float(counts)


def test_a_type_absent_from_training_is_scored_like_any_other() -> None:
    dataset, split = ONE_TYPE.dataset, ONE_TYPE.split
    scores = _scores(ONE_TYPE, 1, 1e-6) * 0.5
    scores[:, problems.UNSEEN] = 1
    metrics, _ = SCORING.score(dataset, split, scores, {})
    items = plain.rows_of(ONE_TYPE, 1)
    share = float(np.mean(dataset.labels[items] == problems.UNSEEN))
    assert 0 < share == metrics["S1 accuracy/as-defined"]
    assert metrics["S1 kappa/as-defined"] == 0


@pytest.mark.parametrize("problem", [ONE_TYPE, SEVERAL_TYPES], ids=["one type", "several types"])
@pytest.mark.parametrize("kind", [PUBLISHED, DEFINED])
def test_each_type_by_itself_adds_up_to_the_whole(problem: Problem, kind: str) -> None:
    scores, parameters = _scores(problem, 7, 0.01), {"evaluation_batch": 10}
    metrics, _ = SCORING.score(problem.dataset, problem.split, scores, parameters)
    for number, told in SCORING.series(problem.dataset, problem.split, scores, parameters).items():
        if not number.endswith(kind):
            continue
        setting = number[:2]
        items = plain.rows_of(problem, int(setting[1]))
        if kind == PUBLISHED:
            items = items[: len(items) // 10 * 10]
        labels = problem.dataset.labels[items]
        if problem.dataset.multilabel:
            counts = np.array([(labels[:, one] != 0).any() for one in range(problems.TYPES)]).astype(int)
        elif kind == PUBLISHED:
            counts = np.bincount([LOWEST[_pair(problem, item)] for item in items], minlength=problems.TYPES)
        else:
            counts = np.bincount(labels, minlength=problems.TYPES)
        assert [value is None for value in told] == (counts == 0).tolist()
        total = sum(value * count for value, count in zip(told, counts, strict=True) if value is not None)
        divisor = problems.TYPES if problem.dataset.multilabel and kind == PUBLISHED else counts.sum()
        expected = metrics[f"{setting} accuracy/{kind}"]
        assert _near(expected, total / divisor if counts.any() else None)


def test_every_metric_has_a_description_a_direction_and_a_range() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names) == 22
    assert all(metric.description and metric.better == "higher" and metric.range for metric in METRICS)


def test_the_largest_test_sets_are_scored_in_time() -> None:
    """DrugBank's 32,000 items of 86 types, and 20,000 lines of 209 types with 15 each."""
    generator = np.random.default_rng(3)
    scores = generator.random((32_000, 86), dtype=np.float32)
    truth = generator.integers(0, 86, size=32_000)
    signs = (generator.random((20_000, 209)) < 15 / 209).astype(np.int8)
    signs[1::2] = -signs[::2]
    probabilities = generator.random(signs.shape, dtype=np.float32)
    started = time.process_time()
    multiclass.metrics(truth, multiclass.predicted_types(scores), 86, over_truth=False)
    between = time.process_time()
    multilabel.by_type(signs, probabilities)
    assert between - started < 0.5
    assert time.process_time() - between < 3


def test_nothing_is_warned_about_degenerate_sets() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nothing = multilabel.by_type(np.zeros((0, 4), dtype=np.int8), np.zeros((0, 4), dtype=np.float32))
        assert set(multilabel.as_published(nothing, empty_is_zero=True).values()) == {multilabel.NO_PAIR}
        assert set(multilabel.as_defined(nothing).values()) == {multilabel.NO_TYPE}
        none = np.zeros(0, dtype=np.int64)
        assert set(multiclass.metrics(none, none, 5, over_truth=True).values()) == {multiclass.NO_ITEM}
