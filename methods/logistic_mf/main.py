"""LogisticMF: vectors and biases from the known associations alone; scores are probabilities."""

from __future__ import annotations

import numpy as np
from logistic import Side, fit, initial_sides, probabilities, weight
from repurposing_sdk import Answer, Array, Problem, run


def fit_predict(problem: Problem) -> Answer:
    """Fit on diseases x drugs, score drugs x diseases."""
    chosen = dict(problem.parameters)
    known = np.ascontiguousarray(problem.associations.T == 1)
    stream = np.random.RandomState(chosen.pop("fit_seed"))
    users, items = initial_sides(known.shape, chosen.pop("num_factors"), stream)
    trace = {"alpha": np.array(weight(known)), **arrays("user", users, "0"), **arrays("item", items, "0")}
    fit(users, items, known, **chosen)
    trace |= {**arrays("user", users), **arrays("item", items)}
    return Answer(probabilities(users, items).T, chosen["iterations"], trace)


def arrays(name: str, side: Side, suffix: str = "") -> dict[str, Array]:
    """A side's parts by their names in the goldens."""
    return {f"{name}_vectors{suffix}": side.vectors.copy(), f"{name}_biases{suffix}": side.biases.copy()}


run(fit_predict)
