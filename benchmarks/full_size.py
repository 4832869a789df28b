"""Peak memory and CPU seconds of a method on random data of the largest published shape, DNdataset's.

DNdataset itself is not to be had. Its shape is what the published table has memory errors for: 1,490 drugs x 4,516
diseases with 1,008 associations and square features. One fit, in the method's own container with 8 GiB.

Usage: python -m benchmarks.full_size METHOD ... [--set NAME=VALUE]     (say, fewer iterations)
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.layout import Layout, find_layout
from harness.benchmarks.repurposing.conformance.problems import Problem
from harness.benchmarks.repurposing.dataset import RepurposingDataset
from harness.benchmarks.repurposing.splits.folds import TEST, FoldSplit, digest_of_folds
from harness.engine import find_engine
from harness.execution.trials import InContainers, Runner, Trial
from harness.methods.card import load_method, merged_parameters

DRUGS, DISEASES, POSITIVES = 1490, 4516, 1008
MEMORY = "8GiB"
# one fit
OPTIONS = {"inner_folds": 0}


def made_up() -> Problem:
    """A fifth of the pairs is for testing, as in every split of the benchmark."""
    generator = np.random.default_rng(20260103)
    labels = np.zeros((DRUGS, DISEASES), dtype=np.int8)
    labels.reshape(-1)[generator.choice(labels.size, size=POSITIVES, replace=False)] = 1
    folds = np.where(generator.random(labels.shape) < 0.2, TEST, 0).astype(np.int8)
    drugs, diseases = (
        tuple(f"{kind} {n}" for n in range(count)) for kind, count in zip("ds", labels.shape, strict=True)
    )
    dataset = RepurposingDataset(
        name="made-up",
        associations=labels,
        drug_features=generator.random((DRUGS, DRUGS)),
        disease_features=generator.random((DISEASES, DISEASES)),
        drug_ids=drugs,
        disease_ids=diseases,
        drug_feature_names=drugs,
        disease_feature_names=diseases,
    )
    return Problem(dataset, FoldSplit(folds=folds, digest=digest_of_folds(folds)))


def measure(layout: Layout, run: Runner, problem: Problem, method: str, changed: dict[str, Any]) -> str:
    """One line."""
    card = load_method(layout, method)
    card = card.model_copy(update={"resources": card.resources.model_copy(update={"memory": MEMORY})})
    parameters = merged_parameters(card, "published", changed)
    trial = Trial(card, "repurposing", problem.inputs(card, OPTIONS), parameters, seed=1, options=OPTIONS)
    with run(trial) as result:
        report = json.loads((result.out / "method.json").read_bytes()) if result.verdict == "ok" else {}
        return (
            f"{method:14} {result.verdict}: peak {report.get('peak_memory_bytes', 0) / 1e6:6.0f} MB  "
            f"{report.get('cpu_seconds', 0):7.1f} CPU s  {result.wall_s:7.1f} s  {result.reason}"
        )


def main() -> None:
    """Measure the methods that are asked for, one after the other."""
    layout = find_layout(Path(__file__).resolve().parent)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("methods", nargs="+", metavar="METHOD")
    chosen = parser.parse_args()
    changed = {name: json.loads(value) for name, _, value in (one.partition("=") for one in chosen.set)}
    problem = made_up()
    with find_engine(layout) as engine:
        run = InContainers(layout, engine)
        for method in chosen.methods:
            sys.stdout.write(measure(layout, run, problem, method, changed) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
