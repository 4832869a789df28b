"""`harness stop`: ask a campaign to end, from any machine that sees its folder of results."""

from __future__ import annotations

import click

from harness import api
from harness.base.plurals import counted
from harness.cli.options import OnceCommand, echo_json, json_option


@click.command(cls=OnceCommand)
@click.argument("name", default="")
@click.option("--now", is_flag=True, help="Stop what runs too, as Ctrl-C does.")
@json_option
def command(name: str, now: bool, as_json: bool) -> int:
    """Ask the campaign NAME to end: nothing more begins, and what runs is finished.

    \b
    harness stop                       where one campaign is at work
    harness stop 3fa91c --now          the one that `harness status --watch` shows under this name

    It hears of it within a second, also on another machine; `harness status --watch` shows how it ends. The
    command that runs it then shows its table and ends with exit code 130. Started again, it resumes.
    """
    asked = api.stop(name, now=now)
    if as_json:
        echo_json({"campaign": asked.name, "plan": asked.plan, "now": now})
        return 0
    runs, end = counted(len(asked.underway), "run"), "stopped" if now else "finished"
    click.echo(f"{asked.name} ({asked.plan}) begins nothing more; what is at work ({runs}) is {end}")
    return 0
