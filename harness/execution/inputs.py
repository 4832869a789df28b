"""The inputs of a container (/in), made from dataset and split for every run: no cached copy is trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import benchmarks
from harness.base.errors import CorruptData, WeightsError
from harness.base.files import write_json
from harness.base.input_files import Given, write_given
from harness.base.layout import Layout
from harness.base.vocabulary import PROTOCOL_VERSION
from harness.benchmarks.order import PUBLISHED, Arrangement
from harness.data import load_dataset
from harness.methods.card import MethodCard, load_method
from harness.methods.weights import KeptWeights, kept_weights
from harness.planning.jobs import Job, PlannedJob
from harness.splits import load_split


def make_inputs(
    layout: Layout,
    planned: PlannedJob,
    names: Sequence[str],
    mirrors: Sequence[Path] = (),
    *,
    order: str = PUBLISHED,
) -> Arrangement:
    """The inputs called `names` of a planned job, from the very dataset and split it was planned with."""
    job = planned.job
    dataset = load_dataset(layout, job.dataset, mirrors=mirrors)
    split = load_split(layout, job.dataset, job.split, mirrors)
    _must_match(planned, dataset.digest, split.digest)
    inputs = benchmarks.get(job.benchmark).inputs(dataset, split, names, job.options)
    return arrange(job.benchmark, inputs, order)


def arrange(name: str, inputs: Mapping[str, Given], order: str) -> Arrangement:
    """Inputs of a benchmark in the published order, or in that of a secret."""
    if order == PUBLISHED:
        return Arrangement(inputs)
    return benchmarks.get(name).reorder(inputs, order)


def planned_weights(layout: Layout, planned: PlannedJob) -> KeptWeights | None:
    """The pretrained model that a job was planned with, every file checked; None for a job without one."""
    if not planned.weights_digest:
        return None
    weights = kept_weights(layout, load_method(layout, planned.job.method).weights_of(planned.job.variant))
    if weights.digest != planned.weights_digest:
        raise WeightsError(
            f"{weights.manifest.title} is not the one that was planned",
            where=f"{planned.job.label}: {weights.digest[:16]} instead of {planned.weights_digest[:16]}",
            todo="plan the job again",
        )
    weights.verify()
    return weights


def job_folder(
    arrangement: Arrangement,
    folder: Path,
    planned: PlannedJob,
    card: MethodCard,
    *,
    weights: KeptWeights | None = None,
) -> None:
    """Fill `folder` with what will be mounted at /in: inputs, weights, and job.json.

    Every run has files of its own: two containers that see one file can talk to each other through its locks.
    """
    descriptions = {name: write_given(folder, name, value) for name, value in arrangement.inputs.items()}
    document = job_document(planned.job, card, descriptions, seed=planned.job.fit_seed, trace=False)
    if weights is not None:
        weights.copy_to(folder / "weights")
        document["weights"] = weights.described()
    write_json(folder / "job.json", document)


def job_document(
    job: Job, card: MethodCard, descriptions: dict[str, dict[str, Any]], *, seed: int, trace: bool
) -> dict[str, Any]:
    """The content of `/in/job.json` (docs/protocol.md). The seed of the split is not in it."""
    resources = card.resources
    return {
        "protocol": PROTOCOL_VERSION,
        "benchmark": job.benchmark,
        "task": "predict",
        "method": job.method,
        "variant": job.variant,
        "seed": seed,
        "parameters": job.parameters,
        **job.options,
        "limits": {
            "seconds": resources.seconds,
            "memory_bytes": resources.memory_bytes,
            "processes": resources.processes,
            "output_bytes": resources.output_bytes,
            "threads": resources.cpus,
        },
        "inputs": descriptions,
        "trace": trace,
    }


def _must_match(planned: PlannedJob, dataset: str, split: str) -> None:
    for kind, digest, planned_digest in (
        ("dataset", dataset, planned.dataset_digest),
        ("split", split, planned.split_digest),
    ):
        if digest != planned_digest:
            raise CorruptData(
                f"the {kind} is not the one that was planned",
                where=f"{planned.job.label}: {digest[:16]} instead of {planned_digest[:16]}",
                todo="run `harness data verify` and `harness split verify`",
            )
