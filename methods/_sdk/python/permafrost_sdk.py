"""What a method in Python sees of the harness: the job comes in, the scores go out.

A method's `main.py` ends with `run(fit_predict)`. For each inner model, `run` hides the items that model must
not see, seeds the generators, calls `fit_predict(problem)` and keeps the scores the protocol asks for. Reading,
writing and measuring happen here, once, so that a method holds nothing but its algorithm.
"""

from __future__ import annotations

import json
import os
import platform
import random
import resource
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

PROTOCOL = 1
TYPES = ("|i1", "|u1", "<i4", "<i8", "<f4", "<f8")
TEST = -1

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Problem:
    """What one inner model may know: labels with its held-out items at 0, which pairs it may train on (labels of 0
    do not tell), the declared inputs, the parameters.

    `asked` are the sets of pairs whose scores are kept, each a mask: the test items, then what this model must not
    see. Only an original that scores pair lists, and not each pair by itself, needs to know them.
    """

    associations: Array
    training: Array
    inputs: Mapping[str, Array]
    parameters: Mapping[str, Any]
    seed: int
    model: int
    trace: bool
    asked: tuple[Array, ...]


@dataclass(frozen=True)
class Answer:
    """Scores of all pairs; the iterations it took and arrays to compare with goldens where a method has them."""

    scores: Array
    iterations: int | None = None
    trace: Mapping[str, Array] = field(default_factory=dict)


Task = Callable[[Problem], Answer]


def read_npy(path: Path) -> Array:
    """An array of the protocol: one of six types, at most two dimensions, row by row."""
    array: Array = np.load(path, allow_pickle=False)
    if array.dtype.str not in TYPES or array.ndim > 2 or not array.flags.c_contiguous:
        raise ValueError(f"{path}: {array.dtype.str} with {array.ndim} dimensions is not part of the protocol")
    return array


def write_npy(path: Path, array: Array) -> None:
    """The same, outwards."""
    array = np.asarray(array, order="C")
    if array.dtype.str not in TYPES or array.ndim > 2:
        raise ValueError(f"{path}: {array.dtype.str} with {array.ndim} dimensions is not part of the protocol")
    with path.open("wb") as stream:
        np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)


def run(fit_predict: Task, **other_tasks: Task) -> None:
    """Do the job in $PERMAFROST_IN (/in) and write its answer to $PERMAFROST_OUT (/out)."""
    inward = Path(os.environ.get("PERMAFROST_IN", "/in"))
    outward = Path(os.environ.get("PERMAFROST_OUT", "/out"))
    job = json.loads((inward / "job.json").read_text(encoding="utf-8"))
    if job["protocol"] != PROTOCOL:
        raise ValueError(f"the job speaks protocol {job['protocol']}, this method speaks {PROTOCOL}")
    task = {"predict": fit_predict, **other_tasks}[job["task"]]
    inputs = {name: read_npy(inward / told["file"]) for name, told in job["inputs"].items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        report = _models(job, task, inputs, outward)
    report["warnings"] = sorted({f"{warning.category.__name__}: {warning.message}" for warning in caught})
    report.update(_measured())
    # last, so that a method.json says that everything before it was written
    (outward / "method.json").write_text(json.dumps(report, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _models(job: dict[str, Any], task: Task, inputs: dict[str, Array], outward: Path) -> dict[str, Any]:
    """Fit every inner model and write what the protocol asks of it."""
    associations, folds = inputs.pop("associations"), inputs.pop("folds")
    # a golden asks for every pair, so that its folds can't tell which were training
    known = inputs.pop("training", folds >= 0).astype(bool)
    inner_folds = int(job["inner_folds"])
    test, training = folds == TEST, folds >= 0
    predictions = np.zeros((max(inner_folds, 1), int(test.sum())))
    validation = np.zeros(folds.shape)
    lowest = np.zeros(len(predictions))
    fit, predict, iterations = [], [], []
    for model in range(len(predictions)):
        held_out = (folds == model) if inner_folds else np.zeros(folds.shape, dtype=bool)
        seed = int(job["parameters"].get("fit_seed", job["seed"]))
        random.seed(seed)
        np.random.seed(seed % 2**32)
        masked = np.where(held_out, 0, associations).astype(associations.dtype)
        started = time.perf_counter()
        traced = bool(job["trace"]) and model == 0
        asked = (test, held_out) if inner_folds else (test,)
        answer = task(
            Problem(masked, known & ~held_out, inputs, job["parameters"], int(job["seed"]), model, traced, asked)
        )
        fitted = time.perf_counter()
        if answer.scores.shape != folds.shape:
            raise ValueError(f"scores of shape {answer.scores.shape} for {folds.shape} drugs x diseases")
        predictions[model] = answer.scores[test]
        validation[held_out] = answer.scores[held_out]
        lowest[model] = _lowest(answer.scores)
        fit.append(fitted - started)
        predict.append(time.perf_counter() - fitted)
        iterations.append(answer.iterations)
        for name, array in answer.trace.items() if traced else ():
            (outward / "trace").mkdir(exist_ok=True)
            write_npy(outward / "trace" / f"{name}.npy", array)
    write_npy(outward / "predictions.npy", predictions)
    write_npy(outward / "lowest.npy", lowest)
    if inner_folds:
        write_npy(outward / "validation.npy", validation[training])
    return {
        "protocol": PROTOCOL,
        "seconds": {"fit": fit, "predict": predict},
        "iterations": None if None in iterations else iterations,
    }


def _lowest(scores: Array) -> float:
    """The smallest score other than zero: the published scorer replaces zeros by a number made from it."""
    scored = scores[scores != 0]
    return float(scored.min()) if scored.size else 0.0


def _measured() -> dict[str, Any]:
    """What this process and its children used, by the kernel's own counts."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "cpu_seconds": sum(one.ru_utime + one.ru_stime for one in usage),
        # not this process's ru_maxrss, which begins with what the starting program held
        "peak_memory_bytes": max(_high_water_mark(), usage[1].ru_maxrss * 1024),
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
    }


def _high_water_mark() -> int:
    """VmHWM: the most memory this process held at once."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
