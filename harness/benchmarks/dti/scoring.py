"""Every metric of bindings and of affinities, or the reason why there is none.

Nothing here raises for a degenerate test part: an undefined metric is None, and a reason says what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.benchmarks.dti.answer import ScoreQuestion, Scores
from harness.benchmarks.dti.dataset import DtiDataset
from harness.benchmarks.dti.metrics.affinities import affinity_metrics
from harness.benchmarks.dti.metrics.bindings import binding_metrics
from harness.benchmarks.dti.metrics.ranking import ranking_metrics
from harness.benchmarks.dti.names import AFFINITY, BINDING, METRICS, RANKING
from harness.benchmarks.dti.splits.pairs import NEGATIVE, PairSplit
from harness.benchmarks.measures import Scoring

# a metric, or why it is undefined
Value = float | str


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
        values: dict[str, Value]
        if dataset.affinity:
            truth = split.values_on(dataset)[split.asked]
            values = {metric.name: "not a metric of affinities" for metric in (*BINDING, *RANKING)}
            values |= affinity_metrics(truth, answer)
        else:
            values = {metric.name: "not a metric of bindings" for metric in AFFINITY}
            _, drugs, _, items = split.rows[split.asked].T
            binds = items != NEGATIVE
            values |= binding_metrics(binds, answer)
            values |= ranking_metrics(binds, answer, drugs)
        notes = {name: value for name, value in values.items() if isinstance(value, str)}
        return {name: None if isinstance(value, str) else value for name, value in values.items()}, notes


SCORING = DtiScoring()
