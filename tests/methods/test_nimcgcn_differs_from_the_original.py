"""NIMCGCN against its definition, written down plainly here, and what its documented defects do."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.graph_networks import measure
from harness.base.layout import Layout
from harness.benchmarks.repurposing.conformance import problems
from harness.benchmarks.repurposing.splits.folds import TEST
from harness.engine import Engine
from harness.execution.trials import InContainers, Trial
from harness.methods.card import load_method
from tests.methods.trials import ONE_MODEL, arrays_of

pytestmark = pytest.mark.engine

Array = npt.NDArray[Any]


def inputs_with_odd_loops(layout: Layout) -> dict[str, Array]:
    """Similarities that are not symmetric, one without a similarity to itself and one with a negative one."""
    given = arrays_of(problems.with_negatives(), load_method(layout, "nimcgcn"))
    generator = np.random.default_rng(7)
    for name in ("drug_similarity", "disease_similarity"):
        given[name] = given[name] + generator.normal(scale=0.3, size=given[name].shape)
        given[name][2, 2], given[name][4, 4], given[name][1, 5] = 0.0, -0.5, 0.0
    # scores of all pairs, so that they can be compared with the labels they were fitted to
    given["folds"] = np.full_like(given["folds"], TEST)
    return given


def solve(
    layout: Layout, engine: Engine, given: dict[str, Array], variant: str = "published", **other: Any
) -> tuple[Array, dict[str, Array]]:
    card = load_method(layout, "nimcgcn")
    parameters = {**card.variant(variant).parameters, **other}
    trial = Trial(card, "repurposing", given, parameters, seed=1, variant=variant, options=ONE_MODEL, trace=True)
    with InContainers(layout, engine)(trial) as result:
        assert result.verdict == "ok", result.reason
        traced = {path.name.removesuffix(".npy"): np.load(path) for path in (result.out / "trace").iterdir()}
        return np.load(result.out / "predictions.npy").reshape(given["folds"].shape), traced


def convolution(X: Array, similarity: Array, W: Array, b: Array) -> Array:
    """Edge by edge: i -> j where similarity[i, j] is not 0, every node with an edge to itself."""
    nodes = range(len(similarity))
    edges = {(i, j): max(similarity[i, j], 0.0) for i in nodes for j in nodes if similarity[i, j] != 0}
    edges |= {(i, i): 1.0 for i in nodes if (i, i) not in edges}
    degree = np.zeros(len(similarity))
    for (_, j), weight in edges.items():
        degree[j] += weight
    out = np.zeros((len(similarity), len(W)))
    for (i, j), weight in edges.items():
        if weight > 0:
            out[j] += weight / np.sqrt(degree[i] * degree[j]) * (W @ X[i])
    return np.maximum(out + b, 0)


def scores_of(traced: dict[str, Array], given: dict[str, Array], when: str, noise: str) -> Array:
    weights = {name.removeprefix(f"{when}."): value.astype(float) for name, value in traced.items()}
    sides = []
    for side, kind, letter in (("x", "disease", "m"), ("y", "drug", "d")):
        X = traced[f"noise_{noise}_{letter}"].astype(float)
        for number in (1, 2):
            layer = f"gcn_{side}{number}"
            X = convolution(
                X, given[f"{kind}_similarity"], weights[f"{layer}.lin.weight"], weights[f"{layer}.bias"]
            )
        for number in (1, 2, 3):
            layer = f"linear_{side}_{number}"
            X = np.maximum(X @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"], 0)
        sides.append(X)
    return np.asarray(sides[1] @ sides[0].T)


def test_scores_follow_from_weights_and_the_last_noise(layout: Layout, engine: Engine) -> None:
    given = inputs_with_odd_loops(layout)
    scores, traced = solve(layout, engine, given)
    expected = scores_of(traced, given, "final", "predict")
    assert expected.any()
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-5 * expected.max())


def test_the_first_step_goes_down_the_loss(layout: Layout, engine: Engine) -> None:
    given = inputs_with_odd_loops(layout)
    _, traced = solve(layout, engine, given, epoch=1)
    ones = given["associations"] == 1

    def loss(changed: dict[str, Array]) -> float:
        s = scores_of({**traced, **changed}, given, "init", "first")
        return float(0.8 * ((s - 1)[ones] ** 2).sum() + 0.2 * (s[~ones] ** 2).sum())

    generator = np.random.default_rng(11)
    looked_at = 0
    for name in ("gcn_x1.lin.weight", "gcn_y2.bias", "linear_x_2.weight", "linear_y_3.bias"):
        start = traced[f"init.{name}"].astype(float)
        for _ in range(3):
            place = tuple(generator.integers(0, length) for length in start.shape)
            step = np.zeros_like(start)
            step[place] = 1e-4
            slope = (loss({f"init.{name}": start + step}) - loss({f"init.{name}": start - step})) / 2e-4
            if abs(slope) < 1e-3:
                continue
            looked_at += 1
            # Adam's first step has the learning rate's length, whatever the slope's
            moved = float(traced[f"final.{name}"][place] - traced[f"init.{name}"][place])
            assert moved == pytest.approx(-1e-3 * np.sign(slope), rel=1e-2)
    assert looked_at >= 4


def test_published_predictions_change_when_asked_again_and_corrected_ones_do_not(
    layout: Layout, engine: Engine
) -> None:
    given = inputs_with_odd_loops(layout)
    once, again = (solve(layout, engine, given, predictions=count)[0] for count in (1, 2))
    assert np.abs(once - again).max() > 0.3 * np.std(once)
    _, traced = solve(layout, engine, given, "corrected", predictions=2)
    for side in "md":
        np.testing.assert_array_equal(traced[f"noise_first_{side}"], traced[f"noise_predict_{side}"])


def test_the_printed_alpha_drives_every_score_to_zero(layout: Layout, engine: Engine) -> None:
    given = inputs_with_odd_loops(layout)
    scores, _ = solve(layout, engine, given, "as_printed", epoch=60)
    assert np.count_nonzero(scores) == 0


def test_it_equals_the_same_steps_on_the_originals_library(layout: Layout, engine: Engine) -> None:
    """Edges without a weight, loops left out and negative loops: all treated as PyTorch Geometric treats them."""
    given = inputs_with_odd_loops(layout)
    found = measure(
        engine,
        layout,
        "nimcgcn",
        {
            "S": given["drug_similarity"],
            "P": given["disease_similarity"],
            "A": given["associations"],
            "training": np.ones_like(given["associations"]),
        },
        steps=3,
    )
    assert found["apart"] < 1e-5
