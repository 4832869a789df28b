"""Similarities of drugs whose fingerprints hold large counts are as exact as those of small ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from harness.benchmarks.ddi.splits.drugs.similarity import pairs_between


@pytest.mark.parametrize("size", [3, 4095, 4999, 5791, 8191, 40_001])
def test_a_similarity_is_exact_whatever_its_counts(size: int) -> None:
    # the last one has small counts, and is compared beside the others
    counts = np.array([[size, 1], [size + 2, 0], [1, 1]], dtype=np.int32)
    one, other, _ = ([int(value) for value in row] for row in counts)
    dot = sum(left * right for left, right in zip(one, other, strict=True))
    norms = sum(value**2 for value in one) + sum(value**2 for value in other)
    exact = Fraction(dot, norms - dot)
    for ours, theirs in (([0], [1]), ([2, 0], [2, 1])):
        found = pairs_between(counts, np.array(ours), np.array(theirs), 0.5)
        pairs = zip(found.first.tolist(), found.second.tolist(), found.similarity.tolist(), strict=True)
        told = {(first, second): similarity for first, second, similarity in pairs}
        assert told.pop((2, 2), 1.0) == 1.0
        assert told == {(0, 1): pytest.approx(float(exact), rel=1e-14)}
