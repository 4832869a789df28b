"""Probe methods, one per language, that show what their SDK told them: used to test the SDKs, not to predict.

Python's runs on this machine, R's in LRSSL's image.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from harness.base.layout import Layout
from harness.images import ensure_image
from tests.methods.frozen import run_in_image

# Scores tell label, model, drug and disease; the trace tells the seed's first draw.
_PROBES = {
    "python": """
import random
import numpy as np
from repurposing_sdk import Answer, run
def fit_predict(problem):
    labels = problem.associations.astype(float)
    drugs, diseases = np.indices(labels.shape)
    scores = labels * 1000 + (problem.model + 1) * 100 + drugs * 10 + diseases
    if problem.parameters.get("cut"): scores = scores[1:]
    if problem.parameters.get("zeros"): scores = scores * 0
    if problem.parameters.get("warn"): np.log(np.zeros(1))
    draw = np.array([np.random.rand(), random.random()])
    return Answer(scores, problem.model + 7, {"seen": labels, "draw": draw})
run(fit_predict)
""",
    "r": """
source(file.path(Sys.getenv("PERMAFROST_SDK"), "repurposing.R"))
fit_predict <- function(problem) {
  labels <- problem$associations
  scores <- labels * 1000 + (problem$model + 1) * 100 + (row(labels) - 1) * 10 + col(labels) - 1
  if (isTRUE(problem$parameters$cut)) scores <- scores[-1, ]
  if (isTRUE(problem$parameters$zeros)) scores <- scores * 0
  if (isTRUE(problem$parameters$warn)) warning("divide by zero")
  list(scores = scores, iterations = problem$model + 7, trace = list(seen = labels + 0, draw = runif(2)))
}
repurposing_run(fit_predict)
""",
}
# what `harness parity` mounts beside the SDK
_GOLDEN = """
from repurposing_sdk import Answer
def other(problem):
    return Answer(problem.associations * 0.0 + 5, trace={"given": problem.inputs["given"]})
"""
LANGUAGES = ("python", pytest.param("r", marks=pytest.mark.engine))
_PROGRAMS = {"python": (sys.executable, "-B"), "r": ("Rscript", "--vanilla")}
_SUFFIXES = {"python": ".py", "r": ".R"}

Array = npt.NDArray[np.generic]
Execute = Callable[[Sequence[str], Mapping[str, str]], subprocess.CompletedProcess[str]]


def on_this_machine(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """By the interpreter that runs the tests."""
    everything = {**os.environ, **environment}
    return subprocess.run(command, env=everything, capture_output=True, text=True, timeout=120, check=False)


class Probe:
    """Writes a job, runs the probe of one language, and reads the answer."""

    def __init__(self, layout: Layout, language: str, folder: Path, execute: Execute = on_this_machine) -> None:
        self.sdk = folder / "sdk"
        for source in (layout.methods / "_sdk" / language, layout.benchmarks / "repurposing" / "sdk" / language):
            shutil.copytree(source, self.sdk, dirs_exist_ok=True)
        (self.sdk / "golden.py").write_text(_GOLDEN)
        self.language = language
        self._execute = execute
        self.inward, self.outward = folder / "in", folder / "out"
        self.inward.mkdir()
        self.outward.mkdir()
        # a container's user is another one
        for writable in (folder, self.outward):
            writable.chmod(0o777)
        self.main = folder / f"main{_SUFFIXES[language]}"
        self.main.write_text(_PROBES[language])

    def run(
        self, inputs: dict[str, Array], *, inner_folds: int, **job: object
    ) -> subprocess.CompletedProcess[str]:
        """One job; `job` overrides any of its fields."""
        described = {}
        for name, array in inputs.items():
            np.save(self.inward / f"{name}.npy", array)
            described[name] = {"file": f"{name}.npy"}
        document = {
            "protocol": 1,
            "task": "predict",
            "seed": 5,
            "parameters": {},
            "inner_folds": inner_folds,
            "inputs": described,
            "trace": False,
            **job,
        }
        (self.inward / "job.json").write_text(json.dumps(document))
        return self.execute([*_PROGRAMS[self.language], str(self.main)])

    def execute(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Any command with the SDK in reach."""
        told = {"IN": self.inward, "OUT": self.outward, "SDK": self.sdk}
        environment = {f"PERMAFROST_{name}": str(path) for name, path in told.items()}
        return self._execute(command, {**environment, "PYTHONPATH": str(self.sdk)})

    def read(self, name: str) -> npt.NDArray[np.float64]:
        """An array of the answer."""
        return np.asarray(np.load(self.outward / f"{name}.npy"), dtype=np.float64)

    @property
    def report(self) -> dict[str, object]:
        """method.json."""
        content: dict[str, object] = json.loads((self.outward / "method.json").read_text())
        return content


def make_probe(request: pytest.FixtureRequest, language: str, folder: Path) -> Probe:
    """The probe of one language; every path in R's container is the path it has here."""
    layout: Layout = request.getfixturevalue("layout")
    if language == "python":
        return Probe(layout, language, folder)
    engine = request.getfixturevalue("engine")
    image_id = ensure_image(engine, layout, "lrssl").image_id
    mounts = {folder: (str(folder), "rw")}
    return Probe(
        layout,
        language,
        folder,
        lambda command, environment: run_in_image(engine, image_id, command, mounts, environment),
    )
