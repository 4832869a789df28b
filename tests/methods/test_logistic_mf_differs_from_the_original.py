"""LogisticMF climbs as its plain transcription does, and shows where its probabilities end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.plain_factorisations import logistic_mf
from harness.base.layout import Layout
from tests.methods.labels_only import Labels, Matrix, NoAnswer, OnLabels, made_up


@pytest.fixture
def run(layout: Layout, tmp_path: Path) -> OnLabels:
    return OnLabels(layout, tmp_path, "logistic_mf")


def plainly(run: OnLabels, labels: Labels, **changed: Any) -> Matrix:
    return logistic_mf(np.ascontiguousarray(labels.T), **{**run.parameters(), **changed})


@pytest.mark.parametrize("shape", [(31, 23), (9, 40)], ids=str)
@pytest.mark.parametrize(
    "changed",
    [{}, {"num_factors": 5, "reg_param": 2.0, "gamma": 0.1}, {"iterations": 1}, {"iterations": 0}],
    ids=str,
)
def test_steps_are_those_of_the_plain_transcription(
    run: OnLabels, shape: tuple[int, int], changed: dict[str, Any]
) -> None:
    """With labels of -1, which count as not known."""
    labels = made_up(shape, negatives=True)
    expected = plainly(run, labels, **changed)
    np.testing.assert_allclose(run(labels, **changed).scores, expected, rtol=1e-9, atol=1e-300)


def test_small_probabilities_keep_their_order(run: OnLabels) -> None:
    """Taken as one minus its complement, a probability below 1e-16 would be a zero."""
    scores = run(made_up((40, 30)), gamma=15.0, iterations=2).scores
    assert (scores < 1e-16).sum() > 100
    assert len(np.unique(scores[scores < 1e-16])) > 100


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_an_overflow_is_not_taken_for_a_probability(run: OnLabels) -> None:
    labels = made_up((20, 12))
    assert np.isnan(plainly(run, labels, gamma=1000.0)).any()
    with pytest.raises(NoAnswer, match="invalid"):
        run(labels, gamma=1000.0)


def test_no_known_association_is_no_division_by_zero(run: OnLabels) -> None:
    answered = run(np.zeros((20, 12), dtype=np.int8))
    assert answered.trace["alpha"] == 0
    assert answered.scores.max() < 0.5
