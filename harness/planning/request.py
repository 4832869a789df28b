"""A request beside the suites: methods, datasets, splits and seeds by name, and the jobs they make together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any, overload

from harness import benchmarks
from harness.base.errors import CorruptData, DataError, MissingData, UsageError
from harness.base.layout import Layout
from harness.data import DatasetManifest, load_manifest
from harness.images import folder_tree
from harness.images.identity import code_folders, sdk_folders
from harness.images.sources import SUFFIXES, code_files
from harness.methods.card import MethodCard, load_method, load_methods
from harness.planning.jobs import Job, make_job
from harness.planning.published_seeds import first_published
from harness.splits import split_digest
from harness.splits.spec import SplitSpec, parse_split
from harness.splits.strategies import parameters_of


@dataclass(frozen=True, kw_only=True)
class Request:
    """Every method on every dataset, split and seed. Seeds are named, or the first so many published ones."""

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    splits: tuple[str, ...] = ("random",)
    seeds: tuple[int, ...] = ()
    published_seeds: int | None = None
    variant: str = "published"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, int] = field(default_factory=dict)
    # a person's own checkout of the authors' code
    upstream: Path | None = None


def requested_jobs(layout: Layout, request: Request) -> Sequence[Job]:
    """The jobs, seed by seed: stopped at any time, every method has about as many."""
    # a name that nobody has is told first: what is missing is added to a request whose names are right
    manifests = [load_manifest(layout, dataset) for dataset in request.datasets]
    cards = [load_method(layout, method) for method in request.methods]
    seeds = request.seeds or request.published_seeds
    for name, value in (("--method", request.methods), ("--dataset", request.datasets), ("--seed", seeds)):
        if not value:
            raise UsageError(
                f"{name} is missing",
                todo="name a --suite, or --method, --dataset and --seed (or --published-seeds)",
            )
    _refuse_strangers(layout, manifests, cards)
    upstream = upstream_tree(layout, request.upstream, request.methods) if request.upstream else ""
    by_benchmark = {one.benchmark: _seeds(one.benchmark, request) for one in manifests}
    rows = list(zip(*by_benchmark.values(), strict=True))
    first = dict(zip(by_benchmark, rows[0], strict=True))
    jobs = [
        make_job(
            card,
            manifest,
            parse_split(split, first[manifest.benchmark]),
            variant=request.variant,
            chosen=request.parameters,
            options=request.options,
            upstream=upstream,
        )
        for manifest, split, card in product(manifests, request.splits, cards)
    ]
    for job in jobs:
        check = getattr(benchmarks.part(job.benchmark, "requests"), "check", None)
        if check is not None:
            check(parameters_of(job.benchmark, job.split), job.options)
    return _WithSeeds(jobs, tuple(by_benchmark), rows)


@dataclass(frozen=True)
class _WithSeeds(Sequence[Job]):
    """Jobs with one row of seeds after the other, each made when it is looked at: there may be a million."""

    jobs: list[Job]
    benchmarks: tuple[str, ...]
    rows: list[tuple[int, ...]]

    def __len__(self) -> int:
        return len(self.jobs) * len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Job: ...
    @overload
    def __getitem__(self, place: slice) -> list[Job]: ...
    def __getitem__(self, place: int | slice) -> Job | list[Job]:
        """One job, or some."""
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        row, column = divmod(range(len(self))[place], len(self.jobs))
        job = self.jobs[column]
        seed = self.rows[row][self.benchmarks.index(job.benchmark)]
        split = SplitSpec(strategy=job.split.strategy, seed=seed, parameters=job.split.parameters)
        return job.model_copy(update={"split": split})


def refuse_impossible_splits(layout: Layout, jobs: Iterable[Job], mirrors: Sequence[Path] = ()) -> None:
    """Raise `UsageError` for a split that can't be made of its data with the parameters that were given.

    Without any, the data are at fault: `DataError`. What is missing or corrupt is no such fault: a cell says so
    with its verdict, and others are run.
    """
    seen: set[tuple[str, str]] = set()
    for job in jobs:
        if (split := (job.dataset, job.split.label)) in seen:
            continue
        seen.add(split)
        try:
            split_digest(layout, job.dataset, job.split, mirrors)
        except (MissingData, CorruptData):
            continue
        except DataError as error:
            if not job.split.parameters:
                raise
            raise UsageError(error.what, where=error.where, todo=error.todo) from None


def _refuse_strangers(layout: Layout, manifests: Sequence[DatasetManifest], cards: Sequence[MethodCard]) -> None:
    """Refuse a method that can run on none of the datasets: it was named by mistake."""
    asked = sorted({manifest.benchmark for manifest in manifests})
    for card in cards:
        if not set(card.benchmarks) & set(asked):
            names = [one.name for benchmark in asked for one in load_methods(layout, benchmark)]
            raise UsageError(
                f"{card.title} does not belong to benchmark {' or '.join(asked)}",
                where=f"--method {card.name} --dataset {' '.join(one.name for one in manifests)}",
                todo=f"choose one of its methods: {', '.join(names)}",
            )


def _seeds(benchmark: str, request: Request) -> tuple[int, ...]:
    if request.published_seeds is None:
        return request.seeds
    if request.seeds:
        raise UsageError("seeds are named twice", where="--seed and --published-seeds", todo="give one of the two")
    return first_published(benchmark, request.published_seeds)


def upstream_tree(layout: Layout, folder: Path, methods: Iterable[str]) -> str:
    """The tree hash of a checkout; one that replaces no file of a method is refused, since our code would run."""
    for method in methods:
        if not replaces_code(layout, folder, method):
            names = replaceable(layout, method)
            todo = f"give the folder that itself holds one of these files: {', '.join(names)}"
            raise UsageError(
                f"the checkout replaces nothing of '{method}', so that our own code would run",
                where=f"--upstream {folder}",
                todo=todo if names else "leave --upstream out: this method has no file beside its main one",
            )
    return folder_tree(folder)


def replaces_code(layout: Layout, folder: Path, method: str) -> bool:
    """Whether a checkout replaces some file of a method."""
    return any(_replaces(folder, name) for name in replaceable(layout, method))


def replaceable(layout: Layout, method: str) -> list[str]:
    """The files of a method that a checkout can replace: all but its main file, which is always ours."""
    card = load_method(layout, method)
    suffixes, sdk = SUFFIXES[card.language], sdk_folders(layout, card)
    folders = [folder for folder in code_folders(layout, method) if folder not in sdk]
    files = [PurePosixPath(name) for folder in folders for name in code_files(folder)]
    return [str(file) for file in files if file.suffix in suffixes and file.stem != "main"]


def _replaces(folder: Path, name: str) -> bool:
    """Whether a checkout has a file of this name, or Python's package of it.

    Links are never taken along, nor what lies behind one.
    """
    candidates = [PurePosixPath(name)]
    if name.endswith(".py"):
        candidates.append(PurePosixPath(name).with_suffix("") / "__init__.py")
    return any(
        (folder / path).is_file() and not any((folder / part).is_symlink() for part in (path, *path.parents[:-1]))
        for path in candidates
    )
