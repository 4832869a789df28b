"""The plan: every cell of a suite, pinned by checksums, before anything runs. Results are joined to it later.

Planning needs no engine and no data: image trees are computed from the repository, dataset and split digests are
read from the manifests. So a missing cell is visible everywhere, with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Generic, TypeVar

from harness import benchmarks
from harness.base.errors import DataError, HarnessError, ImageError, MissingData, UsageError
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.base.vocabulary import Verdict
from harness.data import dataset_digest
from harness.images import image_tree
from harness.methods.card import load_method
from harness.methods.weights import weights_digest
from harness.planning.cells import Cell, Cells
from harness.planning.jobs import Job, PlannedJob
from harness.splits import known_split_digest, split_digest, split_digest_offline

# Jobs come seed by seed: the splits of earlier seeds are not asked for again.
_MOST_DIGESTS = 10_000
Digest = TypeVar("Digest")
_REFUSALS = {
    Verdict.NOT_APPLICABLE: UsageError,
    Verdict.MISSING_DATA: MissingData,
    Verdict.INFRASTRUCTURE: ImageError,
}


def pinned(cell: Cell) -> PlannedJob:
    """The job of a cell with its checksums; the error that fits where it can't be run."""
    if cell.planned is None:
        kind = _REFUSALS.get(cell.verdict, HarnessError)
        raise kind(
            f"{cell.verdict}: {cell.reason}",
            where=cell.job.label,
            todo="choose another job, or see `harness list`",
        )
    return cell.planned


@dataclass(frozen=True)
class Plan:
    """All cells of one request, in a fixed order."""

    name: str
    cells: Sequence[Cell]
    # the plan that this is a shard of
    part_of: Plan | None = None

    @property
    def whole(self) -> Plan:
        """The plan that all shards are of: itself, unless it is one."""
        return self.part_of or self

    def __post_init__(self) -> None:
        if twice := Cells.of(self.cells).twice():
            raise UsageError(
                "one run is planned twice",
                where=" and ".join(dict.fromkeys(cell.job.label for cell in twice)),
                todo="name every method, dataset and seed once; two names of the same data are the same run",
            )


def make_plan(
    layout: Layout, name: str, jobs: Iterable[Job], *, mirrors: Sequence[Path] = (), make_splits: bool = True
) -> Plan:
    """Pin every job down.

    A split that nobody has recorded is made where it never was, which may take data (of `mirrors` first), a
    container and minutes; without `make_splits` its cells stay without a key, and can't be run.
    """
    digest_of = partial(split_digest, mirrors=mirrors) if make_splits else known_split_digest
    planner = _Planner(layout, digest_of, mirrors)
    with activity(f"planning {name}"):
        return Plan(name=name, cells=Cells(planner.cell(job) for job in jobs))


class Present:
    """Compares jobs that were planned before with the code, images, data and splits of today."""

    def __init__(self, layout: Layout) -> None:
        self._planner = _Planner(layout, split_digest_offline)

    def planned(self, job: Job) -> PlannedJob | None:
        """The job with the checksums of today; None where it can't be pinned down any more."""
        cell = self.cell(job)
        return cell.planned if cell else None

    def holds(self, planned: PlannedJob) -> bool:
        """Whether the job, planned anew, is pinned to the same checksums."""
        return self.planned(planned.job) == planned

    def holds_as_usual(self, planned: PlannedJob) -> bool:
        """Whether it also was our own code on the CPU, with the card's own parameters.

        What a GPU computed is no reference: only the CPU's answers can be had again bit for bit.
        """
        job = planned.job
        if job.marks or not self.holds(planned):
            return False
        return job.parameters == self._planner.card(job.method).variant(job.variant).parameters

    def tree(self, method: str) -> str:
        """The tree of a method's image."""
        return self._planner.tree(method, "cpu")

    def cell(self, job: Job) -> Cell | None:
        """The job as it is planned today, also where it can't be run; None where there is no such job any more."""
        if job.benchmark not in benchmarks.names():
            return None
        try:
            return self._planner.cell(job)
        except UsageError:
            return None


class _Digests(Generic[Digest]):
    """Digests that many cells share, or why there is none: what is not here is looked for once, not for each."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Digest | DataError] = {}

    def of(self, name: Hashable, find: Callable[[], Digest]) -> Digest:
        """The digest of what has this name."""
        if name not in self._known:
            if len(self._known) == _MOST_DIGESTS:
                self._known.clear()
            try:
                self._known[name] = find()
            except DataError as error:
                self._known[name] = error
        if isinstance(digest := self._known[name], DataError):
            raise digest.with_traceback(None)
        return digest


class _Planner:
    """Remembers the checksums that many cells share."""

    def __init__(self, layout: Layout, digest_of: Callable[..., str | None], mirrors: Sequence[Path] = ()) -> None:
        self.card = cache(partial(load_method, layout))
        self.tree = cache(partial(image_tree, layout))
        self._of_card = cache(self._card_says)
        self._find_dataset = partial(dataset_digest, layout, mirrors=mirrors)
        self._find_weights = partial(weights_digest, layout)
        self._find_split = partial(digest_of, layout)
        self._datasets, self._weights, self._splits = _Digests[str](), _Digests[str](), _Digests[str | None]()

    def cell(self, job: Job) -> Cell:
        refusal, weights = self._of_card(job.benchmark, job.method, job.variant, job.dataset)
        if refusal:
            return Cell(job, None, Verdict.NOT_APPLICABLE, refusal)
        try:
            name = (job.dataset, job.split.label)
            if (split := self._splits.of(name, lambda: self._find_split(job.dataset, job.split))) is None:
                return Cell(job, None, Verdict.PENDING, "its split was never made here")
            planned = PlannedJob(
                job=job,
                image_tree=self.tree(job.method, job.accelerator),
                dataset_digest=self._datasets.of(job.dataset, lambda: self._find_dataset(job.dataset)),
                split_digest=split,
                weights_digest=self._weights.of(weights, lambda: self._find_weights(weights)) if weights else "",
            )
        except DataError as error:
            todo = f"; to do: {error.todo}" if error.todo else ""
            return Cell(job, None, Verdict.MISSING_DATA, f"{error.what}{todo}")
        except ImageError as error:
            return Cell(job, None, Verdict.INFRASTRUCTURE, error.what)
        return Cell(job, planned)

    def _card_says(self, benchmark: str, method: str, variant: str, dataset: str) -> tuple[str, str]:
        """Why a method can't be run on a dataset, empty where it can, and the pretrained model it would read."""
        card = self.card(method)
        weights = card.weights_of(variant)
        if benchmark not in card.benchmarks:
            return f"{card.title} does not belong to benchmark {benchmark}", weights
        return card.refusal(dataset, variant) or "", weights
