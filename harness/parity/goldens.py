"""From a golden case to the arrays of a run: the method's card says which stored array becomes which input."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.benchmark.repurposing.inputs import standardised
from harness.errors import CorruptData, ManifestError
from harness.methods import merged_parameters
from harness.parity.cases import GoldenCase, Match
from harness.splits.folds import TEST
from harness.trials import Trial

Array = npt.NDArray[Any]

SOURCES = ("golden", "features", "standardised")


class Incomplete(Exception):
    """A case can't be run because something it needs does not lie beside it."""


def read_case(case: GoldenCase) -> Mapping[str, Array]:
    """All arrays of a case."""
    return _read(case.path, case.path.stat().st_mtime_ns)


def applies(match: Match, arrays: Mapping[str, Array]) -> bool:
    """Whether the table's condition on the training labels holds."""
    if match.table.when == "always":
        return True
    has_negatives = bool((_input(match, "associations", arrays) < 0).any())
    return has_negatives == (match.table.when == "negatives")


def trial_of(match: Match, arrays: Mapping[str, Array]) -> Trial:
    """The run that a golden is compared with: fitted once on all training labels, asked for every pair."""
    card, table = match.card, match.table
    inputs = {name: _input(match, name, arrays) for name in table.inputs}
    if missing := sorted(set(card.inputs) - {"folds"} - set(inputs)):
        raise ManifestError(
            f"the parity table of '{card.name}' gives no source for {', '.join(missing)}",
            where=f"method.toml: parity ({table.cases}): inputs",
            todo="name a source for every declared input",
        )
    inputs["associations"] = inputs["associations"].astype(np.int8)
    inputs["folds"] = np.full(inputs["associations"].shape, TEST, dtype=np.int8)
    return Trial(
        card=card,
        benchmark=match.case.benchmark or card.benchmarks[0],
        inputs=inputs,
        parameters=merged_parameters(card, table.variant, table.parameters),
        seed=match.seed,
        variant=table.variant,
        task=table.task,
        trace=True,
    )


def _input(match: Match, name: str, arrays: Mapping[str, Array]) -> Array:
    source, _, array = match.table.inputs[name].partition(":")
    if source not in SOURCES or not array:
        raise ManifestError(
            f"'{match.table.inputs[name]}' is no source of an array",
            where=f"method.toml of '{match.card.name}': parity.inputs.{name}",
            todo=f"write one of {', '.join(f'{kind}:ARRAY' for kind in SOURCES)}",
        )
    if source == "golden":
        return _take(arrays, array, match.case.path)
    path = match.case.features_of(match.dataset)
    if not path.is_file():
        raise Incomplete(f"needs {path.name}, which does not lie beside it")
    found = _take(_read(path, path.stat().st_mtime_ns), array, path)
    return standardised(found) if source == "standardised" else found


def _take(arrays: Mapping[str, Array], name: str, path: Path) -> Array:
    if name not in arrays:
        raise Incomplete(f"needs the array '{name}', which {path.name} does not hold")
    return arrays[name]


@cache
def _read(path: Path, _changed: int) -> Mapping[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            # C order: what is compared and written must not depend on how it was stored
            return {name: np.asarray(stored[name], order="C") for name in stored.files}
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise CorruptData(f"not a readable golden: {error}", where=str(path), todo="get this file again") from None
