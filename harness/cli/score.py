"""`harness score`: metrics from stored predictions; never a container."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.base.errors import DataError, UsageError
from harness.base.layout import find_layout
from harness.base.vocabulary import Verdict
from harness.cli.options import OnceCommand, json_option, mirror_option

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.results.store import Store


@click.command(cls=OnceCommand)
@click.argument("keys", nargs=-1)
@click.option("--again", is_flag=True, help="Compute even where fresh scores are kept.")
@mirror_option
@json_option
def command(keys: tuple[str, ...], again: bool, mirrors: tuple[Path, ...], as_json: bool) -> int:
    """Compute the scores of stored runs: of all with valid predictions, or of those whose keys begin with KEYS."""
    from harness.planning.jobs import PlannedJob
    from harness.results.scoring import score_run, scores_path
    from harness.results.store import Store
    from harness.status.table import key_metrics

    layout = find_layout()
    store = Store(layout.runs)
    rows, failed = [], 0
    for key in _chosen(store, keys):
        standing = store.standing(key)
        if standing.verdict is not Verdict.OK:
            if keys:
                raise UsageError(f"run {key[:16]} has nothing to score: {standing.verdict}", where=standing.reason)
            continue
        planned = PlannedJob.model_validate(standing.content["planned"])
        if again:
            scores_path(layout, key).unlink(missing_ok=True)
        try:
            scores = score_run(layout, store, planned, mirrors)
        except (DataError, UsageError) as error:
            if keys:
                raise
            # one run that can't be scored costs no other its scores
            failed += 1
            click.echo(f"{key[:16]}  {planned.job.label}  not scored: {error.what}", err=True)
            continue
        rows.append({"label": planned.job.label, **scores.to_json()})
        if not as_json:
            _show(rows[-1], () if keys else key_metrics(planned.job.benchmark))
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif not rows:
        click.echo("no stored run has predictions to score")
    return DataError.exit_code if failed else 0


def _show(row: dict[str, Any], names: Sequence[str]) -> None:
    """One line per run with these metrics; without names, every metric with its note."""
    if names:
        told = {name: row["metrics"].get(name) for name in names}
        shown = "  ".join(f"{name} {value:.4f}" for name, value in told.items() if value is not None)
        shown = shown or next(iter(row["notes"].values()), "")
        click.echo(f"{row['key'][:16]}  {row['label']}  {shown}")
        return
    click.echo(f"{row['label']}  ({row['key']})")
    for name, value in row["metrics"].items():
        click.echo(f"  {name:32} {'-' if value is None else f'{value:.15g}'}")
    for name, note in row["notes"].items():
        click.echo(f"  {name}: {note}")


def _chosen(store: Store, beginnings: tuple[str, ...]) -> Iterable[str]:
    from harness.audit import find_key

    if not beginnings:
        return store.finished()
    keys = list(store.finished())
    return [find_key(keys, beginning, store.folder) for beginning in beginnings]
