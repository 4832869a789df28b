"""Datasets and splits made again from their sources, once per machine: no cache and no checksum vouches for them.

A note says what came out, for what code and what inputs; it is believed by its seal (`harness.base.seal`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import harness
from harness.audit.steps import Lack, Step, equal, failed, not_checked, ok
from harness.base.files import sha256_of
from harness.base.layout import Layout
from harness.base.seal import read_note, write_note
from harness.data import load_manifest
from harness.data.converters import converter_source
from harness.data.datasets import convert_dataset
from harness.data.own_tables import brought_tables
from harness.data.sources import check_file, local_copies
from harness.meaning.folders import meaning_of_folder
from harness.meaning.modules import meaning_of_modules
from harness.planning.jobs import PlannedJob
from harness.results.findings import findings_on
from harness.splits import make_split, recorded_split
from harness.splits.splits import complete, recipe_of, verify_split

_PACKAGE = Path(harness.__file__).parent
# What a conversion depends on.
_CONVERTING = ("harness.benchmarks", "harness.base", "harness.data")


def remake_dataset(layout: Layout, planned: PlannedJob, mirrors: Sequence[Path]) -> Step:
    """The arrays converted again from the original files; where one is not here, that was not checked."""
    name = planned.job.dataset
    manifest = load_manifest(layout, name)
    for file in manifest.files:
        copies = local_copies(layout, name, file, mirrors)
        if not any(check_file(path, file) is None for path in copies):
            return not_checked("dataset", f"not converted again: {file.name} is not on this machine", Lack.DATA)
    if manifest.extends or manifest.bring:
        # what it adds to or is made of is a person's own, and nothing is fetched for it
        digest = convert_dataset(layout, name, mirrors=mirrors).digest
    else:
        about = ["dataset", name, _conversion(layout, name)]
        digest = read_note(_folder(layout), about)
        if digest is None:
            digest = convert_dataset(layout, name, mirrors=mirrors).digest
            write_note(_folder(layout), about, digest)
    return equal("dataset", "converted again from the original files", planned.dataset_digest, digest)


def remake_split(layout: Layout, planned: PlannedJob, mirrors: Sequence[Path]) -> list[Step]:
    """The split made again from its recipe, and every promise of its strategy proved of it."""
    job = planned.job
    about = [
        "split",
        job.dataset,
        recipe_of(layout, job.dataset, job.split, mirrors),
        _promises(job.benchmark, job.split.strategy),
    ]
    content: dict[str, Any] | None = read_note(_folder(layout), about)
    if content is None:
        split = make_split(layout, job.dataset, job.split, mirrors)
        broken = verify_split(layout, job.dataset, job.split, split, mirrors, recorded=False)
        content = {"sha256": split.digest, "broken": broken}
        write_note(_folder(layout), about, content)
    steps = [equal("split", "made again from its recipe", planned.split_digest, content["sha256"])]
    if content["broken"] and (findings := _findings(layout, planned, content["sha256"])):
        return [
            *steps,
            ok("split", f"breaks a promise as it was published, a known finding: {', '.join(findings)}"),
        ]
    if content["broken"]:
        return [*steps, *(failed("split", f"breaks a promise: {text}") for text in content["broken"])]
    return [*steps, ok("split", "keeps what its strategy promises")]


def _findings(layout: Layout, planned: PlannedJob, digest: str) -> list[str]:
    """The findings that tell what a published split breaks: it has always broken it."""
    job = planned.job
    line = recorded_split(layout, job.dataset, job.split)
    if line is None or line.sha256 != digest:
        return []
    label = f"{job.dataset} {complete(job.benchmark, job.split).text}"
    return [finding.title for finding in findings_on(layout, job.benchmark, label)]


def _folder(layout: Layout) -> Path:
    return layout.cache / "audit"


def _conversion(layout: Layout, name: str) -> dict[str, Any]:
    """All that decides what a conversion gives."""
    manifest = load_manifest(layout, name)
    if manifest.converter.startswith("./"):
        # what it imports of the harness is not walked
        code = [meaning_of_folder(_PACKAGE), *map(sha256_of, converter_source(layout, manifest))]
    else:
        root = f"harness.benchmarks.{manifest.benchmark}.converters.{manifest.converter}"
        code = [meaning_of_modules(_PACKAGE, [root, "harness.data.arrays"], within=_CONVERTING)]
    return {
        "code": code,
        "parameters": manifest.parameters,
        "files": {file.name: file.sha256 for file in manifest.files},
        "brought": {name: sha256_of(path) for name, path in brought_tables(layout, manifest).items()},
    }


def _promises(benchmark: str, strategy: str) -> str:
    """The code that proves what a strategy promises."""
    roots = [
        f"harness.benchmarks.{benchmark}.splits.strategies.{strategy}",
        f"harness.benchmarks.{benchmark}.splits",
    ]
    return meaning_of_modules(_PACKAGE, roots, within=("harness.benchmarks", "harness.base"))
