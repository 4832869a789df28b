"""What every method in Python stands on, whatever its benchmark: the job comes in, the answer goes out.

A benchmark's own file makes problems of a job and writes what was answered (`Work`). Reading, seeding, measuring
and golden cases are done here, once, so that a method holds nothing but its algorithm.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import platform
import random
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

PROTOCOL = 1
TYPES = ("|i1", "|u1", "<i4", "<i8", "<f4", "<f8")
# golden cases are not bound to two dimensions, neither in what they hand over nor in what is traced
DIMENSIONS, ANY = 2, math.inf

Array = npt.NDArray[Any]
# JSON Lines: texts, or whatever values a benchmark defines
Given = Array | list[Any]


@dataclass(frozen=True)
class Job:
    """What /in holds: job.json, the inputs that it names, and where the answer goes."""

    document: Mapping[str, Any]
    inputs: Mapping[str, Given]
    out: Path

    @property
    def seed(self) -> int:
        """The job's own; generators follow the parameter fit_seed where there is one."""
        return int(self.document["seed"])

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The variant's, by name."""
        parameters: Mapping[str, Any] = self.document["parameters"]
        return parameters

    @property
    def trace(self) -> bool:
        """Whether arrays for comparison with goldens are wanted."""
        return bool(self.document["trace"])


@dataclass(frozen=True)
class Case:
    """A golden case of single steps: arrays by their golden names, and what is written beside them."""

    arrays: Mapping[str, Any]
    about: Mapping[str, Any]


P = TypeVar("P", covariant=True)
A = TypeVar("A", contravariant=True)


class Work(Protocol[P, A]):
    """What a benchmark's own file does with a job."""

    def problems(self) -> Iterator[P]:
        """One for each model that is to be fitted."""

    def keep(self, answer: A) -> None:
        """Take what is asked for out of the answer to the latest problem."""

    def report(self) -> dict[str, Any]:
        """What method.json says of the answers beside what is measured; all other files are written by now."""


Problem = TypeVar("Problem")
Answer = TypeVar("Answer")


def perform(begin: Callable[[Job], Work[Problem, Answer]], fit_predict: Callable[[Problem], Answer]) -> None:
    """Do the job in $PERMAFROST_IN (/in) and write its answer to $PERMAFROST_OUT (/out).

    Where a notebook has imported the main file, $PERMAFROST_NOTEBOOK, nothing is fitted: the first problem becomes
    `problem` there.
    """
    job = _job()
    if main := os.environ.get("PERMAFROST_NOTEBOOK"):
        problem = next(begin(job).problems())
        vars(sys.modules[Path(main).stem]).update(problem=problem, fit_predict=fit_predict)
        _seed(job)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        if job.document["task"] == "predict":
            report = _models(job, begin(job), fit_predict)
        else:
            report = _golden(job, begin)
    told = sorted({f"{warning.category.__name__}: {warning.message}" for warning in caught})
    report |= {"protocol": PROTOCOL, "warnings": told, **_measured()}
    # last, so that a method.json says that everything before it was written
    (job.out / "method.json").write_text(json.dumps(report, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_npy(path: Path, *, dimensions: float = DIMENSIONS) -> Array:
    """An array of the protocol: one of six types, at most so many dimensions, row by row."""
    array: Array = np.load(path, allow_pickle=False)
    if not array.flags.c_contiguous:
        raise ValueError(f"{path}: an array column by column is not part of the protocol")
    return _checked(path, array, dimensions)


def write_npy(path: Path, array: Array, *, dimensions: float = DIMENSIONS) -> None:
    """The same, outwards."""
    array = _checked(path, np.asarray(array, order="C"), dimensions)
    with path.open("wb") as stream:
        np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)


def read_jsonl(path: Path) -> list[Any]:
    """The values of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def write_jsonl(path: Path, values: Iterable[Any]) -> None:
    """The same, outwards: one value a line."""
    lines = (json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False) for value in values)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_traces(job: Job, arrays: Mapping[str, Any]) -> None:
    """Arrays for the harness to compare with goldens, name by name; a golden may group its names with `/`."""
    for name, array in arrays.items():
        (job.out / "trace").mkdir(exist_ok=True)
        write_npy(job.out / "trace" / f"{name.replace('/', '.')}.npy", np.asarray(array), dimensions=ANY)


def _checked(path: Path, array: Array, dimensions: float) -> Array:
    if array.dtype.str not in TYPES or array.ndim > dimensions:
        raise ValueError(f"{path}: {array.dtype.str} with {array.ndim} dimensions is not part of the protocol")
    return array


def _job() -> Job:
    inward = Path(os.environ.get("PERMAFROST_IN", "/in"))
    document = json.loads((inward / "job.json").read_text(encoding="utf-8"))
    if document["protocol"] != PROTOCOL:
        raise ValueError(f"the job speaks protocol {document['protocol']}, this method speaks {PROTOCOL}")
    most = DIMENSIONS if document["task"] == "predict" else ANY
    files = {name: inward / described["file"] for name, described in document["inputs"].items()}
    inputs = {
        name: read_jsonl(file) if file.suffix == ".jsonl" else read_npy(file, dimensions=most)
        for name, file in files.items()
    }
    return Job(document, inputs, Path(os.environ.get("PERMAFROST_OUT", "/out")))


def _seed(job: Job) -> None:
    """All generators that a method may draw from without making its own."""
    seed = int(job.parameters.get("fit_seed", job.seed))
    random.seed(seed)
    np.random.seed(seed % 2**32)
    # a method that uses torch has imported it by now
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)


def _models(job: Job, work: Work[Problem, Answer], fit_predict: Callable[[Problem], Answer]) -> dict[str, Any]:
    """Fit a model for every problem."""
    fit, predict = [], []
    for problem in work.problems():
        _seed(job)
        started = time.perf_counter()
        answer = fit_predict(problem)
        fitted = time.perf_counter()
        work.keep(answer)
        fit.append(fitted - started)
        predict.append(time.perf_counter() - fitted)
    return {"seconds": {"fit": fit, "predict": predict}, **work.report()}


def _golden(job: Job, begin: Callable[[Job], Work[Any, Any]]) -> dict[str, Any]:
    """Have a golden case replayed: a whole answer, or single steps, which leave traces alone."""
    # in no image: `harness parity` mounts what replays golden cases
    replay = getattr(importlib.import_module("golden"), job.document["task"])
    if "about" not in job.inputs:
        return _models(job, begin(job), replay)
    _seed(job)
    started = time.perf_counter()
    arrays = dict(job.inputs)
    (about,) = arrays.pop("about")
    write_traces(job, replay(Case(arrays, json.loads(about))))
    return {"seconds": {"fit": [time.perf_counter() - started], "predict": []}, "iterations": None}


def _measured() -> dict[str, Any]:
    """What this process and its children used, by the kernel's own counts, and by which versions."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    if torch := sys.modules.get("torch"):
        # the last bits of an answer depend on both
        kernels = os.environ.get("ATEN_CPU_CAPABILITY", "chosen by torch")
        versions |= {"torch": str(torch.__version__), "kernels": kernels}
    return {
        "cpu_seconds": sum(one.ru_utime + one.ru_stime for one in usage),
        # not this process's ru_maxrss, which begins with what the starting program held
        "peak_memory_bytes": max(_high_water_mark(), usage[1].ru_maxrss * 1024),
        "versions": versions,
    }


def _high_water_mark() -> int:
    """VmHWM: the most memory this process held at once."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
