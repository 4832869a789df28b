"""Notes in another order, and the way back for the lines of an answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from harness.benchmarks.notes import ANSWER

from harness.base.input_files import Given
from harness.benchmarks.order import Arrangement, permutation, places_of


def in_order(inputs: Mapping[str, Given], order: str) -> Arrangement:
    """Every list follows one permutation; a run is asked for the notes in their new order."""
    moved = permutation(order, "notes", len(inputs["documents"]))
    published = np.asarray(inputs["asked"])
    asked = np.sort(places_of(moved)[published])
    lines = np.searchsorted(asked, places_of(moved)[published])
    return Arrangement(
        {
            "documents": [inputs["documents"][place] for place in moved],
            "subjects": [inputs["subjects"][place] for place in moved],
            "asked": asked.astype(np.int32),
        },
        {ANSWER: lambda given: [given[line] for line in lines]},
    )
