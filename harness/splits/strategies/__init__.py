"""Split strategies: a package per benchmark and a module per strategy, found by being here.

A strategy module has `SUMMARY`, `Parameters` (a Strict model), `make(dataset, seed, parameters)` and
`broken_promises(dataset, made, parameters) -> list[str]`; it may have `FILES`, what else its splits depend on, and
`broken_draws(dataset, made, seed, parameters) -> list[str]`, where only drawing again tells what is promised. What
these examine is told to people by their docstrings. Its benchmark's package tells the form of the splits.
"""

from __future__ import annotations

import hashlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from pydantic import ValidationError

from harness.base.errors import UsageError
from harness.methods.card import unknown

if TYPE_CHECKING:
    from harness.base.manifests import Strict
    from harness.planning.jobs import SplitSpec


class Strategy(Protocol):
    """What a strategy module offers. What it makes is a fold matrix or a `PartSplit`, as its benchmark has it."""

    SUMMARY: str
    Parameters: type[Strict]

    def make(self, dataset: Any, seed: int, parameters: Any) -> Any:
        """The split."""
        ...

    def broken_promises(self, dataset: Any, made: Any, parameters: Any) -> list[str]:
        """What the strategy promises beyond what every split does."""
        ...


class Form(Protocol):
    """What the package of a benchmark's strategies offers: how its splits are kept, and what all promise."""

    SHARED: tuple[Path, ...]
    USUAL_SEED: int | None

    def finish(self, made: Any) -> Any:
        """The split, with its digest, of what a strategy made."""
        ...

    def made(self, split: Any) -> Any:
        """What a strategy made, of a split."""
        ...

    def content(self, split: Any) -> bytes:
        """The split file."""
        ...

    def read(self, path: Path, load: Callable[[], Any]) -> Any:
        """The split of a file from anywhere, checked for its form; the dataset is loaded where that needs it."""
        ...

    def fits(self, split: Any, dataset: Any) -> bool:
        """Whether the split is of as many things as the dataset has."""
        ...

    def broken_promises(self, split: Any, dataset: Any) -> list[str]:
        """What every split of the benchmark promises."""
        ...

    def describe(self, split: Any, dataset: Any, strategy: Strategy, parameters: Any) -> dict[str, dict[str, Any]]:
        """What a person wants to know of a split: tables of numbers, by name."""
        ...


@cache
def strategy_names(benchmark: str | None = None) -> tuple[str, ...]:
    """All strategies of one benchmark, or of all."""
    benchmarks = split_benchmarks()
    if benchmark is None:
        return tuple(sorted({name for known in benchmarks for name in strategy_names(known)}))
    if benchmark not in benchmarks:
        raise unknown("benchmark with split strategies", benchmark, list(benchmarks))
    return tuple(sorted(found.name for found in pkgutil.iter_modules([str(Path(__path__[0]) / benchmark)])))


@cache
def split_benchmarks() -> tuple[str, ...]:
    """The benchmarks that have strategies."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg))


@cache
def get_strategy(benchmark: str, name: str) -> Strategy:
    """One strategy by name."""
    if name not in strategy_names(benchmark):
        raise unknown(f"split strategy of {benchmark}", name, list(strategy_names(benchmark)))
    return cast(Strategy, import_module(f"{__name__}.{benchmark}.{name}"))


@cache
def get_form(benchmark: str) -> Form:
    """How a benchmark's splits are kept."""
    strategy_names(benchmark)
    return cast(Form, import_module(f"{__name__}.{benchmark}"))


def examined_of(benchmark: str, name: str) -> list[str]:
    """In words, what is proved of a strategy's splits: what every check of them says of itself."""
    strategy = get_strategy(benchmark, name)
    own = (getattr(strategy, check, None) for check in ("wrong_drugs", "broken_promises", "broken_draws"))
    told = [getdoc(check) for check in (get_form(benchmark).broken_promises, *own) if check is not None]
    return [" ".join(text.partition("\n\n")[0].split()).removesuffix(".") for text in told if text]


@cache
def strategy_source(benchmark: str, name: str) -> str:
    """sha256 of the code a split depends on: the strategy's module and files, and what its benchmark shares."""
    own = getattr(get_strategy(benchmark, name), "FILES", ())
    return source_of([Path(__path__[0]) / benchmark / f"{name}.py", *own, *get_form(benchmark).SHARED])


def source_of(paths: Iterable[Path]) -> str:
    """sha256 of several files in this order."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def parameters_of(benchmark: str, spec: SplitSpec) -> Strict:
    """A split's parameters, validated, with the strategy's defaults filled in."""
    try:
        return get_strategy(benchmark, spec.strategy).Parameters.model_validate(spec.parameters)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(str(step) for step in fault["loc"])
        raise UsageError(
            f"a parameter of split strategy '{spec.strategy}' is wrong: {fault['msg']}",
            where=f"parameter {field}, given as {fault['input']!r}",
            todo="`harness split list` shows what a strategy accepts",
        ) from None
