"""What a plan needs on this machine: data, disk, hours. It is computed before anything runs."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from harness.base.errors import EngineError
from harness.base.layout import Layout
from harness.base.machine import reserve_of
from harness.base.vocabulary import Accelerator, Verdict
from harness.data import load_manifest
from harness.images import recorded_size
from harness.planning.budget import this_machine
from harness.planning.jobs import Job, card_of
from harness.planning.plan import Cell

# Method, variant and dataset: runs that take about as long as each other.
RunKind = tuple[str, str, str]

# Logs, records and scores of one run, beside its predictions.
_BESIDE_PREDICTIONS = 64 << 10


@dataclass(frozen=True)
class Needs:
    """Numbers for a person to decide by."""

    plan: str
    planned: int
    left: int
    # cells for which no run can be planned at all, by verdict: their data is missing, their method refuses
    cannot_run: dict[str, int]
    image_bytes: int
    data_bytes: int
    result_bytes: int
    free_bytes: int
    cpu_hours: float
    measured: int
    most_cpu_hours: float
    cpus: int

    @property
    def disk_bytes(self) -> int:
        """Everything that will lie on disk."""
        return self.image_bytes + self.data_bytes + self.result_bytes

    def disk(self) -> str:
        """How much will lie on disk, and how much is free."""
        return (
            f"disk: {_gigabytes(self.disk_bytes)} (images {_gigabytes(self.image_bytes)}, data "
            f"{_gigabytes(self.data_bytes)}, results {_gigabytes(self.result_bytes)}); "
            f"free here: {_gigabytes(self.free_bytes)}"
        )

    def text(self) -> str:
        """For a terminal."""
        lines = [
            f"{self.plan}: {self.planned} cells planned, {self.left} left{self._cannot_run()}",
            f"  {self.disk()}",
        ]
        if self.left:
            lines.append(f"  time: {self._time()}")
            lines.append(f"  start or resume it with: ./run_all.sh --suite {self.plan}")
        return "\n".join(lines)

    def _cannot_run(self) -> str:
        counts = [f"{count} {verdict}" for verdict, count in sorted(self.cannot_run.items())]
        return f", {' and '.join(counts)}" if counts else ""

    def _time(self) -> str:
        unmeasured = self.left - self.measured
        estimate = (
            f"about {self.cpu_hours / self.cpus:.1f} h on {self.cpus} CPUs for {self.measured} of {self.left} runs"
        )
        most = f"at most {self.most_cpu_hours / self.cpus:.0f} h by the limits of the method cards"
        if not unmeasured:
            return estimate
        if not self.measured:
            return f"not measured here yet; {most}"
        return f"{estimate}, the other {unmeasured} not measured here yet; {most}"


def needs_of(layout: Layout, name: str, cells: Sequence[Cell]) -> Needs:
    """What the cells that are left would need, as far as it is known before they run."""
    left = [cell for cell in cells if cell.can_run and not cell.verdict.is_final]
    seconds = measured_seconds(cells)
    durations = [seconds[kind] for cell in left if (kind := kind_of(cell.job)) in seconds]
    layout.local.mkdir(parents=True, exist_ok=True)

    def result_bytes(job: Job) -> int:
        return load_manifest(layout, job.dataset).statistics.result_bytes(job.options) + _BESIDE_PREDICTIONS

    def most_cpu_seconds(job: Job) -> int:
        resources = card_of(layout, job).resources
        return resources.seconds * resources.cpus

    return Needs(
        plan=name,
        planned=len(cells),
        left=len(left),
        cannot_run=dict(Counter(str(cell.verdict) for cell in cells if not cell.can_run)),
        image_bytes=_image_bytes(layout, left),
        data_bytes=sum(
            file.bytes
            for dataset in {cell.job.dataset for cell in left}
            for file in load_manifest(layout, dataset).files
        ),
        result_bytes=_total(left, lambda job: (job.dataset, *job.options.items()), result_bytes),
        free_bytes=shutil.disk_usage(layout.local).free,
        cpu_hours=sum(durations) / 3600,
        measured=len(durations),
        most_cpu_hours=_total(left, lambda job: (*kind_of(job), job.accelerator), most_cpu_seconds) / 3600,
        cpus=this_machine().cpus,
    )


def check_disk(layout: Layout, name: str, cells: Sequence[Cell]) -> Needs:
    """The needs of a plan; `EngineError` if it needs more disk than is free."""
    needs = needs_of(layout, name, cells)
    reserve = reserve_of(shutil.disk_usage(layout.local).total)
    if needs.left and needs.disk_bytes + reserve > needs.free_bytes:
        raise EngineError(
            f"{needs.plan} needs {_gigabytes(needs.disk_bytes)} of disk; {_gigabytes(needs.free_bytes)} are free, "
            f"of which {_gigabytes(reserve)} must stay free",
            where=str(layout.local),
            todo="free some (harness clean), move results with $PERMAFROST_RESULTS, or run one method at a time "
            "with --remove-images",
        )
    return needs


def measured_seconds(cells: Iterable[Cell]) -> dict[RunKind, float]:
    """The median wall seconds of what has been run here."""
    durations: dict[RunKind, list[float]] = {}
    for cell in cells:
        if cell.verdict is Verdict.OK and "wall_s" in cell.record.get("resources", {}):
            durations.setdefault(kind_of(cell.job), []).append(cell.record["resources"]["wall_s"])
    return {kind: median(values) for kind, values in durations.items()}


def kind_of(job: Job) -> RunKind:
    """Method, variant and dataset of a job."""
    return job.method, job.variant, job.dataset


def _image_bytes(layout: Layout, cells: Sequence[Cell]) -> int:
    methods: dict[Accelerator, set[str]] = {}
    for cell in cells:
        methods.setdefault(cell.job.accelerator, set()).add(cell.job.method)
    return sum(recorded_size(layout, names, accelerator) for accelerator, names in methods.items())


def _total(cells: Iterable[Cell], kind: Callable[[Job], Hashable], amount: Callable[[Job], int]) -> int:
    """The sum over cells of what all jobs of one kind have in common, computed once for each kind."""
    members: dict[Hashable, list[Job]] = {}
    for cell in cells:
        members.setdefault(kind(cell.job), []).append(cell.job)
    return sum(amount(jobs[0]) * len(jobs) for jobs in members.values())


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"
