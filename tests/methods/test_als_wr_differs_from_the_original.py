"""ALS-WR takes the original's steps in the original's order, defects included."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.layout import Layout
from harness.methods import load_method
from harness.splits.folds import TEST
from harness.trials import Trial
from tests.methods.host import OnThisMachine

Matrix = npt.NDArray[np.float64]
GOLDEN = "golden/repurposing/ALSWR_{}_17263407.npz"


@pytest.fixture(scope="module")
def als(repository: Layout) -> ModuleType:
    """The algorithm, which lies outside the package."""
    spec = importlib.util.spec_from_file_location("als", repository.methods / "als_wr" / "als.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def one_at_a_time(R: Matrix, Y: Matrix, alpha: float, reg: float) -> Matrix:
    """The half step as equations 4 and 5 say it, row by row and label by label."""
    solutions = []
    for row in R:
        M, b = Y.T @ Y + reg * np.eye(Y.shape[1]), np.zeros(Y.shape[1])
        for label, y in zip(row, Y, strict=True):
            if label:
                M = M + alpha * label * np.outer(y, y)
                b = b + (alpha * label + 1) * y
        solutions.append(np.linalg.solve(M, b))
    return np.array(solutions)


def labels(generator: np.random.Generator, shape: tuple[int, int]) -> Matrix:
    return generator.choice([0.0, 1.0, -1.0], p=[0.7, 0.2, 0.1], size=shape)


def test_sums_are_taken_in_the_original_order(als: ModuleType) -> None:
    generator = np.random.default_rng(1)
    R, Y = labels(generator, (9, 14)), generator.normal(size=(14, 4))
    R[3] = 0
    # to the last bit: with labels of -1 the iteration is chaotic
    np.testing.assert_array_equal(als.half_step(R, Y, 15.0, 0.01), one_at_a_time(R, Y, 15.0, 0.01))


def test_nothing_known_gives_factors_of_zero(als: ModuleType) -> None:
    assert not als.half_step(np.zeros((2, 5)), np.ones((5, 3)), 15.0, 0.01).any()


def test_drugs_beyond_the_number_of_diseases_keep_their_factors(als: ModuleType) -> None:
    generator = np.random.default_rng(2)
    R, U, V = labels(generator, (3, 8)), generator.normal(size=(3, 2)), generator.normal(size=(8, 2))
    updated = als.drug_half_step(R, U, V, 15.0, 0.01)
    np.testing.assert_array_equal(updated[3:], V[3:])
    np.testing.assert_array_equal(updated[:3], one_at_a_time(R.T[:3], U, 15.0, 0.01))


def test_the_starting_factors_of_drugs_follow_those_of_diseases(als: ModuleType) -> None:
    U, V = als.initial_factors((4, 6), 3, 1354)
    stream = np.random.RandomState(1354).normal(size=30)
    np.testing.assert_array_equal(np.concatenate([U.ravel(), V.ravel()]), stream)


@pytest.mark.parametrize("dataset", ["Fdataset", "Synthetic"])
def test_whole_runs_equal_the_goldens_with_the_kernels_they_were_made_with(
    layout: Layout, shared: Path, tmp_path: Path, dataset: str
) -> None:
    """Synthetic too, which is chaotic: not one bit may differ on the way."""
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("OpenBLAS's Haswell kernels need AVX2")
    golden: Any = np.load(shared / GOLDEN.format(dataset))
    card = load_method(layout, "als_wr")
    parameters = {**card.variant("published").parameters, "blas_kernels": "Haswell"}
    inputs = {"associations": golden["A_train"], "folds": np.full(golden["A_train"].shape, TEST, dtype=np.int8)}
    trial = Trial(card, "repurposing", inputs, parameters, seed=0, trace=True)
    with OnThisMachine(layout, tmp_path)(trial) as result:
        for name in ("user_factors", "item_factors"):
            found = np.load(result.out / "trace" / f"{name}.npy")
            np.testing.assert_allclose(found, golden[name], rtol=0, atol=1e-8)
