"""`harness clean`: remove what nobody owns, and on request what can be made again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict

import click

from harness.base.errors import EngineError
from harness.base.layout import Layout, find_layout
from harness.base.tables import aligned
from harness.cli.options import OnceCommand, echo_json, json_option
from harness.engine import find_engine
from harness.upkeep import Removal, clean, clean_all


@click.command(cls=OnceCommand)
@click.option("--old-images", is_flag=True, help="Also remove images of earlier versions of methods.")
@click.option(
    "--images", is_flag=True, help="Also remove this project's images; they are built again when needed."
)
@click.option("--cache", is_flag=True, help="Also remove what was fetched and converted; it is fetched again.")
@click.option(
    "--all", "everything", is_flag=True, help="All of these, and engines that were served. Results stay."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed, and how large it is.")
@json_option
def command(old_images: bool, images: bool, cache: bool, everything: bool, dry_run: bool, as_json: bool) -> int:
    """Remove containers and temporary folders whose harness has ended. Results are never removed.

    \b
    harness clean --old-images                 after a method was edited
    harness clean --all --dry-run              what the harness keeps on this machine, with sizes

    Exit code 0 when all was removed, 1 when something could not be.
    """
    layout = find_layout()
    removals = []
    with ExitStack() as stack:
        found = (
            clean_all(layout, os.environ, dry_run=dry_run)
            if everything
            else _chosen(stack, layout, old_images=old_images, images=images, cache=cache, dry_run=dry_run)
        )
        for removal in found:
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
    elif removals:
        _tell_sums([removal for removal in removals if not removal.fault])
    else:
        click.echo("nothing to remove")
    return 1 if any(removal.fault for removal in removals) else 0


def _chosen(
    stack: ExitStack, layout: Layout, *, images: bool, old_images: bool, cache: bool, dry_run: bool
) -> Iterator[Removal]:
    """What the options ask for, in the engine that every command finds."""
    try:
        engine = stack.enter_context(find_engine(layout))
    except EngineError as error:
        engine = None
        click.echo(f"containers and images were not looked at: {error.what}", err=True)
        if images or old_images:
            yield Removal("image", "all that was asked for", fault=error.what)
    yield from clean(layout, engine, images=images, old_images=old_images, cache=cache, dry_run=dry_run)


def _tell_sums(removals: Sequence[Removal]) -> None:
    """The size of each kind, where anything has one."""
    sums: dict[str, int] = {}
    for removal in removals:
        sums[removal.kind] = sums.get(removal.kind, 0) + removal.bytes
    if not any(sums.values()):
        return
    for line in aligned([*([kind, f"{size / 1e6:.1f} MB"] for kind, size in sums.items() if size)]):
        click.echo(line)
    if "image" in sums:
        click.echo("(layers that images share are counted with each of them)")
