"""What a plan needs on this machine: data, disk, hours. It is computed before anything runs."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import MappingProxyType

from harness.base.errors import EngineError
from harness.base.layout import Layout
from harness.base.machine import reserve_of
from harness.base.plurals import counted
from harness.base.tables import wrapped
from harness.base.vocabulary import Accelerator, Verdict
from harness.data import load_manifest
from harness.data.sources import local_copy
from harness.images import built_size, recorded_size
from harness.planning.budget import this_machine
from harness.planning.cells import Cell, Cells
from harness.planning.jobs import Job, card_of

# Method, variant and dataset: runs that take about as long as each other.
RunKind = tuple[str, str, str]

# The name of a plan that is no suite's.
REQUEST = "request"
# Stands between the name of a suite and what its plan was narrowed to.
PART = ", only "
# Two machines are compared by so many kinds of run at least, each of which takes more seconds than starting does.
_FEWEST_KINDS, _SHORTEST = 3, 2.0
_WIDTH = 100
_NO_SECONDS: Mapping[RunKind, float] = MappingProxyType({})

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
    # of images and data what lies here already
    here_bytes: int = 0
    # how many of the others have a reference result like them, and the hours these would take here
    estimated: int = 0
    estimated_cpu_hours: float = 0.0
    # this machine's seconds by those of the reference results; None where too little was run here to tell
    scale: float | None = None
    # of the runs whose time is known or estimated, the longest
    longest_hours: float = 0.0
    # the longest that any run may take, by the limit of its card
    longest_limit_hours: float = 0.0

    @property
    def disk_bytes(self) -> int:
        """Everything that will lie on disk."""
        return self.image_bytes + self.data_bytes + self.result_bytes

    def disk(self) -> str:
        """How much will lie on disk, and how much is free."""
        here = f", {_gigabytes(self.here_bytes)} of it here already" if self.here_bytes else ""
        return (
            f"disk: {_gigabytes(self.disk_bytes)} (images {_gigabytes(self.image_bytes)}, data "
            f"{_gigabytes(self.data_bytes)}, results {_gigabytes(self.result_bytes)}){here}; "
            f"free here: {_gigabytes(self.free_bytes)}"
        )

    def text(self, *, options: str = "", start: str = "") -> str:
        """For a terminal; `start` runs what is left, else the command of the suite, with its `options`."""
        lines = [
            f"{self.plan}: {counted(self.planned, 'cell')} planned, {self.left} left{self._cannot_run()}",
            f"  {self.disk()}",
        ]
        if self.left:
            lines += wrapped(self.time(), "  ", _WIDTH)
        if command := start or self._command(options):
            lines += [f"  start or resume it with: {command}"] if self.left else []
        return "\n".join(lines)

    def _command(self, options: str) -> str:
        """What starts the plan; empty where that takes more than one command may say."""
        if PART in self.plan:
            return ""
        if self.plan == REQUEST:
            return "harness run with the same options"
        return " ".join(["./run_all.sh", "--suite", self.plan, *filter(None, [options])])

    def _cannot_run(self) -> str:
        counts = [f"{count} {verdict}" for verdict, count in sorted(self.cannot_run.items())]
        return f", {' and '.join(counts)}" if counts else ""

    def time(self) -> str:
        """How long it would take, and where that is known from."""
        limit = max(self.most_cpu_hours / self.cpus, self.longest_limit_hours)
        most = f"at most {_duration(limit)} by the limits of the method cards"
        known = self.measured + self.estimated
        if not known:
            return f"time: not measured here yet; {most}"
        # however many processors there are, the longest run takes its time
        hours = max((self.cpu_hours + self.estimated_cpu_hours) / self.cpus, self.longest_hours)
        runs = f"{known} of {counted(self.left, 'run')}"
        text = f"time: about {_duration(hours)} on {counted(self.cpus, 'CPU')} for {runs}"
        if self.estimated:
            text += f"; {self.estimated} estimated from the reference results, {self._scaling()}"
        unknown = self.left - known
        return f"{text}, the other {unknown} not measured here yet; {most}" if unknown else text

    def _scaling(self) -> str:
        if self.scale is None:
            return "as if this machine were as fast as the one that made them"
        return f"times {self.scale:.2g}: so much longer this machine took for the same"


def needs_of(
    layout: Layout, name: str, cells: Sequence[Cell], reference: Mapping[RunKind, float] = _NO_SECONDS
) -> Needs:
    """What the cells that are left would need, as far as it is known before they run.

    `reference`: CPU seconds that runs took elsewhere, for those of which there is none here.
    """
    left = _left(cells)
    seconds = measured_seconds(cells)
    durations = [seconds[kind] for cell in left if (kind := run_kind(cell.job)) in seconds]
    scale = _scale(_cpu_seconds(cells), reference)
    # reference results are of the CPU: they tell nothing of a GPU
    others = [cell.job for cell in left if run_kind(cell.job) not in seconds and cell.job.accelerator == "cpu"]
    factor = 1.0 if scale is None else scale
    estimates = [reference[kind] for job in others if (kind := run_kind(job)) in reference]
    kinds = {run_kind(cell.job): cell.job for cell in left}
    limits = [card_of(layout, job).resources.seconds for job in kinds.values()]
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
        most_cpu_hours=_total(left, run_kind, most_cpu_seconds) / 3600,
        cpus=this_machine().cpus,
        here_bytes=_built_bytes(layout, left) + _data_bytes_here(layout, left),
        estimated=len(estimates),
        estimated_cpu_hours=sum(estimates) * factor / 3600,
        scale=scale if estimates else None,
        longest_hours=max([*durations, *(one * factor for one in estimates)], default=0.0) / 3600,
        longest_limit_hours=max(limits, default=0) / 3600,
    )


def check_disk(
    layout: Layout,
    name: str,
    cells: Sequence[Cell],
    reference: Mapping[RunKind, float] = _NO_SECONDS,
    *,
    one_method_at_a_time: bool = False,
) -> Needs:
    """The needs of a plan, see `needs_of`; `EngineError` if it needs more of a disk than is free.

    Images and data lie in the cache, which may have a disk of its own; those that are there take no more room.
    With `one_method_at_a_time` there are never the images of more than one.
    """
    needs = needs_of(layout, name, cells, reference)
    if not needs.left:
        return needs
    left = _left(cells)
    images = needs.image_bytes - _built_bytes(layout, left)
    advice = ["run one method at a time with --remove-images"]
    if one_method_at_a_time:
        images, advice = _most_unbuilt_bytes(layout, left), []
    cached = images + needs.data_bytes - _data_bytes_here(layout, left)
    results = needs.result_bytes
    move_results, move_cache = (
        "move results with $PERMAFROST_RESULTS",
        "move images and data with $PERMAFROST_CACHE",
    )
    cache = next(folder for folder in (layout.cache, *layout.cache.parents) if folder.exists())
    if cache.stat().st_dev == layout.local.stat().st_dev:
        _check_room(needs, cached + results, needs.free_bytes, layout.local, [move_results, *advice])
    else:
        _check_room(needs, cached, shutil.disk_usage(cache).free, cache, [move_cache, *advice])
        _check_room(needs, results, needs.free_bytes, layout.local, [move_results])
    return needs


def _check_room(needs: Needs, wanted: int, free: int, folder: Path, advice: Sequence[str]) -> None:
    """Raise `EngineError` if so many bytes and the reserve do not fit on the disk of a folder."""
    reserve, ways = reserve_of(shutil.disk_usage(folder).total), ["free some (harness clean)", *advice]
    if wanted + reserve > free:
        raise EngineError(
            f"{needs.plan} needs {_gigabytes(wanted)} of disk; {_gigabytes(free)} are free, "
            f"of which {_gigabytes(reserve)} must stay free",
            where=str(folder),
            todo=f"{', '.join(ways[:-1])}, or {ways[-1]}",
        )


def measured_seconds(cells: Iterable[Cell]) -> dict[RunKind, float]:
    """The median wall seconds of what has been run here."""
    return _medians(cells, "wall_s")


def _cpu_seconds(cells: Iterable[Cell]) -> dict[RunKind, float]:
    """The median CPU seconds of what has been run here, on the CPU."""
    return _medians(Cells.of(cells).where(lambda cell: cell.job.accelerator == "cpu"), "cpu_s")


def _medians(cells: Iterable[Cell], resource: str) -> dict[RunKind, float]:
    durations: dict[RunKind, list[float]] = {}
    for cell in Cells.of(cells).recorded():
        spent = cell.record.get("resources", {}).get(resource)
        # a run that is wanted again is pending, and its record tells how it ended; where the kernel could not be
        # read, a record says None of what was spent
        if cell.record.get("verdict", cell.verdict) == Verdict.OK and isinstance(spent, int | float):
            durations.setdefault(run_kind(cell.job), []).append(spent)
    return {kind: median(values) for kind, values in durations.items()}


def _scale(here: Mapping[RunKind, float], reference: Mapping[RunKind, float]) -> float | None:
    """The median of how much longer kinds of runs took here than there; None if too few were run in both."""
    both = [(own, there) for kind, own in here.items() if (there := reference.get(kind, 0.0)) >= _SHORTEST]
    ratios = [own / there for own, there in both]
    return median(ratios) if len(ratios) >= _FEWEST_KINDS else None


def run_kind(job: Job) -> RunKind:
    """Method, variant and dataset of a job."""
    return job.method, job.variant, job.dataset


def _left(cells: Iterable[Cell]) -> list[Cell]:
    """The cells that can be run, and have not ended for good."""
    return [cell for cell in cells if cell.can_run and not cell.verdict.is_final]


def _image_bytes(layout: Layout, cells: Iterable[Cell]) -> int:
    """Bytes of all images; what several methods share is counted once."""
    return sum(recorded_size(layout, names, accelerator) for accelerator, names in _methods(cells))


def _built_bytes(layout: Layout, cells: Iterable[Cell]) -> int:
    """Bytes of those images that are here."""
    return sum(built_size(layout, names, accelerator) for accelerator, names in _methods(cells))


def _methods(cells: Iterable[Cell]) -> Iterable[tuple[Accelerator, set[str]]]:
    methods: dict[Accelerator, set[str]] = {}
    for cell in cells:
        methods.setdefault(cell.job.accelerator, set()).add(cell.job.method)
    return methods.items()


def _most_unbuilt_bytes(layout: Layout, cells: Iterable[Cell]) -> int:
    """Bytes still to be built for the one method that lacks most, in all variants that the cells ask for."""
    methods: dict[str, list[Cell]] = {}
    for cell in cells:
        methods.setdefault(cell.job.method, []).append(cell)
    return max((_image_bytes(layout, own) - _built_bytes(layout, own) for own in methods.values()), default=0)


def _data_bytes_here(layout: Layout, cells: Iterable[Cell]) -> int:
    """Bytes of the files of the cells' datasets that were got before."""
    return sum(
        file.bytes
        for dataset in {cell.job.dataset for cell in cells}
        for file in load_manifest(layout, dataset).files
        if local_copy(layout, dataset, file)
    )


def _total(cells: Iterable[Cell], kind: Callable[[Job], Hashable], amount: Callable[[Job], int]) -> int:
    """The sum over cells of what all jobs of one kind have in common, computed once for each kind."""
    members: dict[Hashable, list[Job]] = {}
    for cell in cells:
        members.setdefault(kind(cell.job), []).append(cell.job)
    return sum(amount(jobs[0]) * len(jobs) for jobs in members.values())


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"


def _duration(hours: float) -> str:
    if hours < 1 / 60:
        # starting containers takes longer than such runs
        return "a minute"
    if hours < 1:
        return f"{hours * 60:.0f} min"
    return f"{hours:.1f} h" if hours < 10 else f"{hours:.0f} h"
