"""A method on your own data: fitted on all that is known, it ranks the rest. The run is kept as evidence."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness import benchmark
from harness.campaign import Choices, run_plan
from harness.data import load_dataset, load_manifest
from harness.data.model import RepurposingDataset
from harness.engine import Engine
from harness.errors import HarnessError, UsageError
from harness.jobs import Job, SplitSpec, make_job
from harness.layout import Layout
from harness.methods import load_method
from harness.plan import Cell, join, make_plan
from harness.progress import Progress
from harness.splits import load_split
from harness.splits.folds import TEST
from harness.store import Store
from harness.vocabulary import Verdict

_BENCHMARK = "repurposing"


@dataclass(frozen=True)
class Ranking:
    """Unknown pairs, best first, and the key of the run that scored them."""

    key: str
    rows: tuple[tuple[str, str, float], ...]

    def to_csv(self) -> str:
        """One line a pair; the score with every digit."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["rank", "drug", "disease", "score"])
        writer.writerows(
            (rank, drug, disease, repr(score)) for rank, (drug, disease, score) in enumerate(self.rows, 1)
        )
        return text.getvalue()


def prediction_job(layout: Layout, method: str, dataset: str, variant: str, seed: int) -> Job:
    """The job that fits on all known pairs, without inner cross-validation."""
    card, manifest = load_method(layout, method), load_manifest(layout, dataset)
    if manifest.benchmark != _BENCHMARK:
        raise UsageError(
            f"unknown pairs are ranked for benchmark {_BENCHMARK}, and '{dataset}' is of {manifest.benchmark}",
            where="--dataset",
            todo="run a split whose test items are the pairs of interest, and read predictions.npy of that run",
        )
    split = SplitSpec(strategy="unknown_pairs", seed=seed)
    return make_job(card, manifest, split, variant=variant, inner_folds=0)


def predict(
    layout: Layout,
    engine: Engine,
    job: Job,
    *,
    mirrors: Sequence[Path],
    progress: Progress,
    top: int | None = None,
) -> Ranking:
    """Run the job unless it was run before, and rank what it scored."""
    plan = make_plan(layout, "predict", [job])
    store = Store(layout.runs)
    run_plan(layout, plan, engine, choices=Choices(mirrors=tuple(mirrors)), progress=progress)
    (cell,) = join(plan, store, records=True)
    if cell.verdict is not Verdict.OK or cell.planned is None:
        raise HarnessError(f"{cell.verdict}: {cell.reason}", where=cell.job.label, todo=_todo(store, cell))
    dataset = load_dataset(layout, job.dataset, mirrors=mirrors)
    assert isinstance(dataset, RepurposingDataset)  # `prediction_job` refused all others
    folds = load_split(layout, job.dataset, job.split, mirrors).folds
    predictions = benchmark.get(job.benchmark).check_predictions(store.path(cell.planned.key), folds, 0)
    scores = predictions.test[0]
    # stable: pairs of equal score keep the order of the dataset
    best = np.argsort(-scores, kind="stable")[:top]
    drugs, diseases = np.nonzero(folds == TEST)
    rows = tuple(
        (dataset.drug_ids[drugs[one]], dataset.disease_ids[diseases[one]], float(scores[one])) for one in best
    )
    return Ranking(cell.planned.key, rows)


def _todo(store: Store, cell: Cell) -> str:
    if cell.planned is None or not cell.record:
        return "see the reason above"
    return f"read its log: {store.path(cell.planned.key) / 'log.txt'}"
