"""`harness data`: what datasets there are, getting them, and proving that they are what their manifests say."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any

import click

from harness import api, benchmarks
from harness.base.errors import DataError, MissingData, UsageError
from harness.base.few import few
from harness.base.files import write_json
from harness.base.layout import Layout, find_layout
from harness.base.plurals import counted
from harness.benchmarks.own_data import table_words
from harness.cli.documents.envelope import json_text
from harness.cli.names import DATASET
from harness.cli.options import (
    NEW_FOLDER,
    Command,
    OnceGroup,
    echo_json,
    json_option,
    mirror_option,
    parse_settings,
)
from harness.cli.output import echo_folded
from harness.data import DatasetManifest, dataset_names, load_dataset, load_manifest, manifest_names
from harness.data.croissant import croissant_of
from harness.data.datasets import convert_dataset, is_converted
from harness.data.manifest import SourceFile, check_known, manifest_path
from harness.data.own_tables import missing_tables
from harness.data.sources import changed_files, local_copy
from harness.data.trust import forget
from harness.splits import make_split
from harness.splits.spec import SplitSpec

_HERE = "here"
_FAULT = "fault"
# as many files as are named in a line, and runs in a list
_FEW, _SHOWN = 3, 20


@click.group(cls=OnceGroup)
def command() -> None:
    """List, get and verify datasets, or make one of your own."""


def _table_options(command: Command) -> Command:
    """An option for each table of all benchmarks; the command gets them together as `tables`."""

    @wraps(command)
    def call(**arguments: Any) -> Any:
        files = {word: arguments.pop(f"table_{word}") for word in words}
        return command(tables={word: file for word, file in files.items() if file}, **arguments)

    words = {word.replace("-", "_"): own for word, own in table_words().items()}
    for word, own in reversed(words.items()):
        text = "; ".join(f"{benchmark}: {table.holds}" for benchmark, table in own.items())
        call = click.option(f"--{word.replace('_', '-')}", f"table_{word}", metavar="FILE", help=f"{text}.")(call)
    return call


@command.command("new", short_help="Make a dataset of your own tables.")
@click.argument("name")
@_table_options
@click.option("--title", default="", help="What people call it; NAME where it is not given.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the converter.")
@json_option
def new(name: str, tables: dict[str, Any], title: str, settings: tuple[str, ...], as_json: bool) -> None:
    """Make a dataset of your own tables, checked, with checksums and counts. The tables tell the benchmark.

    \b
    harness data new mine --associations "my matrix.csv"
    harness data new mine --associations book.xlsx#pairs --drugs book.xlsx#drugs
    harness data new pairs_of_mine --interactions pairs.tsv --drugs drugs.csv.gz
    harness data new targets_of_mine --pairs pairs.csv --drugs drugs.csv --targets targets.csv
    harness data new sentences_of_mine --sentences sentences.jsonl

    Cells are separated by commas, semicolons or tabs, or lie in a sheet of a workbook: its first, or
    BOOK.xlsx#SHEET. The files are copied out of reach of git. docs/data.md says what each holds.
    """
    repository = api.open_repository()
    dataset = api.new_data(name, title=title, parameters=parse_settings(settings), repository=repository, **tables)
    manifest = load_manifest(repository.layout, name)
    folder = manifest_path(repository.layout, name).parent
    if as_json:
        echo_json(
            {
                "name": name,
                "benchmark": manifest.benchmark,
                "folder": str(folder),
                "digest": dataset.digest,
                "statistics": manifest.statistics.model_dump(),
                "remarks": list(dataset.remarks),
            }
        )
        return
    click.echo(f"{name}: {' '.join(manifest.statistics.line.split())} (benchmark {manifest.benchmark})")
    for remark in dataset.remarks:
        click.echo(f"  {remark}")
    click.echo(f"kept in: {folder}")
    click.echo(f"next: {_next(repository.layout, manifest)} (docs/predicting.md)")


def _next(layout: Layout, manifest: DatasetManifest) -> str:
    """How to use a new dataset: where a person has to name what is asked, that is said."""
    command = f"{_harness()} predict --dataset {manifest.name}"
    asked = SplitSpec(strategy=benchmarks.get(manifest.benchmark).scoring.predicting, seed=0)
    try:
        make_split(layout, manifest.name, asked)
    except DataError as error:
        return f"{command} ...; {error.todo}"
    return f"{command} --top 100"


@command.command("accept", short_help="Record what changed files of your own dataset hold.")
@click.argument("name", type=DATASET)
@_table_options
@json_option
def accept(name: str, tables: dict[str, Any], as_json: bool) -> None:
    """Record what the files of your own dataset hold now, and say what changed and which runs that outdates.

    Change the files beside its manifest, or name others to take their place:

    \b
    harness data accept mine
    harness data accept mine --associations "my matrix, May.csv"
    """
    result = api.accept_data(name, **tables)
    changes, remarks = result.accepted.changes, result.accepted.dataset.remarks
    if as_json:
        echo_json(
            {
                "name": name,
                "digest": result.accepted.dataset.digest,
                "changes": [asdict(change) for change in changes],
                "outdated": [{"key": key, "label": planned.job.label} for key, planned in result.outdated],
                "remarks": list(remarks),
            }
        )
        return
    click.echo(f"{name}: {'accepted' if changes else 'nothing has changed'}")
    for change in changes:
        click.echo(f"  {change.what}: {change.before or 'none'} -> {change.now or 'none'}")
    for remark in remarks:
        click.echo(f"  {remark}")
    if count := len(result.outdated):
        click.echo(f"{counted(count, 'stored run')} of other data than these:")
        lines = [f"{key[:12]}  {planned.job.label}" for key, planned in result.outdated]
        for line in few(lines, _SHOWN):
            click.echo(f"  {line}")
        click.echo(f"they stay as they are; to remove one: {_harness()} forget KEY")


def _harness() -> str:
    """How this command was called, so that the next finds the same datasets."""
    data = click.get_current_context().find_root().params.get("data")
    return f"harness --data {shlex.quote(data)}" if data else "harness"


@command.command("show", short_help="Show all that the manifest says of one, and where its files are.")
@click.argument("name", type=DATASET)
@mirror_option
@json_option
def show(name: str, mirrors: tuple[Path, ...], as_json: bool) -> None:
    """Show one dataset: what it is, where it lies, its counts and every file."""
    layout = find_layout()
    manifest = load_manifest(layout, name)
    folder = manifest_path(layout, name).parent
    if as_json:
        row, _ = _description(layout, name, mirrors)
        echo_json({**row, "folder": str(folder)})
        return
    click.echo(f"{name}: {manifest.title} (benchmark {manifest.benchmark})")
    for label, text in (
        ("", manifest.summary),
        ("citation: ", manifest.citation),
        ("licence: ", manifest.licence),
        ("folder: ", str(folder)),
        ("state: ", _state(layout, manifest, mirrors)),
    ):
        if text:
            click.echo(f"  {label}{text}")
    counts = manifest.statistics.model_dump(exclude_none=True, exclude={*manifest.statistics.settings})
    click.echo("  " + ", ".join(f"{field.replace('_', ' ')} {value}" for field, value in counts.items()))
    changed = changed_files(layout, manifest)
    for file in manifest.files:
        path = local_copy(layout, name, file, mirrors)
        size = f"{file.bytes:,} bytes" if file.recorded else "unknown size"
        sources = ", ".join(file.urls) or "it belongs beside the manifest"
        place = f"{path}" if path else f"not here: {sources}"
        if fault := changed.get(folder / file.name):
            place = f"{folder / file.name}: {fault}"
        click.echo(f"  {file.name} ({size}): {place}")
    for table in missing_tables(layout, manifest):
        click.echo(f"  {table}: to be brought")


@command.command("list", short_help="List what there is, and what is here.")
@mirror_option
@json_option
def list_datasets(mirrors: tuple[Path, ...], as_json: bool) -> int:
    """List datasets: what they hold, and whether their files are here. Exit code 2 when a manifest is faulty."""
    layout = find_layout()
    descriptions = [_description(layout, name, mirrors) for name in dataset_names(layout)]
    if as_json:
        echo_json([row for row, _ in descriptions])
    else:
        echo_folded(line for _, line in descriptions)
    return UsageError.exit_code if any(_FAULT in row for row, _ in descriptions) else 0


@command.command("get", short_help="Find or download, convert and check.")
@click.argument("names", type=DATASET, nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset.")
@mirror_option
@json_option
def get_datasets(names: tuple[str, ...], everything: bool, mirrors: tuple[Path, ...], as_json: bool) -> int:
    """Get datasets: find or download their files, convert and check them.

    With --all, datasets that a person has to bring, or whose files nobody has recorded, are only named. Exit code
    2 when a manifest is faulty, 4 when a dataset can't be got; all others are got."""
    layout = find_layout()
    rows: list[dict[str, Any]] = []
    worst = 0
    for name in _selection(layout, names, everything):
        try:
            state = _state(layout, load_manifest(layout, name), mirrors)
            if everything and state.startswith("to be brought"):
                rows.append({"name": name, "digest": None, "remarks": [state]})
                if not as_json:
                    click.echo(f"{name}: {state}")
                continue
            dataset = load_dataset(layout, name, mirrors=mirrors)
        except (DataError, UsageError) as error:
            if not everything:
                raise
            worst = max(worst, error.exit_code)
            rows.append({"name": name, "digest": None, "remarks": [f"not got: {error.what}"]})
            click.echo(f"{name}: not got: {error}", err=True)
            continue
        rows.append({"name": name, "digest": dataset.digest, "remarks": list(dataset.remarks)})
        if not as_json:
            click.echo(f"{name}: {dataset.digest}")
            for remark in dataset.remarks:
                click.echo(f"  {remark}")
    if as_json:
        echo_json(rows)
    return max(worst, _exit_code(layout, everything))


@command.command("verify", short_help="Check files, conversion and kept arrays.")
@click.argument("names", type=DATASET, nargs=-1)
@mirror_option
@json_option
def verify_datasets(names: tuple[str, ...], mirrors: tuple[Path, ...], as_json: bool) -> int:
    """Check files, conversion and kept arrays against the manifests; without NAMES, those that are here.

    Files of a dataset that is named are downloaded where they are not here. Exit code 4 where something is
    corrupt, or a dataset that was named is not here."""
    layout = find_layout()
    rows = [
        _verification(layout, name, mirrors, required=bool(names))
        for name in (_selection(layout, names, everything=False) if names else dataset_names(layout))
    ]
    if as_json:
        echo_json(rows)
    else:
        for row in rows:
            click.echo(f"{row['name']}: {row['verdict']}" + (f": {row['reason']}" if row["reason"] else ""))
    wrong = {"corrupt", "not here"} if names else {"corrupt"}
    return DataError.exit_code if any(row["verdict"] in wrong for row in rows) else 0


@command.command("croissant", short_help="Describe datasets as Croissant JSON-LD.")
@click.argument("names", type=DATASET, nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset.")
@click.option("--output", type=NEW_FOLDER, help="A folder: NAME.croissant.json for each.")
def describe_datasets(names: tuple[str, ...], everything: bool, output: Path | None) -> int:
    """Describe datasets as Croissant 1.0: files with checksums, licence, citation, columns of tables.

    Files that lie beside a manifest are named relative to datasets/NAME. Exit code 2 when, with --all, a manifest
    is faulty; all others are described."""
    layout = find_layout()
    selection = _selection(layout, names, everything)
    if output is None and len(selection) > 1:
        raise UsageError("several documents need a folder", todo="name one: --output DIR")
    for name in selection:
        document = croissant_of(layout, name)
        if output is None:
            # as bytes: UTF-8 whatever a terminal shows
            click.echo(json_text(document).encode())
        else:
            write_json(output / f"{name}.croissant.json", document)
            click.echo(output / f"{name}.croissant.json")
    return _exit_code(layout, everything)


@command.command("forget", short_help="Take back checksums that were recorded at first sight.")
@click.argument("name", type=DATASET)
@json_option
def forget_dataset(name: str, as_json: bool) -> None:
    """Take back size and sha256 of files whose manifest has none: they were recorded at first sight.

    The next `harness data get` asks for the files again."""
    files = forget(find_layout(), name)
    if as_json:
        echo_json({"name": name, "forgotten": list(files)})
        return
    click.echo(
        f"{name}: " + (f"forgotten: {', '.join(files)}" if files else "nothing was recorded at first sight")
    )


def _selection(layout: Layout, names: tuple[str, ...], everything: bool) -> list[str]:
    if everything and names:
        raise UsageError("datasets are named beside --all", where=", ".join(names), todo="give one of the two")
    if everything:
        return manifest_names(layout)
    if not names:
        raise UsageError("no dataset is named", todo="name some, or --all (`harness list datasets` shows them)")
    check_known(layout, names)
    return list(names)


def _exit_code(layout: Layout, everything: bool) -> int:
    """That of a faulty manifest, where all datasets were meant and one was left out."""
    left_out = everything and len(manifest_names(layout)) < len(dataset_names(layout))
    return UsageError.exit_code if left_out else 0


def _description(layout: Layout, name: str, mirrors: tuple[Path, ...]) -> tuple[dict[str, Any], Sequence[str]]:
    """The entry of a dataset in JSON, and its row of text. A faulty manifest does not hide the other datasets."""
    try:
        manifest = load_manifest(layout, name)
        state = _state(layout, manifest, mirrors)
    except UsageError as error:
        return {"name": name, _FAULT: str(error)}, (name, "", "", f"faulty: {error}")
    note = "  (a stand-in: no claim rests on it)" if manifest.stand_in else ""
    line = (name, manifest.benchmark, manifest.statistics.line, f"{state}{note}")
    return {**manifest.model_dump(mode="json"), "state": state}, line


def _state(layout: Layout, manifest: DatasetManifest, mirrors: tuple[Path, ...]) -> str:
    if missing_tables(layout, manifest):
        return f"to be brought: `harness data get {manifest.name}` says how"
    if changed := changed_files(layout, manifest):
        return f"changed, not what the manifest records: {', '.join(path.name for path in changed)}"
    if is_converted(layout, manifest):
        return _HERE
    away = _away(layout, manifest, mirrors)
    if not away:
        return "can be made from what is here"
    how = "to be downloaded" if all(file.recorded for file in away) else "to be brought or downloaded"
    if len(away) > _FEW:
        return f"{how}: {counted(len(away), 'file')} (harness data show {manifest.name})"
    return f"{how}: {', '.join(file.name for file in away)}"


def _away(layout: Layout, manifest: DatasetManifest, mirrors: tuple[Path, ...]) -> list[SourceFile]:
    """The original files that are not on this machine."""
    return [file for file in manifest.files if local_copy(layout, manifest.name, file, mirrors) is None]


def _verification(layout: Layout, name: str, mirrors: tuple[Path, ...], *, required: bool) -> dict[str, str]:
    """The verdict on a dataset: converted again from its original files, and compared with the kept arrays.

    Nothing is downloaded unless it is `required`.
    """
    try:
        manifest = load_manifest(layout, name)
        away = [] if changed_files(layout, manifest) else _away(layout, manifest, mirrors)
        if not required and (away or missing_tables(layout, manifest)):
            reason = _state(layout, manifest, mirrors)
            if reason == _HERE:
                originals = counted(len(away), "original file")
                reason = f"to be downloaded: {originals} of these arrays: harness data verify {name}"
            return {"name": name, "verdict": "not here", "reason": reason}
        fresh = convert_dataset(layout, name, mirrors=mirrors)
        dataset = load_dataset(layout, name, mirrors=mirrors)
    except MissingData as error:
        return {"name": name, "verdict": "not here", "reason": str(error)}
    except (DataError, UsageError) as error:
        return {"name": name, "verdict": "corrupt", "reason": str(error)}
    if dataset.digest != fresh.digest:
        reason = f"kept arrays have digest {dataset.digest}, converted again {fresh.digest}"
        return {"name": name, "verdict": "corrupt", "reason": reason}
    return {"name": name, "verdict": "ok", "reason": ""}
