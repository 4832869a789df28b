"""Runs on a GPU beside the same on the CPU, which is the reference: metric by metric, within what cards allow.

A GPU adds in another order, and training makes much of little: answers need not be equal bit for bit, and metrics
may differ as they do between seeds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.layout import Layout
from harness.base.plurals import counted
from harness.base.tables import aligned, markdown_table
from harness.base.vocabulary import Verdict
from harness.compare.names import is_of_split
from harness.methods.card import load_method
from harness.planning.jobs import Job, PlannedJob
from harness.planning.plan import Present
from harness.results.reference import reference_of
from harness.results.scoring import Scores, score_run
from harness.results.store import Store

_HEAD = ("metric", "CPU", "GPU", "difference", "allowed", "")


@dataclass(frozen=True)
class MetricPair:
    """A metric of a run on a GPU, and of the same run on the CPU. `allowed` is how far they may be apart."""

    label: str
    metric: str
    cpu: float | None
    gpu: float | None
    allowed: float
    keys: tuple[str, str]

    @property
    def difference(self) -> float | None:
        """The GPU's value less the CPU's, where both are defined."""
        return self.gpu - self.cpu if self.cpu is not None and self.gpu is not None else None

    @property
    def agrees(self) -> bool:
        """Whether both are undefined, or no further apart than allowed."""
        if self.difference is None:
            return self.cpu is self.gpu
        return abs(self.difference) <= self.allowed


@dataclass(frozen=True)
class Accelerators:
    """All pairs, and the runs on a GPU of which there is no run on the CPU."""

    pairs: list[MetricPair]
    alone: list[Job]

    @property
    def differing(self) -> list[MetricPair]:
        """The pairs that are further apart than allowed."""
        return [one for one in self.pairs if not one.agrees]


def compare_accelerators(
    layout: Layout,
    store: Store,
    benchmark: str,
    *,
    methods: Collection[str] = (),
    datasets: Collection[str] = (),
    splits: Collection[str] = (),
    seeds: Collection[int] = (),
    mirrors: Sequence[Path] = (),
) -> Accelerators:
    """The present repository's runs on a GPU, beside runs on the CPU of this machine, else of the references."""
    found, present = Accelerators([], []), Present(layout)
    for planned in _on_gpu(store, present):
        job = planned.job
        chosen = ((job.method, methods), (job.dataset, datasets), (job.split.seed, seeds))
        if job.benchmark != benchmark or any(among and value not in among for value, among in chosen):
            continue
        if splits and not is_of_split(job.split.text, splits):
            continue
        usual = present.planned(job.model_copy(update={"accelerator": "cpu"}))
        reference = _scores_on_cpu(layout, store, usual, mirrors) if usual else None
        if reference is None:
            found.alone.append(job)
            continue
        ours = score_run(layout, store, planned, mirrors)
        part = load_method(layout, job.method).gpu_tolerance
        found.pairs.extend(_pairs(job.label, reference, ours, part))
    return found


def _on_gpu(store: Store, present: Present) -> Iterator[PlannedJob]:
    """What ended ok on a GPU here, by code and data of today."""
    for key in store.finished():
        standing = store.standing(key)
        if standing.verdict is Verdict.OK and standing.content["planned"]["job"].get("accelerator") == "cuda":
            planned = PlannedJob.model_validate(standing.content["planned"])
            # what holds is of a benchmark that is known: only these have keys
            if present.holds(planned) and planned.key == key:
                yield planned


def _scores_on_cpu(layout: Layout, store: Store, planned: PlannedJob, mirrors: Sequence[Path]) -> Scores | None:
    if store.standing(planned.key).verdict is Verdict.OK:
        return score_run(layout, store, planned, mirrors)
    reference = reference_of(layout, planned)
    return reference.fresh_scores if reference else None


def _pairs(label: str, cpu: Scores, gpu: Scores, part: float) -> Iterator[MetricPair]:
    for metric in dict.fromkeys((*cpu.metrics, *gpu.metrics)):
        one, other = cpu.metrics.get(metric), gpu.metrics.get(metric)
        # of metrics without a bound a part of their own size
        allowed = part * max(1.0, abs(one or 0.0))
        yield MetricPair(label, metric, one, other, allowed, (cpu.key, gpu.key))


def to_text(found: Accelerators) -> str:
    """A table for each run, and what stands alone."""
    lines: list[str] = []
    for label, members in _by_run(found.pairs):
        rows = (_row(one) for one in members)
        lines += [label, *aligned([_HEAD, *rows], indent="  "), ""]
    return "\n".join([*lines, *_summary(found)]) + "\n"


def to_markdown(found: Accelerators) -> str:
    """The same for documents."""
    lines: list[str] = []
    for label, members in _by_run(found.pairs):
        lines += [f"## {label}", "", *markdown_table(_HEAD, (_row(one) for one in members)), ""]
    return "\n".join([*lines, *_summary(found)]) + "\n"


def to_json(found: Accelerators) -> dict[str, Any]:
    """For programs."""
    pairs = [pair_json(one) for one in found.pairs]
    return {"differing": len(found.differing), "pairs": pairs, "alone": [job.label for job in found.alone]}


def pair_json(one: MetricPair) -> dict[str, Any]:
    """One metric of two runs as JSON values."""
    return {
        "label": one.label,
        "metric": one.metric,
        "cpu": one.cpu,
        "gpu": one.gpu,
        "difference": one.difference,
        "allowed": one.allowed,
        "agrees": one.agrees,
        "keys": [*one.keys],
    }


def _by_run(pairs: Iterable[MetricPair]) -> Iterable[tuple[str, list[MetricPair]]]:
    runs: dict[tuple[str, ...], list[MetricPair]] = {}
    for one in pairs:
        runs.setdefault((one.label, *one.keys), []).append(one)
    return ((label, members) for (label, *_), members in runs.items())


def _row(one: MetricPair) -> tuple[str, ...]:
    numbers = (one.cpu, one.gpu, one.difference)
    texts = ("-" if value is None else f"{value:.6f}" for value in numbers)
    return one.metric, *texts, f"{one.allowed:.6f}", "" if one.agrees else "differs"


def _summary(found: Accelerators) -> list[str]:
    count = len({one.keys for one in found.pairs})
    if not count and not found.alone:
        return ["No such run was made on a GPU here: harness run --accelerator cuda makes them."]
    return [
        f"{counted(count, 'run')} on a GPU beside the CPU: "
        f"{len(found.differing)} of {counted(len(found.pairs), 'metric')} further apart than allowed",
        *(f"nothing on the CPU to compare with: {job.label}" for job in found.alone),
    ]
