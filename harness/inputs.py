"""Materialised inputs: what a container finds under /in, made once per dataset, split and declared input."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness import benchmark
from harness.data import load_dataset
from harness.errors import CorruptData, WeightsError
from harness.files import digest_of, folder_in_the_making, read_json, sha256_of, write_json
from harness.jobs import PlannedJob
from harness.layout import Layout
from harness.methods import MethodCard
from harness.splits import load_split
from harness.vocabulary import PROTOCOL_VERSION
from harness.weights import KeptWeights, kept_weights

_DESCRIPTION = "inputs.json"


def prepare_inputs(layout: Layout, planned: PlannedJob, card: MethodCard, mirrors: Sequence[Path]) -> Path:
    """A folder with the arrays a method declares, shared by every run that needs the same ones."""
    module = benchmark.get(planned.job.benchmark)
    name = digest_of(
        {
            "protocol": PROTOCOL_VERSION,
            "materialisation": module.MATERIALISATION_VERSION,
            "dataset": planned.dataset_digest,
            "split": planned.split_digest,
            "inner_folds": planned.job.inner_folds,
            "inputs": sorted(card.inputs),
        }
    )
    final = layout.cache / "inputs" / name
    if final.is_dir():
        return final
    dataset = load_dataset(layout, planned.job.dataset, mirrors=mirrors)
    split = load_split(layout, planned.job.dataset, planned.job.split, mirrors)
    _must_match(planned, dataset.digest, split.digest)
    with folder_in_the_making(final) as making:
        described = module.write_inputs(dataset, split, card.inputs, making, inner_folds=planned.job.inner_folds)
        write_json(making / _DESCRIPTION, described)
    return final


def planned_weights(layout: Layout, planned: PlannedJob) -> KeptWeights | None:
    """The pretrained model of a job that was planned with one, every file checked."""
    if not planned.weights_digest:
        return None
    weights = kept_weights(layout, planned.job.method)
    if weights.digest != planned.weights_digest:
        raise WeightsError(
            f"{weights.manifest.title} is not the one that was planned",
            where=f"{planned.job.label}: {weights.digest[:16]} instead of {planned.weights_digest[:16]}",
            todo="plan the job again",
        )
    weights.verify()
    return weights


def job_folder(
    prepared: Path,
    folder: Path,
    planned: PlannedJob,
    card: MethodCard,
    *,
    trace: bool = False,
    weights: KeptWeights | None = None,
) -> None:
    """Fill `folder` with what will be mounted at /in: links to prepared arrays and to weights, and job.json."""
    described = _described(prepared)
    for name, description in described.items():
        source = prepared / description["file"]
        if not source.is_file() or sha256_of(source) != description["sha256"]:
            raise _changed(prepared, f"the prepared input '{name}' was changed", source)
        _link(source, folder / source.name)
    document = job_document(planned, card, described, trace=trace)
    if weights is not None:
        (folder / "weights").mkdir()
        for name in weights.sha256:
            _link(weights.folder / name, folder / "weights" / name)
        document["weights"] = weights.described()
    write_json(folder / "job.json", document)


def _described(prepared: Path) -> dict[str, dict[str, Any]]:
    """What was written beside the prepared arrays."""
    described = read_json(prepared / _DESCRIPTION)
    known = isinstance(described, dict) and all(
        isinstance(told, dict) and "sha256" in told and Path(str(told.get("file"))).name == told.get("file")
        for told in described.values()
    )
    if not known or not described:
        raise _changed(prepared, "the list of prepared inputs was changed", prepared / _DESCRIPTION)
    return dict(described)


def _changed(prepared: Path, what: str, where: Path) -> CorruptData:
    return CorruptData(what, where=str(where), todo=f"remove the folder {prepared}; it is made again when needed")


def job_document(
    planned: PlannedJob, card: MethodCard, described: dict[str, dict[str, Any]], *, trace: bool
) -> dict[str, Any]:
    """`/in/job.json`: the contract's words to a method."""
    job = planned.job
    resources = card.resources
    return {
        "protocol": PROTOCOL_VERSION,
        "benchmark": job.benchmark,
        "task": "predict",
        "method": job.method,
        "variant": job.variant,
        "seed": job.split.seed,
        "parameters": job.parameters,
        "inner_folds": job.inner_folds,
        "limits": {
            "seconds": resources.seconds,
            "memory_bytes": resources.memory_bytes,
            "processes": resources.processes,
            "output_bytes": resources.output_bytes,
            "threads": resources.cpus,
        },
        "inputs": described,
        "trace": trace,
    }


def _must_match(planned: PlannedJob, dataset: str, split: str) -> None:
    for kind, found, recorded in (
        ("dataset", dataset, planned.dataset_digest),
        ("split", split, planned.split_digest),
    ):
        if found != recorded:
            raise CorruptData(
                f"the {kind} is not the one that was planned",
                where=f"{planned.job.label}: {found[:16]} instead of {recorded[:16]}",
                todo="run `harness data verify` and `harness split verify`",
            )


def _link(source: Path, target: Path) -> None:
    """A hard link costs nothing; another file system needs a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
