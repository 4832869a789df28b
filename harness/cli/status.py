"""`harness status`: the planned matrix, a verdict in every cell."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness import api
from harness.base.errors import refuse_unknown
from harness.base.files import write_atomic
from harness.base.vocabulary import Verdict
from harness.benchmarks import get
from harness.cli.options import OnceCommand, OutputFile, json_text, published_seeds_option, reference_option
from harness.status import show, to_json, to_markdown, to_text

_KINDS = {".txt": "text", ".md": "markdown", ".json": "json"}


@click.command(cls=OnceCommand)
@click.option(
    "--suite", default="smoke", show_default=True, help="Which plan; 'stored': all that was ever run here."
)
@published_seeds_option
@click.option("--benchmark", "benchmarks", multiple=True, help="Only cells of this benchmark.")
@click.option("--method", "methods", multiple=True, help="Only cells of this method.")
@click.option("--dataset", "datasets", multiple=True, help="Only cells on this dataset.")
@click.option("--verdict", "verdicts", multiple=True, type=click.Choice([str(one) for one in Verdict]))
@click.option("--metric", default="", help="Show this metric, such as NS-AUC/as-defined.")
@click.option("--cells", is_flag=True, help="The flat list of cells in place of the matrix.")
@reference_option
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--markdown", "as_markdown", is_flag=True, help="For documents.")
@click.option("--write", "file", type=OutputFile(*_KINDS), help="Write to a .txt, .md or .json file instead.")
def command(
    suite: str,
    published_seeds: int | None,
    benchmarks: tuple[str, ...],
    methods: tuple[str, ...],
    datasets: tuple[str, ...],
    verdicts: tuple[str, ...],
    metric: str,
    cells: bool,
    reference: bool,
    as_json: bool,
    as_markdown: bool,
    file: Path | None,
) -> int:
    """Show the planned matrix with a verdict in every cell.

    \b
    harness status
    harness status --suite full --dataset hdvd
    harness status --cells --verdict timeout
    harness status --metric NS-AUC/as-defined
    harness status --suite stored --write status.md

    Exit code 0 when every cell in view is ok or not-applicable, else 1.
    """
    kind = _kind(file, as_json=as_json, as_markdown=as_markdown)
    repository = api.open_repository()
    if reference and sys.stderr.isatty():
        click.echo("planning; splits that were never made here are made, which may take a minute once", err=True)
    # a run made here has its split here; only a committed result may be of one that has to be made first
    plan = api.plan(suite=suite, published_seeds=published_seeds, make_splits=reference, repository=repository)
    whole = api.status(plan, reference=reference, repository=repository)
    jobs = [scored.cell.job for scored in whole.cells]
    where = f"the plan '{suite}'; others: --suite"
    refuse_unknown("benchmark", benchmarks, (job.benchmark for job in jobs), where=where)
    refuse_unknown("method", methods, (job.method for job in jobs), where=where)
    refuse_unknown("dataset", datasets, (job.dataset for job in jobs), where=where)
    known = {one.name for name in {job.benchmark for job in jobs} for one in get(name).scoring.metrics}
    refuse_unknown("metric", [metric] if metric else [], known, where="`harness list metrics`")
    table = whole.select(
        benchmarks=benchmarks,
        methods=methods,
        datasets=datasets,
        verdicts=[Verdict(verdict) for verdict in verdicts],
    )
    if kind == "text" and file is None:
        show(table, cells=cells, metric=metric)
    else:
        if kind == "json":
            text = json_text(to_json(table)) + "\n"
        elif kind == "markdown":
            text = to_markdown(table, cells=cells, metric=metric)
        else:
            text = to_text(table, cells=cells, metric=metric)
        if file is None:
            click.echo(text, nl=False)
        else:
            write_atomic(file, text)
            click.echo(f"written: {file}")
    return 0 if table.is_good else 1


def _kind(file: Path | None, *, as_json: bool, as_markdown: bool) -> str:
    """The format that an option asks for, else the one of the file's ending."""
    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown exclude each other")
    option = "json" if as_json else "markdown" if as_markdown else ""
    ending = _KINDS[file.suffix.lower()] if file else "text"
    if file and option not in ("", ending):
        raise click.UsageError(f"--{option} and a file called '{file.name}' exclude each other")
    return option or ending
