"""What trials of methods of `repurposing` are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.benchmarks.repurposing.conformance.problems import Problem
from harness.methods.card import MethodCard

# a single fit, on all training pairs
ONE_MODEL: Mapping[str, int] = {"inner_folds": 0}


def arrays_of(
    problem: Problem, card: MethodCard, options: Mapping[str, int] = ONE_MODEL
) -> dict[str, npt.NDArray[Any]]:
    """A problem's inputs as arrays, in a dictionary that a test may change."""
    return {name: np.asarray(given) for name, given in problem.inputs(card, options).items()}
