"""Plans, and what is known of their cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.api.repository import Names, Numbers, Repository, numbers, opened, settings, several
from harness.base.errors import UsageError
from harness.base.heartbeat import activity
from harness.base.plurals import counted
from harness.base.vocabulary import Accelerator
from harness.planning.cells import Cell, Cells
from harness.planning.jobs import Job, on_accelerator
from harness.planning.needs import REQUEST, Needs, needs_of
from harness.planning.plan import Plan, make_plan
from harness.planning.request import Request, refuse_impossible_splits, requested_jobs
from harness.planning.shards import parse_shard, shard_of
from harness.planning.suites import plan_name
from harness.results.durations import reference_seconds
from harness.results.reference import load_reference
from harness.results.store import join
from harness.status import Table, build_table, suite_jobs

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def plan(
    *,
    suite: str | None = None,
    published_seeds: int | None = None,
    methods: Names = (),
    datasets: Names = (),
    splits: Names = (),
    seeds: Numbers = (),
    variant: str | None = None,
    parameters: Mapping[str, Any] = _NOTHING,
    options: Mapping[str, int] = _NOTHING,
    upstream: Path | str | None = None,
    accelerator: Accelerator = "cpu",
    shard: str | None = None,
    make_splits: bool = True,
    repository: Repository | None = None,
) -> Plan:
    """The cells of a suite, or every method on every dataset, split and seed, each pinned by checksums.

    The suite `stored` is everything that was ever run here. Without `splits` the strategy is `random`, without
    `variant` it is `published`. `published_seeds` takes the first so many published seeds. Without `make_splits`
    none is made for it, so that it answers at once, for `needs`; `run` refuses it if any was wanted. `shard` is
    one of so many equal parts, "3/10": the same one on every machine with the same checkout.
    """
    here = opened(repository)
    layout = here.layout
    parameters = settings(parameters)
    methods, datasets, splits, seeds = several(methods), several(datasets), several(splits), numbers(seeds)
    # refused before anything is planned, which may take minutes
    part = parse_shard(shard) if shard is not None else None

    def planned(name: str, jobs: Iterable[Job]) -> Plan:
        chosen = on_accelerator(layout, jobs, accelerator)
        whole = make_plan(layout, name, chosen, mirrors=here.mirrors, make_splits=make_splits)
        if part is None:
            return whole
        return shard_of(whole, part, reference_seconds(layout, (cell.job for cell in whole.cells)))

    if suite is not None:
        asked = (methods, variant, parameters, datasets, splits, seeds, upstream)
        _refuse_beside_suite(asked, options)
        every = suite_jobs(layout, here.store, suite, published_seeds)
        return planned(plan_name(suite, published_seeds), every)
    request = Request(
        methods=methods,
        datasets=datasets,
        splits=splits or ("random",),
        seeds=seeds,
        published_seeds=published_seeds,
        variant=variant or "published",
        parameters=parameters,
        options=options,
        upstream=Path(upstream) if upstream is not None else None,
    )
    jobs = requested_jobs(layout, request)
    if make_splits:
        refuse_impossible_splits(layout, jobs, here.mirrors)
    return planned(REQUEST, jobs)


def cells(plan: Plan, *, repository: Repository | None = None) -> Sequence[Cell]:
    """The cells of a plan with the verdicts and the records of this machine's runs."""
    with activity(f"reading records of {counted(len(plan.cells), 'cell')}"):
        return join(plan, opened(repository).store, records=True)


def needs(plan: Plan, *, joined: Sequence[Cell] | None = None, repository: Repository | None = None) -> Needs:
    """The disk and the time that what is left of a plan would take here. `joined`: its `cells`, if at hand."""
    here = opened(repository)
    every = cells(plan, repository=here) if joined is None else joined
    seconds = reference_seconds(here.layout, (cell.job for cell in every))
    return needs_of(here.layout, plan.name, every, seconds)


def status(plan: Plan, *, reference: bool = False, repository: Repository | None = None) -> Table:
    """Every cell of a plan with its verdict and its scores, where there are fresh ones.

    With `reference` the committed results stand where nothing was run on this machine.
    """
    here = opened(repository)
    benchmarks = {cell.job.benchmark for cell in Cells.of(plan.cells).of_each_kind()}
    entries = load_reference(here.layout, *benchmarks) if reference and benchmarks else {}
    joined = cells(plan, repository=here)
    with activity(f"table of {counted(len(joined), 'cell')}"):
        return build_table(here.layout, here.store, plan, joined, entries)


def _refuse_beside_suite(asked: Sequence[object], options: Mapping[str, int]) -> None:
    """A suite names its own jobs: what would be ignored beside it is refused."""
    names = ("method", "variant", "set", "dataset", "split", "seed", "upstream")
    flags = [name for name, value in zip(names, asked, strict=True) if value]
    if flags := [*flags, *(name.replace("_", "-") for name in options)]:
        raise UsageError(
            "--suite names its own jobs",
            where=f"--{flags[0]}",
            todo="give either --suite or --method and what goes with it",
        )
