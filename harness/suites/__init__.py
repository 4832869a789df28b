"""Suites: named sets of jobs. Each is a TOML file in this folder; a new suite is a new file."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from pydantic import Field

from harness.jobs import Job, SplitSpec
from harness.layout import Layout
from harness.manifests import Strict, load_toml
from harness.methods import load_method, load_methods, merged_parameters, unknown


class Block(Strict):
    """A full product of methods, datasets, splits and seeds."""

    benchmark: str
    methods: list[str] = Field(default=[], description="empty: every method of the benchmark")
    variants: list[str] = Field(default=["published"], description="those a method does not have are skipped")
    datasets: list[str]
    splits: list[str]
    seeds: list[int] = Field(default=[], description="these seeds")
    published_seeds: int = Field(default=0, ge=0, le=100, description="or the first so many of the published ones")
    inner_folds: int = 5


class Suite(Strict):
    """`NAME.toml`."""

    name: str
    summary: str
    blocks: list[Block]


def suite_names() -> list[str]:
    """All suites."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.toml"))


def load_suite(name: str) -> Suite:
    """One suite by name."""
    path = Path(__file__).parent / f"{name}.toml"
    if not path.is_file():
        raise unknown("suite", name, suite_names(), where=path.parent)
    return load_toml(path, Suite)


def jobs_of(layout: Layout, suite: Suite) -> list[Job]:
    """The jobs of a suite, in the order of the file."""
    jobs: dict[str, Job] = {}
    for block in suite.blocks:
        for job in _jobs_of_block(layout, block):
            jobs.setdefault(job.model_dump_json(), job)
    return list(jobs.values())


def _jobs_of_block(layout: Layout, block: Block) -> list[Job]:
    if block.methods:
        cards = [load_method(layout, name) for name in block.methods]
    else:
        cards = load_methods(layout, block.benchmark)
    return [
        Job(
            benchmark=block.benchmark,
            method=card.name,
            variant=variant,
            parameters=merged_parameters(card, variant, {}),
            dataset=dataset,
            split=SplitSpec(strategy=strategy, seed=seed),
            inner_folds=block.inner_folds,
        )
        for dataset, strategy, seed, card, variant in product(
            block.datasets, block.splits, _seeds(block), cards, block.variants
        )
        if variant in card.variants
    ]


def _seeds(block: Block) -> list[int]:
    if not block.published_seeds:
        return block.seeds
    from harness.splits import published_seeds

    return [*published_seeds()[: block.published_seeds], *block.seeds]
