"""A method on your own data: fitted on all that is known, it ranks the rest. The run is kept as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import benchmarks
from harness.base.errors import HarnessError, UsageError
from harness.base.layout import Layout
from harness.base.progress import Progress
from harness.base.vocabulary import Verdict
from harness.benchmarks import Ranking
from harness.data import load_manifest
from harness.engine import Engine
from harness.execution.campaign import Choices, run_cells
from harness.methods.card import load_method, load_methods
from harness.planning.jobs import Job, make_job
from harness.planning.plan import Cell, make_plan
from harness.results.store import Store, join
from harness.results.truth import truth_of
from harness.splits import split_digest
from harness.splits.spec import SplitSpec


@dataclass(frozen=True)
class Predicted:
    """What a method predicts, and the key of the run that scored it."""

    key: str
    ranking: Ranking


def prediction_job(layout: Layout, method: str, dataset: str, variant: str, seed: int) -> Job:
    """The job that fits on all known pairs, without inner cross-validation."""
    card, manifest = load_method(layout, method), load_manifest(layout, dataset)
    if manifest.benchmark not in card.benchmarks:
        names = [one.name for one in load_methods(layout, manifest.benchmark)]
        raise UsageError(
            f"{card.title} has no part in benchmark {manifest.benchmark}",
            where=f"dataset {dataset}",
            todo=f"choose one of its methods: {', '.join(names)}",
        )
    benchmark = benchmarks.get(manifest.benchmark)
    split = SplitSpec(strategy=benchmark.scoring.predicting, seed=seed)
    return make_job(card, manifest, split, variant=variant, options=benchmark.options_to_predict)


def predict(
    layout: Layout,
    engine: Engine,
    job: Job,
    *,
    mirrors: Sequence[Path],
    progress: Progress,
    top: int | None = None,
) -> Predicted:
    """Run the job unless it was run before, and rank what it scored."""
    # what a plan would note as missing data is an error here
    split_digest(layout, job.dataset, job.split, mirrors)
    plan = make_plan(layout, "predict", [job])
    store = Store(layout.runs)
    joined = join(plan, store, records=True)
    run_cells(layout, joined, engine, choices=Choices(mirrors=tuple(mirrors)), progress=progress)
    (cell,) = join(plan, store, records=True)
    if cell.verdict is not Verdict.OK or cell.planned is None:
        raise HarnessError(
            f"the run ended as '{cell.verdict}': {cell.reason}", where=cell.job.label, todo=_todo(store, cell)
        )
    truth = truth_of(layout, job, mirrors)
    return Predicted(cell.planned.key, truth.ranking(truth.read(store.path(cell.planned.key)), top))


def _todo(store: Store, cell: Cell) -> str:
    if cell.planned is None or not cell.record:
        return "see the reason above"
    return f"read its log: {store.path(cell.planned.key) / 'log.txt'}"
