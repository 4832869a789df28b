"""Campaigns as they run, for a person: on a terminal in place, elsewhere in lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import click

from harness import api
from harness.base.heartbeat import PERIOD_S, PULSE
from harness.execution.bulletins import Bulletin

_LOOK_S = 2.0


def watch() -> None:
    """Show the campaigns at work until none is."""
    repository = api.open_repository()
    shown = api.campaigns(repository=repository)
    if not shown:
        click.echo(f"no campaign is at work in {repository.layout.local}")
        return
    if sys.stdout.isatty():
        _in_place(repository, shown)
    else:
        _in_lines(repository, shown)
    click.echo("no campaign is at work any more")


def _in_place(repository: api.Repository, shown: Sequence[Bulletin]) -> None:
    from rich.live import Live
    from rich.text import Text

    with Live(Text(_text(shown)), transient=False) as live:
        while shown:
            live.update(Text(_text(shown)))
            PULSE.heard()
            time.sleep(_LOOK_S)
            shown = api.campaigns(repository=repository)


def _in_lines(repository: api.Repository, shown: Sequence[Bulletin]) -> None:
    while shown:
        click.echo(_text(shown))
        PULSE.heard()
        time.sleep(PERIOD_S)
        shown = api.campaigns(repository=repository)


def _text(shown: Sequence[Bulletin]) -> str:
    return "\n".join(one.text() for one in shown)
