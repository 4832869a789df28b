"""A degenerate test part has undefined metrics with their reasons; every other answer has every metric."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import InvalidPredictions
from harness.base.npy import npy_bytes
from harness.benchmarks.dti.conformance import problems
from harness.benchmarks.dti.names import AFFINITY, BINDING, METRICS, RANKING, WITHIN
from harness.benchmarks.dti.scoring import SCORING
from harness.benchmarks.dti.splits.pairs import NEGATIVE, NEW, pair_split
from harness.splits import strategy_names

BINDINGS, AFFINITIES = problems.bindings(), problems.affinities()
NAMES = {
    kind: {metric.name for metric in metrics}
    for kind, metrics in (("binding", (*BINDING, *WITHIN)), ("affinity", AFFINITY))
}
ANY_NUMBER = st.floats(allow_nan=False, allow_infinity=False)
Scores = np.typing.NDArray[np.float64]


def test_what_predicts_is_a_strategy() -> None:
    """Of its splits nobody knows the truth, so that nothing is scored."""
    assert SCORING.predicting == "new_nodes" and SCORING.predicting in strategy_names("dti")


def _scored(problem: problems.Problem, scores: Scores) -> tuple[dict[str, float | None], dict[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values, notes = SCORING.score(problem.dataset, problem.split, scores, {})
    assert set(values) == {metric.name for metric in METRICS}
    assert {name for name, value in values.items() if value is None} == set(notes)
    assert all(value is None or np.isfinite(value) for value in values.values())
    return values, notes


def _with_truth(item: int) -> problems.Problem:
    rows = BINDINGS.split.rows.copy()
    rows[~BINDINGS.split.is_train, 3] = item
    return problems.Problem(BINDINGS.dataset, pair_split(rows))


@settings(max_examples=50)
@given(data=st.data())
def test_any_finite_answer_is_scored(data: st.DataObject) -> None:
    for problem in (BINDINGS, AFFINITIES):
        scores = data.draw(st.lists(ANY_NUMBER, min_size=problem.split.test, max_size=problem.split.test))
        values, notes = _scored(problem, np.array(scores))
        own = set(values) - set(notes)
        if problem is BINDINGS:
            assert own == {metric.name for metric in (*BINDING, *WITHIN, *RANKING)}
        else:
            assert own | {"MSE"} == NAMES["affinity"]


def test_where_nothing_binds_only_the_cut_is_defined() -> None:
    values, notes = _scored(_with_truth(NEGATIVE), np.ones(BINDINGS.split.test))
    assert {name for name in values if name not in notes} == {"precision", "recall", "F1"}
    assert notes["AUROC"] == notes["MAP@10/min"] == "no test pair binds"
    assert values["precision"] == values["recall"] == values["F1"] == 0


def test_where_everything_binds_only_lists_and_the_cut_are_defined() -> None:
    values, notes = _scored(_with_truth(NEW), np.ones(BINDINGS.split.test))
    assert set(notes) - NAMES["affinity"] == NAMES["binding"] - {"precision", "recall", "F1"}
    assert notes["AUROC"] == "every test pair binds"
    assert notes["AUROC/targets"] == "none of the targets is asked with a binding and a negative"
    assert values["F1"] == 1 and values["recall@100"] == 1


def test_equal_affinities_have_no_order() -> None:
    dataset, split = AFFINITIES.dataset, AFFINITIES.split
    flat = dataset.values.copy()
    flat[split.rows[~split.is_train, 3]] = 7
    problem = problems.Problem(replace(dataset, values=flat), split)
    values, notes = _scored(problem, np.full(split.test, 8.0))
    assert values["MSE"] == 1 and notes["CI"] == "all affinities are equal"


def test_an_error_that_overflows_is_no_number() -> None:
    _, notes = _scored(AFFINITIES, np.full(AFFINITIES.split.test, 1e200))
    assert notes["MSE"] == "an error is too large to be squared"


@pytest.mark.parametrize("problem", [BINDINGS, AFFINITIES], ids=["bindings", "affinities"])
def test_the_truth_itself_is_the_best_answer(problem: problems.Problem) -> None:
    """Of every pair in the order in which it is asked, whatever the order of the split's file."""
    dataset, rows = problem.dataset, problem.split.rows
    known = dict(zip(map(tuple, dataset.pairs.tolist()), dataset.values.tolist(), strict=True))
    best = {"MSE": 0.0, "CI": 1.0} if problem is AFFINITIES else {metric.name: 1.0 for metric in BINDING}
    for split in (problem.split, pair_split(np.random.default_rng(3).permutation(rows))):
        truth = np.array([known.get(tuple(pair), 0.0) for pair in split.test_pairs.tolist()])
        values, _ = _scored(problems.Problem(dataset, split), truth)
        assert {name: values[name] for name in best} == best


def _written(folder: Path, scores: np.typing.NDArray[np.generic]) -> Path:
    (folder / "scores.npy").write_bytes(npy_bytes(scores))
    (folder / "method.json").write_text(json.dumps({"protocol": 1}))
    return folder


def test_what_is_no_answer_is_refused_with_its_place(tmp_path: Path) -> None:
    question = SCORING.question(BINDINGS.dataset, BINDINGS.split, {})
    whole = np.linspace(0, 1, BINDINGS.split.test)
    assert np.array_equal(question.read(_written(tmp_path, whole)), whole)
    broken = whole.copy()
    broken[7] = np.nan
    for scores, words in (
        (broken, "scores.npy: 1 value is not finite, first at pair 7"),
        (np.where(whole > 0.9, np.inf, whole), "are not finite, first at pair"),
        (whole[:-1], "scores.npy: has shape 79 instead of 80"),
        (np.append(whole, 1.0), "scores.npy: has shape 81 instead of 80"),
        (whole.reshape(2, -1), "has shape"),
        (whole.astype(np.float32), "has data type <f4 instead of <f8"),
    ):
        with pytest.raises(InvalidPredictions, match=words):
            question.read(_written(tmp_path, scores))
    for name in ("scores.npy", "method.json"):
        (_written(tmp_path, whole) / name).unlink()
        with pytest.raises(InvalidPredictions, match=rf"^{name}: is missing"):
            question.read(tmp_path)
