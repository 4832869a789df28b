"""`harness compare`: published numbers beside ours, each with a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.options import json_option, mirror_option
from harness.layout import find_layout


@click.command()
@click.option("--benchmark", default="repurposing", show_default=True, help="Whose claims.")
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
) -> int:
    """Put published numbers beside ours, each with a verdict.

    Exit code 1 when a claim deviates, else 0: a claim that can't be compared, or waits for a run, is no failure.
    """
    from harness.compare import ClaimVerdict, compare_claims
    from harness.compare.render import to_json, to_markdown, to_text
    from harness.store import Store

    layout = find_layout()
    book = compare_claims(
        layout,
        Store(layout.runs),
        benchmark,
        against=against,
        methods=methods,
        datasets=datasets,
        splits=splits,
        seeds=seeds,
        mirrors=mirrors,
    )
    if as_json:
        click.echo(json.dumps(to_json(book), indent=2, sort_keys=True, ensure_ascii=False))
    elif as_markdown:
        click.echo(to_markdown(book, everything=everything), nl=False)
    else:
        click.echo(to_text(book, everything=everything), nl=False)
    return 1 if book.tally[ClaimVerdict.DEVIATES] else 0
