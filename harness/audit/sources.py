"""What a run rests on: the inputs it saw, the dataset, the split, each recomputed from what lies below it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.audit.steps import Step, equal, failed, not_checked, ok
from harness.base.download import mirror_folders
from harness.base.input_files import as_file
from harness.base.layout import Layout
from harness.base.machine import processor
from harness.data import dataset_digest, load_dataset, load_manifest
from harness.data.manifest import SourceFile, manifest_path, mirror_path
from harness.data.sources import cache_path, check_file
from harness.execution.inputs import make_inputs
from harness.planning.jobs import PlannedJob
from harness.results.records import Record
from harness.splits import load_split, make_split, recorded_split, split_digest

# Inputs that are computed with floating-point sums, which may differ in their last bits on another CPU: there a
# difference counts as not checked. All other inputs are copied.
_COMPUTED = frozenset({"drug_standardised", "disease_standardised", "drug_similarity", "disease_similarity"})


def check_dataset(layout: Layout, planned: PlannedJob, mirrors: Sequence[Path]) -> list[Step]:
    """The original files against their sha256, the arrays against their digest, both against the key."""
    name = planned.job.dataset
    digest = dataset_digest(layout, name, mirrors=mirrors)
    steps = [equal("dataset", "the manifest's digest is the one of the run", planned.dataset_digest, digest)]
    dataset = load_dataset(layout, name, mirrors=mirrors)
    steps.append(equal("dataset", "arrays hashed again", planned.dataset_digest, dataset.digest))
    return [*steps, *check_originals(layout, name, mirrors)]


def check_originals(layout: Layout, name: str, mirrors: Sequence[Path]) -> list[Step]:
    """Every local copy of every original file against its sha256; nothing is downloaded for an audit."""
    steps = []
    for file in load_manifest(layout, name).files:
        copies = [path for path in _places(layout, name, file, mirrors) if path.is_file()]
        if not copies:
            steps.append(not_checked(f"data {file.name}", "no copy on this machine; the arrays were checked"))
        for path in copies:
            fault = check_file(path, file)
            what = f"sha256 of {file.bytes:,} bytes"
            if fault is None:
                steps.append(ok(f"data {file.name}", what, file.sha256))
            else:
                steps.append(failed(f"data {file.name}", fault, expected=file.sha256, where=path))
    return steps


def check_split(layout: Layout, planned: PlannedJob, mirrors: Sequence[Path]) -> list[Step]:
    """The split file against the recorded checksum and the key."""
    job = planned.job
    digest = split_digest(layout, job.dataset, job.split, mirrors)
    steps = [equal("split", "the recorded checksum is the one of the run", planned.split_digest, digest)]
    split = load_split(layout, job.dataset, job.split, mirrors)
    steps.append(equal("split", "the split file hashed again", planned.split_digest, split.digest))
    if recorded_split(layout, job.dataset, job.split) is None:
        # nobody published its checksum: all that vouches for it is a note in this user's cache
        remake = make_split(layout, job.dataset, job.split, mirrors)
        steps.append(equal("split", "made again from its recipe", planned.split_digest, remake.digest))
    return steps


def check_inputs(layout: Layout, record: Record, descriptions: Any, mirrors: Sequence[Path]) -> list[Step]:
    """The files the container saw, made again from dataset, split and order."""
    if descriptions is None:
        return [not_checked("inputs", "the run kept no job document")]
    if not isinstance(descriptions, dict) or not all(isinstance(one, dict) for one in descriptions.values()):
        return [failed("inputs", "the list of inputs in the run's job document is none")]
    inputs = make_inputs(layout, record.planned, list(descriptions), mirrors, order=record.order).inputs
    steps = []
    for name in sorted({*descriptions, *inputs}):
        expected = str(descriptions.get(name, {}).get("sha256", "-"))
        found = as_file(name, inputs[name]).description["sha256"] if name in inputs else "-"
        if name not in _COMPUTED or expected == found or record.engine.get("processor") == processor():
            steps.append(equal(f"input {name}", "made again from dataset, split and order", expected, found))
        else:
            steps.append(
                not_checked(
                    f"input {name}",
                    f"is computed, and comes out as {found[:12]} on this processor, not {expected[:12]}: last "
                    "bits differ between processors; --replay decides",
                )
            )
    return steps


def _places(layout: Layout, dataset: str, file: SourceFile, mirrors: Sequence[Path]) -> list[Path]:
    beside = manifest_path(layout, dataset).parent / file.name
    mirror_copies = [folder / mirror_path(url) for folder in mirror_folders(mirrors) for url in file.urls]
    return [beside, cache_path(layout, file), *mirror_copies]
