"""`harness report`: the status page as one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from harness import api
from harness.cli.options import OnceCommand, OutputFile, mirror_option, published_seeds_option, reference_option


@click.command(cls=OnceCommand)
@click.option(
    "--suite", default="smoke", show_default=True, help="Which plan; 'stored': all that was ever run here."
)
@published_seeds_option
@click.option(
    "--output",
    type=OutputFile(".html"),
    help="Where to write it, an .html file; results/local/report.html by default.",
)
@click.option("--open", "show", is_flag=True, help="Open it in the browser.")
@reference_option
@mirror_option
def command(
    suite: str,
    published_seeds: int | None,
    output: Path | None,
    show: bool,
    reference: bool,
    mirrors: tuple[Path, ...],
) -> int:
    """Write the status page: matrix, cells with their evidence, claims, method cards. Needs no network."""
    repository = api.open_repository(mirrors=mirrors)
    plan = api.plan(suite=suite, published_seeds=published_seeds, repository=repository)
    table = api.status(plan, reference=reference, repository=repository)
    path = api.report(table, output, repository=repository)
    click.echo(f"report: {path} ({path.stat().st_size / 1e6:.1f} MB)")
    if show:
        click.launch(path.absolute().as_uri())
    return 0
