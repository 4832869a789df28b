"""Checking golden cases: methods in their own containers, metrics and splits with the harness's own functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.data.npy import NotNpy, read_header, read_npy
from harness.layout import Layout
from harness.methods import MethodCard, Tolerance
from harness.parity import goldens, references
from harness.parity.cases import GoldenCase, Match, matches_of
from harness.parity.finding import ArrayFinding, Finding, Standing, compare
from harness.trials import Runner
from harness.vocabulary import Verdict

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
    table = match.table
    trial = goldens.trial_of(match, arrays)
    subject = match.card.name
    with run(trial) as result:
        if result.verdict is not Verdict.OK:
            note = f"the run ended with {result.verdict}: {result.reason}"
            return Finding(match.case.name, "method", subject, standing=Standing.FAILED, note=note)
        shape = trial.inputs["folds"].shape
        found = tuple(
            _check_array(name, tolerance, arrays, result.out, shape) for name, tolerance in table.compare.items()
        )
    compared = any(one.error is not None for one in found)
    return Finding(
        match.case.name,
        "method",
        subject,
        arrays=found,
        standing=Standing.OK if compared else Standing.FAILED,
        note=_how(match) if compared else "none of the arrays to compare is in the golden",
        seconds=result.wall_s,
    )


def _check_array(
    name: str, tolerance: Tolerance, arrays: Mapping[str, Array], out: Path, shape: tuple[int, ...]
) -> ArrayFinding:
    if name not in arrays:
        return ArrayFinding(name, Standing.ABSENT, note="not in the golden")
    try:
        ours = _written(name, out, shape)
    except (OSError, NotNpy) as error:
        return ArrayFinding(name, Standing.FAILED, note=f"the run left no such array: {error}")
    if ours is None:
        return ArrayFinding(name, Standing.FAILED, note="the run left no such number in method.json")
    return compare(name, ours, arrays[name], tolerance)


def _written(name: str, out: Path, shape: tuple[int, ...]) -> Array | None:
    """What the run wrote under the golden's name."""
    if name == _OF_THE_REPORT:
        iterations = json.loads((out / "method.json").read_bytes()).get("iterations")
        return np.asarray(iterations) if iterations else None
    # a golden may group its arrays (init/weight); the protocol's traces lie in one folder
    written = f"{name.replace('/', '.')}.npy"
    path = out / "predictions.npy" if name == _OF_THE_WHOLE else out / "trace" / written
    descr, stored, _ = read_header(path)
    array = read_npy(path, descr, stored)
    return array.reshape(shape) if name == _OF_THE_WHOLE else array


def _how(match: Match) -> str:
    """What a reader must know to judge the comparison."""
    table = match.table
    told = [] if table.variant == "published" else [f"variant {table.variant}"]
    told += [] if table.task == "predict" else [f"task {table.task}"]
    told += [f"{name} = {value}" for name, value in table.parameters.items()]
    reason = " ".join(table.reason.split())
    return "; ".join(told) + (f" ({reason})" if reason and told else reason)
