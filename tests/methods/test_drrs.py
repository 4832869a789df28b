"""DRRS against its definition, transcribed here from the formulas with numpy's own decomposition."""

from __future__ import annotations

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
from harness.images import ensure_image
from harness.methods.card import load_method
from tests.methods.octave import Octave
from tests.methods.trials import ONE_MODEL

Matrix = npt.NDArray[np.float64]

CODE = """
  [P, known] = block_network (read_npy ("/in/S.npy"), read_npy ("/in/D.npy"), read_npy ("/in/A.npy"));
  write_npy ("/out/P.npy", P);
  write_npy ("/out/known.npy", known);
  p = read_npy ("/in/parameters.npy");
  write_npy ("/out/X.npy", svt_steps (P, known, p(1), p(2), p(3)));
  printf ("%s", svd_driver ());
"""


@pytest.fixture
def octave(engine: Engine, repository: Layout, tmp_path: Path) -> Octave:
    inward, outward = tmp_path / "in", tmp_path / "out"
    inward.mkdir()
    outward.mkdir()
    outward.chmod(0o777)
    return Octave(engine, ensure_image(engine, repository, "drrs").image_id, inward, outward)


@pytest.mark.engine
def test_zero_similarities_are_known_and_negative_labels_are_not(octave: Octave) -> None:
    S, D, A = np.array([[1.0, 0.0], [-2.0, 1.0]]), np.array([[3.0]]), np.array([[1], [-1]], dtype=np.int8)
    octave(CODE, {"S": S, "D": D, "A": A, "parameters": np.array([3.0, 1.0, 1.0])})
    np.testing.assert_array_equal(octave.written("P"), [[1, 0, 1], [-2, 1, 0], [1, 0, 3]])
    np.testing.assert_array_equal(octave.written("known"), [[1, 1, 1], [1, 1, 0], [1, 0, 1]])


@pytest.mark.engine
@pytest.mark.parametrize("steps", [1, 2, 36])
@pytest.mark.parametrize(("tau", "delta"), [(20.0, 1.2), (3.0, 0.7)])
def test_the_matrix_is_that_of_the_definition(octave: Octave, tau: float, delta: float, steps: int) -> None:
    S, D, A = problem()
    driver = octave(CODE, {"S": S, "D": D, "A": A, "parameters": np.array([tau, delta, steps])})
    assert driver == "gesvd", "the caller's choice of driver was changed"
    P, known = network(S, D, A)
    assert np.abs(octave.written("X") - definition(P, known, tau, delta, steps)).max() < 1e-10


@pytest.mark.engine
def test_a_network_of_zeros_stays_zero(octave: Octave) -> None:
    zeros = np.zeros((3, 3))
    octave(CODE, {"S": zeros, "D": zeros, "A": zeros.astype(np.int8), "parameters": np.array([6.0, 1.0, 3.0])})
    assert not octave.written("X").any()


@pytest.mark.engine
def test_scores_are_the_lower_left_block_with_the_fitted_parameters(layout: Layout, engine: Engine) -> None:
    S, D, A = problem()
    inputs: dict[str, npt.NDArray[Any]] = {
        "associations": A,
        "folds": np.full(A.shape, TEST, dtype=np.int8),
        "drug_similarity": S,
        "disease_similarity": D,
    }
    card = load_method(layout, "drrs")
    trial = Trial(card, "repurposing", inputs, card.variant("published").parameters, seed=1, options=ONE_MODEL)
    with InContainers(layout, engine)(trial) as result:
        assert result.verdict is Verdict.OK, result.reason
        found = np.load(result.out / "predictions.npy").reshape(A.shape)
    P, known = network(S, D, A)
    X = definition(P, known, float(len(P)), float(np.sqrt(P.size / known.sum())), 36)
    drugs = len(S)
    assert np.abs(found - X[drugs:, :drugs].T).max() < 1e-10
    assert np.abs(found - X[:drugs, drugs:]).max() > 1e-3


def test_the_card_says_that_it_is_no_reproduction(layout: Layout) -> None:
    assert "re-implementation with fitted parameters" in load_method(layout, "drrs").title.lower()


def problem() -> tuple[Matrix, Matrix, npt.NDArray[np.int8]]:
    """Signed similarities that are not symmetric, as standardised features are, and labels of all kinds."""
    numbers = np.random.default_rng(5)
    A = numbers.choice(np.array([0, 1, -1], dtype=np.int8), p=[0.7, 0.2, 0.1], size=(23, 11))
    return numbers.normal(size=(23, 23)), numbers.normal(size=(11, 11)), A


def network(S: Matrix, D: Matrix, A: npt.NDArray[np.int8]) -> tuple[Matrix, Matrix]:
    positive = (A == 1).astype(np.float64)
    P = np.block([[S, positive], [positive.T, D]])
    known = np.block([[np.ones_like(S), positive], [positive.T, np.ones_like(D)]])
    return P, known


def definition(P: Matrix, known: Matrix, tau: float, delta: float, steps: int) -> Matrix:
    Y = np.ceil(tau / (delta * np.linalg.svd(P, compute_uv=False)[0])) * delta * P
    X = np.zeros_like(P)
    for _ in range(steps):
        U, s, Vt = np.linalg.svd(Y)
        X = (U * np.maximum(s - tau, 0)) @ Vt
        Y = Y + delta * known * (P - X)
    return X
