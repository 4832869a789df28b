"""`harness plan`: cells of a suite or of a request, and what they would need here, before anything runs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from harness import api
from harness.base.unknown_names import refuse_unknown_names
from harness.cli.options import OnceCommand, PlanArguments, echo_json, json_option, request_options

if TYPE_CHECKING:
    from harness.planning.plan import Plan

_USUAL, _WHOLE = "smoke", "full"


@click.command(cls=OnceCommand)
@request_options
@click.option("--cells", "with_cells", is_flag=True, help="Every cell with its key.")
@json_option
def command(request: PlanArguments, with_cells: bool, as_json: bool) -> None:
    """Show the cells of a suite, or of one method's jobs, and what they would need. Nothing runs.

    \b
    harness plan --suite full
    harness plan --method bnnr                         all cells of the suite full of one method
    harness plan --method bnnr --dataset fdataset --published-seeds 10 --cells
    harness plan --suite full --shard 3/10             what the third of ten machines would run

    Without options the suite smoke. Hours come from runs on this machine, else from the reference results.
    """
    repository = api.open_repository()
    accelerator = request["accelerator"]
    options = "" if accelerator == "cpu" else f"--accelerator {accelerator}"
    show_plan(repository, _plan(repository, request), with_cells=with_cells, as_json=as_json, options=options)


def show_plan(
    repository: api.Repository,
    plan: Plan,
    *,
    with_cells: bool,
    as_json: bool,
    again: Collection[str] = (),
    options: str = "",
    start: str = "",
) -> None:
    """Print the needs of a plan, and on request its cells. Those of a verdict in `again` are left to run.

    `start` runs what is left, else the command of the suite with these `options`.
    """
    from harness.planning.cells import wanted_again

    cells = wanted_again(api.cells(plan, repository=repository), again)
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
        echo_json({"suite": plan.name, "cells": rows, "needs": asdict(needs)})
        return
    if with_cells:
        for cell in cells:
            why = "" if cell.can_run else f": {cell.reason}"
            click.echo(f"{cell.key[:12] if cell.key else '-':12}  {cell.verdict:14}  {cell.job.label}{why}")
    click.echo(needs.text(options=options, start=start))


def _plan(repository: api.Repository, request: PlanArguments) -> Plan:
    """The plan that is asked for; of a method without a dataset, its cells of the whole reproduction."""
    # an empty name is asked for, too, and refused: a shell leaves it of a variable that is not set
    asked = {name for name, value in request.items() if value or value == ""} - {"accelerator", "shard"}
    if asked <= {"published_seeds"}:
        usual: PlanArguments = {**request, "suite": _USUAL}
        return api.plan(**usual, make_splits=False, repository=repository)
    if not asked <= {"methods", "published_seeds"}:
        return api.plan(**request, make_splits=False, repository=repository)
    methods = request["methods"]
    whole: PlanArguments = {**request, "methods": (), "suite": _WHOLE}
    plan = api.plan(**whole, make_splits=False, repository=repository)
    from harness.planning.needs import PART

    refuse_unknown_names(
        "method", methods, (cell.job.method for cell in plan.cells), where=f"the suite '{_WHOLE}'"
    )
    chosen = tuple(cell for cell in plan.cells if cell.job.method in methods)
    return replace(plan, name=f"{plan.name}{PART}{', '.join(methods)}", cells=chosen)
