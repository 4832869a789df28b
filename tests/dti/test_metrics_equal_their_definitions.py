"""Every metric must be what its definition says, with ties, short lists and chunks of any size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from harness.base.layout import Layout
from harness.benchmarks.dti.conformance import problems
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.metrics import bindings, ranking, within
from harness.benchmarks.dti.metrics.affinities import affinity_metrics, concordance
from harness.benchmarks.dti.metrics.bindings import binding_metrics, threshold_counts
from harness.benchmarks.dti.metrics.ranking import best_rows, ranking_metrics
from harness.benchmarks.dti.metrics.within import within_metrics
from harness.benchmarks.dti.names import DEPTHS, MAP_READINGS, RANKING
from harness.benchmarks.dti.scoring import SCORING
from harness.benchmarks.dti.splits.pairs import NEGATIVE, TEST, TRAIN, pair_split
from harness.benchmarks.dti.splits.strategies import annotated_pairs
from harness.data import load_dataset
from tests.dti import brute_force as plain

# few values, so that many are equal; one half is where predictions are cut
SCORES = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 3.0])
ROWS = st.lists(st.tuples(st.booleans(), SCORES, st.integers(0, 4)), min_size=1, max_size=60)
NUMBERS = st.lists(st.tuples(SCORES, SCORES | st.floats(-5, 5)), min_size=1, max_size=40)


def _close(value: float) -> object:
    return pytest.approx(value, rel=1e-12, abs=1e-12)


@settings(max_examples=150, suppress_health_check=[])
@given(rows=ROWS, chunk=st.sampled_from([1, 3, 7, 1 << 20]))
def test_metrics_of_all_pairs(rows: list[tuple[bool, float, int]], chunk: int) -> None:
    truth, scores = [row[0] for row in rows], [row[1] for row in rows]
    assume(0 < sum(truth) < len(truth))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bindings, "CHUNK", chunk)
        metrics = binding_metrics(np.array(truth), np.array(scores))
    precision, recall, f1 = plain.at_half(truth, scores)
    auroc, aupr, best = (make(truth, scores) for make in (plain.auroc, plain.average_precision, plain.best_f1))
    expected = {
        "AUROC": auroc,
        "AUPR": aupr,
        "AUPR/trapezoid": plain.trapezoid(truth, scores),
        "precision": precision,
        "recall": recall,
        "F1": f1,
        "best F1": best,
        "general score": (auroc + aupr + f1) / 3,
        "general score/best F1": (auroc + aupr + best) / 3,
    }
    assert metrics == {name: _close(value) for name, value in expected.items()}


_AT_HALF = ("precision", "recall", "F1")


@pytest.mark.parametrize(
    ("truth", "scores", "at_half", "reason"),
    [
        ([False, False], [0.1, 0.2], (0.0, 0.0, 0.0), "no test pair binds"),
        ([False, False], [0.1, 0.5], (0.0, 0.0, 0.0), "no test pair binds"),
        ([True, True], [0.1, 0.2], (0.0, 0.0, 0.0), "every test pair binds"),
        ([True, True], [0.5, 0.2], (1.0, 0.5, 2 / 3), "every test pair binds"),
    ],
)
def test_where_nothing_can_be_divided_it_is_0_and_where_nothing_can_be_told_it_is_said(
    truth: list[bool], scores: list[float], at_half: tuple[float, ...], reason: str
) -> None:
    metrics = binding_metrics(np.array(truth), np.array(scores))
    assert tuple(metrics[name] for name in _AT_HALF) == at_half
    others = ("AUROC", "AUPR", "AUPR/trapezoid", "best F1", "general score", "general score/best F1")
    assert {name: metrics[name] for name in others} == dict.fromkeys(others, reason)
    assert len(metrics) == len(others) + len(_AT_HALF)


def test_metrics_of_the_other_kind_say_so() -> None:
    pairs = np.array([[0, 0], [1, 0], [2, 0]], dtype=np.int32)
    names = ("a", "b", "c"), ("p",)
    rows = np.array([[TRAIN, 0, 0, 0], [TEST, 1, 0, 1], [TEST, 2, 0, 2]], dtype=np.int32)
    for values, metric, reason in (
        (np.array([5.0, 6.0, 7.0]), "AUROC", "not a metric of affinities"),
        (np.ones(3), "MSE", "not a metric of bindings"),
    ):
        dataset = DtiDataset("made-up", pairs, values, *names, ("C",) * 3, ("M",))
        metrics, notes = SCORING.score(dataset, pair_split(rows), np.array([6.0, 9.0]), {})
        assert metrics[metric] is None and notes[metric] == reason
        assert {*notes} == {name for name, value in metrics.items() if value is None}
        assert {*metrics} == {one.name for one in SCORING.metrics}
    measured = DtiDataset("made-up", pairs, np.array([5.0, 6.0, 7.0]), *names, ("C",) * 3, ("M",))
    metrics, _ = SCORING.score(measured, pair_split(rows), np.array([6.0, 9.0]), {})
    assert (metrics["MSE"], metrics["CI"]) == (2.0, 1.0)
    _, notes = SCORING.score(measured, pair_split(rows), np.array([6.0, 1e200]), {})
    assert notes["MSE"] == "an error is too large to be squared"


@settings(max_examples=150)
@given(rows=ROWS, chunk=st.sampled_from([1, 3, 7, 1 << 20]), pairs=st.integers(1, 5))
def test_metrics_within_drugs_and_targets(rows: list[tuple[bool, float, int]], chunk: int, pairs: int) -> None:
    truth, scores, drugs = [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    targets = [place // pairs for place in range(len(rows))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(within, "CHUNK", chunk)
        metrics = within_metrics(*map(np.array, (truth, scores, drugs, targets)))
    for kind, nodes in (("drugs", drugs), ("targets", targets)):
        aurocs, alike = [], []
        for node in set(nodes):
            binds = [own for own, other in zip(truth, nodes, strict=True) if other == node]
            own_scores = [score for score, other in zip(scores, nodes, strict=True) if other == node]
            if 0 < sum(binds) < len(binds):
                aurocs.append(plain.auroc(binds, own_scores))
                alike.append(len({score >= 0.5 for score in own_scores}) == 1)
        if aurocs:
            assert metrics[f"AUROC/{kind}"] == _close(float(np.mean(aurocs)))
            assert metrics[f"one answer/{kind}"] == _close(float(np.mean(alike)))
        else:
            assert metrics[f"AUROC/{kind}"] == f"none of the {kind} is asked with a binding and a negative"


@pytest.mark.parametrize("reading", ["as-published", "as-defined", "corrected"])
@pytest.mark.parametrize("space", ["TEO", "TRO", "TEE", "TRE"])
def test_the_space_decides_what_can_be_told(layout: Layout, space: str, reading: str) -> None:
    """As the notes of Figure 6 say: TEE has no target with both answers, TRO no drug, TRE neither."""
    dataset = load_dataset(layout, "dti_world", DtiDataset)
    parameters = annotated_pairs.Parameters.model_validate({"space": space, "reading": reading})
    split = annotated_pairs.make(dataset, 1024, parameters)
    values, _ = SCORING.score(dataset, split, np.zeros(split.test), {})
    assert (values["AUROC/drugs"] is None) == (space in ("TRO", "TRE"))
    assert (values["AUROC/targets"] is None) == (space in ("TEE", "TRE"))


@settings(max_examples=150)
@given(rows=ROWS)
@example(rows=[(True, 4.0, 0), (False, 3.0, 0), (False, 2.0, 0), (True, 1.0, 0)])
def test_the_threshold_of_the_best_f1_is_the_lowest_that_has_it(rows: list[tuple[bool, float, int]]) -> None:
    truth, scores = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    assume(0 < truth.sum() < len(truth))
    of = {
        float(cut): 2 * (truth & (scores >= cut)).sum() / ((scores >= cut).sum() + truth.sum())
        for cut in scores[truth]
    }
    best = max(of.values())
    lowest = min(cut for cut, own in of.items() if own == best)
    assert bindings.best_f1(threshold_counts(truth, scores)) == (best, lowest)


@settings(max_examples=150)
@given(rows=ROWS, chunk=st.sampled_from([1, 3, 7, 1 << 20]))
def test_metrics_of_lists(rows: list[tuple[bool, float, int]], chunk: int) -> None:
    truth, scores, queries = [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    assume(any(truth))
    # small depths, so that lists are cut
    depths = (1, 2, 5, 100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_CHUNK", chunk)
        patch.setattr(ranking, "DEPTHS", depths)
        metrics = ranking_metrics(np.array(truth), np.array(scores), np.array(queries))
    ranked = plain.lists(truth, scores, queries)
    for depth in depths:
        expected = plain.at_depth(ranked, depth)
        for name in ("precision", "recall", "F1"):
            assert metrics[f"{name}@{depth}"] == _close(expected[name])
        for reading in MAP_READINGS:
            assert metrics[f"MAP@{depth}/{reading}"] == _close(expected[reading])


def test_lists_longer_than_what_is_kept_of_them() -> None:
    """More rows than a depth in each of many chunks, of queries that come back."""
    generator = np.random.default_rng(3)
    queries = generator.integers(0, 5, 4000).astype(np.int32)
    scores, truth = generator.integers(0, 60, 4000) / 7, generator.random(4000) < 0.1
    whole = ranking_metrics(truth, scores, queries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_CHUNK", 130)
        assert ranking_metrics(truth, scores, queries) == whole
    ranked = plain.lists(truth.tolist(), scores.tolist(), queries.tolist())
    for depth in DEPTHS:
        assert whole[f"MAP@{depth}/min"] == _close(plain.at_depth(ranked, depth)["min"])


@settings(max_examples=100)
@given(rows=ROWS, depth=st.integers(1, 70), chunk=st.integers(1, 20))
def test_the_best_rows_of_a_stable_sort(rows: list[tuple[bool, float, int]], depth: int, chunk: int) -> None:
    scores, queries = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_CHUNK", chunk)
        best = best_rows(scores, queries, depth).tolist()
    expected = []
    for query in np.unique(queries):
        own = np.flatnonzero(queries == query)
        expected += own[np.argsort(-scores[own], kind="stable")][:depth].tolist()
    assert best == expected


@settings(max_examples=300)
@given(numbers=NUMBERS)
def test_concordance(numbers: list[tuple[float, float]]) -> None:
    """Either side may have the fewer values: both ways round."""
    for one, other in ((0, 1), (1, 0)):
        truth, scores = ([row[column] for row in numbers] for column in (one, other))
        expected = plain.concordance(truth, scores)
        ours = concordance(np.array(truth), np.array(scores))
        assert ours == ("all affinities are equal" if expected is None else _close(expected))


def test_concordance_of_many() -> None:
    """What is known without counting: the right order, the wrong one, and one score for all."""
    truth = np.random.default_rng(4).normal(size=50_000).round(3)
    assert concordance(truth, 2 * truth + 1) == 1
    assert concordance(truth, -truth) == 0
    assert concordance(truth, np.zeros(len(truth))) == 0.5


@settings(max_examples=50)
@given(numbers=NUMBERS)
def test_squared_error(numbers: list[tuple[float, float]]) -> None:
    truth, scores = np.array(numbers).T
    expected = sum((one - other) ** 2 for one, other in numbers) / len(numbers)
    assert affinity_metrics(truth, scores)["MSE"] == _close(expected)


def test_a_task_with_one_target_ranks_its_drugs() -> None:
    """By drug every list would have one pair: whatever a method says, all of them would be perfect."""
    pairs = np.array([[0, 0], [1, 0], [2, 1]], dtype=np.int32)
    dataset = DtiDataset("made-up", pairs, np.ones(3), ("a", "b", "c", "d"), ("p", "q"), ("C",) * 4, ("M",) * 2)
    asked = [[TEST, 0, 0, 0], [TEST, 1, 0, 1], [TEST, 2, 0, NEGATIVE], [TEST, 3, 0, NEGATIVE]]
    split = pair_split(np.array([[TRAIN, 2, 1, 2], *asked], dtype=np.int32))
    metrics, _ = SCORING.score(dataset, split, np.array([0.1, 0.9, 0.5, 0.2]), {})
    # the target's drugs, best first: one that binds, two that do not, one that binds
    assert metrics["MAP@10/all"] == pytest.approx((1 + 2 / 4) / 2)
    assert metrics["recall@10"] == 1.0 and metrics["precision@10"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("asked", "scores", "column"),
    [
        # a drug's best targets, though the first and the last pair are of one target
        ([(0, 1, 1), (0, 2, 0), (1, 0, 0), (1, 2, 1), (2, 1, 0)], [0.5, 0.6, 0.9, 0.8, 0.7], 0),
        ([(0, 1, 1), (0, 2, 0), (0, 3, 0)], [0.1, 0.4, 0.3], 0),
        # all pairs are of one target: its best drugs
        ([(0, 1, 0), (1, 1, 1), (2, 1, 0), (3, 1, 1)], [0.9, 0.8, 0.7, 0.6], 1),
    ],
)
def test_drugs_are_asked_unless_all_pairs_are_of_one_target(
    asked: list[tuple[int, int, int]], scores: list[float], column: int
) -> None:
    pairs = np.array([*(pair[:2] for pair in asked if pair[2]), (5, 5)], dtype=np.int32)
    dataset = replace(problems.bindings().dataset, pairs=pairs, values=np.ones(len(pairs)))
    numbers = {tuple(pair): number for number, pair in enumerate(pairs.tolist())}
    rows = [[TEST, drug, target, numbers.get((drug, target), NEGATIVE)] for drug, target, _ in asked]
    split = pair_split(np.array([[TRAIN, 5, 5, numbers[5, 5]], *rows]))
    values, _ = SCORING.score(dataset, split, np.array(scores), {})
    truth = np.array([binds for *_, binds in asked], dtype=bool)
    wanted, other = (
        ranking_metrics(truth, np.array(scores), np.array(asked)[:, of]) for of in (column, 1 - column)
    )
    assert {metric.name: values[metric.name] for metric in RANKING} == wanted != other
