"""The cells of a contest: every method on every dataset, split and seed of which any of the methods has a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.layout import Layout
from harness.base.plurals import counted, form_of
from harness.base.unknown_names import refuse_unknown_names, unknown_name
from harness.base.vocabulary import Verdict
from harness.benchmarks.metric import Metric
from harness.data import load_manifest
from harness.methods.card import MethodCard, named_method, refuse_twice
from harness.planning.cells import Cell
from harness.planning.jobs import Job, make_job, unusual_options
from harness.planning.plan import Plan, make_plan
from harness.results.reference import ReferenceResult
from harness.results.scoring import without_truth
from harness.results.store import Store
from harness.splits.spec import parse_split
from harness.splits.splits import complete
from harness.status.table import STORED, as_defined, suite_jobs

# Dataset and split, without a seed.
Setting = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class ContestRequest:
    """What is asked: methods as `NAME` or `NAME/VARIANT`, and what narrows their datasets, splits and seeds."""

    methods: tuple[str, ...]
    variant: str = "published"
    datasets: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    # whether only seeds count on which every method was run, whatever came of it
    common: bool = False
    suite: str = STORED


def metric_of(benchmark: str, name: str | None) -> Metric:
    """A metric of a benchmark by its name; by default the first that tables show, as defined."""
    contract = benchmarks.get(benchmark)
    metrics = {metric.name: metric for metric in contract.scoring.metrics}
    if name is None:
        usual = contract.key_metrics[0]
        return metrics[as_defined(usual, metrics)]
    kinds = [one for one in metrics if one.startswith(f"{name}/")]
    # a metric may have the name of its kinds
    if kinds and name not in metrics:
        raise UsageError(
            f"there {form_of('is', len(kinds), 'are')} {counted(len(kinds), 'metric')} called {name}",
            where=f"--metric {name}",
            todo=f"choose one of: {', '.join(kinds)} (docs/metrics.md says how they differ)",
        )
    if name not in metrics:
        raise unknown_name("metric", name, metrics, where=f"benchmark {benchmark}")
    if metrics[name].better == "neither":
        raise UsageError(
            f"neither high nor low values of {name} are better, so methods can't be ranked by it",
            where=f"--metric {name}",
            todo="choose another one (harness list metrics)",
        )
    return metrics[name]


def contest_plan(
    layout: Layout, store: Store, request: ContestRequest, reference: Mapping[str, ReferenceResult]
) -> Plan:
    """The plan of all methods on the settings and seeds of the request, of one benchmark."""
    entrants = _entrants(layout, request)
    benchmark = benchmark_of(layout, request)
    known = list(_known_jobs(layout, store, request, reference, entrants))
    seeds = _seeds(known, benchmark, request, with_committed=bool(reference))
    jobs = [
        make_job(card, load_manifest(layout, dataset), parse_split(split, seed), variant=variant)
        for (dataset, split), numbers in seeds.items()
        for seed in numbers
        for card, variant in entrants
    ]
    plan = make_plan(layout, "table", jobs, make_splits=False)
    return replace(plan, cells=_common(plan, store, reference)) if request.common else plan


def benchmark_of(layout: Layout, request: ContestRequest) -> str:
    """The one benchmark that all methods have a part in, and that the datasets belong to."""
    cards = [card for card, _ in _entrants(layout, request)]
    common = [name for name in cards[0].benchmarks if all(name in card.benchmarks for card in cards)]
    of_datasets = {load_manifest(layout, name).benchmark for name in request.datasets}
    chosen = [name for name in common if not of_datasets or of_datasets == {name}]
    if len(chosen) != 1:
        parts = "; ".join(f"{card.name}: {', '.join(card.benchmarks)}" for card in cards)
        raise UsageError(
            "these methods and datasets have no one benchmark in common",
            where=parts + (f"; datasets: {', '.join(sorted(of_datasets))}" if of_datasets else ""),
            todo="name methods and datasets of the same benchmark",
        )
    return chosen[0]


def _entrants(layout: Layout, request: ContestRequest) -> list[tuple[MethodCard, str]]:
    """Cards and variants in the order of the request."""
    if not request.methods:
        raise UsageError("--method is missing", todo="name your method first, then those it is compared with")
    entrants = []
    for text in request.methods:
        card, variant = named_method(layout, text, request.variant)
        card.variant(variant)
        entrants.append((card, variant))
    refuse_twice(entrants)
    return entrants


def _known_jobs(
    layout: Layout,
    store: Store,
    request: ContestRequest,
    reference: Mapping[str, ReferenceResult],
    entrants: Iterable[tuple[MethodCard, str]],
) -> Iterator[Job]:
    """The jobs that tell settings and seeds: of the suite, or all runs of these methods, stored or committed."""
    if request.suite != STORED:
        yield from suite_jobs(layout, store, request.suite)
        return
    wanted = {(card.name, variant): card.variant(variant).parameters for card, variant in entrants}
    jobs = suite_jobs(layout, store, STORED)
    jobs += [entry.planned.job for entry in reference.values()]
    for job in jobs:
        is_usual = wanted.get((job.method, job.variant)) == job.parameters and not job.marks
        if is_usual and not without_truth(job):
            yield job


def _seeds(
    jobs: Iterable[Job], benchmark: str, request: ContestRequest, *, with_committed: bool
) -> dict[Setting, list[int]]:
    """The seeds of every setting that the request lets in."""
    seeds: dict[Setting, set[int]] = {}
    here = [job for job in jobs if job.benchmark == benchmark and not unusual_options(job)]
    # one text for each split, however it was asked for
    texts = {_in_full(benchmark, job.split.text): job.split.text for job in here}
    asked = {_in_full(benchmark, text): text for text in request.splits}
    if request.datasets and request.splits and request.seeds:
        texts = asked | texts
        seeds = {(dataset, texts[full]): set() for dataset in request.datasets for full in asked}
    strategies = {job.split.strategy for job in here}
    strange = [text for full, text in asked.items() if full not in texts and text not in strategies]
    refuse_unknown_names("split", strange, {*texts.values(), *strategies})
    for job in here:
        full = _in_full(benchmark, job.split.text)
        if request.datasets and job.dataset not in request.datasets:
            continue
        if asked and full not in asked and job.split.strategy not in request.splits:
            continue
        seeds.setdefault((job.dataset, texts[full]), set()).add(job.split.seed)
    if request.seeds:
        seeds = {setting: set(request.seeds) for setting in seeds}
    if not seeds:
        if request.suite != STORED:
            raise UsageError(
                f"this suite has nothing of {benchmark} on the datasets and splits that were asked for",
                where=f"--suite {request.suite}",
                todo=f"choose a suite of {benchmark} (harness list suites), or leave --dataset and --split out",
            )
        more = "" if with_committed else ", or add --reference for the committed results"
        raise UsageError(
            "no run of what was asked for is known",
            where=", ".join(request.methods),
            todo=f"run the methods first (harness run --method ...){more}",
        )
    return {setting: sorted(numbers) for setting, numbers in sorted(seeds.items())}


def _common(plan: Plan, store: Store, reference: Collection[str]) -> tuple[Cell, ...]:
    """The cells of the seeds on which each method was run, as it is today and whatever came of it."""
    is_common: dict[tuple[Setting, int], bool] = {}
    for cell in plan.cells:
        key = cell.planned.key if cell.planned else ""
        was_run = key in reference or (key != "" and store.standing(key).verdict is not Verdict.PENDING)
        seed = _seed_of(cell)
        is_common[seed] = is_common.get(seed, True) and was_run
    if not any(is_common.values()):
        raise UsageError(
            "on no seed all of these methods were run",
            where="--common-seeds",
            todo="run what is missing (without --common-seeds the table shows it), or name fewer methods",
        )
    return tuple(cell for cell in plan.cells if is_common[_seed_of(cell)])


def _seed_of(cell: Cell) -> tuple[Setting, int]:
    split = cell.job.split
    return (cell.job.dataset, split.text), split.seed


@cache
def _in_full(benchmark: str, text: str) -> str:
    """A split's text with all of its parameters, in their order; what is no split of the benchmark as it is."""
    try:
        return complete(benchmark, parse_split(text, 0)).text
    except UsageError:
        return text
