"""`results/published/BENCHMARK/names.toml`: how published names map to ours, each mapping with its reason."""

from __future__ import annotations

from dataclasses import dataclass

from harness.layout import Layout
from harness.manifests import Strict, load_toml
from harness.methods import unknown


class MetricName(Strict):
    """A published metric and, where it is computed here, its name."""

    published: str
    ours: str | None = None
    reason: str


class Unseeded(Strict):
    """A published method whose original draws without a seed: only its distribution can be compared."""

    method: str
    reason: str


class Sources(Strict):
    """Where the claims come from."""

    paper: str
    files: str


class Names(Strict):
    """The whole file."""

    benchmark: str
    variant: str
    inner_folds: int
    seeds: int
    sources: Sources
    methods: dict[str, str]
    datasets: dict[str, str]
    splits: dict[str, str]
    metrics: list[MetricName]
    unseeded: list[Unseeded] = []

    def metric(self, published: str) -> MetricName:
        """The metric the publication calls so."""
        for metric in self.metrics:
            if metric.published == published:
                return metric
        return MetricName(published=published, reason="not computed here")

    def why_unseeded(self, method: str) -> str | None:
        """Why values per seed can't be expected to repeat, if so. A published name."""
        return next((entry.reason for entry in self.unseeded if entry.method == method), None)


@dataclass(frozen=True)
class Target:
    """What a claim is about, in our words; None where we have no such thing."""

    method: str | None
    dataset: str | None
    split: str | None


def claimed_benchmarks(layout: Layout) -> list[str]:
    """The benchmarks that have claims."""
    return sorted(path.parent.name for path in layout.published.glob("*/names.toml"))


def load_names(layout: Layout, benchmark: str) -> Names:
    """The mapping of one benchmark."""
    path = layout.published / benchmark / "names.toml"
    if not path.is_file():
        raise unknown("benchmark with claims", benchmark, claimed_benchmarks(layout), where=layout.published)
    return load_toml(path, Names)


def target_of(names: Names, method: str, dataset: str, split: str) -> Target:
    """Translate published names."""
    return Target(names.methods.get(method), names.datasets.get(dataset), names.splits.get(split))
