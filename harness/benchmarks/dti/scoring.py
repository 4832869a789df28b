"""Answers: a score for every test pair, every metric of these, or why there is none, and their ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.benchmarks.answers import check_report, read_numbers
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.metrics.affinities import affinity_metrics
from harness.benchmarks.dti.metrics.bindings import binding_metrics
from harness.benchmarks.dti.metrics.ranking import best_rows, ranking_metrics
from harness.benchmarks.dti.metrics.within import within_metrics
from harness.benchmarks.dti.names import AFFINITY, BINDING, METRICS, RANKING, SCORES, WITHIN
from harness.benchmarks.dti.splits.pairs import NEGATIVE, PairSplit
from harness.benchmarks.measures import Scoring
from harness.benchmarks.ranking import Ranking

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ScoreQuestion:
    """How many pairs are scored."""

    pairs: int

    def read(self, folder: Path) -> Scores:
        """Finite scores, one for each pair in the order of the split; an error says why a file is no answer."""
        check_report(folder)
        scores: Scores = read_numbers(folder, SCORES, "<f8", (self.pairs,), ("pair",))
        return scores


class DtiScoring(Scoring[DtiDataset, PairSplit, Scores]):
    """Bindings are ranked and cut at one half, affinities are compared with the measured ones."""

    metrics = METRICS
    predicting = "new_nodes"

    def question(self, dataset: DtiDataset, split: PairSplit, options: Mapping[str, int]) -> ScoreQuestion:
        """How many pairs a run scores."""
        return ScoreQuestion(split.test)

    def score(
        self, dataset: DtiDataset, split: PairSplit, answer: Scores, parameters: Mapping[str, Any]
    ) -> tuple[dict[str, float | None], dict[str, str]]:
        """Every metric, None where it is undefined, and the reason for each None."""
        values: dict[str, float | str]
        if dataset.affinity:
            truth = split.values_on(dataset)[split.asked]
            values = {metric.name: "not a metric of affinities" for metric in (*BINDING, *WITHIN, *RANKING)}
            values |= affinity_metrics(truth, answer)
        else:
            values = {metric.name: "not a metric of bindings" for metric in AFFINITY}
            _, drugs, targets, items = split.rows[split.asked].T
            binds = items != NEGATIVE
            values |= binding_metrics(binds, answer) | within_metrics(binds, answer, drugs, targets)
            # who searches drugs for one target asks of the target
            queries = targets if len(targets) and targets.min() == targets.max() else drugs
            values |= ranking_metrics(binds, answer, queries)
        notes = {name: value for name, value in values.items() if isinstance(value, str)}
        return {name: None if isinstance(value, str) else value for name, value in values.items()}, notes


def rank_pairs(dataset: DtiDataset, split: PairSplit, scores: Scores, top: int | None) -> Ranking:
    """Every asked pair, the best first: what `harness predict` lists."""
    best = best_rows(scores, np.zeros(len(scores), dtype=np.int8), len(scores) if top is None else top)
    rows = zip(split.rows[split.asked][best, 1:3].tolist(), scores[best].tolist(), strict=True)
    return Ranking(
        ("drug", "target", "score"),
        tuple((dataset.drug_ids[drug], dataset.target_ids[target], score) for (drug, target), score in rows),
    )


SCORING = DtiScoring()
