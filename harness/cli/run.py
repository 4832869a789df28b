"""`harness run`: run a suite, or a method on a split; score it; show the table; say where the evidence lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness import api
from harness.base.plurals import counted, form_of
from harness.base.vocabulary import Verdict
from harness.cli.names import Word
from harness.cli.options import (
    OnceCommand,
    PlanArguments,
    echo_json,
    install_option,
    json_option,
    mirror_option,
    on_option,
    request_options,
    runtime_option,
)
from harness.cli.plan import show_plan
from harness.cli.warnings import echo_warnings
from harness.status import Table, show, to_json
from harness.status.table import known_sets

if TYPE_CHECKING:
    from harness.handles.publication import Row

# Up to so many runs, every metric is shown.
_SHOWN_IN_FULL = 4


@click.command(cls=OnceCommand)
@request_options
@mirror_option
@click.option("--workers", type=click.IntRange(min=1), help="CPUs to lend to runs; all of them by default.")
@click.option("--again", multiple=True, type=Word([str(one) for one in Verdict]), help="Run these again.")
@click.option("--remove-images", is_flag=True, help="Build, run and remove one method at a time: least disk.")
@install_option
@runtime_option
@on_option
@click.option("--dry-run", is_flag=True, help="Only show what would run, and what it would need.")
@click.option("--verify", is_flag=True, help="Of a large plan too, read every record to see what is left.")
@click.option("--report", is_flag=True, help="Write the HTML report at the end.")
@json_option
def command(
    request: PlanArguments,
    mirrors: tuple[Path, ...],
    workers: int | None,
    again: tuple[str, ...],
    remove_images: bool,
    install: bool,
    runtime: str | None,
    on: str,
    dry_run: bool,
    report: bool,
    verify: bool,
    as_json: bool,
) -> int:
    """Run what is left of a suite, or of one method's jobs, and show every cell's verdict.

    \b
    harness run --suite smoke
    harness run --method bnnr --dataset fdataset --seed 17263407 --mirror DIR
    harness run --method bnnr --method constant --dataset synthetic --seed 1 --seed 2
    harness run --method pmf --dataset lrssl --split random --split weakly_correlated --published-seeds 10
    harness run --suite full --again timeout
    harness run --suite ddi-drugbank --mirror DIR --accelerator cuda
    harness run --suite full --shard 3/10                         then `harness store merge`
    harness run --suite full --on tcp://10.0.0.1:8786             on the workers of a Dask cluster
    harness run --suite full --on slurm.toml                      on workers that Slurm starts

    Finished runs are kept: the same command resumes. Exit code 0 when every cell is ok or not-applicable,
    1 when some are not, 130 when you stopped it.
    """
    repository = api.open_repository(mirrors=mirrors, install=install, runtime=runtime)
    plan = api.plan(**request, make_splits=not dry_run, repository=repository)
    if dry_run:
        few = len(plan.cells) <= _SHOWN_IN_FULL
        start = "the same command without --dry-run"
        show_plan(repository, plan, with_cells=few, as_json=as_json, again=again, start=start)
        return 0
    campaign = api.run(
        plan,
        progress=None if as_json else "auto",
        workers=workers,
        again=again,
        remove_images=remove_images,
        upstream=request["upstream"],
        on=on,
        verify=verify,
        repository=repository,
    )
    obstacle = next(iter(campaign.obstacles), None)
    # a program gets one document: the answer, or why there is none
    if not as_json:
        if not campaign.left:
            _tell_nothing_is_left(campaign.table)
        _show(repository, campaign.table, whole_suite=request["suite"] is not None)
    elif campaign.stopped or not obstacle:
        echo_json({**to_json(campaign.table), "published": _published(repository, campaign.table)})
    if report:
        path = api.report(campaign.table, unless_current=True, repository=repository)
        if not as_json:
            click.echo(f"report: {path}")
    # who stopped it does not wait for what all the rest would need
    if request["suite"] == "smoke" and request["shard"] is None and not (as_json or campaign.stopped):
        full = api.plan(suite="full", make_splits=False, repository=repository)
        click.echo(f"\n{api.needs(full, repository=repository).text()}")
    if campaign.stopped:
        return 130
    if campaign.not_again:
        stands = form_of("result stands", campaign.not_again, "results stand")
        click.echo(
            f"{counted(campaign.not_again, 'run')} wanted again came to no verdict: the earlier {stands}", err=True
        )
    if obstacle:
        raise obstacle
    return 0 if campaign.is_good else 1


def _tell_nothing_is_left(table: Table) -> None:
    impossible = sum(1 for scored in table.cells if scored.key is None)
    others = f", {impossible} can't be run (reasons below)" if impossible else ""
    click.echo(f"nothing is left to do: {len(table.cells) - impossible} finished{others}", err=True)
    verdicts = {scored.cell.verdict for scored in table.cells if scored.key is not None}
    if failed := sorted(verdict for verdict in verdicts if verdict.is_final and not verdict.is_good):
        options = " ".join(f"--again {verdict}" for verdict in failed)
        kept = "failures are kept, also where the card's inputs or limits changed"
        click.echo(f"{kept}; to run them again: {options}", err=True)


def _show(repository: api.Repository, table: Table, *, whole_suite: bool) -> None:
    """Show the table; of few runs also every score, and where their evidence lies."""
    show(table)
    if whole_suite:
        return
    if len(table.cells) <= _SHOWN_IN_FULL:
        _show_each(repository, table)
    else:
        click.echo("every metric of a run: harness score KEY; why believe it: harness audit KEY (status --cells)")


def _show_each(repository: api.Repository, table: Table) -> None:
    """Every metric of every run, published numbers below those they are about."""
    from harness.handles import PublishedLines, metric_lines

    beside = _published(repository, table)
    first = {
        id(scored): [metric for members in known_sets([group]) for metric in members]
        for group in table.groups
        for scored in group.cells
    }
    for scored in table.cells:
        # the whole of it stands above, below the table
        reason = scored.cell.reason.partition("\n")[0]
        click.echo(f"\n{scored.cell.job.label}: {scored.cell.verdict}: {reason}")
        published = PublishedLines(beside.get(scored.key or "", ()))
        for line in metric_lines(_in_order(scored.metrics, first[id(scored)]), scored.notes, published):
            click.echo(line)
        for reason in published.reasons:
            click.echo(f"  {reason}")
        if scored.key and scored.cell.record:
            echo_warnings(repository.store, scored.key, indent="  ")
            click.echo(f"  evidence: {repository.store.path(scored.key)}")
            if scored.cell.verdict.is_final:
                click.echo(f"  why believe it: harness audit {scored.key[:12]}")


def _in_order(metrics: Mapping[str, float | None], first: Sequence[str]) -> list[tuple[str, float | None]]:
    """Metrics by name, those that the table shows before all others."""
    shown = {name: place for place, name in enumerate(first)}
    return sorted(metrics.items(), key=lambda item: (shown.get(item[0], len(shown)), item[0]))


def _published(repository: api.Repository, table: Table) -> dict[str, list[Row]]:
    """The published numbers about the runs of a small table, by key."""
    if len(table.cells) > _SHOWN_IN_FULL:
        return {}
    from harness.handles import published_beside

    runs = [scored.cell.planned for scored in table.cells if scored.cell.planned and scored.metrics]
    return published_beside(repository.layout, repository.store, runs, repository.mirrors)
