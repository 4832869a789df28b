"""`harness compare`: published numbers beside ours, each with a verdict."""

from __future__ import annotations

from pathlib import Path

import click

from harness import api
from harness.cli.options import OnceCommand, benchmark_option, json_option, json_text, mirror_option
from harness.cli.output import chosen_kind, deliver, output_option


@click.command(cls=OnceCommand)
@benchmark_option("Whose claims.")
@click.option(
    "--method", "methods", multiple=True, help="Only claims about this method (our name or the published)."
)
@click.option("--dataset", "datasets", multiple=True, help="Only claims about this dataset.")
@click.option("--split", "splits", multiple=True, help="Only claims about this split strategy.")
@click.option("--seed", "seeds", multiple=True, type=int, help="Only values of this seed.")
@click.option(
    "--against",
    "--claims",
    "against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Claims of this file (.csv, .csv.gz; one row per seed and metric) in place of the committed ones.",
)
@click.option("--all", "everything", is_flag=True, help="List every claim, however many.")
@click.option("--markdown", "as_markdown", is_flag=True, help="For documents.")
@mirror_option
@json_option
@output_option("text", "markdown", "json")
def command(
    benchmark: str,
    methods: tuple[str, ...],
    datasets: tuple[str, ...],
    splits: tuple[str, ...],
    seeds: tuple[int, ...],
    against: Path | None,
    everything: bool,
    as_markdown: bool,
    mirrors: tuple[Path, ...],
    as_json: bool,
    output: Path | None,
) -> int:
    """Put published numbers beside ours, each with a verdict.

    \b
    harness compare
    harness compare --method bnnr --dataset fdataset --split random --seed 17263407
    harness compare --all --output claims.md

    Exit code 1 when a claim deviates, else 0: a claim that can't be compared, or waits for a run, is no failure.
    """
    from harness.compare import ClaimVerdict
    from harness.compare.text import to_json, to_markdown, to_text

    flags = {"--json": "json" if as_json else None, "--markdown": "markdown" if as_markdown else None}
    kind = chosen_kind(output, flags)
    book = api.compare(
        benchmark,
        methods=methods,
        datasets=datasets,
        splits=splits,
        seeds=seeds,
        against=against,
        repository=api.open_repository(mirrors=mirrors),
    )
    if kind == "json":
        deliver(f"{json_text(to_json(book))}\n", output)
    else:
        deliver((to_markdown if kind == "markdown" else to_text)(book, everything=everything), output)
    if not sum(book.tally.values()):
        click.echo("nothing is published of what was asked for: no number was held against another", err=True)
    return 1 if book.tally[ClaimVerdict.DEVIATES] else 0
