"""`harness compare`: published numbers beside ours, each with a verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.base.layout import find_layout
from harness.cli.options import OnceCommand, benchmark_option, json_option, mirror_option, refuse_unknown

if TYPE_CHECKING:
    from harness.base.layout import Layout


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

    \b
    harness compare
    harness compare --method bnnr --dataset fdataset --split random --seed 17263407
    harness compare --all --markdown > claims.md

    Exit code 1 when a claim deviates, else 0: a claim that can't be compared, or waits for a run, is no failure.
    """
    from harness.compare import ClaimVerdict, compare_claims
    from harness.compare.render import to_json, to_markdown, to_text
    from harness.results.store import Store

    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown exclude each other")
    layout = find_layout()
    _refuse_unknown(layout, benchmark, against, method=methods, dataset=datasets, split=splits)
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
    if not sum(book.tally.values()):
        click.echo("nothing is published of what was asked for: no number was held against another", err=True)
    return 1 if book.tally[ClaimVerdict.DEVIATES] else 0


def _refuse_unknown(layout: Layout, benchmark: str, against: Path | None, **chosen: tuple[str, ...]) -> None:
    """Names are ours or the published ones, of claims or of what is here; anything else is a slip."""
    from harness.compare import load_claims, load_external, load_names
    from harness.data import manifest_names
    from harness.methods.card import method_names
    from harness.splits.strategies import strategy_names

    if not any(chosen.values()):
        return
    names = load_names(layout, benchmark)
    claims = load_claims(layout, names) if against is None else load_external(names, against)
    ours = {"method": method_names(layout), "dataset": manifest_names(layout), "split": strategy_names()}
    for kind, given in chosen.items():
        known = {*ours[kind], *(getattr(claim, kind) for claim in claims)}
        refuse_unknown(kind, given, known, where=against or layout.published / benchmark)
