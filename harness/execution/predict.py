"""A method on your own data: fitted on all that is known, it ranks the rest. The run is kept as evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from harness import benchmarks
from harness.base.errors import HarnessError, UsageError
from harness.base.layout import Layout
from harness.base.progress import Progress
from harness.base.vocabulary import Verdict
from harness.benchmarks import Ranking
from harness.benchmarks.new_item import NewItem, extension_of, kind_of
from harness.data import load_dataset, load_manifest
from harness.data.datasets import is_here
from harness.data.extension import extended
from harness.engine import Engine
from harness.execution.campaign import Choices, run_cells
from harness.methods.card import MethodCard, load_method, load_methods
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


def usual_choice(layout: Layout, benchmark: str, mirrors: Sequence[Path]) -> tuple[str, str]:
    """The method and the dataset that are taken where a person names a benchmark alone.

    It is the first usual dataset whose files are here: nothing is downloaded that nobody named.
    """
    usual = extension_of(benchmark).USUAL
    manifests = [load_manifest(layout, name) for name in usual.datasets]
    here = [one.name for one in manifests if is_here(layout, one, mirrors)]
    return usual.method, (here or usual.datasets)[0]


def prediction_job(
    layout: Layout,
    method: str,
    dataset: str,
    variant: str,
    seed: int,
    *,
    new: Sequence[NewItem] = (),
    mirrors: Sequence[Path] = (),
) -> Job:
    """The job that fits on all that is known, of the dataset with items of one's own if there are any."""
    card, manifest = load_method(layout, method), load_manifest(layout, dataset)
    if manifest.benchmark not in card.benchmarks:
        names = [one.name for one in load_methods(layout, manifest.benchmark)]
        raise UsageError(
            f"{card.title} does not belong to benchmark {manifest.benchmark}",
            where=f"dataset {dataset}",
            todo=f"choose one of its methods: {', '.join(names)}",
        )
    if new:
        _check_reads(layout, card, manifest.benchmark, [*manifest.new, *new])
        manifest = load_manifest(layout, extended(layout, dataset, new, mirrors))
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
    names: Iterable[str] = (),
    top: int | None = None,
) -> Predicted:
    """Run the job unless it was run before, and rank what it scored.

    Rows are those of the items that a person added, if there are any, and those that have every one of the names.
    """
    names = {*names}
    own = {item.name for item in load_manifest(layout, job.dataset).new}
    # what a plan would note as missing data is an error here
    split_digest(layout, job.dataset, job.split, mirrors)
    plan = make_plan(layout, "predict", [job])
    store = Store(layout.runs)
    joined = join(plan, store, records=True)
    choices = Choices(mirrors=tuple(mirrors))
    run_cells(layout, joined, engine, choices=choices, progress=progress, name=plan.name)
    (cell,) = join(plan, store, records=True)
    if cell.verdict is not Verdict.OK or cell.planned is None:
        raise HarnessError(
            f"the run ended as '{cell.verdict}': {cell.reason}", where=cell.job.label, todo=_todo(store, cell)
        )
    truth = truth_of(layout, job, mirrors)
    answer = truth.read(store.path(cell.planned.key))
    if not own and not names:
        return Predicted(cell.planned.key, truth.ranking(answer, top))
    ranking = truth.ranking(answer, None)
    rows = [row for row in ranking.rows if names <= {*row[:-1]} and (not own or own & {*row[:-1]})]
    return Predicted(cell.planned.key, replace(ranking, rows=tuple(rows[:top])))


def _check_reads(layout: Layout, card: MethodCard, benchmark: str, items: Iterable[NewItem]) -> None:
    """Refuse a method that reads nothing of an item: its scores would say nothing of it."""
    for item in items:
        inputs = {*kind_of(benchmark, item.kind, where=item.where).inputs}
        if inputs and not inputs & {*card.inputs}:
            readers = [one.name for one in load_methods(layout, benchmark) if inputs & {*one.inputs}]
            raise UsageError(
                f"{card.title} reads nothing of a new {item.kind}: its scores would say nothing of '{item.name}'",
                where=item.where,
                todo=f"choose a method that does: {', '.join(readers)}",
            )


def ranked_name(layout: Layout, dataset: str, name: str, mirrors: Sequence[Path]) -> str:
    """What rankings call something of a dataset, whatever the case; an error says that nothing has this name."""
    names = load_dataset(layout, dataset, mirrors=mirrors).names
    known: dict[str, str] = {}
    for kind in extension_of(load_manifest(layout, dataset).benchmark).KINDS.values():
        for one in kind.lists:
            known = {
                text.lower(): shown for text, shown in zip(names[one], names[kind.lists[0]], strict=True)
            } | known
    if name.lower() not in known:
        near = ", ".join(known[one] for one in get_close_matches(name.lower(), known, n=5))
        raise UsageError(
            f"nothing in dataset {dataset} is called '{name}'",
            where="what is asked about",
            todo=f"near it: {near or 'nothing'}; add one of your own as NAME=TEXT (docs/predicting.md)",
        )
    return known[name.lower()]


def _todo(store: Store, cell: Cell) -> str:
    if cell.planned is None or not cell.record:
        return "see the reason above"
    return f"read its log: {store.path(cell.planned.key) / 'log.txt'}"
