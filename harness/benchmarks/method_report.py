"""The report of a method, `method.json`: strict JSON with the protocol's fields; an error names the field.

A method may tell more than the protocol asks for; what it tells must still be JSON that every reader understands.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, ValidationError

from harness.base.errors import InvalidPredictions

METHOD = "method.json"
_LONGEST_REPORT = 1 << 20
_PROTOCOL = 1
_MOST_DIGITS = 19
# between two readings of a clock, and for what was spent before the container's own clock began
_SLACK_S = 1.0

Number = StrictFloat | StrictInt


class Timings(BaseModel):
    """Seconds of fitting and of predicting, one number for each model."""

    model_config = ConfigDict(frozen=True)

    fit: list[Number] = []
    predict: list[Number] = []


class MethodReport(BaseModel):
    """The fields that the protocol knows; others are kept in the file and not read here."""

    model_config = ConfigDict(frozen=True)

    protocol: StrictInt
    seconds: Timings = Timings()
    cpu_seconds: Number | None = Field(default=None, ge=0)
    peak_memory_bytes: Number | None = Field(default=None, ge=0)
    iterations: list[Number | None] | None = None
    warnings: list[StrictStr] = []
    versions: dict[StrictStr, StrictStr] = {}


def read_report(path: Path) -> MethodReport:
    """The report of a run, or `InvalidPredictions` that names file and field."""
    if path.stat().st_size > _LONGEST_REPORT:
        raise InvalidPredictions(f"{METHOD}: has more than {_LONGEST_REPORT} bytes")
    content = _strict_json(path.read_bytes())
    if not isinstance(content, dict):
        raise InvalidPredictions(f"{METHOD}: is not a JSON object")
    spoken = content.get("protocol")
    if type(spoken) is not int or spoken != _PROTOCOL:
        raise InvalidPredictions(f"{METHOD}: speaks protocol {spoken!r}, the job {_PROTOCOL}")
    try:
        return MethodReport.model_validate(content)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(str(step) for step in fault["loc"])
        raise InvalidPredictions(f"{METHOD}: {field}: {fault['msg']}") from None


def _strict_json(text: bytes) -> Any:
    """A JSON value without what parsers read differently: NaN, endless numbers, a key twice."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except (ValueError, RecursionError):
        raise InvalidPredictions(f"{METHOD}: is not JSON") from None


def own_measurements(
    path: Path, *, wall_s: float, cpus: float
) -> tuple[int | None, float | None, tuple[str, ...]]:
    """Peak memory, CPU seconds, and warnings about numbers that are impossible on this machine and dropped."""
    try:
        report = read_report(path)
    except (OSError, InvalidPredictions):
        return None, None, ()
    warnings = []
    peak, seconds = report.peak_memory_bytes, report.cpu_seconds
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if peak is not None and peak > memory:
        warnings.append(f"{METHOD}: peak_memory_bytes {peak:g} is more than this machine has, and was dropped")
        peak = None
    most = wall_s * cpus + _SLACK_S
    if seconds is not None and seconds > most:
        warnings.append(f"{METHOD}: cpu_seconds {seconds:g} is more than {most:.1f} s can be, and was dropped")
        seconds = None
    return (
        None if peak is None else int(peak),
        None if seconds is None else float(seconds),
        tuple(warnings),
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidPredictions(f"{METHOD}: {twice}: is there twice")
    return content


def _constant(text: str) -> None:
    raise InvalidPredictions(f"{METHOD}: {text} is not JSON; write null")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidPredictions(f"{METHOD}: {text[:_MOST_DIGITS]} is beyond all numbers")
    return number


def _int(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise InvalidPredictions(f"{METHOD}: a number has {len(text)} digits, {_MOST_DIGITS} can be read")
    return int(text)
