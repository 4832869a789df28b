"""`harness audit`: why should I believe this cell?"""

from __future__ import annotations

from pathlib import Path

import click

from harness import api
from harness.base.errors import AuditError
from harness.cli.options import OnceCommand, echo_json, json_option, mirror_option


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

    KEY is a job key or its beginning. Exit code 5 when any link is broken. A link that could not be checked is
    listed, and does not count as ok.
    """
    from harness.audit import to_json, to_text

    if sum((key is not None, every, suite is not None)) > 1:
        raise click.UsageError("KEY, --all and --suite exclude each other")
    report = api.audit(
        () if key is None else key,
        suite=suite,
        reference=reference,
        replay=replay,
        seed=seed,
        progress=None if as_json else "auto",
        repository=api.open_repository(mirrors=mirrors),
    )
    if as_json:
        echo_json(to_json(report))
    else:
        click.echo(to_text(report, everything=verbose), nl=False)
    return AuditError.exit_code if report.failed else 0
