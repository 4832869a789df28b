"""BNNR against its definition, transcribed here from the formulas with numpy's own decomposition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.layout import Layout
from harness.engine import Engine
from harness.images import ensure_image
from tests.methods.octave import Octave

pytestmark = pytest.mark.engine

Matrix = npt.NDArray[np.float64]

CODE = """
  T = read_npy ("/in/T.npy");
  known = read_npy ("/in/known.npy");
  p = read_npy ("/in/parameters.npy");
  [W, iter] = BNNR (p(1), p(2), T, double (known), p(3), p(4), p(5), p(6), p(7));
  write_npy ("/out/W.npy", W);
  printf ("%d %s", iter, svd_driver ());
"""


@pytest.fixture
def octave(engine: Engine, repository: Layout, tmp_path: Path) -> Octave:
    inward, outward = tmp_path / "in", tmp_path / "out"
    inward.mkdir()
    outward.mkdir()
    outward.chmod(0o777)
    return Octave(engine, ensure_image(engine, repository, "bnnr").image_id, inward, outward)


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "not symmetric"])
@pytest.mark.parametrize(
    "parameters",
    [
        (1.0, 10.0, 2e-3, 1e-5, 300, 0.0, 1.0),
        (3.0, 2.0, 1e-4, 1e-6, 300, -0.5, 0.7),
        (1.0, 10.0, 1e-12, 1e-12, 6, 0.0, 1.0),
        (1.0, 10.0, 1e-12, 1e-12, 2, 0.0, 1.0),
        (1.0, 10.0, 1e-12, 1e-12, 1, 0.0, 1.0),
    ],
    ids=["published", "other weights and bounds", "stopped at 6", "stopped at 2", "stopped at 1"],
)
def test_the_matrix_and_the_count_of_iterations_are_those_of_the_definition(
    octave: Octave, symmetric: bool, parameters: tuple[float, ...]
) -> None:
    numbers = np.random.default_rng(11)
    T = numbers.normal(size=(40, 6)) @ numbers.normal(size=(6, 40)) / 4
    T = (T + T.T) / 2 if symmetric else T
    # not only zeros are unknown: what lies under the mask's zeros must not matter after the start
    known = (numbers.random(T.shape) < 0.7).astype(np.uint8)
    expected, iterations = _definition(T, known.astype(float), *parameters)
    printed = octave(CODE, {"T": T, "known": known, "parameters": np.array(parameters)})
    assert printed == f"{iterations} gesvd", "the count differs, or the caller's choice of driver was changed"
    assert np.abs(octave.written("W") - expected).max() < 1e-11


def _definition(
    T: Matrix,
    known: Matrix,
    alpha: float,
    beta: float,
    tol1: float,
    tol2: float,
    maxiter: float,
    a: float,
    b: float,
) -> tuple[Matrix, int]:
    X = W = Y = T
    i, stop1, stop2 = 1, 1.0, 1.0
    while stop1 > tol1 or stop2 > tol2:
        Z = (Y + alpha * (T * known)) / beta + X
        W = np.clip(Z - (alpha / (alpha + beta)) * (Z * known), a, b)
        U, s, Vt = np.linalg.svd(W - Y / beta)
        X_new = (U * np.maximum(s - 1 / beta, 0)) @ Vt
        Y = Y + beta * (X_new - W)
        before, stop1 = stop1, float(np.linalg.norm(X_new - X) / np.linalg.norm(X))
        stop2 = abs(stop1 - before) / max(1.0, abs(before))
        X = X_new
        i += 1
        if i >= maxiter:
            return W, int(maxiter)
    return W, i - 1
