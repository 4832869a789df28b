"""`results/published/BENCHMARK/names.toml`: how published names map to ours, each mapping with its reason."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.errors import unknown
from harness.base.layout import Layout
from harness.base.manifests import Strict, load_toml


class MetricName(Strict):
    """A published metric and, where it is computed here, its name."""

    published: str
    ours: str | None = None
    reason: str


class Remark(Strict):
    """What must be known of published values: what is not named is every method, dataset, split or metric."""

    method: str = ""
    dataset: str = ""
    split: str = ""
    metric: str = ""
    reason: str

    def is_about(self, method: str, dataset: str, split: str, metric: str = "") -> bool:
        """Whether it speaks of these values."""
        named = (self.method, self.dataset, self.split, self.metric)
        return all(own in ("", one) for own, one in zip(named, (method, dataset, split, metric), strict=True))


class Meaning(Remark):
    """What the original of a method computes where it gives a metric's name."""

    published: str
    ours: str


class ClaimSources(Strict):
    """Where the claims come from."""

    paper: str
    files: str


class PublishedNames(Strict):
    """The whole file."""

    benchmark: str
    variant: str
    # variants whose runs stand beside the paper's methods as rows of their own; no claim is held against them
    beside: list[str] = []
    options: dict[str, int] = {}
    seeds: int
    sources: ClaimSources
    methods: dict[str, str]
    datasets: dict[str, str]
    splits: dict[str, str]
    metrics: list[MetricName]
    # no value per seed can be repeated, only their distribution
    distribution_only: list[Remark] = []
    # values per seed are compared, and why some deviate is known
    explained: list[Remark] = []
    # what the paper's numbers rest on, also items of a test set, is not here: ours are shown, and decide nothing
    other_data: list[Remark] = []
    # one name, another metric
    meanings: list[Meaning] = []

    def metric(self, published: str) -> MetricName:
        """The metric the publication calls so."""
        for metric in self.metrics:
            if metric.published == published:
                return metric
        return MetricName(published=published, reason="not computed here")

    def meant(self, metric: str, method: str, dataset: str) -> str:
        """What a method's original means by a metric of the paper. Published names, but for the method."""
        for one in self.meanings:
            if one.published == metric and self.methods.get(one.method) == method and one.dataset in ("", dataset):
                return one.ours
        return metric

    def why_only_distribution(self, method: str, dataset: str, split: str) -> str | None:
        """Why values per seed can't be expected to repeat, if so. Published names."""
        return _reason(self.distribution_only, method, dataset, split)

    def why_deviating(self, method: str, dataset: str, split: str) -> str | None:
        """Why some values per seed deviate, where that is known. Published names."""
        return _reason(self.explained, method, dataset, split)

    def why_other_data(self, method: str, dataset: str, split: str, metric: str) -> str | None:
        """What is missing here of the data that the paper's values rest on. Published names."""
        return _reason(self.other_data, method, dataset, split, metric)


@dataclass(frozen=True)
class Target:
    """What a claim is about, in our words; None where we have no such thing."""

    method: str | None
    dataset: str | None
    split: str | None


def claimed_benchmarks(layout: Layout) -> list[str]:
    """The benchmarks that have claims."""
    return sorted(path.parent.name for path in layout.published.glob("*/names.toml"))


def load_names(layout: Layout, benchmark: str) -> PublishedNames:
    """The mapping of one benchmark."""
    path = layout.published / benchmark / "names.toml"
    if not path.is_file():
        raise unknown("benchmark with claims", benchmark, claimed_benchmarks(layout), where=layout.published)
    return load_toml(path, PublishedNames)


def target_of(names: PublishedNames, method: str, dataset: str, split: str) -> Target:
    """Translate published names."""
    return Target(names.methods.get(method), names.datasets.get(dataset), names.splits.get(split))


def _reason(remarks: list[Remark], method: str, dataset: str, split: str, metric: str = "") -> str | None:
    return next((remark.reason for remark in remarks if remark.is_about(method, dataset, split, metric)), None)
