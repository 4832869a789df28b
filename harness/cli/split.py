"""`harness split`: what splits there are, making their files, and proving that a file keeps its promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness import benchmarks
from harness.base.errors import CorruptData, UsageError
from harness.base.files import sha256_of, write_atomic
from harness.base.layout import Layout, find_layout
from harness.base.plurals import counted
from harness.base.tables import aligned
from harness.cli.options import NEW_FOLDER, OnceGroup, echo_json, json_option, mirror_option
from harness.cli.splitting.options import SplitRequest, split_options
from harness.data import manifest_names
from harness.results.findings import findings_on
from harness.splits import load_split, make_split
from harness.splits.checksums import record_splits, recorded_splits
from harness.splits.spec import SplitSpec
from harness.splits.splits import (
    as_recorded,
    benchmark_of,
    complete,
    describe_split,
    read_split_file,
    recorded_split,
    split_path,
    verify_split,
)
from harness.splits.strategies import examined_of, get_strategy, strategy_names


@click.group(cls=OnceGroup)
def command() -> None:
    """List, make, verify and measure standard split files."""


@command.command("list", short_help="List strategies, parameters, published splits.")
@json_option
def list_splits(as_json: bool) -> None:
    """List split strategies, their parameters, and how many splits of each dataset are published."""
    layout = find_layout()
    rows: list[dict[str, Any]] = []
    for benchmark in benchmarks.names():
        for name in strategy_names(benchmark):
            strategy = get_strategy(benchmark, name)
            rows.append(
                {
                    "benchmark": benchmark,
                    "name": name,
                    "summary": strategy.SUMMARY,
                    "parameters": strategy.Parameters().model_dump(mode="json"),
                    "published": _published_counts(layout, benchmark, name),
                }
            )
    if as_json:
        echo_json(rows)
        return
    for row in rows:
        parameters = (f"{key}={value}" for key, value in row["parameters"].items())
        published = (f"{key} ({count})" for key, count in row["published"].items() if count)
        click.echo(f"{row['benchmark']} {row['name']}: {row['summary']}")
        click.echo(f"  parameters: {', '.join(parameters) or 'none'}")
        click.echo(f"  published:  {', '.join(published) or 'none'}")


@command.command("make", short_help="Make split files.")
@split_options
@click.option("--published", is_flag=True, help="The 100 seeds of the published benchmark.")
@click.option("--to", "folder", type=NEW_FOLDER, help="Also copy the files there.")
@click.option("--record", is_flag=True, help="Publish the checksums beside the dataset; they never change again.")
@mirror_option
@json_option
def make_splits(
    request: SplitRequest,
    published: bool,
    folder: Path | None,
    record: bool,
    mirrors: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Make the split files of DATASET by STRATEGY, and describe them.

    \b
    harness split make synthetic random --seed 17263407 --to splits
    harness split make --strategy cluster --gamma 0.55 --dataset drugbank
    """
    layout = find_layout()
    benchmark = benchmark_of(layout, request.dataset)
    rows, lines = [], []
    for spec in request.specs(layout, published=published):
        split = load_split(layout, request.dataset, spec, mirrors)
        path = split_path(layout, benchmark, split.digest)
        if folder:
            name = f"{request.dataset}-{spec.label}{benchmarks.get(benchmark).form.suffix}"
            # names of groups may hold one
            path = folder / name.replace("/", "_")
            write_atomic(path, benchmarks.get(benchmark).form.content(split))
        lines.append(as_recorded(benchmark, spec, split))
        about = describe_split(layout, request.dataset, spec, split, mirrors)
        row = {"dataset": request.dataset, "split": spec.label, "sha256": split.digest, "file": str(path)}
        rows.append({**row, **about})
        if not as_json:
            click.echo(f"{spec.label}  {split.digest}  {path}")
            show(about)
    if record:
        record_splits(layout, request.dataset, lines)
    if as_json:
        echo_json(rows)


@command.command("verify", short_help="Prove that splits keep their promises.")
@split_options
@click.option("--file", "path", type=click.Path(dir_okay=False, path_type=Path), help="A split file to examine.")
@mirror_option
@json_option
def verify_splits(request: SplitRequest, path: Path | None, mirrors: tuple[Path, ...], as_json: bool) -> int:
    """Prove that splits of DATASET keep their promises.

    Made again, they have the recorded checksums; pairs are training or test and never both; sizes, labels and
    drugs are divided as the strategy promises. Without --seed, all published splits. With --file, a file."""
    layout = find_layout()
    if request.parameters and not request.strategy:
        raise UsageError("--set needs a STRATEGY", todo="name the strategy that has the parameter")
    specs = _specs_to_verify(layout, request, one=path is not None)
    if path and (request.strategy is None or len(specs) != 1):
        raise UsageError(
            "a file holds one split, and it is not said which", todo="name its STRATEGY and one --seed"
        )
    # without a seed there is no recorded checksum to compare a file with
    recorded = path is None or bool(request.seeds)
    results = [verify_one(layout, request.dataset, spec, path, mirrors, recorded=recorded) for spec in specs]
    rows = one_per_split(results)
    if as_json:
        echo_json(rows)
    else:
        tell(rows)
    return CorruptData.exit_code if any(row["broken"] for row in rows) else 0


def show(about: dict[str, dict[str, Any]], indent: str = "  ") -> None:
    """Print the facts of a split, one line per kind."""
    rows = ([name, ", ".join(f"{key} {_short(each)}" for key, each in row.items())] for name, row in about.items())
    for line in aligned(rows, indent=indent):
        click.echo(line)


def _short(value: Any) -> str:
    return f"{value:.5f}" if isinstance(value, float) else f"{value:,}"


def _specs_to_verify(layout: Layout, request: SplitRequest, *, one: bool) -> list[SplitSpec]:
    """The splits of the named seeds; without a seed the published ones, or the one of the usual seed."""
    recorded = _recorded_specs(layout, request.dataset, request.strategy)
    usual = benchmarks.get(benchmark_of(layout, request.dataset)).form.usual_seed
    named = request.seeds or request.parameters or not recorded or (one and usual is not None)
    if request.strategy and named:
        return request.specs(layout)
    if not recorded:
        raise UsageError(
            "no split of this dataset is published", where=request.dataset, todo="name a STRATEGY and --seed N"
        )
    return recorded


def _recorded_specs(layout: Layout, dataset: str, strategy: str | None) -> list[SplitSpec]:
    benchmark = benchmark_of(layout, dataset)
    if strategy:
        get_strategy(benchmark, strategy)
    lines = recorded_splits(layout, dataset).values()
    return [line.spec for line in lines if strategy in (None, line.spec.strategy)]


def _published_counts(layout: Layout, benchmark: str, strategy: str) -> dict[str, int]:
    return {
        dataset: sum(line.spec.strategy == strategy for line in recorded_splits(layout, dataset).values())
        for dataset in manifest_names(layout)
        if benchmark_of(layout, dataset) == benchmark
    }


for name in benchmarks.names():
    for one in getattr(benchmarks.part(name, "commands"), "SPLIT_COMMANDS", ()):
        command.add_command(one)


def verify_one(
    layout: Layout,
    dataset: str,
    spec: SplitSpec,
    path: Path | None,
    mirrors: tuple[Path, ...],
    *,
    recorded: bool,
) -> dict[str, Any]:
    """The promises of a split that were examined, and those that are broken.

    Examined is the given file; without one, the split made again, and the file that is kept of it.
    """
    here = layout, dataset
    split = read_split_file(*here, path, mirrors) if path else make_split(*here, spec, mirrors)
    benchmark = benchmark_of(layout, dataset)
    file = split_path(layout, benchmark, split.digest)
    broken = verify_split(layout, dataset, spec, split, mirrors, recorded=recorded)
    if not path and file.is_file() and sha256_of(file) != split.digest:
        broken.append(f"the kept file was changed: {file}")
    examined = examined_of(benchmark, spec.strategy)
    line = recorded_split(layout, dataset, spec) if recorded else None
    if line:
        examined.append("the recorded checksum")
    findings = []
    # a published split that breaks a promise has always broken it
    if broken and line and line.sha256 == split.digest:
        findings = findings_on(layout, benchmark, f"{dataset} {complete(benchmark, spec).text}")
    return {
        "dataset": dataset,
        "split": spec.text,
        "seeds": [spec.seed],
        "sha256": split.digest,
        "examined": examined,
        "broken": broken,
        "known_findings": [one.title for one in findings],
    }


def one_per_split(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per split: several seeds may give the same one."""
    splits: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        first = splits.setdefault((row["split"], row["sha256"], str(row["broken"])), {**row, "seeds": []})
        first["seeds"] += row["seeds"]
    return list(splits.values())


def tell(rows: list[dict[str, Any]]) -> None:
    """Print each strategy with its parameters and examined promises, a line per split, and the sum."""
    kinds: dict[tuple[str, str, tuple[str, ...]], list[dict[str, Any]]] = {}
    for row in rows:
        kinds.setdefault((row["dataset"], row["split"], tuple(row["examined"])), []).append(row)
    for (dataset, split, examined), members in kinds.items():
        click.echo(f"{dataset}, {split}: {counted(len(members), 'split')}")
        for promise in examined:
            click.echo(f"  examined: {promise}")
        for row in members:
            seeds = ", ".join(map(str, row["seeds"]))
            which = f"seed {seeds}" if len(row["seeds"]) == 1 else f"seeds {seeds} (one split)"
            click.echo(f"  {which}  {row['sha256']}  {'BROKEN' if row['broken'] else 'proved'}")
            for broken in row["broken"]:
                click.echo(f"    broken: {broken}")
            for title in row["known_findings"]:
                click.echo(f"    known finding: {title} (harness list findings)")
    good = sum(not row["broken"] for row in rows)
    click.echo(f"promises kept: {good} of {counted(len(rows), 'split')}")
