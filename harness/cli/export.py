"""`harness export`: results with their evidence, as a Workflow Run RO-Crate; or the index of the store."""

from __future__ import annotations

from pathlib import Path

import click

from harness import api
from harness.base.errors import CorruptData
from harness.base.layout import find_layout
from harness.cli.options import OnceCommand, OutputFile
from harness.export import export
from harness.results.index import build_index


@click.command(cls=OnceCommand)
@click.option(
    "--suite", default="smoke", show_default=True, help="Whose runs; 'stored': all that was ever run here."
)
@click.option(
    "--output",
    required=True,
    type=OutputFile("", ".zip", ".parquet", folder=True),
    help="A new folder (a name without an ending), a new .zip, or a .parquet index.",
)
@click.option("--with-predictions", is_flag=True, help="The predictions too, which scores can be recomputed from.")
def command(suite: str, output: Path, with_predictions: bool) -> int:
    """Export results with their evidence.

    \b
    harness export --output smoke.zip
    harness export --suite stored --output runs.parquet

    A folder or a .zip becomes a Process Run Crate (records, jobs, logs, scores, status, SHA256SUMS); a .parquet
    file becomes the index of the whole store, one row per run. A run whose evidence is damaged is left out and
    named; the exit code is then 4.
    """
    layout = find_layout()
    if output.suffix == ".parquet":
        click.echo(f"index: {build_index(layout, output)}")
        return 0
    plan = api.plan(suite=suite, repository=api.open_repository())
    crate = export(layout, plan, output, with_predictions=with_predictions)
    click.echo(f"exported {crate.runs} runs: {output}")
    for key, reason in crate.left_out.items():
        click.echo(f"left out {key[:12]}: {reason} (harness audit {key[:12]} tells more)", err=True)
    return CorruptData.exit_code if crate.left_out else 0
