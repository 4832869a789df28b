"""Golden cases of whole answers: the method's card says which stored array becomes which input of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.base.errors import InvalidPredictions, ManifestError
from harness.base.npy import NotNpy, read_header, read_npy
from harness.base.vocabulary import Verdict
from harness.benchmarks.method_report import METHOD, read_report
from harness.benchmarks.repurposing.input_arrays import standardised
from harness.benchmarks.repurposing.names import PREDICTIONS
from harness.benchmarks.repurposing.splits.folds import TEST
from harness.execution.trials import Runner, Trial
from harness.methods.card import Tolerance, merged_parameters
from harness.parity.cases import Match, how
from harness.parity.finding import ArrayFinding, CaseFinding, Standing, compare
from harness.parity.goldens import Array, Incomplete, arrays_in

_OF_THE_WHOLE, _OF_THE_REPORT = "pred", "iterations"
SOURCES = ("golden", "features", "standardised", "one_view", "split")
_OF_A_SPLIT = {"A_train", "train_mask", "val_mask"}


def check_answers(match: Match, arrays: Mapping[str, Array], run: Runner) -> CaseFinding | None:
    """The finding of a case, compared with the answer; None where the labels do not meet the table's condition."""
    if not applies(match, arrays):
        return None
    table = match.table
    outputs: list[dict[str, Array | str]] = []
    seconds = 0.0
    for trial in trials_of(match, arrays):
        with run(trial) as result:
            if result.verdict is not Verdict.OK:
                note = f"the run ended with {result.verdict}: {result.reason}"
                return match.finding(Standing.FAILED, note)
            mask = trial.inputs["folds"] == TEST
            outputs.append(
                {name: _output(table.compare[name].of or name, result.out, mask) for name in table.compare}
            )
            seconds += result.wall_s
    findings = tuple(
        _check_array(name, tolerance, arrays, [one[name] for one in outputs], mask)
        for name, tolerance in table.compare.items()
    )
    if all(one.error is None for one in findings):
        return match.finding(Standing.FAILED, "none of the arrays to compare is in the golden", findings, seconds)
    return match.finding(Standing.OK, how(match), findings, seconds)


def applies(match: Match, arrays: Mapping[str, Array]) -> bool:
    """Whether the table's condition on the training labels holds."""
    if match.table.when == "always":
        return True
    has_negatives = bool((_input(match, "associations", arrays) < 0).any())
    return has_negatives == (match.table.when == "negatives")


def trials_of(match: Match, arrays: Mapping[str, Array]) -> list[Trial]:
    """The run that a golden is compared with, or one for each of its rows; the table says what they differ in."""
    trial = _trial(match, arrays)
    counter = match.table.rows
    if not counter:
        return [trial]
    if not isinstance(first := trial.parameters.get(counter), int):
        raise ManifestError(
            f"'{counter}' is no parameter that counts",
            where=f"method.toml of '{match.card.name}': parity ({match.table.cases}): rows",
            todo="name the parameter that row r of the golden has r more of",
        )
    # one run at least, which then is compared with no row; a single number is one row
    rows = (len(np.atleast_1d(arrays[name])) for name in match.table.compare if name in arrays)
    count = max(1, min(rows, default=1))
    return [replace(trial, parameters={**trial.parameters, counter: first + row}) for row in range(count)]


def _trial(match: Match, arrays: Mapping[str, Array]) -> Trial:
    """Fitted once on all training labels, asked for every pair.

    A table that gives `folds` a mask asks for the pairs marked there; all others are training.
    """
    card, table = match.card, match.table
    inputs = {name: _input(match, name, arrays) for name in table.inputs}
    if gaps := sorted(set(card.inputs) - {"folds"} - set(inputs)):
        raise ManifestError(
            f"the parity table of '{card.name}' gives no source for {', '.join(gaps)}",
            where=f"method.toml: parity ({table.cases}): inputs",
            todo="name a source for every declared input",
        )
    inputs["associations"] = inputs["associations"].astype(np.int8)
    mask = inputs.get("folds", np.ones(inputs["associations"].shape))
    inputs["folds"] = np.where(mask, TEST, 0).astype(np.int8)
    return Trial(
        card=card,
        benchmark=match.benchmark,
        inputs=inputs,
        parameters=merged_parameters(card, table.variant, table.parameters),
        seed=match.seed,
        variant=table.variant,
        options={"inner_folds": 0},
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
        return _take(arrays_in(path), array, path)
    path = match.case.features_of(match.dataset)
    if not path.is_file():
        raise Incomplete(f"needs {path.name}, which does not lie beside it")
    values = _take(arrays_in(path), array, path)
    if source == "one_view":
        return np.zeros(values.shape[1], dtype=np.int32)
    return standardised(values) if source == "standardised" else values


def _split_of(match: Match) -> Path:
    """A case of the same dataset and seed that holds the split, for those that hold only answers."""
    for path in sorted(match.case.path.parent.glob(f"*_{match.dataset}_{match.seed}.npz")):
        if arrays_in(path).keys() >= _OF_A_SPLIT:
            return path
    raise Incomplete(
        f"needs a case of {match.dataset} and seed {match.seed} that holds {', '.join(sorted(_OF_A_SPLIT))}"
    )


def _take(arrays: Mapping[str, Array], name: str, path: Path) -> Array:
    if name not in arrays:
        raise Incomplete(f"needs the array '{name}', which {path.name} does not hold")
    return arrays[name]


def _check_array(
    name: str, tolerance: Tolerance, arrays: Mapping[str, Array], outputs: Sequence[Array | str], mask: Array
) -> ArrayFinding:
    """Compare what one run wrote, or the rows that several runs did."""
    if name not in arrays:
        return ArrayFinding(name, Standing.ABSENT, note="not in the golden")
    for fault in outputs:
        if isinstance(fault, str):
            return ArrayFinding(name, Standing.FAILED, note=f"the run left no such {fault}")
    golden, ours = arrays[name], np.asarray(outputs[0] if len(outputs) == 1 else np.stack(outputs))
    if golden.shape == mask.shape != ours.shape and ours.size == mask.sum():
        # the original wrote all pairs and answered those that were asked for
        golden = golden[mask]
    if tolerance.repeated and ours.size and golden.size % ours.size == 0:
        ours = np.broadcast_to(ours.reshape(-1), golden.reshape(-1, ours.size).shape)
    return compare(name, ours, golden, tolerance)


def _output(name: str, out: Path, mask: Array) -> Array | str:
    """The array that the run wrote under the golden's name, or what is missing."""
    if name == _OF_THE_REPORT:
        try:
            iterations = read_report(out / METHOD).iterations
        except (OSError, InvalidPredictions) as error:
            return f"number: {error}"
        return np.asarray(iterations, dtype=np.float64) if iterations else f"number in {METHOD}"
    # a golden may group its arrays (init/weight); the protocol's traces lie in one folder
    file = f"{name.replace('/', '.')}.npy"
    path = out / PREDICTIONS if name == _OF_THE_WHOLE else out / "trace" / file
    try:
        descr, shape, _ = read_header(path)
        array = read_npy(path, descr, shape)
    except (OSError, NotNpy) as error:
        return f"array: {error}"
    return array.reshape(mask.shape) if name == _OF_THE_WHOLE and mask.all() else array.squeeze()
