"""EmerGNN: messages along paths between two drugs, through interactions and a knowledge graph, gated by pair."""

from __future__ import annotations

import numpy as np
from ddi_sdk import SETTINGS, Answer, Problem, run
from training import Setting


def fit_predict(problem: Problem) -> Answer:
    """A model for each setting that is asked for."""
    scores = np.zeros((len(problem.test_pairs), problem.types), dtype=np.float32)
    fits = {}
    for setting in np.unique(problem.test_setting).tolist():
        fit = fits[SETTINGS[setting]] = Setting(problem, setting).fit()
        scores[problem.test_setting == setting] = (
            1 / (1 + np.exp(-fit.scores)) if problem.multilabel else fit.scores
        )
    return Answer(
        scores,
        int(problem.parameters["epochs"]),
        {name: fit.epoch for name, fit in fits.items()},
        [loss for fit in fits.values() for loss in fit.losses],
        {name: fit.metric for name, fit in fits.items() if fit.metric is not None},
    )


run(fit_predict)
