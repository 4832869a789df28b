"""`harness diff`: what differs between two runs."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby

import click

from harness import api
from harness.base.tables import aligned
from harness.cli.names import KEY
from harness.cli.options import OnceCommand, echo_json, json_option

_WIDEST = 34


@click.command(cls=OnceCommand)
@click.argument("first", type=KEY)
@click.argument("second", type=KEY)
@json_option
def command(first: str, second: str, as_json: bool) -> int:
    """Show what differs between two runs: job, image, inputs, outcome, scores, files, machine.

    FIRST and SECOND are keys or their beginnings, of runs of this machine or of reference results. Exit code 0
    where nothing but time, machine, and files that tell of these differs, else 1.
    """
    differences = api.diff(first, second, repository=api.open_repository())
    if as_json:
        echo_json([{**asdict(one), "decides": one.decides} for one in differences])
    else:
        for section, members in groupby(differences, key=lambda one: one.section):
            click.echo(section)
            rows = [
                [one.name, _cut(one.first), _cut(one.second), "" if one.by is None else f"{one.by:+.3g}"]
                for one in members
            ]
            for line in aligned(rows, indent="  "):
                click.echo(line)
        if not any(one.decides for one in differences):
            click.echo("the same: job, image, inputs, outcome, scores, and every file of the answer")
    return 1 if any(one.decides for one in differences) else 0


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
