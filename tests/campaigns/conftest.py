"""A repository with one more method, `probe`, which does what its parameters say; and workers that sleep."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.layout import Layout
from harness.benchmarks.repurposing.splits.seeds import published_seeds
from harness.planning.jobs import Job
from harness.planning.plan import Plan, make_plan
from harness.splits.spec import SplitSpec
from tests.campaigns.machines import Machines
from tests.campaigns.sleeping import MEANING
from tests.conftest import REPOSITORY

CARD = """
name = "probe"
title = "Probe"
language = "python"
benchmarks = ["repurposing"]
category = "control"
control = true
summary = "Does what its parameters say: for tests of the harness."
inputs = ["associations", "folds"]
published_order = "Its scores are drawn row by row."

[resources]
memory = "256MiB"
seconds = 20

[variants.published]
summary = "As told."
parameters = { behaviour = "ok", seconds = 0.0, last_words = "" }
"""

CODE = """
import json
import os
import sys
import time

import numpy as np
from repurposing_sdk import Answer, run


def fit_predict(problem):
    behaviour = problem.parameters["behaviour"]
    time.sleep(float(problem.parameters["seconds"]))
    if behaviour == "exit":
        sys.exit("told to fail")
    scores = np.random.default_rng(problem.seed).random(problem.associations.shape)
    if behaviour == "nan":
        scores[:] = np.nan
    if behaviour == "flaky":
        scores[:] = int.from_bytes(os.urandom(4), "big")
    return Answer(scores)


run(fit_predict)
with open("/in/job.json") as job:
    exec(json.load(job)["parameters"]["last_words"])
"""


@pytest.fixture
def probe_layout(repository: Layout, tmp_path: Path) -> Layout:
    """The repository with the probe added by two folders, and nothing else touched."""
    root = tmp_path / "repository"
    shutil.copytree(repository.containers, root / "containers")
    shutil.copytree(repository.datasets, root / "datasets")
    shutil.copytree(repository.methods, root / "methods", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Dockerfile", "run_all.sh"):
        shutil.copy(repository.root / name, root / name)
    (root / "methods" / "probe").mkdir()
    (root / "methods" / "probe" / "method.toml").write_text(CARD)
    (root / "methods" / "probe" / "main.py").write_text(CODE)
    (root / "containers" / "probe").mkdir()
    (root / "containers" / "probe" / "environment.toml").write_text('summary = "For tests"\nextends = "_numpy"\n')
    return Layout(root=root, cache=repository.cache, local=tmp_path / "local")


def probe_plan(
    layout: Layout, count: int, *, behaviour: str = "ok", seconds: float = 0.0, last_words: str = ""
) -> Plan:
    """The probe on the first published splits of Synthetic; `last_words` is code it runs once it has answered."""
    return make_plan(
        layout,
        "probe",
        [
            Job(
                benchmark="repurposing",
                method="probe",
                parameters={"behaviour": behaviour, "seconds": seconds, "last_words": last_words},
                dataset="synthetic",
                split=SplitSpec(strategy="random", seed=seed),
                options={"inner_folds": 0},
            )
            for seed in published_seeds()[:count]
        ],
    )


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    pytest.importorskip("distributed", reason="needs Dask: requirements/cluster.lock")
    machines = Machines(tmp_path_factory.mktemp("dask"))
    try:
        yield machines
    finally:
        machines.close()


@pytest.fixture(autouse=True)
def no_workers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test has the workers that it adds."""
    # asked for before the test, so that they are still there after it
    machines: Machines | None = request.getfixturevalue("machines") if "machines" in request.fixturenames else None
    yield
    while machines and machines.workers:
        machines.kill(0)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    monkeypatch.setattr("harness.execution.campaign.own_meaning", lambda: MEANING)
    monkeypatch.setattr("harness.execution.cluster.own_meaning", lambda: MEANING)
    (tmp_path / "local").mkdir()
    return Layout(root=REPOSITORY, cache=tmp_path / "cache", local=tmp_path / "local")
