"""The result of a comparison with a golden case, and of each of its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.methods.card import Tolerance

Array = npt.NDArray[Any]


class Standing(StrEnum):
    """Where a case or one of its arrays stands."""

    OK = "ok"
    BEYOND = "beyond"
    ABSENT = "absent"
    FAILED = "failed"
    MISSING_DATA = "missing-data"
    OTHER_PROCESSOR = "other processor"
    NOT_IMPLEMENTED = "not implemented yet"

    @property
    def is_bad(self) -> bool:
        """Whether parity was checked and does not hold."""
        return self in (Standing.BEYOND, Standing.FAILED)


@dataclass(frozen=True)
class ArrayFinding:
    """One array: the largest error, what was allowed, and where that leaves it."""

    array: str
    standing: Standing
    error: float | None = None
    allowed: float | None = None
    note: str = ""


@dataclass(frozen=True)
class CaseFinding:
    """One golden case under one table of a card, or under the harness's own metrics and splits."""

    case: str
    kind: str
    subject: str
    arrays: tuple[ArrayFinding, ...] = ()
    standing: Standing = Standing.OK
    note: str = ""
    seconds: float | None = None

    @property
    def worst(self) -> Standing:
        """Bad where the case itself or one of its arrays is."""
        return next((array.standing for array in self.arrays if array.standing.is_bad), self.standing)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "case": self.case,
            "kind": self.kind,
            "subject": self.subject,
            "verdict": str(self.worst),
            "note": self.note,
            "seconds": self.seconds,
            "arrays": [
                {
                    "array": array.array,
                    "verdict": str(array.standing),
                    "largest_error": _number(array.error),
                    "tolerance": array.allowed,
                    "note": array.note,
                }
                for array in self.arrays
            ],
        }


def compare(name: str, ours: Array, golden: Array, tolerance: Tolerance) -> ArrayFinding:
    """Compare two arrays by their largest difference, or by the mean one where the tolerance is for it.

    Allowed is the larger of the absolute tolerance and the relative one times the largest golden magnitude; where
    the golden is not finite, ours must be the same. Or the error is what a correlation lacks of 1.
    """
    golden, ours = np.asarray(golden, dtype=np.float64).squeeze(), np.asarray(ours, dtype=np.float64).squeeze()
    if golden.shape != ours.shape:
        return ArrayFinding(name, Standing.BEYOND, note=f"shape {ours.shape} instead of {golden.shape}")
    if tolerance.correlation:
        # equal numbers correlate with nothing: NaN, which is beyond every bound
        with np.errstate(invalid="ignore", divide="ignore"):
            lack = 1 - float(np.corrcoef(golden.ravel(), ours.ravel())[0, 1])
        standing = Standing.OK if lack <= 1 - tolerance.correlation else Standing.BEYOND
        return ArrayFinding(name, standing, lack, 1 - tolerance.correlation, "1 - correlation")
    if tolerance.either_sign:
        ours = np.where((ours * golden).sum(axis=0) < 0, -ours, ours)
    finite = np.isfinite(golden)
    magnitude = float(np.abs(golden[finite]).max(initial=0.0))
    allowed = max(tolerance.absolute, tolerance.relative * magnitude)
    if not np.array_equal(ours[~finite], golden[~finite], equal_nan=True):
        return ArrayFinding(name, Standing.BEYOND, allowed=allowed, note="other places are not finite")
    differences = np.abs(ours[finite] - golden[finite])
    if tolerance.each:
        # in units of what is allowed of each element; an absolute bound keeps zeros from asking for equality
        allowed = 1.0
        differences = differences / np.maximum(
            tolerance.relative * np.abs(golden[finite]), max(tolerance.absolute, np.finfo(np.float64).tiny)
        )
    error = float(differences.mean() if tolerance.mean and differences.size else differences.max(initial=0.0))
    # written so that NaN is never within a tolerance
    standing = Standing.OK if error <= allowed else Standing.BEYOND
    note = "the mean error, not the largest" if tolerance.mean else ""
    note = "in units of what is allowed of each element" if tolerance.each else note
    return ArrayFinding(name, standing, error, allowed, note)


def _number(value: float | None) -> float | str | None:
    """JSON has no word for numbers that are not finite."""
    return value if value is None or np.isfinite(value) else str(value)
