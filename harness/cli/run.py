"""`harness run`: run a suite, or a method on a split; score it; show the table; say where the evidence lies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness import benchmarks
from harness.base.errors import UsageError
from harness.base.vocabulary import Verdict
from harness.cli.options import (
    SEED,
    OnceCommand,
    benchmark_options,
    json_option,
    mirror_option,
    parse_settings,
    progress_for,
    published_seeds_option,
    runtime_option,
    stop_on_interrupt,
)

if TYPE_CHECKING:
    from harness.base.layout import Layout
    from harness.base.vocabulary import Accelerator
    from harness.planning.plan import Plan

# Runs whose metrics a person reads one by one.
_SHOWN_IN_FULL = 4
_OF_A_JOB = ("methods", "variant", "settings", "datasets", "splits", "seeds", "upstream")


@click.command(cls=OnceCommand)
@click.option("--suite", help="A named set of jobs (harness list suites).")
@published_seeds_option
@click.option("--method", "methods", multiple=True, help="A method; may be repeated.")
@click.option("--variant", default="published", show_default=True, help="A named way to run it.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another value for a parameter.")
@click.option("--dataset", "datasets", multiple=True, help="A dataset; may be repeated.")
@click.option(
    "--split",
    "splits",
    multiple=True,
    default=["random"],
    show_default=True,
    help="A strategy, or with parameters cluster:gamma=0.6; may be repeated.",
)
@click.option("--seed", "seeds", multiple=True, type=SEED, help="A seed of the split; may be repeated.")
@benchmark_options
@mirror_option
@click.option(
    "--upstream",
    type=click.Path(exists=True, file_okay=False, path_type=Path, resolve_path=True),
    help="A checkout of the authors' own code, mounted ahead of ours; its functions must have our file names.",
)
@click.option(
    "--accelerator",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="What the methods that can use an NVIDIA GPU compute on; the others stay on the CPU.",
)
@click.option("--workers", type=click.IntRange(min=1), help="CPUs to lend to runs; all of them by default.")
@click.option("--again", multiple=True, type=click.Choice([str(one) for one in Verdict]), help="Run these again.")
@click.option("--remove-images", is_flag=True, help="Build, run and remove one method at a time: least disk.")
@click.option("--install/--no-install", default=False, help="May an engine be installed (root, Debian or Ubuntu)?")
@runtime_option
@click.option("--report", is_flag=True, help="Write the HTML report at the end.")
@json_option
def command(
    suite: str | None,
    published_seeds: int | None,
    methods: tuple[str, ...],
    variant: str,
    settings: tuple[str, ...],
    datasets: tuple[str, ...],
    splits: tuple[str, ...],
    seeds: tuple[int, ...],
    options: dict[str, int],
    mirrors: tuple[Path, ...],
    upstream: Path | None,
    accelerator: Accelerator,
    workers: int | None,
    again: tuple[str, ...],
    remove_images: bool,
    install: bool,
    runtime: str | None,
    report: bool,
    as_json: bool,
) -> int:
    """Run what is left of a suite, or of one method's jobs, and show every cell's verdict.

    \b
    harness run --suite smoke
    harness run --method bnnr --dataset fdataset --seed 17263407 --mirror DIR
    harness run --method bnnr --method constant --dataset synthetic --seed 1 --seed 2
    harness run --method pmf --dataset lrssl --split random --split weakly_correlated --published-seeds 10
    harness run --suite full --again timeout
    harness run --suite ddi-drugbank --mirror DIR --accelerator cuda

    Finished runs are kept: the same command resumes. Exit code 0 when every cell is ok or not-applicable,
    1 when some are not, 130 when you stopped it.
    """
    from harness.base.layout import find_layout
    from harness.execution.campaign import Choices, left_to_run
    from harness.execution.upstream import upstream_tree
    from harness.planning.jobs import on_accelerator
    from harness.planning.plan import make_plan
    from harness.results.store import Store

    layout = find_layout()
    if suite:
        _refuse_beside_suite()
        plan = _suite_plan(layout, suite, published_seeds, accelerator)
    else:
        chosen = parse_settings(settings)
        jobs = _jobs(layout, methods, variant, chosen, datasets, splits, seeds, published_seeds, options)
        if upstream:
            tree = upstream_tree(layout, upstream, methods)
            jobs = [job.model_copy(update={"upstream": tree}) for job in jobs]
        plan = make_plan(layout, "request", on_accelerator(layout, jobs, accelerator))
    choices = Choices(
        mirrors=mirrors,
        workers=workers,
        again=frozenset(Verdict(one) for one in again),
        remove_images=remove_images,
        upstream=upstream,
    )
    left = left_to_run(plan, Store(layout.runs), choices.again)
    stopped = _run(layout, plan, choices, install=install, runtime=runtime, quiet=as_json) if left else False
    if not left and not as_json:
        impossible = sum(1 for cell in plan.cells if cell.planned is None)
        told = f", {impossible} can't be run (reasons below)" if impossible else ""
        click.echo(f"nothing is left to do: {len(plan.cells) - impossible} finished{told}", err=True)
    code = _show(layout, plan, mirrors, as_json=as_json, whole_suite=bool(suite))
    if report:
        _write_report(layout, plan, mirrors, quiet=as_json)
    if suite == "smoke" and not as_json:
        _tell_what_full_needs(layout)
    return 130 if stopped else code


def _refuse_beside_suite() -> None:
    """A suite names its own jobs: what would be ignored beside it is refused."""
    from click.core import ParameterSource

    context = click.get_current_context()
    of_benchmarks = (name for one in benchmarks.names() for name in benchmarks.get(one).options.model_fields)
    for name in (*_OF_A_JOB, *of_benchmarks):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = next(one.opts[0] for one in context.command.params if one.name == name)
            raise UsageError(
                "--suite names its own jobs",
                where=option,
                todo="give either --suite or --method and what goes with it",
            )


def _run(layout: Layout, plan: Plan, choices: Any, *, install: bool, runtime: str | None, quiet: bool) -> bool:
    """Run what is left; whether a person stopped it."""
    from harness.engine import find_engine
    from harness.execution.campaign import run_plan
    from harness.planning.needs import check_disk
    from harness.planning.plan import join
    from harness.results.store import Store

    needs = check_disk(layout, plan.name, join(plan, Store(layout.runs), records=True))
    with (
        progress_for(quiet=quiet) as progress,
        stop_on_interrupt() as stop,
        find_engine(layout, install=install, runtime=runtime) as engine,
    ):
        progress.note(f"engine: {engine.name} {engine.version}")
        progress.note(f"{needs.left} of {needs.planned} cells left; {needs.disk()}")
        run_plan(layout, plan, engine, choices=choices, progress=progress, stop=stop)
        return stop.is_set()


def _suite_plan(
    layout: Layout, suite: str, published_seeds: int | None = None, accelerator: Accelerator = "cpu"
) -> Plan:
    from harness.planning.jobs import on_accelerator
    from harness.planning.plan import make_plan
    from harness.planning.suites import jobs_of, load_suite, plan_name

    jobs = jobs_of(layout, load_suite(suite), published_seeds)
    return make_plan(layout, plan_name(suite, published_seeds), on_accelerator(layout, jobs, accelerator))


def _seeds(benchmark: str, seeds: tuple[int, ...], published: int | None) -> tuple[int, ...]:
    """Those that were named, or the first so many of the published ones."""
    if published is None:
        return seeds
    if seeds:
        raise UsageError("seeds are named twice", where="--seed and --published-seeds", todo="give one of the two")
    known = benchmarks.get(benchmark).form.published_seeds()
    if not known:
        raise UsageError(
            f"benchmark {benchmark} has no published seeds", where="--published-seeds", todo="give --seed N"
        )
    return known[:published]


def _jobs(
    layout: Layout,
    methods: tuple[str, ...],
    variant: str,
    settings: dict[str, Any],
    datasets: tuple[str, ...],
    splits: tuple[str, ...],
    seeds: tuple[int, ...],
    published: int | None,
    options: dict[str, int],
) -> list[Any]:
    from itertools import product

    from harness.data import load_manifest
    from harness.methods.card import load_method
    from harness.planning.jobs import make_job
    from harness.splits.spec import parse_split

    for name, given in (("--method", methods), ("--dataset", datasets), ("--seed", seeds or published)):
        if not given:
            raise UsageError(
                f"{name} is missing",
                todo="name a --suite, or --method, --dataset and --seed (or --published-seeds)",
            )
    manifests = [load_manifest(layout, dataset) for dataset in datasets]
    cards = [load_method(layout, method) for method in methods]
    wanted = {one.benchmark: _seeds(one.benchmark, seeds, published) for one in manifests}
    # seed by seed: stopped at any time, every cell has about as many
    return [
        make_job(
            card,
            manifest,
            parse_split(split, of[manifest.benchmark]),
            variant=variant,
            chosen=settings,
            options=options,
        )
        for of in (dict(zip(wanted, column, strict=True)) for column in zip(*wanted.values(), strict=True))
        for manifest, split, card in product(manifests, splits, cards)
    ]


def _show(layout: Layout, plan: Plan, mirrors: tuple[Path, ...], *, as_json: bool, whole_suite: bool) -> int:
    """Score, print, and say where the evidence lies; the exit code."""
    import json

    from harness.results.scoring import score_all
    from harness.results.store import Store
    from harness.status import build_table, show, to_json

    store = Store(layout.runs)
    score_all(layout, store, plan, mirrors)
    table = build_table(layout, store, plan)
    if as_json:
        click.echo(json.dumps(to_json(table), indent=2, sort_keys=True, ensure_ascii=False))
    else:
        show(table)
        if not whole_suite and len(table.cells) <= _SHOWN_IN_FULL:
            _show_each(layout, store, table)
        elif not whole_suite:
            click.echo(
                "every metric of a run: harness score KEY; why believe it: harness audit KEY (status --cells)"
            )
    return 0 if table.is_good else 1


def _show_each(layout: Layout, store: Any, table: Any) -> None:
    """The scores of single runs, and the folder that holds their evidence."""
    for scored in table.cells:
        click.echo(f"\n{scored.cell.job.label}: {scored.cell.verdict}: {scored.cell.reason}")
        for name, value in sorted(scored.metrics.items()):
            told = f"{value!r}" if value is not None else f"undefined: {scored.notes.get(name, '')}"
            click.echo(f"  {name:42} {told}")
        if scored.key and scored.cell.record:
            click.echo(f"  evidence: {store.path(scored.key)}")
            click.echo(f"  why believe it: harness audit {scored.key[:12]}")


def _write_report(layout: Layout, plan: Plan, mirrors: tuple[Path, ...], *, quiet: bool) -> None:
    from harness.report import write_report

    path = write_report(layout, plan, mirrors=mirrors)
    if not quiet:
        click.echo(f"report: {path}")


def _tell_what_full_needs(layout: Layout) -> None:
    from harness.planning.needs import needs_of
    from harness.planning.plan import join
    from harness.results.store import Store

    plan = _suite_plan(layout, "full")
    click.echo("")
    click.echo(needs_of(layout, plan.name, join(plan, Store(layout.runs), records=True)).text())
