"""Drug-drug interactions of new drugs: which types a pair has. A method sees labels of other pairs, no truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.benchmarks.contract import AnswerFile, Benchmark
from harness.benchmarks.ddi.names import INPUTS, KEY_METRICS, ORDER_FREE_METRICS, PREDICTIONS
from harness.benchmarks.ddi.statistics import DdiStatistics

if TYPE_CHECKING:
    from harness.base.input_files import Given
    from harness.benchmarks.ddi.answer import PairQuestion, Scores
    from harness.benchmarks.ddi.dataset import DdiDataset
    from harness.benchmarks.ddi.scoring import DdiScoring
    from harness.benchmarks.ddi.splits.form import PartForm
    from harness.benchmarks.ddi.splits.parts import PartSplit
    from harness.benchmarks.order import Arrangement
    from harness.benchmarks.ranking import Ranking


class Ddi(Benchmark["DdiDataset", "PartSplit", "Scores"]):
    """What is asked are pairs with one new drug or two. A method chooses its model by the validation items."""

    place = 2
    input_names = INPUTS
    answer_files = (AnswerFile(PREDICTIONS),)
    key_metrics = KEY_METRICS
    order_free_metrics = ORDER_FREE_METRICS
    statistics = DdiStatistics

    @property
    def dataset(self) -> type[DdiDataset]:
        """Items and what is known of each drug."""
        from harness.benchmarks.ddi.dataset import DdiDataset

        return DdiDataset

    @property
    def form(self) -> PartForm:
        """A role per drug and a part per item."""
        from harness.benchmarks.ddi.splits.form import FORM

        return FORM

    @property
    def scoring(self) -> DdiScoring:
        """Metrics of both settings and kinds."""
        from harness.benchmarks.ddi.scoring import SCORING

        return SCORING

    def remarks(self, dataset: DdiDataset) -> tuple[str, ...]:
        """Drugs without a structure, items that occur twice, and the like."""
        from harness.benchmarks.ddi.checks import checked_remarks

        return checked_remarks(dataset)

    def inputs(
        self, dataset: DdiDataset, split: PartSplit, names: Sequence[str], options: Mapping[str, int]
    ) -> Mapping[str, Given]:
        """What a method declares and what every method is given."""
        from harness.benchmarks.ddi.input_arrays import inputs_of

        return inputs_of(dataset, split, names)

    def reorder(self, inputs: Mapping[str, Given], order: str) -> Arrangement:
        """Drugs, entities and items in another order."""
        from harness.benchmarks.ddi.ordering import in_order

        return in_order(inputs, order)

    def asked_in(self, inputs: Mapping[str, Given], options: Mapping[str, int]) -> PairQuestion:
        """How many pairs are answered, for how many types, and in what kind of scores."""
        from harness.benchmarks.ddi.answer import question_in

        return question_in(inputs)

    def ranking(self, dataset: DdiDataset, split: PartSplit, answer: Scores, top: int | None) -> Ranking:
        """Pairs with new drugs, and their types."""
        from harness.benchmarks.ddi.ranking import rank_types

        return rank_types(dataset, split, answer, top)


BENCHMARK = Ddi()
