"""Datasets of a person's own: which tables each benchmark makes one from.

A benchmark that makes datasets of a person's tables has a module `own_data`: an `OwnData`. Each of its tables is
an option of `harness data new`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from harness import benchmarks
from harness.base.errors import UsageError


@dataclass(frozen=True)
class OwnTable:
    """A table that a dataset is made from."""

    # the parameter of the converter that names its file
    parameter: str
    # what it holds, in a line
    holds: str
    # whether there is no dataset without it
    required: bool = False


class OwnData(Protocol):
    """A module `own_data`."""

    # the converter that reads the tables
    CONVERTER: str
    # by the word that a person gives each
    TABLES: Mapping[str, OwnTable]


def own_data_of(benchmark: str) -> OwnData | None:
    """What datasets of a benchmark are made from; None where a person's own tables make none."""
    return cast("OwnData | None", benchmarks.part(benchmark, "own_data"))


def table_words() -> dict[str, dict[str, OwnTable]]:
    """Every table by its word, and what it is in each benchmark that has it; the required ones first."""
    words: dict[str, dict[str, OwnTable]] = {}
    tables = [
        (not table.required, word, benchmark, table)
        for benchmark in benchmarks.in_order(benchmarks.names())
        if (own := own_data_of(benchmark))
        for word, table in own.TABLES.items()
    ]
    for _, word, benchmark, table in sorted(tables, key=lambda one: one[0]):
        words.setdefault(word, {})[benchmark] = table
    return words


def benchmark_of(words: Collection[str]) -> str:
    """The benchmark that makes a dataset of these tables; `UsageError` if none does, or one is missing."""
    tables = {name: own.TABLES for name in benchmarks.names() if (own := own_data_of(name))}
    able = {name: own for name, own in tables.items() if words and set(words) <= own.keys()}
    lacks = {
        name: [word for word, one in own.items() if one.required and word not in words]
        for name, own in able.items()
    }
    complete = [name for name, missing in lacks.items() if not missing]
    if len(complete) == 1:
        return complete[0]
    wanted = lacks or {name: [word for word, one in own.items() if one.required] for name, own in tables.items()}
    raise UsageError(
        "a table is missing" if lacks else "no benchmark makes a dataset of these tables",
        where=" ".join(f"--{word}" for word in words) or "no table is named",
        todo="\n         ".join(
            f"{name}: {'add ' if lacks else ''}{' '.join(f'--{word} FILE' for word in missing)}"
            for name, missing in wanted.items()
        ),
    )
