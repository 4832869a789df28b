"""What `harness split verify` finds out about each split, and how it prints that."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import click

from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.results.findings import findings_on
from harness.splits import make_split
from harness.splits.spec import SplitSpec
from harness.splits.splits import benchmark_of, complete, read_split_file, recorded_split, split_path, verify_split
from harness.splits.strategies import examined_of


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
    """Print each strategy with its examined promises, a line per split, and the sum."""
    for (name, examined), members in groupby(rows, key=lambda row: (row["split"], row["examined"])):
        click.echo(name)
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
    click.echo(f"{good} of {len(rows)} splits keep their promises")
