"""Golden cases of single steps: a method is handed arrays as they are stored, and what it traces is compared.

Every array of a case is handed over, compared, or named in the card with the reason why it is neither; a case with
any other array fails. What the card names so is never handed over, so no method can hand it back as its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.errors import CorruptData, MissingData
from harness.base.npy import NotNpy, read_header, read_npy
from harness.base.vocabulary import Verdict
from harness.execution.trials import Runner, Trial
from harness.methods.card import Tolerance, merged_parameters
from harness.parity.cases import Match, how
from harness.parity.finding import ArrayFinding, CaseFinding, Standing, compare
from harness.parity.goldens import UNREADABLE, Array, Golden

ABOUT = "about"


def trial_of(match: Match, golden: Golden, mirrored: Mapping[str, Array]) -> Trial:
    """The trial of a case: the arrays that the method is handed, and the notes beside them."""
    table, arrays = match.table, {**golden.arrays, **mirrored}
    inputs: dict[str, Any] = {
        name: _as_input(array)
        for name, array in arrays.items()
        if _matches(name, [*table.given, *table.mirrored]) and not _matches(name, table.absent)
    }
    # of what is compared a method may know how much there is: over how many steps
    shapes = {name: list(array.shape) for name, array in arrays.items() if name not in inputs}
    inputs[ABOUT] = [json.dumps({**golden.about, "shapes": shapes})]
    return Trial(
        card=match.card,
        benchmark=match.benchmark,
        inputs=inputs,
        parameters=merged_parameters(match.card, table.variant, table.parameters),
        seed=match.seed,
        variant=table.variant,
        task=table.task,
        trace=True,
        answers=False,
    )


def check_traces(match: Match, golden: Golden, run: Runner, mirrors: Sequence[Path]) -> CaseFinding:
    """Run one case and compare every array that the table has a tolerance for."""
    table = match.table
    goldens = {name: array for name, array in golden.arrays.items() if not _matches(name, table.absent)}
    if nobodys := [name for name in goldens if not _matches(name, [*table.given, *table.compare])]:
        return match.finding(Standing.FAILED, f"nobody reads or computes {', '.join(nobodys)}")
    if both := [name for name in goldens if _matches(name, table.given) and _matches(name, table.compare)]:
        return match.finding(Standing.FAILED, f"handed over, and so not to compare: {', '.join(both)}")
    try:
        mirrored = {name: _mirrored(file, mirrors) for name, file in table.mirrored.items()}
    except MissingData as lack:
        return match.finding(Standing.MISSING_DATA, str(lack))
    with run(trial_of(match, golden, mirrored)) as result:
        if result.verdict is not Verdict.OK:
            note = f"the run ended with {result.verdict}: {result.reason}"
            return match.finding(Standing.FAILED, note)
        findings = tuple(
            _array_finding(name, array, tolerance, result.out / "trace")
            for name, array in goldens.items()
            if (tolerance := _tolerance(name, table.compare))
        )
        seconds = result.wall_s
    if not findings:
        return match.finding(Standing.FAILED, "none of the arrays to compare is in the golden")
    remarks = [
        f"without {name} ({reason})"
        for name, reason in table.absent.items()
        if any(fnmatchcase(array, name) for array in golden.arrays)
    ]
    # a golden that was cut down must not look like one that holds all
    findings += tuple(
        ArrayFinding(pattern, Standing.ABSENT, note="not in the golden")
        for pattern in table.compare
        if not any(fnmatchcase(name, pattern) for name in goldens)
    )
    note = "; ".join(part for part in (how(match), *remarks) if part)
    return match.finding(Standing.OK, note, findings, seconds)


def _mirrored(file: str, mirrors: Sequence[Path]) -> Array:
    """An array of the originals, as `dataset.toml` files find theirs."""
    for path in (mirror / file for mirror in mirrors):
        if path.is_file():
            try:
                array: Array = np.load(path, allow_pickle=False) if path.suffix == ".npy" else np.loadtxt(path)
            except UNREADABLE as error:
                raise CorruptData(f"not an array: {error}", where=str(path), todo="get this file again") from None
            return np.asarray(array, order="C")
    raise MissingData("an input of this case is not here", where=file, todo="name a mirror that has it (--mirror)")


def _as_input(array: Array) -> Array | list[str]:
    """Texts as a list, and no integers of two bytes, which the protocol does not have."""
    if array.dtype.kind == "U":
        return [str(text) for text in np.atleast_1d(array)]
    return array.astype(np.int32) if array.dtype == np.int16 else array


def _array_finding(name: str, golden: Array, tolerance: Tolerance, folder: Path) -> ArrayFinding:
    path = folder / f"{name.replace('/', '.')}.npy"
    try:
        descr, shape, _ = read_header(path)
        ours = read_npy(path, descr, shape)
    except (OSError, NotNpy) as error:
        return ArrayFinding(name, Standing.FAILED, note=f"the run left no such array: {error}")
    return compare(name, ours, np.asarray(golden), tolerance)


def _tolerance(name: str, table: Mapping[str, Tolerance]) -> Tolerance | None:
    """The tolerance of the longest pattern that matches; None where none does."""
    patterns = [pattern for pattern in table if fnmatchcase(name, pattern)]
    return table[max(patterns, key=len)] if patterns else None


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
