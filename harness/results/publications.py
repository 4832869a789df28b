"""What is published, as far as other parts than the comparison have to know it."""

from __future__ import annotations

from harness.base.layout import Layout
from harness.base.manifests import Strict, load_toml


class PublishedDatasets(Strict, extra="ignore"):
    """Of `results/published/BENCHMARK/names.toml`: published names of datasets, and ours."""

    datasets: dict[str, str]


def published_datasets(layout: Layout) -> frozenset[str]:
    """The datasets that some publication has values of, under our names."""
    files = layout.published.glob("*/names.toml")
    return frozenset(name for file in files for name in load_toml(file, PublishedDatasets).datasets.values())
