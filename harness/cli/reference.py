"""`harness reference`: the committed results of this artifact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import click

from harness.base.layout import find_layout
from harness.base.plurals import counted, form_of
from harness.base.tables import aligned
from harness.base.unknown_names import refuse_unknown_names
from harness.base.vocabulary import Verdict
from harness.cli.names import DATASET, METHOD, SPLIT
from harness.cli.options import OnceGroup, echo_json, json_option, mirror_option
from harness.planning.jobs import Job
from harness.results.reference import ReferenceRow, load_reference, overview, save_reference, verdict_counts
from harness.results.store import Store


@click.group(cls=OnceGroup)
def command() -> None:
    """List the committed reference results, or take this machine's runs into them.

    \b
    harness reference list
    harness reference list --method bnnr            each dataset and split of a method
    harness reference list --keys --method bnnr     each run with its key: harness show KEY
    harness status --suite full --reference         show them where nothing was run here
    harness audit --reference --replay 3            prove three of them by running them again
    """


@command.command("list", short_help="List how many runs there are of every method.")
@click.option("--keys", "with_keys", is_flag=True, help="Each run with its key.")
@click.option("--method", "methods", multiple=True, type=METHOD, help="Only this method; may be repeated.")
@click.option("--dataset", "datasets", multiple=True, type=DATASET, help="Only this dataset; may be repeated.")
@click.option("--split", "splits", multiple=True, type=SPLIT, help="Only this split strategy; may be repeated.")
@json_option
def list_(
    with_keys: bool,
    methods: tuple[str, ...],
    datasets: tuple[str, ...],
    splits: tuple[str, ...],
    as_json: bool,
) -> None:
    """How many runs there are of every method, and how they ended.

    With --method, --dataset or --split, and in --json, for each dataset and split.
    """
    chosen = _Choice(methods, datasets, splits)
    if with_keys:
        _list_keys(chosen, as_json=as_json)
        return
    layout = find_layout()
    every = overview(layout)
    chosen.refuse_unknown([row.job for row in every], where=layout.reference)
    rows = [row for row in every if chosen.has(row.job)]
    if as_json:
        echo_json([row.to_json() for row in rows])
        return
    for line in _splits(rows) if chosen.is_narrow else _methods(rows):
        click.echo(line)
    click.echo(
        f"{counted(sum(row.seeds for row in rows), 'run')}, {sum(row.cpu_hours for row in rows):.1f} CPU hours"
    )
    if not chosen.is_narrow:
        click.echo("more: --method NAME or --dataset NAME, each split; --keys, each run")


@dataclass(frozen=True)
class _Choice:
    """Methods, datasets and split strategies; of what has no names, any."""

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    splits: tuple[str, ...]

    @property
    def is_narrow(self) -> bool:
        return bool(self.methods or self.datasets or self.splits)

    def has(self, job: Job) -> bool:
        names = ((self.methods, job.method), (self.datasets, job.dataset), (self.splits, job.split.strategy))
        return all(not chosen or name in chosen for chosen, name in names)

    def refuse_unknown(self, jobs: Sequence[Job], where: Path) -> None:
        """`UsageError` for a name that no job has."""
        refuse_unknown_names("method", self.methods, {job.method for job in jobs}, where=where)
        refuse_unknown_names("dataset", self.datasets, {job.dataset for job in jobs}, where=where)
        refuse_unknown_names("split", self.splits, {job.split.strategy for job in jobs}, where=where)


def _splits(rows: Sequence[ReferenceRow]) -> list[str]:
    """A line for each method, dataset and split."""
    return aligned(
        [
            row.label,
            f"{row.seeds:3} {form_of('seed', row.seeds)}",
            row.verdicts,
            f"{row.cpu_hours:6.2f} CPU h",
            _of_old(row.stale),
        ]
        for row in rows
    )


def _methods(rows: Sequence[ReferenceRow]) -> Iterator[str]:
    """For each benchmark a line for each method and variant."""
    for benchmark, members in groupby(rows, key=lambda row: row.job.benchmark):
        yield benchmark
        lines = [["method", "datasets", "splits", "runs", "verdicts", " CPU h", ""]]
        for method, of_method in groupby(members, key=lambda row: row.job.row):
            own = list(of_method)
            counts = sum((row.counts for row in own), Counter[Verdict]())
            numbers = (len({row.job.dataset for row in own}), len(own), counts.total())
            lines.append(
                [
                    method,
                    *(f"{number:{len(head)}}" for number, head in zip(numbers, lines[0][1:], strict=False)),
                    verdict_counts(counts),
                    f"{sum(row.cpu_hours for row in own):6.1f}",
                    _of_old(sum(row.stale for row in own)),
                ]
            )
        yield from (*aligned(lines, indent="  ", ruled=True), "")


def _of_old(stale: int) -> str:
    return f"{stale} of code, images or data that changed since" if stale else ""


def _list_keys(choice: _Choice, *, as_json: bool) -> None:
    """Every reference result of a choice."""
    layout = find_layout()
    jobs = {key: (entry.planned.job, entry.content["verdict"]) for key, entry in load_reference(layout).items()}
    choice.refuse_unknown([job for job, _ in jobs.values()], where=layout.reference)
    chosen = [
        {"key": key, "verdict": verdict, "label": job.label, **job.model_dump(mode="json")}
        for key, (job, verdict) in jobs.items()
        if choice.has(job)
    ]
    if as_json:
        echo_json(chosen)
        return
    for line in aligned([[row["key"][:12], row["verdict"], row["label"]] for row in chosen]):
        click.echo(line)


@command.command("save", short_help="Take the finished runs of this machine into them.")
@mirror_option
@json_option
def save(mirrors: tuple[Path, ...], as_json: bool) -> None:
    """Take every finished run of the present code, images and data into results/reference.

    Results of seeds that were not run here are kept; those of code that has changed since are removed.
    """
    layout = find_layout()
    count, files = save_reference(layout, Store(layout.runs), mirrors)
    size = sum(path.stat().st_size for path in files)
    if as_json:
        echo_json({"runs": count, "files": len(files), "bytes": size, "folder": str(layout.reference)})
    else:
        taken = f"{counted(count, 'run')} taken; {counted(len(files), 'file')}, {size / 1e6:.1f} MB"
        click.echo(f"{taken}, under {layout.reference}")
