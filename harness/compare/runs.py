"""Our side of a comparison: the stored runs that claims are compared with, and their scores.

A run counts if our own code made it, on the CPU, in the present image, on the present dataset and split, with the
parameters that the card gives for its variant. The variant is that of the claims, or one that is shown beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.base.errors import DataError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare.names import PublishedNames, Target
from harness.methods.card import load_methods, method_names
from harness.planning.jobs import Job, PlannedJob
from harness.planning.plan import Present
from harness.results.reference import ReferenceResult, load_reference
from harness.results.scoring import read_scores, score_run, scored_files, without_truth
from harness.results.store import Store
from harness.splits.spec import SplitSpec, parse_split


@dataclass(frozen=True)
class Obtained:
    """One of our runs. `metrics` is None while it is not scored, with the reason in `unscored`."""

    key: str
    verdict: Verdict
    reason: str
    metrics: dict[str, float | None] | None
    notes: dict[str, str]
    unscored: str = ""
    # whether it is a committed reference result, not a run of this machine
    reference: bool = False
    # CPU seconds of the whole container: reading, every inner model, predicting
    cpu_s: float | None = None
    # peak memory in bytes
    memory: int | None = None
    # split and seed, where the run is one of the tasks that a published name stands for
    task: tuple[str, int] | None = None


Runs = dict[Target, dict[int, Obtained]]


def obtain(
    layout: Layout,
    store: Store,
    names: PublishedNames,
    mirrors: Sequence[Path] = (),
    read: Mapping[str, dict[str, Any]] = MappingProxyType({}),
    present: Present | None = None,
    methods: Collection[str] = (),
) -> dict[str, Runs]:
    """The runs by variant, target and seed: those of this machine, and reference results where there is none.

    `methods`: of these, or of all. `read` holds records, by key, that were just read and checked; they are not
    read again. One `present` may serve several benchmarks.
    """
    current = _Current(layout, names, present or Present(layout), methods)
    runs: dict[str, Runs] = {variant: {} for variant in current.variants}
    for key in store.finished():
        content = read.get(key) or store.standing(key).content
        if not content or not current.may_have(content["planned"]):
            continue
        planned = PlannedJob.model_validate(content["planned"])
        # a run with another key had its inputs prepared in an older way; only a known benchmark has keys
        if current.has(planned) and planned.key == key:
            run = _our_run(layout, store, planned, content, mirrors)
            _seeds(runs, planned.job)[planned.job.split.seed] = run
    for entry in load_reference(layout, names.benchmark, methods=methods).values():
        if current.may_have(entry.content["planned"]) and current.has(planned := entry.planned):
            _seeds(runs, planned.job).setdefault(planned.job.split.seed, _reference_run(entry))
    for of_variant in runs.values():
        of_variant |= of_tasks(of_variant, names)
    for variant, own in runs.items():
        named = (replace(target, variant=variant) for target in own)
        runs[names.variant] |= {
            target: own[replace(target, variant="")] for target in named if target.row in names.methods.values()
        }
    return runs


def _seeds(runs: dict[str, Runs], job: Job) -> dict[int, Obtained]:
    """The runs of a job by seed."""
    return runs[job.variant].setdefault(Target(job.method, job.dataset, job.split.text), {})


def of_tasks(runs: Runs, names: PublishedNames) -> Runs:
    """The runs of all splits that a published name stands for, numbered in the order of splits and seeds."""
    tasks: Runs = {}
    for pattern in {text for text in names.splits.values() if "*" in text}:
        for target, seeds in sorted(runs.items(), key=lambda item: item[0].split or ""):
            if target.split and is_like(target.split, pattern):
                numbered = tasks.setdefault(Target(target.method, target.dataset, pattern), {})
                own = (replace(run, task=(target.split, seed)) for seed, run in sorted(seeds.items()))
                numbered |= dict(enumerate(own, len(numbered)))
    return tasks


@cache
def _parsed(split: str) -> SplitSpec:
    return parse_split(split, 0)


@cache
def is_like(split: str, pattern: str) -> bool:
    """Whether a split has the pattern's strategy and parameters; `*` stands for any text in a value."""
    one, wanted = _parsed(split), _parsed(pattern)
    return (one.strategy, one.parameters.keys()) == (wanted.strategy, wanted.parameters.keys()) and all(
        fnmatchcase(str(value), str(wanted.parameters[name])) for name, value in one.parameters.items()
    )


class _Current:
    """Decides which runs count: those of the present repository, and of the kind that the claims are about."""

    def __init__(self, layout: Layout, names: PublishedNames, present: Present, methods: Collection[str]) -> None:
        self._names = names
        self.variants = names.variants
        # controls are shown beside the paper's methods, and never enter its statistics
        controls = {card.name for card in load_methods(layout, names.benchmark) if card.control}
        published = {*names.own_methods, *(name.partition("/")[0] for name in names.methods.values())}
        self._methods = published.intersection(method_names(layout)) | controls
        if methods:
            self._methods &= {*methods}
        self._present = present

    def may_have(self, planned: dict[str, Any]) -> bool:
        """Whether a run may count, by its method and image: a cheap check before it is validated."""
        method = planned["job"]["method"]
        return method in self._methods and planned["image_tree"] == self._present.tree(method)

    def has(self, planned: PlannedJob) -> bool:
        """Whether a run that may count does."""
        job, names = planned.job, self._names
        if (job.benchmark, job.options) != (names.benchmark, names.options) or job.variant not in self.variants:
            return False
        # a run without truth is what `harness predict` made
        return not without_truth(job) and self._present.holds_as_usual(planned)


def _our_run(
    layout: Layout, store: Store, planned: PlannedJob, content: dict[str, Any], mirrors: Sequence[Path]
) -> Obtained:
    verdict, reason = Verdict(content["verdict"]), content["reason"]
    if verdict is not Verdict.OK:
        return Obtained(planned.key, verdict, reason, None, {})
    try:
        evidence = scored_files(planned.job.benchmark, content["files"])
        scores = read_scores(layout, planned.key, planned.job.benchmark, evidence)
        scores = scores or score_run(layout, store, planned, mirrors)
    except DataError as error:
        return Obtained(planned.key, verdict, reason, None, {}, unscored=f"{error.what} ({error.where})")
    return Obtained(planned.key, verdict, reason, scores.every, scores.notes, **_resources(content))


def _reference_run(entry: ReferenceResult) -> Obtained:
    key, verdict, reason = entry.content["key"], Verdict(entry.content["verdict"]), entry.content["reason"]
    if entry.scores is None:
        return Obtained(key, verdict, reason, None, {}, reference=True)
    if (scores := entry.fresh_scores) is None:
        why_not = "the reference result was scored by other metrics than the present ones"
        return Obtained(key, verdict, reason, None, {}, unscored=why_not, reference=True)
    return Obtained(key, verdict, reason, scores.every, scores.notes, reference=True, **_resources(entry.content))


def _resources(content: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds and peak memory of a record."""
    resources = content["resources"]
    return {"cpu_s": resources.get("cpu_s"), "memory": resources.get("peak_bytes")}
