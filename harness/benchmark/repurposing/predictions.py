"""Reading what a container wrote, trusting nothing: each fault has a reason that names file, place and value.

Nothing is loaded before its kind, size and header are checked; nothing is ever unpickled.
"""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.data.npy import NotNpy, read_npy
from harness.runs import InvalidPredictions
from harness.splits.folds import TEST, Folds

PREDICTIONS, VALIDATION, LOWEST, METHOD = "predictions.npy", "validation.npy", "lowest.npy", "method.json"
_LONGEST_REPORT = 1 << 20
_PROTOCOL = 1

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Scores of the test pairs by every model, of the training pairs by the model that did not see them, and each
    model's smallest score other than zero over all pairs (for the published treatment of zeros)."""

    test: Scores
    validation: Scores | None
    lowest: Scores


def read_predictions(folder: Path, folds: Folds, inner_folds: int) -> Predictions:
    """The predictions of one run, in the shapes the job asked for."""
    models, tested = max(inner_folds, 1), int((folds == TEST).sum())
    _check_report(folder)
    test = _scores(folder, PREDICTIONS, (models, tested))
    validation = _scores(folder, VALIDATION, (int((folds >= 0).sum()),)) if inner_folds else None
    if not inner_folds and _kind(folder, VALIDATION) is not None:
        raise InvalidPredictions(f"{VALIDATION}: was written, though the job has no inner models")
    lowest = _scores(folder, LOWEST, (models,))
    for model in range(models):
        known = [test[model]] if validation is None else [test[model], validation[folds[folds >= 0] == model]]
        _check_lowest(model, float(lowest[model]), np.concatenate(known))
    return Predictions(test=test, validation=validation, lowest=lowest)


def _check_lowest(model: int, lowest: float, known: Scores) -> None:
    """The smallest score other than 0 over all pairs can't be above one of those that are known here."""
    known = known[known != 0]
    if len(known) and (lowest == 0 or lowest > known.min()):
        raise InvalidPredictions(
            f"{LOWEST}: model {model} tells {lowest:g} as its smallest score but 0, and scored {known.min():g}"
        )


def _scores(folder: Path, name: str, shape: tuple[int, ...]) -> Scores:
    path = _regular(folder, name)
    longest = 8 * int(np.prod(shape, dtype=np.int64)) + 10 + 4096
    size = path.stat().st_size
    if size > longest:
        raise InvalidPredictions(f"{name}: has {size} bytes, more than the {longest} a valid file can have")
    try:
        scores = read_npy(path, "<f8", shape)
    except NotNpy as error:
        raise InvalidPredictions(f"{name}: {error}") from None
    except OSError as error:
        raise InvalidPredictions(f"{name}: can't be read: {error.strerror}") from None
    _check_finite(name, scores)
    return scores


def _check_finite(name: str, scores: Scores) -> None:
    wrong = ~np.isfinite(scores)
    if not wrong.any():
        return
    place = np.argwhere(wrong)[0]
    told = f"model {place[0]}, item {place[1]}" if scores.ndim == 2 else f"item {place[0]}"
    count = int(wrong.sum())
    values = "value is" if count == 1 else "values are"
    raise InvalidPredictions(f"{name}: {count} {values} not finite, first at {told}: {scores[tuple(place)]}")


def _check_report(folder: Path) -> None:
    """`method.json` is written last, so without it the files beside it may be cut."""
    path = _regular(folder, METHOD)
    if path.stat().st_size > _LONGEST_REPORT:
        raise InvalidPredictions(f"{METHOD}: has more than {_LONGEST_REPORT} bytes")
    try:
        report: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise InvalidPredictions(f"{METHOD}: is not JSON") from None
    if not isinstance(report, dict):
        raise InvalidPredictions(f"{METHOD}: is not a JSON object")
    if report.get("protocol") != _PROTOCOL:
        raise InvalidPredictions(f"{METHOD}: speaks protocol {report.get('protocol')!r}, the job {_PROTOCOL}")


def _kind(folder: Path, name: str) -> int | None:
    """The mode of what lies under this name; a link is not followed."""
    try:
        return (folder / name).lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _regular(folder: Path, name: str) -> Path:
    """A plain file directly in the folder, and no other name for a file elsewhere."""
    mode = _kind(folder, name)
    if mode is None:
        raise InvalidPredictions(f"{name}: is missing")
    if stat.S_ISLNK(mode):
        raise InvalidPredictions(f"{name}: is a symbolic link, not a file")
    if not stat.S_ISREG(mode):
        raise InvalidPredictions(f"{name}: is not a plain file")
    path = folder / name
    if path.stat().st_size == 0:
        raise InvalidPredictions(f"{name}: is empty")
    return path
