"""Scores from the files of a crate alone, and how they differ from those that were kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import benchmarks
from harness.audit.results import agree
from harness.base.errors import CorruptData, MissingData
from harness.base.files import checksum
from harness.base.layout import Layout
from harness.benchmarks import Dataset
from harness.data import load_dataset, load_manifest
from harness.data.datasets import is_here
from harness.data.manifest import has_manifest
from harness.export.contents import CrateLayout
from harness.planning.jobs import PlannedJob
from harness.results.records import Record
from harness.results.scoring import Scores, scorer_digest
from harness.results.store import Store
from harness.results.truth import Truth
from harness.splits.splits import split_path


def recompute(crate: CrateLayout, here: Layout, record: Record, mirrors: Sequence[Path] = ()) -> Scores:
    """The scores of a packed run from its predictions, its split and the true labels.

    Labels that may not lie in a crate are taken from this machine; `MissingData` where they are not here.
    """
    planned = record.planned
    truth = _truth(crate, here, planned, tuple(mirrors))
    answer = truth.read(Store(crate.runs).path(record.key))
    return Scores(planned.key, scorer_digest(planned.job.benchmark), record.evidence, *truth.measure(answer))


def difference(computed: Scores, kept: Scores) -> str:
    """Where kept scores are not those that were computed; empty where they agree."""
    if fault := _differing(computed.metrics, kept.metrics):
        return fault
    if computed.series != kept.series:
        # shares of counts, so that no digit may differ
        return "a series of values differs"
    return "" if computed.notes == kept.notes else "the notes differ"


def labels_of(crate: CrateLayout, planned: PlannedJob) -> Path:
    """Where the arrays of a run's dataset lie in a crate, if they may."""
    return crate.cache / "datasets" / planned.dataset_digest


def _differing(computed: Mapping[str, float | None], kept: Mapping[str, float | None]) -> str:
    for name in sorted({*computed, *kept}):
        if name not in computed or name not in kept:
            return f"metric {name} stands on one side only"
        if not agree(computed[name], kept[name]):
            return f"metric {name} is {computed[name]}, kept is {kept[name]}"
    return ""


def _truth(crate: CrateLayout, here: Layout, planned: PlannedJob, mirrors: tuple[Path, ...]) -> Truth:
    benchmark, job = benchmarks.get(planned.job.benchmark), planned.job
    dataset = _dataset(crate, here, planned, mirrors)
    if dataset.digest != planned.dataset_digest:
        raise CorruptData(
            "the dataset is not the one of the run",
            where=f"{job.label}: {dataset.digest[:16]}",
            todo="pack it anew",
        )
    path = split_path(crate, job.benchmark, planned.split_digest)
    if checksum(path) != planned.split_digest:
        raise CorruptData("the split is not the one of the run", where=str(path), todo="pack it anew")
    return Truth(job, dataset, benchmark.form.read(path, lambda: dataset))


def _dataset(crate: CrateLayout, here: Layout, planned: PlannedJob, mirrors: tuple[Path, ...]) -> Dataset:
    from harness.data.arrays import read

    folder, name = labels_of(crate, planned), planned.job.dataset
    if folder.is_dir():
        return read(folder, name, benchmarks.get(planned.job.benchmark).dataset)
    if not _is_at_hand(here, name, mirrors):
        raise MissingData(
            f"the labels of dataset '{name}' may not lie in a crate, and are not here",
            where=f"dataset {planned.dataset_digest[:16]}",
            todo=f"name a folder of its files with --mirror, or run `harness data get {name}`",
        )
    return load_dataset(here, name, mirrors=mirrors)


def _is_at_hand(here: Layout, name: str, mirrors: tuple[Path, ...]) -> bool:
    """Whether the dataset can be loaded without a download."""
    return has_manifest(here, name) and is_here(here, load_manifest(here, name), mirrors)
