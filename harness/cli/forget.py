"""`harness forget`: remove runs of this machine."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from harness import api
from harness.base.errors import UsageError
from harness.base.heartbeat import silence
from harness.base.plurals import counted
from harness.base.tables import aligned
from harness.cli.names import DATASET, KEY, METHOD
from harness.cli.options import OnceCommand, echo_json, json_option


@click.command(cls=OnceCommand)
@click.argument("keys", type=KEY, nargs=-1)
@click.option("--method", "methods", multiple=True, type=METHOD, help="All runs of this method; may be repeated.")
@click.option(
    "--dataset", "datasets", multiple=True, type=DATASET, help="All runs on this dataset; may be repeated."
)
@click.option("--dry-run", is_flag=True, help="Only list what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def command(
    keys: tuple[str, ...],
    methods: tuple[str, ...],
    datasets: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Remove runs of this machine with their scores: by KEYS, or of a method, a dataset, or one on the other.

    \b
    harness forget 3d02f8dae5f6
    harness forget --method mine --dataset fdataset --dry-run

    Predictions, logs and records are gone for good; that they were there stays in the log of events. Reference
    results are never removed. Exit code 1 where a run could not be removed, or you said no.
    """
    if as_json and not (yes or dry_run):
        raise UsageError("with --json nobody is asked", where="harness forget", todo="add --yes or --dry-run")
    repository = api.open_repository()
    runs = api.forget(keys, methods=methods, datasets=datasets, dry_run=True, repository=repository)
    if not runs:
        if as_json:
            echo_json({"removed": False, "runs": []})
        else:
            click.echo("nothing to remove: no run of this machine is of both")
        return 0
    if not as_json:
        rows = [[run.key[:12], run.verdict, run.label, f"{run.bytes / 1e6:.1f} MB"] for run in runs]
        for line in aligned(rows):
            click.echo(line)
        count = counted(len(runs), "run")
        click.echo(
            f"{count}, {sum(run.bytes for run in runs) / 1e6:.1f} MB of predictions, logs, records and scores"
        )
    if not dry_run:
        if not (yes or _agrees()):
            click.echo("nothing was removed")
            return 1
        chosen = [run.key for run in runs]
        runs = api.forget(chosen, repository=repository)
    faults = [run for run in runs if run.fault]
    if as_json:
        echo_json({"removed": not dry_run, "runs": [asdict(run) for run in runs]})
    elif not dry_run:
        for run in faults:
            click.echo(f"not removed: {run.key[:12]}: {run.fault}", err=True)
        click.echo(f"removed: {len(runs) - len(faults)}")
    return 1 if faults else 0


def _agrees() -> bool:
    """Whether a person says yes."""
    if not _is_asked():
        raise UsageError("nobody is here to be asked", where="harness forget", todo="add --yes, or --dry-run")
    with silence():
        return click.confirm("remove them?")


def _is_asked() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty()
