"""Drug repurposing: rank pairs of drugs and diseases. A method sees training labels and features, no truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from harness.benchmarks.contract import AnswerFile, Benchmark
from harness.benchmarks.repurposing.names import ANSWER_FILES, INPUTS, KEY_METRICS, ORDER_FREE_METRICS
from harness.benchmarks.repurposing.statistics import RepurposingOptions, RepurposingStatistics

if TYPE_CHECKING:
    from harness.base.input_files import Given
    from harness.benchmarks.order import Arrangement
    from harness.benchmarks.ranking import Ranking
    from harness.benchmarks.repurposing.answer import FoldQuestion, Predictions
    from harness.benchmarks.repurposing.dataset import RepurposingDataset
    from harness.benchmarks.repurposing.scoring import RepurposingScoring
    from harness.benchmarks.repurposing.splits.folds import FoldSplit
    from harness.benchmarks.repurposing.splits.form import FoldForm


class Repurposing(Benchmark["RepurposingDataset", "FoldSplit", "Predictions"]):
    """What is asked are the test pairs of a matrix of drugs and diseases."""

    place = 1
    input_names = INPUTS
    answer_files = tuple(AnswerFile(name, required=required) for name, required in ANSWER_FILES.items())
    key_metrics = KEY_METRICS
    order_free_metrics = ORDER_FREE_METRICS
    statistics = RepurposingStatistics
    options = RepurposingOptions
    options_to_predict = MappingProxyType({"inner_folds": 0})
    brought_tables = ("associations.csv", "drug_features.csv", "disease_features.csv")

    @property
    def dataset(self) -> type[RepurposingDataset]:
        """Associations and features, and the part of every pair where the data say it."""
        from harness.benchmarks.repurposing.released import ReleasedDataset

        return ReleasedDataset

    @property
    def form(self) -> FoldForm:
        """A fold matrix."""
        from harness.benchmarks.repurposing.splits.form import FORM

        return FORM

    @property
    def scoring(self) -> RepurposingScoring:
        """Metrics of both kinds."""
        from harness.benchmarks.repurposing.scoring import SCORING

        return SCORING

    def remarks(self, dataset: RepurposingDataset) -> tuple[str, ...]:
        """Unknown or constant features, rows without any association."""
        from harness.benchmarks.repurposing.checks import checked_remarks

        return checked_remarks(dataset)

    def inputs(
        self, dataset: RepurposingDataset, split: FoldSplit, names: Sequence[str], options: Mapping[str, int]
    ) -> Mapping[str, Given]:
        """The arrays a method declares."""
        from harness.benchmarks.repurposing.input_arrays import arrays_of

        return arrays_of(dataset, split.for_inner_folds(options["inner_folds"]), names)

    def reorder(self, inputs: Mapping[str, Given], order: str) -> Arrangement:
        """Drugs and diseases in another order."""
        from harness.benchmarks.repurposing.ordering import in_order

        return in_order(inputs, order)

    def asked_in(self, inputs: Mapping[str, Given], options: Mapping[str, int]) -> FoldQuestion:
        """The pairs that the matrix of folds marks."""
        import numpy as np

        from harness.benchmarks.repurposing.answer import FoldQuestion

        return FoldQuestion(np.asarray(inputs["folds"]), options["inner_folds"])

    def ranking(
        self, dataset: RepurposingDataset, split: FoldSplit, answer: Predictions, top: int | None
    ) -> Ranking:
        """The unknown pairs."""
        from harness.benchmarks.repurposing.ranking import rank_pairs

        return rank_pairs(dataset, split.folds, answer, top)


BENCHMARK = Repurposing()
