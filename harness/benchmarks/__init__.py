"""Benchmarks: every package in this folder is one. What differs between them lies in these packages only."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import cast

from harness.base.errors import unknown
from harness.benchmarks.contract import AnswerFile, Benchmark, Dataset, Options, Split, Statistics
from harness.benchmarks.metric import Metric
from harness.benchmarks.ranking import Ranking

__all__ = [
    "AnswerFile",
    "AnyBenchmark",
    "Benchmark",
    "Dataset",
    "Metric",
    "Options",
    "Ranking",
    "Split",
    "Statistics",
    "default",
    "folder",
    "get",
    "in_order",
    "modules_in",
    "names",
    "part",
]

# What shared code knows of one benchmark's types: a dataset, a split, and an answer that only it understands.
AnyBenchmark = Benchmark[Dataset, Split, object]


@cache
def names() -> tuple[str, ...]:
    """All benchmarks."""
    return tuple(sorted(one.name for one in _modules(*__path__) if one.ispkg))


def _modules(*folders: str) -> Iterator[pkgutil.ModuleInfo]:
    """The modules of folders, without what somebody put where Python keeps compiled ones."""
    return (one for one in pkgutil.iter_modules(folders) if not one.name.startswith("__"))


@cache
def get(name: str) -> AnyBenchmark:
    """One benchmark by name."""
    if name not in names():
        raise unknown("benchmark", name, names())
    return cast(AnyBenchmark, import_module(f"{__name__}.{name}").BENCHMARK)


def in_order(some: Iterable[str]) -> list[str]:
    """These benchmarks as people are shown them: by the place that each asks for."""
    return sorted(some, key=lambda name: (get(name).place, name))


@cache
def default() -> str:
    """The benchmark that is used where none is named."""
    return in_order(names())[0]


def folder(name: str) -> Path:
    """The folder of a benchmark's package."""
    get(name)
    return Path(__file__).parent / name


def part(name: str, below: str) -> ModuleType | None:
    """A module or package of a benchmark by its place, such as `study`; None where the benchmark has none."""
    get(name)
    module = f"{__name__}.{name}"
    for step in below.split("."):
        module = f"{module}.{step}"
        if find_spec(module) is None:
            return None
    return import_module(module)


@cache
def modules_in(name: str, below: str) -> tuple[str, ...]:
    """The modules of a benchmark's package, such as `splits.strategies`: none where there is no such package."""
    path = folder(name).joinpath(*below.split("."))
    return tuple(sorted(one.name for one in _modules(str(path))))
