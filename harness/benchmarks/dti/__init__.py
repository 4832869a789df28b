"""Drug-target interactions: which proteins a drug binds, or how strongly. A method sees training pairs alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.benchmarks.contract import AnswerFile, Benchmark
from harness.benchmarks.dti.names import INPUTS, KEY_METRICS, ORDER_FREE_METRICS, SCORES
from harness.benchmarks.dti.statistics import DtiStatistics

if TYPE_CHECKING:
    from harness.base.input_files import Given
    from harness.benchmarks.dti.dataset import DtiDataset
    from harness.benchmarks.dti.scoring import DtiScoring, ScoreQuestion, Scores
    from harness.benchmarks.dti.splits.pairs import PairForm, PairSplit
    from harness.benchmarks.order import Arrangement
    from harness.benchmarks.ranking import Ranking


class Dti(Benchmark["DtiDataset", "PairSplit", "Scores"]):
    """A task is a list of pairs to learn from and one to score."""

    place = 3
    input_names = INPUTS
    answer_files = (AnswerFile(SCORES),)
    key_metrics = KEY_METRICS
    order_free_metrics = ORDER_FREE_METRICS
    statistics = DtiStatistics

    @property
    def dataset(self) -> type[DtiDataset]:
        """Pairs, and what is known of drugs and targets."""
        from harness.benchmarks.dti.dataset import DtiDataset

        return DtiDataset

    @property
    def form(self) -> PairForm:
        """The pairs of a task in their order."""
        from harness.benchmarks.dti.splits.pairs import FORM

        return FORM

    @property
    def scoring(self) -> DtiScoring:
        """Metrics of bindings and of affinities."""
        from harness.benchmarks.dti.scoring import SCORING

        return SCORING

    def remarks(self, dataset: DtiDataset) -> tuple[str, ...]:
        """Drugs without a structure, targets without a sequence, and the like."""
        from harness.benchmarks.dti.checks import checked_remarks

        return checked_remarks(dataset)

    def inputs(
        self, dataset: DtiDataset, split: PairSplit, names: Sequence[str], options: Mapping[str, int]
    ) -> Mapping[str, Given]:
        """What a method declares and what every method is given."""
        from harness.benchmarks.dti.input_arrays import inputs_of

        return inputs_of(dataset, split, names)

    def reorder(self, inputs: Mapping[str, Given], order: str) -> Arrangement:
        """Drugs, targets, other nodes and all rows in another order."""
        from harness.benchmarks.dti.input_arrays import in_order

        return in_order(inputs, order)

    def asked_in(self, inputs: Mapping[str, Given], options: Mapping[str, int]) -> ScoreQuestion:
        """How many pairs are scored."""
        from harness.benchmarks.dti.scoring import ScoreQuestion

        return ScoreQuestion(len(inputs["test_pairs"]))

    def ranking(self, dataset: DtiDataset, split: PairSplit, answer: Scores, top: int | None) -> Ranking:
        """Drugs and targets by their scores."""
        from harness.benchmarks.dti.scoring import rank_pairs

        return rank_pairs(dataset, split, answer, top)


BENCHMARK = Dti()
