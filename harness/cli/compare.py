"""`harness compare`: published numbers beside ours, each with a verdict."""

from __future__ import annotations

from pathlib import Path

import click

from harness import api
from harness.base.errors import UsageError
from harness.cli.names import BENCHMARK, DATASET, METHOD, SPLIT
from harness.cli.options import FILE, OnceCommand, document_text, json_option, mirror_option
from harness.cli.output import chosen_kind, deliver, output_option


@click.command(cls=OnceCommand)
@click.option(
    "--benchmark",
    type=BENCHMARK,
    help="Whose claims; by default that of the methods and datasets that are named, else repurposing.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=METHOD,
    help="Only this method (our name or the published); may be repeated.",
)
@click.option("--dataset", "datasets", multiple=True, type=DATASET, help="Only this dataset; may be repeated.")
@click.option(
    "--split",
    "splits",
    multiple=True,
    type=SPLIT,
    help="Only splits of this strategy, or this split with its parameters; may be repeated.",
)
@click.option("--seed", "seeds", multiple=True, type=int, help="Only this seed; may be repeated.")
@click.option(
    "--against",
    "--claims",
    "against",
    type=FILE,
    help="Claims of this file (.csv, .csv.gz; one row per seed and metric) in place of the committed ones.",
)
@click.option("--gpu", is_flag=True, help="In place of claims: runs on a GPU beside the same on the CPU.")
@click.option("--all", "everything", is_flag=True, help="List every claim, however many.")
@click.option("--markdown", "as_markdown", is_flag=True, help="For documents.")
@mirror_option
@json_option
@output_option("text", "markdown", "json")
def command(
    benchmark: str | None,
    methods: tuple[str, ...],
    datasets: tuple[str, ...],
    splits: tuple[str, ...],
    seeds: tuple[int, ...],
    against: Path | None,
    gpu: bool,
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
    harness compare --method tiger
    harness compare --all --output claims.md
    harness compare --gpu --benchmark ddi

    Exit code 1 when a claim deviates, or a GPU gives other metrics than the method's card allows, else 0: a claim
    that can't be compared, or waits for a run, is no failure.
    """
    from harness.compare import ClaimVerdict, accelerators, claimed_benchmarks
    from harness.compare.text import to_json, to_markdown, to_text

    flags = {"--json": "json" if as_json else None, "--markdown": "markdown" if as_markdown else None}
    kind = chosen_kind(output, flags)
    here = api.open_repository(mirrors=mirrors)
    if gpu:
        if against is not None or everything:
            where = "--all" if against is None else f"--against {against}"
            raise UsageError("--gpu compares no claims", where=where, todo="leave one of them out")
        asked = {"methods": methods, "datasets": datasets, "splits": splits}
        found = api.compare_accelerators(benchmark, **asked, seeds=seeds, repository=here)
        if kind == "json":
            deliver(f"{document_text(accelerators.to_json(found))}\n", output)
        else:
            deliver((accelerators.to_markdown if kind == "markdown" else accelerators.to_text)(found), output)
        return 1 if found.differing else 0
    book = api.compare(
        benchmark,
        methods=methods,
        datasets=datasets,
        splits=splits,
        seeds=seeds,
        against=against,
        repository=here,
    )
    if kind == "json":
        deliver(f"{document_text(to_json(book))}\n", output)
    else:
        deliver((to_markdown if kind == "markdown" else to_text)(book, everything=everything), output)
    others = [name for name in claimed_benchmarks(here.layout) if name != book.benchmark]
    if others and kind == "text" and output is None and not any((benchmark, methods, datasets, against)):
        more = " or ".join(others)
        click.echo(f"these are the claims of {book.benchmark}; for others: --benchmark {more}")
    if not sum(book.tally.values()):
        click.echo("nothing is published of what was asked for: no number was held against another", err=True)
    return 1 if book.tally[ClaimVerdict.DEVIATES] else 0
