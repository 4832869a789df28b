"""`harness audit`: why should I believe this cell?"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from harness.base.errors import AuditError, EngineError
from harness.base.layout import find_layout
from harness.cli.options import OnceCommand, json_option, mirror_option, progress_for

if TYPE_CHECKING:
    from harness.base.layout import Layout
    from harness.engine import Engine
    from harness.results.reference import Entry

# So few are audited before a bar could be read.
_FEW = 20


@click.command(cls=OnceCommand)
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
    harness audit 1adeb21e3f9c               one run, of this machine or of the reference results
    harness audit --all --replay 3           every run; three of them run again
    harness audit --reference --replay 3     what is committed here; three of them made again, bit for bit
    harness audit --reference --suite smoke  what is committed of a suite

    KEY is a job key or its beginning. Exit code 5 when any link is broken. What could not be checked is told,
    and never called ok.
    """
    from harness.audit import audit_reference, audit_runs, to_json, to_text

    if sum((key is not None, every, suite is not None)) > 1:
        raise click.UsageError("KEY, --all and --suite exclude each other")
    layout = find_layout()
    chosen = _chosen(layout, key, suite, reference=reference)
    few = len(chosen.runs) < _FEW and not replay
    with ExitStack() as stack:
        progress = stack.enter_context(progress_for(quiet=as_json or few))
        engine = _engine(layout, stack, needed=bool(replay))
        how: dict[str, Any] = {"mirrors": mirrors, "replay": replay, "seed": seed, "progress": progress}
        how |= {"engine": engine, "without_run": chosen.without_run}
        if isinstance(chosen.runs, dict):
            report = audit_reference(layout, chosen.runs, **how)
        else:
            report = audit_runs(layout, chosen.runs, **how)
    if as_json:
        click.echo(json.dumps(to_json(report), indent=2, sort_keys=True, ensure_ascii=False))
    else:
        click.echo(to_text(report, everything=verbose), nl=False)
    return AuditError.exit_code if report.failed else 0


class _Chosen(NamedTuple):
    """Keys of stored runs, or reference results by key; and how many planned cells have none."""

    runs: list[str] | dict[str, Entry]
    without_run: int = 0


def _chosen(layout: Layout, key: str | None, suite: str | None, *, reference: bool) -> _Chosen:
    from harness.audit import believed_reference, keys_of_suite, reference_of_suite
    from harness.results.store import Store

    store = Store(layout.runs)
    if key is not None:
        return _one(layout, [] if reference else list(store.finished()), key)
    if not reference:
        return _Chosen(*keys_of_suite(layout, store, suite)) if suite else _Chosen(list(store.finished()))
    if not (entries := believed_reference(layout)):
        raise AuditError(
            "there are no reference results to audit", where=str(layout.reference), todo="restore the folder"
        )
    return _Chosen(*reference_of_suite(layout, entries, suite)) if suite else _Chosen(entries)


def _one(layout: Layout, stored: list[str], start: str) -> _Chosen:
    """A stored run by the beginning of its key, else a reference result."""
    from harness.audit import believed_reference, find_key

    if any(key.startswith(start.lower()) for key in stored):
        return _Chosen([find_key(stored, start, layout.runs)])
    entries = believed_reference(layout)
    key = find_key([*stored, *entries], start, layout.runs)
    return _Chosen({key: entries[key]})


def _engine(layout: Layout, stack: ExitStack, *, needed: bool) -> Engine | None:
    """An engine, or None: everything but the image id can be audited without. A replay can't."""
    from harness.engine import find_engine

    try:
        return stack.enter_context(find_engine(layout))
    except EngineError:
        if needed:
            raise
        return None
