"""DTINet against plain definitions of its steps: golden cases of other numbers and sizes than published ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.dti.conformance import problems
from harness.engine import Engine
from harness.execution.trials import InContainers, Trial
from harness.methods.card import load_method
from harness.parity import CaseFinding, check_cases, find_cases
from harness.parity.finding import Standing
from tests.parity.plain import dtinet as plain

pytestmark = pytest.mark.engine


@pytest.fixture
def files() -> dict[str, Any]:
    return plain.golden_files(np.random.default_rng(20260303))


def check(layout: Layout, engine: Engine, folder: Path, files: dict[str, Any]) -> list[CaseFinding]:
    (folder / "dti").mkdir()
    for name, arrays in files.items():
        np.savez(folder / "dti" / f"{name}.npz", **arrays)
    card = load_method(layout, "dtinet")
    return list(check_cases(layout, find_cases(folder / "dti"), [card], InContainers(layout, engine)))


def test_every_step_agrees_at_all_sizes(
    layout: Layout, engine: Engine, tmp_path: Path, files: dict[str, Any]
) -> None:
    found = check(layout, engine, tmp_path, files)
    assert {one.case for one in found} == set(files)
    assert not [one.as_json() for one in found if one.worst is not Standing.OK]
    compared = {array.array for one in found for array in one.arrays}
    assert compared == {name for arrays in files.values() for name in arrays if "_out_" in name}


def test_another_number_is_seen(layout: Layout, engine: Engine, tmp_path: Path, files: dict[str, Any]) -> None:
    """A row in place of another in one input of each file."""
    changed = {
        "dtinet_sim": "c10_in_M",
        "dtinet_rwr": "c10_in_A",
        "dtinet_dca": "c10_in_A4",
        "dtinet_imc": "c10_in_Y",
    }
    for name, array in changed.items():
        files[name][array][1] = files[name][array][0]
    found = check(layout, engine, tmp_path, files)
    assert {one.case: one.worst for one in found} == dict.fromkeys(changed, Standing.BEYOND)
    beyond = {one.case: {a.array.split("_")[0] for a in one.arrays if a.standing.is_bad} for one in found}
    assert all(cases == {"c10"} for cases in beyond.values())


@pytest.mark.parametrize("affinity", [False, True], ids=["bindings", "affinities"])
def test_an_answer_is_that_of_its_steps(layout: Layout, engine: Engine, affinity: bool) -> None:
    """From pairs and edges to scores; text files in between keep five digits."""
    card = load_method(layout, "dtinet")
    problem = problems.affinities() if affinity else problems.bindings()
    inputs = dict(problem.inputs(card, {}))
    # weights of squares that conjugate gradients need few products for: many make of another order another number
    chosen = {"dim_drug": 6, "dim_target": 40, "k": 3, "lambda": 100.0, "rounds": 2}
    parameters = {**card.variant("published").parameters, **chosen}
    with InContainers(layout, engine)(Trial(card, "dti", inputs, parameters, seed=1)) as result:
        assert result.verdict == "ok", result.reason
        scores = np.load(result.out / "scores.npy")
    expected = _answer(inputs, parameters)
    np.testing.assert_allclose(scores, expected, atol=1e-6 * np.abs(expected).max())


def test_data_without_networks_is_refused(layout: Layout, engine: Engine) -> None:
    card = load_method(layout, "dtinet")
    inputs = dict(problems.bindings().inputs(card, {}))
    inputs["target_similarity"] = np.empty((0, 0))
    edges, names = np.asarray(inputs["edges"]), list(inputs["relation_names"])
    inputs["edges"] = edges[[not names[relation].startswith("target") for relation in edges[:, 0]]]
    trial = Trial(card, "dti", inputs, card.variant("published").parameters, seed=1)
    with InContainers(layout, engine)(trial) as result:
        assert result.verdict == "error"
        assert "no relation with a target at one end and no target_similarity" in result.reason


def _answer(inputs: dict[str, Any], parameters: dict[str, Any]) -> plain.Matrix:
    drugs, targets, nodes, _ = inputs["sizes"]
    own = {"drug": range(drugs), "target": range(drugs, drugs + targets)}
    X, Y = (
        _digits(
            plain.components(
                _networks(inputs, list(range_), kind, int(nodes)),
                min(parameters[f"dim_{kind}"], len(range_)),
                parameters["restart"],
                parameters["maxiter"],
            )
        )
        for kind, range_ in own.items()
    )
    A = np.zeros((drugs, targets))
    A[tuple(inputs["train_pairs"].T)] = inputs["train_values"]
    W, H = plain.completion(A, X, Y, parameters["k"], parameters["lambda"], parameters["rounds"], 10)
    return np.asarray((X @ W @ H.T @ Y.T)[tuple(inputs["test_pairs"].T)])


def _networks(inputs: dict[str, Any], own: list[int], kind: str, nodes: int) -> list[plain.Matrix]:
    networks = []
    for relation in range(len(inputs["relation_names"])):
        M = np.zeros((nodes, nodes))
        for number, head, tail in inputs["edges"]:
            if number == relation:
                M[head, tail] = M[tail, head] = 1
        if M[own].any():
            networks.append(_digits(plain.jaccard(M[own])))
    given = inputs[f"{kind}_similarity"]
    return networks + ([np.asarray(given)] if given.size else [])


def _digits(X: plain.Matrix) -> plain.Matrix:
    return np.array([[float(f"{x:.5g}") for x in row] for row in X])
