"""`harness data`: what datasets there are, getting them, and proving that they are what their manifests say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.base.errors import DataError, MissingData, UsageError, refuse_unknown
from harness.base.files import write_json
from harness.base.layout import Layout, find_layout
from harness.cli.documents.envelope import json_text
from harness.cli.names import DATASET
from harness.cli.options import OnceGroup, echo_json, json_option, mirror_option
from harness.data import DatasetManifest, load_dataset, load_manifest, manifest_names
from harness.data.croissant import croissant_of
from harness.data.datasets import convert_dataset, is_converted
from harness.data.own_tables import missing_tables
from harness.data.sources import changed_files, local_copy
from harness.data.trust import forget

_MISSING_OR_CORRUPT = 4
_AWAY = ("to be brought", "to be downloaded")
_FAULT = "fault"
# So many files of a dataset are named in a line.
_NAMED = 3


@click.group(cls=OnceGroup)
def command() -> None:
    """List, get and verify datasets."""


@command.command("list", short_help="What there is, and what is here.")
@mirror_option
@json_option
def list_datasets(mirrors: tuple[Path, ...], as_json: bool) -> int:
    """List datasets: what they hold, and whether their files are here. Exit code 2 when a manifest is faulty."""
    layout = find_layout()
    descriptions = [_description(layout, name, mirrors) for name in manifest_names(layout)]
    if as_json:
        echo_json([row for row, _ in descriptions])
    else:
        click.echo("".join(f"{line}\n" for _, line in descriptions), nl=False)
    return UsageError.exit_code if any(_FAULT in row for row, _ in descriptions) else 0


@command.command("get", short_help="Find or download, convert and check.")
@click.argument("names", type=DATASET, nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset.")
@mirror_option
@json_option
def get_datasets(names: tuple[str, ...], everything: bool, mirrors: tuple[Path, ...], as_json: bool) -> None:
    """Get datasets: find or download their files, convert and check them.

    With --all, datasets that a person has to bring, or whose files nobody has recorded, are only named."""
    layout = find_layout()
    rows: list[dict[str, Any]] = []
    for name in _selection(layout, names, everything):
        state = _state(layout, load_manifest(layout, name), mirrors)
        if everything and state.startswith("to be brought"):
            rows.append({"name": name, "digest": None, "remarks": [state]})
            if not as_json:
                click.echo(f"{name}: {state}")
            continue
        dataset = load_dataset(layout, name, mirrors=mirrors)
        rows.append({"name": name, "digest": dataset.digest, "remarks": list(dataset.remarks)})
        if not as_json:
            click.echo(f"{name}: {dataset.digest}")
            for remark in dataset.remarks:
                click.echo(f"  {remark}")
    if as_json:
        echo_json(rows)


@command.command("verify", short_help="Check files, conversion and kept arrays.")
@click.argument("names", type=DATASET, nargs=-1)
@mirror_option
@json_option
def verify_datasets(names: tuple[str, ...], mirrors: tuple[Path, ...], as_json: bool) -> int:
    """Check files, conversion and kept arrays against the manifests; without NAMES, those that are here.

    Exit code 4 where something is corrupt, or a dataset that was named is not here."""
    layout = find_layout()
    rows = [
        _verification(layout, name, mirrors, required=bool(names))
        for name in _selection(layout, names, everything=not names)
    ]
    if as_json:
        echo_json(rows)
    else:
        for row in rows:
            click.echo(f"{row['name']}: {row['verdict']}" + (f": {row['reason']}" if row["reason"] else ""))
    wrong = {"corrupt", "not here"} if names else {"corrupt"}
    return _MISSING_OR_CORRUPT if any(row["verdict"] in wrong for row in rows) else 0


@command.command("croissant", short_help="Describe datasets as Croissant JSON-LD.")
@click.argument("names", type=DATASET, nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset.")
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), help="A folder: NAME.croissant.json for each."
)
def describe_datasets(names: tuple[str, ...], everything: bool, output: Path | None) -> None:
    """Describe datasets as Croissant 1.0: files with checksums, licence, citation, columns of tables.

    Files that lie beside a manifest are named relative to datasets/NAME."""
    layout = find_layout()
    selection = _selection(layout, names, everything)
    if output is None and len(selection) > 1:
        raise UsageError("several documents need a folder", todo="name one: --output DIR")
    for name in selection:
        document = croissant_of(layout, name)
        if output is None:
            click.echo(json_text(document))
        else:
            write_json(output / f"{name}.croissant.json", document)
            click.echo(output / f"{name}.croissant.json")


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
        raise UsageError(
            "no dataset is named", todo=f"name some of: {', '.join(manifest_names(layout))}, or --all"
        )
    refuse_unknown("dataset", names, manifest_names(layout), where=layout.datasets)
    return list(names)


def _description(layout: Layout, name: str, mirrors: tuple[Path, ...]) -> tuple[dict[str, Any], str]:
    """The entry of a dataset in JSON, and its line of text. A faulty manifest does not hide the other datasets."""
    try:
        manifest = load_manifest(layout, name)
        state = _state(layout, manifest, mirrors)
    except UsageError as error:
        return {"name": name, _FAULT: str(error)}, f"{name:24} faulty: {error}"
    note = "  (a stand-in: no claim rests on it)" if manifest.stand_in else ""
    line = f"{name:24} {manifest.benchmark:12} {manifest.statistics.line}  {state}{note}"
    return {**manifest.model_dump(mode="json"), "state": state}, line


def _state(layout: Layout, manifest: DatasetManifest, mirrors: tuple[Path, ...]) -> str:
    if missing_tables(layout, manifest):
        return f"to be brought: `harness data get {manifest.name}` says how"
    if changed := changed_files(layout, manifest):
        return f"changed, not what the manifest records: {', '.join(path.name for path in changed)}"
    if is_converted(layout, manifest):
        return "here"
    away = [file for file in manifest.files if local_copy(layout, manifest.name, file, mirrors) is None]
    if not away:
        return "can be made from what is here"
    how = "to be downloaded" if all(file.recorded for file in away) else "to be brought or downloaded"
    return f"{how}: {_some([file.name for file in away])}"


def _some(names: list[str]) -> str:
    """The first few of many names."""
    more = len(names) - _NAMED
    return ", ".join(names if more <= 1 else [*names[:_NAMED], f"and {more} more"])


def _verification(layout: Layout, name: str, mirrors: tuple[Path, ...], *, required: bool) -> dict[str, str]:
    """The verdict on a dataset: converted again from its original files, and compared with the kept arrays."""
    try:
        state = _state(layout, load_manifest(layout, name), mirrors)
        if state.startswith(_AWAY) and not required:
            return {"name": name, "verdict": "not here", "reason": state}
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
