"""Similarities of drugs whose fingerprints hold large counts are as exact as those of small ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from harness.benchmarks.ddi.splits.drugs.similarity import pairs_between


@pytest.mark.parametrize("size", [3, 4095, 4999, 5791, 8191, 40_001])
def test_a_similarity_is_exact_whatever_its_counts(size: int) -> None:
    counts = np.array([[size, 1], [size + 2, 0]], dtype=np.int32)
    one, other = ([int(value) for value in row] for row in counts)
    dot = sum(left * right for left, right in zip(one, other, strict=True))
    norms = sum(value**2 for value in one) + sum(value**2 for value in other)
    exact = Fraction(dot, norms - dot)
    found = pairs_between(counts, np.array([0]), np.array([1]), 0.5)
    assert found.similarity.tolist() == [pytest.approx(float(exact), rel=1e-14)]
