"""`harness study`: the tables and figures of a paper, made again from our runs beside the published ones."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from harness.base.errors import UsageError
from harness.base.layout import find_layout
from harness.cli.options import OnceCommand, benchmark_option, json_option, json_text, mirror_option
from harness.cli.output import chosen_kind, deliver, output_option
from harness.results.store import Store


@click.command(cls=OnceCommand)
@benchmark_option("Whose paper.")
@click.option("--table", "tables", multiple=True, help="Only this table; may be repeated.")
@click.option("--figure", "figures", multiple=True, help="Only this figure; may be repeated.")
@click.option("--markdown", "as_markdown", is_flag=True, help="For documents.")
@click.option("--measure", is_flag=True, help="First measure anew what is said of data alone, and keep it (ddi).")
@mirror_option
@json_option
@output_option("text", "markdown", "json")
def command(
    benchmark: str,
    tables: tuple[str, ...],
    figures: tuple[str, ...],
    as_markdown: bool,
    measure: bool,
    mirrors: tuple[Path, ...],
    as_json: bool,
    output: Path | None,
) -> int:
    """Make a paper's tables and figures again: as printed, from the authors' files, from our runs, with verdicts.

    \b
    harness study
    harness study --table 10 --figure 3
    harness study --output study.md
    harness study --benchmark ddi --measure --mirror DIR

    Figures are drawn by `harness report`; here are their numbers. Exit code 1 when a number deviates, else 0.
    """
    from harness.benchmarks import folder
    from harness.compare import compare_claims
    from harness.study import make_study, measure_anew, to_json, to_markdown, to_text

    flags = {"--json": "json" if as_json else None, "--markdown": "markdown" if as_markdown else None}
    kind = chosen_kind(output, flags)
    layout = find_layout()
    if measure:
        measure_anew(layout, benchmark, mirrors, say=partial(click.echo, err=True))
    book = compare_claims(layout, Store(layout.runs), benchmark, mirrors=mirrors)
    study = make_study(layout, book, mirrors)
    if study is None:
        raise UsageError(
            f"benchmark '{benchmark}' has no study",
            where=str(folder(benchmark)),
            todo="name one whose package has a study.toml",
        )
    if tables or figures:
        study = study.only(tables, figures)
    if kind == "json":
        deliver(f"{json_text(to_json(study))}\n", output)
    else:
        deliver((to_markdown if kind == "markdown" else to_text)(study), output)
    return 1 if study.deviates else 0
