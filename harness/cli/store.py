"""`harness store`: the runs of several machines in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from harness import api
from harness.base.errors import AuditError, CorruptData
from harness.base.foreign_text import printable
from harness.base.plurals import counted
from harness.cli.options import FOLDER, OnceGroup, echo_json, json_option
from harness.proof.plans import progress_of
from harness.results.merge import Merged, MergedRun


@click.group(cls=OnceGroup)
def command() -> None:
    """Merge the runs of other machines into those of this one.

    \b
    harness run --suite full --shard 3/10     on the third of ten machines
    harness store merge /media/*/results      then, on one of them
    """


@command.command("merge", short_help="Verify the runs of other folders, and take them in.")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=FOLDER)
@json_option
def merge(folders: tuple[Path, ...], as_json: bool) -> int:
    """Verify the runs of other results folders, and take them into this machine's, with all that their logs say.

    Failures are taken like results. A folder comes in whole or not at all; started again, the same command takes
    what is left. Nothing in DIR is changed.

    Exit code 4 where a run was refused because it is damaged, and 5 where one disagrees with the one that is here.
    """
    repository = api.open_repository()
    every = api.merge(folders, progress=None if as_json else "auto", repository=repository)
    log = repository.store.log
    plans = progress_of(log.folder, log.leaves(), (plan for merged in every for plan in merged.plans))
    if as_json:
        folders_told = [{**asdict(one), "folder": str(one.folder)} for one in every]
        echo_json({"folders": folders_told, "plans": [asdict(plan) for plan in plans]})
    else:
        for merged in every:
            _show(merged)
        for plan in plans:
            impossible = f", {plan.without_key} can't be run" if plan.without_key else ""
            click.echo(f"plan {plan.name}: {counted(plan.cells, 'cell')}, {plan.left} left{impossible}")
    if any(merged.disagreements for merged in every):
        return AuditError.exit_code
    return CorruptData.exit_code if any(merged.refused for merged in every) else 0


def _show(merged: Merged) -> None:
    verdicts = ", ".join(f"{verdict} {count}" for verdict, count in sorted(merged.taken.items()))
    count = merged.taken.total()
    parts = [
        f"{counted(count, 'run')} taken{f' ({verdicts})' if verdicts else ''}",
        f"{merged.known} known before" if merged.known else "",
        f"{merged.equal} here too, and equal bit for bit" if merged.equal else "",
        f"{merged.in_other_order} here too, made in another order of items; ours stay"
        if merged.in_other_order
        else "",
        f"{len(merged.refused)} refused" if merged.refused else "",
        f"{len(merged.disagreements)} in disagreement with ours, which stay" if merged.disagreements else "",
    ]
    click.echo(f"{merged.folder}: {'; '.join(part for part in parts if part)}")
    _list("refused", merged.refused, "mend what is told there and merge again, or run it again")
    _list("disagrees", merged.disagreements, "compare the two: harness audit KEY --replay 1, on both machines")


def _list(title: str, runs: Sequence[MergedRun], todo: str) -> None:
    for run in runs:
        key = f" ({run.key[:12]})" if run.key else ""
        click.echo(f"  {title}: {run.label}{key}: {run.what}", err=True)
        if run.where:
            # names of files as they lie there
            click.echo(f"    where: {printable(run.where)}", err=True)
    if runs:
        click.echo(f"  to do: {todo}", err=True)
