"""The dataset and the split of a job: what a run was asked, and the held-back truth to score its answer by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import benchmarks
from harness.base.layout import Layout
from harness.benchmarks import AnyBenchmark, Dataset, Ranking, Split
from harness.benchmarks.measures import Measurement, measured
from harness.data import load_dataset
from harness.planning.jobs import Job
from harness.splits import load_split


@dataclass(frozen=True)
class Truth:
    """Reads, scores and ranks answers to one job. What an answer is, only its benchmark knows."""

    job: Job
    dataset: Dataset
    split: Split

    @property
    def benchmark(self) -> AnyBenchmark:
        """The job's benchmark."""
        return benchmarks.get(self.job.benchmark)

    def read(self, folder: Path) -> object:
        """The answer in a folder, or `InvalidPredictions` with file, place and value."""
        return self.benchmark.scoring.question(self.dataset, self.split, self.job.options).read(folder)

    def measure(self, answer: object) -> Measurement:
        """The metrics of an answer. Where there is no truth, none is defined."""
        strategy, parameters = self.job.split.strategy, self.job.parameters
        return measured(self.benchmark.scoring, strategy, self.dataset, self.split, answer, parameters)

    def ranking(self, answer: object, top: int | None) -> Ranking:
        """What an answer predicts to be so, best first."""
        return self.benchmark.ranking(self.dataset, self.split, answer, top)


def truth_of(layout: Layout, job: Job, mirrors: Sequence[Path] = ()) -> Truth:
    """The dataset and the split that a job names."""
    return Truth(
        job,
        load_dataset(layout, job.dataset, mirrors=mirrors),
        load_split(layout, job.dataset, job.split, mirrors),
    )
