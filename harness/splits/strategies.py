"""Split strategies: modules of `benchmarks/NAME/splits/strategies`, found by being there.

What a module offers is `benchmarks.contract.Strategy`. The docstrings of its checks tell people what they examine.
"""

from __future__ import annotations

import hashlib
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from harness import benchmarks
from harness.base.errors import UsageError, unknown
from harness.base.files import digest_of
from harness.base.manifest_faults import plain_lines
from harness.base.manifests import Strict
from harness.benchmarks.contract import Dataset, Split, Strategy
from harness.meaning.modules import meaning_of_modules
from harness.splits.spec import SplitSpec

_PLACE = "splits.strategies"
# where the code lies that a split depends on; what a strategy uses to start a container decides nothing
_DECIDING = ("harness.benchmarks", "harness.base")
_PACKAGE = Path(benchmarks.__file__).parents[1]


@cache
def strategy_names(benchmark: str | None = None) -> tuple[str, ...]:
    """All strategies of one benchmark, or of all."""
    if benchmark is not None:
        return benchmarks.modules_in(benchmark, _PLACE)
    return tuple(sorted({name for known in benchmarks.names() for name in strategy_names(known)}))


@cache
def get_strategy(benchmark: str, name: str) -> Strategy[Dataset, Split]:
    """One strategy by name."""
    if name not in strategy_names(benchmark):
        raise unknown(f"split strategy of {benchmark}", name, strategy_names(benchmark))
    return cast("Strategy[Dataset, Split]", benchmarks.part(benchmark, f"{_PLACE}.{name}"))


def examined_of(benchmark: str, name: str) -> list[str]:
    """What is proved of a strategy's splits, in the words that their checks use for themselves."""
    strategy = get_strategy(benchmark, name)
    own = (getattr(strategy, check, None) for check in ("wrong_drugs", "broken_promises", "broken_draws"))
    checks = (benchmarks.get(benchmark).form.broken_promises, *own)
    texts = [getdoc(check) for check in checks if check is not None]
    return [" ".join(text.partition("\n\n")[0].split()).removesuffix(".") for text in texts if text]


@cache
def strategy_source(benchmark: str, name: str) -> str:
    """A digest of all that decides a split: the meaning of its module and of those it imports, and its files."""
    module = f"{benchmarks.__name__}.{benchmark}.{_PLACE}.{name}"
    files = getattr(get_strategy(benchmark, name), "FILES", ())
    return digest_of(
        {
            "modules": meaning_of_modules(_PACKAGE, [module], within=_DECIDING),
            "files": [hashlib.sha256(path.read_bytes()).hexdigest() for path in files],
        }
    )


def parameters_of(benchmark: str, spec: SplitSpec) -> Strict:
    """A split's parameters, validated, with the strategy's defaults filled in."""
    try:
        return get_strategy(benchmark, spec.strategy).Parameters.model_validate(spec.parameters)
    except ValidationError as error:
        known = list(get_strategy(benchmark, spec.strategy).Parameters.model_fields)
        raise UsageError(
            f"a parameter of split strategy '{spec.strategy}' is wrong",
            where="\n         ".join(f"split {spec.text}: {line}" for line in plain_lines(error, known)),
            todo="`harness split list` shows what a strategy accepts",
        ) from None
