"""LRSSL against its equations, written down plainly, on similarities of any sign and on several views."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.repurposing.conformance import problems
from harness.benchmarks.repurposing.conformance.problems import Problem
from harness.benchmarks.repurposing.input_arrays import similarity, standardised, views
from harness.engine import Engine
from harness.execution.trials import InContainers, Runner, Trial
from harness.methods.card import MethodCard, load_method
from tests.methods import plain_lrssl as plain
from tests.methods.plain_lrssl import Matrix
from tests.methods.trials import ONE_MODEL

SUMS = {"published": plain.added_by_pythons_sum, "corrected": plain.added}


def with_views() -> Problem:
    """Negatives, and three views: one of 2 features, one of as many as there are drugs, one of 3."""
    base = problems.with_negatives()
    drugs = len(base.dataset.drug_ids)
    generator = np.random.default_rng(20260103)
    columns = {"se": 2, "sim": drugs, "atc": 3}
    names = [f"{view}-{number}" for view, count in columns.items() for number in range(count)]
    features = generator.normal(size=(drugs, len(names)))
    # as in real files: the views' features need not lie side by side
    order = generator.permutation(len(names))
    features[4, 1] = np.nan
    dataset = replace(
        base.dataset,
        drug_features=np.ascontiguousarray(features[:, order]),
        drug_feature_names=tuple(names[place] for place in order),
    )
    return Problem(dataset, base.split)


PROBLEMS = {
    "one view": problems.with_negatives,
    "square features": problems.with_more_diseases,
    "three views": with_views,
}


@pytest.fixture
def lrssl(layout: Layout, engine: Engine) -> Runner:
    """In its own container: R and its packages are those that were frozen."""
    return InContainers(layout, engine)


def run(runner: Runner, trial: Trial) -> tuple[Matrix, dict[str, Any]]:
    """The scores of the test pairs, and what was traced."""
    with runner(trial) as result:
        assert result.verdict == "ok", result.reason
        traced = {path.stem: np.load(path) for path in (result.out / "trace").iterdir()}
        return np.load(result.out / "predictions.npy")[0], traced


def trial_of(card: MethodCard, problem: Problem, variant: str, **parameters: float) -> Trial:
    """Fitted once on all training labels."""
    chosen = {**card.variant(variant).parameters, **parameters}
    inputs = problem.inputs(card, ONE_MODEL)
    return Trial(card, "repurposing", inputs, chosen, seed=1, variant=variant, options=ONE_MODEL, trace=True)


@pytest.mark.engine
@pytest.mark.parametrize("variant", ["published", "corrected"])
@pytest.mark.parametrize("kind", PROBLEMS)
def test_it_follows_its_equations(layout: Layout, lrssl: Runner, variant: str, kind: str) -> None:
    problem = PROBLEMS[kind]()
    trial = trial_of(load_method(layout, "lrssl"), problem, variant)
    scores, traced = run(lrssl, trial)
    dataset, given, parameters = problem.dataset, trial.inputs, trial.parameters
    Y = given["associations"].astype(float)
    number = views(dataset.drug_feature_names)
    own = [dataset.drug_features[:, number == view] for view in range(number.max() + 1)]
    Xs = [similarity(features) for features in own]
    Ss = [plain.of_features(standardised(features).T) for features in own]
    Ss.append(plain.of_indications(Y, given["disease_similarity"]))
    graphs = Ss if variant == "published" else [plain.neighbours(S, 10) for S in Ss]
    for name, expected in (("X", Xs), ("S", Ss), ("K", graphs)):
        for place, matrix in enumerate(expected, start=1):
            np.testing.assert_allclose(traced[f"{name}{place}"], matrix, rtol=0, atol=1e-12)
    numbers = {name: float(parameters[name]) for name in ("mu", "lam", "gam", "tol", "maxiter")}
    starts = [traced[f"G0_{place}"] for place in range(1, len(Xs) + 1)]
    expected_fit = plain.fit(Xs, graphs, Y, starts, numbers)
    assert int(traced["t"].item()) == expected_fit.steps
    for place, G in enumerate(expected_fit.Gs, start=1):
        np.testing.assert_allclose(traced[f"G_{place}"], G, rtol=1e-8, atol=1e-9)
    total = SUMS[variant](expected_fit.scores)
    np.testing.assert_allclose(scores, total[given["folds"] == -1], rtol=1e-7, atol=1e-8)


@pytest.mark.engine
def test_pythons_sum_of_views_is_not_their_sum(layout: Layout, lrssl: Runner) -> None:
    card, problem = load_method(layout, "lrssl"), with_views()
    both = [
        run(lrssl, replace(trial, parameters={**trial.parameters, "view_sum": way}))[0]
        for trial in [trial_of(card, problem, "corrected")]
        for way in ("elementwise", "row_totals")
    ]
    assert np.abs(both[0] - both[1]).max() > 0.1


@pytest.mark.engine
def test_one_view_has_nothing_to_sum(layout: Layout, lrssl: Runner) -> None:
    trial = trial_of(load_method(layout, "lrssl"), problems.with_negatives(), "corrected")
    both = [
        run(lrssl, replace(trial, parameters={**trial.parameters, "view_sum": way}))[0]
        for way in ("elementwise", "row_totals")
    ]
    np.testing.assert_array_equal(both[0], both[1])


def test_views_are_told_by_names() -> None:
    assert views(["b-1", "a-1", "b-2-x", "a-9"]).tolist() == [0, 1, 0, 1]
    assert views(["b-1", "a-1", "c"]).tolist() == [0, 0, 0]
    assert views([]).tolist() == []


@pytest.mark.engine
def test_a_drug_without_any_difference_in_its_features_is_like_no_other(layout: Layout, lrssl: Runner) -> None:
    base = problems.with_negatives()
    features = np.random.default_rng(5).normal(size=(len(base.dataset.drug_ids), 4))
    features -= features.mean(axis=0)
    features[0] = np.nan  # the mean of every column, but for rounding
    problem = Problem(
        replace(base.dataset, drug_features=features, drug_feature_names=("a", "b", "c", "d")), base.split
    )
    scores, traced = run(lrssl, trial_of(load_method(layout, "lrssl"), problem, "corrected"))
    assert (traced["X1"][0] == 0).all()
    assert np.isfinite(scores).all()


@pytest.mark.engine
@pytest.mark.parametrize(("variant", "differs"), [("published", True), ("corrected", False)])
def test_only_corrected_starts_every_run_alike(layout: Layout, lrssl: Runner, variant: str, differs: bool) -> None:
    trial = trial_of(load_method(layout, "lrssl"), problems.ordinary(), variant)
    first, second = (run(lrssl, replace(trial, seed=seed))[1]["G0_1"] for seed in (1, 2))
    assert (first != second).any() == differs


@pytest.mark.engine
def test_the_starting_projection_is_drawn_by_r_down_the_columns(layout: Layout, lrssl: Runner) -> None:
    trial = trial_of(load_method(layout, "lrssl"), problems.ordinary(), "corrected", fit_seed=0)
    start = run(lrssl, trial)[1]["G0_1"]
    # R's first draws after set.seed(0)
    np.testing.assert_allclose(start[:3, 0], [0.8966972, 0.2655087, 0.3721239], atol=1e-7)
