"""`harness data`: what datasets there are, getting them, and proving that they are what their manifests say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import json_option, mirror_option
from harness.errors import DataError, HarnessError, MissingData, UsageError
from harness.layout import find_layout

if TYPE_CHECKING:
    from harness.data import DatasetManifest
    from harness.layout import Layout

_CORRUPT = 4
_AWAY = ("to be brought", "to be downloaded")


@click.group()
def command() -> None:
    """List, get and verify datasets."""


@command.command("list", short_help="What there is, and what is here.")
@mirror_option
@json_option
def list_datasets(mirrors: tuple[Path, ...], as_json: bool) -> None:
    """List datasets: what they hold, and whether their files are here."""
    from harness.data import load_manifest, manifest_names

    layout = find_layout()
    manifests = [load_manifest(layout, name) for name in manifest_names(layout)]
    rows = [_described(layout, manifest, mirrors) for manifest in manifests]
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for manifest, row in zip(manifests, rows, strict=True):
        note = "  (a stand-in: no claim rests on it)" if manifest.stand_in else ""
        click.echo(f"{manifest.name:24} {manifest.benchmark:12} {manifest.statistics.told}  {row['state']}{note}")


@command.command("get", short_help="Find or download, convert and check.")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every dataset.")
@mirror_option
@json_option
def get_datasets(names: tuple[str, ...], everything: bool, mirrors: tuple[Path, ...], as_json: bool) -> None:
    """Get datasets: find or download their files, convert and check them.

    With --all, those that a person has to bring, or whose files nobody has recorded, are passed over, and said."""
    from harness.data import load_dataset, load_manifest

    layout = find_layout()
    rows: list[dict[str, Any]] = []
    for name in _chosen(layout, names, everything):
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
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))


@command.command("verify", short_help="Check files, conversion and kept arrays.")
@click.argument("names", nargs=-1)
@mirror_option
@json_option
def verify_datasets(names: tuple[str, ...], mirrors: tuple[Path, ...], as_json: bool) -> int:
    """Check files, conversion and kept arrays against the manifests; without NAMES, those that are here."""
    layout = find_layout()
    rows = [
        _verified(layout, name, mirrors, required=bool(names))
        for name in _chosen(layout, names, everything=not names)
    ]
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        for row in rows:
            click.echo(f"{row['name']}: {row['verdict']}" + (f": {row['reason']}" if row["reason"] else ""))
    return _CORRUPT if any(row["verdict"] == "corrupt" for row in rows) else 0


def _chosen(layout: Layout, names: tuple[str, ...], everything: bool) -> list[str]:
    from harness.data import manifest_names

    if everything:
        return manifest_names(layout)
    if not names:
        raise UsageError(
            "no dataset is named", todo=f"name some of: {', '.join(manifest_names(layout))}, or --all"
        )
    return list(names)


def _described(layout: Layout, manifest: DatasetManifest, mirrors: tuple[Path, ...]) -> dict[str, Any]:
    return {**manifest.model_dump(mode="json"), "state": _state(layout, manifest, mirrors)}


def _state(layout: Layout, manifest: DatasetManifest, mirrors: tuple[Path, ...]) -> str:
    from harness.data.brought import missing_tables
    from harness.data.datasets import is_converted
    from harness.data.sources import local_copy

    if manifest.bring and missing_tables(layout, manifest.name):
        return f"to be brought: `harness data get {manifest.name}` says how"
    if is_converted(layout, manifest):
        return "here"
    away = [file for file in manifest.files if local_copy(layout, manifest.name, file, mirrors) is None]
    if not away:
        return "can be made from what is here"
    how = "to be downloaded" if all(file.recorded for file in away) else "to be brought or downloaded"
    return f"{how}: {', '.join(file.name for file in away)}"


def _verified(layout: Layout, name: str, mirrors: tuple[Path, ...], *, required: bool) -> dict[str, str]:
    """Convert again from the original files, then read what is kept."""
    from harness.data import load_dataset, load_manifest
    from harness.data.datasets import convert_dataset

    state = _state(layout, load_manifest(layout, name), mirrors)
    if state.startswith(_AWAY) and not required:
        return {"name": name, "verdict": "not here", "reason": state}
    try:
        made = convert_dataset(layout, name, mirrors=mirrors)
        kept = load_dataset(layout, name, mirrors=mirrors)
    except MissingData as error:
        return {"name": name, "verdict": "corrupt" if required else "not here", "reason": _in_one_line(error)}
    except DataError as error:
        return {"name": name, "verdict": "corrupt", "reason": _in_one_line(error)}
    if kept.digest != made.digest:
        reason = f"kept arrays have digest {kept.digest}, converted again {made.digest}"
        return {"name": name, "verdict": "corrupt", "reason": reason}
    return {"name": name, "verdict": "ok", "reason": ""}


def _in_one_line(error: HarnessError) -> str:
    return " ".join(str(error).split())
