"""`harness table`: methods beside each other, with tests, as a paper prints them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import api
from harness.base.errors import HarnessError
from harness.cli.names import DATASET, METHOD_ROW, METRIC, SPLIT, STORED_SUITE, VARIANT, Word
from harness.cli.options import SEED, OnceCommand, document_text, json_option, reference_option
from harness.cli.output import chosen_kind, deliver, output_option

if TYPE_CHECKING:
    from harness.contest import Contest

_KINDS = ("text", "markdown", "latex", "csv", "json", "svg", "pdf")


@click.command(cls=OnceCommand)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=METHOD_ROW,
    required=True,
    help="NAME or NAME/VARIANT; may be repeated. The first is held against all others.",
)
@click.option("--variant", type=VARIANT, help="The variant of methods named without one; published by default.")
@click.option(
    "--metric", type=METRIC, help="By default the first that tables show, as defined (harness list metrics)."
)
@click.option("--dataset", "datasets", multiple=True, type=DATASET, help="Only this dataset; may be repeated.")
@click.option("--split", "splits", multiple=True, type=SPLIT, help="Only this split; may be repeated.")
@click.option("--seed", "seeds", multiple=True, type=SEED, help="Only this seed; may be repeated.")
@click.option(
    "--common-seeds", is_flag=True, help="Only seeds on which every method was run, whatever came of it."
)
@click.option(
    "--suite", type=STORED_SUITE, help="Datasets, splits and seeds of this suite, in place of those that were run."
)
@reference_option
@click.option("--strict", is_flag=True, help="Exit with 1, and show nothing, where a number must not stand alone.")
@output_option(*_KINDS)
@click.option("--format", "kind", type=Word(list(_KINDS)), help="By default that of the file.")
@json_option
def command(
    methods: tuple[str, ...],
    variant: str | None,
    metric: str | None,
    datasets: tuple[str, ...],
    splits: tuple[str, ...],
    seeds: tuple[int, ...],
    common_seeds: bool,
    suite: str | None,
    reference: bool,
    strict: bool,
    output: Path | None,
    kind: str | None,
    as_json: bool,
) -> int:
    """Show methods beside each other: mean, deviation, rank, paired tests, critical differences.

    \b
    harness table --method mine --method bnnr --method scpmf/corrected
    harness table --method mine --method bnnr --metric NS-AUC/as-defined --output table.tex
    harness table --method bnnr --method drrs --method scpmf --reference --output ranks.pdf

    A picture shows mean ranks and critical differences where several settings and three methods are there, else
    the values of every seed. Numbers that rest on failed runs, or on few seeds, are marked and explained.
    """
    kind = chosen_kind(output, {f"--format {kind}": kind, "--json": "json" if as_json else None})
    contest = api.contest(
        methods,
        metric=metric,
        variant=variant,
        datasets=datasets,
        splits=splits,
        seeds=seeds,
        common_seeds=common_seeds,
        suite=suite,
        reference=reference,
        repository=api.open_repository(),
    )
    if strict and contest.problems:
        raise HarnessError(
            "numbers of this table must not stand alone",
            where="\n         ".join(contest.problems),
            todo="run what is missing, leave the methods or seeds out, or leave --strict out to see them marked",
        )
    deliver(_content(contest, kind), output)
    for line in contest.problems if output else ():
        click.echo(line, err=True)
    return 0


def _content(contest: Contest, kind: str) -> str | bytes:
    from harness import contest as forms

    if kind in ("svg", "pdf"):
        return forms.draw(contest, "pdf" if kind == "pdf" else "svg")
    if kind == "json":
        return f"{document_text(forms.to_json(contest))}\n"
    write = {"text": forms.to_text, "markdown": forms.to_markdown, "latex": forms.to_latex, "csv": forms.to_csv}
    return write[kind](contest)
