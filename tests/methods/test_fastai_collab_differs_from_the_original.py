"""The Fast.ai collab learner against its goldens, and what drugs, diseases and folds without labels come to."""

from __future__ import annotations

import numpy as np
import pytest

from harness.base.layout import Layout
from harness.benchmarks.repurposing.conformance import problems
from harness.benchmarks.repurposing.conformance.problems import INNER_FOLDS, Problem
from harness.benchmarks.repurposing.splits.folds import TEST
from harness.engine import Engine
from harness.execution.trials import InContainers, Trial
from harness.methods.card import load_method
from tests.methods.trials import arrays_of

pytestmark = pytest.mark.engine
NAME = "fastai_collab"


def trial_of(layout: Layout, problem: Problem, inner_folds: int) -> Trial:
    card = load_method(layout, NAME)
    options = {"inner_folds": inner_folds}
    given = arrays_of(problem, card, options)
    parameters = card.variant("published").parameters
    return Trial(card, "repurposing", given, parameters, seed=1, options=options)


def test_drugs_without_a_label_share_one_embedding(layout: Layout, engine: Engine) -> None:
    trial = trial_of(layout, problems.ordinary(), 0)
    labels = trial.inputs["associations"].copy()
    labels[[2, 5]] = 0
    trial.inputs["associations"][:], trial.inputs["folds"][:] = labels, TEST
    with InContainers(layout, engine)(trial) as result:
        scores = np.load(result.out / "predictions.npy").reshape(labels.shape)
    np.testing.assert_array_equal(scores[2], scores[5])
    known = labels.any(axis=1)
    assert len(np.unique(scores[known], axis=0)) == known.sum()
    assert (np.abs(scores) < 1).all()


def test_a_fold_without_labels_scores_zero_and_the_others_learn(layout: Layout, engine: Engine) -> None:
    with InContainers(layout, engine)(trial_of(layout, problems.with_one_positive(), INNER_FOLDS)) as result:
        scores = np.load(result.out / "predictions.npy")
    assert not scores[0].any()
    assert scores[1:].all()
