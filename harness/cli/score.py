"""`harness score`: metrics from stored predictions; never a container."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness import api
from harness.base.errors import DataError, UsageError
from harness.base.vocabulary import Verdict
from harness.cli.names import KEY
from harness.cli.options import OnceCommand, echo_json, json_option, mirror_option
from harness.cli.warnings import echo_warnings
from harness.handles import PublishedLines, metric_lines
from harness.planning.jobs import Job
from harness.status.table import key_metrics


@click.command(cls=OnceCommand)
@click.argument("keys", type=KEY, nargs=-1)
@click.option("--again", is_flag=True, help="Compute even where fresh scores are kept.")
@mirror_option
@json_option
def command(keys: tuple[str, ...], again: bool, mirrors: tuple[Path, ...], as_json: bool) -> int:
    """Compute the scores of stored runs: of all with valid predictions, or of those whose keys begin with KEYS."""
    repository = api.open_repository(mirrors=mirrors)
    rows, failed = [], False
    store = repository.store
    for key in keys or (key for key in store.finished() if store.standing(key).verdict is Verdict.OK):
        try:
            run = api.scores(key, again=again, repository=repository)
        except (DataError, UsageError) as error:
            if keys:
                raise
            # the others are scored all the same
            failed = True
            label = Job.model_validate(store.standing(key).content["planned"]["job"]).label
            click.echo(f"{key[:16]}  {label}  not scored: {error.what}", err=True)
            continue
        rows.append({"label": run.job.label, **run.scores.to_json()})
        if not as_json:
            _show(rows[-1], () if keys else key_metrics(run.job.benchmark))
            if keys:
                echo_warnings(store, rows[-1]["key"], indent="  ")
    if as_json:
        echo_json(rows)
    elif not rows and not failed:
        click.echo("no stored run has predictions to score")
    return DataError.exit_code if failed else 0


def _show(row: dict[str, Any], names: Sequence[str]) -> None:
    """Print one line per run with these metrics; without names, every metric, or why it is undefined."""
    if names:
        values = {name: row["metrics"].get(name) for name in names}
        text = "  ".join(f"{name} {value:.4f}" for name, value in values.items() if value is not None)
        text = text or next(iter(row["notes"].values()), "")
        click.echo(f"{row['key'][:16]}  {row['label']}  {text}")
        return
    click.echo(f"{row['label']}  ({row['key']})")
    metrics, notes = row["metrics"], row["notes"]
    for line in metric_lines([*metrics.items()], notes, PublishedLines(())):
        click.echo(line)
    for name, note in notes.items():
        # that of an undefined metric is told already
        if metrics.get(name, note) is not None:
            click.echo(f"  {name}: {note}")
