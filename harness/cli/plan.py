"""`harness plan`: the cells of a suite, and what they would need here, before anything runs."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from harness.cli.options import OnceCommand, json_option, published_seeds_option


@click.command(cls=OnceCommand)
@click.option("--suite", default="smoke", show_default=True, help="A named set of jobs.")
@published_seeds_option
@click.option("--cells", is_flag=True, help="Every cell with its key.")
@json_option
def command(suite: str, published_seeds: int | None, cells: bool, as_json: bool) -> None:
    """Show the cells of a suite and what they would need."""
    from harness.base.layout import find_layout
    from harness.planning.needs import needs_of
    from harness.planning.plan import join, make_plan
    from harness.planning.suites import jobs_of, load_suite, plan_name
    from harness.results.store import Store

    layout = find_layout()
    jobs = jobs_of(layout, load_suite(suite), published_seeds)
    plan = make_plan(layout, plan_name(suite, published_seeds), jobs)
    joined = join(plan, Store(layout.runs), records=True)
    needs = needs_of(layout, plan.name, joined)
    if as_json:
        rows = [
            {
                **cell.job.model_dump(mode="json"),
                "key": cell.planned.key if cell.planned else None,
                "verdict": cell.verdict,
                "reason": cell.reason,
            }
            for cell in joined
        ]
        click.echo(json.dumps({"suite": suite, "cells": rows, "needs": asdict(needs)}, indent=2))
        return
    if cells:
        for cell in joined:
            click.echo(f"{cell.planned.key[:12] if cell.planned else '-':12}  {cell.verdict:14}  {cell.job.label}")
    click.echo(needs.text())
