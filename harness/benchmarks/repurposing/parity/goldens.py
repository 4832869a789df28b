"""From a golden case to the arrays of a run: the method's card says which stored array becomes which input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import CorruptData, ManifestError
from harness.benchmarks.repurposing.input_arrays import standardised
from harness.benchmarks.repurposing.splits.folds import TEST
from harness.execution.trials import Trial
from harness.methods.card import merged_parameters
from harness.parity.cases import GoldenCase, Match

Array = npt.NDArray[Any]

SOURCES = ("golden", "features", "standardised", "one_view", "split")
_OF_A_SPLIT = {"A_train", "train_mask", "val_mask"}


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


def trials_of(match: Match, arrays: Mapping[str, Array]) -> list[Trial]:
    """The run that a golden is compared with, or one for each of its rows; the table says what they differ in."""
    trial = _trial(match, arrays)
    varied = match.table.rows
    if not varied:
        return [trial]
    if not isinstance(first := trial.parameters.get(varied), int):
        raise ManifestError(
            f"'{varied}' is no parameter that counts",
            where=f"method.toml of '{match.card.name}': parity ({match.table.cases}): rows",
            todo="name the parameter that row r of the golden has r more of",
        )
    count = min((len(arrays[name]) for name in match.table.compare if name in arrays), default=0)
    return [replace(trial, parameters={**trial.parameters, varied: first + row}) for row in range(count)]


def _trial(match: Match, arrays: Mapping[str, Array]) -> Trial:
    """Fitted once on all training labels, asked for every pair.

    A table that gives `folds` a mask asks for the pairs marked there; all others are training.
    """
    card, table = match.card, match.table
    inputs = {name: _input(match, name, arrays) for name in table.inputs}
    if missing := sorted(set(card.inputs) - {"folds"} - set(inputs)):
        raise ManifestError(
            f"the parity table of '{card.name}' gives no source for {', '.join(missing)}",
            where=f"method.toml: parity ({table.cases}): inputs",
            todo="name a source for every declared input",
        )
    inputs["associations"] = inputs["associations"].astype(np.int8)
    asked = inputs.get("folds", np.ones(inputs["associations"].shape))
    inputs["folds"] = np.where(asked, TEST, 0).astype(np.int8)
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
    if source == "split":
        path = _split_of(match)
        return _take(_read(path, path.stat().st_mtime_ns), array, path)
    path = match.case.features_of(match.dataset)
    if not path.is_file():
        raise Incomplete(f"needs {path.name}, which does not lie beside it")
    found = _take(_read(path, path.stat().st_mtime_ns), array, path)
    if source == "one_view":
        return np.zeros(found.shape[1], dtype=np.int32)
    return standardised(found) if source == "standardised" else found


def _split_of(match: Match) -> Path:
    """A case of the same dataset and seed that holds the split, for those that hold only answers."""
    for path in sorted(match.case.path.parent.glob(f"*_{match.dataset}_{match.seed}.npz")):
        with np.load(path, allow_pickle=False) as stored:
            if set(stored.files) >= _OF_A_SPLIT:
                return path
    raise Incomplete(
        f"needs a case of {match.dataset} and seed {match.seed} that holds {', '.join(sorted(_OF_A_SPLIT))}"
    )


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
