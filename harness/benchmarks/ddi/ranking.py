"""Pairs with new drugs and the types they are predicted to have: what `harness predict` lists."""

from __future__ import annotations

import numpy as np

from harness.benchmarks.ddi.answer import Scores
from harness.benchmarks.ddi.dataset import DdiDataset
from harness.benchmarks.ddi.metrics.pairs import asked_pairs
from harness.benchmarks.ddi.splits.parts import PartSplit
from harness.benchmarks.ranking import Ranking


def rank_types(dataset: DdiDataset, split: PartSplit, predictions: Scores, top: int | None) -> Ranking:
    """Of data with one type a pair, each pair's best type; of others, every type of every pair. Best first."""
    pairs = asked_pairs(dataset, split).pairs
    mask = np.ones(predictions.shape, dtype=bool)
    if not dataset.multilabel:
        mask = np.arange(dataset.types) == predictions.argmax(axis=1)[:, None]
    rows, types = np.nonzero(mask)
    scores = predictions[mask]
    best = np.argsort(-scores, kind="stable")[:top]
    heads, tails = pairs[rows[best]].T
    names = zip(heads.tolist(), tails.tolist(), types[best].tolist(), scores[best].tolist(), strict=True)
    return Ranking(
        ("head", "tail", "type", "score"),
        tuple(
            (dataset.drug_ids[head], dataset.drug_ids[tail], dataset.type_names[kind], score)
            for head, tail, kind, score in names
        ),
    )
