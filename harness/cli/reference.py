"""`harness reference`: the committed results of this artifact."""

from __future__ import annotations

from pathlib import Path

import click

from harness.base.layout import find_layout
from harness.base.tables import aligned
from harness.cli.options import OnceGroup, echo_json, json_option, mirror_option
from harness.results.reference import overview, save_reference
from harness.results.store import Store


@click.group(cls=OnceGroup)
def command() -> None:
    """List the committed reference results, or take this machine's runs into them.

    \b
    harness reference list
    harness status --suite full --reference         show them where nothing was run here
    harness audit --reference --replay 3            prove three of them by running them again
    """


@command.command("list")
@json_option
def list_(as_json: bool) -> None:
    """How many seeds there are of every method, dataset and split, and how they ended."""
    rows = overview(find_layout())
    if as_json:
        echo_json([row.to_json() for row in rows])
        return
    for line in aligned(
        [
            row.label,
            f"{row.seeds:3} seeds",
            row.verdicts,
            f"{row.cpu_hours:6.2f} CPU h",
            f"{row.stale} of code, images or data that changed since" if row.stale else "",
        ]
        for row in rows
    ):
        click.echo(line)
    click.echo(f"{sum(row.seeds for row in rows)} runs, {sum(row.cpu_hours for row in rows):.1f} CPU hours")


@command.command("save")
@mirror_option
def save(mirrors: tuple[Path, ...]) -> None:
    """Take every finished run of the present code, images and data into results/reference.

    Results of seeds that were not run here are kept; those of code that has changed since are removed.
    """
    layout = find_layout()
    count, files = save_reference(layout, Store(layout.runs), mirrors)
    size = sum(path.stat().st_size for path in files)
    click.echo(f"{count} runs taken; {len(files)} files, {size / 1e6:.1f} MB, under {layout.reference}")
