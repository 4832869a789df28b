"""Golden metrics: the scoring functions on stored predictions, against what the authors' code made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, cast

import numpy.typing as npt

from harness.parity.finding import ArrayFinding

Array = npt.NDArray[Any]
Check = Callable[[Mapping[str, Array]], Iterator[ArrayFinding]]

# goldens in a folder whose name says nothing of their benchmark
_UNNAMED = "repurposing"


def check_metrics(benchmark: str | None, arrays: Mapping[str, Array]) -> Iterator[ArrayFinding]:
    """One finding per metric of a golden case."""
    module = import_module(f"{__name__}.{benchmark or _UNNAMED}")
    return cast(Check, module.check_metrics)(arrays)
