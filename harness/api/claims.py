"""Published numbers beside ours."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from harness import benchmarks
from harness.api.repository import Names, Numbers, Repository, numbers, opened, several
from harness.base.errors import UsageError
from harness.base.few import few_in_line
from harness.base.layout import Layout
from harness.base.unknown_names import refuse_unknown_names
from harness.compare import Accelerators, Book, compare_claims, load_claims, load_external, load_names
from harness.compare import compare_accelerators as compare_of_store
from harness.data import dataset_names, load_manifest
from harness.methods.card import load_method, method_names
from harness.splits.spec import parse_split
from harness.splits.strategies import strategy_names

_FEW = 6


def compare(
    benchmark: str | None = None,
    *,
    methods: Names = (),
    datasets: Names = (),
    splits: Names = (),
    seeds: Numbers = (),
    against: Path | str | None = None,
    repository: Repository | None = None,
) -> Book:
    """The published numbers of a benchmark beside ours, each with a verdict and its reason.

    Without `benchmark` the one that all named methods and datasets belong to, else the first. Names may be ours or
    the published ones. `against` is a file of other claims.
    """
    here = opened(repository)
    file = Path(against) if against is not None else None
    chosen = {"method": several(methods), "dataset": several(datasets), "split": _splits(splits)}
    name = benchmark or _benchmark_of(here.layout, chosen["method"], chosen["dataset"])
    _refuse_unknown(here.layout, name, file, chosen)
    return compare_claims(
        here.layout,
        here.store,
        name,
        against=file,
        methods=chosen["method"],
        datasets=chosen["dataset"],
        splits=chosen["split"],
        seeds=numbers(seeds),
        mirrors=here.mirrors,
    )


def compare_accelerators(
    benchmark: str | None = None,
    *,
    methods: Names = (),
    datasets: Names = (),
    splits: Names = (),
    seeds: Numbers = (),
    repository: Repository | None = None,
) -> Accelerators:
    """What was computed on a GPU here beside the same on the CPU, metric by metric. Names are ours."""
    here = opened(repository)
    asked = {"method": several(methods), "dataset": several(datasets), "split": _splits(splits)}
    name = benchmark or _benchmark_of(here.layout, asked["method"], asked["dataset"])
    for kind, known in _our_names(here.layout).items():
        refuse_unknown_names(kind, _named(kind, asked[kind], known), known, where=here.layout.root)
    return compare_of_store(
        here.layout,
        here.store,
        name,
        methods=asked["method"],
        datasets=asked["dataset"],
        splits=asked["split"],
        seeds=numbers(seeds),
        mirrors=here.mirrors,
    )


def _benchmark_of(layout: Layout, methods: Iterable[str], datasets: Iterable[str]) -> str:
    """The benchmark of all that is called by our names, if it is one; else the first of all.

    `UsageError` where they have none in common: one benchmark alone would drop the others' without a word.
    """
    ours = set(method_names(layout)), set(dataset_names(layout))
    of = {name: set(load_method(layout, name).benchmarks) for name in methods if name in ours[0]}
    of |= {name: {load_manifest(layout, name).benchmark} for name in datasets if name in ours[1]}
    common = set.intersection(*of.values()) if of else {*benchmarks.names()}
    if not common:
        raise UsageError(
            "what is named belongs to several benchmarks",
            where=few_in_line(
                [f"{name}: {' or '.join(benchmarks.in_order(own))}" for name, own in of.items()], _FEW
            ),
            todo="ask about one of them at a time",
        )
    return common.pop() if len(common) == 1 else benchmarks.default()


def _refuse_unknown(
    layout: Layout, benchmark: str, against: Path | None, chosen: dict[str, tuple[str, ...]]
) -> None:
    """Accept our names and published names; refuse others as misspelt."""
    if not any(chosen.values()):
        return
    names = load_names(layout, benchmark)
    claims = load_claims(layout, names) if against is None else load_external(names, against)
    for kind, ours in _our_names(layout).items():
        known = {*ours, *(getattr(claim, kind) for claim in claims)}
        # no listing shows the published names as well
        what = f"{kind} of ours or of claims"
        where = against or layout.published / benchmark
        refuse_unknown_names(what, _named(kind, chosen[kind], known), known, where=where)


def _splits(names: Names) -> tuple[str, ...]:
    """Names of splits; one of ours with parameters as splits are called, in whatever order they are given."""
    known = strategy_names()
    return tuple(parse_split(text, 0).text if text.partition(":")[0] in known else text for text in several(names))


def _named(kind: str, texts: Iterable[str], known: Collection[str]) -> list[str]:
    """What has to be known of these: of a split with parameters its strategy, of all else the whole name."""
    return [text.partition(":")[0] if kind == "split" and text not in known else text for text in texts]


def _our_names(layout: Layout) -> dict[str, Sequence[str]]:
    """All that may be chosen by our names, by kind."""
    return {"method": method_names(layout), "dataset": dataset_names(layout), "split": strategy_names()}
