"""`harness audit`: why should I believe this cell?"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import json_option, mirror_option, progress_for
from harness.errors import AuditError, EngineError
from harness.layout import find_layout

if TYPE_CHECKING:
    from harness.engine import Engine
    from harness.layout import Layout


@click.command()
@click.argument("key", required=False)
@click.option("--all", "every", is_flag=True, help="Every stored run (the default without KEY and --suite).")
@click.option("--suite", help="Every run of this suite's present cells.")
@click.option("--reference", is_flag=True, help="The committed reference results in place of runs made here.")
@click.option("--replay", type=click.IntRange(min=0), default=0, help="Run so many of them again, bit for bit.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sample to replay.")
@click.option("--verbose", is_flag=True, help="The whole chain of every run.")
@mirror_option
@json_option
def command(
    key: str | None,
    every: bool,
    suite: str | None,
    reference: bool,
    replay: int,
    seed: int,
    verbose: bool,
    mirrors: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Walk from stored results down to everything they rest on, recomputing hashes and scores.

    \b
    harness audit 1adeb21e3f9c               one run
    harness audit --all --replay 3           every run; three of them run again
    harness audit --reference --replay 3     what is committed here; three of them made again, bit for bit

    KEY is a job key or its beginning. Exit code 5 when any link is broken. What could not be checked is told,
    and never called ok.
    """
    from harness.audit import audit_reference, audit_runs, to_json, to_text

    if sum((key is not None, every, suite is not None, reference)) > 1:
        raise click.UsageError("KEY, --all, --suite and --reference exclude each other")
    layout = find_layout()
    keys, without_run = ([], 0) if reference else _keys(layout, key, suite)
    few = not reference and len(keys) < 20 and not replay
    with ExitStack() as stack:
        progress = stack.enter_context(progress_for(quiet=as_json or few))
        engine = _engine(layout, stack, needed=bool(replay))
        how: dict[str, Any] = {"mirrors": mirrors, "replay": replay, "seed": seed, "progress": progress}
        if reference:
            report = audit_reference(layout, engine=engine, **how)
        else:
            report = audit_runs(layout, keys, engine=engine, without_run=without_run, **how)
    if as_json:
        click.echo(json.dumps(to_json(report), indent=2, sort_keys=True, ensure_ascii=False))
    else:
        click.echo(to_text(report, everything=verbose), nl=False)
    return AuditError.exit_code if report.failed else 0


def _keys(layout: Layout, key: str | None, suite: str | None) -> tuple[list[str], int]:
    """The stored runs that were asked for, and how many planned cells have none."""
    from harness.audit import find_keys, keys_of_suite
    from harness.store import Store

    store = Store(layout.runs)
    if key is not None:
        return find_keys(store, key), 0
    if suite is not None:
        return keys_of_suite(layout, store, suite)
    return list(store.finished()), 0


def _engine(layout: Layout, stack: ExitStack, *, needed: bool) -> Engine | None:
    """An engine, or None: everything but the image id can be audited without. A replay can't."""
    from harness.engine import find_engine

    try:
        return stack.enter_context(find_engine(layout))
    except EngineError:
        if needed:
            raise
        return None
