"""Methods beside each other, as a paper's table shows them."""

from __future__ import annotations

from harness.api.repository import Names, Numbers, Repository, numbers, opened, several
from harness.base.errors import UsageError
from harness.contest import Contest, ContestRequest, contest_plan, hold_contest, metric_of
from harness.contest.request import benchmark_of
from harness.results.reference import load_reference
from harness.results.store import join
from harness.status import build_table
from harness.status.table import STORED


def contest(
    methods: Names,
    *,
    metric: str | None = None,
    variant: str | None = None,
    datasets: Names = (),
    splits: Names = (),
    seeds: Numbers = (),
    common_seeds: bool = False,
    suite: str | None = None,
    reference: bool = False,
    repository: Repository | None = None,
) -> Contest:
    """Mean, deviation and rank of each method in each setting, and the first held against the others.

    Methods are `NAME` or `NAME/VARIANT`. Settings and seeds are those of which any of them has a run, or those of
    `suite`; a method without a run on one of these seeds is marked. `metric` is by default the first that tables
    show, as defined. With `reference` the committed results count where nothing was run on this machine. With
    `common_seeds` only seeds on which every method was run.
    """
    here = opened(repository)
    seeds = numbers(seeds)
    if suite is not None and seeds:
        raise UsageError("a suite names its own seeds", where="--seed", todo="give either --suite or --seed")
    if common_seeds and (suite is not None or seeds):
        option = "--suite" if suite is not None else "--seed"
        raise UsageError(
            "common seeds are those of what was run", where=option, todo=f"give either {option} or --common-seeds"
        )
    request = ContestRequest(
        methods=several(methods),
        variant=variant or "published",
        datasets=several(datasets),
        splits=several(splits),
        seeds=seeds,
        common=common_seeds,
        suite=STORED if suite is None else suite,
    )
    benchmark = benchmark_of(here.layout, request)
    chosen = metric_of(benchmark, metric)
    entries = load_reference(here.layout, benchmark) if reference else {}
    plan = contest_plan(here.layout, here.store, request, entries)
    table = build_table(here.layout, here.store, plan, join(plan, here.store, records=True), entries)
    order = list(dict.fromkeys(scored.row for scored in table.cells))
    return hold_contest(table, chosen, order, on_common_seeds=common_seeds)
