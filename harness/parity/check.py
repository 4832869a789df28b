"""Checking golden cases: methods in their own containers, metrics and splits with the harness's own functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.base.errors import InvalidPredictions
from harness.base.layout import Layout
from harness.base.npy import NotNpy, read_header, read_npy
from harness.base.vocabulary import Verdict
from harness.benchmarks.repurposing.parity import goldens
from harness.benchmarks.repurposing.splits.folds import TEST
from harness.execution.method_report import METHOD, read_report
from harness.execution.trials import Runner
from harness.methods.card import MethodCard, Tolerance
from harness.parity import references
from harness.parity.cases import GoldenCase, Match, matches_of
from harness.parity.finding import ArrayFinding, Finding, Standing, compare
from harness.parity.traces import check_traces

Array = npt.NDArray[Any]

_OF_THE_WHOLE = "pred"
_OF_THE_REPORT = "iterations"


def check_cases(
    layout: Layout,
    cases: Sequence[GoldenCase],
    cards: Sequence[MethodCard],
    run: Runner,
    *,
    mirrors: Sequence[Path] = (),
    only: Sequence[str] = (),
) -> Iterator[Finding]:
    """One finding per case and table that covers it; a case that nothing covers is a finding too."""
    for case in cases:
        if references.covers(case):
            if not only or references.subject_of(case) in only:
                yield references.check(layout, case, mirrors)
            continue
        matches = matches_of(case, cards) if case.path.is_file() else []
        wanted = [match for match in matches if not only or match.card.name in only]
        if wanted:
            yield from _check_matches(case, wanted, run)
        elif not only:
            yield Finding(case.name, "method", "", standing=Standing.NOT_IMPLEMENTED, note="no card covers it")


def is_covered(case: GoldenCase, cards: Sequence[MethodCard], subject: str) -> bool:
    """Whether a case says anything of one method, or of the metrics or splits."""
    if references.covers(case):
        return references.subject_of(case) == subject
    return case.path.is_file() and any(match.card.name == subject for match in matches_of(case, cards))


def _check_matches(case: GoldenCase, matches: Sequence[Match], run: Runner) -> Iterator[Finding]:
    arrays = goldens.read_case(case)
    checked = False
    for match in matches:
        try:
            if not goldens.applies(match, arrays):
                continue
            checked = True
            yield _check_one(match, arrays, run)
        except goldens.Incomplete as lack:
            checked = True
            yield Finding(case.name, "method", match.card.name, standing=Standing.FAILED, note=f"the case {lack}")
    if not checked:
        note = f"no table of {matches[0].card.name}'s card applies to its labels"
        yield Finding(case.name, "method", matches[0].card.name, standing=Standing.NOT_IMPLEMENTED, note=note)


def _check_one(match: Match, arrays: Mapping[str, Array], run: Runner) -> Finding:
    table, subject = match.table, match.card.name
    if table.given:
        return check_traces(match, arrays, run, _how(match))
    written: list[dict[str, Array | str]] = []
    seconds = 0.0
    for trial in goldens.trials_of(match, arrays):
        with run(trial) as result:
            if result.verdict is not Verdict.OK:
                note = f"the run ended with {result.verdict}: {result.reason}"
                return Finding(match.case.name, "method", subject, standing=Standing.FAILED, note=note)
            asked = trial.inputs["folds"] == TEST
            written.append(
                {name: _written(table.compare[name].of or name, result.out, asked) for name in table.compare}
            )
            seconds += result.wall_s
    found = tuple(
        _check_array(name, tolerance, arrays, [one[name] for one in written], asked)
        for name, tolerance in table.compare.items()
    )
    compared = any(one.error is not None for one in found)
    return Finding(
        match.case.name,
        "method",
        subject,
        arrays=found,
        standing=Standing.OK if compared else Standing.FAILED,
        note=_how(match) if compared else "none of the arrays to compare is in the golden",
        seconds=seconds,
    )


def _check_array(
    name: str, tolerance: Tolerance, arrays: Mapping[str, Array], written: Sequence[Array | str], asked: Array
) -> ArrayFinding:
    """Compare what one run wrote, or the rows that several runs did."""
    if name not in arrays:
        return ArrayFinding(name, Standing.ABSENT, note="not in the golden")
    for fault in written:
        if isinstance(fault, str):
            return ArrayFinding(name, Standing.FAILED, note=f"the run left no such {fault}")
    golden, ours = arrays[name], np.asarray(written[0] if len(written) == 1 else np.stack(written))
    if golden.shape == asked.shape != ours.shape and ours.size == asked.sum():
        # the original wrote all pairs and answered those that were asked for
        golden = golden[asked]
    if tolerance.repeated and ours.size and golden.size % ours.size == 0:
        ours = np.broadcast_to(ours.reshape(-1), golden.reshape(-1, ours.size).shape)
    return compare(name, ours, golden, tolerance)


def _written(name: str, out: Path, asked: Array) -> Array | str:
    """What the run wrote under the golden's name, or what is missing."""
    if name == _OF_THE_REPORT:
        try:
            iterations = read_report(out / METHOD).iterations
        except (OSError, InvalidPredictions) as error:
            return f"number: {error}"
        return np.asarray(iterations, dtype=np.float64) if iterations else f"number in {METHOD}"
    # a golden may group its arrays (init/weight); the protocol's traces lie in one folder
    written = f"{name.replace('/', '.')}.npy"
    path = out / "predictions.npy" if name == _OF_THE_WHOLE else out / "trace" / written
    try:
        descr, stored, _ = read_header(path)
        array = read_npy(path, descr, stored)
    except (OSError, NotNpy) as error:
        return f"array: {error}"
    return array.reshape(asked.shape) if name == _OF_THE_WHOLE and asked.all() else array.squeeze()


def _how(match: Match) -> str:
    """What a reader must know to judge the comparison."""
    table = match.table
    told = [] if table.variant == "published" else [f"variant {table.variant}"]
    told += [] if table.task == "predict" else [f"task {table.task}"]
    told += [f"{name} = {value}" for name, value in table.parameters.items()]
    reason = " ".join(table.reason.split())
    return "; ".join(told) + (f" ({reason})" if reason and told else reason)
