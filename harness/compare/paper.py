"""`results/published/BENCHMARK/contrasts.toml`: the groups of runs that the paper compares, in published names."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import Field, model_validator

from harness.base.errors import CorruptData
from harness.base.layout import Layout
from harness.base.manifests import Strict, load_toml

# The dataset of a claim that is about all datasets of the study.
ALL_DATASETS = "all"


class Place(NamedTuple):
    """Dataset, method and split of runs that differ only in their seed, in published names."""

    dataset: str
    method: str
    split: str


class Contrast(Strict):
    """Two groups of methods, each on one kind of split."""

    name: str
    first: list[str]
    second: list[str]
    splits: list[str] = Field(min_length=2, max_length=2)

    def groups(self, datasets: list[str]) -> list[list[Place]]:
        """The places of both groups on these datasets."""
        return [
            [Place(dataset, method, split) for dataset in datasets for method in methods]
            for methods, split in zip((self.first, self.second), self.splits, strict=True)
        ]


class PaperStatistics(Strict):
    """The content of `contrasts.toml`."""

    metric: str
    methods: dict[str, str]
    datasets: dict[str, str]
    metrics: dict[str, str]
    contrasts: list[Contrast]

    @model_validator(mode="after")
    def _sets_known_methods_against_each_other(self) -> PaperStatistics:
        for contrast in self.contrasts:
            for method in (*contrast.first, *contrast.second):
                if method not in self.methods:
                    raise ValueError(f"contrast '{contrast.name}' names '{method}', which is none of the methods")
        return self

    def contrast(self, name: str) -> Contrast:
        """The contrast that a table of the paper is about."""
        for contrast in self.contrasts:
            if contrast.name == name:
                return contrast
        raise CorruptData(
            f"no contrast is called '{name}'",
            where="contrasts.toml",
            todo="name in tables.csv what contrasts.toml defines",
        )

    def datasets_of(self, claimed: str) -> list[str]:
        """The datasets a claim is about."""
        return list(self.datasets) if claimed == ALL_DATASETS else [claimed]


def has_study(layout: Layout, benchmark: str) -> bool:
    """Whether the claims of a benchmark belong to a study of several methods."""
    return (layout.published / benchmark / "contrasts.toml").is_file()


def load_paper(layout: Layout, benchmark: str) -> PaperStatistics:
    """The contrasts of one benchmark's paper."""
    return load_toml(layout.published / benchmark / "contrasts.toml", PaperStatistics)
