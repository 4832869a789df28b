"""A test set that defines no metric must give None with a reason, and a parameter without meaning a message."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.base.errors import UsageError
from harness.benchmarks.ddi.answer import question_on
from harness.benchmarks.ddi.conformance import problems
from harness.benchmarks.ddi.conformance.problems import Problem
from harness.benchmarks.ddi.metrics.pairs import asked_pairs
from harness.benchmarks.ddi.names import KEY_METRICS, METRICS
from harness.benchmarks.ddi.scoring import SCORING
from harness.benchmarks.ddi.splits.parts import TEST_S1, TEST_S2, part_split
from harness.splits import strategy_names

ONE, SEVERAL, WITHOUT = problems.one_type(), problems.several_types(), problems.without_new_pairs()
Scored = tuple[dict[str, float | None], dict[str, str]]


def _scored(problem: Problem, value: float = 0.5, **parameters: Any) -> Scored:
    wanted = question_on(problem.dataset, problem.split)
    scores = np.full((wanted.pairs, wanted.types), value, dtype=np.float32)
    return SCORING.score(problem.dataset, problem.split, scores, parameters)


def _reasons(scored: Scored, setting: str) -> dict[str, str]:
    metrics, notes = scored
    assert all(notes[name] for name, value in metrics.items() if value is None)
    return {name.removeprefix(f"{setting} "): notes[name] for name in metrics if name in notes and setting in name}


def test_metrics_of_the_other_kind_are_none_with_a_reason() -> None:
    (one, of_one), (several, of_several) = _scored(ONE), _scored(SEVERAL)
    assert {of_one[name] for name, value in one.items() if value is None} == {
        "not a metric where an item has one type"
    }
    assert {of_several[name] for name, value in several.items() if value is None} == {
        "not a metric where a pair has several types at once"
    }
    assert {name for name, value in one.items() if value is not None} == {
        name for name in one if any(word in name for word in ("F1", "accuracy", "kappa"))
    }
    assert {name for name, value in several.items() if value is not None} == {
        name for name in several if not any(word in name for word in ("F1", "kappa"))
    }
    assert set(KEY_METRICS) < {metric.name for metric in METRICS}


def test_what_predicts_is_a_strategy() -> None:
    """Of its splits nobody knows the truth, so that nothing is scored."""
    assert SCORING.predicting == "new_drugs" and SCORING.predicting in strategy_names("ddi")


def test_an_empty_setting_is_none_with_a_reason() -> None:
    scored = _scored(WITHOUT)
    assert scored[0]["S1 F1/as-published"] is not None
    assert set(_reasons(scored, "S2")) == {
        metric.name.removeprefix("S2 ") for metric in METRICS if "S2" in metric.name
    }
    assert _reasons(scored, "S2")["F1/as-published"] == "no item is scored in this setting"


@pytest.mark.parametrize("problem", [ONE, SEVERAL], ids=["one type", "several types"])
def test_no_test_item_at_all(problem: Problem) -> None:
    parts = np.where(np.isin(problem.split.items, (TEST_S1, TEST_S2)), -2, problem.split.items)
    nothing = Problem(problem.dataset, part_split(problem.split.drugs, parts.astype(np.int32)))
    assert question_on(nothing.dataset, nothing.split).pairs == 0
    metrics, notes = _scored(nothing)
    assert set(metrics.values()) == {None}
    assert set(metrics) <= set(notes)
    of_types = SCORING.series(nothing.dataset, nothing.split, np.zeros((0, 7), dtype=np.float32), {})
    assert list(of_types.values()) == [[None] * 7] * 4


def test_dropped_rows_are_told() -> None:
    metrics, notes = _scored(ONE, evaluation_batch=100)
    assert notes["S1 items/as-published"] == "100 of 104 are in whole batches of 100"
    assert notes["S2 items/as-published"] == "0 of 8 are in whole batches of 100"
    assert metrics["S1 F1/as-published"] is not None
    assert metrics["S2 F1/as-published"] is None
    assert metrics["S2 F1/as-defined"] is not None
    # both settings are whole batches of 8
    assert not [name for name in _scored(ONE, evaluation_batch=8)[1] if "items/" in name]


def test_kappa_of_a_single_type_is_undefined() -> None:
    dataset = replace(ONE.dataset, labels=np.zeros_like(ONE.dataset.labels))
    scored = _scored(Problem(dataset, ONE.split))
    assert scored[0]["S1 accuracy/as-published"] == scored[0]["S1 F1/as-defined"] == 1
    assert "one and the same type" in _reasons(scored, "S1")["kappa/as-published"]


def test_a_type_with_positives_only_stops_the_published_curves_and_is_left_out_of_the_defined() -> None:
    labels = SEVERAL.dataset.labels.copy()
    labels[labels[:, 2] < 0, 2] = 0
    scored = _scored(Problem(replace(SEVERAL.dataset, labels=labels), SEVERAL.split))
    reasons = _reasons(scored, "S1")
    assert reasons["ROC-AUC/as-published"] == "1 types do not define it, the first is type 2"
    assert scored[0]["S1 accuracy/as-published"] is not None
    assert scored[0]["S1 ROC-AUC/as-defined"] == 0.5
    assert scored[1]["S1 types/as-defined"] == "6 of 7 types have both kinds of pairs"


def test_a_type_without_pairs_counts_nothing_in_the_published_mean_and_is_left_out_of_the_defined() -> None:
    """A coin's half for each of six types, and 0 for the seventh."""
    labels = SEVERAL.dataset.labels.copy()
    labels[:, 2] = 0
    empty = Problem(replace(SEVERAL.dataset, labels=labels), SEVERAL.split)
    metrics, notes = _scored(empty)
    skipping, _ = _scored(empty, evaluation_empty="skip")
    for name in ("ROC-AUC", "accuracy"):
        assert metrics[f"S1 {name}/as-published"] == pytest.approx(0.5 * 6 / 7, abs=1e-12)
        assert skipping[f"S1 {name}/as-published"] == pytest.approx(0.5, abs=1e-12)
        assert metrics[f"S1 {name}/as-defined"] == pytest.approx(0.5, abs=1e-12)
    assert notes["S1 types/as-defined"] == "6 of 7 types have both kinds of pairs"


def test_a_constant_answer_scores_as_a_coin() -> None:
    metrics, _ = _scored(SEVERAL)
    assert metrics["S1 ROC-AUC/as-published"] == metrics["S1 ROC-AUC/as-defined"] == 0.5
    assert metrics["S1 accuracy/as-published"] == 0.5


@pytest.mark.parametrize(
    "parameters",
    [{"evaluation_batch": -1}, {"evaluation_batch": "all"}, {"evaluation_type": "both"}, {"evaluation_empty": 0}],
)
def test_a_parameter_without_meaning_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"no value for|no number of rows"):
        _scored(ONE, **parameters)


@pytest.mark.parametrize(("problem", "name"), [(ONE, "accuracy"), (SEVERAL, "ROC-AUC")])
def test_a_method_that_knows_everything_is_right(problem: Problem, name: str) -> None:
    """Scores are joined to items by their pairs; a pair's answer serves each of its items."""
    dataset, split = problem.dataset, problem.split
    positive = dataset.labels > 0 if dataset.multilabel else np.eye(7, dtype=bool)[dataset.labels]
    rows = [
        positive[(dataset.pairs == pair).all(axis=1)].any(axis=0) for pair in asked_pairs(dataset, split).pairs
    ]
    metrics, _ = SCORING.score(dataset, split, np.array(rows, dtype=np.float32), {})
    value = metrics[f"S1 {name}/as-published"]
    # drawn negatives are positives elsewhere now and then
    assert value == 1 if problem is ONE else value is not None and value > 0.9
