"""Our side of a comparison: the stored runs that a claim may be held against, and their scores.

Only runs of our own code on the CPU count, in the present images and on the present datasets and splits, of a
variant that the claims are about or that stands beside, with its own hyper-parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.base.errors import DataError
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.compare.names import PublishedNames, Target
from harness.images import image_tree
from harness.methods.card import load_method, load_methods, method_names
from harness.planning.jobs import Job, PlannedJob
from harness.planning.plan import Present
from harness.results.reference import ReferenceResult, load_reference
from harness.results.scoring import read_scores, score_run, scored_files, without_truth
from harness.results.store import Store


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
    # of the whole container: reading, every inner model, predicting
    cpu_s: float | None = None
    # the most bytes it held at once
    memory: int | None = None


Runs = dict[Target, dict[int, Obtained]]


def obtain(
    layout: Layout,
    store: Store,
    names: PublishedNames,
    mirrors: Sequence[Path] = (),
    read: Mapping[str, dict[str, Any]] = MappingProxyType({}),
) -> dict[str, Runs]:
    """The runs of the claims' variant, and of each that stands beside, by target and seed: those of this machine,
    and the reference results where it has none.

    `read` holds the fields of records, by key, that were just read and checked; they are not read again.
    """
    current = _Current(layout, names)
    found: dict[str, Runs] = {variant: {} for variant in current.variants}
    for key in store.finished():
        content = read.get(key) or store.standing(key).content
        if not content or not current.may_have(content["planned"]):
            continue
        planned = PlannedJob.model_validate(content["planned"])
        # other keys were made while inputs were prepared in another way: such a run is no run of today
        if planned.key == key and current.has(planned):
            run = _obtained(layout, store, planned, content, mirrors)
            _seeds(found, planned.job)[planned.job.split.seed] = run
    for entry in load_reference(layout, names.benchmark).values():
        if current.may_have(entry.content["planned"]) and current.has(planned := entry.planned):
            _seeds(found, planned.job).setdefault(planned.job.split.seed, _referred(entry))
    return found


def _seeds(found: dict[str, Runs], job: Job) -> dict[int, Obtained]:
    """Where the runs of a job with any seed stand."""
    return found[job.variant].setdefault(Target(job.method, job.dataset, job.split.text), {})


class _Current:
    """Knows which runs are of the present repository and of the claims' kind."""

    def __init__(self, layout: Layout, names: PublishedNames) -> None:
        self._layout = layout
        self._names = names
        self.variants = (names.variant, *names.beside)
        # controls stand beside the paper's methods, and never enter its statistics
        controls = {card.name for card in load_methods(layout, names.benchmark) if card.control}
        self._methods = (set(method_names(layout)) & set(names.methods.values())) | controls
        self._present = Present(layout)
        self._trees: dict[str, str] = {}

    def may_have(self, planned: dict[str, Any]) -> bool:
        """A cheap first look, before anything is validated."""
        method = planned["job"]["method"]
        return method in self._methods and planned["image_tree"] == self._tree(method)

    def has(self, planned: PlannedJob) -> bool:
        """Whether a run is of the present repository, and of the kind the claims are about."""
        job, names = planned.job, self._names
        if (job.benchmark, job.options) != (names.benchmark, names.options):
            return False
        if job.method not in self._methods or job.variant not in self.variants or job.marks:
            return False
        if without_truth(job):  # what `harness predict` ran
            return False
        card = load_method(self._layout, job.method)
        return (
            job.variant in card.variants
            and job.parameters == card.variants[job.variant].parameters
            and self._present.holds(planned)
        )

    def _tree(self, method: str) -> str:
        if method not in self._trees:
            self._trees[method] = image_tree(self._layout, method)
        return self._trees[method]


def _obtained(
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
    return Obtained(planned.key, verdict, reason, scores.every, scores.notes, **_used(content))


def _referred(entry: ReferenceResult) -> Obtained:
    key, verdict, reason = entry.content["key"], Verdict(entry.content["verdict"]), entry.content["reason"]
    if entry.scores is None:
        return Obtained(key, verdict, reason, None, {}, reference=True)
    if (scores := entry.fresh_scores) is None:
        told = "the reference result was scored by other metrics than the present ones"
        return Obtained(key, verdict, reason, None, {}, unscored=told, reference=True)
    return Obtained(key, verdict, reason, scores.every, scores.notes, reference=True, **_used(entry.content))


def _used(content: dict[str, Any]) -> dict[str, Any]:
    """What a record says of time and memory."""
    used = content["resources"]
    return {"cpu_s": used.get("cpu_s"), "memory": used.get("peak_bytes")}
