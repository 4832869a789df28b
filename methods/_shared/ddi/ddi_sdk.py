"""What a method of benchmark `ddi` sees of the harness: pairs of drugs come in, scores of every type go out.

A method's `main.py` ends with `run(fit_predict)`. Reading, seeding, writing and measuring happen here, once, so
that a method holds nothing but its algorithm. Labels of test pairs are not among what there is to read.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from permafrost_sdk import PROTOCOL, _measured

SETTINGS = ("S0", "S1", "S2")

Array = npt.NDArray[Any]
Given = Array | list[str]


@dataclass(frozen=True)
class Items:
    """Pairs of drugs (head, tail) with what is known of them, in the order of the split.

    Labels are a type per pair, or for several types at once +1, -1 (the pair stands for the lack of the type) or
    0 (nothing said). The setting numbers SETTINGS; training items are all S0.
    """

    pairs: Array
    labels: Array
    setting: Array


@dataclass(frozen=True)
class Problem:
    """What a method may know. `inputs` are those its card declares, by name."""

    drugs: int
    types: int
    entities: int
    relations: int
    multilabel: bool
    train: Items
    valid: Items
    test_pairs: Array
    test_setting: Array
    inputs: Mapping[str, Given]
    parameters: Mapping[str, Any]
    seed: int


@dataclass(frozen=True)
class Answer:
    """Scores of every type for every test pair; how many epochs, and which one's model answered each setting."""

    scores: Array
    epochs: int
    chosen: Mapping[str, int]
    losses: Sequence[float] = ()
    # the validation metric of the chosen model, by setting: what hyper-parameters may be chosen by
    validation: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A golden case: arrays by their golden names, and what is written beside them."""

    arrays: Mapping[str, Given]
    about: Mapping[str, Any]


def run(fit_predict: Callable[[Problem], Answer], **other_tasks: Callable[[Case], Mapping[str, Any]]) -> None:
    """Do the job in $PERMAFROST_IN (/in) and write its answer to $PERMAFROST_OUT (/out)."""
    inward = Path(os.environ.get("PERMAFROST_IN", "/in"))
    outward = Path(os.environ.get("PERMAFROST_OUT", "/out"))
    job = json.loads((inward / "job.json").read_text(encoding="utf-8"))
    if job["protocol"] != PROTOCOL:
        raise ValueError(f"the job speaks protocol {job['protocol']}, this method speaks {PROTOCOL}")
    given = {name: _read(inward / told["file"]) for name, told in job["inputs"].items()}
    _seed(int(job["seed"]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        if job["task"] == "predict":
            report = _predict(fit_predict, job, given, outward)
        else:
            report = _trace(other_tasks[job["task"]], given, outward)
    told = sorted({f"{warning.category.__name__}: {warning.message}" for warning in caught})
    report |= {"protocol": PROTOCOL, "warnings": told, **_measured()}
    if torch := sys.modules.get("torch"):
        # the last bits of an answer depend on both
        kernels = os.environ.get("ATEN_CPU_CAPABILITY", "chosen by torch")
        report["versions"] |= {"torch": str(torch.__version__), "kernels": kernels}
    # last, so that a method.json says that everything before it was written
    (outward / "method.json").write_text(json.dumps(report, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _predict(
    fit_predict: Callable[[Problem], Answer], job: dict[str, Any], given: dict[str, Given], outward: Path
) -> dict[str, Any]:
    started = time.perf_counter()
    problem = _problem(job, given)
    answer = fit_predict(problem)
    scores = np.ascontiguousarray(answer.scores, dtype="<f4")
    if scores.shape != (len(problem.test_pairs), problem.types):
        wanted = f"{len(problem.test_pairs)} pairs x {problem.types} types"
        raise ValueError(f"scores of shape {scores.shape} for {wanted}")
    _write(outward / "predictions.npy", scores)
    return {
        # a method of this benchmark answers while it trains: there is no prediction to time apart
        "seconds": {"fit": [time.perf_counter() - started], "predict": []},
        "iterations": [answer.epochs],
        "chosen": dict(answer.chosen),
        "validation": {setting: _finite(value) for setting, value in answer.validation.items()},
        "losses": [_finite(loss) for loss in answer.losses],
    }


def _finite(value: float) -> float | None:
    """JSON has no number for what is none."""
    return float(value) if np.isfinite(value) else None


def _trace(task: Callable[[Case], Mapping[str, Any]], given: dict[str, Given], outward: Path) -> dict[str, Any]:
    """A golden case: what the task returns is compared by the harness, name by name."""
    started = time.perf_counter()
    about = given.pop("about")
    found = task(Case(given, json.loads(about[0])))
    (outward / "trace").mkdir()
    for name, array in found.items():
        _write(outward / "trace" / f"{name.replace('/', '.')}.npy", np.asarray(array))
    return {"seconds": {"fit": [time.perf_counter() - started], "predict": []}, "iterations": None}


def _problem(job: dict[str, Any], given: dict[str, Given]) -> Problem:
    drugs, types, entities, relations = (int(size) for size in given.pop("sizes"))
    pairs, labels = _pairs(given, "train"), given.pop("train_labels")
    train = Items(pairs, labels, np.zeros(len(pairs), dtype=np.int8))
    valid = Items(_pairs(given, "valid"), given.pop("valid_labels"), given.pop("valid_setting"))
    return Problem(
        drugs=drugs,
        types=types,
        entities=entities,
        relations=relations,
        multilabel=train.labels.ndim == 2,
        train=train,
        valid=valid,
        test_pairs=_pairs(given, "test"),
        test_setting=given.pop("test_setting"),
        inputs=given,
        parameters=job["parameters"],
        seed=int(job["seed"]),
    )


def _pairs(given: dict[str, Given], part: str) -> Array:
    return np.asarray(given.pop(f"{part}_pairs"), dtype=np.int64)


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    # a method that uses torch has imported it by now
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)


def _read(path: Path) -> Given:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    array: Array = np.load(path, allow_pickle=False)
    return array


def _write(path: Path, array: Array) -> None:
    with path.open("wb") as stream:
        np.lib.format.write_array(stream, np.asarray(array, order="C"), version=(1, 0), allow_pickle=False)
