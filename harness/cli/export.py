"""`harness export`: results with all that they rest on, as a Workflow Run RO-Crate; or the index of the store."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import click

from harness import api
from harness.api.repository import Repository
from harness.base.errors import AuditError, CorruptData, UsageError
from harness.base.plurals import counted
from harness.base.progress import progress_for
from harness.cli.names import KEY, STORED_SUITE, Word
from harness.cli.options import OnceCommand, echo_json, json_option, mirror_option
from harness.cli.output import output_option
from harness.export import Extent, Profile, export
from harness.export.selection import plan_of_keys
from harness.results.index import build_index
from harness.results.reference import verdict_counts
from harness.status.table import STORED

_INDEX = ".parquet"


@click.command(cls=OnceCommand)
@click.argument("keys", metavar="[KEY]...", type=KEY, nargs=-1)
@click.option(
    "--suite",
    type=STORED_SUITE,
    help="Whose runs; by default smoke, for an index all; 'stored': all that was ever run here.",
)
@output_option(
    *("", ".zip", _INDEX), help="A new folder (a name without an ending), a new .zip, or a new .parquet index."
)
@click.option("--reference", is_flag=True, help="The committed results: records and scores, no predictions.")
@click.option("--without-predictions", is_flag=True, help="Smaller; scores can't be computed again from it.")
@click.option(
    "--profile",
    type=Word([str(one) for one in Profile]),
    help="What the description is: provenance (the default; the suite is a workflow), or processes alone.",
)
@click.option("--verify", "crate", type=click.Path(path_type=Path), metavar="CRATE", help="Verify a crate.")
@click.option("--verbose", is_flag=True, help="With --verify: every step.")
@mirror_option
@json_option
def command(
    keys: tuple[str, ...],
    suite: str | None,
    output: Path | None,
    reference: bool,
    without_predictions: bool,
    profile: str | None,
    crate: Path | None,
    verbose: bool,
    mirrors: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Export results with all that they rest on, or verify such an export.

    \b
    harness export --output smoke.zip
    harness export 3d02f8dae5f6 --output run.zip                  one run, or a few
    harness export 3d02f8dae5f6 --reference --output run.zip      as it is committed
    harness export --suite stored --output runs.parquet
    harness export --reference --suite full --output reference.zip
    harness export --verify smoke.zip

    A folder or a .zip becomes a Provenance Run Crate: records, logs, predictions, scores, code, locks, splits, and
    the true labels where their licence allows it. Every score is computed again before it is packed; where one
    differs nothing is written, and the exit code is 5. A .parquet file becomes the index of the store, or of a
    suite's runs, one row per run. A run whose evidence is damaged is left out of either and named; the exit code
    is then 4.

    --verify recomputes every checksum, key, code tree and score, and the whole description, with the code of this
    repository and without its results. Exit code 5 when anything does not hold.
    """
    repository = api.open_repository(mirrors=mirrors)
    chosen = {"KEY": keys, "--output": output, "--suite": suite, "--reference": reference, "--profile": profile}
    chosen |= {"--without-predictions": without_predictions}
    if crate is not None:
        _refuse(chosen, f"--verify {crate}")
        return _verify(repository, crate, verbose=verbose, as_json=as_json)
    if output is None:
        raise click.UsageError("give --output PATH, or --verify CRATE")
    if verbose:
        raise click.UsageError("--verbose goes with --verify")
    if keys and suite:
        raise click.UsageError("KEY and --suite exclude each other")
    if output.suffix.lower() == _INDEX:
        others = {name: value for name, value in chosen.items() if name not in ("--output", "--suite")}
        _refuse(others, str(output))
        return _index(repository, suite, output, as_json=as_json)
    if reference and (suite == STORED or without_predictions):
        raise click.UsageError("--reference goes with a suite of the repository, and never has predictions")
    extent = Extent.WITHOUT_PREDICTIONS if without_predictions else Extent.WHOLE
    if keys:
        plan = plan_of_keys(repository.layout, keys, reference=reference, mirrors=mirrors)
    else:
        plan = api.plan(suite="smoke" if suite is None else suite, repository=repository)
    with progress_for(None if as_json else "auto") as progress:
        exported = export(
            repository.layout,
            plan,
            output,
            extent=Extent.REFERENCE if reference else extent,
            profile=Profile(profile or Profile.PROVENANCE),
            # a file or a link that is there was named with --force
            overwrite=os.path.lexists(output),
            mirrors=mirrors,
            progress=progress,
        )
    if as_json:
        told = {"left_out": exported.left_out, "outgrown": exported.outgrown}
        echo_json({"file": str(output), "runs": exported.runs, **told})
    else:
        click.echo(f"exported {counted(exported.runs, 'run')}: {output}")
        if exported.outgrown:
            verdicts = verdict_counts(Counter(exported.outgrown.values()))
            what = f"{counted(len(exported.outgrown), 'run')} of other code, data or splits than today's"
            first = min(exported.outgrown)[:12]
            click.echo(f"not in it: {what} ({verdicts}); each by its key: harness show {first}", err=True)
        _tell_left_out(exported.left_out)
    return CorruptData.exit_code if exported.left_out else 0


def _refuse(options: Mapping[str, object], beside: str) -> None:
    """Refuse options that would be ignored."""
    if names := [name for name, value in options.items() if value]:
        raise UsageError(f"{names[0]} means nothing here", where=beside, todo="leave it out")


def _index(repository: Repository, suite: str | None, output: Path, *, as_json: bool) -> int:
    layout = repository.layout
    keys = None
    if suite not in (None, STORED):
        keys = {cell.key for cell in api.plan(suite=suite, repository=repository).cells if cell.key}
    index = build_index(layout, output, keys)
    if as_json:
        echo_json({"file": str(index.path), "runs": index.runs, "left_out": index.left_out})
    else:
        click.echo(f"index of {counted(index.runs, 'run')}: {index.path}")
        _tell_left_out(index.left_out)
    return CorruptData.exit_code if index.left_out else 0


def _tell_left_out(runs: Mapping[str, str]) -> None:
    for key, reason in runs.items():
        click.echo(f"left out {key[:12]}: {reason} (harness audit {key[:12]} tells more)", err=True)


def _verify(repository: Repository, crate: Path, *, verbose: bool, as_json: bool) -> int:
    from harness.export.verdicts import to_json, to_text
    from harness.export.verify import verify

    with progress_for(None if as_json else "auto") as progress:
        verification = verify(repository.layout, crate, mirrors=repository.mirrors, progress=progress)
    if as_json:
        echo_json(to_json(verification))
    else:
        click.echo(to_text(verification, everything=verbose), nl=False)
    return AuditError.exit_code if verification.failed else 0
