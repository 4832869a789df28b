"""Splits by name: made where needed, kept by checksum, refused when they differ from the recorded one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness import benchmarks
from harness.base.errors import CorruptData, DataError
from harness.base.files import digest_of, read_json, sha256_of, write_atomic, write_json
from harness.base.heartbeat import activity
from harness.base.layout import Layout
from harness.benchmarks import Split
from harness.data import dataset_digest, load_dataset, load_manifest
from harness.data.datasets import is_here
from harness.splits.checksums import Recorded, recorded_path, recorded_splits, spec_key
from harness.splits.spec import SplitSpec
from harness.splits.strategies import get_strategy, parameters_of, strategy_source


def split_digest(layout: Layout, dataset: str, spec: SplitSpec, mirrors: Sequence[Path] = ()) -> str:
    """The sha256 of a split's file: the recorded one, or that of the file, which is made if it is not there."""
    if line := recorded_split(layout, dataset, spec):
        return line.sha256
    return _unrecorded(layout, dataset, spec, mirrors)


def known_split_digest(layout: Layout, dataset: str, spec: SplitSpec) -> str | None:
    """The sha256 of a split's file where it is recorded or was made here before; nothing is made."""
    if line := recorded_split(layout, dataset, spec):
        return line.sha256
    return _note_digest(*_note(layout, dataset, spec, ()))


def split_digest_offline(layout: Layout, dataset: str, spec: SplitSpec) -> str | None:
    """As `split_digest`, where that takes no download: to look at what was run, nothing is fetched."""
    if digest := known_split_digest(layout, dataset, spec):
        return digest
    return split_digest(layout, dataset, spec) if is_here(layout, load_manifest(layout, dataset)) else None


def load_split(layout: Layout, dataset: str, spec: SplitSpec, mirrors: Sequence[Path] = ()) -> Split:
    """A split with the recorded checksum."""
    digest = split_digest(layout, dataset, spec, mirrors)
    path = split_path(layout, benchmark_of(layout, dataset), digest)
    if not path.is_file():
        split = make_split(layout, dataset, spec, mirrors)
        _keep(layout, dataset, spec, split)
        if split.digest != digest:
            raise CorruptData(
                f"split {spec.label} of dataset '{dataset}' came out different from the one made here before",
                where=f"{path.parent / 'made'}: {digest}, made: {split.digest}",
                todo=f"remove the folder {path.parent}, or use the environment it was made in",
            )
    return _read(layout, dataset, tuple(mirrors), path, digest, path.stat().st_mtime_ns)


def make_split(layout: Layout, dataset: str, spec: SplitSpec, mirrors: Sequence[Path] = ()) -> Split:
    """Make a split again, whatever is kept; nothing is compared or written."""
    name = benchmark_of(layout, dataset)
    strategy, parameters = get_strategy(name, spec.strategy), parameters_of(name, spec)
    data = load_dataset(layout, dataset, mirrors=mirrors)
    with activity(f"split {spec.label} of {dataset}"):
        try:
            made = strategy.make(data, spec.seed, parameters)
        except DataError as error:
            # what a library says is meant for programmers
            what = error.what.removesuffix(f": {error.__context__}")
            raise type(error)(f"split {spec.text}: {what}", where=error.where, todo=error.todo) from None
    # who predicts asks for what is no item of the dataset yet
    is_for_use = spec.strategy == benchmarks.get(name).scoring.predicting
    for count, use in ((made.training, "learn from"), (made.test, "test on")):
        if not count and not is_for_use:
            raise DataError(
                f"split {spec.label}: nothing is left to {use}",
                where=f"dataset {dataset}",
                todo="choose another split, other parameters, or data of more items",
            )
    return made


def verify_split(
    layout: Layout,
    dataset: str,
    spec: SplitSpec,
    split: Split,
    mirrors: Sequence[Path] = (),
    *,
    recorded: bool = True,
) -> list[str]:
    """Every promise the split breaks: of all splits, of its strategy, and if wanted its recorded checksum."""
    name = benchmark_of(layout, dataset)
    data, form = load_dataset(layout, dataset, mirrors=mirrors), benchmarks.get(name).form
    broken = form.broken_promises(split, data)
    if form.fits(split, data):
        strategy, parameters = get_strategy(name, spec.strategy), parameters_of(name, spec)
        with activity(f"promises of {spec.label} of {dataset}"):
            broken += strategy.broken_promises(data, split, parameters)
            if draws := getattr(strategy, "broken_draws", None):
                broken += draws(data, split, spec.seed, parameters)
    line = recorded_split(layout, dataset, spec) if recorded else None
    if line and line.sha256 != split.digest:
        broken.append(f"its sha256 is {split.digest}, recorded is {line.sha256}")
    return broken


def read_split_file(layout: Layout, dataset: str, path: Path, mirrors: Sequence[Path] = ()) -> Split:
    """A split of a dataset from a file anywhere, checked for its form."""
    form = benchmarks.get(benchmark_of(layout, dataset)).form
    return form.read(path, lambda: load_dataset(layout, dataset, mirrors=mirrors))


def describe_split(
    layout: Layout, dataset: str, spec: SplitSpec, split: Split, mirrors: Sequence[Path] = ()
) -> dict[str, Any]:
    """What a person wants to know of a split: tables of numbers, by name."""
    name = benchmark_of(layout, dataset)
    data, strategy = load_dataset(layout, dataset, mirrors=mirrors), get_strategy(name, spec.strategy)
    form = benchmarks.get(name).form
    if not form.fits(split, data):
        raise CorruptData(
            f"this is no split of dataset '{dataset}'",
            where=f"the file with sha256 {split.digest}",
            todo="name the dataset that it was made of",
        )
    return form.describe(split, data, strategy, parameters_of(name, spec))


def benchmark_of(layout: Layout, dataset: str) -> str:
    """The benchmark a dataset is of: it says what strategies there are, and the form of a split."""
    return load_manifest(layout, dataset).benchmark


def split_path(layout: Layout, benchmark: str, digest: str) -> Path:
    """Where a split's file is kept."""
    return layout.cache / "splits" / f"{digest}{benchmarks.get(benchmark).form.suffix}"


def complete(benchmark: str, spec: SplitSpec) -> SplitSpec:
    """The same split with every parameter spelled out."""
    return spec.model_copy(update={"parameters": parameters_of(benchmark, spec).model_dump(mode="json")})


def as_recorded(benchmark: str, spec: SplitSpec, split: Split) -> Recorded:
    """The line to be recorded for a split."""
    return Recorded(complete(benchmark, spec), split.training, split.test, split.digest)


def recorded_split(layout: Layout, dataset: str, spec: SplitSpec) -> Recorded | None:
    """What is published of a split, if it is; parameters need not be spelled out."""
    full = complete(benchmark_of(layout, dataset), spec)
    return recorded_splits(layout, dataset).get(spec_key(full.strategy, full.parameters, full.seed))


def _unrecorded(layout: Layout, dataset: str, spec: SplitSpec, mirrors: Sequence[Path]) -> str:
    """The sha256 of a split nobody has published: made once, then known by all that decides it."""
    path, content = _note(layout, dataset, spec, mirrors)
    if digest := _note_digest(path, content):
        return digest
    split = make_split(layout, dataset, spec, mirrors)
    _keep(layout, dataset, spec, split)
    write_json(path, {**content, "sha256": split.digest})
    return split.digest


def recipe_of(layout: Layout, dataset: str, spec: SplitSpec, mirrors: Sequence[Path] = ()) -> dict[str, Any]:
    """All that decides a split: the dataset's digest, every parameter, and the code of the strategy."""
    benchmark = benchmark_of(layout, dataset)
    full = complete(benchmark, spec)
    return {
        "dataset": dataset_digest(layout, dataset, mirrors=mirrors),
        "split": full.model_dump(mode="json"),
        "strategy": strategy_source(benchmark, full.strategy),
    }


def _note(layout: Layout, dataset: str, spec: SplitSpec, mirrors: Sequence[Path]) -> tuple[Path, dict[str, Any]]:
    """The note that a split was made here: its path, and its content, which is all that decides the split."""
    content = recipe_of(layout, dataset, spec, mirrors)
    return layout.cache / "splits" / "made" / f"{digest_of(content)}.json", content


def _note_digest(path: Path, content: dict[str, Any]) -> str | None:
    """The sha256 of a split that was made of exactly this content, if there was one."""
    note = read_json(path)
    if not isinstance(note, dict) or {**note, "sha256": ""} != {**content, "sha256": ""}:
        return None
    digest = note.get("sha256")
    return digest if isinstance(digest, str) else None


def _keep(layout: Layout, dataset: str, spec: SplitSpec, split: Split) -> None:
    """Write a split's file; one that differs from the published split is refused."""
    line = recorded_split(layout, dataset, spec)
    if line and line.sha256 != split.digest:
        raise CorruptData(
            f"split {spec.label} of dataset '{dataset}' came out different from the published one",
            where=f"{recorded_path(layout, dataset)}: {line.sha256}, made: {split.digest}",
            todo="use the locked environment of run_all.sh; a published split never changes",
        )
    benchmark = benchmark_of(layout, dataset)
    write_atomic(split_path(layout, benchmark, split.digest), benchmarks.get(benchmark).form.content(split))


@lru_cache(maxsize=64)
def _read(
    layout: Layout, dataset: str, mirrors: tuple[Path, ...], path: Path, digest: str, _changed: int
) -> Split:
    if sha256_of(path) != digest:
        raise CorruptData(
            "a split file was changed", where=str(path), todo="remove it; it will be made again from its recipe"
        )
    return read_split_file(layout, dataset, path, mirrors)
