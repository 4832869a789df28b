"""`harness status`: the planned matrix, a verdict in every cell."""

from __future__ import annotations

from pathlib import Path

import click

from harness import api
from harness.base.errors import UsageError
from harness.base.unknown_names import refuse_unknown_names
from harness.base.vocabulary import Verdict
from harness.benchmarks import get
from harness.cli.names import BENCHMARK, DATASET, METHOD, METRIC, STORED_SUITE, Word
from harness.cli.options import (
    OnceCommand,
    document_text,
    echo_json,
    json_option,
    published_seeds_option,
    reference_option,
    without_garbage,
)
from harness.cli.output import chosen_kind, deliver, output_option
from harness.cli.watch import watch
from harness.status import show, to_json, to_markdown, to_text


@click.command(cls=OnceCommand)
@click.option(
    "--suite",
    type=STORED_SUITE,
    default="smoke",
    show_default=True,
    help="Which plan; 'stored': all that was ever run here.",
)
@published_seeds_option
@click.option(
    "--benchmark", "benchmarks", multiple=True, type=BENCHMARK, help="Only this benchmark; may be repeated."
)
@click.option("--method", "methods", multiple=True, type=METHOD, help="Only this method; may be repeated.")
@click.option("--dataset", "datasets", multiple=True, type=DATASET, help="Only this dataset; may be repeated.")
@click.option(
    "--verdict",
    "verdicts",
    multiple=True,
    type=Word([str(one) for one in Verdict]),
    help="Only cells with this verdict; may be repeated.",
)
@click.option("--metric", type=METRIC, default="", help="Show this metric, such as NS-AUC/as-defined.")
@click.option(
    "--watch", "watches", is_flag=True, help="In place of the table: the campaigns at work, until none is."
)
@click.option("--cells", is_flag=True, help="The flat list of cells in place of the matrix.")
@reference_option
@json_option
@click.option("--markdown", "as_markdown", is_flag=True, help="For documents.")
@output_option("text", "markdown", "json", names=("--output", "--write"))
def command(
    suite: str,
    published_seeds: int | None,
    benchmarks: tuple[str, ...],
    methods: tuple[str, ...],
    datasets: tuple[str, ...],
    verdicts: tuple[str, ...],
    metric: str,
    watches: bool,
    cells: bool,
    reference: bool,
    as_json: bool,
    as_markdown: bool,
    output: Path | None,
) -> int:
    """Show the planned matrix with a verdict in every cell.

    \b
    harness status
    harness status --suite full                  of hundreds of rows sums, by method and dataset
    harness status --suite full --dataset hdvd
    harness status --cells --verdict timeout
    harness status --metric NS-AUC/as-defined
    harness status --suite stored --output status.md
    harness status --watch

    Exit code 0 when every cell in view is ok or not-applicable, else 1.
    """
    flags = {"--json": "json" if as_json else None, "--markdown": "markdown" if as_markdown else None}
    kind = chosen_kind(output, flags)
    repository = api.open_repository()
    if watches:
        chosen = (published_seeds, benchmarks, methods, datasets, verdicts, metric, cells, reference, as_markdown)
        if output is not None or suite != "smoke" or any(chosen):
            raise UsageError(
                "--watch shows all campaigns at work, and no table", todo="leave the other options out"
            )
        if kind == "json":
            echo_json({"campaigns": [one.model_dump(mode="json") for one in api.campaigns(repository=repository)]})
        else:
            watch()
        return 0
    if reference or suite == "full":
        click.echo("planning", err=True)
    with without_garbage():
        # a run made here has its split here, and those of committed results are recorded: none is made to look
        plan = api.plan(suite=suite, published_seeds=published_seeds, make_splits=False, repository=repository)
        whole = api.status(plan, reference=reference, repository=repository)
    jobs = [scored.cell.job for scored in whole.cells]
    where = f"the plan '{suite}'; others: --suite"
    refuse_unknown_names("benchmark", benchmarks, (job.benchmark for job in jobs), where=where)
    refuse_unknown_names("method", methods, (job.method for job in jobs), where=where)
    refuse_unknown_names("dataset", datasets, (job.dataset for job in jobs), where=where)
    known = {one.name for name in {job.benchmark for job in jobs} for one in get(name).scoring.metrics}
    refuse_unknown_names("metric", [metric] if metric else [], known, where="`harness list metrics`")
    table = whole.select(
        benchmarks=benchmarks,
        methods=methods,
        datasets=datasets,
        verdicts=[Verdict(verdict) for verdict in verdicts],
    )
    if kind == "text" and output is None:
        show(table, cells=cells, metric=metric)
    elif kind == "json":
        deliver(f"{document_text(to_json(table))}\n", output)
    else:
        deliver((to_markdown if kind == "markdown" else to_text)(table, cells=cells, metric=metric), output)
    return 0 if table.is_good else 1
