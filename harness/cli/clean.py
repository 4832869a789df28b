"""`harness clean`: remove what nobody owns, and on request what can be made again."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict

import click

from harness.base.errors import EngineError
from harness.base.layout import find_layout
from harness.cli.options import OnceCommand, echo_json, json_option
from harness.engine import find_engine
from harness.upkeep import clean


@click.command(cls=OnceCommand)
@click.option(
    "--images", is_flag=True, help="Also remove this project's images; they are built again when needed."
)
@click.option("--cache", is_flag=True, help="Also remove what was fetched and converted; it is fetched again.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@json_option
def command(images: bool, cache: bool, dry_run: bool, as_json: bool) -> int:
    """Remove containers and temporary folders whose harness has ended. Results are never removed.

    Exit code 0 when all was removed, 1 when something could not be.
    """
    layout = find_layout()
    removals = []
    with ExitStack() as stack:
        try:
            engine = stack.enter_context(find_engine(layout))
        except EngineError as error:
            engine = None
            click.echo(f"containers and images were not looked at: {error.what}", err=True)
        for removal in clean(layout, engine, images=images, cache=cache, dry_run=dry_run):
            removals.append(removal)
            if as_json:
                continue
            size = f", {removal.bytes / 1e6:.1f} MB" if removal.bytes else ""
            word = "would remove" if dry_run else "removed"
            if removal.fault:
                word = "could not remove"
            reason = f": {removal.fault}" if removal.fault else ""
            click.echo(f"{word} {removal.kind} {removal.name}{size}{reason}")
    if as_json:
        echo_json([asdict(removal) for removal in removals])
    elif not removals:
        click.echo("nothing to remove")
    return 1 if any(removal.fault for removal in removals) else 0
