"""Unknown pairs by their scores: what `harness predict` lists."""

from __future__ import annotations

import numpy as np

from harness.benchmarks.ranking import Ranking
from harness.benchmarks.repurposing.answer import Predictions
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, Folds


def rank_pairs(dataset: RepurposingDataset, folds: Folds, predictions: Predictions, top: int | None) -> Ranking:
    """The pairs that were asked, by the scores of the first model; equal ones in the order of the dataset."""
    scores = predictions.test[0]
    drugs, diseases = np.nonzero(folds == TEST)
    best = np.argsort(-scores, kind="stable")[:top]
    rows = ((dataset.drug_ids[drugs[one]], dataset.disease_ids[diseases[one]], float(scores[one])) for one in best)
    return Ranking(("drug", "disease", "score"), tuple(rows))
