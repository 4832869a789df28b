"""Combinations of drugs in texts: which drugs of a sentence are taken together, and whether it helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.benchmarks.combos.names import ANSWER, INPUTS, KEY_METRICS, ORDER_FREE_METRICS
from harness.benchmarks.combos.statistics import CombosStatistics
from harness.benchmarks.contract import AnswerFile, Benchmark

if TYPE_CHECKING:
    from harness.base.input_files import Given
    from harness.benchmarks.combos.answer import CombinationQuestion, Predictions
    from harness.benchmarks.combos.dataset import CombosDataset
    from harness.benchmarks.combos.scoring import CombosScoring
    from harness.benchmarks.combos.splits.form import DocumentForm, DocumentSplit
    from harness.benchmarks.order import Arrangement
    from harness.benchmarks.ranking import Ranking


class Combos(Benchmark["CombosDataset", "DocumentSplit", "Predictions"]):
    """Sentences with marked drugs go in, sets of these drugs come out."""

    place = 4
    input_names = INPUTS
    answer_files = (AnswerFile(ANSWER),)
    key_metrics = KEY_METRICS
    order_free_metrics = ORDER_FREE_METRICS
    statistics = CombosStatistics

    @property
    def dataset(self) -> type[CombosDataset]:
        """Documents, their drugs and their relations."""
        from harness.benchmarks.combos.dataset import CombosDataset

        return CombosDataset

    @property
    def form(self) -> DocumentForm:
        """A part per document."""
        from harness.benchmarks.combos.splits.form import FORM

        return FORM

    @property
    def scoring(self) -> CombosScoring:
        """Precision and recall of combinations."""
        from harness.benchmarks.combos.scoring import SCORING

        return SCORING

    def remarks(self, dataset: CombosDataset) -> tuple[str, ...]:
        """Texts that differ from the sentence, shared abstracts, and the like."""
        from harness.benchmarks.combos.checks import checked_remarks

        return checked_remarks(dataset)

    def inputs(
        self, dataset: CombosDataset, split: DocumentSplit, names: Sequence[str], options: Mapping[str, int]
    ) -> Mapping[str, Given]:
        """What a method declares and what every method is given."""
        from harness.benchmarks.combos.input_texts import inputs_of

        return inputs_of(dataset, split, names)

    def reorder(self, inputs: Mapping[str, Given], order: str) -> Arrangement:
        """Documents, and the drugs of each, in another order."""
        from harness.benchmarks.combos.input_texts import in_order

        return in_order(inputs, order)

    def asked_in(self, inputs: Mapping[str, Given], options: Mapping[str, int]) -> CombinationQuestion:
        """How many drugs the asked documents have."""
        import numpy as np

        from harness.benchmarks.combos.answer import CombinationQuestion

        counts = np.bincount(np.asarray(inputs["spans"])[:, 0], minlength=len(inputs["sentences"]))
        return CombinationQuestion(tuple(counts[np.asarray(inputs["asked"])].tolist()))

    def ranking(
        self, dataset: CombosDataset, split: DocumentSplit, answer: Predictions, top: int | None
    ) -> Ranking:
        """Combinations by their scores."""
        from harness.benchmarks.combos.answer import rank_combinations

        return rank_combinations(dataset, split, answer, top)


BENCHMARK = Combos()
