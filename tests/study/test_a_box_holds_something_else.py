"""Box plots, scales and bins equal what their definition gives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.study.svg import Box, Scale, density, histogram


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30))
def test_a_box_holds_the_middle_half(values: list[float]) -> None:
    box = Box.of(np.array(values))
    assert box.low <= box.first + 1e-12 and box.third <= box.high + 1e-12
    assert box.first <= box.middle <= box.third
    reach = 1.5 * (box.third - box.first)
    outside = {value for value in values if value < box.first - reach or value > box.third + reach}
    assert set(box.outside) == outside
    for one, other in product(box.outside, (box.low, box.high)):
        assert one != other


def test_the_edges_of_a_box_are_quarters() -> None:
    box = Box.of(np.arange(101.0))
    assert (box.low, box.first, box.middle, box.third, box.high) == (0.0, 25.0, 50.0, 75.0, 100.0)
    assert Box.of(np.array([0.0, 1.0, 2.0, 3.0, 4.0, 60.0])).outside == (60.0,)


def test_a_scale_ends_at_its_edges() -> None:
    scale = Scale(0.0, 2.0, 100.0, 300.0)
    assert [scale(value) for value in (-1.0, 0.0, 0.5, 2.0, 9.0)] == [100.0, 100.0, 150.0, 300.0, 300.0]
    logarithmic = Scale(1.0, 100.0, 0.0, 10.0, logarithmic=True)
    values = (-1.0, 0.0, 0.1, 1.0, 10.0, 1000.0)
    assert [logarithmic(value) for value in values] == pytest.approx([0.0, 0.0, 0.0, 0.0, 5.0, 10.0])
    # upwards, as charts are
    assert Scale(0.0, 1.0, 200.0, 0.0)(0.25) == 150.0


def test_the_largest_bin_is_as_tall_as_its_cell() -> None:
    """Values beyond the ends are in the first and the last bin."""
    values = np.array([-5.0, 0.1, 0.1, 0.1, 0.6, 0.6, 7.0])
    assert histogram(values, 0.0, 1.0, 4) == [1.0, 0.0, 0.5, 0.25]
    assert histogram(np.array([]), 0.0, 1.0, 2) == [0.0, 0.0]
    shares = density(np.array([0.1, 0.1, 0.9]), np.array([0.9, 0.9, 0.1]), [(0.0, 1.0), (0.0, 1.0)], 2)
    assert shares.tolist() == [[0.0, 1.0], [0.5, 0.0]]
