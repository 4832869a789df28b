"""`harness split`: what splits there are, making their files, and proving that a file keeps its promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import SEED, json_option, mirror_option, parse_setting
from harness.errors import UsageError
from harness.layout import find_layout

if TYPE_CHECKING:
    from harness.jobs import SplitSpec
    from harness.layout import Layout

_CORRUPT = 4


@click.group()
def command() -> None:
    """List, make and verify standard split files."""


@command.command("list", short_help="Strategies, parameters, published splits.")
@json_option
def list_splits(as_json: bool) -> None:
    """List split strategies, their parameters, and how many splits of each dataset are published."""
    from harness.splits.strategies import get_strategy, strategy_names

    layout = find_layout()
    rows: list[dict[str, Any]] = []
    for name in strategy_names():
        strategy = get_strategy(name)
        rows.append(
            {
                "name": name,
                "summary": strategy.SUMMARY,
                "parameters": strategy.Parameters().model_dump(mode="json"),
                "published": _published(layout, name),
            }
        )
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        click.echo(f"{row['name']}: {row['summary']}")
        click.echo("  parameters: " + ", ".join(f"{key}={value}" for key, value in row["parameters"].items()))
        click.echo("  published:  " + ", ".join(f"{key} ({count})" for key, count in row["published"].items()))


@command.command("make", short_help="Make split files.")
@click.argument("dataset")
@click.argument("strategy")
@click.option("--seed", "seeds", multiple=True, type=SEED, help="May be repeated.")
@click.option("--published", is_flag=True, help="The 100 seeds of the published benchmark.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the strategy.")
@click.option(
    "--to", "folder", type=click.Path(file_okay=False, path_type=Path), help="Also copy the files there."
)
@click.option("--record", is_flag=True, help="Publish the checksums beside the dataset; they never change again.")
@mirror_option
@json_option
def make_splits(
    dataset: str,
    strategy: str,
    seeds: tuple[int, ...],
    published: bool,
    settings: tuple[str, ...],
    folder: Path | None,
    record: bool,
    mirrors: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Make the split files of DATASET by STRATEGY.

    \b
    harness split make synthetic random --seed 17263407 --to splits
    """
    from harness.files import write_atomic
    from harness.splits import load_split
    from harness.splits.folds import split_bytes
    from harness.splits.recorded import record_splits
    from harness.splits.splits import as_recorded, split_path

    layout = find_layout()
    rows, lines = [], []
    for spec in _specs(strategy, seeds, published, settings):
        split = load_split(layout, dataset, spec, mirrors)
        path = split_path(layout, split.digest)
        if folder:
            path = folder / f"{dataset}-{spec.label}.npy"
            write_atomic(path, split_bytes(split.folds))
        lines.append(as_recorded(spec, split))
        rows.append({"dataset": dataset, "split": spec.label, "sha256": split.digest, "file": str(path)})
        if not as_json:
            click.echo(f"{spec.label}  {split.digest}  {path}")
    if record:
        record_splits(layout, dataset, lines)
    if as_json:
        click.echo(json.dumps(rows, indent=2))


@command.command("verify", short_help="Prove that splits keep their promises.")
@click.argument("dataset")
@click.argument("strategy", required=False)
@click.option("--seed", "seeds", multiple=True, type=SEED, help="May be repeated; all published ones by default.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the strategy.")
@click.option("--file", "path", type=click.Path(dir_okay=False, path_type=Path), help="A split file to examine.")
@mirror_option
@json_option
def verify_splits(
    dataset: str,
    strategy: str | None,
    seeds: tuple[int, ...],
    settings: tuple[str, ...],
    path: Path | None,
    mirrors: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Prove that splits of DATASET keep their promises: made again, they have the recorded checksums; pairs are
    training or test and never both; sizes and labels are shared out as the strategy says. With --file, the same
    of a file."""
    layout = find_layout()
    if path and (strategy is None or len(seeds) != 1):
        raise UsageError(
            "a file is examined as one split", todo="name the STRATEGY and one --seed it should be of"
        )
    if settings and not strategy:
        raise UsageError("--set needs a STRATEGY", todo="name the strategy that has the parameter")
    specs = (
        _specs(strategy, seeds, False, settings) if strategy and seeds else _recorded(layout, dataset, strategy)
    )
    rows = [_verified(layout, dataset, spec, path, mirrors) for spec in specs]
    broken = [row for row in rows if row["broken"]]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
    else:
        for row in broken:
            click.echo(f"{row['split']}: " + "; ".join(row["broken"]))
        click.echo(f"{len(rows) - len(broken)} of {len(rows)} splits keep their promises")
    return _CORRUPT if broken else 0


def _verified(
    layout: Layout, dataset: str, spec: SplitSpec, path: Path | None, mirrors: tuple[Path, ...]
) -> dict[str, Any]:
    """The promises a split breaks: a given file, or the split made again and the file that is kept of it."""
    from harness.files import sha256_of
    from harness.splits import make_split
    from harness.splits.folds import read_split
    from harness.splits.splits import split_path, verify_split

    split = read_split(path) if path else make_split(layout, dataset, spec, mirrors)
    broken = verify_split(layout, dataset, spec, split, mirrors)
    kept = split_path(layout, split.digest)
    if not path and kept.is_file() and sha256_of(kept) != split.digest:
        broken.append(f"the kept file was changed: {kept}")
    return {"dataset": dataset, "split": spec.label, "sha256": split.digest, "broken": broken}


def _specs(strategy: str, seeds: tuple[int, ...], published: bool, settings: tuple[str, ...]) -> list[SplitSpec]:
    from harness.splits import SplitSpec, published_seeds

    parameters = dict(parse_setting(text) for text in settings)
    chosen = (*seeds, *(published_seeds() if published else ()))
    if not chosen:
        raise UsageError("no seed is named", todo="give --seed N or --published")
    return [SplitSpec(strategy=strategy, seed=seed, parameters=parameters) for seed in dict.fromkeys(chosen)]


def _recorded(layout: Layout, dataset: str, strategy: str | None) -> list[SplitSpec]:
    from harness.data import load_manifest
    from harness.splits.recorded import recorded_splits
    from harness.splits.strategies import get_strategy

    load_manifest(layout, dataset)
    if strategy:
        get_strategy(strategy)
    lines = recorded_splits(layout, dataset).values()
    return [line.spec for line in lines if strategy in (None, line.spec.strategy)]


def _published(layout: Layout, strategy: str) -> dict[str, int]:
    from harness.data import manifest_names
    from harness.splits.recorded import recorded_splits

    return {
        dataset: sum(line.spec.strategy == strategy for line in recorded_splits(layout, dataset).values())
        for dataset in manifest_names(layout)
    }
