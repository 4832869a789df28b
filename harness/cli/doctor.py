"""`harness doctor`: is this machine ready, and what to do if not."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from harness.base.layout import find_layout
from harness.cli.options import OnceCommand, echo_json, json_option, mirror_option, runtime_option
from harness.upkeep import State, examine

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command(cls=OnceCommand)
@mirror_option
@runtime_option
@json_option
def command(mirrors: tuple[Path, ...], runtime: str | None, as_json: bool) -> int:
    """Check engine, limits, a tiny control run, identity, images, disk, memory, GPU, data and leftovers.

    Exit code 0 when nothing failed, 3 when no container can be run, 1 when something else failed.
    """
    checks = []
    for check in examine(find_layout(), mirrors, runtime=runtime):
        checks.append(check)
        if not as_json:
            click.echo(
                f"{click.style(f'{check.state:4}', fg=_COLOURS[check.state])}  {check.name}: {check.detail}"
            )
            if check.todo:
                click.echo(f"      to do: {check.todo}")
    failed = [check for check in checks if check.state is State.FAIL]
    code = 0
    if failed:
        code = 3 if any(check.of_engine for check in failed) else 1
    if as_json:
        echo_json({"ready": not failed, "checks": [asdict(check) for check in checks]})
    return code
