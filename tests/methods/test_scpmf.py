"""SCPMF against its definition, and the demonstration that signed similarities make it chaotic."""

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

pytestmark = pytest.mark.engine

Matrix = npt.NDArray[np.float64]

FACTORISE = """
  r = read_npy ("/in/r.npy");
  scores = SCPMFDR (read_npy ("/in/Y.npy"), read_npy ("/in/M.npy"), read_npy ("/in/D.npy"), r);
  [W, H] = starting_factors (size (scores), r);
  write_npy ("/out/scores.npy", scores);
  write_npy ("/out/W.npy", W);
  write_npy ("/out/H.npy", H);
"""
# a function of the command line goes before a file of the same name
DISTURB = """
  function [W, H] = starting_factors (shape, r)
    rand ("state", 0);
    H = rand (shape(2), r).';
    W = read_npy ("/in/W0.npy");
    W .*= 1 + 1e-13 * sin (reshape (1:numel (W), size (W)));
  endfunction
"""
CLEAN = """
  X = nonnegative_similarity (read_npy ("/in/features.npy"), read_npy ("/in/correlations.npy"));
  write_npy ("/out/X.npy", X);
"""


@pytest.fixture
def octave(engine: Engine, repository: Layout, tmp_path: Path) -> Octave:
    inward, outward = tmp_path / "in", tmp_path / "out"
    inward.mkdir()
    outward.mkdir()
    outward.chmod(0o777)
    return Octave(engine, ensure_image(engine, repository, "scpmf").image_id, inward, outward)


@pytest.mark.parametrize("shape", [(17, 9), (9, 17)], ids=["more drugs", "more diseases"])
def test_scores_are_those_of_the_definition(octave: Octave, shape: tuple[int, int]) -> None:
    Y, M, D = problem(shape)
    octave(FACTORISE, {"Y": Y, "M": M, "D": D, "r": np.array(4.0)})
    W, H = octave.written("W"), octave.written("H")
    smaller = min(shape)
    assert W.shape == (4, shape[0])
    assert H.shape == (4, shape[1])
    # both are drawn from the same state, column by column of entities x r
    np.testing.assert_array_equal(W[0, :smaller], H[0, :smaller])
    expected = definition(Y, M, D, W, H)
    assert np.abs(octave.written("scores") - expected).max() < 1e-11


def test_features_that_are_no_similarity_give_way_to_correlations_and_nothing_is_negative(octave: Octave) -> None:
    square = np.array([[1.0, -0.5], [np.nan, 2.0]])
    octave(CLEAN, {"features": square, "correlations": np.ones((2, 2))})
    np.testing.assert_array_equal(octave.written("X"), [[1.0, 0.0], [0.0, 2.0]])
    octave(CLEAN, {"features": np.ones((2, 3)), "correlations": np.array([[1.0, -0.3], [-0.3, 1.0]])})
    np.testing.assert_array_equal(octave.written("X"), np.eye(2))


def test_finding_signed_similarities_make_the_updates_chaotic(octave: Octave) -> None:
    """One part in 10^13 of the starting factors decides the published answer and not the corrected one."""
    Y, M, D = problem((60, 40))
    before, after = disturbed(octave, Y, M, D)
    assert (before >= 0).all()
    assert np.abs(before - after).max() < 1e-9
    before, after = disturbed(octave, Y, standardised(M), standardised(D))
    assert (before < 0).any(), "positivity is kept, so the finding is not shown here"
    assert abs(np.corrcoef(ranks(before), ranks(after))[0, 1]) < 0.3


def test_only_the_corrected_variant_takes_signs_away(layout: Layout, engine: Engine) -> None:
    Y, M, D = problem((12, 8))
    inputs: dict[str, npt.NDArray[Any]] = {
        "associations": Y.astype(np.int8),
        "folds": np.full(Y.shape, TEST, dtype=np.int8),
        "drug_features": M,
        "disease_features": D,
        "drug_similarity": standardised(M),
        "disease_similarity": standardised(D),
    }
    card = load_method(layout, "scpmf")
    runs = InContainers(layout, engine)
    for variant, signed in {"published": True, "corrected": False}.items():
        trial = Trial(
            card,
            "repurposing",
            inputs,
            card.variant(variant).parameters,
            seed=1,
            variant=variant,
            options=ONE_MODEL,
        )
        with runs(trial) as result:
            assert result.verdict is Verdict.OK, result.reason
            assert bool((np.load(result.out / "predictions.npy") < 0).any()) is signed


def disturbed(octave: Octave, Y: Matrix, M: Matrix, D: Matrix) -> tuple[Matrix, Matrix]:
    """The scores from the method's own starting factors, and from those disturbed in their last digits."""
    arrays = {"Y": Y, "M": M, "D": D, "r": np.array(15.0)}
    octave(FACTORISE, arrays)
    before = octave.written("scores").ravel()
    octave(DISTURB + FACTORISE, arrays | {"W0": octave.written("W")})
    return before, octave.written("scores").ravel()


def ranks(values: Matrix) -> Matrix:
    return np.argsort(np.argsort(values)).astype(np.float64)


def standardised(X: Matrix) -> Matrix:
    centred: Matrix = (X - X.mean(axis=0)) / X.std(axis=0)
    return centred


def problem(shape: tuple[int, int]) -> tuple[Matrix, Matrix, Matrix]:
    """Labels and non-negative symmetric similarities."""
    numbers = np.random.default_rng(3)
    Y = (numbers.random(shape) < 0.2).astype(np.float64)
    M, D = (numbers.random((size, size)) for size in shape)
    return Y, (M + M.T) / 2, (D + D.T) / 2


def definition(Y: Matrix, M: Matrix, D: Matrix, W: Matrix, H: Matrix) -> Matrix:
    known = (Y != 0).astype(np.float64)
    for _ in range(999):
        over = H @ (Y * known).T + 0.2 * W @ M
        under = H @ ((H.T @ W) * known.T) + W + 0.2 * W @ W.T @ W
        W = W * over / under
        over = W @ (Y * known) + 0.2 * H @ D
        under = W @ ((W.T @ H) * known) + H + 0.2 * H @ H.T @ H
        H = H * over / under
    return W.T @ H
