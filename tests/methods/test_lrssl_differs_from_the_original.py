"""LRSSL against its equations, written down plainly here, on similarities that are not symmetric."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from harness.conformance import problems
from harness.layout import Layout
from harness.methods import load_method
from harness.trials import Trial
from tests.methods.host import OnThisMachine

Matrix = npt.NDArray[np.float64]


def indications(Y: Matrix, X_p: Matrix) -> Matrix:
    """The largest similarity of a disease of drug i to a disease of drug j, for i < j, mirrored."""
    S = np.zeros((len(Y), len(Y)))
    for i in range(len(Y)):
        for j in range(i + 1, len(Y)):
            block = X_p[Y[i] == 1][:, Y[j] == 1]
            S[i, j] = S[j, i] = block.max() if block.size else 0.0
    return S


def features(X: Matrix) -> Matrix:
    """X'X over one number, zero diagonal; X is features x drugs."""
    c = X.sum(axis=0)
    S = X.T @ X / np.sqrt(c @ c)
    np.fill_diagonal(S, 0)
    return np.asarray(S)


def neighbours(S: Matrix, k: int) -> Matrix:
    K = np.zeros(S.shape)
    for i, row in enumerate(S):
        nearest = np.argsort(-row, kind="stable")[:k]
        K[i, nearest] = K[nearest, i] = 1
    return K


def fit(X: Matrix, graphs: list[Matrix], Y: Matrix, G: Matrix, p: dict[str, float]) -> tuple[Matrix, Matrix, int]:
    """Scores, projection and number of steps, by the equations of the card."""
    n, mu = len(Y), p["mu"]
    Ls = [np.diag(K.sum(axis=0)) - K for K in graphs]
    a = np.full(2, 0.5)
    steps, change = 0, float(np.inf)
    while change >= p["tol"] and steps < p["maxiter"]:
        steps += 1
        P = np.linalg.inv(sum(w ** p["gam"] * L for w, L in zip(a, Ls, strict=True)) + (1 + mu) * np.eye(n))
        F = P @ (Y + mu * X.T @ G)
        A = X @ (mu * np.eye(n) - mu**2 * P.T) @ X.T + p["lam"]
        B = mu * X @ P @ Y
        up = (np.abs(B) + B) / 2 + (np.abs(A) - A) / 2 @ G
        down = (np.abs(B) - B) / 2 + (np.abs(A) + A) / 2 @ G
        new = G * np.sqrt(up / down)
        a = np.array([(1 / np.trace(F.T @ L @ F)) ** (1 / (p["gam"] - 1)) for L in Ls])
        a /= a.sum()
        change = float(np.linalg.norm(new - G) / np.linalg.norm(G))
        G = new
    raw = X @ G
    return a[0] * raw / raw.sum(axis=1, keepdims=True), G, steps


@pytest.mark.parametrize("variant", ["published", "corrected"])
@pytest.mark.parametrize("square", [False, True])
def test_it_follows_its_equations(layout: Layout, tmp_path: Path, variant: str, square: bool) -> None:
    card = load_method(layout, "lrssl")
    problem = problems.with_more_diseases() if square else problems.with_negatives()
    inputs = problem.inputs(card, 0)
    parameters = card.variant(variant).parameters
    trial = Trial(card, "repurposing", inputs, parameters, seed=1, variant=variant, trace=True)
    with OnThisMachine(layout, tmp_path)(trial) as result:
        assert result.verdict == "ok", result.reason
        traced = {path.stem: np.load(path) for path in (result.out / "trace").iterdir()}
        scores = np.load(result.out / "predictions.npy")[0]
    Y = inputs["associations"].astype(float)
    S1, S2 = features(inputs["drug_standardised"].T), indications(Y, inputs["disease_similarity"])
    np.testing.assert_allclose(traced["S1"], S1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(traced["S2"], S2, rtol=0, atol=1e-12)
    graphs = [S1, S2] if variant == "published" else [neighbours(S, 10) for S in (S1, S2)]
    np.testing.assert_allclose(traced["K1"], graphs[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(traced["K2"], graphs[1], rtol=0, atol=1e-12)
    numbers = {name: float(parameters[name]) for name in ("mu", "lam", "gam", "tol", "maxiter")}
    expected, G, steps = fit(inputs["drug_similarity"], graphs, Y, traced["G0_1"], numbers)
    assert int(traced["t"].item()) == steps
    np.testing.assert_allclose(traced["G_1"], G, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(scores, expected[inputs["folds"] == -1], rtol=1e-7, atol=1e-8)


def test_the_starting_projection_follows_its_own_seed(layout: Layout, tmp_path: Path) -> None:
    card = load_method(layout, "lrssl")
    inputs = problems.ordinary().inputs(card, 0)
    starts = []
    for seed, fit_seed in ((1, 0), (2, 0), (1, 1)):
        parameters = {**card.variant("published").parameters, "fit_seed": fit_seed}
        trial = Trial(card, "repurposing", inputs, parameters, seed=seed, trace=True)
        with OnThisMachine(layout, tmp_path)(trial) as result:
            starts.append(np.load(result.out / "trace" / "G0_1.npy"))
    np.testing.assert_array_equal(starts[0], starts[1])
    assert (starts[0] != starts[2]).any()
    # R's first draws after set.seed(0), down the first column
    np.testing.assert_allclose(starts[0][:3, 0], [0.8966972, 0.2655087, 0.3721239], atol=1e-7)
