"""`harness reference`: the committed results of this artifact."""

from __future__ import annotations

from pathlib import Path

import click

from harness.base.errors import refuse_unknown
from harness.base.layout import find_layout
from harness.base.plurals import counted, form_of
from harness.base.tables import aligned
from harness.cli.names import DATASET, METHOD
from harness.cli.options import OnceGroup, echo_json, json_option, mirror_option
from harness.results.reference import load_reference, overview, save_reference
from harness.results.store import Store


@click.group(cls=OnceGroup)
def command() -> None:
    """List the committed reference results, or take this machine's runs into them.

    \b
    harness reference list
    harness reference list --keys --method bnnr     each run with its key: harness show KEY
    harness status --suite full --reference         show them where nothing was run here
    harness audit --reference --replay 3            prove three of them by running them again
    """


@command.command("list")
@click.option("--keys", "with_keys", is_flag=True, help="Each run with its key.")
@click.option(
    "--method", "methods", multiple=True, type=METHOD, help="With --keys: only this method; may be repeated."
)
@click.option(
    "--dataset", "datasets", multiple=True, type=DATASET, help="With --keys: only this dataset; may be repeated."
)
@json_option
def list_(with_keys: bool, methods: tuple[str, ...], datasets: tuple[str, ...], as_json: bool) -> None:
    """How many seeds there are of every method, dataset and split, and how they ended."""
    if with_keys:
        _list_keys(methods, datasets, as_json=as_json)
        return
    if methods or datasets:
        raise click.UsageError("--method and --dataset need --keys")
    rows = overview(find_layout())
    if as_json:
        echo_json([row.to_json() for row in rows])
        return
    for line in aligned(
        [
            row.label,
            f"{row.seeds:3} {form_of('seed', row.seeds)}",
            row.verdicts,
            f"{row.cpu_hours:6.2f} CPU h",
            f"{row.stale} of code, images or data that changed since" if row.stale else "",
        ]
        for row in rows
    ):
        click.echo(line)
    click.echo(
        f"{counted(sum(row.seeds for row in rows), 'run')}, {sum(row.cpu_hours for row in rows):.1f} CPU hours"
    )


def _list_keys(methods: tuple[str, ...], datasets: tuple[str, ...], *, as_json: bool) -> None:
    """Every reference result of these methods and datasets; without names, of all."""
    layout = find_layout()
    jobs = {key: (entry.planned.job, entry.content["verdict"]) for key, entry in load_reference(layout).items()}
    refuse_unknown("method", methods, {job.method for job, _ in jobs.values()}, where=layout.reference)
    refuse_unknown("dataset", datasets, {job.dataset for job, _ in jobs.values()}, where=layout.reference)
    chosen = [
        {"key": key, "verdict": verdict, "label": job.label, **job.model_dump(mode="json")}
        for key, (job, verdict) in jobs.items()
        if (not methods or job.method in methods) and (not datasets or job.dataset in datasets)
    ]
    if as_json:
        echo_json(chosen)
        return
    for line in aligned([[row["key"][:12], row["verdict"], row["label"]] for row in chosen]):
        click.echo(line)


@command.command("save")
@mirror_option
@json_option
def save(mirrors: tuple[Path, ...], as_json: bool) -> None:
    """Take every finished run of the present code, images and data into results/reference.

    Results of seeds that were not run here are kept; those of code that has changed since are removed.
    """
    layout = find_layout()
    count, files = save_reference(layout, Store(layout.runs), mirrors)
    size = sum(path.stat().st_size for path in files)
    if as_json:
        echo_json({"runs": count, "files": len(files), "bytes": size, "folder": str(layout.reference)})
    else:
        taken = f"{counted(count, 'run')} taken; {counted(len(files), 'file')}, {size / 1e6:.1f} MB"
        click.echo(f"{taken}, under {layout.reference}")
