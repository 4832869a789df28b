"""`harness plan`: the cells of a suite, and what they would need here, before anything runs."""

from __future__ import annotations

from dataclasses import asdict

import click

from harness import api
from harness.cli.options import OnceCommand, echo_json, json_option, published_seeds_option


@click.command(cls=OnceCommand)
@click.option("--suite", default="smoke", show_default=True, help="A named set of jobs.")
@published_seeds_option
@click.option("--cells", "with_cells", is_flag=True, help="Every cell with its key.")
@json_option
def command(suite: str, published_seeds: int | None, with_cells: bool, as_json: bool) -> None:
    """Show the cells of a suite and what they would need."""
    repository = api.open_repository()
    plan = api.plan(suite=suite, published_seeds=published_seeds, make_splits=False, repository=repository)
    cells = api.cells(plan, repository=repository)
    needs = api.needs(plan, joined=cells, repository=repository)
    if as_json:
        rows = [
            {
                **cell.job.model_dump(mode="json"),
                "key": cell.key,
                "verdict": cell.verdict,
                "reason": cell.reason,
            }
            for cell in cells
        ]
        echo_json({"suite": suite, "cells": rows, "needs": asdict(needs)})
        return
    if with_cells:
        for cell in cells:
            click.echo(f"{cell.key[:12] if cell.key else '-':12}  {cell.verdict:14}  {cell.job.label}")
    click.echo(needs.text())
