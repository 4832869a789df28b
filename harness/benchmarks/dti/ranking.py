"""Drugs and targets by their scores: what `harness predict` lists."""

from __future__ import annotations

import numpy as np

from harness.benchmarks.dti.answer import Scores
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.metrics.ranking import best_rows
from harness.benchmarks.dti.splits.pairs import PairSplit
from harness.benchmarks.ranking import Ranking


def rank_pairs(dataset: DtiDataset, split: PairSplit, scores: Scores, top: int | None) -> Ranking:
    """Every asked pair, the best first."""
    best = best_rows(scores, np.zeros(len(scores), dtype=np.int8), len(scores) if top is None else top)
    rows = zip(split.rows[split.asked][best, 1:3].tolist(), scores[best].tolist(), strict=True)
    return Ranking(
        ("drug", "target", "score"),
        tuple((dataset.drug_ids[drug], dataset.target_ids[target], score) for (drug, target), score in rows),
    )
