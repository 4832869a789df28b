"""`harness engine`: a served engine that is kept running, for docker and podman beside the harness."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict

import click

from harness.base.layout import find_layout
from harness.cli.options import OnceGroup, echo_json, install_option, json_option
from harness.engine import find_engine
from harness.engine.custody import Reached, keep, reach, release


@click.group(cls=OnceGroup)
def command() -> None:
    """Keep an engine running that the harness serves, and tell docker and podman of it.

    \b
    harness engine start
    eval "$(harness engine env)"
    docker images
    harness engine stop
    """


@command.command(short_help="Start an engine that runs until `engine stop`.")
@install_option
@json_option
def start(install: bool, as_json: bool) -> None:
    """Find an engine as every command does, and let it run on where the harness serves it.

    It runs until `harness engine stop`, or until the machine is switched off.
    """
    layout = find_layout()
    with find_engine(layout, install=install) as engine:
        kept = keep(layout, engine, os.environ)
    if as_json:
        echo_json(_values(kept))
    elif kept.kept:
        click.echo(f'{kept.name} stays up at {kept.socket}; for this shell: eval "$(harness engine env)"')
    else:
        click.echo(f"{kept.name} answers at {kept.socket}; the harness does not serve it, so it stays as it is")


@command.command(short_help="Stop the engine that `engine start` keeps running.")
@json_option
def stop(as_json: bool) -> None:
    """Keep the engine running no longer: it stops at once, or with the last harness that uses it."""
    stopped = release(find_layout(), os.environ)
    if as_json:
        echo_json([{**asdict(one), "socket": str(one.socket)} for one in stopped])
    elif not stopped:
        click.echo("no engine is kept running")
    for one in [] if as_json else stopped:
        click.echo(f"{one.socket}: " + ("in use; it stops with its last user" if one.in_use else "stopped"))
        for name in ("DOCKER_HOST", "CONTAINER_HOST"):
            if os.environ.get(name) == f"unix://{one.socket}":
                click.echo(f"this shell still names it: unset {name}", err=True)


@command.command(short_help="Print what tells this shell of the engine: eval it.")
@json_option
def env(as_json: bool) -> None:
    """Print the variable that tells docker or podman of the engine that answers, for `eval`."""
    reached = reach(find_layout(), os.environ)
    name, value = reached.variable
    if as_json:
        echo_json({**_values(reached), "variables": {name: value}})
    else:
        click.echo(f"export {name}={shlex.quote(value)}")


def _values(engine: Reached) -> dict[str, object]:
    return {"engine": engine.name, "socket": str(engine.socket), "kept": engine.kept}
