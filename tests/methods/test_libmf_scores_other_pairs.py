"""LibMF's binding answers for other pairs than those asked for: shown with the library itself, kept and undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.benchmarks.repurposing.splits.folds import TEST
from harness.engine import Engine
from harness.execution.trials import InContainers, Trial
from harness.methods.card import load_method
from tests.methods.trials import ONE_MODEL

pytestmark = pytest.mark.engine

Array = npt.NDArray[Any]
MODELS = 2


@pytest.fixture
def problem(layout: Layout) -> Trial:
    """Dense labels, so that factors are not 0; the last drug and one in the middle are in the test set whole."""
    generator = np.random.default_rng(20260103)
    labels = np.where(np.add.outer(np.arange(30) % 3, np.arange(20) % 2) > 1, 1, -1).astype(np.int8)
    labels[generator.random(labels.shape) < 0.2] = 0
    folds = generator.integers(-1, MODELS, size=labels.shape).astype(np.int8)
    folds[[7, 29]] = TEST
    labels[folds == TEST] = 0
    card = load_method(layout, "libmf")
    return Trial(
        card=card,
        benchmark="repurposing",
        inputs={"associations": labels, "folds": folds},
        parameters=card.variant("published").parameters,
        seed=1,
        options={"inner_folds": MODELS},
        trace=True,
    )


@pytest.fixture
def run(layout: Layout, engine: Engine) -> Iterator[InContainers]:
    yield InContainers(layout, engine)


def answer(run: InContainers, trial: Trial) -> dict[str, Array]:
    with run(trial) as result:
        assert result.verdict is Verdict.OK, result.reason
        return {path.stem: np.load(path) for path in Path(result.out).rglob("*.npy")}


def corrected(trial: Trial) -> Trial:
    return replace(trial, parameters=trial.card.variant("corrected").parameters)


def score(told: dict[str, Array], drugs: Array, diseases: Array) -> Array:
    """By definition: product of two rows; the mean label where the library has no such drug or disease."""
    known = (drugs < len(told["P"])) & (diseases < len(told["Q"]))
    scores = np.full(len(drugs), told["b"])
    scores[known] = np.sum(told["P"][drugs[known]] * told["Q"][diseases[known]], axis=1)
    return np.where(np.isnan(scores), told["b"], scores)


def as_read(pairs: Array) -> tuple[Array, Array]:
    """What the library's C++ side makes of n pairs given one after the other."""
    flat = pairs.reshape(-1)
    return flat[: len(pairs)], flat[len(pairs) :]


def test_published_scores_are_those_of_the_pairs_that_the_binding_reads(run: InContainers, problem: Trial) -> None:
    told, folds = answer(run, problem), problem.inputs["folds"]
    assert np.nanmax(np.abs(told["P"])) > 0.1
    expected = score(told, *as_read(np.argwhere(folds == TEST)))
    np.testing.assert_allclose(told["predictions"][0], expected, atol=1e-6)
    # each inner model is asked for what it did not see, in a list of its own
    expected = score(told, *as_read(np.argwhere(folds == 0)))
    np.testing.assert_allclose(told["validation"][folds[folds >= 0] == 0], expected, atol=1e-6)


def test_corrected_scores_are_those_of_the_pairs_asked_for(run: InContainers, problem: Trial) -> None:
    told, folds = answer(run, corrected(problem)), problem.inputs["folds"]
    np.testing.assert_allclose(told["predictions"][0], score(told, *np.nonzero(folds == TEST)), atol=1e-6)
    expected = score(told, *np.nonzero(folds == 0))
    np.testing.assert_allclose(told["validation"][folds[folds >= 0] == 0], expected, atol=1e-6)


def test_both_variants_have_the_same_factors_and_nearly_no_score_in_common(
    run: InContainers, problem: Trial
) -> None:
    published, right = answer(run, problem), answer(run, corrected(problem))
    for name in ("P", "Q", "b"):
        np.testing.assert_array_equal(published[name], right[name])
    assert abs(np.corrcoef(published["predictions"][0], right["predictions"][0])[0, 1]) < 0.5


def test_training_pairs_without_a_label_count_as_zeros(run: InContainers, problem: Trial) -> None:
    told, folds = answer(run, problem), problem.inputs["folds"]
    seen = (folds >= 0) & (folds != 0)
    assert told["b"] == pytest.approx(problem.inputs["associations"][seen].mean(), rel=1e-6)


def test_a_drug_without_training_pairs_is_answered_with_the_mean(run: InContainers, problem: Trial) -> None:
    told, folds = answer(run, corrected(problem)), problem.inputs["folds"]
    drugs = np.nonzero(folds == TEST)[0]
    # the one in the middle has factors that are not numbers, the last one has none
    assert np.isnan(told["P"][7]).all()
    assert len(told["P"]) == 29
    assert (told["predictions"][0][np.isin(drugs, [7, 29])] == told["b"]).all()


def test_without_any_training_pair_no_score_is_not_a_number(run: InContainers, problem: Trial) -> None:
    nothing = np.full_like(problem.inputs["folds"], TEST)
    told = answer(run, replace(problem, inputs={**problem.inputs, "folds": nothing}, options=ONE_MODEL))
    assert not told["predictions"].any()
