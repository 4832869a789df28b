"""Box plots equal what their definition gives."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.study.svg import Box


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
