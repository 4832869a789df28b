"""`harness doctor`: is this machine ready, or each worker of a cluster, and what to do if not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from harness.base.errors import EngineError
from harness.base.layout import Layout, find_layout
from harness.base.plurals import counted
from harness.cli.options import OnceCommand, echo_json, json_option, mirror_option, on_option, runtime_option
from harness.execution.cluster import LOCAL, open_cluster
from harness.execution.queues import logs_of
from harness.upkeep import Examination, State, examine
from harness.upkeep.nodes import examine_nodes

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command(cls=OnceCommand)
@mirror_option
@runtime_option
@on_option
@json_option
def command(mirrors: tuple[Path, ...], runtime: str | None, on: str, as_json: bool) -> int:
    """Check engine, limits, a tiny control run, identity, images, disk, memory, GPU, data and leftovers.

    \b
    harness doctor
    harness doctor --on slurm.toml             the same on each worker, with its clock and what it sees

    Exit code 0 when nothing failed, 3 when no container can be run, 1 when something else failed.
    """
    layout = find_layout()
    if on != LOCAL:
        return _nodes(layout, mirrors, runtime, on, as_json)
    checks = []
    for check in examine(layout, mirrors, runtime=runtime):
        checks.append(check)
        if not as_json:
            _show(check)
    if as_json:
        echo_json({"ready": not _code(checks), "checks": [asdict(check) for check in checks]})
    return _code(checks)


def _nodes(layout: Layout, mirrors: tuple[Path, ...], runtime: str | None, on: str, as_json: bool) -> int:
    """Of each worker what is not well, and the number of its checks."""
    nodes: dict[str, list[Examination]] = {}
    with open_cluster(on, logs=logs_of(layout)) as cluster:
        for address, checks in examine_nodes(cluster, layout, mirrors, runtime=runtime):
            nodes[address] = checks
            if not as_json:
                unwell = [check for check in checks if check.state is not State.OK]
                click.echo(f"{address}: {counted(len(checks), 'check')}, {len(checks) - len(unwell)} ok")
                for check in unwell:
                    _show(check)
    if not nodes:
        raise EngineError("the cluster has no worker", where=f"--on {on}", todo="start one: docs/cluster.md")
    code = max(_code(checks) for checks in nodes.values())
    if as_json:
        echo_json({"ready": not code, "nodes": {name: [asdict(one) for one in of] for name, of in nodes.items()}})
    return code


def _show(check: Examination) -> None:
    click.echo(f"{click.style(f'{check.state:4}', fg=_COLOURS[check.state])}  {check.name}: {check.detail}")
    if check.todo:
        click.echo(f"      to do: {check.todo}")


def _code(checks: Sequence[Examination]) -> int:
    failed = [check for check in checks if check.state is State.FAIL]
    return (3 if any(check.of_engine for check in failed) else 1) if failed else 0
