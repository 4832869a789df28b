"""`results/published/BENCHMARK/names.toml`: how published names map to ours, each mapping with its reason."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from harness import benchmarks
from harness.base.layout import Layout
from harness.base.manifests import Strict, load_toml
from harness.base.unknown_names import unknown_name
from harness.planning.jobs import complete_options


def is_of_split(split: str, wanted: Collection[str]) -> bool:
    """Whether a person who named these strategies, or these splits with their parameters, means this one."""
    return split in wanted or split.partition(":")[0] in wanted


class MetricName(Strict):
    """A published metric and, where it is computed here, its name."""

    published: str
    ours: str | None = None
    reason: str


class Remark(Strict):
    """A remark on published values. An empty field stands for all methods, datasets, splits or metrics."""

    method: str = ""
    dataset: str = ""
    split: str = ""
    metric: str = ""
    reason: str

    def is_about(self, method: str, dataset: str, split: str, metric: str = "") -> bool:
        """Whether the remark is about these values."""
        # asked a hundred thousand times for a page of all claims
        return (
            self.method in ("", method)
            and self.dataset in ("", dataset)
            and self.split in ("", split)
            and self.metric in ("", metric)
        )


class Meaning(Remark):
    """The metric (`ours`) that a method's original computes under the name of another (`published`)."""

    published: str
    ours: str


class ClaimSources(Strict):
    """Where the claims come from."""

    paper: str
    files: str


class PublishedNames(Strict):
    """The content of `names.toml`."""

    benchmark: str
    variant: str
    # variants whose runs have rows of their own beside the paper's methods; no claim is compared with them
    beside: list[str] = []
    options: dict[str, int] = {}
    seeds: int
    sources: ClaimSources
    # METHOD, or METHOD/VARIANT where a published name is that of another variant
    methods: dict[str, str]
    # methods that the paper does not have: rows beside its own, about which there is no claim
    own_methods: list[str] = []
    datasets: dict[str, str]
    splits: dict[str, str]
    metrics: list[MetricName]
    # values per seed can't be repeated, only their distribution can; told where a mean or a status deviates, too
    distribution_only: list[Remark] = []
    # values per seed are compared, and it is known why some deviate
    explained: list[Remark] = []
    # data behind the paper's numbers are not here, such as items of a test set: ours are shown but decide nothing
    other_data: list[Remark] = []
    # parameters of ours were fitted to these numbers: that ours agree with them decides nothing
    fitted: list[Remark] = []
    # data that these runs need are in no public file: claims wait for no run, and are judged where there is one
    no_data: list[Remark] = []
    # names that stand for another metric
    meanings: list[Meaning] = []

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that claims are about, or that have rows beside them."""
        named = (name.partition("/")[2] for name in self.methods.values())
        return tuple(dict.fromkeys((self.variant, *self.beside, *filter(None, named))))

    def metric(self, published: str) -> MetricName:
        """The metric with this published name."""
        for metric in self.metrics:
            if metric.published == published:
                return metric
        return MetricName(published=published, reason="no entry of [[metrics]] in names.toml names ours for it")

    def meaning(self, metric: str, method: str, dataset: str) -> str:
        """The metric that a method's original computes under this name. Published names, except the method's."""
        for one in self.meanings:
            if one.published == metric and self.methods.get(one.method) == method and one.dataset in ("", dataset):
                return one.ours
        return metric


@dataclass(frozen=True)
class Target:
    """Method, dataset and split of a claim, in our names; None for what this artifact does not have."""

    method: str | None
    dataset: str | None
    split: str | None
    # if it is not the variant that all other claims are about
    variant: str = ""

    @property
    def row(self) -> str | None:
        """`METHOD/VARIANT`, or the method."""
        return f"{self.method}/{self.variant}" if self.variant else self.method


def claimed_benchmarks(layout: Layout) -> list[str]:
    """The benchmarks that have claims."""
    return benchmarks.in_order(path.parent.name for path in layout.published.glob("*/names.toml"))


def load_names(layout: Layout, benchmark: str) -> PublishedNames:
    """The published names of one benchmark."""
    path = layout.published / benchmark / "names.toml"
    if not path.is_file():
        raise unknown_name("benchmark with claims", benchmark, claimed_benchmarks(layout), where=layout.published)
    names = load_toml(path, PublishedNames)
    if names.benchmark not in benchmarks.names():
        # claims of a benchmark that is not here yet: no run is held against them
        return names
    options = complete_options(names.benchmark, names.options, where=f"{path}: options")
    return names.model_copy(update={"options": options})


def target_of(names: PublishedNames, method: str, dataset: str, split: str) -> Target:
    """The target of a claim, from published names."""
    own, _, variant = names.methods.get(method, "").partition("/")
    return Target(own or None, names.datasets.get(dataset), names.splits.get(split), variant)


def reason_in(remarks: list[Remark], method: str, dataset: str, split: str, metric: str = "") -> str | None:
    """The reason of the first remark on these values, by published names; None if there is none."""
    return next((remark.reason for remark in remarks if remark.is_about(method, dataset, split, metric)), None)
