"""What `harness split verify` finds of each split, and how it tells it: promises, broken ones, known findings."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.base.layout import Layout
    from harness.splits.spec import SplitSpec


def verified(
    layout: Layout,
    dataset: str,
    spec: SplitSpec,
    path: Path | None,
    mirrors: tuple[Path, ...],
    *,
    recorded: bool,
) -> dict[str, Any]:
    """What was examined of a split and is broken: a given file, or the split made again and what is kept of it."""
    from harness.base.files import sha256_of
    from harness.results.findings import findings_on
    from harness.splits import make_split
    from harness.splits.splits import (
        benchmark_of,
        complete,
        read_split_file,
        recorded_split,
        split_path,
        verify_split,
    )
    from harness.splits.strategies import examined_of

    here = layout, dataset
    split = read_split_file(*here, path, mirrors) if path else make_split(*here, spec, mirrors)
    benchmark = benchmark_of(layout, dataset)
    kept = split_path(layout, benchmark, split.digest)
    broken = verify_split(layout, dataset, spec, split, mirrors, recorded=recorded)
    if not path and kept.is_file() and sha256_of(kept) != split.digest:
        broken.append(f"the kept file was changed: {kept}")
    examined = examined_of(benchmark, spec.strategy)
    line = recorded_split(layout, dataset, spec) if recorded else None
    if line:
        examined.append("the recorded checksum")
    known = []
    # what is published breaks what it always broke
    if broken and line and line.sha256 == split.digest:
        known = findings_on(layout, benchmark, f"{dataset} {complete(benchmark, spec).text}")
    return {
        "dataset": dataset,
        "split": spec.text,
        "seeds": [spec.seed],
        "sha256": split.digest,
        "examined": examined,
        "broken": broken,
        "known_findings": [one.title for one in known],
    }


def one_per_split(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of different seeds that are one and the same split, as one."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        first = found.setdefault((row["split"], row["sha256"], str(row["broken"])), {**row, "seeds": []})
        first["seeds"] += row["seeds"]
    return list(found.values())


def tell(rows: list[dict[str, Any]]) -> None:
    """Each strategy with what was examined, a line per split, and the sum."""
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
    kept = sum(not row["broken"] for row in rows)
    click.echo(f"{kept} of {len(rows)} splits keep their promises")
